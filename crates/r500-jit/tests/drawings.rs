//! The engine's interface: tier-up from bytecode to machine code, pictures whose constants change, limits inside of machine code. Other
//! tests compare results with the reference engine (`r500-gen`, `r500`); these compare them with the fast engine, which equals it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::{Duration, Instant};

use common::capture;
use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, Cancel, Draw, Drawing, Engine, Frame, Limits, Options, PixelRect, PreparedDraw,
    RunError, Shader, draw_into,
};
use r500_fast::{Fast, Simd};
use r500_gen::{Case, Rng, Shape};
use r500_jit::{Constants, Effort, Execution, Groups, Jit, Settings, When};
use r500_program::Job;

fn before(effort: Effort) -> Settings {
    Settings { when: When::Before(effort), ..Settings::default() }
}

/// Returns the engine that draws if machine code is requested before the first picture: the fast one where there is no back end.
fn draws(jit: &Jit) -> &'static str {
    if jit.unavailable().is_none() { "jit" } else { "fast" }
}

/// Returns whether there is a back end for this machine.
fn is_here() -> bool {
    Jit::new().unavailable().is_none()
}

/// A program with its bindings.
struct Scene {
    shader: Shader,
    bindings: Bindings,
}

impl Scene {
    fn new(name: &str, size: [u32; 2]) -> Self {
        Self::of(&capture(name), size)
    }

    fn of(job: &Job, size: [u32; 2]) -> Self {
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(job, size).unwrap();
        Self { shader, bindings }
    }

    fn draw<'a>(&'a self, options: &'a Options<'a>) -> Draw<'a> {
        Draw::new(&self.shader, &self.bindings, options).unwrap()
    }

    fn frame(&self, options: &Options<'_>) -> Frame {
        Frame::new(&self.shader, &self.bindings, options).unwrap()
    }

    /// Returns the pixels of a picture by the reference engine.
    fn reference(&self) -> Vec<u32> {
        let options = Options::default();
        let draw = self.draw(&options);
        let prepared = Reference.prepare(draw);
        pixels("reference", &*prepared, &draw, &mut self.frame(&options)).unwrap()
    }

    /// Returns the pixels of a picture by the fast engine.
    fn wanted(&self) -> Vec<u32> {
        let options = Options::default();
        let draw = self.draw(&options);
        pixels("fast", &*Fast::new().prepare(draw), &draw, &mut self.frame(&options)).unwrap()
    }
}

/// Draws with an engine, which must draw itself, and returns the pixels.
#[track_caller]
fn pixels(
    engine: &str,
    prepared: &dyn PreparedDraw,
    draw: &Draw<'_>,
    frame: &mut Frame,
) -> Result<Vec<u32>, RunError> {
    draw_into(prepared, draw, frame)?;
    frame.run_info.drawn_by(engine).unwrap();
    Ok(bits(frame))
}

