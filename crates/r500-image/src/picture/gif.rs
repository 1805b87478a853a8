//! Animated GIF: 256 colours a frame and one bit of alpha.

use std::io::Write;

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::{Picture, PictureError};

/// Writes a GIF that repeats for ever, `fps` frames a second (rounded to hundredths of a second). Pixels with alpha 0
/// are transparent, all others opaque. Colours are reduced to 256 a frame.
///
/// [`PictureError::Frames`] if there are no frames or they differ in size, [`PictureError::TooLarge`] above 65535
/// pixels.
/// [`PictureError::Frames`] if there are no frames or they differ in size,
/// [`PictureError::TooLarge`] past 65535 pixels.
pub fn encode_gif(frames: &[Picture], fps: u16) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut writer = GifWriter::new(&mut bytes, fps);
    for picture in frames {
        writer.frame(picture)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Writes a GIF as [`encode_gif`] does, frame by frame.
pub struct GifWriter<W: Write> {
    state: State<W>,
    fps: u16,
}

enum State<W: Write> {
    /// Before the first frame, which determines the size.
    Begun(W),
    Open(Encoder<W>, [u32; 2]),
    /// The first frame could not be written.
    Failed,
}

impl<W: Write> GifWriter<W> {
    /// Prepares a file. Nothing is written before the first frame.
    pub fn new(to: W, fps: u16) -> Self {
        Self { state: State::Begun(to), fps }
    }

    /// Writes a frame.
    ///
    /// [`PictureError::Frames`] if its size differs from the first, [`PictureError::TooLarge`] above 65535 pixels,
    /// [`PictureError::Gif`] if it cannot be written.
    /// [`PictureError::Frames`] if it differs from the first in size, [`PictureError::TooLarge`] past 65535 pixels,
    /// [`PictureError::Gif`] if it cannot be written.
    pub fn frame(&mut self, picture: &Picture) -> Result<(), PictureError> {
        let size = [picture.width, picture.height];
        let (Ok(width), Ok(height)) = (u16::try_from(size[0]), u16::try_from(size[1])) else {
            let [width, height] = size;
            return Err(PictureError::TooLarge { format: "GIF", width, height, limit: 65535 });
        };
        self.state = match std::mem::replace(&mut self.state, State::Failed) {
            State::Begun(to) => {
                let mut encoder = Encoder::new(to, width, height, &[])?;
                encoder.set_repeat(Repeat::Infinite)?;
                State::Open(encoder, size)
            }
            state => state,
        };
        let State::Open(encoder, first) = &mut self.state else { return Err(PictureError::Frames) };
        if *first != size {
            return Err(PictureError::Frames);
        }
        let mut pixels = picture.pixels.as_flattened().to_vec();
        // Speed of the quantiser, 1 (slowest) to 30: 10 is the slowest one that is acceptable.
        let mut frame = Frame::from_rgba_speed(width, height, &mut pixels, 10);
        frame.delay = (100 + self.fps / 2) / self.fps.max(1);
        frame.dispose = DisposalMethod::Background;
        Ok(encoder.write_frame(&frame)?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`PictureError::Frames`] if there was no frame, [`PictureError::Gif`] if the end cannot be written.
    pub fn finish(self) -> Result<(), PictureError> {
        let State::Open(encoder, _) = self.state else { return Err(PictureError::Frames) };
        let mut to = encoder.into_inner()?;
        Ok(to.flush().map_err(gif::EncodingError::from)?)
    }
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
