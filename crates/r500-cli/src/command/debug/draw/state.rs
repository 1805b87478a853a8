//! The state of the pixel or vertex, its group as a mask, registers.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::super::screen::Screen;
use super::super::subject::{Mask, MaskCell, Register, Subject};
use super::super::text;
use super::{length, paint, pane, wrapped};
use crate::command::float_format;

/// Most characters of a number in the register pane; `info registers` prints all digits.
const DIGITS: usize = 10;

/// Returns the height of the state pane of a width, its frame included.
pub(super) fn height<M: Subject>(screen: &Screen<M>, width: u16) -> u16 {
    let inside = width.saturating_sub(2);
    let mask = M::mask(&screen.session);
    let rows = mask.as_ref().map_or(0, |mask| mask.rows.len().min(16));
    let beside = mask.as_ref().map_or(0, |mask| mask_width(mask, inside / 2) + 2);
    let words = words(screen, inside.saturating_sub(beside)).len();
    length(rows.max(words) + legend(mask.as_ref(), inside).len() + 2)
}

/// Draws the state, next to the mask of all that share the program counter with its legend.
pub(super) fn state<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, area: Rect) {
    let mask = M::mask(&screen.session);
    let selected = M::selected(&screen.session);
    let title = if mask.is_some() { format!("{selected} and its group") } else { selected };
    let block = pane(&title, Borders::ALL);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let legend = legend(mask.as_ref(), inside.width);
    let rows = [Constraint::Min(1), Constraint::Length(length(legend.len()))];
    let [top, bottom] = Layout::vertical(rows).areas(inside);
    let (width, gap) = mask.as_ref().map_or((0, 0), |mask| (mask_width(mask, inside.width / 2), 2));
    let columns = [Constraint::Length(width), Constraint::Length(gap), Constraint::Min(0)];
    let [left, _, right] = Layout::horizontal(columns).areas(top);
    if let Some(mask) = &mask {
        frame.render_widget(Paragraph::new(mask_lines(mask, screen.colors, left)), left);
    }
    let words: Vec<Line<'_>> = words(screen, right.width).into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(words), right);
    let legend: Vec<Line<'_>> = legend.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(legend).dim(), bottom);
}

/// Draws the mask next to the registers, in few rows; below it its legend, as far as there is room. Without a mask the registers have
/// all columns.
pub(super) fn state_and_registers<M: Subject>(
    frame: &mut Frame<'_>,
    screen: &Screen<M>,
    area: Rect,
) {
    let Some(mask) = M::mask(&screen.session) else {
        return registers(frame, screen, area, Borders::TOP);
    };
    let title = M::selected(&screen.session);
    let width = mask_width(&mask, area.width / 3).max(length(title.len() + 2));
    let columns = [Constraint::Length(width), Constraint::Length(1), Constraint::Min(0)];
    let [left, _, right] = Layout::horizontal(columns).areas(area);
    let block = pane(&title, Borders::TOP);
    let mut lines = mask_lines(&mask, screen.colors, block.inner(left));
    lines.extend(mask.legend.into_iter().map(Line::raw));
    frame.render_widget(Paragraph::new(lines).block(block), left);
    registers(frame, screen, right, Borders::TOP);
}

/// Returns the width of the mask: three characters a pixel, or one if there is no room.
fn mask_width(mask: &Mask, most: u16) -> u16 {
    let columns = columns(mask);
    let wide = length(columns * 3);
    if wide <= most { wide } else { length(columns).min(most) }
}

fn columns(mask: &Mask) -> usize {
    mask.rows.first().map_or(0, Vec::len)
}

