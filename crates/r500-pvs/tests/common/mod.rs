//! Random vertex programs.
#![allow(clippy::unwrap_used, dead_code)]

use r500_chip::pvs::{INPUTS, OUTPUTS};
use r500_chip::values::FlowOp;
use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};
use r500_pvs::{Controls, Flow, Instruction, Interpreter, Program};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;

/// Values at the edges.
const EDGES: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4020_0000,
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

pub(crate) fn value(rng: &mut SplitMix64) -> f32 {
    let bits = match rng.next_u64() % 4 {
        0 => rng.next_u64() as u32,
        _ => EDGES[rng.next_u64() as usize % EDGES.len()],
    };
    f32::from_bits(bits)
}

pub(crate) fn vector(rng: &mut SplitMix64) -> [f32; 4] {
    std::array::from_fn(|_| value(rng))
}

/// Returns random dwords that name a few registers only, so that instructions read what others wrote.
pub(crate) fn instruction(rng: &mut SplitMix64) -> Instruction {
    let mut words: [u32; 4] = std::array::from_fn(|_| rng.next_u64() as u32);
    // DST_OFFSET and SRC_OFFSET from 4 on.
    words[0] &= !(0x1f << 15);
    words[1..].iter_mut().for_each(|word| *word &= !(0x3f << 7));
    // Three in four are absolute and unconditional.
    if !rng.next_u64().is_multiple_of(4) {
        words[0] &= !(1 << 31 | 3 << 26);
        words[1..].iter_mut().for_each(|word| *word &= !(1 << 31 | 3 << 3));
    }
    Instruction(words)
}

pub(crate) fn program(rng: &mut SplitMix64) -> Program {
    let count = 1 + rng.next_u64() as usize % 14;
    let mut code: Vec<Instruction> = (0..count).map(|_| instruction(rng)).collect();
    // What registers hold at the end.
    for n in 0..4 {
        for (kind, out) in [("temp", n), ("alt_temp", n + 4)] {
            let line = format!("out[{out}].xyzw = VE_MAX {kind}[{n}].xyzw {kind}[{n}].xyzw");
            code.push(line.parse().unwrap());
        }
    }
    let mut controls = Controls::of_code(0, &code);
    let loops = rng.next_u64() % 3;
    controls.flow = (0..loops as u8)
        .map(|number| {
            let first = rng.next_u64() as u32 % count as u32;
            let last = first + rng.next_u64() as u32 % (count as u32 - first);
            let trips = rng.next_u64() as u32 % 5;
            let index = rng.next_u64() as u32 & 0x0303;
            Flow {
                number,
                op: FlowOp::LOOP,
                low: VapPvsFlowCntlAddrsLw(first.wrapping_sub(1) & 0xffff | trips << 16),
                high: VapPvsFlowCntlAddrsUw(last | first << 16),
                index: VapPvsFlowCntlLoopIndex(index),
            }
        })
        .collect();
    Program::from_code(controls, 0, code)
}

/// Instructions after which a program counts as endless.
pub(crate) const MOST: u64 = 20_000;

/// Returns the bits of a vector, with one payload for all NaN.
pub(crate) fn bits(vector: [f32; 4]) -> [u32; 4] {
    vector.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() })
}

pub(crate) fn run_alone(
    interpreter: &Interpreter,
    inputs: &[[f32; 4]; INPUTS],
) -> Option<[[u32; 4]; OUTPUTS]> {
    let mut outputs = [[0.0f32; 4]; OUTPUTS];
    let mut executed = 0;
    let ended = interpreter.run(inputs, &mut outputs, || {
        executed += 1;
        if executed > MOST { Err(()) } else { Ok(()) }
    });
    ended.is_ok().then(|| outputs.map(bits))
}
