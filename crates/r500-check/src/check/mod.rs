//! The checks. Each module finds what its name says and adds to the report.

mod facts;
mod flow;
mod machine;
mod nan;
mod registers;
mod timing;
mod values;

use r500_isa::{BitField, FieldValue, TEXTURE_UNITS, Word};
use r500_program::{Job, Program};

use crate::dataflow::{ChannelSet, Dataflow};
use crate::finding::{Edit, Finding, Fix, Place};
use crate::graph::{Graph, Structure, Unstructured, WindowError};
use crate::{Code, Severity, Verdict};

/// What is known beside the program. What is not known is not complained about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given {
    /// Channels of temporaries that the rasteriser writes before the program starts.
    pub inputs: Option<ChannelSet>,
    /// Texture units that are enabled, unit 0 in bit 0.
    pub units: Option<u16>,
}

impl Given {
    /// What a job says. A job that names neither inputs nor textures says nothing of either.
    #[must_use]
    pub fn by(job: &Job) -> Self {
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

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The findings, in the order of addresses; those about no instruction first.
    pub findings: Vec<Finding>,
    /// What they come to.
    pub verdict: Verdict,
}

impl Report {
    /// Whether there are errors.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity() == Severity::Error)
    }

    /// The findings with a code.
    pub fn with_code(&self, code: Code) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.code == code)
    }
}

/// Checks a job: its program, with the inputs and textures that it names.
#[must_use]
pub fn check_job(job: &Job) -> Report {
    check(&job.program, &Given::by(job))
}

/// Checks a program.
///
/// Takes time about linear in the program, and never longer than following
/// [`STATES`](crate::limits::STATES) states of a group takes.
#[must_use]
pub fn check(program: &Program, given: &Given) -> Report {
    examine(program, given).report
}

/// A report, and what was found out on the way to it.
#[derive(Debug)]
pub struct Examination {
    /// The report.
    pub report: Report,
    /// The flow graph; `None` where nothing can run.
    pub graph: Option<Graph>,
    /// The statements, or why there are none; `None` where the graph is not complete.
    pub structure: Option<Result<Structure, Unstructured>>,
}

/// [`check`], for those who go on with the graph and the statements.
#[must_use]
pub fn examine(program: &Program, given: &Given) -> Examination {
    examine_for(program, given, Wanted::All)
}

/// [`examine`] for engines, with nothing given: only errors are looked for, which decide the verdict.
#[must_use]
pub fn examine_errors(program: &Program) -> Examination {
    examine_for(program, &Given::default(), Wanted::Errors)
}

/// Which findings somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Errors,
}

fn examine_for(program: &Program, given: &Given, wanted: Wanted) -> Examination {
    let mut findings = Vec::new();
    machine::check_size(program, &mut findings);
    let graph = match Graph::new(program) {
        Ok(graph) => graph,
        Err(error) => {
            findings.push(window_error(&error));
            let report = Report { findings, verdict: Verdict::Broken };
            return Examination { report, graph: None, structure: None };
        }
    };
    let structure = (!graph.gave_up()).then(|| Structure::recover(program, &graph));
    let report = check_graph(program, given, &graph, &structure, wanted, findings);
    Examination { report, graph: Some(graph), structure }
}

/// Checks a program whose graph and statements are at hand.
fn check_graph(
    program: &Program,
    given: &Given,
    graph: &Graph,
    structure: &Option<Result<Structure, Unstructured>>,
    wanted: Wanted,
    findings: Vec<Finding>,
) -> Report {
    let recovered = structure.as_ref().and_then(|s| s.as_ref().ok());
    let flow = Dataflow::new(graph, recovered);
    let stated = is_stated(program);
    let mut checker = Checker { program, given, graph, structure, flow: &flow, stated, findings };
    if graph.gave_up() {
        checker.add(
            Code::TooTangled,
            Place::Program,
            "too many nestings of calls and loops".into(),
        );
    }
    checker.check_machine();
    checker.check_flow();
    // All that these find are warnings.
    let defined = wanted == Wanted::All && {
        checker.check_timing();
        checker.check_values();
        checker.check_registers()
    };
    let mut findings = checker.findings;
    findings.retain(|finding| wanted == Wanted::All || finding.severity() == Severity::Error);
    findings.sort_by_key(|finding| (finding.place.index().map_or(0, |i| i + 1), finding.code));
    let broken = findings.iter().any(|finding| finding.severity() == Severity::Error);
    let verdict = if broken {
        Verdict::Broken
    } else {
        facts::verdict(program, given, graph, recovered, defined)
    };
    Report { findings, verdict }
}

struct Checker<'a> {
    program: &'a Program,
    given: &'a Given,
    graph: &'a Graph,
    /// `None` where the graph is not complete.
    structure: &'a Option<Result<Structure, Unstructured>>,
    flow: &'a Dataflow,
    /// Whether the program carries any state: what is missing from it is missing then.
    stated: bool,
    findings: Vec<Finding>,
}

impl<'a> Checker<'a> {
    fn recovered(&self) -> Option<&'a Structure> {
        self.structure.as_ref().and_then(|s| s.as_ref().ok())
    }

    /// Indices that some run may reach.
    fn reached(&self) -> impl Iterator<Item = usize> + use<'a> {
        let graph = self.graph;
        (0..graph.len()).filter(move |&index| graph.reaches(index))
    }

    fn add(&mut self, code: Code, place: Place, message: String) {
        self.findings.push(Finding { code, place, message, fix: None, related: Vec::new() });
    }

    fn add_fixed(&mut self, code: Code, place: Place, message: String, fix: Fix) {
        self.findings.push(Finding { code, place, message, fix: Some(fix), related: Vec::new() });
    }

    /// Other instructions that matter to the finding that was added last.
    fn relate(&mut self, others: impl IntoIterator<Item = usize>, why: &'static str) {
        let places: Vec<_> = others.into_iter().map(|index| (self.at(index), why)).collect();
        if let Some(finding) = self.findings.last_mut() {
            finding.related.extend(places);
        }
    }

    fn at(&self, index: usize) -> Place {
        Place::Instruction { index, address: self.graph.window().address(index), field: None }
    }

    fn field<W: Word, T: FieldValue>(
        &self,
        index: usize,
        word: u8,
        field: BitField<W, T>,
    ) -> Place {
        let field = Some((word, field.describe()));
        Place::Instruction { index, address: self.graph.window().address(index), field }
    }

    /// A fix that sets one flag of an instruction.
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

/// Whether a program comes with state at all. One without, such as bare dwords, will get its state
/// elsewhere.
fn is_stated(program: &Program) -> bool {
    let state = &program.state;
    state.config.is_some()
        || state.pixsize.is_some()
        || state.fc_ctrl.is_some()
        || state.fc_bool_const.is_some()
        || state.code_addr.is_some()
        || state.code_range.is_some()
        || state.code_offset.is_some()
        || !state.constants.is_empty()
        || state.fc_int_const.iter().any(Option::is_some)
}

fn window_error(error: &WindowError) -> Finding {
    use r500_isa::state::{UsCodeAddr, UsCodeRange};
    let (code, place) = match error {
        WindowError::Empty => (Code::NoInstructions, Place::Program),
        WindowError::EmptyWindow { .. } => (Code::EmptyWindow, Place::State(UsCodeRange::REGISTER)),
        WindowError::StartOutside { .. } => {
            (Code::StartOutside, Place::State(UsCodeAddr::REGISTER))
        }
    };
    Finding { code, place, message: error.to_string(), fix: None, related: Vec::new() }
}
