//! Surface tiling: the byte offset of a texel from its coordinates.
//!
//! Memory is divided into *units* of 32 bytes, the length of a cache line. Micro tiling decides which texels a unit holds. Macro tiling
//! decides the order of units: row by row, or in tiles of 8x8 units (2 KiB) whose address bits are permuted. Textures, render targets and
//! depth buffers share this rule.
//!
//! Evidence: the address formulas of the old r300 span code in Mesa, which this rule reproduces for 16 and 32 bits a pixel;
//! the sizes of tiles in Mesa's r300 driver.

use crate::values::MicroTile;

/// Bytes of a unit.
pub const UNIT: u32 = 32;
/// Units along the side of a macro tile.
pub const TILE_UNITS: u32 = 8;
/// Bytes of a macro tile.
pub const TILE: u32 = UNIT * TILE_UNITS * TILE_UNITS;

/// Memory layout of the texels of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// log2 of the bytes of a texel: 0 to 4.
    pub log2_bytes: u8,
    /// Whether units are arranged in tiles of 8x8.
    pub macro_tiled: bool,
    /// Arrangement of texels in a unit.
    pub micro: MicroTile,
}

impl Tiling {
    /// Returns the layout of rows without tiles.
    #[must_use]
    pub const fn linear(log2_bytes: u8) -> Self {
        Self { log2_bytes, macro_tiled: false, micro: MicroTile::LINEAR }
    }

    /// Returns the number of bytes per texel.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        1 << if self.log2_bytes > 4 { 4 } else { self.log2_bytes }
    }

    /// Returns the width and height of a unit in texels.
    ///
    /// The reserved code of micro tiles counts as [`MicroTile::LINEAR`]; square units exist for 16 bits only and are
    /// [`MicroTile::TILED`] elsewhere.
    #[must_use]
    pub const fn unit(self) -> [u32; 2] {
        let bytes = self.bytes();
        let rows = match (self.micro.code(), bytes) {
            (1, 1) | (2, 1 | 2) => 4,
            (1 | 2, _) => 2,
            _ => 1,
        };
        [UNIT / rows / bytes, rows]
    }

    /// Returns the alignment of a surface's width and height, in texels: a macro tile or a unit.
    #[must_use]
    pub const fn alignment(self) -> [u32; 2] {
        let [width, height] = self.unit();
        let units = if self.macro_tiled { TILE_UNITS } else { 1 };
        [width * units, height * units]
    }

    /// Returns the byte offset of a texel in a surface whose rows are `pitch` texels apart. `pitch` is a multiple of the width of
    /// [`alignment`](Self::alignment); otherwise the next multiple is used.
    ///
    /// With macro tiles and several samples per pixel, the samples of a tile are stored one after another.
    #[must_use]
    pub const fn offset(self, pitch: u32, [x, y]: [u32; 2]) -> u64 {
        self.sample_offset(pitch, [x, y], 0, 1)
    }

    /// Returns the byte offset of sample `sample` of `samples` of a pixel.
    ///
    /// Open: programs cannot observe where samples are stored. Here the tiles (units, without macro tiles) of all samples follow one
    /// another.
    #[must_use]
    pub const fn sample_offset(
        self,
        pitch: u32,
        [x, y]: [u32; 2],
        sample: u32,
        samples: u32,
    ) -> u64 {
        let [width, height] = self.unit();
        let (ux, uy) = (x / width, y / height);
        let in_unit = (y % height * width + x % width) * self.bytes();
        let (block, in_block, size) = if self.macro_tiled {
            let row = pitch.div_ceil(width * TILE_UNITS) as u64;
            let tile = (uy / TILE_UNITS) as u64 * row + (ux / TILE_UNITS) as u64;
            (tile, unit_in_tile(ux, uy) * UNIT + in_unit, TILE)
        } else {
            let row = pitch.div_ceil(width) as u64;
            (uy as u64 * row + ux as u64, in_unit, UNIT)
        };
        (block * samples as u64 + sample as u64) * size as u64 + in_block as u64
    }
}

/// A surface's layout with its pitch: gives the offsets of [`Tiling::offset`], prepared for many pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    log2_bytes: u8,
    /// log2 of the width and height of a unit in texels.
    log2_unit: [u8; 2],
    macro_tiled: bool,
    /// Units or macro tiles in a row of them.
    row: u64,
}

