//! Animated GIF: 256 colours a frame, a pixel is there or not.

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::{Picture, PictureError};

/// Writes a GIF that repeats for ever, `fps` frames a second (rounded to hundredths of a second).
/// Pixels of alpha 0 are transparent, all others opaque; colours are reduced to 256 a frame.
///
/// # Errors
/// [`PictureError::Frames`] if there are no frames or they differ in size,
/// [`PictureError::TooLarge`] past 65535 pixels.
pub fn encode_gif(frames: &[Picture], fps: u16) -> Result<Vec<u8>, PictureError> {
    let first = frames.first().ok_or(PictureError::Frames)?;
    let (Ok(width), Ok(height)) = (u16::try_from(first.width), u16::try_from(first.height)) else {
        let Picture { width, height, .. } = *first;
        return Err(PictureError::TooLarge { format: "GIF", width, height, limit: 65535 });
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &[])?;
    encoder.set_repeat(Repeat::Infinite)?;
    for picture in frames {
        if (picture.width, picture.height) != (first.width, first.height) {
            return Err(PictureError::Frames);
        }
        let mut pixels = picture.pixels.as_flattened().to_vec();
        // The slowest setting of the quantiser that is still good company: 10 of 1..=30.
        let mut frame = Frame::from_rgba_speed(width, height, &mut pixels, 10);
        frame.delay = (100 + fps / 2) / fps.max(1);
        frame.dispose = DisposalMethod::Background;
        encoder.write_frame(&frame)?;
    }
    drop(encoder);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn frames_and_delays_read_back() {
        let frame = |pixel| Picture { width: 2, height: 2, pixels: vec![pixel; 4] };
        let frames = [frame([255, 0, 0, 255]), frame([0, 255, 0, 255]), frame([0; 4])];
        let bytes = encode_gif(&frames, 25).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).unwrap();
        for wanted in &frames {
            let read = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!(read.delay, 4);
            assert_eq!(read.buffer[3], wanted.pixels[0][3]);
            if wanted.pixels[0][3] != 0 {
                assert_eq!(read.buffer[..3], wanted.pixels[0][..3]);
            }
        }
        assert!(decoder.read_next_frame().unwrap().is_none());
    }
}
