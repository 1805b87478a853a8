//! Vertex programs on the fast and the jit engine against the interpreter: equal outputs, bit for bit but for the payload of NaN, at every level of
//! vector instructions that this machine supports, and in the emulator. Programs of a real driver, and generated ones.
//!
//! `R500_PROGRAMS=100000 cargo test --release -p r500-gen --test vertices` tries more generated programs; `R500_SEED` sets the first seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::sync::Arc;

use r500_fast::{Fast, Simd, VertexBatch, VertexEngine};
use r500_formats::{Limits, LogEntries, LogEntry};
use r500_gen::{Choices, Rng, vertex_programs};
use r500_jit::{Effort, Execution, Groups, Jit, Settings, When};
use r500_lift::lift_vertex;
use r500_pvs::{CONSTANTS, INPUTS, Interpreter, OUTPUTS, Program};

/// Values at the edges of arithmetic.
const EDGES: [u32; 18] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4020_0000,
    0x4040_0000,
    0x4000_0000,
    0xc0a6_6666,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffff_ffff,
    0x7f7f_ffff,
    0x4b80_0000,
];

fn vector(rng: &mut Rng) -> [f32; 4] {
    std::array::from_fn(|_| {
        f32::from_bits(match rng.below(8) {
            0 => rng.bits(),
            1 | 2 => (rng.below(40) as f32 * 0.375 - 4.0).to_bits(),
            _ => EDGES[rng.below(EDGES.len() as u32) as usize],
        })
    })
}

/// An engine, by name.
struct Contestant {
    name: String,
    engine: Box<dyn VertexEngine>,
    /// Operations in machine code, and all.
    coverage: [u64; 2],
    /// Vertices that it ran.
    vertices: u64,
    /// Instructions that it may execute for a vertex. The emulator takes long for loops that run thousands of times.
    limit: u64,
    /// Programs that exceed the limit.
    limited: u64,
}

/// Returns the engines: fast and jit at each level, and the emulator at each that has machine code.
fn contestants(effort: Effort, is_emulated: bool) -> Vec<Contestant> {
    let contestant = |name: String, engine: Box<dyn VertexEngine>| Contestant {
        name,
        engine,
        coverage: [0; 2],
        vertices: 0,
        limit: if is_emulated { 2_000 } else { MOST },
        limited: 0,
    };
    let mut all = Vec::new();
    for level in Simd::available().filter(|_| !is_emulated) {
        all.push(contestant(format!("fast {}", level.name()), Box::new(Fast::with(level))));
        let settings = Settings { when: When::Before(effort), ..Settings::default() };
        let jit = Jit::with(level, settings);
        if jit.unavailable().is_none() {
            all.push(contestant(format!("jit {}", level.name()), Box::new(jit)));
        }
    }
    #[cfg(target_arch = "x86_64")]
    for level in [Simd::Avx2, Simd::Avx512].into_iter().filter(|_| is_emulated) {
        let settings = Settings {
            when: When::Before(effort),
            execution: Execution::Emulated,
            groups: Groups::Two,
            ..Settings::default()
        };
        let jit = Jit::with(level, settings);
        all.push(contestant(format!("emulated {}", level.name()), Box::new(jit)));
    }
    all
}

/// What was compared.
struct Comparison {
    engines: Vec<Contestant>,
    programs: u64,
    /// Programs that the interpreter did not end.
    endless: u64,
    /// By reason.
    declined: BTreeMap<String, u64>,
    /// Components of outputs that are not 0.
    written: u64,
}

/// Instructions after which a vertex counts as endless.
const MOST: u64 = 1 << 24;

impl Comparison {
    fn new(engines: Vec<Contestant>) -> Self {
        Self { engines, programs: 0, endless: 0, declined: BTreeMap::new(), written: 0 }
    }

