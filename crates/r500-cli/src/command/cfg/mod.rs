//! `r500 cfg`: the control-flow graph of a program.

mod fragment;
mod vertex;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::cfg::{Flow, VertexFlow};
use r500::check::draw::Chart;
use r500::check::graph::{EdgeKind, Graph};
use serde_json::Value;

use self::fragment::FlowOutput;
use self::vertex::VertexFlowOutput;
use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::output_file::put;
use super::terminal;
use super::vertex::VertexFile;

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
  r500 cfg skinning.vs.asm
  r500 cfg capture.json -o flow.svg
  r500 cfg capture.json --format dot | dot -Tpdf -o flow.pdf
  r500 cfg programs.json --pick fs-abs-vec2 --format json";

/// A flow graph that can be written in each format.
trait Graphic {
    fn text(&self) -> String;
    fn json(&self) -> Value;
    fn blocks(&self) -> usize;
    fn chart(&self, wrap: usize) -> Chart;
}

/// Blocks that a picture shows at most, twice those of a program that fills the processor: arrows pass through a point in
/// each layer, so that a layout takes time with the square of the blocks.
const MAX_DRAWN: usize = 1024;

impl Cfg {
    pub(super) fn run(&self) -> Outcome {
        let output = self.output.as_deref().filter(|path| !input_args::is_stdin(path));
        let format = self.format(output)?;
        let text = if let Some(file) = VertexFile::of_source(&self.source)? {
            self.source.refuse_as_output(output)?;
            file.sound()?;
            let flow = VertexFlowOutput(VertexFlow::new(file.name(), file.program()));
            self.text(format, &flow)?
        } else {
            let Some(job) = self.source.read()? else { return input_args::LISTED };
            self.source.refuse_as_output(output)?;
            let graph = Graph::new(&job.program).map_err(Failure::input)?;
            self.text(format, &FlowOutput(Flow::new(&job, &graph)))?
        };
        match output {
            Some(path) => put(path, text.as_bytes())?,
            None => terminal::out().write_all(text.as_bytes())?,
        }
        Ok(Status::Fine)
    }

    fn text(&self, format: Format, flow: &impl Graphic) -> Outcome<String> {
        Ok(match format {
            Format::Text => flow.text(),
            Format::Svg => {
                let count = flow.blocks();
                if count > MAX_DRAWN {
                    return Err(Failure::input(anyhow::anyhow!(
                        "{count} blocks are too many for a picture, {MAX_DRAWN} at most; take --format dot, json or text"
                    )));
                }
                flow.chart(self.wrap).svg()
            }
            Format::Dot => flow.chart(self.wrap).dot(),
            Format::Json => format!("{:#}\n", flow.json()),
        })
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

/// Returns the line above the instructions of a block.
fn block_title(number: usize, is_start: bool, reached: bool, loops: usize) -> String {
    let start = if is_start { ", the start" } else { "" };
    let reached = if reached { "" } else { ", never reached" };
    let loops = match loops {
        0 => String::new(),
        1 => ", in a loop".to_owned(),
        n => format!(", in {n} loops"),
    };
    format!("block {number}{start}{reached}{loops}")
}

/// Returns what stands before the end of an edge.
fn edge_label(kind: EdgeKind) -> String {
    match kind.label() {
        "" => String::new(),
        label => format!("{label}: "),
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
