//! The same for vertex programs.

use r500_opt::vertex::{self, Optimized};
use r500_pvs::{Equality, GivenConstants, Instruction, Program, Source, prove_equal};

use crate::equivalence::{VertexDifference, VertexSearch};

/// Batches of random vertices, each with constants of its own, besides those of edge values.
const BATCHES: u64 = 48;
/// Instructions that a program may execute for a vertex.
const INSTRUCTIONS: u64 = 1 << 16;

/// Evidence that an optimised vertex program is correct.
#[derive(Clone, Debug)]
pub enum VertexEvidence {
    /// The program is unchanged.
    Unchanged,
    /// The programs are proved equal for all inputs and all constants, and compute the same for the vertices that were tried.
    Proved,
    /// They compute the same for all vertices that were tried, without a proof.
    Equal {
        /// The number of vertices.
        vertices: u64,
    },
    /// They differ, which is a bug of the optimiser: the result is dropped.
    Different(Box<VertexDifference>),
    /// The program ends for no vertex, so that nothing was compared: the result is dropped.
    NotRun,
}

impl VertexEvidence {
    /// Returns whether the result was dropped.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Different(_) | Self::NotRun)
    }

    /// Compares two programs, also with constants that a text gives.
    #[must_use]
    pub fn of(original: &Program, result: &Program, constants: &GivenConstants) -> Self {
        let none = GivenConstants::new();
        let search = VertexSearch {
            batches: BATCHES,
            seed: 1,
            tolerance: None,
            instructions: INSTRUCTIONS,
            deadline: None,
        };
        let mut vertices = 0;
        let given = [&none, constants];
        for given in given.into_iter().take(if constants.is_empty() { 1 } else { 2 }) {
            let verdict = search.compare([(original, given), (result, given)]);
            if let Some(difference) = verdict.difference {
                return Self::Different(Box::new(difference));
            }
            vertices += verdict.vertices;
        }
        match prove_equal([(original, &none), (result, &none)]) {
            _ if vertices == 0 => Self::NotRun,
            Equality::Proved => Self::Proved,
            Equality::Unproved { .. } | Equality::Unknown { .. } => Self::Equal { vertices },
        }
    }
}

/// A validated optimisation of a vertex program.
#[derive(Clone, Debug)]
pub struct CheckedVertex {
    /// The optimised program with all that the text gives, or the original one.
    pub source: Source,
    /// The optimisation, also if the result was dropped.
    pub optimized: Optimized,
    /// The evidence.
    pub evidence: VertexEvidence,
}

/// Optimises a vertex program and checks the result. `only` names the [passes](vertex::passes) that run; all if it is empty.
#[must_use]
pub fn optimize_vertex(source: &Source, only: &[String]) -> CheckedVertex {
    let optimized = vertex::optimize(&source.program, only);
    if optimized.changes.is_empty() {
        let (source, evidence) = (source.clone(), VertexEvidence::Unchanged);
        return CheckedVertex { source, optimized, evidence };
    }
    let evidence = VertexEvidence::of(&source.program, &optimized.program, &source.constants);
    let program =
        if evidence.is_refusal() { source.program.clone() } else { optimized.program.clone() };
    let program = filled(program, source);
    // Places in the text are those of the original.
    let source = Source { program, spans: Vec::new(), ..source.clone() };
    CheckedVertex { source, optimized, evidence }
}

/// Returns a program whose instructions have in the sources that nothing reads what the original has there, if that is the same everywhere.
fn filled(program: Program, original: &Source) -> Program {
    let (base, code) = program.instructions();
    let (_, old) = original.program.instructions();
    if !old.iter().all(|inst| original.fill.instruction(*inst) == *inst) {
        return program;
    }
    let code = code.iter().map(|inst| original.fill.instruction(*inst)).collect();
    Program::from_code(program.controls().clone(), base, code)
}

/// Returns the text of an optimised vertex program in which comments, names and statements of instructions that stay are as they were; other
/// instructions are printed. `None` if no such text parses to the result: if instructions are in an included file or a macro, or registers name
/// instructions.
#[must_use]
pub fn rewrite_vertex_source(
    text: &str,
    original: &Source,
    checked: &CheckedVertex,
) -> Option<String> {
    if matches!(checked.evidence, VertexEvidence::Unchanged) || checked.evidence.is_refusal() {
        return Some(text.to_owned());
    }
    let (base, old) = original.program.instructions();
    let (_, new) = checked.source.program.instructions();
    let spans = &original.spans;
    // Each instruction has a statement of its own.
    let is_ascending = spans.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if spans.len() != old.len() || !is_ascending || spans.last()?.end > text.len() {
        return None;
    }
    // A statement stands where the last one was that it replaces, in the order of the result.
    let mut place = 0;
    let places: Vec<usize> = (checked.optimized.origins.iter())
        .map(|origins| {
            let last = origins.iter().max().map_or(0, |last| last.saturating_sub(base));
            place = last.clamp(place, spans.len() - 1);
            place
        })
        .collect();
    let (mut result, mut at) = (String::new(), 0);
    for (n, span) in spans.iter().enumerate() {
        result.push_str(&text[at..span.start]);
        at = span.end + text[span.end..].find(';')? + 1;
        let statement = |inst: &Instruction| match old[n] == *inst {
            true => text[span.start..at].to_owned(),
            false => format!("{} ;", inst.with_fill(original.fill)),
        };
        let here = new.iter().zip(&places).filter(|(_, place)| **place == n);
        let statements: Vec<String> = here.map(|(inst, _)| statement(inst)).collect();
        result.push_str(&statements.join("\n"));
        // The line of a statement that is gone goes with it, and so does its comment.
        let rest = &text[at..];
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let is_alone = result.rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
        let more = rest[..end].trim();
        if statements.is_empty() && is_alone && (more.is_empty() || more.starts_with("--")) {
            result.truncate(result.rfind('\n').map_or(0, |end| end + 1));
            at += end;
        }
    }
    result.push_str(&text[at..]);
    let parsed = Source::parse(&result, &mut |_| Err(String::new())).ok()?;
    let source = &checked.source;
    let is_same = parsed.program == source.program
        && parsed.constants == source.constants
        && parsed.inputs == source.inputs
        && parsed.expectations.len() == source.expectations.len();
    is_same.then_some(result)
}
