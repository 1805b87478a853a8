//! The byte order of a program in dwords.

use r500_isa::Instruction;
use r500_program::{Job, Program};

/// Returns whether dwords are those of a machine of the other order. The lowest byte of an instruction's first dword has its type; programs
/// end with an output, which has type 1. The highest byte is 0 or has one bit of `ALU_RESULT_OP`, unless the alpha half is predicated or
/// `STAT_WE` is used. So a program whose lowest bytes are all 0 or 1, the last one 0, and whose last highest byte has type 1 is one of the
/// other order: in this order it would end without an output.
pub(crate) fn is_big_endian(code: &[Instruction]) -> bool {
    const OUT: u8 = 1;
    let bytes = |inst: &Instruction| inst.0[0].to_le_bytes();
    let Some([0, .., highest]) = code.last().map(bytes) else { return false };
    highest & 0b11 == OUT && code.iter().map(bytes).all(|[lowest, ..]| lowest <= 1)
}

/// Returns the program of dwords in the other order; its origin says so.
pub(crate) fn swapped_job(code: &[Instruction]) -> Job {
    let swapped = |inst: &Instruction| Instruction(inst.0.map(u32::swap_bytes));
    let job = Job::from_program(Program::from_code(code.iter().map(swapped).collect()));
    Job { origin: "big-endian dwords".to_owned(), ..job }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_instruction_decides() {
        // ALU with a comparison, TEX, OUT with a wait.
        let code = [0x0100_1800, 0x0000_7807, 0x0007_8005]
            .map(|first| Instruction([first, 0, 0, 0, 0, 0]));
        assert!(!is_big_endian(&code) && !is_big_endian(&[]));
        let other = swapped_job(&code).program.code;
        assert!(is_big_endian(&other));
        assert_eq!(swapped_job(&other).program.code, code);
    }
}
