//! Code for batches: instructions as operations on slots, each of which holds a component of a register for all vertices.

use std::ops::Range;

use r500_chip::pvs::{
    Addressing, CONSTANTS, DstType, INPUTS, MacroOp, MathOp, OUTPUTS, Op, SrcType, VectorOp,
};

use super::super::{
    ALT_TEMPORARIES, DecodedDual, DecodedOp, Destination, Modifiers, Operand, SIGN, TEMPORARIES,
    ZERO,
};

/// A slot: a component of a register, a constant of all vertices, or an intermediate value.
pub(super) type SlotIndex = u16;

/// +0 and 1 for all vertices; 1 / (2 pi), with which angles become turns; the greatest and the least angle, pi and -pi.
pub(super) const ZEROS: SlotIndex = 0;
pub(super) const ONES: SlotIndex = 1;
pub(super) const TURNS: SlotIndex = 2;
pub(super) const MOST_ANGLE: SlotIndex = 3;
pub(super) const LEAST_ANGLE: SlotIndex = 4;
/// The mask of vertices with the predicate, and of those without.
pub(super) const PREDICATE: SlotIndex = 5;
pub(super) const NO_PREDICATE: SlotIndex = 6;
/// Intermediate values: modified operands, results of both operations, and steps to them.
const OPERANDS: SlotIndex = NO_PREDICATE + 1;
const RESULTS: SlotIndex = OPERANDS + 16;
const DUAL_RESULT: SlotIndex = RESULTS + 4;
const STEPS: SlotIndex = DUAL_RESULT + 1;
/// Components of registers.
pub(super) const INPUT: SlotIndex = STEPS + 4;
pub(super) const OUTPUT: SlotIndex = INPUT + 4 * INPUTS as SlotIndex;
pub(super) const TEMPORARY: SlotIndex = OUTPUT + 4 * OUTPUTS as SlotIndex;
pub(super) const ALTERNATE: SlotIndex = TEMPORARY + 4 * TEMPORARIES as SlotIndex;
pub(super) const CONSTANT: SlotIndex = ALTERNATE + 4 * ALT_TEMPORARIES as SlotIndex;
/// All slots.
pub(super) const SLOTS: usize = CONSTANT as usize + 4 * CONSTANTS;

/// An operation on slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Copy,
    /// Sign bits: inverted, cleared, set.
    Negate,
    Absolute,
    NegateAbsolute,
    Add,
    /// With the zero rule.
    Multiply,
    MultiplyAdd,
    /// By IEEE 754.
    MultiplyIeee,
    /// By any sign of infinity to the greatest number of this sign.
    Finite,
    Maximum,
    Minimum,
    Fraction,
    Floor,
    Clamp,
    Reciprocal,
    ReciprocalRoot,
    Exponential,
    Logarithm,
    Sine,
    Cosine,
    /// 1 where the relation holds, else 0.
    SetEqual,
    SetNotEqual,
    SetLess,
    SetGreaterEqual,
    /// Masks.
    IsEqual,
    IsLess,
    IsGreaterEqual,
    /// A ? B : C.
    Select,
    /// A where the mask B is set; other vertices keep their value.
    Blend,
}

/// `to = kernel(from)`; a kernel with fewer operands takes the first ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotOp {
    pub(super) kernel: Kernel,
    pub(super) to: SlotIndex,
    pub(super) from: [SlotIndex; 3],
}

/// How an instruction runs for a batch.
#[derive(Clone, Debug)]
pub(super) enum BatchOp {
    /// As operations on slots: a part of [`BatchCode::ops`]. With a predicate, if a vertex has it.
    Slots(Range<usize>, Option<bool>),
    /// Vertex by vertex, by the functions of single vertices.
    Vertices,
}

/// A program for batches.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct BatchCode {
    /// By instruction.
    pub(super) instructions: Vec<BatchOp>,
    pub(super) ops: Vec<SlotOp>,
    /// Input vectors and constants that instructions name.
    pub(super) inputs: Vec<u8>,
    pub(super) constants: Vec<u8>,
}

