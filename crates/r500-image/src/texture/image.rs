//! Texels with their format, and the texture registers for them.

use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2};
use r500_isa::values::{ClampMode, CoordType, LayerFilter, TexelFilter, TxFormat};
use r500_program::{Level, Texture};

use super::spec::{Border, Filter, Mips, TextureSpec};
use super::texel_format::{Pixels, RGBA};
use super::{FileError, ImageError};
use crate::picture::Picture;

/// Greatest width, height and depth in texels.
pub(super) const MAX_SIDE: u32 = 4096;

/// The texels of a texture, without sampler state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texels {
    /// Their format.
    pub pixels: Pixels,
    /// Two-dimensional, volume or cube.
    pub shape: CoordType,
    /// Width, height, depth of the finest level.
    pub size: [u32; 3],
    /// The levels, finest first.
    pub levels: Vec<Level>,
}

impl Texels {
    /// Converts a picture; `flip` puts its bottom row first.
    #[must_use]
    pub fn from_picture(picture: &Picture, flip: bool) -> Self {
        let rows = picture.pixels.chunks_exact((picture.width as usize).max(1));
        let bytes = if flip {
            rows.rev().flatten().flatten().copied().collect()
        } else {
            rows.flatten().flatten().copied().collect()
        };
        let (width, height) = (picture.width, picture.height);
        Self {
            pixels: Pixels::new(TxFormat::X8_8_8_8, RGBA),
            shape: CoordType::D2,
            size: [width, height, 1],
            levels: vec![Level { width, height, layers: 1, bytes }],
        }
    }

    /// Splits texels without a header into levels: the finest one, then as many complete ones as follow.
    ///
    /// # Errors
    /// [`ImageError::Bytes`] if a level is truncated, or bytes follow the last level.
    pub fn from_bytes(
        pixels: Pixels,
        shape: CoordType,
        size: [u32; 3],
        mut bytes: &[u8],
    ) -> Result<Self, ImageError> {
        let mut texels = Self { pixels, shape, size, levels: Vec::new() };
        texels.check_size()?;
        for level in 0..texels.most_levels() {
            let size = texels.level_size(level);
            let wanted = texels.pixels.level_bytes(size);
            let given = bytes.len() as u64;
            if given < wanted || (given == 0 && level > 0) {
                if given == 0 && level > 0 {
                    break;
                }
                let what = format!("level {level} of {}x{}", size[0], size[1]);
                return Err(ImageError::Bytes { what, wanted, given });
            }
            let (this, rest) = bytes.split_at(wanted as usize);
            texels.push_level(size, this.to_vec());
            bytes = rest;
        }
        if !bytes.is_empty() {
            let given = bytes.len() as u64;
            let what = "what follows the last level".to_owned();
            return Err(ImageError::Bytes { what, wanted: 0, given });
        }
        Ok(texels)
    }

    /// Adds the next level.
    pub(super) fn push_level(&mut self, [width, height, layers]: [u32; 3], bytes: Vec<u8>) {
        self.levels.push(Level { width, height, layers, bytes });
    }

    /// Returns width, height and layers of a level.
    pub(super) fn level_size(&self, level: u32) -> [u32; 3] {
        let [width, height, depth] = self.size.map(|n| (n >> level.min(31)).max(1));
        let layers = match self.shape {
            CoordType::CUBE => 6,
            CoordType::D3 => depth,
            _ => 1,
        };
        [width, height, layers]
    }

    /// Reverses the order of rows.
    pub(super) fn flip(&mut self) -> Result<(), FileError> {
        let (bits, side) = self.pixels.unit();
        if side != 1 || bits < 8 {
            return Err(FileError::Header(
                "rows of blocks cannot be flipped; convert the file, or leave `flip` away",
            ));
        }
        for level in &mut self.levels {
            let row = level.width as usize * (bits / 8) as usize;
            let layer = row * level.height as usize;
            if row == 0 {
                continue;
            }
            let layers = level.bytes.chunks_exact(layer);
            level.bytes =
                layers.flat_map(|l| l.chunks_exact(row).rev().flatten()).copied().collect();
        }
        Ok(())
    }

