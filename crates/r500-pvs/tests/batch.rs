//! Batches compute the bits of single vertices: random programs with every field of the words, loops, predicates and addresses, on values
//! at the edges of arithmetic.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use common::{MOST, bits, program, run_alone, vector};
use r500_chip::pvs::{INPUTS, OUTPUTS};
use r500_chip::values::FlowOp;
use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};
use r500_pvs::{BATCH, BatchMemory, Controls, Flow, Instruction, Interpreter, Program};
use r500_simd::Simd;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

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
