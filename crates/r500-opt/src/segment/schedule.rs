//! List scheduling with co-issue: orders operations by dependences, pairs RGB and alpha operations whose operands fit
//! the source addresses, moves scalars to a free half, and merges equal operations into one RGB half.

use super::encode::fits;
use super::ir::{Arg, Op, OpId, OpKind, Read, SegmentIr, ValId};
use super::sets::{Edge, Sets, assign_lane, dependences, is_result, may_be_alpha};

/// Options of the heuristic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Prioritises the critical path instead of the original order.
    pub(crate) critical: bool,
    /// Prefers a pair over the operation with the highest priority.
    pub(crate) pairs_first: bool,
    /// Merges equal scalar operations into one RGB half.
    pub(crate) merge: bool,
    /// Lets scalars change halves.
    pub(crate) migrate: bool,
    /// How many instructions after the first waiting one candidates may come from. A smaller window lowers register
    /// pressure.
    pub(crate) window: usize,
}

/// A schedule: the operations of each instruction.
pub(crate) type Schedule = Vec<Vec<OpId>>;

/// Schedules a segment in at most so many instructions; `None` if it takes more, or if the dependence graph is cyclic. Each step consumes `fuel`.
pub(crate) fn schedule(
    ir: &mut SegmentIr,
    sets: &mut Sets,
    policy: Policy,
    most: usize,
    fuel: &mut u64,
) -> Option<Schedule> {
    if policy.migrate {
        functions_to_alpha(ir, sets);
    }
    let before = dependences(ir, sets)?;
    let priority = priorities(ir, &before, policy)?;
    let presub = |arg: &Arg| arg.lanes.iter().flatten().any(|r| matches!(r, Read::Presub(..)));
    let early = ir.ops.iter().map(|op| op.args.iter().any(presub)).collect();
    let waiting: Vec<OpId> = (0..ir.ops.len()).filter(|&at| !ir.ops[at].dead).collect();
    let mut after = vec![Vec::new(); ir.ops.len()];
    let mut blockers = vec![0; ir.ops.len()];
    for &at in &waiting {
        for &(pred, _) in before[at].iter().filter(|&&(pred, _)| !ir.ops[pred].dead) {
            after[pred].push(at);
            blockers[at] += 1;
        }
    }
    let mut scheduler = Scheduler {
        time: vec![None; ir.ops.len()],
        ir,
        sets,
        policy,
        before,
        after,
        blockers,
        priority,
        early,
        waiting,
        rows: Vec::new(),
        most,
        fuel,
    };
    scheduler.run()?;
    let Scheduler { rows, .. } = scheduler;
    Some(rows)
}

/// Moves results of transcendental operations to alpha where possible, so that they occupy one half instead of two.
fn functions_to_alpha(ir: &mut SegmentIr, sets: &mut Sets) {
    for at in 0..ir.ops.len() {
        let op = &ir.ops[at];
        if op.dead || !matches!(op.kind, OpKind::Function(_)) || op.mask().count_ones() != 1 {
            continue;
        }
        let Some(value) = op.results.iter().flatten().copied().next() else { continue };
        let may_leave = movable(ir, sets, value) && !sets.in_fetch[value];
        if ir.values[value].lane < 3 && may_leave && may_be_alpha(ir, sets, value) {
            sets.unjoin(value);
            assign_lane(ir, value, 3);
        }
    }
}

/// Returns whether the only result of an operation may change its lane.
fn movable(ir: &SegmentIr, sets: &Sets, value: ValId) -> bool {
    let data = &ir.values[value];
    let op = &ir.ops[data.op];
    matches!(op.kind, OpKind::Lanes(_) | OpKind::Function(_))
        && op.mask().count_ones() == 1
        && !data.sinks.live_out
        && !data.sinks.is_output()
        && !sets.fixed[value]
}

