//! Comparison of two programs: their pictures, the first pixel that differs, and the first instruction where the runs diverge.

use r500::builtin_uniforms::BuiltinUniforms;
use r500::equivalence::{
    Comparison, Divergence, ExecutedInst, Fill, InterfaceMatch, Pair, Part, SIDES, UnmatchedValues,
};
use r500::exec::{Bindings, Engine, Frame, Limits, Options, draw};
use r500::image_diff::Comparison as ImageDiff;
use r500::picture::Picture;
use r500::program::{Input, Job};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::document::{Document, Range};
use crate::look::Look;

/// How two programs are compared.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CompareOptions {
    /// Width and height of both pictures.
    pub size: [u32; 2],
    /// Seconds.
    pub time: f32,
    /// The maximum difference that counts as equal, as `r500 diff --tolerance`; if absent, bits are compared.
    pub tolerance: Option<f32>,
    /// Instructions that a group of pixels may execute.
    pub limit: u64,
}

/// The result of a comparison.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Compared {
    /// Pixels compared.
    pub pixels: usize,
    /// Pixels that differ.
    pub differing: usize,
    /// Why there is no verdict: a result depends on what corresponds to nothing in the other program, or on what only the other carries.
    pub undecided: Option<String>,
    /// The first pixel that differs, row by row from the bottom.
    pub first: Option<[u32; 2]>,
    /// The differences at that pixel.
    pub text: Vec<String>,
    /// The instruction of each program where the runs diverge.
    pub parting: [Option<DivergenceView>; 2],
    /// Registers that got the same values because neither program provides them.
    pub notes: Vec<String>,
    /// Pictures of A and B and of their difference: 8 bits a channel, the upper row first.
    pub pictures: [Bytes; 3],
}

/// An instruction where two runs diverge.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Parting"))]
pub struct DivergenceView {
    /// The step that executes it, counted from 1.
    pub step: usize,
    /// Its address.
    pub address: u32,
    /// The instruction as text.
    pub text: String,
    /// Its place, if it is in the source itself.
    pub range: Option<Range>,
}

/// Compares two sources. `keep` stores the bytes of a picture.
///
/// # Errors
/// The reason why they cannot be compared.
pub fn compare(
    documents: [&Document; 2],
    asked: &CompareOptions,
    engine: &dyn Engine,
    keep: &mut dyn FnMut(Vec<u8>) -> Bytes,
) -> Result<Compared, String> {
    let mut jobs = [documents[0].job()?, documents[1].job()?];
    for job in &mut jobs {
        // The default inputs.
        job.inputs.get_or_insert_with(|| vec![Input::uv()]);
        let builtin = BuiltinUniforms {
            time: Some(asked.time),
            resolution: Some(asked.size),
            ..BuiltinUniforms::default()
        };
        builtin.apply(job);
    }
    let interface = InterfaceMatch::of(&jobs[0], &jobs[1]);
    let fill = Fill::new(&interface, 0);
    let mut notes = Vec::new();
    if fill.makes_up_values(&jobs) {
        notes.push(
            "constants and textures that neither program gives have made-up values, the same in both"
                .to_owned(),
        );
    }
    let told = |error: r500::equivalence::Incomparable| error.to_string();
    let [a, b] = jobs.clone();
    let pair = Pair::new(a, b, Some(asked.size)).map_err(told)?;
    let limits = Limits { instructions: asked.limit, memory: 1 << 30, time: None };
    let options = Options { threads: 1, limits, ..Options::default() };
    let drawn = |values: UnmatchedValues| -> Result<([Job; 2], Comparison), String> {
        let mut filled = jobs.clone();
        fill.apply(&mut filled, values);
        let found = pair.compare(&filled, engine, &options, asked.tolerance).map_err(told)?;
        Ok((filled, found))
    };
    let unmatched = unmatched(&interface);
    let (mut filled, mut found) = drawn(UnmatchedValues::Apart)?;
    // A difference counts only if it does not depend on what corresponds to nothing.
    let mut depends = found.differing > 0 && unmatched.is_some();
    if depends && fill.lacks_literals(&jobs) {
        depends = false;
        for values in UnmatchedValues::CONFIRMING {
            depends |= drawn(values)?.1.first != found.first;
        }
        if depends {
            (found.differing, found.first) = (0, None);
        }
    } else if depends {
        for values in UnmatchedValues::CONFIRMING {
            (filled, found) = drawn(values)?;
            if found.differing > 0 {
                depends = false;
                break;
            }
        }
    }
    let jobs = filled;
    if let (Some(unmatched), false) = (&unmatched, depends) {
        notes.push(format!("{unmatched}; made-up values stand in for it"));
    }
    let depends = depends.then_some(unmatched).flatten();
    let depends =
        depends.map(|unmatched| format!("a result depends on what has no value: {unmatched}"));
    let undecided = unlent(&interface).or(depends);
    let first = found.first.as_ref().filter(|_| undecided.is_none());
    let divergence = match first {
        Some(first) => {
            Some(Divergence::find(&pair, &jobs, first, &options, asked.tolerance).map_err(told)?)
        }
        None => None,
    };
    let parting =
        |n: usize, place: Option<&ExecutedInst>| place.map(|place| parting(documents[n], place));
    let pictures = [0, 1].map(|n| picture(&pair, &jobs[n], n, asked, engine, &options));
    let [a, b] = pictures;
    let (a, b) = (a?, b?);
    // Scaled up, so that a difference of one step is visible.
    let difference = ImageDiff::new(&a, &b, 0.0).map_err(|error| error.to_string())?.difference;
    let mut bytes = |picture: Picture| keep(picture.pixels.into_flattened());
    Ok(Compared {
        pixels: found.pixels,
        differing: found.differing,
        undecided,
        first: first.map(|first| first.pixel),
        text: first.iter().flat_map(|first| first.parts.iter().map(part)).collect(),
        parting: [
            parting(0, divergence.as_ref().and_then(|found| found.a.as_ref())),
            parting(1, divergence.as_ref().and_then(|found| found.b.as_ref())),
        ],
        notes,
        pictures: [bytes(a), bytes(b), bytes(difference)],
    })
}

