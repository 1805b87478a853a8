//! Raw programs: little-endian dwords, six an instruction, no header. Where the format is recognised, the order is, too.

use std::io::{self, BufRead, Read, Write};

use r500_isa::Instruction;
use r500_program::Job;

use crate::ReadError;
use crate::dword_program::DwordReader;

pub(crate) fn read(mut input: impl BufRead, reader: DwordReader<'_>) -> Result<Job, ReadError> {
    // What is skipped may be longer than what memory holds.
    let skip = reader.options.skipped();
    let skipped =
        io::copy(&mut input.by_ref().take(skip), &mut io::sink()).map_err(ReadError::io)?;
    if skipped < skip {
        return Err(reader.nothing_left(skipped));
    }
    let most = reader.most_bytes() - skip;
    let mut bytes = Vec::new();
    // One byte more shows that there is more.
    input.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(ReadError::io)?;
    if bytes.len() as u64 > most {
        return Err(reader.too_long());
    }
    reader.program(&bytes)
}

pub(crate) fn write(code: &[Instruction], out: &mut impl Write) -> io::Result<()> {
    code.iter().try_for_each(|instruction| out.write_all(&instruction.to_le_bytes()))
}
