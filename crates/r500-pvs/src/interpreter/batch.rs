//! Batches: the program of many vertices at once.
//!
//! Flow control depends on no register, so all vertices of a batch execute the same instructions; a predicate only masks writes. The
//! functions of operations are those of single vertices, in a loop over the vertices that is compiled for each operation: the results are
//! the same, bit for bit.

use r500_chip::pvs::{Addressing, DstType, INPUTS, OUTPUTS, Op, SrcType};

use super::fixed_point::Changeable;
use super::flow::Sequencer;
use super::math::Scalars;
use super::{
    ALT_TEMPORARIES, ARITH, Apply, DecodedOp, Destination, Effect, Interpreter, Modifiers, Operand,
    Outcome, TEMPORARIES, address, math, register, relative, vector,
};

/// Vertices of a batch.
pub const BATCH: usize = 16;

/// A vector of each vertex.
type Vectors = [[f32; 4]; BATCH];

/// Memory for batches, which many programs can use one after the other.
#[derive(Debug, Default)]
pub struct BatchMemory {
    temporaries: Vec<Vectors>,
    alternates: Vec<Vectors>,
    inputs: Vec<Vectors>,
    outputs: Vec<Vectors>,
}

/// The registers of a batch during its program.
struct Registers {
    memory: BatchMemory,
    address: [[i32; 4]; BATCH],
    loop_index: i32,
    predicate: [bool; BATCH],
    /// The number of vertices.
    count: usize,
}

impl BatchMemory {
    /// Makes the inputs of vertices. All other registers are 0.
    fn begin(&mut self, inputs: &[[[f32; 4]; INPUTS]]) {
        for (registers, count) in [
            (&mut self.inputs, INPUTS),
            (&mut self.temporaries, TEMPORARIES),
            (&mut self.alternates, ALT_TEMPORARIES),
            (&mut self.outputs, OUTPUTS),
        ] {
            registers.resize(count, [[0.0; 4]; BATCH]);
        }
        for (n, register) in self.inputs.iter_mut().enumerate() {
            for (to, vertex) in register.iter_mut().zip(inputs) {
                *to = vertex[n];
            }
        }
    }

    /// Clears what a program can have changed.
    fn clear(&mut self, changeable: &Changeable) {
        let memories = [&mut self.temporaries, &mut self.alternates, &mut self.outputs];
        for (memory, registers) in memories.into_iter().zip(changeable.registers()) {
            for &n in registers {
                if let Some(register) = memory.get_mut(n) {
                    *register = [[0.0; 4]; BATCH];
                }
            }
        }
    }
}

impl Interpreter {
    /// Runs the program for up to [`BATCH`] vertices. `before_each` is called before each instruction with the number of vertices, and
    /// can end the run; outputs hold what instructions have written by then. A program may be endless.
    ///
    /// # Errors
    /// That of `before_each`.
    ///
    /// # Panics
    /// If there are more than [`BATCH`] vertices, or more inputs than outputs.
    pub fn run_batch<E>(
        &self,
        memory: &mut BatchMemory,
        inputs: &[[[f32; 4]; INPUTS]],
        outputs: &mut [[[f32; 4]; OUTPUTS]],
        mut before_each: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = inputs.len();
        assert!(count <= BATCH && outputs.len() >= count, "a batch has {BATCH} vertices at most");
        // Taken, so that a panic of `before_each` leaves no registers of this program.
        let mut taken = std::mem::take(memory);
        taken.begin(inputs);
        let mut registers = Registers {
            memory: taken,
            address: [[0; 4]; BATCH],
            loop_index: 0,
            predicate: [false; BATCH],
            count,
        };
        let mut sequencer = Sequencer::new(&self.flow, self.changeable.loop_index);
        let mut result = Ok(());
        while let Some(pc) = sequencer.pc() {
            result = before_each(count as u64);
            if result.is_err() {
                break;
            }
            registers.loop_index = sequencer.loop_index();
            if let Some(op) = pc.checked_sub(self.first).and_then(|n| self.ops.get(n)) {
                self.execute_batch(op, &mut registers);
            }
            sequencer.step(|bits| registers.snapshot(&self.changeable, bits));
        }
        for (n, output) in outputs.iter_mut().enumerate().take(count) {
            for (to, register) in output.iter_mut().zip(&registers.memory.outputs) {
                *to = register[n];
            }
        }
        *memory = registers.memory;
        memory.clear(&self.changeable);
        result
    }

