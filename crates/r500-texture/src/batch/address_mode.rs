//! Address modes for a chunk of coordinates: the arithmetic of [`address`](crate::address) in floats.
//!
//! Texel numbers are integers below 2^23 in magnitude, as floats, so that sums and products of them are exact.
//! The border is -1.

use r500_isa::values::ClampMode;

use super::texel_lane::{LaneAxis, TexelLane, floor};
use super::texel_math::{self, WrapMode};
use r500_simd::{Chunk, LANES};

/// Repeating coordinates of at least this magnitude take the slow path.
pub(super) const TOO_FAR: f32 = (1 << 21) as f32;

/// The address mode of one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressMode {
    pub(super) mode: ClampMode,
    /// Whether the number of texels is a power of two, in every level.
    pub(super) power_of_two: bool,
}

/// The texels that a filter reads along an axis; the second one and its weight are used by the linear filter only.
#[derive(Clone, Copy)]
pub(super) struct Taps {
    pub(super) texel: [Chunk; 2],
    pub(super) weight: Chunk,
}

/// Bounds of the first texel: from `fixed - sizes * size` to `size + last`.
struct End {
    sizes: f32,
    fixed: f32,
    last: f32,
}

impl Taps {
    pub(super) const ZERO: Self = Self { texel: [[0.0; LANES]; 2], weight: [0.0; LANES] };
}

impl AddressMode {
    /// Returns whether the mode is periodic.
    #[inline(always)]
    pub(super) fn repeats(self) -> bool {
        matches!(self.wrap(), Some(WrapMode::Repeat | WrapMode::Mirror))
    }

    /// Returns the mapping that the kernels share with machine code, if the mode has one.
    #[inline(always)]
    pub(super) fn wrap(self) -> Option<WrapMode> {
        WrapMode::of(self.mode)
    }

    /// Returns whether the mode can read the border colour.
    pub(super) fn uses_border(self) -> bool {
        matches!(
            self.mode,
            ClampMode::BORDER
                | ClampMode::MIRROR_ONCE_BORDER
                | ClampMode::CLAMP_HALF
                | ClampMode::MIRROR_ONCE_HALF
        )
    }

    /// Computes the texels of the coordinates `x` (which it overwrites) along an axis of `size` texels;
    /// `inverse` is 1 / `size`.
    #[inline(always)]
    pub(super) fn taps(
        self,
        x: &mut Chunk,
        size: &Chunk,
        inverse: &Chunk,
        linear: bool,
        taps: &mut Taps,
    ) {
        self.limit(x, size);
        let to_centre = if linear { 0.5 } else { 0.0 };
        for lane in 0..LANES {
            let from_centre = x[lane] - to_centre;
            let floor = floor(from_centre);
            taps.weight[lane] = from_centre - floor;
            taps.texel[0][lane] = floor;
            taps.texel[1][lane] = floor + 1.0;
        }
        for i in &mut taps.texel[..if linear { 2 } else { 1 }] {
            self.texels(i, size, inverse, linear);
        }
    }

    /// Computes the first of the two texels of the linear filter, within [`tap_bounds`](Self::tap_bounds), for
    /// the coordinates `x` (which it overwrites), and the weight of the second.
    #[inline(always)]
    pub(super) fn first(
        self,
        x: &mut Chunk,
        size: &Chunk,
        inverse: &Chunk,
        first: &mut Chunk,
        weight: &mut Chunk,
    ) {
        self.limit(x, size);
        for lane in 0..LANES {
            let from_centre = x[lane] - 0.5;
            first[lane] = floor(from_centre);
            weight[lane] = from_centre - first[lane];
        }
        match self.mode {
            ClampMode::WRAP => self.map_lanes(WrapMode::Repeat, true, first, size, inverse),
            ClampMode::MIRROR => self.map_lanes(WrapMode::Mirror, true, first, size, inverse),
            ClampMode::CLAMP => {
                for lane in 0..LANES {
                    let above = if first[lane] > -1.0 { first[lane] } else { -1.0 };
                    let last = size[lane] - 1.0;
                    first[lane] = if above < last { above } else { last };
                }
            }
            _ => {
                let End { sizes, fixed, last } = self.end();
                for lane in 0..LANES {
                    let (least, most) = (fixed - sizes * size[lane], size[lane] + last);
                    let above = if first[lane] > least { first[lane] } else { least };
                    first[lane] = if above < most { above } else { most };
                }
            }
        }
    }

    /// Returns the least and the greatest distinct first texel of the linear filter: beyond them both texels equal
    /// those at the bound, or repeat.
    pub(super) fn tap_bounds(self, size: f32) -> (f32, f32) {
        match self.mode {
            ClampMode::WRAP => (0.0, size - 1.0),
            ClampMode::MIRROR => (0.0, 2.0 * size - 1.0),
            _ => {
                let End { sizes, fixed, last } = self.end();
                (fixed - sizes * size, size + last)
            }
        }
    }

