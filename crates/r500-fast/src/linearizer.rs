//! Linearisation: translates the region tree of a function to a list of ops with jumps.
//!
//! Phis and loop parameters become moves: before a branch and at the end of its arms, before a loop and at the end of its body. Each run of
//! statements that a compiler supports becomes one op, a compile unit.

use super::codegen::ColorStore;
use super::dispatch::Kernel;
use super::unit_builder::{UnitBuilder, UnitContext};
use r500_ir::{EntityMap, Function, If, Inst, Loop, Opcode, Operand, Stmt, Value, Values};

/// An op on values, before slot allocation. Jumps refer to positions in the list.
#[derive(Debug)]
pub(super) enum VirtualOp<'a> {
    Def(Value, Inst),
    /// Two fused operations, with all operands.
    Fused(Value, Kernel, Vec<Operand>),
    Copy(Value, Operand),
    /// A copy that replaces NaN by the canonical one.
    CanonicalNan(Value, Value),
    /// Value, mask, new value in the lanes of the mask.
    MaskedMove(Value, Operand, Operand),
    Other(&'a Stmt),
    /// Mask, and the jump target if it has no lane.
    PushExec(Operand, u32),
    PopExec,
    /// Counter, maximum number of iterations.
    LoopBegin(u32, u32),
    /// Counter, mask of the continuing lanes, position of the loop's first op.
    LoopBack(u32, Option<Operand>, u32),
    /// A compile unit, by its index.
    Unit(usize),
    Deleted,
}

impl VirtualOp<'_> {
    /// Returns whether it becomes a call of a kernel, or nothing.
    pub(super) fn is_kernel(&self) -> bool {
        matches!(
            self,
            Self::Def(..)
                | Self::Fused(..)
                | Self::Copy(..)
                | Self::CanonicalNan(..)
                | Self::MaskedMove(..)
        )
    }
}

/// The ops of a function, with the positions of all uses and writes.
pub(super) struct Linearizer<'a> {
    pub(super) ops: Vec<VirtualOp<'a>>,
    pub(super) writes: Vec<(u32, Value)>,
    pub(super) uses: Vec<(u32, Operand)>,
    /// First and last position of each loop, inner loops first.
    pub(super) loops: Vec<(u32, u32)>,
    /// The nesting depth of loops.
    depth: u32,
    /// The maximum nesting depth.
    pub(super) counters: u32,
    /// The function's values, then temporaries of parallel moves.
    pub(super) values: Values,
    native: Option<&'a UnitContext<'a>>,
    unit_builders: Vec<UnitBuilder<'a>>,
    /// Units so far, including refused ones.
    units: usize,
}

/// Returns an index in a list of ops as `u32`.
pub(super) fn position(index: usize) -> u32 {
    u32::try_from(index).expect("a function has less than 2^32 ops")
}

impl<'a> Linearizer<'a> {
    /// Linearises a function; with `native`, runs of statements that the compiler supports become units.
    pub(super) fn new(function: &'a Function, native: Option<&'a UnitContext<'a>>) -> Self {
        let mut linearizer = Self {
            ops: Vec::new(),
            writes: Vec::new(),
            uses: Vec::new(),
            loops: Vec::new(),
            depth: 0,
            counters: 0,
            values: function.values.clone(),
            native,
            unit_builders: Vec::new(),
            units: 0,
        };
        linearizer.list(&function.body);
        linearizer
    }

    /// Returns the position of the next op.
    pub(super) fn at(&self) -> u32 {
        position(self.ops.len())
    }

    fn list(&mut self, stmts: &'a [Stmt]) {
        let Some(native) = self.native else { return self.split_statements(stmts) };
        let mut rest = stmts;
        while let Some(first) = rest.first() {
            let takes = native.supports(first);
            let alike = rest.iter().take_while(|stmt| native.supports(stmt) == takes).count();
            let (run, after) = rest.split_at(alike);
            rest = after;
            let number = self.units;
            self.units += usize::from(takes);
            let unit = (takes && !native.refused.contains(&number)).then(|| UnitBuilder::new(run));
            match unit.filter(|unit| unit.operations > 0) {
                Some(unit) => self.push_unit(UnitBuilder { number, ..unit }),
                None => self.split_statements(run),
            }
        }
    }

    /// Appends the op of a compile unit.
    fn push_unit(&mut self, unit: UnitBuilder<'a>) {
        let at = self.at();
        self.uses.extend(unit.reads.iter().map(|value| (at, Operand::Value(*value))));
        self.ops.push(VirtualOp::Unit(self.unit_builders.len()));
        self.unit_builders.push(unit);
    }

