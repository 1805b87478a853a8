//! Text differences in the unified format.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// Time after which a difference need not be minimal: the search takes time quadratic in the lines.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// Context lines around each change.
const AROUND: usize = 3;

/// Limit of the lines of a compared text: each takes tens of bytes.
const MOST_LINES: usize = 100_000;

/// Limit of the bytes of a compared text: the difference may contain both texts in full.
const MOST_BYTES: usize = 4 << 20;

/// Returns the unified diff of a file, called `name` before and `name, what` after the changes; empty if there are
/// none. For texts above the limits, it only states their lengths.
pub(super) fn difference(before: &[u8], after: &[u8], name: &str, what: &str) -> String {
    if before == after {
        return String::new();
    }
    let is_long = |text: &[u8]| {
        let lines = text.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
        text.len() > MOST_BYTES || lines > MOST_LINES
    };
    if is_long(before) || is_long(after) {
        let (from, to) = (before.len(), after.len());
        return format!(
            "--- {name}\n+++ {name}, {what}\n@@ {from} bytes become {to}: too long to be compared line by line @@\n"
        );
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let difference = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .timeout(PATIENCE)
        .diff_lines(&*before, &*after);
    let mut out = difference.unified_diff();
    out.context_radius(AROUND).header(name, &format!("{name}, {what}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_read_as_those_of_diff() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n";
        let after = before.replace("\n4\n", "\nfour\n").replace("15", "fifteen\nmore");
        let wanted = "--- x\n+++ x, fixed\n\
            @@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n\
            @@ -12,4 +12,5 @@\n 12\n 13\n 14\n-15\n+fifteen\n+more\n";
        assert_eq!(difference(before.as_bytes(), after.as_bytes(), "x", "fixed"), wanted);
        assert_eq!(difference(b"a", b"a", "x", "fixed"), "");
        let long = difference(&b"\n".repeat(200_000), b"", "x", "fixed");
        assert!(long.contains("200000 bytes become 0") && long.len() < 100, "{long}");
    }
}
