//! The typed tree: a shader that has no errors.
//!
//! A value is a list of components in the order of the source: those of a vector, of a matrix column after column, of an array element
//! after element, of a structure member after member. Each is a float; an `int` is a float without fraction, a `bool` 0 or 1.

use crate::ast::{Binary, Unary};
use crate::builtins::Builtin;
use crate::diagnostic::Span;
use crate::types::Type;
use crate::version::Version;

/// What a shader runs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertices: attributes to the position and varyings.
    Vertex,
    /// Pixels: varyings to colours and depth.
    Fragment,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
        })
    }
}

/// A shader.
#[derive(Clone, Debug)]
pub struct Shader {
    /// What it runs for.
    pub stage: Stage,
    /// The language.
    pub version: Version,
    /// All variables: global ones, locals and parameters. A [`VariableId`] is an index.
    pub variables: Vec<Variable>,
    /// All functions with a body. A function calls only functions before it.
    pub functions: Vec<Function>,
    /// The index of `main`, or of `mainImage`.
    pub main: usize,
    /// Whether the entry is ShaderToy's `mainImage(out vec4, in vec2)`.
    pub is_main_image: bool,
}

/// The index of a variable.
pub type VariableId = usize;

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it is for.
    pub storage: Storage,
    /// Its first value; of locals the declaration has it.
    pub init: Option<Expr>,
    /// Where it is declared; empty for built-in ones.
    pub span: Span,
}

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A variable of all functions.
    Global,
    /// A constant; it has a first value.
    Constant,
    /// A constant of the draw.
    Uniform,
    /// An input of a vertex.
    Attribute,
    /// What vertex shaders give and fragment shaders read, interpolated.
    Varying,
    /// A render target, by number.
    Output(u8),
    /// A variable of the language.
    Builtin(BuiltinVariable),
    /// A variable of a function.
    Local,
    /// A parameter.
    Parameter {
        /// Whether it begins with the argument's value.
        input: bool,
        /// Whether the argument gets its value at the end.
        output: bool,
    },
}

