//! How many bits a field takes in a program: codes that fit what compilers write.
//!
//! The lengths are rounded frequencies of the fields in compiled programs, with room for every other value: a program of another
//! compiler takes some more bits, not unlimited ones. The lengths of the values of a field obey Kraft's inequality (a test sums them), so that
//! they are those of a code.

use r500_isa::state::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst, TexAddr,
    TexAddrDxdy, TexInst,
};
use r500_isa::values::InstType;
use r500_isa::{Field, FieldKind, Register, Word};
use r500_pvs::{Dst, DualMath, Src};

/// A length, in sixteenths of a bit.
pub(super) type Cost = u32;

/// A bit.
pub(super) const BIT: Cost = 16;

/// The cost of what no program has.
pub(super) const NEVER: Cost = Cost::MAX;

/// The widest field with a table; wider ones are plain numbers.
const WIDEST: u32 = 10;

/// The code of a field.
#[derive(Debug)]
struct FieldCode {
    field: &'static Field,
    costs: Vec<Cost>,
}

/// The codes of the fields of a word.
#[derive(Debug)]
pub(super) struct WordCode {
    unnamed: u32,
    fields: Vec<FieldCode>,
}

impl WordCode {
    fn new(register: &'static Register, lengths: impl Fn(&Field, u32) -> f32) -> Self {
        let code = |field: &'static Field| {
            let width = u32::from(field.hi - field.lo) + 1;
            assert!(width <= WIDEST, "{} has too many bits for a table", field.name);
            let is_reserved =
                |value: u32| field.kind == FieldKind::Choice && field.value(value).is_none();
            let cost = |value| match is_reserved(value) {
                true => NEVER,
                false => (lengths(field, value) * BIT as f32).ceil() as Cost,
            };
            FieldCode { field, costs: (0..1 << width).map(cost).collect() }
        };
        Self {
            unnamed: !register.named_bits(),
            fields: register.fields.iter().map(code).collect(),
        }
    }

    /// Returns the length of a word; `None` if it has a reserved code or a bit of no field.
    #[inline]
    pub(super) fn cost(&self, word: u32) -> Option<Cost> {
        if word & self.unnamed != 0 {
            return None;
        }
        let mut all = 0;
        for FieldCode { field, costs } in &self.fields {
            let cost = costs[field.extract(word) as usize];
            if cost == NEVER {
                return None;
            }
            all += cost;
        }
        Some(all)
    }
}

/// The codes of all words of instructions.
#[derive(Debug)]
pub(super) struct Model {
    /// By the type of the instruction.
    pub(super) cmn: [WordCode; 4],
    pub(super) alu: [WordCode; 5],
    pub(super) tex: [WordCode; 2],
    pub(super) dxdy: WordCode,
    pub(super) fc: [WordCode; 2],
    pub(super) dst: WordCode,
    pub(super) src: WordCode,
    pub(super) dual: WordCode,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            cmn: std::array::from_fn(|ty| {
                let ty = InstType::new(ty as u8);
                WordCode::new(CmnInst::REGISTER, move |field, value| cmn(ty, field, value))
            }),
            alu: [
                AluRgbAddr::REGISTER,
                AluAlphaAddr::REGISTER,
                AluRgbInst::REGISTER,
                AluAlphaInst::REGISTER,
                AluRgbaInst::REGISTER,
            ]
            .map(|register| WordCode::new(register, alu)),
            tex: [TexInst::REGISTER, TexAddr::REGISTER].map(|register| WordCode::new(register, tex)),
            dxdy: WordCode::new(TexAddrDxdy::REGISTER, tex),
            fc: [FcInst::REGISTER, FcAddr::REGISTER].map(|register| WordCode::new(register, flow)),
            dst: WordCode::new(Dst::REGISTER, dst),
            src: WordCode::new(Src::REGISTER, src),
            dual: WordCode::new(DualMath::REGISTER, |field, _| flat(field)),
        }
    }
}

/// All values alike.
fn flat(field: &Field) -> f32 {
    f32::from(field.hi - field.lo) + 1.0
}

/// 0 nearly always.
fn rare(field: &Field, value: u32) -> f32 {
    if value == 0 { 0.125 } else { 3.6 + flat(field) }
}

/// 0 mostly.
fn seldom(field: &Field, value: u32) -> f32 {
    if value == 0 { 0.3 } else { 2.4 + flat(field) }
}

/// The number of a temporary: small ones are frequent.
fn temporary(value: u32) -> f32 {
    match value {
        0..8 => 4.0,
        8..32 => 7.0,
        _ => 9.5,
    }
}

fn cmn(ty: InstType, field: &Field, value: u32) -> f32 {
    match (field.name, ty) {
        ("TYPE", _) => [0.5, 3.1, 3.2, 4.1][value as usize],
        ("TEX_SEM_WAIT", _) | ("ALU_WAIT", InstType::FC) => 1.0,
        ("RGB_WMASK" | "ALPHA_WMASK", InstType::ALU | InstType::TEX) => flat(field),
        ("RGB_OMASK", InstType::OUT) => if value == 7 { 0.75 } else { 1.3 + flat(field) },
        ("ALPHA_OMASK", InstType::OUT) => if value == 1 { 0.4 } else { 2.1 },
        ("ALU_RESULT_OP" | "RGB_PRED_SEL" | "LAST", _) => seldom(field, value),
        _ => rare(field, value),
    }
}

