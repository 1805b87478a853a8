//! Register allocation: each set of values gets the lowest temporary whose channels are free during its live ranges.

use std::collections::BTreeMap;

use r500_isa::TEMPORARIES;

use super::encode::{Register, RegisterAssignment};
use super::ir::{Atom, OpKind, SegmentIr, ValId};
use super::schedule::Schedule;
use super::sets::{Sets, is_result};

/// A live interval in schedule positions: after `from`, until `to`.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: i64,
    to: i64,
}

const FOREVER: i64 = i64::MAX;
const ENTRY: i64 = -1;

/// The register assignment of values.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    temps: Vec<Option<u8>>,
}

impl RegisterAssignment for Registers {
    fn place(&self, ir: &SegmentIr, value: ValId) -> (Register, u8) {
        let temp = self.temps[value].map_or(Register::Set(value), Register::Temp);
        (temp, ir.values[value].lane)
    }
}

impl Registers {
    /// Returns the temporary of a value that is stored.
    pub(crate) fn temp(&self, value: ValId) -> Option<u8> {
        self.temps[value]
    }
}

struct Allocator {
    busy: Vec<[Vec<Interval>; 4]>,
    limit: usize,
}

impl Allocator {
    fn is_free(&self, temp: usize, channel: u8, interval: Interval) -> bool {
        self.busy[temp][usize::from(channel)]
            .iter()
            .all(|other| other.from >= interval.to || interval.from >= other.to)
    }

    fn take(&mut self, temp: usize, channel: u8, interval: Interval) {
        self.busy[temp][usize::from(channel)].push(interval);
    }
}

/// Assigns temporaries below `limit`; `None` if they do not suffice. An RGB scalar in a set of its own may change its
/// channel.
pub(crate) fn allocate(
    ir: &mut SegmentIr,
    sets: &Sets,
    rows: &Schedule,
    limit: usize,
) -> Option<Registers> {
    let mut time = vec![0i64; ir.ops.len()];
    for (row, ops) in (0i64..).zip(rows) {
        ops.iter().for_each(|&op| time[op] = row);
    }
    let mut allocator = Allocator {
        busy: vec![<[Vec<Interval>; 4]>::default(); TEMPORARIES],
        limit: limit.min(TEMPORARIES),
    };
    let mut last_read: BTreeMap<Atom, i64> = BTreeMap::new();
    for op in rows.iter().flatten() {
        for atom in ir.ops[*op].atoms() {
            let last = last_read.entry(atom).or_insert(ENTRY);
            *last = time[*op].max(*last);
        }
    }
    for (&atom, &to) in &last_read {
        if let Atom::Entry(temp, channel) = atom {
            allocator.take(usize::from(temp), channel, Interval { from: ENTRY, to });
        }
    }
    for temp in 0..TEMPORARIES {
        for channel in 0..4u8 {
            let id = r500_check::dataflow::ChannelId::Temp(u8::try_from(temp).ok()?, channel);
            if ir.live_out.contains(id) && !ir.rewritten.contains(id) {
                allocator.take(temp, channel, Interval { from: ENTRY, to: FOREVER });
            }
        }
    }
    // Groups of values that share a temporary, in order of their first definition.
    let mut groups: BTreeMap<(bool, usize), Vec<(ValId, Interval)>> = BTreeMap::new();
    for (value, data) in ir.values.iter().enumerate() {
        if ir.ops[data.op].dead || !is_result(ir, value) || !sets.stored(ir, value) {
            continue;
        }
        let read = last_read.get(&Atom::Value(value)).copied().unwrap_or(ENTRY);
        let to = if data.sinks.live_out { FOREVER } else { read };
        let interval = Interval { from: time[data.op], to };
        let alone = sets.is_alone(value) && sets.temp(value).is_none();
        let key = if alone { (true, value) } else { (false, sets.set_of(value)) };
        groups.entry(key).or_default().push((value, interval));
    }
    let mut registers = Registers { temps: vec![None; ir.values.len()] };
    let mut order: Vec<_> = groups.into_iter().collect();
    // Preassigned groups first, then by first definition.
    order.sort_by_key(|((alone, key), members)| {
        let decided = sets.temp(members[0].0).is_none();
        let first = members.iter().map(|member| member.1.from).min();
        (decided, first, *alone, *key)
    });
    for ((alone, _), members) in order {
        let temp = match sets.temp(members[0].0) {
            Some(temp) => {
                let temp = usize::from(temp);
                fit(ir, &allocator, temp, &members).then_some(temp)?
            }
            None => {
                let channels = channels(ir, sets, alone, &members);
                let found = (0..allocator.limit).find_map(|temp| {
                    channels.iter().find_map(|&channel| {
                        let lane = channel.unwrap_or(ir.values[members[0].0].lane);
                        let free = match channel {
                            Some(_) => allocator.is_free(temp, lane, members[0].1),
                            None => fit(ir, &allocator, temp, &members),
                        };
                        free.then_some((temp, channel))
                    })
                });
                let (temp, channel) = found?;
                if let Some(channel) = channel {
                    super::sets::assign_lane(ir, members[0].0, channel);
                }
                temp
            }
        };
        for &(value, interval) in &members {
            allocator.take(temp, ir.values[value].lane, interval);
            registers.temps[value] = Some(u8::try_from(temp).ok()?);
        }
    }
    Some(registers)
}

/// Returns the candidate channels of a scalar; `None` for a group with fixed channels.
fn channels(
    ir: &SegmentIr,
    sets: &Sets,
    alone: bool,
    members: &[(ValId, Interval)],
) -> Vec<Option<u8>> {
    let [(value, _)] = members else { return vec![None] };
    let data = &ir.values[*value];
    let op = &ir.ops[data.op];
    let free = alone
        && data.lane < 3
        && !sets.fixed[*value]
        && op.mask().count_ones() == 1
        && matches!(op.kind, OpKind::Lanes(_))
        && data.sinks.is_empty();
    if free { vec![Some(data.lane), Some(0), Some(1), Some(2)] } else { vec![None] }
}

/// Returns whether the members of a group fit a temporary without interference.
fn fit(ir: &SegmentIr, allocator: &Allocator, temp: usize, members: &[(ValId, Interval)]) -> bool {
    let lane = |value: ValId| ir.values[value].lane;
    for (n, &(value, interval)) in members.iter().enumerate() {
        if !allocator.is_free(temp, lane(value), interval) {
            return false;
        }
        let clash = members[..n].iter().any(|&(other, taken)| {
            lane(other) == lane(value) && taken.from < interval.to && interval.from < taken.to
        });
        if clash {
            return false;
        }
    }
    true
}
