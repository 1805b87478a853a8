//! Raw programs: little-endian dwords, six an instruction, no header. Where the format is recognised, the order is, too.

use std::io::{self, BufRead, Write};

use r500_isa::Instruction;
use r500_program::{Job, Program};

use crate::byte_order;
use crate::error::number_of;
use crate::foreign::{DwordCheck, check_dwords};
use crate::{Limits, ReadError};

/// Bytes of an instruction.
const SIZE: usize = 24;

pub(crate) fn read(
    mut input: impl BufRead,
    limits: &Limits,
    check: DwordCheck,
) -> Result<Job, ReadError> {
    let mut code = Vec::new();
    loop {
        let mut bytes = [0; SIZE];
        match fill(&mut input, &mut bytes).map_err(ReadError::io)? {
            0 => {
                if check != DwordCheck::None && byte_order::is_big_endian(&code) {
                    return Ok(byte_order::swapped_job(&code));
                }
                check_dwords(check, &code, &[])?;
                return Ok(Job::from_program(Program::from_code(code)));
            }
            SIZE if code.len() as u64 == limits.instructions => {
                return Err(ReadError::limit("instructions", limits.instructions));
            }
            SIZE => code.push(Instruction::from_le_bytes(&bytes)),
            some => {
                let (dwords, rest) = bytes[..some].as_chunks::<4>();
                if rest.is_empty() {
                    let dwords: Vec<_> = dwords.iter().map(|b| u32::from_le_bytes(*b)).collect();
                    check_dwords(check, &code, &dwords)?;
                }
                return Err(ReadError::truncated(format!(
                    "instruction {} is cut off: {} of its {SIZE}",
                    code.len(),
                    number_of(some, "byte", "bytes")
                ))
                .at_offset((code.len() * SIZE) as u64)
                .with_help(format!(
                    "a raw program is {SIZE} bytes an instruction and nothing else: \
                     {} are missing, or {some} too many",
                    SIZE - some
                )));
            }
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(input: &mut impl BufRead, buffer: &mut [u8; SIZE]) -> io::Result<usize> {
    let mut have = 0;
    while have < SIZE {
        match input.read(&mut buffer[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(have)
}

pub(crate) fn write(code: &[Instruction], out: &mut impl Write) -> io::Result<()> {
    code.iter().try_for_each(|instruction| out.write_all(&instruction.to_le_bytes()))
}
