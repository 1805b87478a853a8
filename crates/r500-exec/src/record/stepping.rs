//! Stepping through a recorded run: over loops and calls, to breakpoints, forward and backward.

use super::expr::{Expr, Operand, Value};
use super::{Machine, Recording, Snapshot, Variable};

/// The direction of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the end.
    Forward,
    /// Towards the start.
    Backward,
}

/// A breakpoint, by default of a pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Break<V = Variable> {
    /// Before every execution of the instruction at this address.
    At(u32),
    /// Before every execution of the instruction at this address, if a condition holds.
    AtIf(u32, Expr<V>),
    /// When a condition becomes true: it holds, and did not hold one step before. At the start it only has to
    /// hold.
    If(Expr<V>),
    /// After a step that changed the value of an expression, in any bit (a watchpoint).
    Changes(Expr<V>),
}

/// Why execution stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At the requested position.
    Reached,
    /// At a breakpoint; its index in the list.
    Break(usize),
    /// At the start of the run.
    Start,
    /// At the end of the run.
    End,
}

impl<M: Machine> Recording<M> {
    /// Moves one step.
    pub fn step(&mut self, direction: Direction) -> Stop {
        self.move_to(direction, |_, _| true)
    }

    /// Moves to the next (or previous) position at which the pixel or vertex is active.
    pub fn step_active(&mut self, direction: Direction) -> Stop {
        self.run_to(direction, |now| now.active() && !now.ended())
    }

    /// Moves one step, over a complete loop or call that starts here (backward: that ended here).
    pub fn step_over(&mut self, direction: Direction) -> Stop {
        let depth = self.depth(self.position);
        self.move_to(direction, |recording, at| recording.depth(at) <= depth)
    }

    /// Moves out of the innermost running loop or call: after its end, or before its start. Outside of all
    /// loops and calls, moves to the end or start of the run.
    pub fn step_out(&mut self, direction: Direction) -> Stop {
        let depth = self.depth(self.position);
        self.move_to(direction, |recording, at| recording.depth(at) < depth)
    }

    /// Moves to the next position whose instruction has a greater address (backward: a smaller one): from the
    /// last instruction of a loop, past its end.
    pub fn until(&mut self, direction: Direction) -> Stop {
        let here = self.address_at(self.position);
        self.move_to(direction, |recording, at| match direction {
            Direction::Forward => recording.address_at(at) > here,
            Direction::Backward => recording.address_at(at) < here,
        })
    }

