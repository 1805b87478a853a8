//! Textures in memory: rows as long as the texture unit reads them.

use r500::exec::texture::storage;
use r500::isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500::isa::values::{ClampMode, CoordType, TexelFilter, TxFormat, TxSel};
use r500::program::Texture;
use r500_stream::StreamWriter;

/// Rows are multiples of these bytes.
const ROW: usize = 32;

/// Returns the bytes of a texture in memory, without tiles: level after level, layer after layer.
///
/// # Errors
/// If the texture unit cannot sample the texture, or a cube has sides that are not powers of two, which the unit addresses otherwise.
pub(crate) fn memory(texture: &Texture) -> Result<Vec<u8>, String> {
    let (bits, side) =
        storage(texture.format1, texture.format2).map_err(|error| error.to_string())?;
    let kind = texture.format1.tex_coord_type();
    let cube = kind == CoordType::CUBE;
    // Heights of mipmaps, volumes and cubes are powers of two.
    let rounds = texture.levels.len() > 1 || kind != CoordType::D2;
    let mut bytes = Vec::new();
    for level in &texture.levels {
        if cube && !(level.width.is_power_of_two() && level.height.is_power_of_two()) {
            return Err("the sides of a cube map are powers of two".to_owned());
        }
        let used = (u64::from(level.width.div_ceil(side)) * u64::from(bits)).div_ceil(8) as usize;
        let rows = level.height.div_ceil(side) as usize;
        let height = if rounds { level.height.next_power_of_two() } else { level.height };
        let padding = (height.div_ceil(side) as usize - rows) * used.next_multiple_of(ROW);
        for layer in level.bytes.chunks(used.max(1) * rows.max(1)) {
            for row in layer.chunks(used.max(1)) {
                bytes.extend_from_slice(row);
                bytes.resize(bytes.len().next_multiple_of(ROW), 0);
            }
            bytes.resize(bytes.len() + padding, 0);
        }
    }
    Ok(bytes)
}

/// Binds a texture that is in a buffer to a unit.
pub(crate) fn bind(stream: &mut StreamWriter, unit: u32, texture: &Texture, relocation: u32) {
    stream
        .set_member(unit, texture.filter0)
        .set_member(unit, texture.filter1)
        .set_member(unit, texture.format0)
        .set_member(unit, texture.format1)
        .set_member(unit, texture.format2)
        .set_member(unit, r500::isa::texture::TxBorderColor(texture.border_color))
        .set_member(unit, texture.chroma_key)
        .set_member(unit, texture.offset)
        .relocation(relocation);
}

/// Returns the registers of a target as a texture: clamped, with a linear filter.
pub(crate) fn of_target([width, height]: [u32; 2], pitch: u32) -> Texture {
    let last = |size: u32| ((size - 1) & 0x7ff) as u16;
    Texture {
        filter0: TxFilter0(0)
            .with(TxFilter0::CLAMP_S, ClampMode::CLAMP)
            .with(TxFilter0::CLAMP_T, ClampMode::CLAMP)
            .with(TxFilter0::CLAMP_R, ClampMode::CLAMP)
            .with(TxFilter0::MAG_FILTER, TexelFilter::LINEAR)
            .with(TxFilter0::MIN_FILTER, TexelFilter::LINEAR),
        filter1: TxFilter1(0),
        format0: TxFormat0(0)
            .with(TxFormat0::TXWIDTH, last(width))
            .with(TxFormat0::TXHEIGHT, last(height))
            .with(TxFormat0::TXPITCH_EN, true),
        format1: TxFormat1(0)
            .with(TxFormat1::TXFORMAT, TxFormat::X8_8_8_8)
            .with(TxFormat1::SEL_RED, TxSel::C2)
            .with(TxFormat1::SEL_GREEN, TxSel::C1)
            .with(TxFormat1::SEL_BLUE, TxSel::C0)
            .with(TxFormat1::SEL_ALPHA, TxSel::C3),
        format2: TxFormat2(0)
            .with(TxFormat2::TXPITCH, (pitch - 1) as u16)
            .with(TxFormat2::TXWIDTH_11, width > 2048)
            .with(TxFormat2::TXHEIGHT_11, height > 2048),
        offset: TxOffset(0),
        ..Texture::default()
    }
}
