//! Plane evaluation by machine code: x terms plus y terms.

use r500_program::{InputData, Plane};

use super::tile::{COLUMNS, ROWS, Tile};
use r500_exec::Bindings;
use r500_lanes::Chunk;
use r500_simd::chunk::SIDE as CHUNK;
use r500_simd::inhibit_outer_vectorization;

/// A channel of an input over a batch: the value of a pixel is its x term plus its y term.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearInterpolant {
    /// For each column of chunks, the terms of the lower two quads; the upper two have the same.
    pub x_terms: [[f32; 8]; COLUMNS],
    /// For each row of chunks.
    pub y_terms: [Chunk; (ROWS / CHUNK) as usize],
}

impl LinearInterpolant {
    /// The values of pixels, and all of their terms, are multiples of 2^-GRID.
    pub const GRID: i32 = 100;

    /// All terms zero.
    pub const ZERO: Self = Self { x_terms: [[0.0; 8]; _], y_terms: [[0.0; 16]; _] };

    /// Evaluates a plane over a batch, in IEEE arithmetic.
    #[inline(always)]
    pub(super) fn fill(&mut self, plane: Plane, tile: &Tile<'_>) {
        self.fill_x(plane, tile);
        self.fill_y(plane, tile);
    }

    #[inline(always)]
    fn fill_x(&mut self, Plane { c, du, .. }: Plane, tile: &Tile<'_>) {
        let (us, _) = tile.centers.of(tile);
        for (x_terms, u) in self.x_terms.as_flattened_mut().iter_mut().zip(us.as_flattened()) {
            *x_terms = c + du * u;
        }
    }

    #[inline(always)]
    fn fill_y(&mut self, Plane { dv, .. }: Plane, tile: &Tile<'_>) {
        let (_, vs) = tile.centers.of(tile);
        for (y_terms, v) in self.y_terms.as_flattened_mut().iter_mut().zip(vs.as_flattened()) {
            *y_terms = dv * v;
        }
    }

    /// Returns the byte offsets in an interpolant of the x terms of a column of chunks, and of the y terms of a row of chunks, for each
    /// half of the row; `None` if the interpolant does not have them.
    pub(super) fn offsets([column, row]: [u32; 2]) -> Option<[[u32; 2]; 2]> {
        let there = (column as usize) < COLUMNS && row < ROWS / CHUNK;
        let x_terms = column.checked_mul(32)?;
        let y_terms = row.checked_mul(64)?.checked_add(32 * COLUMNS as u32)?;
        there.then_some([[x_terms, y_terms], [x_terms, y_terms + 32]])
    }
}

/// The interpolants of a batch or of adjacent batches: all channels of a batch, then those of the batch to its right.
///
/// The x terms of a row of batches are kept for the next row.
pub(super) struct Interpolants {
    all: Vec<LinearInterpolant>,
    /// The inputs of the x terms; `None` if only those of the first batch are valid.
    columns: Option<Columns>,
}

/// A range of columns of batches in a picture.
struct Columns {
    first: u32,
    batches: u32,
    width: u32,
    /// For each channel, the bits of the plane's coefficients that x terms depend on.
    planes: Vec<Option<[u32; 2]>>,
}

impl Interpolants {
    /// Returns zeros, for a number of channels per batch.
    pub(super) fn new(channels: usize) -> Self {
        Self { all: vec![LinearInterpolant::ZERO; channels], columns: None }
    }

    /// Returns the interpolants.
    pub(super) fn all(&self) -> &[LinearInterpolant] {
        &self.all
    }

    /// Fills the interpolants of a batch.
    #[inline(always)]
    pub(super) fn fill(&mut self, channels: &[[u8; 2]], bindings: &Bindings, tile: &Tile<'_>) {
        self.columns = None;
        for (channel, interpolant) in channels.iter().zip(&mut self.all) {
            if let Some(plane) = plane(bindings, *channel) {
                interpolant.fill(plane, tile);
            }
        }
    }

    /// Fills the interpolants of adjacent batches, starting with a tile.
    #[inline(always)]
    pub(super) fn fill_row(
        &mut self,
        channels: &[[u8; 2]],
        bindings: &Bindings,
        first: &Tile<'_>,
        batches: u32,
    ) {
        let needed = channels.len() * batches as usize;
        if self.all.len() < needed {
            self.all.resize(needed, LinearInterpolant::ZERO);
        }
        let keeps_columns = self.has_columns(channels, bindings, first, batches);
        for (number, channel) in channels.iter().enumerate() {
            let Some(plane) = plane(bindings, *channel) else { continue };
            // The batches of a row share the y terms.
            let mut interpolant = LinearInterpolant::ZERO;
            interpolant.fill_y(plane, first);
            let of_channel = self.all.iter_mut().skip(number).step_by(channels.len());
            for (batch, to) in (0..batches).zip(of_channel) {
                inhibit_outer_vectorization();
                if !keeps_columns {
                    let tile = Tile { x: first.x + batch * first.columns * CHUNK, ..*first };
                    to.fill_x(plane, &tile);
                }
                to.y_terms = interpolant.y_terms;
            }
        }
    }

