//! Operand use of ALU and OUT instructions: which operands an operation reads, and which source
//! channels reach the result.
//!
//! Only the encoding counts: an idle half reads nothing, a channel that is not written needs no
//! operand, and an operand that swizzles in a colour reads the RGB address, in either half.

use crate::values::{AlphaOp, AluResultSel, InstType, RgbOp, Sel, SrcpOp, Swiz};
use crate::{Half, Instruction, Slot};

/// The source channels that the result of an instruction depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceReads {
    /// Colours read of each RGB source: red in bit 0, green in bit 1, blue in bit 2.
    pub rgb: [u8; 3],
    /// Whether the alpha of each alpha source is read.
    pub alpha: [bool; 3],
    /// Channels of source 0 that MDH and MDV read in the pixels of the quad: colours of the RGB source in bits 0 to 2
    /// (red lowest), alpha of the alpha source in bit 3. They are in `rgb` and `alpha`, too.
    pub quad: u8,
}

impl RgbOp {
    /// Returns whether the operation uses an operand of the RGB half by its select and swizzle.
    #[must_use]
    pub fn uses(self, slot: Slot) -> bool {
        match self {
            Self::MAD | Self::D2A | Self::CND | Self::CMP => true,
            Self::DP3 | Self::DP4 | Self::MIN | Self::MAX => slot != Slot::C,
            Self::FRC => slot == Slot::A,
            Self::MDH | Self::MDV => slot == Slot::B,
            _ => false,
        }
    }

    /// Returns whether the operation is a dot product. `OP_DP` of the alpha half forwards its
    /// result.
    #[must_use]
    pub fn is_dot_product(self) -> bool {
        matches!(self, Self::DP3 | Self::DP4 | Self::D2A)
    }

    /// Returns whether the operation is a derivative, which reads source 0 of the pixels of the
    /// quad.
    #[must_use]
    pub fn is_derivative(self) -> bool {
        matches!(self, Self::MDH | Self::MDV)
    }
}

impl AlphaOp {
    /// Returns whether the operation uses an operand of the alpha half by its select and swizzle.
    #[must_use]
    pub fn uses(self, slot: Slot) -> bool {
        match self {
            Self::MAD | Self::CND | Self::CMP => true,
            Self::MIN | Self::MAX => slot != Slot::C,
            Self::MDH | Self::MDV => slot == Slot::B,
            Self::DP => false,
            _ if self.is_named() => slot == Slot::A,
            _ => false,
        }
    }

    /// Returns whether the operation is transcendental. `OP_SOP` of the RGB half forwards its
    /// result.
    #[must_use]
    pub fn is_transcendental(self) -> bool {
        matches!(self, Self::EX2 | Self::LN2 | Self::RCP | Self::RSQ | Self::SIN | Self::COS)
    }

    /// Returns whether the operation is a derivative, which reads source 0 of the pixels of the
    /// quad.
    #[must_use]
    pub fn is_derivative(self) -> bool {
        matches!(self, Self::MDH | Self::MDV)
    }
}

impl Instruction {
    /// Returns the channels of an ALU or OUT instruction's result that are written anywhere
    /// (temporaries, outputs, predicate bits, ALU result, depth): colours in bits 0 to 2 (red
    /// lowest), alpha in bit 3.
    #[must_use]
    pub fn result_channels(self) -> u8 {
        let cmn = self.cmn();
        let mut mask = cmn.rgb_wmask().code() | cmn.rgb_omask().code();
        mask |= u8::from(cmn.alpha_wmask() || cmn.alpha_omask()) << 3;
        if self.rgb_inst().alu_wmask() {
            mask |= if cmn.alu_result_sel() == AluResultSel::RED { 1 } else { 8 };
        }
        if self.alpha_inst().w_omask() && self.ty() == InstType::OUT {
            mask |= 8;
        }
        mask
    }

    /// Returns whether the RGB half, and whether the alpha half of an ALU or OUT instruction has an effect: its result is written, or
    /// the other half forwards it.
    #[must_use]
    pub fn active_halves(self) -> [bool; 2] {
        let wanted = self.result_channels();
        let (rgb, alpha) = (wanted & 7 != 0, wanted & 8 != 0);
        let forwards_rgb = self.alpha_inst().alpha_op() == AlphaOp::DP;
        let forwards_alpha = self.rgba_inst().rgb_op() == RgbOp::SOP;
        [rgb || (alpha && forwards_rgb), alpha || (rgb && forwards_alpha)]
    }

