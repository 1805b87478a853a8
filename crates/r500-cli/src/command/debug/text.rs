//! The state of the session as text.

use r500::breakpoint::Breakpoint;
use r500::exec::record::area::Heatmap;
use r500::exec::record::expr::Value;
use r500::expression::Vocabulary;
use r500_stream::counted;

use super::area::Measure;
use super::session::Session;
use super::subject::Subject;
use crate::command::float_format;
use crate::command::shader_variables;

/// Returns the position of the run: the next instruction.
pub(super) fn here<M: Subject>(session: &Session<M>) -> String {
    let recording = &session.recording;
    let now = recording.now();
    let place = format!("step {} of {}", now.position(), recording.len());
    if now.ended() {
        let fate = M::fate(&now).map_or_else(String::new, |fate| format!("; {fate}"));
        return format!("{place}  ended{fate}\n");
    }
    if recording.machine().dwords(now.address()).is_none() {
        return format!("{place}  @{} {}\n", now.address(), M::NOTHING_THERE);
    }
    let inactive = if now.active() { String::new() } else { M::inactive(&now) };
    format!("{place}  @{}{inactive}  {}\n", now.address(), listed(session, now.address()))
}

/// Returns the text of an instruction on one line.
pub(super) fn listed<M: Subject>(session: &Session<M>, address: u32) -> String {
    let text = session.texts.get(address).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the bits of a value.
pub(super) fn bits(value: &Value) -> String {
    match value {
        Value::Numbers(x, count) => {
            let words: Vec<String> = x[..*count].iter().map(|&x| float_format::bits(x)).collect();
            words.join(" ")
        }
        truths => truths.to_string(),
    }
}

/// Executes `info WHAT`.
pub(super) fn info<M: Subject>(session: &Session<M>, what: &str) -> Result<String, String> {
    let (word, rest) = what.split_once(char::is_whitespace).unwrap_or((what, ""));
    let topic = match word {
        "" => "step",
        "stack" => "loops",
        "watchpoints" => "breakpoints",
        word => M::TOPICS.iter().find(|topic| topic.starts_with(word)).ok_or_else(|| {
            format!("there is no info about `{word}`; there is {}", M::TOPICS.join(", "))
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
        "loops" => backtrace(session),
        "breakpoints" => breakpoints(session),
        "variables" => variables(session)?,
        topic => return M::info(session, topic, rest.trim()),
    })
}

/// Returns the effect of a step, in the format of `r500 trace`.
fn happened<M: Subject>(session: &Session<M>, number: usize, step: &M::Step) -> String {
    let (machine, address) = (session.recording.machine(), M::address_of(step));
    let (Some(_), Some(listed)) = (machine.dwords(address), session.texts.get(address)) else {
        return format!("{number:>5}  @{address} {}\n", M::NOTHING_THERE);
    };
    let mut text = format!("{number:>5}  @{address:<3} {listed}\n");
    for line in machine.effects(step) {
        text.push_str(&format!("             {line}\n"));
    }
    text
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

/// Returns the names of a constant.
pub(in crate::command) fn constant_names<M: Subject>(session: &Session<M>, n: usize) -> String {
    let named = session.map.names.iter().filter(|uniform| usize::from(uniform.constant) == n);
    named.map(|uniform| uniform.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the loops and calls that run.
pub(super) fn backtrace<M: Subject>(session: &Session<M>) -> String {
    let lines = M::nesting(&session.recording.now());
    if lines.is_empty() { "no loop and no call runs\n".to_owned() } else { lines.join("\n") + "\n" }
}

/// Returns the variables of the shader with their values and registers, the innermost scope last.
fn variables<M: Subject>(session: &Session<M>) -> Result<String, String> {
    let letters = <M::Variable as Vocabulary>::LETTERS;
    let lines =
        session.variables()?.into_iter().flat_map(|of| shader_variables::lines(&of, letters));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    Ok(if text.is_empty() { "there are no variables here\n".to_owned() } else { text })
}

fn breakpoints<M: Subject>(session: &Session<M>) -> String {
    let line = |point: &Breakpoint<M::Variable>| {
        let off = if point.enabled { "" } else { ", disabled" };
        let times = counted(point.hits(), "time");
        format!("{}: {}, hit {times}{off}\n", point.number(), point.description())
    };
    let text: String = session.breakpoints.iter().map(line).collect();
    if text.is_empty() { "there are no breakpoints\n".to_owned() } else { text }
}

/// `list [ADDRESS|all]`.
pub(super) fn list<M: Subject>(session: &Session<M>, what: &str) -> Result<String, String> {
    if session.map.path.is_some() {
        return list_source(session, what);
    }
    let (now, machine) = (session.recording.now(), session.recording.machine());
    let (first, last) = machine.addresses();
    let (from, to) = match what {
        "all" => (first, last),
        "" => around(now.address(), first, last),
        place => around(session.map.place(place)?, first, last),
    };
    let mut text = String::new();
    for address in from..=to {
        if machine.dwords(address).is_none() {
            continue;
        }
        let here = !now.ended() && now.address() == address;
        let (mark, point) =
            (if here { "=>" } else { "  " }, session.breakpoints.breaks_at(address));
        let point = if point { '*' } else { ' ' };
        text.push_str(&format!("{mark}{point}@{address:<3} {}\n", listed(session, address)));
    }
    Ok(text)
}

/// Returns lines of the source around the instruction to come, or another place.
fn list_source<M: Subject>(session: &Session<M>, what: &str) -> Result<String, String> {
    let map = &session.map;
    let now = session.recording.now();
    let next = if now.ended() { None } else { map.line_of(now.address()) };
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
        let mark = if next.is_some_and(|(first, _)| first == number) { "=>" } else { "  " };
        let point =
            if address.is_some_and(|at| session.breakpoints.breaks_at(at)) { '*' } else { ' ' };
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
