//! `TX`: textures. Converts the levels of a texture in memory to row order for the fragment processor.

use std::sync::Arc;

use r500_exec::texture::{LevelLayout, MemoryLayout, Sampler, base_size};
use r500_isa::TEXTURE_UNITS;
use r500_isa::state::UsFormat;
use r500_isa::texture::{
    TxBorderColor, TxChromaKey, TxEnable, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2,
    TxOffset,
};
use r500_isa::values::{CoordType, LayerFilter};
use r500_program::{Level, Texture};
use r500_stream::{Buffer, State};

use crate::limits::{Budget, CardError};
use crate::reading::{CubeSize, Readings};
use crate::report::{Note, Report};
use crate::texture_cache::{self, LevelRead};
use crate::texture_store::{self, BoundTexture, TextureKey, TextureStore};

/// Returns the textures of the enabled units. Textures that cannot be sampled are noted and left out.
///
/// # Errors
/// [`CardError::TextureBytes`].
pub(crate) fn textures(
    state: &State,
    readings: &Readings,
    store: &mut TextureStore,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<[Option<Arc<BoundTexture>>; TEXTURE_UNITS], CardError> {
    let enabled = state.registers.get::<TxEnable>().bits();
    let mut textures = [const { None }; TEXTURE_UNITS];
    let mut left = MOST;
    for (unit, texture) in textures.iter_mut().enumerate() {
        if enabled >> unit & 1 == 0 {
            continue;
        }
        let before = left;
        let bound = bind(state, unit as u32, readings, store, &mut left);
        budget.texture_bytes(before - left)?;
        // Unused units may have any contents; a texture that cannot be bound reads as a disabled unit.
        *texture = bound.map_err(|why| report.note(Note::Texture { unit, why })).ok();
    }
    Ok(textures)
}

/// Returns the texture of a unit, and subtracts its bytes from `left`.
fn bind(
    state: &State,
    unit: u32,
    readings: &Readings,
    store: &mut TextureStore,
    left: &mut u64,
) -> Result<Arc<BoundTexture>, String> {
    let binding = state.member_binding::<TxOffset>(unit).ok_or("no buffer is bound")?;
    let buffer = &binding.buffer;
    let scale = scale_format(state, unit as usize, readings);
    let registers = &state.registers;
    let rounds_cubes = readings.cube_size == CubeSize::PowerOfTwo;
    let key = TextureKey {
        buffer: buffer.id(),
        registers: [
            registers.member::<TxOffset>(unit).bits(),
            registers.member::<TxFilter0>(unit).bits(),
            registers.member::<TxFilter1>(unit).bits(),
            registers.member::<TxFormat0>(unit).bits(),
            registers.member::<TxFormat1>(unit).bits(),
            registers.member::<TxFormat2>(unit).bits(),
            registers.member::<TxBorderColor>(unit).bits(),
            registers.member::<TxChromaKey>(unit).bits(),
        ],
        scale: scale.map(UsFormat::bits),
        rounds_cubes,
    };
    if let Some(bound) = store.get(&key, buffer)
        && let Some(rest) = left.checked_sub(bound.bytes)
    {
        *left = rest;
        return Ok(bound);
    }
    let (texture, levels) = describe(state, unit, readings)?;
    let mut end = levels.first().map_or(0, |(start, _)| *start);
    let start = end;
    for (k, (_, placed)) in levels.iter().enumerate() {
        let bytes = placed.bytes();
        let Some(rest) = left.checked_sub(bytes) else {
            return Err(format!("level {k} takes {bytes} bytes, for which there is no memory"));
        };
        *left = rest;
        end = end.saturating_add(bytes);
    }
    // Before the texels: what is written meanwhile is found by the next draw.
    let copy = texture_store::copy(buffer, &(start..end));
    let (texture, reads) = read(texture, &levels, buffer);
    let sampler = Sampler::bind(&texture, scale).map_err(|error| error.to_string())?;
    let bound = Arc::new(BoundTexture { texture, sampler, reads, bytes: end - start });
    store.keep(key, Arc::clone(&bound), copy, start..end);
    Ok(bound)
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
    let size = base_size(state.registers.member(unit as u32), state.registers.member(unit as u32));
    let scale = size.map(u32::next_power_of_two);
    // A size above 2048 cannot be written into the register with another one below.
    if !rounds || scale == size || scale.iter().any(|&texels| texels > 2048) {
        return None;
    }
    let [width, height] = scale.map(|texels| texels as u16 - 1);
    Some(UsFormat(0).with(UsFormat::TXWIDTH, width).with(UsFormat::TXHEIGHT, height))
}

/// Limit of the bytes of a draw's textures: the system memory that the card can address.
const MOST: u64 = 512 << 20;

/// Returns the texture of a unit without its levels, and where these start and how they lie.
fn describe(
    state: &State,
    unit: u32,
    readings: &Readings,
) -> Result<(Texture, Vec<(u64, LevelLayout)>), String> {
    let registers = &state.registers;
    let offset: TxOffset = registers.member(unit);
    let texture = Texture {
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
    let layout = MemoryLayout::new(&texture, offset, readings.cube_size == CubeSize::PowerOfTwo)
        .map_err(|error| error.to_string())?;
    let mut start = u64::from(offset.bits() & !31);
    let levels = (0..=u32::from(texture.format0.num_levels())).map(|k| {
        let placed = layout.level(k);
        let at = start;
        start = start.saturating_add(placed.bytes());
        (at, placed)
    });
    let levels = levels.collect();
    Ok((texture, levels))
}

/// Reads the levels of a texture. Returns those that filters use, too, as of unit 0.
fn read(
    mut texture: Texture,
    levels: &[(u64, LevelLayout)],
    buffer: &Buffer,
) -> (Texture, Vec<LevelRead>) {
    // Levels finer than the finest to use are not read, nor coarser ones without a filter between levels.
    let finest = u32::from(texture.filter0.max_mip_level().min(texture.format0.num_levels()));
    let mipmapped = texture.filter0.mip_filter() != LayerFilter::NONE;
    let used = finest..=if mipmapped { u32::MAX } else { finest };
    let mut reads = Vec::new();
    for (k, (start, placed)) in (0..).zip(levels) {
        let level = read_level(placed, buffer, *start);
        if used.contains(&k) {
            reads.push(LevelRead {
                unit: 0,
                buffer: buffer.id(),
                bytes: *start..start.saturating_add(placed.bytes()),
                hash: texture_cache::hash(&level.bytes),
            });
        }
        texture.levels.push(level);
    }
    (texture, reads)
}

/// Reads a level without tiles and padding. Bytes outside of the buffer are 0.
fn read_level(layout: &LevelLayout, buffer: &Buffer, start: u64) -> Level {
    let [width, height, layers] = layout.size();
    let mut bytes = vec![0; layout.row_order_bytes()];
    let mut rest = bytes.as_mut_slice();
    layout.for_each_piece(|offset, length| {
        let at = usize::try_from(start.saturating_add(offset)).unwrap_or(usize::MAX / 2);
        let (piece, others) = std::mem::take(&mut rest).split_at_mut(length);
        rest = others;
        buffer.read(at, piece);
    });
    Level { width, height, layers, bytes }
}
