//! The virtual card: buffers, submissions, what they left.

use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use r500::fast::Simd;
use r500::jit::{Settings, engine, vertex_engine};
use r500_card::{Card as Chip, CardError, Host, HostError, Limits};
use r500_stream::{Buffer, ChunkKind, Memory, Submission, Tiling};

use crate::error::{Error, guarded, or_else};
use crate::handle::{self, Handle, exclusive, object};
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
pub struct Card(Handle<Host>);

object!(Card: Host, "card");

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

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Refused(_) => Self::refused(error),
            HostError::Memory { .. } => Self::memory(error),
            HostError::Names => Self::limit(error),
            HostError::Card(error) => error.into(),
            _ => Self::argument(error),
        }
    }
}

impl From<CardError> for Error {
    fn from(error: CardError) -> Self {
        match error {
            CardError::Bindings(_) | CardError::Fragment(_) => Self::input(error),
            _ => Self::limit(error),
        }
    }
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
        let (name, chip) = unsafe {
            let name = pointers::text(engine_name, "engine_name")?;
            (name, pointers::text(chip_name, "chip_name")?)
        };
        let name = crate::drawing::named_engine(name, Chip::USUAL_ENGINE)?;
        let chip = chip.map_or(Ok(r500_stream::Chip::default()), str::parse);
        let (simd, settings) = (Simd::detect(), Settings::default());
        let mut card = Chip::with_engine(engine(name, simd, settings));
        card.set_vertex_engine(vertex_engine(name, simd, settings));
        let host = Host::new(card, chip.map_err(Error::argument)?);
        Ok(handle::give(Card(Handle::new(host))))
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
        card.set_reading(name, value)?;
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
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        Ok(card.create_buffer(size)?)
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
        Ok(card.add_buffer(|name| Ok(Buffer::new(name, Arc::new(memory))))?)
    })
}

/// Closes a buffer: its name is no longer one of the card.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_close_buffer(card: *mut Card, buffer: u32) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let mut card = unsafe { exclusive(card)? };
        card.close_buffer(buffer)?;
        Ok(true)
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
        card.set_tiling(buffer, Tiling { flags, pitch })?;
        Ok(true)
    })
}

/// Returns the bytes of a buffer; 0 if there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_card_buffer_size(card: *mut Card, buffer: u32) -> usize {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let card = unsafe { exclusive(card)? };
        Ok(card.buffer(buffer)?.size())
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
        card.write_buffer(buffer, offset, bytes)?;
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
        card.read_buffer(buffer, offset, bytes)?;
        Ok(true)
    })
}

/// Returns the submission of chunks.
///
/// # Safety
/// The contract of `pointers`.
unsafe fn submission(card: &Host, chunks: *const Chunk, count: usize) -> Result<Submission, Error> {
    // SAFETY: the contract of this function.
    let chunks = unsafe { pointers::slice(chunks, count, "chunks")? }.iter().map(|chunk| {
        // SAFETY: as above.
        let dwords = unsafe { pointers::slice(chunk.dwords, chunk.length as usize, "dwords")? };
        Ok((ChunkKind::from_id(chunk.id), dwords))
    });
    let chunks = chunks.collect::<Result<Vec<_>, Error>>()?;
    Ok(card.submission(chunks)?)
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
        card.submit(&submission)?;
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
        card.check(&submission)?;
        Ok(true)
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
