//! The log of Mesa's r300 driver for fragment programs (`RADEON_DEBUG=fp`): the text of all compiler passes and finally
//! the machine code, which is read here.
//!
//! ```text
//! R500 Fragment Program:
//! --------
//! 0       0:CMN_INST   0x00001800:ALU     wmask: RG omask: NONE
//!         1:RGB_ADDR   0x08000100:Addr0: 0c, Addr1: 0t, Addr2: 128t, srcp:0
//!         …
//! ```
//!
//! Each line has the number of a word, its name, and its dword. The explanation after it has changed over the versions
//! (2008 to today), so only the dword is read. Unused words of an instruction type are not printed, and are 0. The
//! oldest versions do not print flow control: their programs with flow control are an error.
//!
//! A log contains all compiled programs. They have no names; here they are called `fp0`, `fp1` and so on. Some passes
//! print immediate constants to four decimals; they are recovered as far as the passes show their numbers
//! ([`immediates`]). Other constants, state and inputs are not printed.

mod immediates;

use std::io::BufRead;

use r500_isa::{Instruction, values::InstType};
use r500_program::{Job, Program, State};

use immediates::Immediates;

use crate::format::HEAD;
use crate::lines::Lines;
use crate::{Format, Limits, ReadError};

/// The line before a program.
const HEADER: &str = "R500 Fragment Program:";

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

/// Returns whether the beginning or the end, where the final programs are, has text of a log.
pub(crate) fn is_log(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let tail = &bytes[bytes.len().saturating_sub(HEAD).max(head.len())..];
    has_marks(head) || has_marks(tail)
}

fn has_marks(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 4] = [
        b"# Radeon Compiler Program",
        HEADER.as_bytes(),
        b"0:CMN_INST ",
        b"r300: Initial fragment program",
    ];
    bytes.split(|&b| b == b'\n').any(|line| {
        // Not in a comment of assembly.
        let comment = line.windows(2).position(|w| w == b"--").unwrap_or(line.len());
        let line = &line[..comment];
        marks.iter().any(|mark| line.windows(mark.len()).any(|w| w == *mark))
    })
}

/// The programs of a log, one at a time.
pub(crate) struct Programs<R> {
    /// The rest of the log; `None` after an error of the input.
    lines: Option<Lines<R>>,
    limits: Limits,
    /// The program of the following lines.
    open: Option<Open>,
    /// The constants that compiler passes print before the next program.
    immediates: Immediates,
    /// Number of programs so far.
    count: u64,
}

/// A partially read program.
struct Open {
    code: Vec<Instruction>,
    /// Bit mask of the words of the last instruction that are present.
    seen: u8,
    /// Line that it begins in.
    line: u64,
    /// Line that its last instruction begins in.
    last_line: u64,
    /// Its state: the known constants.
    state: State,
    /// Its first error. The rest is still parsed, for the programs after it.
    error: Option<ReadError>,
}

impl<R: BufRead> Programs<R> {
    pub(crate) fn new(input: R, limits: &Limits) -> Self {
        let lines = Some(Lines::new(input, limits.document));
        Self {
            lines,
            limits: limits.clone(),
            open: None,
            immediates: Immediates::default(),
            count: 0,
        }
    }

    fn begin(&mut self, line: u64) -> Option<Open> {
        let mut state = State::default();
        self.immediates.give(&mut state);
        self.open.replace(Open {
            code: Vec::new(),
            seen: 0,
            line,
            last_line: line,
            state,
            error: None,
        })
    }

    fn finish(&mut self, mut open: Open) -> Result<Job, ReadError> {
        let index = self.count;
        self.count += 1;
        let line = open.line;
        let name = format!("fp{index}");
        let state = std::mem::take(&mut open.state);
        let code = open.finish().map_err(|e| e.below(&name))?;
        let origin = format!("{}, line {line}", Format::MesaLog);
        Ok(Job { name, origin, ..Job::from_program(Program { code, state }) })
    }
}

impl<R: BufRead> Iterator for Programs<R> {
    type Item = Result<Job, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (number, header, word) = match self.lines.as_mut()?.next_lossy() {
                Ok(Some((number, text))) => {
                    let (header, word) = (text.contains(HEADER), Word::find(&text));
                    if !header && word.is_none() {
                        self.immediates.line(&text);
                    }
                    (number, header, word)
                }
                Ok(None) => {
                    self.lines = None;
                    return self.open.take().map(|open| self.finish(open));
                }
                Err(error) => {
                    self.lines = None;
                    return Some(Err(error));
                }
            };
            let mut done = None;
            if header {
                done = self.begin(number);
            } else if let Some(word) = word {
                let restarts = |open: &Open| word.starts_program() && !open.code.is_empty();
                if self.open.as_ref().map_or(word.index == 0, restarts) {
                    done = self.begin(number);
                }
                if let Some(open) = &mut self.open {
                    open.push(word, number, self.limits.instructions);
                }
            }
            if let Some(open) = done {
                return Some(self.finish(open));
            }
        }
    }
}

impl Open {
    fn push(&mut self, word: Word, line: u64, most: u64) {
        if self.error.is_none() {
            self.error = self.try_push(word, line, most).err();
        }
    }

    fn try_push(&mut self, word: Word, line: u64, most: u64) -> Result<(), ReadError> {
        let Word { index, value, address } = word;
        if index == 0 {
            self.complete()?;
            if address.is_some_and(|address| address != self.code.len()) {
                return Err(missing_lines(format!(
                    "instruction {} stands here, and {} is next",
                    address.unwrap_or_default(),
                    self.code.len()
                ))
                .at_line(line));
            }
            if self.code.len() as u64 == most {
                return Err(ReadError::limit("instructions", most).at_line(line));
            }
            self.code.push(Instruction([value, 0, 0, 0, 0, 0]));
            self.seen = 1;
            self.last_line = line;
            return Ok(());
        }
        let Some(last) = self.code.last_mut() else {
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
        let Some(last) = self.code.last() else { return Ok(()) };
        let address = self.code.len() - 1;
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

    fn finish(self) -> Result<Vec<Instruction>, ReadError> {
        let whole = self.complete();
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.code.is_empty() {
            let error = missing_lines("no instruction follows this line".to_owned());
            return Err(error.at_line(self.line));
        }
        whole.map(|()| self.code)
    }
}

fn missing_lines(what: String) -> ReadError {
    ReadError::truncated(what).with_help(
        "lines of the log are missing or mixed up; take it again, from one program at a time",
    )
}

/// A word of an instruction from a line.
#[derive(Clone, Copy)]
struct Word {
    index: usize,
    value: u32,
    /// Index of the instruction; only word 0 has it.
    address: Option<usize>,
}

impl Word {
    /// Returns the word in a line, at any position, because loggers add prefixes.
    fn find(line: &str) -> Option<Self> {
        WORDS.iter().find_map(|&(name, index)| {
            let (before, after) = line.split_once(name)?;
            let before = before.strip_suffix([':', ' '])?;
            let digit = char::from_digit(u32::try_from(index).ok()?, 10)?;
            let before = before.strip_suffix(digit)?;
            let after = after.trim_start_matches([':', ' ', '\t']).strip_prefix("0x")?;
            let value = u32::from_str_radix(after.get(..8)?, 16).ok()?;
            let before = before.trim_end();
            let digits = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            Some(Self { index, value, address: before[digits..].parse().ok() })
        })
    }

    fn starts_program(&self) -> bool {
        self.index == 0 && self.address == Some(0)
    }
}
