//! Textures in memory: where the rows of each level are.

use r500_chip::tiling::{Layout, Tiling};
use r500_chip::values::MicroTile;
use r500_isa::texture::{TxFormat0, TxFormat2, TxOffset};
use r500_isa::values::CoordType;
use r500_program::Texture;

use crate::error::BindError;
use crate::format::storage;

/// Returns width and height of level 0.
#[must_use]
pub fn base_size(format0: TxFormat0, format2: TxFormat2) -> [u32; 2] {
    let axis = |low: u16, high: bool| (u32::from(low) | u32::from(high) << 11) + 1;
    [axis(format0.txwidth(), format2.txwidth_11()), axis(format0.txheight(), format2.txheight_11())]
}

/// The memory layout of a texture: levels, each with its faces or layers (observed).
#[derive(Clone, Copy, Debug)]
pub struct MemoryLayout {
    size: [u32; 3],
    cube: bool,
    volume: bool,
    /// Texels from row to row of level 0, if it is not the aligned width.
    pitch: Option<u32>,
    /// Whether rows are as long as a power of two.
    rounded: bool,
    levels: u32,
    /// Bits of a texel or block, and texels along the side of a block.
    bits: u32,
    side: u32,
    tiling: Tiling,
    /// Whether levels as large as a macro tile are macro tiled, not only larger ones.
    inclusive: bool,
}

/// The memory layout of a level.
#[derive(Clone, Copy, Debug)]
pub struct LevelLayout {
    size: [u32; 3],
    /// Texels (bytes for formats that are never tiled) from row to row.
    pitch: u32,
    /// Rows of texels or blocks from layer to layer.
    rows: u32,
    /// Bytes of a row of texels or blocks.
    row_bytes: u32,
    /// Bytes of the used part of a row.
    used_bytes: u32,
    used_rows: u32,
    /// `None` for rows of bytes.
    tiling: Option<Tiling>,
}

impl MemoryLayout {
    /// Returns the layout of a texture by its registers; of `offset`, only tiles count. `round_cubes`: whether the rows and faces of a cube
    /// map count as the next power of two.
    ///
    /// # Errors
    /// [`BindError`] if the format is reserved or not modelled.
    pub fn new(texture: &Texture, offset: TxOffset, round_cubes: bool) -> Result<Self, BindError> {
        let Texture { filter1, format0, format1, format2, .. } = *texture;
        let (bits, side) = storage(format1, format2)?;
        let [width, height] = base_size(format0, format2);
        let cube = format1.tex_coord_type() == CoordType::CUBE;
        let rounded = cube && round_cubes && !(width.is_power_of_two() && height.is_power_of_two());
        let volume = format1.tex_coord_type() == CoordType::D3;
        Ok(Self {
            size: [width, height, if volume { 1 << format0.txdepth() } else { 1 }],
            cube,
            volume,
            pitch: format0.txpitch_en().then(|| u32::from(format2.txpitch()) + 1),
            rounded,
            levels: u32::from(format0.num_levels()) + 1,
            bits,
            side,
            tiling: Tiling {
                log2_bytes: (bits / 8).max(1).ilog2() as u8,
                macro_tiled: offset.macro_tile(),
                micro: MicroTile::new(offset.micro_tile()),
            },
            inclusive: !filter1.macro_switch(),
        })
    }

    /// Returns the layout of level `k`.
    #[must_use]
    pub fn level(&self, k: u32) -> LevelLayout {
        let [width, height, depth] = self.size.map(|n| (n >> k).max(1));
        let layers = if self.cube { 6 } else { depth };
        let mut rows = height;
        // Observed: heights of mipmaps, volumes and cubes are powers of two.
        if self.levels > 1 || self.volume || self.cube {
            rows = rows.next_power_of_two();
        }
        let wanted = match self.pitch {
            _ if self.rounded => width.next_power_of_two(),
            Some(pitch) if k == 0 => pitch.max(width),
            _ => width,
        };
        if self.side > 1 || self.bits < 8 {
            // Rows of blocks are multiples of 32 bytes; blocks are never tiled.
            let bytes = |texels: u32| {
                (u64::from(texels.div_ceil(self.side)) * u64::from(self.bits)).div_ceil(8) as u32
            };
            let row_bytes = bytes(wanted).next_multiple_of(32);
            return LevelLayout {
                size: [width, height, layers],
                pitch: row_bytes,
                rows: rows.div_ceil(self.side),
                row_bytes,
                used_bytes: bytes(width),
                used_rows: height.div_ceil(self.side),
                tiling: None,
            };
        }
        let mut tiling = self.tiling;
        let [tile_width, tile_height] = tiling.alignment();
        // Observed: a level smaller than a macro tile along a side is not macro tiled.
        let fits = |size: u32, tile: u32| if self.inclusive { size >= tile } else { size > tile };
        tiling.macro_tiled &= fits(width, tile_width) && fits(height, tile_height);
        let [unit_width, unit_height] = tiling.alignment();
        let pitch = wanted.next_multiple_of(unit_width);
        LevelLayout {
            size: [width, height, layers],
            pitch,
            rows: rows.next_multiple_of(unit_height),
            row_bytes: pitch * tiling.bytes(),
            used_bytes: width * tiling.bytes(),
            used_rows: height,
            tiling: Some(tiling),
        }
    }
}