    fn execute_batch(&self, op: &DecodedOp, registers: &mut Registers) {
        let mut active = [true; BATCH];
        if let Some(sense) = op.predicate {
            active = registers.predicate.map(|predicate| predicate == sense);
            if active == [false; BATCH] {
                return;
            }
        }
        let sources = op.sources.map(|source| self.read_batch(&source, registers));
        // The second instruction's operands are read before the first one writes.
        let dual = op.dual.map(|dual| (dual, self.read_batch(&dual.source, registers)));
        let each = ForEach { sources: &sources, count: registers.count };
        let (mut results, saturate) = match op.op {
            Op::Vector(vector) => (vector::apply(vector, each), op.ve_sat),
            Op::Macro(kind) => (vector::apply_macro(kind, each), op.ve_sat),
            Op::Math(math) => (math::apply(math, each), op.me_sat),
        };
        if saturate {
            results.saturate();
        }
        registers.write(&op.dst, &active, &results);
        if let Some((dual, source)) = dual {
            let mut results =
                math::apply(dual.op, ForEachDual { source: &source, count: registers.count });
            if op.me_sat {
                results.saturate();
            }
            registers.set_predicates(&active, &results);
            let register = &mut registers.memory.alternates[usize::from(dual.register)];
            for n in 0..BATCH {
                if active[n] {
                    register[n][dual.channel] = results.values[n][dual.channel];
                }
            }
        }
    }

    fn read_batch(&self, operand: &Operand, registers: &Registers) -> Vectors {
        let Operand { ty, offset, addressing, modifiers } = *operand;
        let memory: &[Vectors] = match ty {
            SrcType::INPUT => &registers.memory.inputs,
            SrcType::CONSTANT => &[],
            SrcType::ALT_TEMPORARY => &registers.memory.alternates,
            _ => &registers.memory.temporaries,
        };
        if let Addressing::A0(_) = addressing {
            return std::array::from_fn(|n| {
                let at = i32::from(offset) + registers.relative(addressing, n);
                let value = match ty {
                    SrcType::CONSTANT => Some(self.constant(at)),
                    _ => register(memory, at).map(|vectors| vectors[n]),
                };
                modifiers.apply(value.unwrap_or_default())
            });
        }
        // The same register for all vertices.
        let at = i32::from(offset) + registers.relative(addressing, 0);
        match register(memory, at) {
            Some(vectors) if modifiers == Modifiers::NONE => *vectors,
            Some(vectors) => vectors.map(|vector| modifiers.apply(vector)),
            None if ty == SrcType::CONSTANT => [modifiers.apply(self.constant(at)); BATCH],
            None => [modifiers.apply([0.0; 4]); BATCH],
        }
    }
}

/// Results of an instruction for each vertex.
struct Results {
    values: Vectors,
    effects: [Effect; BATCH],
}

impl Results {
    fn saturate(&mut self) {
        self.values = self.values.map(|value| value.map(|x| ARITH.clamp01(x)));
    }
}

/// Applies a function to the operands of each vertex.
struct ForEach<'a> {
    sources: &'a [Vectors; 3],
    count: usize,
}

impl Apply<[[f32; 4]; 3]> for ForEach<'_> {
    type Output = Results;

    #[inline(always)]
    fn apply(self, function: impl Fn([[f32; 4]; 3]) -> Outcome) -> Results {
        let [a, b, c] = self.sources;
        results(self.count, |n| function([a[n], b[n], c[n]]))
    }
}

