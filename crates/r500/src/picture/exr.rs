//! OpenEXR: float values as they are.

use std::io::Cursor;

use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer,
    LayerAttributes, WritableImage,
};

use super::{PictureError, upright};

/// A layer of an OpenEXR file.
#[derive(Clone, Debug)]
pub struct ExrLayer<'a> {
    /// Its name; empty where the file has only one.
    pub name: &'a str,
    /// Its channels: name and values, row by row from the bottom.
    pub channels: Vec<(&'static str, Vec<f32>)>,
}

impl<'a> ExrLayer<'a> {
    /// A layer of colours.
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

/// Writes an OpenEXR file of 32-bit floats; values are as given, alpha too (straight, where OpenEXR
/// likes it multiplied in).
///
/// # Errors
/// [`PictureError::Exr`] if there is nothing to write.
pub fn encode_exr(width: u32, layers: &[ExrLayer<'_>]) -> Result<Vec<u8>, PictureError> {
    let pixels = layers.iter().flat_map(|l| &l.channels).map(|(_, v)| v.len()).next().unwrap_or(0);
    let size = (width as usize, pixels.checked_div(width as usize).unwrap_or(0));
    let mut written = Vec::new();
    for layer in layers {
        let channels = layer.channels.iter().map(|(name, values)| {
            let values = upright(width, values).collect();
            AnyChannel::new(*name, FlatSamples::F32(values))
        });
        let attributes = if layer.name.is_empty() {
            LayerAttributes::default()
        } else {
            LayerAttributes::named(layer.name)
        };
        let channels = AnyChannels::sort(channels.collect());
        written.push(Layer::new(size, attributes, Encoding::FAST_LOSSLESS, channels));
    }
    let attributes = ImageAttributes::new(IntegerBounds::from_dimensions(size));
    let image = Image::from_layers(attributes, written);
    let mut bytes = Cursor::new(Vec::new());
    image.write().non_parallel().to_buffered(&mut bytes)?;
    Ok(bytes.into_inner())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use exr::prelude::{ReadChannels, ReadLayers, read};

    use super::*;

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
