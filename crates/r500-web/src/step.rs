//! A pixel's recorded run, shown step by step.

use r500::breakpoint::{self, HitCondition, LogMessage, Owner};
use r500::breakpoints::Breakpoints;
use r500::exec::record::{Break, Direction, DrawSetup, End, Recording, Snapshot, Stop, Variable};
use r500::exec::reference::{Event, EventKind, Lane, LaneState, Step, Write};
use r500::expression::{self, Names};
use r500::program::Uniform;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::operands::{self, HalfShown};

/// A recorded pixel, at a position of its run.
pub struct Stepping {
    recording: Recording,
    names: Vec<Uniform>,
    /// The breakpoints of the last movement: their positions in the run are not found anew for each step.
    breaks: Vec<Breakpoint>,
    breakpoints: Breakpoints<Variable>,
    /// Where the pixels of the recorded picture are in the picture of the page.
    places: Box<dyn Places>,
}

/// Where the pixels of a recorded picture are in the picture of the page. Of rows that go down, the page has rows that go up.
pub(crate) trait Places {
    /// Returns the place in the picture of the page.
    fn shown(&self, pixel: [u32; 2]) -> [u32; 2];
    /// Returns the place in the recorded picture.
    fn recorded(&self, pixel: [u32; 2]) -> [u32; 2];
}

/// The recorded picture is that of the page.
struct Same;

impl Places for Same {
    fn shown(&self, pixel: [u32; 2]) -> [u32; 2] {
        pixel
    }

    fn recorded(&self, pixel: [u32; 2]) -> [u32; 2] {
        pixel
    }
}

/// A movement in the run.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Going {
    how: How,
    #[serde(default)]
    backward: bool,
    /// The position, for `seek`.
    #[serde(default)]
    position: usize,
    /// The pixel, for `watch`.
    #[serde(default)]
    pixel: [u32; 2],
    /// The breakpoints of `run`.
    #[serde(default)]
    breaks: Vec<Breakpoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Way"))]
#[serde(rename_all = "camelCase")]
pub(crate) enum How {
    /// One instruction.
    Step,
    /// To the next instruction that the pixel executes.
    Active,
    /// Over a loop or call.
    Over,
    /// Out of a loop or call.
    Out,
    /// To a breakpoint.
    Run,
    /// To a position.
    Seek,
    /// To another pixel of the group.
    Watch,
}

/// A breakpoint: at an address, where a condition becomes true, or both; or where a value changes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Breakpoint {
    address: Option<u32>,
    condition: Option<String>,
    /// The run stops when this expression changes its value.
    changes: Option<String>,
    /// Which of its hits count, from the start of the run: `3`, `>= 3`, `% 3`.
    hits: Option<String>,
    /// A message that it logs instead of stopping, with values in braces: `r is {temp[1].r}`.
    message: Option<String>,
}

/// A recorded run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recorded {
    /// Number of steps.
    length: usize,
    /// Why the run was not recorded to its end.
    stopped: Option<String>,
    /// The address that each step executes, 32 bits each.
    addresses: Bytes,
    /// The state at the start.
    shown: Shown,
}

/// The state at a position of the run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Moment"))]
pub struct Shown {
    /// Steps executed.
    position: usize,
    /// Address of the next instruction; none at the end.
    address: Option<u32>,
    /// Why the movement stopped here: `there`, `break`, `start` or `end`.
    #[cfg_attr(test, ts(type = "\"there\" | \"break\" | \"start\" | \"end\""))]
    stop: &'static str,
    /// The indices of the breakpoints that stopped it.
    breakpoints: Vec<usize>,
    /// Messages of breakpoints on the way, in the order of the run.
    log: Vec<String>,
    /// Column and row of the pixel.
    pixel: [u32; 2],
    /// Left, bottom, width, height of its group.
    group: [u32; 4],
    active: bool,
    /// The effect of the last step.
    done: Option<Did>,
    /// The effect of the next step.
    coming: Option<Did>,
    /// The halves of the next instruction, if it is one of the ALU.
    halves: Vec<HalfShown>,
    lanes: Vec<LaneShown>,
    /// Number, channels ever written, and value of each temporary that was written.
    temps: Vec<(usize, u8, [u32; 4])>,
    predicate: u8,
    predicate_set: u8,
    alu_result: bool,
    alu_result_set: bool,
    /// Channels written and value of each output.
    outputs: Vec<(u8, [u32; 4])>,
    depth: Option<u32>,
    al: i32,
    loops: Vec<LoopShown>,
    calls: Vec<u32>,
    /// The final colours of the pixel: A to D.
    delivered: [[u32; 4]; 4],
    delivered_depth: Option<u32>,
}

