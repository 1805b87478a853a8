//! Loop peeling: the last iteration of a counted loop, which mostly finds that it is the last, moves after the loop.
//!
//! Drivers start an iteration with the test of the counter. In the last one all lanes leave there, so most of the body selects the present
//! values of parameters; the rest is a few selects:
//!
//! ```text
//! loop 4 (%0 = 0, %1 = .., %2 = all) {     loop 3 (%9 = .., %2 = all) {
//!   %3 = %0 >= 3.0                            ..
//!   %4 = %2 & !%3                       →   } next (%5, %7) while %7
//!   %5 = %3 ? 0 : %1                        %1 = %2 ? 0 : %9
//!   ..
//! } next (%0 + 1.0, %5, %7) while %7
//! ```

use std::collections::HashMap;

use super::analyses::Phis;
use super::identities::{remove_hidden, unchanged_operand};
use crate::{
    ALL, EntityMap, Inst, Loop, LoopParam, NONE, Opcode, Operand, Phi, Stmt, Value, ValueData,
    Values,
};

/// The maximum number of operations that remain of the last iteration.
const MAX_RESIDUAL: usize = 12;

/// The operations that remain of the last iteration of a loop.
#[derive(Debug, Default)]
pub(super) struct Residual {
    /// Operations on the parameters' values after the loop, identified by index.
    ops: Vec<(ValueData, Inst)>,
    /// The parameters that they change, and the index of the operation with the result.
    changed: Vec<(Value, usize)>,
}

impl Residual {
    /// Evaluates the last iteration of a loop; `None` if too much remains. `bits`: known bits of values in that iteration. `defs`: the
    /// operations of the loop's body. Parameters that are not used after the loop need no value.
    pub(super) fn of(
        repeat: &Loop,
        defs: &EntityMap<Value, Option<Inst>>,
        bits: &EntityMap<Value, Option<u32>>,
        is_used: impl Fn(Value) -> bool,
        values: &Values,
    ) -> Option<Self> {
        let mut inside = EntityMap::filled(values.len(), false);
        repeat.body.iter().for_each(|stmt| {
            stmt.each(&mut |stmt| stmt.defs(&mut |value| inside[value] = true));
        });
        let mut phis = Phis::default();
        for stmt in &repeat.body {
            if let Stmt::If(branch) = stmt {
                phis.add(branch);
            }
        }
        let (ops, known) = (Vec::new(), HashMap::new());
        let mut resolver = Resolver { defs, phis, bits, inside, values, ops, known };
        let mut changed = Vec::new();
        for param in repeat.params.iter().filter(|param| is_used(param.value)) {
            match resolver.resolve(param.next)? {
                Resolved::Operand(Operand::Value(value)) if value == param.value => {}
                Resolved::Operand(Operand::Const(now)) if bits[param.value] == Some(now) => {}
                Resolved::Operand(_) => return None,
                Resolved::Op(op) => changed.push((param.value, op)),
            }
        }
        Some(Self { ops: resolver.ops, changed })
    }

    /// Renames the changed parameters in their loop, and appends the remaining operations after it.
    pub(super) fn apply(self, repeat: &mut Loop, values: &mut Values, after: &mut Vec<Stmt>) {
        if self.changed.is_empty() {
            return;
        }
        let mut names = HashMap::new();
        for (value, _) in &self.changed {
            let data = values[*value];
            names.insert(*value, values.push(data));
        }
        let rename = |operand: &mut Operand| {
            if let Some(name) = operand.value().and_then(|value| names.get(&value)) {
                *operand = Operand::Value(*name);
            }
        };
        for LoopParam { value, next, .. } in &mut repeat.params {
            *value = names.get(value).copied().unwrap_or(*value);
            rename(next);
        }
        repeat.continue_mask.iter_mut().for_each(rename);
        rename_in(&mut repeat.body, &rename);
        let mut results = Vec::new();
        for (op, (data, inst)) in self.ops.iter().enumerate() {
            let mut inst = *inst;
            inst.args.iter_mut().for_each(|arg| match arg {
                Operand::Value(Value(number)) if *number >= OP => {
                    *arg = Operand::Value(results[(*number - OP) as usize]);
                }
                arg => rename(arg),
            });
            let mut params = self.changed.iter().filter(|(_, of)| *of == op);
            let value = params.next().map_or_else(|| values.push(*data), |(value, _)| *value);
            after.push(Stmt::Def(value, inst));
            results.push(value);
            after.extend(params.map(|(value, _)| Stmt::Def(*value, inst)));
        }
    }
}