    /// Adds the colour stores to the last unit, or to a new one; `discards`: whether lanes are discarded. Returns false without a compiler, and for
    /// functions with results, which have no colours.
    pub(super) fn store_colors(&mut self, function: &Function, discards: bool) -> bool {
        let Some(native) = self.native else { return false };
        if !function.results.is_empty() {
            return false;
        }
        if !matches!(self.ops.last(), Some(VirtualOp::Unit(_))) {
            let number = self.units;
            self.units += 1;
            if native.refused.contains(&number) {
                return false;
            }
            self.push_unit(UnitBuilder { number, ..UnitBuilder::default() });
        }
        let at = self.at() - 1;
        let colors = function.colors.iter().zip(function.non_nan);
        for (target, (channels, numbers)) in (0..).zip(colors) {
            let Some(channels) = channels else { continue };
            // A program may write more targets than there are surfaces.
            let encodings = native.resources.encodings;
            let encoding = encodings.map(|encodings| encodings[usize::from(target)]);
            if encoding == Some(None) {
                continue;
            }
            self.uses.extend(channels.map(|channel| (at, channel)));
            if let Some(unit) = self.unit_builders.last_mut() {
                unit.add_uses(channels.iter().copied());
                unit.colors.push(ColorStore {
                    target,
                    channels: *channels,
                    non_nan: numbers,
                    covered: discards,
                    encoding: encoding.flatten(),
                });
            }
        }
        true
    }

    /// Returns the colours with canonical NaN: channels that may be NaN are copied.
    pub(super) fn canonical_colors(&mut self, function: &Function) -> [Option<[Operand; 4]>; 4] {
        let mut colors = function.colors;
        for (channels, numbers) in colors.iter_mut().zip(function.non_nan) {
            for (channel, number) in channels.iter_mut().flatten().zip(numbers) {
                *channel = match *channel {
                    Operand::Const(bits) => {
                        Operand::float(r500_numerics::canonical_nan(f32::from_bits(bits)))
                    }
                    Operand::Value(value) if !number => {
                        let copy = self.values.push(self.values[value]);
                        self.uses.push((self.at(), *channel));
                        self.writes.push((self.at(), copy));
                        self.ops.push(VirtualOp::CanonicalNan(copy, value));
                        Operand::Value(copy)
                    }
                    number => number,
                };
            }
        }
        colors
    }

    /// Determines the outputs of units: values that an op after a unit uses. All uses must be known.
    pub(super) fn note_unit_outputs(&mut self) {
        let mut unit_of: EntityMap<Value, Option<usize>> =
            EntityMap::filled(self.values.len(), None);
        for (number, unit) in self.unit_builders.iter().enumerate() {
            unit.defs.iter().for_each(|value| unit_of[*value] = Some(number));
        }
        for (at, operand) in &self.uses {
            let Some(value) = operand.value() else { continue };
            let Some(number) = unit_of[value] else { continue };
            // A use by the unit's own moves and colours needs no slot.
            let op = self.ops.get(*at as usize);
            if !matches!(op, Some(VirtualOp::Unit(user)) if *user == number) {
                self.unit_builders[number].writes.push(value);
            }
        }
        for (at, op) in self.ops.iter().enumerate() {
            let VirtualOp::Unit(unit) = op else { continue };
            let unit = &mut self.unit_builders[*unit];
            unit.writes.sort_unstable();
            unit.writes.dedup();
            self.writes.extend(unit.writes.iter().map(|value| (position(at), *value)));
        }
    }

    /// Returns a unit and the context of its compilation.
    pub(super) fn unit(&self, number: usize) -> Option<(&UnitBuilder<'a>, &'a UnitContext<'a>)> {
        Some((self.unit_builders.get(number)?, self.native?))
    }

