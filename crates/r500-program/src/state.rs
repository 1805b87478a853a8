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
    /// Other constants of which the source gives only some channels: the index and the channels that it does not give (red in bit 0),
    /// ascending by index. The bits of these channels are 0.
    pub absent_channels: Vec<(usize, u8)>,
}

/// `US_OUT_FMT` of an ordinary 8-bit target, `C4_8` in the order R, G, B, A: the default format of
/// a target.
pub const OUT_FMT_RGBA8: UsOutFmt = UsOutFmt(0x3900);

/// The four channels of a constant, red in bit 0.
const ALL_CHANNELS: u8 = 0b1111;

impl State {
    /// Returns the absolute address of the first instruction: `US_CODE_OFFSET`, 0 if not given.
    #[must_use]
    pub fn base_address(&self) -> u16 {
        self.code_offset.map_or(0, |register| register.offset_addr())
    }

    /// Returns whether the source gives float constant `n`, or at least one of its channels.
    #[must_use]
    pub fn gives_constant(&self, n: usize) -> bool {
        self.missing_channels(n) != ALL_CHANNELS
    }

    /// Returns whether the source gives channel `channel` (0 red to 3 alpha) of float constant `n`.
    #[must_use]
    pub fn gives_channel(&self, n: usize, channel: usize) -> bool {
        self.missing_channels(n) >> (channel & 3) & 1 == 0
    }

    /// Returns the channels of float constant `n` that the source does not give, red in bit 0.
    #[must_use]
    pub fn missing_channels(&self, n: usize) -> u8 {
        if n >= self.constants.len() || self.absent_constants.binary_search(&n).is_ok() {
            return ALL_CHANNELS;
        }
        match self.absent_channels.binary_search_by_key(&n, |(constant, _)| *constant) {
            Ok(place) => self.absent_channels[place].1 & ALL_CHANNELS,
            Err(_) => 0,
        }
    }

    /// Sets channel `channel` (0 red to 3 alpha) of float constant `n` to the bits `value`. Lower
    /// constants that the source does not give stay absent. The other channels of a constant that it
    /// does not give at all are given as 0 from then on; of a constant that it gives in part they
    /// stay as they are.
    pub fn set_constant(&mut self, n: usize, channel: usize, value: u32) {
        for absent in self.constants.len()..=n {
            self.constants.push([0; 4]);
            self.absent_constants.push(absent);
        }
        self.absent_constants.retain(|absent| *absent != n);
        for (_, missing) in self.absent_channels.iter_mut().filter(|(constant, _)| *constant == n) {
            *missing &= !(1 << (channel & 3));
        }
        self.absent_channels.retain(|(_, missing)| *missing != 0);
        self.constants[n][channel & 3] = value;
    }

    /// Sets the channels of float constant `n` that a source gives; the others are not given. Lower constants that the source
    /// does not give stay absent.
    pub fn set_given_channels(&mut self, n: usize, channels: [Option<u32>; 4]) {
        for absent in self.constants.len()..=n {
            self.constants.push([0; 4]);
            self.absent_constants.push(absent);
        }
        self.absent_constants.retain(|absent| *absent != n);
        self.absent_channels.retain(|(constant, _)| *constant != n);
        self.constants[n] = channels.map(|bits| bits.unwrap_or(0));
        let missing = (0..4).filter(|&c| channels[c].is_none()).fold(0, |mask, c| mask | 1 << c);
        match missing {
            0 => {}
            ALL_CHANNELS => {
                let place = self.absent_constants.partition_point(|absent| *absent < n);
                self.absent_constants.insert(place, n);
            }
            _ => {
                let place = self.absent_channels.partition_point(|(constant, _)| *constant < n);
                self.absent_channels.insert(place, (n, missing));
            }
        }
    }

    /// Returns `US_OUT_FMT` of target `n`, or [`OUT_FMT_RGBA8`] if not given.
    #[must_use]
    pub fn out_fmt_or_default(&self, n: usize) -> UsOutFmt {
        self.out_fmt.get(n).copied().flatten().unwrap_or(OUT_FMT_RGBA8)
    }
}