/// Returns what the programs read that corresponds to nothing in the other.
fn unmatched(interface: &InterfaceMatch) -> Option<String> {
    let sides = SIDES.into_iter().zip(&interface.unmatched);
    let reads: Vec<String> = sides
        .filter(|(_, registers)| !registers.is_empty())
        .map(|(side, registers)| format!("{side} reads {}", registers.registers()))
        .collect();
    (!reads.is_empty())
        .then(|| format!("{}, to which nothing corresponds in the other program", reads.join("; ")))
}

/// Returns which integer and boolean constants only the other program carries.
fn unlent(interface: &InterfaceMatch) -> Option<String> {
    let (side, registers) = interface.unlent.first()?;
    Some(format!(
        "{side} reads {registers} and does not give it; the value of the other program is its own"
    ))
}

fn picture(
    pair: &Pair,
    job: &Job,
    side: usize,
    asked: &CompareOptions,
    engine: &dyn Engine,
    options: &Options<'_>,
) -> Result<Picture, String> {
    let bindings = Bindings::new(job, asked.size).map_err(|error| error.to_string())?;
    let frame: Frame = draw(engine, &pair.shaders()[side], &bindings, options)
        .map_err(|error| error.to_string())?;
    Ok(Look::default().of_colors(frame.width(), frame.target(0).unwrap_or_default()))
}

fn parting(document: &Document, place: &ExecutedInst) -> DivergenceView {
    let assembly = document.assembly();
    let instruction = assembly.job.program.code.get(place.index);
    let text = instruction.map_or_else(String::new, |one| r500::asm::print_instruction(*one));
    let range = assembly.spans.get(place.index).and_then(|span| document.range(*span));
    DivergenceView { step: place.step, address: place.address, text, range }
}

