//! The breakpoints of a recorded run, and runs to the nearest one.
//!
//! Hits are counted from the start of the program, in the recorded run: a breakpoint with a hit count stops at the same steps in both
//! directions.

use std::collections::BTreeMap;

use r500_exec::record::expr::Value;
use r500_exec::record::{Break, Direction, Expr, Machine, Recording, Stop};

use crate::breakpoint::{Breakpoint, LogMessage, Owner, Part};
use crate::expression::Vocabulary;

/// Limit of the steps of a run that log messages.
const MESSAGES: usize = 1000;

/// Breakpoints, in the order in which they were added.
#[derive(Clone, Debug)]
pub struct Breakpoints<V> {
    list: Vec<Breakpoint<V>>,
    /// The number of the next one.
    next: usize,
}

impl<V> Default for Breakpoints<V> {
    fn default() -> Self {
        Self { list: Vec::new(), next: 1 }
    }
}

/// The result of a run to a breakpoint.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Why the run ended.
    pub stop: Stop,
    /// The breakpoints at the stop.
    pub hits: Vec<Hit>,
    /// Messages on the way, in the order of the run, without line ends.
    pub log: Vec<String>,
}

/// A breakpoint that stopped a run.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its number.
    pub number: usize,
    /// Who set it.
    pub owner: Owner,
    /// Whether it is now gone.
    pub once: bool,
    text: String,
    /// The watched value before the last step, unless that was the start or had none, and now, if it has one.
    change: Option<(Option<Value>, Option<Value>)>,
}

impl Hit {
    /// Returns the breakpoint as entered, with the change of a watched value.
    #[must_use]
    pub fn description(&self) -> String {
        let change = self.change.as_ref().map(|(before, now)| match now {
            Some(now) => {
                let before = before.map_or_else(String::new, |value| value.to_string());
                format!(": {before} -> {now}")
            }
            None => ": no value any more".to_owned(),
        });
        format!("{}{}", self.text, change.unwrap_or_default())
    }
}

impl<V: Vocabulary> Breakpoints<V> {
    /// Numbers and adds a breakpoint. Returns its number.
    pub fn add(&mut self, mut point: Breakpoint<V>) -> usize {
        point.number = self.next;
        self.next += 1;
        self.list.push(point);
        self.next - 1
    }

