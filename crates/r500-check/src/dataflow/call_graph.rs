//! The call graph: the main program and its subroutines, so that analyses can return from a
//! subroutine to its own call site.

use crate::graph::{Role, Structure};

/// The functions of a structured program. Number 0 is the main program, subroutine `n` is `n + 1`.
#[derive(Debug)]
pub(super) struct CallGraph {
    /// First instruction of each function.
    pub(super) entries: Vec<usize>,
    /// RETURNs of each function.
    pub(super) returns: Vec<Vec<usize>>,
    /// Calls, with their callees, by ascending address.
    pub(super) calls: Vec<(usize, usize)>,
    /// The function of each instruction; 0 if unreachable.
    pub(super) function: Vec<u32>,
}

impl CallGraph {
    /// Builds the call graph. `edges` are those of a pixel, `start` is its first instruction.
    pub(super) fn of(structure: Option<&Structure>, start: usize, count: usize) -> Self {
        let mut found = Self {
            entries: vec![start],
            returns: vec![Vec::new()],
            calls: Vec::new(),
            function: vec![0; count],
        };
        let Some(structure) = structure.filter(|structure| !structure.subs.is_empty()) else {
            return found;
        };
        found.entries.extend(structure.subs.iter().map(|sub| sub.entry));
        found.returns.resize(found.entries.len(), Vec::new());
        for (at, role) in structure.roles.iter().enumerate() {
            match role {
                Some(Role::Call { sub }) => found.calls.push((at, sub + 1)),
                Some(Role::Return { sub }) => found.returns[sub + 1].push(at),
                _ => {}
            }
        }
        found
    }

    /// Assigns each instruction the function that it is reached in, along edges that stay inside
    /// functions.
    pub(super) fn assign_functions<I: Iterator<Item = usize>>(
        &mut self,
        inside: impl Fn(&Self, usize) -> I,
    ) {
        for number in 1..self.entries.len() {
            let name = u32::try_from(number).unwrap_or(0);
            let mut work = vec![self.entries[number]];
            while let Some(at) = work.pop() {
                if std::mem::replace(&mut self.function[at], name) != name {
                    work.extend(inside(self, at));
                }
            }
        }
    }

    /// Returns the function that an instruction calls.
    pub(super) fn callee(&self, at: usize) -> Option<usize> {
        let found = self.calls.binary_search_by_key(&at, |call| call.0).ok()?;
        Some(self.calls[found].1)
    }

    /// Returns whether an edge enters or leaves a function.
    pub(super) fn crosses(&self, from: usize, to: usize) -> bool {
        if self.calls.is_empty() {
            return false;
        }
        match self.callee(from) {
            Some(function) => to == self.entries[function] && to != from + 1,
            // Only a RETURN that is not taken continues at the next instruction.
            None => to != from + 1 && self.returns.iter().any(|list| list.contains(&from)),
        }
    }
}
