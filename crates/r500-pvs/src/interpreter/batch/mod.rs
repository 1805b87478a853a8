//! Batches: the program of many vertices at once.
//!
//! Flow control depends on no register, so all vertices of a batch execute the same instructions; a predicate only masks writes. The common
//! operations are compiled to operations on slots ([`code`]): a slot holds a component of a register for all vertices, and an operation is a
//! loop of vector instructions ([`kernels`]). All else runs vertex by vertex, by the functions of single vertices. The results are the same,
//! bit for bit but for the payload of a NaN.

mod code;
mod kernels;

use std::cell::Cell;
use std::f32::consts::PI;

use r500_chip::pvs::{Addressing, CONSTANTS, DstType, INPUTS, OUTPUTS, Op, SrcType};
use r500_lanes::LANES;
use r500_simd::{Simd, SimdLevel, SimdTask, fp_env};

use super::fixed_point::Changeable;
use super::flow::Sequencer;
use super::math::Scalars;
use super::{
    ALT_TEMPORARIES, ARITH, DecodedOp, Destination, Effect, Interpreter, Operand, Outcome,
    TEMPORARIES, address, math, relative, vector,
};
pub(super) use code::BatchCode;
use code::{BatchOp, SlotIndex};
use kernels::{CHUNKS, slot};

/// Vertices of a batch.
pub const BATCH: usize = 64;

/// Memory for batches, which many programs can use one after the other.
#[derive(Debug)]
pub struct BatchMemory {
    slots: Vec<Cell<r500_lanes::Chunk>>,
    address: Vec<[i32; 4]>,
    /// Registers that the last program may have changed, by their first slot.
    changed: Vec<SlotIndex>,
    /// The chunks of each slot that it used.
    chunks: usize,
    level: Simd,
}

impl Default for BatchMemory {
    fn default() -> Self {
        Self::at(Simd::detect())
    }
}

impl BatchMemory {
    /// Returns memory whose batches run with the instructions of a level, or of the portable one if this machine has not that level.
    #[must_use]
    pub fn at(level: Simd) -> Self {
        let slots = vec![Cell::new([0.0; LANES]); code::SLOTS * CHUNKS];
        let address = vec![[0; 4]; BATCH];
        let memory = Self { slots, address, changed: Vec::new(), chunks: 0, level };
        memory.fill(code::ONES, 1.0, CHUNKS);
        memory.fill(code::TURNS, math::TURNS, CHUNKS);
        memory.fill(code::MOST_ANGLE, PI, CHUNKS);
        memory.fill(code::LEAST_ANGLE, -PI, CHUNKS);
        memory
    }

    /// Returns a component of a register of a vertex.
    #[inline]
    fn component(&self, slot: SlotIndex, vertex: usize) -> &Cell<f32> {
        let chunk: &Cell<[f32]> = &self.slots[usize::from(slot) * CHUNKS + vertex / LANES];
        &chunk.as_slice_of_cells()[vertex % LANES]
    }

    fn lane(&self, slot: SlotIndex, vertex: usize) -> f32 {
        self.component(slot, vertex).get()
    }

    fn set_lane(&self, slot: SlotIndex, vertex: usize, value: f32) {
        self.component(slot, vertex).set(value);
    }

    #[inline]
    fn vector(&self, slot: SlotIndex, vertex: usize) -> [f32; 4] {
        [0, 1, 2, 3].map(|n| self.lane(slot + n, vertex))
    }

    fn fill(&self, index: SlotIndex, value: f32, chunks: usize) {
        for chunk in slot(&self.slots, index, chunks) {
            chunk.set([value; LANES]);
        }
    }

    /// Returns output `register` of vertex `vertex` of the last batch; 0 where no instruction wrote it.
    ///
    /// # Panics
    /// If there is no such vertex or output.
    #[must_use]
    #[inline]
    pub fn output(&self, vertex: usize, register: usize) -> [f32; 4] {
        assert!(vertex < BATCH && register < OUTPUTS, "a vertex and an output");
        self.vector(code::OUTPUT + 4 * register as SlotIndex, vertex)
    }

