//! The state of the processor: general, vector and opmask registers, flags, MXCSR.

use crate::op::{Address, Condition};

/// Registers that a call may change, except the result register.
const CLOBBERED: [usize; 8] = [1, 2, 6, 7, 8, 9, 10, 11];
/// MXCSR when a process starts: all exceptions masked, no flushing.
pub(crate) const MXCSR: u32 = 0x1f80;

/// A vector register: 16 lanes of 32 bits, the lowest first.
pub type Lanes = [u32; 16];

/// The status flags that conditions read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// CF.
    pub carry: bool,
    /// ZF.
    pub zero: bool,
    /// SF.
    pub sign: bool,
    /// OF.
    pub overflow: bool,
}

/// The registers of the processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// General registers by number: `rax`, `rcx`, `rdx`, `rbx`, `rsp`, `rbp`, `rsi`, `rdi`, `r8` to `r15`.
    pub general: [u64; 16],
    /// Vector registers.
    pub vectors: [Lanes; 32],
    /// Opmasks.
    pub masks: [u64; 8],
    /// Flags.
    pub flags: Flags,
    /// The control and status register of vector arithmetic.
    pub mxcsr: u32,
}

impl Machine {
    /// Returns registers with arbitrary non-zero contents, and the initial MXCSR of a process.
    #[must_use]
    pub fn new() -> Self {
        let mut machine = Self {
            general: [0; 16],
            vectors: [[0; 16]; 32],
            masks: [0; 8],
            flags: Flags::default(),
            mxcsr: MXCSR,
        };
        machine.clobber(1);
        for (n, register) in machine.general.iter_mut().enumerate() {
            *register = 0x5eed_0000_0000_0000 + n as u64;
        }
        machine
    }

    /// Overwrites the registers that a call need not preserve.
    pub(crate) fn clobber(&mut self, salt: u32) {
        for (n, vector) in (0..).zip(&mut self.vectors) {
            // Numbers with all sign bits set.
            *vector = std::array::from_fn(|i| 0xc5c5_0000 ^ salt << 8 ^ n << 4 ^ i as u32);
        }
        for (n, mask) in (0..).zip(&mut self.masks) {
            *mask = 0x5a5a ^ n;
        }
        for n in CLOBBERED {
            self.general[n] = 0xdead_0000_0000_0000 + n as u64;
        }
        self.flags = Flags { carry: true, zero: false, sign: true, overflow: true };
    }

    #[inline]
    pub(crate) fn address(&self, address: Address) -> u64 {
        let register = |n: Option<u8>| n.map_or(0, |n| self.general[usize::from(n)]);
        let index = register(address.index).wrapping_mul(u64::from(address.scale));
        register(address.base).wrapping_add(index).wrapping_add(address.displacement)
    }

    pub(crate) fn holds(&self, condition: Condition, negated: bool) -> bool {
        let Flags { carry, zero, sign, overflow } = self.flags;
        let holds = match condition {
            Condition::Overflow => overflow,
            Condition::Below => carry,
            Condition::Equal => zero,
            Condition::BelowOrEqual => carry || zero,
            Condition::Sign => sign,
            Condition::Less => sign != overflow,
            Condition::LessOrEqual => zero || sign != overflow,
        };
        holds != negated
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}
