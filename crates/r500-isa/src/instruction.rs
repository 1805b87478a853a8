//! Instructions: six dwords, and accessors that combine fields of several dwords.

use crate::table::{FieldKind, Register};
use crate::values::{Mod, Omod, Sel, SrcpOp, Swiz, Target};
use crate::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use crate::{InlineConst, Word, values::InstType};

/// An instruction: six dwords with any bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Instruction(pub [u32; 6]);

/// The two halves of an ALU or OUT instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Colours.
    Rgb,
    /// Alpha.
    Alpha,
}

/// The three operands of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// First operand.
    A,
    /// Second operand.
    B,
    /// Third operand.
    C,
}

impl Slot {
    /// All three in order.
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::C];
}

/// A source address (`ADDRn`, `ADDRn_CONST`, `ADDRn_REL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// `ADDRn`, eight bits.
    pub addr: u8,
    /// `ADDRn_CONST`.
    pub constant: bool,
    /// `ADDRn_REL`.
    pub relative: bool,
}

impl Source {
    /// Inline constant 0, which compilers and assemblers use for an unused source.
    pub const UNUSED: Self = Self { addr: 0x80, constant: false, relative: false };

    /// Returns the inline constant, if the address encodes one.
    #[must_use]
    pub const fn inline(self) -> Option<InlineConst> {
        if !self.constant && self.addr & 0x80 != 0 {
            Some(InlineConst::new(self.addr))
        } else {
            None
        }
    }

    /// Returns the temporary (before `REL`), if the address names one.
    #[must_use]
    pub const fn temporary(self) -> Option<u8> {
        if !self.constant && self.addr & 0x80 == 0 { Some(self.addr) } else { None }
    }
}

/// An operand: a select, a swizzle per channel and a modifier. The alpha half uses one swizzle, the
/// RGB half three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand<const N: usize> {
    /// `*_SEL_*`.
    pub sel: Sel,
    /// `*_SWIZ_*`, one per channel.
    pub swiz: [Swiz; N],
    /// `*_MOD_*`.
    pub modifier: Mod,
}

impl Instruction {
    /// Decodes little-endian bytes, the order of program files.
    #[must_use]
    pub fn from_le_bytes(bytes: &[u8; 24]) -> Self {
        let mut words = [0; 6];
        for (word, b) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        Self(words)
    }

