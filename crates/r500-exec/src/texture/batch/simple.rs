//! What most fetches are: a two-dimensional texture, one level, clamped or repeated.
//!
//! A few chunks go through one step after the other, so that each step's decisions are made once.

use r500_isa::values::{ClampMode, CoordType, TexOp};

use super::axis::{TOO_FAR, Wrapping, floor, modulo};
use super::corners::{Corners, mixture};
use super::places::{flush_to_plus, quads_with, quotient};
use super::prepared::{Level, Prepared};
use super::store::Store;
use super::{BatchFetch, Chunk, LANES};
use r500_simd::inhibit_outer_vectorization;

/// Chunks that go together.
pub(super) const MOST: usize = 4;

/// Some chunks and what is worked out for them.
pub(super) struct Group {
    /// How many there are, their numbers in the batch, and their live quads.
    pub(super) count: usize,
    pub(super) chunks: [usize; MOST],
    pub(super) live: [u8; MOST],
    /// Quads of which some are beyond what is computed here.
    pub(super) wild: [u8; MOST],
    /// The texels along each axis, and the second one's share.
    texel: [[Chunk; MOST]; 2],
    share: [[Chunk; MOST]; 2],
    /// Numbers of texels, as floats.
    number: [Chunk; MOST],
    pixels: [[f32; 4]; LANES],
}

impl Group {
    pub(super) const NEW: Self = Self {
        count: 0,
        chunks: [0; MOST],
        live: [0; MOST],
        wild: [0; MOST],
        texel: [[[0.0; LANES]; MOST]; 2],
        share: [[[0.0; LANES]; MOST]; 2],
        number: [[0.0; LANES]; MOST],
        pixels: [[0.0; 4]; LANES],
    };
}

/// Added to a whole number below it, this leaves it in the lowest bits.
const MAGIC: f32 = (1 << 23) as f32;

impl Prepared {
    /// Whether its fetches are simple.
    pub(super) fn looks_simple(&self) -> bool {
        let known = |mode| matches!(mode, ClampMode::WRAP | ClampMode::MIRROR | ClampMode::CLAMP);
        let kept = match self.mag[0] {
            true => self.corners.is_some(),
            false => matches!(self.store, Store::Decoded(_)),
        };
        self.kind == CoordType::D2
            && self.single
            && kept
            && self.levels[self.finest].whole
            && self.wrapping[..2].iter().all(|axis| known(axis.mode))
    }

    /// Fetches the live quads of a group, all but the wild ones.
    #[inline(always)]
    pub(super) fn group(
        &self,
        fetch: &BatchFetch<'_>,
        group: &mut Group,
        out: &mut [&mut [Chunk]; 4],
    ) {
        let level = &self.levels[self.finest];
        let count = group.count.min(MOST);
        group.wild = [0; MOST];
        for axis in 0..2 {
            self.scaled(fetch, group, axis, count);
            let Group { texel, share, .. } = group;
            self.texels(level, axis, &mut texel[axis][..count], &mut share[axis][..count]);
        }
        match (&self.corners, &self.store) {
            (Some(corners), _) if self.mag[0] => {
                number(group, count, level.row[0], level.origin[0]);
                self.mix_group(corners, fetch.wanted, group, count, out);
            }
            (_, Store::Decoded(texels)) => {
                number(group, count, level.size[0][0], level.base[0]);
                pick(texels, fetch.wanted, group, count, out);
            }
            _ => {}
        }
    }

    /// Coordinates in texels.
    #[inline(always)]
    fn scaled(&self, fetch: &BatchFetch<'_>, group: &mut Group, axis: usize, count: usize) {
        let Group { chunks, texel, wild, .. } = group;
        let scale = if fetch.unscaled { 1.0 } else { self.scale[axis] };
        let repeats = self.wrapping[axis].repeats();
        let project = fetch.op == TexOp::PROJ;
        for j in 0..count {
            inhibit_outer_vectorization();
            let (k, to) = (chunks[j], &mut texel[axis][j]);
            let given = &fetch.strq[axis][k];
            let mut x: Chunk = std::array::from_fn(|lane| flush_to_plus(given[lane]));
            if project {
                let (q, mut tiny) = (&fetch.strq[3][k], [0_u32; LANES]);
                for lane in 0..LANES {
                    x[lane] = quotient(x[lane], q[lane], &mut tiny[lane]);
                }
                wild[j] |= quads_with(&tiny);
            }
            let x: Chunk = std::array::from_fn(|lane| x[lane] * scale);
            *to = x;
            if repeats {
                // Or NaN.
                let far = |lane: usize| if x[lane].abs() < TOO_FAR { 0 } else { !0 };
                wild[j] |= quads_with(&std::array::from_fn(far));
            }
        }
    }

