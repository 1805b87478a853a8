//! `TX`: textures. Converts the levels of a texture in memory to row order for the fragment processor.

use r500_chip::tiling::Tiling;
use r500_chip::values::MicroTile;
use r500_exec::texture::{Sampler, storage};
use r500_isa::TEXTURE_UNITS;
use r500_isa::state::UsFormat;
use r500_isa::texture::{
    TxBorderColor, TxChromaKey, TxEnable, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset,
};
use r500_isa::values::{CoordType, LayerFilter};
use r500_program::{Level, Texture};
use r500_stream::{Buffer, State};

use crate::limits::{Budget, CardError};
use crate::reading::{CubeSize, Readings};
use crate::report::{Note, Report};
use crate::texture_cache::{self, LevelRead};

/// Returns the textures of the enabled units. Textures that cannot be sampled are noted and left out. Adds the levels that
/// filters use to `reads`.
///
/// # Errors
/// [`CardError::TextureBytes`].
pub(crate) fn textures(
    state: &State,
    readings: &Readings,
    budget: &mut Budget,
    report: &mut Report,
    reads: &mut Vec<LevelRead>,
) -> Result<[Option<Texture>; TEXTURE_UNITS], CardError> {
    let enabled = state.registers.get::<TxEnable>().bits();
    let mut textures = [const { None }; TEXTURE_UNITS];
    let mut left = MOST;
    for (unit, texture) in textures.iter_mut().enumerate() {
        if enabled >> unit & 1 == 0 {
            continue;
        }
        let before = left;
        let bound = read(state, unit as u32, readings, &mut left, reads).and_then(|texture| {
            // Unused units may have any contents; a texture that cannot be bound reads as a disabled unit.
            let scale = scale_format(state, unit, readings);
            Sampler::bind(&texture, scale).map_err(|error| error.to_string())?;
            Ok(texture)
        });
        budget.texture_bytes(before - left)?;
        *texture = bound.map_err(|why| report.note(Note::Texture { unit, why })).ok();
    }
    Ok(textures)
}

/// Returns the size that scales a unit's coordinates; `None` if it is that of the texture. Observed: Mesa writes
/// `US_FORMAT` on the R520 only, so that it is 0 on other chips.
pub(crate) fn scale_format(state: &State, unit: usize, readings: &Readings) -> Option<UsFormat> {
    let given: UsFormat = state.registers.member(unit as u32);
    if given.bits() != 0 {
        return Some(given);
    }
    let format1: TxFormat1 = state.registers.member(unit as u32);
    let rounds =
        format1.tex_coord_type() == CoordType::CUBE && readings.cube_size == CubeSize::PowerOfTwo;
    let size = level_size(state.registers.member(unit as u32), state.registers.member(unit as u32));
    let scale = size.map(u32::next_power_of_two);
    // A size above 2048 cannot be written into the register with another one below.
    if !rounds || scale == size || scale.iter().any(|&texels| texels > 2048) {
        return None;
    }
    let [width, height] = scale.map(|texels| texels as u16 - 1);
    Some(UsFormat(0).with(UsFormat::TXWIDTH, width).with(UsFormat::TXHEIGHT, height))
}

/// Returns width and height of level 0.
fn level_size(format0: TxFormat0, format2: TxFormat2) -> [u32; 2] {
    let axis = |low: u16, high: bool| (u32::from(low) | u32::from(high) << 11) + 1;
    [axis(format0.txwidth(), format2.txwidth_11()), axis(format0.txheight(), format2.txheight_11())]
}

/// Limit of the bytes of a draw's textures: the system memory that the card can address.
const MOST: u64 = 512 << 20;

/// Reads the texture of a unit, and subtracts its bytes from `left`.
fn read(
    state: &State,
    unit: u32,
    readings: &Readings,
    left: &mut u64,
    reads: &mut Vec<LevelRead>,
) -> Result<Texture, String> {
    let registers = &state.registers;
    let offset: TxOffset = registers.member(unit);
    let mut texture = Texture {
        filter0: registers.member(unit),
        filter1: registers.member::<TxFilter1>(unit),
        format0: registers.member::<TxFormat0>(unit),
        format1: registers.member::<TxFormat1>(unit),
        format2: registers.member::<TxFormat2>(unit),
        offset: TxOffset(0).with(TxOffset::ENDIAN_SWAP, offset.endian_swap()),
        border_color: registers.member::<TxBorderColor>(unit).bits(),
        chroma_key: registers.member::<TxChromaKey>(unit),
        levels: Vec::new(),
    };
    let binding = state.member_binding::<TxOffset>(unit).ok_or("no buffer is bound")?;
    let layout = Layout::new(&texture, offset, readings)?;
    let mut start = u64::from(offset.bits() & !31);
    // Levels finer than the finest to use are not read, nor coarser ones without a filter between levels.
    let finest = u32::from(texture.filter0.max_mip_level().min(texture.format0.num_levels()));
    let mipmapped = texture.filter0.mip_filter() != LayerFilter::NONE;
    let used = finest..=if mipmapped { u32::MAX } else { finest };
    for k in 0..=u32::from(texture.format0.num_levels()) {
        let placed = layout.level(k);
        let Some(rest) = left.checked_sub(placed.bytes()) else {
            return Err(format!(
                "level {k} takes {} bytes, for which there is no memory",
                placed.bytes()
            ));
        };
        *left = rest;
        let level = placed.read(&binding.buffer, start);
        let end = start.saturating_add(placed.bytes());
        if used.contains(&k) {
            reads.push(LevelRead {
                unit: unit as usize,
                buffer: binding.buffer.id(),
                bytes: start..end,
                hash: texture_cache::hash(&level.bytes),
            });
        }
        texture.levels.push(level);
        start = end;
    }
    Ok(texture)
}

