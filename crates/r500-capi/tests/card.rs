//! The card for C: buffers, submissions with their errors, captures.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::{null, null_mut};

use common::{error, take};
use r500_c::*;
use r500_stream::text::parse;

/// A red triangle; its target is relocation 0, 16 pixels a row.
const TRIANGLE: &str = "
VAP_CNTL_STATUS = { PVS_BYPASS }
VAP_CLIP_CNTL = { CLIP_DISABLE }
VAP_VTE_CNTL = { VTX_XY_FMT, VTX_Z_FMT }
VAP_PROG_STREAM_CNTL_0 = { DATA_TYPE_0 FLOAT_4, DATA_TYPE_1 FLOAT_4, DST_VEC_LOC_1 2, LAST_VEC_1 }
VAP_PROG_STREAM_CNTL_EXT_0 = 0xf688f688
VAP_VTX_SIZE = 8
VAP_OUT_VTX_FMT_0 = { VTX_POS_PRESENT, VTX_COLOR_0_PRESENT }
GA_COLOR_CONTROL = 0x3aaaa
SC_EDGERULE = 0x2da49525
SC_SCISSOR1 = { XS1 15, YS1 15 }
RS_COUNT = { IC_COUNT 1 }
RS_INST_0 = { COL_CN 1 }
US_CODE_ADDR = 0
GA_US_VECTOR_INDEX = 0
GA_US_VECTOR_DATA <- 0x00078105 0x08020000 0x08020000 0x00440220 0x0060c003 0x00000005
US_OUT_FMT_0 = { OUT_FMT C4_8, C0_SEL Blue, C1_SEL Green, C2_SEL Red, C3_SEL Alpha }
ZB_CNTL = 0
RB3D_CCTL = 0
RB3D_COLOR_CHANNEL_MASK = 15
RB3D_COLOROFFSET0 = 0
NOP 0
RB3D_COLORPITCH0 = { COLORPITCH 8, COLORFORMAT ARGB8888 }
3D_DRAW_IMMD_2 0x00030034 0.0 0.0 0.0 1.0 1.0 0.0 0.0 1.0
+ 16.0 0.0 0.0 1.0 1.0 0.0 0.0 1.0
+ 0.0 16.0 0.0 1.0 1.0 0.0 0.0 1.0
";

/// A card that is freed at the end.
struct OwnCard(*mut Card);

impl OwnCard {
    fn new(engine: Option<&CStr>) -> Self {
        // SAFETY: texts with an end, or NULL.
        let card = unsafe { r500_card_new(engine.map_or(null(), CStr::as_ptr), null()) };
        assert!(!card.is_null(), "{:?}", error());
        Self(card)
    }

    fn submit(&self, text: &str, relocations: &[u32], flags: u32) -> bool {
        let words = parse(text).unwrap();
        let chunk =
            |id, dwords: &[u32]| Chunk { id, length: dwords.len() as u32, dwords: dwords.as_ptr() };
        let flags = [flags];
        let chunks = [
            chunk(R500_CHUNK_IB, &words),
            chunk(R500_CHUNK_RELOCS, relocations),
            chunk(R500_CHUNK_FLAGS, &flags),
        ];
        // SAFETY: arrays of this function.
        unsafe { r500_card_submit(self.0, chunks.as_ptr(), chunks.len()) }
    }

    fn notes(&self) -> String {
        // SAFETY: the card exists.
        take(unsafe { r500_card_notes(self.0) })
    }
}

impl Drop for OwnCard {
    fn drop(&mut self) {
        // SAFETY: freed once.
        assert!(unsafe { r500_card_free(self.0) });
    }
}

