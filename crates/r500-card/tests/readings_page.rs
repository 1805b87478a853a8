//! The guide's page of the card's readings is made from the table. `BLESS=1` rewrites it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;
use std::path::Path;

use r500_card::Readings;

#[test]
fn the_page_of_readings_is_that_of_the_table() {
    let mut text = "# Readings of the virtual card\n\n\
         <!-- Made from the table by `crates/r500-card/tests/readings_page.rs`. -->\n\n\
         Rules around the fragment processor that the documents leave open, each a named choice \
         (`r500 card --reading NAME=VALUE`, `r500 replay --reading NAME=VALUE`). The first value is the default. The \
         [readings of the fragment processor](readings.md) may be chosen in the same way.\n"
        .to_owned();
    for info in Readings::TABLE {
        write!(text, "\n## {}\n\n{}\n\n", info.name, info.question).unwrap();
        for (value, meaning) in info.values {
            writeln!(text, "- `{value}`: {meaning}").unwrap();
        }
        writeln!(text, "\n{}", info.evidence).unwrap();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference");
    let path = folder.join("card-readings.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 writes it", path.display()));
    assert!(kept == text, "{} is out of date; BLESS=1 rewrites it", path.display());
}
