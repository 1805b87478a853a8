//! OpenEXR: unmodified float values.

use std::io::{Cursor, Seek, Write};

use exr::block::writer::ChunksWriter;
use exr::block::{self, BlockIndex, UncompressedBlock};
use exr::math::Vec2;
use exr::meta::attribute::{ChannelDescription, SampleType, Text};
use exr::meta::header::{Header, LayerAttributes};

use super::{PictureError, upright};

/// A layer of an OpenEXR file.
#[derive(Clone, Debug)]
pub struct ExrLayer<'a> {
    /// Name of the layer; empty if the file has only one.
    pub name: &'a str,
    /// The channels: name and values, row by row from the bottom.
    pub channels: Vec<(&'static str, Vec<f32>)>,
}

impl<'a> ExrLayer<'a> {
    /// Returns a layer of colours.
    #[must_use]
    pub fn colors(name: &'a str, colors: &[[f32; 4]]) -> Self {
        let channel = |i: usize| colors.iter().map(|color| color[i]).collect();
        let channels =
            ["R", "G", "B", "A"].into_iter().enumerate().map(|(i, name)| (name, channel(i)));
        Self { name, channels: channels.collect() }
    }

    /// Returns a layer of depth.
    #[must_use]
    pub fn depth(name: &'a str, values: &[f32]) -> Self {
        Self { name, channels: vec![("Z", values.to_vec())] }
    }
}

/// Writes an OpenEXR file of 32-bit floats. Values are stored as given, alpha included: colours are not premultiplied,
/// although OpenEXR prefers that.
///
/// # Errors
/// [`PictureError::Exr`] if there is nothing to write.
pub fn encode_exr(width: u32, layers: &[ExrLayer<'_>]) -> Result<Vec<u8>, PictureError> {
    let pixels = layers.iter().flat_map(|l| &l.channels).map(|(_, v)| v.len()).next().unwrap_or(0);
    let height = pixels.checked_div(width as usize).and_then(|rows| u32::try_from(rows).ok());
    let mut bytes = Cursor::new(Vec::new());
    let mut all = Some(layers.to_vec());
    write_exr(&mut bytes, [width, height.unwrap_or(0)], || all.take())?;
    Ok(bytes.into_inner())
}

/// Width and height of the tiles of a file. Rows are buffered until they fill a row of tiles.
const TILE: usize = 64;

/// Writes an OpenEXR file of `[width, height]` pixels in strips. `next` returns the layers of the next strip, highest
/// strip first (rows in a strip count from the bottom), and `None` after the last. Every strip has the same layers and
/// channels. The bytes do not depend on the division into strips.
///
/// # Errors
/// [`PictureError::Exr`] if there is nothing to write, the strips do not fill the picture, or the file cannot be written.
pub fn write_exr<'n>(
    to: impl Write + Seek,
    [width, height]: [u32; 2],
    mut next: impl FnMut() -> Option<Vec<ExrLayer<'n>>>,
) -> Result<(), PictureError> {
    let first = next().unwrap_or_default();
    if first.is_empty() || width == 0 || height == 0 {
        return Err(exr::error::Error::Invalid("a picture without pixels".into()).into());
    }
    let size = Vec2(width as usize, height as usize);
    let headers = first.iter().map(|layer| header(layer, size)).collect();
    block::write(to, headers, true, |meta, writer| {
        let mut tiles = writer.sequential_blocks_compressor(&meta);
        let mut rows: Vec<PendingRows> =
            first.iter().map(|layer| PendingRows::new(layer.channels.len())).collect();
        let mut strip = Some(first);
        let mut y = 0;
        while let Some(layers) = strip {
            for (rows, layer) in rows.iter_mut().zip(layers) {
                rows.push(width, layer);
            }
            // The last row of tiles may be lower.
            while y < size.y() {
                let high = TILE.min(size.y() - y);
                let ready = |rows: &PendingRows| rows.count(size.x()) >= high;
                if !rows.iter().all(ready) {
                    break;
                }
                for (layer, (rows, header)) in rows.iter_mut().zip(&meta.headers).enumerate() {
                    for (column, x) in (0..size.x()).step_by(TILE).enumerate() {
                        let index = BlockIndex {
                            layer,
                            pixel_position: Vec2(x, y),
                            pixel_size: Vec2(TILE.min(size.x() - x), high),
                            level: Vec2(0, 0),
                        };
                        let tile = rows.tile(header, index, size.x());
                        let in_file = y / TILE * size.x().div_ceil(TILE) + column;
                        tiles.compress_block(in_file, tile)?;
                    }
                    rows.drop_rows(high, size.x());
                }
                y += high;
            }
            strip = next();
        }
        Ok(())
    })?;
    Ok(())
}

/// Returns the header of a layer: RLE in tiles of 64x64 pixels in any order, the default of [`Header::new`].
fn header(layer: &ExrLayer<'_>, size: Vec2<usize>) -> Header {
    let mut names: Vec<&str> = layer.channels.iter().map(|(name, _)| *name).collect();
    // The format requires sorted names.
    names.sort_unstable();
    let channels = names.into_iter().map(|name| ChannelDescription::named(name, SampleType::F32));
    let attributes = match layer.name {
        "" => LayerAttributes::default(),
        name => LayerAttributes::named(name),
    };
    Header::new(Text::default(), size, channels.collect()).with_attributes(attributes)
}

