//! `--compare`: comparison with a reference picture.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use r500::exec::PixelRect;
use r500::image_diff::{Comparison, SHARE, SizeError, TOLERANCE};
use r500::picture::{Picture, decode_png, encode_png, png_size};
use r500_stream::counted;

use super::output::{Plane, cannot_encode, save};
use crate::command::exit::{Failure, Outcome};
use crate::command::input_args;

/// Options of the comparison.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparing")]
pub(super) struct CompareArgs {
    /// Compare with this PNG; exit status 1 if they differ
    #[arg(long = "compare", value_name = "PNG")]
    pub(super) reference: Option<PathBuf>,
    /// Write the difference as a PNG
    #[arg(long, value_name = "PNG", requires = "reference")]
    pub(super) diff: Option<PathBuf>,
    /// Greatest difference of a channel that counts as none, a number or a fraction
    /// (default: 2/255)
    #[arg(long, value_name = "T", value_parser = fraction)]
    tolerance: Option<f64>,
    /// Greatest share of differing pixels that passes (default: the program's own, else 0.002)
    #[arg(long, value_name = "S", value_parser = fraction)]
    share: Option<f64>,
}

/// The result of a comparison.
pub(super) struct Compared {
    comparison: Comparison,
    share: f64,
    pub(super) passes: bool,
}

impl CompareArgs {
    /// Compares a plane with the reference. Of a larger reference, the drawn part is compared.
    pub(super) fn compare(
        &self,
        plane: &Plane<'_>,
        crop: Option<PixelRect>,
        own_share: Option<f64>,
    ) -> Outcome<Compared> {
        self.compare_picture(plane.picture(), crop, own_share)
    }

    /// Compares a picture with the reference. Of a larger reference, the drawn part is compared.
    pub(super) fn compare_picture(
        &self,
        drawn: Picture,
        crop: Option<PixelRect>,
        own_share: Option<f64>,
    ) -> Outcome<Compared> {
        let path = self.reference.clone().unwrap_or_default();
        let bytes = input_args::picture_bytes(&path)?;
        let size = [drawn.width, drawn.height];
        // Before decoding, because a small file can contain a large picture.
        if let Some(named) = png_size(&bytes).filter(|named| crop.is_none() && *named != size) {
            let error = SizeError { a: size, b: named };
            return Err(Failure::input(error).context(path.display().to_string()));
        }
        let mut wanted = decode_png(&bytes)
            .map_err(|error| Failure::input(error).context(path.display().to_string()))?;
        if (wanted.width, wanted.height) != (drawn.width, drawn.height)
            && let Some(PixelRect { x, y, width, height }) = crop
            && let Some(part) = wanted.crop(x, y, width, height)
        {
            wanted = part;
        }
        let tolerance = self.tolerance.unwrap_or(TOLERANCE);
        let comparison = Comparison::new(&drawn, &wanted, tolerance)
            .map_err(|error| Failure::input(error).context(path.display().to_string()))?;
        if let Some(path) = &self.diff {
            let bytes = encode_png(&comparison.difference);
            save(path, &bytes.map_err(|error| cannot_encode(path, error))?)?;
        }
        let share = self.share.or(own_share).unwrap_or(SHARE);
        let passes = comparison.passes(share);
        Ok(Compared { comparison, share, passes })
    }
}

impl Compared {
    /// Returns the result as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "passes": self.passes,
            "differing": self.comparison.differing,
            "pixels": self.comparison.pixels,
            "share": self.comparison.share(),
            "share_allowed": self.share,
            "worst": f64::from(self.comparison.worst) / 255.0,
            "worst_pixel": self.comparison.worst_pixel,
            "mean_square": self.comparison.mean_square / (255.0 * 255.0),
        })
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { comparison, share, passes } = self;
        let word = if *passes { "equal" } else { "different" };
        write!(
            f,
            "{word}: {} of {} differ ({:.3} %, {:.3} % may)",
            comparison.differing,
            counted(comparison.pixels, "pixel"),
            comparison.share() * 100.0,
            share * 100.0
        )?;
        if let Some([x, y]) = comparison.worst_pixel {
            write!(f, "; the most by {}/255 at {x},{y}", comparison.worst)?;
        }
        Ok(())
    }
}

/// Parses a number from 0 to 1, or `A/B`.
fn fraction(text: &str) -> Result<f64, String> {
    let wanted = || format!("`{text}` is not a number from 0 to 1 (or fraction such as 2/255)");
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wanted());
    let value = match text.split_once('/') {
        Some((a, b)) => number(a)? / number(b)?,
        None => number(text)?,
    };
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(wanted()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        assert_eq!(fraction("2/255"), Ok(2.0 / 255.0));
        assert_eq!(fraction("0.5"), Ok(0.5));
        assert!(fraction("2").is_err() && fraction("-1").is_err() && fraction("1/0").is_err());
        assert!(fraction("nan").is_err() && fraction("").is_err());
    }
}
