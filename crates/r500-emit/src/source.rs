//! A shader as every target writes it: typed expressions and structured statements.

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    F32,
    U32,
    Bool,
}

/// A variable of a body, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Var(pub u32);

/// An operation. The types of its operands are those of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    // Floats. The first five are rounded.
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Neg,
    Abs,
    Floor,
    RoundEven,
    // Functions of the host, of unknown accuracy; only in fast shaders.
    InverseSqrt,
    Exp2,
    Log2,
    Sin,
    Cos,
    Fract,
    Min,
    Max,
    Saturate,
    // The difference of the quad's two columns in this row, and of its two rows in this column.
    ColumnDifference,
    RowDifference,
    // Comparisons of floats: false with NaN, except for `Ne`.
    Lt,
    Ge,
    Eq,
    Ne,
    // Booleans.
    And,
    Or,
    Not,
    /// A condition, the value if it is true, and if it is false.
    Select,
    // Words.
    Bits,
    FromBits,
    WordAnd,
    WordOr,
    WordXor,
    WordAdd,
    WordSub,
    WordEq,
    /// Shifts by a constant, which is the second operand.
    ShiftLeft,
    ShiftRight,
    /// Of a word as a signed number: shifts its sign in.
    ShiftRightSigned,
    /// The float of a word.
    ToFloat,
    /// The float of a word as a signed number.
    ToFloatSigned,
    /// The word of a float that is a natural number.
    ToWord,
}

impl Op {
    /// Returns whether a host could compute more exactly, or in another order, than the operation says.
    pub(crate) fn is_rounded(self) -> bool {
        matches!(self, Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Sqrt)
    }

    /// Returns the type of the result; `Select` has that of its last operand.
    pub(crate) fn result(self) -> Option<Type> {
        Some(match self {
            Self::Select => return None,
            Self::Lt
            | Self::Ge
            | Self::Eq
            | Self::Ne
            | Self::And
            | Self::Or
            | Self::Not
            | Self::WordEq => Type::Bool,
            Self::Bits
            | Self::WordAnd
            | Self::WordOr
            | Self::WordXor
            | Self::WordAdd
            | Self::WordSub
            | Self::ShiftLeft
            | Self::ShiftRight
            | Self::ShiftRightSigned
            | Self::ToWord => Type::U32,
            _ => Type::F32,
        })
    }
}

/// A function next to the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Helper {
    /// The reference kernels.
    Ex2,
    Ln2,
    Sin,
    Cos,
    /// A value without a denormal's fraction.
    Flush,
    /// The product of two numbers, 0 if one is.
    Product,
    /// The value of a lane of the quad: 0 top left, 1 top right, 2 bottom left.
    QuadLane(u8),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Var(Var),
    /// A float, by its bits.
    F32(u32),
    U32(u32),
    Bool(bool),
    /// A channel of an input.
    Input(u8, u8),
    /// A channel of a vector of the uniform buffer.
    Uniform(Member, u8),
    /// Whether the pixel is in the right column, or in the lower row, of its quad.
    InSecond(Axis),
    /// The depth of the fragment.
    FragmentDepth,
    /// The centre of the pixel along an axis, in pixels.
    Centre(Axis),
    Op(Op, Vec<Expr>),
    Call(Helper, Vec<Expr>),
}

/// A vector of the uniform buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A program constant.
    Constant(u8),
    /// Width and height of the picture in pixels.
    Size,
    /// A vector of an input's plane.
    Plane(u8, PlanePart),
    /// [`HIDDEN`].
    Hidden,
}

/// A vector of an input's plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanePart {
    /// The value at the corner of the first pixel.
    Corner,
    /// The change over the width.
    AlongX,
    /// The change over the height.
    AlongY,
}

impl PlanePart {
    /// All parts, in their order in the uniform buffer.
    pub(crate) const ALL: [Self; 3] = [Self::Corner, Self::AlongX, Self::AlongY];
}

