//! Assembler of command streams.

use r500_chip::pm4::{FILLER, Header, MAX_BODY, Opcode, Type0, Type3};
use r500_chip::{RegisterRef, at, named};
use r500_isa::{Field, FieldKind, Register};

use super::atoms::{number, opcode};
use super::error::{MAX_ERRORS, MAX_WORDS, TextError, TextErrorKind, shortened};
use super::macros::{self, Call};
use super::words;

/// Limit of the lines that a call continues for.
const MAX_LINES: usize = 16;

/// Assembles a stream and reports all errors.
///
/// # Errors
///
/// An error for every line that does not assemble, up to 10,000 and a final one; more than [`MAX_WORDS`] dwords.
pub fn parse(text: &str) -> Result<Vec<u32>, Vec<TextError>> {
    let mut assembler = Assembler { words: Vec::new(), open: Open::None, announced: None };
    let mut errors = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        let code = line.split('#').next().unwrap_or_default();
        let result = if macros::begin(code) {
            // A call, or a comment, may continue in the lines that follow.
            let mut statements = code.to_owned();
            for _ in 0..MAX_LINES {
                if !macros::goes_on(&statements) {
                    break;
                }
                let in_comment = macros::in_comment(&statements);
                for (_, line) in lines.by_ref() {
                    statements.push('\n');
                    statements.push_str(line);
                    if !in_comment || line.contains("*/") {
                        break;
                    }
                }
            }
            let begin = code.len() - code.trim_start().len();
            assembler.calls(&macros::without_comments(&statements)).map_err(|kind| (begin, kind))
        } else {
            let mut cursor = Cursor { line: code, at: 0 };
            assembler.line(&mut cursor).and_then(|()| cursor.end())
        };
        if let Err((at, kind)) = result {
            let column = code[..at].chars().count() + 1;
            let last = errors.len() == MAX_ERRORS;
            let kind = if last { TextErrorKind::TooManyErrors } else { kind };
            errors.push(TextError { line: i + 1, column, kind });
            if last {
                break;
            }
            // Continuation lines of an erroneous packet would only repeat the error.
            assembler.open = Open::Faulty;
            assembler.announced = None;
        }
        if assembler.words.len() > MAX_WORDS {
            errors.push(TextError { line: i + 1, column: 1, kind: TextErrorKind::TooManyWords });
            break;
        }
    }
    if let Err(kind) = assembler.close() {
        errors.push(TextError { line: text.lines().count(), column: 1, kind });
    }
    if errors.is_empty() { Ok(assembler.words) } else { Err(errors) }
}

type Parsed<T> = Result<T, (usize, TextErrorKind)>;

/// The packet that `+` continues.
#[derive(Clone, Copy)]
enum Open {
    None,
    /// A packet that did not assemble.
    Faulty,
    /// A type-0 packet: index of its header, next address.
    Registers(usize, u32),
    /// A packet of bare dwords: index of its header.
    Body(usize),
    /// Dwords without a packet.
    Dwords,
}

struct Assembler {
    words: Vec<u32>,
    open: Open,
    /// Index of the header of an open packet that says how many values follow, and that number.
    announced: Option<(usize, usize)>,
}

impl Assembler {
    /// Reads calls as drivers have them, to the end of the text.
    fn calls(&mut self, statements: &str) -> Result<(), TextErrorKind> {
        let mut rest = statements.trim();
        while !rest.is_empty() {
            let (name, arguments, next) = macros::split_call(rest)?;
            rest = next;
            match macros::call(name, &arguments)? {
                Call::Frame => {}
                Call::Write { header, value } => {
                    self.close()?;
                    self.open(header, Open::Body(self.words.len()));
                    self.add(value)?;
                    self.open = Open::None;
                }
                Call::Begin { header, count } => {
                    self.close()?;
                    let at = self.words.len();
                    self.open(header, Open::Body(at));
                    self.announced = Some((at, count));
                }
                Call::Value(value) => self.add(value)?,
            }
        }
        Ok(())
    }

    /// Ends a packet that says how many values follow.
    fn close(&mut self) -> Result<(), TextErrorKind> {
        let Some((at, announced)) = self.announced.take() else { return Ok(()) };
        let found = self.words.len() - at - 1;
        match found == announced {
            true => Ok(()),
            false => Err(TextErrorKind::Count { announced, found }),
        }
    }

