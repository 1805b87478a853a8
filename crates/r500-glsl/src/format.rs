//! Formatter: changes white space only. Blocks are indented, tokens separated as usual, statements on lines of their own; breaks inside of
//! statements, comments and lines of the preprocessor stay.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::lexer::{self, Tok, Token};

/// Spaces of a level of blocks.
const INDENT: usize = 4;
/// Levels that are indented, so that the text of a source of nothing but brackets stays in proportion to it.
const MOST_INDENTED: usize = 32;
/// Most open brackets, and most open conditions of the preprocessor.
const MOST_NESTED: usize = 256;

/// Formats a source. What it gives has the same tokens, comments and lines of the preprocessor, and is formatted.
///
/// # Errors
/// If the source is too long, nested too deep, or has an invalid token, with its place.
pub fn format(source: &str) -> Result<String, Diagnostic> {
    if source.len() > crate::MAX_SOURCE {
        return Err(Diagnostic::error(Span::default(), "the source is longer than 1 MiB"));
    }
    let pieces = pieces(source)?;
    let mut layout = Layout::default();
    for (n, piece) in pieces.iter().enumerate() {
        layout.add(piece, pieces.get(n + 1));
        if layout.open.len().max(layout.conditions.len()) > MOST_NESTED {
            let message = format!("more than {MOST_NESTED} brackets or conditions are open");
            return Err(Diagnostic::error(Span::default(), message));
        }
    }
    let formatted = layout.finish();
    match contents(&pieces) == contents(&self::pieces(&formatted)?) {
        true => Ok(formatted),
        false => Err(Diagnostic::error(Span::default(), "the formatter would change tokens")
            .help("this is an error of r500, not of the shader; please report it")),
    }
}

/// What a source consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A name or keyword.
    Word,
    Number,
    /// An operator or a bracket.
    Punct,
    /// `//`, to the end of the line.
    LineComment,
    /// `/* */`
    BlockComment,
    /// A line of the preprocessor, with the lines that continue it and its comment.
    Directive,
}

#[derive(Clone, Debug)]
struct Piece<'a> {
    kind: Kind,
    text: Cow<'a, str>,
    /// Ends of lines between it and the piece before it.
    breaks: usize,
}

impl Piece<'_> {
    fn is(&self, text: &str) -> bool {
        self.text == text
    }

    fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }
}

/// Returns what must not change.
fn contents<'a>(pieces: &'a [Piece<'_>]) -> Vec<(Kind, &'a str)> {
    pieces.iter().map(|piece| (piece.kind, &*piece.text)).collect()
}

/// Splits a source.
fn pieces(source: &str) -> Result<Vec<Piece<'_>>, Diagnostic> {
    let mut diagnostics = Diagnostics::default();
    let tokens = lexer::tokens(source, &mut diagnostics);
    if let Some(error) = diagnostics.all.into_iter().find(Diagnostic::is_error) {
        return Err(error);
    }
    let mut all = Vec::new();
    let mut at = 0;
    for token in &tokens {
        let range = token.span.range();
        // In a directive that was added.
        if range.start < at {
            continue;
        }
        let breaks = add_comments(&source[at..range.start], &mut all);
        at = range.end;
        if token.is("#") && token.begins_line {
            at = range.start + directive_length(&source[range.start..]);
            let text = without_ends(&source[range.start..at]);
            all.push(Piece { kind: Kind::Directive, text, breaks });
        } else if token.tok != Tok::End {
            all.push(Piece { kind: kind_of(token), text: source[range].into(), breaks });
        }
    }
    Ok(all)
}

fn kind_of(token: &Token) -> Kind {
    match token.tok {
        Tok::Int(_) | Tok::Float(_) => Kind::Number,
        Tok::Punct(_) => Kind::Punct,
        Tok::Ident(_) | Tok::Other(_) | Tok::End => Kind::Word,
    }
}

