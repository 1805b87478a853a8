//! Text form of textures: `SOURCE[,OPTION=VALUE…]`.

use std::path::PathBuf;
use std::str::FromStr;

use r500_isa::values::{ClampMode, CoordType, TxSel};

use super::texel_format::{Components, Pixels};

/// A parsed texture specification: the source of the texels, and the sampler state.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureSpec {
    /// Source of the texels.
    pub source: Source,
    /// Width, height and depth of raw texels and procedural textures.
    pub size: Option<[u32; 3]>,
    /// Format of raw texels.
    pub format: Option<Pixels>,
    /// Whether raw texels are a volume or a cube.
    pub shape: Option<CoordType>,
    /// Address modes along S, T, R.
    pub wrap: [ClampMode; 3],
    /// Magnification filter.
    pub mag: Filter,
    /// Minification filter.
    pub min: Filter,
    /// Filter between levels; `None` uses the finest only.
    pub mip: Option<Filter>,
    /// Filter between layers of a volume; `None` uses the other filters.
    pub vol: Option<Filter>,
    /// Bias of the level of detail.
    pub bias: f32,
    /// Finest level that is used.
    pub base: u8,
    /// Which levels the texture has.
    pub mips: Mips,
    /// Border colour.
    pub border: Option<Border>,
    /// Components that the program reads as red, green, blue, alpha; `None` uses those of the source.
    pub components: Option<Components>,
    /// Whether components are signed; `None` uses the source.
    pub signed: Option<bool>,
    /// Whether texels are converted from sRGB; `None` uses the source.
    pub srgb: Option<bool>,
    /// Whether the order of rows is reversed; `None` reverses pictures only.
    pub flip: Option<bool>,
    /// Number of fields of a checkerboard, or cells of noise, along each side.
    pub cells: u32,
    /// Colours of a checkerboard.
    pub colors: [[u8; 4]; 2],
    /// Seed of noise.
    pub seed: u64,
}

/// Source of texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A PNG, DDS or KTX2 file, recognised by content.
    File(PathBuf),
    /// A file of texels without a header.
    Raw(PathBuf),
    /// A checkerboard.
    Checker,
    /// Red to the right, green upward.
    Gradient,
    /// Smooth noise.
    Noise,
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The nearest texel.
    Nearest,
    /// Linear interpolation.
    Linear,
}

/// Which levels a texture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mips {
    /// The stored ones.
    Stored,
    /// Only the finest.
    None,
    /// Generated from the finest.
    Make,
}

/// A border colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// `TX_BORDER_COLOR` itself: a texel in the texture's own format.
    Dword(u32),
    /// Red, green, blue, alpha.
    Rgba([u8; 4]),
}

/// Errors in a texture specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No source before the options.
    #[error("no source: write a file, raw:FILE, checker, gradient or noise first")]
    NoSource,
    /// An unknown option.
    #[error("there is no texture option `{0}`; there are {OPTIONS}")]
    Option(String),
    /// An invalid value of an option.
    #[error("`{option}={value}`: {wanted}")]
    Value {
        /// The option.
        option: String,
        /// The value.
        value: String,
        /// The valid values.
        wanted: &'static str,
    },
}

const OPTIONS: &str = "size, format, type, filter, mag, min, mip, vol, wrap, wrap-s, wrap-t, \
    wrap-r, mips, base, bias, border, swizzle, signed, srgb, flip, cells, colors, seed";

