//! Vertex programs as functions of their inputs: runs over many vertices, by an engine's code or by the interpreter.

use std::sync::Arc;
use std::time::Instant;

use r500_exec::Limits;
use r500_fast::{VertexBatch, VertexEngine};
use r500_lift::lift_vertex;
use r500_pvs::{CONSTANTS, INPUTS, Interpreter, OUTPUTS, Program};

/// The number of vertices that an interpreter takes at a time, between two readings of the clock.
const INTERPRETED: usize = 256;

/// A vertex program that is ready to run.
pub struct VertexRows {
    runner: Runner,
    /// The first constant that the program reads as `const[0]`.
    base: usize,
    limits: Limits,
    deadline: Option<Instant>,
}

enum Runner {
    /// With the reason why no code of an engine runs, where one was asked for.
    Interpreter(Box<Interpreter>, Option<String>),
    /// Code with the name of its engine, and the interpreter for batches in which a vertex exceeds a limit.
    Code(Box<VertexBatch>, &'static str, Box<Interpreter>),
}

/// A vertex exceeds a limit; those before it have their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VertexRowsError {
    /// It executes too many instructions.
    #[error("a vertex executes more than {0} instructions")]
    Instructions(u64),
    /// The time is up.
    #[error("the time is up")]
    Time,
}

impl VertexRows {
    /// Prepares a program. Without an engine, and where an engine cannot compile the program, the interpreter runs it; both compute the same bits. The
    /// time limit begins here.
    #[must_use]
    pub fn new(program: &Program, engine: Option<&dyn VertexEngine>, limits: Limits) -> Self {
        let base = usize::from(program.controls().constants.pvs_const_base_offset());
        let interpreter = Box::new(Interpreter::new(program, &[]));
        let runner = match engine.map(|engine| (engine, lift_vertex(program))) {
            None => Runner::Interpreter(interpreter, None),
            Some((_, Err(why))) => Runner::Interpreter(interpreter, Some(why.to_string())),
            Some((engine, Ok(function))) => {
                let batch = VertexBatch::new(Arc::new(engine.compile_vertices(&function)));
                Runner::Code(Box::new(batch), engine.vertex_engine(), interpreter)
            }
        };
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { runner, base, limits, deadline }
    }

    /// Returns the name of the engine whose code runs; `interpreter` if none does.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        match &self.runner {
            Runner::Interpreter(..) => "interpreter",
            Runner::Code(_, name, _) => name,
        }
    }

    /// Returns why the interpreter runs a program although an engine was given.
    #[must_use]
    pub fn declined(&self) -> Option<&str> {
        match &self.runner {
            Runner::Interpreter(_, why) => why.as_deref(),
            Runner::Code(..) => None,
        }
    }

    /// Returns how many vertices run at a time: [`run`](Self::run) takes any number, multiples of this one without loss.
    #[must_use]
    pub fn batch_size(&self) -> usize {
        match &self.runner {
            Runner::Interpreter(..) => INTERPRETED,
            Runner::Code(batch, ..) => batch.code().batch_size(),
        }
    }

    /// Sets constant memory, from address 0; what is missing is 0.
    pub fn set_constants(&mut self, memory: &[[f32; 4]]) {
        let interpreter = match &mut self.runner {
            Runner::Interpreter(interpreter, _) => interpreter,
            Runner::Code(batch, _, interpreter) => {
                let window = memory.get(self.base..).unwrap_or_default();
                batch.set_constants(&window[..window.len().min(CONSTANTS)]);
                interpreter
            }
        };
        interpreter.set_constants(memory);
    }

    /// Runs the program for vertices with these inputs, and passes the outputs of each to `result`, in order.
    ///
    /// # Errors
    /// [`VertexRowsError`] if a vertex exceeds a limit, or the error of `result`.
    pub fn run<E: From<VertexRowsError>>(
        &mut self,
        vertices: &[[[f32; 4]; INPUTS]],
        mut result: impl FnMut(&[[f32; 4]; OUTPUTS]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (instructions, deadline) = (self.limits.instructions, self.deadline);
        for vertices in vertices.chunks(self.batch_size()) {
            if deadline.is_some_and(|end| Instant::now() > end) {
                return Err(VertexRowsError::Time.into());
            }
            let interpreter = match &mut self.runner {
                Runner::Interpreter(interpreter, _) => interpreter,
                Runner::Code(batch, _, interpreter) => {
                    batch.load(vertices);
                    if batch.run(vertices.len(), instructions).is_ok() {
                        for vertex in 0..vertices.len() {
                            result(&std::array::from_fn(|n| batch.output(vertex, n)))?;
                        }
                        continue;
                    }
                    // The vertices before the one with too many instructions have results.
                    interpreter
                }
            };
            for inputs in vertices {
                result(&interpret(interpreter, inputs, instructions, deadline)?)?;
            }
        }
        Ok(())
    }
}

