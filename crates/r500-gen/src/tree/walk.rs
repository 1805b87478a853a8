//! Traversal of trees.

use super::{If, Loop, Stmt, Tree};

impl Stmt {
    /// Returns the nested lists of statements: both arms, or the body.
    #[must_use]
    pub fn lists(&self) -> [Option<&Vec<Stmt>>; 2] {
        match self {
            Self::If(If { then, otherwise, .. }) => [Some(then), otherwise.as_ref()],
            Self::Loop(Loop { body, .. }) => [Some(body), None],
            _ => [None, None],
        }
    }

    /// Returns the nested lists of statements for modification.
    #[must_use]
    pub fn lists_mut(&mut self) -> [Option<&mut Vec<Stmt>>; 2] {
        match self {
            Self::If(If { then, otherwise, .. }) => [Some(then), otherwise.as_mut()],
            Self::Loop(Loop { body, .. }) => [Some(body), None],
            _ => [None, None],
        }
    }

    /// Returns whether `test` holds for this statement or a nested one; called subroutines are not visited.
    pub fn any(&self, test: &mut dyn FnMut(&Self) -> bool) -> bool {
        test(self) || self.lists().into_iter().flatten().flatten().any(|stmt| stmt.any(test))
    }
}

impl Tree {
    /// Returns the statements of a subroutine (none if there is no such subroutine).
    #[must_use]
    pub fn sub(&self, n: u8) -> &[Stmt] {
        self.subs.get(usize::from(n)).map_or(&[], |sub| &sub.body)
    }

    /// Calls `visit` for every statement in preorder, the main program first.
    pub fn each(&self, visit: &mut dyn FnMut(&Stmt)) {
        let mut test = |stmt: &Stmt| {
            visit(stmt);
            false
        };
        let bodies = self.subs.iter().map(|sub| &sub.body);
        for stmt in std::iter::once(&self.main).chain(bodies).flatten() {
            stmt.any(&mut test);
        }
    }

    /// Returns list number `n` of statements, in the order of [`Tree::each`]; `None` after the last.
    pub(crate) fn list_mut(&mut self, n: usize) -> Option<&mut Vec<Stmt>> {
        let mut left = n;
        let bodies = self.subs.iter_mut().map(|sub| &mut sub.body);
        std::iter::once(&mut self.main).chain(bodies).find_map(|list| nth(list, &mut left))
    }
}

fn nth<'a>(list: &'a mut Vec<Stmt>, left: &mut usize) -> Option<&'a mut Vec<Stmt>> {
    if *left == 0 {
        return Some(list);
    }
    *left -= 1;
    list.iter_mut().flat_map(Stmt::lists_mut).flatten().find_map(|list| nth(list, left))
}
