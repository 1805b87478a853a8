//! The command processor on streams written by hand: what it keeps, what it reports.
#![allow(clippy::unwrap_used, clippy::panic)]

use r500_chip::pm4::Opcode;
use r500_chip::rb3d::{Rb3dColoroffset, Rb3dColorpitch};
use r500_chip::values::{MicroTile, PrimType};
use r500_chip::vap::VapVfCntl;
use r500_chip::zb::ZbZpassAddr;
use r500_gen::packets::make_near_valid;
use r500_isa::texture::TxOffset;
use r500_stream::{
    Buffer, BufferId, CommandProcessor, Effect, Indices, Relocation, RelocationTarget, State,
    StreamError, StreamErrorKind, StreamWriter, Submission, Tiling,
};

fn submission(words: Vec<u32>, flags: u32, tilings: &[u32]) -> Submission {
    let relocations = tilings.iter().enumerate().map(|(i, tiling)| Relocation {
        buffer: Buffer::zeroed(BufferId(i as u32 + 100), 4096),
        read_domains: 0,
        write_domain: 4,
        flags: 0,
        tiling: Tiling { flags: *tiling, pitch: 0 },
    });
    Submission { words, flags, relocations: relocations.collect() }
}

/// Executes a submission; effects as text, and errors.
fn run(state: &mut State, submission: &Submission) -> (Vec<String>, Vec<StreamError>) {
    let mut cp = CommandProcessor::new(state, submission);
    let (mut effects, mut errors) = (Vec::new(), Vec::new());
    while let Some(effect) = cp.next_effect() {
        match effect {
            Ok(Effect::Draw(draw)) => {
                let indices = match draw.indices {
                    Indices::None => "no indices".to_owned(),
                    Indices::Inline(words) => format!("indices {words:x?}"),
                    Indices::Buffer { binding, offset, dwords } => {
                        format!("{dwords} at {offset} of {}", binding.buffer.id().0)
                    }
                };
                let count = draw.vf_cntl.num_vertices();
                effects.push(format!("{}: draw {count} {:?}, {indices}", draw.at, draw.vertices));
            }
            Ok(Effect::Trigger { at, register, value }) => {
                effects.push(format!("{at}: {register} = {value:#x}"));
            }
            Ok(Effect::Clear { at, opcode, body }) => {
                effects.push(format!("{at}: {opcode:?} {body:?}"));
            }
            Ok(_) => panic!("an effect without a test"),
            Err(error) => errors.push(error),
        }
    }
    (effects, errors)
}

fn triangles(count: u32, walk: u32) -> u32 {
    VapVfCntl(count << 16 | walk << 4).with(VapVfCntl::PRIM_TYPE, PrimType::TRIANGLES).bits()
}

#[test]
fn relocations_bind_buffers_in_order() {
    let mut stream = StreamWriter::default();
    // Two targets in one packet, then NOPs for both; one NOP that no register waits for.
    stream.write(0x4e28, &[0x40, 0x80]).relocation(1).relocation(0);
    stream.set(Rb3dColorpitch(0x00c0_0020)).relocation(2);
    let submission = submission(stream.into_words(), Submission::KEEP_TILING_FLAGS, &[0, 0, 1]);
    let mut state = State::default();
    assert_eq!(run(&mut state, &submission), (vec![], vec![]));
    let bound = |index| state.member_binding::<Rb3dColoroffset>(index).unwrap().buffer.id().0;
    assert_eq!([bound(0), bound(1)], [101, 100]);
    assert!(state.member_binding::<Rb3dColoroffset>(2).is_none());
    assert_eq!(state.registers.member::<Rb3dColoroffset>(1).bits(), 0x80);
    assert!(!state.registers.get::<Rb3dColorpitch>().colortile(), "the stream's own tiling");
}

