//! Coalescing constraints: sets of values that must share a temporary, and dependences between values that share a
//! channel.
//!
//! The colour lanes of an operand read one register; an instruction writes one register of colours; a fetch reads and
//! writes one each. Values that are live after the segment belong to the set of their temporary.

use std::collections::BTreeMap;

use r500_isa::TEMPORARIES;

use super::encode::{Register, RegisterAssignment};
use super::ir::{Arg, Atom, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// Disjoint sets of values.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    /// Union-find parents by node. Nodes are values, then temporaries, then values that left their sets.
    parent: Vec<usize>,
    /// Node by value.
    node: Vec<usize>,
    /// The temporary of a set, by root.
    temp: Vec<Option<u8>>,
    /// Number of values in each set, by root.
    sizes: Vec<usize>,
    /// Operations that read each value, dead ones included.
    readers: Vec<Vec<OpId>>,
    /// Whether the lane of each value is fixed: a presubtract result reads it, or a texture instruction that not all pixels of a quad may
    /// execute.
    pub(crate) fixed: Vec<bool>,
    /// Whether a texture instruction reads each value, which so stays in the register of its set.
    pub(crate) in_fetch: Vec<bool>,
}

impl Sets {
    /// Builds the sets; `None` if a value would have to be in two temporaries.
    pub(crate) fn of(ir: &SegmentIr) -> Option<Self> {
        let count = ir.values.len();
        let mut sets = Self {
            parent: (0..count + TEMPORARIES).collect(),
            temp: vec![None; count + TEMPORARIES],
            sizes: vec![0; count + TEMPORARIES],
            node: (0..count).collect(),
            readers: vec![Vec::new(); count],
            fixed: vec![false; count],
            in_fetch: vec![false; count],
        };
        for temp in 0..TEMPORARIES {
            sets.temp[count + temp] = u8::try_from(temp).ok();
        }
        for at in (0..ir.ops.len()).filter(|&at| !ir.ops[at].dead) {
            sets.note_readers(ir, at);
        }
        for op in ir.ops.iter().filter(|op| !op.dead) {
            sets.join_operands(ir, op)?;
            sets.join_results(ir, op)?;
        }
        for value in 0..count {
            let set = sets.set_of(value);
            sets.sizes[set] += 1;
        }
        Some(sets)
    }

    /// Registers an operation as a reader of its operands.
    pub(crate) fn note_readers(&mut self, ir: &SegmentIr, at: OpId) {
        for atom in ir.ops[at].atoms() {
            if let Atom::Value(value) = atom
                && self.readers[value].last() != Some(&at)
            {
                self.readers[value].push(at);
            }
        }
    }

