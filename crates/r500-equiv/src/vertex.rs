//! Comparison of vertex programs by vertices: edge values first, then random ones. Both programs get the same inputs, and the same constants
//! where they do not give their own.

use std::collections::BTreeMap;
use std::time::Instant;

use r500_program::Compare;
use r500_pvs::{
    BATCH, BatchMemory, CONSTANTS, GivenConstants, INPUTS, Interpreter, OUTPUTS, Program,
};

use crate::expectation::agree;
use crate::random::Random;

/// How vertices are chosen and compared.
#[derive(Clone, Copy, Debug)]
pub struct VertexSearch {
    /// Batches of random vertices after those of edge values; each has constants of its own.
    pub batches: u64,
    /// The seed of random values.
    pub seed: u64,
    /// Greatest difference that counts as none: absolute up to 1, relative above; `None`: the same bits, but for the payload of a NaN. Edge
    /// values are not tried with a tolerance.
    pub tolerance: Option<f32>,
    /// Instructions that a program may execute for a vertex.
    pub instructions: u64,
    /// When the search ends.
    pub deadline: Option<Instant>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct VertexVerdict {
    /// Vertices that were compared.
    pub vertices: u64,
    /// Batches that were not compared: a program did not end within its instructions.
    pub endless: u64,
    /// Whether time ran out before the last batch.
    pub out_of_time: bool,
    /// The first difference, if there is one.
    pub difference: Option<VertexDifference>,
}

/// A vertex for which two programs write different values.
#[derive(Clone, Debug)]
pub struct VertexDifference {
    /// The output and its component.
    pub output: u8,
    /// 0 to 3.
    pub component: u8,
    /// The values.
    pub values: [f32; 2],
    /// The inputs.
    pub inputs: [[f32; 4]; INPUTS],
    /// The constants that neither program gives itself, or only one; by number.
    pub constants: Vec<[f32; 4]>,
}

/// A program that is compared, with the constants that it gives itself.
struct Candidate<'a> {
    program: &'a Program,
    given: &'a GivenConstants,
    interpreter: Interpreter,
}

/// Batches of edge values.
const EDGE_BATCHES: u64 = 16;

/// Values at the edges of arithmetic: zeros, ones, denormals, the ends of the range, infinities, NaN.
const EDGES: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x0000_0001,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x4b80_0000,
    0x4049_0fdb,
];

impl VertexSearch {
    /// Compares two programs, each with the constants that it gives itself.
    #[must_use]
    pub fn compare(&self, programs: [(&Program, &GivenConstants); 2]) -> VertexVerdict {
        let edges = if self.tolerance.is_some() { 0 } else { EDGE_BATCHES };
        self.compare_with(programs, edges)
    }

    /// Returns a vertex of random values for which the programs write different finite values other than 0.
    pub(crate) fn ordinary(
        &self,
        programs: [(&Program, &GivenConstants); 2],
    ) -> Option<VertexDifference> {
        let found = self.compare_with(programs, 0).difference?;
        found.values.iter().all(|value| value.is_normal()).then_some(found)
    }

    fn compare_with(
        &self,
        programs: [(&Program, &GivenConstants); 2],
        edges: u64,
    ) -> VertexVerdict {
        let mut memory = BatchMemory::default();
        let [mut first, mut second] = programs.map(|(program, given)| Candidate {
            program,
            given,
            interpreter: Interpreter::new(program, &[]),
        });
        let mut verdict =
            VertexVerdict { vertices: 0, endless: 0, out_of_time: false, difference: None };
        for batch in 0..edges + self.batches {
            if self.deadline.is_some_and(|end| Instant::now() >= end) {
                verdict.out_of_time = true;
                break;
            }
            let mut random = Random::new(self.seed, batch);
            let mut value = || match batch < edges {
                true => f32::from_bits(EDGES[random.below(EDGES.len() as u64) as usize]),
                false => random.value(),
            };
            let mut vector = || [value(), value(), value(), value()];
            let constants: Vec<[f32; 4]> = (0..CONSTANTS).map(|_| vector()).collect();
            let inputs: Vec<[[f32; 4]; INPUTS]> =
                (0..BATCH).map(|_| std::array::from_fn(|_| vector())).collect();
            let a = self.run(&mut first, &constants, &inputs, &mut memory);
            let b = self.run(&mut second, &constants, &inputs, &mut memory);
            let (Some(a), Some(b)) = (a, b) else {
                verdict.endless += 1;
                continue;
            };
            for (vertex, (a, b)) in a.iter().zip(&b).enumerate() {
                verdict.vertices += 1;
                if let Some((output, component)) = self.different(a, b) {
                    verdict.difference = Some(VertexDifference {
                        output: output as u8,
                        component: component as u8,
                        values: [a, b].map(|outputs| outputs[output][component]),
                        inputs: inputs[vertex],
                        constants,
                    });
                    return verdict;
                }
            }
        }
        verdict
    }

    /// Runs a program for a batch; `None` if it does not end.
    fn run(
        &self,
        candidate: &mut Candidate<'_>,
        constants: &[[f32; 4]],
        inputs: &[[[f32; 4]; INPUTS]],
        memory: &mut BatchMemory,
    ) -> Option<Vec<[[f32; 4]; OUTPUTS]>> {
        let bits = constants.iter().map(|vector| vector.map(f32::to_bits));
        let mut all: BTreeMap<usize, [u32; 4]> = bits.enumerate().collect();
        let Candidate { program, given, interpreter } = candidate;
        all.extend(given.iter().map(|(n, bits)| (usize::from(*n), *bits)));
        interpreter.set_constants(&program.constant_memory(&all));
        for (n, inputs) in inputs.iter().enumerate() {
            interpreter.load(memory, n, inputs);
        }
        let mut left = self.instructions;
        let ended = interpreter.run_batch(memory, inputs.len(), |_| {
            left = left.checked_sub(1).ok_or(())?;
            Ok::<(), ()>(())
        });
        ended.ok()?;
        let outputs = |n| std::array::from_fn(|register| memory.output(n, register));
        Some((0..inputs.len()).map(outputs).collect())
    }

    /// Returns what two programs write for the vertex of a difference, in its output and component; `None` if one does not end.
    pub(crate) fn values_at(
        &self,
        programs: [(&Program, &GivenConstants); 2],
        at: &VertexDifference,
    ) -> Option<[f32; 2]> {
        let mut memory = BatchMemory::default();
        let mut values = [0.0; 2];
        for ((program, given), value) in programs.into_iter().zip(&mut values) {
            let interpreter = Interpreter::new(program, &[]);
            let mut candidate = Candidate { program, given, interpreter };
            let outputs = self.run(&mut candidate, &at.constants, &[at.inputs], &mut memory)?;
            *value = outputs.first()?[usize::from(at.output)][usize::from(at.component)];
        }
        Some(values)
    }

    /// Returns whether two values of a component count as different.
    pub(crate) fn differ(&self, a: f32, b: f32) -> bool {
        match self.tolerance {
            _ if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() => false,
            None => true,
            Some(tolerance) => !agree(Compare::Values, tolerance, a, b),
        }
    }

    /// Returns the first output and component that differ.
    fn different(
        &self,
        a: &[[f32; 4]; OUTPUTS],
        b: &[[f32; 4]; OUTPUTS],
    ) -> Option<(usize, usize)> {
        let mut places = (0..OUTPUTS).flat_map(|output| (0..4).map(move |n| (output, n)));
        places.find(|(output, n)| self.differ(a[*output][*n], b[*output][*n]))
    }
}
