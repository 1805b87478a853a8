//! Values, conditions and places.

use r500_glsl::Span;
use r500_glsl::tree::{Expr, ExprKind, VariableId};
use r500_glsl::types::{Base, Type};
use r500_glsl::{Binary, Builtin, Diagnostic, Unary};

use super::Lower;
use crate::arithmetic::{Alu, Arithmetic};
use crate::builder::Builder;
use crate::code::{Component, Condition, Value};
use crate::functions;
use crate::matrices::{self, rows};

/// Most elements between which an index that is not known chooses.
const MOST_CHOICES: usize = 64;

/// Components of a variable that are read or set.
pub(super) struct Place {
    root: Option<VariableId>,
    /// Alternatives: the components that are meant where the condition holds. Of those that are read the last one counts, and the first
    /// one has no condition.
    choices: Vec<(Option<Condition>, Vec<usize>)>,
}

/// What a place is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Set,
}

impl<'a> Lower<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Value {
        self.builder.span = expr.span;
        if self.is_full() {
            return vec![Component::literal(0.0); expr.ty.components()];
        }
        match &expr.kind {
            ExprKind::Constant(values) => {
                values.iter().map(|value| Component::literal(*value)).collect()
            }
            ExprKind::Variable(id) => self.value(*id),
            ExprKind::Unary(op, of) => match op {
                Unary::Not => self.truth(expr),
                Unary::Negate => {
                    let value = self.expr(of);
                    self.builder.negate(&value)
                }
                Unary::Plus | Unary::Complement => self.expr(of),
            },
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, a, b),
            ExprKind::Assign { op: None, target, value } => {
                let value = self.expr(value);
                let place = self.place(target, Access::Set);
                self.store(&place, value.clone());
                value
            }
            ExprKind::Assign { op: Some(op), target, value } => {
                // Its indices are computed once.
                let place = self.place(target, Access::Set);
                let old = self.load(&place, target);
                let new = self.combined(*op, (old, &target.ty), value, expr.span);
                self.store(&place, new.clone());
                new
            }
            ExprKind::Step { postfix, add, target } => {
                let place = self.place(target, Access::Set);
                let old = self.load(&place, target);
                let one = self.builder.literal(if *add { 1.0 } else { -1.0 });
                let new = self.builder.add(&old, &one);
                self.store(&place, new.clone());
                if *postfix { old } else { new }
            }
            ExprKind::Select(test, a, b) => self.select(test, a, b),
            ExprKind::Construct(list) => {
                let parts: Vec<Value> = list
                    .iter()
                    .map(|part| {
                        let value = self.expr(part);
                        functions::convert(&mut self.builder, &value, &part.ty, &expr.ty)
                    })
                    .collect();
                parts.concat()
            }
            ExprKind::Splat(of) => {
                let value = self.expr(of);
                let value = functions::convert(&mut self.builder, &value, &of.ty, &expr.ty);
                vec![value[0]; expr.ty.components()]
            }
            ExprKind::Truncate(of) => {
                let mut value = self.expr(of);
                value.truncate(expr.ty.components());
                functions::convert(&mut self.builder, &value, &of.ty, &expr.ty)
            }
            ExprKind::Diagonal(of) => {
                let value = self.expr(of);
                let value = functions::convert(&mut self.builder, &value, &of.ty, &Type::FLOAT);
                matrices::diagonal::<Builder>(value[0], &expr.ty)
            }
            ExprKind::Resize(of) => {
                let value = self.expr(of);
                matrices::resized::<Builder>(&value, &of.ty, &expr.ty)
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments, &expr.span),
            ExprKind::Builtin(function, arguments) => self.builtin_call(expr, *function, arguments),
            ExprKind::Swizzle(..) | ExprKind::Member(..) | ExprKind::Index(..) => {
                if let Some(value) = self.relative(expr) {
                    return value;
                }
                let place = self.place(expr, Access::Read);
                self.load(&place, expr)
            }
            ExprKind::Sequence(a, b) => {
                self.expr(a);
                self.expr(b)
            }
        }
    }

    fn binary(&mut self, expr: &'a Expr, op: Binary, a: &'a Expr, b: &'a Expr) -> Value {
        if expr.ty == Type::BOOL {
            return self.truth(expr);
        }
        if matches!(op, Binary::Add | Binary::Sub) {
            // A product that is a term becomes one MAD with the sum.
            if let Some((x, y)) = product(a) {
                let (x, y, term) = (self.expr(x), self.expr(y), self.expr(b));
                self.builder.span = expr.span;
                let term = if op == Binary::Sub { self.builder.negate(&term) } else { term };
                return self.builder.mad(&x, &y, &term);
            }
            if let Some((x, y)) = product(b) {
                let (term, x, y) = (self.expr(a), self.expr(x), self.expr(y));
                self.builder.span = expr.span;
                let x = if op == Binary::Sub { self.builder.negate(&x) } else { x };
                return self.builder.mad(&x, &y, &term);
            }
        }
        let (left, right) = (self.expr(a), self.expr(b));
        self.builder.span = expr.span;
        functions::arithmetic(&mut self.builder, op, (&left, &a.ty), (&right, &b.ty))
    }

    /// What `op=` gives: the old value and another one, combined.
    fn combined(
        &mut self,
        op: Binary,
        (old, ty): (Value, &Type),
        value: &'a Expr,
        span: Span,
    ) -> Value {
        if let (Binary::Add | Binary::Sub, Some((x, y))) = (op, product(value)) {
            let (x, y) = (self.expr(x), self.expr(y));
            let x = if op == Binary::Sub { self.builder.negate(&x) } else { x };
            return self.builder.mad(&x, &y, &old);
        }
        let by = self.expr(value);
        self.builder.span = span;
        functions::arithmetic(&mut self.builder, op, (&old, ty), (&by, &value.ty))
    }

    fn select(&mut self, test: &'a Expr, a: &'a Expr, b: &'a Expr) -> Value {
        let condition = self.condition(test);
        match condition.value() {
            Some(true) => return self.expr(a),
            Some(false) => return self.expr(b),
            None => {}
        }
        if !self.has_effects(a) && !self.has_effects(b) {
            let (yes, no) = (self.expr(a), self.expr(b));
            return self.builder.choose(condition, &yes, &no);
        }
        let zeros = vec![Component::literal(0.0); a.ty.components()];
        let result = self.hidden(zeros);
        self.branch(
            condition,
            test.span,
            |lower| {
                let value = lower.expr(a);
                lower.values[result] = Some(value);
            },
            |lower| {
                let value = lower.expr(b);
                lower.values[result] = Some(value);
            },
        );
        self.held_value(result)
    }

    /// Returns 1 where a condition holds, and 0 elsewhere.
    fn truth(&mut self, expr: &'a Expr) -> Value {
        let condition = self.condition(expr);
        self.number(condition)
    }

    fn number(&mut self, condition: Condition) -> Value {
        let (yes, no) = (self.builder.literal(1.0), self.builder.literal(0.0));
        self.builder.choose(condition, &yes, &no)
    }

    /// Returns what an expression of type `bool` says, without making a number of it.
    pub(super) fn condition(&mut self, expr: &'a Expr) -> Condition {
        match &expr.kind {
            ExprKind::Unary(Unary::Not, of) => self.condition(of).not(),
            ExprKind::Binary(op, a, b) => match op {
                Binary::Lt => self.comparison(a, b, false).not(),
                Binary::Ge => self.comparison(a, b, false),
                Binary::Gt => self.reverse_comparison(a, b).not(),
                Binary::Le => self.reverse_comparison(a, b),
                Binary::Eq => self.comparison(a, b, true),
                Binary::Ne => self.comparison(a, b, true).not(),
                Binary::And | Binary::Or => self.both(*op == Binary::And, a, b),
                Binary::Xor => {
                    let (left, right) = (self.truth(a), self.truth(b));
                    let difference = self.builder.sub(&left, &right);
                    Self::nonzero(difference[0])
                }
                _ => self.nonzero_value(expr),
            },
            _ => self.nonzero_value(expr),
        }
    }

    fn nonzero(component: Component) -> Condition {
        Condition { test: component.absolute().negated(), negated: true }
    }

    fn nonzero_value(&mut self, expr: &'a Expr) -> Condition {
        let value = self.expr(expr);
        Self::nonzero(value[0])
    }

    /// `a >= b`, or `a == b` of all components.
    fn comparison(&mut self, a: &'a Expr, b: &'a Expr, equal: bool) -> Condition {
        let (left, right) = (self.expr(a), self.expr(b));
        self.compared(left, &right, equal)
    }

    /// `b >= a`, of which `a` is computed first.
    fn reverse_comparison(&mut self, a: &'a Expr, b: &'a Expr) -> Condition {
        let (left, right) = (self.expr(a), self.expr(b));
        self.compared(right, &left, false)
    }

    fn compared(&mut self, left: Value, right: &Value, equal: bool) -> Condition {
        // A number is compared with 0 as it is.
        let difference = match right.first().and_then(|c| c.value()) {
            Some(0.0) if right.len() == 1 => match equal {
                true => vec![left[0].absolute().negated()],
                false => left,
            },
            _ => functions::difference(&mut self.builder, &left, right, equal),
        };
        let test = match difference.len() {
            1 => difference,
            _ => functions::fold(&mut self.builder, Alu::Min, &difference),
        };
        Condition { test: test[0], negated: false }
    }

    /// `&&`, `||`
    fn both(&mut self, and: bool, a: &'a Expr, b: &'a Expr) -> Condition {
        let left = self.condition(a);
        if let Some(known) = left.value() {
            return if known == and { self.condition(b) } else { left };
        }
        if !self.has_effects(b) {
            let right = self.condition(b);
            if let Some(known) = right.value() {
                return if known == and { left } else { right };
            }
            let right = self.number(right);
            let value = match and {
                true => {
                    let zero = self.builder.literal(0.0);
                    self.builder.choose(left, &right, &zero)
                }
                false => {
                    let one = self.builder.literal(1.0);
                    self.builder.choose(left, &one, &right)
                }
            };
            return Self::nonzero(value[0]);
        }
        let result = self.hidden(vec![Component::literal(f32::from(u8::from(!and)))]);
        let condition = if and { left } else { left.not() };
        self.branch(
            condition,
            b.span,
            |lower| {
                let value = lower.truth(b);
                lower.values[result] = Some(value);
            },
            |_| {},
        );
        Self::nonzero(self.held_value(result)[0])
    }

    fn builtin_call(&mut self, expr: &'a Expr, function: Builtin, arguments: &'a [Expr]) -> Value {
        if function.fetches() {
            let sampler = self.sampler(&arguments[0]);
            let values: Vec<Value> =
                arguments[1..].iter().map(|argument| self.expr(argument)).collect();
            self.builder.span = expr.span;
            let Type::Sampler { dimensions, shadow } = arguments[0].ty else {
                return vec![Component::literal(0.0); expr.ty.components()];
            };
            let unit = sampler.map_or(0, |sampler| self.unit(sampler, arguments[0].span));
            let rect = dimensions == r500_glsl::types::Dimensions::Rect;
            let shape = [dimensions.coordinates(), usize::from(shadow), usize::from(rect)];
            return functions::fetch(&mut self.builder, function, unit, shape, &values);
        }
        let values: Vec<Value> = arguments.iter().map(|argument| self.expr(argument)).collect();
        self.builder.span = expr.span;
        let by_truths = function == Builtin::Mix && arguments[2].ty.base() == Some(Base::Bool);
        if by_truths {
            let test = self.builder.abs(&values[2]);
            let test = self.builder.negate(&test);
            return self.builder.at_least_zero(&test, &values[0], &values[1]);
        }
        match function {
            Builtin::Transpose
            | Builtin::OuterProduct
            | Builtin::Determinant
            | Builtin::Inverse => {
                let rows = rows(&arguments[0].ty);
                let size = [values[0].len() / rows, rows];
                matrices::matrix(&mut self.builder, function, &values, size)
            }
            _ => {
                let literals: Vec<Option<Vec<f32>>> =
                    arguments.iter().map(|argument| self.shader.constant(argument)).collect();
                functions::call(&mut self.builder, function, &values, &literals)
            }
        }
    }

    // Places.

    /// Returns what an expression means as a part of a variable.
    pub(super) fn place(&mut self, expr: &'a Expr, access: Access) -> Place {
        match &expr.kind {
            ExprKind::Swizzle(of, list) => {
                let mut place = self.place(of, access);
                for (_, components) in &mut place.choices {
                    *components = list.iter().map(|c| components[usize::from(*c)]).collect();
                }
                place
            }
            ExprKind::Member(of, first) => {
                let mut place = self.place(of, access);
                let count = expr.ty.components();
                for (_, components) in &mut place.choices {
                    *components = components[*first..first + count].to_vec();
                }
                place
            }
            ExprKind::Index(of, index) => self.element(of, index, expr.ty.components(), access),
            _ => {
                let count = expr.ty.components();
                let root = match expr.kind {
                    ExprKind::Variable(id) => Some(id),
                    _ => None,
                };
                Place { root, choices: vec![(None, (0..count).collect())] }
            }
        }
    }

    fn element(&mut self, of: &'a Expr, index: &'a Expr, count: usize, access: Access) -> Place {
        let place = self.place(of, access);
        let value = self.expr(index);
        let length = of.ty.components() / count.max(1);
        let slice =
            |components: &[usize], n: usize| components[n * count..(n + 1) * count].to_vec();
        if let Some(n) = value[0].value() {
            // An index from a function's argument is checked here; an access outside is undefined.
            let n = if n >= 0.0 && (n as usize) < length { n as usize } else { 0 };
            let choices = place.choices.iter().map(|(c, components)| (*c, slice(components, n)));
            return Place { root: place.root, choices: choices.collect() };
        }
        if length > MOST_CHOICES {
            let message = format!(
                "the index is not known, and {length} elements are too many to choose from"
            );
            self.error(
                Diagnostic::error(index.span, message).help(format!("{MOST_CHOICES} at most")),
            );
            let choices = place.choices.iter().map(|(c, components)| (*c, slice(components, 0)));
            return Place { root: place.root, choices: choices.collect() };
        }
        let message = format!(
            "the index is not known: each of {length} elements costs a comparison and a choice"
        );
        self.error(Diagnostic::warning(index.span, message));
        let mut choices = Vec::new();
        for n in 0..length {
            // What is read where no other element is meant needs no condition.
            let inner = (n > 0 || access == Access::Set).then(|| {
                let number = self.builder.literal(n as f32);
                let test = functions::difference(&mut self.builder, &value, &number, true);
                Condition { test: test[0], negated: false }
            });
            for (outer, components) in &place.choices {
                let both = match (*outer, inner) {
                    (Some(outer), Some(inner)) => {
                        let (inner, zero) = (self.number(inner), self.builder.literal(0.0));
                        let value = self.builder.choose(outer, &inner, &zero);
                        Some(Self::nonzero(value[0]))
                    }
                    (outer, inner) => outer.or(inner),
                };
                choices.push((both, slice(components, n)));
            }
        }
        // The one without a condition comes first.
        choices.sort_by_key(|(condition, _)| condition.is_some());
        Place { root: place.root, choices }
    }

    /// Returns the value of a part.
    #[expect(clippy::expect_used, reason = "a value without components must not compile")]
    fn load(&mut self, place: &Place, expr: &'a Expr) -> Value {
        let value = match place.root {
            Some(id) => self.value(id),
            None => {
                let mut of = expr;
                while let ExprKind::Swizzle(inner, _)
                | ExprKind::Member(inner, _)
                | ExprKind::Index(inner, _) = &of.kind
                {
                    of = inner;
                }
                self.expr(of)
            }
        };
        let mut result: Option<Value> = None;
        for (condition, components) in &place.choices {
            let part: Value = components.iter().map(|n| value[*n]).collect();
            result = Some(match (result, condition) {
                (Some(old), Some(condition)) => self.builder.choose(*condition, &part, &old),
                _ => part,
            });
        }
        result.expect("a place has at least one alternative")
    }

    /// Sets a part.
    pub(super) fn store(&mut self, place: &Place, value: Value) {
        let Some(root) = place.root else { return };
        let mut whole = self.value(root);
        for (condition, components) in &place.choices {
            let old: Value = components.iter().map(|n| whole[*n]).collect();
            let new = match condition {
                Some(condition) => self.builder.choose(*condition, &value, &old),
                None => value.clone(),
            };
            for (n, component) in components.iter().zip(new) {
                whole[*n] = component;
            }
        }
        self.values[root] = Some(whole);
        self.stored_at.insert(root, self.builder.origin());
    }
}

/// Returns the factors of a product by components: what becomes one MAD as a term of a sum.
pub(crate) fn product(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary(Binary::Mul, a, b) => {
            let by_components = a.ty.vector().is_some() && b.ty.vector().is_some();
            by_components.then_some((a, b))
        }
        _ => None,
    }
}
