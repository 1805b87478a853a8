//! Machine code stores to surfaces what [`color::store`] makes of the reference engine's frame: all formats, both levels, on the processor
//! and in the emulator.
#![cfg(all(target_arch = "x86_64", any(unix, windows)))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../r500-exec/tests/common/surface.rs"]
mod surface;

use common::capture;
use r500_exec::output::color;
use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, ColorSurface, Drawing, Frame, Options, PixelRect, Plane, RunError, Shader, Surfaces,
    draw,
};
use r500_fast::Simd;
use r500_isa::Instruction;
use r500_isa::state::UsOutFmt;
use r500_isa::values::OutFormat;
use r500_jit::{Effort, Execution, Groups, Jit, Settings, When};
use r500_program::{Input, InputData, Job, Program};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use surface::{BACKGROUND, format, stored};

/// Returns engines for each level: on the processor, if it has the level, with one group, and in the emulator with two.
fn engines() -> Vec<(String, Jit)> {
    let mut engines = Vec::new();
    for simd in [Simd::Avx512, Simd::Avx2] {
        for (execution, groups) in
            [(Execution::Native, Groups::One), (Execution::Emulated, Groups::Two)]
        {
            if execution == Execution::Native && !simd.is_available() {
                continue;
            }
            let when = When::Before(Effort::Quick);
            let settings = Settings { when, execution, groups, ..Settings::default() };
            let name = format!("{}, {execution:?}, {groups:?}", simd.name());
            engines.push((name, Jit::with(simd, settings)));
        }
    }
    engines
}

/// Component orders, with their sign bits.
const ORDERS: [([usize; 4], u8); 4] =
    [([0, 1, 2, 3], 0), ([2, 1, 0, 3], 0b0001), ([3, 3, 1, 2], 0b0101), ([1, 0, 3, 2], 0b1111)];

/// Returns every format in all orders.
fn formats() -> Vec<UsOutFmt> {
    let of_layout = |layout: &color::Layout| {
        let format_of = layout.format;
        ORDERS.map(|(order, signs)| format(format_of, order, signs))
    };
    color::LAYOUTS.iter().flat_map(of_layout).collect()
}

/// Returns a format for each pixel size, and the one that machine code does not store.
fn few_formats() -> Vec<UsOutFmt> {
    use OutFormat as F;
    [F::C4_8, F::C2_4, F::C_16, F::C4_16_FP, F::C4_32_FP, F::C4_10_GAMMA]
        .map(|format_of| format(format_of, ORDERS[1].0, 0))
        .to_vec()
}

/// Returns whether machine code stores a format: not the sRGB curve of `C4_10_GAMMA`, and pixels of 1 and 2 bytes only if none is killed.
fn is_compiled(format: UsOutFmt, kills: bool) -> bool {
    format.out_fmt() != OutFormat::C4_10_GAMMA
        && (!kills || color::bytes_per_pixel(format).unwrap() >= 4)
}

fn count(frame: &Frame, area: PixelRect) -> usize {
    let pixels = (0..area.height).flat_map(|y| (0..area.width).map(move |x| (y, x)));
    let covered = |(y, x)| {
        frame.coverage()[(area.y + y) as usize * frame.width() as usize + (area.x + x) as usize]
    };
    pixels.filter(|at| covered(*at)).count()
}

