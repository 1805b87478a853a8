//! The scopes of a pixel: its registers and state, and its group.

use r500::exec::record::{PixelGroup, Snapshot};
use r500::exec::reference::{Lane, LaneState, LoopFrame};
use r500::isa::{TARGETS, TEMPORARIES};

use super::references::{Node, Shown};
use super::target::{Inspected, Target};
use super::variables::{expression, registers, with_bits};
use crate::command::debug::pixel::used_temporaries;
use crate::command::float_format::{self, vector};
use crate::command::trace::state_name;

impl Inspected for PixelGroup {
    const SCOPES: &'static [(&'static str, Node)] = &[
        ("Registers", Node::Registers),
        ("Outputs", Node::Outputs),
        ("Constants", Node::Constants),
        ("State", Node::State),
        ("Group", Node::Group),
    ];

    fn parts(target: &Target<Self>, node: &Node) -> Result<Vec<Shown>, String> {
        let session = &target.session;
        let now = session.recording.now();
        Ok(match node {
            Node::Registers => {
                let used = used_temporaries(session).into_iter();
                return registers(target, used.map(|n| format!("temp[{n}]")));
            }
            Node::Outputs => {
                let written = (0..TARGETS).filter(|&n| now.pixel().color_written[n] != 0);
                let colors = written.map(|n| format!("out[{n}]"));
                let depth = now.pixel().depth.map(|_| "depth".to_owned());
                return registers(target, colors.chain(depth));
            }
            Node::State => return state(target),
            Node::Group => group(&now),
            Node::Loops => {
                let line = |(n, frame): (usize, &LoopFrame)| {
                    let value = format!("{} left, aL {}", frame.count, frame.al);
                    Shown::plain(&format!("loop {n}"), value)
                };
                (1..).zip(now.state().loops()).map(line).collect()
            }
            Node::Lane(lane) => lane_parts(&now, *lane)?,
            Node::LaneTemp(lane, n) => {
                let temps = now.state().lanes().get(*lane).and_then(|lane| lane.temps.get(*n));
                let value = temps.ok_or("there is no such register")?;
                let channel =
                    |(letter, &x): (char, &f32)| Shown::plain(&letter.to_string(), with_bits(x));
                "rgba".chars().zip(value).map(channel).collect()
            }
            _ => return Err("a pixel has no such values".to_owned()),
        })
    }
}

fn state(target: &Target<PixelGroup>) -> Result<Vec<Shown>, String> {
    let now = target.session.recording.now();
    let pixel = now.pixel();
    let active =
        if now.active() { "yes".to_owned() } else { format!("no: {}", state_name(pixel.state)) };
    let (loops, calls) = (now.state().loops(), now.state().calls());
    Ok(vec![
        expression(target, "step", "step")?,
        expression(target, "address", "address")?,
        Shown { expression: Some("active".to_owned()), ..Shown::plain("active", active) },
        expression(target, "predicate", "pred")?,
        expression(target, "alu_result", "alu_result")?,
        expression(target, "aL", "aL")?,
        Shown::counted("loops", loops.len(), Node::Loops),
        Shown::counted("calls", calls.len(), Node::Calls),
    ])
}

fn group(now: &Snapshot<'_>) -> Vec<Shown> {
    let ended = now.state().ended();
    let all = now.state().lanes().iter().zip(now.active_lanes()).enumerate();
    let shown = |(n, (lane, executes)): (usize, (&Lane, bool))| {
        let state = match lane.state {
            _ if lane.killed => "killed".to_owned(),
            _ if executes && !ended => "executes".to_owned(),
            LaneState::Active => "stopped".to_owned(),
            state => state_name(state),
        };
        let parts = written(lane).count() + 1;
        Shown {
            parts: Some((Node::Lane(n), parts)),
            ..Shown::plain(&format!("{},{}", lane.x, lane.y), state)
        }
    };
    all.filter(|(_, (lane, _))| lane.inside).map(shown).collect()
}

/// Returns the temporaries that a lane has written so far.
fn written(lane: &Lane) -> impl Iterator<Item = usize> + '_ {
    (0..TEMPORARIES).filter(|&n| lane.written[n] != 0)
}

/// Returns the registers of a pixel of the group.
fn lane_parts(now: &Snapshot<'_>, n: usize) -> Result<Vec<Shown>, String> {
    let lane = now.state().lanes().get(n).ok_or("there is no such pixel")?;
    let temp = |t: usize| Shown {
        parts: Some((Node::LaneTemp(n, t), 4)),
        ..Shown::plain(&format!("temp[{t}]"), vector(&lane.temps[t]))
    };
    let set = float_format::letters(lane.predicate);
    let predicate = Shown::plain("predicate", if set.is_empty() { "none".to_owned() } else { set });
    Ok(written(lane).map(temp).chain([predicate]).collect())
}