    /// Compares the engines on a program, for vertices with random inputs.
    fn program(&mut self, what: &str, program: &Program, rng: &mut Rng) {
        self.programs += 1;
        let function = match lift_vertex(program) {
            Ok(function) => function,
            Err(why) => {
                *self.declined.entry(why.to_string()).or_default() += 1;
                return;
            }
        };
        let constants: Vec<[f32; 4]> = (0..CONSTANTS).map(|_| vector(rng)).collect();
        let memory: BTreeMap<usize, [u32; 4]> =
            constants.iter().map(|c| c.map(f32::to_bits)).enumerate().collect();
        let interpreter = Interpreter::new(program, &program.constant_memory(&memory));
        let count = [1, 5, 16, 37][rng.below(4) as usize];
        let inputs: Vec<[[f32; 4]; INPUTS]> =
            (0..count).map(|_| std::array::from_fn(|_| vector(rng))).collect();
        let wanted: Option<Vec<_>> =
            inputs.iter().map(|inputs| run_alone(&interpreter, inputs)).collect();
        let Some(wanted) = wanted else {
            self.endless += 1;
            return;
        };
        self.written += wanted.iter().flatten().flatten().filter(|bits| **bits != 0).count() as u64;
        for contestant in &mut self.engines {
            let Contestant { name, engine, coverage, vertices, limit, limited } = contestant;
            let code = Arc::new(engine.compile_vertices(&function));
            let (compiled, all) = code.coverage();
            *coverage = [coverage[0] + compiled as u64, coverage[1] + all as u64];
            let mut batch = VertexBatch::new(code);
            // Twice: the second run finds what the first one left.
            for round in 0..2 {
                batch.set_constants(&constants);
                batch.load(&inputs);
                if batch.run(count, *limit).is_err() {
                    *limited += 1;
                    break;
                }
                *vertices += count as u64;
                for (vertex, wanted) in wanted.iter().enumerate() {
                    for (register, wanted) in wanted.iter().enumerate() {
                        let found = bits(batch.output(vertex, register));
                        assert!(
                            found == *wanted,
                            "{what}, {name}, round {round}, vertex {vertex}: out[{register}] is {found:x?} instead of \
                             {wanted:x?}\n{program}\n{}\ninputs {:x?}\nconstants {:x?}",
                            function.function,
                            inputs[vertex].map(bits),
                            constants.iter().copied().map(bits).collect::<Vec<_>>(),
                        );
                    }
                }
            }
        }
    }

    /// Checks that each engine ran, and prints what was compared.
    fn finish(self, what: &str, most_declined: u64) {
        let Self { engines, programs, endless, declined, written } = self;
        for Contestant { name, engine, coverage: [compiled, all], vertices, limit, limited } in
            &engines
        {
            eprintln!(
                "{what}, {name}: {vertices} vertices, {compiled} of {all} operations compiled, {limited} programs limited"
            );
            let most_limited = if *limit == MOST { 0 } else { programs / 20 };
            assert!(*limited <= most_limited, "{limited} of {programs} exceed {limit}");
            assert!(*vertices > 0, "{name} has run");
            let is_native = engine.vertex_engine() == "jit";
            assert!(is_native || name.starts_with("fast"), "{name} is not compiled");
            // Loads of constants at relative addresses are not.
            assert!(!is_native || compiled * 100 >= all * 95, "{name}: {compiled} of {all}");
            assert!(is_native || *compiled == 0, "{name} compiles {compiled}");
        }
        eprintln!(
            "{what}: {programs} programs, {endless} endless, declined: {declined:#?}, {written} components"
        );
        let declined: u64 = declined.values().sum();
        assert!(declined <= most_declined, "{declined} of {programs} are declined");
        assert!(written > programs, "{written} components written");
        let all = engines.iter().map(|contestant| contestant.coverage[1]).min();
        assert!(all.is_some_and(|all| all > 5 * programs), "{all:?} operations");
    }
}

/// Returns the bits of a vector, with one payload for all NaN.
fn bits(vector: [f32; 4]) -> [u32; 4] {
    vector.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() })
}

