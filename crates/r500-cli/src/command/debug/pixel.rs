//! The debugger of a pixel: its group, registers, areas of the picture.

use r500::compile::variables::{Inspector, Moments, Place, Stop};
use r500::exec::record::{DrawSetup, End, PixelGroup, Recording, Snapshot};
use r500::exec::reference::{Lane, LaneState, Step, Write};
use r500::exec::{PixelRect, RunError};
use r500::isa::TEMPORARIES;
use r500::trace::InstructionTexts;
use r500_stream::counted;

use super::area::{AreaQuery, BackgroundQuery, Found, Measure};
use super::debugged::Debugged;
use super::language::{Kind, Verb};
use super::reply::Reply;
use super::session::Session;
use super::subject::{Mask, MaskCell, Register, Subject};
use super::text;
use crate::command::engine_args::finding_weight;
use crate::command::float_format::{self, letters, vector};
use crate::command::source_map::SourceMap;
use crate::command::syntax;
use crate::command::trace::{self, state_name};

impl Session<PixelGroup> {
    /// Records a pixel of a draw.
    pub(in crate::command) fn new(
        name: String,
        map: SourceMap,
        setup: DrawSetup,
        pixel: [u32; 2],
    ) -> Result<Self, RunError> {
        let recording = Recording::new(setup, pixel)?;
        let texts = InstructionTexts::new(&recording.setup().shader);
        Ok(Self::of(name, map, texts, recording, ()))
    }

    /// Returns the inspected pixel.
    pub(in crate::command) fn pixel(&self) -> [u32; 2] {
        let moment = self.recording.now();
        [moment.pixel().x, moment.pixel().y]
    }

    /// Selects another pixel, at the same step if it is in the same group.
    fn look_at(&mut self, pixel: [u32; 2]) -> Result<(), String> {
        let [width, height] = self.recording.setup().bindings.size();
        if pixel[0] >= width || pixel[1] >= height {
            return Err(format!(
                "{},{} is outside the picture of {width}x{height}",
                pixel[0], pixel[1]
            ));
        }
        if !self.recording.watch(pixel) {
            let scene = self.recording.setup().clone();
            self.recording = Recording::new(scene, pixel).map_err(|error| error.to_string())?;
        }
        self.forget_run();
        Ok(())
    }

    fn picture(&self) -> PixelRect {
        let [width, height] = self.recording.setup().bindings.size();
        PixelRect { x: 0, y: 0, width, height }
    }

    /// Parses `COND [in X,Y,WxH]` and starts the query.
    fn first(&self, rest: &str) -> Result<BackgroundQuery, String> {
        let (written, area) = match rest.rsplit_once(" in ") {
            Some((written, area)) => (written.trim(), syntax::area(area.trim())?),
            None => (rest, self.picture()),
        };
        let question = AreaQuery::Sight(self.condition_of_machine(written)?, written.to_owned());
        BackgroundQuery::new(self.recording.setup(), area, question)
    }

    /// Parses `[executed|waited] [X,Y,WxH]` and starts the query.
    fn heat(&self, rest: &str) -> Result<BackgroundQuery, String> {
        let (mut area, mut measure) = (self.picture(), Measure::Executed);
        for word in rest.split_whitespace() {
            match word {
                "executed" => measure = Measure::Executed,
                "waited" => measure = Measure::Waited,
                word => area = syntax::area(word)?,
            }
        }
        BackgroundQuery::new(self.recording.setup(), area, AreaQuery::Heat(measure))
    }
}

impl Debugged for PixelGroup {
    type Others = ();

    const KIND: Kind = Kind::Pixel;
    const NOTHING_THERE: &'static str = "is outside the code window";

    fn dwords(&self, address: u32) -> Option<Vec<u32>> {
        Some(self.setup().shader.instruction(address)?.0.to_vec())
    }

    fn is_executable(&self, address: u32) -> bool {
        self.setup().shader.op(address).is_some()
    }

    fn addresses(&self) -> (u32, u32) {
        self.setup().shader.window().addresses()
    }

    fn address_of(step: &Step) -> u32 {
        step.address
    }

