//! The intermediate form: what a program computes for one pixel, channel by channel.
//!
//! Fast engines do not step through instructions. They take a [`Function`], made once per drawing by
//! [`lift`](lift()) from a [structured](r500_check::graph::Structure) program and what it is bound
//! to, in which
//!
//! - every value is one 32-bit word a pixel, written once: a float, or a mask (all bits or none),
//! - registers, swizzles, modifiers, predicates and constants are gone: what is left are operations on
//!   channels that somebody looks at,
//! - flow control is a tree of [`If`] and [`Loop`]; which pixels execute is a mask like any other.
//!
//! ```text
//! Shader + Bindings ──lift──▶ Function ──tidy──▶ Function ──▶ engines
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `lift` | from instructions and statements to operations and regions |
//! | `build` | makes operations: folds constants, reuses what was computed already |
//! | `fold` | operations on constants |
//! | `range` | what is known of a value's size, to drop the zero rule where it shows nowhere |
//! | `tidy` | drops what nobody looks at, flattens short branches |
//! | `zeros` | leaves out what only changes zeros and denormals, where nobody sees that |
//! | `left` | has loops forget what nobody looks at of pixels that have left |
//! | `passes` | counts the passes of loops that all pixels leave together |
//! | `print` | the form as text |
//!
//! The form holds for pixels that decide for themselves: it says nothing of groups. [`lift`](lift())
//! refuses programs that can tell the size of a group.

#![allow(
    clippy::expect_used,
    reason = "a broken invariant of a function is a bug that must not go on"
)]

mod builder;
mod const_eval;
mod entity;
mod lift;
mod mask_algebra;
mod opt;
mod parse;
mod print;
mod value_range;
mod verify;

use r500_isa::values::TexOp;

pub use const_eval::evaluate;
pub use entity::{EntityKey, EntityMap};
pub use lift::{LiftError, lift};
pub use opt::optimize_for_codegen;
pub use parse::{ParseError, Parsed, parse};
pub use value_range::Range;
pub use verify::{Malformed, VerifyError, verify};

/// An SSA value: one 32-bit word a pixel.
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
/// There is no integer type: aL, the counters of loops and the addresses that aL is added to are resolved by the
/// lift, so that no integer is left in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A float of 32 bits.
    F32,
    /// A lane mask: all bits are set, or none is.
    Mask,
}

/// What a function keeps of each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Debug location: the absolute address of the instruction that it comes from; 0 for inputs.
    pub source_loc: u32,
}

impl ValueData {
    /// A value that no instruction of the program is the source of.
    #[must_use]
    pub fn new(ty: Type) -> Self {
        Self { ty, source_loc: 0 }
    }
}

/// The values of a function.
pub type Values = EntityMap<Value, ValueData>;

/// What an operation looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// The same bits for every pixel.
    Const(u32),
}

/// The mask without any pixel.
pub const NONE: Operand = Operand::Const(0);
/// The mask of all pixels.
pub const ALL: Operand = Operand::Const(!0);

/// An operation: what to do and with what. Arguments beyond [`Opcode::arity`] are [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// What to do.
    pub opcode: Opcode,
    /// With what.
    pub args: [Operand; 3],
}

/// What an operation does. Numbers are those of [`numerics`](r500_numerics): each step rounded,
/// denormal operands and results of arithmetic and comparisons count as zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// a with its sign changed; bits.
    Neg,
    /// a without its sign; bits.
    Abs,
    /// a with the sign set; bits.
    NegAbs,
    /// a < b ? a : b; bits of the one picked.
    Min(DenormalMode),
    /// a >= b ? a : b; bits of the one picked.
    Max(DenormalMode),
    /// mask a ? b : c; bits.
    Select,
    /// DenormalMode made zero of their sign.
    Flush,
    /// Limited to 0..1; NaN and -0 give +0.
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
    /// a of a corner of the quad: 0 top left, 1 top right, 2 bottom left.
    QuadBroadcast(u8),
    /// Mask: a < b.
    Lt,
    /// Mask: a >= b.
    Ge,
    /// Mask: a == b.
    Eq,
    /// Mask: a != b, true with NaN.
    Ne,
    /// Masks a and b.
    And,
    /// Masks a or b.
    Or,
    /// Mask a without b.
    AndNot,
}

/// Whether what is picked may be denormal, so that its bits must be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DenormalMode {
    /// It may.
    Kept,
    /// It cannot.
    Excluded,
}

/// How factors make a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MulFlags {
    /// The sign of the product is changed (before the zero rule).
    pub negate: bool,
    /// The product is +0 where factor a is zero, whatever factor b is.
    pub zero_a: bool,
    /// The product is +0 where factor b is zero.
    pub zero_b: bool,
}