impl Layout {
    /// Prepares a layout for rows that are `pitch` texels apart, as in [`Tiling::offset`].
    #[must_use]
    pub const fn new(tiling: Tiling, pitch: u32) -> Self {
        let [width, height] = tiling.unit();
        let units = if tiling.macro_tiled { TILE_UNITS } else { 1 };
        Self {
            log2_bytes: tiling.bytes().trailing_zeros() as u8,
            log2_unit: [width.trailing_zeros() as u8, height.trailing_zeros() as u8],
            macro_tiled: tiling.macro_tiled,
            row: pitch.div_ceil(width * units) as u64,
        }
    }

    /// Returns the bytes from a texel in an even row to the one below, if both are in one unit.
    #[must_use]
    #[inline(always)]
    pub const fn row_in_unit(self) -> Option<u32> {
        let [log2_width, log2_height] = self.log2_unit;
        if log2_height == 0 { None } else { Some(1 << (log2_width + self.log2_bytes)) }
    }

    /// Returns the byte offset of a texel.
    #[must_use]
    #[inline(always)]
    pub const fn offset(self, [x, y]: [u32; 2]) -> u64 {
        let [log2_width, log2_height] = self.log2_unit;
        let (ux, uy) = (x >> log2_width, y >> log2_height);
        let (x, y) = (x & !(!0 << log2_width), y & !(!0 << log2_height));
        let in_unit = ((y << log2_width | x) << self.log2_bytes) as u64;
        if self.macro_tiled {
            let tile = (uy / TILE_UNITS) as u64 * self.row + (ux / TILE_UNITS) as u64;
            let unit = COLUMNS[(ux % 16) as usize] ^ ROWS[(uy % 16) as usize];
            tile * TILE as u64 + unit as u64 + in_unit
        } else {
            (uy as u64 * self.row + ux as u64) * UNIT as u64 + in_unit
        }
    }
}

impl Layout {
    /// Returns the lowest 32 bits of the byte offsets of texels, x and y.
    #[must_use]
    #[inline(always)]
    pub fn offsets<const N: usize>(self, [x, y]: [[u32; N]; 2]) -> [u32; N] {
        let [log2_width, log2_height] = self.log2_unit.map(u32::from);
        let row = self.row as u32;
        let [columns, rows] = [!(!0 << log2_width), !(!0 << log2_height)];
        let mut offsets = [0; N];
        if self.macro_tiled {
            for (offset, (x, y)) in offsets.iter_mut().zip(x.into_iter().zip(y)) {
                let (ux, uy) = (x >> log2_width, y >> log2_height);
                let in_unit = ((y & rows) << log2_width | x & columns) << self.log2_bytes;
                let tile = (uy / TILE_UNITS).wrapping_mul(row).wrapping_add(ux / TILE_UNITS);
                let unit = unit_in_tile(ux, uy) * UNIT;
                *offset = tile.wrapping_mul(TILE).wrapping_add(unit + in_unit);
            }
        } else {
            for (offset, (x, y)) in offsets.iter_mut().zip(x.into_iter().zip(y)) {
                let (ux, uy) = (x >> log2_width, y >> log2_height);
                let in_unit = ((y & rows) << log2_width | x & columns) << self.log2_bytes;
                let unit = uy.wrapping_mul(row).wrapping_add(ux);
                *offset = unit.wrapping_mul(UNIT).wrapping_add(in_unit);
            }
        }
        offsets
    }
}

/// The two parts of a unit's byte offset in its macro tile, by column and by row: an exclusive or joins them.
const COLUMNS: [u16; 16] = offsets_in_tile(true);
const ROWS: [u16; 16] = offsets_in_tile(false);

const fn offsets_in_tile(columns: bool) -> [u16; 16] {
    let mut offsets = [0; 16];
    let mut n = 0;
    while n < 16 {
        let unit = if columns { unit_in_tile(n, 0) } else { unit_in_tile(0, n) };
        offsets[n as usize] = (unit * UNIT) as u16;
        n += 1;
    }
    offsets
}

