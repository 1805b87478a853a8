//! Output of charts as Graphviz DOT.

use std::fmt::Write;

use super::{BoxKind, Chart};

impl Chart {
    /// Returns the chart as Graphviz DOT.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut dot = String::from("digraph program {\n");
        let lines: Vec<&str> =
            std::iter::once(&self.title).chain(&self.notes).map(String::as_str).collect();
        let _ = writeln!(dot, "  label=\"{}\";\n  labelloc=t;", escape(&lines.join("\n")));
        dot.push_str("  node [shape=box, fontname=\"monospace\"];\n");
        dot.push_str("  edge [fontname=\"monospace\"];\n");
        for (n, node) in self.boxes.iter().enumerate() {
            let lines: String = node.lines.iter().map(|line| escape(line) + "\\l").collect();
            let style = match node.kind {
                BoxKind::Start => ", penwidth=2",
                BoxKind::Block => "",
                BoxKind::Unreached => ", style=dashed",
                BoxKind::End => ", shape=oval",
                BoxKind::Outside => ", shape=octagon",
            };
            let _ = writeln!(dot, "  b{n} [label=\"{lines}\"{style}];");
        }
        for arrow in &self.arrows {
            let _ = write!(dot, "  b{} -> b{}", arrow.from, arrow.to);
            let label = arrow.kind.label();
            if !label.is_empty() {
                let _ = write!(dot, " [label=\"{label}\"]");
            }
            dot.push_str(";\n");
        }
        dot.push_str("}\n");
        dot
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
