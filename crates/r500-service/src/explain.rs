//! Field-by-field explanations of words and registers, from the tables of [`r500_isa`] and
//! [`r500_chip`].

use std::borrow::Cow;

use r500_chip::RegisterRef;
use r500_isa::{Field, FieldKind, Instruction, JumpInput, Register, Value};

/// A word, field by field.
#[derive(Clone, Debug, PartialEq)]
pub struct WordExplanation {
    /// The register.
    pub register: &'static Register,
    /// The value of the word.
    pub bits: u32,
    /// The fields, in the order of the documents.
    pub fields: Vec<FieldExplanation>,
    /// The set bits that no field covers.
    pub unnamed: u32,
}

/// A field and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldExplanation {
    /// The field.
    pub field: &'static Field,
    /// The value.
    pub code: u32,
    /// The table row of the value, if there is one.
    pub value: Option<&'static Value>,
}

/// A dword of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum DwordExplanation {
    /// A word with a register.
    Word(WordExplanation),
    /// A dword that instructions of this type do not use.
    Unused {
        /// Its bits.
        bits: u32,
    },
}

/// A table entry that a name denotes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Named {
    /// A register or instruction word.
    Register(&'static Register),
    /// A member of a register set.
    Member(RegisterRef),
    /// A field of a register.
    Field(&'static Register, &'static Field),
    /// A value of a field.
    Value(&'static Register, &'static Field, &'static Value),
}

/// Explains a word field by field.
#[must_use]
pub fn word(register: &'static Register, bits: u32) -> WordExplanation {
    let fields = register.fields.iter().map(|field| {
        let code = field.extract(bits);
        FieldExplanation { field, code, value: field.value(code) }
    });
    let unnamed = bits & !register.named_bits();
    WordExplanation { register, bits, fields: fields.collect(), unnamed }
}

/// Explains the six dwords of an instruction.
#[must_use]
pub fn instruction(instruction: Instruction) -> [DwordExplanation; 6] {
    let layout = instruction.layout();
    std::array::from_fn(|i| {
        let bits = instruction.0[i];
        match layout[i] {
            Some(register) => DwordExplanation::Word(word(register, bits)),
            None => DwordExplanation::Unused { bits },
        }
    })
}

/// Returns all table entries with this name, ignoring case. `REGISTER.FIELD` names one field of one register,
/// `RB3D_COLOROFFSET2` a member of a register set, `@4e30` the register at a byte offset.
#[must_use]
pub fn name(name: &str) -> Vec<Named> {
    let mut found = Vec::new();
    if name.is_empty() {
        // Skips values that have no name in the documents.
        return found;
    }
    if name.starts_with('@') {
        found.extend(r500_chip::at_text(name).map(Named::of));
        return found;
    }
    if let Some((register, field)) = name.split_once('.') {
        let register = r500_chip::register(register);
        let field = register.and_then(|register| Some((register, register.field(field)?)));
        found.extend(field.map(|(register, field)| Named::Field(register, field)));
        return found;
    }
    for register in r500_chip::registers() {
        if register.name.eq_ignore_ascii_case(name) {
            found.push(Named::Register(register));
        }
        for field in register.fields {
            if field.name.eq_ignore_ascii_case(name) {
                found.push(Named::Field(register, field));
            }
            let values = field.values.iter();
            let values = values.filter(|value| value.name.eq_ignore_ascii_case(name));
            found.extend(values.map(|value| Named::Value(register, field, value)));
        }
    }
    if found.is_empty() {
        found.extend(r500_chip::named(name).map(Named::of));
    }
    found
}

/// Returns the table names closest to an unknown name, at most four.
#[must_use]
pub fn similar(name: &str) -> Vec<&'static str> {
    let wanted = name.to_ascii_uppercase();
    let mut names: Vec<(usize, &'static str)> = r500_chip::registers()
        .flat_map(|register| {
            let fields = register.fields.iter();
            std::iter::once(register.name).chain(fields.flat_map(|field| {
                let values = field.values.iter().map(|value| value.name);
                std::iter::once(field.name).chain(values)
            }))
        })
        .filter(|known| !known.is_empty())
        .map(|known| (strsim::levenshtein(&wanted, &known.to_ascii_uppercase()), known))
        .filter(|(distance, _)| *distance <= 2 + wanted.len() / 6)
        .collect();
    names.sort_unstable();
    names.dedup();
    // If there are names with one letter wrong, those with two wrong do not help.
    let closest = names.first().map_or(0, |(closest, _)| *closest);
    let close = names.into_iter().take_while(|(distance, _)| *distance == closest);
    close.take(4).map(|(_, known)| known).collect()
}

impl Named {
    fn of(place: RegisterRef) -> Self {
        match place.mapping.count {
            1 => Self::Register(place.mapping.register),
            _ => Self::Member(place),
        }
    }
}

impl FieldExplanation {
    /// Returns whether the documents reserve the code.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.field.kind == FieldKind::Choice && self.value.is_none()
    }

    /// Returns the code as text: a number, `off`, `on`, or a documented name.
    #[must_use]
    pub fn reading(&self) -> String {
        let Self { field, code, value } = *self;
        match (value, field.kind) {
            (Some(value), _) if !value.name.is_empty() => value.name.to_owned(),
            (Some(_), FieldKind::Choice) => code.to_string(),
            (_, FieldKind::Flag) => if code == 0 { "off" } else { "on" }.to_owned(),
            (_, FieldKind::Signed) => {
                let unused = 32 - field.width();
                ((code << unused).cast_signed() >> unused).to_string()
            }
            (_, FieldKind::Float) => f32::from_bits(code).to_string(),
            _ if field.width() < 8 => code.to_string(),
            _ => format!("{code:#x}"),
        }
    }

    /// Returns the meaning of the code, with the condition of a `JUMP_FUNC` decoded.
    #[must_use]
    pub fn text(&self) -> Cow<'static, str> {
        let is_jump_func = self.field.name == "JUMP_FUNC";
        let condition = u8::try_from(self.code).ok().filter(|_| is_jump_func);
        match condition.and_then(jump_condition) {
            Some(condition) if matches!(&*condition, "never" | "always") => {
                format!("jumps {condition}").into()
            }
            Some(condition) => format!("jumps if {condition}").into(),
            None => self.meaning().into(),
        }
    }

    /// Returns the meaning of the code.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        match self.value {
            Some(value) => value.meaning,
            None if self.is_reserved() => "reserved",
            None => self.field.meaning,
        }
    }
}

