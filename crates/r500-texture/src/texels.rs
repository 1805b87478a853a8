//! Texel storage and decoding: the bytes of a texture in memory, and their conversion to colours.
//!
//! Levels keep the bytes as given, so that a bound texture takes no more memory than before; a texel
//! is decoded when it is fetched.

use std::sync::Arc;

use r500_isa::texture::{TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500_isa::values::{CoordType, EndianSwap, TxSel};
use r500_program::{Level, Texture};

use super::component::{Component, Interpret};
use super::error::{BindError, Setting};
use super::format::{EIGHT_BITS, Layout};
use super::memory_layout::base_size;
use super::readings::{DepthStencil, GammaBorder, TexReadings, WideBorder};

/// The texels of all levels, and their conversion to colours.
#[derive(Clone, Debug)]
pub(super) struct Texels {
    layout: Layout,
    interpret: Interpret,
    /// The sources of red, green, blue, alpha.
    select: [TxSel; 4],
    gamma: bool,
    border_color: u32,
    levels: Vec<Stored>,
}

/// A stored level.
#[derive(Clone, Debug)]
struct Stored {
    /// Width, height, layers.
    size: [u32; 3],
    /// Bytes from one row of texels (of blocks) to the next.
    row: usize,
    /// Bytes from one layer to the next.
    layer: usize,
    bytes: Arc<[u8]>,
}

impl Texels {
    /// Binds the texels of a texture whose level 0 has the given size; `NUM_LEVELS` gives the number
    /// of levels.
    pub(super) fn bind(texture: &Texture, size: [u32; 3]) -> Result<Self, BindError> {
        let Texture { format0, format1, format2, .. } = texture;
        let layout = Layout::of(*format1, *format2)?;
        let num_levels = format0.num_levels();
        let wanted = usize::from(num_levels) + 1;
        let given = texture.levels.len();
        let Some(levels) = texture.levels.get(..wanted) else {
            return Err(BindError::MissingLevels { num_levels, given });
        };
        let levels = levels.iter().enumerate();
        let levels = levels.map(|(k, level)| {
            let size = level_size(size, format1.tex_coord_type(), k as u32);
            Stored::bind(level, k, size, layout, texture)
        });
        // Y formats ignore signs and selects (documented).
        let luminance = layout == Layout::Luminance;
        Ok(Self {
            layout,
            interpret: Interpret {
                signed: [
                    format1.signed_comp0(),
                    format1.signed_comp1(),
                    format1.signed_comp2(),
                    format1.signed_comp3(),
                ]
                .map(|signed| signed && !luminance),
                pow2: format2.pow2fix2flt(),
                blue_first: texture.filter1.dxtc_swizzle(),
            },
            select: match luminance {
                true => [TxSel::C0; 4],
                false => [
                    format1.sel_red(),
                    format1.sel_green(),
                    format1.sel_blue(),
                    format1.sel_alpha(),
                ],
            },
            gamma: format1.gamma(),
            border_color: texture.border_color,
            levels: levels.collect::<Result<_, _>>()?,
        })
    }

    /// Returns whether components are floats.
    pub(super) fn is_float(&self) -> bool {
        matches!(self.layout, Layout::Half(_) | Layout::Float(_))
    }

    /// Returns whether a component can be negative.
    pub(super) fn is_signed(&self) -> bool {
        self.interpret.signed.contains(&true)
    }

    /// Returns whether colours are converted from gamma to linear values.
    pub(super) fn has_gamma(&self) -> bool {
        self.gamma
    }

    /// Returns the layout of a texel in memory.
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the number of levels, at least one.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns width, height and layers of a level, 0 if there is no such level.
    pub(super) fn size(&self, level: usize) -> [u32; 3] {
        self.levels.get(level).map_or([0; 3], |level| level.size)
    }

    /// Returns the colour of a texel: red, green, blue, alpha; outside the texture the border colour.
    pub(super) fn texel(&self, level: usize, at: [u32; 3], readings: &TexReadings) -> [f32; 4] {
        let raw = self.levels.get(level).and_then(|level| level.raw(at, self.layout));
        let Some(raw) = raw else {
            return self.border(readings);
        };
        let side = self.layout.unit_side();
        let in_block = [at[0] % side, at[1] % side];
        self.color(self.components(self.layout, raw, in_block, readings), self.gamma)
    }

    /// Returns the border colour.
    pub(super) fn border(&self, readings: &TexReadings) -> [f32; 4] {
        let blocks = matches!(self.layout, Layout::Blocks(_));
        let wide = self.layout.unit_bits() > 32;
        let layout = match (blocks, wide && readings.wide_border == WideBorder::EightBits) {
            (true, _) | (_, true) => Layout::Fixed(32, EIGHT_BITS),
            _ => self.layout,
        };
        // Here eight bits represent a wide component, which has no gamma.
        let converted = readings.gamma_border == GammaBorder::Converted;
        let gamma = self.gamma && converted && (blocks || !wide);
        let components = self.components(layout, self.border_color.into(), [0, 0], readings);
        let widened = wide && !blocks && readings.wide_border == WideBorder::EightBits;
        let components = if widened { components.map(Component::widened) } else { components };
        self.color(components, gamma)
    }

    /// Returns the colour of a texel, given as a number, in a format without blocks.
    pub(super) fn of_raw(&self, raw: u128, readings: &TexReadings) -> [f32; 4] {
        self.color(self.components(self.layout, raw, [0, 0], readings), self.gamma)
    }

    /// Returns the component of each channel; arbitrary for a constant channel.
    pub(super) fn selected(&self) -> [usize; 4] {
        self.select.map(|select| usize::from(select.code() & 3))
    }

    /// Calls `each` for the rows of a level in a format of 32 bits, layer by layer.
    pub(super) fn for_each_row(&self, level: usize, mut each: impl FnMut(&[[u8; 4]])) {
        let Some(level) = self.levels.get(level) else { return };
        let [width, height, layers] = level.size.map(|n| n as usize);
        for row in 0..layers * height {
            let start = row / height * level.layer + row % height * level.row;
            if let Some(bytes) = level.bytes.get(start..start + 4 * width) {
                each(bytes.as_chunks().0);
            }
        }
    }

    /// Appends the colours of the texels of a level of unsigned depth without gamma, row by row, as [`texel`](Self::texel) returns them, many at a
    /// time; returns false for other formats.
    pub(super) fn decode_depths(
        &self,
        level: usize,
        readings: &TexReadings,
        out: &mut Vec<[f32; 4]>,
    ) -> bool {
        let plain = !self.gamma && !self.interpret.pow2 && self.interpret.signed == [false; 4];
        if self.layout != Layout::DepthStencil || !plain {
            return false;
        }
        // For each channel the masks of depth and of stencil, and the constant's bits.
        let (depth, stencil) = ([!0, 0, 0], [0, !0, 0]);
        let [c0, c1] = match readings.depth_stencil {
            DepthStencil::DepthFirst => [depth, stencil],
            DepthStencil::LowestFirst => [stencil, depth],
        };
        let sources: [[u32; 3]; 4] = self.select.map(|select| match select {
            TxSel::C0 => c0,
            TxSel::C1 => c1,
            TxSel::ONE => [0, 0, 1.0_f32.to_bits()],
            _ => [0; 3],
        });
        self.for_each_row(level, |row| {
            out.extend(row.iter().map(|bytes| {
                let dword = u32::from_le_bytes(*bytes);
                // Both are exact as floats, so the division rounds once.
                let depth = ((dword >> 8).cast_signed() as f32 / 16_777_215.0).to_bits();
                let stencil = (f32::from(bytes[0]) / 255.0).to_bits();
                sources.map(|[of_depth, of_stencil, constant]| {
                    f32::from_bits(depth & of_depth | stencil & of_stencil | constant)
                })
            }));
        });
        true
    }

    fn components(
        &self,
        layout: Layout,
        raw: u128,
        in_block: [u32; 2],
        readings: &TexReadings,
    ) -> [Component; 4] {
        layout.components(raw, in_block, self.interpret, readings.depth_stencil)
    }

    /// Returns the colour that `SEL_RED` to `SEL_ALPHA` select from components. Reserved selects give
    /// 0 (open). Alpha has no gamma.
    fn color(&self, components: [Component; 4], gamma: bool) -> [f32; 4] {
        let mut color = [0.0; 4];
        for (channel, (out, select)) in color.iter_mut().zip(self.select).enumerate() {
            *out = match select {
                TxSel::C0 | TxSel::C1 | TxSel::C2 | TxSel::C3 => {
                    let component = components[usize::from(select.code())];
                    if gamma && channel < 3 { component.linear() } else { component.value() }
                }
                TxSel::ONE => 1.0,
                _ => 0.0,
            };
        }
        color
    }
}

/// Returns width, height and layers (faces) of level `k` of a texture.
fn level_size(size: [u32; 3], coordinates: CoordType, k: u32) -> [u32; 3] {
    let [width, height, depth] = size.map(|texels| (texels >> k).max(1));
    let layers = match coordinates {
        CoordType::D3 => depth,
        CoordType::CUBE => 6,
        _ => 1,
    };
    [width, height, layers]
}

impl Stored {
    fn bind(
        level: &Level,
        k: usize,
        size: [u32; 3],
        layout: Layout,
        texture: &Texture,
    ) -> Result<Self, BindError> {
        let given = [level.width, level.height, level.layers];
        if given != size {
            return Err(BindError::LevelSize { level: k, given, wanted: size });
        }
        let [width, height, layers] = size;
        let rows = u64::from(height.div_ceil(layout.unit_side()));
        let tight = row_bytes(width, layout);
        let pitched = row_bytes(pitch(texture, width, k as u32), layout);
        // The bytes end with the last texel or with its row; or rows have no padding after the width.
        let all_rows = rows * u64::from(layers);
        let given = level.bytes.len();
        let row_bytes = match given as u64 {
            n if n == all_rows * pitched || n == (all_rows - 1) * pitched + tight => pitched,
            n if n == all_rows * tight => tight,
            _ => {
                let (wanted, row_bytes) = (all_rows * pitched, pitched);
                return Err(BindError::LevelBytes { level: k, given, wanted, row_bytes });
            }
        };
        // At most the number of given bytes, so it fits.
        let row = row_bytes as usize;
        Ok(Self {
            size,
            row,
            layer: row * rows as usize,
            bytes: bytes_in_order(level, k, texture)?,
        })
    }

    /// Returns a texel, or the block that contains it, as a number; `None` outside the level.
    fn raw(&self, [x, y, layer]: [u32; 3], layout: Layout) -> Option<u128> {
        let [width, height, layers] = self.size;
        if x >= width || y >= height || layer >= layers {
            return None;
        }
        let side = layout.unit_side();
        let bit = (x / side) as usize * layout.unit_bits() as usize;
        let start = layer as usize * self.layer + (y / side) as usize * self.row + bit / 8;
        let length = layout.unit_bits().div_ceil(8) as usize;
        let bytes = self.bytes.get(start..start + length)?;
        let mut raw = [0; 16];
        raw[..length].copy_from_slice(bytes);
        let within = match layout {
            Layout::OneReversed => 7 - bit % 8,
            _ => bit % 8,
        };
        Some(u128::from_le_bytes(raw) >> within)
    }
}

/// Returns the texels from one row of level `k` to the next: the texture's pitch halves from level to
/// level as its width does, and is never less than the level's width (derived; documented for level
/// 0).
fn pitch(texture: &Texture, width: u32, k: u32) -> u32 {
    if texture.format0.txpitch_en() {
        ((u32::from(texture.format2.txpitch()) + 1) >> k).max(width)
    } else {
        width
    }
}

/// Returns the bytes of a row of `texels`, or of the blocks that contain them. Rows start at a byte.
fn row_bytes(texels: u32, layout: Layout) -> u64 {
    let units = u64::from(texels.div_ceil(layout.unit_side()));
    (units * u64::from(layout.unit_bits())).div_ceil(8)
}

/// Returns the bytes of a level after `ENDIAN_SWAP`.
fn bytes_in_order(level: &Level, k: usize, texture: &Texture) -> Result<Arc<[u8]>, BindError> {
    // A swap exchanges bytes whose addresses differ in these bits, within units of that many bytes.
    let (differ, unit) = match texture.offset.endian_swap() {
        EndianSwap::W16 => (1, 2),
        EndianSwap::W32 => (3, 4),
        EndianSwap::HALF => (2, 4),
        _ => return Ok(level.bytes.as_slice().into()),
    };
    let given = level.bytes.len();
    if !given.is_multiple_of(unit) {
        let setting = Setting::of(TxOffset::ENDIAN_SWAP, texture.offset);
        return Err(BindError::SwapUnit { level: k, given, unit, setting });
    }
    Ok((0..given).map(|i| level.bytes[i ^ differ]).collect())
}

/// Returns width, height and depth of level 0 by the texture's own registers.
pub(super) fn registered_size(
    format0: TxFormat0,
    format1: TxFormat1,
    format2: TxFormat2,
) -> [u32; 3] {
    let [width, height] = base_size(format0, format2);
    let depth = match format1.tex_coord_type() {
        CoordType::D3 => 1 << format0.txdepth(),
        _ => 1,
    };
    [width, height, depth]
}
