//! Anisotropic filters: the number of probes of a pixel, their level of detail, and their positions.
//!
//! The documents do not describe the filter. Derived, from the definition of Direct3D (the level of detail is that of
//! the smaller axis of a pixel's footprint, the ratio of its axes is limited) and of OpenGL (the mean of isotropic
//! fetches along the longer axis):
//!
//! - The longer axis of the footprint is the longer of the pixel's two steps. The area of the footprint is that of
//!   the parallelogram of both; area / longer axis is its shorter axis.
//! - The number of probes is the ratio of the axes, rounded to nearest and limited. Where the shorter axis is less
//!   than a texel of level 0, it is the length of the longer axis in texels instead.
//! - A single probe has the level of detail of a linear filter. Several have that of the shorter axis, or of the
//!   part of the longer axis that the limit leaves to each.
//! - Probes lie at the centres of equal parts of the longer step; the pixel is in its middle.

use r500_isa::texture::{TxFilter0, TxFilter1};
use r500_isa::values::{CoordType, TexelFilter};

use super::readings::{AnisotropicFilter, TexReadings};
use r500_numerics::{Arith, compare, kernels};

/// The limit of the number of probes.
pub(super) const MOST_PROBES: u32 = 16;

/// The anisotropic filter of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Anisotropy {
    /// The maximum number of probes: 2 to [`MOST_PROBES`].
    pub(super) most: u32,
    /// Its base-2 logarithm.
    pub(super) log2_most: f32,
    /// Whether a magnified texture is filtered so, too.
    pub(super) magnified: bool,
}

/// The fetches of a pixel whose mean is its colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probes {
    /// Their number, at least 1.
    pub(super) count: u32,
    /// The longer step, along which they lie.
    pub(super) step: [f32; 2],
}

impl Probes {
    /// One fetch at the pixel's position.
    pub(super) const ONE: Self = Self { count: 1, step: [0.0; 2] };

    /// Returns the position of probe `i`, from 0, of a pixel at a position.
    pub(super) fn position(self, i: u32, uvw: [f32; 3], arith: Arith) -> [f32; 3] {
        if self.count == 1 {
            return uvw;
        }
        // (2i + 1 - n) / 2n: from -1/2 to 1/2.
        let numerator = 2.0 * i as f32 + 1.0 - self.count as f32;
        let part = arith.div(numerator, 2.0 * self.count as f32);
        let [u, v, w] = uvw;
        let along = |x: f32, step: f32| arith.add(x, arith.mul(step, part));
        [along(u, self.step[0]), along(v, self.step[1]), w]
    }
}

impl Anisotropy {
    /// Returns the anisotropic filter that the registers select; `None` if it has at most one probe.
    ///
    /// Observed: Mesa's r300 driver writes code 3 to `MIN_FILTER` and `MAG_FILTER`, and log2 of the ratio to
    /// `TX_FILTER0.MAX_ANISO`. If it is asked for high quality, it maps ratios of 1 to 16 to 0 to 63 in
    /// `TX_FILTER1.MAX_ANISO`. Open: volumes have no anisotropic filter; nor has a magnified texture whose
    /// `MIN_FILTER` has none, because its footprint is at most a texel long.
    pub(super) fn of(filter0: TxFilter0, filter1: TxFilter1, kind: CoordType) -> Option<Self> {
        let most = match filter1.aniso_high_quality() {
            true => 1 + (u32::from(filter1.max_aniso()) * 15 + 31) / 63,
            false => (1 << filter0.max_aniso()).min(MOST_PROBES),
        };
        let anisotropic = filter0.min_filter() == TexelFilter::ANISOTROPIC;
        (anisotropic && most > 1 && kind != CoordType::D3).then(|| Self {
            most,
            log2_most: f64::from(most).log2() as f32,
            magnified: filter0.mag_filter() == TexelFilter::ANISOTROPIC,
        })
    }

    /// Returns the level of detail of a pixel without bias, and its probes: from its steps, the squares of their
    /// lengths, and the level of detail of the longer one.
    pub(super) fn probes(
        self,
        [dx, dy]: [[f32; 2]; 2],
        [right, down]: [f32; 2],
        isotropic: f32,
        readings: &TexReadings,
    ) -> (f32, Probes) {
        let arith = readings.arith;
        let (step, longer) = if compare::ge(right, down) { (dx, right) } else { (dy, down) };
        let area = arith.sub(arith.mul(dx[0], dy[1]), arith.mul(dx[1], dy[0])).abs();
        // The square of the longer axis for which both the ratio of the axes and the longer axis are `n`.
        let square = |n: f32| arith.mul(n, compare::max(area, n));
        let further =
            (1..self.most).map(|n| n as f32).filter(|&n| match readings.anisotropic_filter {
                AnisotropicFilter::Nearest => compare::ge(longer, square(n + 0.5)),
                AnisotropicFilter::Up => compare::gt(longer, square(n)),
                AnisotropicFilter::Linear => false,
            });
        let count = 1 + further.count() as u32;
        if count == 1 {
            return (isotropic, Probes::ONE);
        }
        // log2 of the shorter axis, area / longer axis; of the longer one, divided by the most probes.
        let shorter = arith.sub(kernels::ln2(area), isotropic);
        let limited = arith.sub(isotropic, self.log2_most);
        (compare::max(shorter, limited), Probes { count, step })
    }
}
