//! Expressions of the typed tree that one instruction needs.

use r500_glsl::tree::{Expr, ExprKind, VariableId};
use r500_glsl::types::{Base, Type};
use r500_glsl::{Binary, Builtin, Span, Unary};

/// X, Y and Z.
const XYZ: [u8; 3] = [0, 1, 2];

/// Makes expressions with the place of one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    pub(crate) span: Span,
}

impl Build {
    pub(crate) fn expr(self, kind: ExprKind, ty: Type) -> Expr {
        Expr { kind, ty, span: self.span }
    }

    pub(crate) fn variable(self, id: VariableId, ty: Type) -> Expr {
        self.expr(ExprKind::Variable(id), ty)
    }

    pub(crate) fn number(self, value: f32) -> Expr {
        self.expr(ExprKind::Constant(vec![value]), Type::FLOAT)
    }

    pub(crate) fn integer(self, value: i32) -> Expr {
        self.expr(ExprKind::Constant(vec![value as f32]), Type::INT)
    }

    pub(crate) fn vector(self, values: [f32; 4]) -> Expr {
        self.expr(ExprKind::Constant(values.to_vec()), Type::floats(4))
    }

    /// Components of a vector; all four in their order are the vector.
    pub(crate) fn swizzle(self, of: Expr, components: &[u8]) -> Expr {
        if components == [0, 1, 2, 3] && of.ty == Type::floats(4) {
            return of;
        }
        let ty = Type::floats(components.len() as u8);
        self.expr(ExprKind::Swizzle(Box::new(of), components.to_vec()), ty)
    }

    pub(crate) fn component(self, of: &Expr, component: u8) -> Expr {
        self.swizzle(of.clone(), &[component])
    }

    pub(crate) fn xyz(self, of: &Expr) -> Expr {
        self.swizzle(of.clone(), &XYZ)
    }

    pub(crate) fn negate(self, of: Expr) -> Expr {
        let ty = of.ty.clone();
        self.expr(ExprKind::Unary(Unary::Negate, Box::new(of)), ty)
    }

    /// An operation by components; one of both may be a scalar.
    pub(crate) fn binary(self, op: Binary, a: Expr, b: Expr) -> Expr {
        let ty = if a.ty.components() >= b.ty.components() { a.ty.clone() } else { b.ty.clone() };
        self.expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty)
    }

    /// A comparison of scalars.
    pub(crate) fn compare(self, op: Binary, a: Expr, b: Expr) -> Expr {
        self.expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::BOOL)
    }

    /// A function whose value has the type of its first argument.
    pub(crate) fn call(self, function: Builtin, arguments: Vec<Expr>) -> Expr {
        let ty = arguments.first().map_or(Type::FLOAT, |argument| argument.ty.clone());
        self.expr(ExprKind::Builtin(function, arguments), ty)
    }

    pub(crate) fn call_of(self, function: Builtin, arguments: Vec<Expr>, ty: Type) -> Expr {
        self.expr(ExprKind::Builtin(function, arguments), ty)
    }

    pub(crate) fn dot(self, a: Expr, b: Expr) -> Expr {
        self.call_of(Builtin::Dot, vec![a, b], Type::FLOAT)
    }

    pub(crate) fn select(self, test: Expr, yes: Expr, no: Expr) -> Expr {
        let ty = yes.ty.clone();
        self.expr(ExprKind::Select(Box::new(test), Box::new(yes), Box::new(no)), ty)
    }

    /// Whether components compare as a function says.
    pub(crate) fn truths(self, function: Builtin, a: Expr, b: Expr) -> Expr {
        let size = a.ty.components() as u8;
        self.call_of(function, vec![a, b], Type::Vector(Base::Bool, size))
    }

    /// The four components of all parts; truths become 1 and 0.
    pub(crate) fn join(self, parts: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Construct(parts), Type::floats(4))
    }

    /// A scalar in all four components.
    pub(crate) fn splat(self, of: Expr) -> Expr {
        self.expr(ExprKind::Splat(Box::new(of)), Type::floats(4))
    }

    pub(crate) fn saturate(self, of: Expr) -> Expr {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        self.call(Builtin::Clamp, vec![of, zero, one])
    }

    pub(crate) fn assign(self, target: Expr, value: Expr) -> Expr {
        let ty = target.ty.clone();
        let (target, value) = (Box::new(target), Box::new(value));
        self.expr(ExprKind::Assign { op: None, target, value }, ty)
    }
}