/// A pixel of the group.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Lane"))]
pub(crate) struct LaneShown {
    x: u32,
    y: u32,
    /// Whether it executes the next instruction.
    executes: bool,
    /// Its state: `active`, `branch`, `break`, `continue`, `killed`, `uncovered` or `outside`.
    #[cfg_attr(
        test,
        ts(
            type = "\"active\" | \"branch\" | \"break\" | \"continue\" | \"killed\" | \"uncovered\" | \"outside\""
        )
    )]
    state: &'static str,
    /// Nesting levels to leave until it is active again.
    levels: u32,
    /// Whether it entered the innermost running loop; `None` outside of loops.
    entered: Option<bool>,
}

/// A running loop.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "RunningLoop"))]
pub(crate) struct LoopShown {
    /// Remaining iterations, including the current one.
    count: u32,
    al: i32,
}

/// The effect of a step on the pixel.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Did {
    address: u32,
    active: bool,
    #[serde(flatten)]
    what: What,
    writes: Vec<Written>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Effect"))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum What {
    Skipped,
    Alu { rgb: [[u32; 3]; 3], alpha: [u32; 3], raw: [u32; 4], result: [u32; 4], enabled: u8 },
    Tex { coord: [u32; 4], texel: Option<[u32; 4]>, enabled: u8, killed: bool },
    Flow { wants: bool, voted: bool, voters: usize, favour: usize, taken: bool, next: u32 },
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Write"))]
#[serde(tag = "to", rename_all = "camelCase")]
pub(crate) enum Written {
    Temp { number: u8, mask: u8, value: [u32; 4] },
    Output { number: u8, mask: u8, value: [u32; 4] },
    Depth { value: u32 },
    Predicate { mask: u8, bits: u8 },
    AluResult { value: bool },
}

impl Stepping {
    /// Records a pixel.
    ///
    /// # Errors
    /// The reason why it cannot be recorded.
    pub fn new(scene: DrawSetup, pixel: [u32; 2], names: Vec<Uniform>) -> Result<Self, String> {
        Self::of_part(scene, pixel, names, Box::new(Same))
    }

    /// Records a pixel of a picture whose pixels are elsewhere in the picture of the page.
    ///
    /// # Errors
    /// The reason why it cannot be recorded.
    pub(crate) fn of_part(
        scene: DrawSetup,
        pixel: [u32; 2],
        names: Vec<Uniform>,
        places: Box<dyn Places>,
    ) -> Result<Self, String> {
        let recording = Recording::new(scene, pixel).map_err(|error| error.to_string())?;
        Ok(Self {
            recording,
            names,
            breaks: Vec::new(),
            breakpoints: Breakpoints::default(),
            places,
        })
    }

    /// Returns the address of each step's instruction, as bytes.
    #[must_use]
    pub fn addresses(&self) -> Vec<u8> {
        self.recording.addresses().flat_map(u32::to_le_bytes).collect()
    }

    /// Returns the recording.
    #[must_use]
    pub fn recorded(&self, addresses: Bytes) -> Recorded {
        let stopped = match self.recording.end() {
            End::Ended => None,
            End::Stopped(error) => Some(error.to_string()),
        };
        let shown = self.shown(Stop::Reached, Vec::new(), Vec::new());
        Recorded { length: self.recording.len(), stopped, addresses, shown }
    }

