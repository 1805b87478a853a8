//! A compiler whose kernels interpret units: the listed reads and writes suffice, and pictures are the same however a function is
//! partitioned.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use r500_exec::reference::Reference;
use r500_exec::texture::TexReadings;
use r500_exec::{
    Bindings, Cancel, Draw, Frame, Limits, Options, RunError, Shader, draw, draw_into,
};
use r500_fast::codegen::{
    Batch, Chunk, ColorStore, CompileUnit, Compiler, Kernel, PhiMove, PlanePixels, ResourceLayout,
    TextureDesc,
};
use r500_fast::{FastDraw, NativeCode, Simd};
use r500_ir::{Inst, Opcode, Stmt, Value, Values};
use r500_lift::{LiftInput, lift};
use r500_program::Job;

use super::evaluate::{Interpreter, Resources};
use super::textures::Samplers;

/// A compiler that interprets units.
struct Interpreting {
    samplers: Arc<Samplers>,
    /// Refuses every n-th unit.
    refuses: Option<usize>,
    /// Does not support multiply-adds.
    leaves_mads: bool,
    asked: AtomicUsize,
}

impl Interpreting {
    fn new(bindings: &Bindings, refuses: Option<usize>, leaves_mads: bool) -> Self {
        let samplers = std::array::from_fn(|unit| bindings.sampler(unit).cloned());
        Self { samplers: Arc::new(samplers), refuses, leaves_mads, asked: AtomicUsize::new(0) }
    }
}

impl Compiler for Interpreting {
    fn supports(&self, inst: &Inst) -> bool {
        !(self.leaves_mads && matches!(inst.opcode, Opcode::Mad(..)))
    }

    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let mut slots: Vec<u32> =
            unit.reads.iter().chain(unit.writes).map(|(_, slot)| *slot).collect();
        let all = slots.len();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), all, "a slot serves twice");
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if self.refuses.is_some_and(|each| asked.is_multiple_of(each)) {
            return None;
        }
        Some(Arc::new(Interpreted {
            samplers: Arc::clone(&self.samplers),
            body: unit.body.iter().map(|&stmt| stmt.clone()).collect(),
            reads: unit.reads.to_vec(),
            writes: unit.writes.to_vec(),
            moves: unit.moves.to_vec(),
            colors: unit.colors.to_vec(),
            stride: unit.stride,
            fuel_checked: unit.fuel_checked,
            tables: unit.tables.to_vec(),
            interpolants: unit.interpolants.to_vec(),
            values: unit.values.clone(),
        }))
    }
}

/// A unit that owns its data.
struct Interpreted {
    samplers: Arc<Samplers>,
    body: Vec<Stmt>,
    reads: Vec<(Value, u32)>,
    writes: Vec<(Value, u32)>,
    moves: Vec<PhiMove>,
    colors: Vec<ColorStore>,
    stride: u32,
    fuel_checked: bool,
    tables: Vec<(u8, TextureDesc)>,
    interpolants: Vec<[u8; 2]>,
    values: Values,
}

impl Kernel for Interpreted {
    fn run(&self, batch: &mut Batch<'_, '_>, (first, end): (usize, usize)) -> Result<(), RunError> {
        let body: Vec<&Stmt> = self.body.iter().collect();
        let unit = CompileUnit {
            body: &body,
            reads: &self.reads,
            writes: &self.writes,
            moves: &self.moves,
            colors: &self.colors,
            stride: self.stride,
            fuel_checked: self.fuel_checked,
            tables: &self.tables,
            interpolants: &self.interpolants,
            values: &self.values,
        };
        let Batch { slots, covered, interpolants, fuel, targets, .. } = batch;
        let places = targets.offsets.chunks();
        let resources = Resources { samplers: &self.samplers, interpolants, places };
        let chunks = self.stride as usize / size_of::<Chunk>();
        let mut most = (0, 0);
        for chunk in first..end {
            let before = covered[chunk].map(f32::to_bits).to_vec();
            let mut interpreter =
                Interpreter::new(&unit, resources, chunk * covered[chunk].len(), before);
            interpreter.limit = fuel.remaining();
            let at = |slot: u32| slot as usize * chunks + chunk;
            let written =
                interpreter.unit(&unit, |slot| slots[at(slot)].map(f32::to_bits).to_vec());
            for (slot, lanes) in written {
                slots[at(slot)] = std::array::from_fn(|lane| f32::from_bits(lanes[lane]));
            }
            covered[chunk] = std::array::from_fn(|lane| f32::from_bits(interpreter.covered[lane]));
            for color in &self.colors {
                let plane = &mut targets.planes[usize::from(color.target)].pixels;
                let PlanePixels::Floats(plane) = plane else { panic!("{plane:?}") };
                interpreter.store_color(color, plane);
            }
            most = most.max(interpreter.spent);
        }
        if self.fuel_checked { fuel.consume(most.0, most.1) } else { Ok(()) }
    }
}

