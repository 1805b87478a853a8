//! Instructions of vertex programs.

use r500_pvs::{
    Addressing, Dst, DstType, DualMath, INSTRUCTIONS, Op, Src, SrcType, Swizzle, VectorOp,
};

use super::MODEL;
use super::code_length::{BIT, Cost, NEVER, READ_COST, UNREAD_COST, swizzle_cost, word_cost};
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

/// Returns whether an operand has zeros of a register that one before it reads, as compilers write where nothing is read.
fn is_unread(words: &[u32; 4], n: usize) -> bool {
    let is_of = |word: &u32| {
        let other = Src(*word);
        let same = Src(0).with(Src::REG_TYPE, other.reg_type()).with(Src::OFFSET, other.offset());
        let zeros = [Src::SWIZZLE_X, Src::SWIZZLE_Y, Src::SWIZZLE_Z, Src::SWIZZLE_W];
        zeros.into_iter().fold(same, |source, field| source.with(field, Swizzle::ZERO)).0
            == words[n]
    };
    words[1..n].iter().any(is_of)
}

/// Returns the length of an operand of an instruction.
fn source_cost(dst: Dst, source: Src) -> Option<Cost> {
    (source.addressing() != Addressing::Reserved).then_some(())?;
    let mut all = MODEL.src.cost(source.0)?;
    // A scalar operation and a dot product read other components than they write.
    let is_by_component = matches!(dst.op(), Op::Vector(op) if op != VectorOp::DOT_PRODUCT);
    let mask = dst.write_mask();
    for (component, code) in source.swizzle().iter().enumerate() {
        let cost = swizzle_cost(component, code.code(), mask[component] || !is_by_component);
        (cost != NEVER).then_some(())?;
        all += cost;
    }
    Some(all)
}

impl Language for Vertex {
    const DWORDS: usize = 4;
    const MOST: usize = INSTRUCTIONS;

    fn cost(words: &[u32], before: Option<&[u32]>) -> Option<Cost> {
        let words: [u32; 4] = *words.first_chunk()?;
        if words == [0; 4] {
            // A NOP: as much as zeros take as data, so that zeros gain nothing.
            return Some(8 * BIT);
        }
        let model = &*MODEL;
        let dst = Dst(words[0]);
        let has_effect = dst.write_mask() != [false; 4];
        (has_effect && dst.addressing() != Addressing::Reserved).then_some(())?;
        let same = |n: usize| before.and_then(|before| before.get(n)).copied();
        let mut all = word_cost(words[0], same(0), model.dst.cost(words[0])?);
        for n in 1..4 {
            let cost = match n == 3 && dst.dual_math_op() {
                true => model.dual.cost(words[n])?,
                false if n > dst.op().sources() => match is_unread(&words, n) {
                    true => UNREAD_COST,
                    false => READ_COST + source_cost(dst, Src(words[n]))?,
                },
                false => source_cost(dst, Src(words[n]))?,
            };
            all += word_cost(words[n], same(n), cost);
        }
        dst.op().name()?;
        Some(all)
    }

    fn step(&mut self, words: &[u32]) -> Verdict {
        let Some(words) = words.first_chunk::<4>() else { return Verdict::Impossible };
        let dst = Dst(words[0]);
        // A source of zeros and ones reads no register.
        let reads = |source: &Src| source.swizzle().iter().any(|swizzle| swizzle.code() < 4);
        for source in sources(words).filter(reads) {
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
