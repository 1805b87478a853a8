//! Batches: the program of many vertices at once.
//!
//! Flow control depends on no register, so all vertices of a batch execute the same instructions; a predicate only masks writes. The
//! functions of operations are those of single vertices, in a loop over the vertices that is compiled for each operation: the results are
//! the same, bit for bit.

use r500_chip::pvs::{Addressing, CONSTANTS, DstType, INPUTS, OUTPUTS, Op, SrcType, Swizzle};

use super::flow::Sequencer;
use super::math::Scalars;
use super::{
    ALT_TEMPORARIES, ARITH, Apply, DecodedOp, Destination, Effect, Interpreter, Operand, Outcome,
    TEMPORARIES, math, vector,
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
struct Registers<'a> {
    memory: &'a mut BatchMemory,
    address: [[i32; 4]; BATCH],
    loop_index: i32,
    predicate: [bool; BATCH],
}

/// An operand with its modifiers as indices and bits.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    /// 0 to 3 a component, 4 zero, 5 one.
    select: [u8; 4],
    /// Bits that stay: all, or all but the sign.
    keep: u32,
    /// Bits that are inverted.
    flip: [u32; 4],
}

impl Pattern {
    fn of(operand: &Operand) -> Self {
        Self {
            select: operand.swizzle.map(|select| match select {
                Swizzle::ONE => 5,
                // As in the interpreter of single vertices: reserved codes read 0.
                select if select.code() < 4 => select.code(),
                _ => 4,
            }),
            keep: if operand.abs { !SIGN } else { u32::MAX },
            flip: operand.negate.map(|negate| if negate { SIGN } else { 0 }),
        }
    }

    fn is_plain(&self) -> bool {
        self.select == [0, 1, 2, 3] && self.keep == u32::MAX && self.flip == [0; 4]
    }

    #[inline(always)]
    fn apply(&self, value: [f32; 4]) -> [f32; 4] {
        let [x, y, z, w] = value;
        let all = [x, y, z, w, 0.0, 1.0, 0.0, 0.0];
        std::array::from_fn(|i| {
            let bits = all[usize::from(self.select[i] & 7)].to_bits();
            f32::from_bits(bits & self.keep ^ self.flip[i])
        })
    }
}

const SIGN: u32 = 1 << 31;

impl BatchMemory {
    /// Clears what a program can read before it writes, and makes the inputs and outputs of vertices.
    fn begin(&mut self, inputs: &[[[f32; 4]; INPUTS]]) {
        for (registers, count) in [
            (&mut self.temporaries, TEMPORARIES),
            (&mut self.alternates, ALT_TEMPORARIES),
            (&mut self.outputs, OUTPUTS),
        ] {
            registers.clear();
            registers.resize(count, [[0.0; 4]; BATCH]);
        }
        self.inputs.resize(INPUTS, [[0.0; 4]; BATCH]);
        for (n, register) in self.inputs.iter_mut().enumerate() {
            for (to, vertex) in register.iter_mut().zip(inputs) {
                *to = vertex[n];
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
        memory.begin(inputs);
        let mut registers = Registers {
            memory,
            address: [[0; 4]; BATCH],
            loop_index: 0,
            predicate: [false; BATCH],
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
            sequencer.step(|bits| registers.snapshot(&self.changeable, bits, count));
        }
        for (n, output) in outputs.iter_mut().enumerate().take(count) {
            for (to, register) in output.iter_mut().zip(&registers.memory.outputs) {
                *to = register[n];
            }
        }
        result
    }

    fn execute_batch(&self, op: &DecodedOp, registers: &mut Registers<'_>) {
        let mut active = [true; BATCH];
        if let Some(sense) = op.predicate {
            active = registers.predicate.map(|predicate| predicate == sense);
            if active == [false; BATCH] {
                return;
            }
        }
        let sources = op.sources.map(|source| self.read_batch(&source, registers));
        // The second instruction's operands are read before the first one writes.
        let dual = op.dual.map(|dual| (dual, self.read_batch(&dual.source().into(), registers)));
        let (mut results, saturate) = match op.op {
            Op::Vector(vector) => (vector::apply(vector, ForEach(&sources)), op.ve_sat),
            Op::Macro(kind) => (vector::apply_macro(kind, ForEach(&sources)), op.ve_sat),
            Op::Math(math) => (math::apply(math, ForEach(&sources)), op.me_sat),
        };
        if saturate {
            results.saturate();
        }
        registers.write(&op.dst, &active, &results);
        if let Some((dual, source)) = dual {
            let mut results = math::apply(dual.op(), ForEachDual(&source));
            if op.me_sat {
                results.saturate();
            }
            let channel = usize::from(dual.dst_we_sel().code());
            registers.set_predicates(&active, &results);
            let register = &mut registers.memory.alternates[usize::from(dual.dst_offset())];
            for n in 0..BATCH {
                if active[n] {
                    register[n][channel] = results.values[n][channel];
                }
            }
        }
    }

    fn read_batch(&self, operand: &Operand, registers: &Registers<'_>) -> Vectors {
        let pattern = Pattern::of(operand);
        let offset = i32::from(operand.offset);
        let constant = |at: i32| {
            let inside = (0..CONSTANTS as i32).contains(&at);
            let at = usize::try_from(at.saturating_add(self.base)).ok();
            at.filter(|_| inside).and_then(|at| self.constants.get(at)).copied().unwrap_or_default()
        };
        let memory: &[Vectors] = match operand.ty {
            SrcType::INPUT => &registers.memory.inputs,
            SrcType::CONSTANT => &[],
            SrcType::ALT_TEMPORARY => &registers.memory.alternates,
            _ => &registers.memory.temporaries,
        };
        let uniform = match operand.addressing {
            Addressing::Absolute | Addressing::Reserved => Some(0),
            Addressing::LoopIndex => Some(registers.loop_index),
            Addressing::A0(_) => None,
        };
        if let Some(relative) = uniform {
            let at = offset + relative;
            if operand.ty == SrcType::CONSTANT {
                return [pattern.apply(constant(at)); BATCH];
            }
            let Some(vectors) = usize::try_from(at).ok().and_then(|at| memory.get(at)) else {
                return [pattern.apply([0.0; 4]); BATCH];
            };
            return if pattern.is_plain() { *vectors } else { vectors.map(|v| pattern.apply(v)) };
        }
        std::array::from_fn(|n| {
            let at = offset + registers.relative(operand.addressing, n);
            let value = match operand.ty {
                SrcType::CONSTANT => constant(at),
                _ => usize::try_from(at)
                    .ok()
                    .and_then(|at| memory.get(at))
                    .map(|vectors| vectors[n])
                    .unwrap_or_default(),
            };
            pattern.apply(value)
        })
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
struct ForEach<'a>(&'a [Vectors; 3]);

impl Apply<[[f32; 4]; 3]> for ForEach<'_> {
    type Output = Results;

    #[inline(always)]
    fn apply(self, function: impl Fn([[f32; 4]; 3]) -> Outcome) -> Results {
        let [a, b, c] = self.0;
        results(|n| function([a[n], b[n], c[n]]))
    }
}

impl Apply<Scalars> for ForEach<'_> {
    type Output = Results;

    #[inline(always)]
    fn apply(self, function: impl Fn(Scalars) -> Outcome) -> Results {
        let [a, b, c] = self.0;
        results(|n| function(Scalars::of_instruction([a[n], b[n], c[n]])))
    }
}

/// Applies a function to the scalars of a second operation of each vertex.
struct ForEachDual<'a>(&'a Vectors);

