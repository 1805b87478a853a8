//! Batches compute the bits of single vertices: random programs with every field of the words, loops, predicates and addresses, on values
//! at the edges of arithmetic.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use r500_chip::pvs::{INPUTS, OUTPUTS};
use r500_chip::values::FlowOp;
use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};
use r500_pvs::{BATCH, BatchMemory, Controls, Flow, Instruction, Interpreter, Program};
use r500_simd::Simd;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

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

fn value(rng: &mut SplitMix64) -> f32 {
    let bits = match rng.next_u64() % 4 {
        0 => rng.next_u64() as u32,
        _ => EDGES[rng.next_u64() as usize % EDGES.len()],
    };
    f32::from_bits(bits)
}

fn vector(rng: &mut SplitMix64) -> [f32; 4] {
    std::array::from_fn(|_| value(rng))
}

/// Returns random dwords that name a few registers only, so that instructions read what others wrote.
fn instruction(rng: &mut SplitMix64) -> Instruction {
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

fn program(rng: &mut SplitMix64) -> Program {
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

/// Runs a batch. Returns the outputs of its vertices; `None` if it is endless.
fn run_batch(
    interpreter: &Interpreter,
    memory: &mut BatchMemory,
    inputs: &[[[f32; 4]; INPUTS]],
) -> Option<Vec<[[u32; 4]; OUTPUTS]>> {
    for (n, inputs) in inputs.iter().enumerate() {
        interpreter.load(memory, n, inputs);
    }
    let mut executed = 0;
    let ended = interpreter.run_batch(memory, inputs.len(), |n| {
        assert_eq!(n, inputs.len() as u64);
        executed += 1;
        if executed > MOST { Err(()) } else { Ok(()) }
    });
    let outputs =
        (0..inputs.len()).map(|n| std::array::from_fn(|register| bits(memory.output(n, register))));
    ended.is_ok().then(|| outputs.collect())
}

/// Instructions after which a program counts as endless.
const MOST: u64 = 20_000;

/// Returns the bits of a vector, with one payload for all NaN.
fn bits(vector: [f32; 4]) -> [u32; 4] {
    vector.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() })
}

fn run_alone(
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

#[test]
fn batches_compute_what_single_vertices_do() {
    let count = std::env::var("R500_PROGRAMS").map_or(2_000, |text| text.parse().unwrap());
    // One memory a level for all programs: none sees what another left.
    let mut levels: Vec<(Simd, BatchMemory)> =
        Simd::available().map(|level| (level, BatchMemory::at(level))).collect();
    let (mut changed, mut limited, mut at_once, mut instructions) = (0u64, 0u64, 0, 0);
    for seed in 0..count {
        let mut rng = SplitMix64::seed_from_u64(seed);
        let program = program(&mut rng);
        let constants: Vec<[f32; 4]> = (0..8).map(|_| vector(&mut rng)).collect();
        let interpreter = Interpreter::new(&program, &constants);
        at_once += interpreter.instructions_at_once();
        instructions += program.instructions().1.len();
        // Few vertices, or up to a whole batch.
        let most = [4, 20, BATCH][rng.next_u64() as usize % 3];
        let vertices = 1 + rng.next_u64() as usize % most;
        let inputs: Vec<[[f32; 4]; INPUTS]> =
            (0..vertices).map(|_| std::array::from_fn(|_| vector(&mut rng))).collect();
        let wanted: Option<Vec<_>> =
            inputs.iter().map(|inputs| run_alone(&interpreter, inputs)).collect();
        for (level, memory) in &mut levels {
            let found = run_batch(&interpreter, memory, &inputs);
            let (Some(found), Some(wanted)) = (&found, &wanted) else {
                limited += 1;
                continue;
            };
            for (n, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                assert!(found == wanted, "seed {seed}, {}, vertex {n}:\n{program}", level.name());
                changed += u64::from(wanted.iter().flatten().any(|bits| *bits != 0));
            }
        }
    }
    let runs = count * levels.len() as u64;
    println!("{at_once} of {instructions} instructions at once, at {} levels", levels.len());
    // The comparison means something: most programs end, many write outputs, and many instructions run at once.
    assert!(limited * 100 < runs && changed > 5 * runs, "{limited} endless, {changed} written");
    assert!(at_once * 4 > instructions, "{at_once} of {instructions} instructions at once");
}

/// A loop that changes nothing for some vertices continues for the others.
#[test]
fn vertices_of_a_batch_may_need_different_counts() {
    let line = |text: &str| text.parse::<Instruction>().unwrap();
    // x - 1 as long as x is not 0, 255 times at most: the count of each vertex.
    let code = vec![
        line("temp[0].xyzw = VE_ADD input[0].xyzw input[0].0000"),
        line("temp[1].w = ME_PRED_SET_EQ temp[0].xxxx"),
        line("(!p) temp[0].x = VE_ADD temp[0].xyzw temp[0].-1-1-1-1"),
        line("(!p) temp[0].y = VE_ADD temp[0].xyzw temp[0].1111"),
        line("out[0].xyzw = VE_ADD temp[0].xyzw temp[0].0000"),
    ];
    let mut controls = Controls::of_code(0, &code);
    controls.flow = vec![Flow {
        number: 0,
        op: FlowOp::LOOP,
        low: VapPvsFlowCntlAddrsLw(255 << 16),
        high: VapPvsFlowCntlAddrsUw(3 | 1 << 16),
        index: VapPvsFlowCntlLoopIndex(0),
    }];
    let interpreter = Interpreter::new(&Program::from_code(controls, 0, code), &[]);
    let mut inputs = vec![[[0.0; 4]; INPUTS]; 5];
    for (vertex, steps) in inputs.iter_mut().zip([3.0, 0.0, 100.0, 255.0, 7.0]) {
        vertex[0] = [steps, 0.0, 0.0, 0.0];
    }
    let outputs = run_batch(&interpreter, &mut BatchMemory::default(), &inputs).unwrap();
    let counts: Vec<f32> = outputs.iter().map(|vertex| f32::from_bits(vertex[0][1])).collect();
    assert_eq!(counts, [3.0, 0.0, 100.0, 255.0, 7.0]);
}