/// Checks formats over areas of a picture, in all engines.
fn check(
    what: &str,
    job: &Job,
    bindings: &Bindings,
    (formats, units): (&[UsOutFmt], u64),
    areas: &[PixelRect],
) {
    let shader = Shader::new(&job.program).unwrap();
    let options = Options { threads: 1, ..Options::default() };
    let frame = draw(&Reference, &shader, bindings, &options).unwrap();
    let kills = frame.counters.killed > 0;
    for (engine, jit) in engines() {
        let mut drawing = Drawing::new(&jit, shader.clone(), bindings, options.clone()).unwrap();
        drawing.run_info().drawn_by("jit").unwrap();
        let mut compiled = jit.cache_use().misses;
        for &format in formats {
            for (number, &area) in areas.iter().enumerate() {
                let size = color::bytes_per_pixel(format).unwrap();
                let pitch = area.width as usize * size + [0, 3, 64][number % 3];
                let wanted = stored(&frame, area, format, pitch);
                let mut bytes = vec![BACKGROUND; wanted.len()];
                let mut covered = vec![true; area.width as usize * area.height as usize];
                let surface = ColorSurface { format, bytes: &mut bytes, pitch };
                let mut surfaces = Surfaces::color(area, surface);
                let width = area.width as usize;
                if number % 2 == 0 {
                    surfaces.coverage = Some(Plane { values: &mut covered, pitch: width });
                }
                let stats = drawing.draw_to(bindings, &mut surfaces).unwrap();
                let what = format!("{what}, {engine}, {:?}, {area:?}", format.out_fmt());
                if let Some(at) = (0..bytes.len()).find(|at| bytes[*at] != wanted[*at]) {
                    let (x, y) = (at % pitch / size, at / pitch);
                    let (x, y) = (x as u32, y as u32);
                    let color = frame.color(0, area.x + x, area.y + y);
                    let bits = color.map(f32::to_bits);
                    let (got, wanted) = (bytes[at], wanted[at]);
                    panic!(
                        "{what}: byte {at}, pixel {x}, {y} of {bits:x?}: {got:#x}, not {wanted:#x}"
                    );
                }
                if number % 2 == 0 {
                    let got = covered.iter().filter(|covered| **covered).count();
                    assert_eq!(got, count(&frame, area), "{what}: covered pixels");
                }
                if area.width == frame.width() && area.height == frame.height() {
                    assert_eq!(stats.counters.killed, frame.counters.killed, "{what}");
                }
            }
            // One unit for each encoding. Formats share a unit if they differ only in sign bits of components that they lack.
            let now = jit.cache_use().misses;
            assert!(now == compiled || is_compiled(format, kills), "{what}, {engine}: {format:?}");
            compiled = now;
        }
        assert!(compiled >= units, "{what}, {engine}: {compiled} units");
    }
}

/// Returns a program that copies an input to its output.
fn pass_through() -> Job {
    // OUT LAST src0.rgb = temp[0], src0.a = temp[0] : out[0].rgb = MAD src0.rgb 1 0, out[0].a = MAX src0.a src0.a ;
    let code = [0x78101, 0, 0, 0x00db_0220, 0x0000_c003, 0x0049_0000];
    Job::from_program(Program::from_code(vec![Instruction(code)]))
}

/// Returns a number: at the limits of formats, between their codes, or random.
fn value(random: &mut SplitMix64) -> f32 {
    const EDGES: [f32; 20] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.0,
        -1.0,
        2.0,
        -2.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        f32::MIN_POSITIVE,
        1e-40,
        -1e-40,
        65504.0,
        65519.996,
        65520.0,
        5.960_464_5e-8,
        2.980_232_2e-8,
    ];
    let number = random.next_u32();
    let sign = f32::from_bits(random.next_u32() & 1 << 31 | 1.0_f32.to_bits());
    match number % 4 {
        0 => EDGES[number as usize / 4 % EDGES.len()],
        // Next to the midpoint of two codes.
        1 => {
            let largest =
                [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 127.0, 255.0, 511.0, 1023.0, 2047.0, 65535.0];
            let largest = largest[number as usize / 4 % largest.len()];
            let code = (random.next_u32() % (largest as u32 + 1)) as f32;
            let middle = (code + 0.5) / largest;
            let steps = random.next_u32() % 5;
            sign * f32::from_bits((middle.to_bits() + steps).wrapping_sub(2))
        }
        2 => sign * (random.next_u32() as f32 / u32::MAX as f32) * 1.2,
        _ => f32::from_bits(random.next_u32()),
    }
}

fn rect(x: u32, y: u32, width: u32, height: u32) -> PixelRect {
    PixelRect { x, y, width, height }
}

