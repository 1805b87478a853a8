//! The virtual card: buffers, submissions, what they left.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use r500::exec::Engine;
use r500::exec::reference::Reference;
use r500::fast::Fast;
use r500::jit::Jit;
use r500_card::{Card as Chip, CardError, Limits};
use r500_stream::kernel::{self, Rights};
use r500_stream::{Buffer, BufferId, ChunkKind, Memory, Submission, Tiling};

use crate::error::{Error, guarded, or_else};
use crate::handle::{self, Handle, Object, exclusive};
use crate::pointers;
use crate::text as texts;

/// Id of a chunk: the list of relocations, four dwords for each: buffer, read domains, write domain, flags.
pub const R500_CHUNK_RELOCS: u32 = 1;
/// Id of a chunk: the dwords of the stream.
pub const R500_CHUNK_IB: u32 = 2;
/// Id of a chunk: one dword, R500_KEEP_TILING_FLAGS or 0.
pub const R500_CHUNK_FLAGS: u32 = 3;
/// Flag of a submission: the tiling bits of the stream count, not those of the buffers.
pub const R500_KEEP_TILING_FLAGS: u32 = 1;
/// A domain of a relocation: memory of the system.
pub const R500_DOMAIN_GTT: u32 = 2;
/// A domain of a relocation: memory of the card.
pub const R500_DOMAIN_VRAM: u32 = 4;

/// A virtual card, with its registers and buffers. The caller of r500_card_new owns it. It belongs to one thread at a time: a function fails
/// while another call uses the card, also r500_card_free. Different cards may be used at the same time.
pub struct Card(Handle<CardState>);

impl Object for Card {
    type State = CardState;
    const NAME: &'static str = "card";

    fn handle(&self) -> &Handle<CardState> {
        &self.0
    }
}

/// A card, and what the kernel's driver would know of it.
pub struct CardState {
    pub(crate) card: Chip,
    chip: r500_stream::Chip,
    is_checked: bool,
    /// Readings that the caller chose: they hold for captures, too.
    readings: Vec<(String, String)>,
    buffers: BTreeMap<u32, (Buffer, Tiling)>,
    last_buffer: u32,
}

/// A chunk of a submission, as `struct drm_radeon_cs_chunk` has it, with a pointer of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// R500_CHUNK_IB and so on; others are ignored.
    pub id: u32,
    /// Dwords there are.
    pub length: u32,
    /// The dwords; NULL if there are none.
    pub dwords: *const u32,
}

impl CardState {
    /// Sets a reading of the caller, or of a capture.
    fn set_reading(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.card.set_reading(name, value).map_err(|error| error.to_string())
    }

