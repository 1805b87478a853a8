//! Captures: their submissions, executed one after the other, and the frames between them.

use std::ffi::c_char;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use r500::files;
use r500_card::{Playback, PlaybackError, Played};
use r500_stream::FrameError;
use r500_stream::capture::PlayError;

use crate::card::Card;
use crate::error::{Error, guarded, or_else};
use crate::handle::{self, Handle, exclusive, object};
use crate::pointers;

/// An event: the capture has ended.
pub const R500_EVENT_END: u32 = 0;
/// An event: a submission was executed.
pub const R500_EVENT_SUBMISSION: u32 = 1;
/// An event: the buffers of the last submission were compared with those of the capture.
pub const R500_EVENT_COMPARISON: u32 = 2;
/// An event: a picture went to the screen.
pub const R500_EVENT_FRAME: u32 = 3;

/// A capture (`.r5cs`) with its buffers, between two of its records. The caller of r500_capture_open owns it. It belongs to one thread at a
/// time: a function fails while another call uses the capture, also r500_capture_free.
pub struct Capture(Handle<Playback<Box<dyn Read + Send + Sync>>>);

object!(Capture: Playback<Box<dyn Read + Send + Sync>>, "capture");

/// What r500_capture_next did.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// R500_EVENT_SUBMISSION and so on.
    pub kind: u32,
    /// Of R500_EVENT_FRAME: columns of the picture.
    pub width: u32,
    /// Of R500_EVENT_FRAME: its rows.
    pub height: u32,
    /// Of R500_EVENT_END: 1 if the file ends inside of a record, as that of a program that crashed may.
    pub truncated: u32,
    /// Submissions so far.
    pub submissions: u64,
    /// Frames so far.
    pub frames: u64,
    /// Of R500_EVENT_COMPARISON: buffers that were compared.
    pub compared: u64,
    /// Of R500_EVENT_COMPARISON: those of them with other bytes than when the capture was made.
    pub different: u64,
}

fn give(source: Box<dyn Read + Send + Sync>) -> Result<*mut Capture, Error> {
    let playback = Playback::new(source).map_err(Error::input)?;
    Ok(handle::give(Capture(Handle::new(playback))))
}

/// Opens the file of a capture, which is read step by step. Its buffers may take 2 GiB together. Free it with r500_capture_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_capture_open(path: *const c_char) -> *mut Capture {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let path = unsafe { pointers::text(path, "path")? };
        let path = path.ok_or_else(|| Error::argument("path is NULL"))?;
        // Records are read one at a time, each with its own limit.
        let file = files::open(Path::new(path), u64::MAX).map_err(Error::file)?;
        give(Box::new(BufReader::new(file)))
    })
}

/// Does the same for a capture in memory. The bytes are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_capture_read(bytes: *const u8, size: usize) -> *mut Capture {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let bytes = unsafe { pointers::slice(bytes, size, "bytes")? };
        let mut copy = Vec::new();
        copy.try_reserve_exact(size)
            .map_err(|_| Error::memory(format!("there is no memory for {size} bytes")))?;
        copy.extend_from_slice(bytes);
        give(Box::new(Cursor::new(copy)))
    })
}

/// Frees a capture; does nothing for NULL. Returns false, and does not free it, while another call uses it; builds with debug assertions also
/// where it was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_capture_free(capture: *mut Capture) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { handle::free(capture) })
}

/// Continues to the next event of a capture, and stores it: executes a submission on the card, compares its buffers, or shows a picture, which
/// r500_capture_frame reads. Pass the same card each time; the readings of the capture are set on it. Submissions are not checked as the kernel
/// does. A submission that is given up is an error (R500_ERROR_LIMIT, R500_ERROR_INPUT), of which `event` tells the number; the next call
/// continues after it. After the end, and after damage, there is only R500_EVENT_END.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_capture_next(
    capture: *mut Capture,
    card: *mut Card,
    event: *mut Event,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut capture, mut card, event) = unsafe {
            let event = pointers::exclusive(event, "event")?;
            (exclusive(capture)?, exclusive(card)?, event)
        };
        let played = capture.step(&mut card);
        *event = Event {
            submissions: capture.submissions(),
            frames: capture.frames(),
            ..played.as_ref().map_or_else(|_| Event::default(), Event::of)
        };
        played?;
        Ok(true)
    })
}

impl Event {
    /// Returns an event without the counts.
    fn of(played: &Played) -> Self {
        match *played {
            Played::Submission => Self { kind: R500_EVENT_SUBMISSION, ..Self::default() },
            Played::Comparison { compared, different } => {
                Self { kind: R500_EVENT_COMPARISON, compared, different, ..Self::default() }
            }
            Played::Frame { width, height } => {
                Self { kind: R500_EVENT_FRAME, width, height, ..Self::default() }
            }
            Played::End { truncated } => {
                Self { kind: R500_EVENT_END, truncated: truncated.into(), ..Self::default() }
            }
        }
    }
}

impl From<PlaybackError> for Error {
    fn from(error: PlaybackError) -> Self {
        match error {
            PlaybackError::Play(PlayError::TooLarge { .. }) | PlaybackError::Time(_) => {
                Self::limit(error)
            }
            PlaybackError::Play(PlayError::Memory { .. }) => Self::memory(error),
            PlaybackError::Card(error) => error.into(),
            error => Self::input(error),
        }
    }
}

/// Reads the picture that the last event, R500_EVENT_FRAME, put on the screen: a byte each of red, green and blue, rows from the top, `pitch`
/// bytes from a row to the next. `size` is the bytes that there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_capture_frame(
    capture: *mut Capture,
    rgb: *mut u8,
    size: usize,
    pitch: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (capture, rgb) =
            unsafe { (exclusive(capture)?, pointers::slice_mut(rgb, size, "rgb")?) };
        let frame = capture.frame();
        let frame =
            frame.ok_or_else(|| Error::argument("the last event was not R500_EVENT_FRAME"))?;
        let [width, height] = frame.size();
        let row = width as usize * 3;
        let rows = height as usize;
        let needs = pitch.checked_mul(rows.saturating_sub(1)).and_then(|all| all.checked_add(row));
        if pitch < row || needs.is_none_or(|needs| needs > size) {
            return Err(Error::argument(format!(
                "{size} bytes with {pitch} from a row to the next do not hold {rows} rows of {row} bytes"
            )));
        }
        let pixels = frame.rgb().map_err(|error| match error {
            FrameError::Memory { .. } => Error::memory(error),
            error => Error::input(error),
        })?;
        // A frame has a pixel at least, so that neither length is 0.
        rgb.chunks_mut(pitch)
            .zip(pixels.chunks(row))
            .for_each(|(to, from)| to[..row].copy_from_slice(from));
        Ok(true)
    })
}

/// Copies bytes out of a buffer of the capture, which `r500 stream` names. They must end inside it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_capture_read_buffer(
    capture: *mut Capture,
    buffer: u32,
    offset: usize,
    bytes: *mut u8,
    size: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (capture, bytes) =
            unsafe { (exclusive(capture)?, pointers::slice_mut(bytes, size, "bytes")?) };
        capture.read_buffer(buffer, offset, bytes)?;
        Ok(true)
    })
}
