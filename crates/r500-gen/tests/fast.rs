//! The fast and the jit engine against the reference engine: equal frames bit for bit, at every level of vector
//! instructions that this machine supports.
//!
//! Machine code of both levels, AVX2 and AVX-512, also runs in an emulator that checks each memory access.
//!
//! The default is some hundred programs of each kind. `R500_PROGRAMS=100000 cargo test --release -p r500-gen --test
//! fast` tries more; `R500_SEED` sets the first seed, `R500_SIMD=avx2,sse2` the levels, `R500_ENGINE=fast,jit,emulated`
//! the engines. The long run of the emulator:
//!
//! ```sh
//! R500_ENGINE=emulated R500_SEED=7000000 R500_PROGRAMS=100000 cargo test --release -p r500-gen --test fast
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod engines;

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use engines::{Outcome, Seen, compare, difference};
use r500_exec::reference::Reference;
use r500_exec::{Bindings, Limits, Options, PixelRect, Shader, draw};
use r500_gen::{Case, Choices, Rng, Shape, mutate, raw_programs, shrink};
use r500_isa::values::{CoordType, TexelFilter};
use r500_program::Job;

#[test]
fn generated_programs() {
    let seen = each(seeds(80), |seed| try_case(seed, false));
    // The fast engine draws nearly every structured program.
    seen.demand(98);
}

#[test]
fn varied_programs() {
    let seen = each(seeds(100), |seed| try_case(seed, true));
    // Some mutations make programs that only the reference engine draws.
    seen.demand(70);
}

/// Fetches whose level of detail differs from pixel to pixel of a quad, or that read several places: every texture is
/// a cube or has an anisotropic filter.
#[test]
fn cubes_and_anisotropic_filters() {
    let seen = each(seeds(40), |seed| {
        let setup = Setup::new(seed, true);
        let mut job = setup.job(&setup.case(seed));
        let mut rng = Rng::new(seed ^ 0xc0be);
        for texture in job.textures.iter_mut().flatten() {
            *texture = loop {
                let texture = raw_programs::texture(&mut rng);
                let cube = texture.format1.tex_coord_type() == CoordType::CUBE;
                let anisotropic = texture.filter0.min_filter() == TexelFilter::ANISOTROPIC;
                if cube || anisotropic && texture.filter0.max_aniso() > 0 {
                    break texture;
                }
            };
        }
        let options =
            Options { poison: setup.poison, threads: setup.threads, ..Options::default() };
        match compare(&job, &options) {
            Outcome::Different(what) => Outcome::Different(format!("seed {seed}: {what}")),
            outcome => outcome,
        }
    });
    seen.demand(70);
}

/// Unstructured programs are rarely lifted: short ones, so that some are.
#[test]
fn near_valid_words() {
    let seen = each(seeds(500), |seed| {
        let mut rng = Rng::new(seed);
        let length = 1 + rng.below(10) as u16;
        let job = raw_programs::job(&mut rng, length);
        let limits = Limits { instructions: 100_000, ..Limits::default() };
        let options =
            Options { limits, threads: 1, poison: rng.chance(1, 2), ..Options::default() };
        let outcome = compare(&job, &options);
        if let Outcome::Different(what) = outcome {
            return Outcome::Different(format!("words of seed {seed}: {what}"));
        }
        outcome
    });
    seen.demand(8);
}

/// The comparison of frames detects differences.
#[test]
fn a_difference_is_seen() {
    let case = Case::generate(&mut Rng::new(3), &Shape::default());
    let mut job = case.bare_job("generated");
    let options = Options { threads: 1, ..Options::default() };
    let frame = |job: &Job| {
        let shader = Shader::new(&job.program).unwrap();
        draw(&Reference, &shader, &Bindings::new(job, job.size.unwrap()).unwrap(), &options)
    };
    let before = frame(&job).unwrap();
    assert_eq!(difference(&before, &before), None);
    let mut counted = before.clone();
    counted.counters.stat[2] += 1;
    assert!(difference(&counted, &before).unwrap().contains("stat"));
    let first = before.coverage().iter().position(|&on| on).unwrap();
    job.coverage = Some((0..64).map(|n| n != first).collect());
    assert!(difference(&frame(&job).unwrap(), &before).unwrap().contains(": covered"));
}

/// The drawing parameters of a seed.
struct Setup {
    shape: Shape,
    poison: bool,
    area: Option<PixelRect>,
    threads: usize,
    vary: Option<u64>,
}

