//! The command, native or under an emulator. `tools/cross` describes how the parts interact.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use r500_cross_runner::digest::Digest;
use r500_cross_runner::request::{self, Speed};
use serde::de::DeserializeOwned;

const USAGE: &str = "\
usage: cross-runner digests ENGINES FIRST COUNT FILE...  digests of generated programs and of files
       cross-runner speed ENGINE WIDTH SECONDS FILE...   pixels a second, one thread
       cross-runner compare HERE THERE ENGINE            two files of digests, the second by this engine
       cross-runner table SPEEDS...                      files of speeds, as a table";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["digests", engines, first, count, files @ ..] => digests(engines, first, count, files),
        ["speed", engine, width, seconds, files @ ..] => speed(engine, width, seconds, files),
        ["compare", here, there, engine] => compare(here, there, engine),
        ["table", files @ ..] => table(files),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(3)
    })
}

/// Prints the digests of the engines, whose names are separated by commas, one engine after the
/// other.
fn digests(engines: &str, first: &str, count: &str, files: &[&str]) -> Result<ExitCode, String> {
    for engine in engines.split(',') {
        for file in files {
            ask(&format!("file {engine} {file}"), Some(file))?;
        }
        // One by one, so that progress is visible.
        let [first, count] = [first, count].map(|number| number.parse::<u64>());
        let (Ok(first), Ok(count)) = (first, count) else { return Err(USAGE.to_owned()) };
        for n in first..first.saturating_add(count) {
            ask(&format!("generated {engine} {n} 1"), None)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn speed(engine: &str, width: &str, seconds: &str, files: &[&str]) -> Result<ExitCode, String> {
    for file in files {
        ask(&format!("speed {engine} {width} {seconds} {file}"), Some(file))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the answer to a request.
fn ask(line: &str, file: Option<&str>) -> Result<(), String> {
    let mut request = format!("{line}\n").into_bytes();
    if let Some(file) = file {
        request.extend(read(file)?);
    }
    let start = Instant::now();
    let clock = || worked().unwrap_or_else(|| start.elapsed().as_secs_f64());
    let answer = request::answer(&request, &clock)?;
    std::io::stdout().write_all(answer.as_bytes()).map_err(|error| error.to_string())
}

/// Returns seconds of processor time of this thread, if Linux reports them, so that other programs
/// on a busy machine do not count. The resolution is some milliseconds.
fn worked() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = told.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    std::fs::read(Path::new(file)).map_err(|error| format!("{file}: {error}"))
}

/// Compares two files of digests line by line. Prints how many there are and which engines drew
/// them. Fails if most of the second file are not by the engine.
fn compare(here: &str, there: &str, engine: &str) -> Result<ExitCode, String> {
    let (here, there) = (parsed::<Digest>(here)?, parsed::<Digest>(there)?);
    if here.is_empty() || here.len() != there.len() {
        return Err(format!("{} drawings here, {} there", here.len(), there.len()));
    }
    let mut differing = 0;
    let mut own = 0;
    let mut by: HashMap<String, usize> = HashMap::new();
    for (here, there) in here.iter().zip(&there) {
        let drawer = if there.error.is_some() { "none: an error on both" } else { &there.by };
        *by.entry(drawer.to_owned()).or_default() += 1;
        own += usize::from(drawer.split(' ').next() == Some(engine));
        if let Some(what) = here.difference(there) {
            differing += 1;
            if differing <= 10 {
                println!("differs: {} (by {}, {}): {what}", there.job, here.by, there.by);
            }
        }
    }
    let mut by: Vec<_> = by.into_iter().map(|(who, count)| format!("{count} by {who}")).collect();
    by.sort();
    println!("{} drawings compared ({}), {differing} differ", here.len(), by.join(", "));
    if own * 2 <= there.len() {
        println!("{engine} drew {own} of them: this compares another engine");
        return Ok(ExitCode::FAILURE);
    }
    Ok(if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints millions of pixels per second, with a column for each file, and the median of each.
fn table(files: &[&str]) -> Result<ExitCode, String> {
    let columns = files.iter().map(|file| parsed::<Speed>(file)).collect::<Result<Vec<_>, _>>()?;
    let first = columns.first().filter(|column| !column.is_empty()).ok_or("no speeds")?;
    let row = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    };
    let mega = |speed: f64| format!("{:.1}", speed / 1e6);
    row("capture", &mut columns.iter().filter_map(|c| c.first()).map(|speed| speed.by.clone()));
    row("---", &mut columns.iter().map(|_| "---".to_owned()));
    for (n, speed) in first.iter().enumerate() {
        let cells = columns.iter().map(|column| column.get(n));
        row(
            &speed.job,
            &mut cells.map(|cell| cell.map_or(String::new(), |s| mega(s.pixels_a_second))),
        );
    }
    row(
        "median of all",
        &mut columns.iter().map(|column| {
            let mut all: Vec<_> = column.iter().map(|speed| speed.pixels_a_second).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).map_or(String::new(), |median| mega(*median))
        }),
    );
    Ok(ExitCode::SUCCESS)
}

fn parsed<T: DeserializeOwned>(file: &str) -> Result<Vec<T>, String> {
    let text = String::from_utf8(read(file)?).map_err(|error| format!("{file}: {error}"))?;
    let line = |line: &str| serde_json::from_str(line).map_err(|error| format!("{file}: {error}"));
    text.lines().map(line).collect()
}
