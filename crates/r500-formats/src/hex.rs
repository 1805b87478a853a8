//! Hex text: dwords between white space or commas, with or without `0x`. `#`, `//`, `;` and `--`
//! start comments.

use std::io::{self, Write};

use r500_isa::Instruction;
use r500_program::{Job, Program};

use crate::byte_order;
use crate::error::number_of;
use crate::excerpt::excerpt;
use crate::foreign::{DwordCheck, check_dwords};
use crate::{Limits, ReadError};

/// Parses a dword in hex: eight digits, or `0x` and one to eight. Without `0x` all eight are required, so that a lost
/// digit is detected.
pub(crate) fn dword(text: &str) -> Option<u32> {
    let digits = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if (1..=8).contains(&digits.len()) => digits,
        None if text.len() == 8 => text,
        _ => return None,
    };
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

pub(crate) fn read(text: &str, limits: &Limits, check: DwordCheck) -> Result<Job, ReadError> {
    let mut words = Words::new(limits, check);
    for (n, line) in text.lines().enumerate() {
        let end = ["#", "//", ";", "--"].iter().filter_map(|mark| line.find(mark)).min();
        let line = &line[..end.unwrap_or(line.len())];
        for token in line.split(|c: char| c.is_whitespace() || c == ',') {
            if token.is_empty() {
                continue;
            }
            let column = token.as_ptr() as usize - line.as_ptr() as usize + 1;
            let at = |e: ReadError| e.at_line(n as u64 + 1).at_column(column as u64);
            let word = dword(token).ok_or_else(|| {
                at(ReadError::syntax(format!("`{}` is not a dword in hex", excerpt(token))))
                    .with_help("write eight hex digits, or 0x and up to eight")
            })?;
            words.push(word).map_err(at)?;
        }
    }
    let code = words.finish().map_err(|e| e.at_line(text.lines().count() as u64))?;
    Ok(job(&code, check))
}

/// Returns the program, in the order of bytes that makes it one, unless the user named the format.
pub(crate) fn job(code: &[Instruction], check: DwordCheck) -> Job {
    match check != DwordCheck::None && byte_order::is_big_endian(code) {
        true => byte_order::swapped_job(code),
        false => Job::from_program(Program::from_code(code.to_vec())),
    }
}

pub(crate) fn write(code: &[Instruction], out: &mut impl Write) -> io::Result<()> {
    for Instruction([a, b, c, d, e, f]) in code {
        writeln!(out, "{a:08x} {b:08x} {c:08x} {d:08x} {e:08x} {f:08x}")?;
    }
    Ok(())
}

/// Collects dwords into instructions.
pub(crate) struct Words {
    code: Vec<Instruction>,
    part: [u32; 6],
    filled: usize,
    most: u64,
    check: DwordCheck,
}

impl Words {
    pub(crate) fn new(limits: &Limits, check: DwordCheck) -> Self {
        Self { code: Vec::new(), part: [0; 6], filled: 0, most: limits.instructions, check }
    }

    pub(crate) fn push(&mut self, word: u32) -> Result<(), ReadError> {
        self.part[self.filled] = word;
        self.filled += 1;
        if self.filled == 6 {
            self.filled = 0;
            if self.code.len() as u64 == self.most {
                return Err(ReadError::limit("instructions", self.most));
            }
            self.code.push(Instruction(self.part));
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Vec<Instruction>, ReadError> {
        check_dwords(self.check, &self.code, &self.part[..self.filled])?;
        match self.filled {
            0 => Ok(self.code),
            n => Err(ReadError::truncated(format!(
                "instruction {} is cut off: {} of its 6",
                self.code.len(),
                number_of(n, "dword", "dwords")
            ))
            .with_help(format!("{} are missing, or {n} too many", 6 - n))),
        }
    }
}