/// The memory layout of a texture: levels, each with its faces or layers (observed).
#[derive(Clone, Copy, Debug)]
struct Layout {
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

/// The layout of a level.
#[derive(Clone, Copy, Debug)]
struct Placed {
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

impl Layout {
    fn new(texture: &Texture, offset: TxOffset, readings: &Readings) -> Result<Self, String> {
        let Texture { filter1, format0, format1, format2, .. } = *texture;
        let (bits, side) = storage(format1, format2).map_err(|error| error.to_string())?;
        let [width, height] = level_size(format0, format2);
        let cube = format1.tex_coord_type() == CoordType::CUBE;
        let rounded = cube
            && readings.cube_size == CubeSize::PowerOfTwo
            && !(width.is_power_of_two() && height.is_power_of_two());
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

    fn level(&self, k: u32) -> Placed {
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
            return Placed {
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
        Placed {
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

impl Placed {
    /// Returns the bytes from this level to the next.
    fn bytes(&self) -> u64 {
        self.layer_bytes().saturating_mul(self.size[2].into())
    }

    fn layer_bytes(&self) -> u64 {
        u64::from(self.row_bytes) * u64::from(self.rows)
    }

    /// Reads the level without tiles and padding. Bytes outside of the buffer are 0.
    fn read(&self, buffer: &Buffer, start: u64) -> Level {
        let [width, height, layers] = self.size;
        let row = self.used_bytes as usize;
        let mut bytes = vec![0; row * self.used_rows as usize * layers as usize];
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX / 2);
        for (n, row) in bytes.chunks_exact_mut(row.max(1)).enumerate() {
            let (layer, y) = (n as u64 / u64::from(self.used_rows), n as u32 % self.used_rows);
            let layer = start.saturating_add(layer * self.layer_bytes());
            match self.tiling {
                Some(tiling) => {
                    // Texels of a row of a tiling unit are contiguous.
                    let step = tiling.unit()[0] as usize * tiling.bytes() as usize;
                    for (n, texels) in row.chunks_mut(step).enumerate() {
                        let x = n as u32 * tiling.unit()[0];
                        let offset = tiling.offset(self.pitch, [x, y]);
                        buffer.read(at(layer.saturating_add(offset)), texels);
                    }
                }
                None => {
                    let offset = u64::from(y) * u64::from(self.row_bytes);
                    buffer.read(at(layer.saturating_add(offset)), row);
                }
            }
        }
        Level { width, height, layers, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_stream::BufferId;

    fn layout(tiling: Tiling, size: [u32; 3], levels: u32, cube: bool) -> Layout {
        Layout {
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
        let face = |cube_size, format0| {
            let readings = Readings { cube_size, ..Readings::REFERENCE };
            let texture = Texture { format0, ..texture.clone() };
            let layout = Layout::new(&texture, TxOffset(0), &readings);
            layout.map(|layout| layout.level(0).layer_bytes())
        };
        assert_eq!(face(CubeSize::PowerOfTwo, texture.format0), Ok(64 * 64 * 4));
        assert_eq!(face(CubeSize::AsGiven, texture.format0), Ok(40 * 64 * 4));
        // A pitch counts for a cube of a power of two.
        let pitched = TxFormat0(31 | 31 << 11 | 1 << 31);
        assert_eq!(face(CubeSize::PowerOfTwo, pitched), Ok(40 * 32 * 4));
    }

    #[test]
    fn tiled_textures_read_as_rows() {
        for code in 0..3 {
            for log2_bytes in 0..5 {
                let tiling =
                    Tiling { log2_bytes, macro_tiled: code != 1, micro: MicroTile::new(code) };
                let placed = layout(tiling, [300, 70, 1], 1, false).level(0);
                let buffer = Buffer::zeroed(BufferId(0), placed.bytes() as usize + 64);
                let bytes = tiling.bytes() as usize;
                let texel = |x: u32, y: u32| -> Vec<u8> {
                    (0..bytes).map(|n| (x * 7 + y * 13 + n as u32) as u8).collect()
                };
                for y in 0..70 {
                    for x in 0..300 {
                        let tiling = placed.tiling.unwrap_or(tiling);
                        let offset = tiling.offset(placed.pitch, [x, y]) as usize;
                        buffer.write(64 + offset, &texel(x, y));
                    }
                }
                let level = placed.read(&buffer, 64);
                for (n, given) in level.bytes.chunks(bytes).enumerate() {
                    assert_eq!(given, texel(n as u32 % 300, n as u32 / 300));
                }
            }
        }
    }
}
