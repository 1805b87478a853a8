//! The lexer: bytes to tokens, without an allocation per token.
//!
//! The lexer processes `#include "file"`: it splices in the tokens of the other file, even inside an instruction.
//! Comments are `--` to the end of the line, of any bytes. A word is a run of letters, digits and `_`. (In the dialect
//! that this language extends, a word may also contain `-`; none of its words does, so treating `-` as a minus accepts
//! a superset of its files.)

mod expand;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, DiagnosticCode, DiagnosticCollector, quoted};
use crate::items::Include;
use crate::names::{self, Kw};
use crate::source::{File, Files, IncludeLimits, Loader, Span};
pub(crate) use expand::{Counter, Macro, Piece, SUFFIX_LETTERS};
use expand::{Repeat, Scope};
use r500_text::macros::ExpansionLimits;
use r500_text::raw_tokens::text_start;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Str,
    Dot,
    Comma,
    Semicolon,
    Colon,
    Equals,
    Star,
    Slash,
    Pipe,
    Plus,
    Minus,
    Arrow,
    Bang,
    Amp,
    At,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    End,
}

impl TokenKind {
    /// Returns its name for messages.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Word => "a word",
            Self::Str => "a string",
            Self::Dot => "`.`",
            Self::Comma => "`,`",
            Self::Semicolon => "`;`",
            Self::Colon => "`:`",
            Self::Equals => "`=`",
            Self::Star => "`*`",
            Self::Slash => "`/`",
            Self::Pipe => "`|`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Arrow => "`->`",
            Self::Bang => "`!`",
            Self::Amp => "`&`",
            Self::At => "`@`",
            Self::OpenBracket => "`[`",
            Self::CloseBracket => "`]`",
            Self::OpenParen => "`(`",
            Self::CloseParen => "`)`",
            Self::End => "the end of the file",
        }
    }
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// The keyword of a word.
    pub(crate) kw: Kw,
    /// Whether it is the first on its line.
    pub(crate) first: bool,
    pub(crate) span: Span,
}

impl Token {
    /// The token before the first one.
    pub(crate) const START: Self = Self {
        kind: TokenKind::End,
        kw: Kw::Ident,
        first: true,
        span: Span { file: 0, start: 0, end: 0 },
    };
}

/// A text being read: a file or a part of one.
#[derive(Debug)]
struct Frame {
    file: u32,
    bytes: Arc<[u8]>,
    /// Start of its text, after a byte order mark.
    start: usize,
    end: usize,
    at: usize,
    /// The scope of its names.
    scope: u32,
    kind: FrameKind,
    /// Whether a search for the end of a comment of another language reached the end of the file.
    no_comment_end: bool,
}

/// Why a text is read.
#[derive(Debug)]
enum FrameKind {
    /// A file, included or not.
    File,
    /// The body of a macro or a repetition.
    Body { repeat: Option<Repeat> },
    /// An argument in place of a parameter.
    Argument { used: Span },
}

impl Frame {
    fn new(file: u32, bytes: Arc<[u8]>) -> Self {
        let start = text_start(&bytes);
        let (end, kind) = (bytes.len(), FrameKind::File);
        Self { file, bytes, start, end, at: start, scope: 0, kind, no_comment_end: false }
    }
}

/// The token stream of a source and its includes.
pub(crate) struct Lexer<'a> {
    pub(crate) files: Files,
    pub(crate) diagnostics: DiagnosticCollector,
    pub(crate) includes: Vec<Include>,
    loader: &'a mut dyn Loader,
    limits: IncludeLimits,
    /// Total bytes of the included files; a file counts each time it is included.
    included_bytes: u64,
    /// Whether a limit was reported: further includes are skipped without a message.
    past_limit: bool,
    /// The macros of the source, and their uses and the iterations, with the whole source first.
    pub(crate) macros: Vec<Macro>,
    scopes: Vec<Scope>,
    expansion_limits: ExpansionLimits,
    expanded_bytes: usize,
    past_expansion_limit: bool,
    /// Arguments of the statement that were read: their texts, and the parameters that they are in place of.
    left_arguments: Vec<(Span, Span)>,
    current: Frame,
    outer: Vec<Frame>,
}

