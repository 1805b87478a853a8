//! An instruction under construction: which operands fit into its sources, and the constants that hold their numbers.

use r500_isa::values::{AlphaOp, InstType, Mod, RgbOp, Sel, Swiz};
use r500_isa::words::{AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbaInst, CmnInst};
use r500_isa::{Half, InlineConst, Instruction, Operand, Slot, Source};

use super::allocate::Homes;
use crate::code::{Atom, Component};

/// What a constant holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Uniform(u16),
    Literals([Option<u32>; 4]),
}

/// A constant that may hold more numbers: its number, how many are new, its channels then, and where the numbers are.
type Pooled = (usize, usize, [Option<u32>; 4], Vec<usize>);

/// An instruction under construction: the sources of both halves, as far as they are taken.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) inst: Instruction,
    pub(super) sources: [[Option<Source>; 3]; 2],
    pub(super) constants: Vec<Constant>,
}

/// What an operand wants of a source: the addresses of its colours and its alpha, what each channel reads, and the modifier.
struct Wanted {
    sources: [Option<Source>; 2],
    swizzles: Vec<Swiz>,
    modifier: Mod,
}

pub(super) const CHANNELS: [Swiz; 4] = [Swiz::R, Swiz::G, Swiz::B, Swiz::A];

impl Draft {
    pub(super) fn new(ty: InstType, constants: &[Constant]) -> Self {
        let mut inst = Instruction::default();
        inst.0[0] = CmnInst(0).with(CmnInst::TYPE, ty).bits();
        Self { inst, sources: [[None; 3]; 2], constants: constants.to_vec() }
    }

    pub(super) fn cmn(&mut self, edit: impl FnOnce(CmnInst) -> CmnInst) {
        self.inst.0[0] = edit(self.inst.cmn()).bits();
    }

    /// Adds an operand to a half: a component for each of its channels, `None` for those that are not written.
    pub(super) fn operand(
        &mut self,
        homes: &Homes<'_>,
        half: Half,
        slot: Slot,
        parts: &[Option<Component>],
    ) -> Option<()> {
        let wanted = self.wanted(homes, parts)?;
        let n = (0..3).find(|n| {
            wanted.sources.iter().zip(&self.sources).all(|(wanted, taken)| {
                wanted.is_none() || taken[*n].is_none() || taken[*n] == *wanted
            })
        })?;
        for (wanted, taken) in wanted.sources.iter().zip(&mut self.sources) {
            if wanted.is_some() {
                taken[n] = *wanted;
            }
        }
        let sel = [Sel::SRC0, Sel::SRC1, Sel::SRC2][n];
        let modifier = wanted.modifier;
        self.inst = match half {
            Half::Rgb => {
                let swiz = [wanted.swizzles[0], wanted.swizzles[1], wanted.swizzles[2]];
                self.inst.with_rgb_operand(slot, Operand { sel, swiz, modifier })
            }
            Half::Alpha => {
                let swiz = [wanted.swizzles[0]];
                self.inst.with_alpha_operand(slot, Operand { sel, swiz, modifier })
            }
        };
        Some(())
    }

    fn wanted(&mut self, homes: &Homes<'_>, parts: &[Option<Component>]) -> Option<Wanted> {
        // One modifier for all; that of numbers is free.
        let mut modifier = None;
        for part in parts.iter().flatten().filter(|part| part.value().is_none()) {
            let own = (part.abs, part.negate);
            if modifier.is_some_and(|modifier| modifier != own) {
                return None;
            }
            modifier = Some(own);
        }
        let candidates: &[(bool, bool)] = match &modifier {
            Some(own) => std::slice::from_ref(own),
            None => &[(false, false), (false, true)],
        };
        let fits = candidates.iter().find_map(|modifier| {
            let mut draft = self.clone();
            let wanted = draft.wanted_with(homes, parts, *modifier, false)?;
            Some((draft, wanted))
        });
        let fits = fits.or_else(|| {
            let mut draft = self.clone();
            let wanted = draft.wanted_with(homes, parts, candidates[0], true)?;
            Some((draft, wanted))
        });
        let (draft, wanted) = fits?;
        *self = draft;
        Some(wanted)
    }