impl Apply<Scalars> for ForEachDual<'_> {
    type Output = Results;

    #[inline(always)]
    fn apply(self, function: impl Fn(Scalars) -> Outcome) -> Results {
        results(|n| function(Scalars::of_dual(self.0[n])))
    }
}

#[inline(always)]
fn results(outcome: impl Fn(usize) -> Outcome) -> Results {
    let mut results = Results { values: [[0.0; 4]; BATCH], effects: [Effect::None; BATCH] };
    for n in 0..BATCH {
        let outcome = outcome(n);
        results.values[n] = outcome.value;
        results.effects[n] = outcome.effect;
    }
    results
}

impl Registers<'_> {
    fn relative(&self, addressing: Addressing, vertex: usize) -> i32 {
        match addressing {
            Addressing::A0(component) => self.address[vertex][usize::from(component.code() & 3)],
            Addressing::LoopIndex => self.loop_index,
            Addressing::Absolute | Addressing::Reserved => 0,
        }
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
        if dst.ty == DstType::A0 {
            for n in 0..BATCH {
                let floors = results.values[n].map(f32::floor);
                for ((to, floor), write) in self.address[n].iter_mut().zip(floors).zip(mask(n)) {
                    if write {
                        // As for single vertices: saturates, far outside of every addressable range.
                        *to = (floor as i32).clamp(-65_536, 65_536);
                    }
                }
            }
            return;
        }
        let uniform = !matches!(dst.addressing, Addressing::A0(_));
        let loop_index = self.loop_index;
        let address = self.address;
        let relative = |n: usize| match dst.addressing {
            Addressing::A0(component) => address[n][usize::from(component.code() & 3)],
            Addressing::LoopIndex => loop_index,
            Addressing::Absolute | Addressing::Reserved => 0,
        };
        let replicate = dst.ty == DstType::OUT_REPL_X;
        let memory = match dst.ty {
            DstType::OUT | DstType::OUT_REPL_X => &mut self.memory.outputs,
            DstType::ALT_TEMPORARY => &mut self.memory.alternates,
            // Inputs cannot be written (open).
            DstType::INPUT => return,
            _ => &mut self.memory.temporaries,
        };
        let place = |n: usize| usize::try_from(i32::from(dst.offset) + relative(n)).ok();
        let value = |n: usize| match replicate {
            true => [results.values[n][0]; 4],
            false => results.values[n],
        };
        if uniform {
            let Some(register) = place(0).and_then(|at| memory.get_mut(at)) else { return };
            for (n, to) in register.iter_mut().enumerate() {
                store(to, value(n), mask(n));
            }
            return;
        }
        for n in 0..BATCH {
            if let Some(register) = place(n).and_then(|at| memory.get_mut(at)) {
                store(&mut register[n], value(n), mask(n));
            }
        }
    }

    /// Stores the bits of all that a program can change.
    fn snapshot(&self, changeable: &super::Changeable, bits: &mut Vec<u32>, count: usize) {
        bits.clear();
        bits.extend(self.predicate.iter().take(count).map(|predicate| u32::from(*predicate)));
        bits.extend(self.address.iter().take(count).flatten().map(|x| x.cast_unsigned()));
        let mut add = |memory: &[Vectors], registers: &[usize]| {
            for vectors in registers.iter().filter_map(|n| memory.get(*n)) {
                bits.extend(vectors.iter().take(count).flatten().map(|x| x.to_bits()));
            }
        };
        add(&self.memory.temporaries, changeable.temporaries());
        add(&self.memory.alternates, changeable.alternates());
        add(&self.memory.outputs, changeable.outputs());
    }
}

#[inline(always)]
fn store(to: &mut [f32; 4], value: [f32; 4], mask: [bool; 4]) {
    for i in 0..4 {
        to[i] = if mask[i] { value[i] } else { to[i] };
    }
}