fn bits(frame: &Frame) -> Vec<u32> {
    frame.target(0).unwrap().iter().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn pictures_begin_at_once_and_move_to_machine_code() {
    if !is_here() {
        return;
    }
    let scene = Scene::new("scene_raymarch", [96, 64]);
    let options = Options::default();
    let (draw, wanted) = (scene.draw(&options), scene.wanted());
    let jit = Jit::new();
    let prepared = jit.prepare(draw);
    let mut frame = scene.frame(&options);
    // Not enough has been drawn to compile.
    assert_eq!(pixels("fast", &*prepared, &draw, &mut frame).unwrap(), wanted);
    assert!(frame.run_info.fallback_reason.is_some());
    let start = Instant::now();
    while frame.run_info.engine != "jit" {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", frame.run_info);
        draw_into(&*prepared, &draw, &mut frame).unwrap();
        assert!(bits(&frame) == wanted);
    }
    assert_eq!(frame.run_info.fallback_reason, None);
    let [compiled, all] = frame.run_info.compiled.unwrap();
    assert_eq!(compiled, all);
    // Cached code is used from the first picture on.
    let again = jit.prepare(draw);
    assert_eq!(again.run_info().engine, "jit");
    assert_eq!(pixels("jit", &*again, &draw, &mut frame).unwrap(), wanted);
    // Engines do not share caches.
    assert_eq!(Jit::new().prepare(draw).run_info().engine, "fast");
}

#[test]
fn dropping_what_compiles_does_no_harm() {
    let options = Options::default();
    for name in ["scene_raymarch", "big_straight", "scene_fbm"] {
        // Large enough to start compilation.
        let scene = Scene::new(name, [2048, 2048]);
        let jit = Jit::new();
        drop(jit.prepare(scene.draw(&options)));
        drop(jit);
    }
}

#[test]
fn an_animation_is_compiled_twice() {
    if !is_here() {
        return;
    }
    let options = Options::default();
    let mut scene = Scene::new("scene_plasma", [40, 24]);
    let jit = Jit::with(Simd::detect(), before(Effort::Full));
    let mut misses = Vec::new();
    for n in 0..8_u8 {
        // The time, a constant that the lift folds.
        scene.bindings.set_constant(0, [0.3 + 0.07 * f32::from(n), 0.0, 0.0, 0.0]).unwrap();
        let draw = scene.draw(&options);
        let mut frame = scene.frame(&options);
        let prepared = jit.prepare(draw);
        let got = pixels("jit", &*prepared, &draw, &mut frame).unwrap();
        assert_eq!(got, scene.wanted(), "picture {n}");
        misses.push(jit.cache_use().misses);
    }
    assert!(misses[1] > misses[0], "{misses:?}");
    assert!(misses[2..].iter().all(|all| *all == misses[1]), "{misses:?}");
}

/// Code with symbolic constants is compiled once, for all of their values.
#[test]
fn changing_symbolic_constants_compiles_nothing() {
    if !is_here() {
        return;
    }
    let options = Options::default();
    let odd = [f32::NAN, 0.0, -0.0, 1e-40, f32::INFINITY, -7.5, 1.0, f32::MIN];
    for name in ["scene_plasma", "scene_raymarch", "loop_mandelbrot", "if_nested6", "big_straight"]
    {
        let mut scene = Scene::new(name, [24, 12]);
        let settings = Settings { constants: Constants::Symbolic, ..before(Effort::Full) };
        let jit = Jit::with(Simd::detect(), settings);
        let mut misses = Vec::new();
        for n in 0..6 {
            let draw = scene.draw(&options);
            let (mut frame, mut wanted) = (scene.frame(&options), scene.frame(&options));
            let got = pixels("jit", &*jit.prepare(draw), &draw, &mut frame).unwrap();
            let wanted =
                pixels("reference", &*Reference.prepare(draw), &draw, &mut wanted).unwrap();
            assert_eq!(got, wanted, "{name}, draw {n}");
            misses.push(jit.cache_use().misses);
            for (at, constant) in (0..256).zip((n..).step_by(3)) {
                let value = [0, 1, 2, 3].map(|channel| odd[(constant + channel) % odd.len()]);
                scene.bindings.set_constant(at, value).unwrap();
            }
        }
        assert!(misses[0] > 0 && misses.iter().all(|all| *all == misses[0]), "{misses:?}");
    }
}

/// A change of a specialised constant compiles, and so may a value outside of a symbolic one's range; other changes do not.
#[test]
fn changing_a_specialised_constant_compiles_once() {
    if !is_here() {
        return;
    }
    let options = Options::default();
    let mut scene = Scene::new("scene_plasma", [24, 12]);
    let jit = Jit::with(Simd::detect(), before(Effort::Full));
    let mut compiles = |time: f32| {
        scene.bindings.set_constant(0, [time, 0.0, 0.0, 0.0]).unwrap();
        let misses = jit.cache_use().misses;
        let draw = scene.draw(&options);
        let (mut frame, mut wanted) = (scene.frame(&options), scene.frame(&options));
        let got = pixels("jit", &*jit.prepare(draw), &draw, &mut frame).unwrap();
        let wanted = pixels("reference", &*Reference.prepare(draw), &draw, &mut wanted).unwrap();
        assert_eq!(got, wanted, "{time}");
        jit.cache_use().misses > misses
    };
    assert!(compiles(0.5), "the first draw");
    assert!(!compiles(0.5), "nothing changed");
    assert!(compiles(0.75), "the constant was specialised");
    for time in [0.8, 1e9, 1.5e-38, 0.5] {
        assert!(!compiles(time), "{time} is in the range of the symbolic constant");
    }
    // A new sign may compile, but only once.
    compiles(-1.0);
    assert!(!compiles(-2.0) && !compiles(0.25));
}

/// In the background, an animation moves to machine code, too, although each of its pictures is drawn once.
#[test]
fn an_animation_moves_to_machine_code() {
    if !is_here() {
        return;
    }
    let options = Options { threads: 1, ..Options::default() };
    let mut scene = Scene::new("scene_plasma", [1024, 600]);
    let jit = Jit::new();
    let start = Instant::now();
    for n in 0.. {
        assert!(start.elapsed() < Duration::from_secs(60), "{n} pictures");
        scene.bindings.set_constant(0, [0.3 + 1e-4 * n as f32, 0.0, 0.0, 0.0]).unwrap();
        let draw = scene.draw(&options);
        let prepared = jit.prepare(draw);
        // From the first pixel on.
        if prepared.run_info().engine == "jit" {
            break;
        }
        draw_into(&*prepared, &draw, &mut scene.frame(&options)).unwrap();
    }
}

/// Small pictures count together, although each is a draw of its own: none of them pays for compilation alone.
#[test]
fn small_drawings_of_a_shader_move_to_machine_code_together() {
    if !is_here() {
        return;
    }
    let options = Options::default();
    let scene = Scene::new("scene_plasma", [64, 64]);
    let jit = Jit::new();
    let start = Instant::now();
    let mut engines = Vec::new();
    while engines.last() != Some(&"jit") {
        assert!(start.elapsed() < Duration::from_secs(60), "{} drawings", engines.len());
        let draw = scene.draw(&options);
        let prepared = jit.prepare(draw);
        draw_into(&*prepared, &draw, &mut scene.frame(&options)).unwrap();
        engines.push(prepared.run_info().engine);
    }
    // The first draw does not pay.
    assert_eq!(engines.first(), Some(&"fast"));
}

#[test]
fn a_drawing_takes_new_bindings_and_refuses_what_it_was_not_prepared_for() {
    let options = Options::default();
    let compiled = Jit::with(Simd::detect(), before(Effort::Full));
    let by = draws(&compiled);
    // The pictures are too small for machine code in the background: by the fast engine, from a function with uniforms.
    for (jit, by) in [(Jit::new(), "fast"), (compiled, by)] {
        let mut scene = Scene::new("scene_plasma", [40, 24]);
        let shader = scene.shader.clone();
        let mut drawing = Drawing::new(&jit, shader, &scene.bindings, options.clone()).unwrap();
        let mut frame = scene.frame(&options);
        for n in 0..5_u8 {
            scene.bindings.set_constant(0, [0.3 + 0.07 * f32::from(n), 0.0, 0.0, 0.0]).unwrap();
            drawing.draw_into(&scene.bindings, &mut frame).unwrap();
            frame.run_info.drawn_by(by).unwrap();
            assert_eq!(bits(&frame), scene.reference(), "picture {n}");
        }
        let prepared = jit.prepare(scene.draw(&options));
        scene.bindings.set_int_constant(3, Default::default()).unwrap();
        let refused = draw_into(&*prepared, &scene.draw(&options), &mut frame);
        assert_eq!(refused, Err(RunError::NotPrepared));
    }
}

/// After a constant has changed twice, its other values take no lift, no compilation and no other code, in both engines.
#[test]
fn a_constant_that_changes_is_a_uniform_of_the_prepared_draw() {
    let options = Options::default();
    let jit = Jit::with(Simd::detect(), before(Effort::Full));
    for (engine, by) in [(&jit as &dyn Engine, draws(&jit)), (&Fast::new(), "fast")] {
        let mut scene = Scene::new("scene_plasma", [40, 24]);
        let mut prepared = engine.prepare(scene.draw(&options));
        let mut misses = Vec::new();
        for n in 0..8_u8 {
            scene.bindings.set_constant(0, [0.3 + 0.07 * f32::from(n), 0.0, 0.0, 0.0]).unwrap();
            let draw = scene.draw(&options);
            if !prepared.update(&draw) {
                assert!(n < 2, "picture {n} is prepared again");
                prepared = engine.prepare(draw);
            }
            let got = pixels(by, &*prepared, &draw, &mut scene.frame(&options)).unwrap();
            assert_eq!(got, scene.reference(), "picture {n}");
            misses.push(jit.cache_use().misses);
        }
        assert_eq!(misses[2], misses[7]);
        // A value outside of the ranges, and a constant that has not changed before.
        scene.bindings.set_constant(0, [f32::NAN, -0.0, 1e-40, -7.0]).unwrap();
        let draw = scene.draw(&options);
        if !prepared.update(&draw) {
            prepared = engine.prepare(draw);
        }
        let got = pixels(by, &*prepared, &draw, &mut scene.frame(&options)).unwrap();
        assert_eq!(got, scene.reference());
    }
}

#[test]
fn tiles_threads_and_areas_do_not_show() {
    if !is_here() {
        return;
    }
    for name in ["loop_mandelbrot", "if_nested6", "tex_branch"] {
        let scene = Scene::new(name, [133, 71]);
        let all = Options { threads: 1, ..Options::default() };
        let draw = scene.draw(&all);
        let jit = Jit::with(Simd::detect(), before(Effort::Full));
        let mut whole = scene.frame(&all);
        pixels("jit", &*jit.prepare(draw), &draw, &mut whole).unwrap();
        for (x, y, width, height, threads) in
            [(0, 0, 133, 71, 3), (5, 17, 90, 40, 2), (1, 1, 1, 1, 1)]
        {
            let area = Some(PixelRect { x, y, width, height });
            let options = Options { area, threads, ..Options::default() };
            let draw = scene.draw(&options);
            let mut part = scene.frame(&options);
            pixels("jit", &*jit.prepare(draw), &draw, &mut part).unwrap();
            for (dx, dy) in (0..width).flat_map(|dx| (0..height).map(move |dy| (dx, dy))) {
                let (got, wanted) = (part.color(0, dx, dy), whole.color(0, x + dx, y + dy));
                assert_eq!(got.map(f32::to_bits), wanted.map(f32::to_bits), "{name} {dx},{dy}");
            }
        }
    }
}

/// Adjacent batches are drawn by one call: with interpolants, discards, textures and loops, from a column that is not the start of a batch,
/// and with pixels left over on the right and above.
#[test]
fn rows_of_adjacent_batches_draw_what_the_reference_engine_draws() {
    let areas = [
        (PixelRect { x: 0, y: 0, width: 200, height: 37 }, [200, 37]),
        (PixelRect { x: 70, y: 16, width: 190, height: 16 }, [300, 40]),
    ];
    for name in ["alu_fragcoord", "discard_simple", "discard_branch", "tex_mips", "loop_continue"] {
        for (area, size) in areas {
            let scene = Scene::new(name, size);
            let options = Options { area: Some(area), ..Options::default() };
            let draw = scene.draw(&options);
            let mut wanted = scene.frame(&options);
            draw_into(&*Reference.prepare(draw), &draw, &mut wanted).unwrap();
            for simd in Simd::available() {
                let jit = Jit::with(simd, before(Effort::Full));
                let fast: (_, Box<dyn Engine>) = ("fast", Box::new(Fast::with(simd)));
                let jit: (_, Box<dyn Engine>) = (draws(&jit), Box::new(jit));
                for (by, engine) in [jit, fast] {
                    let prepared = engine.prepare(draw);
                    let mut frame = scene.frame(&options);
                    // The second time with used memory.
                    for _ in 0..2 {
                        let colors = pixels(by, &*prepared, &draw, &mut frame).unwrap();
                        let reference = wanted.target(0).unwrap().iter().flatten();
                        let same = colors
                            .iter()
                            .eq(reference.map(|x| x.to_bits()).collect::<Vec<_>>().iter());
                        assert!(same, "{name} {area:?} {} {simd:?}", engine.name());
                        assert_eq!(frame.coverage(), wanted.coverage(), "{name} {simd:?}");
                        assert_eq!(
                            frame.counters.killed, wanted.counters.killed,
                            "{name} {simd:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn limits_strike_inside_machine_code() {
    if !is_here() {
        return;
    }
    // Nested loops with divergent exits, all in one call.
    let job = capture("loop_nested_inner");
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [16, 16]).unwrap();
    let run = |options: &Options<'_>| {
        let draw = Draw::new(&shader, &bindings, options).unwrap();
        let prepared = Jit::with(Simd::detect(), before(Effort::Full)).prepare(draw);
        assert_eq!(prepared.run_info().engine, "jit");
        let mut frame = Frame::new(&shader, &bindings, options).unwrap();
        draw_into(&*prepared, &draw, &mut frame).map(|()| frame.counters.instructions)
    };
    let limits = |instructions, time| Options {
        limits: Limits { instructions, time, ..Limits::default() },
        threads: 1,
        ..Options::default()
    };
    let spent = run(&limits(u64::MAX, None)).unwrap();
    assert!(run(&limits(spent, None)).is_ok());
    let error = run(&limits(10, None)).unwrap_err();
    assert!(matches!(error, RunError::Instructions { limit: 10, pixel: [0, 0], .. }), "{error:?}");
    let time = Duration::ZERO;
    assert_eq!(run(&limits(u64::MAX, Some(time))), Err(RunError::Time { limit: time }));
    let cancel = Cancel::default();
    cancel.cancel();
    let options = Options { cancel: Some(&cancel), ..limits(u64::MAX, None) };
    assert_eq!(run(&options), Err(RunError::Cancelled));
}

/// While forms of code compete, and after one of them has won, pictures and counted instructions are the same as with either form.
#[test]
fn contests_show_neither_in_pictures_nor_in_counts() {
    let options = Options { threads: 2, ..Options::default() };
    let levels = [Simd::Avx2, Simd::Avx512].into_iter().filter(|simd| simd.is_available());
    let names = [
        "loop_three",
        "loop_idle_inner",
        "loop_uniform",
        "return_loop",
        "discard_branch",
        "tex_dependent",
    ];
    for (name, simd) in names.into_iter().flat_map(|name| levels.clone().map(move |s| (name, s))) {
        // Enough to compile the other form, then more batches than a contest has rounds.
        let scene = Scene::new(name, [256, 256]);
        let (draw, wanted) = (scene.draw(&options), scene.wanted());
        let count = |groups, pictures: usize| {
            let jit = Jit::with(simd, Settings { groups, ..before(Effort::Full) });
            let prepared = jit.prepare(draw);
            let counts = (0..pictures).map(|_| {
                let mut frame = scene.frame(&options);
                let got = pixels("jit", &*prepared, &draw, &mut frame).unwrap();
                assert_eq!(got, wanted, "{name}");
                frame.counters.instructions
            });
            counts.collect::<Vec<_>>()
        };
        let one = count(Groups::One, 1)[0];
        assert_eq!(count(Groups::Two, 1), [one], "{name}, {simd:?}");
        assert_eq!(count(Groups::Four, 1), [one], "{name}, {simd:?}");
        assert_eq!(count(Groups::Contest, 5), [one; 5], "{name}, {simd:?}");
    }
}

/// Random programs with nested branches and loops: two and four interleaved groups count the same instructions as one group, and stop at
/// the same limits.
#[test]
fn forms_of_code_count_alike() {
    let options = Options { threads: 1, ..Options::default() };
    let levels = [Simd::Avx2, Simd::Avx512].into_iter().filter(|simd| simd.is_available());
    let mut counted = 0;
    for seed in 0..60 {
        let shape = Shape { instructions: 80, depth: 4, ..Shape::default() };
        let job = Case::generate(&mut Rng::new(seed), &shape).bare_job("generated");
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [40, 24]).unwrap();
        for simd in levels.clone() {
            let run = |groups, instructions| {
                let limits = Limits { instructions, ..Limits::default() };
                let options = Options { limits, ..options.clone() };
                let draw = Draw::new(&shader, &bindings, &options).unwrap();
                let jit = Jit::with(simd, Settings { groups, ..before(Effort::Full) });
                let mut frame = Frame::new(&shader, &bindings, &options).unwrap();
                let prepared = jit.prepare(draw);
                prepared.run_info().drawn_by("jit").unwrap();
                let drawn = draw_into(&*prepared, &draw, &mut frame);
                drawn.ok().map(|()| frame.counters.instructions)
            };
            let Some(one) = run(Groups::One, 1 << 20) else { continue };
            for groups in [Groups::Two, Groups::Four] {
                assert_eq!(run(groups, 1 << 20), Some(one), "seed {seed}, {simd:?}, {groups:?}");
            }
            counted += 1;
            for limit in [one / 2, one / 3, one / 8] {
                let stops = [Groups::One, Groups::Two, Groups::Four]
                    .map(|groups| run(groups, limit).is_none());
                assert_eq!(stops, [stops[0]; 3], "seed {seed}, {simd:?}, limit {limit} of {one}");
            }
        }
    }
    let most = 60 * levels.count();
    assert!(counted * 2 >= most, "only {counted} of {most} end");
}

/// A sum of products whose factors are zero in one column of the picture or in one row, and negative on one side: -0 without the zero rule.
#[test]
fn zero_times_a_negative_number_is_positive_zero() {
    let limits = r500_formats::Limits::default();
    let job = r500_formats::read(include_bytes!("zero_products.json"), None, &limits).unwrap();
    let scene = Scene::of(&job[0], [32, 32]);
    let (options, wanted) = (Options::default(), scene.wanted());
    let of = |x: f32| wanted.iter().filter(|bits| **bits == x.to_bits()).count();
    assert_eq!((of(0.0), of(-0.0)), (4 * (32 + 31), 0), "a column and a row");
    let draw = scene.draw(&options);
    for simd in [Simd::Avx2, Simd::Avx512] {
        for execution in [Execution::Native, Execution::Emulated] {
            for groups in [Groups::One, Groups::Two] {
                let settings = Settings { groups, execution, ..before(Effort::Full) };
                let jit = Jit::with(simd, settings);
                if jit.unavailable().is_some() {
                    continue;
                }
                let drawn = pixels("jit", &*jit.prepare(draw), &draw, &mut scene.frame(&options));
                assert!(drawn.unwrap() == wanted, "{simd:?}, {execution:?}, {groups:?}");
            }
        }
    }
}
