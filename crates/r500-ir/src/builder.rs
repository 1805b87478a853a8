//! The function builder: global value numbering, constant folding, strength reduction and if-conversion during construction.
//!
//! An operation that is available from an open region is reused. Operations on constants are folded, and operations on selects of two
//! constants become selects of their results. `arith` simplifies arithmetic.

mod arith;

use std::collections::HashMap;

use super::const_eval::evaluate;
use super::{
    ALL, ConstantChannel, EntityKey, EntityMap, Inst, NONE, Opcode, Operand, Range, Stmt, Type,
    Uniform, Value, ValueData, Values,
};

/// The maximum cost of an arm that is flattened (if-conversion).
const MAX_FLATTENED_COST: usize = 16;

/// Returns the cost of an operation, in multiplications. The masks and selects of a flattened arm mostly fold away.
fn cost(opcode: Opcode) -> usize {
    match opcode {
        Opcode::Select | Opcode::And | Opcode::Or | Opcode::AndNot => 0,
        Opcode::Rcp | Opcode::Frc => 3,
        Opcode::Rsq => 5,
        Opcode::Ex2 | Opcode::Ln2 | Opcode::Sin | Opcode::Cos => 8,
        _ => 1,
    }
}

/// A function under construction.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// The debug location of values defined from now on.
    pub(super) address: u32,
    values: Values,
    ranges: EntityMap<Value, Range>,
    /// The operation that defines each value; `None` for texels, phis and loop parameters.
    pub(super) defs: EntityMap<Value, Option<Inst>>,
    /// Program constants that are not folded.
    uniforms: Vec<Uniform>,
    /// The open regions, innermost last.
    regions: Vec<Region>,
    statements: usize,
}

/// A state to roll back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    values: usize,
    statements: usize,
}

#[derive(Debug, Default)]
struct Region {
    stmts: Vec<Stmt>,
    available: HashMap<(Type, Inst), Value>,
}

/// An operand with source modifiers, which many operations absorb.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModifiedOperand {
    value: Operand,
    abs: bool,
    neg: bool,
}

impl From<Operand> for ModifiedOperand {
    fn from(value: Operand) -> Self {
        Self { value, abs: false, neg: false }
    }
}

impl ModifiedOperand {
    pub(super) fn neg(self) -> Self {
        Self { neg: !self.neg, ..self }
    }

    pub(super) fn abs(self) -> Self {
        Self { abs: true, neg: false, ..self }
    }

    fn constant(self) -> Option<f32> {
        let x = self.value.as_float()?;
        let x = if self.abs { x.abs() } else { x };
        Some(if self.neg { -x } else { x })
    }
}

impl Builder {
    /// Opens a region.
    pub(super) fn open_region(&mut self) {
        self.regions.push(Region::default());
    }

    /// Closes the innermost region and returns its statements.
    pub(super) fn close_region(&mut self) -> Vec<Stmt> {
        self.regions.pop().expect("a region is open").stmts
    }

    /// Closes the innermost region and appends its statements to the enclosing one.
    pub(super) fn flatten_region(&mut self) {
        let inner = self.regions.pop().expect("a region is open");
        let region = self.innermost();
        region.stmts.extend(inner.stmts);
        region.available.extend(inner.available);
    }

    /// Returns whether it is cheaper to run the innermost region in all lanes than to branch: it has no branch, loop or fetch, and costs at
    /// most [`MAX_FLATTENED_COST`].
    pub(super) fn is_cheap(&self) -> bool {
        let region = self.regions.last().expect("a region is open");
        let cost = region.stmts.iter().try_fold(0, |sum, stmt| {
            Some(
                sum + match stmt {
                    Stmt::Def(_, inst) => cost(inst.opcode),
                    Stmt::Discard(_)
                    | Stmt::Stat { .. }
                    | Stmt::ConsumeFuel { .. }
                    | Stmt::GroupHazard(_) => 0,
                    Stmt::Fetch(_) | Stmt::If(_) | Stmt::Loop(_) => return None,
                },
            )
        });
        cost.is_some_and(|cost: usize| cost <= MAX_FLATTENED_COST)
    }

    /// Appends a statement to the innermost region.
    pub(super) fn push(&mut self, stmt: Stmt) {
        self.statements += 1;
        self.innermost().stmts.push(stmt);
    }

    fn innermost(&mut self) -> &mut Region {
        self.regions.last_mut().expect("a region is open")
    }

    /// Returns the number of statements so far.
    pub(super) fn len(&self) -> usize {
        self.statements
    }

    /// Moves the tables of values and uniforms out of the builder.
    pub(super) fn take_values(&mut self) -> (Values, Vec<Uniform>) {
        (std::mem::take(&mut self.values), std::mem::take(&mut self.uniforms))
    }

    /// Adds a value that a statement other than an operation defines.
    pub(super) fn fresh(&mut self, ty: Type, range: Range) -> Value {
        self.ranges.push(range);
        self.defs.push(None);
        let facts = range.facts();
        self.values.push(ValueData { ty, source_loc: self.address, facts })
    }

