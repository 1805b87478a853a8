//! Speculation on signs of zeros: products without the zero rule, where the rule changes at most the sign of a zero.
//!
//! By the zero rule a product with a zero factor is +0. If the other factor is finite, the processor's product is a zero of either sign.
//! Few results depend on that sign: a sum with any non-zero operand does not. So the colours of a group are computed without the rule, and
//! recomputed with the rule only in groups where a colour is a zero:
//!
//! ```text
//! %3: f32 = %1~ * %2 + %0          %3: f32 = %1 * %2 + %0
//! out[0] = %3, …             →     %4: mask = %3 == 0
//!                                  if %4 { %5: f32 = %1~ * %2 + %0 }
//!                                  phi %6: f32 = %5 over %3
//!                                  out[0] = %6, …
//! ```
//! Precondition: no value depends on the sign of such a zero except by being a zero of the other sign. Then without the rule every value
//! has its bits, or is a zero of the other sign. Operations preserve this property, except those that map zeros of different signs to other
//! results: quotients, transcendental functions, fetch coordinates. The values that these depend on keep the rule ([`operand_demands`]
//! names them). Fixed-point formats have no signed zeros: for them nothing is recomputed.

use std::collections::{HashMap, HashSet};

use r500_exec::output::color::Code;
use r500_fast::codegen::{ColorStore, CompileUnit};
use r500_ir::{
    Inst, MulFlags, NOTHING, Operand, Range, SIGN, Stmt, Type, Value, Values, operand_demands,
};

use super::Lower;
use crate::{Arm, Branch, Class, Opcode, Phi, PhiMove, Region, Relation, VReg};

/// Minimum gain: comparisons saved by dropping the rule, per colour channel that is compared with zero instead.
const LEAST: usize = 4;

/// A speculation: which products drop the zero rule, which results are checked.
pub(super) struct Speculation {
    /// Products that drop rules, and the flags that they keep.
    relaxed: HashMap<Value, MulFlags>,
    /// Colours that may be a zero of the wrong sign, where the sign is observable.
    checked: Vec<Value>,
}

impl Speculation {
    /// Plans the speculation for a unit; `None` if it does not pay, or if a result other than a colour would depend on it.
    pub(super) fn of(unit: &CompileUnit<'_>) -> Option<Self> {
        let is_straight = |stmt: &&Stmt| {
            matches!(stmt, Stmt::Def(..) | Stmt::Fetch(_) | Stmt::ConsumeFuel { .. })
        };
        if !unit.body.iter().all(is_straight) || !unit.writes.is_empty() || !unit.moves.is_empty() {
            return None;
        }
        let demanded = demanded(unit.body);
        let (mut relaxed, mut differing) = (HashMap::new(), HashSet::new());
        let mut dropped = 0;
        for stmt in unit.body {
            let Stmt::Def(value, inst) = *stmt else { continue };
            if demanded.contains(value) || unit.values[*value].ty == Type::Mask {
                continue;
            }
            let mut differs = false;
            if let Some((flags, count)) = relax(inst, unit.values) {
                relaxed.insert(*value, flags);
                dropped += count;
                differs = true;
            }
            let passes_on = inst.args().iter().zip(demands(inst, SIGN)).any(|(arg, demand)| {
                demand & SIGN != 0 && arg.value().is_some_and(|arg| differing.contains(&arg))
            });
            if differs || passes_on {
                differing.insert(*value);
            }
        }
        let mut checked: Vec<Value> = (unit.colors.iter())
            .flat_map(shown)
            .filter(|value| differing.contains(value))
            .collect();
        checked.sort_unstable();
        checked.dedup();
        (dropped > LEAST * checked.len()).then_some(Self { relaxed, checked })
    }

    /// Returns whether nothing is ever recomputed.
    pub(super) fn always_holds(&self) -> bool {
        self.checked.is_empty()
    }
}

/// Returns whether a [speculative](super::TargetCaps::speculative) form of a unit differs from the exact one.
pub fn is_speculative(unit: &CompileUnit<'_>) -> bool {
    Speculation::of(unit).is_some_and(|speculation| !speculation.always_holds())
}

/// Returns the values whose signs of zeros are demanded, because a result other than a zero depends on them.
fn demanded(body: &[&Stmt]) -> HashSet<Value> {
    let mut demanded = HashSet::new();
    for stmt in body.iter().rev() {
        match stmt {
            Stmt::Def(value, inst) => {
                let result = if demanded.contains(value) { SIGN } else { NOTHING };
                for (arg, demand) in inst.args().iter().zip(demands(inst, result)) {
                    demanded.extend(arg.value().filter(|_| demand & SIGN != 0));
                }
            }
            _ => stmt.operands(&mut |operand| demanded.extend(operand.value())),
        }
    }
    demanded
}

