//! Live ranges: liveness, coalescing of copies, and slot allocation by graph colouring.
//!
//! Two values interfere if one is written while the other is live, unless the write copies the other. An operand that dies at a kernel does
//! not interfere with its result, which may reuse its slot. A copy between values that do not interfere is coalesced: both share a slot,
//! and the copy is dropped. Slots are then assigned greedily in the order of first writes, each the lowest that no interfering value has.
//!
//! **Control flow.** A chunk of pixels enters a region or jumps past it, and leaves a loop or starts another iteration; liveness follows
//! these paths. A value is not live before its first write: in SSA form its earlier contents are not used.

use super::linearizer::{Linearizer, VirtualOp, position};
use super::tile::batch_width;
use r500_ir::{EntityMap, Opcode, Operand, Value};

/// The values that ops write, and their interference graph.
pub(super) struct LiveRanges {
    /// The index of each written value, in the order of first writes.
    numbers: EntityMap<Value, Option<usize>>,
    /// The number of written values.
    count: usize,
    /// The interference graph; each edge is stored for one of its ends.
    interference: BitMatrix,
    /// Copies, as indices of source and destination, most deeply nested ones first.
    copies: Vec<(usize, usize)>,
}

/// A bit set of value indices.
type BitSet = Vec<u64>;

/// A square bit matrix: a set for each value.
#[derive(Clone)]
struct BitMatrix {
    bits: Vec<u64>,
    /// Words per set.
    words: usize,
}

impl BitMatrix {
    fn new(sets: usize) -> Self {
        let words = sets.div_ceil(64);
        Self { bits: vec![0; sets * words], words }
    }

    fn set(&self, number: usize) -> &[u64] {
        &self.bits[number * self.words..][..self.words]
    }

    fn set_mut(&mut self, number: usize) -> &mut [u64] {
        &mut self.bits[number * self.words..][..self.words]
    }
}

fn insert(set: &mut [u64], number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

fn remove(set: &mut [u64], number: usize) {
    set[number / 64] &= !(1 << (number % 64));
}

fn contains(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 != 0
}

fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let mut remaining = bits;
        std::iter::from_fn(move || {
            let bit = (remaining != 0).then(|| remaining.trailing_zeros() as usize)?;
            remaining &= remaining - 1;
            Some(word * 64 + bit)
        })
    })
}

/// Adds the members of another set. Returns whether any are new.
fn unite(set: &mut [u64], other: &[u64]) -> bool {
    let mut new = 0;
    for (set, other) in set.iter_mut().zip(other) {
        new |= other & !*set;
        *set |= other;
    }
    new != 0
}

/// The values that each op reads or writes.
struct ByOp {
    numbers: Vec<usize>,
    /// The start of each op's values, and the end of the last.
    starts: Vec<usize>,
}

impl ByOp {
    fn new(ops: usize, mut list: Vec<(u32, usize)>) -> Self {
        list.sort_by_key(|(at, _)| *at);
        let starts = (0..=ops + 1).map(|op| list.partition_point(|(at, _)| (*at as usize) < op));
        Self {
            starts: starts.collect(),
            numbers: list.into_iter().map(|(_, value)| value).collect(),
        }
    }

    fn of(&self, op: usize) -> &[usize] {
        &self.numbers[self.starts[op]..self.starts[op + 1]]
    }
}