impl BatchCode {
    pub(in super::super) fn new(ops: &[DecodedOp]) -> Self {
        let mut code = Self::default();
        for op in ops {
            let begin = code.ops.len();
            let mut compiler = Compiler { code: &mut code, operands: Vec::new() };
            let compiled = compiler.instruction(op);
            code.instructions.push(match compiled {
                Some(()) => BatchOp::Slots(begin..code.ops.len(), op.predicate),
                None => {
                    code.ops.truncate(begin);
                    BatchOp::Vertices
                }
            });
            code.names(op);
        }
        for list in [&mut code.inputs, &mut code.constants] {
            list.sort_unstable();
            list.dedup();
        }
        code
    }

    /// Notes the inputs and constants that an instruction names.
    fn names(&mut self, op: &DecodedOp) {
        for operand in op.sources.iter().chain(op.dual.as_ref().map(|dual| &dual.source)) {
            let absolute = is_absolute(operand.addressing);
            match operand.ty {
                SrcType::INPUT if absolute => self.inputs.push(operand.offset),
                SrcType::INPUT => self.inputs.extend(0..INPUTS as u8),
                // Others are read from the constants themselves.
                SrcType::CONSTANT if absolute => self.constants.push(operand.offset),
                _ => {}
            }
        }
        self.inputs.retain(|n| usize::from(*n) < INPUTS);
    }
}

/// Returns whether all vertices, in each iteration of a loop, name the same register.
fn is_absolute(addressing: Addressing) -> bool {
    matches!(addressing, Addressing::Absolute | Addressing::Reserved)
}

struct Compiler<'a> {
    code: &'a mut BatchCode,
    /// The operands of the instruction that have modified slots: component, `|x|`, `-x`.
    operands: Vec<(SlotIndex, bool, bool)>,
}

