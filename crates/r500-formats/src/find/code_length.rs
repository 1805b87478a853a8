//! How many bits a field takes in a program: codes that fit what compilers write.
//!
//! The lengths are rounded frequencies of the fields in compiled programs, with room for every other value: a program of another
//! compiler takes some more bits, not unlimited ones. The lengths of the values of a field obey Kraft's inequality (a test sums them), so that
//! they are those of a code.

use r500_isa::values::InstType;
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{Field, FieldKind, Register, Word};
use r500_pvs::{Dst, DualMath, Src};

/// A length, in sixteenths of a bit.
pub(super) type Cost = u32;

/// A bit.
pub(super) const BIT: Cost = 16;

/// The cost of what no program has.
pub(super) const NEVER: Cost = Cost::MAX;

/// Bits of the widest table.
const WIDEST: u32 = 11;

/// The code of neighbouring fields, in one table.
#[derive(Debug)]
struct Group {
    low: u32,
    mask: u32,
    costs: Vec<Cost>,
}

/// The codes of the fields of a word.
#[derive(Debug)]
pub(super) struct WordCode {
    groups: Vec<Group>,
}

impl WordCode {
    fn new(register: &'static Register, lengths: impl Fn(&Field, u32) -> f32) -> Self {
        Self::with(register, lengths, |_| false)
    }

    /// Returns the codes of the fields of a register but for those that are counted elsewhere.
    fn with(
        register: &'static Register,
        lengths: impl Fn(&Field, u32) -> f32,
        is_elsewhere: impl Fn(&Field) -> bool,
    ) -> Self {
        let mut groups = Vec::new();
        let mut low = 0;
        while low < 32 {
            // Up to the widest table, and no field is cut.
            let is_cut = |end: u32| {
                register
                    .fields
                    .iter()
                    .any(|field| u32::from(field.lo) < end && end <= u32::from(field.hi))
            };
            let mut end = (low + WIDEST).min(32);
            while is_cut(end) {
                end -= 1;
            }
            assert!(end > low, "{} has a field with too many bits for a table", register.name);
            groups.push(Group::new(register, low, end, &lengths, &is_elsewhere));
            low = end;
        }
        Self { groups }
    }

    /// Returns the length of a word; `None` if it has a reserved code or a bit of no field.
    #[inline]
    pub(super) fn cost(&self, word: u32) -> Option<Cost> {
        let mut all = 0;
        for Group { low, mask, costs } in &self.groups {
            let cost = costs[(word >> low & mask) as usize];
            if cost == NEVER {
                return None;
            }
            all += cost;
        }
        Some(all)
    }
}

impl Group {
    /// Returns the table of the bits from `low` up to `end`.
    fn new(
        register: &'static Register,
        low: u32,
        end: u32,
        lengths: &impl Fn(&Field, u32) -> f32,
        is_elsewhere: &impl Fn(&Field) -> bool,
    ) -> Self {
        let mask = (1 << (end - low)) - 1;
        let fields = register
            .fields
            .iter()
            .filter(|field| (low..end).contains(&u32::from(field.lo)) && !is_elsewhere(field));
        let fields: Vec<&Field> = fields.collect();
        let cost = |bits: u32| {
            let word = bits << low;
            match word & !register.named_bits() {
                0 => fields
                    .iter()
                    .map(|field| field_cost(field, field.extract(word), lengths))
                    .fold(0, Cost::saturating_add),
                _ => NEVER,
            }
        };
        Self { low, mask, costs: (0..=mask).map(cost).collect() }
    }
}

/// Returns the length of a value of a field.
fn field_cost(field: &Field, value: u32, lengths: &impl Fn(&Field, u32) -> f32) -> Cost {
    let is_reserved = field.kind == FieldKind::Choice && field.value(value).is_none();
    if is_reserved { NEVER } else { (lengths(field, value) * BIT as f32).ceil() as Cost }
}

/// The statements of structured flow control, as drivers encode them: `US_FC_INST` of IF, ELSE, ENDIF, loops and their exits.
const STATEMENTS: [u32; 9] = [
    0x0101_0020,
    0x1200_0f00,
    0x1401_ff05,
    0x1a00_0f00,
    0x0401_0010,
    0x1000_0001,
    0x1000_ff22,
    0x1402_ff05,
    0x1403_ff05,
];