#[test]
fn edge_values_and_random_ones_are_stored_as_the_reference_stores_them() {
    let [width, height] = [68, 36];
    let mut job = pass_through();
    let mut random = SplitMix64::seed_from_u64(7);
    let values = (0..width * height).map(|_| [(); 4].map(|()| value(&mut random))).collect();
    job.inputs = Some(vec![Input { temp: 0, data: InputData::Values { width, values } }]);
    let bindings = Bindings::new(&job, [width, height]).unwrap();
    let areas = [rect(0, 0, width, height), rect(3, 5, 61, 28)];
    // The unit for frames, and those for formats in different orders.
    check("values", &job, &bindings, (&formats(), 50), &areas);
}

#[test]
fn masks_leave_the_bytes_of_other_pixels() {
    let [width, height] = [68, 20];
    let mut job = pass_through();
    let mut random = SplitMix64::seed_from_u64(8);
    let values = (0..width * height).map(|_| [(); 4].map(|()| value(&mut random))).collect();
    job.inputs = Some(vec![Input { temp: 0, data: InputData::Values { width, values } }]);
    let mut bindings = Bindings::new(&job, [width, height]).unwrap();
    let mask = (0..width * height).map(|n| n % 64 > 40 || random.next_u32() % 3 == 0).collect();
    bindings.set_coverage(Some(mask)).unwrap();
    let areas = [rect(0, 0, width, height), rect(1, 2, 60, 17)];
    check("mask", &job, &bindings, (&few_formats(), 6), &areas);
}

#[test]
fn rows_of_batches_with_and_without_kills_are_stored() {
    for name in ["alu_basic", "discard_simple", "discard_branch", "tex_proj", "loop_continue"] {
        let job = capture(name);
        let [width, height] = [136, 21];
        let bindings = Bindings::new(&job, [width, height]).unwrap();
        let areas = [rect(0, 0, width, height), rect(20, 0, 116, 16), rect(5, 3, 77, 1)];
        check(name, &job, &bindings, (&few_formats(), 4), &areas);
    }
}

#[test]
fn targets_have_surfaces_of_their_own() {
    let job = capture("discard_simple");
    let bindings = Bindings::new(&job, [70, 33]).unwrap();
    let shader = Shader::new(&job.program).unwrap();
    let options = Options::default();
    let frame = draw(&Reference, &shader, &bindings, &options).unwrap();
    for (engine, jit) in engines() {
        let mut drawing = Drawing::new(&jit, shader.clone(), &bindings, options.clone()).unwrap();
        let format = format(OutFormat::C4_8, [0, 1, 2, 3], 0);
        let (mut first, mut second) =
            (vec![BACKGROUND; 70 * 33 * 4], vec![BACKGROUND; 70 * 33 * 4]);
        let area = rect(0, 0, 70, 33);
        let mut surfaces =
            Surfaces::color(area, ColorSurface { format, bytes: &mut first, pitch: 280 });
        // The program does not write target B: zeros where pixels are covered.
        surfaces.colors[1] = Some(ColorSurface { format, bytes: &mut second, pitch: 280 });
        drawing.draw_to(&bindings, &mut surfaces).unwrap();
        assert!(first == stored(&frame, area, format, 280), "{engine}");
        for (pixel, covered) in second.as_chunks::<4>().0.iter().zip(frame.coverage()) {
            assert_eq!(*pixel, if *covered { [0; 4] } else { [BACKGROUND; 4] }, "{engine}");
        }
    }
}

