//! State that the documents do not determine is reported by name and otherwise ignored: dithering, two index streams,
//! and the memories that compress depth and colour. Drivers do not use the last: the device answers that another client
//! owns them.

use r500_card::Card;
use r500_chip::pm4::Opcode;

use super::stream::{ARGB8888, RED, Stream, TRIANGLES, base, clear, draw, pixel};

/// Draws a red square after the state that `ask` sets. Returns the notes as text.
fn notes(ask: impl FnOnce(&mut Stream)) -> Vec<String> {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    ask(&mut stream);
    clear(&mut stream, [4, 4], 0.0, RED);
    let mut card = Card::new();
    card.submit(&stream.submission()).unwrap();
    assert_eq!(pixel(&buffer, 1, 1), 0xffff_0000);
    card.report().notes().map(|(note, _)| note.to_string()).collect()
}

#[test]
fn a_plain_stream_has_no_notes() {
    assert_eq!(notes(|_| ()), Vec::<String>::new());
}

#[test]
fn clears_of_compression_memories_are_reported_by_name() {
    for (opcode, name) in [
        (Opcode::CLEAR_ZMASK, "3D_CLEAR_ZMASK"),
        (Opcode::CLEAR_HIZ, "3D_CLEAR_HIZ"),
        (Opcode::CLEAR_CMASK, "3D_CLEAR_CMASK"),
    ] {
        let found = notes(|stream| {
            stream.words.command(opcode, &[0, 64, 0]);
        });
        assert_eq!(found, [format!("stream: {name} clears memory that is not modelled")]);
    }
}

#[test]
fn registers_of_what_is_not_determined_are_reported_by_name() {
    let registers = [
        // FAST_FILL_ENABLE, CMASK_ENABLE, DITHER_MODE, DITH_EN
        (0x4f1c, 1 << 2, "ZB_BW_CNTL = 0x00000004: fast clears of depth are not modelled"),
        (0x4e00, 1 << 10, "RB3D_CCTL = 0x00000400: fast clears of colours are not modelled"),
        (0x4e50, 2, "RB3D_DITHER_CTL = 0x00000002: colours are rounded, not dithered"),
        (0x4bd4, 1 << 20, "FG_ALPHA_FUNC = 0x00100000: colours are not dithered"),
    ];
    for (address, value, note) in registers {
        let found = notes(|stream| {
            stream.set(&[(address, value)]);
        });
        assert_eq!(found, [note]);
    }
}

#[test]
fn two_index_streams_are_reported_by_name() {
    const DUAL_INDEX_MODE: u32 = 1 << 13;
    let found = notes(|stream| {
        draw(stream, TRIANGLES | DUAL_INDEX_MODE, &[]);
    });
    assert!(
        found.iter().any(|note| note.starts_with("VAP_VF_CNTL = ")
            && note.ends_with(": two index streams are not supported")),
        "{found:?}"
    );
}