/// A variable of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BuiltinVariable {
    /// `gl_FragCoord`
    FragCoord,
    /// `gl_FrontFacing`
    FrontFacing,
    /// `gl_PointCoord`
    PointCoord,
    /// `gl_Color`
    Color,
    /// `gl_SecondaryColor`
    SecondaryColor,
    /// `gl_TexCoord`
    TexCoord,
    /// `gl_FogFragCoord`
    FogFragCoord,
    /// `gl_FragColor`
    FragColor,
    /// `gl_FragData`
    FragData,
    /// `gl_FragDepth`
    FragDepth,
    /// `gl_Position`
    Position,
    /// `gl_PointSize`
    PointSize,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<VariableId>,
    /// The type of its value.
    pub returns: Type,
    /// What it does.
    pub body: Vec<Stmt>,
    /// Its name's place.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it is.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Begins a variable; without a value it is undefined.
    Declare(VariableId, Option<Expr>),
    /// Computes.
    Expr(Expr),
    /// Decides.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Repeats.
    Loop(Loop),
    /// Ends the function.
    Return(Option<Expr>),
    /// Ends the loop.
    Break,
    /// Ends the pass of the loop.
    Continue,
    /// Ends the pixel.
    Discard,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// What is done first.
    pub init: Vec<Stmt>,
    /// Whether there is a next pass; always, if missing.
    pub test: Option<Expr>,
    /// Whether the first pass is tested, too (not of `do`).
    pub test_first: bool,
    /// What is done after each pass.
    pub step: Option<Expr>,
    /// A pass.
    pub body: Vec<Stmt>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Type,
    /// Where it is.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Components that are known.
    Constant(Vec<f32>),
    /// The value of a variable.
    Variable(VariableId),
    /// An operation by components.
    Unary(Unary, Box<Expr>),
    /// An operation. Operands of the same type, or a scalar and a vector or matrix, by components; `*` of matrices is that of linear
    /// algebra.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Sets a target to a value, which has the target's type, or which `op` combines with it as [`ExprKind::Binary`] does.
    Assign {
        /// The operator of `+=` ...
        op: Option<Binary>,
        /// A variable, or components of one.
        target: Box<Expr>,
        /// The value.
        value: Box<Expr>,
    },
    /// `++`, `--`
    Step {
        /// Whether the value is that before.
        postfix: bool,
        /// Whether it is `++`.
        add: bool,
        /// A variable, or components of one.
        target: Box<Expr>,
    },
    /// `test ? a : b`, which computes only one of both.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The components of all arguments, converted; exactly as many as the type has.
    Construct(Vec<Expr>),
    /// One scalar in all components of a vector.
    Splat(Box<Expr>),
    /// A matrix with a scalar in its diagonal.
    Diagonal(Box<Expr>),
    /// The columns and rows that both matrices have; the rest as of the unit matrix.
    Resize(Box<Expr>),
    /// The first components of a longer value, converted.
    Truncate(Box<Expr>),
    /// A function of the source.
    Call(usize, Vec<Expr>),
    /// A function of the language.
    Builtin(Builtin, Vec<Expr>),
    /// Components of a vector, by number.
    Swizzle(Box<Expr>, Vec<u8>),
    /// A member of a structure, by the number of its first component.
    Member(Box<Expr>, usize),
    /// An element, a column or a component.
    Index(Box<Expr>, Box<Expr>),
    /// The value of the second one, after the first.
    Sequence(Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Calls `each` with this expression and all inside of it.
    pub fn each<'a>(&'a self, each: &mut dyn FnMut(&'a Self)) {
        each(self);
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Variable(_) => {}
            ExprKind::Unary(_, a)
            | ExprKind::Splat(a)
            | ExprKind::Diagonal(a)
            | ExprKind::Resize(a)
            | ExprKind::Truncate(a)
            | ExprKind::Swizzle(a, _)
            | ExprKind::Member(a, _)
            | ExprKind::Step { target: a, .. } => a.each(each),
            ExprKind::Binary(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Sequence(a, b)
            | ExprKind::Assign { target: a, value: b, .. } => {
                a.each(each);
                b.each(each);
            }
            ExprKind::Select(test, a, b) => {
                test.each(each);
                a.each(each);
                b.each(each);
            }
            ExprKind::Construct(list) | ExprKind::Call(_, list) | ExprKind::Builtin(_, list) => {
                list.iter().for_each(|expr| expr.each(each));
            }
        }
    }

    /// Returns the variable of which this is a part, if it is one.
    #[must_use]
    pub fn root(&self) -> Option<VariableId> {
        match &self.kind {
            ExprKind::Variable(id) => Some(*id),
            ExprKind::Swizzle(of, _) | ExprKind::Member(of, _) | ExprKind::Index(of, _) => {
                of.root()
            }
            _ => None,
        }
    }
}

impl Stmt {
    /// Calls `each` with this statement and all inside of it.
    pub fn each<'a>(&'a self, each: &mut dyn FnMut(&'a Self)) {
        each(self);
        match &self.kind {
            StmtKind::If(_, then, otherwise) => {
                then.iter().chain(otherwise).for_each(|statement| statement.each(each));
            }
            StmtKind::Loop(of) => {
                of.init.iter().chain(&of.body).for_each(|statement| statement.each(each));
            }
            _ => {}
        }
    }

    /// Calls `each` with the expressions of this statement, not of those inside of it.
    pub fn expressions<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            StmtKind::Declare(_, value) | StmtKind::Return(value) => value.iter().for_each(each),
            StmtKind::Expr(expr) | StmtKind::If(expr, ..) => each(expr),
            StmtKind::Loop(of) => of.test.iter().chain(&of.step).for_each(each),
            StmtKind::Break | StmtKind::Continue | StmtKind::Discard => {}
        }
    }
}
