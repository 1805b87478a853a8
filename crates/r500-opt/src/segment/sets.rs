//! Coalescing: sets of values that must share a temporary, and the order of those that share a channel.
//!
//! An operand reads colours of one register; an instruction writes colours to one; a fetch reads and writes one.
//! Values that outlive the segment are in the set of their temporary.

use std::collections::BTreeMap;

use r500_isa::TEMPORARIES;

use super::encode::{Places, Register};
use super::form::{Arg, Atom, Form, Kind, Op, OpId, Read, ValId};

/// The sets, and which values have left theirs.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    /// Set by node: of values, of temporaries, then of values that left their sets.
    parent: Vec<usize>,
    /// Node by value.
    node: Vec<usize>,
    /// The temporary of a set, by root.
    temp: Vec<Option<u8>>,
    /// Members by root: values of the set.
    sizes: Vec<usize>,
    /// Operations that read a value; some may have died since.
    readers: Vec<Vec<OpId>>,
    /// Values that a presubtract result or a texture instruction reads: their lanes stay.
    pub(crate) fixed: Vec<bool>,
}

impl Sets {
    /// Computes the sets; `None` if some value would have to be in two temporaries.
    pub(crate) fn of(form: &Form) -> Option<Self> {
        let count = form.values.len();
        let mut sets = Self {
            parent: (0..count + TEMPORARIES).collect(),
            temp: vec![None; count + TEMPORARIES],
            sizes: vec![0; count + TEMPORARIES],
            node: (0..count).collect(),
            readers: vec![Vec::new(); count],
            fixed: vec![false; count],
        };
        for temp in 0..TEMPORARIES {
            sets.temp[count + temp] = u8::try_from(temp).ok();
        }
        for at in (0..form.ops.len()).filter(|&at| !form.ops[at].dead) {
            sets.note_readers(form, at);
        }
        for op in form.ops.iter().filter(|op| !op.dead) {
            sets.join_operands(form, op)?;
            sets.join_results(form, op)?;
        }
        for value in 0..count {
            let set = sets.set_of(value);
            sets.sizes[set] += 1;
        }
        Some(sets)
    }