    /// Returns the source channels that an ALU or OUT instruction reads.
    #[must_use]
    pub fn source_reads(self) -> SourceReads {
        let mut reads = SourceReads::default();
        let wanted = self.result_channels();
        let (rgb_op, alpha_op) = (self.rgba_inst().rgb_op(), self.alpha_inst().alpha_op());
        let (mut rgb, mut alpha) = (wanted & 7, wanted & 8 != 0);
        // The other half may be the only user of a half's result.
        if rgb_op == RgbOp::SOP && rgb != 0 {
            alpha = true;
        }
        if alpha && alpha_op == AlphaOp::DP && rgb_op.is_dot_product() {
            rgb |= 1;
        }
        if rgb != 0 {
            self.rgb_half_reads(rgb_op, rgb, &mut reads);
        }
        if alpha {
            for slot in Slot::ALL.into_iter().filter(|slot| alpha_op.uses(*slot)) {
                let operand = self.alpha_operand(slot);
                self.channel_reads(operand.sel, operand.swiz[0], &mut reads);
            }
            if alpha_op.is_derivative() {
                reads.alpha[0] = true;
                reads.quad |= 8;
            }
        }
        reads
    }

    fn rgb_half_reads(self, op: RgbOp, wanted: u8, reads: &mut SourceReads) {
        for slot in Slot::ALL.into_iter().filter(|slot| op.uses(*slot)) {
            let operand = self.rgb_operand(slot);
            let channels = match (op, slot) {
                (RgbOp::DP3 | RgbOp::DP4, _) => 0b111,
                (RgbOp::D2A, Slot::C) => 0b100,
                (RgbOp::D2A, _) => 0b011,
                _ => wanted,
            };
            for (i, swiz) in operand.swiz.into_iter().enumerate() {
                if channels >> i & 1 != 0 {
                    self.channel_reads(operand.sel, swiz, reads);
                }
            }
        }
        if op == RgbOp::DP4 {
            for slot in [Slot::A, Slot::B] {
                let operand = self.alpha_operand(slot);
                self.channel_reads(operand.sel, operand.swiz[0], reads);
            }
        }
        if op.is_derivative() {
            reads.rgb[0] |= wanted;
            reads.quad |= wanted;
        }
    }

    /// Adds the source channels that one channel of an operand reads.
    fn channel_reads(self, sel: Sel, swiz: Swiz, reads: &mut SourceReads) {
        let colour = match swiz {
            Swiz::R | Swiz::G | Swiz::B => Some(1 << swiz.code()),
            Swiz::A => None,
            _ => return,
        };
        let half = if colour.is_some() { Half::Rgb } else { Half::Alpha };
        let used = match sel {
            Sel::SRC0 => [true, false, false],
            Sel::SRC1 => [false, true, false],
            Sel::SRC2 => [false, false, true],
            _ => {
                let two = matches!(self.srcp_op(half), SrcpOp::SUB | SrcpOp::ADD);
                [true, two, false]
            }
        };
        for (n, used) in used.into_iter().enumerate() {
            match colour {
                Some(mask) if used => reads.rgb[n] |= mask,
                None => reads.alpha[n] |= used,
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_half_reads_nothing() {
        // The idle alpha half that Mesa writes, with `temp[9].g = FRC src1.rrr` of the dialect.
        let inst = Instruction([0x1000, 0x0800_1480, 0x0802_0080, 1, 0, 0x99]);
        assert_eq!(inst.source_reads(), SourceReads { rgb: [0, 1, 0], ..SourceReads::default() });
    }

    #[test]
    fn presubtract_reads_both_colours() {
        // temp[8].rg = MAD srcp.rg_ src0.h1_ src0.00_ with srcp.rgb = sub.
        let inst = Instruction([0x1800, 0x4800_1c06, 0x0802_0080, 0x00fa_8723, 0, 0x0079_0080]);
        assert_eq!(inst.source_reads(), SourceReads { rgb: [3, 3, 0], ..SourceReads::default() });
    }

    #[test]
    fn alpha_operands_reach_colours() {
        // temp[6].a = CMP src1.b src2.a -src0.1: blue of RGB source 1, alpha of alpha source 2.
        let inst = Instruction([0x4000, 0x0804_2480, 0x0a12_0080, 0, 0x0070_9066, 0x7000_0000]);
        assert_eq!(
            inst.source_reads(),
            SourceReads { rgb: [0, 4, 0], alpha: [false, false, true], quad: 0 }
        );
    }
}
