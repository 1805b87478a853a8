//! Property: any dwords print as text that assembles to the same dwords.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_stream::text::{parse, print};

fuzz_target!(|words: Vec<u32>| {
    let text = print(&words);
    assert_eq!(parse(&text).as_ref(), Ok(&words), "{text}");
});