impl Compiler<'_> {
    /// Compiles an instruction; `None` if it runs vertex by vertex.
    fn instruction(&mut self, op: &DecodedOp) -> Option<()> {
        let begin = self.code.ops.len();
        let base = destination(&op.dst)?;
        let mask = op.dst.mask;
        let saturate = match op.op {
            Op::Math(_) => op.me_sat,
            Op::Vector(_) | Op::Macro(_) => op.ve_sat,
        };
        let mut results = match op.op {
            // It writes nothing.
            Op::Vector(VectorOp::NOP) | Op::Math(MathOp::NOP) => [None; 4],
            Op::Vector(vector) => self.vector(vector, op, needed(op))?,
            Op::Macro(MacroOp::MADD) => self.multiply_add(op, needed(op))?,
            Op::Macro(_) => return None,
            Op::Math(math) => {
                let [a, b, c] = op.sources;
                let result = self.math(math, [(a, 3), (b, 3), (c, 3)], RESULTS)?;
                [Some(result); 4]
            }
        };
        if op.dst.ty == DstType::OUT_REPL_X {
            results = [results[0]; 4];
        }
        let dual = match op.dual {
            Some(dual) => Some((dual, self.dual(dual)?)),
            None => None,
        };
        // Writes, after all operands are read.
        let mut stores = Vec::new();
        for ((n, result), write) in (0..4).zip(results).zip(mask) {
            if let (Some(result), true) = (result, write) {
                stores.push((base + n, result, saturate));
            }
        }
        if let Some((dual, result)) = dual {
            let to = ALTERNATE + 4 * SlotIndex::from(dual.register) + dual.channel as SlotIndex;
            stores.push((to, result, op.me_sat));
        }
        match op.predicate {
            Some(sense) => self.blend(&stores, if sense { PREDICATE } else { NO_PREDICATE }),
            None => self.store(begin, &stores),
        }
        Some(())
    }

    fn push(&mut self, kernel: Kernel, to: SlotIndex, from: &[SlotIndex]) -> SlotIndex {
        let mut operands = [ZEROS; 3];
        operands[..from.len()].copy_from_slice(from);
        self.code.ops.push(SlotOp { kernel, to, from: operands });
        to
    }

    /// Stores results. The operation that computes a result writes the register itself, if none reads the register after it.
    fn store(&mut self, begin: usize, stores: &[(SlotIndex, SlotIndex, bool)]) {
        let mut moved: Vec<(SlotIndex, SlotIndex)> = Vec::new();
        for (n, &(to, result, saturate)) in stores.iter().enumerate() {
            if saturate {
                self.push(Kernel::Clamp, to, &[result]);
                continue;
            }
            if let Some((_, place)) = moved.iter().find(|(from, _)| *from == result) {
                let place = *place;
                self.push(Kernel::Copy, to, &[place]);
                continue;
            }
            let is_temporary = (RESULTS..=DUAL_RESULT).contains(&result);
            // The clamps of other stores read the result where it is.
            let read_again =
                stores[n + 1..].iter().any(|(_, other, clamped)| *other == result && *clamped);
            let ops = &mut self.code.ops[begin..];
            let definition = ops.iter().rposition(|op| op.to == result);
            match definition {
                Some(at)
                    if is_temporary
                        && !read_again
                        && ops[at + 1..].iter().all(|op| !op.from.contains(&to) && op.to != to)
                        && ops.iter().all(|op| !op.from.contains(&result)) =>
                {
                    ops[at].to = to;
                    moved.push((result, to));
                }
                _ => {
                    self.push(Kernel::Copy, to, &[result]);
                }
            }
        }
    }

    /// Stores results where a mask is set.
    fn blend(&mut self, stores: &[(SlotIndex, SlotIndex, bool)], mask: SlotIndex) {
        for &(to, result, saturate) in stores {
            let result = match saturate {
                true => self.push(Kernel::Clamp, STEPS, &[result]),
                false => result,
            };
            self.push(Kernel::Blend, to, &[result, mask]);
        }
    }

    /// Returns the slot of a component of an operand, after its swizzle and signs.
    fn component(&mut self, operand: &Operand, n: usize) -> Option<SlotIndex> {
        let Operand { ty, offset, addressing, modifiers } = *operand;
        let Modifiers { select, keep, flip } = modifiers;
        let register = SlotIndex::from(offset);
        let slot = match select[n] {
            select @ 0..4 => {
                if !is_absolute(addressing) {
                    return None;
                }
                let (base, count) = match ty {
                    SrcType::INPUT => (INPUT, INPUTS),
                    SrcType::CONSTANT => (CONSTANT, CONSTANTS),
                    SrcType::ALT_TEMPORARY => (ALTERNATE, ALT_TEMPORARIES),
                    _ => (TEMPORARY, TEMPORARIES),
                };
                match usize::from(register) < count {
                    true => base + 4 * register + SlotIndex::from(select),
                    // Reads outside of the memory give 0.
                    false => ZEROS,
                }
            }
            ZERO => ZEROS,
            _ => ONES,
        };
        let (absolute, negate) = (keep != u32::MAX, flip[n] == SIGN);
        let kernel = match (absolute, negate) {
            (false, false) => return Some(slot),
            (false, true) => Kernel::Negate,
            (true, false) => Kernel::Absolute,
            (true, true) => Kernel::NegateAbsolute,
        };
        let modified = (slot, absolute, negate);
        if let Some(place) = self.operands.iter().position(|known| *known == modified) {
            return Some(OPERANDS + place as SlotIndex);
        }
        let place = OPERANDS + self.operands.len() as SlotIndex;
        self.operands.push(modified);
        Some(self.push(kernel, place, &[slot]))
    }

    fn each(
        &mut self,
        op: &DecodedOp,
        mask: [bool; 4],
        operands: usize,
        kernel: Kernel,
    ) -> Option<[Option<SlotIndex>; 4]> {
        let mut results = [None; 4];
        for n in (0..4).filter(|n| mask[*n]) {
            let mut from = [ZEROS; 3];
            for (slot, source) in from.iter_mut().zip(&op.sources).take(operands) {
                *slot = self.component(source, n)?;
            }
            results[n] = Some(self.push(kernel, RESULTS + n as SlotIndex, &from[..operands]));
        }
        Some(results)
    }

    /// [`each`](Self::each) with the two operands exchanged.
    fn exchanged(
        &mut self,
        op: &DecodedOp,
        mask: [bool; 4],
        kernel: Kernel,
    ) -> Option<[Option<SlotIndex>; 4]> {
        let [a, b, c] = op.sources;
        self.each(&DecodedOp { sources: [b, a, c], ..*op }, mask, 2, kernel)
    }

    fn multiply_add(&mut self, op: &DecodedOp, mask: [bool; 4]) -> Option<[Option<SlotIndex>; 4]> {
        self.each(op, mask, 3, Kernel::MultiplyAdd)
    }

    /// Compiles an operation of the vector engine. Returns the results by component, as far as `mask` needs them.
    fn vector(
        &mut self,
        vector: VectorOp,
        op: &DecodedOp,
        mask: [bool; 4],
    ) -> Option<[Option<SlotIndex>; 4]> {
        let [a, b, c] = &op.sources;
        match vector {
            VectorOp::DOT_PRODUCT => {
                let mut from = [[ZEROS; 2]; 4];
                for (n, from) in from.iter_mut().enumerate() {
                    *from = [self.component(a, n)?, self.component(b, n)?];
                }
                let mut sum = self.push(Kernel::Multiply, STEPS, &from[0]);
                for (n, [a, b]) in from.into_iter().enumerate().skip(1) {
                    let to = if n == 3 { RESULTS } else { STEPS + n as SlotIndex };
                    sum = self.push(Kernel::MultiplyAdd, to, &[a, b, sum]);
                }
                Some([Some(sum); 4])
            }
            VectorOp::MULTIPLY => self.each(op, mask, 2, Kernel::Multiply),
            VectorOp::ADD => self.each(op, mask, 2, Kernel::Add),
            VectorOp::MULTIPLY_ADD => self.multiply_add(op, mask),
            VectorOp::DISTANCE_VECTOR => {
                let (ay, by) = (self.component(a, 1)?, self.component(b, 1)?);
                let (az, bw) = (self.component(a, 2)?, self.component(b, 3)?);
                let y = self.push(Kernel::Multiply, RESULTS + 1, &[ay, by]);
                // Copies: an earlier write may change the operands.
                let z = self.push(Kernel::Copy, RESULTS + 2, &[az]);
                let w = self.push(Kernel::Copy, RESULTS + 3, &[bw]);
                Some([Some(ONES), Some(y), Some(z), Some(w)])
            }
            VectorOp::FRACTION => self.each(op, mask, 1, Kernel::Fraction),
            VectorOp::FLT2FIX_DX => self.each(op, mask, 1, Kernel::Floor),
            VectorOp::MAXIMUM => self.each(op, mask, 2, Kernel::Maximum),
            VectorOp::MINIMUM => self.each(op, mask, 2, Kernel::Minimum),
            VectorOp::SET_GREATER_THAN_EQUAL => self.each(op, mask, 2, Kernel::SetGreaterEqual),
            VectorOp::SET_LESS_THAN => self.each(op, mask, 2, Kernel::SetLess),
            VectorOp::SET_GREATER_THAN => self.exchanged(op, mask, Kernel::SetLess),
            VectorOp::SET_EQUAL => self.each(op, mask, 2, Kernel::SetEqual),
            VectorOp::SET_NOT_EQUAL => self.each(op, mask, 2, Kernel::SetNotEqual),
            VectorOp::COND_MUX_EQ => {
                self.mux([a, b, c], mask, |slot| (Kernel::IsEqual, [slot, ZEROS]))
            }
            VectorOp::COND_MUX_GT => {
                self.mux([a, b, c], mask, |slot| (Kernel::IsLess, [ZEROS, slot]))
            }
            VectorOp::COND_MUX_GTE => {
                self.mux([a, b, c], mask, |slot| (Kernel::IsGreaterEqual, [slot, ZEROS]))
            }
            _ => None,
        }
    }

    fn mux(
        &mut self,
        [a, b, c]: [&Operand; 3],
        mask: [bool; 4],
        relation: impl Fn(SlotIndex) -> (Kernel, [SlotIndex; 2]),
    ) -> Option<[Option<SlotIndex>; 4]> {
        let mut results = [None; 4];
        for n in (0..4).filter(|n| mask[*n]) {
            let [a, b, c] = [self.component(a, n)?, self.component(b, n)?, self.component(c, n)?];
            let (kernel, from) = relation(a);
            let holds = self.push(kernel, STEPS, &from);
            results[n] = Some(self.push(Kernel::Select, RESULTS + n as SlotIndex, &[holds, b, c]));
        }
        Some(results)
    }

    /// Compiles an operation of the math engine, of scalars that are components of operands. Returns its result, which is `to` or an operand.
    fn math(
        &mut self,
        math: MathOp,
        [x, factor, exponent]: [(Operand, usize); 3],
        to: SlotIndex,
    ) -> Option<SlotIndex> {
        let (operand, n) = x;
        let unary = |this: &mut Self| this.component(&operand, n);
        Some(match math {
            MathOp::RECIP_IEEE => {
                let x = unary(self)?;
                self.push(Kernel::Reciprocal, to, &[x])
            }
            MathOp::RECIP_DX => {
                let x = unary(self)?;
                let quotient = self.push(Kernel::Reciprocal, STEPS, &[x]);
                self.push(Kernel::Finite, to, &[quotient])
            }
            MathOp::RECIP_SQRT_IEEE => {
                let x = unary(self)?;
                self.push(Kernel::ReciprocalRoot, to, &[x])
            }
            MathOp::RECIP_SQRT_DX => {
                let x = unary(self)?;
                let size = self.push(Kernel::Absolute, STEPS, &[x]);
                let root = self.push(Kernel::ReciprocalRoot, STEPS + 1, &[size]);
                self.push(Kernel::Finite, to, &[root])
            }
            MathOp::EXP_BASE2_FULL_DX => {
                let x = unary(self)?;
                self.push(Kernel::Exponential, to, &[x])
            }
            MathOp::LOG_BASE2_FULL_DX | MathOp::LOG_BASE2_IEEE => {
                let x = unary(self)?;
                let size = self.push(Kernel::Absolute, STEPS, &[x]);
                if math == MathOp::LOG_BASE2_IEEE {
                    return Some(self.push(Kernel::Logarithm, to, &[size]));
                }
                let logarithm = self.push(Kernel::Logarithm, STEPS + 1, &[size]);
                self.push(Kernel::Finite, to, &[logarithm])
            }
            MathOp::POWER_FUNC_FF => {
                let x = unary(self)?;
                let exponent = self.component(&exponent.0, exponent.1)?;
                let logarithm = self.push(Kernel::Logarithm, STEPS, &[x]);
                let product = self.push(Kernel::Multiply, STEPS + 1, &[exponent, logarithm]);
                let power = self.push(Kernel::Exponential, STEPS + 2, &[product]);
                let none = self.push(Kernel::IsEqual, STEPS + 3, &[exponent, ZEROS]);
                self.push(Kernel::Select, to, &[none, ONES, power])
            }
            MathOp::MULTIPLY => {
                let x = unary(self)?;
                let factor = self.component(&factor.0, factor.1)?;
                self.push(Kernel::Multiply, to, &[x, factor])
            }
            MathOp::SIN | MathOp::COS => {
                let x = unary(self)?;
                // A comparison with NaN does not hold, so that it stays.
                let below = self.push(Kernel::Minimum, STEPS, &[MOST_ANGLE, x]);
                let angle = self.push(Kernel::Maximum, STEPS + 1, &[LEAST_ANGLE, below]);
                let turns = self.push(Kernel::MultiplyIeee, STEPS + 2, &[angle, TURNS]);
                let kernel = if math == MathOp::SIN { Kernel::Sine } else { Kernel::Cosine };
                self.push(kernel, to, &[turns])
            }
            _ => return None,
        })
    }

    fn dual(&mut self, dual: DecodedDual) -> Option<SlotIndex> {
        let source = dual.source;
        self.math(dual.op, [(source, 0), (source, 1), (source, 1)], DUAL_RESULT)
    }
}

/// Returns the components of results that the destination takes.
fn needed(op: &DecodedOp) -> [bool; 4] {
    match op.dst.ty {
        DstType::OUT_REPL_X => [true, false, false, false],
        _ => op.dst.mask,
    }
}

/// Returns the slot of component x of a destination; `None` if vertices may write different registers, or it is none of these.
fn destination(dst: &Destination) -> Option<SlotIndex> {
    let (base, count) = match dst.ty {
        DstType::A0 | DstType::INPUT => return None,
        DstType::OUT | DstType::OUT_REPL_X => (OUTPUT, OUTPUTS),
        DstType::ALT_TEMPORARY => (ALTERNATE, ALT_TEMPORARIES),
        _ => (TEMPORARY, TEMPORARIES),
    };
    let register = usize::from(dst.offset);
    (is_absolute(dst.addressing) && register < count).then(|| base + 4 * register as SlotIndex)
}