/// Computes priorities: the height in the dependence graph, or the original order. Greater is more urgent.
fn priorities(ir: &SegmentIr, before: &[Vec<Edge>], policy: Policy) -> Option<Vec<u64>> {
    let count = ir.ops.len();
    let order = topological(before)?;
    let mut height = vec![0u64; count];
    for &at in order.iter().rev() {
        // A fetch has a long latency: it weighs as much as eight operations.
        let own = if ir.ops[at].is_texture() && !ir.ops[at].is_kill() { 8 } else { 1 };
        height[at] += own;
        for &(pred, distance) in &before[at] {
            height[pred] =
                height[pred].max(height[at] + distance as u64 - u64::from(distance == 0));
        }
    }
    let early = |at: usize| (count - at) as u64;
    Some(
        (0..count)
            .map(|at| if policy.critical { height[at] * 1024 + early(at) } else { early(at) })
            .collect(),
    )
}

fn topological(before: &[Vec<Edge>]) -> Option<Vec<OpId>> {
    let count = before.len();
    let mut after: Vec<Vec<OpId>> = vec![Vec::new(); count];
    let mut open: Vec<usize> = before.iter().map(Vec::len).collect();
    for (at, edges) in before.iter().enumerate() {
        for &(pred, _) in edges {
            after[pred].push(at);
        }
    }
    let mut order: Vec<OpId> = (0..count).filter(|&at| open[at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &to in &after[at] {
            open[to] -= 1;
            if open[to] == 0 {
                order.push(to);
            }
        }
    }
    (order.len() == count).then_some(order)
}

struct Scheduler<'a> {
    ir: &'a mut SegmentIr,
    sets: &'a mut Sets,
    policy: Policy,
    before: Vec<Vec<Edge>>,
    /// The operations that wait for each, once for each edge.
    after: Vec<Vec<OpId>>,
    /// How many edges lead to each operation from those that are not scheduled.
    blockers: Vec<usize>,
    priority: Vec<u64>,
    /// Whether an operation reads a presubtract result.
    early: Vec<bool>,
    time: Vec<Option<usize>>,
    /// What no row before the current one has, in program order.
    waiting: Vec<OpId>,
    rows: Schedule,
    most: usize,
    fuel: &'a mut u64,
}

/// How many ready operations are tried as the first of an instruction.
const FIRST: usize = 12;
/// How many are tried as the second.
const SECOND: usize = 24;

