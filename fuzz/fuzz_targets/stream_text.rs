//! Property: any text assembles to a stream that prints as text for the same dwords, or is reported with positions
//! inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_stream::text::{parse, print};

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(words) => assert_eq!(parse(&print(&words)), Ok(words)),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                let line = text.lines().nth(error.line - 1).expect("a line of the text");
                assert!(error.column <= line.chars().count() + 1, "{error}");
            }
        }
    }
});