    /// The texels along an axis, the first ones if the filter is linear, and the second one's share.
    #[inline(always)]
    fn texels(&self, level: &Level, axis: usize, texels: &mut [Chunk], shares: &mut [Chunk]) {
        let Wrapping { mode, power_of_two } = self.wrapping[axis];
        let (size, inverse) = (level.size[axis][0], level.inverse[axis][0]);
        let (twice, half) = (2.0 * size, 0.5 * inverse);
        match (mode, self.mag[0], power_of_two) {
            // Farther out both texels are the same.
            (ClampMode::CLAMP, true, _) => {
                each(texels, shares, |x| first(limited(x, -0.5, size + 0.25), |i| i));
            }
            (ClampMode::CLAMP, false, _) => {
                each(texels, shares, |x| (floor(limited(x, 0.0, size - 0.5)), 0.0));
            }
            (ClampMode::WRAP, true, true) => {
                each(texels, shares, |x| first(x, |i| modulo(i, size, inverse, true)));
            }
            (ClampMode::WRAP, true, false) => {
                each(texels, shares, |x| first(x, |i| modulo(i, size, inverse, false)));
            }
            (ClampMode::WRAP, false, _) => {
                each(texels, shares, |x| (modulo(floor(x), size, inverse, power_of_two), 0.0));
            }
            (_, true, _) => {
                each(texels, shares, |x| first(x, |i| modulo(i, twice, half, power_of_two)));
            }
            (_, false, _) => each(texels, shares, |x| {
                let i = modulo(floor(x), twice, half, power_of_two);
                let back = twice - 1.0 - i;
                (if i < back { i } else { back }, 0.0)
            }),
        }
    }

    /// The colours of a group, by the linear filter.
    #[inline(always)]
    fn mix_group(
        &self,
        corners: &Corners,
        wanted: u8,
        group: &mut Group,
        count: usize,
        out: &mut [&mut [Chunk]; 4],
    ) {
        let Group { chunks, live, share, number, pixels, .. } = group;
        let [along_s, along_t] = share;
        let corners = corners.all();
        for j in 0..count {
            for quad in 0..4 {
                if live[j] >> quad & 1 == 0 {
                    continue;
                }
                for lane in 4 * quad..4 * quad + 4 {
                    // Only lanes that nobody looks at lie elsewhere.
                    let Some(four) = corners.get(whole(number[j][lane])) else { continue };
                    mixture(four, along_s[j][lane], along_t[j][lane], &mut pixels[lane]);
                }
            }
            channels(pixels, wanted, chunks[j], out);
        }
    }
}

/// Takes a step for each lane.
#[inline(always)]
fn each(texels: &mut [Chunk], shares: &mut [Chunk], step: impl Fn(f32) -> (f32, f32)) {
    for (texel, share) in texels.iter_mut().zip(shares) {
        inhibit_outer_vectorization();
        for lane in 0..LANES {
            (texel[lane], share[lane]) = step(texel[lane]);
        }
    }
}

/// The first of the two texels of the linear filter, made one of the texture, and the second one's
/// share.
#[inline(always)]
fn first(x: f32, texel: impl Fn(f32) -> f32) -> (f32, f32) {
    let from_centre = x - 0.5;
    let floor = floor(from_centre);
    (texel(floor), from_centre - floor)
}

/// Limits; NaN becomes the least.
#[inline(always)]
fn limited(x: f32, least: f32, most: f32) -> f32 {
    let above = if x > least { x } else { least };
    if above < most { above } else { most }
}

/// Numbers of texels in rows of `row`, the first of which is `origin`.
#[inline(always)]
fn number(group: &mut Group, count: usize, row: f32, origin: f32) {
    let Group { texel: [columns, rows], number, .. } = group;
    for j in 0..count {
        inhibit_outer_vectorization();
        for lane in 0..LANES {
            number[j][lane] = rows[j][lane] * row + columns[j][lane] + (origin + MAGIC);
        }
    }
}

/// The whole number that [`MAGIC`] was added to.
#[inline(always)]
fn whole(number: f32) -> usize {
    (number.to_bits() & 0x7f_ffff) as usize
}

/// The colours of a group, by the nearest filter.
#[inline(always)]
fn pick(
    texels: &[[f32; 4]],
    wanted: u8,
    group: &mut Group,
    count: usize,
    out: &mut [&mut [Chunk]; 4],
) {
    let Group { chunks, number, pixels, .. } = group;
    for j in 0..count {
        let texel = |lane: usize| texels.get(whole(number[j][lane])).unwrap_or(&[0.0; 4]);
        if wanted.is_power_of_two() {
            let c = (wanted.trailing_zeros() & 3) as usize;
            if let Some(to) = out[c].get_mut(chunks[j]) {
                for lane in 0..LANES {
                    to[lane] = texel(lane)[c];
                }
            }
            continue;
        }
        for lane in 0..LANES {
            pixels[lane] = *texel(lane);
        }
        channels(pixels, wanted, chunks[j], out);
    }
}

/// The channels of a chunk's pixels that are wanted, each by itself.
#[inline(always)]
fn channels(pixels: &[[f32; 4]; LANES], wanted: u8, k: usize, out: &mut [&mut [Chunk]; 4]) {
    for (c, out) in out.iter_mut().enumerate() {
        if wanted >> c & 1 != 0
            && let Some(to) = out.get_mut(k)
        {
            *to = std::array::from_fn(|lane| pixels[lane][c]);
        }
    }
}
