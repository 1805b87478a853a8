//! The group as a mask, the state of the pixel, registers.

use r500::exec::reference::LaneState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::super::screen::{Screen, Tab};
use super::super::text::{self, LANE_LETTERS};
use super::{length, paint, pane, wrapped};
use crate::command::float_format;
use crate::command::trace::state_name;

/// Most characters of a number in the register pane; `info registers` prints all digits.
const DIGITS: usize = 10;

/// Returns the height of the state pane of a width, its frame included.
pub(super) fn height(screen: &Screen, width: u16) -> u16 {
    let inside = width.saturating_sub(2);
    let rows = screen.session.recording.now().state().rect().height.min(16) as usize;
    let words = words(screen, inside.saturating_sub(mask_width(screen, inside / 2) + 2)).len();
    length(rows.max(words) + legend(screen, inside).len() + 2)
}

/// Draws the group as a mask with its legend, and the state of the pixel.
pub(super) fn group(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let [x, y] = screen.session.pixel();
    let block = pane(&format!("pixel {x},{y} and its group"), Borders::ALL);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let legend = legend(screen, inside.width);
    let rows = [Constraint::Min(1), Constraint::Length(length(legend.len()))];
    let [top, bottom] = Layout::vertical(rows).areas(inside);
    let width = mask_width(screen, inside.width / 2);
    let columns = [Constraint::Length(width), Constraint::Length(2), Constraint::Min(0)];
    let [left, _, right] = Layout::horizontal(columns).areas(top);
    frame.render_widget(Paragraph::new(mask(screen, left)), left);
    let words: Vec<Line<'_>> = words(screen, right.width).into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(words), right);
    let legend: Vec<Line<'_>> = legend.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(legend).dim(), bottom);
}

/// Draws the mask of the group next to the registers, in few rows. Below the mask is its legend, as far as there is room.
pub(super) fn group_and_registers(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let [x, y] = screen.session.pixel();
    let title = format!("pixel {x},{y}");
    let width = mask_width(screen, area.width / 3).max(length(title.len() + 2));
    let columns = [Constraint::Length(width), Constraint::Length(1), Constraint::Min(0)];
    let [left, _, right] = Layout::horizontal(columns).areas(area);
    let block = pane(&title, Borders::TOP);
    let mut lines = mask(screen, block.inner(left));
    lines.extend(used_letters(screen).into_iter().map(Line::raw));
    frame.render_widget(Paragraph::new(lines).block(block), left);
    registers(frame, screen, right, Borders::TOP);
}

/// Returns the width of the mask: three characters a pixel, or one if there is no room.
fn mask_width(screen: &Screen, most: u16) -> u16 {
    let columns = screen.session.recording.now().state().rect().width;
    let wide = length(columns as usize * 3);
    if wide <= most { wide } else { length(columns as usize).min(most) }
}

/// Returns the rows of the mask that fit, around that of the pixel.
fn mask(screen: &Screen, area: Rect) -> Vec<Line<'static>> {
    let now = screen.session.recording.now();
    let executing: Vec<bool> = now.active_lanes().collect();
    let quad = now.lane() / 4;
    let wide = usize::from(area.width) >= now.state().rect().width as usize * 3;
    let rows = text::rows(&now);
    let height = usize::from(area.height).max(1);
    let own = rows.iter().position(|row| row.contains(&now.lane())).unwrap_or(0);
    let top = own.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    let cell = |lane: usize| {
        let state = &now.state().lanes()[lane];
        let letter = text::lane_letter(state, executing[lane]);
        let text = match lane {
            _ if !wide => letter.to_string(),
            lane if lane == now.lane() => format!("[{letter}]"),
            lane if lane / 4 == quad => format!("({letter})"),
            _ => format!(" {letter} "),
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
        let own = if wide { Modifier::BOLD } else { Modifier::REVERSED };
        let style = if lane == now.lane() { style.add_modifier(own) } else { style };
        Span::styled(text, style)
    };
    let rows = rows.into_iter().skip(top).take(height);
    rows.map(|row| row.into_iter().map(cell).collect::<Vec<_>>().into()).collect()
}

/// Returns the legend of the letters in the mask, in lines of a width.
fn legend(screen: &Screen, width: u16) -> Vec<String> {
    wrapped(&used_letters(screen).join(", "), width.into())
}

/// Returns the letters in the mask, each with its meaning.
fn used_letters(screen: &Screen) -> Vec<String> {
    let now = screen.session.recording.now();
    let lanes = now.state().lanes().iter().zip(now.active_lanes());
    let used: Vec<char> = lanes.map(|(lane, executes)| text::lane_letter(lane, executes)).collect();
    let shown = LANE_LETTERS.iter().filter(|(letter, _)| used.contains(letter));
    shown.map(|(letter, meaning)| format!("{letter} {meaning}")).collect()
}

/// Returns the state of the pixel, running loops and calls, outputs so far, displayed values; in lines of a width.
fn words(screen: &Screen, width: u16) -> Vec<String> {
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
    lines.push(text::flags(&now));
    lines.extend(text::nesting(&now));
    for (n, (color, written)) in pixel.color.iter().zip(pixel.color_written).enumerate() {
        if written != 0 {
            lines.push(format!("out[{n}] = {}", float_format::vector(color)));
        }
    }
    if let Some(depth) = pixel.depth {
        lines.push(format!("depth = {}", float_format::text(depth)));
    }
    lines.extend(session.display_lines());
    lines.iter().flat_map(|line| wrapped(line, width.into())).collect()
}

