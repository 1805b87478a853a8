//! The intermediate representation: typed SSA values, lane masks, structured control flow; its builder, passes, verifier and text form.
//!
//! A [`Function`] is the computation of a program for one pixel or vertex, channel by channel. The crate `r500-lift` translates fragment and vertex
//! programs to functions; any producer may build one with a [`Builder`]. This crate knows no programs, engines or bindings.
//!
//! ```text
//! Builder ──finish──▶ Function ──optimize──▶ Function ──▶ bytecode, machine code
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `builder`, `mask_algebra` | value numbering, constant folding, if-conversion, simplification of masks |
//! | `const_eval` | constant evaluation |
//! | `value_range` | interval analysis |
//! | `opt` | the pass pipeline: dead-code elimination and the others |
//! | `verify` | the verifier |
//! | `print`, `parse` | the text form |
//! | `entity` | dense maps from values |
//! | `uniform` | program constants that are not folded |
//!
//! # Semantics
//!
//! ## Lanes
//!
//! A function is evaluated over a *batch* of lanes, one lane for each pixel or vertex. Four lanes form a quad: 0 top left, 1 top right, 2 bottom left, 3
//! bottom right. A batch consists of whole quads; its size is up to the engine. A [`Value`] has one 32-bit word in each lane. Lanes are
//! independent, except for two statements that read the other lanes of a quad: [`Opcode::QuadBroadcast`], and a [`Fetch`] whose level of detail
//! depends on the differences of its coordinates.
//!
//! ## Types and constants
//!
//! A value is a float ([`Type::F32`]) or a mask ([`Type::Mask`]). A lane of a mask is all ones (*set*) or all zeros. A constant operand has the
//! same word in every lane; [`ALL`] and [`NONE`] are the only constant masks. A [`Uniform`] is a value that the caller provides, equal in every
//! lane; an [`Opcode::Input`] has a value in each lane, also in lanes that are not covered. [`Opcode::LoadConstant`] reads the *table*, all program
//! constants of the caller, which is equal in every lane, at an index that may differ between lanes.
//!
//! ## Operations
//!
//! [`Stmt::Def`] computes its operation in every lane, active or not. No operation traps. Arithmetic is that of [`numerics`](r500_numerics):
//! each step is rounded to nearest, operands and results that are denormal are flushed to zeros of their sign. The result is a function of the
//! words of the operands, bit for bit: an engine may compute it another way, but not round it another way. Bit operations
//! ([`Neg`](Opcode::Neg), [`Abs`](Opcode::Abs), [`NegAbs`](Opcode::NegAbs), [`Select`](Opcode::Select), minimum and maximum) keep denormals and
//! the bits of NaN.
//!
//! A multiplication may have the *zero rule* of the processor ([`MulFlags::zero_a`], [`MulFlags::zero_b`]): a zero factor makes the product +0,
//! also with an infinity or NaN.
//!
//! ## Branches
//!
//! The masks of an [`If`] are disjoint. An arm is executed if its mask has a lane; whether it is executed by batches, quads or lanes is up to
//! the engine, as long as every lane of each quad with a lane of the mask is executed. A definition in an arm therefore has values in these
//! quads, and can be named in the arm only. Nothing in an arm is masked implicitly: a statement with an effect has a mask of its own, which
//! must imply the mask of the arm.
//!
//! A [`Phi`] is defined after the branch: `arms[n]` in the lanes of `masks[n]`, and `incoming` in lanes of neither mask or of an arm without an
//! operand.
//!
//! ## Loops
//!
//! In the first iteration of a [`Loop`] each parameter is its `init`, in each further one the `next` of the iteration before, in every lane.
//! After an iteration, the loop continues if `continue_mask` has a lane, and ends after `max_trips` iterations in any case; without a mask it
//! executes all of these. After the loop a parameter is the `next` of the last iteration. Other definitions in the body can be named in the
//! body only.
//!
//! A lane that is not in `continue_mask` any more takes part in further iterations as long as another lane continues. How many these are
//! depends on the batch, so a function keeps the values of exited lanes itself, by `next = select %active, new, old`. The mask of each
//! iteration must imply that of the one before.
//!
//! ## Effects
//!
//! Effects happen in program order, in the lanes of their mask:
//!
//! - [`Stmt::Discard`] removes lanes from the coverage. They continue to be computed: their quads may read them.
//! - [`Stmt::Stat`] counts the lanes of its mask that are covered at this point.
//! - [`Stmt::ConsumeFuel`] charges instructions whenever its region is executed, against the limit of a run. It has no effect on values.
//! - [`Stmt::GroupHazard`] reports lanes of a group without a covered one among them, which engines execute again as a group.
//!
//! A [`Fetch`] has no effect: it may be dropped if no texel channel is used.
//!
//! The results of a function are its [outputs](Function::outputs) in lanes that are covered at the end, the coverage, and the counts of `Stat`.
//! A target with `None` is not written; depth is written in the lanes of its mask. [`Function::results`] are the outputs of functions without
//! targets, those of vertex programs: they have a value in each lane.
//!
//! ## Undefined values
//!
//! The IR has no undefined constant and no poison. A program's undefined registers are constants that the producer chooses: the lift gives them
//! zeros, or a conspicuous float on request. These values are undefined in some lanes:
//!
//! - texels of a [`Fetch`] in lanes that are not in `active`;
//! - a [`Phi`] without an operand for a lane: its arm has none, and there is no `incoming`;
//! - results of operations that depend on an undefined lane: every operation in its own lane, except that a select depends on the operand that
//!   it chooses only; a quad broadcast in all lanes of the quad.
//!
//! An undefined lane has some word of the value's type, which may differ between two uses. It must not reach a result, the mask of an effect, a
//! branch, a fetch or a loop; passes and engines rely on this, and the verifier does not check it. What is known of a value
//! ([`ValueData::facts`], the [`Range`]s of a builder, [`Function::non_nan`]) holds in the lanes where it is defined.
//!
//! # Examples
//!
//! A function with one operation, `1 / (2 * x)`:
//!
//! ```
//! use r500_ir::{Builder, Opcode, Operand, Range, verify};
//!
//! let mut builder = Builder::new();
//! let x = builder.input(0, 0, Range::ANY);
//! let twice = builder.mul(x.into(), Operand::float(2.0).into(), false);
//! let y = builder.unary(Opcode::Rcp, twice.into());
//! let (function, _) = builder.finish([Some([y; 4]), None, None, None], None);
//!
//! verify(&function, "example")?;
//! assert_eq!(
//!     function.to_string(),
//!     "%0: f32 = input 0.0\n\
//!      %1: f32 = %0 * 2.0\n\
//!      %2: f32 = rcp %1\n\
//!      out[0] = %2, %2, %2, %2\n"
//! );
//! # Ok::<(), r500_ir::VerifyError>(())
//! ```
//!
//! A branch: the sine of x where x is less than 1, x elsewhere. The arm also discards its lanes in which the sine is negative.
//!
//! ```
//! use r500_ir::{Builder, If, NONE, Opcode, Operand, Phi, Stmt, Range, Type, verify};
//!
//! let mut builder = Builder::new();
//! let x = builder.input(0, 0, Range::ANY);
//! let taken = builder.compare(Opcode::Lt, x.into(), Operand::float(1.0).into());
//!
//! builder.open_region();
//! let sine = builder.unary(Opcode::Sin, x.into());
//! let negative = builder.compare(Opcode::Lt, sine.into(), Operand::float(0.0).into());
//! let discarded = builder.and(negative, taken);
//! builder.push(Stmt::Discard(discarded));
//! let arm = builder.close_region();
//!
//! let range = builder.range(x).join(builder.range(sine));
//! let y = builder.fresh(Type::F32, range);
//! let phi = Phi { value: y, incoming: Some(x), arms: [Some(sine), None] };
//! let branch = If { masks: [taken, NONE], arms: [arm, Vec::new()], phis: vec![phi] };
//! builder.push(Stmt::If(Box::new(branch)));
//!
//! let y = Operand::Value(y);
//! let (mut function, ranges) = builder.finish([Some([y; 4]), None, None, None], None);
//! verify(&function, "example")?;
//! r500_ir::optimize(&mut function, &ranges, false);
//! verify(&function, "the passes")?;
//! # Ok::<(), r500_ir::VerifyError>(())
//! ```
//!
//! The same error that the verifier reports in tests, for a function in text form: an arm's definition is not visible after the branch.
//!
//! ```
//! use r500_ir::{Malformed, parse, verify};
//!
//! let text = "
//! %0: f32 = input 0.0
//! %1: mask = %0 < 1.0
//! if %1 {
//!   %2: f32 = sin %0
//! } else 0 {
//! }
//! out[0] = %2, 0, 0, 1.0
//! ";
//! let function = parse(text)?.function;
//! let error = verify(&function, "the text").expect_err("%2 is used after its arm");
//! assert_eq!(error.kind, Malformed::NotDominated);
//! # Ok::<(), r500_ir::ParseError>(())
//! ```

