//! Dwords as C source: bare, as the `.inc` files of assemblers (`0x00001800,` a line), or as the
//! values of arrays (`static const uint32_t prog[] = { 0x00001800, … };`), each a program of its
//! own. Comments, `#` lines and whatever is declared around the arrays are skipped.

use std::io::{self, Write};

use r500_isa::Instruction;
use r500_program::Job;

use crate::ReadError;
use crate::cursor::Cursor;
use crate::dword_program::{DwordReader, Words};
use crate::excerpt::excerpt;

/// Returns the programs of a text, in order.
pub(crate) fn read(text: &str, reader: DwordReader<'_>) -> Result<Vec<Job>, ReadError> {
    let most = reader.limits.jobs;
    let mut tokens = Tokens::new(text);
    let mut arrays = Vec::new();
    // Bare values, and errors in them, count only without arrays.
    let mut bare = Words::new(reader);
    let mut mistake = None;
    // The declaration so far: its name is the last word before `[` or `=`.
    let (mut name, mut named, mut assigned) = ("", false, false);
    while let Some(Token { kind, text, place }) = tokens.next()? {
        match kind {
            TokenKind::Word => {
                if !named {
                    name = text;
                }
                mistake.get_or_insert_with(|| place.of(no_number(text)));
            }
            TokenKind::Number => {
                if let Err(error) = number(text).and_then(|word| bare.push(word)) {
                    mistake.get_or_insert(place.of(error));
                }
            }
            TokenKind::Punct('[') => {
                named = true;
                tokens.skip_brackets()?;
            }
            TokenKind::Punct('=') => (named, assigned) = (true, true),
            TokenKind::Punct(';') => (name, named, assigned) = ("", false, false),
            TokenKind::Punct('{') if assigned => {
                if arrays.len() as u64 == most {
                    return Err(ReadError::limit("arrays", most));
                }
                let job = tokens.values(reader, place)?;
                arrays.push(Job { name: name.to_owned(), ..job });
            }
            TokenKind::Punct(',' | '{' | '}') => {}
            TokenKind::Punct(_) => {
                mistake.get_or_insert_with(|| place.of(no_number(text)));
            }
        }
    }
    match mistake {
        _ if !arrays.is_empty() => Ok(arrays),
        Some(mistake) => Err(mistake),
        None => Ok(vec![bare.finish().map_err(|e| tokens.cursor.of(e))?]),
    }
}

fn no_number(text: &str) -> ReadError {
    ReadError::syntax(format!("`{}` is neither a number nor an array", excerpt(text)))
        .with_help("write `const uint32_t name[] = { … };`, or numbers only")
}

/// Writes a program in the style of assemblers' `.inc` files: one dword a line, an empty line after every instruction.
pub(crate) fn write(code: &[Instruction], out: &mut impl Write) -> io::Result<()> {
    for Instruction(words) in code {
        for word in words {
            writeln!(out, "0x{word:08x},")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Parses a C integer of 32 bits.
fn number(text: &str) -> Result<u32, ReadError> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let parsed = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        u32::from_str_radix(hex, 16)
    } else if digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        // Octal or decimal in C, but rarely intended so.
        return Err(ReadError::value(format!("`{digits}` looks like hex without `0x`"))
            .with_help(format!("write 0x{digits}, or read the file as hex text")));
    } else if digits.len() > 1 && digits.starts_with('0') {
        u32::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    parsed.map_err(|_| {
        ReadError::value(format!("`{}` is not a 32-bit integer", excerpt(text)))
            .with_help("write dwords as 0x00001800")
    })
}

#[derive(Clone, Copy)]
enum TokenKind {
    Word,
    Number,
    Punct(char),
}

struct Token<'a> {
    kind: TokenKind,
    text: &'a str,
    place: Cursor,
}

struct Tokens<'a> {
    text: &'a str,
    /// The start of the next token, or of the space before it.
    cursor: Cursor,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, cursor: Cursor::start(1) }
    }

    fn advance(&mut self, bytes: usize) {
        self.cursor = self.cursor.to(self.cursor.at + bytes, self.text.as_bytes());
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, ReadError> {
        loop {
            let rest = &self.text[self.cursor.at..];
            let space = rest.len() - rest.trim_start().len();
            if space > 0 {
                self.advance(space);
            } else if rest.starts_with("//") || rest.starts_with('#') {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    return Err(self.cursor.of(ReadError::truncated("this comment has no end")));
                };
                self.advance(end + 4);
            } else {
                break;
            }
        }
        let rest = &self.text[self.cursor.at..];
        let place = self.cursor;
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, len) = if first == '"' || first == '\'' {
            // Strings are skipped; they may hold anything.
            let end = rest[1..].find([first, '\n']).map_or(rest.len(), |n| n + 2);
            (TokenKind::Punct('"'), end)
        } else if is_word(first) {
            let number = first.is_ascii_digit();
            let part = |c: char| is_word(c) || number && c == '.';
            let kind = if number { TokenKind::Number } else { TokenKind::Word };
            (kind, rest.find(|c| !part(c)).unwrap_or(rest.len()))
        } else {
            (TokenKind::Punct(first), first.len_utf8())
        };
        let text = &rest[..len];
        self.advance(len);
        Ok(Some(Token { kind, text, place }))
    }

    /// Skips past the `]` of an opened `[`.
    fn skip_brackets(&mut self) -> Result<(), ReadError> {
        while let Some(token) = self.next()? {
            if matches!(token.kind, TokenKind::Punct(']')) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the program of the numbers up to the `}` of an opened `{`, including nested braces.
    fn values(&mut self, reader: DwordReader<'_>, open: Cursor) -> Result<Job, ReadError> {
        let mut words = Words::new(reader);
        let mut depth = 1u32;
        while let Some(Token { kind, text, place }) = self.next()? {
            match kind {
                TokenKind::Number => {
                    number(text).and_then(|word| words.push(word)).map_err(|e| place.of(e))?
                }
                TokenKind::Punct(',') => {}
                TokenKind::Punct('{') => depth += 1,
                TokenKind::Punct('}') => {
                    depth -= 1;
                    if depth == 0 {
                        return words.finish().map_err(|e| place.of(e));
                    }
                }
                TokenKind::Word | TokenKind::Punct(_) => {
                    return Err(place
                        .of(ReadError::syntax(format!("`{}` is not a number", excerpt(text))))
                        .with_help("an array of a program holds integers of 32 bits only"));
                }
            }
        }
        Err(open
            .of(ReadError::truncated("this array has no end"))
            .with_help("the file is cut off, or a `}` is missing"))
    }
}
