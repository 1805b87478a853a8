//! Optimisation of the program: the result as a source, the changes, costs, and the evidence.

use r500::equivalence::Trial;
use r500::opt::{Change as OptChange, Cost as OptCost, Options, passes};
use r500::optimizer::{self, Checked, Evidence};
use serde::Serialize;

use crate::document::{Document, Range};
use crate::open;

/// An optimised program, and the evidence that it is equivalent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Optimized {
    /// The result as a source; lines of unchanged instructions are kept.
    pub text: String,
    /// The place of each instruction of the result in `text`.
    pub ranges: Vec<Range>,
    /// For each instruction of the result the instructions of the original that it stands for, by number.
    pub origins: Vec<Vec<u32>>,
    /// Costs before and after.
    pub cost: [Cost; 2],
    /// The evidence that the result is equivalent; `refused` results are not returned.
    #[cfg_attr(test, ts(type = "\"unchanged\" | \"proved\" | \"equal\" | \"refused\""))]
    pub verdict: &'static str,
    /// The verdict in a sentence.
    pub evidence: String,
    /// The changes, in order.
    pub changes: Vec<Change>,
}

/// The cost of a program.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cost {
    /// Issue cycles of the longest path; 0 where the program is not structured.
    pub cycles: u64,
    /// Instruction slots.
    pub slots: u64,
    /// Temporaries.
    pub temporaries: u64,
    /// Instructions with NOP.
    pub nops: u64,
}

/// A change that a pass made.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Change {
    /// The pass.
    pub pass: &'static str,
    /// The effect of the pass.
    pub what: &'static str,
    /// Why the change does not alter results.
    pub why: &'static str,
    /// Numbers of the original instructions that it concerned.
    pub before: Vec<u32>,
    /// Numbers of the instructions of the result that they have become.
    pub after: Vec<u32>,
    /// Costs before and after it.
    pub cost: [Cost; 2],
}

/// Optimises a program and checks the result against it.
///
/// # Errors
/// The reason why the program cannot run.
pub fn optimize(document: &Document) -> Result<Optimized, String> {
    let job = document.job()?;
    let checked = optimizer::optimize(&job, &Options::default());
    let (verdict, evidence) = verdict(&checked.evidence);
    let refused = checked.evidence.is_refusal();
    let unchanged = refused || checked.evidence == Evidence::Unchanged;
    let result = if unchanged { same(document) } else { source(document, &checked) };
    let [before, after] = checked.optimized.cost;
    let origins = if unchanged {
        (0..).take(job.program.code.len()).map(|at| vec![at]).collect()
    } else {
        checked.optimized.origins
    };
    Ok(Optimized {
        ranges: (result.assembly().spans.iter())
            .map(|span| result.range(*span).unwrap_or(Range { from: 0, to: 0 }))
            .collect(),
        text: result.text,
        origins,
        cost: [before, if unchanged { before } else { after }].map(cost),
        verdict,
        evidence,
        changes: if unchanged {
            Vec::new()
        } else {
            checked.optimized.changes.into_iter().map(change).collect()
        },
    })
}

fn verdict(evidence: &Evidence) -> (&'static str, String) {
    match evidence {
        Evidence::Unchanged => ("unchanged", "Nothing is better: the program stays.".to_owned()),
        Evidence::Proved => (
            "proved",
            "Proved: equal in every bit for all constants, inputs and textures.".to_owned(),
        ),
        Evidence::Trial(Trial::Equal { rounds, pixels }) => (
            "equal",
            format!(
                "Not proved, but run: {rounds} runs with random constants, inputs and textures are equal in every \
                 bit of {pixels} pixels."
            ),
        ),
        Evidence::Trial(Trial::Different { round, difference }) => (
            "refused",
            format!(
                "The result differs from the program (run {round}, pixel {}, {}): a bug of the optimiser. The \
                 program stays.",
                difference.pixel[0], difference.pixel[1]
            ),
        ),
        Evidence::Trial(Trial::NotRun(why)) => (
            "refused",
            format!("No run ended, so the result cannot be checked ({why}). The program stays."),
        ),
    }
}

fn cost(cost: OptCost) -> Cost {
    let OptCost { cycles, slots, temporaries, nops } = cost;
    Cost { cycles, slots, temporaries, nops }
}

fn change(change: OptChange) -> Change {
    let OptChange { pass, before, after, cost: costs, why } = change;
    let info = passes().iter().find(|info| info.name == pass);
    let what = info.map_or("", |info| info.what);
    Change { pass, what, why, before, after, cost: costs.map(cost) }
}

