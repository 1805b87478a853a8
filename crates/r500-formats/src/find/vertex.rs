//! Instructions of vertex programs.

use r500_pvs::{Addressing, Dst, DstType, DualMath, INSTRUCTIONS, Op, Src, SrcType, VectorOp};

use super::MODEL;
use super::code_length::Cost;
use super::run::{Language, Verdict};

/// What the instructions of a program have written and read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Vertex {
    /// A bit for each temporary that has a value.
    set: u128,
    reads_input: bool,
    writes_position: bool,
}

/// Returns the sources that an instruction reads.
fn sources(words: &[u32; 4]) -> impl Iterator<Item = Src> {
    let dst = Dst(words[0]);
    let count = match dst.dual_math_op() {
        // The third dword of sources is the second operation.
        true => dst.op().sources().min(2),
        false => dst.op().sources(),
    };
    let dual = dst.dual_math_op().then(|| DualMath(words[3]).source());
    words[1..][..count].iter().map(|word| Src(*word)).collect::<Vec<_>>().into_iter().chain(dual)
}

impl Language for Vertex {
    const DWORDS: usize = 4;
    const MOST: usize = INSTRUCTIONS;

    fn cost(words: &[u32]) -> Option<Cost> {
        let words: [u32; 4] = *words.first_chunk()?;
        let model = &*MODEL;
        let dst = Dst(words[0]);
        let mut all = model.dst.cost(words[0])?;
        dst.op().name()?;
        let has_effect = dst.write_mask() != [false; 4] || dst.op() == Op::Vector(VectorOp::NOP);
        (has_effect && dst.addressing() != Addressing::Reserved).then_some(())?;
        for word in &words[1..3] {
            all += model.src.cost(*word)?;
            (Src(*word).addressing() != Addressing::Reserved).then_some(())?;
        }
        all += match dst.dual_math_op() {
            true => model.dual.cost(words[3])?,
            false => model.src.cost(words[3])?,
        };
        Some(all)
    }

    fn step(&mut self, words: &[u32]) -> Verdict {
        let Some(words) = words.first_chunk::<4>() else { return Verdict::Impossible };
        let dst = Dst(words[0]);
        for source in sources(words) {
            match source.reg_type() {
                SrcType::INPUT => self.reads_input = true,
                SrcType::TEMPORARY
                    if source.addressing() == Addressing::Absolute
                        && self.set >> (source.offset() & 127) & 1 == 0 =>
                {
                    return Verdict::Impossible;
                }
                _ => {}
            }
        }
        let number = dst.offset() & 127;
        let is_output = matches!(dst.reg_type(), DstType::OUT | DstType::OUT_REPL_X);
        match dst.reg_type() {
            DstType::TEMPORARY => self.set |= 1 << number,
            _ if is_output && number == 0 => self.writes_position = true,
            _ => {}
        }
        match is_output && self.reads_input && self.writes_position {
            true => Verdict::MayEnd,
            false => Verdict::Continues,
        }
    }
}
