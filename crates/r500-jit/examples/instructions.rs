//! Counts the machine instructions that the jit engine's x86-64 code executes for a pixel, in the emulator, so that code for AVX-512 can be
//! compared with code for AVX2 on any x86-64 machine: `cargo run --release -p r500-jit --example instructions [CAPTURE...]`, by default
//! for all captures of the corpus.
//!
//! Each level has a column for each number of interleaved groups: which form draws is decided by a contest on the processor. Frames have
//! 64x64 pixels of floats; the engine's work around the code is not counted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
fn main() {
    println!("There is no emulator for other processors than x86-64.");
}

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
fn main() {
    let mut files: Vec<std::path::PathBuf> = std::env::args_os().skip(1).map(Into::into).collect();
    if files.is_empty() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
        let entries = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
        files = entries.filter(|file| file.extension().is_some_and(|e| e == "json")).collect();
        files.sort();
    }
    counts::report(&files);
}

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod counts {
    use std::path::PathBuf;

    use r500_exec::{Bindings, Draw, Engine, Frame, Options, Shader, draw_into};
    use r500_fast::Simd;
    use r500_formats::{Limits, read};
    use r500_jit::{Effort, Execution, Groups, Jit, Settings, When};
    use r500_program::Job;

    /// Level, groups, title.
    const COLUMNS: [(Simd, Groups, &str); 5] = [
        (Simd::Avx2, Groups::One, "avx2"),
        (Simd::Avx2, Groups::Two, "avx2, two"),
        (Simd::Avx512, Groups::One, "avx512"),
        (Simd::Avx512, Groups::Two, "avx512, two"),
        (Simd::Avx512, Groups::Four, "avx512, four"),
    ];
    /// Width and height of the frames.
    const SIZE: u32 = 64;

    pub(super) fn report(files: &[PathBuf]) {
        print!("{:24}", "capture");
        for (_, _, title) in COLUMNS {
            print!("{title:>14}");
        }
        println!("{:>14}", "avx512/avx2");
        let mut ratios = Vec::new();
        for file in files {
            let job =
                read(&std::fs::read(file).unwrap(), None, &Limits::default()).unwrap().remove(0);
            print!("{:24}", file.file_stem().unwrap().to_string_lossy());
            let counts = COLUMNS.map(|(simd, groups, _)| {
                let count = per_pixel(&job, simd, groups);
                print!("{count:14.1}");
                count
            });
            let ratio = counts[2] / counts[0];
            println!("{ratio:14.2}");
            ratios.push(ratio);
        }
        ratios.sort_by(f64::total_cmp);
        if let Some(median) = ratios.get(ratios.len() / 2) {
            println!("median of avx512/avx2, one group each: {median:.2}");
        }
    }

    /// Returns the number of instructions that code of a level executes for a pixel.
    fn per_pixel(job: &Job, simd: Simd, groups: Groups) -> f64 {
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(job, [SIZE, SIZE]).unwrap();
        let options = Options::default();
        let draw = Draw::new(&shader, &bindings, &options).unwrap();
        let settings = Settings {
            when: When::Before(Effort::Full),
            groups,
            execution: Execution::Emulated,
            ..Settings::default()
        };
        let jit = Jit::with(simd, settings);
        let prepared = jit.prepare(draw);
        let mut frame = Frame::new(&shader, &bindings, &options).unwrap();
        draw_into(&*prepared, &draw, &mut frame).unwrap();
        jit.emulated_instructions() as f64 / f64::from(SIZE * SIZE)
    }
}