    fn line(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        cursor.blanks();
        if cursor.rest().is_empty() {
            return Ok(());
        }
        let start = cursor.at;
        if cursor.eat("+") {
            return self.carry_on(start, cursor);
        }
        self.close().map_err(|kind| (start, kind))?;
        self.open = Open::None;
        if let Some((address, place)) = cursor.address()? {
            return self.register(start, address, place, cursor);
        }
        let word = cursor.word();
        if let Some(place) = named(word) {
            return self.register(start, place.address(), Some(place), cursor);
        }
        let opcode = match word {
            "" => return Err((start, TextErrorKind::Expected("a register, a command or +"))),
            words::FILL => {
                cursor.blanks();
                let count = if cursor.rest().is_empty() { 1 } else { cursor.number()? };
                if count as usize > words::MAX_FILL {
                    return Err((start, TextErrorKind::TooManyFillers));
                }
                self.words.resize(self.words.len() + count as usize, FILLER);
                return Ok(());
            }
            words::DWORDS => {
                self.open = Open::Dwords;
                return self.values(cursor);
            }
            words::COMMAND => {
                cursor.blanks();
                let at = cursor.at;
                let code = u8::try_from(cursor.number()?);
                Opcode::new(code.map_err(|_| (at, TextErrorKind::Expected("an opcode")))?)
            }
            name => opcode(name).ok_or((start, TextErrorKind::UnknownName(shortened(name))))?,
        };
        let header = Type3::command(opcode, 1).map_or(0, Type3::bits);
        self.open(header, Open::Body(self.words.len()));
        self.values(cursor)
    }

    fn register(
        &mut self,
        start: usize,
        address: u32,
        place: Option<RegisterRef>,
        cursor: &mut Cursor<'_>,
    ) -> Parsed<()> {
        let header =
            Type0::write(address, 1).ok_or((start, TextErrorKind::Unreachable(address)))?;
        let at = self.words.len();
        cursor.blanks();
        if cursor.eat("<-") {
            self.open(header.with(Type0::ONE_REG_WR, true).bits(), Open::Body(at));
            return self.values(cursor);
        }
        if !cursor.eat("=") {
            return Err((cursor.at, TextErrorKind::Expected("= or <-")));
        }
        self.open(header.bits(), Open::Registers(at, address));
        let value = cursor.value(place.map(|place| place.mapping.register))?;
        self.push(cursor, value)?;
        self.open = Open::Registers(at, address + 4);
        Ok(())
    }

    fn carry_on(&mut self, start: usize, cursor: &mut Cursor<'_>) -> Parsed<()> {
        match self.open {
            Open::None => Err((start, TextErrorKind::NothingToContinue)),
            Open::Faulty => {
                cursor.at = cursor.line.len();
                Ok(())
            }
            Open::Body(_) | Open::Dwords => self.values(cursor),
            Open::Registers(header, next) => {
                cursor.blanks();
                let at = cursor.at;
                let (address, place) = match cursor.address()? {
                    Some(found) => found,
                    None => {
                        let word = cursor.word();
                        let place = named(word);
                        let place = place
                            .ok_or_else(|| (at, TextErrorKind::UnknownName(shortened(word))))?;
                        (place.address(), Some(place))
                    }
                };
                if address != next {
                    let kind = TextErrorKind::NotNext { expected: next, found: address };
                    return Err((at, kind));
                }
                cursor.blanks();
                if !cursor.eat("=") {
                    return Err((cursor.at, TextErrorKind::Expected("=")));
                }
                let value = cursor.value(place.map(|place| place.mapping.register))?;
                self.push(cursor, value)?;
                self.open = Open::Registers(header, next + 4);
                Ok(())
            }
        }
    }

    fn open(&mut self, header: u32, open: Open) {
        self.words.push(header);
        self.open = open;
    }

    /// Adds the values of a line, at least one.
    fn values(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        loop {
            let value = cursor.value(None)?;
            self.push(cursor, value)?;
            cursor.blanks();
            if cursor.rest().is_empty() {
                return Ok(());
            }
        }
    }