    /// Clears what the last program changed, and notes what this one can change.
    fn begin(&mut self, changeable: &Changeable, chunks: usize) {
        for &register in &self.changed {
            (0..4).for_each(|n| self.fill(register + n, 0.0, self.chunks));
        }
        self.chunks = chunks;
        self.changed.clear();
        self.changed.extend(registers(changeable));
        self.address.fill([0; 4]);
        self.fill(code::PREDICATE, 0.0, chunks);
        self.fill(code::NO_PREDICATE, f32::from_bits(u32::MAX), chunks);
    }
}

/// Returns the first slots of the registers that a program can change.
fn registers(changeable: &Changeable) -> impl Iterator<Item = SlotIndex> {
    let bases = [code::TEMPORARY, code::ALTERNATE, code::OUTPUT];
    let sizes = [TEMPORARIES, ALT_TEMPORARIES, OUTPUTS];
    let all = bases.into_iter().zip(sizes).zip(changeable.registers());
    all.flat_map(|((base, size), numbers)| {
        let inside = numbers.iter().filter(move |n| **n < size);
        inside.map(move |n| base + 4 * *n as SlotIndex)
    })
}

impl Interpreter {
    /// Returns how many of its instructions a batch executes for all vertices at once; the others run vertex by vertex.
    #[must_use]
    pub fn instructions_at_once(&self) -> usize {
        let at_once = |op: &&BatchOp| matches!(op, BatchOp::Slots(..));
        self.batch.instructions.iter().filter(at_once).count()
    }

    /// Stores the inputs that the program reads, of a vertex of the next batch.
    ///
    /// # Panics
    /// If `vertex` is not below [`BATCH`].
    pub fn load(&self, memory: &mut BatchMemory, vertex: usize, inputs: &[[f32; 4]; INPUTS]) {
        assert!(vertex < BATCH, "a batch has {BATCH} vertices at most");
        for &register in &self.batch.inputs {
            let slot = code::INPUT + 4 * SlotIndex::from(register);
            for (n, value) in (0..4).zip(inputs[usize::from(register)]) {
                memory.set_lane(slot + n, vertex, value);
            }
        }
    }

    /// Stores the inputs that the program reads, of the first `count` vertices of the next batch, from an array for each component: `column`
    /// returns that of an input and a component.
    ///
    /// # Panics
    /// If there are more than [`BATCH`] vertices, or an array is shorter.
    pub fn load_columns<'c>(
        &self,
        memory: &mut BatchMemory,
        count: usize,
        column: impl Fn(u8, u8) -> &'c [f32],
    ) {
        assert!(count <= BATCH, "a batch has {BATCH} vertices at most");
        for &register in &self.batch.inputs {
            let first = code::INPUT + 4 * SlotIndex::from(register);
            for channel in 0..4 {
                let values = &column(register, channel)[..count];
                let chunks = slot(&memory.slots, first + SlotIndex::from(channel), CHUNKS);
                for (chunk, values) in chunks.iter().zip(values.chunks(LANES)) {
                    let mut lanes = chunk.get();
                    lanes[..values.len()].copy_from_slice(values);
                    chunk.set(lanes);
                }
            }
        }
    }

    /// Runs the program for the first `count` vertices, which have been [loaded](Self::load). `before_each` is called before each instruction
    /// with the number of vertices, and can end the run; outputs hold what instructions have written by then. It runs where denormals are
    /// flushed. A program may be endless.
    ///
    /// # Errors
    /// That of `before_each`.
    ///
    /// # Panics
    /// If there are more than [`BATCH`] vertices.
    pub fn run_batch<E>(
        &self,
        memory: &mut BatchMemory,
        count: usize,
        before_each: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(count <= BATCH, "a batch has {BATCH} vertices at most");
        let chunks = count.div_ceil(LANES);
        memory.begin(&self.changeable, chunks);
        for &n in &self.batch.constants {
            let constant = self.constant(n.into());
            let slot = code::CONSTANT + 4 * SlotIndex::from(n);
            (0..4).zip(constant).for_each(|(n, value)| memory.fill(slot + n, value, chunks));
        }
        let level = memory.level;
        level.run(Run { interpreter: self, memory, count, before_each })
    }
}

