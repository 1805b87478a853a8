//! 10,000 draws from C: none of them allocates memory, and the process does not grow.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::CStr;
use std::ptr::null;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use common::{colors, error};
use r500_c::*;
use r500_stream::StreamWriter;

/// Allocations of all threads, and bytes that are allocated now.
static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

struct Counting;

fn count(bytes: usize, before: usize) {
    COUNT.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as i64 - before as i64, Relaxed);
}

// SAFETY: calls the system allocator; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const DRAWS: u64 = 10_000;

/// Draws before the counting begins: constants that start to change, machine code that a thread compiles and measures.
const WARM: u64 = 3_000;

const SIDE: u32 = 64;

const PROGRAM: &str = "
    TEXTURE tex[0] = checker(64, 64, 16) linear wrap ;
    TEX TEX_SEM_ACQUIRE temp[2].rgba = LD tex[0].rgba temp[0].rggg ;
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[2], src1.rgb = const[1], src1.a = const[1] :
        out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src1.a src1.a ;";

/// Returns allocations and growth in bytes of `DRAWS` calls after `WARM` others.
fn measure(mut call: impl FnMut(u64)) -> (u64, i64) {
    (0..WARM).for_each(&mut call);
    let before = (COUNT.load(Relaxed), BYTES.load(Relaxed));
    (WARM..WARM + DRAWS).for_each(&mut call);
    (COUNT.load(Relaxed) - before.0, BYTES.load(Relaxed) - before.1)
}

fn draws(engine: &CStr, threads: usize) -> (u64, i64) {
    // SAFETY: pointers to memory of this function, of the sizes that it says.
    unsafe {
        let program = r500_read(PROGRAM.as_ptr(), PROGRAM.len(), c"a.r5".as_ptr(), 0);
        assert!(!program.is_null(), "{:?}", error());
        let drawing = r500_prepare(program, SIDE, SIDE, engine.as_ptr());
        assert!(!drawing.is_null(), "{:?}", error());
        assert!(r500_program_free(program) && r500_set_threads(drawing, threads));
        let pixels = (SIDE * SIDE) as usize;
        let (mut bytes, mut coverage) = (vec![0_u8; pixels * 4], vec![0_u8; pixels]);
        let mut inputs = vec![[0.5_f32; 4]; pixels];
        let mut mask = vec![1_u8; pixels];
        let surfaces = Surfaces {
            coverage: coverage.as_mut_ptr(),
            coverage_size: pixels,
            coverage_pitch: SIDE as usize,
            ..colors(&mut bytes, SIDE as usize)
        };
        let measured = measure(|n| {
            let x = 1.0 + n as f32 / 1024.0;
            let value = [x, x + 1.0, x + 2.0, x + 3.0];
            assert!(r500_set_constant(drawing, 1, value.as_ptr()));
            inputs[n as usize % pixels] = value;
            assert!(r500_set_input(drawing, 0, inputs.as_ptr().cast(), pixels));
            mask[n as usize % pixels] = u8::from(n % 2 == 0);
            assert!(r500_set_coverage(drawing, mask.as_ptr(), pixels));
            assert!(r500_draw(drawing, &raw const surfaces), "{:?}", error());
            if n % 10 == 0 {
                let batch = BatchDraw { constants: value.as_ptr(), first: 1, count: 1, surfaces };
                let (draws, drawn) = ([batch; 2], std::ptr::null_mut());
                assert!(r500_draw_batch(drawing, draws.as_ptr(), 2, drawn), "{:?}", error());
            }
        });
        assert!(bytes.iter().any(|byte| *byte != 0));
        assert!(r500_drawing_free(drawing));
        measured
    }
}

/// The same for submissions: their dwords are copied, so that they allocate, but nothing stays.
fn submissions() -> (u64, i64) {
    let mut stream = StreamWriter::default();
    stream.set(r500::chip::zb::ZbZpassData(7)).set(r500::chip::zb::ZbZpassAddr(0)).relocation(0);
    let words = stream.into_words();
    // SAFETY: as above.
    unsafe {
        let card = r500_card_new(null(), null());
        let buffer = r500_card_create_buffer(card, 4096);
        let list = [buffer, 0, 4, 0];
        let chunk =
            |id, dwords: &[u32]| Chunk { id, length: dwords.len() as u32, dwords: dwords.as_ptr() };
        let chunks = [chunk(R500_CHUNK_IB, &words), chunk(R500_CHUNK_RELOCS, &list)];
        let measured = measure(|_| {
            assert!(r500_card_submit(card, chunks.as_ptr(), chunks.len()), "{:?}", error());
        });
        let mut count = [0_u8; 4];
        assert!(r500_card_read_buffer(card, buffer, 0, count.as_mut_ptr(), 4));
        assert_eq!(count, [7, 0, 0, 0]);
        assert!(r500_card_free(card));
        measured
    }
}

/// One test, because the counters are those of the process.
#[test]
fn draws_allocate_nothing_and_submissions_keep_nothing() {
    for engine in [c"jit", c"fast"] {
        assert_eq!(draws(engine, 1), (0, 0), "{engine:?}, one thread");
        // The queue of the thread pool allocates a block now and then, and frees an earlier one.
        let (count, growth) = draws(engine, 4);
        assert!(count * 20 <= DRAWS && growth <= 1 << 16, "{engine:?}: {count}, {growth} bytes");
    }
    let (count, growth) = submissions();
    assert!(count <= 16 * DRAWS && growth <= 4096, "submissions: {count}, {growth} bytes");
}