impl TextureSpec {
    /// Returns a texture with nothing said about how it is sampled: linear in all directions,
    /// repeated.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self {
            source,
            size: None,
            format: None,
            shape: None,
            wrap: [ClampMode::WRAP; 3],
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: Some(Filter::Linear),
            vol: None,
            bias: 0.0,
            base: 0,
            mips: Mips::Stored,
            border: None,
            components: None,
            signed: None,
            srgb: None,
            flip: None,
            cells: 8,
            colors: [[0, 0, 0, 255], [255; 4]],
            seed: 0,
        }
    }

    /// The shape of raw texels.
    pub(super) fn shape(&self, [_, _, depth]: [u32; 3]) -> CoordType {
        self.shape.unwrap_or(if depth > 1 { CoordType::D3 } else { CoordType::D2 })
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), SpecError> {
        let bad = |wanted| SpecError::Value {
            option: option.to_owned(),
            value: value.to_owned(),
            wanted,
        };
        let lower = value.to_ascii_lowercase();
        let filter = || match lower.as_str() {
            "nearest" | "point" => Ok(Filter::Nearest),
            "linear" => Ok(Filter::Linear),
            _ => Err(bad("nearest or linear")),
        };
        let flag = || match lower.as_str() {
            "yes" | "true" | "1" => Ok(true),
            "no" | "false" | "0" => Ok(false),
            _ => Err(bad("yes or no")),
        };
        match option {
            "size" => {
                self.size = Some(size(&lower).ok_or_else(|| bad("WxH or WxHxD, each at least 1"))?);
            }
            "format" => {
                let wanted = "a texel format such as 8_8_8_8, 5_6_5, 16f_16f, DXT5, ATI2N";
                self.format = Some(Pixels::named(value).ok_or_else(|| bad(wanted))?);
            }
            "type" => {
                self.shape = Some(match lower.as_str() {
                    "2d" | "1d" => CoordType::D2,
                    "3d" => CoordType::D3,
                    "cube" => CoordType::CUBE,
                    _ => return Err(bad("2d, 3d or cube")),
                });
            }
            "filter" if lower == "trilinear" => {
                (self.mag, self.min, self.mip) =
                    (Filter::Linear, Filter::Linear, Some(Filter::Linear));
            }
            "filter" => {
                let both = filter().map_err(|_| bad("nearest, linear or trilinear"))?;
                (self.mag, self.min, self.mip) = (both, both, Some(Filter::Nearest));
            }
            "mag" => self.mag = filter()?,
            "min" => self.min = filter()?,
            "mip" if lower == "none" => self.mip = None,
            "mip" => self.mip = Some(filter().map_err(|_| bad("none, nearest or linear"))?),
            "vol" => self.vol = Some(filter()?),
            "wrap" => self.wrap = [wrap(&lower).ok_or_else(|| bad(WRAPS))?; 3],
            "wrap-s" => self.wrap[0] = wrap(&lower).ok_or_else(|| bad(WRAPS))?,
            "wrap-t" => self.wrap[1] = wrap(&lower).ok_or_else(|| bad(WRAPS))?,
            "wrap-r" => self.wrap[2] = wrap(&lower).ok_or_else(|| bad(WRAPS))?,
            "mips" => {
                self.mips = match lower.as_str() {
                    "stored" => Mips::Stored,
                    "none" => Mips::None,
                    "make" => Mips::Make,
                    _ => return Err(bad("stored, none or make")),
                }
            }
            "base" => {
                let level = lower.parse().ok().filter(|&n: &u8| n < 16);
                self.base = level.ok_or_else(|| bad("a level, 0 to 15"))?;
            }
            "bias" => {
                let bias = lower.parse().ok().filter(|b: &f32| (-16.0..16.0).contains(b));
                self.bias = bias.ok_or_else(|| bad("a number from -16 up to 16"))?;
            }
            "border" => {
                let wanted = "#rrggbb, #rrggbbaa, or the dword as 0x…";
                self.border = Some(border(&lower).ok_or_else(|| bad(wanted))?);
            }
            "swizzle" => {
                let wanted = "four of r g b a 0 1 (components 0 to 3 or a constant)";
                self.components = Some(swizzle(&lower).ok_or_else(|| bad(wanted))?);
            }
            "signed" => self.signed = Some(flag()?),
            "srgb" => self.srgb = Some(flag()?),
            "flip" => self.flip = Some(flag()?),
            "cells" => {
                let cells = lower.parse().ok().filter(|n: &u32| (1..=4096).contains(n));
                self.cells = cells.ok_or_else(|| bad("a number from 1 to 4096"))?;
            }
            "colors" => {
                let both = lower.split_once('/').and_then(|(a, b)| Some([color(a)?, color(b)?]));
                self.colors = both.ok_or_else(|| bad("two colours, #rrggbb/#rrggbb"))?;
            }
            "seed" => self.seed = lower.parse().map_err(|_| bad("a whole number"))?,
            _ => return Err(SpecError::Option(option.to_owned())),
        }
        Ok(())
    }
}

/// `SOURCE[,OPTION=VALUE…]`. What follows a comma and has no `=` belongs to the file's name.
impl FromStr for TextureSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut pieces = text.split(',');
        let mut source = pieces.next().unwrap_or_default().trim().to_owned();
        let mut options = Vec::new();
        for piece in pieces {
            match piece.split_once('=') {
                Some((option, value)) => options.push((option.trim(), value.trim())),
                None if options.is_empty() => {
                    source.push(',');
                    source.push_str(piece);
                }
                None => return Err(SpecError::Option(piece.to_owned())),
            }
        }
        let source = match source.as_str() {
            "" => return Err(SpecError::NoSource),
            "checker" => Source::Checker,
            "gradient" => Source::Gradient,
            "noise" => Source::Noise,
            other => match other.strip_prefix("raw:") {
                Some("") => return Err(SpecError::NoSource),
                Some(path) => Source::Raw(path.into()),
                None => Source::File(other.into()),
            },
        };
        let mut spec = Self::new(source);
        for (option, value) in options {
            spec.set(option, value)?;
        }
        Ok(spec)
    }
}

