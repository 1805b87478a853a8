//! The byte order of a program in dwords.

use r500_isa::Instruction;

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

/// Returns the instructions with the bytes of their dwords in the other order.
pub(crate) fn swapped(code: &[Instruction]) -> Vec<Instruction> {
    code.iter().map(|inst| Instruction(inst.0.map(u32::swap_bytes))).collect()
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
        let other = swapped(&code);
        assert!(is_big_endian(&other));
        assert_eq!(swapped(&other), code);
    }
}
