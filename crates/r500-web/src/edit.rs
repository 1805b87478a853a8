//! Changes of constants and textures in the source.

use r500::text::raw_tokens::{RawToken, RawTokenKind, raw_tokens};

use crate::document::{Document, TextEdit};

/// A range of bytes of a text.
type ByteRange = std::ops::Range<usize>;

/// Returns the source after a change of a constant. Unchanged channels keep their text; a constant without a
/// definition is defined at the end of the source.
///
/// # Errors
/// The reason why the source cannot be changed.
pub fn constant(document: &Document, number: u8, value: [u32; 4]) -> Result<Vec<TextEdit>, String> {
    let now = document.assembly().job.program.state.constants.get(usize::from(number));
    let now = now.copied().unwrap_or_default();
    let edits = match components(&document.text, "const", number, 4) {
        Some(parts) => {
            let all = parts.into_iter().zip(value).zip(now).filter(|((_, to), from)| to != from);
            all.map(|((range, to), _)| (range, float(to))).collect()
        }
        None => vec![statement_at_end(
            &document.text,
            &format!("const[{number}] = ({}) ;", value.map(float).join(", ")),
        )],
    };
    let after = document.with_text(&edited(&document.text, &edits)?);
    let got = after.job.program.state.constants.get(usize::from(number));
    if !after.is_ok() || got != Some(&value) {
        return Err(format!("const[{number}] is not given so that it could be changed here"));
    }
    edits.into_iter().map(|(range, text)| edit(document, range, text)).collect()
}

/// Returns the source after a change of an integer constant: iterations of a loop, first value and step of aL.
///
/// # Errors
/// The reason why the source cannot be changed.
pub fn int_constant(
    document: &Document,
    number: u8,
    value: [i32; 3],
) -> Result<Vec<TextEdit>, String> {
    let edits = match components(&document.text, "int", number, 3) {
        Some(parts) => parts
            .into_iter()
            .zip(value)
            .filter(|(range, to)| document.text.get(range.clone()) != Some(&to.to_string()))
            .map(|(range, to)| (range, to.to_string()))
            .collect(),
        None => {
            let [count, start, step] = value;
            let statement = format!("int[{number}] = ({count}, {start}, {step}) ;");
            vec![statement_at_end(&document.text, &statement)]
        }
    };
    let after = document.with_text(&edited(&document.text, &edits)?);
    let got = after.job.program.state.fc_int_const.get(usize::from(number)).copied().flatten();
    let got = got.map(|int| [i32::from(int.kr()), i32::from(int.kg()), i32::from(int.kb())]);
    if got != Some(value) {
        return Err(format!(
            "int[{number}] does not take ({}, {}, {})",
            value[0], value[1], value[2]
        ));
    }
    edits.into_iter().map(|(range, text)| edit(document, range, text)).collect()
}

/// Returns the source after a change of a texture unit: its statement is replaced, or a new one is inserted before the
/// first instruction.
///
/// # Errors
/// The reason why the source cannot be changed.
pub fn texture(document: &Document, unit: u8, what: &str) -> Result<Vec<TextEdit>, String> {
    let statement = format!("TEXTURE tex[{unit}] = {what} ;");
    let text = &document.text;
    let (range, new) = match document.analysis.texture_statement(unit) {
        Some(span) => (span.start as usize..span.end as usize, statement),
        None => {
            let first = document.assembly().spans.iter().find(|span| span.file == 0);
            let first = first.map_or(text.len(), |span| span.start as usize);
            let at = text.get(..first).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
            // If the source does not end with a line break, one is inserted.
            let (at, line) = match (first == text.len(), text.ends_with('\n')) {
                (true, false) if !text.is_empty() => (first, format!("\n{statement}\n")),
                (true, _) => (first, format!("{statement}\n")),
                (false, _) => (at, format!("{statement}\n")),
            };
            (at..at, line)
        }
    };
    let before = text.get(..range.start).ok_or("the place is inside of a character")?;
    let rest = text.get(range.end..).ok_or("the place is inside of a character")?;
    let after = document.with_text(&format!("{before}{new}{rest}"));
    let bound = after.job.textures.get(usize::from(unit)).is_some_and(Option::is_some);
    let errors = |assembly: &r500::asm::Assembly| assembly.errors().count();
    if !bound || errors(&after) > errors(document.assembly()) {
        return Err(format!("tex[{unit}] is not given so that it could be changed here"));
    }
    Ok(vec![edit(document, range, new)?])
}

/// Returns the replacement that appends a statement on a separate line at the end of a text.
fn statement_at_end(text: &str, statement: &str) -> (ByteRange, String) {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    (text.len()..text.len(), format!("{newline}{statement}\n"))
}

/// Returns a text after replacements, which are in order and do not overlap.
fn edited(text: &str, edits: &[(ByteRange, String)]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (range, new) in edits.iter().rev() {
        text.get(range.clone()).ok_or("the value ends inside of a character")?;
        text.replace_range(range.clone(), new);
    }
    Ok(text)
}

/// Returns a change with positions in UTF-16 units.
fn edit(document: &Document, range: ByteRange, text: String) -> Result<TextEdit, String> {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = r500::asm::Span { file: 0, start: offset(range.start), end: offset(range.end) };
    let range = document.range(span).ok_or("the place is not in the source")?;
    Ok(TextEdit { range, text })
}

