//! Conversion of an R500 texture to OpenGL.

use anyhow::{Result, bail, ensure};
use r500::exec::texture::{Sampler, TexReadings};
use r500::isa::state::UsFormat;
use r500::isa::values::{ClampMode, CoordType, LayerFilter, TexelFilter};
use r500::program::Texture;

/// The OpenGL description of a texture.
#[derive(Debug, PartialEq)]
pub(crate) struct Upload {
    /// `GL_TEXTURE_2D`, `GL_TEXTURE_3D` or `GL_TEXTURE_CUBE_MAP`.
    pub(crate) target: u32,
    /// Its images.
    pub(crate) images: Vec<Image>,
    /// Parameters and their values.
    pub(crate) parameters: [(u32, u32); 6],
    /// The border colour.
    pub(crate) border: [f32; 4],
}

/// An image of a texture: a level, or a face of a level of a cube.
#[derive(Debug, PartialEq)]
pub(crate) struct Image {
    /// The texture's target, or the face's.
    pub(crate) target: u32,
    /// The level.
    pub(crate) level: i32,
    /// Width, height, depth.
    pub(crate) size: [i32; 3],
    /// Red, green, blue, alpha of each texel, the first row first.
    pub(crate) channels: Vec<f32>,
}

impl Upload {
    /// Returns the texels as the machine's texture unit reads them, with its filters and its
    /// addressing.
    ///
    /// # Errors
    /// What the machine cannot bind, and what has no counterpart in OpenGL.
    pub(crate) fn of(texture: &Texture, us_format: Option<UsFormat>) -> Result<Self> {
        ensure!(!texture.format1.gamma(), "sRGB textures are not uploaded");
        let sampler = Sampler::bind(texture, us_format)?;
        let target = match texture.format1.tex_coord_type() {
            CoordType::D3 => glow::TEXTURE_3D,
            CoordType::CUBE => glow::TEXTURE_CUBE_MAP,
            _ => glow::TEXTURE_2D,
        };
        let mut images = Vec::new();
        for level in 0..sampler.levels() {
            let [width, height, layers] = sampler.level_size(level);
            // The faces of a cube are separate images; the layers of a volume are one image.
            let (faces, depth) = match target {
                glow::TEXTURE_CUBE_MAP => (layers, 1),
                _ => (1, layers),
            };
            for face in 0..faces {
                images.push(Image {
                    target: match target {
                        glow::TEXTURE_CUBE_MAP => glow::TEXTURE_CUBE_MAP_POSITIVE_X + face,
                        _ => target,
                    },
                    level: level as i32,
                    size: [width, height, depth].map(|texels| texels as i32),
                    channels: channels(&sampler, level, face..face + depth),
                });
            }
        }
        let filter = texture.filter0;
        Ok(Self {
            target,
            images,
            parameters: [
                (glow::TEXTURE_WRAP_S, wrap(filter.clamp_s())?),
                (glow::TEXTURE_WRAP_T, wrap(filter.clamp_t())?),
                (glow::TEXTURE_WRAP_R, wrap(filter.clamp_r())?),
                (glow::TEXTURE_MAG_FILTER, filters(filter.mag_filter(), LayerFilter::NONE)?),
                (glow::TEXTURE_MIN_FILTER, filters(filter.min_filter(), filter.mip_filter())?),
                (glow::TEXTURE_MAX_LEVEL, sampler.levels() as u32 - 1),
            ],
            // The texel outside the texture.
            border: sampler.texel(0, [u32::MAX; 3], &TexReadings::default()),
        })
    }

    /// Returns whether 8 bits per channel represent all texels exactly.
    pub(crate) fn fits_bytes(&self) -> bool {
        let mut channels = self.images.iter().flat_map(|image| &image.channels);
        channels.all(|&channel| eight_bits(channel).is_some())
    }
}

impl Image {
    /// Returns the channels in 8 bits each; values without an exact byte are omitted.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.channels.iter().filter_map(|&channel| eight_bits(channel)).collect()
    }

    /// Returns the channels as floats.
    pub(crate) fn floats(&self) -> Vec<u8> {
        self.channels.iter().flat_map(|channel| channel.to_ne_bytes()).collect()
    }
}

fn channels(sampler: &Sampler, level: usize, layers: std::ops::Range<u32>) -> Vec<f32> {
    let [width, height, _] = sampler.level_size(level);
    let readings = TexReadings::default();
    let mut channels = Vec::new();
    for layer in layers {
        for y in 0..height {
            for x in 0..width {
                channels.extend(sampler.texel(level, [x, y, layer], &readings));
            }
        }
    }
    channels
}

