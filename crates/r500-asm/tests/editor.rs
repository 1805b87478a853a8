//! The editors' grammar and the guide match the language.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use r500_asm::{Options, assemble};
use serde_json::Value;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the keywords of the language, from the table that defines them.
fn keywords() -> Vec<&'static str> {
    let source = include_str!("../src/names.rs");
    let (_, table) = source.split_once("\nkeywords! {").unwrap();
    let (table, _) = table.split_once("\n}").unwrap();
    table.split('"').skip(1).step_by(2).collect()
}

/// The words that the patterns of a grammar spell out.
fn words(grammar: &Value, found: &mut BTreeSet<String>) {
    match grammar {
        Value::Object(entries) => {
            if let Some(pattern) = entries.get("match").and_then(Value::as_str) {
                let pattern = pattern.replace("\\b", " ").to_ascii_lowercase();
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                found.extend(pattern.split(|c| !is_word(c)).map(str::to_owned));
            }
            entries.values().for_each(|value| words(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| words(value, found)),
        _ => {}
    }
}

#[test]
fn editor_grammar_contains_every_keyword() {
    let path = repository("editors/vscode/syntaxes/r500.tmLanguage.json");
    let grammar: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut known = BTreeSet::new();
    words(&grammar, &mut known);
    let bodies = r500_text::macros::MacroWord::ALL.map(|word| &word.text()[1..]);
    let functions = r500_text::expression::Function::of_numbers().map(|(name, ..)| name);
    let keywords: Vec<&str> = keywords().into_iter().chain(bodies).chain(functions).collect();
    assert!(keywords.len() > 100 && keywords.contains(&"TEX_SEM_WAIT"));
    let unknown: Vec<_> =
        keywords.iter().filter(|word| !known.contains(&word.to_ascii_lowercase())).collect();
    assert!(unknown.is_empty(), "the grammar lacks {unknown:?}");
}

/// Every program of the guide (a block marked `r5`) assembles without so much as a warning.
#[test]
fn the_programs_of_the_guide_assemble() {
    let mut programs = 0;
    for page in std::fs::read_dir(repository("docs/src")).unwrap() {
        let path = page.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```r5\n").skip(1) {
            let (source, _) = block.split_once("```").unwrap();
            let assembly = assemble(source.as_bytes(), Options::default());
            let report = assembly.render(r500_asm::RenderOptions::default());
            assert!(assembly.diagnostics.is_empty(), "{}:\n{report}", path.display());
            programs += 1;
        }
    }
    assert!(programs >= 9, "{programs} programs");
}