    /// Moves to another position, and returns the state there.
    ///
    /// # Errors
    /// The error in a condition.
    pub fn go(&mut self, going: &Going) -> Result<Shown, String> {
        let direction = if going.backward { Direction::Backward } else { Direction::Forward };
        self.set_breakpoints(&going.breaks)?;
        let (recording, breakpoints) = (&mut self.recording, &mut self.breakpoints);
        let from = recording.position();
        let stop = match going.how {
            How::Step => recording.step(direction),
            How::Active => recording.step_active(direction),
            How::Over => recording.step_over(direction),
            How::Out => recording.step_out(direction),
            How::Seek => {
                recording.seek(going.position);
                Stop::Reached
            }
            How::Watch => {
                recording.watch(self.places.recorded(going.pixel));
                // Another pixel stops elsewhere.
                breakpoints.forget_run(&mut |_| ());
                Stop::Reached
            }
            How::Run => {
                let ran = breakpoints.run(recording, direction);
                // They are numbered from 1 in their order.
                let hits = ran.hits.iter().map(|hit| hit.number - 1).collect();
                return Ok(self.shown(ran.stop, hits, ran.log));
            }
        };
        let moves = !matches!(going.how, How::Seek | How::Watch);
        let log = if moves { breakpoints.log_since(recording, from) } else { Vec::new() };
        Ok(self.shown(stop, Vec::new(), log))
    }

    /// Takes the breakpoints of a movement, which the page keeps.
    fn set_breakpoints(&mut self, wanted: &[Breakpoint]) -> Result<(), String> {
        if self.breaks == wanted {
            return Ok(());
        }
        let mut breakpoints = Breakpoints::default();
        for one in wanted {
            breakpoints.add(one.parsed(&self.names)?);
        }
        (self.breaks, self.breakpoints) = (wanted.to_vec(), breakpoints);
        Ok(())
    }

    fn shown(&self, stop: Stop, breakpoints: Vec<usize>, log: Vec<String>) -> Shown {
        let now = self.recording.now();
        let state = now.state();
        let pixel = now.pixel();
        let block = state.rect();
        let ends = [[block.x, block.y], [block.x + block.width - 1, block.y + block.height - 1]];
        let [[left, first], [_, last]] = ends.map(|end| self.places.shown(end));
        let delivered = self.recording.delivered();
        let temps = pixel.temps.iter().zip(pixel.written).enumerate();
        let temps = temps.filter(|(_, (_, written))| *written != 0);
        Shown {
            position: self.recording.position(),
            address: (!state.ended()).then(|| now.address()),
            stop: match stop {
                Stop::Reached => "there",
                Stop::Break(_) => "break",
                Stop::Start => "start",
                Stop::End => "end",
            },
            breakpoints,
            log,
            pixel: self.places.shown([pixel.x, pixel.y]),
            group: [left, first.min(last), block.width, block.height],
            active: now.active() && !state.ended(),
            done: self.recording.last_step().and_then(did),
            coming: self.recording.next_step().and_then(did),
            halves: now.instruction().map(operands::halves).unwrap_or_default(),
            lanes: lanes(&now, &*self.places),
            temps: temps.map(|(n, (value, mask))| (n, mask, bits(value))).collect(),
            predicate: pixel.predicate,
            predicate_set: pixel.predicate_set,
            alu_result: pixel.alu_result,
            alu_result_set: pixel.alu_result_set,
            outputs: pixel
                .color_written
                .iter()
                .copied()
                .zip(pixel.color.iter().map(bits))
                .collect(),
            depth: pixel.depth.map(f32::to_bits),
            al: now.al(),
            loops: state.loops().iter().map(|l| LoopShown { count: l.count, al: l.al }).collect(),
            calls: state.calls().to_vec(),
            delivered: delivered.color.each_ref().map(bits),
            delivered_depth: delivered.depth.map(f32::to_bits),
        }
    }
}