#![allow(
    clippy::expect_used,
    reason = "a broken invariant of a function is a bug that must stop loudly"
)]

mod builder;
mod const_eval;
mod entity;
mod mask_algebra;
mod opt;
mod parse;
mod print;
mod uniform;
mod value_range;
mod verify;

use r500_isa::values::TexOp;

pub use builder::{Builder, Checkpoint, ModifiedOperand};
pub use const_eval::{evaluate, evaluate_partially};
pub use entity::{EntityKey, EntityMap};
pub use opt::{
    DENORMAL, DemandedFp, NOTHING, OperandDemand, SIGN, operand_demands, optimize,
    optimize_for_codegen,
};
pub use parse::{ParseError, Parsed, parse};
pub use uniform::{ConstantChannel, Uniform};
pub use value_range::{Range, RangeFacts};
pub use verify::{Malformed, VerifyError, verify};

/// An SSA value: one 32-bit word per lane.
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
/// There is no integer type: a lift resolves aL, loop counters and relative addresses, so a function contains no integers.
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
    /// A channel of an input: a value that the caller provides for each lane.
    Input {
        /// The input, by its index.
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
    /// A channel of constant `base` + a of the [table](crate#types-and-constants): a without its fraction, as an integer, which saturates and is 0 for NaN. Outside
    /// of 0 to 255, 0.
    LoadConstant {
        /// The constant at index 0.
        base: u8,
        /// Red to alpha, 0 to 3.
        channel: u8,
    },
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

/// A program specialised for its bindings, for one pixel or vertex.
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
    /// Outputs without a target: floats, in the order of the producer.
    pub results: Vec<Operand>,
}

impl Function {
    /// Returns the outputs: colours, depth and its mask, results.
    pub fn outputs(&self) -> impl Iterator<Item = Operand> + '_ {
        let depth = self.depth.into_iter().flat_map(|(depth, written)| [depth, written]);
        self.colors
            .iter()
            .flatten()
            .flatten()
            .copied()
            .chain(depth)
            .chain(self.results.iter().copied())
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
        self.colors.iter_mut().flatten().flatten().chain(depth).chain(&mut self.results)
    }
}

impl Operand {
    /// Returns a constant mask: [`ALL`] or [`NONE`].
    #[must_use]
    pub fn mask(set: bool) -> Self {
        if set { ALL } else { NONE }
    }

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
            | Self::LoadConstant { .. }
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
