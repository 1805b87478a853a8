//! Golden files: tests whose inputs and results are in one file each.

#![allow(clippy::expect_used, clippy::panic, clippy::missing_panics_doc, reason = "for tests only")]

use std::path::Path;

/// Asserts that each file of a folder with a wanted name has the text that `expected` returns for it and its text. With `BLESS` in the
/// environment, gives the files these texts instead. It is an error if there are none.
pub fn check_files(
    folder: impl AsRef<Path>,
    wanted: impl Fn(&str) -> bool,
    mut expected: impl FnMut(&Path, &str) -> String,
) {
    let folder = folder.as_ref();
    let bless = std::env::var_os("BLESS").is_some();
    let (mut files, mut failed) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).expect("the folder of golden files") {
        let path = entry.expect("an entry of the folder").path();
        if !path.file_name().and_then(|name| name.to_str()).is_some_and(&wanted) {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).expect("a golden file");
        let expected = expected(&path, &text);
        if expected == text {
            continue;
        }
        if bless {
            std::fs::write(&path, expected).expect("a golden file can be written");
        } else {
            failed.push(format!("{}:\n{expected}", path.display()));
        }
    }
    assert!(files > 0, "no files in {}", folder.display());
    assert!(failed.is_empty(), "differs (BLESS=1 accepts it):\n{}", failed.join("\n"));
}

/// Returns the rest of the first comment line, `; KEY REST`, that starts with a key.
#[must_use]
pub fn directive<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix("; ")?.strip_prefix(key)).map(str::trim)
}