#[test]
fn without_the_flag_tile_bits_are_the_buffers() {
    let mut stream = StreamWriter::default();
    stream.set(Rb3dColorpitch(0x00c6_0020)).relocation(0);
    stream.set_member(3, TxOffset(0x1000)).relocation(1);
    let tilings = [Tiling::MACRO, Tiling::MICRO_SQUARE];
    let submission = submission(stream.into_words(), 0, &tilings);
    let mut state = State::default();
    assert_eq!(run(&mut state, &submission), (vec![], vec![]));
    let pitch = state.registers.get::<Rb3dColorpitch>();
    assert_eq!((pitch.colortile(), pitch.colormicrotile()), (true, MicroTile::LINEAR));
    assert_eq!(pitch.bits(), 0x00c1_0020);
    assert_eq!(state.registers.member::<TxOffset>(3).bits(), 0x1000 | 2 << 3);
    assert_eq!(state.member_binding::<TxOffset>(3).unwrap().buffer.id(), BufferId(101));
}

#[test]
fn draws_carry_their_vertices_and_indices() {
    let mut stream = StreamWriter::default();
    stream.command(Opcode::LOAD_VBPNTR, &[2, 0x0402_0404, 0x10, 0x20]).relocation(0).relocation(1);
    stream.command(Opcode::DRAW_VBUF_2, &[triangles(3, 2)]);
    stream.command(Opcode::DRAW_IMMD_2, &[triangles(1, 3), 7, 8, 9]);
    stream.command(Opcode::DRAW_INDX_2, &[triangles(3, 1), 0x0001_0000, 2]);
    stream.command(Opcode::DRAW_INDX_2, &[triangles(6, 1)]);
    stream.command(Opcode::INDX_BUFFER, &[0x8000_0810, 64, 3]).relocation(2).align(16);
    let submission = submission(stream.into_words(), 1, &[0, 0, 0]);
    let mut state = State::default();
    let (effects, errors) = run(&mut state, &submission);
    assert_eq!(errors, []);
    let expected = [
        "9: draw 3 [], no indices",
        "11: draw 1 [7, 8, 9], no indices",
        "16: draw 3 [], indices [10000, 2]",
        "20: draw 6 [], 3 at 64 of 102",
    ];
    assert_eq!(effects, expected);
    let arrays: Vec<_> = state
        .arrays()
        .iter()
        .map(|bound| {
            (bound.array.size, bound.array.offset, bound.binding.as_ref().unwrap().buffer.id().0)
        })
        .collect();
    assert_eq!(arrays, [(4, 0x10, 100), (2, 0x20, 101)]);
    assert_eq!(state.registers.get::<VapVfCntl>().num_vertices(), 6);
}

#[test]
fn draws_through_registers_wait_for_their_ports() {
    let mut stream = StreamWriter::default();
    // Vertices of two dwords through the port, in two packets; another register does not count.
    stream.write(0x20b4, &[2]).write(0x2084, &[triangles(3, 3)]);
    stream.write(0x2000, &[1, 2]).write(0x42b8, &[9]).write(0x2004, &[3, 4, 5, 6, 7]);
    // Three indices of 16 bits, then three of 32.
    stream.write(0x2084, &[triangles(3, 1)]).write(0x2040, &[0x0001_0000, 2]);
    stream.write(0x2084, &[triangles(3, 1) | 1 << 11]).write_one(0x20b8, &[4, 5, 6]);
    // Arrays: nothing to wait for. The last one gets one dword of two.
    stream.write(0x2084, &[triangles(5, 2)]);
    stream.write(0x2084, &[triangles(4, 1)]).write(0x2040, &[7]);
    let submission = submission(stream.into_words(), 1, &[]);
    let mut state = State::default();
    let (effects, errors) = run(&mut state, &submission);
    let expected = [
        "2: draw 3 [1, 2, 3, 4, 5, 6], no indices",
        "15: draw 3 [], indices [10000, 2]",
        "20: draw 3 [], indices [4, 5, 6]",
        "26: draw 5 [], no indices",
    ];
    assert_eq!(effects, expected);
    let [StreamError { at: 28, kind: StreamErrorKind::ShortPortDraw { needs: 2, has: 1 } }] =
        errors[..]
    else {
        panic!("{errors:?}")
    };
}

