//! The formatter: its layout, preservation of tokens, and idempotence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::Random;
use r500_asm::{Options, assemble, format, print_code};
use r500_text::raw_tokens::{RawTokenKind, raw_tokens};

fn laid_out(source: &str) -> String {
    String::from_utf8(format(source.as_bytes()).unwrap()).unwrap()
}

/// Formats a source, and checks that program, directives and the lines of statements are the same; then formats again.
fn keeps_meaning(source: &[u8], name: &str) -> Vec<u8> {
    let Ok(out) = format(source) else { return source.to_vec() };
    let again = format(&out).unwrap();
    let (once, twice) = (String::from_utf8_lossy(&out), String::from_utf8_lossy(&again));
    for (once, twice) in once.lines().zip(twice.lines()) {
        assert_eq!(once, twice, "{name}");
    }
    assert!(once == twice, "{name}");
    let words = |text: &[u8]| -> Vec<Vec<u8>> {
        raw_tokens(text).map(|token| text[token.range()].trim_ascii_end().to_vec()).collect()
    };
    assert!(words(source) == words(&out), "{name}: other words");
    let (before, after) =
        (assemble(source, Options::default()), assemble(&out, Options::default()));
    if before.is_ok() {
        assert!(after.is_ok(), "{name}\n{}", after.render(Default::default()));
        // As text, because NaN does not equal itself.
        assert_eq!(format!("{:?}", before.job), format!("{:?}", after.job), "{name}");
    }
    out
}

fn files(folder: &str, found: &mut Vec<PathBuf>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "r5") {
            found.push(path);
        }
    }
}

#[test]
fn the_usual_layout() {
    let source = "
int[0]=(64,0,1);-- passes
bool [3] = true ;  -- on


DEF k=-const[0]=( 1,-2 , 3e-1,4 );
@main
CALL @part;
LOOP int[0]ALU_WAIT;
src0.rgb=temp[3 +aL],src1.a=float( 0.5 ),
src2.rgb = 0.25: -- two lines
temp[1].rgb=2.0*MAD -src0.rgb|src1.aaa|,temp[2].a=RCP -|src0.r| ;
 -- a comment inside
IF !alu|(pred.r&bool[3]);BREAK;
-- in the branch
ELSE ; PRED.rgb( !g ) OUT:out[0].none=clamp MAX src0.rgb src0.rgb,depth=MAX src0.1 src0.1;
ENDIF;
ENDLOOP;
JUMP ->@main IF alu;
@part
: ;
@inner
: ;
RETURN;
EXPECT out[0] at(0,1)=(1,_,0,1);
#include   \"x.inc\"
";
    let wanted = "\
int[0] = (64, 0, 1) ;   -- passes
bool[3] = true ;        -- on

DEF k = -const[0] = (1, -2, 3e-1, 4) ;
@main
CALL @part ;
LOOP int[0] ALU_WAIT ;
    src0.rgb = temp[3+aL], src1.a = float(0.5),
        src2.rgb = 0.25 : -- two lines
        temp[1].rgb = 2.0 * MAD -src0.rgb |src1.aaa|, temp[2].a = RCP -|src0.r| ;
    -- a comment inside
    IF !alu | (pred.r & bool[3]) ; BREAK ;
        -- in the branch
    ELSE ; PRED.rgb(!g) OUT : out[0].none = clamp MAX src0.rgb src0.rgb, depth = MAX src0.1 src0.1 ;
    ENDIF ;
ENDLOOP ;
JUMP -> @main IF alu ;
@part
    : ;
    @inner
    : ;
RETURN ;
EXPECT out[0] at (0, 1) = (1, _, 0, 1) ;
#include \"x.inc\"
";
    let source = source.replace("-- in the branch", "      -- in the branch");
    assert_eq!(laid_out(&source), wanted);
    assert_eq!(laid_out(wanted), wanted);
}

#[test]
fn long_lines_are_broken_after_the_colon_and_commas() {
    let lets = "src0.rgb = temp[10], src1.rgb = temp[11], src2.rgb = temp[12], src0.a = temp[13], src1.a = temp[14], src2.a = temp[15]";
    let source = format!(
        "IF alu ;\nOUT LAST {lets} : out[0].rgb = MAD src0.rgb src1.rgb src2.rgb, out[0].a = MAD src0.a src1.a src2.a ; -- all\nENDIF ;\n"
    );
    let wanted = "\
IF alu ;
    OUT LAST src0.rgb = temp[10], src1.rgb = temp[11], src2.rgb = temp[12], src0.a = temp[13],
        src1.a = temp[14], src2.a = temp[15] :
        out[0].rgb = MAD src0.rgb src1.rgb src2.rgb, out[0].a = MAD src0.a src1.a src2.a ; -- all
ENDIF ;
";
    assert_eq!(laid_out(&source), wanted);
    // Two statements on a line: a comment after them may be about both.
    let two = format!("{lets} : ; {lets} : ; -- r500: allow(R5038)\n");
    assert_eq!(laid_out(&two), two);
}

