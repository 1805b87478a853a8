//! The lint passes. Each module implements the lints of one subject.

mod facts;
mod flow;
mod machine;
mod nan;
mod registers;
mod timing;
mod values;

use r500_isa::{BitField, FieldValue, TEXTURE_UNITS, Word};
use r500_program::{Executable, Job, Program, State, WindowError};

use crate::dataflow::{ChannelSet, Dataflow};
use crate::graph::{Graph, Structure, Unstructured};
use crate::limits::LINTS;
use crate::lint::{Edit, Fix, Lint, Location};
use crate::{LintCode, Severity, Verdict};

/// Assumptions about the program's environment. A lint that needs an unknown fact is not reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assumptions {
    /// Channels of temporaries that the rasteriser writes before the program starts.
    pub inputs: Option<ChannelSet>,
    /// Texture units that are enabled, unit 0 in bit 0.
    pub units: Option<u16>,
}

impl Assumptions {
    /// Returns the assumptions that a job implies. A job that names neither inputs nor textures
    /// implies nothing about either.
    #[must_use]
    pub fn of_job(job: &Job) -> Self {
        let inputs = job.inputs.as_ref().map(|inputs| {
            let mut set = ChannelSet::EMPTY;
            inputs.iter().for_each(|input| set.insert_temp(input.temp, 0b1111));
            set
        });
        let bound = (0..TEXTURE_UNITS).filter(|&unit| job.textures[unit].is_some());
        let units = bound.fold(0, |mask, unit| mask | 1u16 << unit);
        let known = inputs.is_some() || units != 0;
        Self { inputs, units: known.then_some(units) }
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The lints in address order, those without an instruction first; at most [`LINTS`](crate::limits::LINTS) errors,
    /// and as many warnings and notes.
    pub lints: Vec<Lint>,
    /// Number of lints above these limits.
    pub omitted: usize,
    /// The verdict.
    pub verdict: Verdict,
}

impl Report {
    /// Returns whether there are errors.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.lints.iter().any(|finding| finding.severity() == Severity::Error)
    }

    /// Returns the lints with a code.
    pub fn with_code(&self, code: LintCode) -> impl Iterator<Item = &Lint> {
        self.lints.iter().filter(move |finding| finding.code == code)
    }
}

/// Checks a job: its program, with the inputs and textures that the job names.
#[must_use]
pub fn check_job(job: &Job) -> Report {
    check(&job.program, &Assumptions::of_job(job))
}

/// Checks a program.
///
/// The time is roughly linear in the program length; the number of states of a group is limited to
/// [`STATES`](crate::limits::STATES).
#[must_use]
pub fn check(program: &Program, assumptions: &Assumptions) -> Report {
    analyze(program, assumptions).report
}

/// The complete analysis of a program: report, graph and structure.
#[derive(Debug)]
pub struct Analysis {
    /// The report.
    pub report: Report,
    /// The flow graph; `None` if no instruction can run.
    pub graph: Option<Graph>,
    /// The structured program, or why it is unstructured; `None` if the graph is incomplete.
    pub structure: Option<Result<Structure, Unstructured>>,
}

/// Checks a program and returns its graph and structure too.
#[must_use]
pub fn analyze(program: &Program, assumptions: &Assumptions) -> Analysis {
    let Program { code, state } = program;
    let past_slots = machine::past_slots(state.base_address().into(), code.len());
    let mut lints: Vec<Lint> =
        past_slots.into_iter().chain(machine::too_many_constants(state)).collect();
    match Executable::of(program) {
        Ok(program) => analyze_executable(&program, Some(state), assumptions, lints),
        Err(error) => {
            lints.push(window_error(&error));
            let report = Report { lints, omitted: 0, verdict: Verdict::Broken };
            Analysis { report, graph: None, structure: None }
        }
    }
}

/// Analyses a program for an engine: makes no assumptions and searches only for the errors that
/// decide the verdict.
#[must_use]
pub fn analyze_errors(program: &Executable<'_>) -> Analysis {
    let past_slots = machine::past_slots(program.window.offset, program.code.len());
    analyze_executable(program, None, &Assumptions::default(), past_slots.into_iter().collect())
}

/// Analyses a program, with its `state` for warnings and notes; without, only errors are reported.
fn analyze_executable(
    program: &Executable<'_>,
    state: Option<&State>,
    assumptions: &Assumptions,
    lints: Vec<Lint>,
) -> Analysis {
    let graph = Graph::of(program);
    let structure = (!graph.gave_up()).then(|| Structure::recover(&graph));
    let report = check_graph(program, state, assumptions, &graph, &structure, lints);
    Analysis { report, graph: Some(graph), structure }
}