    /// Sets the readings of a capture; those of the caller are kept.
    pub(crate) fn set_readings_of_capture(&mut self, readings: &[String]) -> Result<(), String> {
        for reading in readings {
            let pair = reading.split_once('=');
            let (name, value) = pair.ok_or(format!("`{reading}` is not NAME=VALUE"))?;
            self.set_reading(name, value)?;
        }
        for (name, value) in self.readings.clone() {
            self.set_reading(&name, &value)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        buffer: impl FnOnce(BufferId) -> Result<Buffer, Error>,
    ) -> Result<u32, Error> {
        let name = self.last_buffer.checked_add(1).ok_or_else(|| {
            Error::limit("a card has had 4294967295 buffers: there are no further names")
        })?;
        let buffer = buffer(BufferId(name))?;
        self.buffers.insert(name, (buffer, Tiling::default()));
        self.last_buffer = name;
        Ok(name)
    }

    fn buffer(&self, name: u32) -> Result<&(Buffer, Tiling), Error> {
        self.buffers.get(&name).ok_or_else(|| no_buffer(name))
    }
}

fn no_buffer(name: u32) -> Error {
    Error::argument(format!("the card has no buffer {name}: it was closed, or never created"))
}

/// Memory of the caller.
#[derive(Debug)]
struct CallersMemory {
    words: *const AtomicU32,
    count: usize,
}

// SAFETY: dwords are accessed atomically; the memory exists for as long as the card, by the contract of the function that takes it.
unsafe impl Send for CallersMemory {}
// SAFETY: as above.
unsafe impl Sync for CallersMemory {}

impl Memory for CallersMemory {
    fn words(&self) -> &[AtomicU32] {
        // SAFETY: checked when the caller gave it: not null, aligned, of a size that a slice may have.
        unsafe { std::slice::from_raw_parts(self.words, self.count) }
    }
}

fn engine(name: Option<&str>) -> Result<Box<dyn Engine + Send>, Error> {
    match name {
        None | Some("fast") => Ok(Box::new(Fast::new())),
        Some("jit") => Ok(Box::new(Jit::new())),
        Some("reference") => Ok(Box::new(Reference)),
        Some(name) => Err(crate::drawing::no_engine(name)),
    }
}

/// Returns a card as the kernel's driver leaves it when it starts. `engine_name` is what runs fragment programs: "fast" (the default, for
/// NULL), "jit" or "reference"; all draw the same bits. `chip_name` is "rv515", "rv530" (the default, for NULL), "r520" or "r580". Free it with
/// r500_card_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_new(
    engine_name: *const c_char,
    chip_name: *const c_char,
) -> *mut Card {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (engine_name, chip) = unsafe {
            let engine_name = pointers::text(engine_name, "engine_name")?;
            (engine_name, pointers::text(chip_name, "chip_name")?)
        };
        let chip = chip.map_or(Ok(r500_stream::Chip::default()), str::parse);
        let mut card = Chip::with_engine(engine(engine_name)?);
        if engine_name == Some("jit") {
            card.set_vertex_engine(Some(Box::new(Jit::new())));
        }
        let state = CardState {
            card,
            chip: chip.map_err(Error::argument)?,
            is_checked: true,
            readings: Vec::new(),
            buffers: BTreeMap::new(),
            last_buffer: 0,
        };
        Ok(handle::give(Card(Handle::new(state))))
    })
}

/// Frees a card with its buffers; does nothing for NULL. Returns false, and does not free it, while another call uses it; builds with debug
/// assertions also where it was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_free(card: *mut Card) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { handle::free(card) })
}

/// Chooses a rule that the documents leave open, as `--reading NAME=VALUE` does. It takes precedence over the readings of a capture.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_set_reading(
    card: *mut Card,
    name: *const c_char,
    value: *const c_char,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (mut card, name, value) = unsafe {
            (exclusive(card)?, pointers::text(name, "name")?, pointers::text(value, "value")?)
        };
        let name = name.ok_or_else(|| Error::argument("name is NULL"))?;
        let value = value.ok_or_else(|| Error::argument("value is NULL"))?;
        card.set_reading(name, value).map_err(Error::argument)?;
        card.readings.retain(|(other, _)| other != name);
        card.readings.push((name.to_owned(), value.to_owned()));
        Ok(true)
    })
}

/// Sets the time in seconds that a submission may take; 0 for any time. At first it is 120. A submission that takes longer is an error,
/// R500_ERROR_LIMIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_set_time_limit(card: *mut Card, seconds: f64) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        let time = match seconds {
            0.0 => None,
            seconds => Some(
                Duration::try_from_secs_f64(seconds)
                    .map_err(|error| Error::argument(format!("seconds is {seconds}: {error}")))?,
            ),
        };
        card.card.set_limits(Limits { time, ..Limits::default() });
        Ok(true)
    })
}

/// Sets whether r500_card_submit refuses what the kernel's radeon driver refuses; at first it does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_set_checked(card: *mut Card, checked: bool) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        unsafe { exclusive(card)? }.is_checked = checked;
        Ok(true)
    })
}

/// Creates a buffer of zeros. `size` in bytes is rounded up to pages of 4096, as the kernel does. Returns its name for relocations, a number
/// above 0 that the card gives to no other buffer; 0 if there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_create_buffer(card: *mut Card, size: usize) -> u32 {
    const PAGE: usize = 4096;
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        let missing = || Error::memory(format!("there is no memory for a buffer of {size} bytes"));
        let bytes = size.max(1).checked_next_multiple_of(PAGE).ok_or_else(missing)?;
        card.add(|name| Buffer::try_zeroed(name, bytes).ok_or_else(missing))
    })
}

