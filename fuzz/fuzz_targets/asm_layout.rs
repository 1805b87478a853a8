//! Property: formatting any text keeps its words and their order, keeps the assembled job, and is idempotent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_asm::{Options, assemble, format};
use r500_text::raw_tokens::raw_tokens;

fuzz_target!(|source: &[u8]| {
    let Ok(out) = format(source) else { return };
    let words = |text: &[u8]| -> Vec<Vec<u8>> {
        raw_tokens(text).map(|token| text[token.range()].trim_ascii_end().to_vec()).collect()
    };
    assert_eq!(words(source), words(&out));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(format(&out).map(|again| text(&again)), Ok(text(&out)));
    let before = assemble(source, Options::default());
    if before.is_ok() {
        let after = assemble(&out, Options::default());
        assert!(after.is_ok(), "{}", after.render(Default::default()));
        // Compared as text, because NaN is not equal to itself.
        assert_eq!(format!("{:?}", before.job), format!("{:?}", after.job));
    }
});