/// The run of a batch, compiled for each level.
struct Run<'a, F> {
    interpreter: &'a Interpreter,
    memory: &'a mut BatchMemory,
    count: usize,
    before_each: F,
}

impl<E, F: FnMut(u64) -> Result<(), E>> SimdTask for Run<'_, F> {
    type Output = Result<(), E>;

    #[inline(always)]
    fn run<L: SimdLevel>(mut self, _: L) -> Result<(), E> {
        let Interpreter { batch, first, flow, changeable, ops, .. } = self.interpreter;
        let chunks = self.count.div_ceil(LANES);
        let mut sequencer = Sequencer::new(flow, changeable.loop_index);
        // Whether vertices have the predicate, and whether some lack it.
        let mut predicates = [false, true];
        while let Some(pc) = sequencer.pc() {
            (self.before_each)(self.count as u64)?;
            let at = pc.checked_sub(*first);
            match at.and_then(|n| batch.instructions.get(n)) {
                Some(BatchOp::Slots(_, Some(sense))) if !predicates[usize::from(!sense)] => {}
                Some(BatchOp::Slots(range, _)) => {
                    for op in &batch.ops[range.clone()] {
                        kernels::execute::<L>(op, &self.memory.slots, chunks);
                    }
                }
                Some(BatchOp::Vertices) => {
                    let op = &ops[pc - first];
                    let mut vertices = Vertices {
                        interpreter: self.interpreter,
                        memory: self.memory,
                        count: self.count,
                        loop_index: sequencer.loop_index(),
                    };
                    fp_env::plain(|| predicates = vertices.execute(op));
                }
                None => {}
            }
            let (memory, count) = (&*self.memory, self.count);
            sequencer.step(flow, |bits| memory.snapshot(changeable, count, bits));
        }
        Ok(())
    }
}

impl BatchMemory {
    /// Stores the bits of all that a program can change.
    fn snapshot(&self, changeable: &Changeable, count: usize, bits: &mut Vec<u32>) {
        bits.clear();
        bits.extend(self.address.iter().take(count).flatten().map(|x| x.cast_unsigned()));
        let slots = registers(changeable).flat_map(|register| register..register + 4);
        for index in slots.chain([code::PREDICATE]) {
            let lanes = slot(&self.slots, index, count.div_ceil(LANES));
            let lanes = lanes.iter().flat_map(|chunk| chunk.get());
            bits.extend(lanes.take(count).map(f32::to_bits));
        }
    }
}

/// The execution of an instruction vertex by vertex.
struct Vertices<'a> {
    interpreter: &'a Interpreter,
    memory: &'a mut BatchMemory,
    count: usize,
    loop_index: i32,
}