/// Returns the position of a unit in its macro tile, 0 to 63. Bit 3 of a coordinate is the lowest bit of the tile's.
#[inline(always)]
const fn unit_in_tile(ux: u32, uy: u32) -> u32 {
    #[inline(always)]
    const fn bit(x: u32, n: u32) -> u32 {
        x >> n & 1
    }
    bit(ux, 0)
        | bit(uy, 0) << 1
        | (bit(uy, 2) ^ bit(ux, 1)) << 2
        | (bit(uy, 1) ^ bit(ux, 2)) << 3
        | (bit(uy, 3) ^ bit(ux, 2)) << 4
        | (bit(uy, 2) ^ bit(ux, 3)) << 5
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;

    fn all() -> impl Iterator<Item = Tiling> {
        (0..5).flat_map(|log2_bytes| {
            [false, true].into_iter().flat_map(move |macro_tiled| {
                (0..3).map(move |code| Tiling {
                    log2_bytes,
                    macro_tiled,
                    micro: MicroTile::new(code),
                })
            })
        })
    }

    #[test]
    fn every_layout_uses_each_byte_of_aligned_surfaces_once() {
        for tiling in all() {
            let [width, height] = tiling.alignment().map(|n| n * 4);
            for samples in [1, 2, 3, 4, 6] {
                let texels = width * height * samples;
                let mut seen = vec![false; texels as usize];
                for (x, y, s) in (0..width).flat_map(|x| {
                    (0..height).flat_map(move |y| (0..samples).map(move |s| (x, y, s)))
                }) {
                    let offset = tiling.sample_offset(width, [x, y], s, samples);
                    assert_eq!(offset % u64::from(tiling.bytes()), 0);
                    let texel = (offset / u64::from(tiling.bytes())) as usize;
                    assert!(!std::mem::replace(&mut seen[texel], true), "{tiling:?} {x},{y},{s}");
                }
            }
        }
    }

    #[test]
    fn prepared_layouts_have_the_same_offsets() {
        for tiling in all() {
            for pitch in [8, 40, 128, 200] {
                let layout = Layout::new(tiling, pitch);
                for y in 0..70 {
                    for x in 0..300 {
                        let expected = tiling.offset(pitch, [x, y]);
                        assert_eq!(layout.offset([x, y]), expected, "{tiling:?} {pitch} {x},{y}");
                        let [offset] = layout.offsets([[x], [y]]);
                        assert_eq!(u64::from(offset), expected, "{tiling:?} {pitch} {x},{y}");
                        if let Some(bytes) = layout.row_in_unit()
                            && y % 2 == 0
                        {
                            let below = tiling.offset(pitch, [x, y + 1]);
                            assert_eq!(below, expected + u64::from(bytes));
                        }
                    }
                }
            }
        }
        let far = [0xffff_ffff, 0xffff_fffe];
        let tiling = Tiling { log2_bytes: 2, macro_tiled: true, micro: MicroTile::TILED };
        assert_eq!(Layout::new(tiling, 128).offset(far), tiling.offset(128, far));
        let [low] = Layout::new(tiling, 128).offsets(far.map(|at| [at]));
        assert_eq!(low, tiling.offset(128, far) as u32);
    }

    #[test]
    fn units_have_the_documented_shapes() {
        let unit = |log2_bytes, micro| Tiling { log2_bytes, macro_tiled: false, micro }.unit();
        assert_eq!(unit(2, MicroTile::LINEAR), [8, 1]);
        assert_eq!(unit(2, MicroTile::TILED), [4, 2]);
        assert_eq!(unit(1, MicroTile::TILED), [8, 2]);
        assert_eq!(unit(1, MicroTile::SQUARE), [4, 4]);
        assert_eq!(unit(0, MicroTile::TILED), [8, 4]);
        assert_eq!(unit(3, MicroTile::TILED), [2, 2]);
    }

    /// The address of a 32-bit pixel in a surface with macro and micro tiles, as in tiled read-back code of free drivers: written bit by
    /// bit over byte coordinates, not over units.
    #[test]
    fn macro_and_micro_tiles_of_dwords_follow_the_old_formula() {
        let tiling = Tiling { log2_bytes: 2, macro_tiled: true, micro: MicroTile::TILED };
        let pitch = 128;
        let bit = |v: u32, n: u32| u64::from(v >> n & 1);
        for y in 0..64 {
            for x in 0..pitch {
                let mut expected = u64::from((y >> 4) * (pitch >> 5) + (x >> 5)) << 11;
                expected += bit(x, 0) << 2 | bit(x, 1) << 3 | bit(y, 0) << 4 | bit(x, 2) << 5;
                expected += bit(y, 1) << 6 | (bit(x, 3) ^ bit(y, 3)) << 7;
                expected += (bit(x, 4) ^ bit(y, 2)) << 8 | (bit(y, 4) ^ bit(x, 4)) << 9;
                expected += (bit(x, 5) ^ bit(y, 3)) << 10;
                assert_eq!(tiling.offset(pitch, [x, y]), expected, "{x},{y}");
            }
        }
    }

    #[test]
    fn rows_of_linear_surfaces_are_a_pitch_apart() {
        let tiling = Tiling::linear(1);
        assert_eq!(tiling.offset(48, [5, 3]), (3 * 48 + 5) * 2);
    }
}
