//! Lengths of compiled programs next to the driver's, and the time that a compilation takes.
//!
//! ```sh
//! cargo run --release -p r500-compile --example lengths [-- --each]
//! ```
//!
//! With `--each` a line for each shader: instructions and temporaries of our program, and of the driver's two.
//!
//! Sources are those of the corpus and of the benchmarks; the driver's programs are the captures next to them (Mesa 22.3.6) and in
//! `tests/corpus/mesa25` (25.0.7).
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a table on the terminal; the files are those of the repository"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use r500_program::Job;

fn job(path: &Path) -> Option<Job> {
    let bytes = std::fs::read(path).ok()?;
    r500_formats::read(&bytes, None, &r500_formats::Limits::default()).ok()?.pop()
}

fn temporaries(job: &Job) -> usize {
    job.program.state.pixsize.map_or(0, |size| usize::from(size.pix_size()) + 1)
}

fn main() {
    let each = std::env::args().any(|argument| argument == "--each");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut times: Vec<Duration> = Vec::new();
    for folder in ["tests/corpus/mesa", "benches/shaders"] {
        let mut sums = [[0; 2]; 3];
        let (mut shaders, mut newer, mut no_longer, mut shorter) = (0, 0, 0, 0);
        let mut paths: Vec<_> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths
            .iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "frag"))
        {
            let source = std::fs::read_to_string(path).unwrap();
            let start = Instant::now();
            let compiled = r500_compile::compile(&source).unwrap();
            times.push(start.elapsed());
            let own = compiled.job;
            shaders += 1;
            let mut add = |n: usize, job: &Job| {
                sums[n][0] += job.program.code.len();
                sums[n][1] += temporaries(job);
            };
            add(0, &own);
            add(1, &job(&path.with_extension("json")).unwrap());
            let newest = root
                .join("tests/corpus/mesa25")
                .join(path.with_extension("json").file_name().unwrap());
            let newest = job(&newest);
            if each {
                let numbers =
                    |job: &Job| format!("{:4} {:3}", job.program.code.len(), temporaries(job));
                println!(
                    "{:30} {} | {} | {}",
                    path.file_stem().unwrap().to_string_lossy(),
                    numbers(&own),
                    numbers(&job(&path.with_extension("json")).unwrap()),
                    newest.as_ref().map_or_else(String::new, numbers),
                );
            }
            if let Some(newest) = newest {
                add(2, &newest);
                newer += 1;
                no_longer += usize::from(own.program.code.len() <= newest.program.code.len());
                shorter += usize::from(own.program.code.len() < newest.program.code.len());
            }
        }
        let [own, old, new] = sums;
        println!("{folder}, {shaders} shaders: {} instructions, {} temporaries", own[0], own[1]);
        println!("  Mesa 22.3.6: {}, {}", old[0], old[1]);
        if newer > 0 {
            println!(
                "  Mesa 25.0.7, {newer} of them: {}, {}; no longer {no_longer}, shorter {shorter}",
                new[0], new[1]
            );
        }
    }
    times.sort();
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    println!(
        "{:.1} ms the median, {:.1} ms the worst, of {}",
        ms(&times[times.len() / 2]),
        ms(times.last().unwrap()),
        times.len()
    );
}
