//! What several fuzz targets check.

pub mod captures;
pub mod sessions;

use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, Draw, Engine, Frame, Limits, Options, PixelRect, Readings, Shader, draw, output,
};
use r500_gen::{Bytes, Case, Choices, Shape, mutate, raw_programs};
use r500_program::{Job, Program};

/// Endless programs are detected early.
pub const LIMITS: Limits = Limits { instructions: 2000, memory: 1 << 20, time: None };

/// Draws with and without findings: the same pixels and counts, or the same error. What is drawn can
/// be stored.
pub fn watching_changes_nothing(
    shader: &Shader,
    bindings: &Bindings,
    program: &Program,
    group: [u32; 2],
) {
    let options = Options { group, threads: 1, limits: LIMITS, ..Options::default() };
    let watched = Options { warnings: true, ..options.clone() };
    let plain = draw(&Reference, shader, bindings, &options);
    let watched = draw(&Reference, shader, bindings, &watched);
    match (plain, watched) {
        (Ok(plain), Ok(watched)) => {
            assert_eq!(bits(&plain), bits(&watched));
            assert_eq!(plain.counters, watched.counters);
            store(&plain, program);
        }
        (Err(plain), Err(watched)) => assert_eq!(plain, watched),
        (plain, watched) => panic!("{:?} but {:?}", plain.err(), watched.err()),
    }
}

/// Draws with an engine and with the reference engine: the same pixels and counts. Of endless programs,
/// that they are.
pub fn equals_reference(engine: &dyn Engine, job: &Job, options: &Options<'_>) {
    let size = job.size.unwrap_or([8, 8]);
    let Ok(shader) = Shader::new(&job.program) else { return };
    let Ok(bindings) = Bindings::new(job, size) else { return };
    let Ok(drawing) = Draw::new(&shader, &bindings, options) else { return };
    if engine.prepare(drawing).run_info().fallback_reason.is_some() {
        return;
    }
    let wanted = draw(&Reference, &shader, &bindings, options);
    match (draw(engine, &shader, &bindings, options), wanted) {
        (Ok(got), Ok(wanted)) => {
            assert_eq!(bits(&got), bits(&wanted));
            assert_eq!(got.counters.stat, wanted.counters.stat);
            assert_eq!(got.counters.killed, wanted.counters.killed);
        }
        (Ok(_), Err(error)) => panic!("no {error}"),
        // All pixels of a batch count together, those of a group of 4x4 apart: the budget may end sooner.
        (Err(_), _) => {}
    }
}

/// Returns a drawing for engines: structured programs as they are or varied, and words that come
/// near a program; small pictures; sometimes with another reading.
pub fn drawing(bytes: &mut Bytes<'_>) -> (Job, Options<'static>) {
    let kind = bytes.below(4);
    let poison = bytes.chance(1, 2);
    let size = [[4, 4], [7, 5], [1, 1], [8, 8]][bytes.below(4) as usize];
    let area = bytes.chance(1, 4).then_some(PixelRect { x: 0, y: 0, width: size[0], height: 1 });
    let mut options = Options { poison, area, threads: 1, ..Options::default() };
    if bytes.chance(1, 4) {
        let info = &Readings::TABLE[bytes.below(Readings::TABLE.len() as u32) as usize];
        let (value, _) = info.values[bytes.below(info.values.len() as u32) as usize];
        options.readings.set(info.name, value).expect("it is in the table");
    }
    let job = match kind {
        0 => {
            options.limits = LIMITS;
            let length = 1 + bytes.below(16) as u16;
            let job = raw_programs::job(bytes, length);
            options.area = options.area.filter(|area| area.width <= 8);
            job
        }
        kind => {
            let shape = Shape { size, ..Shape::default() };
            let seed = u64::from(bytes.bits());
            let case = Case::generate(bytes, &shape);
            let mut job = case.bare_job("fuzz");
            if kind > 1 {
                mutate(&mut job, seed);
            }
            job
        }
    };
    (job, options)
}

/// Returns a frame's pixels, bit by bit.
fn bits(frame: &Frame) -> (Vec<Vec<u32>>, Vec<u32>, &[bool]) {
    let floats = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let targets = (0..4).filter_map(|n| frame.target(n));
    let targets = targets.map(|t| floats(t.as_flattened())).collect();
    (targets, frame.depth().map(floats).unwrap_or_default(), frame.coverage())
}

/// What would lie in memory has the size that its format has.
fn store(frame: &Frame, program: &Program) {
    for n in 0..4 {
        let fmt = program.state.out_fmt_or_default(n);
        let mut bytes = Vec::new();
        let pixels = frame.target(n).unwrap_or_default();
        pixels.iter().for_each(|rgba| output::color::store(fmt, *rgba, &mut bytes));
        let size = output::color::bytes_per_pixel(fmt).unwrap_or(0);
        assert_eq!(bytes.len(), size * pixels.len());
    }
    let w_fmt = program.state.w_fmt.unwrap_or_default();
    frame.depth().unwrap_or_default().iter().for_each(|w| {
        let _ = output::depth::store_depth(w_fmt, *w);
    });
}
