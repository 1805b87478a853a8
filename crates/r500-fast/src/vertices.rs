//! Vertex functions: their code, and runs over batches of vertices.
//!
//! A batch is a structure of arrays: each component of an input that the program reads is a slot, with a vertex in each lane. There is neither
//! coverage nor a picture.

use std::fmt::Debug;
use std::sync::Arc;

use r500_exec::RunError;
use r500_ir::ConstantChannel;
use r500_lanes::{Chunk, LANES};
use r500_lift::VertexFunction;
use r500_pvs::{INPUTS, OUTPUTS};
use r500_simd::{Simd, SimdLevel, SimdTask};

use super::Fast;
use super::arg::Arg;
use super::bytecode::{Bytecode, Op};
use super::codegen::{Batch, ColorTargets, Compiler, Fuel, KernelCall, ResourceLayout};
use super::interp::Scratch;
use super::native_code::NativeCode;
use super::tile::batch_chunks;

/// An engine that compiles vertex functions.
pub trait VertexEngine: Debug + Send + Sync {
    /// Returns the name of the engine whose code [`compile_vertices`](Self::compile_vertices) returns: `fast`, `jit`.
    fn vertex_engine(&self) -> &'static str;

    /// Compiles a function.
    fn compile_vertices(&self, function: &VertexFunction) -> VertexCode;
}

impl VertexEngine for Fast {
    fn vertex_engine(&self) -> &'static str {
        "fast"
    }

    fn compile_vertices(&self, function: &VertexFunction) -> VertexCode {
        VertexCode::bytecode(function, self.simd())
    }
}

/// The code of a vertex function.
#[derive(Debug)]
pub struct VertexCode {
    code: Bytecode,
    /// Chunks of a batch.
    chunks: usize,
    simd: Simd,
    /// The constants that are uniforms.
    uniforms: Vec<ConstantChannel>,
    /// The components of each output register that the program can write.
    results: Box<[Option<[Arg; 4]>; OUTPUTS]>,
}

impl VertexCode {
    /// Compiles to bytecode, for a level of vector instructions.
    #[must_use]
    pub fn bytecode(function: &VertexFunction, simd: Simd) -> Self {
        let values = function.function.uniform_values(&[]);
        let optimized = r500_ir::optimize_for_codegen(&function.function);
        let code =
            NativeCode::batch(optimized.as_ref().unwrap_or(&function.function), &values, simd);
        Self::new(function, code, simd)
    }

    /// Compiles to machine code as far as a compiler supports it, and to bytecode.
    #[must_use]
    pub fn native(function: &VertexFunction, simd: Simd, compiler: &dyn Compiler) -> Self {
        let values = function.function.uniform_values(&[]);
        let resources = ResourceLayout::default();
        let code = NativeCode::compile(&function.function, &values, &resources, simd, compiler);
        Self::new(function, code, simd)
    }

    fn new(function: &VertexFunction, code: NativeCode, simd: Simd) -> Self {
        let NativeCode { code, batch_width } = code;
        // A program that writes no output has no results.
        let chunks = batch_chunks(batch_width, !code.results.is_empty()) as usize;
        let uniforms = function.function.uniforms.iter().map(|uniform| uniform.source).collect();
        let mut results = Box::new([None; OUTPUTS]);
        for (register, components) in function.outputs.iter().zip(code.results.as_chunks().0) {
            results[usize::from(*register)] = Some(*components);
        }
        Self { code, chunks, simd, uniforms, results }
    }

    /// Returns the number of vertices that run at a time, at least 64.
    #[must_use]
    pub fn batch_size(&self) -> usize {
        self.chunks * LANES
    }

    /// Returns the number of the function's operations that are machine code, and of all operations.
    #[must_use]
    pub fn coverage(&self) -> (usize, usize) {
        self.code.coverage
    }
}

/// A vertex executes more instructions than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a vertex executes more than {limit} instructions")]
pub struct VertexLimit {
    /// The limit.
    pub limit: u64,
}

