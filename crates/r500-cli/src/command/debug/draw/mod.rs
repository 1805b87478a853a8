//! Layout and drawing of the screen.
//!
//! | module | content |
//! | --- | --- |
//! | [`program`] | the program, and the next instruction with its operands |
//! | [`state`] | the group as a mask, state, registers |
//! | [`heat`] | the heat map, over the program |
//! | [`lines`] | messages, the input line, keys, the help |

mod heat;
mod lines;
mod program;
mod state;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

use super::screen::Screen;
use super::subject::Subject;
use super::text;

/// Width from which there are two columns.
const TWO_COLUMNS: u16 = 110;
/// Width of the columns with state and registers.
const STATE_WIDTH: u16 = 66;
/// Width up to which lines of the program have priority over a third column.
const LONG_LINE: usize = 120;

/// Draws the screen, at any size.
pub(super) fn draw<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>) {
    panes(frame, screen);
    // Names and comments of a program must not control the terminal.
    for cell in &mut frame.buffer_mut().content {
        if cell.symbol().contains(r500::asm::disturbs_terminal) {
            cell.set_symbol("?");
        }
    }
}

fn panes<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>) {
    let area = frame.area();
    if area.width < 40 || area.height < 12 {
        tiny(frame, screen, area);
        return;
    }
    let message = lines::message(screen, area.width);
    let said = message.len().clamp(1, usize::from(area.height / 4));
    let rows = [Constraint::Min(5), Constraint::Length(length(said)), Constraint::Length(1)];
    let [body, said, foot] = Layout::vertical(rows).areas(area);
    let three = length(program::width(screen).min(LONG_LINE)) + 2 * STATE_WIDTH;
    let main = match body.width {
        ..TWO_COLUMNS => one_column(frame, screen, body),
        width if width < three => two_columns(frame, screen, body),
        _ => three_columns(frame, screen, body),
    };
    frame.render_widget(Paragraph::new(message), said);
    lines::foot(frame, screen, foot);
    if let Some((heat, measure)) = &screen.heat {
        heat::overlay(frame, screen, heat, *measure, main);
    }
    if let Some(away) = screen.help {
        lines::help(frame, M::KIND, area, away);
    }
}

/// Draws the panes of a narrow terminal below each other; state and registers share the last one. Returns the area that
/// a heat map may cover.
fn one_column<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, body: Rect) -> Rect {
    let state = (body.height * 4 / 11).max(5);
    let effects: usize = program::narrow_lines(screen, body.width).iter().map(Vec::len).sum();
    let instruction = length(effects + 1).clamp(3, (body.height * 3 / 10).max(3));
    let rows = [Constraint::Min(3), Constraint::Length(instruction), Constraint::Length(state)];
    let [top, middle, bottom] = Layout::vertical(rows).areas(body);
    program::program(frame, screen, top, true);
    program::effects(frame, screen, middle);
    state::state_and_registers(frame, screen, bottom);
    Rect { height: top.height + middle.height, ..top }
}

/// Draws the program to the left of instruction, state and registers.
fn two_columns<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, body: Rect) -> Rect {
    let columns = [Constraint::Min(40), Constraint::Length(STATE_WIDTH)];
    let [left, right] = Layout::horizontal(columns).areas(body);
    program::program(frame, screen, left, false);
    let state = state::height(screen, right.width);
    let instruction = length(program::instruction_lines(screen, right.width).len() + 2);
    let most = right.height.saturating_sub(state + 4).max(4);
    let rows = [
        Constraint::Length(instruction.clamp(4, most)),
        Constraint::Length(state),
        Constraint::Min(0),
    ];
    let [top, middle, bottom] = Layout::vertical(rows).areas(right);
    program::instruction(frame, screen, top);
    state::state(frame, screen, middle);
    state::registers(frame, screen, bottom, Borders::ALL);
    left
}

/// Draws the program, instruction and state, and registers in columns.
fn three_columns<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, body: Rect) -> Rect {
    let columns =
        [Constraint::Min(40), Constraint::Length(STATE_WIDTH), Constraint::Length(STATE_WIDTH)];
    let [left, middle, right] = Layout::horizontal(columns).areas(body);
    program::program(frame, screen, left, false);
    let state = state::height(screen, middle.width).min(middle.height / 2);
    let rows = [Constraint::Min(4), Constraint::Length(state)];
    let [top, bottom] = Layout::vertical(rows).areas(middle);
    program::instruction(frame, screen, top);
    state::state(frame, screen, bottom);
    state::registers(frame, screen, right, Borders::ALL);
    left
}

/// Draws a minimal screen, for very small terminals.
fn tiny<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, area: Rect) {
    let mut lines: Vec<Line<'_>> = Vec::new();
    if area.height > 3 {
        lines.extend(lines::message(screen, area.width).into_iter().take(1));
    }
    lines.push(Line::raw(text::here(&screen.session).trim_end().to_owned()));
    if let Some(step) = screen.session.recording.next_step() {
        lines.extend(screen.session.recording.machine().effects(step).into_iter().map(Line::raw));
    }
    let [body, foot] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(1.min(area.height))]).areas(area);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), body);
    lines::foot(frame, screen, foot);
}

fn pane(title: &str, borders: Borders) -> Block<'static> {
    Block::new().borders(borders).title(format!(" {title} "))
}

fn paint<M: Subject>(screen: &Screen<M>, style: Style, color: Color) -> Style {
    if screen.colors { style.fg(color) } else { style }
}

/// Wraps text, at spaces if possible; lines after the first are indented further.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let words = text.trim_start();
    let margin = &text[..text.len() - words.len()];
    let mut lines = Vec::new();
    let mut line = margin.to_owned();
    let mut begins = true;
    for word in words.split(' ') {
        let (room, long) = (line.chars().count(), word.chars().count());
        if !begins && room + 1 + long > width {
            lines.push(std::mem::replace(&mut line, format!("{margin}    ")));
        } else if !begins {
            line.push(' ');
        }
        begins = false;
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Converts a number of rows or columns.
fn length(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_at_spaces_and_indented_further() {
        assert_eq!(wrapped("  a bb ccc d", 6), ["  a bb", "      ccc", "      d"]);
        assert_eq!(wrapped("a bb", 6), ["a bb"]);
        assert_eq!(wrapped("longer than six", 6), ["longer", "    than", "    six"]);
        assert_eq!(wrapped("", 6), [""]);
    }
}
