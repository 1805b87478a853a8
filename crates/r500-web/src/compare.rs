//! Comparison of two programs: their pictures, the first pixel that differs, and the first instruction where the runs diverge.

use r500::builtin_uniforms::BuiltinUniforms;
use r500::equivalence::{Divergence, ExecutedInst, Fill, InterfaceMatch, Pair, Part};
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
    let fill = Fill::of(&jobs, &InterfaceMatch::default());
    fill.apply(&mut jobs, 0, 0);
    let mut notes = Vec::new();
    if !fill.filled.is_empty() {
        notes.push(
            "constants and textures that neither program gives have made-up values".to_owned(),
        );
    }
    let [a, b] = jobs.clone();
    let told = |error: r500::equivalence::Incomparable| error.to_string();
    let pair = Pair::new(a, b, Some(asked.size)).map_err(told)?;
    let limits = Limits { instructions: asked.limit, memory: 1 << 30, time: None };
    let options = Options { threads: 1, limits, ..Options::default() };
    let found = pair.compare(&jobs, engine, &options, asked.tolerance).map_err(told)?;
    let divergence = match &found.first {
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
        first: found.first.as_ref().map(|first| first.pixel),
        text: found.first.iter().flat_map(|first| first.parts.iter().map(part)).collect(),
        parting: [
            parting(0, divergence.as_ref().and_then(|found| found.a.as_ref())),
            parting(1, divergence.as_ref().and_then(|found| found.b.as_ref())),
        ],
        notes,
        pictures: [bytes(a), bytes(b), bytes(difference)],
    })
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
