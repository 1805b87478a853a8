//! Drawings of control-flow graphs. A [`Chart`] is written by [`Chart::dot`] or [`Chart::svg`].
//!
//! The SVG layout is computed here, in layers from top to bottom, without another program.

mod dot;
mod layout;
mod svg;

use std::fmt::Display;

use crate::graph::{BlockNode, Blocks, EdgeKind, Graph};

/// A flow graph as boxes and arrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// Name of the graph; may be empty.
    pub title: String,
    /// Lines below the title.
    pub notes: Vec<String>,
    /// Boxes, in the order of addresses; the end of the program is the last.
    pub boxes: Vec<ChartBox>,
    /// Arrows.
    pub arrows: Vec<Arrow>,
}

/// A box of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartBox {
    /// Lines of text.
    pub lines: Vec<String>,
    /// The kind of node.
    pub kind: BoxKind,
    /// Number of natural loops that contain the block.
    pub nesting: usize,
}

/// The kind of node that a box represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoxKind {
    /// The block in which the program starts.
    Start,
    /// A block.
    Block,
    /// An unreachable block.
    Unreached,
    /// The end of the program.
    End,
    /// Addresses outside the code window.
    Outside,
}

/// An arrow of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The source box.
    pub from: usize,
    /// The target box.
    pub to: usize,
    /// The kind of transfer.
    pub kind: EdgeKind,
    /// Whether the arrow closes a cycle.
    pub back: bool,
}

/// Returns the lines of an instruction's text in a box, the first with its number.
#[must_use]
pub fn numbered_lines(number: impl Display, text: &str) -> Vec<String> {
    let mut number = number.to_string();
    text.lines().map(|line| format!("{:>3}  {line}", std::mem::take(&mut number))).collect()
}

impl Chart {
    /// Returns a chart of the basic blocks. `text` returns one or more lines for an instruction
    /// index.
    #[must_use]
    pub fn new(graph: &Graph, blocks: &Blocks, text: impl Fn(usize) -> String) -> Self {
        let window = graph.window();
        let mut boxes: Vec<ChartBox> = Vec::new();
        for (number, block) in blocks.blocks.iter().enumerate() {
            let instructions = (block.first..=block.last)
                .map(|index| numbered_lines(window.address(index), &text(index)));
            let lines = instructions.flatten().collect();
            let kind = match block.reached {
                true if number == blocks.start => BoxKind::Start,
                true => BoxKind::Block,
                false => BoxKind::Unreached,
            };
            let nesting = blocks.loops.iter().filter(|l| l.blocks.contains(&number)).count();
            boxes.push(ChartBox { lines, kind, nesting });
        }
        let end = boxes.len();
        let line = |line: &str, kind| ChartBox { lines: vec![line.into()], kind, nesting: 0 };
        boxes.push(line("end", BoxKind::End));
        let mut outside = None;
        let mut arrows = Vec::new();
        for (from, block) in blocks.blocks.iter().enumerate() {
            for &(kind, to) in &block.successors {
                let (to, back) = match to {
                    BlockNode::Block(to) => (to, blocks.dominates(to, from)),
                    BlockNode::End => (end, false),
                    BlockNode::Outside(_) => {
                        let to = *outside.get_or_insert_with(|| {
                            boxes.push(line("outside the window", BoxKind::Outside));
                            boxes.len() - 1
                        });
                        (to, false)
                    }
                };
                arrows.push(Arrow { from, to, kind, back });
            }
        }
        Self { title: String::new(), notes: Vec::new(), boxes, arrows }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::LintCode;

    fn chart(code: LintCode) -> Chart {
        let program = code.good().program;
        let graph = Graph::new(&program).unwrap();
        let text = |index: usize| format!("<{index}> \"a & b\"");
        Chart { title: "a <loop>".into(), ..Chart::new(&graph, &graph.blocks(), text) }
    }

    #[test]
    fn a_loop_with_a_break() {
        // mov LOOP | test IF | BREAK | ENDIF ENDLOOP (IF jumps past ENDIF) | OUT.
        let chart = chart(LintCode::BreakDepth);
        let back: Vec<_> = chart.arrows.iter().filter(|arrow| arrow.back).collect();
        assert_eq!(back.len(), 1);
        assert_eq!(back[0].kind, EdgeKind::Back);
        assert!(chart.boxes.iter().any(|b| b.nesting == 1));
        assert_eq!(chart.boxes.iter().filter(|b| b.kind == BoxKind::End).count(), 1);
    }

    #[test]
    fn dot_names_every_box_and_escapes() {
        let chart = chart(LintCode::BreakDepth);
        let dot = chart.dot();
        for n in 0..chart.boxes.len() {
            assert!(dot.contains(&format!("  b{n} [")), "{dot}");
        }
        assert_eq!(dot.matches(" -> ").count(), chart.arrows.len());
        assert!(dot.contains("\\\"a & b\\\"") && dot.ends_with("}\n"));
    }

    #[test]
    fn boxes_keep_apart() {
        for &code in LintCode::ALL {
            let program = code.good().program;
            let graph = Graph::new(&program).unwrap();
            let chart = Chart::new(&graph, &graph.blocks(), |index| "x".repeat(index % 30));
            let layout = layout::Layout::of(&chart);
            let spots = &layout.nodes[..chart.boxes.len()];
            for (n, a) in spots.iter().enumerate() {
                assert!(a.x >= 0.0 && a.x + a.width <= layout.width);
                assert!(a.y >= 0.0 && a.y + a.height <= layout.height);
                for b in &spots[..n] {
                    let apart = a.x + a.width <= b.x
                        || b.x + b.width <= a.x
                        || a.y + a.height <= b.y
                        || b.y + b.height <= a.y;
                    assert!(apart, "{code:?}: {a:?} {b:?}");
                }
            }
            // Routes pass through consecutive layers and do not touch boxes.
            for way in &layout.routes {
                let mut ys: Vec<f64> = way.points.iter().map(|&p| layout.nodes[p].y).collect();
                if way.upward {
                    ys.reverse();
                }
                assert!(ys.is_sorted(), "{code:?}: {ys:?}");
                for point in way.points.iter().map(|&point| layout.nodes[point]) {
                    let clear = |b: &layout::LayoutNode| {
                        b.layer != point.layer
                            || point.centre() < b.x
                            || point.centre() > b.x + b.width
                    };
                    assert!(spots.iter().all(clear), "{code:?}: {point:?}");
                }
            }
        }
    }

    /// Checks well-formedness as far as needed here: tags balance, text is escaped, numbers are
    /// finite.
    #[test]
    fn svg_is_well_formed() {
        for &code in LintCode::ALL {
            let program = code.bad().program;
            let Ok(graph) = Graph::new(&program) else { continue };
            if graph.gave_up() {
                continue;
            }
            let svg = Chart::new(&graph, &graph.blocks(), |index| format!("<{index}> &")).svg();
            assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{code:?}");
            for tag in ["g", "text", "title", "style", "defs", "marker", "svg"] {
                let opened = svg.matches(&format!("<{tag}>")).count()
                    + svg.matches(&format!("<{tag} ")).count();
                assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{code:?}: {tag}");
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<0>"));
            assert!(!svg.contains(" & "));
        }
    }
}