/// Captures with straight-line arithmetic, branches, loops with constant and divergent trip counts, fetches inside of them, discards.
const CAPTURES: [&str; 9] = [
    "alu_matrix",
    "if_nested6",
    "loop_mandelbrot",
    "scene_plasma",
    "scene_voronoi",
    "tex_filters",
    "tex_branch",
    "discard_branch",
    "loop_in_branch",
];

fn capture(name: &str) -> Job {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/");
    let bytes = std::fs::read(format!("{root}{name}.json")).unwrap();
    r500_formats::read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0)
}

fn bits(frame: &Frame) -> Vec<Vec<u32>> {
    let targets = (0..4).filter_map(|n| frame.target(n));
    targets.map(|pixels| pixels.iter().flatten().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn pictures_are_the_same_however_they_are_cut() {
    for name in CAPTURES {
        let job = capture(name);
        let size = [37, 21];
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, size).unwrap();
        let options = Options { threads: 1, ..Options::default() };
        let wanted = draw(&Reference, &shader, &bindings, &options).unwrap();
        let drawing = Draw::new(&shader, &bindings, &options).unwrap();
        let function = lift(&LiftInput::of_draw(&drawing).unwrap()).unwrap();
        for (refuses, leaves_mads) in
            [(None, false), (None, true), (Some(1), false), (Some(2), false), (Some(2), true)]
        {
            let compiler = Interpreting::new(&bindings, refuses, leaves_mads);
            let resources = ResourceLayout::of(&function, &bindings, &TexReadings::REFERENCE);
            let simd = Simd::detect();
            let code = NativeCode::compile(&function, &[], &resources, simd, &compiler);
            let (machine, all) = code.coverage();
            let batches = FastDraw::new(&drawing, NativeCode::batch(&function, &[], simd), simd);
            let mut frame = Frame::new(&shader, &bindings, &options).unwrap();
            draw_into(&batches, &drawing, &mut frame).unwrap();
            assert_eq!(bits(&frame), bits(&wanted), "{name}");
            batches.replace_code(code, simd);
            draw_into(&batches, &drawing, &mut frame).unwrap();
            assert_eq!(bits(&frame), bits(&wanted), "{name}, {refuses:?}, {leaves_mads}");
            assert_eq!(frame.counters.killed, wanted.counters.killed);
            match (refuses, leaves_mads) {
                (None, false) => assert_eq!(machine, all, "{name}"),
                (Some(1), _) => assert_eq!(machine, 0, "{name}"),
                _ => assert!(machine < all, "{name}"),
            }
        }
    }
}

#[test]
fn limits_strike_inside() {
    let job = capture("loop_mandelbrot");
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [16, 16]).unwrap();
    let run = |options: &Options<'_>| {
        let drawing = Draw::new(&shader, &bindings, options).unwrap();
        let function = lift(&LiftInput::of_draw(&drawing).unwrap()).unwrap();
        let interpreter = Interpreting::new(&bindings, None, false);
        let code = NativeCode::compile(
            &function,
            &[],
            &ResourceLayout::default(),
            Simd::Portable,
            &interpreter,
        );
        let batches = FastDraw::new(&drawing, code, Simd::Portable);
        let mut frame = Frame::new(&shader, &bindings, options).unwrap();
        draw_into(&batches, &drawing, &mut frame).map(|()| frame.counters.instructions)
    };
    let options = Options { threads: 1, ..Options::default() };
    let spent = run(&options).unwrap();
    let with = |instructions| Options {
        limits: Limits { instructions, ..Limits::default() },
        ..options.clone()
    };
    assert_eq!(run(&with(spent)), Ok(spent));
    let error = run(&with(spent - 1)).unwrap_err();
    assert!(
        matches!(error, RunError::Instructions { pixel: [0, 0], limit, .. } if limit == spent - 1)
    );
    let cancel = Cancel::default();
    cancel.cancel();
    assert_eq!(run(&Options { cancel: Some(&cancel), ..options }), Err(RunError::Cancelled));
}