    /// Tries one modifier; numbers that have no code of their own become constants if `pooled`.
    fn wanted_with(
        &mut self,
        homes: &Homes<'_>,
        parts: &[Option<Component>],
        (abs, negate): (bool, bool),
        pooled: bool,
    ) -> Option<Wanted> {
        let mut sources = [None, None];
        let mut swizzles = vec![Swiz::ZERO; parts.len()];
        let mut numbers: Vec<(usize, u32)> = Vec::new();
        let take = |sources: &mut [Option<Source>; 2], file: usize, source: Source| -> Option<()> {
            match sources[file] {
                Some(taken) if taken != source => None,
                _ => {
                    sources[file] = Some(source);
                    Some(())
                }
            }
        };
        for (n, part) in parts.iter().enumerate() {
            let Some(part) = part else { continue };
            let (source, channel) = match part.atom {
                Atom::Register(register, component) => {
                    let (temporary, channel) = homes.home(register, component);
                    (Source { addr: temporary, constant: false, relative: false }, channel)
                }
                Atom::Uniform(uniform, channel) => {
                    let place =
                        self.constants.iter().position(|c| *c == Constant::Uniform(uniform));
                    (constant_source(place?), usize::from(channel))
                }
                Atom::Relative(..) => unreachable!("indices in registers are of vertices"),
                Atom::Literal(bits) => {
                    let sign = u32::from(part.negate != negate) << 31;
                    if abs && sign != 0 {
                        return None;
                    }
                    numbers.push((n, bits | sign));
                    continue;
                }
            };
            take(&mut sources, usize::from(channel == 3), source)?;
            swizzles[n] = CHANNELS[channel];
        }
        // Numbers: by the swizzle, as inline constants, or in a constant.
        let mut left = Vec::new();
        for (n, bits) in numbers {
            match f32::from_bits(bits) {
                value if value.to_bits() == 0 => swizzles[n] = Swiz::ZERO,
                0.5 => swizzles[n] = Swiz::HALF,
                1.0 => swizzles[n] = Swiz::ONE,
                _ => left.push((n, bits)),
            }
        }
        let mut rest = Vec::new();
        for (n, bits) in left {
            let inline = InlineConst::exact(f32::from_bits(bits)).map(|inline| Source {
                addr: 0x80 | inline.code(),
                constant: false,
                relative: false,
            });
            let file = inline.and_then(|inline| {
                (0..2).find(|file| sources[*file].is_none() || sources[*file] == Some(inline))
            });
            match (inline, file) {
                (Some(inline), Some(file)) if !pooled => {
                    sources[file] = Some(inline);
                    swizzles[n] = if file == 0 { Swiz::R } else { Swiz::A };
                }
                _ => rest.push((n, bits)),
            }
        }
        if !rest.is_empty() {
            if !pooled {
                return None;
            }
            let free = [sources[0].is_none(), sources[1].is_none()];
            let (place, channels) = self.pool(&rest, free)?;
            let source = constant_source(place);
            for ((n, _), channel) in rest.iter().zip(channels) {
                sources[usize::from(channel == 3)] = Some(source);
                swizzles[*n] = CHANNELS[channel];
            }
        }
        let modifier = match (abs, negate) {
            (false, false) => Mod::NOP,
            (false, true) => Mod::NEG,
            (true, false) => Mod::ABS,
            (true, true) => Mod::NAB,
        };
        Some(Wanted { sources, swizzles, modifier })
    }

    /// Puts numbers in a constant, in channels whose source is free. Returns the constant and the channels.
    fn pool(
        &mut self,
        numbers: &[(usize, u32)],
        [colors, alpha]: [bool; 2],
    ) -> Option<(usize, Vec<usize>)> {
        let allowed: Vec<usize> = (0..4).filter(|c| if *c == 3 { alpha } else { colors }).collect();
        let place_in = |channels: [Option<u32>; 4]| -> Option<([Option<u32>; 4], Vec<usize>)> {
            let mut channels = channels;
            let mut places = Vec::new();
            for (_, bits) in numbers {
                let found = allowed.iter().find(|c| channels[**c] == Some(*bits));
                let place = *found.or_else(|| allowed.iter().find(|c| channels[**c].is_none()))?;
                channels[place] = Some(*bits);
                places.push(place);
            }
            Some((channels, places))
        };
        let mut best: Option<Pooled> = None;
        for (n, constant) in self.constants.iter().enumerate() {
            let Constant::Literals(channels) = constant else { continue };
            if let Some((new, places)) = place_in(*channels) {
                let count = |list: &[Option<u32>; 4]| list.iter().flatten().count();
                let added = count(&new) - count(channels);
                if best.as_ref().is_none_or(|best| added < best.1) {
                    best = Some((n, added, new, places));
                }
            }
        }
        if let Some((n, _, new, places)) = best {
            self.constants[n] = Constant::Literals(new);
            return Some((n, places));
        }
        let (new, places) = place_in([None; 4])?;
        self.constants.push(Constant::Literals(new));
        Some((self.constants.len() - 1, places))
    }

    /// Returns the instruction with its sources.
    pub(super) fn finish(mut self) -> Instruction {
        let mut rgb = AluRgbAddr(0);
        let mut alpha = AluAlphaAddr(0);
        for n in 0..3 {
            rgb = rgb.with_source(n, self.sources[0][n].unwrap_or(Source::UNUSED));
            alpha = alpha.with_source(n, self.sources[1][n].unwrap_or(Source::UNUSED));
        }
        self.inst.0[1] = rgb.bits();
        self.inst.0[2] = alpha.bits();
        self.inst
    }

    pub(super) fn rgb_op(&mut self, op: RgbOp, temporary: u8) {
        let word = AluRgbaInst(self.inst.0[5]).with(AluRgbaInst::RGB_OP, op);
        self.inst.0[5] = word.with(AluRgbaInst::RGB_ADDRD, temporary).bits();
    }

    pub(super) fn alpha_op(&mut self, op: AlphaOp, temporary: u8) {
        let word = AluAlphaInst(self.inst.0[4]).with(AluAlphaInst::ALPHA_OP, op);
        self.inst.0[4] = word.with(AluAlphaInst::ALPHA_ADDRD, temporary).bits();
    }
}

pub(super) fn constant_source(place: usize) -> Source {
    // More constants than the chip has are reported by number; the program is not used.
    Source { addr: u8::try_from(place).unwrap_or(u8::MAX), constant: true, relative: false }
}
