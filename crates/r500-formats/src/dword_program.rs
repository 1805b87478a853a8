//! Programs in plain dwords: where they begin, their byte order, and the bytes that are not a whole instruction.
//!
//! Raw programs, hex text, C arrays and dumps of other tools are bytes here, in the order of memory.

use r500_isa::Instruction;
use r500_program::{Job, LeftOut, Program};

use crate::byte_order;
use crate::error::number_of;
use crate::foreign::{DwordCheck, check_dwords, check_encodings};
use crate::{FindOptions, Finder, FoundKind, Limits, ReadError};

/// Bytes of an instruction.
pub(crate) const SIZE: usize = 24;

/// The order of the bytes of a dword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// The order in which the dwords are a program; little-endian for formats that the user named.
    #[default]
    ByContent,
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

/// How programs are taken from plain dwords: raw, hex text, C arrays, dumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DwordOptions {
    /// Bytes before the first instruction, in memory: of a dump those that it lists, not those of its text. If `None`, 0.
    pub skip: Option<u64>,
    /// The byte order.
    pub order: ByteOrder,
    /// Whether bytes that are not a whole instruction are left out, at the end, and at the beginning if the content shows where the first
    /// whole instruction begins. [`Job::left_out`] counts them. Otherwise they are an error.
    pub leaves_out: bool,
}

impl DwordOptions {
    /// Returns the number of bytes before the first instruction, of those that are known without the content.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skip.unwrap_or(0)
    }

    /// Returns whether they concern only formats of plain dwords.
    #[must_use]
    pub fn need_dwords(&self) -> bool {
        self.skip.is_some() || self.order != ByteOrder::ByContent
    }
}

/// What an input counts in messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Dwords,
}

/// How a reader makes programs of bytes.
#[derive(Clone, Copy)]
pub(crate) struct DwordReader<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) check: DwordCheck,
    pub(crate) options: DwordOptions,
    pub(crate) unit: Unit,
}