/// Gives the card memory of the caller as a buffer, `dwords` of it: it reads and writes there, during calls only. The memory must exist until
/// the card is freed, also where the buffer is closed before: registers may still refer to it. Returns its name for relocations, or 0 if
/// there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_adopt_buffer(
    card: *mut Card,
    memory: *mut u32,
    dwords: usize,
) -> u32 {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        // SAFETY: as above; checked only, not kept.
        let words = unsafe { pointers::slice_mut(memory, dwords, "memory")? };
        if words.is_empty() {
            return Err(Error::argument("a buffer of 0 dwords"));
        }
        let memory = CallersMemory { words: memory.cast::<AtomicU32>(), count: dwords };
        card.add(|name| Ok(Buffer::new(name, Arc::new(memory))))
    })
}

/// Closes a buffer: its name is no longer one of the card.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_close_buffer(card: *mut Card, buffer: u32) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        card.buffers.remove(&buffer).map(|_| true).ok_or_else(|| no_buffer(buffer))
    })
}

/// Sets the tiling of a buffer, as the request DRM_RADEON_GEM_SET_TILING does: `flags` are its RADEON_TILING bits, `pitch` the bytes of a row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_set_tiling(
    card: *mut Card,
    buffer: u32,
    flags: u32,
    pitch: u32,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        let (_, tiling) = card.buffers.get_mut(&buffer).ok_or_else(|| no_buffer(buffer))?;
        *tiling = Tiling { flags, pitch };
        Ok(true)
    })
}

/// Returns the bytes of a buffer; 0 if there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_buffer_size(card: *mut Card, buffer: u32) -> usize {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let card = unsafe { exclusive(card)? };
        Ok(card.buffer(buffer)?.0.size())
    })
}

/// Copies bytes into a buffer. They must end inside it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_write_buffer(
    card: *mut Card,
    buffer: u32,
    offset: usize,
    bytes: *const u8,
    size: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (card, bytes) = unsafe { (exclusive(card)?, pointers::slice(bytes, size, "bytes")?) };
        let (buffer, _) = card.buffer(buffer)?;
        check_range(buffer, offset, size)?;
        buffer.write(offset, bytes);
        Ok(true)
    })
}

/// Copies bytes out of a buffer. They must end inside it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_read_buffer(
    card: *mut Card,
    buffer: u32,
    offset: usize,
    bytes: *mut u8,
    size: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (card, bytes) =
            unsafe { (exclusive(card)?, pointers::slice_mut(bytes, size, "bytes")?) };
        read(&card.buffer(buffer)?.0, offset, bytes)
    })
}

/// Copies bytes out of a buffer, if it has them.
pub(crate) fn read(buffer: &Buffer, offset: usize, bytes: &mut [u8]) -> Result<bool, Error> {
    check_range(buffer, offset, bytes.len())?;
    buffer.read(offset, bytes);
    Ok(true)
}

fn check_range(buffer: &Buffer, offset: usize, size: usize) -> Result<(), Error> {
    let has = buffer.size();
    match offset.checked_add(size).is_some_and(|end| end <= has) {
        true => Ok(()),
        false => Err(Error::argument(format!(
            "{size} bytes at {offset} are not inside of buffer {} with {has} bytes",
            buffer.id().0
        ))),
    }
}

/// Returns the submission of chunks.
///
/// # Safety
/// The contract of `pointers`.
unsafe fn submission(
    card: &CardState,
    chunks: *const Chunk,
    count: usize,
) -> Result<Submission, Error> {
    let mut submission = Submission::default();
    // SAFETY: the contract of this function.
    for chunk in unsafe { pointers::slice(chunks, count, "chunks")? } {
        // SAFETY: as above.
        let dwords = unsafe { pointers::slice(chunk.dwords, chunk.length as usize, "dwords")? };
        let added = submission.add_chunk(ChunkKind::from_id(chunk.id), dwords.to_vec(), |name| {
            card.buffers.get(&name).cloned().ok_or("the card has none of this name")
        });
        added.map_err(Error::refused)?;
    }
    if submission.words.is_empty() {
        return Err(Error::refused("the submission has no chunk with dwords of a stream (id 2)"));
    }
    Ok(submission)
}

