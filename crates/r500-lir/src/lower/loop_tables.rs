//! Tabulation: loop-varying values that depend on loop counters only are read from tables.
//!
//! A value is uniform if it depends on constants and on uniform values only. Inside a loop it changes from iteration to iteration, so
//! constant propagation does not apply, but the loop counters determine it. This pass evaluates a unit abstractly: values that depend on
//! pixels are unknown, a loop runs until its mask is known to be empty, and the value of each operation in each iteration is recorded.
//!
//! ```text
//! loop 48 (%0 = 0) {                   loop 48 (%0 = 0) {
//!   %1 = sin %0                  →       %1 = table[iteration]
//!   .. %2 * %1                           .. %2 * %1
//! } next (%0 + 1.0)                    } next (%0 + 1.0)
//! ```
//!
//! This is sound because code executes no iteration that was not evaluated: a mask that is known to be empty here is empty in code.
//! Evaluation gives the same bits as code, as constant folding does.

use std::collections::{BTreeMap, HashMap, HashSet};

use r500_fast::codegen::CompileUnit;
use r500_ir::{EntityMap, Inst, Loop, Operand, Stmt, Type, Value, evaluate_partially};

use super::early_exit::cost_of;
use crate::TableEntry;

/// Minimum cost of a tabulated operation: about the cost of a table look-up, in operations.
const LEAST: u64 = 4;
/// Limit of evaluated operations; units that need more have no tables.
const MAX_EVALUATIONS: u32 = 20_000;
/// Limit of the entries of all tables.
const MAX_NUMBERS: usize = 4096;
/// Limit of the nesting depth: deeper loops are rare.
const MAX_DEPTH: usize = 4;

/// The replacement of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// A constant.
    Constant(u32),
    /// A table entry.
    Table(TableEntry),
    /// Dead: only replaced operations use it.
    Nothing,
}

/// The tables of a unit, and the operations that they replace.
#[derive(Debug, Default)]
pub(super) struct LoopTables {
    replacements: HashMap<Value, Replacement>,
    /// The entries of all tables, one after the other.
    pub(super) numbers: Vec<u32>,
}

impl LoopTables {
    /// Evaluates the loops of a unit.
    pub(super) fn of(unit: &CompileUnit<'_>) -> Self {
        let mut tables = Self::default();
        let is_loop = &mut |stmt: &Stmt| matches!(stmt, Stmt::Loop(_));
        if !unit.body.iter().any(|stmt| stmt.any(is_loop)) {
            return tables;
        }
        let mut evaluation = Evaluation {
            bits: EntityMap::filled(unit.values.len(), None),
            iterations: Vec::new(),
            histories: HashMap::new(),
            left: MAX_EVALUATIONS,
        };
        if evaluation.stmts(unit.body.iter().copied()).is_some() {
            tables.replace(unit, &evaluation.histories);
        }
        tables
    }

    /// Returns the replacement of the operation that defines a value.
    pub(super) fn replacement(&self, value: Value) -> Option<Replacement> {
        self.replacements.get(&value).copied()
    }

    /// Selects the operations to replace.
    fn replace(
        &mut self,
        unit: &CompileUnit<'_>,
        histories: &HashMap<Value, Option<ValueHistory>>,
    ) {
        let uses = Uses::of(unit);
        let mut costs: HashMap<Value, u64> = HashMap::new();
        for &(value, inst) in &uses.defs {
            if histories.get(&value).is_some_and(Option::is_some) {
                let args = inst.args().iter().filter_map(|arg| costs.get(&arg.value()?));
                let cost = args.fold(cost_of(inst.opcode), |sum, cost| sum.saturating_add(*cost));
                costs.insert(value, cost);
            }
        }
        // Reverse order visits users before the values that they use.
        for &(value, _) in uses.defs.iter().rev() {
            let (Some(Some(history)), Some(&cost)) = (histories.get(&value), costs.get(&value))
            else {
                continue;
            };
            let unused = !uses.kept.contains(&value)
                && (uses.users.get(&value).into_iter().flatten())
                    .all(|user| self.replacements.contains_key(user));
            let replacement = match unit.values[value].ty {
                _ if unused => Some(Replacement::Nothing),
                Type::F32 => self.table(history, cost),
                Type::Mask => None,
            };
            if let Some(replacement) = replacement {
                self.replacements.insert(value, replacement);
            }
        }
    }