#[test]
fn a_triangle_is_drawn_into_the_callers_memory_and_a_buffer_of_the_card() {
    for engine in [None, Some(c"fast"), Some(c"jit"), Some(c"reference")] {
        let mut memory = vec![0_u32; 256];
        let card = OwnCard::new(engine);
        // SAFETY: the memory exists until the card is freed: variables are dropped last to first.
        unsafe {
            let own = r500_card_create_buffer(card.0, 1000);
            let given = r500_card_adopt_buffer(card.0, memory.as_mut_ptr(), memory.len());
            assert!(own != 0 && given != 0 && own != given);
            assert_eq!(r500_card_buffer_size(card.0, own), 4096);
            assert_eq!(r500_card_buffer_size(card.0, given), 1024);
            for target in [own, given] {
                let list = [target, 0, R500_DOMAIN_VRAM, 0];
                assert!(card.submit(TRIANGLE, &list, R500_KEEP_TILING_FLAGS), "{:?}", error());
            }
            let mut bytes = vec![0_u8; 1024];
            assert!(r500_card_read_buffer(card.0, own, 0, bytes.as_mut_ptr(), bytes.len()));
            let read: Vec<u32> =
                bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
            assert_eq!(read, memory);
            // Inside, and outside.
            assert_eq!((memory[3 * 16 + 2], memory[13 * 16 + 12]), (0xffff_0000, 0));
            let (mut width, mut height) = (0, 0);
            let size = [&raw mut width, &raw mut height];
            assert!(r500_card_target(card.0, 0, size[0], size[1], null_mut(), 0));
            assert_eq!((width, height), (16, 16));
            let mut colors = vec![9.0_f32; 4 * 256 + 1];
            let floats = colors.len();
            assert!(r500_card_target(card.0, 0, size[0], size[1], colors.as_mut_ptr(), floats));
            assert_eq!(colors[(3 * 16 + 2) * 4..][..4], [1.0, 0.0, 0.0, 1.0]);
            assert_eq!((colors[(13 * 16 + 12) * 4], colors[1024]), (0.0, 9.0));
            assert!(!r500_card_target(card.0, 0, size[0], size[1], colors.as_mut_ptr(), 1023));
            assert_eq!(error().1, "16x16 pixels need 1024 floats, not 1023");
            assert!(!r500_card_target(card.0, 4, size[0], size[1], null_mut(), 0));
        }
        assert_eq!(card.notes(), "");
        // SAFETY: the card exists.
        let counts = take(unsafe { r500_card_statistics(card.0) });
        assert!(counts.starts_with("2 submissions, 2 draws, 6 vertices, 2 primitives"), "{counts}");
    }
}

#[test]
fn what_the_kernel_refuses_has_its_reason() {
    let card = OwnCard::new(None);
    // SAFETY: the card exists.
    let [small, large] = [1, 65536].map(|size| unsafe { r500_card_create_buffer(card.0, size) });
    let keep = R500_KEEP_TILING_FLAGS;
    let wide = TRIANGLE.replace("COLORPITCH 8", "COLORPITCH 64");
    let cases: [(&str, &[u32], &str); 5] = [
        (&wide, &[small, 0, 4, 0], "colour target 0 needs"),
        (TRIANGLE, &[], "the submission has no list of relocations"),
        (
            TRIANGLE,
            &[99, 0, 4, 0],
            "entry 0 of the relocation list names buffer 99: the card has none",
        ),
        ("", &[], "no chunk with dwords of a stream"),
        ("@0x0704 = 0", &[], "programs may not write"),
    ];
    for (text, list, wanted) in cases {
        assert!(!card.submit(text, list, keep), "{text}");
        let (code, found) = error();
        assert!(code == R500_ERROR_REFUSED && found.contains(wanted), "{code} {found}");
    }
    // Nothing was executed; with a buffer that is large enough, or without the checker, it is.
    // SAFETY: the card exists.
    assert!(take(unsafe { r500_card_statistics(card.0) }).starts_with("0 submissions"));
    assert!(card.submit(&wide, &[large, 0, 4, 0], keep), "{:?}", error());
    // SAFETY: the card exists.
    assert!(unsafe { r500_card_set_checked(card.0, false) });
    assert!(card.submit(&wide, &[small, 0, 4, 0], keep), "{:?}", error());
    // Without the flag a pitch has a relocation, too, whose buffer says the tiles.
    assert!(card.submit(TRIANGLE, &[], keep), "{:?}", error());
    assert!(card.notes().contains("stream: relocation 0 of 0"), "{}", card.notes());
}

