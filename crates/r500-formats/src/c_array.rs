//! Dwords as C source: bare, as the `.inc` files of assemblers (`0x00001800,` a line), or as the
//! values of arrays (`static const uint32_t prog[] = { 0x00001800, … };`), each a program of its
//! own. Comments, `#` lines and whatever is declared around the arrays are skipped.

use std::io::{self, Write};

use r500_isa::Instruction;
use r500_program::{Job, Program};

use crate::hex::{Words, excerpt};
use crate::mark::Mark;
use crate::{Limits, ReadError};

/// The programs of a text, in order.
pub(crate) fn read(text: &str, limits: &Limits) -> Result<Vec<Job>, ReadError> {
    let mut tokens = Tokens::new(text);
    let mut arrays = Vec::new();
    // What stands bare counts only if there are no arrays, and so does what is wrong with it.
    let mut bare = Words::new(limits);
    let mut mistake = None;
    // The declaration so far: its name is the last word before `[` or `=`.
    let (mut name, mut named, mut assigned) = ("", false, false);
    while let Some(Token { kind, text, place }) = tokens.next()? {
        match kind {
            Kind::Word => {
                if !named {
                    name = text;
                }
                mistake.get_or_insert_with(|| place.of(no_number(text)));
            }
            Kind::Number => {
                if let Err(error) = number(text).and_then(|word| bare.push(word)) {
                    mistake.get_or_insert(place.of(error));
                }
            }
            Kind::Mark('[') => {
                named = true;
                tokens.skip_brackets()?;
            }
            Kind::Mark('=') => (named, assigned) = (true, true),
            Kind::Mark(';') => (name, named, assigned) = ("", false, false),
            Kind::Mark('{') if assigned => {
                if arrays.len() as u64 == limits.jobs {
                    return Err(ReadError::limit("arrays", limits.jobs));
                }
                let program = Program::from_code(tokens.values(limits, place)?);
                arrays.push(Job { name: name.to_owned(), ..Job::from_program(program) });
            }
            Kind::Mark(',' | '{' | '}') => {}
            Kind::Mark(_) => {
                mistake.get_or_insert_with(|| place.of(no_number(text)));
            }
        }
    }
    match mistake {
        _ if !arrays.is_empty() => Ok(arrays),
        Some(mistake) => Err(mistake),
        None => {
            let code = bare.finish().map_err(|e| tokens.mark.of(e))?;
            Ok(vec![Job::from_program(Program::from_code(code))])
        }
    }
}

fn no_number(text: &str) -> ReadError {
    ReadError::syntax(format!("`{}` is no number, and no array", excerpt(text)))
        .with_help("write `const uint32_t name[] = { … };`, or numbers only")
}

/// As assemblers write `.inc` files: a dword a line, an empty line after every instruction.
pub(crate) fn write(code: &[Instruction], out: &mut impl Write) -> io::Result<()> {
    for Instruction(words) in code {
        for word in words {
            writeln!(out, "0x{word:08x},")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A C integer of 32 bits.
fn number(text: &str) -> Result<u32, ReadError> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let parsed = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        u32::from_str_radix(hex, 16)
    } else if digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        // Octal or decimal to C, but hardly ever meant so.
        return Err(ReadError::value(format!("`{digits}` looks like hex without `0x`"))
            .with_help(format!("write 0x{digits}, or read the file as hex text")));
    } else if digits.len() > 1 && digits.starts_with('0') {
        u32::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    parsed.map_err(|_| {
        ReadError::value(format!("`{}` is no integer of 32 bits", excerpt(text)))
            .with_help("write dwords as 0x00001800")
    })
}

#[derive(Clone, Copy)]
enum Kind {
    Word,
    Number,
    Mark(char),
}

struct Token<'a> {
    kind: Kind,
    text: &'a str,
    place: Mark,
}

struct Tokens<'a> {
    text: &'a str,
    /// Where the next begins, or the space in front of it.
    mark: Mark,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, mark: Mark::start(1) }
    }

    fn advance(&mut self, bytes: usize) {
        self.mark = self.mark.to(self.mark.at + bytes, self.text.as_bytes());
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, ReadError> {
        loop {
            let rest = &self.text[self.mark.at..];
            let space = rest.len() - rest.trim_start().len();
            if space > 0 {
                self.advance(space);
            } else if rest.starts_with("//") || rest.starts_with('#') {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    return Err(self.mark.of(ReadError::truncated("this comment has no end")));
                };
                self.advance(end + 4);
            } else {
                break;
            }
        }
        let rest = &self.text[self.mark.at..];
        let place = self.mark;
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, len) = if first == '"' || first == '\'' {
            // A string says nothing here, but may hold anything.
            let end = rest[1..].find([first, '\n']).map_or(rest.len(), |n| n + 2);
            (Kind::Mark('"'), end)
        } else if is_word(first) {
            let number = first.is_ascii_digit();
            let part = |c: char| is_word(c) || number && c == '.';
            let kind = if number { Kind::Number } else { Kind::Word };
            (kind, rest.find(|c| !part(c)).unwrap_or(rest.len()))
        } else {
            (Kind::Mark(first), first.len_utf8())
        };
        let text = &rest[..len];
        self.advance(len);
        Ok(Some(Token { kind, text, place }))
    }

    /// Goes behind the `]` of an opened `[`.
    fn skip_brackets(&mut self) -> Result<(), ReadError> {
        while let Some(token) = self.next()? {
            if matches!(token.kind, Kind::Mark(']')) {
                break;
            }
        }
        Ok(())
    }

    /// The numbers up to the `}` of an opened `{`, whatever the braces in between.
    fn values(&mut self, limits: &Limits, open: Mark) -> Result<Vec<Instruction>, ReadError> {
        let mut words = Words::new(limits);
        let mut depth = 1u32;
        while let Some(Token { kind, text, place }) = self.next()? {
            match kind {
                Kind::Number => {
                    number(text).and_then(|word| words.push(word)).map_err(|e| place.of(e))?
                }
                Kind::Mark(',') => {}
                Kind::Mark('{') => depth += 1,
                Kind::Mark('}') => {
                    depth -= 1;
                    if depth == 0 {
                        return words.finish().map_err(|e| place.of(e));
                    }
                }
                Kind::Word | Kind::Mark(_) => {
                    return Err(place
                        .of(ReadError::syntax(format!("`{}` is no number", excerpt(text))))
                        .with_help("an array of a program holds integers of 32 bits only"));
                }
            }
        }
        Err(open
            .of(ReadError::truncated("this array has no end"))
            .with_help("the file is cut off, or a `}` is missing"))
    }
}