const WORD: u8 = 1;
const SPACE: u8 = 2;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            class[b] = WORD;
        } else if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            class[b] = SPACE;
        }
        b += 1;
    }
    class
};

#[allow(clippy::cast_possible_truncation)] // sources longer than 4 GiB are rejected before
const fn offset(at: usize) -> u32 {
    at as u32
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(
        name: &str,
        bytes: &[u8],
        loader: &'a mut dyn Loader,
        limits: IncludeLimits,
        expansion_limits: ExpansionLimits,
        diagnostics: DiagnosticCollector,
    ) -> Self {
        let bytes: Arc<[u8]> = Arc::from(bytes);
        let file = File::new(name, bytes.clone());
        Self {
            files: Files { list: vec![file] },
            diagnostics,
            includes: Vec::new(),
            loader,
            limits,
            included_bytes: 0,
            past_limit: false,
            macros: Vec::new(),
            scopes: vec![Self::source_scope()],
            expansion_limits,
            expanded_bytes: 0,
            past_expansion_limit: false,
            left_arguments: Vec::new(),
            current: Frame::new(0, bytes),
            outer: Vec::new(),
        }
    }

    /// Reads the next token into `token`; returns `End` repeatedly at the end. (Written in place, because returning a
    /// token by value causes store-forwarding stalls.)
    pub(crate) fn token(&mut self, token: &mut Token) {
        let mut first = self.current.at == self.current.start;
        loop {
            let bytes: &[u8] = &self.current.bytes[..self.current.end];
            let mut at = self.current.at;
            while let Some(&b) = bytes.get(at) {
                if CLASS[b as usize] != SPACE {
                    break;
                }
                first |= b == b'\n';
                at += 1;
            }
            let start = at;
            let Some(&b) = bytes.get(at) else {
                self.current.at = at;
                if self.leave() {
                    continue;
                }
                return self.make(token, TokenKind::End, Kw::Ident, true, start, start);
            };
            if CLASS[b as usize] == WORD {
                let mut key = 0;
                while let Some(&b) = bytes.get(at) {
                    if CLASS[b as usize] != WORD {
                        break;
                    }
                    key = names::key_push(key, b);
                    at += 1;
                }
                if self.current.scope != 0 && self.substitute(start, at) {
                    continue;
                }
                let kw = if at - start <= 16 { names::lookup(key) } else { Kw::Ident };
                self.current.at = at;
                return self.make(token, TokenKind::Word, kw, first, start, at);
            }
            let next = bytes.get(at + 1).copied();
            let (kind, length) = match b {
                b'-' if next == Some(b'-') => {
                    while bytes.get(at).is_some_and(|b| *b != b'\n') {
                        at += 1;
                    }
                    self.current.at = at;
                    continue;
                }
                b'-' if next == Some(b'>') => (TokenKind::Arrow, 2),
                b'.' => (TokenKind::Dot, 1),
                b',' => (TokenKind::Comma, 1),
                b';' => (TokenKind::Semicolon, 1),
                b':' => (TokenKind::Colon, 1),
                b'=' => (TokenKind::Equals, 1),
                b'*' => (TokenKind::Star, 1),
                // As in other languages, `//` and `/*` begin comments, which are reported.
                b'/' if !matches!(next, Some(b'/' | b'*')) => (TokenKind::Slash, 1),
                b'|' => (TokenKind::Pipe, 1),
                b'+' => (TokenKind::Plus, 1),
                b'-' => (TokenKind::Minus, 1),
                b'!' => (TokenKind::Bang, 1),
                b'&' => (TokenKind::Amp, 1),
                b'@' => (TokenKind::At, 1),
                b'[' => (TokenKind::OpenBracket, 1),
                b']' => (TokenKind::CloseBracket, 1),
                b'(' => (TokenKind::OpenParen, 1),
                b')' => (TokenKind::CloseParen, 1),
                b'"' => {
                    let (end, closed) = string_end(bytes, at);
                    self.current.at = end;
                    if !closed {
                        self.unclosed_string(start, end);
                    }
                    return self.make(token, TokenKind::Str, Kw::Ident, first, start, end);
                }
                b'#' => {
                    self.directive(start);
                    self.end_past_limit();
                    continue;
                }
                _ => {
                    self.unknown(start);
                    self.end_past_limit();
                    continue;
                }
            };
            self.current.at = at + length;
            return self.make(token, kind, Kw::Ident, first, start, at + length);
        }
    }

    #[inline]
    fn make(
        &self,
        token: &mut Token,
        kind: TokenKind,
        kw: Kw,
        first: bool,
        start: usize,
        end: usize,
    ) {
        token.kind = kind;
        token.kw = kw;
        token.first = first;
        token.span.file = self.current.file;
        token.span.start = offset(start);
        token.span.end = offset(end);
    }

    const fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.current.file, start: offset(start), end: offset(end) }
    }

    /// Ends all open files if there are more errors than are collected. Errors of the lexer produce no token, so the
    /// parser cannot stop between them.
    #[cold]
    fn end_past_limit(&mut self) {
        if self.diagnostics.is_past_limit() {
            self.outer.clear();
            self.skip_text();
        }
    }

    #[cold]
    fn unclosed_string(&mut self, start: usize, end: usize) {
        let span = self.span(start, end);
        self.diagnostics.push(
            Diagnostic::new(DiagnosticCode::UnclosedString, span, "string without an end")
                .label("a string ends on the line where it starts")
                .help("write `\"` after its last character"),
        );
    }

    /// Reports a run of invalid bytes.
    #[cold]
    fn unknown(&mut self, start: usize) {
        let bytes = &self.current.bytes[..self.current.end];
        let stops = |b: u8| CLASS[b as usize] != 0 || b".,;:=*/|+-!&@[]()\"#".contains(&b);
        let run = bytes[start + 1..].iter().take_while(|b| !stops(**b)).count();
        let end = start + 1 + run;
        let span = self.span(start, end);
        let text = quoted(&bytes[start..end]);
        let mut diagnostic =
            Diagnostic::new(DiagnosticCode::UnknownCharacter, span, format!("unexpected `{text}`"))
                .label("no token starts so");
        let mut end = end;
        if text.starts_with('/') {
            diagnostic = diagnostic.help("comments start with `--`");
            // A comment of another language has no information about the program.
            match bytes.get(start + 1) {
                Some(b'/') => {
                    let line = bytes[start..].iter().position(|b| *b == b'\n');
                    end = line.map_or(bytes.len(), |n| start + n);
                }
                // Searched to the end of the file once, not for each of many such comments.
                Some(b'*') if !self.current.no_comment_end => {
                    match bytes[start..].windows(2).position(|w| w == b"*/") {
                        Some(close) => end = start + close + 2,
                        None => self.current.no_comment_end = true,
                    }
                }
                _ => {}
            }
        }
        self.current.at = end;
        self.diagnostics.push(diagnostic);
    }

    /// Parses `#include "file"`, from its `#`.
    #[cold]
    fn directive(&mut self, hash: usize) {
        let all = self.current.bytes.clone();
        let bytes = &all[..self.current.end];
        let mut at = hash + 1;
        let skip = |mut at: usize| {
            while bytes.get(at).is_some_and(|b| matches!(b, b' ' | b'\t')) {
                at += 1;
            }
            at
        };
        at = skip(at);
        let word = at;
        while bytes.get(at).is_some_and(|b| CLASS[*b as usize] == WORD) {
            at += 1;
        }
        self.current.at = at;
        let name = &bytes[word..at];
        if !name.eq_ignore_ascii_case(b"include") {
            let text = quoted(name);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::UnknownHash,
                    self.span(hash, at.max(hash + 1)),
                    format!("unknown directive `#{text}`"),
                )
                .label("only `#include` starts with `#`"),
            );
            // Lines such as `#define A B` of another language are skipped to their end.
            self.current.at =
                bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |line| at + line);
            return;
        }
        at = skip(at);
        if bytes.get(at) != Some(&b'"') {
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::UnknownHash,
                    self.span(hash, self.current.at),
                    "`#include` without a file",
                )
                .label("a file name in double quotes must follow"),
            );
            return;
        }
        let (end, closed) = string_end(bytes, at);
        self.current.at = end;
        if !closed {
            self.unclosed_string(at, end);
            return;
        }
        let (path, span) = (&bytes[at + 1..end - 1], self.span(at, end));
        if path.len() > MAX_PATH {
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::IncludeFailed,
                    span,
                    format!("cannot include `{}`", quoted(path)),
                )
                .label(format!("a path has at most {MAX_PATH} bytes")),
            );
            return;
        }
        self.include(&String::from_utf8_lossy(path), span);
    }

    fn include(&mut self, path: &str, span: Span) {
        if self.past_limit {
            return;
        }
        let files = self.outer.iter().filter(|frame| matches!(frame.kind, FrameKind::File));
        let open = files.count() + usize::from(matches!(self.current.kind, FrameKind::File));
        if open > self.limits.depth {
            let label = format!("{open} files are open already");
            return self.limit(span, "files are included too deeply", label);
        }
        if self.includes.len() >= self.limits.count {
            let label = format!("{} includes come before this one", self.includes.len());
            return self.limit(span, "too many files are included", label);
        }
        let from = self.files.name(span).to_owned();
        let loaded = match self.loader.load(path, &from) {
            Ok(loaded) => loaded,
            Err(reason) => {
                self.diagnostics.push(
                    Diagnostic::new(
                        DiagnosticCode::IncludeFailed,
                        span,
                        format!("cannot include `{}`", quoted(path.as_bytes())),
                    )
                    .label(reason),
                );
                return;
            }
        };
        let open = |name: &str, files: &Files, open: &Frame| {
            files.list.get(open.file as usize).is_some_and(|f| f.name == name)
        };
        if open(&loaded.name, &self.files, &self.current)
            || self.outer.iter().any(|o| open(&loaded.name, &self.files, o))
        {
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::IncludeCycle,
                    span,
                    format!("`{}` includes itself", quoted(loaded.name.as_bytes())),
                )
                .label("this file is still open here"),
            );
            return;
        }
        if loaded.bytes.len() > MAX_SOURCE {
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::IncludeFailed,
                    span,
                    "the included file is too large",
                )
                .label("a source has at most 4 GiB"),
            );
            return;
        }
        self.included_bytes += loaded.bytes.len() as u64;
        if self.included_bytes > self.limits.bytes {
            let label = format!("with this file they have {} bytes in all", self.included_bytes);
            return self.limit(span, "the included files are too large", label);
        }
        let known =
            self.files.list.iter().position(|f| f.name == loaded.name && *f.bytes == *loaded.bytes);
        let index = known.unwrap_or_else(|| {
            let mut file = File::new(loaded.name, loaded.bytes);
            file.included = Some(span);
            self.files.list.push(file);
            self.files.list.len() - 1
        });
        self.includes.push(Include { span, file: offset(index) });
        let bytes = self.files.list[index].bytes.clone();
        let scope = self.current.scope;
        let inner = Frame { scope, ..Frame::new(offset(index), bytes) };
        self.outer.push(std::mem::replace(&mut self.current, inner));
    }

    /// Reports the first limit of [`IncludeLimits`] that the source meets.
    #[cold]
    fn limit(&mut self, span: Span, message: &str, label: String) {
        self.past_limit = true;
        let IncludeLimits { depth, count, bytes } = self.limits;
        self.diagnostics.push(
            Diagnostic::new(DiagnosticCode::IncludeLimit, span, message).label(label).help(
                format!("the limits are {count} includes, {bytes} bytes, nested {depth} deep"),
            ),
        );
    }
}

/// The longest path of an included file, that of Linux.
const MAX_PATH: usize = 4096;

/// The longest source in bytes (32 MiB): more than a program of as many instructions as are accepted takes.
/// With what it includes, places fit into 32 bits.
pub const MAX_SOURCE: usize = 32 << 20;

/// Returns where the string that starts at `at` ends, and whether a quote ends it.
fn string_end(bytes: &[u8], at: usize) -> (usize, bool) {
    let mut end = at + 1;
    loop {
        match bytes.get(end) {
            Some(b'"') => return (end + 1, true),
            Some(b'\\') if bytes.get(end + 1).is_some_and(|b| *b != b'\n') => end += 2,
            None | Some(b'\n') => {
                // A `;` at the end of the line is more likely the end of the statement than part of the string.
                let text = bytes[at..end].trim_ascii_end();
                let inner = text.strip_suffix(b";").map_or(text, <[u8]>::trim_ascii_end);
                return (at + inner.len().max(1), false);
            }
            Some(_) => end += 1,
        }
    }
}
