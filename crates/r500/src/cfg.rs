//! Control-flow graphs for display: basic blocks with the instructions as text.

use std::collections::BTreeMap;

use r500_check::draw::{Arrow, BoxKind, Chart, ChartBox, numbered_lines};
use r500_check::graph::{Blocks, EdgeKind, Graph, Structure, Unstructured};
use r500_program::{CodeWindow, Job, WindowError};
use r500_pvs::{FlowEdge, FlowGraph, FlowNode, FlowTreeError, Program};

/// The control-flow graph of a program, with its text.
pub struct Flow<'a> {
    /// Name of the program.
    pub name: &'a str,
    /// The graph.
    pub graph: &'a Graph,
    /// The code window.
    pub window: CodeWindow,
    /// The basic blocks.
    pub blocks: Blocks,
    /// The structured statements, or why the program is unstructured.
    pub structure: Result<Structure, Unstructured>,
    /// The instructions as text.
    pub lines: Vec<String>,
}

impl<'a> Flow<'a> {
    /// Builds the flow of a job's program from its graph.
    #[must_use]
    pub fn new(job: &'a Job, graph: &'a Graph) -> Self {
        let offset = job.program.state.base_address();
        let mut lines = r500_asm::print_lines(&job.program.code, offset);
        for line in &mut lines {
            let end = line.trim_end().trim_end_matches(';').trim_end().len();
            line.truncate(end);
        }
        Self {
            name: if job.name.is_empty() { "program" } else { &job.name },
            graph,
            window: graph.window(),
            blocks: graph.blocks(),
            structure: Structure::recover(graph),
            lines,
        }
    }

    /// Returns a summary: the numbers of instructions and blocks, and whether the program is structured.
    #[must_use]
    pub fn summary(&self) -> String {
        let structured = match &self.structure {
            Ok(_) => "structured".to_owned(),
            Err(why) => {
                format!("not structured: at @{} {}", self.window.address(why.index), why.reason)
            }
        };
        let loops = if self.blocks.irreducible {
            format!("{}, and cycles with several ways in", count(self.blocks.loops.len(), "loop"))
        } else {
            count(self.blocks.loops.len(), "loop")
        };
        let gave_up = if self.graph.gave_up() {
            "; too many states to follow: the graph is not complete"
        } else {
            ""
        };
        format!(
            "{}, {}, {loops}; {structured}{gave_up}",
            count(self.lines.len(), "instruction"),
            count(self.blocks.blocks.len(), "block"),
        )
    }

    /// Returns the graph as a chart. Lines longer than `wrap` characters are broken; 0 breaks none.
    #[must_use]
    pub fn chart(&self, wrap: usize) -> Chart {
        let text = |index: usize| wrapped(&self.lines[index], wrap);
        let chart = Chart::new(self.graph, &self.blocks, text);
        Chart { title: self.name.to_owned(), notes: vec![self.summary()], ..chart }
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The control-flow graph of a vertex program, with its text.
pub struct VertexFlow<'a> {
    /// Name of the program.
    pub name: &'a str,
    /// The basic blocks.
    pub graph: FlowGraph,
    /// What is executed, as a tree of loops; or why it is none.
    pub tree: Result<Vec<FlowNode>, FlowTreeError>,
    /// The instructions as text, by their numbers.
    pub lines: BTreeMap<usize, String>,
}

/// Instructions that are followed, over all passes of loops.
const MOST_FOLLOWED: usize = 1 << 20;
/// Instructions of the tree.
const MOST_OF_TREE: usize = 1 << 16;

impl<'a> VertexFlow<'a> {
    /// Builds the flow of a program.
    #[must_use]
    pub fn new(name: &'a str, program: &Program) -> Self {
        let (base, code) = program.instructions();
        let lines = code.iter().enumerate().map(|(n, inst)| (base + n, inst.to_string()));
        Self {
            name,
            graph: program.flow_graph(MOST_FOLLOWED),
            tree: program.flow_tree(MOST_OF_TREE),
            lines: lines.collect(),
        }
    }

