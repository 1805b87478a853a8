//! `tools/estimate`: estimates the speed of the jit engine's machine code on processors that are not available.
//!
//! The program's code is generated as for drawing ([`code`]), for any level of instructions, and LLVM's model of a
//! processor reports the duration of the loop over its pixels ([`mca`]). The work of a program is counted as in `r500
//! bench`, and compared with the same peak, computed with the same model.

mod args;
mod code;
mod mca;
mod report;
// The command's own module, so that the estimate counts the same operations.
#[path = "../../../crates/r500-cli/src/command/bench/work.rs"]
mod work;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use r500::exec::{Bindings, Draw, Options, Shader};
use r500::formats::Limits;
use r500::program::Job;

use args::{Args, Command};
use code::{Loop, What};
use mca::{Cost, Llvm};
use report::{Cpu, Estimate, Report, Row};
use work::Work;

/// Something could not be estimated.
const FAILED: u8 = 1;
/// The command line is invalid.
const USAGE: u8 = 2;
/// Nothing could be estimated.
const COULD_NOT: u8 = 3;

fn main() -> ExitCode {
    let args = match Command::parse(std::env::args().skip(1)) {
        Ok(Command::Run(args)) => args,
        Ok(Command::Help) => {
            print!("{}", include_str!("usage.txt"));
            return ExitCode::SUCCESS;
        }
        Err(message) => return fail(USAGE, &anyhow!("{message} (--help tells)")),
    };
    match run(&args) {
        Ok(report) if report.failed.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(FAILED),
        Err(error) => fail(COULD_NOT, &error),
    }
}

fn fail(status: u8, error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(status)
}

/// Estimates everything and prints the answer.
fn run(args: &Args) -> Result<Report> {
    let llvm = Llvm::find(args.llvm.as_deref())?;
    let measured = args.measured.as_deref().map(read_measured).transpose()?.unwrap_or_default();
    let peak = |name: &String| Ok(Cpu { name: name.clone(), peak: llvm.peak(args.level, name)? });
    let cpus = args.cpus.iter().map(peak).collect::<Result<Vec<_>>>()?;
    let mut report =
        Report { llvm: llvm.version.clone(), cpus, rows: Vec::new(), failed: Vec::new() };
    for file in files(&args.files)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.contains(&args.filter) {
            continue;
        }
        let shown = file.display();
        let bytes = fs::read(&file).with_context(|| format!("cannot read {shown}"))?;
        let jobs = r500::reader::read(&bytes, Some(&name), None, &Limits::default())
            .with_context(|| format!("{shown}"))?;
        let several = jobs.len() > 1;
        for (number, job) in jobs.iter().enumerate() {
            let name = if several { format!("{name}#{number}") } else { name.clone() };
            match rows(args, &llvm, &report.cpus, &name, job) {
                Ok(rows) => report.rows.extend(rows),
                Err(error) => report.failed.push((name, format!("{error:#}"))),
            }
        }
    }
    for row in report.rows.iter_mut().filter(|row| row.part.is_none()) {
        row.measured = measured.get(&row.name).copied();
    }
    let mut out = std::io::stdout().lock();
    match args.json {
        true => report.write_json(&mut out)?,
        false => report.write_table(&mut out)?,
    }
    Ok(report)
}

/// Returns the named files, and the program files of named folders.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let holds = |file: &PathBuf| {
            file.extension().is_some_and(|extension| extension == "json" || extension == "r5")
        };
        let inside = fs::read_dir(path).with_context(|| format!("{}", path.display()))?;
        let inside: Vec<PathBuf> =
            inside.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        let first = all.len();
        all.extend(inside.into_iter().filter(holds));
        all[first..].sort();
    }
    Ok(all)
}

/// Returns the estimates of a program.
fn rows(args: &Args, llvm: &Llvm, cpus: &[Cpu], name: &str, job: &Job) -> Result<Vec<Row>> {
    let shader = Shader::new(&job.program)?;
    let bindings = Bindings::new(job, SIZE)?;
    let options = Options { threads: 1, ..Options::default() };
    let draw = Draw::new(&shader, &bindings, &options)?;
    let loops = code::loops(&draw, args.level)?;
    if loops.iter().all(|one| one.what == What::Straight) {
        let work = Work::sample(&draw)?.operations;
        let estimates = estimates(llvm, cpus, &loops, Some(work))?;
        return Ok(vec![Row { name: name.to_owned(), part: None, estimates, measured: None }]);
    }
    let mut passes = 0;
    let mut rows = Vec::new();
    for one in &loops {
        let part = match one.what {
            What::Straight => "straight part".to_owned(),
            What::Branches => "all branches".to_owned(),
            What::Pass => {
                passes += 1;
                format!("pass {passes}")
            }
        };
        let estimates = estimates(llvm, cpus, std::slice::from_ref(one), None)?;
        rows.push(Row { name: name.to_owned(), part: Some(part), estimates, measured: None });
    }
    Ok(rows)
}

/// Size of the picture whose pixels are sampled for their work.
const SIZE: [u32; 2] = [256, 256];

/// Returns the estimates of loops for each processor.
fn estimates(
    llvm: &Llvm,
    cpus: &[Cpu],
    loops: &[Loop],
    work: Option<f64>,
) -> Result<Vec<Estimate>> {
    let texts: Vec<String> =
        loops.iter().map(|one| llvm.disassemble(&one.code)).collect::<Result<_>>()?;
    let mut all = Vec::new();
    for cpu in cpus {
        let (mut cycles, mut busy, mut instructions) = (0.0, 0.0, 0.0);
        let mut unit = (0.0, String::new());
        for (one, text) in loops.iter().zip(&texts) {
            let cost: Cost = llvm.cost(text, &cpu.name)?;
            let pixels = f64::from(one.pixels);
            cycles += cost.cycles / pixels;
            busy += cost.busy / pixels;
            instructions += cost.instructions / pixels;
            if cost.busy >= unit.0 {
                unit = (cost.busy, cost.unit);
            }
        }
        all.push(Estimate {
            pixels_per_kilocycle: 1000.0 / cycles,
            share_of_peak: work.map(|work| work / cycles / cpu.peak),
            busy: busy / cycles,
            unit: unit.1,
            instructions: 16.0 * instructions,
        });
    }
    Ok(all)
}

/// Reads the shares of peak by name from a file of `r500 bench --save`.
fn read_measured(file: &Path) -> Result<HashMap<String, f64>> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{shown}"))?;
    let rows = value["rows"].as_array().with_context(|| format!("{shown}: `rows` is missing"))?;
    let row = |row: &serde_json::Value| {
        Some((row["name"].as_str()?.to_owned(), row["share_of_peak"].as_f64()?))
    };
    Ok(rows.iter().filter_map(row).collect())
}
