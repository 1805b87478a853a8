//! Statements.

use super::Checker;
use crate::ast;
use crate::constant::evaluate;
use crate::diagnostic::{Diagnostic, Span};
use crate::tree::{Expr, ExprKind, Loop, Stage, Stmt, StmtKind, Storage, Variable, VariableId};
use crate::types::Type;

impl Checker<'_> {
    /// Reads the body of a function, whose calls it remembers.
    pub(super) fn function_body(&mut self, index: usize, body: &[ast::Stmt]) -> Vec<Stmt> {
        self.current = Some(index);
        let list = self.statements(body);
        self.current = None;
        let returns = self.returns.clone();
        if returns != Type::Void && !returns.is_error() && !always_returns(&list) {
            let name = self.functions[index].name.clone();
            let span = self.functions[index].span;
            let error =
                Diagnostic::error(span, format!("`{name}` does not return a value on every way"));
            self.diagnostics
                .add(error.help(format!("end it with `return`, which gives `{returns}`")));
        }
        list
    }

    pub(super) fn statements(&mut self, list: &[ast::Stmt]) -> Vec<Stmt> {
        list.iter().flat_map(|statement| self.statement(statement)).collect()
    }

    /// Returns the statements that one becomes: a declaration of several variables becomes several.
    fn statement(&mut self, statement: &ast::Stmt) -> Vec<Stmt> {
        let span = statement.span;
        let one = |kind| vec![Stmt { kind, span }];
        match &statement.kind {
            ast::StmtKind::Empty => Vec::new(),
            ast::StmtKind::Declare(declaration) => self.local(declaration),
            ast::StmtKind::Expr(expr) => one(StmtKind::Expr(self.expr(expr))),
            ast::StmtKind::Block(list) => self.scoped(|checker| checker.statements(list)),
            ast::StmtKind::If(test, then, otherwise) => {
                let test = self.condition(test);
                let then = self.scoped(|checker| checker.statement(then));
                let otherwise = otherwise
                    .as_ref()
                    .map(|otherwise| self.scoped(|checker| checker.statement(otherwise)));
                one(StmtKind::If(test, then, otherwise.unwrap_or_default()))
            }
            ast::StmtKind::For { init, test, step, body } => self.scoped(|checker| {
                let init = init.as_ref().map(|init| checker.statement(init)).unwrap_or_default();
                let known = checker.loop_indices.len();
                for statement in &init {
                    if let StmtKind::Declare(id, _) = statement.kind {
                        checker.loop_indices.push(id);
                    }
                }
                let test = test.as_ref().map(|test| checker.condition(test));
                if let Some(test) = &test {
                    let index = checker.loop_indices.get(known).copied();
                    checker.check_bound(test, index);
                }
                let step = step.as_ref().map(|step| checker.expr(step));
                let body = checker.loop_body(body);
                checker.loop_indices.truncate(known);
                one(StmtKind::Loop(Loop { init, test, test_first: true, step, body }))
            }),
            ast::StmtKind::While(test, body) => self.scoped(|checker| {
                let test = Some(checker.condition(test));
                let body = checker.loop_body(body);
                one(StmtKind::Loop(Loop {
                    init: Vec::new(),
                    test,
                    test_first: true,
                    step: None,
                    body,
                }))
            }),
            ast::StmtKind::Do(body, test) => {
                let body = self.scoped(|checker| checker.loop_body(body));
                let test = Some(self.condition(test));
                one(StmtKind::Loop(Loop {
                    init: Vec::new(),
                    test,
                    test_first: false,
                    step: None,
                    body,
                }))
            }
            ast::StmtKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expr(value));
                let returns = self.returns.clone();
                let value = match value {
                    Some(value) if returns == Type::Void => {
                        if !value.ty.is_error() {
                            self.error(value.span, "a `void` function returns no value");
                        }
                        None
                    }
                    Some(value) => Some(self.converted(value, &returns, "the value")),
                    None => {
                        if returns != Type::Void && !returns.is_error() {
                            self.error(span, format!("`return` needs a value of type `{returns}`"));
                        }
                        None
                    }
                };
                one(StmtKind::Return(value))
            }
            ast::StmtKind::Break | ast::StmtKind::Continue => {
                let is_break = matches!(statement.kind, ast::StmtKind::Break);
                if self.loops == 0 {
                    let word = if is_break { "break" } else { "continue" };
                    self.error(span, format!("`{word}` is not in a loop"));
                }
                one(if is_break { StmtKind::Break } else { StmtKind::Continue })
            }
            ast::StmtKind::Discard => {
                if self.stage == Stage::Vertex {
                    let error = Diagnostic::error(span, "`discard` is in fragment shaders only");
                    self.diagnostics.add(error.help(
                        "a vertex cannot end; put its position outside of the view to hide it",
                    ));
                }
                one(StmtKind::Discard)
            }
        }
    }

    fn loop_body(&mut self, body: &ast::Stmt) -> Vec<Stmt> {
        self.loops += 1;
        let list = self.scoped(|checker| checker.statement(body));
        self.loops -= 1;
        list
    }

    fn condition(&mut self, test: &ast::Expr) -> Expr {
        let test = self.expr(test);
        if !test.ty.is_error() && test.ty != Type::BOOL {
            let error =
                Diagnostic::error(test.span, format!("a condition is a `bool`, not `{}`", test.ty));
            let help = "compare it with a value, such as `!= 0`";
            self.diagnostics.add(error.help(help));
            return Expr { ty: Type::Error, ..test };
        }
        test
    }

    /// GLSL ES 1.00, appendix A: the index of `for` is compared with a constant.
    fn check_bound(&mut self, test: &Expr, index: Option<VariableId>) {
        if !self.version.has_limits_of_appendix_a() {
            return;
        }
        let (ExprKind::Binary(_, a, b), Some(index)) = (&test.kind, index) else { return };
        let is_index = |expr: &Expr| matches!(expr.kind, ExprKind::Variable(id) if id == index);
        let bound = match (is_index(a), is_index(b)) {
            (true, false) => b,
            (false, true) => a,
            _ => return,
        };
        if bound.ty.is_error() || self.is_constant(bound, &[]) {
            return;
        }
        let error = Diagnostic::error(bound.span, "the bound of the loop is not constant");
        let help = "GLSL ES 1.00 and the chip's loops count to a constant, 255 at most: loop to the greatest bound, and leave with \
                    `if (…) break;`";
        let greatest = if b.ty == Type::INT { "255" } else { "255.0" };
        self.diagnostics.add(error.fix(help, bound.span, greatest));
    }

    /// Returns whether an expression is made of constants, and of `also`.
    pub(super) fn is_constant(&self, expr: &Expr, also: &[VariableId]) -> bool {
        let of = |expr: &Expr| self.is_constant(expr, also);
        match &expr.kind {
            ExprKind::Constant(_) => true,
            ExprKind::Variable(id) => {
                self.variables[*id].storage == Storage::Constant || also.contains(id)
            }
            ExprKind::Unary(_, a)
            | ExprKind::Splat(a)
            | ExprKind::Truncate(a)
            | ExprKind::Swizzle(a, _)
            | ExprKind::Diagonal(a)
            | ExprKind::Resize(a)
            | ExprKind::Member(a, _) => of(a),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => of(a) && of(b),
            ExprKind::Select(test, a, b) => of(test) && of(a) && of(b),
            ExprKind::Construct(list) => list.iter().all(of),
            ExprKind::Builtin(builtin, list) => !builtin.fetches() && list.iter().all(of),
            ExprKind::Assign { .. }
            | ExprKind::Step { .. }
            | ExprKind::Call(..)
            | ExprKind::Sequence(..) => false,
        }
    }

    /// Variables of a function.
    fn local(&mut self, declaration: &ast::Declaration) -> Vec<Stmt> {
        let base = self.type_of(&declaration.ty);
        if let Some((_, span)) = declaration.qualifiers.storage {
            self.error(span, "such a variable is declared outside of functions");
        }
        let mut list = Vec::new();
        for variable in &declaration.variables {
            let init = variable.init.as_ref().map(|init| self.expr(init));
            let (ty, has_size) = self.type_of_declarator(&base, variable, init.as_ref());
            let init = init.map(|init| self.converted(init, &ty, "the value"));
            if ty == Type::Void {
                self.error(variable.span, format!("`{}` cannot be `void`", variable.name));
            } else if ty.has_sampler() {
                let message = "a sampler is declared `uniform`, outside of functions";
                self.error(variable.span, message);
            }
            let is_const = declaration.qualifiers.is_const;
            if is_const && init.is_none() && !ty.is_error() {
                self.error(variable.span, format!("the constant `{}` has no value", variable.name));
            }
            // A constant of the language has a constant value.
            let known = is_const && init.as_ref().is_some_and(|init| self.is_constant(init, &[]));
            let storage = if known { Storage::Constant } else { Storage::Local };
            let kept = if known { init.clone() } else { None };
            let declared = Variable {
                name: variable.name.to_string(),
                ty,
                storage,
                init: kept,
                span: variable.span,
            };
            let id = self.declare(declared, variable, has_size);
            if !known {
                let span = variable
                    .init
                    .as_ref()
                    .map_or(variable.span, |init| variable.span.to(init.span));
                list.push(Stmt { kind: StmtKind::Declare(id, init), span });
            }
        }
        list
    }

    /// Returns the value of a constant `int`, if an expression is one.
    pub(super) fn constant_index(&self, index: &Expr) -> Option<f32> {
        evaluate(index, &self.variables)?.first().copied()
    }

    pub(super) fn call_of(&mut self, callee: usize, span: Span) {
        if let Some(current) = self.current {
            self.functions[current].calls.push((callee, span));
        }
    }
}

/// Returns whether no way leads past the end of a list of statements.
fn always_returns(list: &[Stmt]) -> bool {
    list.iter().any(|statement| match &statement.kind {
        StmtKind::Return(_) | StmtKind::Discard => true,
        StmtKind::If(_, then, otherwise) => always_returns(then) && always_returns(otherwise),
        // It ends only by `return`, or its value is never seen.
        StmtKind::Loop(of) => of.test.is_none() && !has_break(&of.body),
        _ => false,
    })
}

fn has_break(list: &[Stmt]) -> bool {
    list.iter().any(|statement| match &statement.kind {
        StmtKind::Break => true,
        StmtKind::If(_, then, otherwise) => has_break(then) || has_break(otherwise),
        _ => false,
    })
}
