//! Sources: from addresses to operands.

use r500_isa::dataflow::SourceReads;
use r500_isa::values::{Mod, Sel, SrcpOp, Swiz};
use r500_isa::{CONSTANTS, InlineConst, Operand, Source, TEMPORARIES};

use super::group::{Group, saturate};
use super::lane::Lane;
use crate::finding::FindingKind;
use crate::numerics::Arith;
use crate::reading::{AlOutside, InlineRelative, PastPixsize, Readings, RelativeRange};
use crate::shader::Alu;

/// The six source registers of an instruction, addresses resolved: the pixels of a group share aL,
/// so they are the same for all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    rgb: [Register; 3],
    alpha: [Register; 3],
}

/// A source register: a temporary of each pixel, or a value that all share.
#[derive(Clone, Copy, Debug)]
enum Register {
    Temp(usize),
    Shared([f32; 4]),
}

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Temp(usize),
    Constant(usize),
    Inline(InlineConst),
}

/// What the operands of an instruction select from, for one pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sources {
    /// Sources 0 to 2, each the colours of the RGB half's and the alpha of the alpha half's
    /// (ctm; observed), then the presubtract result; each as swizzles number what they read.
    values: [[f32; 8]; 4],
}

impl Sources {
    /// The sources of one pixel.
    #[inline]
    pub(super) fn new(lane: &Lane, registers: &Registers, alu: &Alu, arith: Arith) -> Self {
        let mut values = [swizzles([0.0; 4]); 4];
        for (n, value) in values.iter_mut().take(3).enumerate() {
            let [r, g, b, _] = registers.rgb[n].read(lane);
            let [.., a] = registers.alpha[n].read(lane);
            *value = swizzles([r, g, b, a]);
        }
        if alu.uses_srcp {
            // Observed: the colours of srcp always come from the RGB half's presubtract and its
            // alpha from the alpha half's, whoever reads them.
            let op = |i: usize| if i < 3 { alu.rgb.srcp } else { alu.alpha.srcp };
            let channel = |i: usize| presubtract(op(i), values[0][i], values[1][i], arith);
            values[3] = swizzles([channel(0), channel(1), channel(2), channel(3)]);
        }
        Self { values }
    }

    /// A channel of source 0, as MDH and MDV read it.
    pub(super) fn src0(&self, channel: usize) -> f32 {
        self.values[0][channel]
    }

    /// An operand: select, swizzle, modifier (documented in this order; the modifier applies to
    /// the constants of the swizzle too), in the channels of a mask.
    #[inline]
    pub(super) fn operand<const N: usize>(&self, operand: &Operand<N>, mask: u8) -> [f32; N] {
        let source = &self.values[usize::from(operand.sel.code() & 3)];
        let mut value = [0.0; N];
        for (i, x) in value.iter_mut().enumerate() {
            if mask >> i & 1 != 0 {
                *x = modify(operand.modifier, source[usize::from(operand.swiz[i].code() & 7)]);
            }
        }
        value
    }
}

/// What each swizzle code reads of a source: red, green, blue, alpha, 0, 1/2, 1, and 0 for `UNUSED`
/// (drivers write 4 or 0 instead).
#[inline]
fn swizzles([r, g, b, a]: [f32; 4]) -> [f32; 8] {
    [r, g, b, a, 0.0, 0.5, 1.0, 0.0]
}

impl Register {
    #[inline]
    fn read(self, lane: &Lane) -> [f32; 4] {
        match self {
            Self::Temp(temp) => lane.temps.get(temp).copied().unwrap_or_default(),
            Self::Shared(value) => value,
        }
    }
}

/// Presubtract, on the unswizzled, unmodified sources (documented, ctm).
#[inline]
fn presubtract(op: SrcpOp, src0: f32, src1: f32, arith: Arith) -> f32 {
    match op {
        SrcpOp::SUB => arith.sub(src1, src0),
        SrcpOp::ADD => arith.add(src1, src0),
        SrcpOp::NEG => arith.sub(1.0, src0),
        _ => arith.one_minus_twice(src0),
    }
}

/// Input modifiers act on the sign bit alone: `NEG` flips it, `ABS` clears it, `NAB` sets it.
#[inline]
pub(super) fn modify(modifier: Mod, x: f32) -> f32 {
    const SIGN: u32 = 1 << 31;
    let (clear, flip) = match modifier {
        Mod::NEG => (0, SIGN),
        Mod::ABS => (SIGN, 0),
        Mod::NAB => (SIGN, SIGN),
        _ => (0, 0),
    };
    f32::from_bits(x.to_bits() & !clear ^ flip)
}