    fn effects(&self, step: &Step) -> Vec<String> {
        let Some(event) = &step.event else { return Vec::new() };
        let mut lines = trace::effects(event, step.address);
        if !event.active && event.writes.is_empty() {
            lines.push("the pixel is inactive".to_owned());
        }
        lines
    }

    fn calls(&self, state: &Self::State) -> Vec<u32> {
        state.calls().to_vec()
    }

    fn inactive(now: &Snapshot<'_, Self>) -> String {
        match now.pixel().state {
            LaneState::Active => " (stopped)".to_owned(),
            state => format!(" (inactive: {})", state_name(state)),
        }
    }

    fn fate(now: &Snapshot<'_, Self>) -> Option<&'static str> {
        let pixel = now.pixel();
        Some(match (pixel.killed, pixel.output().covered) {
            (true, _) => "killed: nothing is delivered",
            (false, false) => "not covered: nothing is delivered",
            (false, true) => "delivered",
        })
    }

    fn nesting(now: &Snapshot<'_, Self>) -> Vec<String> {
        let loops = (1..).zip(now.state().loops()).map(|(depth, frame)| {
            let entered = frame.entered.iter().filter(|&&entered| entered).count();
            format!(
                "loop {depth}: {} left, aL {}, {} entered",
                counted(frame.count, "iteration"),
                frame.al,
                counted(entered, "pixel")
            )
        });
        let calls = (1..).zip(now.state().calls());
        let calls = calls.map(|(depth, address)| format!("call {depth}: returns to @{address}"));
        loops.chain(calls).collect()
    }

    fn moments(recording: &Recording<Self>, inspector: &Inspector, stops: &[Stop]) -> Moments {
        let now = recording.now();
        inspector.of_pixel(&recording.setup().bindings, [now.pixel().x, now.pixel().y], stops)
    }

    fn register(now: &Snapshot<'_, Self>, place: Place) -> f32 {
        place.of_pixel(now.pixel(), &now.setup().bindings)
    }

    fn short_flags(now: &Snapshot<'_, Self>) -> String {
        let pixel = now.pixel();
        let set = letters(pixel.predicate);
        let set = if set.is_empty() { "none" } else { &set };
        format!("pred {set}, alu {}, aL {}", pixel.alu_result, now.al())
    }
}

impl Subject for PixelGroup {
    const TOPICS: &'static [&'static str] = &[
        "step",
        "done",
        "registers",
        "constants",
        "outputs",
        "group",
        "loops",
        "breakpoints",
        "pixel",
        "work",
        "end",
        "variables",
    ];
    const TABLES: &'static [&'static str] = &["registers", "constants", "outputs"];
    const COLORS: bool = true;

    fn greeting(session: &Session<Self>) -> String {
        let recording = &session.recording;
        let moment = recording.now();
        let (pixel, block) = (moment.pixel(), moment.state().rect());
        let [width, height] = recording.setup().bindings.size();
        let mut text = format!(
            "{}: pixel {},{} of {width}x{height}, in the group of {}x{} pixels at {},{}; {} recorded\n",
            session.name,
            pixel.x,
            pixel.y,
            block.width,
            block.height,
            block.x,
            block.y,
            counted(recording.len(), "step")
        );
        if let End::Stopped(error) = recording.end() {
            text.push_str(&format!("the recording ends early: {error}\n"));
        }
        text
    }

    fn selected(session: &Session<Self>) -> String {
        let [x, y] = session.pixel();
        format!("pixel {x},{y}")
    }

    fn note(_: &Session<Self>) -> Option<String> {
        None
    }

    fn pixel(session: &Session<Self>) -> Option<[u32; 2]> {
        Some(session.pixel())
    }

    fn info(session: &Session<Self>, topic: &str, rest: &str) -> Result<String, String> {
        Ok(match topic {
            "registers" => registers(session, rest == "all"),
            "constants" => constants(session),
            "outputs" => outputs(session),
            "group" => group(&session.recording.now()),
            "pixel" => pixel(session),
            "work" => work(session),
            _ => end(session),
        })
    }

    fn table(session: &Session<Self>, table: usize) -> Vec<Register> {
        let now = session.recording.now();
        let (pixel, setup) = (now.pixel(), session.recording.setup());
        let plain = |name: String, value: [f32; 4], written: u8| Register {
            name,
            value,
            written,
            fresh: 0,
            note: String::new(),
        };
        match table {
            0 => used_temporaries(session)
                .into_iter()
                .map(|n| {
                    let value = pixel.temps.get(n).copied().unwrap_or_default();
                    let fresh = just_written(session, n);
                    Register { fresh, ..plain(format!("temp[{n}]"), value, pixel.written[n]) }
                })
                .collect(),
            1 => provided_constants(session)
                .into_iter()
                .map(|n| {
                    let value = setup.bindings.constant(n).unwrap_or_default();
                    let note = text::constant_names(session, n);
                    Register { note, ..plain(format!("const[{n}]"), value, 0b1111) }
                })
                .collect(),
            _ => (0..4)
                .filter(|&n| setup.shader.targets()[n])
                .map(|n| plain(format!("out[{n}]"), pixel.color[n], pixel.color_written[n]))
                .collect(),
        }
    }

    fn state_lines(session: &Session<Self>) -> Vec<String> {
        let now = session.recording.now();
        let pixel = now.pixel();
        let executing = now.active_lanes().filter(|&executes| executes).count();
        let lanes = now.state().lanes().len();
        let covered = match (pixel.killed, pixel.covered) {
            (true, _) => ", killed",
            (false, false) => ", not covered",
            _ => "",
        };
        let mut lines =
            vec![format!("{}{covered}; {executing} of {lanes} active", state_name(pixel.state))];
        lines.push(flags(&now));
        lines.extend(Self::nesting(&now));
        for (n, (color, written)) in pixel.color.iter().zip(pixel.color_written).enumerate() {
            if written != 0 {
                lines.push(format!("out[{n}] = {}", vector(color)));
            }
        }
        if let Some(depth) = pixel.depth {
            lines.push(format!("depth = {}", float_format::text(depth)));
        }
        lines
    }

    fn mask(session: &Session<Self>) -> Option<Mask> {
        let now = session.recording.now();
        let executing: Vec<bool> = now.active_lanes().collect();
        let cell = |lane: usize| MaskCell {
            letter: lane_letter(&now.state().lanes()[lane], executing[lane]),
            is_own: lane == now.lane(),
            is_near: lane / 4 == now.lane() / 4,
        };
        let rows: Vec<Vec<MaskCell>> =
            rows(&now).into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
        let used: Vec<char> = rows.iter().flatten().map(|cell| cell.letter).collect();
        let shown = LANE_LETTERS.iter().filter(|(letter, _)| used.contains(letter));
        let legend = shown.map(|(letter, meaning)| format!("{letter} {meaning}")).collect();
        Some(Mask { rows, legend })
    }

    fn neighbor(session: &Session<Self>, dx: i64, dy: i64) -> Option<String> {
        let [x, y] = session.pixel();
        let moved = [i64::from(x) + dx, i64::from(y) + dy].map(u32::try_from);
        match moved {
            [Ok(x), Ok(y)] => Some(format!("pixel {x},{y}")),
            _ => None,
        }
    }

    fn select(session: &mut Session<Self>, argument: &str) -> Result<(), String> {
        session.look_at(syntax::pixel(argument)?)
    }

    fn ask(session: &Session<Self>, verb: Verb, argument: &str) -> Result<BackgroundQuery, String> {
        match verb {
            Verb::Heat => session.heat(argument),
            _ => session.first(argument),
        }
    }

    fn found(session: &mut Session<Self>, found: Found) -> Result<Reply, String> {
        let mut reply = Reply::default();
        let (seen, written) = match found {
            Found::Heat(heat, measure) => {
                reply.text = text::heat_summary(&heat, measure).join("\n");
                reply.heat = Some((heat, measure));
                return Ok(reply);
            }
            Found::Sight(seen, written) => (seen, written),
        };
        let pixels = seen.first.len();
        let Some((pixel, position)) = seen.earliest() else {
            reply.text = format!("none of {} makes {written} true\n", counted(pixels, "pixel"));
            return Ok(reply);
        };
        let [x, y] = pixel;
        reply.text = format!(
            "pixel {x},{y} first, after {}; {} of {} make {written} true\n",
            counted(position, "step"),
            seen.count(),
            counted(pixels, "pixel")
        );
        session.look_at(pixel)?;
        session.recording.seek(usize::try_from(position).unwrap_or(usize::MAX));
        reply.moved = true;
        Ok(reply)
    }
}

