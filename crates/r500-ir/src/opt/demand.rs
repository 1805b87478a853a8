//! Demand: a backward data-flow analysis of bits that users demand of values.

use crate::{EntityMap, Operand, Value};

/// A set of bits that mean something to a pass.
pub(super) type Bits = u8;

/// The values of a function, with the operands that each passes its demand on to.
pub(super) struct DemandGraph {
    demanded: EntityMap<Value, Bits>,
    /// The operands of each value, and what it demands of them if that is demanded of it.
    operands: EntityMap<Value, Vec<(Value, Bits)>>,
    work: Vec<Value>,
}

impl DemandGraph {
    /// A graph of so many values, of which nothing is demanded.
    pub(super) fn new(values: usize) -> Self {
        Self {
            demanded: EntityMap::filled(values, 0),
            operands: EntityMap::filled(values, Vec::new()),
            work: Vec::new(),
        }
    }

    /// Adds what is demanded of an operand whatever else is.
    pub(super) fn demand(&mut self, operand: Operand, bits: Bits) {
        if let Some(value) = operand.value()
            && self.demanded[value] | bits != self.demanded[value]
        {
            self.demanded[value] |= bits;
            self.work.push(value);
        }
    }

    /// Adds an operand of a value: those of `bits` that are demanded of the value are demanded of it.
    pub(super) fn forward(&mut self, value: Value, operand: Operand, bits: Bits) {
        if bits != 0 {
            self.operands[value].extend(operand.value().map(|operand| (operand, bits)));
        }
    }

    /// Returns what is demanded of each value: the least fixed point.
    pub(super) fn solve(mut self) -> EntityMap<Value, Bits> {
        while let Some(value) = self.work.pop() {
            let demanded = self.demanded[value];
            for at in 0..self.operands[value].len() {
                let (operand, bits) = self.operands[value][at];
                self.demand(Operand::Value(operand), bits & demanded);
            }
        }
        self.demanded
    }
}