#[test]
fn a_check_executes_nothing() {
    let card = OwnCard::new(None);
    let words = parse("SU_CULL_MODE = 2").unwrap();
    let chunk = Chunk { id: R500_CHUNK_IB, length: words.len() as u32, dwords: words.as_ptr() };
    // SAFETY: the card and the array exist.
    unsafe {
        assert!(r500_card_check(card.0, &raw const chunk, 1));
        assert!(take(r500_card_statistics(card.0)).starts_with("0 submissions"));
        // A dword less: the packet ends after the stream.
        let short = Chunk { length: 1, ..chunk };
        assert!(!r500_card_check(card.0, &raw const short, 1));
        assert_eq!(error().0, R500_ERROR_REFUSED);
        assert!(error().1.contains("ends after the stream"), "{:?}", error());
    }
}

#[test]
fn tiling_of_a_buffer_counts_without_the_flag() {
    let card = OwnCard::new(None);
    // The pitch takes its relocation, too.
    let text = TRIANGLE
        .replace("ARGB8888 }\n", "ARGB8888 }\nNOP 0\n")
        .replace("COLORPITCH 8", "COLORPITCH 32");
    let mut pictures = Vec::new();
    for flags in [0, 1] {
        // SAFETY: the card exists.
        unsafe {
            let target = r500_card_create_buffer(card.0, 65536);
            assert!(r500_card_set_tiling(card.0, target, flags, 256));
            assert!(card.submit(&text, &[target, 0, 4, 0], 0), "{:?}", error());
            let mut bytes = vec![0_u8; 65536];
            assert!(r500_card_read_buffer(card.0, target, 0, bytes.as_mut_ptr(), bytes.len()));
            pictures.push(bytes);
        }
    }
    // The same pixels at other places.
    assert_ne!(pictures[0], pictures[1]);
    let drawn = |bytes: &[u8]| bytes.iter().filter(|byte| **byte != 0).count();
    assert_eq!(drawn(&pictures[0]), drawn(&pictures[1]));
}

#[test]
fn a_limit_ends_a_submission() {
    let card = OwnCard::new(None);
    // SAFETY: the card exists.
    unsafe {
        let target = r500_card_create_buffer(card.0, 4096);
        assert!(r500_card_set_time_limit(card.0, 1e-9));
        assert!(!card.submit(TRIANGLE, &[target, 0, 4, 0], 1));
        assert_eq!(error().0, R500_ERROR_LIMIT, "{:?}", error());
        assert!(r500_card_set_time_limit(card.0, 0.0));
        assert!(card.submit(TRIANGLE, &[target, 0, 4, 0], 1), "{:?}", error());
        for seconds in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(!r500_card_set_time_limit(card.0, seconds));
            assert_eq!(error().0, R500_ERROR_ARGUMENT, "{:?}", error());
        }
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let card = OwnCard::new(None);
    let mut byte = 0_u8;
    // SAFETY: what is not NULL points to what it should; the rest is an error.
    unsafe {
        let buffer = r500_card_create_buffer(card.0, 16);
        let refused = |result: bool, text: &str| {
            assert!(!result);
            assert!(error().1.contains(text), "{:?}", error());
            assert_eq!(error().0, R500_ERROR_ARGUMENT);
        };
        let range = [(4096, 1), (0, 5000), (usize::MAX, 2)];
        for (offset, size) in range {
            let bytes = vec![0_u8; size];
            refused(
                r500_card_write_buffer(card.0, buffer, offset, bytes.as_ptr(), size),
                "are not inside of buffer",
            );
        }
        refused(r500_card_read_buffer(card.0, 77, 0, &raw mut byte, 1), "there is no buffer 77");
        refused(r500_card_close_buffer(card.0, 77), "no buffer 77");
        assert!(r500_card_close_buffer(card.0, buffer));
        refused(r500_card_close_buffer(card.0, buffer), "no buffer");
        refused(r500_card_create_buffer(null_mut(), 1) != 0, "card is NULL");
        refused(r500_card_adopt_buffer(card.0, null_mut(), 4) != 0, "memory is NULL");
        refused(r500_card_adopt_buffer(card.0, null_mut(), 0) != 0, "0 dwords");
        refused(!r500_card_new(c"quick".as_ptr(), null()).is_null(), "no engine is called `quick`");
        refused(!r500_card_new(null(), c"r600".as_ptr()).is_null(), "r600");
        refused(r500_card_set_reading(card.0, c"x".as_ptr(), c"y".as_ptr()), "x");
        assert!(
            r500_card_set_reading(card.0, c"line-ends".as_ptr(), c"right-angle".as_ptr()),
            "{:?}",
            error()
        );
        assert_eq!(r500_card_create_buffer(card.0, usize::MAX / 2), 0);
        assert_eq!(error().0, R500_ERROR_MEMORY);
    }
}

