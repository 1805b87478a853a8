//! Captures of command streams (`.r5cs`): the list of their draws, and a draw as a source.

use std::ops::ControlFlow;

use r500::program::{Component, Input, InputData, Job, Plane};
use r500_card::{Card, DrawJob, Limits as CardLimits};
use r500_stream::capture::{Event, Limits, Player, Reader};
use r500_stream::{CommandProcessor, DrawSummary, Effect, State, Submission};

use crate::open::{Opened, source};

/// Draws that are listed.
const MOST_DRAWS: usize = 2000;
/// Bytes of all buffers of a capture.
const MOST_BYTES: u64 = 512 << 20;
/// Difference between a component and its plane, as a part of the component's range, above which the plane is called approximate.
const EXACT: f32 = 1e-3;

/// Returns a draw of a capture as a source, with the names of all draws.
///
/// # Errors
/// The reason why the capture cannot be read, or has no such draw.
pub fn open(bytes: &[u8], name: &str, pick: usize) -> Result<Opened, String> {
    let names = list(bytes)?;
    if names.is_empty() {
        return Err("the capture has no draw".to_owned());
    }
    let draw = u64::try_from(pick).map_err(|error| error.to_string())?;
    let DrawJob { job, size, .. } = record(bytes, draw)?;
    let (mut job, exact) = with_planes(job, size);
    job.name = format!("{name} draw {pick}");
    let format = if exact {
        "a draw of a capture"
    } else {
        "a draw of a capture, with inputs that are approximated by planes"
    };
    Ok(Opened { format, names, picked: pick, text: source(&job) })
}

/// Calls a function with each submission until it breaks.
fn submissions(
    bytes: &[u8],
    mut each: impl FnMut(&Submission) -> Result<ControlFlow<()>, String>,
) -> Result<(), String> {
    let reader = Reader::new(bytes).map_err(|error| error.to_string())?;
    let mut player = Player::new(Limits { bytes: MOST_BYTES });
    for record in reader {
        let record = record.map_err(|error| error.to_string())?;
        let event = player.apply(record).map_err(|error| error.to_string())?;
        if let Some(Event::Submission(submission)) = event
            && each(&submission)?.is_break()
        {
            break;
        }
    }
    Ok(())
}

