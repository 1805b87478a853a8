//! The analysis of a program that a lift needs.

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
    pub(crate) fn holds_for(&self, input: &LiftInput<'_>) -> bool {
        (self.bool_constants, self.int_constants) == (input.bool_constants, input.int_constants)
    }

    /// Returns whether another analysis of the same program is equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.bool_constants, self.int_constants) == (other.bool_constants, other.int_constants)
    }

    /// Asserts, in builds with debug assertions, that the analysis holds for an input.
    pub(crate) fn debug_assert_holds_for(&self, input: &LiftInput<'_>) {
        debug_assert!(
            self.holds_for(input) && self.graph.len() == input.shader.code().len(),
            "the analysis is of another program"
        );
    }
}

fn broken(lints: &[Lint]) -> LiftError {
    let error = lints.iter().find(|lint| lint.severity() == Severity::Error);
    LiftError::Broken(error.expect("a broken program has an error").to_string())
}