#[test]
fn hostile_pitches_and_slices_are_errors_or_do_not_matter() {
    let job = capture("alu_basic");
    let bindings = Bindings::new(&job, [96, 40]).unwrap();
    let shader = Shader::new(&job.program).unwrap();
    let frame = draw(&Reference, &shader, &bindings, &Options::default()).unwrap();
    for (engine, jit) in engines() {
        let mut drawing =
            Drawing::new(&jit, shader.clone(), &bindings, Options::default()).unwrap();
        let mut run = |bytes: &mut [u8], pitch: usize, area: PixelRect| {
            let surface = ColorSurface::rgba8(bytes, pitch);
            drawing.draw_to(&bindings, &mut Surfaces::color(area, surface)).map(|_| ())
        };
        let area = rect(0, 0, 96, 40);
        for (bytes, pitch) in [
            (96 * 40 * 4 - 1, 96 * 4),
            (96 * 40 * 4, 96 * 4 - 1),
            (96 * 40 * 4, 96 * 4 + 1),
            (96 * 40 * 4, usize::MAX),
            (96 * 40 * 4, usize::MAX / 39),
            (96 * 40 * 4, 1 << 32),
            (0, 0),
        ] {
            let result = run(&mut vec![BACKGROUND; bytes], pitch, area);
            let refused = matches!(result, Err(RunError::SurfaceTooSmall { .. }));
            assert!(refused, "{engine}: {bytes} bytes, pitch {pitch}: {result:?}");
        }
        let format = ColorSurface::rgba8(&mut [], 0).format;
        // A single row does not depend on the pitch, and the memory may be larger than the last row.
        for pitch in [0, 1, 96 * 4, 1 << 32, usize::MAX] {
            let area = rect(0, 16, 96, 1);
            let mut bytes = vec![BACKGROUND; 96 * 4 + 5];
            run(&mut bytes, pitch, area).unwrap();
            let wanted = stored(&frame, area, format, 96 * 4);
            assert!(bytes[..wanted.len()] == wanted, "{engine}, pitch {pitch}");
            assert!(bytes[wanted.len()..] == [BACKGROUND; 5], "{engine}, pitch {pitch}");
        }
    }
}

/// Constants that change are uniforms of the code for surfaces, too.
#[test]
fn constants_change_between_pictures() {
    let job = capture("scene_plasma");
    let mut bindings = Bindings::new(&job, [80, 40]).unwrap();
    let shader = Shader::new(&job.program).unwrap();
    for (engine, jit) in engines() {
        let mut drawing =
            Drawing::new(&jit, shader.clone(), &bindings, Options::default()).unwrap();
        for n in 0..5_u8 {
            bindings.set_constant(0, [0.3 + 0.07 * f32::from(n), 0.0, 0.0, 0.0]).unwrap();
            let frame = draw(&Reference, &shader, &bindings, &Options::default()).unwrap();
            let mut bytes = vec![0; 80 * 40 * 4];
            let surface = ColorSurface::bgra8(&mut bytes, 320);
            let format = surface.format;
            let area = rect(0, 0, 80, 40);
            drawing.draw_to(&bindings, &mut Surfaces::color(area, surface)).unwrap();
            assert!(bytes == stored(&frame, area, format, 320), "{engine}, picture {n}");
        }
    }
}

/// While code is being compiled, the fast engine draws the same bytes.
#[test]
fn pictures_of_surfaces_move_to_machine_code() {
    let job = capture("scene_raymarch");
    let bindings = Bindings::new(&job, [96, 64]).unwrap();
    let shader = Shader::new(&job.program).unwrap();
    let frame = draw(&Reference, &shader, &bindings, &Options::default()).unwrap();
    let jit = Jit::new();
    let mut drawing = Drawing::new(&jit, shader, &bindings, Options::default()).unwrap();
    let begin = std::time::Instant::now();
    let area = rect(0, 0, 96, 64);
    loop {
        let mut bytes = vec![0; 96 * 64 * 4];
        let surface = ColorSurface::rgba8(&mut bytes, 96 * 4);
        let format = surface.format;
        drawing.draw_to(&bindings, &mut Surfaces::color(area, surface)).unwrap();
        assert!(bytes == stored(&frame, area, format, 96 * 4));
        // Quick code for frames and for surfaces, and optimised code for surfaces. That for frames is not compiled if no draw waits for it.
        if jit.unavailable().is_some() || jit.cache_use().misses >= 3 {
            break;
        }
        assert!(begin.elapsed().as_secs() < 60, "{:?}", jit.cache_use());
    }
}
