//! Property: the search for programs takes any bytes, in pieces of any size with the same result; what it finds lies inside of them, overlaps
//! nothing, is what is there, and has the score that was asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_formats::{Alignment, FindOptions, Finder, FoundKind};

fuzz_target!(|bytes: &[u8]| {
    let Some((&[least, piece], data)) = bytes.split_first_chunk::<2>() else { return };
    // The size of the pieces also chooses the offsets.
    let alignment = match piece % 3 {
        0 => Alignment::Dword,
        1 => Alignment::Word,
        _ => Alignment::Byte,
    };
    let options = FindOptions { least_score: u32::from(least), alignment };
    let mut whole = Finder::new(options);
    whole.feed(data);
    let found = whole.finish();
    let mut pieces = Finder::new(options);
    data.chunks(usize::from(piece) + 1).for_each(|piece| pieces.feed(piece));
    assert_eq!(pieces.finish(), found);
    assert!(!found.is_cut);
    let mut end = 0;
    for program in &found.programs {
        assert!(
            program.offset >= end && program.offset % alignment.bytes() as u64 == 0,
            "{program:?}"
        );
        end = program.end();
        assert!(program.score >= options.least_score && program.instructions() > 0);
        let most = match program.kind {
            FoundKind::Fragment => 512,
            FoundKind::Vertex => 1024,
        };
        assert!(program.instructions() <= most);
        let bytes = &data[program.offset as usize..end as usize];
        let words = bytes.as_chunks::<4>().0.iter().map(|word| match program.is_big_endian {
            true => u32::from_be_bytes(*word),
            false => u32::from_le_bytes(*word),
        });
        assert!(words.eq(program.dwords.iter().copied()));
    }
});