/// Adds the comments of the space between two tokens. Returns the number of ends of lines after the last one.
fn add_comments<'a>(space: &'a str, all: &mut Vec<Piece<'a>>) -> usize {
    let (mut rest, mut breaks) = (space, 0);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if rest.starts_with("//") {
            (Kind::LineComment, rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(length) = block_comment(rest) {
            (Kind::BlockComment, length)
        } else {
            breaks += usize::from(first == '\n');
            rest = &rest[first.len_utf8()..];
            continue;
        };
        all.push(Piece { kind, text: without_ends(&rest[..length]), breaks });
        breaks = 0;
        rest = &rest[length..];
    }
    breaks
}

/// Returns the length of a comment in `/* */` at the beginning of a text.
fn block_comment(text: &str) -> Option<usize> {
    let comment = text.strip_prefix("/*")?;
    // Without an end the lexer has found an error.
    Some(comment.find("*/").map_or(text.len(), |end| end + 4))
}

/// Returns the length of a line of the preprocessor, with the lines that continue it.
fn directive_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let continued = ["\\\n", "\\\r\n"].into_iter().find(|end| rest.starts_with(end));
        if let Some(end) = continued {
            at += end.len();
        } else if rest.starts_with("//") {
            return at + rest.find('\n').unwrap_or(rest.len());
        } else if let Some(length) = block_comment(rest) {
            at += length;
            // What follows a comment of several lines is in a line of its own.
            if rest[..length].contains('\n') {
                return at;
            }
        } else if first == '\n' {
            return at;
        } else {
            at += first.len_utf8();
        }
    }
    at
}

/// Returns a text without spaces at the ends of its lines.
fn without_ends(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_end();
    let is_clean = |line: &str| line.trim_end().len() == line.len();
    match trimmed.split('\n').all(is_clean) {
        true => trimmed.into(),
        false => trimmed.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n").into(),
    }
}

/// An open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// `(`, `[`, and `{` of a value.
    Inline,
    Block(Block),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// Of `do`, after which its test stands.
    Do,
    /// Of a structure, after which variables may stand.
    Members,
    Other,
}

/// What the piece before was, for the space between two.
#[derive(Clone, Debug)]
struct Before {
    kind: Kind,
    text: String,
    /// An operator before its only operand.
    is_unary: bool,
}

#[derive(Debug, Default)]
struct Layout {
    out: String,
    /// The line that is written, without its indentation.
    line: String,
    /// The levels of its indentation.
    levels: usize,
    /// Whether the line continues a statement.
    continues: bool,
    open: Vec<Open>,
    /// What was open at the beginning of each `#if`.
    conditions: Vec<Vec<Open>>,
    before: Option<Before>,
    /// Words of the statement so far that say what a block is.
    statement: Option<Block>,
    /// Whether a statement, the head of a block, or a block has ended.
    ended: bool,
    /// The block that ended last, if nothing follows it.
    closed: Option<Block>,
    /// `?` without its `:`.
    choices: usize,
}

impl Layout {
    fn is_inline(&self) -> bool {
        self.open.last() == Some(&Open::Inline)
    }

    fn add(&mut self, piece: &Piece<'_>, next: Option<&Piece<'_>>) {
        match piece.kind {
            Kind::Directive => return self.directive(piece),
            Kind::LineComment | Kind::BlockComment => return self.comment(piece, next),
            Kind::Punct if piece.is("{") && !self.is_value() => return self.open_block(piece),
            Kind::Punct if piece.is("}") && !self.is_inline() => return self.close_block(piece),
            _ => {}
        }
        let closed = self.closed.take();
        let joins = match closed {
            Some(Block::Do) => piece.is("while"),
            Some(Block::Members) => piece.kind == Kind::Word || piece.is(";") || piece.is("["),
            Some(Block::Other) => piece.is("else"),
            None => false,
        };
        if self.ended && joins {
            self.ended = false;
        } else if self.ended || piece.breaks > 0 && !is_kept_together(piece) {
            self.new_line(piece.breaks);
        }
        self.token(piece);
    }

    /// Whether `{` begins a value, such as `= { 1.0, 2.0 }`.
    fn is_value(&self) -> bool {
        let after = |before: &Before| matches!(before.text.as_str(), "=" | "," | "(");
        self.is_inline() || self.before.as_ref().is_some_and(after)
    }