    /// Returns a texture with the sampler state of `spec`.
    ///
    /// # Errors
    /// [`ImageError`] if size or levels do not fit the registers.
    pub fn bind(mut self, spec: &TextureSpec) -> Result<Texture, ImageError> {
        self.check_size()?;
        match spec.mips {
            Mips::Stored => {}
            Mips::None => self.levels.truncate(1),
            Mips::Make => self.make_levels()?,
        }
        let (most, given) = (self.most_levels(), self.levels.len());
        if given == 0 || given as u64 > u64::from(most) {
            return Err(ImageError::Levels { most, given });
        }
        let border_color = match spec.border {
            None => 0,
            Some(Border::Dword(dword)) => dword,
            Some(Border::Rgba(rgba)) if self.is_rgba8() => u32::from_le_bytes(rgba),
            Some(Border::Rgba(_)) => return Err(ImageError::Border),
        };
        let [format0, format1, format2] = self.format_registers(spec);
        Ok(Texture {
            filter0: self.filter0(spec),
            filter1: TxFilter1::default().with(TxFilter1::LOD_BIAS, lod_bias(spec.bias)),
            format0: TxFormat0(format0),
            format1: TxFormat1(format1),
            format2: TxFormat2(format2),
            border_color,
            levels: self.levels,
            ..Texture::default()
        })
    }

    fn format_registers(&self, spec: &TextureSpec) -> [u32; 3] {
        let [width, height, depth] = self.size;
        let (w, h) = (width - 1, height - 1);
        let low = |n: u32| (n & 0x7ff) as u16;
        let levels = u8::try_from(self.levels.len() - 1).unwrap_or(0);
        let format0 = TxFormat0::default()
            .with(TxFormat0::TXWIDTH, low(w))
            .with(TxFormat0::TXHEIGHT, low(h))
            .with(TxFormat0::TXDEPTH, depth.ilog2() as u8)
            .with(TxFormat0::NUM_LEVELS, levels);
        let Pixels { format, msb, components, signed, srgb } = &self.pixels;
        let [red, green, blue, alpha] = spec.components.unwrap_or(*components);
        let signed = spec.signed.unwrap_or(*signed);
        let format1 = TxFormat1::default()
            .with(TxFormat1::TXFORMAT, *format)
            .with(TxFormat1::SIGNED_COMP0, signed)
            .with(TxFormat1::SIGNED_COMP1, signed)
            .with(TxFormat1::SIGNED_COMP2, signed)
            .with(TxFormat1::SIGNED_COMP3, signed)
            .with(TxFormat1::SEL_RED, red)
            .with(TxFormat1::SEL_GREEN, green)
            .with(TxFormat1::SEL_BLUE, blue)
            .with(TxFormat1::SEL_ALPHA, alpha)
            .with(TxFormat1::GAMMA, spec.srgb.unwrap_or(*srgb))
            .with(TxFormat1::TEX_COORD_TYPE, self.shape);
        let format2 = TxFormat2::default()
            .with(TxFormat2::TXFORMAT_MSB, *msb)
            .with(TxFormat2::TXWIDTH_11, w >> 11 & 1 != 0)
            .with(TxFormat2::TXHEIGHT_11, h >> 11 & 1 != 0);
        [format0.bits(), format1.bits(), format2.bits()]
    }

    fn filter0(&self, spec: &TextureSpec) -> TxFilter0 {
        let texel = |filter| match filter {
            Filter::Nearest => TexelFilter::POINT,
            Filter::Linear => TexelFilter::LINEAR,
        };
        let layer = |filter| match filter {
            Filter::Nearest => LayerFilter::POINT,
            Filter::Linear => LayerFilter::LINEAR,
        };
        let mip = if self.levels.len() == 1 {
            LayerFilter::NONE
        } else {
            spec.mip.map_or(LayerFilter::NONE, layer)
        };
        let [s, t, r] = spec.wrap;
        let r = if self.shape == CoordType::D3 { r } else { ClampMode::WRAP };
        TxFilter0::default()
            .with(TxFilter0::CLAMP_S, s)
            .with(TxFilter0::CLAMP_T, t)
            .with(TxFilter0::CLAMP_R, r)
            .with(TxFilter0::MAG_FILTER, texel(spec.mag))
            .with(TxFilter0::MIN_FILTER, texel(spec.min))
            .with(TxFilter0::MIP_FILTER, mip)
            .with(TxFilter0::VOL_FILTER, spec.vol.map_or(LayerFilter::NONE, layer))
            .with(TxFilter0::MAX_MIP_LEVEL, spec.base)
    }

