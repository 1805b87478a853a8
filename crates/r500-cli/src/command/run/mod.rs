//! `r500 run`: evaluation of a program for rows of values.

mod batch;
mod dump;
mod results;
mod vertices;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use r500::builtin_uniforms;
use r500::exec::Shader;
use r500::program::Job;
use r500::row_text::{Names, Row};

use self::batch::{Batches, CHUNK};
use self::results::{Columns, Results};
use super::binding_args::StateArgs;
use super::engine_args::{self, EngineArgs};
use super::exit::{Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::overwrite;
use super::rows;
use super::vertex::VertexFile;

/// Run a program over a list of input values and print what it writes.
///
/// The unit test of shader code. Each row of values is a pixel of its own: it runs in a 2x2 quad whose
/// four pixels hold the same values, so derivatives are 0 and rows do not meet. With --quads, rows
/// form quads four by four: top left, top right, bottom left, bottom right ("top" is the smaller y).
/// Temporaries that a row does not name start undefined (0), whatever the program's own inputs are.
///
/// Of a vertex program each row is a vertex: its inputs (i0, input[0]) and constants; inputs and constants of the
/// text are those that a row does not name. --engine selects the code that runs them; the interpreter of vertex programs is `reference`.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Run {
    #[command(flatten)]
    source: SourceArgs,
    /// Rows of values: a CSV or JSON file, `-` for stdin, JSON itself, or a row such as
    /// `t0=0.5,0.25; c3.r=2`. May be given several times
    #[arg(long, short, value_name = "FILE|JSON|ROW")]
    input: Vec<String>,
    /// Rows are the pixels of quads, four by four
    #[arg(long)]
    quads: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    format: RowFormat,
    /// Print the bits of floats
    #[arg(long)]
    bits: bool,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the intermediate representation of the program for these rows, or for any inputs, and run nothing
    #[arg(long, conflicts_with_all = ["findings", "format", "bits"])]
    dump_ir: bool,
    /// Print the machine code of the jit engine for these rows, or for any inputs, and run nothing
    #[arg(long, conflicts_with_all = ["findings", "format", "bits"])]
    dump_asm: bool,
    /// Report run-time warnings: actions of the program that are undefined or likely mistakes
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    state: RunState,
    #[command(flatten)]
    machine: EngineArgs,
}

/// The switches of [`StateArgs`] that make sense here: inputs come from the rows.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What the program reads")]
struct RunState {
    /// A float constant for all rows: `3=1,0,0,1`, `3.a=0.5`, `color=1,0,0`
    #[arg(long = "const", value_name = "N|NAME[.CHANNELS]=VALUES")]
    constants: Vec<String>,
    /// An integer constant: loop count, first aL, step
    #[arg(long, value_name = "N=COUNT[,AL[,STEP]]")]
    int: Vec<String>,
    /// A boolean constant
    #[arg(long = "bool", value_name = "N=true|false")]
    booleans: Vec<String>,
    /// A texture, as `r500 render` takes it
    #[arg(long, value_name = "UNIT=SOURCE[,OPTION=VALUE…]")]
    texture: Vec<String>,
    /// A state register, as `r500 render` takes it
    #[arg(long, value_name = "REGISTER=HEX")]
    register: Vec<String>,
}

const AFTER: &str = "\
A row names temporaries and constants, whole or some channels: t0, temp[0], t0.rg, c3, const[3].a, or a
constant's name. Missing components of a register that a row names are 0, 0, 0, 1 (constants keep
theirs). CSV has these names as its first line, JSON as the keys of objects
([{\"t0\": [0.5, 0.25], \"c3.r\": 2}]; a bare list or number is t0), or one object a line. Numbers may be \"nan\",
\"inf\" or float bits such as 0x3f800000.

Files are read row by row, and results of --format csv, json and json-lines are printed as they come: any number of
rows takes the same memory. The table keeps some 20 bytes for each row.

Exit status: 0 done; 1 the program or the values have errors; 2 wrong usage; 3 could not be done.

Examples:
  r500 run prog.bin --input 't0=0.5,0.25' --input 't0=1,1'
  r500 run prog.bin --input values.csv --format json
  r500 run prog.bin --input many.jsonl --format json-lines -o results.jsonl
  r500 run prog.bin --dump-asm --simd avx2      the machine code of the jit engine
  r500 run light.vs.asm --input 'i0=1,2,3; i1=0,0,1' --const 0=1,0,0,0
  printf 't0.r,c0.r\\n1,2\\n3,4\\n' | r500 run prog.bin --input - --format csv --bits";

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowFormat {
    Text,
    Csv,
    Json,
    JsonLines,
}

impl Run {
    /// Passes the memory limit to the texture loader.
    #[must_use]
    pub(super) fn with_memory_limit(mut self) -> Self {
        let limit = Some(self.machine.memory_limit());
        self.source.read.texture_memory = limit;
        self
    }

    pub(super) fn run(&self) -> Outcome {
        if self.machine.list_readings()? {
            return Ok(Status::Fine);
        }
        if let Some(vertex) = VertexFile::of_source(&self.source)? {
            return self.run_vertices(&vertex);
        }
        let Some(mut job) = self.source.read()? else { return input_args::LISTED };
        // Rows have no picture: the resolution is that of the job's.
        let size = builtin_uniforms::default_size(&job);
        self.state_args().apply(&mut job, size)?;
        self.refuse_inputs()?;
        let shader = Shader::new(&job.program).map_err(engine_args::no_shader)?;
        if self.dump_ir || self.dump_asm {
            return self.dump(&shader, &job, &self.first_rows(&job)?);
        }
        let targets: Vec<usize> = (0..4).filter(|&n| shader.targets()[n]).collect();
        let results = Results::new(self, Columns::of_pixels(&targets, shader.writes_depth()));
        let mut batches = Batches::new(self, &job, shader, targets, results)?;
        rows::all(&self.input, Names::Fragment(&job), &mut |row| batches.push(row))?;
        let (results, findings) = batches.finish()?;
        results.finish(&findings)?;
        if self.findings {
            engine_args::print_findings(&findings)?;
        }
        Ok(Status::Fine)
    }

    /// Returns whether run-time warnings are reported.
    fn wants_findings(&self) -> bool {
        self.findings || self.format == RowFormat::Json
    }

    /// Refuses outputs that would overwrite the program, a texture or a file of rows.
    fn refuse_inputs(&self) -> Outcome<()> {
        let Some(output) = self.output.as_deref() else { return Ok(()) };
        self.source.refuse_as_output([output])?;
        let mut inputs = self.state_args().files();
        inputs.extend(self.input.iter().map(PathBuf::from));
        overwrite::refuse([output], &inputs)
    }

    fn state_args(&self) -> StateArgs {
        let RunState { constants, int, booleans, texture, register } = self.state.clone();
        let texture_memory = Some(self.machine.memory_limit());
        StateArgs {
            constants,
            int,
            booleans,
            texture,
            register,
            texture_memory,
            ..StateArgs::default()
        }
    }

    /// Returns the rows of the first picture.
    fn first_rows(&self, job: &Job) -> Outcome<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        rows::all(&self.input, Names::Fragment(job), &mut |row| {
            if rows.len() < CHUNK {
                rows.push(row);
            }
            Ok(())
        })?;
        Ok(rows)
    }
}