impl Group<'_> {
    /// The source registers of an instruction. One that its result does not depend on is left out,
    /// unless somebody watches or a reading makes more of the operands than the law does.
    pub(super) fn registers(&self, alu: &Alu) -> Registers {
        let all = self.event.is_some() || self.draw.options.readings != Readings::LAW;
        let resolve = |source: Source, read: bool| {
            if all || read { self.resolve(source) } else { Register::Shared([0.0; 4]) }
        };
        let SourceReads { rgb, alpha } = alu.reads;
        Registers {
            rgb: [0, 1, 2].map(|n| resolve(alu.rgb.sources[n], rgb[n] != 0)),
            alpha: [0, 1, 2].map(|n| resolve(alu.alpha.sources[n], alpha[n])),
        }
    }

    /// aL outside every loop.
    pub(super) fn outer_al(&self) -> i32 {
        match self.draw.options.readings.al_outside {
            AlOutside::Zero => 0,
            AlOutside::Last => self.last_al,
        }
    }

    /// The temporary that an address names, aL added if asked for.
    pub(super) fn temp_address(&self, addr: u8, relative: bool) -> usize {
        self.relative(addr, relative, TEMPORARIES)
    }

    /// Whether a temporary exists.
    pub(super) fn temp_exists(&self, temp: usize) -> bool {
        self.draw.options.readings.past_pixsize == PastPixsize::Exist || !self.is_past(temp)
    }

    /// A temporary's value.
    pub(super) fn temp(&self, lane: usize, temp: usize) -> [f32; 4] {
        if !self.temp_exists(temp) {
            return [0.0; 4];
        }
        self.lanes.get(lane).and_then(|lane| lane.temps.get(temp)).copied().unwrap_or_default()
    }

    /// Findings of what an instruction reads.
    pub(super) fn check_sources(&mut self, lane: usize, address: u32, alu: &Alu) {
        let SourceReads { rgb, alpha } = alu.reads;
        for n in 0..3 {
            if rgb[n] != 0 {
                self.check_source(lane, address, alu.rgb.sources[n], rgb[n]);
            }
            if alpha[n] {
                self.check_source(lane, address, alu.alpha.sources[n], 8);
            }
        }
    }

    /// Findings of reading some channels of a temporary.
    pub(super) fn check_temp(&mut self, lane: usize, address: u32, temp: usize, channels: u8) {
        let written = self.lanes.get(lane).map_or(0, |lane| lane.written[temp]);
        if channels & !written != 0 {
            self.find(lane, FindingKind::NeverWritten, address, saturate(temp));
        }
        if self.fetches.pending(temp) {
            self.find(lane, FindingKind::NotAwaited, address, saturate(temp));
        }
        if self.is_past(temp) {
            self.find(lane, FindingKind::PastPixsize, address, saturate(temp));
        }
    }

    /// Findings of an address that aL may move out of range.
    pub(super) fn check_relative(
        &mut self,
        lane: usize,
        address: u32,
        addr: u8,
        relative: bool,
        registers: usize,
    ) {
        let moved = i32::from(addr) + self.al();
        if relative && !(0..saturate(registers)).contains(&moved) {
            self.find(lane, FindingKind::RelativeRange, address, moved);
        }
    }

    fn check_source(&mut self, lane: usize, address: u32, source: Source, channels: u8) {
        match self.place(source) {
            Place::Temp(temp) => {
                self.check_relative(lane, address, source.addr, source.relative, TEMPORARIES);
                self.check_temp(lane, address, temp, channels);
            }
            Place::Constant(n) => {
                self.check_relative(lane, address, source.addr, source.relative, CONSTANTS);
                if self.draw.bindings.constant(n).is_none() {
                    self.find(lane, FindingKind::NoConstant, address, saturate(n));
                }
            }
            Place::Inline(_) => {}
        }
    }

    fn resolve(&self, source: Source) -> Register {
        match self.place(source) {
            Place::Temp(temp) if self.temp_exists(temp) => Register::Temp(temp),
            Place::Temp(_) => Register::Shared([0.0; 4]),
            Place::Constant(n) => {
                Register::Shared(self.draw.bindings.constant(n).unwrap_or_default())
            }
            Place::Inline(inline) => Register::Shared([inline.value(); 4]),
        }
    }

    /// What a source address names (documented: CONST, then bit 7; REL adds aL first).
    fn place(&self, source: Source) -> Place {
        if source.constant {
            return Place::Constant(self.relative(source.addr, source.relative, CONSTANTS));
        }
        match source.inline() {
            None => Place::Temp(self.temp_address(source.addr, source.relative)),
            Some(inline) => {
                let adds = self.draw.options.readings.inline_relative == InlineRelative::Add;
                if source.relative && adds {
                    let code = i32::from(inline.code()) + self.al();
                    Place::Inline(InlineConst::new(code.to_le_bytes()[0]))
                } else {
                    Place::Inline(inline)
                }
            }
        }
    }

    /// An address of a bank of `registers`, aL added if asked for. Beyond the bank nothing is
    /// defined (open).
    fn relative(&self, addr: u8, relative: bool, registers: usize) -> usize {
        if !relative {
            return usize::from(addr) % registers;
        }
        let last = i32::try_from(registers).unwrap_or(i32::MAX) - 1;
        let moved = i32::from(addr) + self.al();
        let inside = match self.draw.options.readings.relative_range {
            RelativeRange::Wrap => moved.rem_euclid(last + 1),
            RelativeRange::Clamp => moved.clamp(0, last),
        };
        usize::try_from(inside).unwrap_or(0)
    }

    /// Whether a temporary is above US_PIXSIZE.
    pub(super) fn is_past(&self, temp: usize) -> bool {
        self.draw.shader.pixsize().is_some_and(|last| temp > usize::from(last))
    }
}

/// `SEL` and `SWIZ` codes index what they select.
const _: () = {
    assert!(Sel::SRC0.code() == 0 && Sel::SRC2.code() == 2 && Sel::SRCP.code() == 3);
    assert!(Swiz::R.code() == 0 && Swiz::A.code() == 3 && Swiz::ZERO.code() == 4);
    assert!(Swiz::HALF.code() == 5 && Swiz::ONE.code() == 6 && Swiz::UNUSED.code() == 7);
};
