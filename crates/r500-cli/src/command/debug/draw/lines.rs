//! Messages, the input line or a list of keys, the help.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Borders, Clear, Paragraph};

use super::super::language::{self, Kind};
use super::super::screen::Screen;
use super::super::subject::Subject;
use super::{length, paint, pane, wrapped};

/// Lists of keys of a kind, the longest first; the first one that fits is shown.
fn keys(kind: Kind) -> &'static [&'static str; 3] {
    match kind {
        Kind::Pixel => &PIXEL_KEYS,
        Kind::Vertex => &VERTEX_KEYS,
    }
}

const VERTEX_KEYS: [&str; 3] = [
    "s n a f u c step, next, active, finish, until, continue  S N A F U C back  b break  tab registers  : command  ? help  q quit",
    "s n f u c step…continue  S N F U C back  b break  tab registers  : command  ? help",
    "s n c step  S N C back  b break  tab registers  ? help",
];

const PIXEL_KEYS: [&str; 3] = [
    "s n a f u c step, next, active, finish, until, continue  S N A F U C back  b break  h heat  tab registers  : command  ? help  q quit",
    "s n f u c step…continue  S N F U C back  b break  h heat  : command  ? help",
    "s n c step  S N C back  b break  h heat  ? help",
];

/// Returns the reply of the last command, wrapped.
pub(super) fn message<M: Subject>(screen: &Screen<M>, width: u16) -> Vec<Line<'static>> {
    let style = if screen.mistake {
        paint(screen, Style::new().add_modifier(Modifier::BOLD), Color::Red)
    } else {
        Style::new()
    };
    let lines = screen.message.lines().flat_map(|line| wrap_if_long(line, width.into()));
    lines.map(|line| Line::styled(line, style)).collect()
}

/// Wraps a line that is too long; the spaces of others stay, which point at a mistake or align columns.
fn wrap_if_long(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width { vec![line.to_owned()] } else { wrapped(line, width) }
}

/// Draws the input line, or a list of keys.
pub(super) fn foot<M: Subject>(frame: &mut Frame<'_>, screen: &Screen<M>, area: Rect) {
    if let Some(survey) = &screen.asking {
        let share = survey.share();
        let bar = usize::from(area.width.saturating_sub(45)).min(40);
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
        let fits = |keys: &&&str| keys.chars().count() <= usize::from(area.width);
        let keys = keys(M::KIND);
        let keys = keys.iter().find(fits).unwrap_or(&keys[2]);
        let style = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Paragraph::new(Line::styled(*keys, style)), area);
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

/// Draws the help; `away` is the number of lines above the visible ones.
pub(super) fn help(frame: &mut Frame<'_>, kind: Kind, area: Rect, away: u16) {
    let (active, other, tables) = match kind {
        Kind::Pixel => (
            "next, last instruction of the pixel",
            "shift+arrows to an adjacent pixel                    h          heat: executed, waited",
            "registers, constants, outputs          ",
        ),
        Kind::Vertex => (
            "next, last executed instruction",
            "shift+arrows to the next or previous vertex",
            "registers, inputs, constants, outputs  ",
        ),
    };
    let keys = format!(
        "\x20 s n f u c    step, next, finish, until, continue     S N F U C  the same back
  ← →          step back, step                         a A        {active}
  r e          to the start, the end                   Enter      again
  ↑ ↓  b  t    move in the program, breakpoint there, run there
  {other}
  tab          {tables} pgup pgdn  scroll them
  : p          a command, print                        < >        scroll the program sideways
  q            quit
"
    );
    let commands = language::help("", kind).unwrap_or_default();
    let words = format!("{keys}\n{commands}");
    let width = 100.min(area.width);
    let room = usize::from(width.saturating_sub(2)).max(1);
    let lines = words.lines().flat_map(|line| wrap_if_long(line, room));
    let lines: Vec<Line<'_>> = lines.map(Line::raw).collect();
    let height = length(lines.len() + 2).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    // The last lines stay visible.
    let away =
        usize::from(away).min(lines.len().saturating_sub(usize::from(height.saturating_sub(2))));
    frame.render_widget(Clear, place);
    let title = "keys and commands (arrows scroll, others close)";
    frame.render_widget(
        Paragraph::new(lines).scroll((length(away), 0)).block(pane(title, Borders::ALL)),
        place,
    );
}
