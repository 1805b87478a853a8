//! The intermediate representation: typed SSA values, lane masks, structured control flow; its passes and its verifier.
//!
//! A [`Function`] is the computation of a program for one pixel, channel by channel. [`lift`](lift()) translates a
//! [structured](r500_check::graph::Structure) program with its bindings, once for each draw; [`lift_symbolic`] leaves program constants
//! symbolic:
//!
//! - every value has one definition and a [`Type`]: a float, or a lane mask,
//! - registers, swizzles, modifiers, predicates and constants are resolved: only operations on channels remain,
//! - flow control is a tree of [`If`] and [`Loop`], with phis and loop parameters; which lanes execute is a mask.
//!
//! ```text
//! Shader + Bindings ──lift──▶ Function ──passes──▶ Function ──▶ bytecode, machine code
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `lift` | translation of instructions and statements |
//! | `builder`, `mask_algebra` | value numbering, constant folding, if-conversion, simplification of masks |
//! | `const_eval` | constant evaluation |
//! | `value_range` | interval analysis |
//! | `opt` | the pass pipeline: dead-code elimination and the others |
//! | `verify` | the verifier |
//! | `print`, `parse` | the text form |
//! | `entity` | dense maps from values |
//! | `uniform` | program constants that are not folded |
//!
//! A function describes independent pixels. [`lift`](lift()) refuses programs in which the size of a group of pixels
//! can be observed.

#![allow(
    clippy::expect_used,
    reason = "a broken invariant of a function is a bug that must stop loudly"
)]

mod builder;
mod const_eval;
mod entity;
mod lift;
mod mask_algebra;
mod opt;
mod parse;
mod print;
mod uniform;
mod value_range;
mod verify;

use r500_isa::values::TexOp;

pub use const_eval::{evaluate, evaluate_partially};
pub use entity::{EntityKey, EntityMap};
pub use lift::{
    AnalysisCache, GroupDependence, InputKind, LiftError, LiftInput, ProgramAnalysis,
    UnknownConstant, UnsupportedOption, lift, lift_symbolic,
};
pub use opt::{
    DENORMAL, DemandedFp, NOTHING, OperandDemand, SIGN, operand_demands, optimize_for_codegen,
};
pub use parse::{ParseError, Parsed, parse};
pub use uniform::{ConstantChannel, SymbolicConstants, Uniform};
pub use value_range::{Range, RangeFacts};
pub use verify::{Malformed, VerifyError, verify};

/// An SSA value: one 32-bit word per pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl EntityKey for Value {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a function has less than 2^32 values"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The type of a value.
///
/// There is no integer type: the lift resolves aL, loop counters and relative addresses, so a function contains no integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A float of 32 bits.
    F32,
    /// A lane mask: all bits of a lane are set, or none.
    Mask,
}

/// The data of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueData {
    /// The type.
    pub ty: Type,
    /// Debug location: the absolute address of the instruction that it comes from; 0 for inputs.
    pub source_loc: u32,
    /// Known facts about its range.
    pub facts: RangeFacts,
}

impl ValueData {
    /// Returns the data of a value without a source instruction.
    #[must_use]
    pub fn new(ty: Type) -> Self {
        Self { ty, source_loc: 0, facts: RangeFacts::default() }
    }
}

/// The values of a function.
pub type Values = EntityMap<Value, ValueData>;

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// The same bits in every lane.
    Const(u32),
}

/// The empty mask.
pub const NONE: Operand = Operand::Const(0);
/// The full mask.
pub const ALL: Operand = Operand::Const(!0);

/// An operation: an opcode and its arguments. Arguments beyond [`Opcode::arity`] are [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The opcode.
    pub opcode: Opcode,
    /// The arguments.
    pub args: [Operand; 3],
}

