//! Comparison of a frame with a job's expectations.

use std::fmt;

use r500_exec::{BindError, Engine, Frame, Options, RunError, Shader, ShaderError, draw};
use r500_program::{Compare, Expect, Job, PixelColor};

use r500_exec::builtin_uniforms;
use r500_image::image_diff::{Comparison, SHARE, SizeError, TOLERANCE};
use r500_image::picture::{Picture, eight_bit};

/// Result of running a job with expectations.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All expectations hold.
    Passed,
    /// The job expects nothing, and there is no reference picture.
    NothingExpected,
    /// Pixels that do not match.
    Failed(Vec<Mismatch>),
    /// More pixels than permitted differ from the reference picture.
    Different {
        /// The comparison.
        comparison: Box<Comparison>,
        /// The permitted share of differing pixels, 0 to 1.
        share: f64,
    },
}

/// Why a job could not be run and compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The program cannot run at all.
    #[error(transparent)]
    Shader(#[from] ShaderError),
    /// Textures or inputs cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The run ended early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The reference picture has another size.
    #[error("the picture and its reference differ in size: {0}")]
    Size(#[from] SizeError),
    /// The job does not specify the size of its picture.
    #[error("the picture's size is not given")]
    NoSize,
}

/// Runs a job and compares the frame with its expectations, and with a reference picture if there is one (by the job's
/// own [`share`](Job::share) or [`SHARE`], within [`TOLERANCE`]).
///
/// # Errors
/// [`JudgeError`] if there is no frame to compare.
pub fn judge(
    job: &Job,
    reference: Option<&Picture>,
    engine: &dyn Engine,
    options: &Options<'_>,
) -> Result<Verdict, JudgeError> {
    if job.expect.is_empty() && reference.is_none() {
        return Ok(Verdict::NothingExpected);
    }
    let shader = Shader::new(&job.program)?;
    let bindings = builtin_uniforms::bind(job, job.size.ok_or(JudgeError::NoSize)?)?;
    let frame = draw(engine, &shader, &bindings, options)?;
    let found = mismatches(&frame, &job.expect);
    if !found.is_empty() {
        return Ok(Verdict::Failed(found));
    }
    if let Some(reference) = reference {
        let drawn = Picture::from_colors(frame.width(), frame.target(0).unwrap_or_default());
        let comparison = Comparison::new(&drawn, reference, TOLERANCE)?;
        let share = job.share.unwrap_or(SHARE);
        if !comparison.passes(share) {
            return Ok(Verdict::Different { comparison: Box::new(comparison), share });
        }
    }
    Ok(Verdict::Passed)
}

/// A pixel that does not match.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The pixel: column, and row from the bottom.
    pub pixel: [u32; 2],
    /// The differing output.
    pub what: Quantity,
}

/// A differing output.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A colour.
    Color {
        /// The target, 0 to 3 for A to D.
        target: usize,
        /// Expected channels; `None` if a channel has no expectation.
        wanted: PixelColor,
        /// The colour that was drawn.
        got: [f32; 4],
    },
    /// Depth.
    Depth {
        /// The expected depth.
        wanted: f32,
        /// The depth that was drawn.
        got: f32,
    },
    /// Coverage after the run.
    Coverage {
        /// Whether the pixel should be covered.
        wanted: bool,
    },
    /// An expectation for a picture of another size.
    Size {
        /// The expected output: `target0`, `depth`, `coverage`.
        of: &'static str,
        /// Number of pixels in the expectation.
        wanted: usize,
        /// Number of pixels that were drawn.
        got: usize,
    },
}