/// Returns the error of a submission that ended early.
pub(crate) fn ended(error: &CardError) -> Error {
    match error {
        CardError::Bindings(_) | CardError::Fragment(_) => Error::input(error),
        _ => Error::limit(error),
    }
}

/// Refuses what the kernel refuses.
fn check(card: &CardState, submission: &Submission) -> Result<(), Error> {
    let rights = Rights { chip: card.chip, ..Rights::default() };
    kernel::check(submission, rights).map(drop).map_err(Error::refused)
}

/// Executes a submission of `count` chunks to its end, as the request DRM_RADEON_CS does: a chunk with the dwords of the stream, one with the
/// relocations that they name, and one with flags. The error is R500_ERROR_REFUSED, with the reason in words, if the kernel would answer
/// EINVAL; nothing was executed then. R500_ERROR_LIMIT and R500_ERROR_INPUT ended the submission early; earlier draws stay. Packets that a
/// card would skip are in r500_card_notes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_submit(
    card: *mut Card,
    chunks: *const Chunk,
    count: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        // SAFETY: as above.
        let submission = unsafe { submission(&card, chunks, count)? };
        if card.is_checked {
            check(&card, &submission)?;
        }
        card.card.submit(&submission).map_err(|error| ended(&error))?;
        Ok(true)
    })
}

/// Checks a submission as the kernel's driver does, and executes nothing. The error is R500_ERROR_REFUSED, with the reason in words, if
/// the kernel would answer EINVAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_check(
    card: *mut Card,
    chunks: *const Chunk,
    count: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let card = unsafe { exclusive(card)? };
        // SAFETY: as above.
        let submission = unsafe { submission(&card, chunks, count)? };
        check(&card, &submission).map(|()| true)
    })
}

/// Returns what was not drawn as a real card does it, a line for each; empty if there is nothing. NULL if there is an error. Free it with
/// r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_notes(card: *mut Card) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let card = unsafe { exclusive(card)? };
        let lines: String = card.card.report().remarks().map(|line| line + "\n").collect();
        texts::give(&lines)
    })
}

/// Returns the numbers of submissions, draws, vertices, primitives, quads and samples so far, in a line. NULL if there is an error. Free it
/// with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_statistics(card: *mut Card) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let card = unsafe { exclusive(card)? };
        texts::give(&card.card.report().statistics.to_string())
    })
}

/// Reads what render target `n`, 0 to 3, holds by the registers of the last draw, as red, green, blue and alpha of each pixel, from the first
/// row in memory. Stores width and height; multisampled pixels are averaged. Fails if no buffer is bound to the target, and if `colors` has
/// fewer than 4 times width times height `floats`: width and height are stored then, too. To ask for the size alone, pass NULL and 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_target(
    card: *mut Card,
    n: u32,
    width: *mut u32,
    height: *mut u32,
    colors: *mut f32,
    floats: usize,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (card, size, colors) = unsafe {
            let size =
                [pointers::exclusive(width, "width")?, pointers::exclusive(height, "height")?];
            (exclusive(card)?, size, pointers::slice_mut(colors, floats, "colors")?)
        };
        let targets = r500::isa::TARGETS;
        let n = usize::try_from(n).ok().filter(|n| *n < targets);
        let n = n.ok_or_else(|| Error::argument(format!("targets are 0 to {}", targets - 1)))?;
        let picture = card.card.target(n).ok_or_else(|| {
            Error::argument(format!("target {n} has no buffer, or a format that cannot be read"))
        })?;
        size.into_iter().zip(picture.size).for_each(|(to, size)| *to = size);
        if colors.is_empty() {
            return Ok(true);
        }
        let wanted = picture.colors.as_flattened();
        let has = colors.len();
        let to = colors.get_mut(..wanted.len()).ok_or_else(|| {
            let [width, height] = picture.size;
            let needs = wanted.len();
            Error::argument(format!("{width}x{height} pixels need {needs} floats, not {has}"))
        })?;
        to.copy_from_slice(wanted);
        Ok(true)
    })
}
