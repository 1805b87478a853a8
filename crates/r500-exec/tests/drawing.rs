//! Drawings: bindings that change between pictures, surfaces of the caller, bands with a scheduler of the caller.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/surface.rs"]
mod surface;

use common::capture;
use r500_exec::output::color;
use r500_exec::reference::Reference;
use r500_exec::{
    BindError, Bindings, ColorSurface, Draw, Drawing, Engine, Frame, Options, PixelRect, Plane,
    RunError, Shader, Surfaces, draw, draw_into,
};
use r500_isa::state::UsOutFmt;
use r500_isa::values::OutFormat;
use r500_program::{Input, InputData, Job, Texture};
use surface::{BACKGROUND, format, stored};

const SIZE: [u32; 2] = [37, 21];
const AREA: PixelRect = PixelRect { x: 5, y: 3, width: 29, height: 17 };

fn whole(job: &Job) -> (Bindings, Frame) {
    let bindings = Bindings::new(job, SIZE).unwrap();
    let frame = draw(&Reference, &shader(job), &bindings, &Options::default()).unwrap();
    (bindings, frame)
}

fn shader(job: &Job) -> Shader {
    Shader::new(&job.program).unwrap()
}

fn drawing(job: &Job, bindings: &Bindings) -> Drawing<'static> {
    Drawing::new(&Reference, shader(job), bindings, Options::default()).unwrap()
}

#[test]
fn numbers_out_of_range_are_typed_errors() {
    let (mut bindings, _) = whole(&capture("scene_plasma"));
    let number = |what, number, last| Err(BindError::Number { what, number, last });
    assert_eq!(bindings.set_constant(256, [0.0; 4]), number("float constant", 256, 255));
    assert_eq!(
        bindings.set_int_constant(32, Default::default()),
        number("integer constant", 32, 31)
    );
    assert_eq!(bindings.set_bool_constant(32, true), number("boolean constant", 32, 31));
    assert_eq!(bindings.set_sampler(16, None), number("texture unit", 16, 15));
    let nothing = bindings.set_texture(16, &Texture::default(), None);
    assert_eq!(nothing, number("texture unit", 16, 15));
    let nothing = bindings.set_texture(3, &Texture::default(), None);
    assert!(matches!(nothing, Err(BindError::Texture { unit: 3, .. })), "{nothing:?}");
    let values = |width| InputData::Values { width, values: vec![[0.0; 4]; 6] };
    let input = |temp, width| Input { temp, data: values(width) };
    assert_eq!(bindings.set_input(input(128, 3)), Err(BindError::InputTemp { temp: 128 }));
    let rows = BindError::InputRows { temp: 1, count: 6, width: 4 };
    assert_eq!(bindings.set_input(input(1, 4)), Err(rows));
    let coverage = BindError::CoverageSize { given: 9, width: 37, height: 21 };
    assert_eq!(bindings.set_coverage(Some(vec![true; 9])), Err(coverage));
}

