//! The heat map, drawn over the program.

use r500::exec::record::area::Heatmap;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Borders, Clear, Paragraph};

use super::super::area::Measure;
use super::super::screen::Screen;
use super::super::subject::Subject;
use super::super::text;
use super::{length, pane};

/// Draws a heat map as large as fits, one colour a pixel and two pixels a character; without colours, letters. Its last
/// line is the scale.
pub(super) fn overlay<M: Subject>(
    frame: &mut Frame<'_>,
    screen: &Screen<M>,
    heat: &Heatmap,
    measure: Measure,
    area: Rect,
) {
    let title = match measure {
        Measure::Executed => "instructions executed (h: waited, esc: close)",
        Measure::Waited => "instructions waited for others (h: close)",
    };
    let map = Map::new(screen, heat, measure, area);
    let scale = map.scale();
    let width =
        length(map.cells[0] as usize).max(length(scale.width())).max(length(title.len() + 2));
    let width = (width + 2).min(area.width);
    let height = (length(map.cells[1].div_ceil(2) as usize) + 3).min(area.height);
    // On the right, so that addresses and the starts of lines stay visible.
    let place = Rect { x: area.x + area.width - width, y: area.y, width, height };
    frame.render_widget(Clear, place);
    let block = pane(title, Borders::ALL);
    let inside = block.inner(place);
    frame.render_widget(block, place);
    let [picture, last] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inside);
    frame.render_widget(Paragraph::new(map.lines()).centered(), picture);
    frame.render_widget(Paragraph::new(scale), last);
}

/// A heat map in cells.
struct Map<'a, M: Subject> {
    screen: &'a Screen<M>,
    heat: &'a Heatmap,
    values: Vec<u64>,
    most: u64,
    /// Columns and rows of cells. Two cells, one above the other, are a character.
    cells: [u32; 2],
}

impl<'a, M: Subject> Map<'a, M> {
    fn new(screen: &'a Screen<M>, heat: &'a Heatmap, measure: Measure, area: Rect) -> Self {
        let values: Vec<u64> = heat.activity.iter().map(|work| measure.of(work)).collect();
        let most = values.iter().max().copied().unwrap_or(0);
        let size = [heat.area.width, heat.area.height];
        // Inside a frame and above the scale. Cells are square.
        let room = [area.width.saturating_sub(2), area.height.saturating_sub(3) * 2];
        let shrink = (f64::from(size[0]) / f64::from(room[0].max(1)))
            .max(f64::from(size[1]) / f64::from(room[1].max(1)))
            .max(1.0);
        let cells = size.map(|side| ((f64::from(side) / shrink) as u32).max(1));
        Self { screen, heat, values, most, cells }
    }

    fn value(&self, column: u32, line: u32) -> u64 {
        let size = [self.heat.area.width, self.heat.area.height];
        text::cell(&self.values, size, self.cells, [column, line])
    }

    /// Returns whether a cell contains the pixel.
    fn is_marked(&self, column: u32, line: u32) -> bool {
        let Some([x, y]) = M::pixel(&self.screen.session) else { return false };
        let area = self.heat.area;
        let at = |at: u32, from: u32, size: u32, cells: u32| {
            at.checked_sub(from).map(|at| u64::from(at) * u64::from(cells) / u64::from(size.max(1)))
        };
        at(x, area.x, area.width, self.cells[0]) == Some(u64::from(column))
            && at(y, area.y, area.height, self.cells[1]) == Some(u64::from(line))
    }

    /// Returns the map, the upper row first.
    fn lines(&self) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut upper = self.cells[1];
        while upper > 0 {
            let cell = |column| self.character(column, upper);
            lines.push(Line::from((0..self.cells[0]).map(cell).collect::<Vec<_>>()));
            upper = upper.saturating_sub(2);
        }
        lines
    }

    /// Returns the character of the cells of a column below a row.
    fn character(&self, column: u32, upper: u32) -> Span<'static> {
        let lower = upper.checked_sub(2);
        if !self.screen.colors {
            let below = lower.map_or(0, |line| self.value(column, line));
            let letter = text::shade(self.value(column, upper - 1).max(below), self.most);
            let here = self.is_marked(column, upper - 1)
                || lower.is_some_and(|line| self.is_marked(column, line));
            let style = if here { Modifier::REVERSED } else { Modifier::empty() };
            return Span::styled(letter.to_string(), Style::new().add_modifier(style));
        }
        let color = |line: u32| match self.is_marked(column, line) {
            true => Color::Rgb(0, 255, 255),
            false => ramp(self.value(column, line), self.most),
        };
        let style = Style::new().fg(color(upper - 1));
        let style = match lower {
            Some(line) => style.bg(color(line)),
            None => style,
        };
        Span::styled("▀", style)
    }

    /// Returns the scale: the colours or letters from 0 to the greatest value.
    fn scale(&self) -> Line<'static> {
        let last = text::SHADES.len() as u64 - 1;
        let part = |(step, letter): (u64, char)| match self.screen.colors {
            true => Span::styled(" ", Style::new().bg(ramp(step, last))),
            false => Span::raw(letter.to_string()),
        };
        let mut spans = vec![Span::raw("0 ")];
        spans.extend((0..).zip(text::SHADES).map(part));
        spans.push(Span::raw(format!(" {}", self.most)));
        let pixel =
            if self.screen.colors { "   cyan: the pixel" } else { "   reversed: the pixel" };
        spans.push(Span::raw(pixel));
        Line::from(spans)
    }
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