#[test]
fn aligned_tables_keep_their_columns() {
    let table = "\
const[8]  = (-0.42,  0.36, 0, 0.048) ;          const[16] = (1.00, 0.25, 0.15, 1) ;
const[9]  = ( 0.08,  0.52, 0, 0.024) ;          const[17] = (1.00, 0.70, 0.10, 1) ;
";
    assert_eq!(laid_out(table), table);
    let comments =
        "FULL_FC_EN ;                    -- loops\nint[0] = (64, 0, 1) ;           -- steps\n";
    assert_eq!(laid_out(comments), comments);
}

#[test]
fn line_ends_are_kept_and_invalid_sources_are_rejected() {
    assert_eq!(laid_out("SIZE 4 4;\r\n: ;"), "SIZE 4 4 ;\r\n: ;\r\n");
    assert_eq!(laid_out(""), "");
    assert_eq!(laid_out("\n\n"), "");
    for (source, at) in
        [("NAME \"x ;\n: ;", 5), (": ; // no", 4), ("#define X 1", 0), (": \x0c ;", 2)]
    {
        assert_eq!(format(source.as_bytes()).unwrap_err().span.start, at, "{source}");
    }
}

/// Hand-written sources: the examples, and the sources of tests and fuzzing.
#[test]
fn formatting_existing_sources_keeps_their_jobs() {
    let mut found = Vec::new();
    for folder in [
        "examples",
        "crates/r500-asm/tests/diagnostics",
        "fuzz/seeds/asm_text",
        "fuzz/seeds/check_source_fixes",
    ] {
        files(folder, &mut found);
    }
    assert!(found.len() >= 14, "{}", found.len());
    for path in found {
        keeps_meaning(&std::fs::read(&path).unwrap(), &path.display().to_string());
    }
    for code in r500_asm::DiagnosticCode::ALL {
        keeps_meaning(code.info().example.as_bytes(), code.name());
    }
}

/// The examples are formatted.
#[test]
fn examples_are_formatted() {
    let mut found = Vec::new();
    files("examples", &mut found);
    for path in found {
        let source = std::fs::read_to_string(&path).unwrap();
        assert_eq!(laid_out(&source), source, "{}: run `r500 fmt examples`", path.display());
    }
}

/// Programs of the corpus as printed, and random dwords; then with random space between words, and truncated anywhere.
#[test]
fn formatting_random_spacing_keeps_the_job() {
    let mut random = Random::new(0xf0e1);
    let mut sources: Vec<Vec<u8>> = Vec::new();
    for _ in 0..60 {
        let code: Vec<_> = (0..20).map(|_| random.near_valid()).collect();
        sources.push(print_code(&code, 0).into_bytes());
    }
    let mut found = Vec::new();
    files("examples", &mut found);
    sources.extend(found.iter().map(|path| std::fs::read(path).unwrap()));
    for source in &sources {
        keeps_meaning(source, "printed");
        for _ in 0..4 {
            let shaken = shake(source, &mut random);
            keeps_meaning(&shaken, "shaken");
            let cut = random.below(u32::try_from(shaken.len()).unwrap()) as usize;
            keeps_meaning(&shaken[..cut], "cut");
        }
    }
}

/// Changes the space between words where it has no meaning.
fn shake(source: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let mut before: Option<(RawTokenKind, usize)> = None;
    for token in raw_tokens(source) {
        let text = &source[token.range()];
        if let Some((kind, end)) = before {
            let touching = end == token.start;
            let needed = matches!(
                (kind, token.kind),
                (RawTokenKind::Word, RawTokenKind::Word)
                    | (RawTokenKind::Mark(b'-'), RawTokenKind::Mark(b'-'))
            ) || token.kind == RawTokenKind::Comment;
            match random.below(8) {
                _ if kind == RawTokenKind::Comment => out.push(b'\n'),
                // Numbers of several tokens, arrows and includes are not changed.
                _ if touching => {}
                0 if !needed
                    && kind != RawTokenKind::Mark(b'#')
                    && token.kind != RawTokenKind::Text
                    && kind != RawTokenKind::Mark(b'-')
                    && token.kind != RawTokenKind::Mark(b'-')
                    && token.kind != RawTokenKind::Mark(b'.')
                    && kind != RawTokenKind::Mark(b'.') => {}
                1 if kind != RawTokenKind::Mark(b'#') && token.kind != RawTokenKind::Text => {
                    out.extend_from_slice(b"\n\n\t ")
                }
                2 => out.extend_from_slice(b"   \t"),
                3 if kind != RawTokenKind::Mark(b'#')
                    && token.kind != RawTokenKind::Text
                    && token.kind != RawTokenKind::Comment =>
                {
                    out.extend_from_slice(b" -- x;\n")
                }
                _ => out.push(b' '),
            }
        }
        out.extend_from_slice(text);
        before = Some((token.kind, token.end));
    }
    out
}

