//! The source as written: a tree without types.

use std::collections::HashMap;

use crate::diagnostic::Span;

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// Levels of expressions inside of it, itself included: the depth of recursion over it.
    pub(crate) depth: u16,
}

impl Expr {
    pub(crate) fn new(kind: ExprKind, span: Span) -> Self {
        let of = |list: &[&Self]| list.iter().map(|expr| expr.depth).max().unwrap_or(0);
        let inside = match &kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Name(_) => 0,
            ExprKind::Unary(_, a)
            | ExprKind::Step { target: a, .. }
            | ExprKind::Field(a, ..)
            | ExprKind::Length(a) => a.depth,
            ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Sequence(a, b) => of(&[a, b]),
            ExprKind::Ternary(a, b, c) => of(&[a, b, c]),
            ExprKind::Call { array, arguments, .. } => {
                let size = array.iter().flatten().map(|size| size.depth).max().unwrap_or(0);
                arguments.iter().map(|argument| argument.depth).max().unwrap_or(0).max(size)
            }
        };
        Self { kind, span, depth: inside.saturating_add(1) }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(i64),
    Float(f32),
    Bool(bool),
    Name(Box<str>),
    Unary(Unary, Box<Expr>),
    /// `++` and `--`: whether it is after its operand, and the sign.
    Step {
        postfix: bool,
        add: bool,
        target: Box<Expr>,
    },
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `=`, or the operator of `+=` ...
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function, or a constructor; an array's has a size.
    Call {
        name: Box<str>,
        name_span: Span,
        array: Option<Option<Box<Expr>>>,
        arguments: Vec<Expr>,
    },
    Field(Box<Expr>, Box<str>, Span),
    Index(Box<Expr>, Box<Expr>),
    /// `.length()`
    Length(Box<Expr>),
    Sequence(Box<Expr>, Box<Expr>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-x`
    Negate,
    /// `!x`
    Not,
    /// `+x`
    Plus,
    /// `~x`
    Complement,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`, also the products of linear algebra
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `^^`
    Xor,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
}

impl Binary {
    /// The operators by their text, with their strength.
    pub(crate) const TABLE: [(&'static str, Self, u8); 19] = [
        ("||", Self::Or, 1),
        ("^^", Self::Xor, 2),
        ("&&", Self::And, 3),
        ("|", Self::BitOr, 4),
        ("^", Self::BitXor, 5),
        ("&", Self::BitAnd, 6),
        ("==", Self::Eq, 7),
        ("!=", Self::Ne, 7),
        ("<", Self::Lt, 8),
        (">", Self::Gt, 8),
        ("<=", Self::Le, 8),
        (">=", Self::Ge, 8),
        ("<<", Self::Shl, 9),
        (">>", Self::Shr, 9),
        ("+", Self::Add, 10),
        ("-", Self::Sub, 10),
        ("*", Self::Mul, 11),
        ("/", Self::Div, 11),
        ("%", Self::Rem, 11),
    ];

    /// Returns its text.
    #[must_use]
    pub fn text(self) -> &'static str {
        Self::TABLE.iter().find(|(_, op, _)| *op == self).map_or("?", |(text, ..)| text)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Qualifiers {
    pub(crate) storage: Option<(Storage, Span)>,
    pub(crate) is_const: bool,
    /// `layout(location = N)`
    pub(crate) location: Option<i64>,
    /// `in`, `out`, `inout` of a parameter; of a global variable ES 3.00's.
    pub(crate) input: bool,
    pub(crate) output: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Uniform,
    Varying,
    Attribute,
}

/// The name of a type, or a structure's declaration.
#[derive(Clone, Debug)]
pub(crate) struct TypeName {
    pub(crate) name: Box<str>,
    pub(crate) span: Span,
    pub(crate) members: Option<Vec<Declaration>>,
    /// `float[3] a`
    pub(crate) array: Option<Option<Box<Expr>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) qualifiers: Qualifiers,
    pub(crate) ty: TypeName,
    pub(crate) variables: Vec<Declarator>,
}

#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Box<str>,
    pub(crate) span: Span,
    /// `[N]`, `[]`
    pub(crate) array: Option<Option<Box<Expr>>>,
    pub(crate) init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Declare(Declaration),
    Expr(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    For { init: Option<Box<Stmt>>, test: Option<Expr>, step: Option<Expr>, body: Box<Stmt> },
    While(Expr, Box<Stmt>),
    Do(Box<Stmt>, Expr),
    Block(Vec<Stmt>),
    Return(Option<Expr>),
    Break,
    Continue,
    Discard,
    Empty,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) qualifiers: Qualifiers,
    pub(crate) ty: TypeName,
    /// May be empty.
    pub(crate) name: Box<str>,
    pub(crate) span: Span,
    pub(crate) array: Option<Option<Box<Expr>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) ty: TypeName,
    pub(crate) name: Box<str>,
    pub(crate) span: Span,
    pub(crate) parameters: Vec<Parameter>,
    /// `None` for a prototype.
    pub(crate) body: Option<Vec<Stmt>>,
}

/// What a source has.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) items: Vec<Item>,
    /// The largest number that each name has as its index, which is the size of an array that is declared without.
    pub(crate) indices: HashMap<Box<str>, i64>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Declare(Declaration),
    Function(Function),
}