fn part(part: &Part) -> String {
    let color = |[r, g, b, a]: [f32; 4]| format!("({r}, {g}, {b}, {a})");
    match part {
        Part::Color { target, written: [a, b], .. } => {
            format!("out[{target}]: A writes {}, B {}", color(*a), color(*b))
        }
        Part::Depth { written: [a, b] } => format!("depth: A writes {a}, B {b}"),
        Part::Coverage { drawn: [a, _] } => {
            format!(
                "{} draws the pixel, {} does not",
                if *a { "A" } else { "B" },
                if *a { "B" } else { "A" }
            )
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_jit::Jit;

    use super::*;

    /// Compares two sources in 4x4 pixels.
    fn compared(a: &str, b: &str) -> Compared {
        let [a, b] = [a, b].map(|text| Document::new(text.into(), "a".into(), Vec::new()));
        let asked = CompareOptions { size: [4, 4], time: 0.0, tolerance: None, limit: 1000 };
        compare([&a, &b], &asked, &Jit::default(), &mut |_| Bytes { at: 0, length: 0 }).unwrap()
    }

    #[test]
    fn a_literal_is_not_lent_to_the_other_program() {
        let reads = "OUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        let literal = format!("const[0] = (0.25, 0.5, 0.75, 1) ;\n{reads}");
        // As `r500 diff` says: the constant of B may have this value, or another one.
        let found = compared(&literal, reads);
        let reason = found.undecided.unwrap();
        assert!(reason.contains("B reads const[0]"), "{reason}");
        assert_eq!((found.differing, found.first), (0, None));
    }

    #[test]
    fn a_difference_that_no_missing_constant_changes_counts() {
        let literal = "const[0] = (0.25, 0.5, 0.75, 1) ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        // The constant of B is multiplied by zero, and the mode of zeros makes that 0.
        let product = "US_CONFIG = ZERO_TIMES_ANYTHING_EQUALS_ZERO ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAD src0.rgb src0.000 src0.000 ;";
        let found = compared(literal, product);
        assert_eq!((found.undecided, found.differing), (None, 16));
    }

    #[test]
    fn uniforms_of_other_names_are_undecided() {
        let source = |name: &str| {
            format!(
                "UNIFORM \"{name}\" = const[0].rgb ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;"
            )
        };
        let found = compared(&source("tint"), &source("shade"));
        let reason = found.undecided.unwrap();
        assert!(
            reason.contains("A reads const[0]") && reason.contains("B reads const[0]"),
            "{reason}"
        );
        assert_eq!((found.differing, found.first), (0, None));
    }

    #[test]
    fn uniforms_correspond_by_name() {
        let source = |n: usize, value: &str| {
            format!(
                "UNIFORM \"tint\" = const[{n}].rgb ;\n{value}OUT LAST src0.rgb = const[{n}] : out[0].rgb = MAX src0.rgb src0.rgb ;"
            )
        };
        // A value that only one file gives is that of both.
        for value in ["", "const[0] = (0.5, 0.25, 0.125, 1) ;\n"] {
            let found = compared(&source(0, value), &source(3, ""));
            assert_eq!((found.undecided, found.differing), (None, 0), "{value}");
        }
    }

    #[test]
    fn integer_constants_are_not_lent() {
        let body = "LOOP int[0] ;\n: temp[1].rgb = MAX src0.111 src0.111 ;\nENDLOOP ;\n\
            OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;";
        let found = compared(&format!("int[0] = (3, 0, 1) ;\n{body}"), body);
        assert!(found.undecided.is_some_and(|reason| reason.contains("B reads int[0]")));
    }

    #[test]
    fn the_first_pixel_and_instruction_are_named() {
        let text = "src0.rgb = temp[0], src1.rgb = 0.5 : temp[1].rgb = MAX src0.rgb src1.rgb ;\n\
            OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;";
        let a = Document::new(text.into(), "a".into(), Vec::new());
        let b = Document::new(
            text.replace("MAX src0.rgb src1", "MIN src0.rgb src1"),
            "b".into(),
            Vec::new(),
        );
        let asked = CompareOptions { size: [4, 4], time: 0.0, tolerance: None, limit: 1000 };
        let mut kept = Vec::new();
        let mut keep = |bytes: Vec<u8>| {
            let place = Bytes { at: kept.len(), length: bytes.len() };
            kept.push(bytes);
            place
        };
        let found = compare([&a, &b], &asked, &Jit::default(), &mut keep).unwrap();
        assert_eq!((found.pixels, found.differing, found.first), (16, 16, Some([0, 0])));
        assert_eq!(found.text, ["out[0]: A writes (0.5, 0.5, 0.5, 1), B (0.125, 0.125, 0, 1)"]);
        let [Some(in_a), Some(in_b)] = &found.parting else { unreachable!("both part") };
        assert_eq!((in_a.address, in_b.address, in_a.step), (0, 0, 1));
        assert_eq!(in_a.range.unwrap().from, 0);
        assert!(kept.iter().all(|bytes| bytes.len() == 4 * 4 * 4));
        let same = compare([&a, &a], &asked, &Jit::default(), &mut |_| Bytes { at: 0, length: 0 })
            .unwrap();
        assert_eq!((same.differing, same.first), (0, None));
        let near = CompareOptions { tolerance: Some(1.0), ..asked };
        let near =
            compare([&a, &b], &near, &Jit::default(), &mut |_| Bytes { at: 0, length: 0 }).unwrap();
        assert_eq!(near.differing, 0);
    }
}
