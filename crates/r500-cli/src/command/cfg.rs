//! `r500 cfg`: the control-flow graph of a program.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::cfg::Flow;
use r500::check::graph::{BlockNode, EdgeKind, Graph, Statement};
use serde_json::{Value, json};

use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::output_file::put;
use super::terminal;

/// Show where a program can go: its flow graph.
///
/// Basic blocks with their instructions, what leads from one to the next and why, loops, and the
/// statements (IF, LOOP, CALL …) that the flow-control words of a structured program spell; where a
/// program is not structured, the first instruction that does not fit, and the reason. Jumps that
/// depend on data go both ways; what is not in the graph cannot happen.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Cfg {
    #[command(flatten)]
    source: SourceArgs,
    /// How to answer (default: by the extension of the output, else text)
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Where the answer goes (default: stdout)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Break lines of pictures that are longer, in characters; 0 breaks none
    #[arg(long, value_name = "N", default_value_t = 64)]
    wrap: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Blocks and statements, to read
    Text,
    /// A picture
    Svg,
    /// A graph for Graphviz
    Dot,
    /// An object
    Json,
}

const AFTER: &str = "\
Exit status: 0 written, structured or not; 1 the input has errors, or no instruction of it can run;
2 wrong usage; 3 a file cannot be read or written.

Examples:
  r500 cfg capture.json
  r500 cfg capture.json -o flow.svg
  r500 cfg capture.json --format dot | dot -Tpdf -o flow.pdf
  r500 cfg programs.json --pick fs-abs-vec2 --format json";

/// Blocks that a picture shows at most, twice those of a program that fills the processor: arrows pass through a point in
/// each layer, so that a layout takes time with the square of the blocks.
const MAX_DRAWN: usize = 1024;

impl Cfg {
    pub(super) fn run(&self) -> Outcome {
        let Some(job) = self.source.read()? else { return input_args::LISTED };
        let output = self.output.as_deref().filter(|path| !input_args::is_stdin(path));
        self.source.refuse_as_output(output)?;
        let format = self.format(output)?;
        let graph = Graph::new(&job.program).map_err(Failure::input)?;
        let flow = FlowOutput(Flow::new(&job, &graph));
        let text = match format {
            Format::Text => flow.text(),
            Format::Svg => {
                let count = flow.0.blocks.blocks.len();
                if count > MAX_DRAWN {
                    return Err(Failure::input(anyhow::anyhow!(
                        "{count} blocks are too many for a picture, {MAX_DRAWN} at most; take --format dot, json or text"
                    )));
                }
                flow.0.chart(self.wrap).svg()
            }
            Format::Dot => flow.0.chart(self.wrap).dot(),
            Format::Json => format!("{:#}\n", flow.json()),
        };
        match output {
            Some(path) => put(path, text.as_bytes())?,
            None => terminal::out().write_all(text.as_bytes())?,
        }
        Ok(Status::Fine)
    }

    fn format(&self, output: Option<&Path>) -> Outcome<Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(path) = output else { return Ok(Format::Text) };
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        Ok(match extension {
            "txt" => Format::Text,
            "svg" => Format::Svg,
            "dot" | "gv" => Format::Dot,
            "json" => Format::Json,
            _ => {
                return Err(Failure::usage(format!(
                    "{}: the extension stands for no format; take .svg, .dot, .json or .txt, or \
                     name the format with --format",
                    path.display()
                )));
            }
        })
    }
}

/// The control-flow graph of a program, for output.
struct FlowOutput<'a>(Flow<'a>);

