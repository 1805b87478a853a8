//! Safe fixes as text edits: waits, NOPs, semaphores and the number of temporaries.
//!
//! An edit adds a word to one instruction or changes one number; all other bytes stay. After each round, the text is
//! assembled again and must be the program with exactly these fixes.

use std::collections::BTreeMap;
use std::ops::Range;

use r500_asm::{Assembly, Span};
use r500_check::{Edit, EditTarget, Fix, Lint, check_job};
use r500_isa::Instruction;
use r500_isa::values::InstType;
use r500_program::Job;

use super::field_spans::directive;
use r500_text::raw_tokens::{RawToken, RawTokenKind, raw_tokens};

/// A source with its safe fixes.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The text.
    pub text: Vec<u8>,
    /// What it assembles to.
    pub assembly: Assembly,
    /// The fixed lints, in order.
    pub resolved: Vec<Lint>,
    /// Lints with a safe fix that cannot be applied to the text, in program order.
    pub left: Vec<Unfixed>,
}

/// A lint whose fix could not be applied to the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfixed {
    /// The finding.
    pub finding: Lint,
    /// Why.
    pub reason: String,
}

/// Limit of rounds: a fix may uncover another lint.
const ROUNDS: usize = 16;

/// Applies the safe fixes of the `wanted` lints to a source that assembles without errors.
///
/// `assemble` assembles a text; it should read the same included files each time.
pub fn fix(
    source: &[u8],
    mut assemble: impl FnMut(&[u8]) -> Assembly,
    wanted: impl Fn(&Assembly, &Lint) -> bool,
) -> Fixed {
    let assembly = assemble(source);
    let mut fixed =
        Fixed { text: source.to_vec(), assembly, resolved: Vec::new(), left: Vec::new() };
    for _ in 0..ROUNDS {
        fixed.left.clear();
        if !fixed.assembly.is_ok() {
            break;
        }
        let findings = safe(&fixed.assembly.job, |finding| wanted(&fixed.assembly, finding));
        let mut changes = Changes::default();
        let mut resolved = Vec::new();
        for finding in findings {
            match changes.take(&fixed.assembly, &finding) {
                Ok(()) => resolved.push(finding),
                Err(reason) => fixed.left.push(Unfixed { finding, reason }),
            }
        }
        if resolved.is_empty() {
            break;
        }
        if fixed.apply(&changes, &resolved, &mut assemble) {
            fixed.resolved.append(&mut resolved);
            continue;
        }
        // The combination has another effect than expected: try the fixes one by one.
        let mut some = false;
        for finding in resolved {
            let mut changes = Changes::default();
            let single = std::slice::from_ref(&finding);
            if changes.take(&fixed.assembly, &finding).is_ok()
                && fixed.apply(&changes, single, &mut assemble)
            {
                fixed.resolved.push(finding);
                some = true;
            } else {
                let reason = "the text does not take it".to_owned();
                fixed.left.push(Unfixed { finding, reason });
            }
        }
        if !some {
            break;
        }
    }
    fixed
}

/// Returns the text edits of a fix in the source itself: replaced spans and their replacements.
///
/// # Errors
/// A message why the source cannot be edited.
pub fn text_edits(assembly: &Assembly, fix: &Fix) -> Result<Vec<(Span, String)>, String> {
    let span = |range: Range<usize>| {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file: 0, start: offset(range.start), end: offset(range.end) }
    };
    let edits = fix.edits.iter().filter_map(|edit| text_edit(assembly, edit).transpose());
    edits.map(|edit| edit.map(|(range, text)| (span(range), text))).collect()
}

/// Applies the safe fixes of the `wanted` lints to a program itself. Returns the fixed lints.
pub fn fix_program(job: &mut Job, wanted: impl Fn(&Lint) -> bool) -> Vec<Lint> {
    let mut resolved = Vec::new();
    for _ in 0..ROUNDS {
        let mut findings = safe(job, &wanted);
        if findings.is_empty() {
            break;
        }
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        fixes.for_each(|fix| fix.apply(&mut job.program));
        resolved.append(&mut findings);
    }
    resolved
}

fn safe(job: &Job, wanted: impl Fn(&Lint) -> bool) -> Vec<Lint> {
    let mut findings = check_job(job).lints;
    findings.retain(|f| f.fix.as_ref().is_some_and(|fix| fix.safe) && wanted(f));
    findings
}

impl Fixed {
    /// Applies changes to the text, if it then assembles to the program with those fixes.
    fn apply(
        &mut self,
        changes: &Changes,
        resolved: &[Lint],
        assemble: &mut impl FnMut(&[u8]) -> Assembly,
    ) -> bool {
        let mut program = self.assembly.job.program.clone();
        let fixes = resolved.iter().filter_map(|finding| finding.fix.as_ref());
        fixes.for_each(|fix| fix.apply(&mut program));
        let text = changes.write(&self.text);
        let assembly = assemble(&text);
        // Only programs are compared: other parts of a job may hold NaN, which does not compare equal.
        let right = assembly.is_ok() && assembly.job.program == program;
        if right {
            (self.text, self.assembly) = (text, assembly);
        }
        right
    }
}