/// A batch of vertices, with the memory of its code.
pub struct VertexBatch {
    code: Arc<VertexCode>,
    scratch: Scratch,
}

impl VertexBatch {
    /// Returns a batch without vertices, in which all constants are 0.
    #[must_use]
    pub fn new(code: Arc<VertexCode>) -> Self {
        let scratch = Scratch::new(&code.code, code.chunks);
        Self { code, scratch }
    }

    /// Returns the code that it runs.
    #[must_use]
    pub fn code(&self) -> &VertexCode {
        &self.code
    }

    /// Sets `const[0]` to `const[255]` as instructions read them; missing ones are 0.
    pub fn set_constants(&mut self, constants: &[[f32; 4]]) {
        let values = self.code.uniforms.iter().map(|source| source.value(constants));
        for ((slot, old), value) in self.code.code.constants.iter().zip(values) {
            let slot = self.scratch.memory.get_mut(*slot);
            let same = slot.first().is_some_and(|chunk| chunk[0].to_bits() == value.to_bits());
            debug_assert!(old.to_bits() == 0, "code is compiled for constants of 0");
            if !same {
                slot.fill([value; LANES]);
            }
        }
        let table = &mut self.scratch.memory.table;
        table.clear();
        table.extend_from_slice(constants);
    }

    /// Stores the inputs of the first vertices of the next run, as far as the program reads them.
    ///
    /// # Panics
    /// If there are more vertices than [`batch_size`](VertexCode::batch_size).
    pub fn load(&mut self, vertices: &[[[f32; 4]; INPUTS]]) {
        assert!(vertices.len() <= self.code.batch_size(), "at most a batch of vertices");
        let slot_lanes = self.code.batch_size();
        let lanes = self.scratch.memory.all_mut().as_flattened_mut();
        // Vertex by vertex: their inputs are far apart.
        for (vertex, inputs) in vertices.iter().enumerate() {
            for &(input, channel, slot) in &self.code.code.inputs {
                lanes[slot as usize * slot_lanes + vertex] =
                    inputs[usize::from(input)][usize::from(channel)];
            }
        }
    }

    /// Stores the inputs of the first `count` vertices of the next run, as far as the program reads them, from an array for each component:
    /// `column` returns that of an input and a component.
    ///
    /// # Panics
    /// If there are more vertices than [`batch_size`](VertexCode::batch_size), or an array is shorter.
    pub fn load_columns<'c>(&mut self, count: usize, column: impl Fn(u8, u8) -> &'c [f32]) {
        assert!(count <= self.code.batch_size(), "at most a batch of vertices");
        for &(input, channel, slot) in &self.code.code.inputs {
            let lanes = self.scratch.memory.get_mut(slot).as_flattened_mut();
            lanes[..count].copy_from_slice(&column(input, channel)[..count]);
        }
    }

    /// Returns a component of an input, to store it for each vertex of the next run; `None` if the program does not read it. A run may
    /// overwrite it.
    pub fn input_mut(&mut self, input: u8, channel: u8) -> Option<&mut [f32]> {
        let mut inputs = self.code.code.inputs.iter();
        let &(_, _, slot) = inputs.find(|(i, c, _)| (*i, *c) == (input, channel))?;
        Some(self.scratch.memory.get_mut(slot).as_flattened_mut())
    }

    /// Runs the program for the first `count` vertices, whose inputs have been stored since the last run. Returns the number of instructions of the
    /// vertex that executed most; at most `limit` are executed for a vertex.
    ///
    /// # Errors
    /// [`VertexLimit`] if a vertex exceeds the limit; the outputs then have no meaning.
    ///
    /// # Panics
    /// If there are more vertices than [`batch_size`](VertexCode::batch_size).
    pub fn run(&mut self, count: usize, limit: u64) -> Result<u64, VertexLimit> {
        assert!(count <= self.code.batch_size(), "at most a batch of vertices");
        if count == 0 {
            return Ok(0);
        }
        self.repeat_last(count);
        let chunks = count.div_ceil(LANES);
        self.scratch.memory.exec.reset(chunks);
        let mut fuel = Fuel::limited(limit);
        let (code, scratch) = (&self.code.code, &mut self.scratch);
        let result = self.code.simd.run(Run { code, scratch, fuel: &mut fuel });
        result.map_err(|_| VertexLimit { limit })?;
        Ok(fuel.spent)
    }

    /// Copies the inputs of the last vertex to the unused lanes of its chunk, so that these execute nothing that no vertex does.
    fn repeat_last(&mut self, count: usize) {
        let (chunk, lane) = ((count - 1) / LANES, (count - 1) % LANES);
        for &(_, _, slot) in &self.code.code.inputs {
            let lanes = &mut self.scratch.memory.get_mut(slot)[chunk];
            let last = lanes[lane];
            lanes[lane + 1..].fill(last);
        }
    }

    /// Returns output `register` of vertex `vertex` of the last run; 0 if no instruction can write it.
    ///
    /// # Panics
    /// If the vertex is not of the batch, or there is no such output.
    #[must_use]
    #[inline]
    pub fn output(&self, vertex: usize, register: usize) -> [f32; 4] {
        assert!(vertex < self.code.batch_size(), "a vertex of the batch");
        let Some(result) = self.code.results[register] else { return [0.0; 4] };
        let (lanes, slot_lanes) =
            (self.scratch.memory.all().as_flattened(), self.code.batch_size());
        result.map(|arg| match arg {
            Arg::Slot(slot) => lanes[slot as usize * slot_lanes + vertex],
            Arg::Const(x) => x,
        })
    }
}