    fn token(&mut self, piece: &Piece<'_>) {
        let is_unary = self.is_unary(piece);
        let has_space = self.has_space(piece, is_unary);
        self.write(&piece.text, has_space);
        match &*piece.text {
            "(" | "[" | "{" => self.open.push(Open::Inline),
            ")" | "]" | "}" if self.is_inline() => drop(self.open.pop()),
            "?" => self.choices += 1,
            ":" => self.choices = self.choices.saturating_sub(1),
            "do" => self.statement = Some(Block::Do),
            "struct" => self.statement = Some(Block::Members),
            // The block of a function or of a branch.
            _ if self.statement == Some(Block::Do) => self.statement = None,
            _ => {}
        }
        if piece.is(")") && !self.is_inline() {
            self.statement = None;
        }
        if piece.is(";") && !self.is_inline() {
            (self.ended, self.statement, self.choices) = (true, None, 0);
        }
        self.before = Some(Before { kind: piece.kind, text: piece.text.clone().into(), is_unary });
    }

    fn open_block(&mut self, piece: &Piece<'_>) {
        let (was_closed, ended) = (self.closed.take(), self.ended);
        // A block of its own.
        if ended || self.before.is_none() || was_closed.is_some() {
            self.new_line(piece.breaks);
        }
        // It is where its statement is.
        self.continues = false;
        self.write("{", true);
        let of_storage = self.starts_with_storage();
        let block = match self.statement.take() {
            None if of_storage => Block::Members,
            block => block.unwrap_or(Block::Other),
        };
        self.open.push(Open::Block(block));
        (self.ended, self.before) = (true, None);
    }

    /// Whether the line begins as a block of uniforms or of inputs does.
    fn starts_with_storage(&self) -> bool {
        let mut words = self.line.split(' ');
        let first = words.next().unwrap_or_default();
        matches!(first, "uniform" | "in" | "out" | "buffer") && !self.line.contains('(')
            || first.starts_with("layout(")
    }

    fn close_block(&mut self, piece: &Piece<'_>) {
        // An empty block.
        let is_empty = self.line.ends_with('{') && self.ended;
        let block = match self.open.last() {
            Some(Open::Block(block)) => *block,
            _ => Block::Other,
        };
        if !is_empty {
            self.flush();
            self.continues = false;
        }
        self.open.pop();
        self.write(&piece.text, false);
        (self.ended, self.closed, self.statement) = (true, Some(block), None);
        self.before = Some(Before { kind: Kind::Punct, text: "}".to_owned(), is_unary: false });
    }

    fn comment(&mut self, piece: &Piece<'_>, next: Option<&Piece<'_>>) {
        let follows = piece.breaks == 0 && !self.line.is_empty();
        // One that is before the rest of a line stays there.
        let is_before = piece.kind == Kind::BlockComment
            && next.is_some_and(|next| next.breaks == 0 && !next.is("}"));
        if !follows || self.ended && is_before {
            self.closed = None;
            let ended = self.ended;
            self.new_line(piece.breaks);
            self.ended = ended && !is_before && !self.continues;
        }
        self.write(&piece.text, true);
        let is_alone = !follows;
        if piece.kind == Kind::LineComment || !is_before && (is_alone || self.ended) {
            // Nothing follows it in its line. A statement continues in the next one.
            let in_statement = !self.ended && self.before.is_some() && !self.is_start();
            self.flush();
            self.continues = in_statement;
            self.closed = None;
        }
        if let Some(before) = &mut self.before {
            before.kind = Kind::BlockComment;
        }
    }

    /// Whether no token of a statement was written yet.
    fn is_start(&self) -> bool {
        !self.continues && self.line.trim_start().starts_with('/')
    }