/// An axis of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    X,
    Y,
}

impl Axis {
    /// Returns the channel of vectors that is along the axis.
    pub(crate) fn channel(self) -> u8 {
        match self {
            Self::X => 0,
            Self::Y => 1,
        }
    }
}

/// Numbers of exact shaders that the host must not know: it would take `x + 0` and `x * 1` for `x`, and `x * 0` for 0, which differs for zeros,
/// denormals and NaN.
pub(crate) const HIDDEN: [f32; 4] = [0.0, -0.0, 1.0, -1.0];

impl Expr {
    pub(crate) fn op<const N: usize>(op: Op, operands: [Self; N]) -> Self {
        Self::Op(op, operands.into())
    }

    pub(crate) fn float(x: f32) -> Self {
        Self::F32(x.to_bits())
    }

    /// Returns `condition ? yes : no`.
    pub(crate) fn select(condition: Self, yes: Self, no: Self) -> Self {
        match condition {
            Self::Bool(true) => yes,
            Self::Bool(false) => no,
            _ if yes == no => yes,
            condition => Self::op(Op::Select, [condition, yes, no]),
        }
    }

    /// Returns `a && b`.
    pub(crate) fn and(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Bool(false), _) | (_, Self::Bool(false)) => Self::Bool(false),
            (Self::Bool(true), x) | (x, Self::Bool(true)) => x,
            (a, b) => Self::op(Op::And, [a, b]),
        }
    }

    /// Returns `a || b`.
    pub(crate) fn or(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Bool(true), _) | (_, Self::Bool(true)) => Self::Bool(true),
            (Self::Bool(false), x) | (x, Self::Bool(false)) => x,
            (a, b) => Self::op(Op::Or, [a, b]),
        }
    }

    /// Returns `!a`.
    pub(crate) fn not(a: Self) -> Self {
        match a {
            Self::Bool(value) => Self::Bool(!value),
            a => Self::op(Op::Not, [a]),
        }
    }

    /// Hides the numbers of [`HIDDEN`] from the host, except where they are compared.
    pub(crate) fn hide(&mut self) {
        match self {
            Self::F32(bits) => {
                let place = HIDDEN.iter().position(|x| x.to_bits() == *bits);
                if let Some(place) = place {
                    let channel = u8::try_from(place).expect("four numbers");
                    *self = Self::Uniform(Member::Hidden, channel);
                }
            }
            Self::Op(Op::Lt | Op::Ge | Op::Eq | Op::Ne, operands) => {
                operands
                    .iter_mut()
                    .filter(|operand| !matches!(operand, Self::F32(_)))
                    .for_each(Self::hide);
            }
            Self::Op(_, operands) | Self::Call(_, operands) => {
                operands.iter_mut().for_each(Self::hide);
            }
            _ => {}
        }
    }

    /// Returns the number of operations.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Op(_, operands) | Self::Call(_, operands) => {
                1 + operands.iter().map(Self::size).sum::<usize>()
            }
            _ => 0,
        }
    }

    /// Calls `f` with the expression and all expressions in it.
    pub(crate) fn each(&self, f: &mut impl FnMut(&Self)) {
        f(self);
        match self {
            Self::Op(_, operands) | Self::Call(_, operands) => {
                operands.iter().for_each(|operand| operand.each(f));
            }
            _ => {}
        }
    }
}

/// How a fetch finds its level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lod {
    /// By the differences of the coordinates in the quad.
    Implicit,
    /// Likewise, and a bias.
    Bias(Expr),
    /// The level itself.
    Level(Expr),
    /// By gradients along x and y.
    Gradients(Vec<Expr>, Vec<Expr>),
}