/// The opcode of an operation. Arithmetic is that of [`numerics`](r500_numerics): each step is rounded, and denormal operands and results
/// of arithmetic and comparisons are flushed to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opcode {
    /// A channel of an interpolated input (index into [`Bindings::inputs`](r500_exec::Bindings::inputs)).
    Input {
        /// The input.
        input: u8,
        /// Red to alpha, 0 to 3.
        channel: u8,
    },
    /// a * b.
    Mul(MulFlags),
    /// a * b + c.
    Mad(MulFlags, AddSign),
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// a with its sign inverted; a bit operation, also for denormals and NaN.
    Neg,
    /// a without its sign; a bit operation.
    Abs,
    /// a with its sign set; a bit operation.
    NegAbs,
    /// a < b ? a : b, the bits of either unchanged.
    Min(DenormalMode),
    /// a >= b ? a : b, the bits of either unchanged.
    Max(DenormalMode),
    /// mask a ? b : c, the bits of either unchanged.
    Select,
    /// a, denormals replaced by zeros of their sign.
    Flush,
    /// a clamped to 0..1; NaN and -0 give +0.
    Clamp01,
    /// a - floor(a).
    Frc,
    /// 1 / a.
    Rcp,
    /// 1 / sqrt(a).
    Rsq,
    /// 2 to the power of a.
    Ex2,
    /// The logarithm of a to base 2.
    Ln2,
    /// The sine of a turns.
    Sin,
    /// The cosine of a turns.
    Cos,
    /// Broadcasts one lane of the quad to all four: 0 top left, 1 top right, 2 bottom left.
    QuadBroadcast(u8),
    /// Mask: a < b.
    Lt,
    /// Mask: a >= b.
    Ge,
    /// Mask: a == b.
    Eq,
    /// Mask: a != b, true with NaN.
    Ne,
    /// Mask: a and b.
    And,
    /// Mask: a or b.
    Or,
    /// Mask: a and not b.
    AndNot,
}

/// Whether an operand of a minimum or maximum may be denormal, whose bits the result must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DenormalMode {
    /// An operand may be denormal.
    Kept,
    /// No operand can be denormal.
    Excluded,
}

/// Flags of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MulFlags {
    /// The product is negated (before the zero rule).
    pub negate: bool,
    /// The product is +0 if factor a is zero, for any factor b.
    pub zero_a: bool,
    /// The product is +0 if factor b is zero, for any factor a.
    pub zero_b: bool,
}

/// The sign of the third operand of a multiply-add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddSign {
    /// product + c.
    Plus,
    /// product - c.
    Minus,
}

/// A texture fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// The unit, which has a texture.
    pub unit: u8,
    /// LD, PROJ, LODBIAS, LOD or DXDY.
    pub op: TexOp,
    /// `UNSCALED`.
    pub unscaled: bool,
    /// S, T, R, Q; 0 for coordinates that the sampler does not use.
    pub strq: [Operand; 4],
    /// Gradients along x; 0 except for DXDY.
    pub dx: [Operand; 4],
    /// Gradients along y; 0 except for DXDY.
    pub dy: [Operand; 4],
    /// The lanes that fetch.
    pub active: Operand,
    /// Red, green, blue, alpha of the texel, before the destination swizzle; `None` for unused channels.
    pub texel: [Option<Value>; 4],
    /// The address of the instruction.
    pub address: u32,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// Computes a value, in all lanes.
    Def(Value, Inst),
    /// Fetches texels.
    Fetch(Box<Fetch>),
    /// Removes the coverage of the mask's lanes.
    Discard(Operand),
    /// Counts the covered lanes of a mask for a channel of `STAT_WE`.
    Stat {
        /// Red to alpha, 0 to 3.
        channel: u8,
        /// The lanes.
        mask: Operand,
    },
    /// Group hazard: the lanes of a mask execute. If the mask has lanes of a group but no covered one, the group may behave differently
    /// from independent pixels, and the reference engine runs it again.
    GroupHazard(Operand),
    /// Charges executed instructions against the limit.
    ConsumeFuel {
        /// The number of instructions.
        instructions: u32,
        /// Address of the first.
        address: u32,
    },
    /// A branch.
    If(Box<If>),
    /// A loop.
    Loop(Box<Loop>),
}

/// A branch. An arm runs if its mask has a lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct If {
    /// The lanes that take the first arm, and those that take the second; they are disjoint.
    pub masks: [Operand; 2],
    /// The arms.
    pub arms: [Vec<Stmt>; 2],
    /// The values that the branch merges.
    pub phis: Vec<Phi>,
}

/// A phi: a value that depends on the arm that a lane takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Phi {
    /// The value.
    pub value: Value,
    /// Its value in lanes that take no arm, or an arm without an operand; `None` if the value is not used in those lanes.
    pub incoming: Option<Operand>,
    /// Its value in the lanes of each arm.
    pub arms: [Option<Operand>; 2],
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// The maximum number of iterations; at least 1.
    pub max_trips: u32,
    /// The loop parameters.
    pub params: Vec<LoopParam>,
    /// One iteration.
    pub body: Vec<Stmt>,
    /// The lanes that continue after an iteration: the loop ends when none does. `None`: it runs `max_trips` iterations.
    pub continue_mask: Option<Operand>,
}