/// Returns the temporaries that are written by some pixel of the group in the run.
pub(in crate::command) fn used_temporaries(session: &Session<PixelGroup>) -> Vec<usize> {
    let last = session.recording.last();
    let lanes = last.state().lanes();
    (0..TEMPORARIES).filter(|&n| lanes.iter().any(|lane| lane.written[n] != 0)).collect()
}

/// Returns the channels of a temporary that the last step wrote for the pixel.
fn just_written(session: &Session<PixelGroup>, n: usize) -> u8 {
    let event = session.recording.last_step().and_then(|step| step.event.as_ref());
    let writes = event.map_or(&[][..], |event| &event.writes);
    writes.iter().fold(0, |mask, write| match write {
        Write::Temp { temp, mask: more, .. } if usize::from(*temp) == n => mask | more,
        _ => mask,
    })
}

fn registers(session: &Session<PixelGroup>, all: bool) -> String {
    let now = session.recording.now();
    let pixel = now.pixel();
    let list = if all { (0..TEMPORARIES).collect() } else { used_temporaries(session) };
    let mut text = String::new();
    for n in list {
        let Some(register) = pixel.temps.get(n) else { continue };
        let written = match pixel.written[n] {
            0 => "  (never written)".to_owned(),
            0b1111 => String::new(),
            mask => format!("  (only .{} written)", letters(mask)),
        };
        text.push_str(&format!(
            "temp[{n}] = {}  {}{written}\n",
            vector(register),
            text::color(register)
        ));
    }
    text.push_str(&flags(&now));
    text.push('\n');
    text
}