/// Returns the condition of a `JUMP_FUNC` table as text, over the ALU result `alu`, the predicate bit `pred` and the
/// boolean constant `bool`: `not alu`, `alu and not pred`. `None` unless the table is a literal, a conjunction or a
/// disjunction.
#[must_use]
pub fn jump_condition(table: u8) -> Option<String> {
    const INPUTS: [(&str, JumpInput); 3] = [
        ("alu", JumpInput::AluResult),
        ("pred", JumpInput::Predicate),
        ("bool", JumpInput::Boolean),
    ];
    match table {
        0 => return Some("never".to_owned()),
        0xff => return Some("always".to_owned()),
        _ => {}
    }
    // The entries of the table for which a literal holds.
    let literal = |input: JumpInput, positive: bool| -> u8 {
        let set = |index: &u8| (index >> input as u8 & 1 == 1) == positive;
        (0..8u8).filter(set).fold(0, |bits, index| bits | 1 << index)
    };
    // Each input occurs positively, negatively or not at all.
    for choice in 1..27 {
        let signs = [choice % 3, choice / 3 % 3, choice / 9];
        let used = || INPUTS.iter().zip(signs).filter(|(_, sign)| *sign > 0);
        let tables = || used().map(|((_, input), sign)| literal(*input, sign == 1));
        let text = |joiner: &str| {
            let names =
                used().map(
                    |((name, _), sign)| {
                        if sign == 1 { (*name).to_owned() } else { format!("not {name}") }
                    },
                );
            names.collect::<Vec<_>>().join(joiner)
        };
        if tables().fold(0xff, |all, table| all & table) == table {
            return Some(text(" and "));
        }
        if tables().fold(0, |any, table| any | table) == table {
            return Some(text(" or "));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The BREAKLOOP of a compiled program, derived from the register document: bits 2:0 = 5, 5 clear, 15:8 = ff, 20:16
    /// = 1, 25:24 = 0, 27:26 = 1, 28 set.
    #[test]
    fn a_break_is_explained() {
        let word = word(r500_isa::register("us_fc_inst").unwrap(), 0x1401_ff05);
        let read = |name: &str| {
            word.fields.iter().find(|f| f.field.name == name).map(FieldExplanation::reading)
        };
        assert_eq!(read("OP").unwrap(), "US_FC_OP_BREAKLOOP");
        assert_eq!(read("JUMP_ANY").unwrap(), "off");
        assert_eq!(read("JUMP_FUNC").unwrap(), "0xff");
        assert_eq!(read("B_POP_CNT").unwrap(), "1");
        assert_eq!(read("B_OP1").unwrap(), "US_FC_B_OP_DECR");
        assert_eq!(read("IGNORE_UNCOVERED").unwrap(), "on");
        assert_eq!(word.unnamed, 0);
    }

    #[test]
    fn reserved_codes_and_unnamed_bits_are_pointed_out() {
        // RGB_OP 6 is reserved; bit 3 of US_FC_INST has no name.
        let op = word(r500_isa::register("US_ALU_RGBA_INST").unwrap(), 6).fields[0];
        assert!(op.is_reserved());
        assert_eq!(op.meaning(), "reserved");
        assert_eq!(word(r500_isa::register("US_FC_INST").unwrap(), 8).unnamed, 8);
    }

    #[test]
    fn signed_numbers_read_with_their_sign() {
        let word = word(r500_isa::register("US_FC_INT_CONST").unwrap(), 0x00fd_0005);
        assert_eq!(word.fields[2].reading(), "-3");
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        assert!(matches!(name("US_FC_INST")[..], [Named::Register(_)]));
        assert!(matches!(name("us_fc_inst.op")[..], [Named::Field(..)]));
        // OMOD is a field of both halves, OP_MAD an operation of both.
        assert_eq!(name("OMOD").len(), 2);
        assert_eq!(name("OP_MAD").len(), 2);
        assert_eq!(similar("JUMP_FUNK"), ["JUMP_FUNC"]);
        assert_eq!(similar("op_made"), ["OP_MAD"]);
        assert!(similar("no such thing at all").is_empty());
    }
}
