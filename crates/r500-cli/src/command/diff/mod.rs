//! `r500 diff`: two programs, instruction by instruction, and whether they compute the same.

mod instructions;
mod run;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use r500::check::diff::Diff as Changes;
use r500::program::Job;
use r500::reader::Language;

use self::instructions::Listing;
use self::run::RunArgs;
use super::exit::{Failure, Outcome, Status};
use super::format::Format;
use super::machine::MachineArgs;
use super::{source, terminal};

/// Compare two programs: their instructions, and with --run what they compute.
///
/// Instructions are aligned, those that only one has stand out, and of those that changed every field
/// is told by its name. A jump to the same instruction is the same wherever that lies.
///
/// With --run both draw their pictures, each with the inputs, constants and textures that it carries,
/// which may lie in other registers, and every pixel that both cover must be stored alike. With
/// --random N they also run N times with random values of the inputs and constants that both have
/// under the same name; the rest keep what they carry. The first pixel that differs is followed through
/// both to the instruction where they part.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Diff {
    /// The one program, as every command takes it; `-` is stdin
    #[arg(value_name = "A", required_unless_present = "reading")]
    a: Option<PathBuf>,
    /// The other
    #[arg(value_name = "B", required_unless_present = "reading")]
    b: Option<PathBuf>,
    /// What both are written in (default: recognised from content)
    #[arg(long, value_name = "FORMAT")]
    from: Option<Language>,
    /// Which program of files that hold several: its name, or its number from 0
    #[arg(long, value_name = "NAME|N")]
    pick: Option<String>,
    /// Which program of B, if another than --pick says
    #[arg(long, value_name = "NAME|N")]
    pick_b: Option<String>,
    /// Equal instructions to show around those that differ
    #[arg(short = 'U', long, value_name = "N", default_value_t = 2)]
    context: usize,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

const AFTER: &str = "\
Exit status: 0 the same; 1 different, or a program has errors; 2 wrong usage; 3 a file cannot be read.
With --run, that of the run alone, however different the instructions look: 0 every covered pixel is
equal; 1 one is not; 3 they could not be compared.

Names: inputs and constants are shared by the names that captures and sources give them. Captures of
Mesa name their inputs but do not say where their uniforms lie: say it with --share.

Where they part: what the differing result does not depend on is left out. Instructions that give the
same results are passed over, even where they moved or use other registers. The instructions that remain
and read nothing that differs are told with their operands and results.

Examples:
  r500 diff old.json new.json
  r500 diff old.json new.json --run
  r500 diff old.json new.json --run --random 100 --share c0=c2 --tolerance 0.004
  r500 diff before.jsonl after.jsonl --pick fs-abs-vec2.0 --run --format json";

impl Diff {
    pub(super) fn run(&self) -> Outcome {
        if self.machine.list_readings()? {
            return Ok(Status::Fine);
        }
        let wants_run = self.run.wanted();
        if !wants_run {
            return self.both();
        }
        // Without a verdict the run has no 1 to give.
        self.both().map_err(Failure::without_verdict)
    }

    fn both(&self) -> Outcome {
        let missing = || Failure::usage("two programs are needed");
        let (a, b) = (self.a.as_ref().ok_or_else(missing)?, self.b.as_ref().ok_or_else(missing)?);
        if source::is_stdin(a) && source::is_stdin(b) {
            return Err(Failure::usage("only one of the programs can come from stdin"));
        }
        let pick_b = self.pick_b.as_ref().or(self.pick.as_ref());
        let jobs: [Job; 2] = [
            source::one(a, self.from, self.pick.as_deref())?,
            source::one(b, self.from, pick_b.map(String::as_str))?,
        ];
        let changes = Changes::of(&jobs[0].program, &jobs[1].program);
        let same = changes.is_empty();
        let files = [source::show(a), source::show(b)];
        let listing = Listing::new(&jobs, &files, &changes);
        let run = self.run.wanted().then(|| self.run.compare(&jobs, &self.machine)).transpose()?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        match self.format {
            Format::Json => {
                let mut answer = listing.json();
                answer["run"] = run.as_ref().map_or_else(Default::default, run::Verdict::json);
                writeln!(out, "{answer:#}")?;
            }
            Format::Text => {
                let colors = terminal::colors(&std::io::stdout());
                if run.is_none() {
                    listing.text(&mut out, self.context, colors)?;
                }
                listing.summary(&mut out)?;
                if let Some(run) = &run {
                    run.text(&mut out, colors)?;
                }
            }
        }
        out.flush()?;
        Ok(match run {
            Some(run) => run.status(),
            None if same => Status::Fine,
            None => Status::Failed,
        })
    }
}