impl LiveRanges {
    /// Computes the interference graph of a list of ops.
    pub(super) fn of(linearizer: &Linearizer<'_>) -> Self {
        let ops = &linearizer.ops;
        let is_input = |at: u32| match ops.get(at as usize) {
            Some(VirtualOp::Def(_, inst)) => matches!(inst.opcode, Opcode::Input { .. }),
            _ => false,
        };
        let mut by_position = linearizer.writes.clone();
        // Inputs are loaded before the ops.
        by_position.sort_by_key(|(at, _)| if is_input(*at) { (0, *at) } else { (1, *at) });
        let mut numbers: EntityMap<Value, Option<usize>> =
            EntityMap::filled(linearizer.values.len(), None);
        let (mut count, mut inputs) = (0, 0);
        let mut writes = Vec::with_capacity(by_position.len());
        let mut first_writes = Vec::with_capacity(by_position.len());
        for (at, value) in by_position {
            let number = *numbers[value].get_or_insert_with(|| {
                count += 1;
                count - 1
            });
            if number == first_writes.len() {
                first_writes.push(at);
                if is_input(at) {
                    inputs += 1;
                    continue;
                }
            }
            writes.push((at, number));
        }
        let reads = linearizer.uses.iter().filter_map(|(at, operand)| {
            let number = numbers[operand.value()?]?;
            Some((*at, number))
        });
        let (reads, writes) = (ByOp::new(ops.len(), reads.collect()), ByOp::new(ops.len(), writes));

        let mut interference = BitMatrix::new(count);
        let words = interference.words;
        // The live values at the start of each loop, by the position of its first op.
        let mut loop_starts: Vec<(usize, BitSet)> =
            linearizer.loops.iter().map(|(first, _)| (*first as usize, vec![0; words])).collect();
        loop {
            let mut changed = false;
            let mut live: BitSet = vec![0; words];
            // The live values after each open region.
            let mut after: Vec<BitSet> = Vec::new();
            for at in (0..=ops.len()).rev() {
                match ops.get(at) {
                    Some(VirtualOp::PopExec) => after.push(live.clone()),
                    Some(VirtualOp::LoopBack(_, _, first)) => {
                        let start = loop_starts.iter().find(|(at, _)| *at == *first as usize);
                        start.map(|(_, start)| unite(&mut live, start));
                    }
                    _ => {}
                }
                let source = match ops.get(at) {
                    Some(VirtualOp::Copy(_, Operand::Value(from))) => numbers[*from],
                    _ => None,
                };
                let in_place = ops.get(at).is_some_and(VirtualOp::is_kernel);
                for &value in writes.of(at) {
                    let set = interference.set_mut(value);
                    let copies = source.filter(|source| !contains(set, *source));
                    unite(set, &live);
                    // Only a kernel may write a slot that it reads.
                    let others = if in_place { &[][..] } else { reads.of(at) };
                    others.iter().chain(writes.of(at)).for_each(|other| insert(set, *other));
                    remove(set, value);
                    copies.into_iter().for_each(|source| remove(set, source));
                }
                for &value in writes.of(at) {
                    remove(&mut live, value);
                    if first_writes[value] == position(at) {
                        after.iter_mut().for_each(|live| remove(live, value));
                    }
                }
                reads.of(at).iter().for_each(|value| insert(&mut live, *value));
                if matches!(ops.get(at), Some(VirtualOp::PushExec(..)))
                    && let Some(after) = after.pop()
                {
                    unite(&mut live, &after);
                }
                for (first, start) in &mut loop_starts {
                    changed |= *first == at && unite(start, &live);
                }
            }
            // Inputs are written while all other inputs, and the values live at the start, are live.
            for input in 0..inputs {
                let set = interference.set_mut(input);
                unite(set, &live);
                (0..inputs).for_each(|other| insert(set, other));
                remove(set, input);
            }
            if !changed {
                break;
            }
        }

        let depth = |at: usize| {
            let at = position(at);
            linearizer.loops.iter().filter(|(first, end)| (*first..*end).contains(&at)).count()
        };
        let mut copies: Vec<(usize, (usize, usize))> = (ops.iter().enumerate())
            .filter_map(|(at, op)| match op {
                VirtualOp::Copy(to, Operand::Value(from)) => {
                    Some((depth(at), (numbers[*from]?, numbers[*to]?)))
                }
                _ => None,
            })
            .collect();
        copies.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        let copies = copies.into_iter().map(|(_, copy)| copy).collect();
        Self { numbers, count, interference, copies }
    }

    /// Allocates a slot for each written value. Copies are coalesced unless that makes batches narrower, because a merged value may be
    /// harder to colour.
    pub(super) fn allocate(self) -> SlotAllocation {
        let each_alone: Vec<usize> = (0..self.count).collect();
        let alone = self.color(&each_alone);
        let coalesced = self.color(&self.coalesce(each_alone));
        if batch_width(coalesced.count) < batch_width(alone.count) { alone } else { coalesced }
    }

    /// Colours classes of values greedily, in the order of first writes.
    fn color(&self, classes: &[usize]) -> SlotAllocation {
        // The interference graph of classes, symmetric.
        let mut symmetric = BitMatrix::new(self.count);
        for (value, &class) in classes.iter().enumerate() {
            for other in members(self.interference.set(value)) {
                insert(symmetric.set_mut(class), classes[other]);
                insert(symmetric.set_mut(classes[other]), class);
            }
        }
        let mut slots: Vec<Option<u32>> = vec![None; self.count];
        let mut taken: Vec<bool> = Vec::new();
        for &class in classes {
            if slots[class].is_none() {
                taken.fill(false);
                for slot in members(symmetric.set(class)).filter_map(|other| slots[other]) {
                    taken[slot as usize] = true;
                }
                let slot = taken.iter().position(|taken| !taken).unwrap_or(taken.len());
                taken.resize(taken.len().max(slot + 1), false);
                slots[class] = Some(position(slot));
            }
        }
        let slot = |number: Option<usize>| number.and_then(|number| slots[classes[number]]);
        let slots = self.numbers.iter().map(|(_, number)| slot(*number)).collect();
        SlotAllocation { slots, count: position(taken.len()) }
    }

