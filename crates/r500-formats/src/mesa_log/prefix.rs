//! What loggers and debuggers put in front of a line: the time, the host, the process.
//!
//! ```text
//! Nov 21 11:12:01 host glxgears[1234]: 0       0:CMN_INST   0x00001800
//! (gdb) R500 Fragment Program:
//! [pid 1234] CONST[0] = {     0.6366     0.1000     0.0400    -0.0050 }
//! ```

use std::borrow::Cow;

/// A line without what loggers put in front of it.
pub(super) struct Line<'a> {
    /// What names the process, such as `glxgears[1234]`; empty if nothing does.
    pub(super) process: &'a str,
    /// The driver's text.
    pub(super) text: Cow<'a, str>,
}

impl<'a> Line<'a> {
    /// Separates a line into the process and the driver's text.
    pub(super) fn split(line: &'a str) -> Self {
        let (mut process, mut rest) = ("", line);
        // Several loggers may have been at work; the innermost one knows the process best.
        for _ in 0..MOST_PREFIXES {
            let Some((name, inner)) = strip_one(rest) else { break };
            process = name.unwrap_or(process);
            rest = inner;
        }
        // How rsyslog writes a tabulator.
        let text = match rest.contains("#011") {
            true => Cow::Owned(rest.replace("#011", "\t")),
            false => Cow::Borrowed(rest),
        };
        Self { process, text }
    }
}

/// Prefixes that a line may have.
const MOST_PREFIXES: usize = 6;

/// Returns a line without its first prefix, and the process that this one names; `None` without a prefix.
fn strip_one(line: &str) -> Option<(Option<&str>, &str)> {
    if let Some(rest) = line.strip_prefix("(gdb) ").or_else(|| line.strip_prefix("\u{1b}[")) {
        // A prompt, or a colour: `ESC [ 31 m`.
        if line.starts_with('(') {
            return Some((None, rest));
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        return Some((None, &rest[end + 1..]));
    }
    if let Some(rest) = line.strip_prefix("==").or_else(|| line.strip_prefix("--")) {
        // Valgrind: `==1234== `.
        let (pid, rest) = rest.split_once("== ").or_else(|| rest.split_once("-- "))?;
        return is_number(pid).then_some((Some(pid), rest));
    }
    if let Some(rest) = line.strip_prefix('[') {
        let (inside, rest) = rest.split_once(']')?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if let Some(pid) = inside.strip_prefix("pid").map(str::trim).filter(|pid| is_number(pid)) {
            return Some((Some(pid), rest));
        }
        // Seconds, as of the kernel's log, or a time.
        let time = |c: char| c.is_ascii_digit() || " .:,-TZ+".contains(c);
        return (inside.contains(['.', ':']) && inside.chars().all(time)).then_some((None, rest));
    }
    if let Some((process, rest)) = syslog(line) {
        return Some((Some(process), rest));
    }
    if let Some(rest) = time_of_day(line) {
        return Some((None, rest));
    }
    // Containers: `name_1  | `.
    let (name, rest) = line.split_once(" | ")?;
    let name = name.trim_end();
    let word = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    (!name.is_empty() && name.chars().all(word)).then_some((Some(name), rest))
}

/// Splits `… name[1234]: text`, in front of which only times and a host stand.
fn syslog(line: &str) -> Option<(&str, &str)> {
    let at = line.find("]:")?;
    let open = line[..at].rfind('[')?;
    if !is_number(&line[open + 1..at]) {
        return None;
    }
    let start = line[..open].rfind(char::is_whitespace).map_or(0, |n| n + 1);
    // Registers are followed by other signs, and texts of the driver by no such name.
    if start == open {
        return None;
    }
    let rest = &line[at + "]:".len()..];
    Some((&line[start..=at], rest.strip_prefix(' ').unwrap_or(rest)))
}

/// Returns a line without a time of day or a date with one: `12:34:56.789 `, `2024-11-21T11:12:01+01:00 `.
fn time_of_day(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once(' ')?;
    let digits = time.bytes().filter(u8::is_ascii_digit).count();
    let colons = time.bytes().filter(|&b| b == b':').count();
    let sign = |c: char| c.is_ascii_digit() || ":.,-+TZ".contains(c);
    (digits >= 6 && colons >= 2 && time.chars().all(sign)).then_some(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (&str, String) {
        let Line { process, text } = Line::split(line);
        (process, text.into_owned())
    }

    #[test]
    fn loggers_name_processes() {
        for (line, process, text) in [
            ("Nov 21 11:12:01 host app[123]: \t1:RGB_ADDR 0x0", "app[123]", "\t1:RGB_ADDR 0x0"),
            ("2024-11-21T11:12:01+01:00 h app[7]:   0: MUL", "app[7]", "  0: MUL"),
            ("Nov 21 11:12:01 h app[7]: #0111:RGB_ADDR", "app[7]", "\t1:RGB_ADDR"),
            ("app[9]: text", "app[9]", "text"),
            ("[pid  44] text", "44", "text"),
            ("==812== text", "812", "text"),
            ("game_1  | text", "game_1", "text"),
            ("(gdb) (gdb) text", "", "text"),
            ("[   12.345678] text", "", "text"),
            ("12:34:56.789 [pid 8] text", "8", "text"),
            ("\u{1b}[31mtext", "", "text"),
        ] {
            assert_eq!(split(line), (process, text.to_owned()), "{line}");
        }
    }

    #[test]
    fn text_of_the_driver_is_no_prefix() {
        for line in [
            "  0: MUL temp[0].x, const[0].x___, const[1].x___;",
            "CONST[1] = {   0.159155    0.250000    8.000000      unused }",
            "0\t0:CMN_INST   0x00000800:ALU     wmask: R omask: NONE",
            "  2: TEX TEMP[0], IN[0].xyyy, SAMP[0], 2D",
            "\t 1.000000 0.000000",
        ] {
            assert_eq!(split(line), ("", line.to_owned()));
        }
    }
}
