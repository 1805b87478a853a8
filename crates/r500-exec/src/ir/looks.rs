//! How often values are looked at.

use super::{Function, Loop, Operand, Stmt, Value};

/// By value, how often it is looked at.
#[derive(Debug)]
pub(super) struct Looks(Vec<u32>);

impl Looks {
    /// In all of a function, its outputs too.
    pub(super) fn of(function: &Function) -> Self {
        let mut looks = Self(vec![0; function.values as usize]);
        looks.collect(&function.body);
        function.outputs().for_each(|operand| looks.add(operand));
        looks
    }

    /// In a loop: in its passes, and by what goes from one to the next.
    pub(super) fn inside(repeat: &Loop, all: &Self) -> Self {
        let mut looks = Self(vec![0; all.0.len()]);
        looks.collect(&repeat.body);
        let next = repeat.carried.iter().map(|carried| carried.next);
        next.chain(repeat.again).for_each(|operand| looks.add(operand));
        looks
    }

    /// One more.
    pub(super) fn add(&mut self, operand: Operand) {
        if let Some(looks) = operand.value().and_then(|value| self.0.get_mut(value.index())) {
            *looks += 1;
        }
    }

    pub(super) fn at(&self, value: Value) -> u32 {
        self.0.get(value.index()).copied().unwrap_or(0)
    }

    fn collect(&mut self, list: &[Stmt]) {
        let each = &mut |stmt: &Stmt| stmt.operands(&mut |operand| self.add(operand));
        list.iter().for_each(|stmt| stmt.each(each));
    }
}
