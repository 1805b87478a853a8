//! The program, and the next instruction with its operands.

use r500::exec::record::End;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Borders, Paragraph};

use super::super::screen::Screen;
use super::super::subject::Subject;
use super::super::text;
use super::{paint, pane, wrapped};

/// Characters before the text of a line: marks and the address.
const MARGIN: usize = 7;

/// Draws the program around the cursor or the next instruction. A narrow pane has a title line only, and wraps the line of the
/// cursor or the next instruction.
pub(super) fn program<M: Subject>(
    frame: &mut Frame<'_>,
    screen: &Screen<M>,
    area: Rect,
    narrow: bool,
) {
    let borders = if narrow { Borders::TOP } else { Borders::ALL };
    // A wide screen has a pane for the state, which says what is inspected.
    let name = match M::mask(&screen.session) {
        None if narrow => format!("{}, {}", screen.session.name, M::selected(&screen.session)),
        _ => screen.session.name.clone(),
    };
    let block = pane(&name, borders);
    let inside = block.inner(area);
    let rows = rows(screen);
    let height = usize::from(inside.height);
    let row_of = |address: u32| row_of(screen, &rows, address);
    let line = row_of(screen.line()).unwrap_or(0);
    let now = screen.session.recording.now();
    let next = if now.ended() { None } else { row_of(now.address()) };
    let cursor = screen.cursor.and_then(row_of);
    let top = line.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    let mut lines = Vec::new();
    let mut selected = 0;
    for (n, (address, text)) in rows.into_iter().enumerate().skip(top).take(height) {
        let shown: String = text.chars().skip(screen.aside).collect();
        let room = usize::from(inside.width).saturating_sub(MARGIN).max(1);
        let parts = if narrow && n == line { wrapped(shown.trim_end(), room) } else { vec![shown] };
        let marks = Marks { is_next: next == Some(n), is_cursor: cursor == Some(n) };
        lines.extend(row(screen, address, marks, parts));
        if n == line {
            selected = lines.len();
        }
    }
    // The selected line is visible to its end.
    lines.drain(..selected.saturating_sub(height));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// What a row of the program is marked as.
#[derive(Clone, Copy)]
struct Marks {
    /// The next instruction is there.
    is_next: bool,
    is_cursor: bool,
}

/// Returns a row of the program, with its marks in the first line.
fn row<M: Subject>(
    screen: &Screen<M>,
    address: Option<u32>,
    marks: Marks,
    parts: Vec<String>,
) -> Vec<Line<'static>> {
    let point = if address.is_some_and(|at| screen.session.breakpoints.breaks_at(at)) {
        "●"
    } else {
        " "
    };
    let mark = if marks.is_next { "▶" } else { " " };
    let mut style = Style::new();
    if marks.is_next {
        style = style.add_modifier(Modifier::BOLD);
        style = paint(screen, style, Color::Yellow);
    }
    if marks.is_cursor {
        style = style.add_modifier(Modifier::REVERSED);
    }
    let number = address.map_or_else(String::new, |at| at.to_string());
    let line = |(n, part): (usize, String)| {
        let start = if n == 0 { format!("{mark}{number:>3}  ") } else { " ".repeat(MARGIN - 1) };
        Line::from(vec![
            Span::styled(if n == 0 { point } else { " " }, paint(screen, Style::new(), Color::Red)),
            Span::styled(format!("{start}{part}"), style),
        ])
    };
    parts.into_iter().enumerate().map(line).collect()
}

/// Returns the width of a pane that shows all lines of the program.
pub(super) fn width<M: Subject>(screen: &Screen<M>) -> usize {
    let longest = rows(screen).iter().map(|(_, text)| text.chars().count()).max();
    longest.unwrap_or(0) + MARGIN + 2
}

/// Returns the row of the instruction at an address; several may be of one line of the source.
fn row_of<M: Subject>(
    screen: &Screen<M>,
    rows: &[(Option<u32>, String)],
    address: u32,
) -> Option<usize> {
    let map = &screen.session.map;
    match map.path {
        Some(_) => map.line_of(address).and_then(|(first, _)| first.checked_sub(1)),
        None => rows.iter().position(|(at, _)| *at == Some(address)),
    }
}

