//! Property: for any vertex program, the optimiser's result costs no more, writes the same bits to all outputs for vertices with edge values and
//! random ones, and its text parses back to the same program.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::opt::vertex::optimize;
use r500::optimizer::VertexEvidence;
use r500_gen::{Bytes, Choices, vertex_programs};
use r500_pvs::{GivenConstants, Source};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let is_plain = bytes.chance(1, 2);
    let program = vertex_programs::program(&mut bytes, 40, is_plain);
    let optimized = optimize(&program, &[]);
    let [before, after] = optimized.cost;
    assert!(after.no_worse_than(&before), "{before:?}, then {after:?}\n{program}");
    let evidence = VertexEvidence::of(&program, &optimized.program, &GivenConstants::new());
    if let VertexEvidence::Different(difference) = evidence {
        panic!("{difference:?}\n{program}\n---\n{}", optimized.program);
    }
    let text = optimized.program.to_string();
    let parsed = Source::parse(&text, &mut |_| Err(String::new()));
    assert_eq!(parsed.expect("a printed program parses").program, optimized.program, "{text}");
});
