//! Captures for tests.

use r500_program::Job;

/// Returns a capture of the corpus.
pub(crate) fn capture(name: &str) -> Job {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/");
    let bytes = std::fs::read(format!("{root}{name}.json")).unwrap();
    r500_formats::read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0)
}