/// Returns the length of a word of an instruction, given that of its fields and the same word of the instruction before: a repetition takes
/// as much as in ordinary data.
pub(super) fn word_cost(word: u32, before: Option<u32>, fields: Cost) -> Cost {
    const REPEATED: Cost = 5 * BIT;
    // The rest of the code: 1 - 2^-5.
    let other = fields + BIT / 16;
    if before == Some(word) { other.min(REPEATED) } else { other }
}

/// Returns the length of `US_FC_INST`, given that of its fields: a bit says whether it is one of the usual statements.
pub(super) fn statement_cost(word: u32, fields: Cost) -> Cost {
    match STATEMENTS.contains(&word) {
        // One of nine: 3.2 bits.
        true => BIT + BIT * 13 / 4,
        false => BIT + fields,
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
            alu: ALU.map(|register| WordCode::new(register, alu)),
            tex: [TexInst::REGISTER, TexAddr::REGISTER]
                .map(|register| WordCode::new(register, tex)),
            dxdy: WordCode::new(TexAddrDxdy::REGISTER, tex),
            fc: [FcInst::REGISTER, FcAddr::REGISTER].map(|register| WordCode::new(register, flow)),
            dst: WordCode::new(Dst::REGISTER, dst),
            // Their swizzles depend on the destination.
            src: WordCode::with(Src::REGISTER, src, |field| field.name.starts_with("SWIZZLE")),
            dual: WordCode::new(DualMath::REGISTER, |field, _| flat(field)),
        }
    }
}

/// The words of ALU and output instructions after the first.
const ALU: [&Register; 5] = [
    AluRgbAddr::REGISTER,
    AluAlphaAddr::REGISTER,
    AluRgbInst::REGISTER,
    AluAlphaInst::REGISTER,
    AluRgbaInst::REGISTER,
];

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
        ("RGB_OMASK", InstType::OUT) => {
            if value == 7 {
                0.75
            } else {
                1.3 + flat(field)
            }
        }
        ("ALPHA_OMASK", InstType::OUT) => {
            if value == 1 {
                0.4
            } else {
                2.1
            }
        }
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
            if value == 0 {
                0.5
            } else {
                3.4
            }
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
        name if name.contains("_MOD_") => {
            if value == 0 {
                0.25
            } else {
                4.25
            }
        }
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
        "ALPHA_ADDRD" => {
            if value == 0 {
                0.5
            } else {
                1.8 + temporary(value)
            }
        }
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
        "TEX_ID" => {
            if value == 0 {
                0.75
            } else {
                1.4 + flat(field)
            }
        }
        "INST" => {
            if value == 1 {
                0.75
            } else {
                1.4 + flat(field)
            }
        }
        "SRC_ADDR" | "DST_ADDR" | "DX_ADDR" | "DY_ADDR" => temporary(value),
        "TEX_SEM_ACQUIRE" => 1.0,
        name if name.contains("_SWIZ") => flat(field),
        _ => rare(field, value),
    }
}

fn flow(field: &Field, value: u32) -> f32 {
    match field.name {
        // Never, if false, always.
        "JUMP_FUNC" => {
            if matches!(value, 0 | 0x0f | 0xff) {
                2.0
            } else {
                10.0
            }
        }
        "B_POP_CNT" => {
            if value < 2 {
                1.25
            } else {
                7.7
            }
        }
        "BOOL_ADDR" | "INT_ADDR" | "JUMP_GLOBAL" | "IGNORE_UNCOVERED" => seldom(field, value),
        _ => flat(field),
    }
}

fn dst(field: &Field, value: u32) -> f32 {
    match field.name {
        "OPCODE" => flat(field),
        "MATH_INST" => {
            if value == 0 {
                0.5
            } else {
                1.8
            }
        }
        "REG_TYPE" => match value {
            0 => 1.0,
            2 => 1.3,
            _ => 7.0,
        },
        "OFFSET" => temporary(value),
        "WE_X" | "WE_Y" | "WE_Z" | "WE_W" => {
            if value == 1 {
                0.5
            } else {
                1.8
            }
        }
        "VE_SAT" | "ME_SAT" | "PRED_ENABLE" | "DUAL_MATH_OP" | "MACRO_INST" => seldom(field, value),
        _ => rare(field, value),
    }
}

