//! Layout and drawing of the screen.

use r500::exec::record::area::Heatmap;
use r500::exec::reference::LaneState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};

use super::area::Measure;
use super::screen::{Screen, Tab};
use super::{language, text};
use crate::command::float_format;
use crate::command::trace::state_name;

/// Draws the screen, at any size.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &Screen) {
    panes(frame, screen);
    // Names and comments of a program must not control the terminal.
    for cell in &mut frame.buffer_mut().content {
        if cell.symbol().contains(r500::asm::disturbs_terminal) {
            cell.set_symbol("?");
        }
    }
}

fn panes(frame: &mut Frame<'_>, screen: &Screen) {
    let area = frame.area();
    if area.width < 40 || area.height < 12 {
        tiny(frame, screen, area);
        return;
    }
    let said = screen.message.lines().count().clamp(1, usize::from(area.height / 3));
    let rows = [Constraint::Min(5), Constraint::Length(length(said)), Constraint::Length(1)];
    let [body, message, foot] = Layout::vertical(rows).areas(area);
    if body.width >= 96 {
        let columns = [Constraint::Percentage(40), Constraint::Min(20)];
        let [left, right] = Layout::horizontal(columns).areas(body);
        main_pane(frame, screen, left);
        let instruction = length(instruction_lines(screen, right.width).len() + 2);
        let state = state_height(screen);
        let most = right.height.saturating_sub(state + 4).max(4);
        let rows = [
            Constraint::Length(instruction.clamp(4, most)),
            Constraint::Length(state),
            Constraint::Min(0),
        ];
        let [top, middle, bottom] = Layout::vertical(rows).areas(right);
        instruction_pane(frame, screen, top);
        state_pane(frame, screen, middle);
        registers_pane(frame, screen, bottom);
    } else {
        let state = state_height(screen).min(body.height / 3);
        let rest = body.height.saturating_sub(state);
        let rows = [
            Constraint::Min(3),
            Constraint::Length((rest * 2 / 5).min(10)),
            Constraint::Length(state),
            Constraint::Length((rest / 4).min(8)),
        ];
        let [top, second, third, bottom] = Layout::vertical(rows).areas(body);
        main_pane(frame, screen, top);
        instruction_pane(frame, screen, second);
        state_pane(frame, screen, third);
        registers_pane(frame, screen, bottom);
    }
    message_lines(frame, screen, message);
    foot_line(frame, screen, foot);
    if let Some(away) = screen.help {
        help(frame, area, away);
    }
}

/// Draws a minimal screen, for small terminals.
fn tiny(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let mut lines: Vec<Line<'_>> = Vec::new();
    if !screen.message.trim().is_empty() && area.height > 3 {
        lines.push(Line::raw(screen.message.lines().next().unwrap_or_default().to_owned()));
    }
    lines.extend(text::here(&screen.session).lines().map(|line| Line::raw(line.to_owned())));
    if let Some(step) = screen.session.recording.next_step() {
        let event = text::event(&screen.session, step);
        lines.extend(event.lines().map(|line| Line::raw(line.trim().to_owned())));
    }
    let [body, foot] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(1.min(area.height))]).areas(area);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), body);
    foot_line(frame, screen, foot);
}

/// Draws the program, or a heat map.
fn main_pane(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    match &screen.heat {
        // With enough rows, the program stays visible next to the map.
        Some((heat, measure)) if area.height >= 24 => {
            let rows = [Constraint::Percentage(50), Constraint::Min(8)];
            let [above, below] = Layout::vertical(rows).areas(area);
            program_pane(frame, screen, above);
            heat_pane(frame, screen, heat, *measure, below);
        }
        Some((heat, measure)) => heat_pane(frame, screen, heat, *measure, area),
        None => program_pane(frame, screen, area),
    }
}