#[test]
fn setters_change_what_is_read() {
    let (mut bindings, _) = whole(&capture("scene_plasma"));
    bindings.set_constant(255, [1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(bindings.constant(255), Some([1.0, 2.0, 3.0, 4.0]));
    bindings.set_bool_constant(31, true).unwrap();
    bindings.set_bool_constant(0, true).unwrap();
    bindings.set_bool_constant(31, false).unwrap();
    assert_eq!(bindings.bool_constants().unwrap().0, 1);
    let values = vec![[0.5; 4]; 37 * 21];
    bindings.set_input(Input { temp: 0, data: InputData::Values { width: 37, values } }).unwrap();
    bindings.input_values_mut(0).unwrap()[38] = [7.0; 4];
    let input = bindings.inputs().iter().find(|input| input.temp == 0).unwrap();
    assert_eq!(bindings.input(input, 1, 1), [7.0; 4]);
    assert!(bindings.input_values_mut(1).is_none());
    bindings.set_coverage(Some(vec![false; 37 * 21])).unwrap();
    bindings.coverage_mut().unwrap()[38] = true;
    assert!(bindings.covers(1, 1) && !bindings.covers(0, 1));
    bindings.set_size([8, 8]);
    assert!(bindings.covers_all());
}

#[test]
fn a_drawing_follows_its_bindings() {
    let job = capture("scene_plasma");
    let (mut bindings, _) = whole(&job);
    let mut drawing = drawing(&job, &bindings);
    let mut frame = drawing.frame(&bindings).unwrap();
    for time in [0.25, 2.5] {
        bindings.set_constant(0, [time, 0.0, 0.0, 0.0]).unwrap();
        drawing.draw_into(&bindings, &mut frame).unwrap();
        let wanted = draw(&Reference, &shader(&job), &bindings, &Options::default()).unwrap();
        assert_eq!(frame.target(0), wanted.target(0));
    }
}

#[test]
fn surfaces_hold_what_each_format_stores() {
    // Captures with kills, with full coverage, and with values out of range.
    for name in ["discard_simple", "scene_plasma", "tex_mips"] {
        let job = capture(name);
        let (bindings, frame) = whole(&job);
        let mut drawing = drawing(&job, &bindings);
        for layout in color::LAYOUTS {
            for (selects, sign) in [([0, 1, 2, 3], 0), ([2, 1, 0, 3], 0), ([3, 3, 1, 2], 0b0101)] {
                let format = format(layout.format, selects, sign);
                let pitch = AREA.width as usize * layout.bytes + 3;
                let wanted = stored(&frame, AREA, format, pitch);
                let mut bytes = vec![BACKGROUND; wanted.len()];
                let surface = ColorSurface { format, bytes: &mut bytes, pitch };
                drawing.draw_to(&bindings, &mut Surfaces::color(AREA, surface)).unwrap();
                assert!(bytes == wanted, "{name}, {:?}, {selects:?}", layout.format);
            }
        }
    }
}

#[test]
fn rgba8_and_bgra8_name_their_order() {
    let job = capture("scene_plasma");
    let (bindings, _) = whole(&job);
    let mut drawing = drawing(&job, &bindings);
    let (mut rgba, mut bgra) = ([0; 4], [0; 4]);
    let area = PixelRect { x: 30, y: 2, width: 1, height: 1 };
    for surface in [ColorSurface::rgba8(&mut rgba, 4), ColorSurface::bgra8(&mut bgra, 4)] {
        drawing.draw_to(&bindings, &mut Surfaces::color(area, surface)).unwrap();
    }
    assert_ne!(rgba[0], rgba[2], "the pixel does not show the order");
    assert_eq!([rgba[2], rgba[1], rgba[0], rgba[3]], bgra);
}

#[test]
fn coverage_and_depth_have_rows_of_their_own() {
    let job = capture("discard_simple");
    let (mut bindings, _) = whole(&job);
    let mask: Vec<bool> = (0..37 * 21).map(|n| n % 3 != 0).collect();
    bindings.set_coverage(Some(mask)).unwrap();
    let wanted = draw(&Reference, &shader(&job), &bindings, &Options::default()).unwrap();
    let mut drawing = drawing(&job, &bindings);
    let mut values = vec![false; 40 * AREA.height as usize];
    let mut surfaces = Surfaces {
        area: AREA,
        colors: [None, None, None, None],
        depth: None,
        coverage: Some(Plane { values: &mut values, pitch: 40 }),
    };
    drawing.draw_to(&bindings, &mut surfaces).unwrap();
    for y in 0..AREA.height as usize {
        let from = (AREA.y as usize + y) * 37 + AREA.x as usize;
        let row = &values[y * 40..y * 40 + AREA.width as usize];
        assert_eq!(row, &wanted.coverage()[from..from + AREA.width as usize]);
    }
    assert!(values.contains(&true));
}

#[test]
fn memory_that_is_too_small_is_refused_before_anything_is_stored() {
    let job = capture("scene_plasma");
    let (bindings, _) = whole(&job);
    let mut drawing = drawing(&job, &bindings);
    let mut run = |bytes: usize, pitch: usize, area: PixelRect| {
        let mut bytes = vec![0; bytes];
        let surface = ColorSurface::rgba8(&mut bytes, pitch);
        drawing.draw_to(&bindings, &mut Surfaces::color(area, surface)).map(|_| ())
    };
    let row = 29 * 4;
    assert_eq!(run(row * 17, row, AREA), Ok(()));
    let error = |given, pitch| RunError::SurfaceTooSmall {
        what: "colour target 0",
        unit: "bytes",
        given,
        rows: 17,
        row,
        pitch,
    };
    assert_eq!(run(row * 17 - 1, row, AREA), Err(error(row * 17 - 1, row)));
    assert_eq!(run(row * 17, row - 1, AREA), Err(error(row * 17, row - 1)));
    assert_eq!(run(row * 17, usize::MAX, AREA), Err(error(row * 17, usize::MAX)));
    let outside = PixelRect { x: 30, ..AREA };
    let refused = RunError::AreaOutside { area: outside, width: 37, height: 21 };
    assert_eq!(run(row * 17, row, outside), Err(refused));
    let text = error(9, 4).to_string();
    assert_eq!(
        text,
        "colour target 0: 9 bytes do not hold 17 rows of 116 bytes, 4 from one to the next"
    );
}

#[test]
fn a_scheduler_of_ones_own_draws_the_same() {
    let job = capture("scene_plasma");
    let (bindings, wanted) = whole(&job);
    let mut drawing = drawing(&job, &bindings);
    let mut frame = drawing.frame(&bindings).unwrap();
    let painter = drawing.painter(&bindings).unwrap();
    let bands: Vec<_> = frame.bands(painter.band_rows()).collect();
    // The order of bands is arbitrary.
    for mut band in bands.into_iter().rev() {
        painter.draw_band(&mut band).unwrap();
    }
    assert_eq!(frame.target(0), wanted.target(0));
}

#[test]
fn a_pool_of_the_callers_draws_the_same() {
    let job = capture("scene_plasma");
    let bindings = Bindings::new(&job, [128, 96]).unwrap();
    let alone = Options { threads: 1, ..Options::default() };
    let wanted = draw(&Reference, &shader(&job), &bindings, &alone).unwrap();
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let frame =
        pool.install(|| draw(&Reference, &shader(&job), &bindings, &Options::default())).unwrap();
    assert_eq!(frame.target(0), wanted.target(0));
}

#[test]
fn draw_prepared_for_other_options_is_refused() {
    let job = capture("scene_plasma");
    let (bindings, mut frame) = whole(&job);
    let shader = shader(&job);
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    let prepared = Reference.prepare(draw);
    draw_into(&*prepared, &draw, &mut frame).unwrap();
    let other = Options { group: [8, 8], ..Options::default() };
    let draw = Draw::new(&shader, &bindings, &other).unwrap();
    assert_eq!(draw_into(&*prepared, &draw, &mut frame), Err(RunError::NotPrepared));
}

#[test]
fn a_format_that_stores_nothing_leaves_the_bytes() {
    let job = capture("scene_plasma");
    let (bindings, _) = whole(&job);
    let mut drawing = drawing(&job, &bindings);
    let format = UsOutFmt(0).with(UsOutFmt::OUT_FMT, OutFormat::UNUSED);
    let surface = ColorSurface { format, bytes: &mut [], pitch: 0 };
    drawing.draw_to(&bindings, &mut Surfaces::color(AREA, surface)).unwrap();
}