fn alu(field: &Field, value: u32) -> f32 {
    match field.name {
        // 128 is the inline constant that stands for none.
        "ADDR0" | "ADDR1" | "ADDR2" => match value {
            128 => 0.75,
            0..8 => 5.75,
            8..32 => 9.0,
            32..128 => 11.0,
            _ => 10.5,
        },
        "ADDR0_CONST" | "ADDR1_CONST" | "ADDR2_CONST" | "ALU_WMASK" => seldom(field, value),
        "RGB_SEL_A" | "RGB_SEL_B" | "RGB_SEL_C" | "ALPHA_SEL_A" | "ALPHA_SEL_B" | "ALPHA_SEL_C" => {
            if value == 0 { 0.5 } else { 3.4 }
        }
        "ALPHA_SWIZ_A" | "ALPHA_SWIZ_B" | "ALPHA_SWIZ_C" => match value {
            0 => 1.0,
            1..=3 => 3.5,
            4 | 6 => 4.0,
            _ => 6.0,
        },
        name if name.contains("_SWIZ_") => match value {
            0..=4 => 2.55,
            6 => 3.5,
            _ => 6.0,
        },
        "RGB_MOD_C" | "ALPHA_MOD_C" => [0.6, 2.5, 5.0, 5.0][value as usize],
        name if name.contains("_MOD_") => if value == 0 { 0.25 } else { 4.25 },
        "RGB_OP" => match value {
            0 => 0.75,
            8 => 2.5,
            10 => 3.5,
            5 => 4.5,
            _ => 7.0,
        },
        "ALPHA_OP" => match value {
            0 => 0.5,
            6 => 3.5,
            _ => 6.25,
        },
        "RGB_ADDRD" => temporary(value),
        "ALPHA_ADDRD" => if value == 0 { 0.5 } else { 1.8 + temporary(value) },
        "OMOD" => match value {
            0 => 0.25,
            7 => 4.0,
            _ => 6.2,
        },
        _ => rare(field, value),
    }
}

fn tex(field: &Field, value: u32) -> f32 {
    match field.name {
        "TEX_ID" => if value == 0 { 0.75 } else { 1.4 + flat(field) },
        "INST" => if value == 1 { 0.75 } else { 1.4 + flat(field) },
        "SRC_ADDR" | "DST_ADDR" | "DX_ADDR" | "DY_ADDR" => temporary(value),
        "TEX_SEM_ACQUIRE" => 1.0,
        name if name.contains("_SWIZ") => flat(field),
        _ => rare(field, value),
    }
}

fn flow(field: &Field, value: u32) -> f32 {
    match field.name {
        // Never, if false, always.
        "JUMP_FUNC" => if matches!(value, 0 | 0x0f | 0xff) { 2.0 } else { 10.0 },
        "B_POP_CNT" => if value < 2 { 1.25 } else { 7.7 },
        "BOOL_ADDR" | "INT_ADDR" | "JUMP_GLOBAL" | "IGNORE_UNCOVERED" => seldom(field, value),
        _ => flat(field),
    }
}

fn dst(field: &Field, value: u32) -> f32 {
    match field.name {
        "OPCODE" => flat(field),
        "MATH_INST" => if value == 0 { 0.5 } else { 1.8 },
        "REG_TYPE" => match value {
            0 => 1.0,
            2 => 1.3,
            _ => 7.0,
        },
        "OFFSET" => temporary(value),
        "WE_X" | "WE_Y" | "WE_Z" | "WE_W" => if value == 1 { 0.5 } else { 1.8 },
        "VE_SAT" | "ME_SAT" | "PRED_ENABLE" | "DUAL_MATH_OP" | "MACRO_INST" => seldom(field, value),
        _ => rare(field, value),
    }
}

fn src(field: &Field, value: u32) -> f32 {
    let own = |component: u32| match value {
        _ if value == component => 1.25,
        4 => 2.0,
        5 => 4.0,
        _ => 3.6,
    };
    match field.name {
        "REG_TYPE" => flat(field),
        "OFFSET" => match value {
            0 => 1.0,
            1..8 => 4.5,
            8..32 => 7.5,
            _ => 12.0,
        },
        "SWIZZLE_X" => own(0),
        "SWIZZLE_Y" => own(1),
        "SWIZZLE_Z" => own(2),
        "SWIZZLE_W" => own(3),
        "MODIFIER_X" | "MODIFIER_Y" | "MODIFIER_Z" | "MODIFIER_W" => seldom(field, value),
        _ => rare(field, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kraft's inequality makes the lengths those of a code: the claim about random bytes rests on it.
    #[test]
    fn the_lengths_of_each_field_are_those_of_a_code() {
        let Model { cmn, alu, tex, dxdy, fc, dst, src, dual } = Model::new();
        let single = [dxdy, dst, src, dual];
        // The type selects one of four codes: its lengths count once, over all of them.
        let words = alu.iter().chain(&tex).chain(&fc).chain(&single).chain(&cmn);
        let mut fields = 0;
        for FieldCode { field, costs } in words.flat_map(|word| &word.fields) {
            let sum: f64 = costs
                .iter()
                .filter(|cost| **cost != NEVER)
                .map(|cost| (-f64::from(*cost) / f64::from(BIT)).exp2())
                .sum();
            assert!(sum <= 1.0, "{}: {sum}", field.name);
            // No bits are given away either.
            assert!(sum > 0.5, "{}: {sum}", field.name);
            fields += 1;
        }
        assert!(fields > 150, "{fields}");
    }
}
