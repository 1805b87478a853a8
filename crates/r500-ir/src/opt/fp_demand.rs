//! Demanded signs of zeros and demanded denormals: a backward analysis, and the rewrites that it allows.
//!
//! Drivers multiply by adding +0 to a product, which only turns -0 into +0. The analysis finds the values whose users do not distinguish +0
//! from -0, or a denormal from a zero. Then, with `~` for the zero rule:
//!
//! | before | after | if this is not demanded |
//! | --- | --- | --- |
//! | `a * b + 0` | `a * b` | the sign of a zero |
//! | `a~ * b`, b finite | `a * b` | the sign of a zero |
//! | `flush a` | `a` | denormals |
//! | `a * 1` | `a` | denormals, or `a` has none |
//! | `(0 - a) * 2` | `a * -2` | the sign of a zero of `0 - a` |

use super::Pass;
use super::analyses::Analyses;
use super::demand::{Bits, DemandGraph};
use crate::{
    AddSign, DenormalMode, EntityMap, Function, Inst, MulFlags, Opcode, Operand, Range, Stmt, Value,
};

pub(super) const PASS: Pass = Pass { name: "fp_demand", run };

/// Drops operations that only change bits that are not demanded. Needs the ranges of the lift.
fn run(function: &mut Function, analyses: &Analyses<'_>) -> bool {
    let Some(ranges) = analyses.ranges else { return false };
    let count = function.values.len();
    let mut rewrite = Rewrite {
        demanded: demanded(function, ranges),
        ranges,
        equal: EntityMap::filled(count, None),
        is_flushing: EntityMap::filled(count, false),
        negated: EntityMap::filled(count, None),
        changed: false,
    };
    rewrite.list(&mut function.body);
    for operand in function.outputs_mut() {
        rewrite.replace(operand);
    }
    rewrite.changed
}

/// The distinctions that users of a value demand: a set of bits, [`SIGN`] and [`DENORMAL`].
pub type DemandedFp = Bits;

/// Users distinguish neither zeros of different signs, nor denormals from zeros.
pub const NOTHING: DemandedFp = 0;
/// Users distinguish zeros of different signs.
pub const SIGN: DemandedFp = 1;
/// Users distinguish denormals from zeros.
pub const DENORMAL: DemandedFp = 2;

/// The demand of an operation on an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperandDemand {
    /// Demanded unconditionally.
    pub always: DemandedFp,
    /// Demanded if demanded of the result.
    pub forwarded: DemandedFp,
}

impl OperandDemand {
    fn always(bits: DemandedFp) -> Self {
        Self { always: bits, forwarded: NOTHING }
    }

    fn forwarded(bits: DemandedFp) -> Self {
        Self { always: NOTHING, forwarded: bits }
    }

    /// Returns the demand on the operand, given the demand on the result.
    #[must_use]
    pub fn given(self, result: DemandedFp) -> DemandedFp {
        self.always | self.forwarded & result
    }
}