    /// Returns the current state.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { values: self.ranges.len(), statements: self.statements }
    }

    /// Drops all values since a checkpoint. Regions opened since must be closed.
    pub(super) fn rollback(&mut self, checkpoint: Checkpoint) {
        self.ranges.truncate(checkpoint.values);
        self.values.truncate(checkpoint.values);
        self.defs.truncate(checkpoint.values);
        self.uniforms.retain(|uniform| uniform.value.index() < checkpoint.values);
        self.statements = checkpoint.statements;
    }

    /// Returns the range of each value.
    pub(super) fn ranges(&self) -> &EntityMap<Value, Range> {
        &self.ranges
    }

    /// Returns the range of an operand.
    pub(super) fn range(&self, operand: Operand) -> Range {
        match operand {
            Operand::Const(bits) => Range::of(f32::from_bits(bits)),
            Operand::Value(value) => self.ranges[value],
        }
    }

    fn term_range(&self, term: ModifiedOperand) -> Range {
        let range = self.range(term.value);
        let range = if term.abs { range.abs() } else { range };
        if term.neg { range.negated() } else { range }
    }

    /// Returns the value of an operation: an available one, or a new one.
    pub(super) fn def(&mut self, opcode: Opcode, args: &[Operand], range: Range) -> Operand {
        let ty = opcode.result_type().expect("the type of a select is given");
        self.def_typed(ty, opcode, args, range)
    }

    /// As [`def`](Self::def), with a result type, which selects need.
    pub(super) fn def_typed(
        &mut self,
        ty: Type,
        opcode: Opcode,
        args: &[Operand],
        range: Range,
    ) -> Operand {
        let inst = Inst::new(opcode, args);
        if let Some(value) =
            self.regions.iter().rev().find_map(|region| region.available.get(&(ty, inst)))
        {
            return Operand::Value(*value);
        }
        if let Some(choice) = self.fold_through_select(inst) {
            return choice;
        }
        let value = self.fresh(ty, range);
        self.defs[value] = Some(inst);
        self.push(Stmt::Def(value, inst));
        self.innermost().available.insert((ty, inst), value);
        Operand::Value(value)
    }

    /// Folds an operation on selects of two constants to a select of its results: `max (%m ? 1 : 0), 0.5` → `%m ? 1 : 0.5`. Drivers
    /// represent truth values as numbers and combine them by products, comparisons and maxima.
    fn fold_through_select(&mut self, inst: Inst) -> Option<Operand> {
        let mut values: Vec<Value> = inst.args().iter().filter_map(|arg| arg.value()).collect();
        values.dedup();
        let choices: Vec<_> =
            values.iter().map(|value| self.select_of_constants(*value)).collect::<Option<_>>()?;
        let result = |bits: [u32; 2]| {
            let arg = |arg: Operand| match arg {
                Operand::Const(bits) => bits,
                Operand::Value(value) => bits[usize::from(value != values[0])],
            };
            evaluate(inst.opcode, inst.args.map(arg))
        };
        match *choices {
            [(mask, a, b)] => {
                let (a, b) = (result([a; 2])?, result([b; 2])?);
                Some(self.select_constants(inst.opcode, mask, a, b))
            }
            [(one, a, b), (other, c, d)] => {
                let [both, first, second, none] =
                    [result([a, c])?, result([a, d])?, result([b, c])?, result([b, d])?];
                let (mask, yes, no) =
                    match (both == first, both == second, first == none, second == none) {
                        (true, _, _, true) => (one, both, none),
                        (_, true, true, _) => (other, both, none),
                        (_, _, true, true) => (self.and(one, other), both, none),
                        (true, true, ..) => (self.or(one, other), both, none),
                        (_, true, _, true) => (self.and_not(one, other), first, none),
                        (true, _, true, _) => (self.and_not(other, one), second, none),
                        _ => return None,
                    };
                Some(self.select_constants(inst.opcode, mask, yes, no))
            }
            _ => None,
        }
    }

    /// Returns the mask and the operands of a select between two constants.
    fn select_of_constants(&self, value: Value) -> Option<(Operand, u32, u32)> {
        match self.def_of(Operand::Value(value))? {
            (Opcode::Select, [mask, Operand::Const(a), Operand::Const(b)]) => Some((mask, a, b)),
            _ => None,
        }
    }

    /// Returns `mask ? a : b`, for two results of an operation.
    fn select_constants(&mut self, opcode: Opcode, mask: Operand, a: u32, b: u32) -> Operand {
        let (a, b) = (Operand::Const(a), Operand::Const(b));
        let ty = opcode.result_type().expect("a select is not evaluated");
        if (a, b) == (NONE, ALL) && ty == Type::Mask {
            return self.not(mask);
        }
        self.select(ty, mask, a, b)
    }

    /// Returns a program constant whose value is not folded.
    pub(super) fn uniform(&mut self, source: ConstantChannel, range: Range) -> Operand {
        if let Some(known) = self.uniforms.iter().find(|uniform| uniform.source == source) {
            return Operand::Value(known.value);
        }
        let value = self.fresh(Type::F32, range);
        self.values[value].source_loc = 0;
        self.uniforms.push(Uniform { value, source });
        Operand::Value(value)
    }

    /// Returns a channel of an input.
    pub(super) fn input(&mut self, input: u8, channel: u8, range: Range) -> Operand {
        self.def(Opcode::Input { input, channel }, &[], range)
    }
}

/// Returns a constant mask.
pub(super) fn mask_const(set: bool) -> Operand {
    if set { ALL } else { NONE }
}

/// Returns the sort key of the operands of a commutative operation: constants come last.
pub(super) fn argument_order(operand: Operand) -> u64 {
    match operand {
        Operand::Value(value) => u64::from(value.0),
        Operand::Const(bits) => 1 << 32 | u64::from(bits),
    }
}

#[cfg(test)]
mod tests;