    /// Adds a dword to the open packet and counts it in the header.
    fn push(&mut self, cursor: &Cursor<'_>, value: u32) -> Parsed<()> {
        self.add(value).map_err(|kind| (cursor.at, kind))
    }

    fn add(&mut self, value: u32) -> Result<(), TextErrorKind> {
        self.words.push(value);
        let (Open::Registers(at, _) | Open::Body(at)) = self.open else { return Ok(()) };
        let count = self.words.len() - at - 1;
        let count = u16::try_from(count - 1).ok().filter(|_| count <= MAX_BODY);
        let count = count.ok_or(TextErrorKind::TooLong)?;
        self.words[at] = match Header::new(self.words[at]) {
            Header::Type3(header) => header.with(Type3::COUNT, count).bits(),
            header => Type0(header.bits()).with(Type0::COUNT, count).bits(),
        };
        Ok(())
    }
}

struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.line.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn end(&mut self) -> Parsed<()> {
        self.blanks();
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err((self.at, TextErrorKind::Expected("the end of the line")))
        }
    }

    /// Reads the address of a register, as `@0x4e04` or `0x4e04`, and finds the register there; `None` if something else follows.
    fn address(&mut self) -> Parsed<Option<(u32, Option<RegisterRef>)>> {
        if !self.eat("@") && !self.rest().starts_with("0x") {
            return Ok(None);
        }
        let address = self.number()?;
        Ok(Some((address, at(address).filter(|place| place.address() == address))))
    }

    /// Letters, digits, points and signs.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self) -> Parsed<u32> {
        let start = self.at;
        let word = self.word();
        number(word).ok_or((start, TextErrorKind::Expected("a number of 32 bits")))
    }

    /// Parses a dword: a number, a float, or fields of a register.
    fn value(&mut self, register: Option<&'static Register>) -> Parsed<u32> {
        self.blanks();
        let start = self.at;
        if self.eat("{") {
            let register = register.ok_or((start, TextErrorKind::Expected("a number")))?;
            return self.fields(register);
        }
        let word = self.word();
        let float = || word.contains('.').then(|| word.parse::<f32>().ok().map(f32::to_bits))?;
        number(word)
            .or_else(float)
            .ok_or((start, TextErrorKind::Expected("a number, a float or fields")))
    }

    /// Parses `FIELD VALUE, FLAG }`.
    fn fields(&mut self, register: &'static Register) -> Parsed<u32> {
        let mut bits = 0;
        loop {
            self.blanks();
            if self.eat("}") {
                return Ok(bits);
            }
            let start = self.at;
            let name = self.word();
            if name.is_empty() {
                return Err((start, TextErrorKind::Expected("a field or }")));
            }
            let field = register.field(name).ok_or_else(|| {
                let field = name.to_owned();
                (
                    start,
                    TextErrorKind::UnknownField {
                        register: register.name,
                        field: shortened(&field),
                    },
                )
            })?;
            self.blanks();
            let start = self.at;
            let value = self.word();
            let code = code(field, value)
                .ok_or((start, TextErrorKind::BadValue { field, value: shortened(value) }))?;
            bits = field.insert(bits, code);
            self.blanks();
            if !self.eat(",") && !self.rest().starts_with('}') {
                return Err((self.at, TextErrorKind::Expected(", or }")));
            }
        }
    }
}

/// Returns the code of a field's value: a documented name or a number; an empty word sets a flag.
fn code(field: &'static Field, word: &str) -> Option<u32> {
    if word.is_empty() {
        return (field.kind == FieldKind::Flag).then_some(1);
    }
    if let Some(value) = field.values.iter().find(|v| v.name.eq_ignore_ascii_case(word)) {
        return Some(value.code);
    }
    match field.kind {
        FieldKind::Float if word.contains('.') => word.parse::<f32>().ok().map(f32::to_bits),
        FieldKind::Signed if word.starts_with('-') => {
            let value: i32 = word.parse().ok()?;
            let unused = 32 - field.width();
            let fits = value.checked_shl(unused).is_some_and(|shifted| shifted >> unused == value);
            fits.then(|| value.cast_unsigned() & field.max())
        }
        _ => number(word).filter(|code| *code <= field.max()),
    }
}
