//! Textures in memory.

use r500::exec::texture::MemoryLayout;
use r500::isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500::isa::values::{ClampMode, TexelFilter, TxFormat, TxSel};
use r500::program::Texture;
use r500_stream::StreamWriter;

use crate::{MAX_BYTES, TargetFormat};

/// Returns the bytes of a texture in memory, without tiles.
///
/// # Errors
/// If the texture unit cannot sample the texture, or its registers ask for more memory than a scene may have.
pub(crate) fn memory(texture: &Texture) -> Result<Vec<u8>, String> {
    let layout =
        MemoryLayout::new(texture, TxOffset(0), true).map_err(|error| error.to_string())?;
    let mut memory = Vec::new();
    for (level, k) in texture.levels.iter().zip(0..) {
        let place = layout.level(k);
        let start = memory.len();
        if start as u64 + place.bytes() > MAX_BYTES as u64 {
            return Err(format!("level {k} ends after {MAX_BYTES} bytes"));
        }
        memory.resize(start + place.bytes() as usize, 0);
        let mut rest = &level.bytes[..];
        place.for_each_piece(|offset, length| {
            // A level that lacks bytes is sampled as if they were 0.
            let (piece, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            let at = start + offset as usize;
            memory[at..at + piece.len()].copy_from_slice(piece);
        });
    }
    Ok(memory)
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

/// Returns the registers of a target as a texture: clamped, with a linear filter; of floats with the nearest texel, as the chip filters none.
pub(crate) fn of_target([width, height]: [u32; 2], pitch: u32, target: TargetFormat) -> Texture {
    let (filter, format, [red, green, blue, alpha]) = match target {
        TargetFormat::Bytes => {
            (TexelFilter::LINEAR, TxFormat::X8_8_8_8, [TxSel::C2, TxSel::C1, TxSel::C0, TxSel::C3])
        }
        TargetFormat::Floats => (
            TexelFilter::POINT,
            TxFormat::F32_32_32_32,
            [TxSel::C0, TxSel::C1, TxSel::C2, TxSel::C3],
        ),
    };

    let last = |size: u32| ((size - 1) & 0x7ff) as u16;
    Texture {
        filter0: TxFilter0(0)
            .with(TxFilter0::CLAMP_S, ClampMode::CLAMP)
            .with(TxFilter0::CLAMP_T, ClampMode::CLAMP)
            .with(TxFilter0::CLAMP_R, ClampMode::CLAMP)
            .with(TxFilter0::MAG_FILTER, filter)
            .with(TxFilter0::MIN_FILTER, filter),
        filter1: TxFilter1(0),
        format0: TxFormat0(0)
            .with(TxFormat0::TXWIDTH, last(width))
            .with(TxFormat0::TXHEIGHT, last(height))
            .with(TxFormat0::TXPITCH_EN, true),
        format1: TxFormat1(0)
            .with(TxFormat1::TXFORMAT, format)
            .with(TxFormat1::SEL_RED, red)
            .with(TxFormat1::SEL_GREEN, green)
            .with(TxFormat1::SEL_BLUE, blue)
            .with(TxFormat1::SEL_ALPHA, alpha),
        format2: TxFormat2(0)
            .with(TxFormat2::TXPITCH, (pitch - 1) as u16)
            .with(TxFormat2::TXWIDTH_11, width > 2048)
            .with(TxFormat2::TXHEIGHT_11, height > 2048),
        offset: TxOffset(0),
        ..Texture::default()
    }
}
