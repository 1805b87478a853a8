//! How often values are looked at.

use crate::ir::{Function, Loop, Operand, Stmt, Value};

/// By value, how often it is looked at.
#[derive(Debug)]
pub(super) struct UseCounts(Vec<u32>);

impl UseCounts {
    /// In all of a function, its outputs too.
    pub(super) fn of(function: &Function) -> Self {
        let mut uses = Self(vec![0; function.values as usize]);
        uses.collect(&function.body);
        function.outputs().for_each(|operand| uses.add(operand));
        uses
    }

    /// In a loop: in its passes, and by what goes from one to the next.
    pub(super) fn in_loop(repeat: &Loop, all: &Self) -> Self {
        let mut uses = Self(vec![0; all.0.len()]);
        uses.collect(&repeat.body);
        let next = repeat.params.iter().map(|param| param.next);
        next.chain(repeat.continue_mask).for_each(|operand| uses.add(operand));
        uses
    }

    /// One more.
    pub(super) fn add(&mut self, operand: Operand) {
        if let Some(uses) = operand.value().and_then(|value| self.0.get_mut(value.index())) {
            *uses += 1;
        }
    }

    pub(super) fn of_value(&self, value: Value) -> u32 {
        self.0.get(value.index()).copied().unwrap_or(0)
    }

    fn collect(&mut self, list: &[Stmt]) {
        let each = &mut |stmt: &Stmt| stmt.operands(&mut |operand| self.add(operand));
        list.iter().for_each(|stmt| stmt.each(each));
    }
}
