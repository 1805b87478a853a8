//! A card with buffers by name, as the kernel's driver has them for a program.

use std::collections::BTreeMap;

use r500_stream::kernel::{self, Rights};
use r500_stream::{Buffer, BufferId, ChunkKind, Submission, Tiling};

use crate::{Card, CardError};

/// A card for a program that makes its own submissions: buffers by name, submissions of chunks, and the checks of the kernel's driver.
#[derive(Debug)]
pub struct Host {
    /// The card. Readings are set through [`set_reading`](Self::set_reading).
    pub card: Card,
    /// The chip, on which the kernel's checks depend.
    pub chip: r500_stream::Chip,
    /// Whether [`submit`](Self::submit) refuses what the kernel's radeon driver refuses. At first it does.
    pub is_checked: bool,
    /// Readings that the caller chose: they hold for captures, too.
    readings: Vec<(String, String)>,
    buffers: BTreeMap<u32, (Buffer, Tiling)>,
    last_buffer: u32,
}

/// Why a host does not do what it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A name of no buffer.
    #[error("there is no buffer {0}: it was closed, or never created")]
    NoBuffer(u32),
    /// Bytes outside of a buffer.
    #[error("{size} bytes at {offset} are not inside of buffer {name} with {has} bytes")]
    Range {
        /// The buffer.
        name: u32,
        /// First byte.
        offset: usize,
        /// Number of bytes.
        size: usize,
        /// Bytes of the buffer.
        has: usize,
    },
    /// There is no memory for a buffer.
    #[error("there is no memory for a buffer of {bytes} bytes")]
    Memory {
        /// Its size.
        bytes: usize,
    },
    /// All names of buffers were given.
    #[error("a card has had 4294967295 buffers: there are no further names")]
    Names,
    /// A reading that does not exist, or not with this value.
    #[error("{0}")]
    Reading(String),
    /// What the kernel would answer with EINVAL; nothing was executed.
    #[error("{0}")]
    Refused(String),
    /// A submission that ended early; earlier draws stay.
    #[error(transparent)]
    Card(#[from] CardError),
}

impl Host {
    /// Bytes of a page, of which buffers have a whole number.
    const PAGE: usize = 4096;

    /// Returns a host without buffers.
    #[must_use]
    pub fn new(card: Card, chip: r500_stream::Chip) -> Self {
        Self {
            card,
            chip,
            is_checked: true,
            readings: Vec::new(),
            buffers: BTreeMap::new(),
            last_buffer: 0,
        }
    }

