//! The state of the session as text.

use r500::exec::record::area::Heatmap;
use r500::exec::record::expr::Value;
use r500::exec::record::{End, Snapshot};
use r500::exec::reference::{Lane, LaneState, Step, Write};
use r500::isa::TEMPORARIES;
use r500_stream::counted;

use super::area::Measure;
use super::session::Session;
use crate::command::engine_args::finding_weight;
use crate::command::float_format::{self, letters, vector};
use crate::command::trace::{self, state_name};

/// Returns the name of the program, and the pixel.
pub(super) fn greeting(session: &Session) -> String {
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

/// Returns the position of the run: the next instruction.
pub(super) fn here(session: &Session) -> String {
    let recording = &session.recording;
    let now = recording.now();
    let place = format!("step {} of {}", now.position(), recording.len());
    match now.instruction() {
        Some(_) => {
            let inactive = if now.active() { String::new() } else { inactive(now.pixel()) };
            format!("{place}  @{}{inactive}  {}\n", now.address(), listed(session, now.address()))
        }
        None if now.state().ended() => format!("{place}  ended; {}\n", fate(now.pixel())),
        None => format!("{place}  @{} is outside the code window\n", now.address()),
    }
}

/// Returns the state of an inactive pixel.
pub(super) fn inactive(pixel: &Lane) -> String {
    match pixel.state {
        LaneState::Active => " (stopped)".to_owned(),
        state => format!(" (inactive: {})", state_name(state)),
    }
}

/// Returns whether a pixel will be stored.
pub(super) fn fate(pixel: &Lane) -> &'static str {
    match (pixel.killed, pixel.output().covered) {
        (true, _) => "killed: nothing is delivered",
        (false, false) => "not covered: nothing is delivered",
        (false, true) => "delivered",
    }
}

/// Returns the text of an instruction on one line.
pub(super) fn listed(session: &Session, address: u32) -> String {
    let text = session.texts.get(address).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a value as text.
pub(in crate::command) fn value(value: &Value) -> String {
    match value {
        Value::Numbers([x, ..], 1) => float_format::text(*x),
        Value::Numbers(x, count) => vector(&x[..*count]),
        Value::Bools(x, count) => {
            let words: Vec<String> = x[..*count].iter().map(bool::to_string).collect();
            if let [word] = &words[..] { word.clone() } else { format!("({})", words.join(", ")) }
        }
    }
}

/// Returns the bits of a value.
pub(super) fn bits(value: &Value) -> String {
    match value {
        Value::Numbers(x, count) => {
            let words: Vec<String> = x[..*count].iter().map(|&x| float_format::bits(x)).collect();
            words.join(" ")
        }
        truths => self::value(truths),
    }
}

/// Returns the old and the new value of a watched expression.
pub(super) fn change(before: Option<&Value>, now: &Value) -> String {
    let before = before.map_or_else(String::new, value);
    format!(": {before} -> {}", value(now))
}

/// Executes `info WHAT`.
pub(super) fn info(session: &Session, what: &str) -> Result<String, String> {
    const TOPICS: [&str; 11] = [
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
    ];
    let (word, rest) = what.split_once(char::is_whitespace).unwrap_or((what, ""));
    let topic = match word {
        "" => "step",
        "stack" => "loops",
        "watchpoints" => "breakpoints",
        word => TOPICS.into_iter().find(|topic| topic.starts_with(word)).ok_or_else(|| {
            format!("there is no info about `{word}`; there is {}", TOPICS.join(", "))
        })?,
    };
    let recording = &session.recording;
    Ok(match topic {
        "step" => match recording.next_step() {
            Some(step) => happened(session, recording.position() + 1, step),
            None => here(session),
        },
        "done" => match recording.last_step() {
            Some(step) => happened(session, recording.position(), step),
            None => "nothing was done yet\n".to_owned(),
        },
        "registers" => registers(session, rest.trim() == "all"),
        "constants" => constants(session),
        "outputs" => outputs(session),
        "group" => group(&recording.now()),
        "loops" => backtrace(session),
        "breakpoints" => breakpoints(session),
        "pixel" => pixel(session),
        "work" => work(session),
        _ => end(session),
    })
}

/// Returns the effect of a step on the pixel, in the format of `r500 trace`.
fn happened(session: &Session, number: usize, step: &Step) -> String {
    let shader = &session.recording.setup().shader;
    let (Some(_), Some(listed)) =
        (shader.instruction(step.address), session.texts.get(step.address))
    else {
        return format!("{number:>5}  @{} is outside the code window\n", step.address);
    };
    let mut text = format!("{number:>5}  @{:<3} {listed}\n", step.address);
    for line in effects(step) {
        text.push_str(&format!("             {line}\n"));
    }
    text
}

/// Returns the operands, results and writes of a step, one a line.
pub(super) fn effects(step: &Step) -> Vec<String> {
    let Some(event) = &step.event else { return Vec::new() };
    let mut lines = trace::effects(event, step.address);
    if !event.active && event.writes.is_empty() {
        lines.push("the pixel is inactive".to_owned());
    }
    lines
}

/// Returns the temporaries that are written by some pixel of the group in the run.
pub(in crate::command) fn used_temporaries(session: &Session) -> Vec<usize> {
    let last = session.recording.last();
    let lanes = last.state().lanes();
    (0..TEMPORARIES).filter(|&n| lanes.iter().any(|lane| lane.written[n] != 0)).collect()
}

/// Returns the channels of a temporary that the last step wrote for the pixel.
pub(super) fn just_written(session: &Session, n: usize) -> u8 {
    let event = session.recording.last_step().and_then(|step| step.event.as_ref());
    let writes = event.map_or(&[][..], |event| &event.writes);
    writes.iter().fold(0, |mask, write| match write {
        Write::Temp { temp, mask: more, .. } if usize::from(*temp) == n => mask | more,
        _ => mask,
    })
}

fn registers(session: &Session, all: bool) -> String {
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
        text.push_str(&format!("temp[{n}] = {}  {}{written}\n", vector(register), color(register)));
    }
    text.push_str(&flags(&now));
    text.push('\n');
    text
}