#[test]
fn triggers_come_after_their_relocation() {
    let mut stream = StreamWriter::default();
    stream.write(0x4f58, &[0, 0x20]).relocation(0);
    stream.write(0x4e4c, &[0xa]);
    let submission = submission(stream.into_words(), 1, &[0]);
    let mut state = State::default();
    let (effects, errors) = run(&mut state, &submission);
    assert_eq!(errors, []);
    let expected =
        ["0: ZB_ZPASS_DATA = 0x0", "0: ZB_ZPASS_ADDR = 0x20", "5: RB3D_DSTCACHE_CTLSTAT = 0xa"];
    assert_eq!(effects, expected);
    assert!(state.binding::<ZbZpassAddr>().is_some());
}

#[test]
fn programs_are_loaded_through_their_windows() {
    let mut stream = StreamWriter::default();
    stream.write(0x4250, &[2]).write_one(0x4254, &[1, 2, 3, 4, 5, 6]);
    stream.write(0x2200, &[1024]).write_one(0x2208, &[9, 8, 7, 6]);
    let submission = submission(stream.into_words(), 1, &[]);
    let mut state = State::default();
    assert_eq!(run(&mut state, &submission), (vec![], vec![]));
    assert_eq!(state.us.instructions()[2].0, [1, 2, 3, 4, 5, 6]);
    assert_eq!(state.pvs.constants()[0], [9, 8, 7, 6]);
}

#[test]
fn faults_are_reported_and_the_rest_executes() {
    use StreamErrorKind::*;
    let mut stream = StreamWriter::default();
    stream.write(0x4e28, &[0]).write(0x42b8, &[1]);
    stream.write(0x4e28, &[0]).relocation(5);
    stream.command(Opcode::new(0x77), &[0]);
    stream.command(Opcode::LOAD_VBPNTR, &[3, 0, 0]);
    stream.command(Opcode::INDX_BUFFER, &[0, 0]);
    stream.command(Opcode::INDX_BUFFER, &[0, 0, 0]);
    stream.command(Opcode::DRAW_INDX_2, &[triangles(3, 1)]);
    stream.write(0x2084, &[triangles(3, 1)]);
    let mut words = stream.into_words();
    words.extend([0x4000_0000, 0, 0, 0x0002_10ae, 1]);
    let submission = submission(words, 1, &[0]);
    let mut state = State::default();
    let (effects, errors) = run(&mut state, &submission);
    assert_eq!(effects, Vec::<String>::new());
    let found: Vec<_> = errors.iter().map(|error| (error.at, error.kind)).collect();
    let register = r500_chip::at(0x4e28).unwrap();
    let expected = [
        (0, NoRelocation(RelocationTarget::Register(register))),
        (6, NoSuchRelocation { index: 5, entries: 1 }),
        (8, UnknownCommand(Opcode::new(0x77))),
        (10, ShortBody(Opcode::LOAD_VBPNTR)),
        (14, ShortBody(Opcode::INDX_BUFFER)),
        (17, StrayIndices),
        (21, NoIndices),
        (25, Type1(0x4000_0000)),
        (28, Truncated { header: 0x0002_10ae, needs: 3, has: 1 }),
        (23, ShortPortDraw { needs: 2, has: 0 }),
    ];
    assert_eq!(found, expected);
    assert_eq!(errors[0].to_string(), "dword 0: no relocation follows RB3D_COLOROFFSET0");
    assert_eq!(state.registers.read(0x42b8), 1);
}

#[test]
fn any_words_execute() {
    arbtest::arbtest(|u| {
        let mut words: Vec<u32> = u.arbitrary()?;
        make_near_valid(&mut words);
        let submission = submission(words, u.int_in_range(0..=1)?, &[1, 2, 0x21]);
        let mut state = State::default();
        let (effects, errors) = run(&mut state, &submission);
        assert!(effects.len() + errors.len() <= 2 * submission.words.len());
        Ok(())
    });
}
