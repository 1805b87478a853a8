//! Control-flow graphs for display: basic blocks with the instructions as text.

use r500_check::draw::Chart;
use r500_check::graph::{Blocks, Graph, Structure, Unstructured};
use r500_program::Job;
use r500_program::{CodeWindow, WindowError};

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
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
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