/// A loop parameter: a loop-carried value. After the loop it has the next value of the last iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopParam {
    /// The value.
    pub value: Value,
    /// Its value in the first iteration.
    pub init: Operand,
    /// Its value in the next iteration.
    pub next: Operand,
}

/// A program specialised for its bindings, for one pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The values.
    pub values: Values,
    /// Values that the caller provides, uniform over all lanes; no statement defines them.
    pub uniforms: Vec<Uniform>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Outputs A to D, red to alpha; `None` for targets that are never written.
    pub colors: [Option<[Operand; 4]>; 4],
    /// The channels of `colors` that are never NaN.
    pub non_nan: [[bool; 4]; 4],
    /// Depth: the value, and the mask of lanes that wrote it.
    pub depth: Option<(Operand, Operand)>,
}

impl Function {
    /// Returns the outputs: colours, depth and its mask.
    pub fn outputs(&self) -> impl Iterator<Item = Operand> + '_ {
        let depth = self.depth.into_iter().flat_map(|(depth, written)| [depth, written]);
        self.colors.iter().flatten().flatten().copied().chain(depth)
    }

    /// Returns the values of the uniforms, given the program constants by number.
    #[must_use]
    pub fn uniform_values(&self, constants: &[[f32; 4]]) -> Vec<f32> {
        self.uniforms.iter().map(|uniform| uniform.source.value(constants)).collect()
    }

    /// Calls `f` with each statement, also those in regions.
    pub fn each(&self, f: &mut impl FnMut(&Stmt)) {
        self.body.iter().for_each(|stmt| stmt.each(f));
    }

    /// Calls `f` with each value that an operation defines, and the operation, in program order.
    pub fn each_inst_mut(&mut self, f: &mut impl FnMut(Value, &mut Inst)) {
        self.body.iter_mut().for_each(|stmt| stmt.each_inst_mut(f));
    }

    /// As [`outputs`](Self::outputs), mutable.
    fn outputs_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        let depth = self.depth.iter_mut().flat_map(|(depth, written)| [depth, written]);
        self.colors.iter_mut().flatten().flatten().chain(depth)
    }
}

impl Operand {
    /// Returns a float constant, equal in every lane.
    #[must_use]
    pub fn float(x: f32) -> Self {
        Self::Const(x.to_bits())
    }

    /// Returns the float of a constant operand.
    #[must_use]
    pub fn as_float(self) -> Option<f32> {
        match self {
            Self::Const(bits) => Some(f32::from_bits(bits)),
            Self::Value(_) => None,
        }
    }

    /// Returns the value, unless it is a constant.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Const(_) => None,
        }
    }
}

impl Opcode {
    /// Returns the type of the result; `None` for [`Select`](Self::Select), whose result has the type of its operands.
    #[must_use]
    pub fn result_type(self) -> Option<Type> {
        match self {
            Self::Select => None,
            Self::Lt | Self::Ge | Self::Eq | Self::Ne | Self::And | Self::Or | Self::AndNot => {
                Some(Type::Mask)
            }
            _ => Some(Type::F32),
        }
    }

    /// Returns the types of the arguments, given that of the result.
    #[must_use]
    pub fn operand_types(self, result: Type) -> [Type; 3] {
        match self {
            Self::Select => [Type::Mask, result, result],
            Self::And | Self::Or | Self::AndNot => [Type::Mask; 3],
            _ => [Type::F32; 3],
        }
    }

    /// Returns the number of arguments.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Self::Input { .. } => 0,
            Self::Neg
            | Self::Abs
            | Self::NegAbs
            | Self::Flush
            | Self::Clamp01
            | Self::Frc
            | Self::Rcp
            | Self::Rsq
            | Self::Ex2
            | Self::Ln2
            | Self::Sin
            | Self::Cos
            | Self::QuadBroadcast(_) => 1,
            Self::Mad(..) | Self::Select => 3,
            _ => 2,
        }
    }
}