/// Returns predicate bits, ALU result and aL.
fn flags(now: &Snapshot<'_>) -> String {
    let pixel = now.pixel();
    let set = letters(pixel.predicate);
    let set = if set.is_empty() { "none" } else { &set };
    format!("pred = {set} set, alu_result = {}, aL = {}", pixel.alu_result, now.al())
}

/// Returns the indices of the provided constants.
fn provided_constants(session: &Session<PixelGroup>) -> Vec<usize> {
    let bindings = &session.recording.setup().bindings;
    (0..r500::isa::CONSTANTS).filter(|&n| bindings.constant(n).is_some()).collect()
}

fn constants(session: &Session<PixelGroup>) -> String {
    let bindings = &session.recording.setup().bindings;
    let mut text = String::new();
    for n in provided_constants(session) {
        let constant = bindings.constant(n).unwrap_or_default();
        let names = text::constant_names(session, n);
        text.push_str(format!("const[{n}] = {}  {names}", vector(&constant)).trim_end());
        text.push('\n');
    }
    if text.is_empty() { "the program has no constants\n".to_owned() } else { text }
}

/// Returns the outputs so far.
fn outputs(session: &Session<PixelGroup>) -> String {
    let now = session.recording.now();
    let pixel = now.pixel();
    let mut text = String::new();
    for (n, (color, written)) in pixel.color.iter().zip(pixel.color_written).enumerate() {
        if written != 0 {
            let hex = text::color(color);
            text.push_str(&format!("out[{n}].{} = {}  {hex}\n", letters(written), vector(color)));
        }
    }
    if let Some(depth) = pixel.depth {
        text.push_str(&format!("depth = {}\n", float_format::text(depth)));
    }
    if text.is_empty() {
        text.push_str("no output was written yet\n");
    }
    text
}

/// The letters of [`lane_letter`], each with its meaning.
const LANE_LETTERS: [(char, &str); 6] = [
    ('A', "active"),
    ('b', "inactive by a branch"),
    ('k', "left a loop"),
    ('c', "waits for the next iteration"),
    ('x', "killed"),
    ('u', "active but not covered"),
];

