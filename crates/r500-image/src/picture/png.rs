//! PNG and animated PNG.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

use png::{BitDepth, ColorType, Decoder, Encoder, StreamWriter, Transformations};

use super::{Picture, PictureError};

/// Decodes a PNG as 8-bit RGBA. Grey becomes red, green and blue, a palette its colours; of 16 bits the lower 8 are
/// dropped. Gamma and colour profiles are ignored.
///
/// # Errors
/// [`PictureError::PngRead`] if it is not a PNG, is truncated, or exceeds the size limits.
pub fn decode_png(bytes: &[u8]) -> Result<Picture, PictureError> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().filter(|&size| size <= most_samples(bytes.len()));
    let mut buffer = vec![0; size.ok_or(::png::DecodingError::LimitsExceeded)?];
    let info = reader.next_frame(&mut buffer)?;
    let samples = &buffer[..info.buffer_size()];
    let pixels = match info.color_type {
        ColorType::Rgba => samples.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect(),
        ColorType::Rgb => samples.chunks_exact(3).map(|p| [p[0], p[1], p[2], 255]).collect(),
        ColorType::GrayscaleAlpha => {
            samples.chunks_exact(2).map(|p| [p[0], p[0], p[0], p[1]]).collect()
        }
        // Palettes are expanded above.
        ColorType::Grayscale | ColorType::Indexed => {
            samples.iter().map(|&grey| [grey, grey, grey, 255]).collect()
        }
    };
    Ok(Picture { width: info.width, height: info.height, pixels })
}

/// Returns the width and height in a PNG's header, without reading further.
pub fn png_size(bytes: &[u8]) -> Option<[u32; 2]> {
    // The signature, and length and name of the first chunk.
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR")?;
    let side = |at: usize| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
    Some([side(0)?, side(4)?])
}

/// Returns the greatest number of sample bytes that a file of this length can contain, so that a header alone cannot
/// allocate much memory: deflate expands a byte to at most 1032, and bits and palettes expand at most 32-fold (one bit
/// to RGBA).
fn most_samples(file: usize) -> usize {
    file.saturating_mul(1032 * 32).min(MOST_SAMPLES)
}

/// Limit of sample bytes: those of 16384x16384 pixels.
const MOST_SAMPLES: usize = 1 << 30;

/// Compression effort of a PNG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PngCompression {
    /// Fast: deflate with fixed codes and short searches.
    #[default]
    Fast,
    /// Small files: the longest searches.
    Best,
}

/// Encodes a PNG: 8-bit RGBA, straight alpha, no gamma, [fast](PngCompression::Fast) compression.
///
/// # Errors
/// [`PictureError::PngWrite`] if the picture is empty.
pub fn encode_png(picture: &Picture) -> Result<Vec<u8>, PictureError> {
    encode_png_with(picture, PngCompression::Fast)
}

/// Encodes a PNG as [`encode_png`] does, with the given compression effort.
///
/// # Errors
/// As [`encode_png`].
pub fn encode_png_with(
    picture: &Picture,
    compression: PngCompression,
) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut encoder = encoder(&mut bytes, [picture.width, picture.height]);
    encoder.set_compression(compression.into());
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture.pixels.as_flattened())?;
    writer.finish()?;
    Ok(bytes)
}

impl From<PngCompression> for png::Compression {
    fn from(compression: PngCompression) -> Self {
        match compression {
            PngCompression::Fast => Self::Fast,
            PngCompression::Best => Self::High,
        }
    }
}

/// Writes a PNG as [`encode_png_with`] does, strip by strip.
pub struct PngWriter<W: Write + 'static> {
    rows: StreamWriter<'static, Remembering<W>>,
    failure: FirstFailure,
}

/// Compressed bytes in a chunk of a file.
const CHUNK: usize = 1 << 16;

