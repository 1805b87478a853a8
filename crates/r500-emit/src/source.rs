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
    /// Of words without a sign.
    WordLt,
    /// The rest of a division of words without a sign.
    WordRem,
    /// Shifts by the second operand.
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
    /// The word of a float that is an integer, in two's complement.
    ToWordSigned,
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
            | Self::WordEq
            | Self::WordLt => Type::Bool,
            Self::Bits
            | Self::WordAnd
            | Self::WordOr
            | Self::WordXor
            | Self::WordAdd
            | Self::WordSub
            | Self::WordRem
            | Self::ShiftLeft
            | Self::ShiftRight
            | Self::ShiftRightSigned
            | Self::ToWord
            | Self::ToWordSigned => Type::U32,
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
    /// The level of detail of two steps with so many axes.
    Lod(u8),
    /// The face of a cube that a direction hits.
    Face,
    /// The position of a direction on a face of a unit's texture, and its component along the axis of the face.
    FacePoint(u8),
    /// The colour at a position in a level of a unit's texture, by the filter for magnified textures or the other one.
    Level(u8, FilterKind),
    /// The colour at a position of a unit's texture with a level of detail.
    Texture(u8),
    /// The mean of the colours along the longer step of a pixel, for an anisotropic filter; whether the level of detail has a bias.
    Probes(u8, bool),
}

impl Helper {
    /// Returns whether the result is a vector of four floats; else it is a float.
    pub(crate) fn is_vector(self) -> bool {
        matches!(self, Self::FacePoint(_) | Self::Level(..) | Self::Texture(_) | Self::Probes(..))
    }
}

/// One of the two filters of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FilterKind {
    Magnified,
    Minified,
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
    /// A channel of the program constant whose number, from 0 to 255, is in a variable.
    Table(Var, u8),
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

    /// As [`each`](Self::each), mutable: an expression before those in it.
    pub(crate) fn each_mut(&mut self, f: &mut impl FnMut(&mut Self)) {
        f(self);
        if let Self::Op(_, operands) | Self::Call(_, operands) = self {
            operands.iter_mut().for_each(|operand| operand.each_mut(f));
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

/// A fetch by the host's sampler.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub unit: u8,
    /// As many as the texture has dimensions.
    pub coordinates: Vec<Expr>,
    /// Whether the coordinates are texels of the finest level.
    pub unscaled: bool,
    pub lod: Lod,
}

/// Where a vector of four floats comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum VectorSource {
    Sample(Sample),
    /// A texel of a unit's texture: column, row, and layer if it has layers, then the level, all of them words.
    Load(u8, Vec<Expr>, Expr),
    /// A helper's result.
    Call(Helper, Vec<Expr>),
}

impl VectorSource {
    /// Returns the unit whose texture is read here.
    pub(crate) fn unit(&self) -> Option<u8> {
        match self {
            Self::Sample(sample) => Some(sample.unit),
            Self::Load(unit, ..) => Some(*unit),
            Self::Call(..) => None,
        }
    }

    fn operands(&self) -> Vec<&Expr> {
        match self {
            Self::Load(_, at, level) => at.iter().chain([level]).collect(),
            Self::Call(_, operands) => operands.iter().collect(),
            Self::Sample(sample) => {
                let mut operands: Vec<&Expr> = sample.coordinates.iter().collect();
                match &sample.lod {
                    Lod::Implicit => {}
                    Lod::Bias(expr) | Lod::Level(expr) => operands.push(expr),
                    Lod::Gradients(dx, dy) => operands.extend(dx.iter().chain(dy)),
                }
                operands
            }
        }
    }
}

/// A vector and the variables of its channels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector {
    pub source: VectorSource,
    pub vector: Var,
    /// The used channels.
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
    Vector(Box<Vector>),
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
    /// One float, or the four of a vector.
    pub results: Vec<Expr>,
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
    /// The outputs of a vertex program, by register; none of a fragment program.
    pub outputs: Vec<(u8, [Expr; 4])>,
}

impl Source {
    /// Returns a new variable of the body.
    pub(crate) fn fresh(&mut self, ty: Type) -> Var {
        let var =
            Var(u32::try_from(self.types.len()).expect("a body has less than 2^32 variables"));
        self.types.push(ty);
        var
    }

    /// Hides the numbers of [`HIDDEN`] from the host.
    pub(crate) fn hide(&mut self) {
        self.each_root_mut(&mut Expr::hide);
    }

    /// Calls `f` with every expression that is not a part of another one.
    pub(crate) fn each_root_mut(&mut self, f: &mut impl FnMut(&mut Expr)) {
        each_root_mut(&mut self.body, f);
        for function in &mut self.functions {
            each_root_mut(&mut function.body, f);
            function.results.iter_mut().for_each(&mut *f);
        }
        self.colors.iter_mut().flatten().flatten().for_each(&mut *f);
        self.outputs.iter_mut().flat_map(|(_, channels)| channels).for_each(&mut *f);
        self.depth.iter_mut().chain(&mut self.covered).for_each(f);
    }

    /// Calls `f` with every statement of the body and the functions.
    pub(crate) fn each_statement(&self, f: &mut impl FnMut(&Stmt)) {
        each_statement(&self.body, f);
        self.functions.iter().for_each(|function| each_statement(&function.body, f));
    }

    /// Calls `f` with every expression of the body and the outputs.
    pub(crate) fn each_expression(&self, f: &mut impl FnMut(&Expr)) {
        each_in(&self.body, f);
        for function in &self.functions {
            each_in(&function.body, f);
            function.results.iter().for_each(|result| result.each(f));
        }
        self.colors.iter().flatten().flatten().for_each(|color| color.each(f));
        self.outputs.iter().flat_map(|(_, channels)| channels).for_each(|expr| expr.each(f));
        self.depth.iter().chain(&self.covered).for_each(|expr| expr.each(f));
    }
}

fn each_root_mut(body: &mut [Stmt], f: &mut impl FnMut(&mut Expr)) {
    for stmt in body {
        match stmt {
            Stmt::Let(_, expr) | Stmt::Mut(_, expr) | Stmt::Set(_, expr) => f(expr),
            Stmt::BreakUnless(condition) => f(condition),
            Stmt::If(condition, yes, no) => {
                f(condition);
                each_root_mut(yes, f);
                each_root_mut(no, f);
            }
            Stmt::Loop(_, _, body) => each_root_mut(body, f),
            Stmt::Vector(vector) => match &mut vector.source {
                VectorSource::Call(_, operands) => operands.iter_mut().for_each(&mut *f),
                // Coordinates of a load are words, and fast shaders hide nothing.
                VectorSource::Load(..) | VectorSource::Sample(_) => {}
            },
            Stmt::Comment(_) => {}
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
        Stmt::Vector(vector) => {
            vector.source.operands().into_iter().for_each(|operand| operand.each(f));
        }
    });
}