    /// Moves to the nearest breakpoint other than the current position, else to the end or start of the run.
    ///
    /// Both directions stop at the same positions. Breakpoints at addresses are found in the record of steps;
    /// conditions are evaluated by running the machine over the steps in between.
    pub fn run(&mut self, direction: Direction, breaks: &[Break<M::Variable>]) -> Stop {
        let stops = |&at: &usize| {
            self.steps.get(at).is_some_and(|step| breaks.contains(&Break::At(step.address)))
        };
        let by_address = match direction {
            Direction::Forward => (self.position + 1..self.len()).find(stops),
            Direction::Backward => (0..self.position).rev().find(stops),
        };
        let is_conditional = |stop: &Break<M::Variable>| !matches!(stop, Break::At(_));
        let by_condition = if breaks.iter().any(is_conditional) {
            let observe = |now: &Snapshot<'_, M>| -> Vec<Trigger> {
                breaks
                    .iter()
                    .filter(|stop| is_conditional(stop))
                    .map(|stop| stop.observe(now))
                    .collect()
            };
            let hit = |before: Option<&Vec<Trigger>>, now: &Vec<Trigger>| {
                (0..now.len()).any(|i| Trigger::hits(before.and_then(|seen| seen.get(i)), &now[i]))
            };
            self.find(direction, by_address, observe, hit)
        } else {
            None
        };
        let nearest = match direction {
            Direction::Forward => [by_address, by_condition].into_iter().flatten().min(),
            Direction::Backward => [by_address, by_condition].into_iter().flatten().max(),
        };
        let Some(position) = nearest else { return self.go_to_edge(direction) };
        self.seek(position);
        Stop::Break(self.breaks_here(breaks).next().unwrap_or(0))
    }

    /// Returns the indices of the breakpoints that the current position hits.
    pub fn breaks_here<'a>(
        &'a self,
        breaks: &'a [Break<M::Variable>],
    ) -> impl Iterator<Item = usize> + 'a {
        let before = self.position.checked_sub(1).map(|at| (at, self.state_at(at)));
        breaks.iter().enumerate().filter_map(move |(i, stop)| {
            let before =
                before.as_ref().map(|(at, state)| stop.observe(&self.snapshot(*at, state)));
            Trigger::hits(before.as_ref(), &stop.observe(&self.now())).then_some(i)
        })
    }

    /// Returns all positions of the run that a breakpoint hits, in order; with a condition, those where it holds.
    ///
    /// Except for breakpoints at addresses without a condition, this runs the machine over the whole recording.
    #[must_use]
    pub fn hits(
        &self,
        stop: &Break<M::Variable>,
        condition: Option<&Expr<M::Variable>>,
    ) -> Vec<usize> {
        if let (Break::At(address), None) = (stop, condition) {
            let all = self.steps.iter().enumerate();
            return all.filter(|(_, step)| step.address == *address).map(|(at, _)| at).collect();
        }
        let observe = |now: &Snapshot<'_, M>| {
            (stop.observe(now), condition.is_none_or(|condition| condition.holds(now)))
        };
        let hit = |before: Option<&(Trigger, bool)>, now: &(Trigger, bool)| {
            now.1 && Trigger::hits(before.map(|(trigger, _)| trigger), &now.0)
        };
        let (_, start) = self.checkpoint(0);
        let first = hit(None, &observe(&self.snapshot(0, &start)));
        let mut positions = if first { vec![0] } else { Vec::new() };
        self.scan((0, start), self.len(), &observe, &hit, |at| {
            positions.push(at);
            true
        });
        positions
    }

    /// Moves to the nearest position where a predicate holds, else to the end or start of the run.
    pub fn run_to(
        &mut self,
        direction: Direction,
        holds: impl Fn(&Snapshot<'_, M>) -> bool,
    ) -> Stop {
        match self.find(direction, None, holds, |_, &now| now) {
            Some(position) => self.arrive(position),
            None => self.go_to_edge(direction),
        }
    }

    /// Returns the nearest position for which `hit` holds, given the result of `observe` one step before (`None` at
    /// the start) and at the position. Positions beyond `bound` need not be searched.
    fn find<V>(
        &self,
        direction: Direction,
        bound: Option<usize>,
        observe: impl Fn(&Snapshot<'_, M>) -> V,
        hit: impl Fn(Option<&V>, &V) -> bool,
    ) -> Option<usize> {
        if direction == Direction::Forward {
            let last = bound.unwrap_or(self.len()).min(self.len());
            let mut first = None;
            self.scan((self.position, self.now.clone()), last, &observe, &hit, |at| {
                first = Some(at);
                false
            });
            return first;
        }
        // Search the intervals between checkpoints, latest first.
        let mut end = self.position.checked_sub(1)?;
        loop {
            let from = self.checkpoints.before(end);
            let mut last = None;
            self.scan(self.checkpoint(from), end, &observe, &hit, |at| {
                last = Some(at);
                true
            });
            if last.is_some() {
                return last;
            }
            if from == 0 {
                let (_, start) = self.checkpoint(0);
                return hit(None, &observe(&self.snapshot(0, &start))).then_some(0);
            }
            if bound.is_some_and(|bound| from < bound) {
                return None;
            }
            end = from;
        }
    }

    /// Runs from a state up to position `last`, and passes each hit after the state to `go_on` until that
    /// returns false.
    fn scan<V>(
        &self,
        (mut at, state): (usize, M::State),
        last: usize,
        observe: &impl Fn(&Snapshot<'_, M>) -> V,
        hit: &impl Fn(Option<&V>, &V) -> bool,
        mut go_on: impl FnMut(usize) -> bool,
    ) {
        if at >= last {
            return;
        }
        let mut before = observe(&self.snapshot(at, &state));
        // The steps succeeded when they were recorded.
        let _ = self.machine.execute(state, |state| {
            at += 1;
            let now = observe(&self.snapshot(at, state));
            let continues = !hit(Some(&before), &now) || go_on(at);
            before = now;
            continues && at < last
        });
    }

    /// Returns the state at a position, by running from a checkpoint.
    fn state_at(&self, position: usize) -> M::State {
        let (at, state) = self.checkpoint(position);
        self.advance(state, at, position)
    }

    /// Returns the number of running loops and calls at a position.
    fn depth(&self, position: usize) -> usize {
        self.steps
            .get(position)
            .map_or_else(|| self.machine.depth(&self.last), |step| step.depth as usize)
    }

    fn address_at(&self, position: usize) -> u32 {
        self.steps
            .get(position)
            .map_or_else(|| self.machine.address(&self.last), |step| step.address)
    }

    /// Moves to the nearest position for which `predicate` holds, else to the end or start of the run.
    fn move_to(&mut self, direction: Direction, predicate: impl Fn(&Self, usize) -> bool) -> Stop {
        let found = match direction {
            Direction::Forward => (self.position + 1..=self.len()).find(|&at| predicate(self, at)),
            Direction::Backward => (0..self.position).rev().find(|&at| predicate(self, at)),
        };
        match found {
            Some(position) => self.arrive(position),
            None => self.go_to_edge(direction),
        }
    }

    fn go_to_edge(&mut self, direction: Direction) -> Stop {
        let (position, stop) = match direction {
            Direction::Forward => (self.len(), Stop::End),
            Direction::Backward => (0, Stop::Start),
        };
        self.seek(position);
        stop
    }

    fn arrive(&mut self, position: usize) -> Stop {
        self.seek(position);
        Stop::Reached
    }
}

/// The value of a breakpoint at a position.
enum Trigger {
    /// Stops if true.
    Level(bool),
    /// Stops if true and false one step before.
    Edge(bool),
    /// Stops if different one step before.
    Value(Value),
}

impl<V: Operand> Break<V> {
    fn observe<M: Machine<Variable = V>>(&self, now: &Snapshot<'_, M>) -> Trigger {
        let at = |address: u32| !now.ended() && now.address() == address;
        match self {
            Self::At(address) => Trigger::Level(at(*address)),
            Self::AtIf(address, condition) => Trigger::Level(at(*address) && condition.holds(now)),
            Self::If(condition) => Trigger::Edge(condition.holds(now)),
            Self::Changes(expr) => Trigger::Value(expr.value(now)),
        }
    }
}

impl Trigger {
    fn hits(before: Option<&Self>, now: &Self) -> bool {
        match (before, now) {
            (_, Self::Level(now)) => *now,
            (Some(Self::Edge(before)), Self::Edge(now)) => !before && *now,
            (_, Self::Edge(now)) => *now,
            (Some(Self::Value(before)), Self::Value(now)) => !before.same(now),
            (_, Self::Value(_)) => false,
        }
    }
}