fn rename_in(list: &mut [Stmt], rename: &impl Fn(&mut Operand)) {
    for stmt in list {
        stmt.operands_mut(&mut |operand| rename(operand));
        match stmt {
            Stmt::If(branch) => branch.arms.iter_mut().for_each(|arm| rename_in(arm, rename)),
            Stmt::Loop(inner) => rename_in(&mut inner.body, rename),
            _ => {}
        }
    }
}

/// Operands from this number on are results of the remaining operations.
const OP: u32 = 1 << 31;

/// A value in the last iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolved {
    /// A constant, or a value from outside of the body.
    Operand(Operand),
    /// The result of a remaining operation.
    Op(usize),
}

impl Resolved {
    fn operand(self) -> Operand {
        match self {
            Self::Operand(operand) => operand,
            Self::Op(op) => Operand::Value(Value(OP + op as u32)),
        }
    }
}

struct Resolver<'a> {
    defs: &'a EntityMap<Value, Option<Inst>>,
    /// The phis of branches of the body, with their masks.
    phis: Phis,
    bits: &'a EntityMap<Value, Option<u32>>,
    /// The values that the body defines.
    inside: EntityMap<Value, bool>,
    values: &'a Values,
    ops: Vec<(ValueData, Inst)>,
    known: HashMap<Value, Resolved>,
}

impl Resolver<'_> {
    /// Returns the value of an operand in the last iteration; `None` if too much remains.
    fn resolve(&mut self, operand: Operand) -> Option<Resolved> {
        let Operand::Value(value) = operand else { return Some(Resolved::Operand(operand)) };
        if let Some(bits) = self.bits[value] {
            return Some(Resolved::Operand(Operand::Const(bits)));
        }
        if !self.inside[value] {
            return Some(Resolved::Operand(operand));
        }
        if let Some(known) = self.known.get(&value) {
            return Some(*known);
        }
        let resolved = match self.phis.get(value) {
            Some((masks, phi)) => self.phi(masks, phi)?,
            None => self.inst(value, self.defs[value]?)?,
        };
        self.known.insert(value, resolved);
        Some(resolved)
    }

    /// Returns the value of a phi whose branch no lane takes.
    fn phi(&mut self, masks: [Operand; 2], phi: Phi) -> Option<Resolved> {
        for mask in masks {
            if self.resolve(mask)? != Resolved::Operand(NONE) {
                return None;
            }
        }
        self.resolve(phi.incoming?)
    }

    fn inst(&mut self, value: Value, inst: Inst) -> Option<Resolved> {
        let mut inst = inst;
        match inst.opcode {
            Opcode::Input { .. } | Opcode::LoadConstant { .. } | Opcode::QuadBroadcast(_) => {
                return None;
            }
            Opcode::Select => {
                let mask = self.resolve(inst.args[0])?;
                match mask {
                    Resolved::Operand(ALL) => return self.resolve(inst.args[1]),
                    Resolved::Operand(NONE) => return self.resolve(inst.args[2]),
                    _ => {}
                }
                let [a, b] = [self.resolve(inst.args[1])?, self.resolve(inst.args[2])?];
                inst.args = [mask, a, b].map(Resolved::operand);
                remove_hidden(&mut inst, |operand| match self.resolved(operand) {
                    Resolved::Op(op) => Some(self.ops[op].1),
                    Resolved::Operand(_) => None,
                });
            }
            _ => {
                let arity = inst.opcode.arity();
                for arg in &mut inst.args[..arity] {
                    *arg = self.resolve(*arg)?.operand();
                }
            }
        }
        if let Some(operand) = unchanged_operand(&inst) {
            return Some(self.resolved(operand));
        }
        let data = self.values[value];
        let alike = |(other, op): &(ValueData, Inst)| *op == inst && other.ty == data.ty;
        if let Some(op) = self.ops.iter().position(alike) {
            return Some(Resolved::Op(op));
        }
        if self.ops.len() >= MAX_RESIDUAL {
            return None;
        }
        self.ops.push((data, inst));
        Some(Resolved::Op(self.ops.len() - 1))
    }

    fn resolved(&self, operand: Operand) -> Resolved {
        match operand {
            Operand::Value(Value(number)) if number >= OP => Resolved::Op((number - OP) as usize),
            operand => Resolved::Operand(operand),
        }
    }
}