/// Returns the values in `const[n] = (…)` or `int[n] = (…)`, as written in the text.
pub(crate) fn components(
    text: &str,
    register: &str,
    number: u8,
    count: usize,
) -> Option<Vec<ByteRange>> {
    let bytes = text.as_bytes();
    let all: Vec<RawToken> =
        raw_tokens(bytes).filter(|piece| piece.kind != RawTokenKind::Comment).collect();
    let number = number.to_string();
    let marks =
        |at: usize, mark: u8| all.get(at).is_some_and(|p| p.kind == RawTokenKind::Mark(mark));
    let open = (0..all.len()).find(|&at| {
        all[at].is(bytes, register)
            && marks(at + 1, b'[')
            && all.get(at + 2).is_some_and(|piece| piece.is(bytes, &number))
            && marks(at + 3, b']')
            && marks(at + 4, b'=')
            && marks(at + 5, b'(')
    })? + 5;
    let mut parts = Vec::new();
    let mut first = None::<usize>;
    for at in open + 1..all.len() {
        if marks(at, b',') || marks(at, b')') {
            parts.push(all[first?].start..all[at - 1].end);
            first = None;
            if marks(at, b')') {
                break;
            }
        } else {
            first.get_or_insert(at);
        }
    }
    (parts.len() == count).then_some(parts)
}

/// Returns a float as text: the shortest decimal that parses to the same float, or its bits.
fn float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_finite() { value.to_string() } else { format!("{bits:#010x}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Returns the source after a change.
    fn changed(
        source: &str,
        change: impl FnOnce(&Document) -> Result<Vec<TextEdit>, String>,
    ) -> Result<String, String> {
        let document = Document::new(source.into(), "x".into(), Vec::new());
        Ok(document.applied(&change(&document)?))
    }

    fn with_constant(source: &str, number: u8, value: [f32; 4]) -> String {
        changed(source, |document| constant(document, number, value.map(f32::to_bits))).unwrap()
    }

    #[test]
    fn unchanged_values_keep_their_text() {
        let source = "-- const[1] = (9, 9, 9, 9)\nDEF \u{e9}\u{e9} = temp[0] ;";
        let source = source.replace("\u{e9}\u{e9}", "place");
        let source = format!("{source}\nCONST [ 01 ] = (0x3f800000, 2.50, -1e-3, 4) ; -- four");
        let source = source.replace("01", "1");
        let wanted = source.replace("2.50", "0.1");
        assert_eq!(with_constant(&source, 1, [1.0, 0.1, -1e-3, 4.0]), wanted);
        let named = "DEF k = const[0] = (-1, 2, 3, 4) ;";
        assert_eq!(
            with_constant(named, 0, [-2.5, 2.0, 3.0, 1e20]).as_str(),
            "DEF k = const[0] = (-2.5, 2, 3, 100000000000000000000) ;"
        );
    }

    #[test]
    fn texture_binding_edits_its_statement_or_is_inserted_before_code() {
        let bound = |source: &str, unit| {
            changed(source, |document| texture(document, unit, "noise(4, 4, 1) linear"))
        };
        let new = "TEXTURE tex[1] = noise(4, 4, 1) linear ;";
        let source =
            "-- \u{e9} TEXTURE tex[1] = x ;\n  texture tex [ 1 ]\n = checker(8, 8, 2) ; : ;";
        assert_eq!(
            bound(source, 1).unwrap(),
            format!("-- \u{e9} TEXTURE tex[1] = x ;\n  {new} : ;")
        );
        let source = "TEXTURE tex[0] = checker(8, 8, 2) ;\n-- code\n  : ;";
        let wanted = format!("TEXTURE tex[0] = checker(8, 8, 2) ;\n-- code\n{new}\n  : ;");
        assert_eq!(bound(source, 1).unwrap(), wanted);
        assert_eq!(bound("", 1).unwrap(), format!("{new}\n"));
        assert_eq!(bound("SIZE 4 4 ;", 1).unwrap(), format!("SIZE 4 4 ;\n{new}\n"));
        let document = Document::new(": ;".into(), "x".into(), Vec::new());
        assert!(texture(&document, 16, "noise(4, 4, 1)").is_err());
        assert!(texture(&document, 0, "nonsense").is_err());
    }

    #[test]
    fn a_constant_that_is_not_given_is_added() {
        let text = with_constant("NAME \"x\" ;", 3, [1.0, f32::INFINITY, 0.0, 0.5]);
        assert_eq!(text, "NAME \"x\" ;\nconst[3] = (1, 0x7f800000, 0, 0.5) ;\n");
    }

    #[test]
    fn integer_constant_edits_its_statement_or_is_added() {
        let integer =
            |source: &str, value| changed(source, |document| int_constant(document, 2, value));
        assert_eq!(
            integer("int[2] = ( 3, 0, 1 ) ; -- three", [5, 0, -1]).unwrap(),
            "int[2] = ( 5, 0, -1 ) ; -- three"
        );
        assert_eq!(integer(": ;", [5, 0, 1]).unwrap(), ": ;\nint[2] = (5, 0, 1) ;\n");
        assert!(integer(": ;", [256, 0, 1]).is_err());
    }
}