    /// Chooses a rule that the documents leave open. It takes precedence over the readings of a capture.
    ///
    /// # Errors
    /// [`HostError::Reading`].
    pub fn set_reading(&mut self, name: &str, value: &str) -> Result<(), HostError> {
        self.apply_reading(name, value)?;
        self.readings.retain(|(other, _)| other != name);
        self.readings.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Sets the readings of a capture, each as NAME=VALUE; those of the caller are kept.
    ///
    /// # Errors
    /// [`HostError::Reading`].
    pub(crate) fn set_readings_of_capture(&mut self, readings: &[String]) -> Result<(), HostError> {
        for reading in readings {
            let pair = reading.split_once('=');
            let wrong = || HostError::Reading(format!("`{reading}` is not NAME=VALUE"));
            let (name, value) = pair.ok_or_else(wrong)?;
            self.apply_reading(name, value)?;
        }
        for (name, value) in self.readings.clone() {
            self.apply_reading(&name, &value)?;
        }
        Ok(())
    }

    fn apply_reading(&mut self, name: &str, value: &str) -> Result<(), HostError> {
        self.card.set_reading(name, value).map_err(|error| HostError::Reading(error.to_string()))
    }

    /// Creates a buffer of zeros, of at least `size` bytes: sizes are rounded up to pages, as the kernel does. Returns its name for relocations,
    /// a number above 0 that no other buffer gets.
    ///
    /// # Errors
    /// [`HostError::Memory`], [`HostError::Names`].
    pub fn create_buffer(&mut self, size: usize) -> Result<u32, HostError> {
        let missing = HostError::Memory { bytes: size };
        let bytes = size.max(1).checked_next_multiple_of(Self::PAGE).ok_or(missing.clone())?;
        self.add_buffer(|name| Buffer::try_zeroed(name, bytes).ok_or(missing))
    }

    /// Adds a buffer that is made with a new name.
    ///
    /// # Errors
    /// That of making it, and [`HostError::Names`].
    pub fn add_buffer(
        &mut self,
        buffer: impl FnOnce(BufferId) -> Result<Buffer, HostError>,
    ) -> Result<u32, HostError> {
        let name = self.last_buffer.checked_add(1).ok_or(HostError::Names)?;
        let buffer = buffer(BufferId(name))?;
        self.buffers.insert(name, (buffer, Tiling::default()));
        self.last_buffer = name;
        Ok(name)
    }

    /// Returns a buffer.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`].
    pub fn buffer(&self, name: u32) -> Result<&Buffer, HostError> {
        self.buffers.get(&name).map(|(buffer, _)| buffer).ok_or(HostError::NoBuffer(name))
    }

    /// Closes a buffer: its name is no longer one of the card.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`].
    pub fn close_buffer(&mut self, name: u32) -> Result<(), HostError> {
        self.buffers.remove(&name).map(drop).ok_or(HostError::NoBuffer(name))
    }

    /// Sets the tiling of a buffer, as the request DRM_RADEON_GEM_SET_TILING does.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`].
    pub fn set_tiling(&mut self, name: u32, tiling: Tiling) -> Result<(), HostError> {
        let (_, of_buffer) = self.buffers.get_mut(&name).ok_or(HostError::NoBuffer(name))?;
        *of_buffer = tiling;
        Ok(())
    }

    /// Copies bytes into a buffer.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`], [`HostError::Range`].
    pub fn write_buffer(&self, name: u32, offset: usize, bytes: &[u8]) -> Result<(), HostError> {
        let buffer = self.buffer(name)?;
        check_range(buffer, offset, bytes.len())?;
        buffer.write(offset, bytes);
        Ok(())
    }

    /// Copies bytes out of a buffer.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`], [`HostError::Range`].
    pub fn read_buffer(&self, name: u32, offset: usize, bytes: &mut [u8]) -> Result<(), HostError> {
        read_range(self.buffer(name)?, offset, bytes)
    }

    /// Checks that a buffer has a range of bytes, before memory of this size is asked for.
    ///
    /// # Errors
    /// [`HostError::NoBuffer`], [`HostError::Range`].
    pub fn check_range(&self, name: u32, offset: usize, size: usize) -> Result<(), HostError> {
        check_range(self.buffer(name)?, offset, size)
    }

    /// Returns the submission of chunks, each with its kind and dwords, as the request DRM_RADEON_CS takes them.
    ///
    /// # Errors
    /// [`HostError::Refused`] if the kernel cannot read them.
    pub fn submission<'a>(
        &self,
        chunks: impl IntoIterator<Item = (ChunkKind, &'a [u32])>,
    ) -> Result<Submission, HostError> {
        let mut submission = Submission::default();
        for (kind, dwords) in chunks {
            let added = submission.add_chunk(kind, dwords.to_vec(), |name| {
                self.buffers.get(&name).cloned().ok_or("the card has none of this name")
            });
            added.map_err(|error| HostError::Refused(error.to_string()))?;
        }
        if submission.words.is_empty() {
            let text = "the submission has no chunk with dwords of a stream (id 2)";
            return Err(HostError::Refused(text.to_owned()));
        }
        Ok(submission)
    }

    /// Checks a submission as the kernel's driver does, and executes nothing.
    ///
    /// # Errors
    /// [`HostError::Refused`], with the reason.
    pub fn check(&self, submission: &Submission) -> Result<(), HostError> {
        let rights = Rights { chip: self.chip, ..Rights::default() };
        let checked = kernel::check(submission, rights);
        checked.map(drop).map_err(|rejection| HostError::Refused(rejection.to_string()))
    }

    /// Executes a submission to its end; if it is to be checked, only one that passes.
    ///
    /// # Errors
    /// [`HostError::Refused`], [`HostError::Card`].
    pub fn submit(&mut self, submission: &Submission) -> Result<(), HostError> {
        if self.is_checked {
            self.check(submission)?;
        }
        Ok(self.card.submit(submission)?)
    }
}

/// Copies bytes out of a buffer, if it has them.
pub(crate) fn read_range(
    buffer: &Buffer,
    offset: usize,
    bytes: &mut [u8],
) -> Result<(), HostError> {
    check_range(buffer, offset, bytes.len())?;
    buffer.read(offset, bytes);
    Ok(())
}

fn check_range(buffer: &Buffer, offset: usize, size: usize) -> Result<(), HostError> {
    let (name, has) = (buffer.id().0, buffer.size());
    match offset.checked_add(size).is_some_and(|end| end <= has) {
        true => Ok(()),
        false => Err(HostError::Range { name, offset, size, has }),
    }
}
