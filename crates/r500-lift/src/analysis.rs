//! The analysis of a program that a lift needs.

use std::sync::{Arc, Mutex, PoisonError};

use r500_check::graph::{Graph, Structure};
use r500_check::{Analysis, Facts, Lint, Severity, Verdict};
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::{INT_CONSTANTS, InstInfo};
use r500_program::Executable;

use crate::{LiftError, LiftInput, UnknownConstant};

/// The checker's analysis of a program for given integer and boolean constants. It holds for all runs with these, whatever else they bind.
#[derive(Debug)]
pub struct ProgramAnalysis {
    pub(crate) facts: Facts,
    pub(crate) graph: Graph,
    pub(crate) structure: Structure,
    bool_constants: Option<UsFcBoolConst>,
    int_constants: [Option<UsFcIntConst>; INT_CONSTANTS],
}

impl ProgramAnalysis {
    /// Analyses a program.
    ///
    /// # Errors
    /// [`LiftError`] if the program needs the reference engine.
    pub fn new(input: &LiftInput<'_>) -> Result<Self, LiftError> {
        let program = input.executable();
        let Analysis { report, graph, structure } = r500_check::analyze_errors(&program);
        let facts = match report.verdict {
            Verdict::Clean(facts) => facts,
            Verdict::Incomplete { int_constants } => {
                let first = UnknownConstant::Integer(int_constants.trailing_zeros() as u8);
                return Err(LiftError::Unknown(first));
            }
            Verdict::Broken => return Err(broken(&report.lints)),
        };
        let (graph, structure) =
            graph.zip(structure).expect("programs without errors have a graph");
        let structure = structure.map_err(|error| LiftError::Unstructured {
            address: graph.window().address(error.index),
            reason: error.reason,
        })?;
        let Executable { bool_constants, int_constants, .. } = program;
        Ok(Self { facts, graph, structure, bool_constants, int_constants })
    }

    /// Returns the def/use facts of the instruction at an index.
    pub(crate) fn info(&self, index: usize) -> &InstInfo {
        self.graph.info(index)
    }

    /// Returns whether the analysis holds for an input with the same program.
    fn holds_for(&self, input: &LiftInput<'_>) -> bool {
        (self.bool_constants, self.int_constants) == (input.bool_constants, input.int_constants)
    }

    /// Asserts, in builds with debug assertions, that the analysis holds for an input.
    pub(crate) fn debug_assert_holds_for(&self, input: &LiftInput<'_>) {
        debug_assert!(
            self.holds_for(input) && self.graph.len() == input.shader.code().len(),
            "the analysis is of another program"
        );
    }
}

/// The last analysis of a program, for further lifts with other bindings.
#[derive(Debug, Default)]
pub struct AnalysisCache(Mutex<Option<Arc<ProgramAnalysis>>>);

impl AnalysisCache {
    /// Returns the analysis of a program: the last one, if it has the same integer and boolean constants. All inputs must have one program.
    ///
    /// # Errors
    /// [`LiftError`] if the program needs the reference engine.
    pub fn get(&self, input: &LiftInput<'_>) -> Result<Arc<ProgramAnalysis>, LiftError> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(analysis) = last.filter(|analysis| analysis.holds_for(input)) {
            return Ok(analysis);
        }
        let analysis = Arc::new(ProgramAnalysis::new(input)?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&analysis));
        Ok(analysis)
    }
}

fn broken(lints: &[Lint]) -> LiftError {
    let error = lints.iter().find(|lint| lint.severity() == Severity::Error);
    LiftError::Broken(error.expect("a broken program has an error").to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_exec::{Bindings, Draw, Options, Shader};
    use r500_isa::Instruction;
    use r500_program::{Job, Program};

    use super::*;

    #[test]
    fn another_analysis_is_made_only_for_other_integer_and_boolean_constants() {
        // out[0].rgb = MAD src0.rgb src0.111 src0.000, out[0].a = MAX src0.1 src0.1
        let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
        let mut job = Job::from_program(Program::from_code(code));
        let shader = Shader::new(&job.program).unwrap();
        let options = Options::default();
        let cache = AnalysisCache::default();
        let analysis = |job: &Job, constant: f32| {
            let mut bindings = Bindings::new(job, [2, 2]).unwrap();
            bindings.set_constant(0, [constant; 4]).unwrap();
            let draw = Draw::new(&shader, &bindings, &options).unwrap();
            cache.get(&LiftInput::of_draw(&draw).unwrap()).unwrap()
        };
        let first = analysis(&job, 1.0);
        assert!(Arc::ptr_eq(&first, &analysis(&job, 2.0)));
        // An unbound constant is 0.
        job.program.state.fc_bool_const = Some(UsFcBoolConst(0));
        assert!(Arc::ptr_eq(&first, &analysis(&job, 2.0)));
        job.program.state.fc_bool_const = Some(UsFcBoolConst(1));
        let other = analysis(&job, 2.0);
        assert!(!Arc::ptr_eq(&first, &other) && Arc::ptr_eq(&other, &analysis(&job, 1.0)));
        job.program.state.fc_int_const[3] = Some(UsFcIntConst(5));
        assert!(!Arc::ptr_eq(&other, &analysis(&job, 1.0)));
    }
}