/// Draws temporaries, constants or outputs.
pub(super) fn registers(frame: &mut Frame<'_>, screen: &Screen, area: Rect, borders: Borders) {
    let tabs =
        [(Tab::Temporaries, "registers"), (Tab::Constants, "constants"), (Tab::Outputs, "outputs")];
    let mut title = vec![Span::raw(" ")];
    for (tab, name) in tabs {
        let style = if tab == screen.tab { Modifier::BOLD } else { Modifier::DIM };
        title.push(Span::styled(format!("{name} "), Style::new().add_modifier(style)));
    }
    title.push(Span::styled("(tab) ", Style::new().add_modifier(Modifier::DIM)));
    let block = Block::new().borders(borders).title(Line::from(title));
    let inside = block.inner(area);
    let session = &screen.session;
    let now = session.recording.now();
    let pixel = now.pixel();
    let bindings = &session.recording.setup().bindings;
    let row = Row { screen, width: inside.width };
    let lines: Vec<Line<'_>> = match screen.tab {
        Tab::Temporaries => text::used_temporaries(session)
            .into_iter()
            .map(|n| {
                let value = pixel.temps.get(n).copied().unwrap_or_default();
                let fresh = text::just_written(session, n);
                row.register(&format!("temp[{n}]"), &value, pixel.written[n], fresh)
            })
            .collect(),
        Tab::Constants => text::provided_constants(session)
            .into_iter()
            .map(|n| {
                let value = bindings.constant(n).unwrap_or_default();
                let mut line = row.register(&format!("const[{n}]"), &value, 0b1111, 0);
                line.push_span(Span::raw(format!("  {}", text::constant_names(session, n))));
                line
            })
            .collect(),
        Tab::Outputs => (0..4)
            .filter(|&n| session.recording.setup().shader.targets()[n])
            .map(|n| {
                let written = pixel.color_written[n];
                row.register(&format!("out[{n}]"), &pixel.color[n], written, 0)
            })
            .collect(),
    };
    let away = screen.scroll.min(lines.len().saturating_sub(usize::from(inside.height)));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(away).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// Rows of the register pane.
#[derive(Clone, Copy)]
struct Row<'a> {
    screen: &'a Screen,
    width: u16,
}

impl Row<'_> {
    /// Returns a register: its colour, name and channels. A channel that was never written is dim; a write of the last
    /// step is highlighted.
    fn register(self, name: &str, value: &[f32; 4], written: u8, fresh: u8) -> Line<'static> {
        let name = format!("{name:<9}");
        let (digits, hex) = self.digits(name.len());
        let [r, g, b] = text::rgb(value);
        let mut spans = Vec::new();
        if self.screen.colors {
            spans.push(Span::styled("  ", Style::new().bg(Color::Rgb(r, g, b))));
            spans.push(Span::raw(" "));
        } else if hex {
            spans.push(Span::raw(format!("{} ", text::color(value))));
        }
        spans.push(Span::raw(name));
        for (i, &x) in value.iter().enumerate() {
            let style = match () {
                () if fresh >> i & 1 != 0 => {
                    paint(self.screen, Style::new().add_modifier(Modifier::BOLD), Color::Yellow)
                }
                () if written >> i & 1 == 0 => Style::new().add_modifier(Modifier::DIM),
                () => Style::new(),
            };
            spans.push(Span::styled(format!(" {:>digits$}", number(x, digits)), style));
        }
        Line::from(spans)
    }

    /// Returns how many characters a number has, and whether there is room for `#rrggbb`.
    fn digits(self, name: usize) -> (usize, bool) {
        let width = usize::from(self.width);
        let for_numbers = |left: usize| (width.saturating_sub(name + left) / 4).saturating_sub(1);
        if self.screen.colors {
            return (for_numbers(3).clamp(6, DIGITS), false);
        }
        let with_hex = for_numbers(8);
        if with_hex >= DIGITS { (DIGITS, true) } else { (for_numbers(0).clamp(6, DIGITS), false) }
    }
}

/// Returns a number in at most `most` characters, if that is possible.
fn number(x: f32, most: usize) -> String {
    let whole = float_format::text(x);
    if whole.len() <= most {
        return whole;
    }
    let plain = (1e-3..1e6).contains(&x.abs());
    let mut shorter = (0..most)
        .rev()
        .map(|digits| if plain { format!("{x:.digits$}") } else { format!("{x:.digits$e}") });
    shorter.find(|text| text.len() <= most).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_column() {
        assert_eq!(number(0.5, 6), "0.5");
        assert_eq!(number(0.123_456_79, 6), "0.1235");
        assert_eq!(number(-0.123_456_79, 10), "-0.1234568");
        assert_eq!(number(123_456.78, 8), "123456.8");
        assert_eq!(number(1.234_567e-12, 8), "1.23e-12");
        assert_eq!(number(f32::NEG_INFINITY, 6), "-inf");
    }
}
