//! Adversarial submissions: endless work, random dwords, changing memory, unimplemented state.

use std::time::Duration;

use r500_card::{Card, CardError, Limits, Note};
use r500_chip::pm4::Opcode;

use super::stream::*;

/// A program may write its buffers while the card reads them: reads return current values and stay in the buffer.
#[test]
fn memory_that_changes_while_it_is_read_is_harmless() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    let (vertices, vertex_memory) = stream.buffer(4096);
    let (indices, index_memory) = stream.buffer(256);
    let (texture, texels) = stream.buffer(64 * 32 * 4);
    stream.target(0, id, 64 | ARGB8888);
    stream.words.write(0x4250, &[0]).write_one(0x4254, &[FETCH, COPY].concat());
    stream.set(&[
        (0x4630, 1 << 16),
        (0x4634, 1 << 16),
        (0x2134, 0xff_ffff),
        (0x4104, 1),
        (0x4480, 63 | 31 << 11),
        (0x44c0, 12 | 3 << 9 | 2 << 12 | 1 << 15),
    ]);
    stream.words.write(0x4540, &[1 << 2 | 1 << 3]).relocation(texture);
    stream.words.command(Opcode::LOAD_VBPNTR, &[1, 8 | 8 << 8, 0]).relocation(vertices);
    for _ in 0..20 {
        stream.words.command(Opcode::DRAW_INDX_2, &[TRIANGLES | 1 << 4 | 96 << 16]);
        stream
            .words
            .command(Opcode::INDX_BUFFER, &[1 << 31 | 0x2040 / 4, 0, 48])
            .relocation(indices);
    }
    let submission = stream.submission();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = 1_u32;
            while !done.load(Ordering::Relaxed) {
                for memory in [&vertex_memory, &index_memory, &texels] {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    // Positions of all magnitudes, indices in and out of range, any texels.
                    memory.store((random >> 8) as usize % memory.size(), random);
                }
            }
        });
        let mut card = Card::new();
        for _ in 0..20 {
            card.submit(&submission).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(card.report().statistics.draws, 400);
    });
}

/// Work up to and above each limit: each kind of work ends a submission.
#[test]
fn every_kind_of_work_is_bounded() {
    let endless = |setup: &dyn Fn(&mut Stream), limits: Limits| {
        let mut stream = base();
        let (id, _) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888);
        setup(&mut stream);
        clear(&mut stream, [64, 64], 0.0, RED);
        let mut card = Card::new();
        card.set_limits(limits);
        card.submit(&stream.submission()).map_err(|error| error.to_string())
    };
    let nothing = |_: &mut Stream| {};
    let most = Limits::default();
    for (limits, message) in [
        (Limits { time: Some(Duration::ZERO), ..most }, "takes more than 0ns"),
        (Limits { draws: 0, ..most }, "more than 0 draws"),
        (Limits { vertices: 0, ..most }, "more than 0 vertices"),
        (Limits { pixels: 4095, ..most }, "cover more than 4095 pixels"),
        (Limits { quads: 1023, ..most }, "shade more than 1023 squares"),
        (Limits { fragment_instructions: 255, ..most }, "executed 255 instructions"),
    ] {
        let error = endless(&nothing, limits).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let texture = |stream: &mut Stream| {
        let (texture, _) = stream.buffer(4096);
        stream.set(&[(0x4104, 1), (0x4480, 63 | 31 << 11), (0x44c0, 12)]);
        stream.words.write(0x4540, &[0]).relocation(texture);
    };
    let limits = Limits { texture_bytes: 8191, ..most };
    assert!(endless(&texture, limits).unwrap_err().contains("more than 8191 bytes of textures"));
    assert_eq!(endless(&texture, Limits { texture_bytes: 8192, ..most }), Ok(()));
    // Nested loops of a vertex program, 255 iterations each.
    let vertex = |stream: &mut Stream| {
        let inst: r500_pvs::Instruction =
            "temp[0].xyzw = VE_ADD temp[0].xyzw temp[0].1111".parse().unwrap();
        let words = [inst.0; 4].concat();
        stream.words.write(0x2200, &[0]).write_one(0x2208, &words);
        stream.set(&[
            (0x2140, 0),
            (0x22d0, 3 << 20),
            (0x22dc, 2 | 2 << 2),
            (0x2500, 0xff << 16),
            (0x2504, 2 | 1 << 16),
            (0x2508, 0xff << 16),
            (0x250c, 2 | 1 << 16),
        ]);
    };
    let error = endless(&vertex, Limits { vertex_instructions: 50_000, ..most }).unwrap_err();
    assert!(error.contains("vertex programs have executed 50000 instructions"), "{error}");
    let time = Limits { time: Some(Duration::from_millis(1)), ..most };
    assert!(endless(&vertex, time).unwrap_err().contains("takes more than 1ms"));
    assert_eq!(endless(&vertex, most), Ok(()));
}

#[test]
fn unimplemented_features_are_noted() {
    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888).set(&[(0x4bd4, 1 << 20)]);
    clear(&mut stream, [4, 4], 0.0, RED);
    clear(&mut stream, [4, 4], 0.0, RED);
    let mut card = Card::new();
    card.submit(&stream.submission()).unwrap();
    let notes: Vec<_> = card.report().notes().collect();
    let [(Note::Register { name, value: 0x10_0000, .. }, 2)] = &notes[..] else {
        panic!("{notes:?}")
    };
    assert_eq!(name, "FG_ALPHA_FUNC");
}

#[test]
fn limits_end_a_submission() {
    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    clear(&mut stream, [64, 64], 0.0, RED);
    let submission = stream.submission();
    let mut card = Card::new();
    card.set_limits(Limits { pixels: 1000, ..Limits::default() });
    assert_eq!(card.submit(&submission), Err(CardError::Pixels { limit: 1000 }));
    card.set_limits(Limits { vertices: 0, ..Limits::default() });
    assert_eq!(card.submit(&submission), Err(CardError::Vertices { limit: 0 }));
}

#[test]
fn any_words_are_executed_without_panic() {
    arbtest::arbtest(|u| {
        let mut stream = base();
        let (id, _) = stream.buffer(4096);
        stream.target(0, id, 64 | ARGB8888);
        clear(&mut stream, [4, 4], 0.0, RED);
        let mut submission = stream.submission();
        for _ in 0..u.int_in_range(0..=20)? {
            let at = u.choose_index(submission.words.len())?;
            submission.words[at] ^= 1 << u.int_in_range(0..=31)?;
        }
        let mut card = Card::new();
        card.set_limits(Limits {
            vertices: 100,
            vertex_instructions: 1000,
            pixels: 10_000,
            group_instructions: 1000,
            texture_bytes: 1 << 20,
            ..Limits::default()
        });
        let _ = card.submit(&submission);
        Ok(())
    });
}
