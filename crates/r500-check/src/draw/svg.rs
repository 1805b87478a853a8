//! Output of charts as SVG.

use std::fmt::Write;

use super::layout::{CHARACTER, LAYER_GAP, LINE, Layout, LayoutNode, MARGIN, PADDING};
use super::{BoxKind, Chart, ChartBox};
use crate::graph::EdgeKind;

/// Light colours, and dark ones if the viewer prefers them.
const STYLE: &str = "\
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1c2430}
.page{fill:#fff}.title{font-weight:bold;font-size:15px}.note,.at,.label{fill:#69778a}.label{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.box rect{fill:#fbfcfd;stroke:#7b8797}.start rect{stroke:#1c2430;stroke-width:2}
.loop1 rect{fill:#edf4fd}.loop2 rect{fill:#d9e8fb}.loop3 rect{fill:#c3daf8}
.unreached rect{stroke-dasharray:5 4;fill:#f3f3f3}.outside rect{fill:#fdeaea;stroke:#b03030}
.arrow{fill:none;stroke:#4c5868;stroke-width:1.2}.back{stroke:#1f6fd0}.leave{stroke:#c2600c}.call{stroke:#8a3fb0}
.tip{fill:#4c5868}.tip-back{fill:#1f6fd0}.tip-leave{fill:#c2600c}.tip-call{fill:#8a3fb0}
@media(prefers-color-scheme:dark){text{fill:#dde4ec}.page{fill:#14181e}.label{stroke:#14181e}.note,.at,.label{fill:#8d9aab}
.box rect{fill:#1d232b;stroke:#66727f}.start rect{stroke:#dde4ec}
.loop1 rect{fill:#1b2a3d}.loop2 rect{fill:#1d3452}.loop3 rect{fill:#204068}
.unreached rect{fill:#22262b}.outside rect{fill:#3b1f22;stroke:#e07070}
.arrow{stroke:#a3b0bf}.back{stroke:#5aa7ff}.leave{stroke:#f0954a}.call{stroke:#c98be6}
.tip{fill:#a3b0bf}.tip-back{fill:#5aa7ff}.tip-leave{fill:#f0954a}.tip-call{fill:#c98be6}}";

impl Chart {
    /// Returns the chart as an SVG picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let layout = Layout::of(self);
        let (width, height) = (layout.width.ceil(), layout.height.ceil());
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n"
        );
        let title = if self.title.is_empty() { "flow graph" } else { &self.title };
        let _ = writeln!(svg, "<title>{}</title>\n<style>{STYLE}</style>\n<defs>", escape(title));
        for tip in ["tip", "tip-back", "tip-leave", "tip-call"] {
            let _ = writeln!(
                svg,
                "<marker id=\"{tip}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
                 markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" class=\"{tip}\"/></marker>"
            );
        }
        let _ = writeln!(svg, "</defs>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>");
        self.heading(&mut svg);
        let ports = Ports::of(self, &layout);
        for n in 0..self.arrows.len() {
            self.arrow(&mut svg, &layout, &ports, n);
        }
        for (node, spot) in self.boxes.iter().zip(&layout.nodes) {
            draw_box(&mut svg, node, spot);
        }
        // Labels are drawn last, because another arrow may cross them.
        for (n, arrow) in self.arrows.iter().enumerate() {
            let label = arrow.kind.label();
            if !label.is_empty() {
                let bottom = layout.layers[layout.nodes[arrow.from].layer].1;
                let (x, y) = (ports.leaves[n] + 5.0, bottom + 12.0);
                let _ =
                    writeln!(svg, "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>");
            }
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn heading(&self, svg: &mut String) {
        let mut y = MARGIN;
        let mut line = |class: &str, step: f64, text: &str| {
            y += step;
            let text = escape(text);
            let _ = writeln!(
                svg,
                "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{:.1}\">{text}</text>",
                y - 4.0
            );
        };
        if !self.title.is_empty() {
            line("title", 22.0, &self.title);
        }
        for note in &self.notes {
            line("note", LINE, note);
        }
    }

    fn arrow(&self, svg: &mut String, layout: &Layout, ports: &Ports, n: usize) {
        let arrow = &self.arrows[n];
        let (from, to) = (&layout.nodes[arrow.from], &layout.nodes[arrow.to]);
        let class = match arrow.kind {
            _ if arrow.back => "back",
            EdgeKind::Break | EdgeKind::Skip | EdgeKind::LeaveLoop => "leave",
            EdgeKind::Call | EdgeKind::Return => "call",
            _ => "",
        };
        let tip = if class.is_empty() { "tip".to_owned() } else { format!("tip-{class}") };
        let mut pen;
        if arrow.from == arrow.to {
            // A block that is its own successor.
            let (right, middle) = (from.x + from.width, from.y + from.height / 2.0);
            pen = Pen::at(right, middle + 6.0);
            let _ = write!(pen.path, "c{0} 14 {0} -26 1 -12", GAP_LOOP);
        } else {
            pen = Pen::at(ports.leaves[n], from.y + from.height);
            pen.line(layout.layers[from.layer].1);
            let way = &layout.routes[n];
            for &point in &way.points {
                let spot = &layout.nodes[point];
                let (top, bottom) = layout.layers[spot.layer];
                let (enter, leave) = if way.upward { (bottom, top) } else { (top, bottom) };
                pen.curve(spot.centre(), enter, way.upward);
                pen.line(leave);
            }
            pen.curve(ports.arrives[n], to.y, way.upward);
        }
        let _ = writeln!(
            svg,
            "<path class=\"arrow {class}\" d=\"{}\" marker-end=\"url(#{tip})\"/>",
            pen.path
        );
    }
}

/// The horizontal extent of an arrow from a block to itself.
const GAP_LOOP: f64 = 30.0;

/// A path being drawn.
struct Pen {
    path: String,
    x: f64,
    y: f64,
}

impl Pen {
    fn at(x: f64, y: f64) -> Self {
        Self { path: format!("M{x:.1} {y:.1}"), x, y }
    }

    /// Draws a vertical line.
    fn line(&mut self, y: f64) {
        if (y - self.y).abs() > 0.05 {
            let _ = write!(self.path, "V{y:.1}");
            self.y = y;
        }
    }

    /// Draws a curve to a point in the next layer, vertical at both ends. An upward arrow turns round at both ends.
    fn curve(&mut self, x: f64, y: f64, upward: bool) {
        let bend = LAYER_GAP * 0.45;
        let turns = (y - self.y).abs() < LAYER_GAP / 2.0;
        let (first, last) = match (upward, turns) {
            // The first curve bends below the source box and up next to it; its ends have the same y.
            (true, true) if self.path.starts_with('M') && !self.path.contains('C') => (bend, bend),
            (true, true) => (-bend, -bend),
            (true, false) => (-bend, bend),
            (false, _) => (bend, -bend),
        };
        let _ = write!(
            self.path,
            "C{:.1} {:.1} {x:.1} {:.1} {x:.1} {y:.1}",
            self.x,
            self.y + first,
            y + last
        );
        (self.x, self.y) = (x, y);
    }
}

/// The positions where arrows touch their boxes: separate, in the order of their other ends.
struct Ports {
    leaves: Vec<f64>,
    arrives: Vec<f64>,
}

impl Ports {
    fn of(chart: &Chart, layout: &Layout) -> Self {
        let mut ports =
            Self { leaves: vec![0.0; chart.arrows.len()], arrives: vec![0.0; chart.arrows.len()] };
        for (at, spot) in layout.nodes.iter().enumerate().take(chart.boxes.len()) {
            for leaving in [true, false] {
                let touches = |n: &usize| {
                    let arrow = &chart.arrows[*n];
                    arrow.from != arrow.to && at == if leaving { arrow.from } else { arrow.to }
                };
                let other_x = |n: usize| {
                    let (arrow, points) = (&chart.arrows[n], &layout.routes[n].points);
                    let (next, far) = if leaving {
                        (points.first(), arrow.to)
                    } else {
                        (points.last(), arrow.from)
                    };
                    layout.nodes[next.copied().unwrap_or(far)].centre()
                };
                let mut here: Vec<(f64, usize)> =
                    (0..chart.arrows.len()).filter(touches).map(|n| (other_x(n), n)).collect();
                here.sort_by(|a, b| a.0.total_cmp(&b.0));
                let count = here.len() as f64;
                let span = spot.width * 0.6;
                for (place, &(x, n)) in here.iter().enumerate() {
                    let even = spot.centre() + ((place as f64 + 0.5) / count * span - span / 2.0);
                    // A single arrow is straight if possible.
                    let straight = x > spot.x + PADDING && x < spot.x + spot.width - PADDING;
                    let port = if here.len() == 1 && straight { x } else { even };
                    if leaving { ports.leaves[n] = port } else { ports.arrives[n] = port }
                }
            }
        }
        ports
    }
}

fn draw_box(svg: &mut String, node: &ChartBox, spot: &LayoutNode) {
    let class = match node.kind {
        BoxKind::Start => "start",
        BoxKind::Block => "block",
        BoxKind::Unreached => "unreached",
        BoxKind::End => "end",
        BoxKind::Outside => "outside",
    };
    let inside = match node.nesting {
        0 => String::new(),
        n => format!(" loop{}", n.min(3)),
    };
    let LayoutNode { x, y, width, height, .. } = *spot;
    let _ = writeln!(svg, "<g class=\"box {class}{inside}\">");
    let round = if node.kind == BoxKind::End { height / 2.0 } else { 3.0 };
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"/>"
    );
    for (n, line) in node.lines.iter().enumerate() {
        let y = y + PADDING + LINE * (n as f64 + 0.75);
        // Some viewers collapse spaces, so the parts that they separate get their own positions.
        for (column, words) in runs(line) {
            let x = x + PADDING + column as f64 * CHARACTER;
            let number = words.bytes().all(|byte| byte.is_ascii_digit());
            let class = if number { " class=\"at\"" } else { "" };
            let words = escape(words);
            let _ = writeln!(svg, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>");
        }
    }
    svg.push_str("</g>\n");
}

/// Returns the parts of a line that two or more spaces separate, each with its column.
fn runs(line: &str) -> Vec<(usize, &str)> {
    let mut runs = Vec::new();
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let words = rest.trim_start_matches(' ');
        column += rest.len() - words.len();
        let end = words.find("  ").unwrap_or(words.len());
        let (run, rest_words) = words.split_at(end);
        if !run.is_empty() {
            runs.push((column, run));
        }
        column += run.chars().count();
        rest = rest_words;
    }
    runs
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
