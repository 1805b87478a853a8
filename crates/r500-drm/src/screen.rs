//! Frames as PNG files.

use std::fs;
use std::io::BufWriter;
use std::path::Path;

use r500_stream::capture::Picture;
use r500_stream::{Buffer, Tiling, frame_rgb};

/// Writes the picture in a buffer.
pub(crate) fn write_png(
    path: &Path,
    buffer: &Buffer,
    picture: &Picture,
    tiling: Tiling,
) -> std::io::Result<()> {
    let rgb = frame_rgb(buffer, picture, tiling)
        .ok_or_else(|| std::io::Error::other("a frame of a format without a name"))?;
    let mut encoder =
        png::Encoder::new(BufWriter::new(fs::File::create(path)?), picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(())
}