fn src(field: &Field, value: u32) -> f32 {
    match field.name {
        "REG_TYPE" => flat(field),
        "OFFSET" => match value {
            0 => 1.0,
            1..8 => 4.5,
            8..32 => 7.5,
            _ => 12.0,
        },
        "MODIFIER_X" | "MODIFIER_Y" | "MODIFIER_Z" | "MODIFIER_W" => seldom(field, value),
        _ => rare(field, value),
    }
}

/// Returns the length of what a component of a vertex instruction's source reads, given whether the instruction writes it.
pub(super) fn swizzle_cost(component: usize, code: u8, is_written: bool) -> Cost {
    let bits = match (is_written, code) {
        // The reserved code 6.
        (_, 6) => return NEVER,
        // Compilers mark what is not read with 7.
        (false, 7) => 0.5,
        (false, 4) => 3.0,
        (false, _) => 6.0,
        (true, code) if usize::from(code) == component => 1.5,
        (true, 0..=3) => 4.0,
        (true, 4) => 2.75,
        (true, 5) => 4.5,
        (true, _) => 2.0,
    };
    (bits * BIT as f32) as Cost
}

/// The words of an operand that an operation does not read: zeros of a register that another one reads.
pub(super) const UNREAD_COST: Cost = BIT;

/// The bits that an operand takes where that is possible, and it is another one.
pub(super) const READ_COST: Cost = BIT;

#[cfg(test)]
mod tests {
    use super::*;

    /// Kraft's inequality makes the lengths those of a code: the claim about random bytes rests on it.
    fn check(register: &'static Register, lengths: impl Fn(&Field, u32) -> f32) {
        let is_swizzle = |field: &Field| {
            register.name == Src::REGISTER.name && field.name.starts_with("SWIZZLE")
        };
        for field in register.fields.iter().filter(|field| !is_swizzle(field)) {
            let values = 0..=field.extract(u32::MAX);
            let costs = values.map(|value| field_cost(field, value, &lengths));
            let sum: f64 = costs
                .filter(|cost| *cost != NEVER)
                .map(|cost| (-f64::from(cost) / f64::from(BIT)).exp2())
                .sum();
            assert!(sum <= 1.0, "{}: {sum}", field.name);
            // Not many bits are given away either.
            assert!(sum > 0.3, "{}: {sum}", field.name);
        }
    }

    #[test]
    fn the_lengths_of_each_field_are_those_of_a_code() {
        for ty in [InstType::ALU, InstType::OUT, InstType::FC, InstType::TEX] {
            check(CmnInst::REGISTER, |field, value| cmn(ty, field, value));
        }
        for register in ALU {
            check(register, alu);
        }
        for register in [TexInst::REGISTER, TexAddr::REGISTER, TexAddrDxdy::REGISTER] {
            check(register, tex);
        }
        for register in [FcInst::REGISTER, FcAddr::REGISTER] {
            check(register, flow);
        }
        check(Dst::REGISTER, dst);
        check(Src::REGISTER, src);
        for (component, is_written) in
            (0..4).flat_map(|component| [(component, false), (component, true)])
        {
            let costs = (0..8).map(|code| swizzle_cost(component, code, is_written));
            let sum: f64 = costs
                .filter(|cost| *cost != NEVER)
                .map(|cost| (-f64::from(cost) / f64::from(BIT)).exp2())
                .sum();
            assert!(sum <= 1.0 && sum > 0.8, "{sum}");
        }
        check(DualMath::REGISTER, |field, _| flat(field));
    }

    /// A word takes the bits of its fields.
    #[test]
    fn groups_of_fields_add_up() {
        let code = WordCode::new(TexInst::REGISTER, tex);
        for word in [0x0240_0000, 0x0c41_0000, 0x0f8f_0000, 0x01c0_0000, 0] {
            let fields = TexInst::REGISTER.fields.iter();
            let costs: Vec<Cost> =
                fields.map(|field| field_cost(field, field.extract(word), &tex)).collect();
            let wanted = (!costs.contains(&NEVER)).then(|| costs.iter().sum());
            assert_eq!(code.cost(word), wanted, "{word:#010x}");
        }
        // Bit 2 belongs to no field.
        assert_eq!(code.cost(0x0240_0004), None);
    }
}