/// Returns the byte that represents a value exactly, if there is one.
fn eight_bits(value: f32) -> Option<u8> {
    let byte = (value * 255.0).round() as u8;
    ((f32::from(byte) / 255.0 - value).abs() < 1e-6).then_some(byte)
}

fn wrap(mode: ClampMode) -> Result<u32> {
    Ok(match mode {
        ClampMode::WRAP => glow::REPEAT,
        ClampMode::MIRROR => glow::MIRRORED_REPEAT,
        ClampMode::CLAMP => glow::CLAMP_TO_EDGE,
        ClampMode::BORDER => glow::CLAMP_TO_BORDER,
        _ => bail!("{mode:?} has no counterpart here"),
    })
}

fn filters(texels: TexelFilter, levels: LayerFilter) -> Result<u32> {
    Ok(match (texels, levels) {
        (TexelFilter::POINT, LayerFilter::NONE) => glow::NEAREST,
        (TexelFilter::LINEAR, LayerFilter::NONE) => glow::LINEAR,
        (TexelFilter::POINT, LayerFilter::POINT) => glow::NEAREST_MIPMAP_NEAREST,
        (TexelFilter::LINEAR, LayerFilter::POINT) => glow::LINEAR_MIPMAP_NEAREST,
        (TexelFilter::POINT, LayerFilter::LINEAR) => glow::NEAREST_MIPMAP_LINEAR,
        (TexelFilter::LINEAR, LayerFilter::LINEAR) => glow::LINEAR_MIPMAP_LINEAR,
        _ => bail!("{texels:?} with {levels:?} between levels has no counterpart here"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use r500::isa::texture::TxFilter0;

    use super::*;
    use crate::capture::Capture;

    fn uploads(name: &str) -> Vec<Upload> {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
        let capture = Capture::read(Path::new(corpus), name).unwrap();
        let textures = capture.job.textures.iter().flatten();
        textures.map(|texture| Upload::of(texture, None).unwrap()).collect()
    }

    #[test]
    fn registers_become_parameters() {
        // The descriptions in the source for its three textures: "nearest nearest repeat mirror",
        // "linear linear mirror clamp", "linear linear clamp repeat".
        let wanted = [
            [glow::REPEAT, glow::MIRRORED_REPEAT, glow::NEAREST, glow::NEAREST],
            [glow::MIRRORED_REPEAT, glow::CLAMP_TO_EDGE, glow::LINEAR, glow::LINEAR],
            [glow::CLAMP_TO_EDGE, glow::REPEAT, glow::LINEAR, glow::LINEAR],
        ];
        let names = [
            glow::TEXTURE_WRAP_S,
            glow::TEXTURE_WRAP_T,
            glow::TEXTURE_MAG_FILTER,
            glow::TEXTURE_MIN_FILTER,
        ];
        let value = |upload: &Upload, name| {
            let found = upload.parameters.iter().find(|(parameter, _)| *parameter == name);
            found.unwrap().1
        };
        let found: Vec<_> = uploads("tex_filters")
            .iter()
            .map(|upload| names.map(|name| value(upload, name)))
            .collect();
        assert_eq!(found, wanted);
        // "trilinear linear … mips" and "linear_mip linear … mips".
        let min: Vec<_> = uploads("tex_mips")
            .iter()
            .map(|upload| value(upload, glow::TEXTURE_MIN_FILTER))
            .collect();
        assert_eq!(min, [glow::LINEAR_MIPMAP_LINEAR, glow::LINEAR_MIPMAP_NEAREST]);
        // A mode without a counterpart is an error; it is not replaced.
        assert!(wrap(TxFilter0(4).clamp_s()).is_err());
    }

    #[test]
    fn every_level_is_an_image() {
        let uploads = uploads("tex_mips");
        let sizes: Vec<_> = uploads[0].images.iter().map(|image| image.size).collect();
        assert_eq!(sizes, [64, 32, 16, 8, 4, 2, 1].map(|side| [side, side, 1]));
        assert!(uploads[0].images.iter().all(|image| {
            image.target == glow::TEXTURE_2D
                && image.channels.len() == (image.size[0] * image.size[1] * 4) as usize
                && image.bytes().len() == image.channels.len()
        }));
        assert!(uploads[0].fits_bytes());
    }

    #[test]
    fn bytes_hold_what_they_can() {
        assert_eq!((eight_bits(0.0), eight_bits(1.0)), (Some(0), Some(255)));
        // The float next to 128/255.
        assert_eq!(eight_bits(0.501_960_8), Some(128));
        assert_eq!([0.5, -0.1, 1.1, f32::NAN, f32::INFINITY].map(eight_bits), [None; 5]);
    }
}
