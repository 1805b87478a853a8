//! Bilinear footprints: the four texels of the linear filter stored side by side, for small textures.
//!
//! One index selects a footprint. Address modes are applied in advance, for each possible first texel. Layers
//! (the faces of a cube) follow each other.

use super::address_mode::AddressMode;
use super::texel_cache::TexelCache;
use super::texel_lane::TexelLane;
use super::texel_math;
use crate::address::texel;

/// The four texels of a bilinear filter: first column and row, second column, second row, both second. One
/// cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Footprint([[f32; 4]; 4]);

impl Footprint {
    /// Returns the footprint of four texels: red, green, blue, alpha each.
    #[must_use]
    pub fn new(texels: [[f32; 4]; 4]) -> Self {
        Self(texels)
    }

    /// Returns the texels.
    #[must_use]
    pub fn texels(&self) -> &[[f32; 4]; 4] {
        &self.0
    }
}

/// The footprints of all levels.
#[derive(Debug)]
pub(super) struct BilinearFootprints(Vec<Footprint>);

/// The layout of the footprints of a level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LevelLayout {
    /// The index of the footprint whose first texel is texel 0 of row 0.
    pub(super) origin: f32,
    /// Footprints from one row to the next, and from one layer to the next.
    pub(super) row: f32,
    pub(super) layer: f32,
}

impl BilinearFootprints {
    /// Maximum number of footprints: 2 MiB.
    const MOST: usize = 1 << 15;

    /// Returns all footprints by index.
    #[inline(always)]
    pub(super) fn all(&self) -> &[Footprint] {
        &self.0
    }

    /// Returns the footprints of levels of the given sizes, and the layout of each level; `None` if there are
    /// too many.
    pub(super) fn new(
        sizes: &[[u32; 3]],
        address_modes: &[AddressMode; 3],
        store: &TexelCache,
    ) -> Option<(Self, Vec<LevelLayout>)> {
        let (mut all, mut layouts, mut base) = (Vec::new(), Vec::new(), 0);
        for &[width, height, layers] in sizes {
            let columns = tap_pairs(address_modes[0], width);
            let rows = tap_pairs(address_modes[1], height);
            let layer = columns.len() * rows.len();
            if all.len() + layer * layers as usize > Self::MOST {
                return None;
            }
            let first = |axis: usize, size: u32| address_modes[axis].tap_bounds(size as f32).0;
            let row = columns.len() as f32;
            let origin = all.len() as f32 - first(0, width) - first(1, height) * row;
            layouts.push(LevelLayout { origin, row, layer: layer as f32 });
            for _ in 0..layers {
                let at = |x: Option<u32>, y: Option<u32>| match (x, y) {
                    (Some(x), Some(y)) => store.at(base + y * width + x),
                    _ => store.at(store.border()),
                };
                for &[y, below] in &rows {
                    let four = |&[x, right]: &[Option<u32>; 2]| {
                        Footprint([at(x, y), at(right, y), at(x, below), at(right, below)])
                    };
                    all.extend(columns.iter().map(four));
                }
                base += width * height;
            }
        }
        Some((Self(all), layouts))
    }
}

/// Returns the two texels of the linear filter along an axis, for each possible first one.
fn tap_pairs(address_modes: AddressMode, size: u32) -> Vec<[Option<u32>; 2]> {
    let (first, last) = address_modes.tap_bounds(size as f32);
    let at = |i| texel(address_modes.mode, i, size.into(), true);
    (first as i64..=last as i64).map(|i| [at(i), at(i + 1)]).collect()
}

/// Interpolates bilinearly; no step underflows (see [`filter`](super::filter)).
#[inline(always)]
pub(super) fn bilerp(Footprint([a, b, c, d]): &Footprint, s: f32, t: f32, to: &mut [f32; 4]) {
    let lane = &mut TexelLane::new();
    for i in 0..4 {
        let texels = [a[i], b[i], c[i], d[i]].map(f32::to_bits);
        to[i] = f32::from_bits(texel_math::bilerp(lane, texels, s.to_bits(), t.to_bits()));
    }
}