impl Vertices<'_> {
    /// Executes an instruction. Returns whether a vertex then has the predicate, and whether one lacks it.
    fn execute(&mut self, op: &DecodedOp) -> [bool; 2] {
        for vertex in 0..self.count {
            let predicate = self.predicate(vertex);
            if op.predicate.is_some_and(|sense| predicate != sense) {
                continue;
            }
            let sources = op.sources.map(|source| self.read(&source, vertex));
            // The second instruction's operands are read before the first one writes.
            let dual = op.dual.map(|dual| (dual, self.read(&dual.source, vertex)));
            let (outcome, saturate) = match op.op {
                Op::Vector(vector) => (vector::execute(vector, sources), op.ve_sat),
                Op::Macro(kind) => (vector::execute_macro(kind, sources), op.ve_sat),
                Op::Math(math) => {
                    (math::execute(math, Scalars::of_instruction(sources)), op.me_sat)
                }
            };
            self.write(&op.dst, vertex, outcome, saturate);
            if let Some((dual, source)) = dual {
                let outcome = math::execute(dual.op, Scalars::of_dual(source));
                if let Effect::Predicate(value) = outcome.effect {
                    self.set_predicate(vertex, value);
                }
                let value = outcome.value[dual.channel];
                let value = if op.me_sat { ARITH.clamp01(value) } else { value };
                let register = code::ALTERNATE + 4 * SlotIndex::from(dual.register);
                self.memory.set_lane(register + dual.channel as SlotIndex, vertex, value);
            }
        }
        let mut found = [false; 2];
        for vertex in 0..self.count {
            found[usize::from(!self.predicate(vertex))] = true;
        }
        found
    }

    fn predicate(&self, vertex: usize) -> bool {
        self.memory.lane(code::PREDICATE, vertex).to_bits() != 0
    }

    fn set_predicate(&mut self, vertex: usize, value: bool) {
        let mask = |set: bool| f32::from_bits(if set { u32::MAX } else { 0 });
        self.memory.set_lane(code::PREDICATE, vertex, mask(value));
        self.memory.set_lane(code::NO_PREDICATE, vertex, mask(!value));
    }

    fn relative(&self, addressing: Addressing, vertex: usize) -> i32 {
        relative(addressing, self.memory.address[vertex], self.loop_index)
    }

    fn read(&self, operand: &Operand, vertex: usize) -> [f32; 4] {
        let at = i32::from(operand.offset) + self.relative(operand.addressing, vertex);
        let (base, size) = match operand.ty {
            SrcType::CONSTANT => (code::CONSTANT, CONSTANTS),
            SrcType::INPUT => (code::INPUT, INPUTS),
            SrcType::ALT_TEMPORARY => (code::ALTERNATE, ALT_TEMPORARIES),
            _ => (code::TEMPORARY, TEMPORARIES),
        };
        let value = match usize::try_from(at) {
            // Not all constants are in slots.
            _ if operand.ty == SrcType::CONSTANT => self.interpreter.constant(at),
            Ok(at) if at < size => self.memory.vector(base + 4 * at as SlotIndex, vertex),
            _ => [0.0; 4],
        };
        operand.modifiers.apply(value)
    }

    fn write(&mut self, dst: &Destination, vertex: usize, outcome: Outcome, saturate: bool) {
        let mut mask = dst.mask;
        match outcome.effect {
            Effect::None => {}
            Effect::Predicate(value) => self.set_predicate(vertex, value),
            Effect::Write(channels) => mask = std::array::from_fn(|n| mask[n] && channels[n]),
        }
        let value = outcome.value.map(|x| if saturate { ARITH.clamp01(x) } else { x });
        let at = i32::from(dst.offset) + self.relative(dst.addressing, vertex);
        let (base, size, value) = match dst.ty {
            DstType::A0 => {
                let register = &mut self.memory.address[vertex];
                for ((to, x), write) in register.iter_mut().zip(value).zip(mask) {
                    if write {
                        *to = address(x);
                    }
                }
                return;
            }
            DstType::OUT => (code::OUTPUT, OUTPUTS, value),
            DstType::OUT_REPL_X => (code::OUTPUT, OUTPUTS, [value[0]; 4]),
            DstType::ALT_TEMPORARY => (code::ALTERNATE, ALT_TEMPORARIES, value),
            // Inputs cannot be written (open).
            DstType::INPUT => return,
            _ => (code::TEMPORARY, TEMPORARIES, value),
        };
        if let Ok(at) = usize::try_from(at)
            && at < size
        {
            for ((n, x), write) in (0..4).zip(value).zip(mask) {
                if write {
                    self.memory.set_lane(base + 4 * at as SlotIndex + n, vertex, x);
                }
            }
        }
    }
}