/// The run of a batch, compiled for each level.
struct Run<'r> {
    code: &'r Bytecode,
    scratch: &'r mut Scratch,
    fuel: &'r mut Fuel<'static>,
}

impl SimdTask for Run<'_> {
    type Output = Result<(), RunError>;

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> Result<(), RunError> {
        let Self { code, scratch, fuel } = self;
        let mut at = 0;
        while let Some(op) = code.ops.get(at) {
            at += 1;
            match op {
                Op::Lanes(kernel, [first, end]) => {
                    let calls = &code.calls[*first as usize..*end as usize];
                    kernel.call(&mut scratch.memory, calls);
                }
                Op::LoadConstant(load) => scratch.memory.load_constants(load),
                Op::Kernel(call) => call_kernel(call, scratch, fuel)?,
                Op::ConsumeFuel { instructions, address } => {
                    fuel.consume(u64::from(*instructions), *address)?;
                }
                Op::PushExec { mask, to } => {
                    if !scratch.push_exec(level, *mask) {
                        at = *to as usize;
                    }
                }
                Op::PopExec => scratch.memory.exec.pop(),
                Op::LoopBegin { counter, max_trips } => scratch.loop_begin(*counter, *max_trips),
                Op::LoopBack { counter, mask, to } => {
                    if scratch.loop_back(level, *counter, *mask) {
                        at = *to as usize;
                    } else {
                        scratch.memory.exec.pop();
                    }
                }
                Op::Fetch(_) | Op::Discard(_) | Op::Stat { .. } | Op::GroupHazard(_) => {
                    unreachable!("a vertex has neither textures nor coverage")
                }
            }
        }
        Ok(())
    }
}

/// Runs machine code over the executing chunks.
fn call_kernel(
    call: &KernelCall,
    scratch: &mut Scratch,
    fuel: &mut Fuel<'static>,
) -> Result<(), RunError> {
    let covered: &mut [Chunk] = &mut scratch.covered;
    scratch.memory.try_each_range(|slots, run| {
        let (texels, interpolants, targets) = (&[][..], &[][..], ColorTargets::none());
        let batch = &mut Batch { slots, covered, texels, interpolants, targets, fuel };
        call.kernel.run(batch, run)
    })
}