impl LevelLayout {
    /// Returns width and height in texels, and the number of layers or faces.
    #[must_use]
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// Returns the bytes in memory from this level to the next.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.layer_bytes().saturating_mul(self.size[2].into())
    }

    /// Returns the bytes of all rows, without tiles and padding.
    #[must_use]
    pub fn row_order_bytes(&self) -> usize {
        self.used_bytes as usize * self.used_rows as usize * self.size[2] as usize
    }

    fn layer_bytes(&self) -> u64 {
        u64::from(self.row_bytes) * u64::from(self.rows)
    }

    /// Calls `each` for the pieces of the level that are contiguous in memory, in row order, with their offset from the start of the level, and
    /// their bytes.
    #[inline]
    pub fn for_each_piece(&self, mut each: impl FnMut(u64, usize)) {
        // Texels of a row of a tiling unit are contiguous.
        let tiles = self.tiling.map(|tiling| {
            let layout = Layout::new(tiling, self.pitch);
            (layout, tiling.log2_bytes, tiling.unit()[0] * tiling.bytes())
        });
        for n in 0..self.size[2] {
            let layer = u64::from(n).saturating_mul(self.layer_bytes());
            for y in 0..self.used_rows {
                match tiles {
                    None => {
                        let row = u64::from(y) * u64::from(self.row_bytes);
                        each(layer.saturating_add(row), self.used_bytes as usize);
                    }
                    Some((layout, log2_bytes, step)) => {
                        for from in (0..self.used_bytes).step_by(step as usize) {
                            let offset = layout.offset([from >> log2_bytes, y]);
                            let bytes = step.min(self.used_bytes - from);
                            each(layer.saturating_add(offset), bytes as usize);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_isa::texture::TxFormat1;

    use super::*;

    fn layout(tiling: Tiling, size: [u32; 3], levels: u32, cube: bool) -> MemoryLayout {
        MemoryLayout {
            size,
            cube,
            volume: false,
            pitch: None,
            rounded: false,
            levels,
            bits: 8 * tiling.bytes(),
            side: 1,
            tiling,
            inclusive: true,
        }
    }

    #[test]
    fn levels_below_a_tile_are_not_macro_tiled() {
        // 32-bit texels with both tilings: tiles of 32x16 texels.
        let tiling = Tiling { log2_bytes: 2, macro_tiled: true, micro: MicroTile::TILED };
        let layout = layout(tiling, [64, 32, 1], 3, false);
        let tiled = |k| layout.level(k).tiling.map(|t| t.macro_tiled);
        assert_eq!([tiled(0), tiled(1), tiled(2)], [Some(true), Some(true), Some(false)]);
        assert_eq!(layout.level(0).bytes(), 64 * 32 * 4);
        assert_eq!(layout.level(2).bytes(), 16 * 8 * 4);
    }

    #[test]
    fn heights_of_mipmaps_and_cubes_are_powers_of_two() {
        let linear = Tiling::linear(2);
        assert_eq!(layout(linear, [10, 5, 1], 1, false).level(0).bytes(), 16 * 5 * 4);
        assert_eq!(layout(linear, [10, 5, 1], 2, false).level(0).bytes(), 16 * 8 * 4);
        assert_eq!(layout(linear, [8, 8, 1], 1, true).level(0).bytes(), 8 * 8 * 4 * 6);
    }

    #[test]
    fn cubes_of_other_sizes_are_addressed_as_the_next_power_of_two() {
        // Mesa's cube of 39x39 texels has rows of 40 texels; the chip reads rows of 64, and faces of 64 rows.
        let texture = Texture {
            format0: TxFormat0(38 | 38 << 11 | 1 << 31),
            format1: TxFormat1(12 | 2 << 25),
            format2: TxFormat2(39),
            ..Texture::default()
        };
        let face = |rounds, format0| {
            let texture = Texture { format0, ..texture.clone() };
            MemoryLayout::new(&texture, TxOffset(0), rounds).unwrap().level(0).layer_bytes()
        };
        assert_eq!(face(true, texture.format0), 64 * 64 * 4);
        assert_eq!(face(false, texture.format0), 40 * 64 * 4);
        // A pitch counts for a cube of a power of two.
        let pitched = TxFormat0(31 | 31 << 11 | 1 << 31);
        assert_eq!(face(true, pitched), 40 * 32 * 4);
    }

    #[test]
    fn pieces_are_the_texels_in_row_order() {
        for code in 0..3 {
            for log2_bytes in 0..5 {
                let tiling =
                    Tiling { log2_bytes, macro_tiled: code != 1, micro: MicroTile::new(code) };
                let level = layout(tiling, [300, 70, 1], 1, false).level(0);
                let bytes = tiling.bytes();
                let tiling = level.tiling.unwrap();
                let texels = (0..70).flat_map(|y| (0..300).map(move |x| [x, y]));
                let wanted = texels.map(|texel| tiling.offset(level.pitch, texel));
                let (mut given, mut used) = (Vec::new(), 0);
                level.for_each_piece(|offset, length| {
                    let texels = 0..length as u32 / bytes;
                    given.extend(texels.map(|n| offset + u64::from(n * bytes)));
                    used += length;
                });
                assert!(given.into_iter().eq(wanted));
                assert_eq!(used, level.row_order_bytes());
            }
        }
    }
}
