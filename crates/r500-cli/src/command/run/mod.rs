//! `r500 run`: a program over a list of values.

mod dump;
mod rows;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use r500::exec::{Bindings, Options, RuntimeWarnings, Shader, draw};
use r500::program::{Input, InputData, Job};
use serde_json::{Map, Value, json};

use self::rows::Row;
use super::binding_args::StateArgs;
use super::engine_args::{self, MachineArgs};
use super::exit::{Failure, Outcome, Status};
use super::float_format;
use super::format::TableFormat;
use super::input_args::{self, SourceArgs};
use super::{overwrite, terminal};

/// Run a program over a list of input values and print what it writes.
///
/// The unit test of shader code. Each row of values is a pixel of its own: it runs in a 2x2 quad whose
/// four pixels hold the same values, so derivatives are 0 and rows do not meet. With --quads, rows
/// form quads four by four: top left, top right, bottom left, bottom right ("top" is the smaller y).
/// Temporaries that a row does not name start undefined (0), whatever the program's own inputs are.
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
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    /// Print the bits of floats
    #[arg(long)]
    bits: bool,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the intermediate form that the program becomes for these rows, and run nothing
    #[arg(long, conflicts_with_all = ["findings", "format", "bits"])]
    dump_ir: bool,
    /// Print the machine code that the jit engine makes of it, and run nothing
    #[arg(long, conflicts_with_all = ["findings", "format", "bits"])]
    dump_asm: bool,
    /// Report run-time warnings: actions of the program that are undefined or likely mistakes
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    state: RunState,
    #[command(flatten)]
    machine: MachineArgs,
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
([{\"t0\": [0.5, 0.25], \"c3.r\": 2}]; a bare list or number is t0). Numbers may be \"nan\", \"inf\" or float
bits such as 0x3f800000.

Exit status: 0 done; 1 the program or the values have errors; 2 wrong usage; 3 could not be done.

Examples:
  r500 run prog.bin --input 't0=0.5,0.25' --input 't0=1,1'
  r500 run prog.bin --input values.csv --format json
  r500 run prog.bin --dump-asm --simd avx2      what the jit engine made of it
  printf 't0.r,c0.r\\n1,2\\n3,4\\n' | r500 run prog.bin --input - --format csv --bits";

/// The result of a row.
struct Output {
    covered: bool,
    colors: Vec<[f32; 4]>,
    depth: Option<f32>,
}

/// Rows of a picture, at most.
const CHUNK: usize = 4096;

impl Run {
    pub(super) fn run(&self) -> Outcome {
        if self.machine.list_readings()? {
            return Ok(Status::Fine);
        }
        let Some(mut job) = self.source.read()? else { return input_args::LISTED };
        self.state_args().apply(&mut job, [2, 2])?;
        self.refuse_inputs()?;
        let rows = self.rows(&job)?;
        if self.quads && rows.len() % 4 != 0 {
            return Err(Failure::input(anyhow::anyhow!(
                "--quads: {} rows do not fill quads of four",
                rows.len()
            )));
        }
        let mixed = |quad: &[Row]| quad.iter().any(|row| row.constants != quad[0].constants);
        if self.quads
            && let Some(quad) = rows.chunks(4).position(mixed)
        {
            return Err(Failure::input(anyhow::anyhow!(
                "--quads: rows {} to {} form a quad and differ in constants",
                quad * 4,
                quad * 4 + 3
            )));
        }
        let shader = Shader::new(&job.program).map_err(engine_args::no_shader)?;
        let targets: Vec<usize> = (0..4).filter(|&n| shader.targets()[n]).collect();
        if self.dump_ir || self.dump_asm {
            return self.dump(&shader, &job, &rows);
        }
        if let Some(row) = rows.first() {
            let mut job = job.clone();
            row.set_constants(&mut job.program.state);
            engine_args::warn_missing(&job, false);
        }
        let mut outputs = Vec::with_capacity(rows.len());
        let mut findings = RuntimeWarnings::default();
        for rows in batches(&rows, if self.quads { 4 } else { 1 }) {
            self.draw(&shader, &job, rows, &targets, &mut outputs, &mut findings)?;
        }
        let text = match self.format {
            TableFormat::Text => self.table(&outputs, &targets),
            TableFormat::Csv => self.csv(&outputs, &targets),
            TableFormat::Json => self.json(&outputs, &targets, &findings),
        };
        match &self.output {
            Some(path) => std::fs::write(path, text).map_err(|error| {
                Failure::could_not(error).context(format_args!("cannot write {}", path.display()))
            })?,
            None => terminal::out().write_all(text.as_bytes())?,
        }
        if self.findings {
            engine_args::print_findings(&findings)?;
        }
        Ok(Status::Fine)
    }

    /// Refuses an output that is the program, a texture or a file of rows.
    fn refuse_inputs(&self) -> Outcome<()> {
        let Some(output) = self.output.as_deref() else { return Ok(()) };
        self.source.refuse_as_output([output])?;
        let mut inputs = self.state_args().files();
        inputs.extend(self.input.iter().map(PathBuf::from));
        overwrite::refuse([output], &inputs)
    }

    fn state_args(&self) -> StateArgs {
        let RunState { constants, int, booleans, texture, register } = self.state.clone();
        StateArgs { constants, int, booleans, texture, register, ..StateArgs::default() }
    }

    fn rows(&self, job: &Job) -> Outcome<Vec<Row>> {
        if self.input.is_empty() {
            return Ok(vec![Row::default()]);
        }
        let mut rows = Vec::new();
        for text in &self.input {
            rows.append(&mut rows::read(text, job)?);
        }
        if rows.is_empty() {
            return Err(Failure::input(anyhow::anyhow!("--input holds no rows")));
        }
        Ok(rows)
    }

    /// Returns where a row's pixel is.
    fn place(&self, row: usize) -> (u32, u32) {
        if self.quads {
            ((row / 4 * 2 + row % 2) as u32, (row % 4 / 2) as u32)
        } else {
            (row as u32 * 2, 0)
        }
    }

    /// Returns a picture, two pixels high and so wide, of rows that have their constants in common.
    fn side_by_side(&self, job: &Job, rows: &[Row]) -> (Job, u32) {
        let mut job = job.clone();
        if let Some(row) = rows.first() {
            row.set_constants(&mut job.program.state);
        }
        // Rows side by side, each a quad of its own; or quads of four rows.
        let per_quad = if self.quads { 4 } else { 1 };
        let width = (rows.len() / per_quad * 2) as u32;
        let mut temps: Vec<u8> = rows.iter().flat_map(|row| row.temps.keys().copied()).collect();
        temps.sort_unstable();
        temps.dedup();
        let inputs = temps.into_iter().map(|temp| {
            let mut values = vec![[0.0; 4]; width as usize * 2];
            for (i, row) in rows.iter().enumerate() {
                let Some(&value) = row.temps.get(&temp) else { continue };
                let (x, y) = self.place(i);
                let copies: &[(u32, u32)] =
                    if self.quads { &[(0, 0)] } else { &[(0, 0), (1, 0), (0, 1), (1, 1)] };
                for (dx, dy) in copies {
                    values[((y + dy) * width + x + dx) as usize] = value;
                }
            }
            Input { temp, data: InputData::Values { width, values } }
        });
        job.inputs = Some(inputs.collect());
        job.coverage = None;
        job.size = Some([width, 2]);
        (job, width)
    }

    /// Draws rows that have their constants in common.
    fn draw(
        &self,
        shader: &Shader,
        job: &Job,
        rows: &[Row],
        targets: &[usize],
        outputs: &mut Vec<Output>,
        findings: &mut RuntimeWarnings,
    ) -> Outcome<()> {
        let (job, width) = self.side_by_side(job, rows);
        let bindings = Bindings::new(&job, [width, 2]).map_err(engine_args::not_bound)?;
        let options = Options {
            group: [2, 2],
            warnings: self.findings || self.format == TableFormat::Json,
            ..self.machine.options()?
        };
        let engine = self.machine.engine();
        let frame = draw(engine, shader, &bindings, &options).map_err(engine_args::not_run)?;
        for i in 0..rows.len() {
            let (x, y) = self.place(i);
            let index = (y * width + x) as usize;
            outputs.push(Output {
                covered: frame.coverage()[index],
                colors: targets.iter().map(|&target| frame.color(target, x, y)).collect(),
                depth: frame.depth().map(|depth| depth[index]),
            });
        }
        findings.merge(&frame.warnings);
        Ok(())
    }

    fn number(&self, value: f32) -> String {
        if self.bits { float_format::bits(value) } else { float_format::text(value) }
    }

    /// Column names and cells.
    fn cells(&self, outputs: &[Output], targets: &[usize]) -> (Vec<String>, Vec<Vec<String>>) {
        let mut names = vec!["row".to_owned(), "covered".to_owned()];
        for &target in targets {
            names.extend("rgba".chars().map(|c| format!("{}.{c}", LETTERS[target])));
        }
        let depth = outputs.iter().any(|output| output.depth.is_some());
        if depth {
            names.push("depth".to_owned());
        }
        let cells = outputs.iter().enumerate().map(|(i, output)| {
            let mut cells =
                vec![i.to_string(), if output.covered { "yes" } else { "no" }.to_owned()];
            cells.extend(output.colors.as_flattened().iter().map(|&v| self.number(v)));
            cells.extend(output.depth.map(|v| self.number(v)));
            cells
        });
        (names, cells.collect())
    }

    fn table(&self, outputs: &[Output], targets: &[usize]) -> String {
        let (names, cells) = self.cells(outputs, targets);
        let mut widths: Vec<usize> = names.iter().map(String::len).collect();
        for row in &cells {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.len());
            }
        }
        let mut text = String::new();
        for row in std::iter::once(&names).chain(&cells) {
            let padded: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
            text.push_str(&padded.join("  "));
            text.push('\n');
        }
        text
    }

    fn csv(&self, outputs: &[Output], targets: &[usize]) -> String {
        let (names, cells) = self.cells(outputs, targets);
        let lines = std::iter::once(&names).chain(&cells).map(|row| row.join(",") + "\n");
        lines.collect()
    }

    fn json(&self, outputs: &[Output], targets: &[usize], findings: &RuntimeWarnings) -> String {
        let value = |value: f32| {
            if self.bits {
                Value::from(float_format::bits(value))
            } else {
                float_format::json(value)
            }
        };
        let rows = outputs.iter().map(|output| {
            let mut row = Map::new();
            row.insert("covered".to_owned(), output.covered.into());
            for (&target, color) in targets.iter().zip(&output.colors) {
                row.insert(LETTERS[target].to_owned(), color.iter().copied().map(value).collect());
            }
            if let Some(depth) = output.depth {
                row.insert("depth".to_owned(), value(depth));
            }
            Value::Object(row)
        });
        let rows: Vec<Value> = rows.collect();
        let findings = engine_args::findings_json(findings);
        let all = json!({ "version": 1, "rows": rows, "findings": findings });
        format!("{all:#}\n")
    }
}

const LETTERS: [&str; 4] = ["A", "B", "C", "D"];

/// Runs of rows with the same constants, a multiple of `unit` rows each.
fn batches(rows: &[Row], unit: usize) -> impl Iterator<Item = &[Row]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let same = |chunk: &&[Row]| chunk.iter().all(|row| row.constants == first.constants);
        let chunks = rest.chunks(unit).take(CHUNK / unit).take_while(same).count().max(1);
        let (batch, behind) = rest.split_at((chunks * unit).min(rest.len()));
        rest = behind;
        Some(batch)
    })
}
