//! Compile units by a compiler that only interprets: what they list as read and written is enough, and
//! pictures are the same however a function is cut.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use r500_formats::read;
use r500_isa::values::TexOp;
use r500_program::Job;

use super::*;
use crate::codegen::*;
use crate::draw::FastDraw;
use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, Cancel, Draw, Frame, Limits, Options, RunError, Shader, draw, draw_into,
};
use r500_ir::{Fetch, Inst, Opcode, Operand, Stmt, lift};
use r500_numerics::{Arith, canonical_nan};

const REFERENCE: Arith = Arith::REFERENCE;

/// Interprets units.
struct Interpreter {
    /// Refuses every so many-th unit.
    refuses: Option<usize>,
    /// Leaves multiply-adds to others.
    leaves_mads: bool,
    asked: AtomicUsize,
}

impl Interpreter {
    fn new(refuses: Option<usize>, leaves_mads: bool) -> Self {
        Self { refuses, leaves_mads, asked: AtomicUsize::new(0) }
    }
}

impl Compiler for Interpreter {
    fn supports(&self, inst: &Inst) -> bool {
        !(self.leaves_mads && matches!(inst.opcode, Opcode::Mad(..)))
    }

    fn supports_fetch(&self, _: &Fetch, table: &TextureDesc) -> bool {
        table.lod.is_none()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let slots = unit.reads.iter().chain(unit.writes).map(|(_, slot)| *slot);
        let slots: Vec<u32> = slots.collect();
        let mut unique = slots.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), slots.len(), "a slot serves twice");
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if self.refuses.is_some_and(|each| asked.is_multiple_of(each)) {
            return None;
        }
        Some(Arc::new(Interpreted {
            body: unit.body.iter().map(|&stmt| stmt.clone()).collect(),
            reads: unit.reads.to_vec(),
            writes: unit.writes.to_vec(),
            moves: unit.moves.to_vec(),
            colors: unit.colors.to_vec(),
            chunks: unit.stride as usize / size_of::<Chunk>(),
            fuel_checked: unit.fuel_checked,
            tables: unit.tables.to_vec(),
            interpolants: unit.interpolants.to_vec(),
            values: unit.values.len(),
        }))
    }
}

struct Interpreted {
    body: Vec<Stmt>,
    reads: Vec<(Value, u32)>,
    writes: Vec<(Value, u32)>,
    moves: Vec<PhiMove>,
    colors: Vec<ColorStore>,
    chunks: usize,
    fuel_checked: bool,
    tables: Vec<(u8, TextureDesc)>,
    interpolants: Vec<[u8; 2]>,
    values: usize,
}

impl Kernel for Interpreted {
    fn run(&self, batch: &mut Batch<'_, '_>, (first, end): (usize, usize)) -> Result<(), RunError> {
        let Batch { slots, covered, texels, interpolants, fuel, targets } = batch;
        let mut most = (0, 0);
        for chunk in first..end {
            // Values that a unit does not list as read are missing.
            let mut state = State {
                values: vec![None; self.values],
                spent: 0,
                address: 0,
                tables: &self.tables,
                texels,
                numbers: &self.interpolants,
                interpolants,
                halves: targets.offsets.chunks()[chunk],
                covered: &mut covered[chunk],
            };
            for &(value, slot) in &self.reads {
                let lanes = slots[slot as usize * self.chunks + chunk];
                state.values[value.0 as usize] = Some(lanes.map(f32::to_bits));
            }
            state.list(&self.body, fuel.left())?;
            for &(value, slot) in &self.writes {
                let lanes = state.get(Operand::Value(value)).map(f32::from_bits);
                slots[slot as usize * self.chunks + chunk] = lanes;
            }
            for &PhiMove { value, slot, mask, from } in &self.moves {
                let (from, mask) =
                    (state.get(from), mask.map_or([!0; LANES], |mask| state.get(mask)));
                let old = state.get(Operand::Value(value));
                let new = std::array::from_fn(|i| mask[i] & from[i] | !mask[i] & old[i]);
                state.set(value, new);
                slots[slot as usize * self.chunks + chunk] = new.map(f32::from_bits);
            }
            for &ColorStore { target, channels, non_nan, covered, .. } in &self.colors {
                let channels = channels.map(|channel| state.get(channel).map(f32::from_bits));
                for (lane, alive) in state.covered.iter().enumerate() {
                    let there = !covered || alive.to_bits() != 0;
                    // Left or right of the left or the right quad, in the upper or lower row of these.
                    let place = targets.offsets.chunks()[chunk][lane / 8];
                    let pixel =
                        place.rows[lane / 2 % 2] as usize / 16 + lane / 4 % 2 * 2 + lane % 2;
                    let color = channels.map(|channel| canonical_nan(channel[lane]));
                    let none = |(number, x): (bool, f32)| number && x.is_nan();
                    let seen = alive.to_bits() != 0;
                    assert!(!seen || !non_nan.into_iter().zip(color).any(none));
                    let plane = &mut targets.planes[usize::from(target)].pixels;
                    let PlanePixels::Floats(plane) = plane else { panic!("{plane:?}") };
                    plane[pixel] = if there { color } else { [0.0; 4] };
                }
            }
            most = most.max((state.spent, state.address));
        }
        if self.fuel_checked { fuel.consume(most.0, most.1) } else { Ok(()) }
    }
}

