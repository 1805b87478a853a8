//! Numbers and names of commands, as both notations have them.

use r500_chip::pm4::Opcode;

/// Parses a number of 32 bits, in decimal or after `0x`.
pub(super) fn number(word: &str) -> Option<u32> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Returns the command with a name.
pub(super) fn opcode(name: &str) -> Option<Opcode> {
    (0..=u8::MAX).map(Opcode::new).find(|op| op.describe().is_some_and(|value| value.name == name))
}