/// Returns the demand of an operation on each of its operands. Each entry is valid as long as the other operands keep their bits: the entry
/// of a sum may rely on the sign of the other operand.
#[must_use]
pub fn operand_demands(inst: &Inst, range: impl Fn(Operand) -> Range) -> [OperandDemand; 3] {
    let [a, b, c] = inst.args;
    // Whether a sum with this operand is the same for a zero of either sign: the operand is not zero, or it is +0 (-0 if it is subtracted).
    let absorbs_zero_sign = |operand: Operand, taken: bool| match operand {
        Operand::Const(bits) if f32::from_bits(bits) == 0.0 => (bits != 0) == taken,
        Operand::Const(bits) => !f32::from_bits(bits).is_subnormal(),
        Operand::Value(_) => !range(operand).may_be_zero(),
    };
    let sign_unless = |hidden: bool| if hidden { NOTHING } else { SIGN };
    // The sign of a square does not depend on the sign of its factor.
    let factors = |product: MulFlags, hidden: bool| {
        let hidden = hidden || a == b;
        [sign_unless(hidden || product.zero_a), sign_unless(hidden || product.zero_b)]
    };
    let [of_a, of_b, of_c] = match inst.opcode {
        Opcode::Add => [
            sign_unless(absorbs_zero_sign(b, false)),
            sign_unless(absorbs_zero_sign(a, false)),
            NOTHING,
        ],
        Opcode::Sub => [
            sign_unless(absorbs_zero_sign(b, true)),
            sign_unless(absorbs_zero_sign(a, false)),
            NOTHING,
        ],
        Opcode::Mul(product) => {
            let [a, b] = factors(product, false);
            [a, b, NOTHING]
        }
        Opcode::Mad(product, sign) => {
            let [a, b] = factors(product, absorbs_zero_sign(c, sign == AddSign::Minus));
            [a, b, SIGN]
        }
        Opcode::Select => [NOTHING, SIGN | DENORMAL, SIGN | DENORMAL],
        // These rely on operands without denormals.
        Opcode::Min(DenormalMode::Excluded) | Opcode::Max(DenormalMode::Excluded) => {
            return [OperandDemand { always: DENORMAL, forwarded: SIGN }; 3];
        }
        Opcode::Neg | Opcode::Min(_) | Opcode::Max(_) | Opcode::QuadBroadcast(_) => {
            [SIGN | DENORMAL; 3]
        }
        Opcode::Abs | Opcode::NegAbs | Opcode::Clamp01 => [DENORMAL; 3],
        Opcode::Flush => [SIGN; 3],
        // Zeros of either sign compare equal; masks have no sign; the fraction of -0 is +0.
        // So do fractions of an index.
        Opcode::Frc
        | Opcode::LoadConstant { .. }
        | Opcode::Lt
        | Opcode::Ge
        | Opcode::Eq
        | Opcode::Ne
        | Opcode::And
        | Opcode::Or
        | Opcode::AndNot
        | Opcode::Input { .. } => [NOTHING; 3],
        // The sign of a zero becomes the sign of an infinity.
        Opcode::Rcp | Opcode::Rsq => return [OperandDemand::always(SIGN); 3],
        // The kernels operate on bits.
        Opcode::Ex2 | Opcode::Ln2 | Opcode::Sin | Opcode::Cos => {
            return [OperandDemand::always(SIGN | DENORMAL); 3];
        }
    };
    [of_a, of_b, of_c].map(OperandDemand::forwarded)
}

/// Returns the demand on each value.
fn demanded(function: &Function, ranges: &EntityMap<Value, Range>) -> EntityMap<Value, DemandedFp> {
    let mut graph = DemandGraph::new(function.values.len());
    function.outputs().for_each(|operand| graph.demand(operand, SIGN | DENORMAL));
    function.each(&mut |stmt| match stmt {
        Stmt::Def(value, inst) => {
            let demands = operand_demands(inst, |operand| range_of(ranges, operand));
            for (&arg, demand) in inst.args().iter().zip(demands) {
                graph.demand(arg, demand.always);
                graph.forward(*value, arg, demand.forwarded);
            }
        }
        Stmt::If(branch) => {
            for phi in &branch.phis {
                let from = phi.incoming.into_iter().chain(phi.arms.into_iter().flatten());
                from.for_each(|from| graph.forward(phi.value, from, SIGN | DENORMAL));
            }
        }
        Stmt::Loop(repeat) => {
            for param in &repeat.params {
                graph.forward(param.value, param.init, SIGN | DENORMAL);
                graph.forward(param.value, param.next, SIGN | DENORMAL);
            }
        }
        // A sampler may distinguish all coordinates.
        _ => stmt.operands(&mut |operand| graph.demand(operand, SIGN | DENORMAL)),
    });
    graph.solve()
}

fn range_of(ranges: &EntityMap<Value, Range>, operand: Operand) -> Range {
    match operand {
        Operand::Const(bits) => Range::of(f32::from_bits(bits)),
        Operand::Value(value) => ranges[value],
    }
}

/// The rewrite, in program order.
struct Rewrite<'a> {
    demanded: EntityMap<Value, DemandedFp>,
    ranges: &'a EntityMap<Value, Range>,
    /// The operand that replaces a value: equal in all demanded bits.
    equal: EntityMap<Value, Option<Operand>>,
    /// Whether a value's operation flushes its result.
    is_flushing: EntityMap<Value, bool>,
    /// The operand whose negation a value is, in all demanded bits.
    negated: EntityMap<Value, Option<Operand>>,
    changed: bool,
}