    /// Returns the text of an instruction; empty outside of the program.
    #[must_use]
    pub fn line(&self, number: usize) -> &str {
        self.lines.get(&number).map_or("", String::as_str)
    }

    /// Returns a summary: the numbers of instructions and blocks.
    #[must_use]
    pub fn summary(&self) -> String {
        let blocks = &self.graph.blocks;
        let instructions = blocks.iter().map(|block| block.last - block.first + 1).sum();
        let gave_up = match self.graph.complete {
            true => "",
            false => {
                "; it executes too many instructions to follow, or never ends: the graph is not complete"
            }
        };
        format!(
            "{}, {}, {}{gave_up}",
            count(instructions, "instruction"),
            count(blocks.len(), "block"),
            count(self.graph.loops, "loop")
        )
    }

    /// Returns the graph as a chart. Lines longer than `wrap` characters are broken; 0 breaks none.
    #[must_use]
    pub fn chart(&self, wrap: usize) -> Chart {
        let blocks = &self.graph.blocks;
        let mut boxes: Vec<ChartBox> = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let instructions = (block.first..=block.last)
                .map(|number| numbered_lines(number, &wrapped(self.line(number), wrap)));
            let lines = instructions.flatten().collect();
            let kind = match block.reached {
                true if Some(number) == self.graph.start => BoxKind::Start,
                true => BoxKind::Block,
                false => BoxKind::Unreached,
            };
            boxes.push(ChartBox { lines, kind, nesting: block.loops });
        }
        let end = boxes.len();
        boxes.push(ChartBox { lines: vec!["end".into()], kind: BoxKind::End, nesting: 0 });
        let arrows = blocks.iter().enumerate().flat_map(|(from, block)| {
            block.successors.iter().map(move |(edge, to)| Arrow {
                from,
                to: to.unwrap_or(end),
                kind: edge_kind(*edge),
                back: *edge == FlowEdge::Back || to.is_some_and(|to| to <= from),
            })
        });
        let arrows = arrows.collect();
        Chart { title: self.name.to_owned(), notes: vec![self.summary()], boxes, arrows }
    }
}

/// Returns the kind of an edge, as fragment programs have them.
#[must_use]
pub fn edge_kind(edge: FlowEdge) -> EdgeKind {
    match edge {
        FlowEdge::Next => EdgeKind::Next,
        FlowEdge::Enter => EdgeKind::Enter,
        FlowEdge::Back => EdgeKind::Back,
        FlowEdge::Leave => EdgeKind::LeaveLoop,
        FlowEdge::Skip => EdgeKind::Skip,
        FlowEdge::Jump => EdgeKind::Jump,
        FlowEdge::Call => EdgeKind::Call,
        FlowEdge::Return => EdgeKind::Return,
        FlowEdge::End => EdgeKind::End,
    }
}

/// Returns the control-flow graph of a job's program as an SVG picture. Lines longer than `wrap` characters are broken.
///
/// # Errors
/// [`WindowError`] if the code window contains no instruction that can run.
pub fn svg(job: &Job, wrap: usize) -> Result<String, WindowError> {
    let graph = Graph::new(&job.program)?;
    Ok(Flow::new(job, &graph).chart(wrap).svg())
}

/// Breaks a long line: at the `:` between source bindings and operations, or at spaces.
fn wrapped(line: &str, width: usize) -> String {
    if width == 0 || line.chars().count() <= width {
        return line.to_owned();
    }
    let mut text = String::with_capacity(line.len() + 8);
    let mut column = 0;
    for (n, part) in line.split(" : ").enumerate() {
        if n > 0 {
            text.push_str("\n  : ");
            column = 4;
        }
        for (m, word) in part.split(", ").enumerate() {
            let length = word.chars().count() + 1;
            if m > 0 {
                text.push(',');
                if column + 1 + length > width {
                    text.push_str("\n    ");
                    column = 4;
                } else {
                    text.push(' ');
                    column += 1;
                }
            }
            text.push_str(word);
            column += length;
        }
    }
    text
}
