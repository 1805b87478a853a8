//! Errors and warnings of Mesa's GLSL compiler, with their places.
//!
//! ```text
//! 0:5(10): error: `colour' undeclared
//! ```
//!
//! Columns are those of the text after Mesa's preprocessor, which makes one blank of any blanks and comments and replaces macros:
//! [`place`] finds the place in the text as it is.

use std::ops::Range;

/// A message of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Line, from 1, and column, from 1 in bytes; `None` if the compiler gives no place.
    pub place: Option<(u32, u32)>,
    /// Whether it is an error; else a warning.
    pub is_error: bool,
    /// The compiler's words.
    pub text: String,
    /// The bytes of the shader that it is about, if the compiler says them.
    pub span: Option<Range<usize>>,
    /// What to do about it, if the compiler says it.
    pub help: Option<String>,
}

/// Returns the messages of an info log.
#[must_use]
pub fn parse(log: &str) -> Vec<Message> {
    let lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut messages: Vec<Message> = Vec::new();
    for line in lines {
        let next = message(line);
        match messages.last_mut() {
            // More about the message before, such as candidates of a call.
            Some(last)
                if next.place.is_some()
                    && next.place == last.place
                    && next.text.starts_with(' ') =>
            {
                last.text.push(' ');
                last.text.push_str(next.text.trim_start());
            }
            // A line that continues one of the linker has neither a place nor a severity.
            Some(last) if next.place.is_none() && last.place.is_none() && !has_severity(line) => {
                last.text.push(' ');
                last.text.push_str(&next.text);
            }
            _ => messages.push(next),
        }
    }
    messages
}

impl Message {
    /// Returns the word that a message quotes: "`colour' undeclared".
    #[must_use]
    pub fn quoted(&self) -> Option<&str> {
        let (_, rest) = self.text.split_once('`')?;
        let (word, _) = rest.split_once(['\'', '`'])?;
        let is_word =
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_word.then_some(word)
    }
}

/// Returns where column `column` of the preprocessor's text is in a line, in bytes from 0. The word that the message quotes is taken
/// if it is in the line: the occurrence that is closest.
#[must_use]
pub fn place(line: &str, column: u32, quoted: Option<&str>) -> usize {
    let wanted = column.saturating_sub(1) as usize;
    let mut at = 0;
    let mut count = 0;
    while at < line.len() && count < wanted {
        let rest = &line[at..];
        let blank = blanks(rest);
        at += match blank {
            0 => rest.chars().next().map_or(1, char::len_utf8),
            blank => blank,
        };
        count += 1;
    }
    let Some(quoted) = quoted else { return at.min(line.len()) };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let found = line.match_indices(quoted).map(|(place, _)| place).filter(|place| {
        !line[..*place].ends_with(is_word) && !line[place + quoted.len()..].starts_with(is_word)
    });
    found.min_by_key(|place| place.abs_diff(at)).unwrap_or(at.min(line.len()))
}

/// Returns the bytes of blanks and comments at the beginning of a text.
fn blanks(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let blank = rest.len() - rest.trim_start().len();
        let comment = if rest.starts_with("//") {
            rest.len()
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            0
        };
        if blank.max(comment) == 0 {
            return length;
        }
        length += blank.max(comment);
    }
}

fn has_severity(line: &str) -> bool {
    ["error:", "warning:"].iter().any(|severity| line.starts_with(severity))
}

fn message(line: &str) -> Message {
    let placed = || {
        let (place, rest) = line.split_once("):")?;
        let rest = rest.trim_start();
        let (_, place) = place.split_once(':')?;
        let (row, column) = place.split_once('(')?;
        Some(((row.parse().ok()?, column.parse().ok()?), rest))
    };
    let (place, rest) = placed().map_or((None, line), |(place, rest)| (Some(place), rest));
    let (is_error, text) = match rest.split_once(':') {
        Some(("error" | "preprocessor error", text)) => (true, text),
        Some(("warning" | "preprocessor warning", text)) => (false, text),
        _ => (true, rest),
    };
    Message {
        place,
        is_error,
        span: None,
        help: None,
        text: text.strip_prefix(' ').unwrap_or(text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_severities_are_read() {
        let log = "0:5(10): error: `colour' undeclared\n0:1(1): warning: extension `x' unsupported\nerror: linking with uncompiled shader\n\
                   0:2(3): preprocessor error: #error no\n";
        let found = parse(log);
        let places: Vec<_> = found.iter().map(|message| message.place).collect();
        assert_eq!(places, [Some((5, 10)), Some((1, 1)), None, Some((2, 3))]);
        let errors: Vec<_> = found.iter().map(|message| message.is_error).collect();
        assert_eq!(errors, [true, false, true, true]);
        assert_eq!(found[0].text, "`colour' undeclared");
        assert_eq!(found[2].text, "linking with uncompiled shader");
        let call = "0:3(6): error: no matching function for call to `sin(error)'; candidates are:\n0:3(6): error:    float sin(float)\n";
        let texts: Vec<String> = parse(call).into_iter().map(|message| message.text).collect();
        assert_eq!(
            texts,
            ["no matching function for call to `sin(error)'; candidates are: float sin(float)"]
        );
    }

    #[test]
    fn columns_are_those_of_the_text() {
        // As Mesa 22.3.6 gives them, for a line with a macro of three letters.
        let line = "\tfloat   x =  ONE /* a comment */ +  nope;";
        assert_eq!(&line[place(line, 18, None)..], "nope;");
        assert_eq!(&line[place(line, 2, None)..place(line, 2, None) + 5], "float");
        assert_eq!(&line[place(line, 3, Some("nope"))..], "nope;");
        assert_eq!(place(line, 99, None), line.len());
        assert_eq!(place("", 1, Some("x")), 0);
        let quoted = parse("0:4(18): error: `nope' undeclared");
        assert_eq!(quoted[0].quoted(), Some("nope"));
    }
}
