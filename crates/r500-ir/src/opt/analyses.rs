//! Analyses that passes share: definitions, use counts, value ranges.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::{EntityMap, Function, If, Inst, Loop, Operand, Phi, Range, Stmt, Value};

/// The analyses of a function. Definitions and use counts are computed on demand.
#[derive(Debug, Default)]
pub(crate) struct Analyses<'a> {
    /// The range of each value, as computed by the lift. Passes may invalidate it (dropping a flush exposes denormals), so passes that need
    /// ranges run before those that do.
    pub ranges: Option<&'a EntityMap<Value, Range>>,
    /// Whether operations or fetches read inactive lanes of a quad.
    pub reads_quads: bool,
    defs: OnceCell<Defs>,
    uses: OnceCell<UseCounts>,
}

impl<'a> Analyses<'a> {
    /// Returns the analyses of a lifted function.
    pub(crate) fn new(ranges: &'a EntityMap<Value, Range>, reads_quads: bool) -> Self {
        Self { ranges: Some(ranges), reads_quads, ..Self::default() }
    }

    /// Returns the definitions of a function.
    pub(super) fn defs(&self, function: &Function) -> &Defs {
        self.defs.get_or_init(|| Defs::of(function))
    }

    /// Returns the use counts of a function.
    pub(super) fn uses(&self, function: &Function) -> &UseCounts {
        self.uses.get_or_init(|| UseCounts::of(function))
    }

    /// Drops the analyses that a change of the function invalidates.
    pub(super) fn invalidate(&mut self) {
        self.defs.take();
        self.uses.take();
    }
}

/// The phis of a function, with the masks of their branches.
#[derive(Debug, Default)]
pub(super) struct Phis(HashMap<Value, ([Operand; 2], Phi)>);

impl Phis {
    /// Adds the phis of a branch.
    pub(super) fn add(&mut self, branch: &If) {
        self.0.extend(branch.phis.iter().map(|phi| (phi.value, (branch.masks, *phi))));
    }

    /// Returns the phi that defines a value.
    pub(super) fn get(&self, value: Value) -> Option<([Operand; 2], Phi)> {
        self.0.get(&value).copied()
    }
}

/// The instruction that defines each value; `None` for texels, phis and loop parameters.
#[derive(Clone, Debug)]
pub(super) struct Defs(EntityMap<Value, Option<Inst>>);

impl Defs {
    fn of(function: &Function) -> Self {
        let mut defs = EntityMap::filled(function.values.len(), None);
        function.each(&mut |stmt| {
            if let Stmt::Def(value, inst) = stmt {
                defs[*value] = Some(*inst);
            }
        });
        Self(defs)
    }

    /// Returns the instruction that defines an operand, if there is one.
    pub(super) fn of_operand(&self, operand: Operand) -> Option<&Inst> {
        self.0[operand.value()?].as_ref()
    }
}

/// The number of uses of each value.
#[derive(Clone, Debug)]
pub(super) struct UseCounts(EntityMap<Value, u32>);

impl UseCounts {
    /// Counts the uses in a function, including its outputs.
    fn of(function: &Function) -> Self {
        let mut uses = Self(EntityMap::filled(function.values.len(), 0));
        uses.collect(&function.body);
        function.outputs().for_each(|operand| uses.add(operand));
        uses
    }

    /// Counts the uses in a loop: in its body, and as next values of its parameters.
    pub(super) fn in_loop(&self, repeat: &Loop) -> Self {
        let mut uses = Self(EntityMap::filled(self.0.len(), 0));
        uses.collect(&repeat.body);
        let next = repeat.params.iter().map(|param| param.next);
        next.chain(repeat.continue_mask).for_each(|operand| uses.add(operand));
        uses
    }

    /// Adds a use.
    pub(super) fn add(&mut self, operand: Operand) {
        if let Some(value) = operand.value() {
            self.0[value] += 1;
        }
    }

    /// Returns the number of uses of a value.
    pub(super) fn of_value(&self, value: Value) -> u32 {
        self.0[value]
    }

    fn collect(&mut self, list: &[Stmt]) {
        let each = &mut |stmt: &Stmt| stmt.operands(&mut |operand| self.add(operand));
        list.iter().for_each(|stmt| stmt.each(each));
    }
}
