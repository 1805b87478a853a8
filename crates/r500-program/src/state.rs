//! Programs: instructions and `US_*` state.

use alloc::vec::Vec;

use r500_isa::Instruction;
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsFormat, UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::{INT_CONSTANTS, TARGETS, TEXTURE_UNITS};

/// A fragment program, unmodified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The instructions: any number of any dwords. The first is at `US_CODE_OFFSET`.
    pub code: Vec<Instruction>,
    /// The state registers and constants.
    pub state: State,
}

impl Program {
    /// Returns a program that consists of instructions only.
    #[must_use]
    pub fn from_code(code: Vec<Instruction>) -> Self {
        Self { code, state: State::default() }
    }
}

/// The state of a program. `None` is a register that is not given; methods that supply a default
/// document it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// `US_CONFIG`.
    pub config: Option<UsConfig>,
    /// `US_PIXSIZE`.
    pub pixsize: Option<UsPixsize>,
    /// `US_FC_CTRL`.
    pub fc_ctrl: Option<UsFcCtrl>,
    /// `US_FC_BOOL_CONST`.
    pub fc_bool_const: Option<UsFcBoolConst>,
    /// `US_FC_INT_CONST` 0 to 31.
    pub fc_int_const: [Option<UsFcIntConst>; INT_CONSTANTS],
    /// `US_CODE_ADDR`.
    pub code_addr: Option<UsCodeAddr>,
    /// `US_CODE_RANGE`.
    pub code_range: Option<UsCodeRange>,
    /// `US_CODE_OFFSET`.
    pub code_offset: Option<UsCodeOffset>,
    /// `US_OUT_FMT` of targets A to D.
    pub out_fmt: [Option<UsOutFmt>; TARGETS],
    /// `US_W_FMT`.
    pub w_fmt: Option<UsWFmt>,
    /// `US_FORMAT` of the texture units.
    pub format: [Option<UsFormat>; TEXTURE_UNITS],
    /// Float constants from constant 0 on: the bits of R, G, B, A.
    pub constants: Vec<[u32; 4]>,
    /// Indices of those of `constants` that the source does not give, ascending; their bits are 0.
    pub absent_constants: Vec<usize>,
}

/// `US_OUT_FMT` of an ordinary 8-bit target, `C4_8` in the order R, G, B, A: the default format of
/// a target.
pub const OUT_FMT_RGBA8: UsOutFmt = UsOutFmt(0x3900);

impl State {
    /// Returns the absolute address of the first instruction: `US_CODE_OFFSET`, 0 if not given.
    #[must_use]
    pub fn base_address(&self) -> u16 {
        self.code_offset.map_or(0, |register| register.offset_addr())
    }

    /// Returns whether the source gives float constant `n`.
    #[must_use]
    pub fn gives_constant(&self, n: usize) -> bool {
        n < self.constants.len() && self.absent_constants.binary_search(&n).is_err()
    }

    /// Sets channel `channel` (0 red to 3 alpha) of float constant `n` to the bits `value`. Lower
    /// constants that the source does not give stay absent.
    pub fn set_constant(&mut self, n: usize, channel: usize, value: u32) {
        for absent in self.constants.len()..=n {
            self.constants.push([0; 4]);
            self.absent_constants.push(absent);
        }
        self.absent_constants.retain(|absent| *absent != n);
        self.constants[n][channel & 3] = value;
    }

    /// Returns `US_OUT_FMT` of target `n`, or [`OUT_FMT_RGBA8`] if not given.
    #[must_use]
    pub fn out_fmt_or_default(&self, n: usize) -> UsOutFmt {
        self.out_fmt.get(n).copied().flatten().unwrap_or(OUT_FMT_RGBA8)
    }
}
