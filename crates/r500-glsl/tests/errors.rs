//! Errors of each `tests/errors/NAME.frag` and `NAME.vert`, with their places and what to do, are those of `NAME.txt`. `BLESS=1` rewrites it.
#![allow(clippy::unwrap_used, reason = "a test fails by them")]

use std::fmt::Write as _;
use std::path::Path;

use r500_glsl::Stage;

#[test]
fn errors_have_places_and_help() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stage = match path.extension().and_then(|extension| extension.to_str()) {
            Some("frag") => Stage::Fragment,
            Some("vert") => Stage::Vertex,
            _ => continue,
        };
        count += 1;
        let source = std::fs::read_to_string(&path).unwrap();
        let mut found = String::new();
        for error in r500_glsl::parse(&source, stage).unwrap_err() {
            let (line, column) = error.line_column(&source);
            writeln!(found, "{line}:{column}: {error}").unwrap();
            if let Some(fix) = &error.fix {
                let (from, to) = (&source[fix.span.range()], &fix.text);
                writeln!(found, "    fix: {from:?} -> {to:?}").unwrap();
            }
        }
        let expected = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &found).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(count > 10 && wrong.is_empty(), "{}", wrong.join("\n"));
}
