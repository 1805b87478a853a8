//! The engines of vertex programs: the interpreter, and code of a [`VertexEngine`], cached by the content of programs.
//!
//! The interpreter runs a program until the vertices that it has processed would have paid for its compilation, and draws of few vertices. Both
//! compute the same bits.

use std::collections::HashMap;
use std::sync::Arc;

use r500_fast::{VertexBatch, VertexEngine};
use r500_lift::lift_vertex;
use r500_pvs::{BATCH, BatchMemory, CONSTANTS, Interpreter, Program};

use super::columns::InputColumns;
use crate::report::EngineChoice;

/// The work from which on compilation pays, in instructions times vertices: some milliseconds of the interpreter.
const PAYS_AT: u64 = 1 << 20;

/// The maximum number of programs in the cache.
const MAX_PROGRAMS: usize = 64;

/// The name of the interpreter in reports.
const INTERPRETER: &str = "interpreter";

/// Memory and code for vertices, for all draws of a card.
pub(crate) struct VertexEngines {
    /// Memory of the interpreter.
    batch: BatchMemory,
    /// Inputs of the vertices of a batch.
    inputs: InputColumns,
    /// `None`: the interpreter runs all programs.
    engine: Option<Box<dyn VertexEngine>>,
    pays_at: u64,
    /// Whether the interpreter runs all programs in any case.
    rules_only: bool,
    programs: HashMap<Program, Known>,
    /// Number of draws so far, the clock of the eviction.
    now: u64,
}

/// What is known of a program.
struct Known {
    /// The instructions times vertices of its draws.
    work: u64,
    /// The last draw.
    used: u64,
    code: Code,
}

enum Code {
    /// The program has not been compiled yet.
    None,
    /// With the name of the engine that compiled it.
    Compiled(Box<VertexBatch>, &'static str),
    /// Why the interpreter runs it.
    Declined(String),
}

/// What runs the program of a draw.
pub(crate) enum Runner<'a> {
    /// The interpreter with its memory, and why no code runs, unless that would not pay.
    Interpreter { program: Box<Interpreter>, memory: &'a mut BatchMemory, reason: Option<String> },
    /// Code, and the name of its engine.
    Code { batch: &'a mut VertexBatch, engine: &'static str },
}

impl Runner<'_> {
    /// Returns the number of vertices that it takes at a time.
    pub(crate) fn batch_size(&self) -> usize {
        match self {
            Self::Interpreter { .. } => BATCH,
            Self::Code { batch, .. } => batch.code().batch_size(),
        }
    }

    /// Returns the choice of the engine, for the report.
    pub(crate) fn choice(&self) -> EngineChoice {
        match self {
            Self::Interpreter { reason, .. } => {
                EngineChoice { engine: INTERPRETER, fallback_reason: reason.clone() }
            }
            Self::Code { engine, .. } => EngineChoice { engine, fallback_reason: None },
        }
    }
}

impl VertexEngines {
    pub(crate) fn new(engine: Option<Box<dyn VertexEngine>>) -> Self {
        Self {
            batch: BatchMemory::default(),
            inputs: InputColumns::default(),
            engine,
            pays_at: PAYS_AT,
            rules_only: false,
            programs: HashMap::new(),
            now: 0,
        }
    }

    /// Sets the engine, and drops all code.
    pub(crate) fn set_engine(&mut self, engine: Option<Box<dyn VertexEngine>>) {
        let Self { pays_at, rules_only, .. } = *self;
        *self = Self { pays_at, rules_only, ..Self::new(engine) };
    }

    /// Sets from how much work on programs are compiled, in instructions times vertices; from 0 on, those of small draws, too.
    pub(crate) fn set_pays_at(&mut self, work: u64) {
        self.pays_at = work;
    }

    /// Sets whether the interpreter runs all programs in any case.
    pub(crate) fn set_rules_only(&mut self, rules_only: bool) {
        self.rules_only = rules_only;
    }

    /// Returns what runs a draw's program, if it has one, and the inputs of its batches. The parameters are the program, constant memory and
    /// the number of vertices.
    pub(crate) fn runner_with_inputs(
        &mut self,
        program: Option<(Program, &[[u32; 4]], usize)>,
    ) -> (Option<Runner<'_>>, &mut InputColumns) {
        let Some((program, constants, count)) = program else { return (None, &mut self.inputs) };
        let constants: Vec<[f32; 4]> =
            constants.iter().map(|constant| constant.map(f32::from_bits)).collect();
        let Self { batch, inputs, engine, pays_at, rules_only, programs, now } = self;
        // The whole batch of a small draw would run for a few of its lanes.
        let is_small = count < BATCH && *pays_at > 0;
        let mut reason = None;
        if let Some(engine) = engine
            && !*rules_only
            && !is_small
        {
            *now += 1;
            let known = known(programs, &program, *now);
            known.add_draw(&program, count, *pays_at, &**engine);
            match &mut known.code {
                Code::Compiled(batch, engine) => {
                    let base = usize::from(program.controls().constants.pvs_const_base_offset());
                    // Constants beyond the memory are 0.
                    let window = constants.get(base..).unwrap_or_default();
                    batch.set_constants(&window[..window.len().min(CONSTANTS)]);
                    return (Some(Runner::Code { batch, engine }), inputs);
                }
                Code::Declined(why) => reason = Some(why.clone()),
                Code::None => {}
            }
        }
        let program = Box::new(Interpreter::new(&program, &constants));
        (Some(Runner::Interpreter { program, memory: batch, reason }), inputs)
    }
}

