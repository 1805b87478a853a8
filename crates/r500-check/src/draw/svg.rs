//! SVG.

use std::fmt::Write;

use super::layout::{LINE, Layout, PADDING, Spot};
use super::{BoxKind, Chart, ChartBox};

const STYLE: &str = "text{font:12px ui-monospace,monospace;fill:#222;white-space:pre}\
rect{fill:#fff;stroke:#555}.start rect{stroke-width:2.5}.unreached rect{stroke-dasharray:5 4;fill:#f4f4f4}\
.end rect{rx:14px}.outside rect{fill:#fde8e8;stroke:#a33}.loop rect{fill:#f0f6ff}\
path{fill:none;stroke:#555}.back{stroke:#26c}.label{font-size:11px;fill:#666}";

impl Chart {
    /// The chart as an SVG picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let layout = Layout::of(self);
        let (width, height) = (layout.width.ceil(), layout.height.ceil());
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n"
        );
        let title = if self.title.is_empty() { "flow graph" } else { &self.title };
        let _ = writeln!(svg, "<title>{}</title>\n<style>{STYLE}</style>", escape(title));
        svg.push_str(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\" \
             style=\"fill:#555;stroke:none\"/></marker></defs>\n",
        );
        for (n, (way, upward)) in layout.ways.iter().enumerate() {
            self.arrow(&mut svg, &layout, n, way, *upward);
        }
        for (node, spot) in self.boxes.iter().zip(&layout.spots) {
            draw_box(&mut svg, node, spot);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn arrow(&self, svg: &mut String, layout: &Layout, n: usize, way: &[usize], upward: bool) {
        let arrow = &self.arrows[n];
        let (Some(&first), Some(&last)) = (way.first(), way.last()) else { return };
        let (from, to) = (layout.spots[first], layout.spots[last]);
        // Several arrows of a side of a box stand apart, in the order of where they come from or go.
        let shift = |at: usize, below: bool| {
            let hangs = |m: usize| {
                let way = &layout.ways[m].0;
                let ends = if below { way.first() } else { way.last() };
                let next = if below { way.get(1) } else { way.iter().rev().nth(1) };
                let x = next.map_or(0.0, |&spot| layout.spots[spot].centre());
                (ends == Some(&at)).then_some((x, m))
            };
            let mut mates: Vec<(f64, usize)> = (0..self.arrows.len()).filter_map(hangs).collect();
            mates.sort_by(|a, b| a.0.total_cmp(&b.0));
            let place = mates.iter().position(|mate| mate.1 == n).unwrap_or(0);
            let span = layout.spots[at].width * 0.6;
            (place as f64 + 0.5) / mates.len().max(1) as f64 * span - span / 2.0
        };
        let (x0, y0) = (from.centre() + shift(first, true), from.y + from.height);
        let mut path = format!("M{x0:.1} {y0:.1}");
        if way.len() < 2 {
            // A block that leads to itself.
            let (right, top) = (from.x + from.width, from.y + from.height / 2.0);
            path = format!("M{right:.1} {:.1}c30 -14 30 14 0 10", top - 5.0);
        }
        let (mut x, mut y) = (x0, y0);
        for &at in way.iter().skip(1) {
            let spot = layout.spots[at];
            let (nx, ny) = if at == last {
                (to.centre() + shift(last, false), spot.y)
            } else {
                (spot.centre(), spot.y)
            };
            let bend = ((ny - y) / 2.0).max(12.0);
            let _ =
                write!(path, "C{x:.1} {:.1} {nx:.1} {:.1} {nx:.1} {ny:.1}", y + bend, ny - bend);
            (x, y) = (nx, ny);
        }
        let (class, marker) = match (arrow.back, upward) {
            (true, _) => (" class=\"back\"", if upward { "marker-start" } else { "marker-end" }),
            (_, true) => ("", "marker-start"),
            _ => ("", "marker-end"),
        };
        let _ = writeln!(svg, "<path d=\"{path}\"{class} {marker}=\"url(#tip)\"/>");
        let label = arrow.kind.label();
        if !label.is_empty() {
            let (lx, ly) = if upward { (x + 4.0, y - 6.0) } else { (x0 + 4.0, y0 + 13.0) };
            let _ =
                writeln!(svg, "<text class=\"label\" x=\"{lx:.1}\" y=\"{ly:.1}\">{label}</text>");
        }
    }
}

fn draw_box(svg: &mut String, node: &ChartBox, spot: &Spot) {
    let class = match node.kind {
        BoxKind::Start => "start",
        BoxKind::Block => "block",
        BoxKind::Unreached => "unreached",
        BoxKind::End => "end",
        BoxKind::Outside => "outside",
    };
    let inside = if node.nesting > 0 { " loop" } else { "" };
    let Spot { x, y, width, height, .. } = *spot;
    let _ = writeln!(svg, "<g class=\"{class}{inside}\">");
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
    for (n, line) in node.lines.iter().enumerate() {
        let (x, y) = (x + PADDING, y + PADDING + LINE * (n as f64 + 0.75));
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(line));
    }
    svg.push_str("</g>\n");
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