/// Returns the rows of the mask that fit, around that of the pixel.
fn mask_lines(mask: &Mask, colors: bool, area: Rect) -> Vec<Line<'static>> {
    let wide = usize::from(area.width) >= columns(mask) * 3;
    let height = usize::from(area.height).max(1);
    let own = mask.rows.iter().position(|row| row.iter().any(|cell| cell.is_own)).unwrap_or(0);
    let top = own.saturating_sub(height / 2).min(mask.rows.len().saturating_sub(height));
    let span = |cell: &MaskCell| {
        let letter = cell.letter;
        let text = match (cell.is_own, cell.is_near) {
            _ if !wide => letter.to_string(),
            (true, _) => format!("[{letter}]"),
            (false, true) => format!("({letter})"),
            (false, false) => format!(" {letter} "),
        };
        let style = match colors {
            true => Style::new().fg(Color::Black).bg(letter_color(letter)),
            false => Style::new(),
        };
        let own = if wide { Modifier::BOLD } else { Modifier::REVERSED };
        let style = if cell.is_own { style.add_modifier(own) } else { style };
        Span::styled(text, style)
    };
    let rows = mask.rows.iter().skip(top).take(height);
    rows.map(|row| row.iter().map(span).collect::<Vec<_>>().into()).collect()
}

/// Returns the colour of a letter of a mask.
fn letter_color(letter: char) -> Color {
    match letter {
        'x' => Color::Red,
        'b' => Color::Blue,
        'k' => Color::Magenta,
        'c' => Color::Yellow,
        _ => Color::Green,
    }
}

/// Returns the legend of the letters in the mask, in lines of a width.
fn legend(mask: Option<&Mask>, width: u16) -> Vec<String> {
    mask.map_or_else(Vec::new, |mask| wrapped(&mask.legend.join(", "), width.into()))
}

/// Returns the state, running loops and calls, outputs so far, displayed values; in lines of a width.
fn words<M: Subject>(screen: &Screen<M>, width: u16) -> Vec<String> {
    let mut lines = M::state_lines(&screen.session);
    lines.extend(screen.session.display_lines());
    lines.iter().flat_map(|line| wrapped(line, width.into())).collect()
}

/// Draws a table of registers.
pub(super) fn registers<M: Subject>(
    frame: &mut Frame<'_>,
    screen: &Screen<M>,
    area: Rect,
    borders: Borders,
) {
    let mut title = vec![Span::raw(" ")];
    for (table, name) in M::TABLES.iter().enumerate() {
        let style = if table == screen.table { Modifier::BOLD } else { Modifier::DIM };
        title.push(Span::styled(format!("{name} "), Style::new().add_modifier(style)));
    }
    title.push(Span::styled("(tab) ", Style::new().add_modifier(Modifier::DIM)));
    let block = Block::new().borders(borders).title(Line::from(title));
    let inside = block.inner(area);
    let table = M::table(&screen.session, screen.table);
    let name = table.iter().map(|register| register.name.len()).max().unwrap_or(0).max(9);
    let row = Row { screen, width: inside.width, name };
    let lines: Vec<Line<'_>> = table.iter().map(|register| row.register(register)).collect();
    let away = screen.scroll.min(lines.len().saturating_sub(usize::from(inside.height)));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(away).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// Rows of the register pane.
struct Row<'a, M: Subject> {
    screen: &'a Screen<M>,
    width: u16,
    /// Characters of the longest name.
    name: usize,
}

impl<M: Subject> Row<'_, M> {
    /// Returns a register: its colour, name and channels. A channel that was never written is dim; a write of the last
    /// step is highlighted.
    fn register(&self, register: &Register) -> Line<'static> {
        let &Register { ref value, written, fresh, .. } = register;
        let name = format!("{:<width$}", register.name, width = self.name);
        let (digits, hex) = self.digits(name.len());
        let [r, g, b] = text::rgb(value);
        let mut spans = Vec::new();
        if M::COLORS && self.screen.colors {
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
        if !register.note.is_empty() {
            spans.push(Span::raw(format!("  {}", register.note)));
        }
        Line::from(spans)
    }

    /// Returns how many characters a number has, and whether there is room for `#rrggbb`.
    fn digits(&self, name: usize) -> (usize, bool) {
        let width = usize::from(self.width);
        let for_numbers = |left: usize| (width.saturating_sub(name + left) / 4).saturating_sub(1);
        if !M::COLORS {
            return (for_numbers(0).clamp(6, DIGITS), false);
        }
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
