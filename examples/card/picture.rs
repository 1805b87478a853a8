//! Pictures as PNG files.

#![allow(clippy::disallowed_methods, reason = "a program for the card, which has no part of r500")]

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Writes a linear target of 8-bit components, red in the lowest byte: `size` pixels square, opaque.
pub(crate) fn write_png(path: &Path, words: &[AtomicU32], size: u32) -> io::Result<()> {
    let pixels = words.iter().take((size * size) as usize);
    let rgb: Vec<u8> = pixels
        .flat_map(|word| {
            let [r, g, b, _] = word.load(Ordering::Relaxed).to_le_bytes();
            [r, g, b]
        })
        .collect();
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), size, size);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(())
}