impl<W: Write + 'static> PngWriter<W> {
    /// Begins a file of `[width, height]` pixels.
    ///
    /// # Errors
    /// [`PictureError::PngWrite`] if it has no pixels, [`PictureError::Output`] if it cannot be written.
    pub fn new(to: W, size: [u32; 2], compression: PngCompression) -> Result<Self, PictureError> {
        let failure = FirstFailure::default();
        let mut encoder = encoder(Remembering { to, failure: failure.clone() }, size);
        encoder.set_compression(compression.into());
        let rows = encoder.write_header()?.into_stream_writer_with_size(CHUNK)?;
        Ok(Self { rows, failure })
    }

    /// Writes the next rows, from the top.
    ///
    /// # Errors
    /// [`PictureError::Output`] if they cannot be written, or the file is complete.
    pub fn rows(&mut self, pixels: &[[u8; 4]]) -> Result<(), PictureError> {
        let written = self.rows.write_all(pixels.as_flattened());
        // The stream of `png` reports some errors without their kind.
        written.map_err(|error| self.failure.take().unwrap_or(error).into())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`PictureError::PngWrite`] if rows are missing, [`PictureError::Output`] if it cannot be written.
    pub fn finish(self) -> Result<(), PictureError> {
        let finished = self.rows.finish();
        self.failure.take().map_or(Ok(()), Err)?;
        Ok(finished?)
    }
}

/// The first error of a writer, if any.
#[derive(Clone, Default)]
struct FirstFailure(Arc<Mutex<Option<io::Error>>>);

impl FirstFailure {
    fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: &io::Error) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        });
    }
}

/// A writer that records its first error: the stream of `png` writes its end when it is dropped, and ignores errors
/// then.
struct Remembering<W: Write> {
    to: W,
    failure: FirstFailure,
}

impl<W: Write> Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes);
        written.inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure.keep(error);
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush().inspect_err(|error| self.failure.keep(error))
    }
}

impl<W: Write> Drop for Remembering<W> {
    fn drop(&mut self) {
        // The error is recorded.
        let _ = self.flush();
    }
}