/// Rows of a layer that do not fill a row of tiles yet, highest first: the samples of each channel, sorted by name.
struct PendingRows(Vec<Vec<f32>>);

impl PendingRows {
    fn new(channels: usize) -> Self {
        Self(vec![Vec::new(); channels])
    }

    fn push(&mut self, width: u32, mut layer: ExrLayer<'_>) {
        layer.channels.sort_unstable_by_key(|(name, _)| *name);
        for (rows, (_, values)) in self.0.iter_mut().zip(&layer.channels) {
            rows.extend(upright(width, values));
        }
    }

    fn count(&self, width: usize) -> usize {
        self.0.iter().map(|rows| rows.len() / width).min().unwrap_or(0)
    }

    /// Returns a tile of the highest buffered rows.
    fn tile(&self, header: &Header, index: BlockIndex, width: usize) -> UncompressedBlock {
        let top = index.pixel_position.y();
        UncompressedBlock::from_lines(&header.channels, index, |line| {
            let at = line.location.position;
            let start = (at.y() - top) * width + at.x();
            let samples = &self.0[line.location.channel][start..start + line.location.sample_count];
            // In native byte order, which the compressor converts to that of the file.
            for (to, sample) in line.value.chunks_exact_mut(4).zip(samples) {
                to.copy_from_slice(&sample.to_ne_bytes());
            }
        })
    }

    fn drop_rows(&mut self, rows: usize, width: usize) {
        self.0.iter_mut().for_each(|channel| drop(channel.drain(..rows * width)));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use exr::prelude::{ReadChannels, ReadLayers, read};

    use super::*;

    #[test]
    fn strips_of_any_height_give_the_same_bytes() {
        let [width, height] = [70_u32, 150];
        let color = |i: usize| [i as f32, (i % 7) as f32, 0.5, 1.0];
        let colors: Vec<[f32; 4]> = (0..(width * height) as usize).map(color).collect();
        let depth: Vec<f32> = colors.iter().map(|color| color[0] / 3.0).collect();
        let row = width as usize;
        let layers = |rows: std::ops::Range<usize>| {
            let pixels = rows.start * row..rows.end * row;
            vec![
                ExrLayer::colors("A", &colors[pixels.clone()]),
                ExrLayer::depth("depth", &depth[pixels]),
            ]
        };
        let all = layers(0..height as usize);
        let whole = encode_exr(width, &all).unwrap();
        // Equal to the output of the crate for one layer.
        let single = encode_exr(width, &all[1..]).unwrap();
        let upright = upright(width, &depth).collect();
        let channel = exr::prelude::AnyChannel::new("Z", exr::prelude::FlatSamples::F32(upright));
        let layer = exr::prelude::Layer::new(
            (width as usize, height as usize),
            LayerAttributes::named("depth"),
            exr::prelude::Encoding::FAST_LOSSLESS,
            exr::prelude::AnyChannels::sort([channel].into_iter().collect()),
        );
        let mut wanted = Cursor::new(Vec::new());
        exr::prelude::WritableImage::write(&exr::prelude::Image::from_layer(layer))
            .non_parallel()
            .to_buffered(&mut wanted)
            .unwrap();
        assert!(single == wanted.into_inner(), "not what the crate writes");
        for rows in [1, 40, 64, 100] {
            let mut top = height as usize;
            let mut bytes = Cursor::new(Vec::new());
            let next = || {
                let low = top.checked_sub(1)?.saturating_sub(rows - 1);
                let strip = layers(low..top);
                top = low;
                Some(strip)
            };
            write_exr(&mut bytes, [width, height], next).unwrap();
            assert!(bytes.into_inner() == whole, "{rows} rows");
        }
        let mut short = Some(layers(0..100));
        assert!(write_exr(Cursor::new(Vec::new()), [width, height], || short.take()).is_err());
    }

    #[test]
    fn values_read_back_with_the_top_row_first() {
        let colors = [[1.5, -2.0, 0.25, 1.0], [f32::INFINITY, 1e-40, 0.0, 0.0]];
        let layers = [ExrLayer::colors("A", &colors), ExrLayer::depth("depth", &[0.5, 2.0])];
        let bytes = encode_exr(1, &layers).unwrap();
        let image = read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .all_layers()
            .all_attributes()
            .from_buffered(Cursor::new(bytes))
            .unwrap();
        let values = |layer: usize, name: &str| -> Vec<f32> {
            let channels = &image.layer_data[layer].channel_data.list;
            let channel = channels.iter().find(|c| c.name.eq(name)).unwrap();
            channel.sample_data.values_as_f32().collect()
        };
        assert_eq!(values(0, "R"), [f32::INFINITY, 1.5]);
        assert_eq!(values(0, "G"), [1e-40, -2.0]);
        assert_eq!(values(0, "A"), [0.0, 1.0]);
        assert_eq!(values(1, "Z"), [2.0, 0.5]);
    }
}