/// A texture fetch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub unit: u8,
    /// As many as the texture has dimensions.
    pub coordinates: Vec<Expr>,
    /// Whether the coordinates are texels of the finest level.
    pub unscaled: bool,
    pub lod: Lod,
    /// The texel.
    pub texel: Var,
    /// Its used channels.
    pub channels: [Option<Var>; 4],
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stmt {
    /// A line of the program that the next statements come from.
    Comment(String),
    /// A variable that keeps its value.
    Let(Var, Expr),
    /// A variable that changes.
    Mut(Var, Expr),
    Set(Var, Expr),
    Sample(Box<Sample>),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// At most so many iterations. The variable is the counter.
    Loop(Var, u32, Vec<Stmt>),
    /// Leaves the loop.
    BreakUnless(Expr),
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub helper: Helper,
    pub parameters: Vec<Var>,
    pub body: Vec<Stmt>,
    pub result: Expr,
    /// Types of its variables.
    pub types: Vec<Type>,
}

/// A shader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    /// Functions, each after those that it calls.
    pub functions: Vec<Function>,
    pub body: Vec<Stmt>,
    /// Types of the body's variables.
    pub types: Vec<Type>,
    pub colors: [Option<[Expr; 4]>; 4],
    pub depth: Option<Expr>,
    /// Whether the fragment stays, if it may be discarded.
    pub covered: Option<Expr>,
}

impl Source {
    /// Hides the numbers of [`HIDDEN`] from the host.
    pub(crate) fn hide(&mut self) {
        hide(&mut self.body);
        for function in &mut self.functions {
            hide(&mut function.body);
            function.result.hide();
        }
        self.colors.iter_mut().flatten().flatten().chain(&mut self.depth).for_each(Expr::hide);
    }

    /// Calls `f` with every expression of the body and the outputs.
    pub(crate) fn each_expression(&self, f: &mut impl FnMut(&Expr)) {
        each_in(&self.body, f);
        for function in &self.functions {
            each_in(&function.body, f);
            function.result.each(f);
        }
        self.colors.iter().flatten().flatten().for_each(|color| color.each(f));
        self.depth.iter().chain(&self.covered).for_each(|expr| expr.each(f));
    }
}

/// Hides numbers in all expressions of statements.
fn hide(body: &mut [Stmt]) {
    for stmt in body {
        match stmt {
            Stmt::Let(_, expr) | Stmt::Mut(_, expr) | Stmt::Set(_, expr) => expr.hide(),
            Stmt::BreakUnless(condition) => condition.hide(),
            Stmt::If(condition, yes, no) => {
                condition.hide();
                hide(yes);
                hide(no);
            }
            Stmt::Loop(_, _, body) => hide(body),
            Stmt::Comment(_) | Stmt::Sample(_) => {}
        }
    }
}

/// Calls `f` with each statement, also those in branches and loops.
pub(crate) fn each_statement(body: &[Stmt], f: &mut impl FnMut(&Stmt)) {
    for stmt in body {
        f(stmt);
        match stmt {
            Stmt::If(_, yes, no) => {
                each_statement(yes, f);
                each_statement(no, f);
            }
            Stmt::Loop(_, _, body) => each_statement(body, f),
            _ => {}
        }
    }
}

fn each_in(body: &[Stmt], f: &mut impl FnMut(&Expr)) {
    each_statement(body, &mut |stmt| match stmt {
        Stmt::Comment(_) | Stmt::Loop(..) => {}
        Stmt::Let(_, expr)
        | Stmt::Mut(_, expr)
        | Stmt::Set(_, expr)
        | Stmt::If(expr, ..)
        | Stmt::BreakUnless(expr) => expr.each(f),
        Stmt::Sample(sample) => {
            sample.coordinates.iter().for_each(|expr| expr.each(f));
            match &sample.lod {
                Lod::Implicit => {}
                Lod::Bias(expr) | Lod::Level(expr) => expr.each(f),
                Lod::Gradients(dx, dy) => dx.iter().chain(dy).for_each(|expr| expr.each(f)),
            }
        }
    });
}