/// Found by fuzzing: a second colon, which no statement has, was a new break point each time.
#[test]
fn a_second_colon_changes_nothing_the_second_time() {
    let source = "NOP src0.a = temp[1], src1.a = const[2] : temp[2].a = MAD src0.aLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL src1.a other -A: the first column (row) counts negative, C is the second.\nsrc0.a = temp[2] : temp[3].a = MDH -src0.a src0.1 src0.a ;\n";
    let out = keeps_meaning(source.as_bytes(), "two colons");
    assert!(out.starts_with(b"NOP src0.a = temp[1], src1.a = const[2] :\n"));
}

/// Found by fuzzing: a word after a comma may begin a statement at the start of a line.
#[test]
fn no_line_is_cut_where_a_statement_would_begin() {
    let long = "M".repeat(90);
    let source = format!(
        "src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.rgb, TIME temp[1] {long}.a = 0.125 * MAD ;\n"
    );
    let out = keeps_meaning(source.as_bytes(), "a statement after a comma");
    assert!(!String::from_utf8(out).unwrap().contains("\nTIME"));
}

/// A line that begins inside brackets has no break points, like the rest of the line before it.
#[test]
fn an_open_bracket_counts_in_the_lines_that_follow() {
    let source = format!("a (b {} : {}, , c ,,,,,\n", "d ".repeat(40), "e ".repeat(60));
    keeps_words_twice(&source);
    // Reduced from the input of a fuzz target.
    let source = format!(
        "\"\" J,,{}M(Q+{}{}|!!!!!E!{},,j,,,,,,",
        "E".repeat(13),
        "E".repeat(40),
        ":".repeat(26),
        "E".repeat(54)
    );
    keeps_words_twice(&source);
}

/// Formats a source twice: the second time changes nothing.
fn keeps_words_twice(source: &str) {
    let once = laid_out(source);
    assert!(once.lines().count() > 1, "{once}");
    assert_eq!(laid_out(&once), once);
}

/// Operators of expressions have no space around them; output modifiers and signs of operands are as they were.
#[test]
fn expressions_and_macros_are_laid_out() {
    let source = "\
DEF K=2 * pi/ 3 ; DEF L = - K ;
.macro  put to,n ;
src0=temp[ n - 1 ],src1.rgb = 1 / 4 : to.rgb=0.5*MAD -src0.rgb src1.rgb -src0.000 ;
.rept n+1 , i ; : temp[i*(n -1)].r = FRC src0.rrr ; .endr ;
.endm ;
put temp[1] , 4 - 1 ;put temp[2], -(-1 - - 2) ; put (1), 2 ;
TIME -1 ; SIZE 4 * 4 8 -K ; const[0] = (1-2, -(3), 1e-3 -1, 2 - -1) ;
.rept (2) ; @a JUMP -> 3 ; .endr ;
";
    let wanted = "\
DEF K = 2*pi/3 ; DEF L = -K ;
.macro put to, n ;
    src0 = temp[n-1], src1.rgb = 1/4 : to.rgb = 0.5 * MAD -src0.rgb src1.rgb -src0.000 ;
    .rept n+1, i ; : temp[i*(n-1)].r = FRC src0.rrr ; .endr ;
.endm ;
put temp[1], 4-1 ; put temp[2], -(-1- -2) ; put (1), 2 ;
TIME -1 ; SIZE 4*4 8-K ; const[0] = (1-2, -(3), 1e-3-1, 2- -1) ;
.rept (2) ; @a JUMP -> 3 ; .endr ;
";
    assert_eq!(laid_out(source), wanted);
    assert_eq!(String::from_utf8(keeps_meaning(source.as_bytes(), "macros")).unwrap(), wanted);
    assert_eq!(laid_out(wanted), wanted);
    // Words that begin a statement keep their space.
    assert_eq!(laid_out(": ;.rept 2;: ;.endr;"), ": ; .rept 2 ; : ; .endr ;\n");
}
