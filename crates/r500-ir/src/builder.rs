//! The function builder: global value numbering, constant folding, strength reduction and if-conversion during construction.
//!
//! An operation that is available from an open region is reused. Operations on constants are folded, and operations on selects of two
//! constants become selects of their results. `arith` simplifies arithmetic.

mod arith;

use std::collections::HashMap;

use crate::const_eval::evaluate;
use crate::{
    ALL, ConstantChannel, EntityKey, EntityMap, Function, Inst, NONE, Opcode, Operand, Range, Stmt,
    Type, Uniform, Value, ValueData, Values,
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

/// A function under construction: the [module](crate) describes what its statements mean.
///
/// Statements are appended to the innermost open region. An operation that is available there is reused, one on constants is folded.
#[derive(Debug)]
pub struct Builder {
    source_loc: u32,
    values: Values,
    ranges: EntityMap<Value, Range>,
    /// The operation that defines each value; `None` for texels, phis and loop parameters.
    pub(crate) defs: EntityMap<Value, Option<Inst>>,
    /// Program constants that are not folded.
    uniforms: Vec<Uniform>,
    /// The open regions, innermost last.
    regions: Vec<Region>,
    statements: usize,
}

/// A state of a [`Builder`] to roll back to.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    values: usize,
    statements: usize,
}

#[derive(Debug, Default)]
struct Region {
    stmts: Vec<Stmt>,
    available: HashMap<(Type, Inst), Value>,
}

/// An operand with the modifiers of a source, which many operations absorb: absolute value, then negation.
#[derive(Clone, Copy, Debug)]
pub struct ModifiedOperand {
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
    /// Inverts the sign.
    pub fn negated(self) -> Self {
        Self { neg: !self.neg, ..self }
    }

    /// Removes the sign.
    pub fn abs(self) -> Self {
        Self { abs: true, neg: false, ..self }
    }