    fn directive(&mut self, piece: &Piece<'_>) {
        let in_statement = !self.ended && (!self.line.is_empty() || self.continues);
        self.flush();
        self.blank(piece.breaks);
        self.out.push_str(&piece.text);
        self.out.push('\n');
        let name = piece.text[1..].trim_start();
        if name.starts_with("if") {
            self.conditions.push(self.open.clone());
        } else if name.starts_with("el") {
            if let Some(open) = self.conditions.last() {
                self.open.clone_from(open);
            }
        } else if name.starts_with("endif") {
            self.conditions.pop();
        }
        (self.continues, self.closed) = (in_statement, None);
    }

    /// Ends the line and begins another one, after an empty one if the source has some.
    fn new_line(&mut self, breaks: usize) {
        let continues = !self.ended && (!self.line.is_empty() || self.continues);
        self.flush();
        if !continues {
            self.blank(breaks);
            self.statement = None;
        }
        (self.continues, self.ended) = (continues, false);
    }

    /// Adds an empty line, but not at the beginning of the text or of a block.
    fn blank(&mut self, breaks: usize) {
        let is_first =
            self.out.is_empty() || self.out.ends_with("\n\n") || self.out.ends_with("{\n");
        if breaks > 1 && !is_first {
            self.out.push('\n');
        }
    }

    /// Adds to the line, which has its indentation from what is open when it begins.
    fn write(&mut self, text: &str, after_space: bool) {
        if self.line.is_empty() {
            let blocks = self.open.iter().filter(|open| **open != Open::Inline).count();
            self.levels = (blocks + usize::from(self.continues)).min(MOST_INDENTED);
        } else if after_space {
            self.line.push(' ');
        }
        self.line.push_str(text);
    }

    fn flush(&mut self) {
        if self.line.is_empty() {
            return;
        }
        self.out.extend(std::iter::repeat_n(' ', self.levels * INDENT));
        self.out.push_str(self.line.trim_end());
        self.out.push('\n');
        self.line.clear();
    }

    fn finish(mut self) -> String {
        self.flush();
        self.out
    }

    fn is_unary(&self, piece: &Piece<'_>) -> bool {
        if !matches!(&*piece.text, "+" | "-" | "!" | "~" | "++" | "--") {
            return false;
        }
        match &self.before {
            None => true,
            Some(before) => match before.kind {
                Kind::Word => before.text == "return",
                Kind::Number => false,
                _ => !matches!(before.text.as_str(), ")" | "]" | "}"),
            },
        }
    }

    /// Returns whether a space is between the piece before and a token.
    fn has_space(&self, piece: &Piece<'_>, is_unary: bool) -> bool {
        let Some(before) = &self.before else { return true };
        let is_word = |kind: Kind| matches!(kind, Kind::Word | Kind::Number);
        if before.kind == Kind::BlockComment {
            return true;
        }
        if is_word(before.kind) && is_word(piece.kind) || merges(before, piece) {
            return true;
        }
        match (before.text.as_str(), &*piece.text) {
            (_, ";" | "," | ")" | "]") | ("(" | "[" | ".", _) | (_, "." | "[") => false,
            (_, "++" | "--") if !is_unary => false,
            (_, ":") if self.choices == 0 => false,
            (word, "(") if before.kind == Kind::Word => is_keyword(word),
            (")" | "]", "(") => false,
            _ if before.is_unary => false,
            _ => true,
        }
    }
}

/// Returns whether two tokens would be others without a space.
fn merges(before: &Before, piece: &Piece<'_>) -> bool {
    match before.kind {
        Kind::Number => piece.text.starts_with('.'),
        Kind::Punct => {
            let both = format!("{}{}", before.text, piece.text);
            let mut ignored = Diagnostics::default();
            let first = lexer::tokens(&both, &mut ignored).into_iter().next();
            first.is_none_or(|first| first.span.range() != (0..before.text.len()))
        }
        _ => false,
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "for" | "while" | "return" | "switch" | "else" | "do" | "in" | "out" | "inout"
    )
}

/// Whether a token stays in the line of the one before it.
fn is_kept_together(piece: &Piece<'_>) -> bool {
    matches!(&*piece.text, ";" | "," | "{") && !piece.is_comment()
}