    /// Generates the levels down to one texel; each texel is the mean of those that it covers.
    fn make_levels(&mut self) -> Result<(), ImageError> {
        let (bits, side) = self.pixels.unit();
        if bits != 32 || side != 1 || !self.is_rgba8() || self.shape == CoordType::D3 {
            return Err(ImageError::Mips);
        }
        self.levels.truncate(1);
        for level in 1..self.most_levels() {
            let Some(finer) = self.levels.last() else { break };
            let size = self.level_size(level);
            let bytes = halve(finer, size);
            self.push_level(size, bytes);
        }
        Ok(())
    }

    fn is_rgba8(&self) -> bool {
        self.pixels.format == TxFormat::X8_8_8_8 && !self.pixels.msb && !self.pixels.signed
    }

    fn most_levels(&self) -> u32 {
        let [width, height, depth] = self.size;
        width.max(height).max(depth).max(1).ilog2() + 1
    }

    fn check_size(&self) -> Result<(), ImageError> {
        let [width, height, depth] = self.size;
        let inside = |n| (1..=MAX_SIDE).contains(&n);
        if !inside(width) || !inside(height) {
            return Err(ImageError::Size { width, height });
        }
        if !inside(depth) || !depth.is_power_of_two() {
            return Err(ImageError::Depth { depth });
        }
        if self.shape == CoordType::CUBE && width != height {
            return Err(ImageError::Face { width, height });
        }
        Ok(())
    }
}

/// Encodes `LOD_BIAS` as s4.5: multiples of 1/32 in -16..16.
fn lod_bias(bias: f32) -> u16 {
    let code = (bias * 32.0).round_ties_even().clamp(-512.0, 511.0) as i16;
    (code as u16) & 0x3ff
}