/// Checks a program with a given graph and structure.
fn check_graph(
    program: &Executable<'_>,
    state: Option<&State>,
    assumptions: &Assumptions,
    graph: &Graph,
    structure: &Option<Result<Structure, Unstructured>>,
    lints: Vec<Lint>,
) -> Report {
    let recovered = structure.as_ref().and_then(|s| s.as_ref().ok());
    let flow = Dataflow::new(graph, recovered);
    let errors = lints.iter().filter(|lint| lint.severity() == Severity::Error).count();
    let mut checker = Checker {
        program,
        state,
        assumptions,
        graph,
        structure,
        flow: &flow,
        counts: [errors, lints.len() - errors],
        lints,
        omitted: 0,
        last_omitted: false,
    };
    if graph.gave_up() {
        checker.add(
            LintCode::TooTangled,
            Location::Program,
            "calls and loops nest in too many ways".into(),
        );
    }
    checker.check_machine();
    checker.check_flow();
    // These passes report warnings only.
    let defined = state.is_some_and(|state| {
        checker.check_timing();
        checker.check_values(state);
        checker.check_registers()
    });
    let Checker { mut lints, omitted, .. } = checker;
    lints.retain(|finding| state.is_some() || finding.severity() == Severity::Error);
    lints.sort_by_key(|finding| (finding.location.index().map_or(0, |i| i + 1), finding.code));
    let broken = lints.iter().any(|finding| finding.severity() == Severity::Error);
    let verdict = if broken {
        Verdict::Broken
    } else {
        facts::verdict(program, assumptions, graph, recovered, defined)
    };
    Report { lints, omitted, verdict }
}

struct Checker<'a> {
    program: &'a Executable<'a>,
    /// The state of the program; `None` if only errors are reported.
    state: Option<&'a State>,
    assumptions: &'a Assumptions,
    graph: &'a Graph,
    /// `None` if the graph is incomplete.
    structure: &'a Option<Result<Structure, Unstructured>>,
    flow: &'a Dataflow,
    lints: Vec<Lint>,
    /// Numbers of kept findings: errors; warnings and notes.
    counts: [usize; 2],
    /// Number of omitted findings, and whether the last one is omitted.
    omitted: usize,
    last_omitted: bool,
}

impl<'a> Checker<'a> {
    fn recovered(&self) -> Option<&'a Structure> {
        self.structure.as_ref().and_then(|s| s.as_ref().ok())
    }

    /// Returns the indices of reachable instructions.
    fn reached(&self) -> impl Iterator<Item = usize> + use<'a> {
        let graph = self.graph;
        (0..graph.len()).filter(move |&index| graph.reaches(index))
    }

    fn add(&mut self, code: LintCode, place: Location, message: String) {
        self.push(Lint { code, location: place, message, fix: None, related: Vec::new() });
    }

    /// Keeps a lint if the limit allows. Errors have a separate limit, so that warnings do not
    /// displace them.
    fn push(&mut self, lint: Lint) {
        let count = &mut self.counts[usize::from(lint.severity() != Severity::Error)];
        self.last_omitted = *count >= LINTS;
        if self.last_omitted {
            self.omitted += 1;
        } else {
            *count += 1;
            self.lints.push(lint);
        }
    }

    fn add_fixed(&mut self, code: LintCode, place: Location, message: String, fix: Fix) {
        self.push(Lint { code, location: place, message, fix: Some(fix), related: Vec::new() });
    }

    /// Adds related instructions to the last lint.
    fn relate(&mut self, others: impl IntoIterator<Item = usize>, why: &'static str) {
        if self.last_omitted {
            return;
        }
        let places: Vec<_> = others.into_iter().map(|index| (self.at(index), why)).collect();
        if let Some(finding) = self.lints.last_mut() {
            finding.related.extend(places);
        }
    }

    fn at(&self, index: usize) -> Location {
        Location::Instruction { index, address: self.graph.window().address(index), field: None }
    }

    fn field<W: Word, T: FieldValue>(
        &self,
        index: usize,
        word: u8,
        field: BitField<W, T>,
    ) -> Location {
        let field = Some((word, field.describe()));
        Location::Instruction { index, address: self.graph.window().address(index), field }
    }

    /// Returns a fix that sets one flag of an instruction.
    fn set_flag<W: Word>(&self, index: usize, word: u8, field: BitField<W, bool>) -> Fix {
        let address = self.graph.window().address(index);
        let edit = Edit::word(index, word, field, true);
        Fix {
            text: format!("set {} at address {address}", edit.field.name),
            safe: true,
            edits: vec![edit],
        }
    }
}

fn window_error(error: &WindowError) -> Lint {
    use r500_isa::state::{UsCodeAddr, UsCodeRange};
    let (code, place) = match error {
        WindowError::Empty => (LintCode::NoInstructions, Location::Program),
        WindowError::EmptyWindow { .. } => {
            (LintCode::EmptyWindow, Location::State(UsCodeRange::REGISTER))
        }
        WindowError::StartOutside { .. } => {
            (LintCode::StartOutside, Location::State(UsCodeAddr::REGISTER))
        }
    };
    Lint { code, location: place, message: error.to_string(), fix: None, related: Vec::new() }
}