fn program_pane(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let block = pane(&screen.session.name);
    let inside = block.inner(area);
    let now = screen.session.recording.now();
    let rows = program_rows(screen);
    let height = usize::from(inside.height);
    let line = rows.iter().position(|(at, _)| *at == Some(screen.line())).unwrap_or(0);
    let top = line.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    let mut lines = Vec::new();
    for (address, text) in rows.into_iter().skip(top).take(height) {
        let is = |other: Option<u32>| address.is_some() && address == other;
        let here = !now.state().ended() && is(Some(now.address()));
        let point =
            if address.is_some_and(|at| screen.session.breaks_at(at)) { "●" } else { " " };
        let mark = if here { "▶" } else { " " };
        let mut style = Style::new();
        if here {
            style = style.add_modifier(Modifier::BOLD);
            style = paint(screen, style, Color::Yellow);
        }
        if is(screen.cursor) {
            style = style.add_modifier(Modifier::REVERSED);
        }
        let number = address.map_or_else(String::new, |at| at.to_string());
        let shown: String = text.chars().skip(screen.aside).collect();
        lines.push(Line::from(vec![
            Span::styled(point, paint(screen, Style::new(), Color::Red)),
            Span::styled(format!("{mark}{number:>3}  {shown}"), style),
        ]));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Returns the lines of the source, or else the instructions: each with the address of the instruction that begins
/// there.
fn program_rows(screen: &Screen) -> Vec<(Option<u32>, String)> {
    let map = &screen.session.map;
    if map.path.is_some() {
        let lines = map.lines.iter().zip(1..);
        return lines
            .map(|(text, number)| (map.begins(number), text.replace('\t', "    ")))
            .collect();
    }
    let shader = &screen.session.recording.setup().shader;
    let (first, last) = shader.window().addresses();
    let there = |address: &u32| shader.instruction(*address).is_some();
    let listed = |address| (Some(address), text::listed(&screen.session, address));
    (first..=last).filter(there).map(listed).collect()
}

/// Draws a heat map, one colour a pixel and two pixels a character; without colours, letters.
fn heat_pane(frame: &mut Frame<'_>, screen: &Screen, heat: &Heatmap, measure: Measure, area: Rect) {
    let title = match measure {
        Measure::Executed => "instructions executed (h: waited)",
        Measure::Waited => "instructions waited for others (h: back)",
    };
    let block = pane(title);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let values: Vec<u64> = heat.activity.iter().map(|work| measure.of(work)).collect();
    let most = values.iter().max().copied().unwrap_or(0);
    let size = [heat.area.width, heat.area.height];
    // As large as fits, with square pixels: two cells, one above the other, are a character.
    let room = [u32::from(inside.width), u32::from(inside.height) * 2];
    let shrink = (f64::from(size[0]) / f64::from(room[0].max(1)))
        .max(f64::from(size[1]) / f64::from(room[1].max(1)))
        .max(1.0);
    let cells = size.map(|side| ((f64::from(side) / shrink) as u32).max(1));
    let [x, y] = screen.session.pixel();
    let marked = |column: u32, line: u32| {
        let at = |at: u32, from: u32, size: u32, cells: u32| {
            at.checked_sub(from).map(|at| u64::from(at) * u64::from(cells) / u64::from(size.max(1)))
        };
        at(x, heat.area.x, size[0], cells[0]) == Some(u64::from(column))
            && at(y, heat.area.y, size[1], cells[1]) == Some(u64::from(line))
    };
    let mut lines = Vec::new();
    let mut upper = cells[1];
    while upper > 0 {
        let lower = upper.saturating_sub(2);
        let spans = (0..cells[0]).map(|column| {
            let value = |line: u32| text::cell(&values, size, cells, [column, line]);
            let here = marked(column, upper - 1) || (upper > 1 && marked(column, upper - 2));
            if !screen.colors {
                let below = if upper > 1 { value(upper - 2) } else { 0 };
                let letter = text::shade(value(upper - 1).max(below), most);
                let style = Style::new();
                let style = if here { style.add_modifier(Modifier::REVERSED) } else { style };
                return Span::styled(letter.to_string(), style);
            }
            let color = |line: u32| {
                if marked(column, line) { Color::Rgb(0, 255, 255) } else { ramp(value(line), most) }
            };
            let style = Style::new().fg(color(upper - 1));
            let style = if upper > 1 { style.bg(color(upper - 2)) } else { style };
            Span::styled("▀", style)
        });
        lines.push(Line::from(spans.collect::<Vec<_>>()));
        upper = lower;
    }
    frame.render_widget(Paragraph::new(lines), inside);
}

fn instruction_lines(screen: &Screen, width: u16) -> Vec<Line<'static>> {
    let session = &screen.session;
    let now = session.recording.now();
    let Some(step) = session.recording.next_step() else {
        let mut lines = vec![Line::raw(format!("the run has ended: {}", text::fate(now.pixel())))];
        if let r500::exec::record::End::Stopped(error) = session.recording.end() {
            lines = vec![Line::raw(format!("the recording ends here: {error}"))];
        }
        return lines;
    };
    let listed = now.instruction().map(|_| text::listed(session, now.address()));
    let listed = listed.unwrap_or_else(|| "outside the code window".to_owned());
    let style = if now.active() { Modifier::BOLD } else { Modifier::DIM };
    let room = usize::from(width.saturating_sub(2)).max(1);
    let mut lines: Vec<Line<'static>> = wrapped(&listed, room)
        .into_iter()
        .map(|line| Line::styled(line, Style::new().add_modifier(style)))
        .collect();
    for line in text::event(session, step).lines() {
        lines.extend(wrapped(line.trim(), room).into_iter().map(Line::raw));
    }
    lines
}

fn instruction_pane(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let now = screen.session.recording.now();
    let (at, of) = (now.position(), screen.session.recording.len());
    let title = match now.instruction() {
        Some(_) => format!("step {at} of {of}, coming: @{}", now.address()),
        None => format!("step {at} of {of}"),
    };
    let lines = instruction_lines(screen, area.width);
    frame.render_widget(Paragraph::new(lines).block(pane(&title)), area);
}

/// Returns the height of the state pane in rows, its frame included.
fn state_height(screen: &Screen) -> u16 {
    let rows = screen.session.recording.now().state().rect().height.min(16);
    length((rows as usize).max(state_words(screen).len()) + 2)
}

/// Draws the group as a mask, and the state of the pixel.
fn state_pane(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let now = screen.session.recording.now();
    let [x, y] = screen.session.pixel();
    let block = pane(&format!("pixel {x},{y} and its group"));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let executing: Vec<bool> = now.active_lanes().collect();
    let quad = now.lane() / 4;
    let mut mask = Vec::new();
    for row in text::rows(&now) {
        let mut spans = Vec::new();
        for lane in row {
            let state = &now.state().lanes()[lane];
            let letter = text::lane_letter(state, executing[lane]);
            let (open, close) = match lane {
                lane if lane == now.lane() => ("[", "]"),
                lane if lane / 4 == quad => ("(", ")"),
                _ => (" ", " "),
            };
            let color = match state.state {
                _ if state.killed => Color::Red,
                LaneState::Active => Color::Green,
                LaneState::Branch(_) => Color::Blue,
                LaneState::Break(_) => Color::Magenta,
                LaneState::Continue(_) => Color::Yellow,
            };
            let style =
                if screen.colors { Style::new().fg(Color::Black).bg(color) } else { Style::new() };
            let style = if lane == now.lane() { style.add_modifier(Modifier::BOLD) } else { style };
            spans.push(Span::styled(format!("{open}{letter}{close}"), style));
        }
        mask.push(Line::from(spans));
    }
    let width = length(now.state().rect().width as usize * 3).min(inside.width / 2);
    let [left, _, right] =
        Layout::horizontal([Constraint::Length(width), Constraint::Length(2), Constraint::Min(0)])
            .areas(inside);
    frame.render_widget(Paragraph::new(mask), left);
    let words: Vec<Line<'_>> = state_words(screen).into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(words).wrap(Wrap { trim: false }), right);
}

fn state_words(screen: &Screen) -> Vec<String> {
    let session = &screen.session;
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
    lines.extend(text::flags(&now).lines().map(str::to_owned));
    if !now.state().loops().is_empty() || !now.state().calls().is_empty() {
        lines.extend(text::backtrace(session).lines().map(str::to_owned));
    }
    for (n, (color, written)) in pixel.color.iter().zip(pixel.color_written).enumerate() {
        if written != 0 {
            lines.push(format!("out[{n}] = {}", float_format::vector(color)));
        }
    }
    if let Some(depth) = pixel.depth {
        lines.push(format!("depth = {}", float_format::text(depth)));
    }
    lines.extend(session.displayed().lines().map(str::to_owned));
    lines
}

fn registers_pane(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let tabs =
        [(Tab::Temporaries, "registers"), (Tab::Constants, "constants"), (Tab::Outputs, "outputs")];
    let mut title = vec![Span::raw(" ")];
    for (tab, name) in tabs {
        let style = if tab == screen.tab { Modifier::BOLD } else { Modifier::DIM };
        title.push(Span::styled(format!("{name} "), Style::new().add_modifier(style)));
    }
    title.push(Span::styled("(tab) ", Style::new().add_modifier(Modifier::DIM)));
    let block = Block::new().borders(Borders::ALL).title(Line::from(title));
    let inside = block.inner(area);
    let session = &screen.session;
    let now = session.recording.now();
    let pixel = now.pixel();
    let bindings = &session.recording.setup().bindings;
    let lines: Vec<Line<'_>> = match screen.tab {
        Tab::Temporaries => text::used_temporaries(session)
            .into_iter()
            .map(|n| {
                let value = pixel.temps.get(n).copied().unwrap_or_default();
                let fresh = text::just_written(session, n);
                register(screen, &format!("temp[{n}]"), &value, pixel.written[n], fresh)
            })
            .collect(),
        Tab::Constants => text::provided_constants(session)
            .into_iter()
            .map(|n| {
                let value = bindings.constant(n).unwrap_or_default();
                let mut line = register(screen, &format!("const[{n}]"), &value, 0b1111, 0);
                line.push_span(Span::raw(format!("  {}", text::constant_names(session, n))));
                line
            })
            .collect(),
        Tab::Outputs => (0..4)
            .filter(|&n| session.recording.setup().shader.targets()[n])
            .map(|n| {
                let written = pixel.color_written[n];
                register(screen, &format!("out[{n}]"), &pixel.color[n], written, 0)
            })
            .collect(),
    };
    let away = screen.scroll.min(lines.len().saturating_sub(usize::from(inside.height)));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(away).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// Returns a register: its colour, name and channels. A register that is never written is dim; a write of the last step
/// is highlighted.
fn register(
    screen: &Screen,
    name: &str,
    value: &[f32; 4],
    written: u8,
    fresh: u8,
) -> Line<'static> {
    let [r, g, b] = text::rgb(value);
    let swatch = if screen.colors {
        Span::styled("  ", Style::new().bg(Color::Rgb(r, g, b)))
    } else {
        Span::raw(text::color(value))
    };
    let mut spans = vec![swatch, Span::raw(format!(" {name:<9}"))];
    for (i, &x) in value.iter().enumerate() {
        let style = match () {
            () if fresh >> i & 1 != 0 => {
                paint(screen, Style::new().add_modifier(Modifier::BOLD), Color::Yellow)
            }
            () if written >> i & 1 == 0 => Style::new().add_modifier(Modifier::DIM),
            () => Style::new(),
        };
        spans.push(Span::styled(format!(" {:>10}", column(x)), style));
    }
    Line::from(spans)
}