    /// Returns the bounds of a mode that does not repeat.
    #[inline(always)]
    fn end(self) -> End {
        let (sizes, fixed, last) = match self.mode {
            ClampMode::MIRROR_ONCE => (1.0, -1.0, -1.0),
            ClampMode::MIRROR_ONCE_BORDER => (1.0, -2.0, 0.0),
            ClampMode::CLAMP | ClampMode::CLAMP_HALF | ClampMode::MIRROR_ONCE_HALF => {
                (0.0, -1.0, -1.0)
            }
            // BORDER, the last code of the three-bit field.
            _ => (0.0, -2.0, 0.0),
        };
        End { sizes, fixed, last }
    }

    /// Limits coordinates, without changing the texels, so that numbers stay small; NaN becomes 0. Beyond the
    /// limits both texels of the linear filter are equal, and interpolating between equal texels does not depend
    /// on the weight.
    #[inline(always)]
    fn limit(self, x: &mut Chunk, size: &Chunk) {
        match self.mode {
            // Coordinates too large for this take the slow path.
            ClampMode::WRAP | ClampMode::MIRROR => {}
            ClampMode::CLAMP => {
                for lane in 0..LANES {
                    // NaN becomes -1, which reads the same texels as 0.
                    let above = if x[lane] > -1.0 { x[lane] } else { -1.0 };
                    let end = size[lane] + 1.0;
                    x[lane] = if above < end { above } else { end };
                }
            }
            ClampMode::CLAMP_HALF | ClampMode::MIRROR_ONCE_HALF => {
                let mirror = self.mode == ClampMode::MIRROR_ONCE_HALF;
                for lane in 0..LANES {
                    let at = if mirror { x[lane].abs() } else { x[lane] };
                    let above = if at > 0.0 { at } else { 0.0 };
                    let end = size[lane];
                    x[lane] = if above < end { above } else { end };
                }
            }
            _ => {
                for lane in 0..LANES {
                    let end = size[lane] + 2.0;
                    let number = if x[lane].is_nan() { 0.0 } else { x[lane] };
                    let above = if number > -end { number } else { -end };
                    x[lane] = if above < end { above } else { end };
                }
            }
        }
    }

    /// Maps texel numbers into the axis, in place.
    #[inline(always)]
    fn map_lanes(self, wrap: WrapMode, linear: bool, i: &mut Chunk, size: &Chunk, inverse: &Chunk) {
        for lane in 0..LANES {
            let (size, inverse) = (size[lane], inverse[lane]);
            let axis = LaneAxis { size, inverse, power_of_two: self.power_of_two };
            let number = (i[lane], i[lane].to_bits());
            i[lane] = texel_math::map_texel(&mut TexelLane::new(), axis, wrap, linear, number);
        }
    }

    /// Maps texel numbers to texels of the level, in place.
    #[inline(always)]
    fn texels(self, i: &mut Chunk, size: &Chunk, inverse: &Chunk, linear: bool) {
        match (self.mode, linear) {
            (ClampMode::WRAP, _) => self.map_lanes(WrapMode::Repeat, false, i, size, inverse),
            (ClampMode::MIRROR, _) => self.map_lanes(WrapMode::Mirror, false, i, size, inverse),
            (ClampMode::CLAMP, _)
            | (ClampMode::CLAMP_HALF | ClampMode::MIRROR_ONCE_HALF, false) => {
                for lane in 0..LANES {
                    let above = if i[lane] > 0.0 { i[lane] } else { 0.0 };
                    let last = size[lane] - 1.0;
                    i[lane] = if above < last { above } else { last };
                }
            }
            (ClampMode::MIRROR_ONCE, _) => {
                for lane in 0..LANES {
                    let once = mirror_once(i[lane]);
                    let last = size[lane] - 1.0;
                    i[lane] = if once < last { once } else { last };
                }
            }
            (ClampMode::MIRROR_ONCE_BORDER, _) => {
                for lane in 0..LANES {
                    let once = mirror_once(i[lane]);
                    i[lane] = if once < size[lane] { once } else { -1.0 };
                }
            }
            // BORDER, and the linear filter of the modes that end half a texel into the border.
            _ => {
                for lane in 0..LANES {
                    let inside = (i[lane] >= 0.0) & (i[lane] < size[lane]);
                    i[lane] = if inside { i[lane] } else { -1.0 };
                }
            }
        }
    }
}

/// Returns the texel at a coordinate, mapped into its axis, and the weight of the second: [`texel_math::address`].
#[inline(always)]
pub(super) fn address(axis: LaneAxis, wrap: WrapMode, linear: bool, x: f32) -> (f32, f32) {
    let lane = &mut TexelLane::new();
    let (texel, weight) = texel_math::address(lane, axis, wrap, linear, x.to_bits());
    (texel, weight.map_or(0.0, f32::from_bits))
}

/// Mirrors a texel number at zero.
#[inline(always)]
fn mirror_once(i: f32) -> f32 {
    if i < 0.0 { -1.0 - i } else { i }
}