    /// Returns the operands that read a value.
    pub(crate) fn operands_of<'a>(
        &'a self,
        ir: &'a SegmentIr,
        value: ValId,
    ) -> impl Iterator<Item = &'a Arg> + 'a {
        let ops = self.readers[value].iter().map(|&at| &ir.ops[at]);
        ops.filter(|op| !op.dead).flat_map(|op| &op.args)
    }

    fn join_operands(&mut self, ir: &SegmentIr, op: &Op) -> Option<()> {
        for arg in &op.args {
            if op.is_texture() {
                let members: Vec<usize> = arg
                    .lanes
                    .iter()
                    .flatten()
                    .filter_map(|read| self.member(ir, read, 0))
                    .collect();
                for &member in &members {
                    if member < ir.values.len() {
                        self.in_fetch[member] = true;
                        self.fixed[member] |= ir.divergent;
                        if ir.divergent {
                            self.pin(ir, member)?;
                        }
                    }
                }
                self.join(&members)?;
                continue;
            }
            for side in 0..2 {
                let mut classes = [Vec::new(), Vec::new()];
                for read in arg.lanes.iter().flatten() {
                    if let Read::Presub(_, a, b) = *read {
                        for atom in [a, b] {
                            if let Atom::Value(value) = atom {
                                self.fixed[value] = true;
                            }
                        }
                    }
                    if let Some(member) = self.member(ir, read, side) {
                        let alpha = usize::from(channel(ir, read, side) == Some(3));
                        classes[alpha].push(member);
                    }
                }
                for class in &classes {
                    self.join(class)?;
                }
            }
        }
        Some(())
    }

    fn join_results(&mut self, ir: &SegmentIr, op: &Op) -> Option<()> {
        let lanes = if op.is_texture() { 4 } else { 3 };
        let stored: Vec<usize> = (0..lanes)
            .filter_map(|lane| op.results[lane])
            .filter(|&value| self.stored(ir, value))
            .collect();
        self.join(&stored)?;
        for value in op.results.iter().flatten().copied() {
            if ir.values[value].sinks.live_out {
                self.pin(ir, value)?;
            }
        }
        Some(())
    }

    fn pin(&mut self, ir: &SegmentIr, value: ValId) -> Option<()> {
        let home = ir.values[value].home?;
        self.join(&[value, ir.values.len() + usize::from(home)])
    }

    fn member(&self, ir: &SegmentIr, read: &Read, side: usize) -> Option<usize> {
        match atom(read, side)? {
            Atom::Entry(temp, _) => Some(ir.values.len() + usize::from(temp)),
            Atom::Value(value) => Some(value),
            _ => None,
        }
    }

    fn join(&mut self, members: &[usize]) -> Option<()> {
        for pair in members.windows(2) {
            let (a, b) = (self.root(pair[0]), self.root(pair[1]));
            if a == b {
                continue;
            }
            let temp = match (self.temp[a], self.temp[b]) {
                (Some(x), Some(y)) if x != y => return None,
                (x, y) => x.or(y),
            };
            self.parent[b] = a;
            self.temp[a] = temp;
        }
        Some(())
    }

    /// Returns the set of a value.
    pub(crate) fn set_of(&self, value: ValId) -> usize {
        self.root(self.node[value])
    }

    fn root(&self, mut member: usize) -> usize {
        while self.parent[member] != member {
            member = self.parent[member];
        }
        member
    }

    /// Returns the temporary of a value's set, if it is assigned.
    pub(crate) fn temp(&self, value: ValId) -> Option<u8> {
        self.temp[self.set_of(value)]
    }

    /// Returns whether a value needs a register.
    pub(crate) fn stored(&self, ir: &SegmentIr, value: ValId) -> bool {
        !self.readers[value].is_empty() || ir.values[value].sinks.live_out
    }

    /// Returns whether a value is the only one of its set, without an assigned temporary, so that any channel is
    /// possible.
    pub(crate) fn is_alone(&self, value: ValId) -> bool {
        let set = self.set_of(value);
        self.sizes[set] == 1 && self.temp[set].is_none()
    }

    /// Returns the register of a value: the assigned temporary, or the set.
    pub(crate) fn place_of(&self, ir: &SegmentIr, value: ValId) -> Register {
        self.place(ir, value).0
    }

    /// Moves a value to a set of its own. Returns its previous node, for [`Self::rollback`].
    pub(crate) fn unjoin(&mut self, value: ValId) -> usize {
        let new = self.parent.len();
        let before = self.node[value];
        let old = self.set_of(value);
        self.sizes[old] -= 1;
        self.parent.push(new);
        self.temp.push(None);
        self.sizes.push(1);
        self.node[value] = new;
        before
    }

    /// Undoes the last [`Self::unjoin`].
    pub(crate) fn rollback(&mut self, value: ValId, before: usize) {
        debug_assert_eq!(self.node[value] + 1, self.parent.len());
        self.parent.pop();
        self.temp.pop();
        self.sizes.pop();
        self.node[value] = before;
        let set = self.set_of(value);
        self.sizes[set] += 1;
    }

    /// Moves a value to the set of another. Returns its previous node, for [`Self::leave`].
    pub(crate) fn enter(&mut self, value: ValId, other: ValId) -> usize {
        let before = self.node[value];
        let (old, new) = (self.set_of(value), self.set_of(other));
        self.sizes[old] -= 1;
        self.sizes[new] += 1;
        self.node[value] = new;
        before
    }

    /// Undoes [`Self::enter`].
    pub(crate) fn leave(&mut self, value: ValId, before: usize) {
        let (old, new) = (self.set_of(value), self.root(before));
        self.sizes[old] -= 1;
        self.sizes[new] += 1;
        self.node[value] = before;
    }

    /// Returns the lanes that are occupied in the register of a value: by members of its set, and by channels of its
    /// temporary whose entry value is read or that are live after the segment.
    pub(crate) fn lanes_taken(&self, ir: &SegmentIr, value: ValId) -> u8 {
        let set = self.set_of(value);
        let mut taken = 0;
        for (other, data) in ir.values.iter().enumerate() {
            if self.set_of(other) == set && !ir.ops[data.op].dead && self.stored(ir, other) {
                taken |= 1 << data.lane;
            }
        }
        if let Some(temp) = self.temp[set] {
            taken |= ir.live_out.temp(temp);
            for atom in ir.ops.iter().filter(|op| !op.dead).flat_map(Op::atoms) {
                if let Atom::Entry(of, channel) = atom
                    && of == temp
                {
                    taken |= 1 << channel;
                }
            }
        }
        taken
    }
}

impl RegisterAssignment for Sets {
    fn place(&self, ir: &SegmentIr, value: ValId) -> (Register, u8) {
        let lane = ir.values[value].lane;
        let set = self.set_of(value);
        (self.temp[set].map_or(Register::Set(set), Register::Temp), lane)
    }
}

/// Returns an atom of a read: the first (`side` 0) or second operand of a presubtract result, or the scalar itself as
/// the first.
fn atom(read: &Read, side: usize) -> Option<Atom> {
    match (*read, side) {
        (Read::Atom(atom), 0) | (Read::Presub(_, atom, _), 0) | (Read::Presub(_, _, atom), 1) => {
            Some(atom)
        }
        _ => None,
    }
}