/// How the product and the third operand of a multiply-add meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddSign {
    /// product + c.
    Plus,
    /// product - c.
    Minus,
}

/// A texture fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// The unit, which has a texture.
    pub unit: u8,
    /// LD, PROJ, LODBIAS, LOD or DXDY.
    pub op: TexOp,
    /// `UNSCALED`.
    pub unscaled: bool,
    /// S, T, R, Q. What is not looked at is 0.
    pub strq: [Operand; 4],
    /// Gradients along x; 0 but for DXDY.
    pub dx: [Operand; 4],
    /// Gradients along y; 0 but for DXDY.
    pub dy: [Operand; 4],
    /// Pixels whose texel somebody looks at.
    pub active: Operand,
    /// Red, green, blue, alpha of the texel, before the destination swizzle; `None` where nobody
    /// looks.
    pub texel: [Option<Value>; 4],
    /// Its address.
    pub address: u32,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A value is computed, for all pixels.
    Def(Value, Inst),
    /// Texels are fetched.
    Fetch(Box<Fetch>),
    /// Pixels lose their coverage.
    Discard(Operand),
    /// Pixels of a mask that are still covered are counted for a channel of `STAT_WE`.
    Stat {
        /// Red to alpha, 0 to 3.
        channel: u8,
        /// The pixels.
        mask: Operand,
    },
    /// Pixels of a mask execute. Where it has pixels of a group but none that is covered, the group may
    /// do otherwise than its pixels would by themselves.
    GroupHazard(Operand),
    /// So many instructions of the program begin here.
    ConsumeFuel {
        /// How many.
        instructions: u32,
        /// Address of the first.
        address: u32,
    },
    /// A branch.
    If(Box<If>),
    /// A loop.
    Loop(Box<Loop>),
}

/// A branch. Each arm runs if its mask has a pixel; one without statements has nothing to run.
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// Pixels that take the first arm, and pixels that take the second; no pixel takes both.
    pub masks: [Operand; 2],
    /// The arms.
    pub arms: [Vec<Stmt>; 2],
    /// What is different behind the branch.
    pub phis: Vec<Phi>,
}

/// A value that depends on the arm taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phi {
    /// The value.
    pub value: Value,
    /// What it is for pixels that take no arm, or one that says nothing; `None` if nobody looks at
    /// those.
    pub incoming: Option<Operand>,
    /// What it is for pixels that take an arm.
    pub arms: [Option<Operand>; 2],
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Passes at most; at least 1.
    pub max_trips: u32,
    /// What goes from pass to pass.
    pub params: Vec<LoopParam>,
    /// One pass.
    pub body: Vec<Stmt>,
    /// Pixels that want another pass, at the end of one: the loop ends when there is none. `None`:
    /// it makes all its passes.
    pub continue_mask: Option<Operand>,
}

/// A value that goes from pass to pass. Behind the loop it is what the last pass made of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopParam {
    /// The value.
    pub value: Value,
    /// What it is in the first pass.
    pub init: Operand,
    /// What it is in the next.
    pub next: Operand,
}

/// A program for one pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The values.
    pub values: Values,
    /// Values that the caller gives, each the same for every lane; no statement defines them.
    pub uniforms: Vec<Value>,
    /// What to do.
    pub body: Vec<Stmt>,
    /// Outputs A to D, red to alpha; `None` for targets that nothing writes.
    pub colors: [Option<[Operand; 4]>; 4],
    /// Which of these are never NaN.
    pub non_nan: [[bool; 4]; 4],
    /// Depth: the value, and the pixels that wrote it.
    pub depth: Option<(Operand, Operand)>,
}

impl Function {
    /// What is left at the end: colours, depth and its mask.
    pub fn outputs(&self) -> impl Iterator<Item = Operand> + '_ {
        let depth = self.depth.into_iter().flat_map(|(depth, written)| [depth, written]);
        self.colors.iter().flatten().flatten().copied().chain(depth)
    }

    /// Calls `f` with each statement, those in regions too.
    pub fn each(&self, f: &mut impl FnMut(&Stmt)) {
        self.body.iter().for_each(|stmt| stmt.each(f));
    }

    /// Calls `f` with each value that an operation defines and the operation, in program order.
    pub fn each_inst_mut(&mut self, f: &mut impl FnMut(Value, &mut Inst)) {
        self.body.iter_mut().for_each(|stmt| stmt.each_inst_mut(f));
    }

    /// As [`outputs`](Self::outputs), to be changed.
    fn outputs_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        let depth = self.depth.iter_mut().flat_map(|(depth, written)| [depth, written]);
        self.colors.iter_mut().flatten().flatten().chain(depth)
    }
}