impl DwordReader<'_> {
    /// Returns the most bytes that an input may have.
    pub(crate) fn most_bytes(&self) -> u64 {
        let code = self.limits.instructions.saturating_mul(SIZE as u64);
        code.saturating_add(self.options.skipped())
    }

    /// Returns the failure for an input with more bytes.
    pub(crate) fn too_long(&self) -> ReadError {
        ReadError::limit("instructions", self.limits.instructions)
    }

    /// Returns the program of an input.
    pub(crate) fn job(&self, all: &[u8]) -> Result<Job, ReadError> {
        let skip = usize::try_from(self.options.skipped());
        let bytes = skip.ok().and_then(|skip| all.get(skip..));
        self.program(bytes.ok_or_else(|| self.nothing_left(all.len() as u64))?)
    }

    /// Returns the program of an input without the bytes that are skipped.
    pub(crate) fn program(&self, bytes: &[u8]) -> Result<Job, ReadError> {
        let guesses_order =
            self.options.order == ByteOrder::ByContent && self.check != DwordCheck::None;
        let (little, rest) = instructions(bytes);
        let is_big = match guesses_order {
            true => byte_order::is_big_endian(&little),
            false => self.options.order == ByteOrder::Big,
        };
        let code = if is_big { byte_order::swapped(&little) } else { little };
        // The rest as dwords: a vertex program has four to an instruction.
        let (dwords, part) = rest.as_chunks::<4>();
        if part.is_empty() {
            let order = if is_big { u32::from_be_bytes } else { u32::from_le_bytes };
            let dwords: Vec<u32> = dwords.iter().map(|dword| order(*dword)).collect();
            check_dwords(self.check, &code, &dwords)?;
        }
        let searches = self.options.leaves_out
            && self.options.skip.is_none()
            && self.check != DwordCheck::None;
        let is_doubtful = !rest.is_empty() || code.iter().any(|i| i.uses_reserved_encodings());
        if searches
            && is_doubtful
            && let Some(found) = self.aligned(bytes)
        {
            return Ok(found);
        }
        // Zeros are not a part of a program, but empty memory.
        let is_part = self.options.leaves_out && !code.is_empty() && bytes.iter().any(|b| *b != 0);
        if !rest.is_empty() && !is_part {
            return Err(self.cut_off(code.len(), rest.len()));
        }
        if self.unit == Unit::Bytes && self.check != DwordCheck::None {
            check_encodings(&code)?;
        }
        let left_out = LeftOut { before: 0, after: rest.len() as u64 };
        Ok(Job { left_out, ..job(code, guesses_order && is_big) })
    }

    /// Returns the program that begins after the first bytes, which are the end of an instruction, if the search for programs in any bytes
    /// finds one there, and none at the beginning.
    fn aligned(&self, bytes: &[u8]) -> Option<Job> {
        // The search takes offsets that are a multiple of 4.
        let found = (0..4).find_map(|first| {
            let mut finder = Finder::new(FindOptions::default());
            finder.feed(bytes.get(first..)?);
            let programs = finder.finish().programs.into_iter();
            let mut fragments = programs.filter(|found| found.kind == FoundKind::Fragment);
            fragments.next().map(|found| (first + found.offset as usize, found.is_big_endian))
        });
        let (start, is_big) = found.filter(|(start, _)| (1..SIZE).contains(start))?;
        let is_allowed = match self.options.order {
            ByteOrder::ByContent => true,
            ByteOrder::Little => !is_big,
            ByteOrder::Big => is_big,
        };
        let (code, rest) = instructions(bytes.get(start..).filter(|_| is_allowed)?);
        let code = if is_big { byte_order::swapped(&code) } else { code };
        let left_out = LeftOut { before: start as u64, after: rest.len() as u64 };
        Some(Job { left_out, ..job(code, is_big && self.options.order == ByteOrder::ByContent) })
    }

    pub(crate) fn nothing_left(&self, bytes: u64) -> ReadError {
        let skip = self.options.skipped();
        ReadError::value(format!(
            "there are {}, and {skip} of them are to be skipped",
            number_of(bytes as usize, "byte", "bytes")
        ))
    }

    /// Returns the failure for an input that ends within an instruction.
    fn cut_off(&self, instruction: usize, rest: usize) -> ReadError {
        let (some, all, have) = match self.unit {
            Unit::Dwords if rest.is_multiple_of(4) => {
                (rest / 4, SIZE / 4, number_of(rest / 4, "dword", "dwords"))
            }
            _ => (rest, SIZE, number_of(rest, "byte", "bytes")),
        };
        let error = ReadError::truncated(format!(
            "instruction {instruction} is cut off: {have} of its {all}"
        ));
        let help = format!("{} are missing, or {some} too many", all - some);
        match self.unit {
            Unit::Dwords => error.with_help(help),
            Unit::Bytes => error
                .at_offset((instruction * SIZE) as u64 + self.options.skipped())
                .with_help(format!(
                    "a raw program is {SIZE} bytes an instruction and nothing else: {help}"
                )),
        }
    }
}

/// Returns the whole instructions of little-endian bytes, and what follows them.
fn instructions(bytes: &[u8]) -> (Vec<Instruction>, &[u8]) {
    let (code, rest) = bytes.as_chunks::<SIZE>();
    (code.iter().map(Instruction::from_le_bytes).collect(), rest)
}

/// Returns a program; its origin says that the byte order was recognised.
fn job(code: Vec<Instruction>, was_big_endian: bool) -> Job {
    let job = Job::from_program(Program::from_code(code));
    match was_big_endian {
        true => Job { origin: "big-endian dwords".to_owned(), ..job },
        false => job,
    }
}

/// Collects the dwords of a text.
pub(crate) struct Words<'a> {
    reader: DwordReader<'a>,
    bytes: Vec<u8>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(reader: DwordReader<'a>) -> Self {
        Self { reader, bytes: Vec::new() }
    }

    pub(crate) fn push(&mut self, word: u32) -> Result<(), ReadError> {
        // The dword that completes an instruction too many.
        let most = self.reader.most_bytes().saturating_add(SIZE as u64);
        if self.bytes.len() as u64 + 4 >= most {
            return Err(self.reader.too_long());
        }
        self.bytes.extend(word.to_le_bytes());
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Job, ReadError> {
        self.reader.job(&self.bytes)
    }
}
