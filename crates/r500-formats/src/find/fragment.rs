//! Instructions of fragment programs.

use r500_isa::values::{InstType, TexOp};
use r500_isa::{INSTRUCTION_SLOTS, Instruction};

use super::MODEL;
use super::code_length::{BIT, Cost, WordCode, statement_cost, word_cost};
use super::run::{Language, Verdict};

/// Temporaries that the rasteriser sets at most: eight texture coordinates, four colours and some room.
const INPUTS: usize = 16;

/// What the instructions of a program have written so far.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    /// A bit for each temporary that has a value.
    set: u128,
}

impl Default for Fragment {
    fn default() -> Self {
        Self { set: (1 << INPUTS) - 1 }
    }
}

impl Fragment {
    fn is_set(&self, temp: u8) -> bool {
        self.set >> (temp & 127) & 1 != 0
    }

    /// Returns whether all temporaries have a value that an ALU instruction reads without aL.
    fn reads_what_is_set(&self, inst: Instruction) -> bool {
        let reads = inst.source_reads();
        let [rgb, alpha] = [inst.rgb_addr().sources(), inst.alpha_addr().sources()];
        let read = rgb
            .iter()
            .zip(reads.rgb.map(|channels| channels != 0))
            .chain(alpha.iter().zip(reads.alpha));
        read.filter(|(_, is_read)| *is_read).all(|(source, _)| {
            let is_temporary = !source.constant && !source.relative && source.addr < 128;
            !is_temporary || self.is_set(source.addr)
        })
    }
}

impl Language for Fragment {
    const DWORDS: usize = 6;
    const MOST: usize = INSTRUCTION_SLOTS;

    fn cost(words: &[u32], before: Option<&[u32]>) -> Option<Cost> {
        let inst = Instruction(*words.first_chunk()?);
        let model = &*MODEL;
        let ty = inst.ty();
        let same = |n: usize| before.and_then(|before| before.get(n)).copied();
        let word =
            |code: &WordCode, n: usize| Some(word_cost(words[n], same(n), code.cost(words[n])?));
        let cmn = || word(model.cmn.get(usize::from(ty.code()))?, 0);
        match ty {
            InstType::TEX => {
                (words[4..] == [0, 0]).then_some(())?;
                let has_gradients = inst.tex_inst().inst() == TexOp::DXDY;
                let gradients = match words[3] {
                    0 => BIT / 4,
                    _ if has_gradients => 3 * BIT + word(&model.dxdy, 3)?,
                    _ => return None,
                };
                Some(cmn()? + word(&model.tex[0], 1)? + word(&model.tex[1], 2)? + gradients)
            }
            InstType::FC => {
                (words[1] == 0 && words[4..] == [0, 0]).then_some(())?;
                let statement = statement_cost(words[2], model.fc[0].cost(words[2])?);
                Some(cmn()? + word_cost(words[2], same(2), statement) + word(&model.fc[1], 3)?)
            }
            _ => {
                let mut all = 0;
                // The last words first: they have the most reserved codes.
                for (n, code) in (1..6).zip(&model.alu).rev() {
                    all += word(code, n)?;
                }
                all += cmn()?;
                // It writes nothing, and a compiler would not have written it; an output without a mask is the end of a program.
                let is_idle =
                    ty != InstType::OUT && inst.result_channels() == 0 && !inst.cmn().nop();
                (!is_idle).then_some(())?;
                Some(all)
            }
        }
    }

    fn step(&mut self, words: &[u32]) -> Verdict {
        let Some(inst) = words.first_chunk().copied().map(Instruction) else {
            return Verdict::Impossible;
        };
        let cmn = inst.cmn();
        match inst.ty() {
            InstType::FC => Verdict::Continues,
            InstType::TEX => {
                let (inst, address) = (inst.tex_inst(), inst.tex_addr());
                let reads = inst.inst() != TexOp::NOP && !address.src_addr_rel();
                if reads && !self.is_set(address.src_addr()) {
                    return Verdict::Impossible;
                }
                self.set |= 1 << (address.dst_addr() & 127);
                Verdict::Continues
            }
            ty => {
                if !self.reads_what_is_set(inst) {
                    return Verdict::Impossible;
                }
                if cmn.rgb_wmask().code() != 0 {
                    self.set |= 1 << (inst.rgba_inst().rgb_addrd() & 127);
                }
                if cmn.alpha_wmask() {
                    self.set |= 1 << (inst.alpha_inst().alpha_addrd() & 127);
                }
                match ty == InstType::OUT {
                    true if cmn.last() => Verdict::Ends,
                    true => Verdict::MayEnd,
                    false => Verdict::Continues,
                }
            }
        }
    }
}