/// Returns a level of half the size, with 4 bytes a texel.
fn halve(finer: &Level, [width, height, layers]: [u32; 3]) -> Vec<u8> {
    let texel = |x: u32, y: u32, layer: u32| {
        let row = u64::from(layer) * u64::from(finer.height) + u64::from(y);
        let at = (row * u64::from(finer.width) + u64::from(x)) as usize * 4;
        finer.bytes.get(at..at + 4).unwrap_or(&[0; 4])
    };
    let mut bytes = Vec::with_capacity((width * height * layers * 4) as usize);
    for (layer, y, x) in
        (0..layers).flat_map(|l| (0..height).flat_map(move |y| (0..width).map(move |x| (l, y, x))))
    {
        let span = |i: u32, coarse: u32, fine: u32| i * fine / coarse..(i + 1) * fine / coarse;
        let (columns, rows) = (span(x, width, finer.width), span(y, height, finer.height));
        let count = (columns.len() * rows.len()) as u32;
        for channel in 0..4 {
            let sum: u32 = rows
                .clone()
                .flat_map(|y| columns.clone().map(move |x| (x, y)))
                .map(|(x, y)| u32::from(texel(x, y, layer)[channel]))
                .sum();
            bytes.push(((sum + count / 2) / count.max(1)) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_isa::values::TxSel;

    use super::*;

    fn picture(width: u32, height: u32) -> Picture {
        let pixels = (0..width * height).map(|i| [i as u8, 0, 100, 255]).collect();
        Picture { width, height, pixels }
    }

    #[test]
    fn registers_say_what_the_corpus_drivers_say() {
        // A 64x64 RGBA texture with 7 levels; sizes and levels as in tex_mips of the corpus.
        let spec: TextureSpec = "checker,size=64x64,mips=make".parse().unwrap();
        let texture = spec.load(std::path::Path::new("")).unwrap();
        assert_eq!(texture.format0.bits(), 0x1801_f83f);
        assert_eq!(texture.levels.len(), 7);
        assert_eq!(texture.format1.sel_red(), TxSel::C0);
        assert_eq!(texture.format1.sel_alpha(), TxSel::C3);
        // MAG and MIN linear, MIP linear.
        assert_eq!(texture.filter0.bits(), 0x5400);
    }

    #[test]
    fn sizes_past_2048_use_the_twelfth_bits() {
        let texels = Texels::from_picture(&picture(1, 1), true);
        let spec = TextureSpec::new(super::super::Source::Gradient);
        let wide = Texels { size: [4096, 2049, 1], ..texels };
        let bound = wide.bind(&spec).unwrap();
        assert_eq!((bound.format0.txwidth(), bound.format0.txheight()), (0x7ff, 0));
        assert!(bound.format2.txwidth_11() && bound.format2.txheight_11());
    }

    #[test]
    fn first_row_of_an_image_is_the_top() {
        let texels = Texels::from_picture(&picture(2, 2), true);
        assert_eq!(texels.levels[0].bytes[0], 2);
        let texels = Texels::from_picture(&picture(2, 2), false);
        assert_eq!(texels.levels[0].bytes[0], 0);
    }

    #[test]
    fn odd_sizes_are_halved_by_means_of_what_they_cover() {
        // 3x1: the only texel of the next level covers all three.
        let mut texels = Texels::from_picture(&picture(3, 1), true);
        texels.make_levels().unwrap();
        assert_eq!(texels.levels.len(), 2);
        assert_eq!(texels.levels[1].bytes, [1, 0, 100, 255]);
        // 4x4 of 0..=15, top row first: means of 2x2 blocks, bottom row first.
        let mut texels = Texels::from_picture(&picture(4, 4), true);
        texels.make_levels().unwrap();
        let reds: Vec<u8> = texels.levels[1].bytes.iter().step_by(4).copied().collect();
        // (8+9+12+13)/4 = 10.5, (10+11+14+15)/4 = 12.5, 2.5, 4.5: halves round up.
        assert_eq!(reds, [11, 13, 3, 5]);
    }

    #[test]
    fn raw_bytes_must_fit() {
        let pixels = Pixels::named("5_6_5").unwrap();
        assert_eq!(pixels.components[3], TxSel::ONE);
        let make =
            |n: usize| Texels::from_bytes(pixels.clone(), CoordType::D2, [4, 2, 1], &vec![0; n]);
        assert_eq!(make(16).unwrap().levels.len(), 1);
        assert_eq!(make(16 + 4 + 2).unwrap().levels.len(), 3);
        assert!(matches!(make(15), Err(ImageError::Bytes { wanted: 16, given: 15, .. })));
        assert!(matches!(make(17), Err(ImageError::Bytes { wanted: 4, given: 1, .. })));
        assert!(matches!(make(23), Err(ImageError::Bytes { wanted: 0, given: 1, .. })));
    }

    #[test]
    fn blocks_count_by_four() {
        assert_eq!(Pixels::named("dxt1").unwrap().level_bytes([5, 4, 1]), 16);
        assert_eq!(Pixels::named("ATI2N").unwrap().level_bytes([1, 1, 6]), 96);
        assert_eq!(Pixels::named("32f_32f_32f_32f").unwrap().level_bytes([2, 2, 1]), 64);
        assert_eq!(Pixels::named("1").unwrap().level_bytes([9, 2, 1]), 4);
        assert_eq!(Pixels::named("no_such"), None);
    }

    #[test]
    fn bias_is_in_32nds() {
        assert_eq!(lod_bias(1.0 / 32.0), 1);
        assert_eq!(lod_bias(-1.0), 0x3e0);
        assert_eq!(lod_bias(100.0), 0x1ff);
        assert_eq!(lod_bias(f32::NAN), 0);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let spec = TextureSpec::new(super::super::Source::Gradient);
        let bind = |size, shape| {
            Texels { size, shape, ..Texels::from_picture(&picture(1, 1), true) }.bind(&spec)
        };
        assert!(matches!(bind([0, 1, 1], CoordType::D2), Err(ImageError::Size { .. })));
        assert!(matches!(bind([4097, 1, 1], CoordType::D2), Err(ImageError::Size { .. })));
        assert!(matches!(bind([4, 4, 3], CoordType::D3), Err(ImageError::Depth { depth: 3 })));
        assert!(matches!(bind([4, 2, 1], CoordType::CUBE), Err(ImageError::Face { .. })));
    }
}