fn capture_path(name: &str) -> CString {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures").join(name);
    CString::new(path.to_str().unwrap()).unwrap()
}

/// The capture of the triangle, which draws 256x256 pixels into its first buffer, with a frame of them.
fn with_frame() -> Vec<u8> {
    use r500_stream::capture::{Picture, Reader, Record, Writer};
    let bytes = std::fs::read(capture_path("triangle.r5cs").to_str().unwrap()).unwrap();
    let mut writer = None;
    for record in Reader::new(bytes.as_slice()).unwrap() {
        let record = record.unwrap();
        let picture = match &record {
            Record::Hashes(hashes) => Some(Picture {
                buffer: hashes[0].0,
                width: 256,
                height: 256,
                pitch: 1024,
                offset: 0,
                format: u32::from_le_bytes(*b"XR24"),
            }),
            _ => None,
        };
        let writer = writer.get_or_insert_with(|| Writer::new(Vec::new()).unwrap());
        writer.write(&record).unwrap();
        if let Some(picture) = picture {
            writer.write(&Record::Flip(picture)).unwrap();
        }
    }
    writer.unwrap().into_inner()
}

/// Plays a capture to its end, and returns its events.
fn play(capture: *mut Capture, card: &OwnCard) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let mut event = Event::default();
        // SAFETY: capture and card exist.
        assert!(unsafe { r500_capture_next(capture, card.0, &raw mut event) }, "{:?}", error());
        events.push(event);
        if event.kind == R500_EVENT_END {
            return events;
        }
    }
}

#[test]
fn captures_leave_the_buffers_that_they_say() {
    for name in ["triangle.r5cs", "texture.r5cs", "readings.r5cs"] {
        let card = OwnCard::new(None);
        let path = capture_path(name);
        // SAFETY: texts and arrays of this function.
        unsafe {
            let capture = r500_capture_open(path.as_ptr());
            assert!(!capture.is_null(), "{:?}", error());
            let events = play(capture, &card);
            let last = events.last().unwrap();
            let of = |kind| events.iter().filter(|event| event.kind == kind).count() as u64;
            assert_eq!(last.submissions, of(R500_EVENT_SUBMISSION));
            assert_eq!(last.frames, of(R500_EVENT_FRAME));
            assert!(last.submissions > 0 && last.truncated == 0, "{last:?}");
            assert!(events.iter().map(|event| event.compared).sum::<u64>() > 0);
            assert!(events.iter().all(|event| event.different == 0), "{name}: {events:?}");
            // Only right after the event there is a picture.
            let mut rgb = [0_u8; 3];
            assert!(!r500_capture_frame(capture, rgb.as_mut_ptr(), 3, 3));
            assert!(error().1.contains("R500_EVENT_FRAME"), "{:?}", error());
            assert!(r500_capture_free(capture));
        }
    }
}

#[test]
fn a_reading_of_the_caller_is_that_of_captures_too() {
    let path = capture_path("readings.r5cs");
    let card = OwnCard::new(None);
    // The capture chose readings of the texture unit; these are the default.
    let info = std::fs::read(path.to_str().unwrap()).unwrap();
    let reader = r500_stream::capture::Reader::new(info.as_slice()).unwrap();
    let readings = reader.flatten().find_map(|record| match record {
        r500_stream::capture::Record::Info(info) => Some(info.readings),
        _ => None,
    });
    let readings = readings.unwrap();
    assert!(!readings.is_empty());
    for reading in &readings {
        let (name, _) = reading.split_once('=').unwrap();
        let infos = r500::exec::Readings::TABLE;
        let (value, _) = infos.iter().find(|info| info.name == name).unwrap().values[0];
        let (name, value) = (CString::new(name).unwrap(), CString::new(value).unwrap());
        // SAFETY: texts with an end.
        assert!(unsafe { r500_card_set_reading(card.0, name.as_ptr(), value.as_ptr()) });
    }
    // SAFETY: as above.
    unsafe {
        let capture = r500_capture_open(path.as_ptr());
        let different: u64 = play(capture, &card).iter().map(|event| event.different).sum();
        assert!(different > 0);
        assert!(r500_capture_free(capture));
    }
}