    fn constant(self) -> Option<f32> {
        let x = self.value.as_float()?;
        let x = if self.abs { x.abs() } else { x };
        Some(if self.neg { -x } else { x })
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Returns a builder of a function without statements. Its outermost region is open.
    pub fn new() -> Self {
        Self {
            source_loc: 0,
            values: Values::default(),
            ranges: EntityMap::default(),
            defs: EntityMap::default(),
            uniforms: Vec::new(),
            regions: vec![Region::default()],
            statements: 0,
        }
    }

    /// Closes the outermost region and returns the function with these [outputs](Function::colors), and the ranges of its values, which
    /// [`optimize`](crate::optimize) uses.
    ///
    /// # Panics
    /// If an inner region is open.
    pub fn finish(
        self,
        colors: [Option<[Operand; 4]>; 4],
        depth: Option<(Operand, Operand)>,
    ) -> (Function, EntityMap<Value, Range>) {
        self.finish_with(colors, depth, Vec::new())
    }

    /// As [`finish`](Self::finish), for a function with [results](Function::results) only.
    ///
    /// # Panics
    /// If an inner region is open.
    pub fn finish_with_results(self, results: Vec<Operand>) -> (Function, EntityMap<Value, Range>) {
        self.finish_with([None; 4], None, results)
    }

    fn finish_with(
        mut self,
        colors: [Option<[Operand; 4]>; 4],
        depth: Option<(Operand, Operand)>,
        results: Vec<Operand>,
    ) -> (Function, EntityMap<Value, Range>) {
        let body = self.close_region();
        assert!(self.regions.is_empty(), "an inner region is open");
        let number = |channel| !self.range(channel).nan;
        let non_nan = colors.map(|channels| channels.map_or([false; 4], |c| c.map(number)));
        let Self { values, uniforms, ranges, .. } = self;
        (Function { values, uniforms, body, colors, non_nan, depth, results }, ranges)
    }

    /// Sets the debug location of the values that are defined from now on: the address of an instruction.
    pub fn set_source_loc(&mut self, address: u32) {
        self.source_loc = address;
    }

    /// Returns the debug location of the values that are defined now.
    pub fn source_loc(&self) -> u32 {
        self.source_loc
    }

    /// Opens a region: the body of a branch's arm or of a loop.
    pub fn open_region(&mut self) {
        self.regions.push(Region::default());
    }

    /// Closes the innermost region and returns its statements.
    ///
    /// # Panics
    /// If no region is open.
    pub fn close_region(&mut self) -> Vec<Stmt> {
        self.regions.pop().expect("a region is open").stmts
    }

    /// Closes the innermost region and appends its statements to the enclosing one (if-conversion): they are executed in all lanes.
    ///
    /// # Panics
    /// If no inner region is open.
    pub fn flatten_region(&mut self) {
        let inner = self.regions.pop().expect("a region is open");
        let region = self.innermost();
        region.stmts.extend(inner.stmts);
        region.available.extend(inner.available);
    }

    /// Returns whether it is cheaper to run the innermost region in all lanes than to branch: it has no branch, loop or fetch, and costs at
    /// most sixteen multiplications.
    ///
    /// # Panics
    /// If no region is open.
    pub fn is_cheap(&self) -> bool {
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

    /// Appends a statement to the innermost region. Operations are appended by the methods that return their value, which reuse, fold and
    /// simplify them.
    ///
    /// # Panics
    /// If no region is open.
    pub fn push(&mut self, stmt: Stmt) {
        self.statements += 1;
        self.innermost().stmts.push(stmt);
    }

    fn innermost(&mut self) -> &mut Region {
        self.regions.last_mut().expect("a region is open")
    }

    /// Returns the number of statements so far.
    pub fn statement_count(&self) -> usize {
        self.statements
    }

    /// Adds a value that a statement other than an operation defines: a texel, a phi, a loop parameter.
    pub fn fresh(&mut self, ty: Type, range: Range) -> Value {
        self.ranges.push(range);
        self.defs.push(None);
        let facts = range.facts();
        self.values.push(ValueData { ty, source_loc: self.source_loc, facts })
    }

    /// Returns the current state.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { values: self.ranges.len(), statements: self.statements }
    }

    /// Drops all values since a checkpoint. Regions opened since must be closed.
    pub fn rollback(&mut self, checkpoint: Checkpoint) {
        self.ranges.truncate(checkpoint.values);
        self.values.truncate(checkpoint.values);
        self.defs.truncate(checkpoint.values);
        self.uniforms.retain(|uniform| uniform.value.index() < checkpoint.values);
        self.statements = checkpoint.statements;
    }

    /// Returns the range of an operand.
    pub fn range(&self, operand: Operand) -> Range {
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

    /// Returns the value of an operation other than a select: an available one, or a new one, whose range the caller gives.
    ///
    /// # Panics
    /// If the operation is a select, whose type it does not determine.
    pub fn def(&mut self, opcode: Opcode, args: &[Operand], range: Range) -> Operand {
        let ty = opcode.result_type().expect("the type of a select is given");
        self.def_typed(ty, opcode, args, range)
    }

    /// As [`def`](Self::def), with a result type, which selects need.
    pub fn def_typed(
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

    /// Returns a program constant whose value is not folded, but known to be in a range.
    pub fn uniform(&mut self, source: ConstantChannel, range: Range) -> Operand {
        if let Some(known) = self.uniforms.iter().find(|uniform| uniform.source == source) {
            return Operand::Value(known.value);
        }
        let value = self.fresh(Type::F32, range);
        self.values[value].source_loc = 0;
        self.uniforms.push(Uniform { value, source });
        Operand::Value(value)
    }

    /// Returns a channel of the constant numbered `base` + `index`: see [`Opcode::LoadConstant`].
    pub fn load_constant(&mut self, base: u8, channel: u8, index: Operand) -> Operand {
        self.def(Opcode::LoadConstant { base, channel }, &[index], Range::ANY)
    }

    /// Returns a channel of an input, known to be in a range.
    pub fn input(&mut self, input: u8, channel: u8, range: Range) -> Operand {
        self.def(Opcode::Input { input, channel }, &[], range)
    }
}

/// Returns the sort key of the operands of a commutative operation: constants come last.
pub(crate) fn argument_order(operand: Operand) -> u64 {
    match operand {
        Operand::Value(value) => u64::from(value.0),
        Operand::Const(bits) => 1 << 32 | u64::from(bits),
    }
}

#[cfg(test)]
mod tests;
