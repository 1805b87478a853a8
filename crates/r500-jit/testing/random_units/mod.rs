//! Random compile units, with more values than registers, and nested branches and loops: code must store to slots what an interpreter of
//! the IR computes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod evaluate;
mod generate;
mod interpreted;
mod textures;

use std::fmt::Debug;

use r500_exec::{Bindings, Draw, Options, Shader};
use r500_fast::codegen::{
    BatchOffsets, Chunk, ColorStore, ColorTargets, CompileUnit, Fuel, LANES, LinearInterpolant,
    PhiMove, TargetPlane, TexelView,
};
use r500_ir::{ALL, Operand, Stmt, Type, Value, ValueData, Values};
use r500_isa::Instruction;
use r500_program::{Job, Program};

use evaluate::{Interpreter, Resources, same};
use generate::{Generator, INPUTS, Random};
use textures::{samplers, tables, texel_views};

pub(crate) use generate::Numbers;

/// Chunks per slot.
const CHUNKS: usize = 3;
/// Values that are read from slots.
const READS: u32 = 6;

/// Returns `floats` float values and a mask.
fn read_values(floats: usize) -> Values {
    let mut values = Values::filled(floats, ValueData::new(Type::F32));
    values.push(ValueData::new(Type::Mask));
    values
}

/// Checks the code of a random unit against the interpreter. `placed`: whether the unit stores colours and reads inputs. `make` compiles
/// the unit; it returns the code and the number of pixels that share control flow. `run` runs the code.
pub(crate) fn check<T>(
    seed: u64,
    numbers: Numbers,
    placed: bool,
    what: &dyn Debug,
    make: impl FnOnce(&CompileUnit<'_>) -> (usize, T),
    run: impl FnOnce(
        T,
        &mut [Chunk],
        &mut [Chunk],
        &[TexelView<'_>],
        &[LinearInterpolant],
        ColorTargets<'_>,
    ),
) {
    let mut generator = Generator {
        random: Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, numbers },
        floats: (0..READS).map(|value| Operand::Value(Value(value))).collect(),
        masks: vec![Operand::Value(Value(READS)), ALL],
        counters: Vec::new(),
        values: read_values(READS as usize),
        left: match numbers {
            Numbers::Edges => 1 + (seed % 12) as u32,
            _ => 40 + (seed % 7) as u32 * 60,
        },
        inputs: placed,
    };
    let samplers = samplers(&mut generator.random);
    let body = generator.list(3, 400);
    let reads: Vec<_> = (0..=READS).map(|value| (Value(value), value)).collect();
    let seen = |list: &[Operand]| -> Vec<Value> {
        list.iter().filter_map(|operand| operand.value()).filter(|value| value.0 > READS).collect()
    };
    let (floats, masks) = (seen(&generator.floats), seen(&generator.masks));
    let mut slot = READS;
    let mut place = |value: &Value| {
        slot += 1;
        (*value, slot)
    };
    // Half of the values go to slots; phi moves go to slots that are read.
    let writes: Vec<_> = (floats.iter().chain(&masks).step_by(2)).map(&mut place).collect();
    let moves: Vec<PhiMove> = (0..generator.random.below(5))
        .map(|_| {
            let to = generator.random.below(READS);
            let from = generator.float();
            // A phi may take the slot of a value that only colours use afterwards.
            if generator.random.below(3) == 0 {
                return PhiMove { value: generator.fresh(Type::F32), slot: to, mask: None, from };
            }
            let mask = (generator.random.below(2) == 0).then(|| generator.mask());
            PhiMove { value: Value(to), slot: to, mask, from }
        })
        .collect();
    let colors: Vec<ColorStore> = if placed { generator.colors() } else { Vec::new() };
    let body: Vec<&Stmt> = body.iter().collect();
    let unit = CompileUnit {
        body: &body,
        reads: &reads,
        writes: &writes,
        moves: &moves,
        colors: &colors,
        stride: (CHUNKS * size_of::<Chunk>()) as u32,
        fuel_checked: seed.is_multiple_of(3),
        tables: &tables(&samplers),
        interpolants: if placed { &INPUTS } else { &[] },
        values: &generator.values,
    };
    let (lanes, made) = make(&unit);

    let mut slots = vec![[0.0; LANES]; (slot as usize + 1) * CHUNKS];
    for (i, chunk) in slots[..READS as usize * CHUNKS].iter_mut().enumerate() {
        // In some chunks all lanes are equal, so that masks are full or empty.
        let one = generator.random.float();
        *chunk = std::array::from_fn(|_| if i % 3 == 0 { one } else { generator.random.float() });
    }
    for chunk in &mut slots[READS as usize * CHUNKS..][..CHUNKS] {
        *chunk =
            std::array::from_fn(|_| f32::from_bits([0, !0][generator.random.below(2) as usize]));
    }
    let all = |_: usize| f32::from_bits(!0);
    let mut covered = vec![std::array::from_fn(all); CHUNKS];
    let (mut wanted, mut wanted_covered) = (slots.clone(), covered.clone());
    let places = [[4, 8], [8, 0], [0, 4]].into_iter();
    let places = BatchOffsets::in_rows(places, 14).expect("they are near");
    // Terms of interpolants are multiples of their grid.
    let mut term = || match generator.random.float() {
        x if x.abs() < f32::exp2((24 - LinearInterpolant::GRID) as f32) => 0.0_f32.copysign(x),
        x => x,
    };
    let interpolants = INPUTS.map(|_| LinearInterpolant {
        x_terms: [(); 16].map(|()| [(); 8].map(|()| term())),
        y_terms: [(); 4].map(|()| [(); LANES].map(|()| term())),
    });
    let mut planes = [(); 4].map(|()| vec![[-7.0; 4]; places.bytes() / 16]);
    let mut wanted_planes = planes.clone();
    let resources =
        Resources { samplers: &samplers, interpolants: &interpolants, places: places.chunks() };
    // The last group may be smaller.
    for first in (0..CHUNKS * LANES).step_by(lanes) {
        let group = first..(first + lanes).min(CHUNKS * LANES);
        let of_slot = |slot: u32| {
            let slot = slot as usize * CHUNKS * LANES;
            slot + group.start..slot + group.end
        };
        let covered = &mut wanted_covered.as_flattened_mut()[group.clone()];
        let before = covered.iter().map(|lane| lane.to_bits()).collect();
        let mut interpreter = Interpreter::new(&unit, resources, first, before);
        let written = interpreter.unit(&unit, |slot| {
            wanted.as_flattened()[of_slot(slot)].iter().map(|lane| lane.to_bits()).collect()
        });
        for (to, bits) in covered.iter_mut().zip(&interpreter.covered) {
            *to = f32::from_bits(*bits);
        }
        for color in &colors {
            interpreter.store_color(color, &mut wanted_planes[usize::from(color.target)]);
        }
        for (slot, lanes_of) in written {
            let to = &mut wanted.as_flattened_mut()[of_slot(slot)];
            for (to, bits) in to.iter_mut().zip(lanes_of) {
                *to = f32::from_bits(bits);
            }
        }
    }
    let targets = ColorTargets {
        planes: planes.each_mut().map(|plane| TargetPlane::floats(plane, &places)),
        offsets: &places,
    };
    run(made, &mut slots, &mut covered, &texel_views(&samplers), &interpolants, targets);
    let bits = |plane: &Vec<[f32; 4]>| -> Vec<_> {
        plane.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
    };
    for (got, wanted) in planes.iter().zip(&wanted_planes) {
        assert!(bits(got) == bits(wanted), "seed {seed}, {what:?}: wrong pixels");
    }
    for (got, wanted) in covered.iter().zip(&wanted_covered) {
        assert_eq!(got.map(f32::to_bits), wanted.map(f32::to_bits), "seed {seed}: coverage");
    }
    for (i, (got, wanted)) in slots.iter().zip(&wanted).enumerate() {
        for lane in 0..LANES {
            assert!(
                same(got[lane], wanted[lane]),
                "seed {seed}, {what:?}: wrong slot {}, chunk {}, lane {lane}: {:e}, not {:e}",
                i / CHUNKS,
                i % CHUNKS,
                got[lane],
                wanted[lane],
            );
        }
    }
}

/// Calls `f` with a random unit.
pub(crate) fn with_unit<T>(seed: u64, f: impl FnOnce(&CompileUnit<'_>) -> T) -> T {
    let mut generator = Generator {
        random: Random { state: seed | 1, numbers: Numbers::All },
        floats: vec![Operand::Value(Value(0))],
        masks: vec![Operand::Value(Value(1)), ALL],
        counters: Vec::new(),
        values: read_values(1),
        left: 200,
        inputs: false,
    };
    let samplers = samplers(&mut generator.random);
    let body = generator.list(3, 200);
    let body: Vec<&Stmt> = body.iter().collect();
    f(&CompileUnit {
        body: &body,
        reads: &[(Value(0), 0), (Value(1), 1)],
        writes: &[],
        moves: &[],
        colors: &[],
        stride: 64,
        fuel_checked: true,
        tables: &tables(&samplers),
        interpolants: &[],
        values: &generator.values,
    })
}

/// Returns the number of units to test: `R500_PROGRAMS` if set, else `usual`.
pub(crate) fn count(usual: u64) -> u64 {
    let count = std::env::var("R500_PROGRAMS").ok().and_then(|count| count.parse().ok());
    count.unwrap_or(usual)
}

/// Calls `f` with the fuel of a draw.
pub(crate) fn with_budget<T>(options: &Options<'_>, f: impl FnOnce(&mut Fuel<'_>) -> T) -> T {
    let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
    let job = Job::from_program(Program::from_code(code));
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [4, 4]).unwrap();
    let draw = Draw::new(&shader, &bindings, options).unwrap();
    f(&mut Fuel::new(&draw, [4, 8]))
}