fn size(text: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> =
        text.split('x').map(|n| n.parse().ok().filter(|&n| n > 0)).collect();
    match numbers?[..] {
        [width, height] => Some([width, height, 1]),
        [width, height, depth] => Some([width, height, depth]),
        _ => None,
    }
}

const WRAPS: &str = "repeat, mirror, clamp, mirror-once, clamp-half, mirror-once-half, border or \
    mirror-once-border";

fn wrap(text: &str) -> Option<ClampMode> {
    Some(match text {
        "repeat" | "wrap" => ClampMode::WRAP,
        "mirror" => ClampMode::MIRROR,
        "clamp" => ClampMode::CLAMP,
        "mirror-once" => ClampMode::MIRROR_ONCE,
        "clamp-half" => ClampMode::CLAMP_HALF,
        "mirror-once-half" => ClampMode::MIRROR_ONCE_HALF,
        "border" => ClampMode::BORDER,
        "mirror-once-border" => ClampMode::MIRROR_ONCE_BORDER,
        _ => return None,
    })
}

fn border(text: &str) -> Option<Border> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok().map(Border::Dword),
        None => color(text).map(Border::Rgba),
    }
}

fn color(text: &str) -> Option<[u8; 4]> {
    let hex = text.strip_prefix('#')?;
    let number = u32::from_str_radix(hex, 16).ok()?;
    match hex.len() {
        6 => Some((number << 8 | 0xff).to_be_bytes()),
        8 => Some(number.to_be_bytes()),
        _ => None,
    }
}

fn swizzle(text: &str) -> Option<Components> {
    let selects: Option<Vec<TxSel>> = text
        .chars()
        .map(|c| {
            Some(match c {
                'r' => TxSel::C0,
                'g' => TxSel::C1,
                'b' => TxSel::C2,
                'a' => TxSel::C3,
                '0' => TxSel::ZERO,
                '1' => TxSel::ONE,
                _ => return None,
            })
        })
        .collect();
    selects?.try_into().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn options_are_read() {
        let spec: TextureSpec =
            "a,b.png,filter=nearest,wrap=mirror,wrap-t=border,border=#10203040,bias=-0.5,base=2"
                .parse()
                .unwrap();
        assert_eq!(spec.source, Source::File("a,b.png".into()));
        assert_eq!(
            (spec.mag, spec.min, spec.mip),
            (Filter::Nearest, Filter::Nearest, Some(Filter::Nearest))
        );
        assert_eq!(spec.wrap, [ClampMode::MIRROR, ClampMode::BORDER, ClampMode::MIRROR]);
        assert_eq!(spec.border, Some(Border::Rgba([0x10, 0x20, 0x30, 0x40])));
        assert_eq!((spec.bias, spec.base), (-0.5, 2));
        let spec: TextureSpec = "raw:t.bin,size=4x4x2,format=16f_16f,type=3d".parse().unwrap();
        assert_eq!(spec.source, Source::Raw("t.bin".into()));
        assert_eq!(spec.size, Some([4, 4, 2]));
        let spec: TextureSpec = "noise,seed=7,cells=3,swizzle=bgr1".parse().unwrap();
        assert_eq!((spec.seed, spec.cells), (7, 3));
        assert_eq!(spec.components, Some([TxSel::C2, TxSel::C1, TxSel::C0, TxSel::ONE]));
    }

    #[test]
    fn malformed_texture_specs_are_refused() {
        let error = |text: &str| text.parse::<TextureSpec>().unwrap_err().to_string();
        assert!(error("").starts_with("no source"));
        assert!(error("raw:").starts_with("no source"));
        assert!(error("checker,colour=1").starts_with("there is no texture option `colour`"));
        assert!(error("checker,wrap=around").starts_with("`wrap=around`: repeat, mirror"));
        assert!(error("checker,size=0x4").contains("each at least 1"));
        assert!(error("checker,base=16").contains("0 to 15"));
        assert!(error("checker,swizzle=rgb").contains("four of"));
        assert!(error("checker,bias=nan").contains("-16"));
    }
}