/// Writes an animated PNG that repeats for ever, `fps` frames a second.
///
/// # Errors
/// [`PictureError::Frames`] if there are no frames or they differ in size.
pub fn encode_apng(frames: &[Picture], fps: u16) -> Result<Vec<u8>, PictureError> {
    let first = frames.first().ok_or(PictureError::Frames)?;
    let count = u32::try_from(frames.len()).map_err(|_| PictureError::Frames)?;
    let mut bytes = Vec::new();
    let mut writer = ApngWriter::new(&mut bytes, [first.width, first.height], count, fps)?;
    for frame in frames {
        writer.frame(frame)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Writes an animated PNG as [`encode_apng`] does, frame by frame.
pub struct ApngWriter<W: Write> {
    writer: png::Writer<W>,
    size: [u32; 2],
}

impl<W: Write> ApngWriter<W> {
    /// Begins a file of `frames` frames of `[width, height]` pixels.
    ///
    /// # Errors
    /// [`PictureError::PngWrite`] if there are no frames or no pixels, or it cannot be written.
    pub fn new(to: W, size: [u32; 2], frames: u32, fps: u16) -> Result<Self, PictureError> {
        let mut encoder = encoder(to, size);
        encoder.set_animated(frames, 0)?;
        encoder.set_frame_delay(1, fps)?;
        Ok(Self { writer: encoder.write_header()?, size })
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// [`PictureError::Frames`] if its size differs, [`PictureError::PngWrite`] if it cannot be written.
    pub fn frame(&mut self, picture: &Picture) -> Result<(), PictureError> {
        if [picture.width, picture.height] != self.size {
            return Err(PictureError::Frames);
        }
        Ok(self.writer.write_image_data(picture.pixels.as_flattened())?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`PictureError::PngWrite`] if frames are missing or it cannot be written.
    pub fn finish(self) -> Result<(), PictureError> {
        Ok(self.writer.finish()?)
    }
}

fn encoder<W: Write>(to: W, [width, height]: [u32; 2]) -> Encoder<'static, W> {
    let mut encoder = Encoder::new(to, width, height);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn sample() -> Picture {
        let pixels = (0..6).map(|i| [i * 40, 255 - i, i, 128 + i]).collect();
        Picture { width: 3, height: 2, pixels }
    }

    #[test]
    fn written_png_reads_back() {
        let picture = sample();
        let bytes = encode_png(&picture).unwrap();
        assert_eq!(decode_png(&bytes).unwrap(), picture);
        // No gAMA, sRGB or iCCP chunk: samples have no colour space.
        for chunk in [b"gAMA", b"sRGB", b"iCCP"] {
            assert!(!bytes.windows(4).any(|w| w == chunk));
        }
    }

    #[test]
    fn both_compressions_hold_the_same_picture_and_best_is_smaller() {
        let pixel = |i: u32| [(i % 97) as u8, (i / 131 % 251) as u8, ((i * i) >> 9) as u8, 255];
        let picture =
            Picture { width: 256, height: 128, pixels: (0..256 * 128).map(pixel).collect() };
        let [fast, best] = [PngCompression::Fast, PngCompression::Best]
            .map(|compression| encode_png_with(&picture, compression).unwrap());
        assert_eq!(decode_png(&fast).unwrap(), picture);
        assert_eq!(decode_png(&best).unwrap(), picture);
        assert!(best.len() < fast.len(), "{} and {}", best.len(), fast.len());
        assert_eq!(encode_png(&picture).unwrap(), fast);
    }

    /// A file in memory that can be read after its writer is dropped.
    #[derive(Clone, Default)]
    struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A device with limited space in bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn strips_give_the_picture_and_the_same_bytes_however_cut() {
        let pixel = |i: u32| [(i % 97) as u8, (i / 131 % 251) as u8, ((i * i) >> 9) as u8, 255];
        let picture = Picture { width: 64, height: 96, pixels: (0..64 * 96).map(pixel).collect() };
        for compression in [PngCompression::Fast, PngCompression::Best] {
            let written = |rows: usize| {
                let file = Shared::default();
                let mut writer = PngWriter::new(file.clone(), [64, 96], compression).unwrap();
                picture.pixels.chunks(64 * rows).for_each(|rows| writer.rows(rows).unwrap());
                writer.finish().unwrap();
                file.0.take()
            };
            let whole = written(96);
            assert_eq!(decode_png(&whole).unwrap(), picture);
            assert!([1, 7, 64].into_iter().all(|rows| written(rows) == whole));
        }
        let mut full = PngWriter::new(Full(1000), [64, 96], PngCompression::Fast).unwrap();
        picture.pixels.chunks(64).for_each(|rows| full.rows(rows).unwrap());
        let full = full.finish().unwrap_err();
        let full_device = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        assert!(matches!(&full, PictureError::Output(error) if full_device(error)), "{full:?}");
        let mut short = PngWriter::new(Vec::new(), [64, 96], PngCompression::Fast).unwrap();
        short.rows(&picture.pixels[..64]).unwrap();
        assert!(short.finish().is_err());
    }

    #[test]
    fn a_cut_file_is_refused() {
        let bytes = encode_png(&sample()).unwrap();
        for length in [0, 7, 20, 40, bytes.len() - 20] {
            assert!(decode_png(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    /// Found by a fuzz target: 4 x 3,758,096,638 pixels, in a header with a valid checksum.
    #[test]
    fn a_header_cannot_ask_for_more_than_its_file_is_worth() {
        let hex = "\
            89504e470d0a1a0a0000000d4948445200000004e00000fe08060000007fa87d63000000\
            1349444154789c63e43a21f79f01093032a001003c3401f30664ad9700000a1a0a000000\
            0d4900000082\
        ";
        let digits: Vec<char> = hex.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        assert!(decode_png(&bytes).is_err());
    }

    #[test]
    fn an_animation_holds_its_frames() {
        let bytes = encode_apng(&[sample(), sample(), sample()], 25).unwrap();
        let mut reader = Decoder::new(Cursor::new(&bytes)).read_info().unwrap();
        let control = reader.info().animation_control().unwrap();
        assert_eq!((control.num_frames, control.num_plays), (3, 0));
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        for _ in 0..3 {
            reader.next_frame(&mut buffer).unwrap();
            assert_eq!(buffer, sample().pixels.as_flattened());
        }
        assert!(matches!(encode_apng(&[], 25), Err(PictureError::Frames)));
        let other = Picture { width: 1, height: 1, pixels: vec![[0; 4]] };
        assert!(matches!(encode_apng(&[sample(), other], 25), Err(PictureError::Frames)));
    }
}