    /// Returns all breakpoints.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint<V>> {
        self.list.iter()
    }

    /// Returns all breakpoints.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Breakpoint<V>> {
        self.list.iter_mut()
    }

    /// Returns the breakpoint with a number.
    pub fn get_mut(&mut self, number: usize) -> Option<&mut Breakpoint<V>> {
        self.list.iter_mut().find(|point| point.number == number)
    }

    /// Keeps the breakpoints for which `keep` returns true.
    pub fn retain(&mut self, keep: impl FnMut(&Breakpoint<V>) -> bool) {
        self.list.retain(keep);
    }

    /// Returns whether an enabled one stops at an address.
    #[must_use]
    pub fn breaks_at(&self, address: u32) -> bool {
        self.list.iter().any(|point| {
            matches!(point.stop, Break::At(at) | Break::AtIf(at, _) if at == address)
                && point.enabled
        })
    }

    /// Forgets what holds for one recorded run only: positions. `each` replaces what expressions know of the run.
    pub fn forget_run(&mut self, each: &mut dyn FnMut(&mut Expr<V>)) {
        for point in &mut self.list {
            point.forget_positions();
            point.expressions(each);
        }
    }

    /// Runs to the nearest breakpoint, else to the end or start of the run.
    pub fn run<M: Machine<Variable = V>>(
        &mut self,
        recording: &mut Recording<M>,
        direction: Direction,
    ) -> Ran {
        let from = recording.position();
        self.list_positions(recording);
        let enabled = || self.list.iter().filter(|point| point.enabled);
        let plain: Vec<Break<V>> =
            enabled().filter(|point| !point.is_listed()).map(|point| point.stop.clone()).collect();
        let stops = enabled().filter(|point| !point.logs());
        let listed =
            stops.filter_map(|point| nearest(point.positions.as_deref()?, from, direction));
        let listed = match direction {
            Direction::Forward => listed.min(),
            Direction::Backward => listed.max(),
        };
        let mut stop = recording.run(direction, &plain);
        if let Some(listed) = listed {
            let here = recording.position();
            let sooner = match direction {
                Direction::Forward => listed <= here,
                Direction::Backward => listed >= here,
            };
            if sooner {
                recording.seek(listed);
                stop = Stop::Break(0);
            }
        }
        let log = self.log_since(recording, from);
        let hits =
            if matches!(stop, Stop::Break(_)) { self.hit_here(recording) } else { Vec::new() };
        Ran { stop, hits, log }
    }

    /// Returns the messages of breakpoints from a position to the current one, in the order of the run, without line ends.
    pub fn log_since<M: Machine<Variable = V>>(
        &mut self,
        recording: &mut Recording<M>,
        from: usize,
    ) -> Vec<String> {
        self.list_positions(recording);
        let to = recording.position();
        let between =
            |at: usize| if from <= to { from < at && at <= to } else { to <= at && at < from };
        let mut all: BTreeMap<usize, Vec<LogMessage<V>>> = BTreeMap::new();
        for point in self.list.iter_mut().filter(|point| point.enabled) {
            let (Some(message), Some(positions)) = (&point.message, &point.positions) else {
                continue;
            };
            for &at in positions.iter().filter(|&&at| between(at)) {
                all.entry(at).or_default().push(message.clone());
                point.hits += 1;
            }
        }
        let count = all.len();
        let mut order: Vec<(usize, Vec<LogMessage<V>>)> = all.into_iter().collect();
        if to < from {
            order.reverse();
        }
        let mut lines = Vec::new();
        for (at, messages) in order.into_iter().take(MESSAGES) {
            recording.seek(at);
            lines.extend(messages.iter().map(|message| line(message, recording)));
        }
        if count > MESSAGES {
            lines.push(format!("messages of {} more steps are left out", count - MESSAGES));
        }
        recording.seek(to);
        lines
    }

    /// Computes the positions of breakpoints that need them.
    fn list_positions<M: Machine<Variable = V>>(&mut self, recording: &Recording<M>) {
        for point in &mut self.list {
            if !point.enabled || !point.is_listed() || point.positions.is_some() {
                continue;
            }
            let mut positions = recording.hits(&point.stop, point.condition.as_ref());
            if let Some(condition) = &point.hit_condition {
                let mut number = 0;
                positions.retain(|_| {
                    number += 1;
                    condition.holds(number)
                });
            }
            point.positions = Some(positions);
        }
    }

    /// Counts the hits of the breakpoints at the current position, removes those that stop once, and returns them.
    fn hit_here<M: Machine<Variable = V>>(&mut self, recording: &mut Recording<M>) -> Vec<Hit> {
        let here = recording.position();
        let stops: Vec<Break<V>> = self.list.iter().map(|point| point.stop.clone()).collect();
        let at: Vec<usize> = recording.breaks_here(&stops).collect();
        let mut hits = Vec::new();
        for (i, point) in self.list.iter_mut().enumerate() {
            let stopped = match &point.positions {
                Some(positions) if point.is_listed() => positions.binary_search(&here).is_ok(),
                _ => at.contains(&i),
            };
            if !stopped || !point.enabled || point.logs() {
                continue;
            }
            let change = match &point.stop {
                Break::Changes(expr) => {
                    Some((before(expr, recording), value(expr, recording).ok()))
                }
                _ => None,
            };
            point.hits += 1;
            let &mut Breakpoint { number, owner, once, .. } = point;
            hits.push(Hit { number, owner, text: point.description(), once, change });
        }
        self.list.retain(|point| !point.once || !hits.iter().any(|hit| hit.number == point.number));
        hits
    }
}

/// Returns the value of an expression at the current position.
///
/// # Errors
/// Which variable of the source has no value there.
pub fn value<M: Machine<Variable: Vocabulary>>(
    expr: &Expr<M::Variable>,
    recording: &Recording<M>,
) -> Result<Value, String> {
    let now = recording.now();
    match expr.unknown(&now) {
        Some(name) => Err(format!("`{name}` has no value here")),
        None => Ok(expr.value(&now)),
    }
}

/// Returns a value before the last step.
fn before<M: Machine<Variable: Vocabulary>>(
    expr: &Expr<M::Variable>,
    recording: &mut Recording<M>,
) -> Option<Value> {
    let there = recording.step(Direction::Backward) == Stop::Reached;
    let value = there.then(|| value(expr, recording).ok()).flatten();
    if there {
        recording.step(Direction::Forward);
    }
    value
}

/// Returns the position nearest to another one in a direction, of positions in ascending order.
fn nearest(positions: &[usize], from: usize, direction: Direction) -> Option<usize> {
    let after = positions.partition_point(|&at| at <= from);
    let before = positions.partition_point(|&at| at < from);
    match direction {
        Direction::Forward => positions.get(after).copied(),
        Direction::Backward => positions[..before].last().copied(),
    }
}

