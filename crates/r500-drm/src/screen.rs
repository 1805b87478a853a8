//! Frames as PNG files.

use std::io::BufWriter;
use std::path::Path;

use r500_files::Output;
use r500_stream::capture::Picture;
use r500_stream::{Buffer, Tiling, frame_rgb};

/// Writes the picture in a buffer.
pub(crate) fn write_png(
    path: &Path,
    buffer: &Buffer,
    picture: &Picture,
    tiling: Tiling,
) -> std::io::Result<()> {
    let rgb = frame_rgb(buffer, picture, tiling, None).map_err(std::io::Error::other)?;
    let output = Output::create(path)?;
    let to = BufWriter::new(output.writer());
    let mut encoder = png::Encoder::new(to, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    output.commit()
}