    /// Adds the table of a value, if it pays: indexed by the iteration of no loop, of one, or of two.
    fn table(&mut self, history: &ValueHistory, cost: u64) -> Option<Replacement> {
        let loops = 0..history.trips.len();
        if let Some(numbers) = history.by([]) {
            return numbers.into_values().next().map(Replacement::Constant);
        }
        if cost < LEAST {
            return None;
        }
        for inner in loops.clone().rev() {
            if let Some(numbers) = history.by([inner]) {
                let numbers = numbers.into_iter().map(|([at], bits)| (at, bits));
                return self.add(numbers.collect(), history, inner, None);
            }
        }
        let pairs = loops.clone().flat_map(|outer| loops.clone().map(move |inner| (outer, inner)));
        for (outer, inner) in pairs.filter(|(outer, inner)| outer < inner) {
            if let Some(numbers) = history.by([outer, inner]) {
                let columns = 1 + numbers.keys().map(|[_, column]| *column).max()?;
                let shift = columns.next_power_of_two().trailing_zeros();
                let numbers = (numbers.into_iter())
                    .map(|([row, column], bits)| ((row << shift) + column, bits));
                return self.add(numbers.collect(), history, inner, Some((outer, shift)));
            }
        }
        None
    }

    /// Adds a table, given by index from 0.
    fn add(
        &mut self,
        numbers: BTreeMap<u32, u32>,
        history: &ValueHistory,
        inner: usize,
        outer: Option<(usize, u32)>,
    ) -> Option<Replacement> {
        let last = *numbers.last_key_value()?.0;
        let first = self.numbers.len();
        if first + last as usize >= MAX_NUMBERS {
            return None;
        }
        // Counters count down from the trip count. Rows are as long as a power of two: nothing reads the cells in between.
        let backwards = (0..=last).rev().map(|at| numbers.get(&at).copied().unwrap_or(0));
        self.numbers.extend(backwards);
        let trips =
            history.trips[inner] + outer.map_or(0, |(outer, shift)| history.trips[outer] << shift);
        let entry = TableEntry {
            first: (first + last as usize) as i32 - trips.cast_signed(),
            inner: inner as u32,
            outer: outer.map(|(outer, shift)| (outer as u32, shift as u8)),
        };
        Some(Replacement::Table(entry))
    }
}

/// Use lists of a unit.
#[derive(Default)]
struct Uses {
    /// Operations, in program order.
    defs: Vec<(Value, Inst)>,
    /// The values whose operations use a value.
    users: HashMap<Value, Vec<Value>>,
    /// Values with uses that are not operations.
    kept: HashSet<Value>,
}

impl Uses {
    fn of(unit: &CompileUnit<'_>) -> Self {
        let mut uses = Self::default();
        for stmt in unit.body {
            stmt.each(&mut |stmt| uses.see(stmt));
        }
        uses.kept.extend(unit.writes.iter().map(|(value, _)| *value));
        let moved = unit.moves.iter().flat_map(|moved| [Some(moved.from), moved.mask]).flatten();
        let stored = unit.colors.iter().flat_map(|color| color.channels);
        uses.kept.extend(moved.chain(stored).filter_map(Operand::value));
        uses
    }

    fn see(&mut self, stmt: &Stmt) {
        let Stmt::Def(value, inst) = stmt else {
            return stmt.operands(&mut |operand| self.kept.extend(operand.value()));
        };
        self.defs.push((*value, *inst));
        for used in inst.args().iter().filter_map(|arg| arg.value()) {
            self.users.entry(used).or_default().push(*value);
        }
    }
}