impl Rewrite<'_> {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        list.retain_mut(|stmt| {
            stmt.operands_mut(&mut |operand| self.replace(operand));
            match stmt {
                Stmt::Def(value, inst) => {
                    let before = *inst;
                    self.propagate_neg(inst);
                    let equal = self.inst(*value, inst);
                    self.changed |= equal.is_some() || *inst != before;
                    self.equal[*value] = equal;
                    self.is_flushing[*value] = flushes_result(inst.opcode);
                    return equal.is_none();
                }
                // Operands of phis and next values are defined in the regions.
                Stmt::If(branch) => {
                    branch.arms.iter_mut().for_each(|arm| self.list(arm));
                    stmt.operands_mut(&mut |operand| self.replace(operand));
                }
                Stmt::Loop(repeat) => {
                    self.list(&mut repeat.body);
                    stmt.operands_mut(&mut |operand| self.replace(operand));
                }
                _ => {}
            }
            true
        });
    }

    /// Simplifies an operation. Returns the operand that replaces its result, if there is one.
    fn inst(&mut self, value: Value, inst: &mut Inst) -> Option<Operand> {
        let demanded = self.demanded[value];
        let [a, b, _] = inst.args;
        if inst.opcode == Opcode::Flush && demanded & DENORMAL == 0 {
            return Some(a);
        }
        if demanded & SIGN != 0 {
            return self.simplify_mul_one(inst, demanded);
        }
        let is_flush = |operand: Operand| demanded & DENORMAL == 0 || self.is_flushed(operand);
        match (inst.opcode, inst.args) {
            (Opcode::Add, [a @ Operand::Value(_), Operand::Const(0), _]) if is_flush(a) => {
                return Some(a);
            }
            (Opcode::Sub, [Operand::Const(0), b @ Operand::Value(_), _]) if is_flush(b) => {
                self.negated[value] = Some(b);
            }
            (Opcode::Mad(product, AddSign::Plus), [a, b, Operand::Const(0)]) => {
                *inst = Inst::new(Opcode::Mul(product), &[a, b]);
            }
            _ => {}
        }
        // Zero times a finite number is zero without the zero rule.
        if let Opcode::Mul(product) | Opcode::Mad(product, _) = &mut inst.opcode {
            product.zero_a &= !self.range(b).is_finite();
            product.zero_b &= !self.range(a).is_finite();
        }
        self.simplify_mul_one(inst, demanded)
    }

    /// `a * 1` → `a`; `a * 1 + c` → `a + c`.
    fn simplify_mul_one(&self, inst: &mut Inst, demanded: DemandedFp) -> Option<Operand> {
        const PLAIN: MulFlags = MulFlags { negate: false, zero_a: false, zero_b: false };
        const MINUS: MulFlags = MulFlags { negate: true, ..PLAIN };
        let [a, b, c] = inst.args;
        if b.as_float() != Some(1.0) {
            return None;
        }
        match inst.opcode {
            Opcode::Mul(PLAIN) if demanded & DENORMAL == 0 || self.is_flushed(a) => return Some(a),
            Opcode::Mad(PLAIN, AddSign::Plus) => *inst = Inst::new(Opcode::Add, &[a, c]),
            Opcode::Mad(PLAIN, AddSign::Minus) => *inst = Inst::new(Opcode::Sub, &[a, c]),
            Opcode::Mad(MINUS, AddSign::Plus) => *inst = Inst::new(Opcode::Sub, &[c, a]),
            _ => {}
        }
        None
    }

    /// Replaces a negation by its operand, where that costs no more.
    fn propagate_neg(&self, inst: &mut Inst) {
        let negated = |operand: Operand| self.negated[operand.value()?];
        let [a, b, _] = inst.args;
        match inst.opcode {
            Opcode::Add => {
                if let Some(x) = negated(b) {
                    *inst = Inst::new(Opcode::Sub, &[a, x]);
                } else if let Some(x) = negated(a) {
                    *inst = Inst::new(Opcode::Sub, &[b, x]);
                }
            }
            Opcode::Sub => {
                if let Some(x) = negated(b) {
                    *inst = Inst::new(Opcode::Add, &[a, x]);
                }
            }
            Opcode::Mul(_) | Opcode::Mad(..) => {
                if let (Some(x), Operand::Const(bits)) = (negated(a), b) {
                    inst.args[0] = x;
                    inst.args[1] = Operand::float(-f32::from_bits(bits));
                }
            }
            _ => {}
        }
    }

    /// Returns whether an operand is not denormal, independently of other rewrites of this pass. Ranges are those before the pass, which
    /// may drop a flush that is not demanded. (In a loop, two products with 1 could otherwise each rely on the other.)
    fn is_flushed(&self, operand: Operand) -> bool {
        let stays = operand
            .value()
            .is_none_or(|value| self.is_flushing[value] || self.demanded[value] & DENORMAL != 0);
        stays && !self.range(operand).denormal
    }

    fn range(&self, operand: Operand) -> Range {
        range_of(self.ranges, operand)
    }

    fn replace(&self, operand: &mut Operand) {
        if let Operand::Value(value) = operand
            && let Some(equal) = self.equal[*value]
        {
            *operand = equal;
        }
    }
}

/// Returns whether an operation flushes its result.
fn flushes_result(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Add
            | Opcode::Sub
            | Opcode::Mul(_)
            | Opcode::Mad(..)
            | Opcode::Flush
            | Opcode::Rcp
            | Opcode::Rsq
    )
}