/// Returns a number in at most ten characters; `info registers` prints all digits.
fn column(x: f32) -> String {
    let whole = float_format::text(x);
    if whole.len() <= 10 {
        return whole;
    }
    let plain = (1e-3..1e6).contains(&x.abs());
    let shorter = (0..8)
        .rev()
        .map(|digits| if plain { format!("{x:.digits$}") } else { format!("{x:.digits$e}") });
    shorter.into_iter().find(|text| text.len() <= 10).unwrap_or(whole)
}

fn message_lines(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let style = if screen.mistake {
        paint(screen, Style::new().add_modifier(Modifier::BOLD), Color::Red)
    } else {
        Style::new()
    };
    let lines: Vec<Line<'_>> =
        screen.message.lines().map(|line| Line::styled(line.to_owned(), style)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Draws the input line, or a list of keys.
fn foot_line(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    if let Some(survey) = &screen.asking {
        let share = survey.share();
        let bar = usize::from(area.width.saturating_sub(44)).min(40);
        let full = ((share * bar as f64) as usize).min(bar);
        let line = format!(
            "asking the pixels {:>3.0}% [{}{}] Esc or Ctrl-C stops",
            share * 100.0,
            "=".repeat(full),
            " ".repeat(bar - full)
        );
        let style = Style::new().add_modifier(Modifier::BOLD);
        frame.render_widget(Paragraph::new(Line::styled(line, style)), area);
        return;
    }
    let Some(prompt) = &screen.prompt else {
        let keys = "s n f u c step, next, finish, until, continue  S N F U C back  a active  b break  h heat  : command  ? help  q quit";
        let style = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Paragraph::new(Line::styled(keys, style)), area);
        return;
    };
    let before = prompt.text[..prompt.cursor].chars().count() + 1;
    // The end of a long line is visible.
    let away = before.saturating_sub(usize::from(area.width.saturating_sub(1)));
    let line: String = format!(":{}", prompt.text).chars().skip(away).collect();
    frame.render_widget(Paragraph::new(line), area);
    if area.height > 0 && area.width > 0 {
        frame.set_cursor_position(Position::new(area.x + length(before - away), area.y));
    }
}

fn help(frame: &mut Frame<'_>, area: Rect, away: u16) {
    let keys = "\x20 s n f u c    step, next, finish, until, continue     S N F U C  the same back
  ← →          step back, step                         a A        next, last instruction of the pixel
  r e          to the start, the end                   Enter      again
  ↑ ↓  b  t    move in the program, breakpoint there, run there
  shift+arrows to the pixel beside                     h          heat: executed, waited
  tab          registers, constants, outputs           pgup pgdn  scroll them
  : p          a command, print                        < >        scroll the program sideways
  q            quit
";
    let commands = language::help("").unwrap_or_default();
    let words = format!("{keys}\n{commands}");
    let lines: Vec<Line<'_>> = words.lines().map(|line| Line::raw(line.to_owned())).collect();
    let height = length(lines.len() + 2).min(area.height);
    let width = 100.min(area.width);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    frame.render_widget(
        Paragraph::new(lines)
            .scroll((away, 0))
            .block(pane("keys and commands (arrows scroll, others close)")),
        place,
    );
}

fn pane(title: &str) -> Block<'static> {
    Block::new().borders(Borders::ALL).title(format!(" {title} "))
}