/// Returns the lines of the source, or else the instructions: each with the address of the instruction that begins
/// there.
fn rows<M: Subject>(screen: &Screen<M>) -> Vec<(Option<u32>, String)> {
    let map = &screen.session.map;
    if map.path.is_some() {
        let lines = map.lines.iter().zip(1..);
        return lines
            .map(|(text, number)| (map.begins(number), text.replace('\t', "    ")))
            .collect();
    }
    let machine = screen.session.recording.machine();
    let (first, last) = machine.addresses();
    let there = |address: &u32| machine.dwords(*address).is_some();
    let listed = |address| (Some(address), text::listed(&screen.session, address));
    (first..=last).filter(there).map(listed).collect()
}

/// Draws the next instruction with its operands, results and writes.
pub(super) fn instruction<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, area: Rect) {
    let lines = instruction_lines(screen, area.width);
    let block = pane(&position(screen), Borders::ALL);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Returns the text of the next instruction with its effects.
pub(super) fn instruction_lines<M: Subject>(screen: &Screen<M>, width: u16) -> Vec<Line<'static>> {
    let session = &screen.session;
    let now = session.recording.now();
    let room = usize::from(width.saturating_sub(2)).max(1);
    let mut lines = Vec::new();
    if session.recording.next_step().is_some() {
        let dwords = session.recording.machine().dwords(now.address());
        let listed = dwords.map(|_| text::listed(session, now.address()));
        let listed = listed.unwrap_or_else(|| M::NOTHING_THERE.to_owned());
        let style = if now.active() { Modifier::BOLD } else { Modifier::DIM };
        let style = Style::new().add_modifier(style);
        lines.extend(wrapped(&listed, room).into_iter().map(|line| Line::styled(line, style)));
    }
    lines.extend(effect_lines(screen, width).into_iter().flatten().map(Line::raw));
    lines
}

/// Draws the operands, results and writes of the next instruction, whose text is in the program's pane unless that shows a shader. Where not all of
/// them fit, the last ones are shown: results and writes.
pub(super) fn effects<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, area: Rect) {
    let now = screen.session.recording.now();
    let (at, of) = (now.position(), screen.session.recording.len());
    let active = if now.active() || now.ended() { "" } else { ", inactive" };
    let title = format!("step {at} of {of}{active}: {}", M::short_flags(&now));
    let block = pane(&title, Borders::TOP);
    let room = usize::from(block.inner(area).height);
    let mut shown = narrow_lines(screen, area.width);
    while shown.len() > 1 && shown.iter().map(Vec::len).sum::<usize>() > room {
        shown.remove(0);
    }
    let lines: Vec<Line<'_>> = shown.into_iter().flatten().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Returns what [`effects`] draws where there is room: each in lines of a width.
pub(super) fn narrow_lines<M: Subject>(screen: &Screen<M>, width: u16) -> Vec<Vec<String>> {
    let session = &screen.session;
    let now = session.recording.now();
    let room = usize::from(width.saturating_sub(2)).max(1);
    let listed = (session.map.is_shader && !now.ended())
        .then(|| wrapped(&text::listed(session, now.address()), room));
    listed.into_iter().chain(effect_lines(screen, width)).collect()
}

/// Returns the operands, results and writes of the next instruction, each in lines of a width, or how the run ended.
pub(super) fn effect_lines<M: Subject>(screen: &Screen<M>, width: u16) -> Vec<Vec<String>> {
    let session = &screen.session;
    let room = usize::from(width.saturating_sub(2)).max(1);
    let lines = match (session.recording.next_step(), session.recording.end()) {
        (Some(step), _) => session.recording.machine().effects(step),
        (None, End::Ended) => {
            let fate = M::fate(&session.recording.now());
            let fate = fate.map_or_else(String::new, |fate| format!(": {fate}"));
            vec![format!("the run has ended{fate}")]
        }
        (None, End::Stopped(error)) => vec![format!("the recording ends here: {error}")],
    };
    lines.iter().map(|line| wrapped(line, room)).collect()
}

fn position<M: Subject>(screen: &Screen<M>) -> String {
    let now = screen.session.recording.now();
    let (at, of) = (now.position(), screen.session.recording.len());
    match screen.session.recording.machine().dwords(now.address()) {
        Some(_) if !now.ended() => format!("step {at} of {of}, coming: @{}", now.address()),
        _ => format!("step {at} of {of}"),
    }
}