/// Text changes: replacements by byte range. Insertions at one position are concatenated.
#[derive(Default)]
struct Changes(BTreeMap<(usize, usize), Vec<String>>);

impl Changes {
    /// Adds all edits of a lint's fix, or none.
    fn take(&mut self, assembly: &Assembly, finding: &Lint) -> Result<(), String> {
        let edits = finding.fix.as_ref().map_or(&[][..], |fix| &fix.edits);
        let mut texts = Vec::new();
        for edit in edits {
            texts.extend(text_edit(assembly, edit)?);
        }
        for (range, text) in texts {
            let here = self.0.entry((range.start, range.end)).or_default();
            // Two lints may need the same insertion; a number has only one replacement.
            if range.is_empty() {
                if !here.contains(&text) {
                    here.push(text);
                }
            } else {
                *here = vec![text];
            }
        }
        Ok(())
    }

    fn write(&self, source: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(source.len() + 64);
        let mut at = 0;
        for (&(start, end), texts) in &self.0 {
            out.extend_from_slice(source.get(at..start).unwrap_or_default());
            texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
            at = end.max(at);
        }
        out.extend_from_slice(source.get(at..).unwrap_or_default());
        out
    }
}

/// Returns the range and replacement for an edit of the program; `None` if it has no effect.
fn text_edit(assembly: &Assembly, edit: &Edit) -> Result<Option<(Range<usize>, String)>, String> {
    let mut edited = assembly.job.program.clone();
    edit.apply(&mut edited);
    if edited == assembly.job.program {
        return Ok(None);
    }
    match edit.target {
        EditTarget::Instruction { index, word } => {
            let inst = assembly.job.program.code.get(index).copied().unwrap_or_default();
            let Some(span) = assembly.spans.get(index) else {
                return Err("the instruction is not in the source".to_owned());
            };
            if span.file != 0 {
                let name = assembly.files.name(*span);
                return Err(format!("the instruction stands in an included file, {name}"));
            }
            if assembly.expansion_of(index).is_some() {
                return Err("the instruction is one of a macro or a repetition".to_owned());
            }
            let (range, text) =
                instruction(assembly.files.bytes(*span), inst, usize::from(word), edit)?;
            let base = span.start as usize;
            Ok(Some((base + range.start..base + range.end, text)))
        }
        EditTarget::Pixsize => pixsize(assembly, edit).map(Some),
        _ => Err("only instructions and US_PIXSIZE are edited".to_owned()),
    }
}

/// Sets a flag in the text of an instruction.
fn instruction(
    text: &[u8],
    inst: Instruction,
    word: usize,
    edit: &Edit,
) -> Result<(Range<usize>, String), String> {
    let all: Vec<RawToken> =
        raw_tokens(text).filter(|piece| piece.kind != RawTokenKind::Comment).collect();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return Err("the instruction's text is empty".to_owned());
    };
    if first.is(text, "RAW") {
        let Some(dword) = all.get(1 + word) else {
            return Err("RAW without its dwords".to_owned());
        };
        let bits = edit.field.insert(inst.0.get(word).copied().unwrap_or_default(), edit.code);
        return Ok((dword.range(), format!("{bits:#010x}")));
    }
    if edit.code != 1 || edit.field.width() != 1 {
        return Err(format!("{} is not a flag", edit.field.name));
    }
    let flag = edit.field.name;
    if inst.ty() == InstType::FC {
        // Modifiers are at the end.
        if last.kind != RawTokenKind::Mark(b';') {
            return Err("the instruction ends in another file than it begins".to_owned());
        }
        let glued = last.start.checked_sub(1).is_some_and(|at| !text[at].is_ascii_whitespace());
        let flag = if glued { format!(" {flag}") } else { format!("{flag} ") };
        return Ok((last.start..last.start, flag));
    }
    // Flags are at the start, but after the keyword of the instruction type.
    if first.is(text, "TEX") || first.is(text, "OUT") {
        return Ok((first.end..first.end, format!(" {flag}")));
    }
    Ok((first.start..first.start, format!("{flag} ")))
}

