//! The words of a program, which the driver prints one a line.

use r500_isa::{Instruction, values::InstType};

use crate::ReadError;

/// The names of words, each after its number and a colon or a space.
const WORDS: [(&str, usize); 11] = [
    ("CMN_INST", 0),
    ("RGB_ADDR", 1),
    ("ALPHA_ADDR", 2),
    ("RGB_INST", 3),
    ("ALPHA_INST", 4),
    ("RGBA_INST", 5),
    ("FC_INST", 2),
    ("FC_ADDR", 3),
    ("TEX_INST", 1),
    ("TEX_ADDR", 2),
    ("TEX_DXDY", 3),
];

/// A partially read program.
pub(super) struct Code {
    instructions: Vec<Instruction>,
    /// Bit mask of the words of the last instruction that are present.
    seen: u8,
    /// Line that it begins in.
    pub(super) line: u64,
    /// Line that its last instruction begins in.
    last_line: u64,
    /// Its first error. The rest is still parsed, for the programs after it.
    error: Option<ReadError>,
}

impl Code {
    pub(super) fn new(line: u64) -> Self {
        Self { instructions: Vec::new(), seen: 0, line, last_line: line, error: None }
    }

    /// Returns whether it has no instruction.
    pub(super) fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    pub(super) fn push(&mut self, word: Word, line: u64, most: u64) {
        if self.error.is_none() {
            self.error = self.try_push(word, line, most).err();
        }
    }

    fn try_push(&mut self, word: Word, line: u64, most: u64) -> Result<(), ReadError> {
        let Word { index, value, address } = word;
        if index == 0 {
            self.complete()?;
            if address.is_some_and(|address| address != self.instructions.len()) {
                return Err(missing_lines(format!(
                    "instruction {} stands here, and {} is next",
                    address.unwrap_or_default(),
                    self.instructions.len()
                ))
                .at_line(line));
            }
            if self.instructions.len() as u64 == most {
                return Err(ReadError::limit("instructions", most).at_line(line));
            }
            self.instructions.push(Instruction([value, 0, 0, 0, 0, 0]));
            self.seen = 1;
            self.last_line = line;
            return Ok(());
        }
        let Some(last) = self.instructions.last_mut() else {
            let error = missing_lines(format!("word {index} stands in front of any word 0"));
            return Err(error.at_line(line));
        };
        if self.seen & 1 << index != 0 {
            let error = missing_lines(format!("word {index} stands here a second time"));
            return Err(error.at_line(line));
        }
        self.seen |= 1 << index;
        last.0[index] = value;
        Ok(())
    }

    /// Checks that the last instruction has all words of its type.
    fn complete(&self) -> Result<(), ReadError> {
        let Some(last) = self.instructions.last() else { return Ok(()) };
        let address = self.instructions.len() - 1;
        let wanted = match last.ty() {
            InstType::FC => 0b1101u8,
            InstType::TEX => 0b1111,
            _ => 0b11_1111,
        };
        let error = match wanted & !self.seen {
            0 => return Ok(()),
            0b1100 if last.ty() == InstType::FC => ReadError::truncated(format!(
                "instruction {address} is flow control, of which this log prints nothing"
            ))
            .with_help("the oldest versions of Mesa leave those words out; take a newer one's log"),
            missing => missing_lines(format!(
                "word {} of instruction {address} is missing",
                missing.trailing_zeros()
            )),
        };
        Err(error.at_line(self.last_line))
    }

    pub(super) fn finish(self) -> Result<Vec<Instruction>, ReadError> {
        let whole = self.complete();
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.instructions.is_empty() {
            let error = missing_lines("no instruction follows this line".to_owned());
            return Err(error.at_line(self.line));
        }
        whole.map(|()| self.instructions)
    }
}

fn missing_lines(what: String) -> ReadError {
    ReadError::truncated(what).with_help(
        "lines of the log are missing or mixed up; take it again, from one program at a time",
    )
}

/// A word of an instruction from a line.
#[derive(Clone, Copy)]
pub(super) struct Word {
    index: usize,
    value: u32,
    /// Index of the instruction; only word 0 has it.
    address: Option<usize>,
}

impl Word {
    /// Returns the word in a line, at any position, because loggers add prefixes. Words are written as `0:CMN_INST   0x…`,
    /// `3 RGB_INST:  0x…` and, by the first Gallium driver, `0: CMN_INST   0x…`.
    pub(super) fn find(line: &str) -> Option<Self> {
        if !line.contains("0x") {
            return None;
        }
        WORDS.iter().find_map(|&(name, index)| {
            let (before, after) = line.split_once(name)?;
            let separated = before.trim_end_matches(' ');
            let separated = separated.strip_suffix(':').unwrap_or(separated);
            if separated.len() == before.len() {
                return None;
            }
            let digit = char::from_digit(u32::try_from(index).ok()?, 10)?;
            let before = separated.strip_suffix(digit)?;
            let after = after.trim_start_matches([':', ' ', '\t']).strip_prefix("0x")?;
            let value = u32::from_str_radix(after.get(..8)?, 16).ok()?;
            let before = before.trim_end();
            let before = before.strip_suffix(':').unwrap_or(before);
            let digits = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            Some(Self { index, value, address: before[digits..].parse().ok() })
        })
    }

    /// Returns whether it is the first word of an instruction.
    pub(super) fn starts_instruction(&self) -> bool {
        self.index == 0
    }

    /// Returns whether it is the first word of a program.
    pub(super) fn starts_program(&self) -> bool {
        self.index == 0 && self.address == Some(0)
    }
}
