//! Property: any sequence of calls of the card's C functions, with any numbers and dwords, returns without a panic and with an error
//! of a known kind where it fails; memory around what a call may write stays as it was.
#![no_main]

use std::ffi::CStr;
use std::ptr::null;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use r500_c::*;

#[derive(Arbitrary, Debug)]
enum Call {
    Create(u16),
    Close(u8),
    Tiling(u8, u32, u32),
    Write(u8, u32, Vec<u8>),
    Read(u8, u32, u8),
    Target(u8, u16),
    Checked(bool),
    Submit { words: Vec<u32>, list: Vec<[u8; 4]>, flags: u8 },
    Next,
    Frame(u16, u16),
    CaptureBuffer(u8, u32, u8),
}

/// What is around memory that a call writes.
const GUARD: u8 = 0xa5;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = Unstructured::new(bytes);
    let Ok(calls) = <(Vec<Call>, Vec<u8>)>::arbitrary(&mut rest) else { return };
    // SAFETY: every pointer is to memory of this function of the size that the call is given.
    unsafe { run(&calls.0, &calls.1) }
});

unsafe fn run(calls: &[Call], capture: &[u8]) {
    let mut memory = vec![0_u32; 1024];
    let card = unsafe { r500_card_new(null(), null()) };
    assert!(!card.is_null());
    let capture = unsafe { r500_capture_read(capture.as_ptr(), capture.len()) };
    check(!capture.is_null());
    unsafe {
        assert!(r500_card_set_time_limit(card, 0.05));
        assert_eq!(r500_card_adopt_buffer(card, memory.as_mut_ptr(), memory.len()), 1);
        for call in calls {
            check(make(card, capture, call));
        }
        assert!(r500_capture_free(capture) && r500_card_free(card));
    }
}

/// A call that failed has a kind and a text.
fn check(succeeded: bool) {
    if !succeeded {
        assert!((R500_ERROR_ARGUMENT..R500_ERROR_INTERNAL).contains(&r500_last_error_code()));
        // SAFETY: valid until the next call.
        assert!(!unsafe { CStr::from_ptr(r500_last_error()) }.is_empty());
    }
}

/// Calls with memory of this size and a guard after it.
fn with_memory(size: usize, call: impl FnOnce(*mut u8) -> bool) -> bool {
    let mut bytes = vec![GUARD; size + 16];
    let result = call(bytes.as_mut_ptr());
    assert!(bytes[size..].iter().all(|byte| *byte == GUARD));
    result
}

unsafe fn make(card: *mut Card, capture: *mut Capture, call: &Call) -> bool {
    unsafe {
        match call {
            Call::Create(size) => r500_card_create_buffer(card, usize::from(*size)) != 0,
            Call::Close(name) => r500_card_close_buffer(card, (*name).into()),
            Call::Tiling(name, flags, pitch) => {
                r500_card_set_tiling(card, (*name).into(), *flags, *pitch)
            }
            Call::Write(name, offset, bytes) => r500_card_write_buffer(
                card,
                (*name).into(),
                *offset as usize,
                bytes.as_ptr(),
                bytes.len(),
            ),
            Call::Read(name, offset, size) => {
                let size = usize::from(*size);
                with_memory(size, |to| {
                    r500_card_read_buffer(card, (*name).into(), *offset as usize, to, size)
                })
            }
            Call::Target(n, floats) => {
                let (mut width, mut height) = (0, 0);
                let mut colors = vec![0.0_f32; usize::from(*floats)];
                let count = colors.len();
                let to = colors.as_mut_ptr();
                r500_card_target(card, (*n).into(), &raw mut width, &raw mut height, to, count)
            }
            Call::Checked(checked) => r500_card_set_checked(card, *checked),
            Call::Submit { words, list, flags } => {
                let list: Vec<u32> = list.iter().flatten().map(|byte| u32::from(*byte)).collect();
                let flags = [u32::from(*flags)];
                let chunk = |id, dwords: &[u32]| Chunk {
                    id,
                    length: dwords.len() as u32,
                    dwords: dwords.as_ptr(),
                };
                let chunks = [
                    chunk(R500_CHUNK_RELOCS, &list),
                    chunk(R500_CHUNK_IB, words),
                    chunk(R500_CHUNK_FLAGS, &flags),
                ];
                r500_card_submit(card, chunks.as_ptr(), chunks.len())
            }
            Call::Next => {
                let mut event = Event::default();
                r500_capture_next(capture, card, &raw mut event)
            }
            Call::Frame(size, pitch) => {
                let (size, pitch) = (usize::from(*size), usize::from(*pitch));
                with_memory(size, |to| r500_capture_frame(capture, to, size, pitch))
            }
            Call::CaptureBuffer(name, offset, size) => {
                let size = usize::from(*size);
                let offset = *offset as usize;
                with_memory(size, |to| {
                    r500_capture_read_buffer(capture, (*name).into(), offset, to, size)
                })
            }
        }
    }
}