impl Setup {
    fn new(seed: u64, varied: bool) -> Self {
        let usual = Shape::default();
        let shape = match seed % 16 {
            0 | 1 => Shape { size: [7, 5], ..usual },
            2 => Shape { specials: false, ..usual },
            3 => Shape { depth: 2, instructions: 40, ..usual },
            4 => Shape { depth: 20, instructions: 250, size: [4, 4], ..usual },
            5 => Shape { depth: 10, instructions: 480, work: 10_000, size: [6, 2], ..usual },
            6 | 7 => Shape { size: [33, 18], work: 800, ..usual },
            8 => Shape { size: [64, 64], work: 200, instructions: 80, ..usual },
            9 => Shape { size: [1, 1], ..usual },
            10 => Shape { size: [17, 33], work: 400, ..usual },
            _ => usual,
        };
        let mut rng = Rng::new(seed ^ 0x5e70);
        let area = rng.chance(1, 4).then(|| {
            let [x, width] = span(&mut rng, shape.size[0]);
            let [y, height] = span(&mut rng, shape.size[1]);
            PixelRect { x, y, width, height }
        });
        Self {
            shape,
            poison: rng.chance(1, 3),
            area,
            threads: if rng.chance(1, 4) { 3 } else { 1 },
            vary: varied.then_some(seed),
        }
    }

    fn case(&self, seed: u64) -> Case {
        Case::generate(&mut Rng::new(seed), &self.shape)
    }

    fn job(&self, case: &Case) -> Job {
        let mut job = case.bare_job("generated");
        if let Some(seed) = self.vary {
            mutate(&mut job, seed);
        }
        job
    }

    fn compare(&self, case: &Case) -> Outcome {
        let job = self.job(case);
        // A shrunk picture may not contain the area.
        let [width, height] = case.picture.size;
        let fits =
            |area: &PixelRect| area.x + area.width <= width && area.y + area.height <= height;
        let options = Options {
            poison: self.poison,
            area: self.area.filter(fits),
            threads: self.threads,
            ..Options::default()
        };
        compare(&job, &options)
    }
}

/// Returns a random part of a row: start and length.
fn span(rng: &mut Rng, size: u32) -> [u32; 2] {
    let start = rng.below(size);
    [start, 1 + rng.below(size - start)]
}

fn try_case(seed: u64, varied: bool) -> Outcome {
    let setup = Setup::new(seed, varied);
    let case = setup.case(seed);
    let outcome = setup.compare(&case);
    let Outcome::Different(what) = outcome else { return outcome };
    eprintln!("seed {seed}: {what}; shrinking");
    let small = shrink(&case, |case| matches!(setup.compare(case), Outcome::Different(_)));
    let Outcome::Different(what) = setup.compare(&small) else { panic!("seed {seed} wavers") };
    let Setup { poison, area, threads, .. } = setup;
    let mut text = format!("seed {seed}, poison {poison}, area {area:?}, {threads} threads\n");
    write!(text, "{small}").unwrap();
    if varied {
        writeln!(text, "varied:").unwrap();
        for (n, inst) in setup.job(&small).program.code.iter().enumerate() {
            let dwords = inst.0.map(|dword| format!("{dword:08x}")).join(" ");
            writeln!(text, "{n:3}: {dwords}").unwrap();
        }
    }
    Outcome::Different(text + &what)
}

/// Returns the seeds to try: those of the environment, or `few`.
fn seeds(few: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = number("R500_SEED").unwrap_or(0);
    first..first + number("R500_PROGRAMS").unwrap_or(few)
}

/// Runs `test` for every seed, on all cores; panics with the first difference.
fn each(seeds: Range<u64>, test: impl Fn(u64) -> Outcome + Sync) -> Seen {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let stop = AtomicBool::new(false);
    let seen = Mutex::new(Seen::default());
    let found = Mutex::new(None);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (seeds, test, stop, seen, found) = (seeds.clone(), &test, &stop, &seen, &found);
            scope.spawn(move || {
                for seed in seeds.skip(thread).step_by(threads) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let outcome = test(seed);
                    if let Some(what) = seen.lock().unwrap().add(outcome) {
                        stop.store(true, Ordering::Relaxed);
                        found.lock().unwrap().get_or_insert(what);
                    }
                }
            });
        }
    });
    if let Some(found) = found.into_inner().unwrap() {
        panic!("{found}");
    }
    seen.into_inner().unwrap()
}