/// Returns every pixel of a frame that does not match, row by row from the bottom; colours precede depth, depth
/// precedes coverage. The job passes if the list is empty.
///
/// Target A of pixels without a result (killed, uncovered) shows [`Expect::background`].
#[must_use]
pub fn mismatches(frame: &Frame, expect: &Expect) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let pixels = frame.coverage().len();
    let place = |i: usize| {
        let width = frame.width().max(1) as usize;
        // The frame's width and height are u32.
        [(i % width) as u32, (i / width) as u32]
    };
    let sized = |of, wanted: usize, found: &mut Vec<Mismatch>| {
        let fits = wanted == pixels;
        if !fits {
            found
                .push(Mismatch { pixel: [0, 0], what: Quantity::Size { of, wanted, got: pixels } });
        }
        fits
    };
    for (target, wanted) in expect.targets.iter().enumerate() {
        let Some(wanted) = wanted else { continue };
        if !sized(TARGETS[target], wanted.len(), &mut found) {
            continue;
        }
        for (i, wanted) in wanted.iter().enumerate() {
            let drawn = frame.coverage()[i];
            let background = expect.background.as_ref().filter(|_| target == 0 && !drawn);
            let got = match background.and_then(|colors| colors.get(i)) {
                Some(color) => *color,
                None => frame.target(target).map_or([0.0; 4], |colors| colors[i]),
            };
            let agrees = wanted.iter().zip(got).all(|(wanted, got)| {
                wanted.is_none_or(|wanted| agree(expect.compare, expect.tolerance, wanted, got))
            });
            if !agrees {
                let what = Quantity::Color { target, wanted: *wanted, got };
                found.push(Mismatch { pixel: place(i), what });
            }
        }
    }
    if let Some(wanted) = &expect.depth
        && sized("depth", wanted.len(), &mut found)
    {
        for (i, wanted) in wanted.iter().enumerate() {
            let Some(wanted) = *wanted else { continue };
            let got = frame.depth().map_or(0.0, |depth| depth[i]);
            if !agree(Compare::Values, expect.tolerance, wanted, got) {
                found.push(Mismatch { pixel: place(i), what: Quantity::Depth { wanted, got } });
            }
        }
    }
    if let Some(wanted) = &expect.coverage
        && sized("coverage", wanted.len(), &mut found)
    {
        for (i, wanted) in wanted.iter().enumerate() {
            if let Some(wanted) = wanted.filter(|&wanted| wanted != frame.coverage()[i]) {
                found.push(Mismatch { pixel: place(i), what: Quantity::Coverage { wanted } });
            }
        }
    }
    found
}

/// Returns whether a value matches. As values: NaN matches NaN, infinities match themselves, +0 and -0 are equal, and
/// the tolerance is relative above 1. In 8 bits: both values are rounded first.
#[must_use]
pub fn agree(compare: Compare, tolerance: f32, wanted: f32, got: f32) -> bool {
    let tolerance = f64::from(tolerance);
    match compare {
        Compare::EightBit => {
            let steps = eight_bit(wanted).abs_diff(eight_bit(got));
            f64::from(steps) / 255.0 <= tolerance
        }
        Compare::Values if wanted.is_nan() => got.is_nan(),
        Compare::Values if wanted.is_infinite() || got.is_infinite() => wanted == got,
        Compare::Values => {
            let (wanted, got) = (f64::from(wanted), f64::from(got));
            (got - wanted).abs() <= tolerance * wanted.abs().max(1.0)
        }
    }
}

const TARGETS: [&str; 4] = ["target0", "target1", "target2", "target3"];

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.pixel;
        match &self.what {
            Quantity::Color { target, wanted, got } => {
                let wanted: Vec<String> = wanted
                    .iter()
                    .map(|channel| channel.map_or_else(|| "-".to_owned(), |v| v.to_string()))
                    .collect();
                let got = got.map(|v| v.to_string()).join(", ");
                let name = TARGETS.get(*target).unwrap_or(&"target");
                write!(f, "pixel {x},{y}: {name} wanted ({}), got ({got})", wanted.join(", "))
            }
            Quantity::Depth { wanted, got } => {
                write!(f, "pixel {x},{y}: depth wanted {wanted}, got {got}")
            }
            Quantity::Coverage { wanted: true } => {
                write!(f, "pixel {x},{y}: wanted covered, is not")
            }
            Quantity::Coverage { wanted: false } => {
                write!(f, "pixel {x},{y}: wanted uncovered or killed, is not")
            }
            Quantity::Size { of, wanted, got } => {
                write!(f, "{of} is expected for {wanted} pixels, the picture has {got}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_as_the_corpus_says() {
        let values = |wanted, got, tolerance| agree(Compare::Values, tolerance, wanted, got);
        assert!(values(0.0, -0.0, 0.0));
        assert!(values(f32::NAN, f32::NAN, 0.0));
        assert!(!values(f32::NAN, 0.0, 1.0) && !values(0.0, f32::NAN, 1.0));
        assert!(values(f32::INFINITY, f32::INFINITY, 0.0));
        assert!(!values(f32::INFINITY, f32::MAX, 1.0));
        assert!(!values(f32::MAX, f32::INFINITY, 1.0));
        // Absolute up to 1, relative above.
        assert!(values(0.5, 0.51, 0.0101) && !values(0.5, 0.52, 0.0101));
        assert!(values(1000.0, 1009.0, 0.01) && !values(1000.0, 1011.0, 0.01));
        assert!(!values(1.0, 1.0 + f32::EPSILON, 0.0));
    }

    #[test]
    fn eight_bits_clamp_first() {
        let bits = |wanted, got, tolerance| agree(Compare::EightBit, tolerance, wanted, got);
        assert!(bits(1.0, 7.0, 0.0) && bits(0.0, -3.0, 0.0) && bits(0.0, f32::NAN, 0.0));
        assert!(bits(0.5, 0.501, 0.0));
        // 2 steps of 255 are 0.0078, 3 are 0.0118.
        assert!(bits(0.5, 130.0 / 255.0, 0.01) && !bits(0.5, 131.0 / 255.0, 0.01));
    }
}