/// Raises US_PIXSIZE in the directive that sets it.
fn pixsize(assembly: &Assembly, edit: &Edit) -> Result<(Range<usize>, String), String> {
    let missing = || format!("`{} =` does not stand in the source itself", edit.register.name);
    let span = directive(assembly, edit.register.name).ok_or_else(missing)?;
    let text = assembly.files.bytes(span);
    let all: Vec<RawToken> =
        raw_tokens(text).filter(|piece| piece.kind != RawTokenKind::Comment).collect();
    let number =
        |piece: &&RawToken| piece.kind == RawTokenKind::Word && text[piece.start].is_ascii_digit();
    let value = all.get(2).filter(number);
    let field = all.windows(3).find(|three| three[0].is(text, edit.field.name));
    let (piece, code) = match (value, field) {
        (Some(value), _) => {
            let now = assembly.job.program.state.pixsize.map_or(0, |register| register.0);
            (value, edit.field.insert(now, edit.code))
        }
        (None, Some([_, _, number])) => (number, edit.code),
        _ => return Err(missing()),
    };
    let base = span.start as usize;
    Ok((base + piece.start..base + piece.end, code.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_asm::{Options, assemble};

    use super::*;

    fn fixed(source: &str) -> Fixed {
        fix(source.as_bytes(), |text| assemble(text, Options::default()), |_, _| true)
    }

    fn text(source: &str) -> String {
        let fixed = fixed(source);
        assert!(fixed.left.is_empty() && fixed.assembly.is_ok(), "{:?}", fixed.left);
        String::from_utf8(fixed.text).unwrap()
    }

    #[test]
    fn words_go_where_they_belong_and_the_rest_stays() {
        let source = "\
-- US_PIXSIZE = PIX_SIZE(1) is too little;
us_pixsize = Pix_Size( 1 ) ;  INPUT temp[0] = uv ;
tex temp[2].rgba = LD tex[0].rgba temp[0].rgba;-- fetch
   src0.rgb = temp[2] /* */ : -- a comment ; here
      temp[1].rgb = MAD src0.rgb src0.111 src0.000 ;
src0.rgb = temp[1], srcp.rgb = neg : alu[lt].r = MAX srcp.rgb srcp.rgb ;
IF alu;
\tOUT : out[0].rgb = MAX src0.111 src0.111 ; ENDIF
  ;
OUT\tsrc0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;
";
        let source = source.replace("/* */ ", "");
        let wanted = source
            .replace("Pix_Size( 1 )", "Pix_Size( 2 )")
            .replace("tex temp", "tex TEX_SEM_ACQUIRE temp")
            .replace("   src0.rgb = temp[2] :", "   NOP TEX_SEM_WAIT src0.rgb = temp[2] :")
            .replace("IF alu;", "IF alu ALU_WAIT;");
        let got = text(&source);
        // the two flags before an instruction may be in either order.
        let got = got.replace("TEX_SEM_WAIT NOP src0", "NOP TEX_SEM_WAIT src0");
        assert_eq!(got, wanted);
    }

    #[test]
    fn raw_dwords_and_raw_pixsize() {
        let fetch = "US_PIXSIZE = 0 ; INPUT temp[0] = uv ;\n\
            RAW 0x00007803 0x00400000 0xe401e400 0 0 0 ;\n\
            RAW 0x00078101, 1, 1, 0x00db0220, 0x0060c003, 0x00490000 ;";
        let fetch = fetch.replace(", ", " ");
        let wanted = fetch
            .replace("SIZE = 0 ", "SIZE = 1 ")
            .replace("0x00400000", "0x02400000")
            .replace("0x00078101", "0x00078105");
        assert_eq!(text(&fetch), wanted);
    }

    #[test]
    fn included_lines_are_not_edited() {
        let fetch = b"TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;";
        let main = b"#include \"fetch\"\n\
            OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        let mut loader = |path: &str, _: &str| {
            Ok(r500_asm::Loaded { name: path.to_owned(), bytes: fetch.to_vec() })
        };
        let mut assembled = |text: &[u8]| {
            assemble(text, Options { loader: Some(&mut loader), ..Options::default() })
        };
        let fixed = fix(main, &mut assembled, |_, _| true);
        assert_eq!(fixed.text, main);
        let [left] = &fixed.left[..] else { unreachable!("{:?}", fixed.left) };
        assert!(left.reason.contains("included file, fetch"), "{}", left.reason);
    }

    #[test]
    fn bodies_of_macros_are_not_edited() {
        let source = ".macro fetch to ; TEX to.rgba = LD tex[0].rgba temp[0].rgba ; .endm ;\n\
            fetch temp[1] ;\nOUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        let fixed = fixed(source);
        assert_eq!(fixed.text, source.as_bytes());
        let [left] = &fixed.left[..] else { unreachable!("{:?}", fixed.left) };
        assert!(left.reason.contains("of a macro"), "{}", left.reason);
    }

    #[test]
    fn nan_next_to_the_program_does_no_harm() {
        let source = "SIZE 1 1 ; INPUT temp[0] = (nan, 0, 0, 1) ; EXPECT out[0] all = (nan, _, _, _) ;\n\
            src0.rgb = temp[0] : alu[lt].r = MAX src0.rgb src0.rgb ; IF alu ; ENDIF ;";
        assert_eq!(text(source), source.replace("IF alu ;", "IF alu ALU_WAIT ;"));
    }

    #[test]
    fn only_what_is_wanted() {
        let source = "src0.rgb = temp[0] : alu[lt].r = MAX src0.rgb src0.rgb ; IF alu ; ENDIF ;";
        let same = fix(source.as_bytes(), |text| assemble(text, Options::default()), |_, _| false);
        assert_eq!((same.text.as_slice(), same.resolved.len()), (source.as_bytes(), 0));
        assert_eq!(fixed(source).resolved.len(), 1);
    }
}