    /// Returns whether the x terms are valid for such a row. If not, records it as their new source.
    fn has_columns(
        &mut self,
        channels: &[[u8; 2]],
        bindings: &Bindings,
        first: &Tile<'_>,
        batches: u32,
    ) -> bool {
        let bits = |channel: &[u8; 2]| {
            let Plane { c, du, .. } = plane(bindings, *channel)?;
            Some([c, du].map(f32::to_bits))
        };
        let [width, _] = bindings.size();
        let known = self.columns.as_ref().is_some_and(|columns| {
            (columns.first, columns.batches, columns.width) == (first.x, batches, width)
                && columns.planes.iter().copied().eq(channels.iter().map(bits))
        });
        if !known {
            let planes = channels.iter().map(bits).collect();
            self.columns = Some(Columns { first: first.x, batches, width, planes });
        }
        known
    }
}

/// The minimum magnitude of non-zero coefficients, for which no result of this module is subnormal.
///
/// A pixel's centre is a fraction of at least 2^-33, so products are at least 2^-77. All summands are then multiples of
/// 2^-[GRID](LinearInterpolant::GRID), and so is each sum: zero, or far from denormal.
const MIN_MAGNITUDE: f32 = f32::from_bits((127 - 44) << 23);

/// Returns the plane of a channel of an input; `None` if the input has a value for each pixel.
pub(super) fn plane(bindings: &Bindings, [input, channel]: [u8; 2]) -> Option<Plane> {
    match &bindings.inputs().get(usize::from(input))?.data {
        InputData::Planes(components) => Some(components.get(usize::from(channel))?.plane),
        InputData::Values { .. } => None,
    }
}

/// Returns whether machine code, which flushes denormals, evaluates a channel of an input to the same bits as arithmetic that keeps them.
pub(super) fn is_linear(bindings: &Bindings, channel: [u8; 2]) -> bool {
    let fits = |x: f32| x == 0.0 || x.is_finite() && x.abs() >= MIN_MAGNITUDE;
    plane(bindings, channel).is_some_and(|Plane { c, du, dv }| [c, du, dv].into_iter().all(fits))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_program::{Component, Input, Job, Program};
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use r500_numerics::centre;

    fn bound(data: InputData) -> Bindings {
        let mut job = Job::from_program(Program::default());
        job.inputs = Some(vec![Input { temp: 0, data }]);
        Bindings::new(&job, [4, 4]).unwrap()
    }

    #[test]
    fn planes_of_tiny_numbers_are_not_linear() {
        let tiny = f32::from_bits(MIN_MAGNITUDE.to_bits() - 1);
        let least =
            [(0.0, true), (-0.0, true), (MIN_MAGNITUDE, true), (-MIN_MAGNITUDE, true), (1.0, true)];
        let other = [(tiny, false), (-tiny, false), (1e-40, false), (f32::NAN, false)];
        for (x, fits) in least.into_iter().chain(other).chain([(f32::INFINITY, false)]) {
            let planes = [Plane { c: x, du: 1.0, dv: 1.0 }, Plane { c: 1.0, du: x, dv: 1.0 }];
            for plane in planes.into_iter().chain([Plane { c: 1.0, du: 1.0, dv: x }]) {
                let planes = [plane; 4].map(|plane| Component { plane, ..Component::default() });
                let bindings = bound(InputData::Planes(planes));
                assert_eq!(is_linear(&bindings, [0, 3]), fits, "{plane:?}");
                assert!(!is_linear(&bindings, [1, 0]), "there is one input");
            }
        }
        let values = InputData::Values { width: 4, values: vec![[1.0; 4]; 16] };
        assert!(!is_linear(&bound(values), [0, 0]));
    }

    /// For the smallest numbers, with the largest relative error: operands and sums are multiples of the grid, so none is denormal.
    #[test]
    fn interpolant_terms_are_multiples_of_its_grid() {
        let scale = f64::from(LinearInterpolant::GRID).exp2();
        let mut random = SplitMix64::seed_from_u64(0);
        let mut random = |end: u32| random.next_u32() % end;
        for _ in 0..200_000 {
            let mut number = || {
                let bits = (MIN_MAGNITUDE.to_bits() + random(3 << 23)) & !((1 << random(24)) - 1);
                f32::from_bits(bits.max(MIN_MAGNITUDE.to_bits()) | random(2) << 31)
            };
            let (c, du, dv) = (number(), number(), number());
            let size = 1 + random(1 << 14);
            let [u, v] = [random(size), random(size)].map(|pixel| centre(pixel, size));
            let (x_terms, y_terms) = (c + du * u, dv * v);
            for x in [du * u, x_terms, y_terms, x_terms + y_terms] {
                assert!(
                    (f64::from(x) * scale).fract() == 0.0,
                    "{c:e} + {du:e} * {u} + {dv:e} * {v}"
                );
                assert!(!x.is_subnormal());
            }
        }
    }

    #[test]
    fn offsets_are_those_of_the_numbers() {
        assert_eq!(size_of::<LinearInterpolant>(), 768);
        assert_eq!(std::mem::offset_of!(LinearInterpolant, y_terms), 512);
        // The third column, the last row: 3 * 64 bytes after the first; the other half is 32 bytes further.
        assert_eq!(LinearInterpolant::offsets([2, 3]), Some([[64, 704], [64, 736]]));
        assert_eq!(LinearInterpolant::offsets([15, 0]), Some([[480, 512], [480, 544]]));
        assert_eq!(LinearInterpolant::offsets([16, 0]), None);
        assert_eq!(LinearInterpolant::offsets([0, 4]), None);
    }
}