/// Returns the demands on an operation's operands, given the demand on its result.
fn demands(inst: &Inst, result: u8) -> [u8; 3] {
    let range = |operand: Operand| match operand {
        Operand::Const(bits) => Range::of(f32::from_bits(bits)),
        Operand::Value(_) => Range::ANY,
    };
    operand_demands(inst, range).map(|demand| demand.given(result))
}

/// Returns the flags of a product without the zero rules that change only the sign of a zero, and the number of dropped rules; `None` if
/// there are none.
fn relax(inst: &Inst, values: &Values) -> Option<(MulFlags, usize)> {
    let (r500_ir::Opcode::Mul(flags) | r500_ir::Opcode::Mad(flags, _)) = inst.opcode else {
        return None;
    };
    let is_finite = |operand: Operand| match operand {
        Operand::Const(bits) => f32::from_bits(bits).is_finite(),
        Operand::Value(value) => values[value].facts.finite,
    };
    let [a, b, _] = inst.args;
    let (drop_a, drop_b) = (flags.zero_a && is_finite(b), flags.zero_b && is_finite(a));
    let kept =
        MulFlags { zero_a: flags.zero_a && !drop_a, zero_b: flags.zero_b && !drop_b, ..flags };
    let count = usize::from(drop_a) + usize::from(drop_b);
    (count > 0).then_some((kept, count))
}

/// Returns the channels of a colour whose signs of zeros are observable in the frame or surface.
fn shown(color: &ColorStore) -> Vec<Value> {
    let shows = |channel: usize| match &color.encoding {
        None => true,
        Some(encoding) => (encoding.components())
            .any(|of| of.channel == channel && matches!(of.code, Code::Half | Code::Float)),
    };
    let channels = (0..).zip(color.channels);
    channels.filter(|(n, _)| shows(*n)).filter_map(|(_, channel)| channel.value()).collect()
}

impl Lower<'_> {
    /// Lowers a unit without the rule, and the check that recomputes groups with it.
    pub(super) fn speculate(&mut self, unit: &CompileUnit<'_>, speculation: Speculation) {
        let Speculation { relaxed, checked } = speculation;
        self.relaxed = relaxed;
        unit.body.iter().for_each(|stmt| self.stmt(stmt));
        self.relaxed = HashMap::new();
        self.recompute_zeros(unit, &checked);
        self.lower_rest(unit, &[]);
    }

    /// Recomputes the colours with the rule, in groups where one of them is a zero.
    fn recompute_zeros(&mut self, unit: &CompileUnit<'_>, checked: &[Value]) {
        let zero = self.bits(0);
        let colors: Vec<VReg> =
            checked.iter().map(|value| self.vector(Operand::Value(*value))).collect();
        let masks: Vec<VReg> =
            colors.iter().map(|color| self.compare(Relation::Eq, *color, zero)).collect();
        let mask = masks.into_iter().reduce(|a, b| self.op(Opcode::MaskOr, &[a, b]));
        let Some(mask) = mask else { return };
        let mut fresh = || self.function.fresh(Class::Vector);
        let vars: Vec<[VReg; 2]> = checked.iter().map(|_| [fresh(), fresh()]).collect();
        let phis = (vars.iter().zip(&colors))
            .map(|([var, _], color)| Phi { var: *var, incoming: Some(*color) })
            .collect();
        // Values before the branch are not reused: they would stay live for an arm that is rarely taken.
        let (values, value_numbers) =
            (self.values.clone(), std::mem::take(&mut self.value_numbers));
        self.begin();
        for stmt in slice(unit.body, checked) {
            self.stmt(stmt);
        }
        let assign = (vars.iter().zip(checked))
            .map(|([old, new], value)| {
                let from = self.vector(Operand::Value(*value));
                PhiMove { old: *old, new: *new, from }
            })
            .collect();
        let body = self.end();
        (self.values, self.value_numbers) = (values, value_numbers);
        for ([_, new], value) in vars.iter().zip(checked) {
            self.values.insert(*value, *new);
        }
        let arms = vec![Arm { mask, body, assign }];
        self.region().push(Region::Branch(Branch { phis, arms }));
    }
}

/// Returns the backward slice of some values.
fn slice<'a>(body: &[&'a Stmt], values: &[Value]) -> Vec<&'a Stmt> {
    let mut needed: HashSet<Value> = values.iter().copied().collect();
    let mut slice = Vec::new();
    for &stmt in body.iter().rev() {
        let mut is_needed = false;
        stmt.defs(&mut |value| is_needed |= needed.contains(&value));
        if is_needed {
            stmt.operands(&mut |operand| needed.extend(operand.value()));
            slice.push(stmt);
        }
    }
    slice.reverse();
    slice
}
