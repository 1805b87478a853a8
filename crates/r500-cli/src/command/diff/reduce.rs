//! `--reduce`: the smallest pair that still differs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use r500::asm::PrintOptions;
use r500::equivalence::reduce::{Reduced, Reduction};
use r500::exec::Limits;
use r500::program::Job;
use r500::reader::Language;
use r500::writer::{self, Written};
use r500_stream::counted;
use serde_json::{Value, json};

use super::run::Counterexample;
use crate::command::engine_args::EngineArgs;
use crate::command::exit::{Failure, Outcome};
use crate::command::output_file::{create_folder, put};
use crate::command::{overwrite, terminal};

/// Time limit of a reduction.
pub(super) const TIME: Duration = Duration::from_secs(60);
/// Bytes of texels that are part of the text.
const EMBEDDED: usize = 1 << 16;

/// Prints the instructions of both programs before and after, and what that took.
pub(super) fn print_counts(
    out: &mut impl Write,
    [[a, b], [x, y]]: [[usize; 2]; 2],
    runs: u64,
    complete: bool,
) -> io::Result<()> {
    let end = if complete { "" } else { ", as far as the time limit allowed" };
    writeln!(
        out,
        "\nreduced: A {a} -> {}, B {b} -> {}, in {}{end}",
        counted(x, "instruction"),
        counted(y, "instruction"),
        counted(runs, "run")
    )
}

/// Prints both programs, and the files that were written.
pub(super) fn print_programs(
    out: &mut impl Write,
    texts: [&str; 2],
    files: &[PathBuf],
) -> io::Result<()> {
    for (side, text) in ["A", "B"].into_iter().zip(texts) {
        writeln!(out, "\n-- {side}, reduced\n{}", text.trim_end())?;
    }
    for path in files {
        writeln!(out, "wrote {}", path.display())?;
    }
    Ok(())
}

/// A reduced pair as text.
pub(super) struct Report {
    /// Instructions of the programs before.
    before: [usize; 2],
    reduced: Reduced,
    written: [Written; 2],
    /// The files that were written.
    files: Vec<PathBuf>,
}

impl Report {
    /// Reduces a pair and writes it to a folder, if one is given.
    pub(super) fn new(
        found: &Counterexample,
        folder: Option<&Path>,
        inputs: &[PathBuf],
        machine: &EngineArgs,
    ) -> Outcome<Self> {
        let deadline = machine.time_limit(TIME).and_then(|limit| Instant::now().checked_add(limit));
        let before = found.jobs.each_ref().map(|job| job.program.code.len());
        let bar = terminal::progress((before[0] + before[1]) as u64, "instructions removed");
        let progress = |now: [usize; 2], _: u64| {
            let left = (now[0] + now[1]) as u64;
            bar.set_position(bar.length().unwrap_or(left).saturating_sub(left));
        };
        let mut options = machine.options()?;
        options.limits = Limits { time: None, ..options.limits };
        let reduction =
            Reduction { options, tolerance: found.tolerance, deadline, progress: &progress };
        let reduced = reduction.run(&found.jobs, found.size).map_err(Failure::could_not);
        bar.finish_and_clear();
        let reduced = reduced?;
        let [a, b] = ["A", "B"];
        let print = |job: &Job, side: &str| {
            let options = PrintOptions {
                embed: EMBEDDED,
                file_prefix: format!("texture-{side}"),
                ..PrintOptions::default()
            };
            writer::write(job, Language::Assembly, &options).map_err(Failure::could_not)
        };
        let written = [print(&reduced.jobs[0], a)?, print(&reduced.jobs[1], b)?];
        let mut files = Vec::new();
        if let Some(folder) = folder {
            create_folder(folder)?;
            let mut outputs: Vec<(PathBuf, &[u8])> = Vec::new();
            for (side, written) in [a, b].into_iter().zip(&written) {
                outputs.push((folder.join(format!("{side}.r5")), &written.bytes));
                let textures = written.files.iter();
                outputs.extend(textures.map(|file| (folder.join(&file.name), &file.bytes[..])));
            }
            overwrite::refuse(outputs.iter().map(|(path, _)| path.as_path()), inputs)?;
            for (path, bytes) in outputs {
                put(&path, bytes)?;
                files.push(path);
            }
        }
        Ok(Self { before, reduced, written, files })
    }

    fn after(&self) -> [usize; 2] {
        self.reduced.jobs.each_ref().map(|job| job.program.code.len())
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Reduced { runs, complete, .. } = self.reduced;
        print_counts(out, [self.before, self.after()], runs, complete)?;
        let [x, y] = self.reduced.difference.pixel;
        writeln!(out, "pixel {x},{y}: {}", super::run::parts(&self.reduced.difference))?;
        let texts = self.written.each_ref().map(|written| String::from_utf8_lossy(&written.bytes));
        print_programs(out, texts.each_ref().map(|text| &**text), &self.files)
    }

    pub(super) fn json(&self) -> Value {
        let text = |written: &Written| String::from_utf8_lossy(&written.bytes).into_owned();
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        json!({
            "instructions_before": self.before,
            "instructions": self.after(),
            "runs": self.reduced.runs,
            "complete": self.reduced.complete,
            "pixel": self.reduced.difference.pixel,
            "difference": super::run::parts(&self.reduced.difference),
            "a": text(&self.written[0]),
            "b": text(&self.written[1]),
            "files": files,
        })
    }
}