#[test]
fn damaged_captures_are_errors() {
    let bytes = std::fs::read(capture_path("triangle.r5cs").to_str().unwrap()).unwrap();
    // SAFETY: arrays of this function.
    unsafe {
        assert!(r500_capture_read(bytes.as_ptr(), 11).is_null());
        assert_eq!(error().0, R500_ERROR_INPUT, "{:?}", error());
        assert!(r500_capture_open(c"/nowhere/at.r5cs".as_ptr()).is_null());
        assert_eq!(error().0, R500_ERROR_FILE, "{:?}", error());
        // Cut inside of a record: all before it are there.
        let capture = r500_capture_read(bytes.as_ptr(), bytes.len() - 1);
        let card = OwnCard::new(None);
        let events = play(capture, &card);
        assert_eq!(events.last().unwrap().truncated, 1);
        assert!(events.last().unwrap().submissions > 0);
        assert!(r500_capture_free(capture));
        // A byte of the last record is another one: an error, and the end.
        let mut wrong = bytes.clone();
        *wrong.last_mut().unwrap() ^= 1;
        let capture = r500_capture_read(wrong.as_ptr(), wrong.len());
        let mut event = Event::default();
        while r500_capture_next(capture, card.0, &raw mut event) {
            assert_ne!(event.kind, R500_EVENT_END);
        }
        assert_eq!(error().0, R500_ERROR_INPUT, "{:?}", error());
        assert!(event.submissions > 0);
        assert!(r500_capture_next(capture, card.0, &raw mut event));
        assert_eq!(event.kind, R500_EVENT_END);
        assert!(!r500_capture_next(capture, null_mut(), &raw mut event));
        assert!(!r500_capture_next(capture, card.0, null_mut()));
        assert!(r500_capture_free(capture));
    }
}

#[test]
fn frames_need_their_memory() {
    let bytes = with_frame();
    let card = OwnCard::new(None);
    // SAFETY: arrays of this function.
    unsafe {
        let capture = r500_capture_read(bytes.as_ptr(), bytes.len());
        let mut event = Event { kind: 77, ..Event::default() };
        while event.kind != R500_EVENT_FRAME {
            assert!(r500_capture_next(capture, card.0, &raw mut event));
            assert_ne!(event.kind, R500_EVENT_END);
        }
        assert_eq!((event.width, event.height, event.frames), (256, 256, 1));
        let (width, height) = (event.width as usize, event.height as usize);
        let pitch = width * 3 + 5;
        let size = pitch * height - 5;
        let mut rgb = vec![7_u8; size];
        assert!(r500_capture_frame(capture, rgb.as_mut_ptr(), size, pitch), "{:?}", error());
        // What is between rows stays.
        assert_eq!(rgb[width * 3..pitch], [7; 5]);
        let mut tight = vec![0_u8; width * 3 * height];
        assert!(r500_capture_frame(capture, tight.as_mut_ptr(), tight.len(), width * 3));
        let rows = rgb.chunks(pitch).map(|row| &row[..width * 3]);
        assert_eq!(rows.collect::<Vec<_>>().concat(), tight);
        assert!(tight.iter().any(|byte| *byte != tight[0]));
        for (size, pitch) in [(size - 1, pitch), (size, width * 3 - 1), (size, usize::MAX)] {
            assert!(!r500_capture_frame(capture, rgb.as_mut_ptr(), size, pitch));
            assert_eq!(error().0, R500_ERROR_ARGUMENT);
        }
        assert!(r500_capture_free(capture));
    }
}