impl Breakpoint {
    fn parsed(&self, names: &[Uniform]) -> Result<breakpoint::Breakpoint<Variable>, String> {
        let stop = self.stop(names)?;
        let mut point = breakpoint::Breakpoint::new(Owner::Command, stop, String::new());
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        if let Some(hits) = given(&self.hits) {
            point.set_hit_condition(Some(HitCondition::parse(&hits)?));
        }
        if let Some(message) = given(&self.message) {
            point.set_message(Some(LogMessage::parse(&message, Names::of_constants(names))?));
        }
        Ok(point)
    }

    fn stop(&self, names: &[Uniform]) -> Result<Break, String> {
        let told = |error: expression::ExpressionError| error.to_string();
        if let Some(text) = &self.changes {
            return Ok(Break::Changes(expression::parse(text, names).map_err(told)?));
        }
        let condition = self.condition.as_ref();
        let condition = condition.map(|text| expression::parse_condition(text, names));
        match (self.address, condition.transpose().map_err(told)?) {
            (Some(address), None) => Ok(Break::At(address)),
            (Some(address), Some(condition)) => Ok(Break::AtIf(address, condition)),
            (None, Some(condition)) => Ok(Break::If(condition)),
            (None, None) => Err("a breakpoint needs a place or a condition".to_owned()),
        }
    }
}

/// Checks the texts of a breakpoint.
///
/// # Errors
/// What is wrong with it.
pub fn check(breakpoint: &Breakpoint, names: &[Uniform]) -> Result<(), String> {
    breakpoint.parsed(names).map(drop)
}

fn lanes(now: &Snapshot<'_>, places: &dyn Places) -> Vec<LaneShown> {
    let all = now.state().lanes().iter().zip(now.active_lanes()).enumerate();
    let ended = now.state().ended();
    let innermost = now.state().loops().last().filter(|_| !ended);
    all.map(|(n, (lane, executes))| {
        let (state, levels) = state(lane);
        let entered = innermost.and_then(|frame| frame.entered.get(n).copied());
        let executes = executes && !ended;
        let [x, y] = places.shown([lane.x, lane.y]);
        LaneShown { x, y, executes, state, levels, entered }
    })
    .collect()
}

fn state(lane: &Lane) -> (&'static str, u32) {
    match lane.state {
        _ if !lane.inside => ("outside", 0),
        _ if lane.killed => ("killed", 0),
        LaneState::Branch(levels) => ("branch", levels + 1),
        LaneState::Break(levels) => ("break", levels),
        LaneState::Continue(levels) => ("continue", levels),
        LaneState::Active if !lane.covered => ("uncovered", 0),
        LaneState::Active => ("active", 0),
    }
}

fn did(step: &Step) -> Option<Did> {
    let Event { address, active, kind, writes } = step.event.as_ref()?;
    let what = match kind {
        EventKind::Skipped => What::Skipped,
        EventKind::Alu { rgb, alpha, raw, result, enabled } => What::Alu {
            rgb: rgb.each_ref().map(|operand| operand.map(f32::to_bits)),
            alpha: alpha.map(f32::to_bits),
            raw: bits(raw),
            result: bits(result),
            enabled: *enabled,
        },
        EventKind::Tex { coord, texel, enabled, killed, .. } => What::Tex {
            coord: bits(coord),
            texel: texel.as_ref().map(bits),
            enabled: *enabled,
            killed: *killed,
        },
        EventKind::Flow(jump) => What::Flow {
            wants: jump.jumps,
            voted: jump.voted,
            voters: jump.voters,
            favour: jump.votes_for,
            taken: jump.taken,
            next: jump.next,
        },
    };
    let writes = writes.iter().map(|write| match *write {
        Write::Temp { temp, mask, value } => {
            Written::Temp { number: temp, mask, value: bits(&value) }
        }
        Write::Output { target, mask, value } => {
            Written::Output { number: target, mask, value: bits(&value) }
        }
        Write::Depth(value) => Written::Depth { value: value.to_bits() },
        Write::Predicate { mask, bits } => Written::Predicate { mask, bits },
        Write::AluResult(value) => Written::AluResult { value },
    });
    Some(Did { address: *address, active: *active, what, writes: writes.collect() })
}

fn bits(value: &[f32; 4]) -> [u32; 4] {
    value.map(f32::to_bits)
}
