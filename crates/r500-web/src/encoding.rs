//! The encoding of an instruction, field by field, and changes of a field in the source.

use r500::explain::{self, DwordExplanation, FieldExplanation};
use r500::isa::values::InstType;
use r500::isa::{FieldKind, Instruction};
use serde::Serialize;

use crate::document::{Document, TextEdit};

/// An instruction, bit by bit.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Encoding {
    index: usize,
    /// The instruction as text.
    text: String,
    words: Vec<Word>,
}

/// A dword.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingWord"))]
pub struct Word {
    bits: u32,
    /// Its register; none if this type of instruction does not read it.
    register: Option<&'static str>,
    meaning: &'static str,
    /// Set bits that no field names.
    unnamed: u32,
    /// From the highest bit.
    fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingField"))]
pub struct Field {
    name: &'static str,
    hi: u8,
    lo: u8,
    code: u32,
    /// The code as text.
    reading: String,
    /// The meaning of the field.
    meaning: &'static str,
    /// The meaning of the code.
    now: &'static str,
    /// `flag`, `number`, `signed` or `choice`.
    #[cfg_attr(test, ts(type = "\"flag\" | \"number\" | \"signed\" | \"choice\""))]
    kind: &'static str,
    reserved: bool,
    values: Vec<Value>,
}

/// A value that the documents name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EncodingValue"))]
pub struct Value {
    code: u32,
    name: &'static str,
    meaning: &'static str,
}

/// Returns the encoding of the instruction with this index.
///
/// # Errors
/// If there is no such instruction.
pub fn encoding(document: &Document, index: usize) -> Result<Encoding, String> {
    let instruction = instruction(document, index)?;
    let words = explain::instruction(instruction).into_iter().map(|dword| match dword {
        DwordExplanation::Unused { bits } => {
            let meaning = "ignored by this type of instruction";
            Word { bits, register: None, meaning, unnamed: bits, fields: Vec::new() }
        }
        DwordExplanation::Word(word) => {
            let mut fields: Vec<Field> = word.fields.iter().map(field).collect();
            fields.sort_by_key(|field| std::cmp::Reverse(field.hi));
            Word {
                bits: word.bits,
                register: Some(word.register.name),
                meaning: word.register.meaning,
                unnamed: word.unnamed,
                fields,
            }
        }
    });
    let text = r500::asm::print_instruction(instruction);
    Ok(Encoding { index, text, words: words.collect() })
}

/// Returns the source after a change of a field of an instruction. Other instructions are unchanged, unless the change
/// breaks a nest of `IF` and similar statements: the statements of the nest are then written in the general form.
///
/// # Errors
/// The reason why the source cannot be changed.
pub fn edit_field(
    document: &Document,
    index: usize,
    word: usize,
    field: &str,
    code: u32,
) -> Result<Vec<TextEdit>, String> {
    let old = instruction(document, index)?;
    let register = old.layout().get(word).copied().flatten();
    let register = register.ok_or("this dword has no fields")?;
    let field = register.field(field).ok_or_else(|| format!("there is no field {field}"))?;
    if code > field.max() {
        return Err(format!("{} goes from 0 to {}", field.name, field.max()));
    }
    let mut new = old;
    new.0[word] = field.insert(old.0[word], code);
    let program = &document.assembly().job.program;
    let mut wanted = program.code.clone();
    wanted[index] = new;
    let offset = program.state.base_address();

    let dwords = new.0.map(|dword| format!("{dword:#010x}")).join(" ");
    // Candidates in order: the instruction printed in its context, printed alone, and as its dwords.
    let spellings = [
        r500::asm::print_lines(&wanted, offset).swap_remove(index),
        r500::asm::print_instruction(new),
        format!("RAW {dwords} ;"),
    ];
    let single = spellings.iter().map(|text| vec![(index, text.clone())]);
    let general = spellings.iter().skip(1).map(|text| {
        let flow = wanted.iter().enumerate().filter(|(_, inst)| inst.ty() == InstType::FC);
        let flow = flow.filter(|(at, _)| *at != index);
        let mut all: Vec<(usize, String)> =
            flow.map(|(at, inst)| (at, r500::asm::print_instruction(*inst))).collect();
        all.push((index, text.clone()));
        all.sort_by_key(|(at, _)| *at);
        all
    });
    for changes in single.chain(general) {
        if let Some(edits) = fitting(document, &changes, &wanted) {
            return Ok(edits);
        }
    }
    Err("the source does not take it".to_owned())
}

/// Returns the changes as edits, if the result assembles to the wanted program.
fn fitting(
    document: &Document,
    changes: &[(usize, String)],
    wanted: &[Instruction],
) -> Option<Vec<TextEdit>> {
    let mut text = document.text.clone();
    let mut edits = Vec::new();
    // From the end, so that earlier positions remain valid.
    for (index, new) in changes.iter().rev() {
        let span = *document.assembly().spans.get(*index)?;
        let range = document.range(span)?;
        let new = broken(new);
        let bytes = span.start as usize..span.end as usize;
        text.get(bytes.clone())?;
        text.replace_range(bytes, &new);
        edits.insert(0, TextEdit { range, text: new });
    }
    let assembly = document.with_text(&text);
    (assembly.is_ok() && assembly.job.program.code == wanted).then_some(edits)
}

fn instruction(document: &Document, index: usize) -> Result<Instruction, String> {
    let code = &document.assembly().job.program.code;
    code.get(index).copied().ok_or_else(|| format!("there is no instruction {index}"))
}

fn field(explained: &FieldExplanation) -> Field {
    let field = explained.field;
    let values = field.values.iter();
    Field {
        name: field.name,
        hi: field.hi,
        lo: field.lo,
        code: explained.code,
        reading: explained.reading(),
        meaning: field.meaning,
        now: explained.meaning(),
        kind: match field.kind {
            FieldKind::Flag => "flag",
            FieldKind::Signed => "signed",
            FieldKind::Choice => "choice",
            _ => "number",
        },
        reserved: explained.is_reserved(),
        values: values
            .map(|value| Value { code: value.code, name: value.name, meaning: value.meaning })
            .collect(),
    }
}

/// Breaks a long line between sources and operations.
fn broken(text: &str) -> String {
    match text.split_once(" : ") {
        Some((reads, computes)) if text.len() > 100 => format!("{reads} :\n    {computes}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SOURCE: &str = "-- caf\u{e9}\nsrc0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;\n\
        IF alu ; ENDIF ;";

    fn edited(index: usize, word: usize, field: &str, code: u32) -> String {
        let document = Document::new(SOURCE.into(), "x".into(), Vec::new());
        let mut text = SOURCE.to_owned();
        for edit in edit_field(&document, index, word, field, code).unwrap().iter().rev() {
            let (from, to) = (document.byte(edit.range.from), document.byte(edit.range.to));
            text.replace_range(from..to, &edit.text);
        }
        text
    }

    #[test]
    fn a_field_changes_its_line_only() {
        let wanted = SOURCE.replace("temp[1]", "temp[5]");
        assert_eq!(edited(0, 5, "RGB_ADDRD", 5), wanted);
        // If the field is a modifier of a flow-control statement, the statement is kept.
        assert_eq!(edited(1, 0, "ALU_WAIT", 1), SOURCE.replace("IF alu", "IF alu ALU_WAIT"));
    }

    #[test]
    fn every_field_of_every_word_can_be_changed() {
        let document = Document::new(SOURCE.into(), "x".into(), Vec::new());
        for (index, old) in document.assembly().job.program.code.iter().enumerate() {
            for (word, layout) in old.layout().into_iter().enumerate() {
                for field in layout.map_or(&[][..], |register| register.fields) {
                    if (word, field.name) == (0, "TYPE") {
                        continue;
                    }
                    let text = edited(index, word, field.name, field.max());
                    let document = Document::new(text, "x".into(), Vec::new());
                    let bits = document.assembly().job.program.code[index].0[word];
                    assert_eq!(field.extract(bits), field.max(), "{}", field.name);
                }
            }
        }
    }
}