impl Apply<Scalars> for ForEach<'_> {
    type Output = Results;

    #[inline(always)]
    fn apply(self, function: impl Fn(Scalars) -> Outcome) -> Results {
        let [a, b, c] = self.sources;
        results(self.count, |n| function(Scalars::of_instruction([a[n], b[n], c[n]])))
    }
}

/// Applies a function to the scalars of a second operation of each vertex.
struct ForEachDual<'a> {
    source: &'a Vectors,
    count: usize,
}

impl Apply<Scalars> for ForEachDual<'_> {
    type Output = Results;

    #[inline(always)]
    fn apply(self, function: impl Fn(Scalars) -> Outcome) -> Results {
        results(self.count, |n| function(Scalars::of_dual(self.source[n])))
    }
}

#[inline(always)]
fn results(count: usize, outcome: impl Fn(usize) -> Outcome) -> Results {
    let mut results = Results { values: [[0.0; 4]; BATCH], effects: [Effect::None; BATCH] };
    for n in 0..count.min(BATCH) {
        let outcome = outcome(n);
        results.values[n] = outcome.value;
        results.effects[n] = outcome.effect;
    }
    results
}

impl Registers {
    fn relative(&self, addressing: Addressing, vertex: usize) -> i32 {
        relative(addressing, self.address[vertex], self.loop_index)
    }

    fn set_predicates(&mut self, active: &[bool; BATCH], results: &Results) {
        for ((predicate, active), effect) in
            self.predicate.iter_mut().zip(active).zip(&results.effects)
        {
            if let (true, Effect::Predicate(value)) = (*active, effect) {
                *predicate = *value;
            }
        }
    }

    fn write(&mut self, dst: &Destination, active: &[bool; BATCH], results: &Results) {
        self.set_predicates(active, results);
        let mask = |n: usize| match results.effects[n] {
            Effect::Write(channels) => {
                std::array::from_fn(|i| active[n] && dst.mask[i] && channels[i])
            }
            Effect::None | Effect::Predicate(_) => dst.mask.map(|write| write && active[n]),
        };
        let (memory, replicate) = match dst.ty {
            DstType::A0 => {
                for n in 0..self.count {
                    store(&mut self.address[n], results.values[n].map(address), mask(n));
                }
                return;
            }
            DstType::OUT => (&mut self.memory.outputs, false),
            DstType::OUT_REPL_X => (&mut self.memory.outputs, true),
            DstType::ALT_TEMPORARY => (&mut self.memory.alternates, false),
            // Inputs cannot be written (open).
            DstType::INPUT => return,
            _ => (&mut self.memory.temporaries, false),
        };
        for n in 0..self.count {
            let value = results.values[n];
            let value = if replicate { [value[0]; 4] } else { value };
            let at =
                i32::from(dst.offset) + relative(dst.addressing, self.address[n], self.loop_index);
            let register = usize::try_from(at).ok().and_then(|at| memory.get_mut(at));
            if let Some(register) = register {
                store(&mut register[n], value, mask(n));
            }
        }
    }

    /// Stores the bits of all that a program can change.
    fn snapshot(&self, changeable: &Changeable, bits: &mut Vec<u32>) {
        let count = self.count;
        bits.clear();
        bits.extend(self.predicate.iter().take(count).map(|predicate| u32::from(*predicate)));
        bits.extend(self.address.iter().take(count).flatten().map(|x| x.cast_unsigned()));
        let BatchMemory { temporaries, alternates, outputs, .. } = &self.memory;
        changeable.each([temporaries, alternates, outputs], |vectors| {
            bits.extend(vectors.iter().take(count).flatten().map(|x| x.to_bits()));
        });
    }
}

#[inline(always)]
fn store<T: Copy>(to: &mut [T; 4], value: [T; 4], mask: [bool; 4]) {
    for i in 0..4 {
        to[i] = if mask[i] { value[i] } else { to[i] };
    }
}