type Lanes = [u32; LANES];

struct State<'a> {
    values: Vec<Option<Lanes>>,
    spent: u64,
    address: u32,
    tables: &'a [(u8, TextureDesc)],
    texels: &'a [TexelView<'a>],
    numbers: &'a [[u8; 2]],
    interpolants: &'a [LinearInterpolant],
    halves: [PixelOffsets; 2],
    covered: &'a mut Chunk,
}

impl State<'_> {
    fn get(&self, operand: Operand) -> Lanes {
        match operand {
            Operand::Const(bits) => [bits; LANES],
            Operand::Value(value) => self.values[value.0 as usize].unwrap_or([0x7fc0_dead; LANES]),
        }
    }

    fn set(&mut self, value: Value, lanes: Lanes) {
        self.values[value.0 as usize] = Some(lanes);
    }

    fn list<'a>(
        &mut self,
        list: impl IntoIterator<Item = &'a Stmt>,
        left: u64,
    ) -> Result<(), RunError> {
        for stmt in list {
            match stmt {
                Stmt::Def(value, Inst { opcode: Opcode::Input { input, channel }, .. }) => {
                    let number = self.numbers.binary_search(&[*input, *channel]).unwrap();
                    let LinearInterpolant { x_terms, y_terms } = self.interpolants[number];
                    let lane = |lane: usize| {
                        let [column, row] =
                            self.halves[lane / 8].interpolants.map(|at| at as usize);
                        // Numbers of four bytes; those by row follow those by column.
                        let x_terms = x_terms.as_flattened()[column / 4 + lane % 8];
                        let y_terms = y_terms.as_flattened()[(row - 512) / 4 + lane % 8];
                        REFERENCE.add(x_terms, y_terms).to_bits()
                    };
                    self.set(*value, std::array::from_fn(lane));
                }
                Stmt::Def(value, inst) => {
                    let args = inst.args.map(|arg| self.get(arg));
                    let lane = |lane| evaluate(inst.opcode, args, lane);
                    self.set(*value, std::array::from_fn(lane));
                }
                Stmt::ConsumeFuel { instructions, address } => {
                    self.spent += u64::from(*instructions);
                    self.address = *address;
                    // The error is defs by the fuel.
                    if self.spent > left {
                        return Ok(());
                    }
                }
                Stmt::If(branch) => {
                    for phi in &branch.phis {
                        if let Some(before) = phi.incoming {
                            self.set(phi.value, self.get(before));
                        }
                    }
                    for (arm, stmts) in branch.arms.iter().enumerate() {
                        let mask = self.get(branch.masks[arm]);
                        if mask == [0; LANES] {
                            continue;
                        }
                        self.list(stmts, left)?;
                        for phi in &branch.phis {
                            let Some(from) = phi.arms[arm] else { continue };
                            let (from, old) = (self.get(from), self.get(Operand::Value(phi.value)));
                            let lane = |i: usize| mask[i] & from[i] | !mask[i] & old[i];
                            self.set(phi.value, std::array::from_fn(lane));
                        }
                    }
                }
                Stmt::Loop(repeat) => {
                    for param in &repeat.params {
                        self.set(param.value, self.get(param.init));
                    }
                    for _ in 0..repeat.max_trips {
                        self.list(&repeat.body, left)?;
                        let next: Vec<_> =
                            repeat.params.iter().map(|param| self.get(param.next)).collect();
                        let again = repeat.continue_mask.map(|mask| self.get(mask));
                        for (param, next) in repeat.params.iter().zip(next) {
                            self.set(param.value, next);
                        }
                        if again == Some([0; LANES]) || self.spent > left {
                            break;
                        }
                    }
                }
                Stmt::Fetch(fetch) => self.fetch(fetch),
                Stmt::Discard(mask) => {
                    let mask = self.get(*mask);
                    for (covered, mask) in self.covered.iter_mut().zip(mask) {
                        *covered = f32::from_bits(covered.to_bits() & !mask);
                    }
                }
                other => panic!("{other:?} in a unit"),
            }
        }
        Ok(())
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let table = self.tables.iter().find(|(unit, _)| *unit == fetch.unit).unwrap().1;
        let texels = self.texels[usize::from(fetch.unit)];
        let [s, t, _, q] = fetch.strq.map(|operand| self.get(operand));
        let texels: [[f32; 4]; LANES] = std::array::from_fn(|lane| {
            let place = [s, t].map(|x| {
                let x = f32::from_bits(x[lane]);
                let project = fetch.op == TexOp::PROJ;
                if project { REFERENCE.div(x, f32::from_bits(q[lane])) } else { x }
            });
            look_up(&table, texels, fetch.unscaled, place)
        });
        for (channel, value) in fetch.texel.iter().enumerate() {
            if let Some(value) = value {
                self.set(*value, texels.map(|texel| texel[channel].to_bits()));
            }
        }
    }
}

