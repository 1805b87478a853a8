//! Operand resolution: from source addresses to operands.

use r500_isa::dataflow::SourceReads;
use r500_isa::values::{AlphaOp, Mod, RgbOp, Sel, SrcpOp, Swiz};
use r500_isa::{CONSTANTS, InlineConst, Operand, Source, TEMPORARIES};

use super::group::{Group, saturate};
use crate::numerics::Arith;
use crate::reading::{Dp4Derivative, InlineRelative, PastPixsize, RelativeRange};
use crate::shader::Alu;
use crate::warning::WarningKind;

/// The operands of an instruction: the source of each channel. The pixels of a group share aL, so they share
/// the operands, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    /// A, B, C of the RGB half.
    pub(super) rgb: [[Channel; 3]; 3],
    /// A, B, C of the alpha half.
    pub(super) alpha: [Channel; 3],
    /// A and B of the alpha half as DP4's fourth pair.
    pub(super) dp4: [Channel; 2],
}

/// A channel of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    from: ChannelOrigin,
    modifier: Mod,
}

/// The source of a channel.
#[derive(Clone, Copy, Debug)]
enum ChannelOrigin {
    /// A source of the same pixel.
    Own(SourceChannel),
    /// A source of a corner of its quad.
    Corner(usize, SourceChannel),
    /// Presubtract of sources 0 and 1.
    Srcp(SrcpOp, [SourceChannel; 2]),
}

/// A channel of a source: of a temporary, or a value that all pixels share.
#[derive(Clone, Copy, Debug)]
enum SourceChannel {
    Temp(usize, usize),
    Shared(f32),
}

/// The register or constant that an address selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceLocation {
    Temp(usize),
    Constant(usize),
    Inline(InlineConst),
}

/// The channels of `src0` to `src2`: colours of the RGB half's source, alpha of the alpha half's, for readers
/// in either half (ctm; observed).
type SourceChannels = [[SourceChannel; 4]; 3];

/// Corners of a quad.
const TOP_LEFT: usize = 0;
const TOP_RIGHT: usize = 1;
const BOTTOM_LEFT: usize = 2;

/// Returns the channel of an operand by select, swizzle and modifier (documented in this order; the modifier
/// applies to the constants of the swizzle too).
fn channel(alu: &Alu, channels: &SourceChannels, sel: Sel, swiz: Swiz, modifier: Mod) -> Channel {
    let own = |cell| Channel { from: ChannelOrigin::Own(cell), modifier };
    let i = match swiz {
        Swiz::R | Swiz::G | Swiz::B | Swiz::A => usize::from(swiz.code()),
        Swiz::HALF => return own(SourceChannel::Shared(0.5)),
        Swiz::ONE => return own(SourceChannel::Shared(1.0)),
        // UNUSED reads as 0 (drivers write 4 or 0 instead).
        _ => return own(SourceChannel::Shared(0.0)),
    };
    match sel {
        Sel::SRC0 => own(channels[0][i]),
        Sel::SRC1 => own(channels[1][i]),
        Sel::SRC2 => own(channels[2][i]),
        // Observed: the colours of srcp always come from the RGB half's presubtract and its alpha
        // from the alpha half's, for readers in either half.
        _ => {
            let op = if i < 3 { alu.rgb.srcp } else { alu.alpha.srcp };
            Channel { from: ChannelOrigin::Srcp(op, [channels[0][i], channels[1][i]]), modifier }
        }
    }
}

/// Returns the corner that C of a difference comes from; A comes from the top left one (documented).
fn second_corner(horizontal: bool) -> usize {
    if horizontal { TOP_RIGHT } else { BOTTOM_LEFT }
}

/// Applies presubtract to the unswizzled, unmodified sources (documented, ctm).
#[inline]
fn presubtract(op: SrcpOp, src0: f32, src1: f32, arith: Arith) -> f32 {
    match op {
        SrcpOp::SUB => arith.sub(src1, src0),
        SrcpOp::ADD => arith.add(src1, src0),
        SrcpOp::NEG => arith.sub(1.0, src0),
        _ => arith.one_minus_twice(src0),
    }
}

