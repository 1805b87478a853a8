//! Evaluation of the `EXPECT` directives of a source.

use r500::asm::{ExpectedPixels, ExpectedQuantity};
use r500::builtin_uniforms;
use r500::exec::{Frame, Limits, Options, Shader, draw};
use r500::expectation::{Mismatch, Quantity, mismatches};
use r500::program::Job;
use r500_jit::Jit;
use serde::Serialize;

use crate::document::{Document, Range};

/// An `EXPECT` directive, and whether the picture meets it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Judged {
    /// Its place.
    #[serde(flatten)]
    pub range: Range,
    /// Whether the picture meets it.
    pub passes: bool,
    /// The first pixel that does not, and its value.
    pub text: String,
}

/// Draws the picture of the source and evaluates the directives in the source itself.
///
/// # Errors
/// The reason why the picture cannot be drawn.
pub fn judge(
    document: &Document,
    job: &Job,
    engine: &Jit,
    limit: u64,
) -> Result<Vec<Judged>, String> {
    let expected = &document.assembly().expected;
    let counts = |one: &&ExpectedPixels| {
        !matches!(one.what, ExpectedQuantity::Background | ExpectedQuantity::Covered)
    };
    if !expected.iter().any(|one| counts(&one)) {
        return Ok(Vec::new());
    }
    let size = job.size.ok_or("the source gives no SIZE")?;
    let shader = Shader::new(&job.program).map_err(|error| error.to_string())?;
    let bindings = builtin_uniforms::bind(job, size).map_err(|error| error.to_string())?;
    let limits = Limits { instructions: limit, memory: 1 << 30, time: None };
    let options = Options { threads: 1, limits, ..Options::default() };
    let frame = draw(engine, &shader, &bindings, &options).map_err(|error| error.to_string())?;
    let wrong = mismatches(&frame, &job.expect);
    let index = |mismatch: &Mismatch| {
        let [x, y] = mismatch.pixel;
        y as usize * size[0] as usize + x as usize
    };
    let judged = expected.iter().filter(counts).filter_map(|one| {
        let range = document.range(one.span)?;
        let of_this =
            |mismatch: &&Mismatch| one.contains(index(mismatch)) && same(one.what, &mismatch.what);
        let first = wrong.iter().find(of_this);
        let text = first.map_or_else(String::new, |mismatch| describe(mismatch, &frame));
        Some(Judged { range, passes: first.is_none(), text })
    });
    Ok(judged.collect())
}

fn same(expected: ExpectedQuantity, what: &Quantity) -> bool {
    match (expected, what) {
        (ExpectedQuantity::Target(n), Quantity::Color { target, .. }) => usize::from(n) == *target,
        (ExpectedQuantity::Depth, Quantity::Depth { .. })
        | (ExpectedQuantity::Coverage, Quantity::Coverage { .. })
        | (_, Quantity::Size { .. }) => true,
        _ => false,
    }
}

fn describe(mismatch: &Mismatch, frame: &Frame) -> String {
    let [x, y] = mismatch.pixel;
    match &mismatch.what {
        Quantity::Color { got: [r, g, b, a], .. } => {
            format!("pixel {x}, {y} is ({r}, {g}, {b}, {a})")
        }
        Quantity::Depth { got, .. } => format!("pixel {x}, {y} has depth {got}"),
        Quantity::Coverage { wanted } => {
            format!("pixel {x}, {y} is {}drawn", if *wanted { "not " } else { "" })
        }
        Quantity::Size { wanted, .. } => {
            format!("it is about {wanted} pixels, the picture has {}", frame.coverage().len())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn each_directive_is_judged_alone() {
        let text = "SIZE 2 2 ; EXPECT tolerance = 0.01 ;\n\
            EXPECT out[0] at (0, 0) = (0.25, 0.25, 0, 1) ;\n\
            EXPECT out[0] at (1, 0) = (0.5, _, _, _) ;\n\
            EXPECT out[0] column 1 = (0.75, _, _, _), (0.75, 0.75, 0, 1) ;\n\
            EXPECT coverage all = false ;\n\
            OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;";
        let document = Document::new(text.into(), "x".into(), Vec::new());
        let judge = |document: &Document| {
            judge(document, &document.job().unwrap(), &Jit::default(), 1000).unwrap()
        };
        let judged = judge(&document);
        let told: Vec<(bool, &str)> =
            judged.iter().map(|one| (one.passes, one.text.as_str())).collect();
        assert_eq!(told, [(true, ""), (true, ""), (true, ""), (false, "pixel 0, 0 is drawn")]);
        assert!(text[judged[1].range.from..].starts_with("EXPECT out[0] at (1, 0)"));
        let wrong = text.replace("(0.25, 0.25", "(0.5, 0.25");
        let document = Document::new(wrong, "x".into(), Vec::new());
        let judged = judge(&document);
        assert_eq!(judged[0].text, "pixel 0, 0 is (0.25, 0.25, 0, 1)");
    }
}