/// Returns predicate bits, ALU result and aL in few characters.
pub(super) fn short_flags(now: &Snapshot<'_>) -> String {
    let pixel = now.pixel();
    let set = letters(pixel.predicate);
    let set = if set.is_empty() { "none" } else { &set };
    format!("pred {set}, alu {}, aL {}", pixel.alu_result, now.al())
}

/// Returns predicate bits, ALU result and aL.
pub(super) fn flags(now: &Snapshot<'_>) -> String {
    let pixel = now.pixel();
    let set = letters(pixel.predicate);
    let set = if set.is_empty() { "none" } else { &set };
    format!("pred = {set} set, alu_result = {}, aL = {}", pixel.alu_result, now.al())
}

/// Returns a register as a colour `#rrggbb`, each channel clamped to 0..1.
pub(super) fn color(register: &[f32; 4]) -> String {
    let [r, g, b] = rgb(register);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Returns a register as an 8-bit colour.
pub(super) fn rgb(register: &[f32; 4]) -> [u8; 3] {
    // `as` saturates, and makes NaN 0.
    [0, 1, 2].map(|i| (register[i].clamp(0.0, 1.0) * 255.0).round() as u8)
}

/// Returns the indices of the provided constants.
pub(super) fn provided_constants(session: &Session) -> Vec<usize> {
    let bindings = &session.recording.setup().bindings;
    (0..r500::isa::CONSTANTS).filter(|&n| bindings.constant(n).is_some()).collect()
}

/// Returns the names of a constant.
pub(in crate::command) fn constant_names(session: &Session, n: usize) -> String {
    let named = session.map.names.iter().filter(|uniform| usize::from(uniform.constant) == n);
    named.map(|uniform| uniform.name.as_str()).collect::<Vec<_>>().join(" ")
}

fn constants(session: &Session) -> String {
    let bindings = &session.recording.setup().bindings;
    let mut text = String::new();
    for n in provided_constants(session) {
        let constant = bindings.constant(n).unwrap_or_default();
        let names = constant_names(session, n);
        text.push_str(format!("const[{n}] = {}  {names}", vector(&constant)).trim_end());
        text.push('\n');
    }
    if text.is_empty() { "the program has no constants\n".to_owned() } else { text }
}

/// Returns the outputs so far.
pub(super) fn outputs(session: &Session) -> String {
    let now = session.recording.now();
    let pixel = now.pixel();
    let mut text = String::new();
    for (n, (color, written)) in pixel.color.iter().zip(pixel.color_written).enumerate() {
        if written != 0 {
            let hex = self::color(color);
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
pub(super) const LANE_LETTERS: [(char, &str); 6] = [
    ('A', "active"),
    ('b', "inactive by a branch"),
    ('k', "left a loop"),
    ('c', "waits for the next iteration"),
    ('x', "killed"),
    ('u', "active but not covered"),
];

/// Returns the letter of a lane, depending on its state and whether it executes.
pub(super) fn lane_letter(lane: &Lane, executes: bool) -> char {
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
pub(super) fn rows(now: &Snapshot<'_>) -> Vec<Vec<usize>> {
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

/// Returns the loops and calls that run.
pub(super) fn backtrace(session: &Session) -> String {
    let lines = nesting(&session.recording.now());
    if lines.is_empty() { "no loop and no call runs\n".to_owned() } else { lines.join("\n") + "\n" }
}

/// Returns a line for each loop and each call that runs.
pub(super) fn nesting(now: &Snapshot<'_>) -> Vec<String> {
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

fn breakpoints(session: &Session) -> String {
    let line = |point: &super::breakpoint::Breakpoint| {
        let off = if point.enabled { "" } else { ", disabled" };
        let times = counted(point.hits, "time");
        format!("{}: {}, hit {times}{off}\n", point.number, point.description())
    };
    let text: String = session.breakpoints.iter().map(line).collect();
    if text.is_empty() { "there are no breakpoints\n".to_owned() } else { text }
}

fn pixel(session: &Session) -> String {
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

fn work(session: &Session) -> String {
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
fn end(session: &Session) -> String {
    let last = session.recording.last();
    let delivered = session.recording.delivered();
    let steps = counted(session.recording.len(), "step");
    let mut text = match session.recording.end() {
        End::Ended => format!("after {steps}: {}\n", fate(last.pixel())),
        End::Stopped(error) => {
            format!(
                "the program did not end: the recording stops after {steps}: {error}\nwritten until then:\n"
            )
        }
    };
    for (n, (color, written)) in delivered.color.iter().zip(delivered.written).enumerate() {
        if written != 0 {
            let hex = self::color(color);
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

/// `list [ADDRESS|all]`.
pub(super) fn list(session: &Session, what: &str) -> Result<String, String> {
    if session.map.path.is_some() {
        return list_source(session, what);
    }
    let now = session.recording.now();
    let (first, last) = session.recording.setup().shader.window().addresses();
    let (from, to) = match what {
        "all" => (first, last),
        "" => around(now.address(), first, last),
        place => around(session.map.place(place)?, first, last),
    };
    let mut text = String::new();
    for address in from..=to {
        if session.recording.setup().shader.instruction(address).is_none() {
            continue;
        }
        let here = !now.state().ended() && now.address() == address;
        let (mark, point) = (if here { "=>" } else { "  " }, session.breaks_at(address));
        let point = if point { '*' } else { ' ' };
        text.push_str(&format!("{mark}{point}@{address:<3} {}\n", listed(session, address)));
    }
    Ok(text)
}

/// Returns lines of the source around the instruction to come, or another place.
fn list_source(session: &Session, what: &str) -> Result<String, String> {
    let map = &session.map;
    let now = session.recording.now();
    let here = (!now.state().ended()).then(|| now.address());
    let middle = match what {
        "" | "all" => map.line_of(now.address()),
        place => map.line_of(session.map.place(place)?),
    };
    let lines = if what == "all" {
        1..=map.lines.len()
    } else {
        let middle = middle.map_or(1, |(first, _)| first);
        middle.saturating_sub(6).max(1)..=(middle + 6).min(map.lines.len())
    };
    let mut text = String::new();
    for number in lines {
        let address = map.begins(number);
        let mark = if address.is_some() && address == here { "=>" } else { "  " };
        let point = if address.is_some_and(|at| session.breaks_at(at)) { '*' } else { ' ' };
        let at = address.map_or_else(String::new, |at| format!("@{at}"));
        let line = map.lines.get(number - 1).map_or("", String::as_str);
        text.push_str(format!("{mark}{point}{number:>4} {at:<5} {line}").trim_end());
        text.push('\n');
    }
    Ok(text)
}

fn around(address: u32, first: u32, last: u32) -> (u32, u32) {
    (address.saturating_sub(5).clamp(first, last), address.saturating_add(5).clamp(first, last))
}

/// Letters for shares of the greatest, from nothing.
pub(super) const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// Returns a map of at most 64x32 characters, the upper row first, and what it shows.
pub(super) fn heat_map(heat: &Heatmap, measure: Measure) -> String {
    let values: Vec<u64> = heat.activity.iter().map(|work| measure.of(work)).collect();
    let most = values.iter().copied().max().unwrap_or(0);
    let area = heat.area;
    let (columns, lines) = (area.width.min(64), area.height.min(32));
    let mut text = String::new();
    for line in (0..lines).rev() {
        for column in 0..columns {
            let value = cell(&values, [area.width, area.height], [columns, lines], [column, line]);
            text.push(shade(value, most));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    let [shown, rest @ ..] = &heat_summary(heat, measure)[..] else { return text };
    text.push_str(&format!("{shown}; `@` is {most}\n"));
    rest.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text
}

/// Returns what a heat map shows: the quantity with its range and mean, and the groups that did not end.
pub(super) fn heat_summary(heat: &Heatmap, measure: Measure) -> Vec<String> {
    let values = heat.activity.iter().map(|work| measure.of(work));
    let (least, most) = values
        .clone()
        .fold((u64::MAX, 0), |(least, most), value| (least.min(value), most.max(value)));
    let least = least.min(most);
    let mean = values.sum::<u64>() as f64 / heat.activity.len().max(1) as f64;
    let what = match measure {
        Measure::Executed => "instructions executed a pixel",
        Measure::Waited => "instructions waited a pixel",
    };
    let mut lines = vec![format!("{what}: {least} to {most}, {mean:.1} on average")];
    if heat.stopped > 0 {
        let groups = counted(heat.stopped, "group");
        lines.push(format!("{groups} ran into the instruction limit"));
    }
    lines
}

/// Returns the maximum of the pixels in a cell of a map.
pub(super) fn cell(
    values: &[u64],
    [width, height]: [u32; 2],
    [columns, lines]: [u32; 2],
    [column, line]: [u32; 2],
) -> u64 {
    let span = |at: u32, cells: u32, pixels: u32| {
        let edge = |at: u32| (u64::from(at) * u64::from(pixels) / u64::from(cells.max(1))) as u32;
        edge(at)..edge(at + 1).max(edge(at) + 1).min(pixels)
    };
    let mut most = 0;
    for y in span(line, lines, height) {
        for x in span(column, columns, width) {
            let value = values.get(y as usize * width as usize + x as usize);
            most = most.max(value.copied().unwrap_or(0));
        }
    }
    most
}

/// Returns the character of a value.
pub(super) fn shade(value: u64, most: u64) -> char {
    let steps = SHADES.len() as u64 - 1;
    // Values above zero are visible.
    let index = (value * steps).div_ceil(most.max(1));
    SHADES[usize::try_from(index.min(steps)).unwrap_or(0)]
}