fn channel(ir: &SegmentIr, read: &Read, side: usize) -> Option<u8> {
    match atom(read, side)? {
        Atom::Entry(_, channel) | Atom::Constant(_, channel) => Some(channel),
        Atom::Value(value) => Some(ir.values[value].lane),
        _ => None,
    }
}

/// Returns whether a value may be in the alpha channel: no operand that reads it reads another alpha value.
pub(crate) fn may_be_alpha(ir: &SegmentIr, sets: &Sets, value: ValId) -> bool {
    let other_alpha = |arg: &Arg| {
        let reads = || arg.lanes.iter().flatten();
        let reads_it = reads().any(|read| atom(read, 0) == Some(Atom::Value(value)));
        reads_it
            && reads().any(|read| {
                atom(read, 0) != Some(Atom::Value(value)) && channel(ir, read, 0) == Some(3)
            })
    };
    !sets.operands_of(ir, value).any(other_alpha)
}

/// An edge of the dependence graph: the other operation, and the least distance in instructions.
pub(crate) type Edge = (OpId, usize);

/// Builds the dependence graph: the predecessors of each operation. `None` if the sets make it cyclic.
pub(crate) fn dependences(ir: &SegmentIr, sets: &Sets) -> Option<Vec<Vec<Edge>>> {
    let mut before: Vec<Vec<Edge>> = vec![Vec::new(); ir.ops.len()];
    let mut readers: BTreeMap<ValId, Vec<OpId>> = BTreeMap::new();
    let mut entry_readers: BTreeMap<(u8, u8), Vec<OpId>> = BTreeMap::new();
    for (at, op) in ir.ops.iter().enumerate().filter(|(_, op)| !op.dead) {
        for atom in op.atoms() {
            match atom {
                Atom::Value(value) => {
                    before[at].push((ir.values[value].op, 1));
                    readers.entry(value).or_default().push(at);
                }
                Atom::Entry(temp, channel) => {
                    entry_readers.entry((temp, channel)).or_default().push(at);
                }
                _ => {}
            }
        }
    }
    if ir.ends_with_output {
        outputs_after_kills(ir, &mut before);
    }
    // Values that share a channel, in program order.
    let mut chains: BTreeMap<(usize, u8), Vec<ValId>> = BTreeMap::new();
    for (value, data) in ir.values.iter().enumerate() {
        if !ir.ops[data.op].dead && sets.stored(ir, value) && is_result(ir, value) {
            chains.entry((sets.set_of(value), data.lane)).or_default().push(value);
        }
    }
    for ((root, lane), chain) in &chains {
        if let (Some(temp), Some(&first)) = (sets.temp[*root], chain.first()) {
            let entry = entry_readers.get(&(temp, *lane)).map_or(&[][..], Vec::as_slice);
            let def = ir.values[first].op;
            before[def].extend(entry.iter().filter(|&&reader| reader != def).map(|&r| (r, 0)));
        }
        for pair in chain.windows(2) {
            let (a, b) = (ir.values[pair[0]].op, ir.values[pair[1]].op);
            if ir.values[pair[0]].sinks.live_out || a == b {
                return None;
            }
            before[b].push((a, 1));
            let uses = readers.get(&pair[0]).map_or(&[][..], Vec::as_slice);
            before[b].extend(uses.iter().filter(|&&reader| reader != b).map(|&r| (r, 0)));
        }
    }
    Some(before)
}

/// Makes each output wait for the kills before it: nothing else may follow the last output of a program.
fn outputs_after_kills(ir: &SegmentIr, before: &mut [Vec<Edge>]) {
    let is_output =
        |op: &Op| op.results.iter().flatten().any(|&value| ir.values[value].sinks.is_output());
    let mut kills: Vec<Edge> = Vec::new();
    for (at, op) in ir.ops.iter().enumerate().filter(|(_, op)| !op.dead) {
        if op.is_kill() {
            kills.push((at, 1));
        } else if is_output(op) {
            before[at].extend(&kills);
        }
    }
}

pub(crate) fn is_result(ir: &SegmentIr, value: ValId) -> bool {
    ir.ops[ir.values[value].op].results.contains(&Some(value))
}

/// Moves the only result of an operation to another lane.
pub(crate) fn assign_lane(ir: &mut SegmentIr, value: ValId, to: u8) {
    let from = usize::from(ir.values[value].lane);
    let to_lane = usize::from(to);
    if from == to_lane {
        return;
    }
    let op = &mut ir.ops[ir.values[value].op];
    op.results[to_lane] = op.results[from].take();
    if matches!(op.kind, OpKind::Lanes(_)) {
        for arg in &mut op.args {
            arg.lanes[to_lane] = arg.lanes[from].take();
        }
    }
    // The output modifier and clamp move to the half that now computes the value.
    op.finish[usize::from(to == 3)] = op.finish[usize::from(from == 3)];
    ir.values[value].lane = to;
}