    fn split_statements(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Def(value, inst) => {
                    inst.args().iter().for_each(|arg| self.uses.push((self.at(), *arg)));
                    self.writes.push((self.at(), *value));
                    self.ops.push(VirtualOp::Def(*value, *inst));
                }
                Stmt::If(branch) => self.branch(branch),
                Stmt::Loop(repeat) => self.repeat(repeat),
                stmt => {
                    let at = self.at();
                    stmt.operands(&mut |operand| self.uses.push((at, operand)));
                    stmt.defs(&mut |value| self.writes.push((at, value)));
                    self.ops.push(VirtualOp::Other(stmt));
                }
            }
        }
    }

    /// Appends a move to the last unit, or to a new one. Returns false without a compiler.
    fn push_phi_move(&mut self, value: Value, mask: Option<Operand>, from: Operand) -> bool {
        // A refused unit becomes ops; units that consist of moves would then change the numbers of others.
        if self.native.is_none_or(|native| !native.refused.is_empty()) {
            return false;
        }
        if !matches!(self.ops.last(), Some(VirtualOp::Unit(_))) {
            let number = self.units;
            self.units += 1;
            self.push_unit(UnitBuilder { number, ..UnitBuilder::default() });
        }
        let Some(unit) = self.unit_builders.last_mut() else { return false };
        let old = mask.map(|_| Operand::Value(value));
        let uses = [mask, Some(from), old].into_iter().flatten();
        unit.push_phi_move((value, mask, from), uses.clone());
        let at = self.at() - 1;
        self.uses.extend(uses.map(|operand| (at, operand)));
        self.writes.push((at, value));
        true
    }

    fn copy(&mut self, value: Value, from: Operand) {
        if self.push_phi_move(value, None, from) {
            return;
        }
        self.uses.push((self.at(), from));
        self.writes.push((self.at(), value));
        self.ops.push(VirtualOp::Copy(value, from));
    }

    fn masked_move(&mut self, value: Value, mask: Operand, from: Operand) {
        if self.push_phi_move(value, Some(mask), from) {
            return;
        }
        for operand in [mask, from, Operand::Value(value)] {
            self.uses.push((self.at(), operand));
        }
        self.writes.push((self.at(), value));
        self.ops.push(VirtualOp::MaskedMove(value, mask, from));
    }

    fn branch(&mut self, branch: &'a If) {
        for phi in &branch.phis {
            if let Some(incoming) = phi.incoming {
                self.copy(phi.value, incoming);
            }
        }
        let mut begun: Vec<bool> = branch.phis.iter().map(|phi| phi.incoming.is_some()).collect();
        for (arm, (mask, stmts)) in branch.masks.iter().zip(&branch.arms).enumerate() {
            let skip = (!stmts.is_empty()).then(|| {
                self.uses.push((self.at(), *mask));
                self.ops.push(VirtualOp::PushExec(*mask, 0));
                self.ops.len() - 1
            });
            self.list(stmts);
            for (phi, begun) in branch.phis.iter().zip(&mut begun) {
                let Some(from) = phi.arms[arm] else { continue };
                if std::mem::replace(begun, true) {
                    self.masked_move(phi.value, *mask, from);
                } else {
                    self.copy(phi.value, from);
                }
            }
            let Some(skip) = skip else { continue };
            self.ops.push(VirtualOp::PopExec);
            let to = self.at();
            if let Some(VirtualOp::PushExec(_, target)) = self.ops.get_mut(skip) {
                *target = to;
            }
        }
    }

    fn repeat(&mut self, repeat: &'a Loop) {
        for param in &repeat.params {
            self.copy(param.value, param.init);
        }
        let counter = self.depth;
        self.depth += 1;
        self.counters = self.counters.max(self.depth);
        self.ops.push(VirtualOp::LoopBegin(counter, repeat.max_trips));
        let first = self.at();
        self.list(&repeat.body);
        self.loop_back_moves(repeat, first);
        if let Some(mask) = repeat.continue_mask {
            self.uses.push((self.at(), mask));
        }
        self.ops.push(VirtualOp::LoopBack(counter, repeat.continue_mask, first));
        self.loops.push((first, self.at()));
        self.depth -= 1;
    }

    /// Emits the parallel moves of a back edge: loop parameters take their next values. A parameter that is another's next value is saved
    /// first.
    fn loop_back_moves(&mut self, repeat: &'a Loop, first: u32) {
        let is_param =
            |operand: Operand| repeat.params.iter().any(|c| Operand::Value(c.value) == operand);
        let mut moves = Vec::new();
        for param in &repeat.params {
            let (value, next) = (param.value, param.next);
            if next == Operand::Value(value) {
                continue;
            }
            if is_param(next) {
                let data = self.values[param.value];
                let saved = self.values.push(data);
                self.copy(saved, next);
                moves.push((value, None, Operand::Value(saved)));
                continue;
            }
            // `mask ? new : old` of the parameter itself is a masked move.
            let wanted =
                repeat.continue_mask.into_iter().chain(repeat.params.iter().map(|c| c.next));
            let moved = moves.iter().flat_map(|(_, mask, from)| [*mask, Some(*from)]);
            let alone = wanted.filter(|operand| *operand == next).count() == 1
                && !moved.flatten().any(|operand| operand == next);
            match self.selection(next, value, first).filter(|_| alone) {
                Some((mask, from)) if !is_param(mask) && !is_param(from) => {
                    self.delete_def(next);
                    moves.push((value, Some(mask), from));
                }
                _ => moves.push((value, None, next)),
            }
        }
        for (value, mask, from) in moves {
            match mask {
                Some(mask) => self.masked_move(value, mask, from),
                None => self.copy(value, from),
            }
        }
        // Parameters are live to the end of the iteration.
        for param in &repeat.params {
            self.uses.push((self.at(), Operand::Value(param.value)));
        }
    }

    /// Returns mask and new value if `next` is `mask ? value : old`, defined at or after position `first` and not used.
    fn selection(&self, next: Operand, old: Value, first: u32) -> Option<(Operand, Operand)> {
        let def = self.ops[first as usize..].iter().find_map(|op| match op {
            VirtualOp::Def(value, inst) if Operand::Value(*value) == next => Some(*inst),
            _ => None,
        })?;
        let [mask, from, kept] = def.args;
        let selects = def.opcode == Opcode::Select && kept == Operand::Value(old);
        (selects && !self.uses.iter().any(|(_, operand)| *operand == next)).then_some((mask, from))
    }

    /// Deletes the op that defines a value.
    fn delete_def(&mut self, value: Operand) {
        let def = self
            .ops
            .iter()
            .position(|op| matches!(op, VirtualOp::Def(def, _) if Operand::Value(*def) == value));
        let Some(at) = def else { return };
        self.ops[at] = VirtualOp::Deleted;
        let at = position(at);
        self.uses.retain(|(op, _)| *op != at);
        self.writes.retain(|(op, _)| *op != at);
    }
}
