//! Frames as PNG files.

use std::io::BufWriter;
use std::path::Path;

use r500_files::Output;

/// Writes a frame of 8-bit red, green and blue, in rows from the top.
pub(crate) fn write_png(path: &Path, [width, height]: [u32; 2], rgb: &[u8]) -> std::io::Result<()> {
    let output = Output::create(path)?;
    let to = BufWriter::new(output.writer());
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    output.commit()
}