/// Returns the letter of a lane, depending on its state and whether it executes.
fn lane_letter(lane: &Lane, executes: bool) -> char {
    match lane.state {
        _ if lane.killed => 'x',
        LaneState::Active if executes && !lane.covered => 'u',
        LaneState::Active => 'A',
        LaneState::Branch(_) => 'b',
        LaneState::Break(_) => 'k',
        LaneState::Continue(_) => 'c',
    }
}

/// Returns lane numbers by rows of the picture, the upper one first.
fn rows(now: &Snapshot<'_>) -> Vec<Vec<usize>> {
    let block = now.state().rect();
    (block.y..block.y + block.height)
        .rev()
        .map(|y| {
            (block.x..block.x + block.width).filter_map(|x| now.state().lane_at(x, y)).collect()
        })
        .collect()
}

fn group(now: &Snapshot<'_>) -> String {
    let block = now.state().rect();
    let executing: Vec<bool> = now.active_lanes().collect();
    let active = executing.iter().filter(|&&executes| executes).count();
    let mut text = format!(
        "group of {}x{} pixels at {},{}: {active} of {} active\n",
        block.width,
        block.height,
        block.x,
        block.y,
        executing.len()
    );
    let quad = now.lane() / 4;
    for (row, y) in rows(now).into_iter().zip((block.y..block.y + block.height).rev()) {
        text.push_str(&format!("{y:>6} "));
        for lane in row {
            let letter = lane_letter(&now.state().lanes()[lane], executing[lane]);
            let (open, close) = match lane {
                lane if lane == now.lane() => ('[', ']'),
                lane if lane / 4 == quad => ('(', ')'),
                _ => (' ', ' '),
            };
            text.extend([open, letter, close]);
        }
        text.push('\n');
    }
    let meanings = LANE_LETTERS.map(|(letter, meaning)| format!("{letter} {meaning}"));
    let (first, second) = meanings.split_at(5);
    text.push_str(&format!(
        "{},\n{}; [ ] the pixel, ( ) its quad\n",
        first.join(", "),
        second.join(", ")
    ));
    text
}

fn pixel(session: &Session<PixelGroup>) -> String {
    let now = session.recording.now();
    let pixel = now.pixel();
    let covered = if pixel.covered { "covered" } else { "not covered" };
    let killed = if pixel.killed { ", killed" } else { "" };
    let mut text =
        format!("pixel {},{}: {}, {covered}{killed}\n", pixel.x, pixel.y, state_name(pixel.state));
    for input in session.recording.setup().bindings.inputs() {
        let value = session.recording.setup().bindings.input(input, pixel.x, pixel.y);
        text.push_str(&format!("input temp[{}] = {}\n", input.temp, vector(&value)));
    }
    text
}

fn work(session: &Session<PixelGroup>) -> String {
    let recording = &session.recording;
    let work = recording.activity().get(recording.now().lane()).copied().unwrap_or_default();
    let instructions = recording.len();
    format!(
        "the group executes {}: the pixel executes {}, and waits for others in {}\n",
        counted(instructions, "instruction"),
        work.executed,
        work.waited
    )
}

/// Returns what the run leaves: what the frame holds, and what the engine met.
fn end(session: &Session<PixelGroup>) -> String {
    let last = session.recording.last();
    let delivered = session.recording.delivered();
    let steps = counted(session.recording.len(), "step");
    let mut text = match session.recording.end() {
        End::Ended => format!("after {steps}: {}\n", PixelGroup::fate(&last).unwrap_or_default()),
        End::Stopped(error) => {
            format!(
                "the program did not end: the recording stops after {steps}: {error}\nwritten until then:\n"
            )
        }
    };
    for (n, (color, written)) in delivered.color.iter().zip(delivered.written).enumerate() {
        if written != 0 {
            let hex = text::color(color);
            text.push_str(&format!("out[{n}] = {}  {hex}\n", vector(color)));
        }
    }
    if let Some(depth) = delivered.depth {
        text.push_str(&format!("depth = {}\n", float_format::text(depth)));
    }
    for finding in last.state().warnings().iter() {
        let weight = finding_weight(finding.kind);
        text.push_str(&format!("{weight}[{}]: {finding}\n", finding.kind.name()));
    }
    text
}
