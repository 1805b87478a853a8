//! Global value numbering, after passes that replace operands.
//!
//! An operation that is available from the same region or from an enclosing one is replaced by its value. Also, selects lose operands that
//! their own mask hides: `%m ? (%m ? %x : %y) : %b` → `%m ? %x : %b`.

use std::collections::HashMap;

use super::Pass;
use super::identities::{remove_hidden, unchanged_operand};
use crate::{EntityMap, Function, Inst, Operand, Stmt, Type, Value, Values};

pub(super) const PASS: Pass = Pass { name: "gvn", run: |function, _| run(function) };

/// Removes redundant operations. Returns whether there were any.
fn run(function: &mut Function) -> bool {
    let mut numbering = Numbering {
        values: &function.values,
        available: Vec::new(),
        defs: EntityMap::filled(function.values.len(), None),
        equal: EntityMap::filled(function.values.len(), None),
        changed: false,
    };
    numbering.region(&mut function.body);
    let Numbering { equal, changed, .. } = numbering;
    for output in function.outputs_mut() {
        *output = output.value().and_then(|value| equal[value]).unwrap_or(*output);
    }
    changed
}

struct Numbering<'a> {
    values: &'a Values,
    /// The operations that the open regions have computed, innermost last.
    available: Vec<HashMap<(Type, Inst), Value>>,
    /// The operations so far.
    defs: EntityMap<Value, Option<Inst>>,
    /// The operands that replace redundant values.
    equal: EntityMap<Value, Option<Operand>>,
    changed: bool,
}

impl Numbering<'_> {
    fn region(&mut self, list: &mut [Stmt]) {
        self.available.push(HashMap::new());
        for stmt in list {
            match stmt {
                Stmt::If(branch) => {
                    branch.arms.iter_mut().for_each(|arm| self.region(arm));
                }
                Stmt::Loop(repeat) => self.region(&mut repeat.body),
                _ => {}
            }
            stmt.operands_mut(&mut |operand| self.replace(operand));
            if let Stmt::Def(value, inst) = stmt {
                self.inst(*value, inst);
            }
        }
        self.available.pop();
    }

    fn replace(&mut self, operand: &mut Operand) {
        if let Some(other) = operand.value().and_then(|value| self.equal[value]) {
            *operand = other;
            self.changed = true;
        }
    }

    fn inst(&mut self, value: Value, inst: &mut Inst) {
        self.changed |= remove_hidden(inst, |operand| self.def_of(operand));
        if let Some(operand) = unchanged_operand(inst) {
            self.equal[value] = Some(operand);
            return;
        }
        let key = (self.values[value].ty, *inst);
        let before = self.available.iter().rev().find_map(|region| region.get(&key));
        if let Some(before) = before {
            self.equal[value] = Some(Operand::Value(*before));
            return;
        }
        self.defs[value] = Some(*inst);
        self.available.last_mut().into_iter().for_each(|region| {
            region.insert(key, value);
        });
    }

    fn def_of(&self, operand: Operand) -> Option<Inst> {
        self.defs[operand.value()?]
    }
}