/// Returns the names of the draws, in order.
fn list(bytes: &[u8]) -> Result<Vec<String>, String> {
    let mut state = State::default();
    let mut names = Vec::new();
    submissions(bytes, |submission| {
        let mut processor = CommandProcessor::new(&mut state, submission);
        while let Some(effect) = processor.next_effect() {
            // A packet in error draws nothing.
            let Ok(Effect::Draw(call)) = effect else { continue };
            if names.len() < MOST_DRAWS {
                names.push(format!(
                    "draw {}: {}",
                    names.len(),
                    DrawSummary::new(processor.state(), &call)
                ));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(names)
}

/// Executes a capture up to a draw, and returns the draw.
fn record(bytes: &[u8], draw: u64) -> Result<DrawJob, String> {
    let mut card = Card::new();
    // The browser has no clock for it; the page stops a module that gives no answer.
    card.set_limits(CardLimits { time: None, ..CardLimits::default() });
    card.record(draw);
    let mut reached = false;
    submissions(bytes, |submission| {
        reached = card.submit_through(submission, draw).map_err(|error| error.to_string())?;
        Ok(if reached { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if !reached {
        return Err(format!("the capture has no draw {draw}"));
    }
    card.take_recorded().ok_or_else(|| format!("draw {draw} shades no pixel"))
}

/// Returns a job whose inputs are planes, because a source has no inputs by pixel; and whether the planes are exact. The first layer of a
/// draw is kept.
fn with_planes(job: Job, [width, height]: [u32; 2]) -> (Job, bool) {
    let mut exact = true;
    let coverage = job.coverage.as_deref().unwrap_or_default();
    let size = [width as usize, height as usize];
    let inputs = job.inputs.iter().flatten().map(|input| {
        let InputData::Values { values, .. } = &input.data else { return input.clone() };
        let components = std::array::from_fn(|n| {
            let (plane, fits) = plane(size, coverage, |at| values.get(at).map(|value| value[n]));
            exact &= fits;
            Component { plane, ..Component::default() }
        });
        Input { temp: input.temp, data: InputData::Planes(components) }
    });
    let inputs = inputs.collect();
    (Job { inputs: Some(inputs), coverage: None, size: Some([width, height]), ..job }, exact)
}

/// Fits a plane to the values of covered pixels by least squares. Returns whether it gives all of them.
fn plane(
    [width, height]: [usize; 2],
    coverage: &[bool],
    value: impl Fn(usize) -> Option<f32>,
) -> (Plane, bool) {
    let points: Vec<[f64; 3]> = (0..width * height)
        .filter(|at| coverage.get(*at).copied().unwrap_or(true))
        .filter_map(|at| {
            let u = ((at % width) as f64 + 0.5) / width as f64;
            let v = ((at / width) as f64 + 0.5) / height as f64;
            Some([u, v, f64::from(value(at)?)])
        })
        .filter(|point| point[2].is_finite())
        .collect();
    let count = points.len().max(1) as f64;
    let mean = [0, 1, 2].map(|n| points.iter().map(|point| point[n]).sum::<f64>() / count);
    let moment = |a: usize, b: usize| -> f64 {
        points.iter().map(|point| (point[a] - mean[a]) * (point[b] - mean[b])).sum()
    };
    let (uu, uv, vv, uz, vz) =
        (moment(0, 0), moment(0, 1), moment(1, 1), moment(0, 2), moment(1, 2));
    let determinant = uu * vv - uv * uv;
    let slope =
        |numerator: f64| if determinant.abs() > 1e-12 { numerator / determinant } else { 0.0 };
    let (du, dv) = (slope(uz * vv - vz * uv), slope(vz * uu - uz * uv));
    let c = mean[2] - du * mean[0] - dv * mean[1];
    let range = points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], point| {
        [low.min(point[2]), high.max(point[2])]
    });
    let tolerance = f64::from(EXACT) * (range[1] - range[0]).max(1e-6);
    let fits = points.iter().all(|[u, v, z]| (c + du * u + dv * v - z).abs() <= tolerance);
    (Plane { c: c as f32, du: du as f32, dv: dv as f32 }, fits)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn planes_give_the_values_of_a_linear_input() {
        let size = [4, 2];
        let value = |at: usize| {
            Some(1.0 + 2.0 * ((at % 4) as f32 + 0.5) / 4.0 - ((at / 4) as f32 + 0.5) / 2.0)
        };
        let (plane, fits) = plane(size, &[], value);
        assert!(
            fits && (plane.c - 1.0).abs() < 1e-5
                && (plane.du - 2.0).abs() < 1e-5
                && (plane.dv + 1.0).abs() < 1e-5,
            "{plane:?}"
        );
        let (_, fits) = super::plane(size, &[], |at| Some((at * at) as f32));
        assert!(!fits);
        // Pixels that the draw does not cover do not count.
        let (plane, fits) =
            super::plane([2, 1], &[true, false], |at| Some(if at == 0 { 3.0 } else { f32::NAN }));
        assert!(fits && plane.c == 3.0, "{plane:?}");
    }

    #[test]
    fn draws_of_a_capture_are_sources() {
        let bytes = include_bytes!("../../../tests/captures/triangle.r5cs");
        let opened = open(bytes, "triangle", 0).unwrap();
        assert!(opened.names[0].starts_with("draw 0: triangle"), "{:?}", opened.names);
        let document = crate::document::Document::new(opened.text, "x.r5".into(), Vec::new());
        let job = document.job().unwrap();
        assert!(job.size.is_some() && !job.program.code.is_empty());
        assert!(open(bytes, "triangle", 99).is_err());
    }

    #[test]
    fn a_damaged_capture_is_an_error() {
        assert!(open(b"\x89R5CS\r\n\x1a", "x", 0).is_err());
        assert!(open(&r500_stream::capture::MAGIC, "x", 0).is_err());
    }
}