impl Scheduler<'_> {
    fn run(&mut self) -> Option<()> {
        while !self.waiting.is_empty() {
            let ready = self.ready();
            if ready.is_empty() || *self.fuel == 0 || self.rows.len() == self.most {
                return None;
            }
            let row = self.choose(&ready);
            let row = self.merge(row);
            self.rows.push(row);
            self.waiting.retain(|&at| self.time[at].is_none());
        }
        Some(())
    }

    /// Puts an operation into the current row.
    fn place(&mut self, at: OpId) {
        debug_assert!(self.time[at].is_none(), "an operation is in one row");
        self.time[at] = Some(self.rows.len());
        self.after[at].iter().for_each(|&after| self.blockers[after] -= 1);
    }

    /// Undoes [`Self::place`].
    fn unplace(&mut self, at: OpId) {
        self.time[at] = None;
        self.after[at].iter().for_each(|&after| self.blockers[after] += 1);
    }

    fn is_ready(&self, at: OpId) -> bool {
        let now = self.rows.len();
        let early_enough =
            |&(pred, distance): &Edge| self.time[pred].is_none_or(|time| time + distance <= now);
        // Without blockers, only dead ones have no row.
        self.time[at].is_none()
            && self.blockers[at] == 0
            && self.before[at].iter().all(early_enough)
    }

    fn ready(&self) -> Vec<OpId> {
        let first = self.waiting.iter().find(|&&at| self.time[at].is_none());
        let first = first.map_or(0, |&at| self.ir.ops[at].origin);
        let near = |&at: &OpId| {
            self.ir.ops[at].origin - first.min(self.ir.ops[at].origin) <= self.policy.window
        };
        let waiting = self.waiting.iter().copied();
        let mut ready: Vec<OpId> = waiting.filter(|&at| self.is_ready(at)).filter(near).collect();
        ready.sort_unstable_by_key(|&at| {
            (self.needs_nop(at), std::cmp::Reverse(self.priority[at]), at)
        });
        ready
    }

    /// Returns whether an operation reads a result of the last instruction through the presubtract unit.
    fn needs_nop(&self, at: OpId) -> bool {
        let Some(last) = self.rows.len().checked_sub(1).filter(|_| self.early[at]) else {
            return false;
        };
        let made_last = |atom: super::ir::Atom| {
            matches!(atom, super::ir::Atom::Value(value)
                if self.time[self.ir.values[value].op] == Some(last)
                    && !self.ir.ops[self.ir.values[value].op].is_texture())
        };
        let early =
            |read: &Read| matches!(*read, Read::Presub(_, a, b) if made_last(a) || made_last(b));
        self.ir.ops[at].args.iter().flat_map(|arg| arg.lanes.iter().flatten()).any(early)
    }

    fn choose(&mut self, ready: &[OpId]) -> Vec<OpId> {
        let mut chosen = None;
        for &first in ready.iter().take(FIRST) {
            self.place(first);
            let second = self.mate(first);
            if let Some(second) = second {
                self.place(second);
                chosen = Some(vec![first, second]);
                break;
            }
            self.unplace(first);
            let alone = self.ir.ops[first].uses_rgb() && self.ir.ops[first].uses_alpha();
            if !self.policy.pairs_first || alone {
                break;
            }
        }
        chosen.unwrap_or_else(|| {
            self.place(ready[0]);
            vec![ready[0]]
        })
    }

    /// Returns an operation for the half that `first` leaves free. Either may change halves.
    fn mate(&mut self, first: OpId) -> Option<OpId> {
        let op = &self.ir.ops[first];
        let [rgb, alpha] = [op.uses_rgb(), op.uses_alpha()];
        if op.is_texture() || (rgb && alpha) {
            return None;
        }
        let mut ready = self.ready();
        let nop = self.needs_nop(first);
        ready.retain(|&at| at != first && (nop || !self.needs_nop(at)));
        ready.truncate(SECOND);
        for second in ready {
            *self.fuel = self.fuel.saturating_sub(1);
            let other = &self.ir.ops[second];
            if other.is_texture() || (other.uses_rgb() && other.uses_alpha()) {
                continue;
            }
            let same = other.uses_rgb() == rgb;
            if !same {
                if self.pair_fits(first, second) {
                    return Some(second);
                }
            } else if self.policy.migrate {
                for mover in [second, first] {
                    if self.migrate(mover, first, second) {
                        return Some(second);
                    }
                }
            }
        }
        None
    }

    fn pair_fits(&self, a: OpId, b: OpId) -> bool {
        let ops = [&self.ir.ops[a], &self.ir.ops[b]];
        self.may_share(ops[0], ops[1]) && fits(self.ir, &*self.sets, &ops)
    }

    /// Returns whether two operations may co-issue. As in driver output, outputs and temporaries are not written by one
    /// instruction, unless the original did.
    fn may_share(&self, a: &Op, b: &Op) -> bool {
        let sinks = |op: &Op, of: fn(&super::ir::Sinks) -> bool| {
            op.results.iter().flatten().any(|&value| of(&self.ir.values[value].sinks))
        };
        let outputs = [a, b].map(|op| sinks(op, super::ir::Sinks::is_output));
        let results = [a, b].map(|op| sinks(op, |sinks| sinks.alu_result.is_some()));
        let stores = [a, b]
            .map(|op| op.results.iter().flatten().any(|&value| self.sets.stored(self.ir, value)));
        let mixed = (outputs[0] && stores[1]) || (outputs[1] && stores[0]);
        !(results[0] && results[1]) && (!mixed || a.origin == b.origin)
    }

    /// Moves a scalar operation to the other half, if both then fit one instruction.
    fn migrate(&mut self, mover: OpId, first: OpId, second: OpId) -> bool {
        let op = &self.ir.ops[mover];
        let Some(value) = op.results.iter().flatten().copied().next() else { return false };
        let from = self.ir.values[value].lane;
        if !matches!(op.kind, OpKind::Lanes(_)) || !movable(self.ir, self.sets, value) {
            return false;
        }
        let to_alpha = from < 3;
        let stays = self.sets.in_fetch[value];
        let may = if to_alpha {
            may_be_alpha(self.ir, self.sets, value)
        } else {
            (stays || self.sets.is_alone(value)) && only_splats(self.ir, self.sets, value)
        };
        // In its own register only a lane that nothing else of it has.
        let taken = if stays { self.sets.lanes_taken(self.ir, value) } else { 0 };
        let mut lanes = if to_alpha { 3..4 } else { 0..3 };
        let Some(to) = lanes.find(|&lane| may && taken >> lane & 1 == 0) else { return false };
        let finish = op.finish;
        let place = if stays { None } else { Some(self.sets.unjoin(value)) };
        assign_lane(self.ir, value, to);
        if self.pair_fits(first, second) {
            return true;
        }
        assign_lane(self.ir, value, from);
        self.ir.ops[mover].finish = finish;
        place.into_iter().for_each(|place| self.sets.rollback(value, place));
        false
    }

    /// Merges further operations into the RGB half of an instruction: equal operations with equal modifiers in other
    /// lanes.
    fn merge(&mut self, row: Vec<OpId>) -> Vec<OpId> {
        if !self.policy.merge {
            return row;
        }
        let Some(&into) = row.iter().find(|&&at| {
            let op = &self.ir.ops[at];
            op.uses_rgb() && op.kind_is_lanes()
        }) else {
            return row;
        };
        let mut ready = self.ready();
        let nop = row.iter().any(|&at| self.needs_nop(at));
        ready.retain(|&at| nop || !self.needs_nop(at));
        ready.truncate(SECOND);
        for from in ready {
            *self.fuel = self.fuel.saturating_sub(1);
            if self.ir.ops[into].mask() & 7 == 7 {
                break;
            }
            if self.is_ready(from) && self.merge_one(into, from, &row) {
                self.place(from);
            }
        }
        row
    }

    fn merge_one(&mut self, into: OpId, from: OpId, row: &[OpId]) -> bool {
        let (a, b) = (&self.ir.ops[into], &self.ir.ops[from]);
        let from_alpha = b.mask() & 8 != 0;
        let same =
            a.kind == b.kind
                && a.finish[0] == b.finish[usize::from(from_alpha)]
                && a.args.iter().zip(&b.args).all(|(a, b)| a.modifier == b.modifier)
                && self.may_share(a, b)
                && !b.args.iter().chain(&a.args).any(|arg| {
                    arg.lanes.iter().flatten().any(|read| matches!(read, Read::Presub(..)))
                });
        if !same {
            return false;
        }
        let Some(join) = self.join(into, from) else { return false };
        let before = [into, from].map(|at| self.ir.ops[at].clone());
        let values = before[1].results.iter().flatten();
        let values: Vec<_> = values.map(|&value| (value, self.ir.values[value])).collect();
        let node = self.join_lanes(into, from, join);
        let ops: Vec<&Op> = row.iter().map(|&at| &self.ir.ops[at]).collect();
        if fits(self.ir, &*self.sets, &ops) {
            self.sets.note_readers(self.ir, into);
            return true;
        }
        [self.ir.ops[into], self.ir.ops[from]] = before;
        values.into_iter().for_each(|(value, before)| self.ir.values[value] = before);
        match (join, node) {
            (Join::Move { value, target: Some(_), .. }, Some(node)) => self.sets.leave(value, node),
            (Join::Move { value, target: None, .. }, Some(node)) => self.sets.rollback(value, node),
            _ => {}
        }
        false
    }

    /// Returns how the lanes of an operation can join those of another.
    fn join(&self, into: OpId, from: OpId) -> Option<Join> {
        let target = self.ir.ops[into]
            .results
            .iter()
            .take(3)
            .flatten()
            .copied()
            .find(|&value| self.sets.stored(self.ir, value));
        let results: Vec<ValId> = self.ir.ops[from].results.iter().flatten().copied().collect();
        let taken = self.ir.ops[into].mask();
        // A half writes one render target.
        let output = |op: &Op, ir: &SegmentIr| {
            op.results.iter().flatten().find_map(|&value| ir.values[value].sinks.output)
        };
        let outputs = [into, from].map(|at| output(&self.ir.ops[at], self.ir));
        if outputs[0].is_some() && outputs[1].is_some() && outputs[0] != outputs[1] {
            return None;
        }
        if let [value] = results[..]
            && movable(self.ir, self.sets, value)
            && !self.sets.in_fetch[value]
            && self.sets.is_alone(value)
            && only_splats(self.ir, self.sets, value)
            && self.ir.values[value].sinks.alu_result.is_none()
        {
            let blocked = match target {
                Some(target) => taken | self.sets.lanes_taken(self.ir, target),
                None => taken,
            };
            let own = self.ir.values[value].lane;
            let mut lanes = [own, 0, 1, 2].into_iter();
            let lane = lanes.find(|&lane| lane < 3 && blocked >> lane & 1 == 0)?;
            return Some(Join::Move { value, lane, target });
        }
        let mask = self.ir.ops[from].mask();
        if mask & 8 != 0 || mask & taken != 0 {
            return None;
        }
        let mut stored = results.iter().filter(|&&value| self.sets.stored(self.ir, value));
        let place = |value: ValId| self.sets.place_of(self.ir, value);
        stored
            .all(|&value| target.is_none_or(|target| place(target) == place(value)))
            .then_some(Join::Keep)
    }

    /// Moves the results and operands of an operation into free lanes of another. Returns the node that a value has left for another set.
    fn join_lanes(&mut self, into: OpId, from: OpId, join: Join) -> Option<usize> {
        let mut node = None;
        if let Join::Move { value, lane, target } = join {
            assign_lane(self.ir, value, lane);
            node = Some(match target {
                Some(target) => self.sets.enter(value, target),
                None => self.sets.unjoin(value),
            });
        }
        let moved = self.ir.ops[from].clone();
        for lane in 0..3 {
            let Some(value) = moved.results[lane] else { continue };
            let op = &mut self.ir.ops[into];
            op.results[lane] = Some(value);
            for (arg, other) in op.args.iter_mut().zip(&moved.args) {
                arg.lanes[lane] = other.lanes[lane];
            }
            self.ir.values[value].op = into;
        }
        let gone = &mut self.ir.ops[from];
        gone.dead = true;
        gone.results = [None; 4];
        node
    }
}

/// How the lanes of an operation join another.
#[derive(Clone, Copy, Debug)]
enum Join {
    /// In the same lanes, which are free.
    Keep,
    /// In another lane; a stored result then shares the register of `target`.
    Move { value: ValId, lane: u8, target: Option<ValId> },
}

/// Returns whether no operand that reads a value reads colours of another register.
fn only_splats(ir: &SegmentIr, sets: &Sets, value: ValId) -> bool {
    use super::ir::Atom;
    let reads_it = |read: &Read| *read == Read::Atom(Atom::Value(value));
    let colours = |read: &Read| match *read {
        Read::Atom(Atom::Entry(_, channel) | Atom::Constant(_, channel)) => channel < 3,
        Read::Atom(Atom::Value(other)) => other != value && ir.values[other].lane < 3,
        _ => false,
    };
    let mixed = |arg: &Arg| {
        let reads = || arg.lanes.iter().flatten();
        reads().any(reads_it) && reads().any(colours)
    };
    is_result(ir, value) && !sets.operands_of(ir, value).any(mixed)
}