/// Returns a message with the current values.
fn line<M: Machine<Variable: Vocabulary>>(
    message: &LogMessage<M::Variable>,
    recording: &Recording<M>,
) -> String {
    let part = |part: &Part<M::Variable>| match part {
        Part::Text(text) => text.clone(),
        Part::Value(expr) => match value(expr, recording) {
            Ok(value) => value.to_string(),
            Err(unknown) => format!("({unknown})"),
        },
    };
    message.0.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_pvs::Source;

    use super::*;
    use crate::breakpoint::HitCondition;
    use crate::expression::{self, Names};
    use crate::vertex_run::{VertexMachine, VertexSetup, VertexVariable};

    /// A loop of three passes that doubles: the instruction in it is to come at three positions.
    fn doubling() -> Recording<VertexMachine> {
        let text = "temp[0].x = VE_ADD input[0].x___ input[0].0___ ;
            temp[0].x = VE_ADD temp[0].x___ temp[0].x___ ;
            out[0].xyzw = VE_ADD temp[0].xxxx temp[0].0000 ;
            FLOW[0] = LOOP after 0, 3 times 1 to 1, aL 0 step 1 ;";
        let source = Source::parse(text, &mut |_| Err(String::new())).unwrap();
        let mut setup = VertexSetup::new(source.program);
        setup.inputs[0] = [1.5, 0.0, 0.0, 1.0];
        Recording::of(VertexMachine::new(setup))
    }

    fn at(address: u32) -> Breakpoint<VertexVariable> {
        Breakpoint::new(Owner::Command, Break::At(address), format!("break {address}"))
    }

    #[test]
    fn hits_are_counted_from_the_start_in_both_directions() {
        let mut recording = doubling();
        // By hand: instruction 1 is to come after 1, 2 and 3 steps.
        assert_eq!(recording.addresses().collect::<Vec<_>>(), [0, 1, 1, 1, 2]);
        let mut points = Breakpoints::default();
        let mut second = at(1);
        second.set_hit_condition(Some(HitCondition::parse("2").unwrap()));
        let number = points.add(second);
        for direction in [Direction::Forward, Direction::Backward] {
            let ran = points.run(&mut recording, direction);
            assert_eq!((ran.stop, recording.position()), (Stop::Break(0), 2));
            assert_eq!(ran.hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), [number]);
            recording.seek(recording.len());
        }
        assert_eq!(points.get_mut(number).map(|point| point.hits()), Some(2));
    }

    #[test]
    fn messages_have_the_values_of_their_steps_and_stop_nothing() {
        let mut recording = doubling();
        let mut points = Breakpoints::default();
        let mut logs = at(1);
        let names = Names::of_constants(&[]);
        logs.set_message(Some(LogMessage::parse("x {temp[0].x}", names).unwrap()));
        points.add(logs);
        let ran = points.run(&mut recording, Direction::Forward);
        assert_eq!((ran.stop, ran.hits.len()), (Stop::End, 0));
        // By hand: 1.5 before the first pass, doubled by each.
        assert_eq!(ran.log, ["x 1.5", "x 3", "x 6"]);
        let back = points.run(&mut recording, Direction::Backward);
        assert_eq!(
            (back.stop, back.log),
            (Stop::Start, vec!["x 6".into(), "x 3".into(), "x 1.5".into()])
        );
    }

    #[test]
    fn a_watched_value_tells_its_change_and_one_stop_removes_a_temporary_breakpoint() {
        let mut recording = doubling();
        let mut points = Breakpoints::default();
        let value = expression::parse("temp[0].x", &[]).unwrap();
        points.add(Breakpoint::new(Owner::Data, Break::Changes(value), "watch x".to_owned()));
        let mut once = at(2);
        once.once = true;
        points.add(once);
        let told: Vec<String> = std::iter::from_fn(|| {
            let ran = points.run(&mut recording, Direction::Forward);
            let all: Vec<String> = ran.hits.iter().map(Hit::description).collect();
            (!all.is_empty()).then(|| all.join("; "))
        })
        .take(9)
        .collect();
        assert_eq!(
            told,
            [
                "watch x: 0 -> 1.5",
                "watch x: 1.5 -> 3",
                "watch x: 3 -> 6",
                "watch x: 6 -> 12; break 2"
            ]
        );
        assert_eq!(points.iter().count(), 1);
    }

    #[test]
    fn the_nearest_position_is_found_in_both_directions() {
        let positions = [2, 5, 9];
        let forward = |from| nearest(&positions, from, Direction::Forward);
        let backward = |from| nearest(&positions, from, Direction::Backward);
        assert_eq!([0, 2, 5, 9].map(forward), [Some(2), Some(5), Some(9), None]);
        assert_eq!([0, 2, 5, 10].map(backward), [None, None, Some(2), Some(9)]);
    }
}