impl Operand {
    /// The same float for every pixel.
    #[must_use]
    pub fn float(x: f32) -> Self {
        Self::Const(x.to_bits())
    }

    /// The float, if it is the same for every pixel.
    #[must_use]
    pub fn as_float(self) -> Option<f32> {
        match self {
            Self::Const(bits) => Some(f32::from_bits(bits)),
            Self::Value(_) => None,
        }
    }

    /// The value, if it is one.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Const(_) => None,
        }
    }
}

impl Opcode {
    /// The type of its result; `None` for [`Select`](Self::Select), whose result has the type of its operands.
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

    /// The types of its arguments, given that of its result.
    #[must_use]
    pub fn operand_types(self, result: Type) -> [Type; 3] {
        match self {
            Self::Select => [Type::Mask, result, result],
            Self::And | Self::Or | Self::AndNot => [Type::Mask; 3],
            _ => [Type::F32; 3],
        }
    }

    /// How many arguments it takes.
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
    /// An operation.
    #[must_use]
    pub fn new(opcode: Opcode, args: &[Operand]) -> Self {
        let mut inst = Self { opcode, args: [NONE; 3] };
        for (to, from) in inst.args.iter_mut().zip(args) {
            *to = *from;
        }
        inst
    }

    /// Its arguments.
    #[must_use]
    pub fn args(&self) -> &[Operand] {
        &self.args[..self.opcode.arity()]
    }
}

impl Stmt {
    /// As [`operands`](Self::operands), to be changed.
    pub fn operands_mut(&mut self, f: &mut impl FnMut(&mut Operand)) {
        match self {
            Self::Def(_, inst) => {
                let arity = inst.opcode.arity();
                inst.args[..arity].iter_mut().for_each(f);
            }
            Self::Fetch(fetch) => {
                let Fetch { strq, dx, dy, active, .. } = &mut **fetch;
                strq.iter_mut().chain(dx).chain(dy).chain([active]).for_each(f);
            }
            Self::Discard(mask) | Self::Stat { mask, .. } | Self::GroupHazard(mask) => f(mask),
            Self::ConsumeFuel { .. } => {}
            Self::If(branch) => {
                branch.masks.iter_mut().for_each(&mut *f);
                for phi in &mut branch.phis {
                    let from = phi.incoming.iter_mut().chain(phi.arms.iter_mut().flatten());
                    from.for_each(&mut *f);
                }
            }
            Self::Loop(repeat) => {
                for param in &mut repeat.params {
                    f(&mut param.init);
                    f(&mut param.next);
                }
                repeat.continue_mask.iter_mut().for_each(f);
            }
        }
    }

    /// The statements right inside of it: those of its arms, or of its passes.
    pub fn inside(&self) -> impl Iterator<Item = &Self> {
        let (arms, body): (&[Vec<Self>], &[Self]) = match self {
            Self::If(branch) => (&branch.arms, &[]),
            Self::Loop(repeat) => (&[], &repeat.body),
            _ => (&[], &[]),
        };
        arms.iter().flatten().chain(body)
    }

    /// Whether `f` says so of it, or of a statement inside of it, however deep.
    pub fn any(&self, f: &mut impl FnMut(&Self) -> bool) -> bool {
        f(self) || self.inside().any(|stmt| stmt.any(f))
    }

    /// Calls `f` with it and with all statements inside of it, however deep.
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

    /// Calls `f` with each operand that the statement itself looks at: those of regions inside it not
    /// counted, what regions hand out counted.
    pub fn operands(&self, f: &mut impl FnMut(Operand)) {
        match self {
            Self::Def(_, inst) => inst.args().iter().copied().for_each(f),
            Self::Fetch(fetch) => {
                let Fetch { strq, dx, dy, active, .. } = &**fetch;
                strq.iter().chain(dx).chain(dy).chain([active]).copied().for_each(f);
            }
            Self::Discard(mask) | Self::Stat { mask, .. } | Self::GroupHazard(mask) => f(*mask),
            Self::ConsumeFuel { .. } => {}
            Self::If(branch) => {
                branch.masks.into_iter().for_each(&mut *f);
                for phi in &branch.phis {
                    phi.incoming
                        .into_iter()
                        .chain(phi.arms.into_iter().flatten())
                        .for_each(&mut *f);
                }
            }
            Self::Loop(repeat) => {
                for param in &repeat.params {
                    f(param.init);
                    f(param.next);
                }
                repeat.continue_mask.into_iter().for_each(f);
            }
        }
    }
}

#[cfg(test)]
mod tests;