/// The recorded values of an operation, in all iterations of the enclosing loops.
#[derive(Debug)]
struct ValueHistory {
    /// The maximum trip count of each enclosing loop, outermost first: the initial value of its counter.
    trips: Vec<u32>,
    /// The iterations and the bits.
    numbers: Vec<([u32; MAX_DEPTH], u32)>,
}

impl ValueHistory {
    /// Returns the entries indexed by the iterations of some of the loops; `None` if these do not determine the value.
    fn by<const N: usize>(&self, loops: [usize; N]) -> Option<BTreeMap<[u32; N], u32>> {
        let mut numbers = BTreeMap::new();
        for (iterations, bits) in &self.numbers {
            let known = numbers.entry(loops.map(|number| iterations[number])).or_insert(*bits);
            if known != bits {
                return None;
            }
        }
        Some(numbers)
    }
}

/// Abstract evaluation of a unit, for an arbitrary pixel.
struct Evaluation {
    /// The current bits of each value, `None` if they are unknown or depend on the pixel. For masks, all bits or none.
    bits: EntityMap<Value, Option<u32>>,
    /// The current iteration and the maximum trip count of each enclosing loop.
    iterations: Vec<(u32, u32)>,
    /// The history of each value; `None` if it was ever unknown.
    histories: HashMap<Value, Option<ValueHistory>>,
    /// Remaining operations before evaluation is given up.
    left: u32,
}

impl Evaluation {
    /// Evaluates statements; `None` if the limit is reached.
    fn stmts<'s>(&mut self, stmts: impl IntoIterator<Item = &'s Stmt>) -> Option<()> {
        for stmt in stmts {
            match stmt {
                Stmt::Def(value, inst) => {
                    self.left = self.left.checked_sub(1)?;
                    let bits = evaluate_partially(inst, |operand| self.get(operand));
                    self.bits[*value] = bits;
                    if !self.iterations.is_empty() {
                        self.record(*value, bits);
                    }
                }
                // Operations of an arm give the same results whether or not a pixel takes the arm.
                Stmt::If(branch) => {
                    branch.arms.iter().try_for_each(|arm| self.stmts(arm))?;
                    branch.phis.iter().for_each(|phi| self.bits[phi.value] = None);
                }
                Stmt::Loop(repeat) => self.repeat(repeat)?,
                _ => {}
            }
        }
        Some(())
    }

    fn repeat(&mut self, repeat: &Loop) -> Option<()> {
        let trips = repeat.max_trips.max(1);
        let mut next: Vec<_> = repeat.params.iter().map(|param| self.get(param.init)).collect();
        // Whether all groups of pixels run the same number of iterations.
        let mut uniform = true;
        for iteration in 0..trips {
            for (param, bits) in repeat.params.iter().zip(&next) {
                self.bits[param.value] = *bits;
            }
            self.iterations.push((iteration, trips));
            self.stmts(&repeat.body)?;
            self.iterations.pop();
            next = repeat.params.iter().map(|param| self.get(param.next)).collect();
            match repeat.continue_mask.map(|mask| self.get(mask)) {
                Some(Some(0)) => break,
                Some(None) => uniform = false,
                _ => {}
            }
        }
        for (param, bits) in repeat.params.iter().zip(next) {
            self.bits[param.value] = bits.filter(|_| uniform);
        }
        Some(())
    }

    fn get(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Const(bits) => Some(bits),
            Operand::Value(value) => self.bits[value],
        }
    }

    fn record(&mut self, value: Value, bits: Option<u32>) {
        let depth = self.iterations.len();
        let history = self.histories.entry(value).or_insert_with(|| {
            let trips = self.iterations.iter().map(|(_, trips)| *trips).collect();
            Some(ValueHistory { trips, numbers: Vec::new() })
        });
        let Some(bits) = bits.filter(|_| depth <= MAX_DEPTH) else {
            *history = None;
            return;
        };
        if let Some(history) = history {
            let mut at = [0; MAX_DEPTH];
            for (at, (iteration, _)) in at.iter_mut().zip(&self.iterations) {
                *at = *iteration;
            }
            history.numbers.push((at, bits));
        }
    }
}
