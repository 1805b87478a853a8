//! Property: any set of files that include one another, or themselves, assembles or is reported within the include limits, and no message
//! contains terminal control characters.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use r500_asm::{IncludeLimits, Loaded, Options, assemble, disturbs_terminal};

/// A piece of a file.
#[derive(Arbitrary, Debug)]
enum Piece {
    /// An include of the file with this number.
    Include(u8),
    /// An include with any name.
    Named(String),
    /// Any text.
    Text(Vec<u8>),
}

fuzz_target!(|files: Vec<Vec<Piece>>| {
    let write = |pieces: &Vec<Piece>| {
        let mut text = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Include(n) => text.extend(format!("#include \"{n}\"\n").bytes()),
                Piece::Named(name) => text.extend(format!("#include \"{name}\"\n").bytes()),
                Piece::Text(bytes) => text.extend(bytes),
            }
        }
        text
    };
    let files: Vec<Vec<u8>> = files.iter().map(write).collect();
    let limits = IncludeLimits { depth: 8, count: 64, bytes: 1 << 16 };
    let mut loader = |path: &str, _: &str| {
        let file = path.parse::<usize>().ok().and_then(|n| files.get(n));
        let file = file.ok_or_else(|| format!("there is no {path}"))?;
        Ok(Loaded { name: path.to_owned(), bytes: file.clone() })
    };
    let source = files.first().map_or(&[][..], Vec::as_slice);
    let options = Options {
        name: "0",
        loader: Some(&mut loader),
        include_limits: limits,
        ..Options::default()
    };
    let assembly = assemble(source, options);
    assert!(assembly.includes.len() <= limits.count);
    let included = |file: u32| assembly.files.list[file as usize].bytes.len() as u64;
    assert!(assembly.includes.iter().map(|one| included(one.file)).sum::<u64>() <= limits.bytes);
    for diagnostic in &assembly.diagnostics {
        let file = &assembly.files.list[diagnostic.span.file as usize];
        assert!(diagnostic.span.start <= diagnostic.span.end);
        assert!(diagnostic.span.end as usize <= file.bytes.len());
    }
    let text = assembly.render(Default::default()).replace("\r\n", "\n");
    assert!(!text.contains(disturbs_terminal), "{text:?}");
});
