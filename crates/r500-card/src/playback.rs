//! Captures: their submissions, executed one after the other on a host's card, and the frames between them.

use std::io::Read;

use r500_stream::capture::{
    CaptureError, Event, Limits, Picture, PlayError, Player, Reader, Record,
};
use r500_stream::{Buffer, BufferId, FrameError, OutOfTime, Tiling, frame_rgb};

use crate::host::read_range;
use crate::{CardError, Host, HostError};

/// A capture (`.r5cs`) with its buffers, between two of its records.
#[derive(Debug)]
pub struct Playback<R> {
    records: Reader<R>,
    player: Player,
    submissions: u64,
    frames: u64,
    frame: Option<Frame>,
}

/// What a capture put on the screen.
#[derive(Clone, Debug)]
pub struct Frame {
    buffer: Buffer,
    picture: Picture,
    tiling: Tiling,
}

/// A step of a playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Played {
    /// A submission was executed.
    Submission,
    /// The buffers of the last submission were compared with those of the capture.
    Comparison {
        /// Buffers that were compared.
        compared: u64,
        /// Those of them with other bytes than when the capture was made.
        different: u64,
    },
    /// A picture went to the screen: [`Playback::frame`].
    Frame {
        /// Its columns.
        width: u32,
        /// Its rows.
        height: u32,
    },
    /// The capture has ended.
    End {
        /// Whether the file ends inside of a record, as that of a program that crashed may.
        truncated: bool,
    },
}

/// Why a playback does not continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaybackError {
    /// The capture is damaged.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A record that does not fit the records before.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A reading of the capture, or a buffer.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A submission was given up; the next step continues after it.
    #[error(transparent)]
    Card(#[from] CardError),
    /// A comparison took too long.
    #[error(transparent)]
    Time(#[from] OutOfTime),
}

impl<R: Read> Playback<R> {
    /// Returns a playback of a capture from its first byte, which is read step by step. Its buffers may take 2 GiB together.
    ///
    /// # Errors
    /// [`CaptureError`] if it is not a capture.
    pub fn new(source: R) -> Result<Self, CaptureError> {
        Ok(Self {
            records: Reader::new(source)?,
            player: Player::new(Limits::default()),
            submissions: 0,
            frames: 0,
            frame: None,
        })
    }

    /// Continues to the next event: executes a submission on the card of the host, which is the same one each time, compares its buffers, or
    /// shows a picture. The readings of the capture are set on the host. Submissions are not checked as the kernel does. After the end,
    /// and after damage, there is only [`Played::End`].
    ///
    /// # Errors
    /// [`PlaybackError`].
    pub fn step(&mut self, host: &mut Host) -> Result<Played, PlaybackError> {
        self.frame = None;
        for record in self.records.by_ref() {
            let record = record?;
            if let Record::Info(info) = &record {
                host.set_readings_of_capture(&info.readings)?;
            }
            match self.player.apply(record)? {
                Some(Event::Submission(submission)) => {
                    self.submissions += 1;
                    host.card.submit(&submission)?;
                    return Ok(Played::Submission);
                }
                Some(Event::Hashes(hashes)) => {
                    let different = self.player.mismatches(&hashes, None)?.len() as u64;
                    return Ok(Played::Comparison { compared: hashes.len() as u64, different });
                }
                Some(Event::Flip { buffer, picture, tiling }) => {
                    self.frames += 1;
                    let Picture { width, height, .. } = picture;
                    self.frame = Some(Frame { buffer, picture, tiling });
                    return Ok(Played::Frame { width, height });
                }
                _ => {}
            }
        }
        Ok(Played::End { truncated: self.records.truncated() })
    }

    /// Returns the number of submissions so far, with those that were given up.
    #[must_use]
    pub fn submissions(&self) -> u64 {
        self.submissions
    }

    /// Returns the number of frames so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the picture of the last step, if that was [`Played::Frame`].
    #[must_use]
    pub fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// Copies bytes out of a buffer of the capture, by its name there.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`], [`HostError::Range`].
    pub fn read_buffer(&self, name: u32, offset: usize, bytes: &mut [u8]) -> Result<(), HostError> {
        let buffer = self.player.buffer(BufferId(name)).ok_or(HostError::NoBuffer(name))?;
        read_range(buffer, offset, bytes)
    }
}

impl Frame {
    /// Returns width and height in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        [self.picture.width, self.picture.height]
    }

    /// Returns a byte each of red, green and blue of all pixels, in rows from the top.
    ///
    /// # Errors
    /// [`FrameError`] if the format or the size is not one of a screen, or there is no memory.
    pub fn rgb(&self) -> Result<Vec<u8>, FrameError> {
        frame_rgb(&self.buffer, &self.picture, self.tiling, None)
    }
}