fn paint(screen: &Screen, style: Style, color: Color) -> Style {
    if screen.colors { style.fg(color) } else { style }
}

/// Returns a colour between dark and bright.
fn ramp(value: u64, most: u64) -> Color {
    const STOPS: [[u8; 3]; 5] =
        [[13, 8, 40], [87, 16, 110], [188, 55, 84], [249, 142, 9], [252, 255, 164]];
    let at = value as f64 / most.max(1) as f64 * 4.0;
    let stop = (at as usize).min(3);
    let share = at - stop as f64;
    let mix = |i: usize| {
        let (from, to) = (f64::from(STOPS[stop][i]), f64::from(STOPS[stop + 1][i]));
        (from + (to - from) * share) as u8
    };
    Color::Rgb(mix(0), mix(1), mix(2))
}

/// Wraps text, at spaces if possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let room = lines.last().map_or(0, |line| line.chars().count());
        if room > 0 && room + 1 + word.chars().count() > width {
            lines.push("    ".to_owned());
        } else if room > 0 {
            lines.iter_mut().next_back().into_iter().for_each(|line| line.push(' '));
        }
        lines.iter_mut().next_back().into_iter().for_each(|line| line.push_str(word));
    }
    lines
}

/// Converts a number of rows or columns.
fn length(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}