/// What [`TextureDesc`] says.
fn look_up(
    table: &TextureDesc,
    texels: TexelView<'_>,
    unscaled: bool,
    place: [f32; 2],
) -> [f32; 4] {
    let found = [0, 1].map(|axis| {
        let AxisDesc { wrap, size, scale } = table.axes[axis];
        let scale = if unscaled { 1.0 } else { f32::from_bits(scale) };
        let x = REFERENCE.mul(place[axis], scale);
        let x = if x.is_nan() { 0.0 } else { x.clamp(-1_073_741_824.0, 1_073_741_824.0) };
        let x = if table.linear { REFERENCE.sub(x, 0.5) } else { x };
        let (first, size) = (REFERENCE.floor(x) as i64, i64::from(size));
        let number = match wrap {
            WrapMode::Repeat => first.rem_euclid(size),
            WrapMode::Mirror => match first.rem_euclid(2 * size) {
                back if !table.linear && back >= size => 2 * size - 1 - back,
                number => number,
            },
            WrapMode::Clamp => first.clamp(-i64::from(table.linear), size - 1),
        };
        (number, REFERENCE.sub(x, REFERENCE.floor(x)))
    });
    let [(column, s), (row, t)] = found;
    let cell = i64::from(table.origin) + row * i64::from(table.row) + column;
    assert!(cell < i64::from(table.cells));
    match texels {
        TexelView::Texels(texels) => texels[cell as usize],
        TexelView::Footprints(footprints) => {
            let [a, b, c, d] = footprints[cell as usize].texels();
            let mix =
                |a: f32, b: f32, share| REFERENCE.add(a, REFERENCE.mul(REFERENCE.sub(b, a), share));
            std::array::from_fn(|i| mix(mix(a[i], b[i], s), mix(c[i], d[i], s), t))
        }
    }
}

fn evaluate(code: Opcode, [a, b, c]: [Lanes; 3], lane: usize) -> u32 {
    let bits = [a[lane], b[lane], c[lane]];
    match code {
        Opcode::QuadBroadcast(corner) => a[lane / 4 * 4 + usize::from(corner)],
        Opcode::And => bits[0] & bits[1],
        Opcode::Or => bits[0] | bits[1],
        Opcode::AndNot => bits[0] & !bits[1],
        Opcode::Select => bits[0] & bits[1] | !bits[0] & bits[2],
        code => r500_ir::evaluate(code, bits).expect("an operation of a unit"),
    }
}

/// Straight arithmetic, branches, loops by counts and by pixels, fetches inside them, discards.
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
    read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0)
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
        let function = lift(&drawing).unwrap();
        for (refuses, leaves_mads) in
            [(None, false), (None, true), (Some(1), false), (Some(2), false), (Some(2), true)]
        {
            let compiler = Interpreter::new(refuses, leaves_mads);
            let resources = ResourceLayout::of(&function, &bindings);
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
        let function = lift(&drawing).unwrap();
        let interpreter = Interpreter::new(None, false);
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