impl Inst {
    /// Returns an operation.
    #[must_use]
    pub fn new(opcode: Opcode, args: &[Operand]) -> Self {
        let mut inst = Self { opcode, args: [NONE; 3] };
        for (to, from) in inst.args.iter_mut().zip(args) {
            *to = *from;
        }
        inst
    }

    /// Returns its arguments.
    #[must_use]
    pub fn args(&self) -> &[Operand] {
        &self.args[..self.opcode.arity()]
    }
}

/// Calls `$f` with each operand of a statement, by shared or by mutable references.
macro_rules! each_operand {
    ($stmt:expr, $as_ref:ident, $iter:ident, $f:ident) => {
        match $stmt {
            Stmt::Def(_, Inst { opcode, args }) => {
                args.$iter().take(opcode.arity()).for_each($f);
            }
            Stmt::Fetch(fetch) => {
                let Fetch { strq, dx, dy, active, .. } = fetch.$as_ref();
                strq.$iter().chain(dx).chain(dy).chain([active]).for_each($f);
            }
            Stmt::Discard(mask) | Stmt::Stat { mask, .. } | Stmt::GroupHazard(mask) => $f(mask),
            Stmt::ConsumeFuel { .. } => {}
            Stmt::If(branch) => {
                let If { masks, phis, .. } = branch.$as_ref();
                masks.$iter().for_each(&mut *$f);
                for Phi { incoming, arms, .. } in phis {
                    incoming.$iter().chain(arms.$iter().flatten()).for_each(&mut *$f);
                }
            }
            Stmt::Loop(repeat) => {
                let Loop { params, continue_mask, .. } = repeat.$as_ref();
                for LoopParam { init, next, .. } in params {
                    $f(init);
                    $f(next);
                }
                continue_mask.$iter().for_each($f);
            }
        }
    };
}

impl Stmt {
    /// Calls `f` with each value that the statement itself defines, phis and loop parameters included, but not with those of its regions.
    pub fn defs(&self, f: &mut impl FnMut(Value)) {
        match self {
            Self::Def(value, _) => f(*value),
            Self::Fetch(fetch) => fetch.texel.into_iter().flatten().for_each(f),
            Self::If(branch) => branch.phis.iter().for_each(|phi| f(phi.value)),
            Self::Loop(repeat) => repeat.params.iter().for_each(|param| f(param.value)),
            Self::Discard(_)
            | Self::Stat { .. }
            | Self::GroupHazard(_)
            | Self::ConsumeFuel { .. } => {}
        }
    }

    /// Returns its child statements: those of its arms or of its body.
    pub fn inside(&self) -> impl Iterator<Item = &Self> {
        let (arms, body): (&[Vec<Self>], &[Self]) = match self {
            Self::If(branch) => (&branch.arms, &[]),
            Self::Loop(repeat) => (&[], &repeat.body),
            _ => (&[], &[]),
        };
        arms.iter().flatten().chain(body)
    }

    /// Returns whether `f` holds for the statement or any statement in its regions.
    pub fn any(&self, f: &mut impl FnMut(&Self) -> bool) -> bool {
        f(self) || self.inside().any(|stmt| stmt.any(f))
    }

    /// Calls `f` with the statement and all statements in its regions.
    pub fn each(&self, f: &mut impl FnMut(&Self)) {
        self.any(&mut |stmt| {
            f(stmt);
            false
        });
    }

    fn each_inst_mut(&mut self, f: &mut impl FnMut(Value, &mut Inst)) {
        match self {
            Self::Def(value, inst) => f(*value, inst),
            Self::If(branch) => {
                branch.arms.iter_mut().flatten().for_each(|stmt| stmt.each_inst_mut(f));
            }
            Self::Loop(repeat) => {
                repeat.body.iter_mut().for_each(|stmt| stmt.each_inst_mut(f));
            }
            _ => {}
        }
    }

    /// Calls `f` with each operand of the statement itself, phis and loop parameters included, but not with those of the statements in its
    /// regions.
    pub fn operands(&self, f: &mut impl FnMut(Operand)) {
        let f = &mut |operand: &Operand| f(*operand);
        each_operand!(self, as_ref, iter, f);
    }

    /// As [`operands`](Self::operands), mutable.
    pub fn operands_mut(&mut self, f: &mut impl FnMut(&mut Operand)) {
        each_operand!(self, as_mut, iter_mut, f);
    }
}

#[cfg(test)]
mod tests;