impl FlowOutput<'_> {
    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.0.name, self.0.summary());
        for (number, block) in self.0.blocks.blocks.iter().enumerate() {
            let _ = write!(text, "\nblock {number}");
            if number == self.0.blocks.start {
                text.push_str(", the start");
            }
            if !block.reached {
                text.push_str(", never reached");
            }
            match self.nesting(number) {
                0 => {}
                1 => text.push_str(", in a loop"),
                n => {
                    let _ = write!(text, ", in {n} loops");
                }
            }
            text.push('\n');
            for index in block.first..=block.last {
                let _ = writeln!(
                    text,
                    "  {:>3}  {}",
                    self.0.window.address(index),
                    self.0.lines[index]
                );
            }
            for (kind, to) in &block.successors {
                let label = kind.label();
                let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
                let _ = match to {
                    BlockNode::Block(to) => writeln!(text, "       -> {label}block {to}"),
                    BlockNode::End => writeln!(text, "       -> {label}end"),
                    BlockNode::Outside(at) => {
                        writeln!(text, "       -> {label}@{at}, outside the window")
                    }
                };
            }
        }
        if let Ok(structure) = &self.0.structure {
            text.push_str("\nstructure\n");
            self.outline(&mut text, &structure.main, 1);
            for (number, sub) in structure.subs.iter().enumerate() {
                let _ = writeln!(text, "  subroutine {number}");
                self.outline(&mut text, &sub.body, 2);
            }
        }
        text
    }

    fn outline(&self, text: &mut String, statements: &[Statement], depth: usize) {
        let at = |index: usize| self.0.window.address(index);
        let line = |text: &mut String, line: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{:1$}{line}", "", depth * 2);
        };
        for statement in statements {
            match statement {
                Statement::Straight { first, last } if first == last => {
                    line(text, format_args!("@{}", at(*first)));
                }
                Statement::Straight { first, last } => {
                    line(text, format_args!("@{} to @{}", at(*first), at(*last)));
                }
                Statement::If { at: place, then, else_at, otherwise, endif } => {
                    line(text, format_args!("IF @{}", at(*place)));
                    self.outline(text, then, depth + 1);
                    if let Some(place) = else_at {
                        line(text, format_args!("ELSE @{}", at(*place)));
                        self.outline(text, otherwise, depth + 1);
                    }
                    match endif {
                        Some(place) => line(text, format_args!("ENDIF @{}", at(*place))),
                        None => line(text, format_args!("ENDIF with that of the branch around")),
                    }
                }
                Statement::UniformIf { at: place, then, over, otherwise } => {
                    line(text, format_args!("IF by plain jumps @{}", at(*place)));
                    self.outline(text, then, depth + 1);
                    if let Some(place) = over {
                        line(text, format_args!("ELSE @{}", at(*place)));
                        self.outline(text, otherwise, depth + 1);
                    }
                }
                Statement::Loop { at: place, body, end } => {
                    line(text, format_args!("LOOP @{}", at(*place)));
                    self.outline(text, body, depth + 1);
                    line(text, format_args!("ENDLOOP @{}", at(*end)));
                }
                Statement::Break(place) => line(text, format_args!("BREAK @{}", at(*place))),
                Statement::Continue(place) => line(text, format_args!("CONTINUE @{}", at(*place))),
                Statement::Call { at: place, sub } => {
                    line(text, format_args!("CALL @{}, subroutine {sub}", at(*place)));
                }
                Statement::Return(place) => line(text, format_args!("RETURN @{}", at(*place))),
                Statement::Skip { at: place, to } => {
                    line(text, format_args!("JUMP @{} over to @{}", at(*place), at(*to)));
                }
            }
        }
    }

    fn json(&self) -> Value {
        let at = |index: usize| self.0.window.address(index);
        let blocks = self.0.blocks.blocks.iter().enumerate().map(|(number, block)| {
            let successors = block.successors.iter().map(|(kind, to)| match to {
                BlockNode::Block(to) => json!({ "kind": kind_name(*kind), "block": to }),
                BlockNode::End => json!({ "kind": kind_name(*kind), "block": null }),
                BlockNode::Outside(address) => {
                    json!({ "kind": kind_name(*kind), "block": null, "outside": address })
                }
            });
            let instructions = (block.first..=block.last)
                .map(|index| json!({ "address": at(index), "text": self.0.lines[index] }));
            json!({
                "block": number,
                "first": at(block.first),
                "last": at(block.last),
                "reached": block.reached,
                "nesting": self.nesting(number),
                "dominator": block.dominator,
                "predecessors": block.predecessors,
                "successors": successors.collect::<Value>(),
                "instructions": instructions.collect::<Value>(),
            })
        });
        let loops = self.0.blocks.loops.iter();
        let loops = loops.map(|l| json!({ "header": l.header, "blocks": l.blocks }));
        let why = self.0.structure.as_ref().err();
        let why = why.map(|why| json!({ "address": at(why.index), "reason": why.reason.text() }));
        let structure = self.0.structure.as_ref().ok().map(|structure| {
            let subs = structure.subs.iter();
            let subs =
                subs.map(|sub| json!({ "entry": at(sub.entry), "body": self.tree(&sub.body) }));
            json!({ "main": self.tree(&structure.main), "subroutines": subs.collect::<Value>() })
        });
        json!({
            "version": 1,
            "name": self.0.name,
            "start": self.0.blocks.start,
            "blocks": blocks.collect::<Value>(),
            "loops": loops.collect::<Value>(),
            "irreducible": self.0.blocks.irreducible,
            "complete": !self.0.graph.gave_up(),
            "structured": why.is_none(),
            "unstructured": why,
            "structure": structure,
        })
    }

    fn tree(&self, statements: &[Statement]) -> Value {
        let at = |index: usize| self.0.window.address(index);
        let maybe = |index: Option<usize>| index.map(at);
        let one = |statement: &Statement| match statement {
            Statement::Straight { first, last } => {
                json!({ "statement": "straight", "first": at(*first), "last": at(*last) })
            }
            Statement::If { at: place, then, else_at, otherwise, endif } => json!({
                "statement": "if",
                "address": at(*place),
                "then": self.tree(then),
                "else": maybe(*else_at),
                "otherwise": self.tree(otherwise),
                "endif": maybe(*endif),
            }),
            Statement::UniformIf { at: place, then, over, otherwise } => json!({
                "statement": "choice",
                "address": at(*place),
                "then": self.tree(then),
                "else": maybe(*over),
                "otherwise": self.tree(otherwise),
            }),
            Statement::Loop { at: place, body, end } => json!({
                "statement": "loop",
                "address": at(*place),
                "body": self.tree(body),
                "end": at(*end),
            }),
            Statement::Break(place) => json!({ "statement": "break", "address": at(*place) }),
            Statement::Continue(place) => json!({ "statement": "continue", "address": at(*place) }),
            Statement::Call { at: place, sub } => {
                json!({ "statement": "call", "address": at(*place), "subroutine": sub })
            }
            Statement::Return(place) => json!({ "statement": "return", "address": at(*place) }),
            Statement::Skip { at: place, to } => {
                json!({ "statement": "jump", "address": at(*place), "to": at(*to) })
            }
        };
        statements.iter().map(one).collect()
    }

    /// Loops around a block.
    fn nesting(&self, block: usize) -> usize {
        self.0.blocks.loops.iter().filter(|l| l.blocks.contains(&block)).count()
    }
}

const fn kind_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Next => "next",
        EdgeKind::NotTaken => "not-taken",
        EdgeKind::Jump => "jump",
        EdgeKind::Call => "call",
        EdgeKind::Return => "return",
        EdgeKind::Enter => "enter",
        EdgeKind::Skip => "skip",
        EdgeKind::Back => "next-pass",
        EdgeKind::LeaveLoop => "leave-loop",
        EdgeKind::Break => "break",
        EdgeKind::Continue => "continue",
        EdgeKind::End => "end",
    }
}