/// Applies an input modifier, which acts on the sign bit alone: `NEG` flips it, `ABS` clears it, `NAB` sets
/// it.
#[inline]
fn modify(modifier: Mod, x: f32) -> f32 {
    match modifier {
        Mod::NEG => -x,
        Mod::ABS => x.abs(),
        Mod::NAB => -x.abs(),
        _ => x,
    }
}

impl Group<'_> {
    /// Resolves the operands of an instruction.
    pub(super) fn operands(&self, alu: &Alu) -> Operands {
        let channels = self.channels(alu);
        let rgb = alu.rgb.operands.map(|Operand { sel, swiz, modifier }| {
            swiz.map(|swiz| channel(alu, &channels, sel, swiz, modifier))
        });
        let alpha = alu.alpha.operands.map(|Operand { sel, swiz: [swiz], modifier }| {
            channel(alu, &channels, sel, swiz, modifier)
        });
        let [a, b, _] = alpha;
        let mut operands = Operands { rgb, alpha, dp4: [a, b] };
        self.set_corner_operands(alu, &channels, &mut operands);
        operands
    }

    /// Sets the operands of MDH and MDV. Documented: A and C are source 0 of two corners of the quad; select
    /// and swizzle are ignored, modifiers are not. The corner's register is read whether or not that pixel is
    /// active, covered or killed (derived).
    fn set_corner_operands(&self, alu: &Alu, channels: &SourceChannels, operands: &mut Operands) {
        let corner = |at: usize, i: usize, modifier: Mod| Channel {
            from: ChannelOrigin::Corner(at, channels[0][i]),
            modifier,
        };
        if alu.rgb.op.is_derivative() {
            let second = second_corner(alu.rgb.op == RgbOp::MDH);
            let [a, _, c] = alu.rgb.operands.map(|operand| operand.modifier);
            operands.rgb[0] = [0, 1, 2].map(|i| corner(TOP_LEFT, i, a));
            operands.rgb[2] = [0, 1, 2].map(|i| corner(second, i, c));
        }
        if alu.alpha.op.is_derivative() {
            let second = second_corner(alu.alpha.op == AlphaOp::MDH);
            let [a, _, c] = alu.alpha.operands.map(|operand| operand.modifier);
            operands.alpha[0] = corner(TOP_LEFT, 3, a);
            operands.alpha[2] = corner(second, 3, c);
            if self.draw.options.readings.dp4_derivative == Dp4Derivative::Corners {
                operands.dp4 = [operands.alpha[0], operands.alpha[1]];
            }
        }
    }

    /// Returns a channel of an operand for one lane.
    #[inline]
    pub(super) fn value(&self, lane: usize, channel: &Channel) -> f32 {
        let x = match channel.from {
            ChannelOrigin::Own(cell) => self.cell(lane, cell),
            ChannelOrigin::Corner(corner, cell) => self.cell(lane - lane % 4 + corner, cell),
            ChannelOrigin::Srcp(op, [src0, src1]) => {
                presubtract(op, self.cell(lane, src0), self.cell(lane, src1), self.arith)
            }
        };
        modify(channel.modifier, x)
    }

    #[inline]
    fn cell(&self, lane: usize, cell: SourceChannel) -> f32 {
        match cell {
            SourceChannel::Temp(temp, channel) => self.state.lanes[lane].temps[temp][channel],
            SourceChannel::Shared(value) => value,
        }
    }

    fn channels(&self, alu: &Alu) -> SourceChannels {
        [0, 1, 2].map(|n| {
            let [r, g, b, _] = self.resolve(alu.rgb.sources[n]);
            let [.., a] = self.resolve(alu.alpha.sources[n]);
            [r, g, b, a]
        })
    }

    /// Returns the temporary that an address selects, with aL added if `relative`.
    pub(super) fn temp_address(&self, addr: u8, relative: bool) -> usize {
        self.relative(addr, relative, TEMPORARIES)
    }

    /// Returns whether a temporary exists.
    pub(super) fn temp_exists(&self, temp: usize) -> bool {
        self.draw.options.readings.past_pixsize == PastPixsize::Exist || !self.is_past(temp)
    }

    /// Returns the value of a temporary.
    pub(super) fn temp(&self, lane: usize, temp: usize) -> [f32; 4] {
        if !self.temp_exists(temp) {
            return [0.0; 4];
        }
        self.state
            .lanes
            .get(lane)
            .and_then(|lane| lane.temps.get(temp))
            .copied()
            .unwrap_or_default()
    }

    /// Warns about the sources of an instruction.
    pub(super) fn check_sources(&mut self, lane: usize, address: u32, alu: &Alu) {
        let SourceReads { rgb, alpha, .. } = alu.reads;
        for n in 0..3 {
            if rgb[n] != 0 {
                self.check_source(lane, address, alu.rgb.sources[n], rgb[n]);
            }
            if alpha[n] {
                self.check_source(lane, address, alu.alpha.sources[n], 8);
            }
        }
    }

    /// Warns about reading channels of a temporary.
    pub(super) fn check_temp(&mut self, lane: usize, address: u32, temp: usize, channels: u8) {
        let written = self.state.lanes.get(lane).map_or(0, |lane| lane.written[temp]);
        if channels & !written != 0 {
            self.warn(lane, WarningKind::NeverWritten, address, saturate(temp));
        }
        if channels & self.state.fetches.pending(temp) != 0 {
            self.warn(lane, WarningKind::NotAwaited, address, saturate(temp));
        }
        if self.is_past(temp) {
            self.warn(lane, WarningKind::PastPixsize, address, saturate(temp));
        }
    }

    /// Warns about an address that aL moves out of range.
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
            self.warn(lane, WarningKind::RelativeRange, address, moved);
        }
    }

    fn check_source(&mut self, lane: usize, address: u32, source: Source, channels: u8) {
        match self.location(source) {
            SourceLocation::Temp(temp) => {
                self.check_relative(lane, address, source.addr, source.relative, TEMPORARIES);
                self.check_temp(lane, address, temp, channels);
            }
            SourceLocation::Constant(n) => {
                self.check_relative(lane, address, source.addr, source.relative, CONSTANTS);
                if self.draw.bindings.constant(n).is_none() {
                    self.warn(lane, WarningKind::NoConstant, address, saturate(n));
                }
            }
            SourceLocation::Inline(_) => {}
        }
    }

    /// Returns the channels of a source.
    fn resolve(&self, source: Source) -> [SourceChannel; 4] {
        match self.location(source) {
            SourceLocation::Temp(temp) if self.temp_exists(temp) => {
                [0, 1, 2, 3].map(|channel| SourceChannel::Temp(temp, channel))
            }
            SourceLocation::Temp(_) => [SourceChannel::Shared(0.0); 4],
            SourceLocation::Constant(n) => {
                self.draw.bindings.constant(n).unwrap_or_default().map(SourceChannel::Shared)
            }
            SourceLocation::Inline(inline) => [SourceChannel::Shared(inline.value()); 4],
        }
    }

    /// Returns the register or constant of a source address (documented: CONST, then bit 7; REL adds aL
    /// first).
    fn location(&self, source: Source) -> SourceLocation {
        if source.constant {
            return SourceLocation::Constant(self.relative(
                source.addr,
                source.relative,
                CONSTANTS,
            ));
        }
        match source.inline() {
            None => SourceLocation::Temp(self.temp_address(source.addr, source.relative)),
            Some(inline) => {
                let adds = self.draw.options.readings.inline_relative == InlineRelative::Add;
                if source.relative && adds {
                    let code = i32::from(inline.code()) + self.al();
                    SourceLocation::Inline(InlineConst::new(code.to_le_bytes()[0]))
                } else {
                    SourceLocation::Inline(inline)
                }
            }
        }
    }

    /// Returns an index into a bank of `registers`, with aL added if `relative`. An index beyond the bank is
    /// undefined (open).
    #[expect(clippy::expect_used, reason = "register files are small, the index is in the file")]
    fn relative(&self, addr: u8, relative: bool, registers: usize) -> usize {
        if !relative {
            return usize::from(addr) % registers;
        }
        let last = i32::try_from(registers).expect("a register file is small") - 1;
        let moved = i32::from(addr) + self.al();
        let inside = match self.draw.options.readings.relative_range {
            RelativeRange::Wrap => moved.rem_euclid(last + 1),
            RelativeRange::Clamp => moved.clamp(0, last),
        };
        usize::try_from(inside).expect("an index in the file")
    }

    /// Returns whether a temporary is above US_PIXSIZE.
    pub(super) fn is_past(&self, temp: usize) -> bool {
        self.draw.shader.pixsize().is_some_and(|last| temp > usize::from(last))
    }
}
