//! Property: any dwords execute as a submission; draws and errors have positions inside the stream; and summaries, vertex programs and
//! statistics can be computed for any state. The kernel's checker accepts it, or refuses it with a reason and a position inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_stream::kernel::{Owned, Rights, check};
use r500_stream::{
    Buffer, BufferId, CommandProcessor, DrawSummary, Effect, Relocation, State, Statistics,
    Submission, Tiling,
};

fuzz_target!(|input: (u32, u8, Vec<u32>)| {
    let (flags, count, words) = input;
    let relocations = (0..u32::from(count % 4)).map(|i| Relocation {
        buffer: Buffer::zeroed(BufferId(i), 64),
        read_domains: 4,
        write_domain: 4,
        flags: 0,
        tiling: Tiling { flags: flags >> 8, pitch: 0 },
    });
    let submission = Submission { words, flags: flags & 0xff, relocations: relocations.collect() };
    let mut state = State::default();
    let mut draws = 0;
    let mut cp = CommandProcessor::new(&mut state, &submission);
    while let Some(effect) = cp.next_effect() {
        match effect {
            Ok(Effect::Draw(draw)) => {
                draws += 1;
                assert!(draw.at < submission.words.len());
                assert!(!DrawSummary::new(cp.state(), &draw).to_string().is_empty());
                if let Some(program) = cp.state().vertex_program() {
                    assert!(program.to_string().lines().count() > program.window().count());
                    for lint in program.check() {
                        assert!(!lint.kind.to_string().is_empty());
                    }
                }
            }
            Ok(_) => {}
            Err(error) => assert!(error.at < submission.words.len(), "{error}"),
        }
    }
    for rights in [
        Rights::default(),
        Rights {
            without_buffers: true,
            hyperz: Owned::Unknown,
            cmask: Owned::Yes,
            ..Rights::default()
        },
    ] {
        match check(&submission, rights) {
            Ok(accepted) => {
                assert!(accepted.needs.iter().all(|(at, _)| *at < submission.words.len()))
            }
            Err(rejection) => {
                assert!(rejection.at <= submission.words.len());
                assert!(rejection.to_string().contains(": "));
            }
        }
    }
    let mut statistics = Statistics::default();
    statistics.add(&mut State::default(), &submission);
    assert_eq!(statistics.total().draws, draws);
});