/// Returns what is known of a program, which becomes the one that was used last. Others make room for it.
fn known<'m>(
    programs: &'m mut HashMap<Program, Known>,
    program: &Program,
    now: u64,
) -> &'m mut Known {
    if !programs.contains_key(program) && programs.len() >= MAX_PROGRAMS {
        let oldest = programs.iter().min_by_key(|(_, known)| known.used);
        if let Some(oldest) = oldest.map(|(oldest, _)| oldest.clone()) {
            programs.remove(&oldest);
        }
    }
    let known = programs.entry(program.clone());
    let known = known.or_insert(Known { work: 0, used: now, code: Code::None });
    known.used = now;
    known
}

impl Known {
    /// Adds the work of a draw, and compiles the program if that pays.
    fn add_draw(
        &mut self,
        program: &Program,
        count: usize,
        pays_at: u64,
        engine: &dyn VertexEngine,
    ) {
        let instructions = program.window().count() as u64;
        self.work = self.work.saturating_add(instructions.saturating_mul(count as u64));
        if !matches!(self.code, Code::None) || self.work < pays_at {
            return;
        }
        self.code = match lift_vertex(program) {
            Ok(function) => {
                let code = engine.compile_vertices(&function);
                Code::Compiled(Box::new(VertexBatch::new(Arc::new(code))), engine.vertex_engine())
            }
            Err(why) => Code::Declined(why.to_string()),
        };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_fast::Fast;
    use r500_pvs::{Controls, INPUTS, Instruction};

    use super::*;

    /// Returns a program that copies a constant and an input.
    fn program(line: &str) -> Program {
        let code: Vec<Instruction> = vec![line.parse().unwrap()];
        Program::from_code(Controls::of_code(0, &code), 0, code)
    }

    fn engines(pays_at: u64) -> VertexEngines {
        let mut engines = VertexEngines::new(Some(Box::new(Fast::new())));
        engines.set_pays_at(pays_at);
        engines
    }

    /// Returns what runs a program.
    fn runner<'e>(
        engines: &'e mut VertexEngines,
        program: Program,
        constants: &[[u32; 4]],
        count: usize,
    ) -> Runner<'e> {
        engines.runner_with_inputs(Some((program, constants, count))).0.unwrap()
    }

    const ADD: &str = "out[0].xyzw = VE_ADD const[1].xyzw input[0].xyzw";

    #[test]
    fn programs_are_compiled_when_their_draws_pay_for_it() {
        let mut engines = engines(250);
        let mut of = |count| runner(&mut engines, program(ADD), &[], count).choice().engine;
        // Of these the second reaches the work; the third is small.
        assert_eq!(
            [of(200), of(200), of(3), of(64)],
            ["interpreter", "fast", "interpreter", "fast"]
        );
        engines.set_rules_only(true);
        assert_eq!(runner(&mut engines, program(ADD), &[], 200).choice().engine, "interpreter");
    }

    #[test]
    fn code_runs_with_the_constants_of_each_draw() {
        let mut engines = engines(0);
        for value in [1.5_f32, -2.0, 1.5] {
            let constants = [[0; 4], [value.to_bits(); 4]];
            let Runner::Code { batch, engine: "fast" } =
                runner(&mut engines, program(ADD), &constants, 1)
            else {
                unreachable!("all draws are compiled")
            };
            batch.load(&[[[0.25; 4]; INPUTS]]);
            assert_eq!(batch.run(1, 10), Ok(1));
            assert_eq!(batch.output(0, 0), [value + 0.25; 4]);
        }
    }

    #[test]
    fn the_cache_of_programs_is_bounded() {
        let mut engines = engines(0);
        for n in 0..2 * MAX_PROGRAMS {
            let line = format!("out[{n}].x = VE_ADD const[1].xxxx input[0].xxxx");
            assert_eq!(runner(&mut engines, program(&line), &[], 1).choice().engine, "fast");
        }
        assert_eq!(engines.programs.len(), MAX_PROGRAMS);
    }

    #[test]
    fn programs_that_are_not_lifted_are_run_by_the_interpreter_with_the_reason() {
        use r500_chip::values::FlowOp;
        use r500_chip::vap::{
            VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex,
        };
        let code: Vec<Instruction> = vec![ADD.parse().unwrap(); 3];
        let mut controls = Controls::of_code(0, &code);
        // Its further iterations begin at another instruction.
        controls.flow = vec![r500_pvs::Flow {
            number: 0,
            op: FlowOp::LOOP,
            low: VapPvsFlowCntlAddrsLw(5 << 16),
            high: VapPvsFlowCntlAddrsUw(2 | 2 << 16),
            index: VapPvsFlowCntlLoopIndex(0),
        }];
        let program = Program::from_code(controls, 0, code);
        let EngineChoice { engine, fallback_reason } =
            runner(&mut engines(0), program, &[], 1).choice();
        assert_eq!(engine, "interpreter");
        let reason = fallback_reason.unwrap();
        assert!(reason.starts_with("flow control is not lifted"), "{reason}");
    }
}