    /// Coalesces copies. Returns the class of each value, identified by a member.
    fn coalesce(&self, mut classes: Vec<usize>) -> Vec<usize> {
        let mut interference = self.interference.clone();
        let mut classmates: Vec<Vec<usize>> = (0..self.count).map(|value| vec![value]).collect();
        for (from, to) in &self.copies {
            let (from, to) = (classes[*from], classes[*to]);
            let meets = |a: usize, b: usize| {
                classmates[b].iter().any(|value| contains(interference.set(a), *value))
            };
            if from == to || meets(from, to) || meets(to, from) {
                continue;
            }
            let set = interference.set(to).to_vec();
            unite(interference.set_mut(from), &set);
            let moved = std::mem::take(&mut classmates[to]);
            moved.iter().for_each(|value| classes[*value] = from);
            classmates[from].extend(moved);
        }
        classes
    }
}

/// The slot of each value.
pub(super) struct SlotAllocation {
    slots: EntityMap<Value, Option<u32>>,
    /// The number of slots.
    pub(super) count: u32,
}

impl SlotAllocation {
    /// Returns the slot of a value.
    pub(super) fn of(&self, value: Value) -> u32 {
        self.slots[value].expect("a value that is used is defined")
    }

    /// Reserves a slot for a value that no op writes. Returns the slot.
    pub(super) fn reserve(&mut self, value: Value) -> u32 {
        let slot = self.count;
        self.slots[value] = Some(slot);
        self.count += 1;
        slot
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Returns the slots of values of a function, given as text.
    fn slots<const N: usize>(text: &str, values: [u32; N]) -> [u32; N] {
        let function = r500_ir::parse(text).unwrap().function;
        let mut linearizer = Linearizer::new(&function, None);
        let outputs = function.colors.iter().flatten().flatten();
        outputs.for_each(|operand| linearizer.uses.push((linearizer.at(), *operand)));
        let slots = LiveRanges::of(&linearizer).allocate();
        values.map(|value| slots.of(Value(value)))
    }

    #[test]
    fn next_value_of_a_dead_parameter_takes_its_slot() {
        let [param, product, next] = slots(
            "loop 3 {\n  param %0: f32 = 0.5\n  %1: f32 = %0 * 3.0\n  %2: f32 = %1 + 1.0\n  next %0 = %2\n}\n\
             out[0] = %0, 0, 0, 1.0",
            [0, 1, 2],
        );
        assert_eq!([product, next], [param; 2]);
    }

    #[test]
    fn next_value_has_a_slot_of_its_own_if_the_parameter_is_read_after_it_is_computed() {
        for (last_use, in_place) in
            [("%1: f32 = %0 + 1.0", true), ("%1: f32 = rcp 3.0\n  %2: f32 = %0 + %1", false)]
        {
            let [param, next] = slots(
                &format!(
                    "loop 3 {{\n  param %0: f32 = 0.5\n  {last_use}\n  next %0 = %1\n}}\nout[0] = %0, 0, 0, 1.0"
                ),
                [0, 1],
            );
            assert_eq!(next == param, in_place, "{last_use}");
        }
    }

    #[test]
    fn exchanged_parameters_have_two_slots() {
        let [a, b] = slots(
            "loop 3 {\n  param %0: f32 = 0.5\n  param %1: f32 = 0.25\n  next %0 = %1\n  next %1 = %0\n}\n\
             out[0] = %0, %1, 0, 1.0",
            [0, 1],
        );
        assert_ne!(a, b);
    }

    /// The phi holds its incoming value until an arm writes it, if the incoming value is dead there.
    #[test]
    fn phi_takes_the_slot_of_its_incoming_value_if_that_is_dead_where_arms_write() {
        let branch = |red| {
            format!(
                "%0: f32 = input 0.0\n%1: f32 = rcp %0\n%2: mask = %0 >= 0.5\n%3: mask = all & !%2\n\
                 if %2 {{\n  %4: f32 = rsq %1\n}} else %3 {{\n}}\nphi %5: f32 = %4, _ over %1\n\
                 out[0] = {red}, %5, 0, 1.0"
            )
        };
        let [incoming, phi] = slots(&branch("0"), [1, 5]);
        assert_eq!(phi, incoming);
        let [incoming, phi] = slots(&branch("%1"), [1, 5]);
        assert_ne!(phi, incoming);
    }

    #[test]
    fn inputs_have_slots_of_their_own_before_their_first_use() {
        let [first, product, second] = slots(
            "%0: f32 = input 0.0\n%1: f32 = rcp %0\n%2: f32 = input 0.1\nout[0] = %1, %2, 0, 1.0",
            [0, 1, 2],
        );
        assert_ne!(first, second);
        assert_ne!(product, second);
    }

    /// A chunk that has left the loop keeps values that are used after it, while others execute further iterations.
    #[test]
    fn value_used_after_a_loop_shares_no_slot_with_the_values_of_the_loop() {
        let [kept, param, product] = slots(
            "%0: f32 = input 0.0\n%1: f32 = rcp %0\nloop 3 {\n  param %2: f32 = 0.5\n  %3: f32 = %2 * %2\n  \
             %4: f32 = %3 + 1.0\n  next %2 = %4\n}\nout[0] = %1, %2, 0, 1.0",
            [1, 2, 3],
        );
        assert!(kept != param && kept != product);
    }
}