    /// Notes an operation as a reader of its operands.
    pub(crate) fn note_readers(&mut self, form: &Form, at: OpId) {
        for atom in form.ops[at].atoms() {
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
        form: &'a Form,
        value: ValId,
    ) -> impl Iterator<Item = &'a Arg> + 'a {
        let ops = self.readers[value].iter().map(|&at| &form.ops[at]);
        ops.filter(|op| !op.dead).flat_map(|op| &op.args)
    }

    fn join_operands(&mut self, form: &Form, op: &Op) -> Option<()> {
        for arg in &op.args {
            if op.is_texture() {
                let members: Vec<usize> = arg
                    .lanes
                    .iter()
                    .flatten()
                    .filter_map(|read| self.member(form, read, 0))
                    .collect();
                for &member in &members {
                    if member < form.values.len() {
                        self.fixed[member] = true;
                        if form.divergent {
                            self.pin(form, member)?;
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
                    if let Some(member) = self.member(form, read, side) {
                        let alpha = usize::from(channel(form, read, side) == Some(3));
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

    fn join_results(&mut self, form: &Form, op: &Op) -> Option<()> {
        let lanes = if op.is_texture() { 4 } else { 3 };
        let stored: Vec<usize> = (0..lanes)
            .filter_map(|lane| op.results[lane])
            .filter(|&value| self.stored(form, value))
            .collect();
        self.join(&stored)?;
        for value in op.results.iter().flatten().copied() {
            if form.values[value].sinks.live_out {
                self.pin(form, value)?;
            }
        }
        Some(())
    }

    fn pin(&mut self, form: &Form, value: ValId) -> Option<()> {
        let home = form.values[value].home?;
        self.join(&[value, form.values.len() + usize::from(home)])
    }

    fn member(&self, form: &Form, read: &Read, side: usize) -> Option<usize> {
        match atom(read, side)? {
            Atom::Entry(temp, _) => Some(form.values.len() + usize::from(temp)),
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

    /// Returns the temporary of the set of a value, if it is decided.
    pub(crate) fn temp(&self, value: ValId) -> Option<u8> {
        self.temp[self.set_of(value)]
    }

    /// Returns whether a value needs a register.
    pub(crate) fn stored(&self, form: &Form, value: ValId) -> bool {
        !self.readers[value].is_empty() || form.values[value].sinks.live_out
    }

    /// Returns whether a value shares its register with no other, so that any channel will do.
    pub(crate) fn is_alone(&self, value: ValId) -> bool {
        let set = self.set_of(value);
        self.sizes[set] == 1 && self.temp[set].is_none()
    }

    /// Returns the register of a value, as far as it is known.
    pub(crate) fn place_of(&self, form: &Form, value: ValId) -> Register {
        self.place(form, value).0
    }

    /// Takes a value out of its set. Returns where it was.
    pub(crate) fn leave(&mut self, value: ValId) -> usize {
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

    /// Puts a value back that was the last to leave its set.
    pub(crate) fn go_back(&mut self, value: ValId, before: usize) {
        debug_assert_eq!(self.node[value] + 1, self.parent.len());
        self.parent.pop();
        self.temp.pop();
        self.sizes.pop();
        self.node[value] = before;
        let set = self.set_of(value);
        self.sizes[set] += 1;
    }

    /// Puts a value into the set of another.
    pub(crate) fn enter(&mut self, value: ValId, other: ValId) {
        let (old, new) = (self.set_of(value), self.set_of(other));
        self.sizes[old] -= 1;
        self.sizes[new] += 1;
        self.node[value] = new;
    }

    /// Returns the lanes that members of the set of a value take, and channels of its temporary that are read
    /// from before or live beyond the segment.
    pub(crate) fn lanes_taken(&self, form: &Form, value: ValId) -> u8 {
        let set = self.set_of(value);
        let mut taken = 0;
        for (other, data) in form.values.iter().enumerate() {
            if self.set_of(other) == set && !form.ops[data.op].dead && self.stored(form, other) {
                taken |= 1 << data.lane;
            }
        }
        if let Some(temp) = self.temp[set] {
            taken |= form.live_out.temp(temp);
            for atom in form.ops.iter().filter(|op| !op.dead).flat_map(Op::atoms) {
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

impl Places for Sets {
    fn place(&self, form: &Form, value: ValId) -> (Register, u8) {
        let lane = form.values[value].lane;
        let set = self.set_of(value);
        (self.temp[set].map_or(Register::Set(set), Register::Temp), lane)
    }
}

/// The scalar of one side of a presubtract result, or the scalar itself on side 0.
fn atom(read: &Read, side: usize) -> Option<Atom> {
    match (*read, side) {
        (Read::Atom(atom), 0) | (Read::Presub(_, atom, _), 0) | (Read::Presub(_, _, atom), 1) => {
            Some(atom)
        }
        _ => None,
    }
}

fn channel(form: &Form, read: &Read, side: usize) -> Option<u8> {
    match atom(read, side)? {
        Atom::Entry(_, channel) | Atom::Constant(_, channel) => Some(channel),
        Atom::Value(value) => Some(form.values[value].lane),
        _ => None,
    }
}

/// Returns whether a value may be in the alpha channel: each operand that reads it reads no other alpha.
pub(crate) fn may_be_alpha(form: &Form, sets: &Sets, value: ValId) -> bool {
    let other_alpha = |arg: &Arg| {
        let reads = || arg.lanes.iter().flatten();
        let reads_it = reads().any(|read| atom(read, 0) == Some(Atom::Value(value)));
        reads_it
            && reads().any(|read| {
                atom(read, 0) != Some(Atom::Value(value)) && channel(form, read, 0) == Some(3)
            })
    };
    !sets.operands_of(form, value).any(other_alpha)
}

/// An edge of the dependence graph: the other operation, and how many instructions later at least.
pub(crate) type Edge = (OpId, usize);

/// Dependences: for each operation what must come before it; `None` if there is a cycle of sharing.
pub(crate) fn dependences(form: &Form, sets: &Sets) -> Option<Vec<Vec<Edge>>> {
    let mut before: Vec<Vec<Edge>> = vec![Vec::new(); form.ops.len()];
    let mut readers: BTreeMap<ValId, Vec<OpId>> = BTreeMap::new();
    let mut entry_readers: BTreeMap<(u8, u8), Vec<OpId>> = BTreeMap::new();
    for (at, op) in form.ops.iter().enumerate().filter(|(_, op)| !op.dead) {
        for atom in op.atoms() {
            match atom {
                Atom::Value(value) => {
                    before[at].push((form.values[value].op, 1));
                    readers.entry(value).or_default().push(at);
                }
                Atom::Entry(temp, channel) => {
                    entry_readers.entry((temp, channel)).or_default().push(at);
                }
                _ => {}
            }
        }
    }
    // Values in the order of the original program, by the channel that they share.
    let mut chains: BTreeMap<(usize, u8), Vec<ValId>> = BTreeMap::new();
    for (value, data) in form.values.iter().enumerate() {
        if !form.ops[data.op].dead && sets.stored(form, value) && is_result(form, value) {
            chains.entry((sets.set_of(value), data.lane)).or_default().push(value);
        }
    }
    for ((root, lane), chain) in &chains {
        if let (Some(temp), Some(&first)) = (sets.temp[*root], chain.first()) {
            let entry = entry_readers.get(&(temp, *lane)).map_or(&[][..], Vec::as_slice);
            let def = form.values[first].op;
            before[def].extend(entry.iter().filter(|&&reader| reader != def).map(|&r| (r, 0)));
        }
        for pair in chain.windows(2) {
            let (a, b) = (form.values[pair[0]].op, form.values[pair[1]].op);
            if form.values[pair[0]].sinks.live_out || a == b {
                return None;
            }
            before[b].push((a, 1));
            let uses = readers.get(&pair[0]).map_or(&[][..], Vec::as_slice);
            before[b].extend(uses.iter().filter(|&&reader| reader != b).map(|&r| (r, 0)));
        }
    }
    Some(before)
}

pub(crate) fn is_result(form: &Form, value: ValId) -> bool {
    form.ops[form.values[value].op].results.contains(&Some(value))
}

/// Moves the only result of an operation to another lane.
pub(crate) fn relane(form: &mut Form, value: ValId, to: u8) {
    let from = usize::from(form.values[value].lane);
    let to_lane = usize::from(to);
    if from == to_lane {
        return;
    }
    let op = &mut form.ops[form.values[value].op];
    op.results[to_lane] = op.results[from].take();
    if matches!(op.kind, Kind::Lanes(_)) {
        for arg in &mut op.args {
            arg.lanes[to_lane] = arg.lanes[from].take();
        }
    }
    // The half that computes it now finishes it the same way.
    op.finish[usize::from(to == 3)] = op.finish[usize::from(from == 3)];
    form.values[value].lane = to;
}
