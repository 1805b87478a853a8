//! Runs to breakpoints.
//!
//! Hits are counted from the start of the program, in the recorded run: a breakpoint with a hit count stops at the same
//! steps in both directions.

use std::collections::BTreeMap;

use r500::exec::record::expr::Value;
use r500::exec::record::{Break, Direction, Expr, Stop};

use super::breakpoint::{Breakpoint, LogMessage, Owner, Part};
use super::session::Session;
use super::subject::Subject;
use super::text;

/// Limit of the steps of a run that log messages.
const MESSAGES: usize = 1000;

/// The result of a run to a breakpoint.
pub(in crate::command) struct Ran {
    pub(in crate::command) stop: Stop,
    /// The breakpoints at the stop.
    pub(in crate::command) hits: Vec<Hit>,
    /// Messages on the way, each with a line end.
    pub(in crate::command) log: Vec<String>,
}

/// A breakpoint that stopped a run.
pub(in crate::command) struct Hit {
    pub(in crate::command) number: usize,
    pub(in crate::command) owner: Owner,
    text: String,
    /// Whether the breakpoint is now gone.
    pub(super) once: bool,
    /// The watched value before the last step, unless that was the start or had none, and now, if it has one.
    change: Option<(Option<Value>, Option<Value>)>,
}

impl Hit {
    /// Returns the breakpoint as entered, with the change of a watched value.
    pub(in crate::command) fn description(&self) -> String {
        let change = self.change.as_ref();
        let change = change.map(|(before, now)| match now {
            Some(now) => text::change(before.as_ref(), now),
            None => ": no value any more".to_owned(),
        });
        format!("{}{}", self.text, change.unwrap_or_default())
    }
}

impl<M: Subject> Session<M> {
    /// Runs to the nearest breakpoint, else to the end or start of the run.
    pub(in crate::command) fn run(&mut self, direction: Direction) -> Ran {
        let from = self.recording.position();
        self.list_positions();
        let enabled = || self.breakpoints.iter().filter(|point| point.enabled);
        let plain: Vec<Break<M::Variable>> =
            enabled().filter(|p| !p.is_listed()).map(|p| p.stop.clone()).collect();
        let stops = enabled().filter(|point| point.message.is_none());
        let listed =
            stops.filter_map(|point| nearest(point.positions.as_deref()?, from, direction));
        let listed = match direction {
            Direction::Forward => listed.min(),
            Direction::Backward => listed.max(),
        };
        let mut stop = self.recording.run(direction, &plain);
        if let Some(listed) = listed {
            let here = self.recording.position();
            let sooner = match direction {
                Direction::Forward => listed <= here,
                Direction::Backward => listed >= here,
            };
            if sooner {
                self.recording.seek(listed);
                stop = Stop::Break(0);
            }
        }
        let log = self.log_since(from);
        let hits = if matches!(stop, Stop::Break(_)) { self.hit_here() } else { Vec::new() };
        Ran { stop, hits, log }
    }

    /// Returns the messages of breakpoints from a position to the current one, in the order of the run.
    pub(in crate::command) fn log_since(&mut self, from: usize) -> Vec<String> {
        self.list_positions();
        let to = self.recording.position();
        let between =
            |at: usize| if from <= to { from < at && at <= to } else { to <= at && at < from };
        let mut all: BTreeMap<usize, Vec<LogMessage<M::Variable>>> = BTreeMap::new();
        for point in self.breakpoints.iter_mut().filter(|point| point.enabled) {
            let (Some(message), Some(positions)) = (&point.message, &point.positions) else {
                continue;
            };
            for &at in positions.iter().filter(|&&at| between(at)) {
                all.entry(at).or_default().push(message.clone());
                point.hits += 1;
            }
        }
        let count = all.len();
        let mut order: Vec<(usize, Vec<LogMessage<M::Variable>>)> = all.into_iter().collect();
        if to < from {
            order.reverse();
        }
        let mut lines = Vec::new();
        for (at, messages) in order.into_iter().take(MESSAGES) {
            self.recording.seek(at);
            lines.extend(messages.iter().map(|message| line(message, self)));
        }
        if count > MESSAGES {
            lines.push(format!("messages of {} more steps are left out\n", count - MESSAGES));
        }
        self.recording.seek(to);
        lines
    }

    /// Computes the positions of breakpoints that need them.
    fn list_positions(&mut self) {
        for point in &mut self.breakpoints {
            if !point.enabled || !point.is_listed() || point.positions.is_some() {
                continue;
            }
            let mut positions = self.recording.hits(&point.stop, point.condition.as_ref());
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
    fn hit_here(&mut self) -> Vec<Hit> {
        let here = self.recording.position();
        let stops: Vec<Break<M::Variable>> =
            self.breakpoints.iter().map(|point| point.stop.clone()).collect();
        let at: Vec<usize> = self.recording.breaks_here(&stops).collect();
        let mut hits = Vec::new();
        for (i, stop) in stops.iter().enumerate() {
            let point = &self.breakpoints[i];
            let stopped = match &point.positions {
                Some(positions) if point.is_listed() => positions.binary_search(&here).is_ok(),
                _ => at.contains(&i),
            };
            if !stopped || !point.enabled || point.message.is_some() {
                continue;
            }
            let change = match stop {
                Break::Changes(expr) => Some((self.before(expr), self.value(expr).ok())),
                _ => None,
            };
            let point = &mut self.breakpoints[i];
            point.hits += 1;
            let &mut Breakpoint { number, owner, once, .. } = point;
            hits.push(Hit { number, owner, text: point.description(), once, change });
        }
        self.breakpoints
            .retain(|point| !point.once || !hits.iter().any(|hit| hit.number == point.number));
        hits
    }

    /// Returns a value before the last step.
    fn before(&mut self, expr: &Expr<M::Variable>) -> Option<Value> {
        let there = self.recording.step(Direction::Backward) == Stop::Reached;
        let value = there.then(|| self.value(expr).ok()).flatten();
        if there {
            self.recording.step(Direction::Forward);
        }
        value
    }
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

/// Returns a message with the current values, and a line end.
fn line<M: Subject>(message: &LogMessage<M::Variable>, session: &Session<M>) -> String {
    let part = |part: &Part<M::Variable>| match part {
        Part::Text(text) => text.clone(),
        Part::Value(expr) => session
            .value(expr)
            .map_or_else(|unknown| format!("({unknown})"), |value| text::value(&value)),
    };
    message.0.iter().map(part).chain(["\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_position_is_found_in_both_directions() {
        let positions = [2, 5, 9];
        let forward = |from| nearest(&positions, from, Direction::Forward);
        let backward = |from| nearest(&positions, from, Direction::Backward);
        assert_eq!([0, 2, 5, 9].map(forward), [Some(2), Some(5), Some(9), None]);
        assert_eq!([0, 2, 5, 10].map(backward), [None, None, Some(2), Some(9)]);
    }
}