/// Runs a vertex on the interpreter; `None` if it is endless.
fn run_alone(
    interpreter: &Interpreter,
    inputs: &[[f32; 4]; INPUTS],
) -> Option<[[u32; 4]; OUTPUTS]> {
    let mut outputs = [[0.0; 4]; OUTPUTS];
    let mut executed = 0;
    let ended = interpreter.run(inputs, &mut outputs, || {
        executed += 1;
        if executed > MOST { Err(()) } else { Ok(()) }
    });
    ended.is_ok().then(|| outputs.map(bits))
}

/// Returns the programs of a log of the corpus.
fn corpus(name: &str) -> Vec<Program> {
    let path = format!("{}/../../tests/corpus/vertex/{name}.log.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut text)
        .unwrap();
    let entries = LogEntries::new(BufReader::new(&text[..]), &Limits::default());
    let program = |entry: LogEntry| match entry {
        LogEntry::Vertex(program) => program.program().unwrap(),
        LogEntry::Fragment(_) => panic!("a fragment program"),
    };
    entries.map(|entry| program(entry.unwrap())).collect()
}

fn of_driver(effort: Effort, is_emulated: bool) {
    let names =
        ["glmark2-mesa-22.3.6", "glmark2-mesa-25.0.7", "piglit-mesa-22.3.6", "piglit-mesa-25.0.7"];
    let mut comparison = Comparison::new(contestants(effort, is_emulated));
    for name in names {
        for (n, program) in corpus(name).iter().enumerate() {
            comparison.program(&format!("{name} {n}"), program, &mut Rng::new(n as u64));
        }
    }
    assert_eq!(comparison.programs, 553, "the corpus has changed");
    assert_eq!(comparison.endless, 0, "no program of a driver is endless");
    comparison.finish("programs of a driver", 0);
}

#[test]
fn programs_of_a_driver_run_equal_on_all_engines() {
    of_driver(Effort::Full, false);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn programs_of_a_driver_run_equal_in_the_emulator() {
    of_driver(Effort::Full, true);
}

/// Compares generated programs, the seeds of a part of four.
fn generated(part: u64, is_emulated: bool, make: impl Fn(&mut Rng) -> Program) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let default = if is_emulated { 400 } else { 8_000 };
    let count = number("R500_PROGRAMS").unwrap_or(default) / 4;
    let first = number("R500_SEED").unwrap_or(0) + part * count;
    let mut comparison = Comparison::new(contestants(Effort::Quick, is_emulated));
    for seed in first..first + count {
        let mut rng = Rng::new(seed);
        let program = make(&mut rng);
        comparison.program(&format!("seed {seed}"), &program, &mut rng);
    }
    let endless = comparison.endless;
    assert!(endless * 100 <= count, "{endless} of {count} are endless");
    // Long unrolled loops with registers at addresses in A0 have too many operations.
    comparison.finish("generated programs", count / 500);
}

/// As compilers write them, with predicates, loops, and constants relative to A0.
fn as_compilers_do(rng: &mut Rng) -> Program {
    vertex_programs::with_inputs(&vertex_programs::program(rng, 24, false))
}

/// With all kinds of addresses and flow control.
fn wild(rng: &mut Rng) -> Program {
    vertex_programs::with_inputs(&vertex_programs::wild(rng, 14))
}

#[test]
fn generated_programs_run_equal_1() {
    generated(0, false, as_compilers_do);
}

#[test]
fn generated_programs_run_equal_2() {
    generated(1, false, as_compilers_do);
}

#[test]
fn generated_wild_programs_run_equal_1() {
    generated(2, false, wild);
}

#[test]
fn generated_wild_programs_run_equal_2() {
    generated(3, false, wild);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn generated_programs_run_equal_in_the_emulator() {
    generated(0, true, as_compilers_do);
    generated(1, true, wild);
}
