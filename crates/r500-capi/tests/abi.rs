//! The interface stays: every declaration of `include/r500.abi` is in the header, and the shared library exports the functions of the
//! header and nothing else.
//!
//! `BLESS=1` adds new declarations to the list. It removes none: who changes or removes one edits the list, raises the version
//! (`version.rs`), and tells users.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include").join(name)
}

/// Returns the declarations of the header, a line each: macros with values, structures with fields, functions.
fn declarations(header: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = String::new();
    let mut in_comment = false;
    for line in header.lines() {
        let line = line.trim();
        in_comment |= line.starts_with("/*");
        if in_comment {
            in_comment = !line.ends_with("*/");
            continue;
        }
        if line.is_empty() || line.starts_with("//") || line.starts_with("extern") {
            continue;
        }
        if line.starts_with('#') {
            let mut words = line.split_whitespace();
            if let (Some("#define"), Some(name), Some(value)) =
                (words.next(), words.next(), words.next())
            {
                found.insert(format!("{name} = {value}"));
            }
            continue;
        }
        if line.starts_with('}') && open.is_empty() {
            continue;
        }
        open = format!("{open} {line}");
        let is_complete =
            open.matches('{').count() == open.matches('}').count() && line.ends_with(';');
        if is_complete {
            found.insert(open.split_whitespace().collect::<Vec<_>>().join(" "));
            open.clear();
        }
    }
    assert_eq!(open, "", "a declaration without an end");
    found
}

/// Returns the names of functions.
fn functions(declarations: &BTreeSet<String>) -> BTreeSet<String> {
    let of = |line: &String| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        Some(name.to_owned())
    };
    declarations.iter().filter_map(of).collect()
}

#[test]
fn declarations_stay() {
    let header = std::fs::read_to_string(file("r500.h")).unwrap();
    let found = declarations(&header);
    let listed: BTreeSet<String> = match std::fs::read_to_string(file("r500.abi")) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(_) => BTreeSet::new(),
    };
    if std::env::var_os("BLESS").is_some() {
        let all: Vec<&str> = listed.union(&found).map(String::as_str).collect();
        std::fs::write(file("r500.abi"), all.join("\n") + "\n").unwrap();
        return;
    }
    let gone: Vec<&String> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "these are gone or have changed, and programs need them: {gone:#?}");
    let new: Vec<&String> = found.difference(&listed).collect();
    assert!(new.is_empty(), "new: BLESS=1 cargo test -p r500-capi --test abi lists {new:#?}");
}

#[test]
fn a_declaration_is_a_line() {
    let header = "/* one\n   two */\n#include <a.h>\n#define A 3\n// text\ntypedef struct s {\n  // f\n  uint8_t *f;\n} s;\n\n\
        extern \"C\" {\nconst char *g(void);\nbool h(int a,\n       int b);\n}  // extern\n";
    let found = declarations(header);
    let wanted = [
        "A = 3",
        "bool h(int a, int b);",
        "const char *g(void);",
        "typedef struct s { uint8_t *f; } s;",
    ];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
    assert_eq!(functions(&found).into_iter().collect::<Vec<_>>(), ["g", "h"]);
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#[test]
fn the_library_exports_the_functions_of_the_header() {
    let header = std::fs::read_to_string(file("r500.h")).unwrap();
    let wanted = functions(&declarations(&header));
    assert!(wanted.len() > 20 && wanted.contains("r500_draw"), "{wanted:?}");
    let test = std::env::current_exe().unwrap();
    let library = std::fs::read(test.parent().unwrap().join("libr500_c.so")).unwrap();
    let exported = elf::exported(&library).unwrap();
    assert_eq!(exported.symmetric_difference(&wanted).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// The dynamic symbols of an ELF file of 64 bits.
#[cfg(target_os = "linux")]
mod elf {
    use std::collections::BTreeSet;

    const SECTION_DYNSYM: u32 = 11;

    fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
        let mut all = [0; 8];
        all[..N].copy_from_slice(bytes.get(at..)?.get(..N)?);
        Some(u64::from_le_bytes(all))
    }

    /// Returns what a library defines for others; `None` if it is no such file.
    pub(super) fn exported(bytes: &[u8]) -> Option<BTreeSet<String>> {
        assert!(bytes.starts_with(b"\x7fELF\x02\x01"));
        let start = number::<8>(bytes, 0x28)? as usize;
        let [size, count] =
            [number::<2>(bytes, 0x3a)? as usize, number::<2>(bytes, 0x3c)? as usize];
        let section = |n: usize| bytes.get(start + n * size..);
        let symbols = (0..count)
            .filter_map(section)
            .find(|section| number::<4>(section, 4) == Some(SECTION_DYNSYM.into()))?;
        let strings = number::<8>(section(number::<4>(symbols, 0x28)? as usize)?, 0x18)? as usize;
        let (at, length) =
            (number::<8>(symbols, 0x18)? as usize, number::<8>(symbols, 0x20)? as usize);
        let mut names = BTreeSet::new();
        for symbol in bytes.get(at..)?.get(..length)?.as_chunks::<24>().0 {
            // Undefined ones are those that the library needs.
            if number::<2>(symbol, 6)? == 0 {
                continue;
            }
            let name = bytes.get(strings + number::<4>(symbol, 0)? as usize..)?;
            let end = name.iter().position(|byte| *byte == 0)?;
            names.insert(String::from_utf8_lossy(&name[..end]).into_owned());
        }
        Some(names)
    }
}
