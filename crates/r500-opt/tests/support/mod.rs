//! Programs of the corpus, and comparison of the pictures of two programs.

use std::path::{Path, PathBuf};

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Frame, Options, Shader, draw};
use r500_formats::{Limits, read};
use r500_gen::Rng;
use r500_isa::state::UsFcIntConst;
use r500_program::{Input, Job, Plane, Program};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// Returns every job of a folder of the corpus.
pub(crate) fn jobs(folder: &str) -> Vec<Job> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| read_file(file)).collect()
}

/// Returns the distinct programs of piglit's tests, without state.
pub(crate) fn piglit() -> Vec<Job> {
    read_file(&corpus().join("piglit/programs.json"))
}

fn read_file(path: &Path) -> Vec<Job> {
    let limits = Limits::default();
    read(&std::fs::read(path).unwrap(), None, &limits).unwrap_or_else(|error| {
        panic!("{}: {error}", path.display());
    })
}

/// Fills the constants, inputs and loops of a job with random values.
pub(crate) fn randomize(job: &mut Job, seed: u64, all: bool) {
    let mut rng = Rng::new(seed);
    let number = |rng: &mut Rng| {
        let unit = (rng.next_u64() >> 40) as f32 / (1u32 << 24) as f32;
        match rng.next_u64() % 8 {
            0 => 0.0,
            1 => -0.0,
            2 => 1.0,
            3 => unit * 40.0,
            _ => unit * 4.0 - 2.0,
        }
    };
    if all {
        for constant in 0..64 {
            for channel in 0..4 {
                let bits = number(&mut rng).to_bits();
                job.program.state.set_constant(constant, channel, bits);
            }
        }
    }
    let inputs = (0..8).map(|temp| {
        let mut plane =
            || Plane { c: number(&mut rng), du: number(&mut rng), dv: number(&mut rng) };
        Input::planes(temp, [plane(), plane(), plane(), plane()])
    });
    job.inputs = Some(inputs.collect());
    // Given loop constants are part of the program: the trip count decides where a jump may lead.
    let given = job.program.state.fc_int_const.iter_mut();
    for constant in given.filter(|constant| constant.is_none()) {
        let count = [1, 2, 5, 255][(rng.next_u64() % 4) as usize];
        *constant = Some(UsFcIntConst::default().with(UsFcIntConst::KR, count));
    }
}

/// Draws a program with the bindings of a job.
pub(crate) fn run(job: &Job, program: &Program, size: [u32; 2]) -> Option<Frame> {
    let mut job = job.clone();
    let state = job.program.state.clone();
    job.program = program.clone();
    job.program.state.constants = state.constants;
    job.program.state.absent_constants = state.absent_constants;
    job.program.state.fc_int_const = state.fc_int_const;
    job.program.state.fc_bool_const = state.fc_bool_const;
    job.coverage = None;
    let shader = Shader::new(&job.program).ok()?;
    let bindings = Bindings::new(&job, size).ok()?;
    let mut options = Options::default();
    options.limits.instructions = 400_000;
    draw(&Reference, &shader, &bindings, &options).ok()
}

/// Returns a difference between two frames.
pub(crate) fn difference(a: &Frame, b: &Frame) -> Option<String> {
    if a.coverage() != b.coverage() {
        return Some("coverage".to_owned());
    }
    let pixels = a.coverage().len();
    for pixel in (0..pixels).filter(|&pixel| a.coverage()[pixel]) {
        for target in 0..4 {
            let color = |frame: &Frame| {
                frame.target(target).map_or([0; 4], |colors| colors[pixel].map(f32::to_bits))
            };
            if color(a) != color(b) {
                let values = [a, b].map(|frame| frame.target(target).map(|colors| colors[pixel]));
                return Some(format!("pixel {pixel}, target {target}: {values:?}"));
            }
        }
        let depth = |frame: &Frame| frame.depth().map_or(0, |depth| depth[pixel].to_bits());
        if depth(a) != depth(b) {
            return Some(format!("pixel {pixel}, depth"));
        }
    }
    None
}