fn same(document: &Document) -> Document {
    Document::new(document.text.clone(), document.name.clone(), document.files.clone())
}

/// Returns the result as a source.
fn source(document: &Document, checked: &Checked) -> Document {
    let new = |text: String| Document::new(text, document.name.clone(), document.files.clone());
    let job_of = |text: &str| {
        let candidate = new(text.to_owned());
        if candidate.assembly().is_ok() { candidate.job().ok() } else { None }
    };
    match optimizer::rewrite_source(document.assembly(), checked, &job_of) {
        Some(text) => new(text),
        None => Document::new(open::source(&checked.job), document.name.clone(), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SOURCE: &str = "\
-- caf\u{e9}
SIZE 4 4 ;
US_PIXSIZE = PIX_SIZE(2) ;
DEF wave = temp[1] ;
-- A copy.
src0.rgb = temp[0] : temp[2].rgb = MAX src0.rgb src0.rgb ;
-- The wave.
src0.rgb = temp[2], src0.a = const[0] : wave.rgb = MAD src0.rgb src0.aaa src0.000 ; -- of a half
OUT LAST src0.rgb = wave : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
EXPECT out[0] at (0, 0) = (0, 0, 0, 1) ;
";

    fn document(text: &str) -> Document {
        let document = Document::new(text.into(), "x".into(), Vec::new());
        let errors: Vec<_> = document.assembly().diagnostics.iter().collect();
        assert!(document.assembly().is_ok(), "{errors:?}");
        document
    }

    #[test]
    fn a_copy_is_removed_and_the_source_around_it_stays() {
        let document = document(SOURCE);
        let found = optimize(&document).unwrap();
        assert_eq!(found.verdict, "proved", "{}", found.evidence);
        assert!(found.cost[1].slots < found.cost[0].slots, "{:?}", found.cost);
        assert_eq!(found.ranges.len() as u64, found.cost[1].slots);
        assert_eq!(found.origins.len(), found.ranges.len());
        assert!(!found.changes.is_empty());
        assert!(found.text.starts_with("-- caf\u{e9}\n"), "{}", found.text);
        assert!(found.text.contains("EXPECT out[0]"), "{}", found.text);
        let result = self::document(&found.text);
        assert_eq!(result.job().unwrap().program.code.len(), found.ranges.len());
        for range in &found.ranges {
            let line = &found.text[result.byte(range.from)..result.byte(range.to)];
            assert!(line.contains("MA"), "{line}");
        }
    }

    #[test]
    fn a_program_without_a_better_one_stays_as_it_is_written() {
        let text = "OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n";
        let found = optimize(&document(text)).unwrap();
        assert_eq!((found.verdict, found.text.as_str()), ("unchanged", text));
        assert_eq!(found.cost[0], found.cost[1]);
        assert_eq!(found.origins, [[0]]);
    }

    #[test]
    fn a_module_with_the_optimiser_alone_answers_as_the_whole_session_does() {
        let ask = |name: &str| format!("{}\n", serde_json::json!({ "do": name, "text": SOURCE }));
        let request = ask("optimize");
        let alone =
            crate::on_demand::OnDemandSession::default().answer(request.as_bytes()).unwrap();
        assert!(alone.contains("proved"), "{alone}");
        assert_eq!(crate::Session::default().answer(request.as_bytes()).unwrap(), alone);
        assert!(
            crate::on_demand::OnDemandSession::default().answer(ask("flow").as_bytes()).is_err()
        );
    }

    /// An unchanged instruction keeps its line with comment and names.
    #[test]
    fn lines_of_instructions_that_stay_are_kept() {
        let text = "\
DEF wave = temp[1] ;
src0.rgb = temp[0] : temp[2].rgb = MAX src0.rgb src0.rgb ; -- nothing reads it
-- The wave.
src0.rgb = temp[0], src0.a = const[0] : wave.rgb = MAD src0.rgb src0.aaa src0.000 ; -- of a half
OUT LAST src0.rgb = wave : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
";
        let only = Options { only: vec!["dead".into()], ..Options::default() };
        let document = document(text);
        let checked = optimizer::optimize(&document.job().unwrap(), &only);
        let result = source(&document, &checked);
        let wanted: Vec<&str> = text.lines().filter(|line| !line.contains("nothing")).collect();
        assert_eq!(result.text.lines().collect::<Vec<_>>(), wanted);
    }
}