/// Returns the outputs of a vertex.
fn interpret(
    interpreter: &Interpreter,
    inputs: &[[f32; 4]; INPUTS],
    limit: u64,
    deadline: Option<Instant>,
) -> Result<[[f32; 4]; OUTPUTS], VertexRowsError> {
    let mut execution = interpreter.start(inputs);
    let mut executed = 0_u64;
    while execution.address().is_some() {
        executed += 1;
        if executed > limit {
            return Err(VertexRowsError::Instructions(limit));
        }
        if executed.is_multiple_of(1024) && deadline.is_some_and(|end| Instant::now() > end) {
            return Err(VertexRowsError::Time);
        }
        execution.step();
    }
    Ok(*execution.outputs())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use r500_exec::EngineName;
    use r500_fast::{Fast, Simd};
    use r500_jit::{Settings, vertex_engine};
    use r500_pvs::Source;

    /// A product with a sum, and a sum.
    const TEXT: &str = "\
const[0] = (1.5, -2, 0, 4) ;
out[0].xyzw = VE_MAD input[0].xyzw const[0].xyzw input[1].xyzw ;
out[1].xyzw = VE_ADD input[0].xyzw input[1].wzyx ;
";

    fn vertices() -> Vec<[[f32; 4]; INPUTS]> {
        (0..700)
            .map(|n| {
                let mut inputs = [[0.0; 4]; INPUTS];
                inputs[0] = [n as f32, -1.0, f32::INFINITY, 0.25];
                inputs[1] = [1.0, n as f32 * 0.5, f32::NAN, 3.0];
                inputs
            })
            .collect()
    }

    fn outputs(rows: &mut VertexRows, vertices: &[[[f32; 4]; INPUTS]]) -> Vec<[[u32; 4]; 2]> {
        let mut all = Vec::new();
        rows.run(vertices, |outputs| {
            all.push([outputs[0], outputs[1]].map(|output| output.map(f32::to_bits)));
            Ok::<_, VertexRowsError>(())
        })
        .unwrap();
        all
    }

    #[test]
    fn engines_compute_what_the_interpreter_does_and_say_who_ran() {
        let source = Source::parse(TEXT, &mut |_| Err(String::new())).unwrap();
        let constants = source.constants.iter().map(|(n, bits)| (usize::from(*n), *bits));
        let memory = source.program.constant_memory(&constants.collect());
        let mut wanted = VertexRows::new(&source.program, None, Limits::default());
        wanted.set_constants(&memory);
        assert_eq!(wanted.engine(), "interpreter");
        let wanted = outputs(&mut wanted, &vertices());
        assert_eq!(wanted.len(), 700);
        // By hand: 6 * 1.5 + 1 = 10, -1 * -2 + 3 = 5, 0.25 * 4 + 3 = 4; 6 + 3 = 9, 0.25 + 1 = 1.25.
        assert_eq!(wanted[6][0].map(f32::from_bits)[0], 10.0);
        assert_eq!(wanted[6][0].map(f32::from_bits)[1], 5.0);
        assert_eq!(wanted[6][0].map(f32::from_bits)[3], 4.0);
        assert_eq!(wanted[6][1].map(f32::from_bits)[0], 9.0);
        assert_eq!(wanted[6][1].map(f32::from_bits)[3], 1.25);

        let fast = Fast::with(Simd::detect());
        let jit = vertex_engine(EngineName::Jit, Simd::detect(), Settings::default()).unwrap();
        for engine in [&fast as &dyn VertexEngine, &*jit] {
            let mut rows = VertexRows::new(&source.program, Some(engine), Limits::default());
            assert_eq!((rows.engine(), rows.declined()), (engine.vertex_engine(), None));
            rows.set_constants(&memory);
            assert_eq!(outputs(&mut rows, &vertices()), wanted);
        }
    }

    #[test]
    fn a_limit_ends_a_run_alike_on_all_engines() {
        let source = Source::parse(TEXT, &mut |_| Err(String::new())).unwrap();
        let fast = Fast::with(Simd::detect());
        for engine in [None, Some(&fast as &dyn VertexEngine)] {
            let limits = Limits { instructions: 1, ..Limits::default() };
            let mut rows = VertexRows::new(&source.program, engine, limits);
            let error = rows.run(&vertices(), |_| Ok::<_, VertexRowsError>(())).unwrap_err();
            assert_eq!(error, VertexRowsError::Instructions(1));
        }
    }
}
