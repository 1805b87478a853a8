//! Demand analysis: a backward data-flow analysis of the bits that users demand of values.

use crate::{EntityMap, Operand, Value};

/// A set of bits, defined by each pass.
pub(super) type Bits = u8;

/// The values of a function, with the operands that each forwards its demand to.
pub(super) struct DemandGraph {
    demanded: EntityMap<Value, Bits>,
    /// The operands of each value, and the demanded bits that it forwards to them.
    operands: EntityMap<Value, Vec<(Value, Bits)>>,
    work: Vec<Value>,
}

impl DemandGraph {
    /// Returns a graph of `values` values without demands.
    pub(super) fn new(values: usize) -> Self {
        Self {
            demanded: EntityMap::filled(values, 0),
            operands: EntityMap::filled(values, Vec::new()),
            work: Vec::new(),
        }
    }

    /// Adds an unconditional demand on an operand.
    pub(super) fn demand(&mut self, operand: Operand, bits: Bits) {
        if let Some(value) = operand.value()
            && self.demanded[value] | bits != self.demanded[value]
        {
            self.demanded[value] |= bits;
            self.work.push(value);
        }
    }

    /// Adds an operand of a value: it receives those of `bits` that are demanded of the value.
    pub(super) fn forward(&mut self, value: Value, operand: Operand, bits: Bits) {
        if bits != 0 {
            self.operands[value].extend(operand.value().map(|operand| (operand, bits)));
        }
    }

    /// Returns the demand on each value: the least fixed point.
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