    /// Encodes as little-endian bytes.
    #[must_use]
    pub fn to_le_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (b, word) in bytes.chunks_exact_mut(4).zip(self.0) {
            b.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns word 0.
    #[inline]
    #[must_use]
    pub const fn cmn(self) -> CmnInst {
        CmnInst(self.0[0])
    }

    /// Returns `US_CMN_INST.TYPE`.
    #[inline]
    #[must_use]
    pub fn ty(self) -> InstType {
        self.cmn().ty()
    }

    /// Returns word 1 of an ALU or OUT instruction.
    #[inline]
    #[must_use]
    pub const fn rgb_addr(self) -> AluRgbAddr {
        AluRgbAddr(self.0[1])
    }

    /// Returns word 2 of an ALU or OUT instruction.
    #[inline]
    #[must_use]
    pub const fn alpha_addr(self) -> AluAlphaAddr {
        AluAlphaAddr(self.0[2])
    }

    /// Returns word 3 of an ALU or OUT instruction.
    #[inline]
    #[must_use]
    pub const fn rgb_inst(self) -> AluRgbInst {
        AluRgbInst(self.0[3])
    }

    /// Returns word 4 of an ALU or OUT instruction.
    #[inline]
    #[must_use]
    pub const fn alpha_inst(self) -> AluAlphaInst {
        AluAlphaInst(self.0[4])
    }

    /// Returns word 5 of an ALU or OUT instruction.
    #[inline]
    #[must_use]
    pub const fn rgba_inst(self) -> AluRgbaInst {
        AluRgbaInst(self.0[5])
    }

    /// Returns word 1 of a texture instruction.
    #[inline]
    #[must_use]
    pub const fn tex_inst(self) -> TexInst {
        TexInst(self.0[1])
    }

    /// Returns word 2 of a texture instruction.
    #[inline]
    #[must_use]
    pub const fn tex_addr(self) -> TexAddr {
        TexAddr(self.0[2])
    }

    /// Returns word 3 of a texture instruction.
    #[inline]
    #[must_use]
    pub const fn tex_addr_dxdy(self) -> TexAddrDxdy {
        TexAddrDxdy(self.0[3])
    }

    /// Returns word 2 of a flow-control instruction.
    #[inline]
    #[must_use]
    pub const fn fc_inst(self) -> FcInst {
        FcInst(self.0[2])
    }

    /// Returns word 3 of a flow-control instruction.
    #[inline]
    #[must_use]
    pub const fn fc_addr(self) -> FcAddr {
        FcAddr(self.0[3])
    }

    /// Returns the register layout of the six dwords for this instruction type; `None` for dwords
    /// that the hardware ignores.
    #[must_use]
    pub fn layout(self) -> [Option<&'static Register>; 6] {
        let cmn = Some(CmnInst::REGISTER);
        match self.ty() {
            InstType::FC => [cmn, None, Some(FcInst::REGISTER), Some(FcAddr::REGISTER), None, None],
            InstType::TEX => [
                cmn,
                Some(TexInst::REGISTER),
                Some(TexAddr::REGISTER),
                Some(TexAddrDxdy::REGISTER),
                None,
                None,
            ],
            _ => [
                cmn,
                Some(AluRgbAddr::REGISTER),
                Some(AluAlphaAddr::REGISTER),
                Some(AluRgbInst::REGISTER),
                Some(AluAlphaInst::REGISTER),
                Some(AluRgbaInst::REGISTER),
            ],
        }
    }

    /// Returns whether the instruction has an encoding without a meaning: a reserved code in a
    /// field, a bit that belongs to no field, or a bit of a dword that the hardware ignores.
    #[must_use]
    pub fn uses_reserved_encodings(self) -> bool {
        let is_reserved = |register: &Register, word: u32| {
            let choices = register.fields.iter().filter(|field| field.kind == FieldKind::Choice);
            word & !register.named_bits() != 0
                || choices.into_iter().any(|field| field.value(field.extract(word)).is_none())
        };
        self.layout().into_iter().zip(self.0).any(|(register, word)| match register {
            Some(register) => is_reserved(register, word),
            None => word != 0,
        })
    }

    /// Returns the three source addresses of a half.
    #[inline]
    #[must_use]
    pub fn sources(self, half: Half) -> [Source; 3] {
        match half {
            Half::Rgb => self.rgb_addr().sources(),
            Half::Alpha => self.alpha_addr().sources(),
        }
    }

    /// Returns `SRCP_OP` of a half.
    #[inline]
    #[must_use]
    pub fn srcp_op(self, half: Half) -> SrcpOp {
        match half {
            Half::Rgb => self.rgb_addr().srcp_op(),
            Half::Alpha => self.alpha_addr().srcp_op(),
        }
    }

    /// Returns `OMOD` of a half.
    #[inline]
    #[must_use]
    pub fn omod(self, half: Half) -> Omod {
        match half {
            Half::Rgb => self.rgb_inst().omod(),
            Half::Alpha => self.alpha_inst().omod(),
        }
    }

    /// Returns `TARGET` of a half.
    #[inline]
    #[must_use]
    pub fn target(self, half: Half) -> Target {
        match half {
            Half::Rgb => self.rgb_inst().target(),
            Half::Alpha => self.alpha_inst().target(),
        }
    }

    /// Returns an operand of the RGB half (words 3 and 5).
    #[inline]
    #[must_use]
    pub fn rgb_operand(self, slot: Slot) -> Operand<3> {
        let (w, v) = (self.rgb_inst(), self.rgba_inst());
        match slot {
            Slot::A => Operand {
                sel: w.rgb_sel_a(),
                swiz: [w.red_swiz_a(), w.green_swiz_a(), w.blue_swiz_a()],
                modifier: w.rgb_mod_a(),
            },
            Slot::B => Operand {
                sel: w.rgb_sel_b(),
                swiz: [w.red_swiz_b(), w.green_swiz_b(), w.blue_swiz_b()],
                modifier: w.rgb_mod_b(),
            },
            Slot::C => Operand {
                sel: v.rgb_sel_c(),
                swiz: [v.red_swiz_c(), v.green_swiz_c(), v.blue_swiz_c()],
                modifier: v.rgb_mod_c(),
            },
        }
    }

    /// Returns an operand of the alpha half (words 4 and 5).
    #[inline]
    #[must_use]
    pub fn alpha_operand(self, slot: Slot) -> Operand<1> {
        let (w, v) = (self.alpha_inst(), self.rgba_inst());
        let (sel, swiz, modifier) = match slot {
            Slot::A => (w.alpha_sel_a(), w.alpha_swiz_a(), w.alpha_mod_a()),
            Slot::B => (w.alpha_sel_b(), w.alpha_swiz_b(), w.alpha_mod_b()),
            Slot::C => (v.alpha_sel_c(), v.alpha_swiz_c(), v.alpha_mod_c()),
        };
        Operand { sel, swiz: [swiz], modifier }
    }

    /// Returns the instruction with an operand of the RGB half replaced.
    #[must_use]
    pub fn with_rgb_operand(mut self, slot: Slot, operand: Operand<3>) -> Self {
        let Operand { sel, swiz: [r, g, b], modifier } = operand;
        let (w, v) = (self.rgb_inst(), self.rgba_inst());
        match slot {
            Slot::A => {
                self.0[3] = w
                    .with(AluRgbInst::RGB_SEL_A, sel)
                    .with(AluRgbInst::RED_SWIZ_A, r)
                    .with(AluRgbInst::GREEN_SWIZ_A, g)
                    .with(AluRgbInst::BLUE_SWIZ_A, b)
                    .with(AluRgbInst::RGB_MOD_A, modifier)
                    .bits();
            }
            Slot::B => {
                self.0[3] = w
                    .with(AluRgbInst::RGB_SEL_B, sel)
                    .with(AluRgbInst::RED_SWIZ_B, r)
                    .with(AluRgbInst::GREEN_SWIZ_B, g)
                    .with(AluRgbInst::BLUE_SWIZ_B, b)
                    .with(AluRgbInst::RGB_MOD_B, modifier)
                    .bits();
            }
            Slot::C => {
                self.0[5] = v
                    .with(AluRgbaInst::RGB_SEL_C, sel)
                    .with(AluRgbaInst::RED_SWIZ_C, r)
                    .with(AluRgbaInst::GREEN_SWIZ_C, g)
                    .with(AluRgbaInst::BLUE_SWIZ_C, b)
                    .with(AluRgbaInst::RGB_MOD_C, modifier)
                    .bits();
            }
        }
        self
    }

    /// Returns the instruction with an operand of the alpha half replaced.
    #[must_use]
    pub fn with_alpha_operand(mut self, slot: Slot, operand: Operand<1>) -> Self {
        let Operand { sel, swiz: [a], modifier } = operand;
        let (w, v) = (self.alpha_inst(), self.rgba_inst());
        match slot {
            Slot::A => {
                self.0[4] = w
                    .with(AluAlphaInst::ALPHA_SEL_A, sel)
                    .with(AluAlphaInst::ALPHA_SWIZ_A, a)
                    .with(AluAlphaInst::ALPHA_MOD_A, modifier)
                    .bits();
            }
            Slot::B => {
                self.0[4] = w
                    .with(AluAlphaInst::ALPHA_SEL_B, sel)
                    .with(AluAlphaInst::ALPHA_SWIZ_B, a)
                    .with(AluAlphaInst::ALPHA_MOD_B, modifier)
                    .bits();
            }
            Slot::C => {
                self.0[5] = v
                    .with(AluRgbaInst::ALPHA_SEL_C, sel)
                    .with(AluRgbaInst::ALPHA_SWIZ_C, a)
                    .with(AluRgbaInst::ALPHA_MOD_C, modifier)
                    .bits();
            }
        }
        self
    }
}

macro_rules! source_words {
    ($($word:ident)*) => {$(
        impl $word {
            /// Returns the three source addresses.
            #[inline]
            #[must_use]
            pub fn sources(self) -> [Source; 3] {
                [
                    Source { addr: self.addr0(), constant: self.addr0_const(), relative: self.addr0_rel() },
                    Source { addr: self.addr1(), constant: self.addr1_const(), relative: self.addr1_rel() },
                    Source { addr: self.addr2(), constant: self.addr2_const(), relative: self.addr2_rel() },
                ]
            }

            /// Returns the word with source `n` (0 to 2; others change nothing) replaced.
            #[must_use]
            pub fn with_source(self, n: usize, source: Source) -> Self {
                let (addr, constant, relative) = match n {
                    0 => (Self::ADDR0, Self::ADDR0_CONST, Self::ADDR0_REL),
                    1 => (Self::ADDR1, Self::ADDR1_CONST, Self::ADDR1_REL),
                    2 => (Self::ADDR2, Self::ADDR2_CONST, Self::ADDR2_REL),
                    _ => return self,
                };
                self.with(addr, source.addr)
                    .with(constant, source.constant)
                    .with(relative, source.relative)
            }
        }
    )*};
}

source_words! { AluRgbAddr AluAlphaAddr }
