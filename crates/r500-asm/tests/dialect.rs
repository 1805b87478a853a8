//! The living dialect (public `*.fs.asm` sources), rule by rule, against dwords.
//!
//! The rows of [`KNOWN`] were made with the dialect's own assembler. All others are worked out by
//! hand from the field tables: the comment at a row names the fields that are set. Where nothing
//! else is said, words 1 and 2 are 0x08020080: three times inline constant 0.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_asm::{DiagnosticCode, Options, assemble};

fn dwords(source: &str) -> Vec<[u32; 6]> {
    let assembly = assemble(source.as_bytes(), Options::default());
    // The dialect permits outputs on any instruction; they only have a warning.
    let accepted = |d: &r500_asm::Diagnostic| d.code == DiagnosticCode::OutputWithoutOut;
    let good = assembly.diagnostics.iter().all(accepted);
    assert!(good, "{source}\n{}", assembly.render(Default::default()));
    assembly.job.program.code.iter().map(|i| i.0).collect()
}

fn codes(source: &str) -> Vec<DiagnosticCode> {
    let assembly = assemble(source.as_bytes(), Options::default());
    assembly.diagnostics.iter().map(|d| d.code).collect()
}

fn hex(text: &str) -> Vec<[u32; 6]> {
    let words: Vec<u32> =
        text.split_whitespace().map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
    words.chunks(6).map(|c| c.try_into().unwrap()).collect()
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let (got, expected) = (dwords(source), hex(expected));
    assert!(got == expected, "{source}\n got {got:08x?}\nwant {expected:08x?}");
}

/// Text and dwords of the dialect's own assembler.
#[rustfmt::skip]
const KNOWN: &[(&str, &str)] = &[
    (": temp[6].a = RSQ src0.g ;", "00004000 08020080 08020080 00000000 0000406b 00000000"),
    ("src1.rgb = temp[5] : temp[9].g = FRC src1.rrr ;", "00001000 08001480 08020080 00000001 00000000 00000099"),
    (": temp[1].a = 0.25*MAD src0.a src0.0 src0.0;", "00004000 08020080 08020080 00000000 1480c010 20000000"),
    (": MAD src0.rgb , temp[2].a = MAD src0.r ;", "00004000 08020080 08020080 00000220 00000020 00000000"),
    ("OUT : out[2].gb = 8.0 * MAX src0.h10 src0.h10 ;", "00030001 08020080 08020080 4c9a84d4 00000000 00000005"),
    ("OUT : out[1].rgb = temp[7].b = MIN src0.111 src0.000, temp[9].a = MIN src0.1 src0.0 ;", "0003e001 08020080 08020080 209206d8 00818092 00000074"),
    (": temp[5].none = MAX src0.rgb src0.rgb , out[2].none = RCP src0.r ;", "00000000 08020080 08020080 00440220 4000000a 00000055"),
    ("src1.rgb = const[9] , src2.a = float(33) : temp[6].a = CMP src1.b src2.a -src0.1 ;", "00004000 08042480 0a120080 00000000 00709066 70000000"),
    ("src0.rgb = temp[6], src1.rgb = temp[7], srcp.rgb = sub : temp[8].rg = MAD srcp.rg_ src0.h1_ src0.00_ ;", "00001800 48001c06 08020080 00fa8723 00000000 00790080"),
    (": temp[1].a = MAD -src0.a |src0.g| -|src0.1| ;", "00004000 08020080 08020080 00000000 0222c010 f0000000"),
    (": temp[3].b = MIN src0.0b0 src0.1h_ ;", "00002000 08020080 08020080 00f70450 00000000 00000034"),
    ("TEX temp[6].rgba = LD tex[4].gbra temp[2].barg ;", "00007803 00440000 c9064e02 00000000 00000000 00000000"),
    ("TEX ALU_WAIT NOP LAST temp[3].none = NOP tex[0].rgba temp[0].rgba ;", "00000703 00000000 e403e400 00000000 00000000 00000000"),
    ("TEX TEX_SEM_ACQUIRE LAST TEX_SEM_WAIT ALU_WAIT NOP temp[3].rgba = LD tex[0].rgba temp[0].rgaa ;", "00007f07 02400000 e403f400 00000000 00000000 00000000"),
];

#[test]
fn known_rows() {
    for (source, expected) in KNOWN {
        check(source, expected);
    }
}

#[test]
fn text() {
    // Comments of dashes only, at the end without a newline, with any bytes; white space is ignored.
    check("-- c\n----\n:\t;\r\n--", "0 08020080 08020080 0 0 0");
    let bytes = [b"-- ".as_slice(), &[0xff, 0xc3, 0x28, 0], b"\n: ;"].concat();
    let assembly = assemble(&bytes, Options::default());
    assert!(assembly.diagnostics.is_empty());
    assert_eq!(assembly.job.program.code.len(), 1);
    assert!(dwords("").is_empty());
    assert!(dwords("  -- nothing").is_empty());
    // Case and leading zeros are ignored. ALPHA_OP RSQ 11, ADDRD 6, SWIZ_A green 1.
    check(
        "oUt : TEMP[006].A = rsq SRC0.G ;",
        "00004001 08020080 08020080 00000000 0000406b 00000000",
    );
    // Space around dots: a word, a dot, a word.
    check(
        ": temp [ 1 ] . a = 0 . 25 * MAD src0 . a src0 . 0 src0 . 0 ;",
        "00004000 08020080 08020080 00000000 1480c010 20000000",
    );
    // Several instructions on a line, one over several lines.
    assert_eq!(dwords(": ; : ;\n:\n;").len(), 3);
}

#[test]
fn tags() {
    // TYPE OUT 1, TEX_SEM_WAIT bit 2, LAST 8, NOP 9, ALU_WAIT 10.
    check("OUT : ;", "1 08020080 08020080 0 0 0");
    check("TEX_SEM_WAIT : ;", "4 08020080 08020080 0 0 0");
    check("LAST : ;", "100 08020080 08020080 0 0 0");
    check("NOP : ;", "200 08020080 08020080 0 0 0");
    check("ALU_WAIT : ;", "400 08020080 08020080 0 0 0");
    check("ALU_WAIT NOP LAST TEX_SEM_WAIT OUT : ;", "705 08020080 08020080 0 0 0");
    for tag in ["OUT", "TEX_SEM_WAIT", "LAST", "NOP", "ALU_WAIT"] {
        assert_eq!(codes(&format!("{tag} {tag} : ;")), [DiagnosticCode::DuplicateFlag]);
    }
}

#[test]
fn lets() {
    // ADDR0 7:0, CONST 8, ADDR1 17:10, CONST 18, ADDR2 27:20, CONST 28; SRCP_OP 31:30.
    check("src0.rgb = temp[127] : ;", "0 0802007f 08020080 0 0 0");
    check("src1.rgb = const[255] : ;", "0 0807fc80 08020080 0 0 0");
    check("src2.rgb = float(127) : ;", "0 0ff20080 08020080 0 0 0");
    check("src0.a = temp[1], src1.a = temp[2], src2.a = temp[3] : ;", "0 08020080 00300801 0 0 0");
    check("src0.rgb = float(0) : ;", "0 08020080 08020080 0 0 0");
    check("srcp.rgb = neg2, srcp.a = sub : ;", "0 08020080 48020080 0 0 0");
    check("srcp.rgb = add, srcp.a = neg : ;", "0 88020080 c8020080 0 0 0");
    // A trailing comma before the colon, and before the semicolon.
    check("src0.rgb = temp[0], : MAD.rgb src0.rgb , ;", "0 08020000 08020080 00000220 0 0");
    assert_eq!(codes("src0.rgb = temp[0], src0.rgb = temp[0] : ;"), [DiagnosticCode::DuplicateLet]);
    assert_eq!(codes("src0.rgb = temp[0], src0.a = temp[0] : ;"), []);
    assert_eq!(codes("src0.rgb = temp[128] : ;"), [DiagnosticCode::OutOfRange]);
    assert_eq!(codes("src0.rgb = const[256] : ;"), [DiagnosticCode::OutOfRange]);
    assert_eq!(codes("src0.rgb = float(128) : ;"), [DiagnosticCode::OutOfRange]);
}

#[test]
fn opcodes() {
    // RGB_OP in word 5 bits 3:0; temp[0].r: WMASK bit 11.
    for (op, code) in [
        ("MAD", 0),
        ("DP3", 1),
        ("DP4", 2),
        ("D2A", 3),
        ("MIN", 4),
        ("MAX", 5),
        ("CND", 7),
        ("CMP", 8),
        ("FRC", 9),
        ("SOP", 10),
        ("MDH", 11),
        ("MDV", 12),
    ] {
        let got = dwords(&format!(": temp[0].r = {op} ;"));
        assert_eq!(got, [[0x800, 0x0802_0080, 0x0802_0080, 0, 0, code]], "{op}");
    }
    // ALPHA_OP in word 4 bits 3:0; temp[0].a: WMASK bit 14.
    for (op, code) in [
        ("MAD", 0),
        ("DP", 1),
        ("MIN", 2),
        ("MAX", 3),
        ("CND", 5),
        ("CMP", 6),
        ("FRC", 7),
        ("EX2", 8),
        ("LN2", 9),
        ("RCP", 10),
        ("RSQ", 11),
        ("SIN", 12),
        ("COS", 13),
        ("MDH", 14),
        ("MDV", 15),
    ] {
        let got = dwords(&format!(": temp[0].a = {op} ;"));
        assert_eq!(got, [[0x4000, 0x0802_0080, 0x0802_0080, 0, code, 0]], "{op}");
    }
    // OMOD: word 3 bits 28:26, word 4 bits 28:26.
    for (i, omod) in ["1.0", "2.0", "4.0", "8.0", "0.5", "0.25", "0.125"].iter().enumerate() {
        let code = (i as u32) << 26;
        let both = format!(": temp[0].r = {omod} * MAD, temp[0].a = {omod}*MAD ;");
        assert_eq!(dwords(&both), [[0x4800, 0x0802_0080, 0x0802_0080, code, code, 0]]);
    }
    assert_eq!(codes(": temp[0].r = 0.50 * MAD ;"), [DiagnosticCode::BadOmod]);
    assert_eq!(codes(": temp[0].r = 2 * MAD ;"), [DiagnosticCode::BadOmod]);
}

#[test]
fn destinations() {
    // RGB_WMASK 13:11, RGB_OMASK 17:15, ALPHA_OMASK 18; RGB_ADDRD word 5 bits 10:4, TARGET word 3
    // bits 30:29, alpha's word 4.
    check(": temp[127].rgb = MAD ;", "3800 08020080 08020080 0 0 7f0");
    check("OUT : out[3].rb = MAD ;", "28001 08020080 08020080 60000000 0 0");
    // Without OUT the type stays ALU: a predicate write that compares by 1, "less than".
    check(": out[1].r = MAD ;", "8000 08020080 08020080 20000000 0 0");
    check("OUT : out[2].a = MAD ;", "40001 08020080 08020080 0 40000000 0");
    // Of repeated flags the last counts; the order of kinds is free.
    check(": temp[1].rgb = temp[2].g = MAD ;", "1000 08020080 08020080 0 0 20");
    check(": out[1].r = temp[2].g = MAD ;", "9000 08020080 08020080 20000000 0 20");
    check(": temp[2].g = out[1].r = MAD ;", "9000 08020080 08020080 20000000 0 20");
    assert_eq!(codes(": temp[0].gr = MAD ;"), [DiagnosticCode::BadMask]);
    assert_eq!(codes(": temp[0].rr = MAD ;"), [DiagnosticCode::BadMask]);
    assert_eq!(codes("OUT : out[4].r = MAD ;"), [DiagnosticCode::OutOfRange]);
}

#[test]
fn halves() {
    // By opcode; then by mask; then the half that the other operation leaves.
    check(": temp[3].none = DP3 ;", "0 08020080 08020080 0 0 31");
    check(": MAX , RCP ;", "0 08020080 08020080 0 a 5");
    check(": RCP , MAX ;", "0 08020080 08020080 0 a 5");
    check(": DP3 , MAX ;", "0 08020080 08020080 0 3 1");
    check(": temp[0].a = MIN , MAX ;", "4000 08020080 08020080 0 2 5");
    check(": MIN , temp[0].r = MAX ;", "800 08020080 08020080 0 2 5");
    // `none` gives no information, and neither does the length of a swizzle, which is checked afterwards.
    assert_eq!(codes(": temp[0].none = MAD src0.rgb ;"), [DiagnosticCode::UnclearHalf]);
    assert_eq!(codes(": MAD src0.rgb ;"), [DiagnosticCode::UnclearHalf]);
    assert_eq!(codes(": MAD , MAX ;"), [DiagnosticCode::UnclearHalf]);
    assert_eq!(codes(": temp[0].a = MAD src0.rgb ;"), [DiagnosticCode::SwizzleLength]);
    let lengths = codes(": temp[0].r = MAD src0.r , MAX src0.rgb ;");
    assert_eq!(lengths.iter().filter(|&&c| c == DiagnosticCode::SwizzleLength).count(), 2);
    assert_eq!(codes(": RCP , RSQ ;"), [DiagnosticCode::SameHalf]);
    assert_eq!(codes(": temp[0].r = MAD , temp[1].g = MAX ;"), [DiagnosticCode::SameHalf]);
    assert_eq!(codes(": temp[0].r = RCP ;"), [DiagnosticCode::WrongHalf]);
    assert_eq!(codes(": temp[0].a = DP3 ;"), [DiagnosticCode::WrongHalf]);
    assert_eq!(codes(": RCP , DP3 , MAD ;"), [DiagnosticCode::TooManyOps]);
    // An extension of the dialect: the half by name.
    check(": MAD.a src0.g ;", "0 08020080 08020080 0 4000 0");
}

#[test]
fn operands() {
    // Any letter and source in either half; letters r g b a 0 h 1 _ = 0 to 7. RGB operand A in
    // word 3: SEL 1:0, swizzles 4:2, 7:5, 10:8, MOD 12:11; B from 13; C in word 5 from 12.
    for (code, letter) in "rgba0h1_".chars().enumerate() {
        let code = code as u32;
        let got = dwords(&format!(": FRC.rgb srcp.{letter}{letter}{letter} ;"));
        assert_eq!(got[0][3], 3 | code << 2 | code << 5 | code << 8);
        let got = dwords(&format!(": RCP src2.{letter} ;"));
        assert_eq!(got[0][4], 10 | 2 << 12 | code << 14);
    }
    check(
        ": MAD.rgb -src1.rgb |src2.gbr| -|srcp.a1h| ;",
        // A: SEL 1, 0 1 2, MOD 1; B: SEL 2, 1 2 0, MOD 2; C: SEL 3, 3 6 5, MOD 3.
        "0 08020080 08020080 0208ca21 0 01dcf000",
    );
    // Not counted against the opcode; at most three.
    check(": FRC.rgb src0.rgb src0.rgb src0.rgb ;", "0 08020080 08020080 00440220 0 220009");
    assert_eq!(
        codes(": FRC.rgb src0.rgb src0.rgb src0.rgb src0.rgb ;"),
        [DiagnosticCode::TooManyOperands]
    );
    // A minus directly after the previous token.
    check(": FRC.rgb src0.rgb-src0.rgb ;", "0 08020080 08020080 01440220 0 9");
    assert_eq!(codes(": MAD.rgb src0.rg ;"), [DiagnosticCode::SwizzleLength]);
    assert_eq!(codes(": MAD.rgb src0.xyz ;"), [DiagnosticCode::BadSwizzle]);
    assert_eq!(codes(": MAD.rgb |src0.rgb ;"), [DiagnosticCode::Unexpected]);
}

#[test]
fn textures() {
    // INST in word 1 bits 24:22, TEX_ID 19:16.
    for (code, op) in ["NOP", "LD", "TEXKILL", "PROJ", "LODBIAS", "LOD", "DXDY"].iter().enumerate()
    {
        let got = dwords(&format!("TEX temp[0].none = {op} tex[15].rrrr temp[0].rrrr ;"));
        assert_eq!(got, [[3, 15 << 16 | (code as u32) << 22, 0, 0, 0, 0]], "{op}");
    }
    // WMASK 14:11; DST_ADDR word 2 bits 22:16, SRC_ADDR 6:0; the last mask counts.
    check(
        "TEX temp[127].rgba = temp[127].gb = LD tex[0].rrrr temp[127].rrrr ;",
        "3003 400000 7f007f 0 0 0",
    );
    check("TEX temp[0].ra = LD tex[0].rrrr temp[0].rrrr ;", "4803 400000 0 0 0 0");
    assert_eq!(
        codes("TEX temp[0].r = temp[1].r = LD tex[0].rgba temp[0].rgba ;"),
        [DiagnosticCode::TwoDestinations]
    );
    assert_eq!(
        codes("TEX temp[0].r = LD tex[16].rgba temp[0].rgba ;"),
        [DiagnosticCode::OutOfRange]
    );
    assert_eq!(
        codes("TEX temp[0].r = LD tex[0].rgb temp[0].rgba ;"),
        [DiagnosticCode::BadTexSwizzle]
    );
    assert_eq!(
        codes("TEX temp[0].r = LD tex[0].rgb0 temp[0].rgba ;"),
        [DiagnosticCode::BadTexSwizzle]
    );
    assert_eq!(
        codes("TEX LAST LAST temp[0].r = LD tex[0].rgba temp[0].rgba ;"),
        [DiagnosticCode::DuplicateFlag]
    );
}

#[test]
fn includes() {
    use r500_asm::{IncludeLimits, Loaded};
    let mut loads = Vec::new();
    let mut loader = |path: &str, from: &str| {
        loads.push((path.to_owned(), from.to_owned()));
        let text = match path {
            "dest.inc" => "temp[1].a = -- a comment\n",
            "twice.inc" => "#include \"dest.inc\" RSQ src0.g ;",
            "loop.inc" => "#include \"loop.inc\"",
            _ => return Err("no such file".to_owned()),
        };
        Ok(Loaded { name: path.to_owned(), bytes: text.as_bytes().to_vec() })
    };
    let source = b": #include \"twice.inc\" : #include \"dest.inc\" #include \"nix\" RSQ src0.g ;
        #include \"loop.inc\"";
    let options = Options { name: "main", loader: Some(&mut loader), ..Options::default() };
    let assembly = assemble(source, options);
    let found: Vec<DiagnosticCode> = assembly.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(found, [DiagnosticCode::IncludeFailed, DiagnosticCode::IncludeCycle]);
    let words = [0x4000, 0x0802_0080, 0x0802_0080, 0, 0x401b, 0];
    assert_eq!(assembly.job.program.code.iter().map(|i| i.0).collect::<Vec<_>>(), [words; 2]);
    let from = |path: &str| loads.iter().find(|(p, _)| p == path).unwrap().1.clone();
    assert_eq!(from("dest.inc"), "twice.inc");
    assert_eq!(from("twice.inc"), "main");
    // A chain without repeated names ends at the depth limit.
    let mut n = 0;
    let mut endless = |_: &str, _: &str| {
        n += 1;
        Ok(Loaded { name: n.to_string(), bytes: b"#include \"more\"".to_vec() })
    };
    let include_limits = IncludeLimits { depth: 8, ..IncludeLimits::default() };
    let options = Options { loader: Some(&mut endless), include_limits, ..Options::default() };
    let assembly = assemble(b"#include \"more\"", options);
    assert_eq!(assembly.diagnostics.len(), 1);
    assert_eq!(assembly.diagnostics[0].code, DiagnosticCode::IncludeLimit);
}

/// Each file includes the next one twice, 40 deep: 2^40 includes, and each file more than once.
#[test]
fn includes_that_fan_out_end_at_a_limit() {
    use r500_asm::{IncludeLimits, Loaded};
    let mut loads = 0;
    let mut fan = |path: &str, _: &str| {
        loads += 1;
        let level: u32 = path.parse().unwrap();
        let bytes = format!("#include \"{0}\"\n#include \"{0}\"\n: ;\n", level + 1);
        let bytes = if level < 40 { bytes.into_bytes() } else { b": ;\n".to_vec() };
        Ok(Loaded { name: path.to_owned(), bytes })
    };
    let options = Options { loader: Some(&mut fan), ..Options::default() };
    let assembly = assemble(b"#include \"1\"", options);
    assert_eq!(loads, IncludeLimits::default().count);
    assert_eq!(assembly.errors().count(), 1, "{}", assembly.render(Default::default()));
    assert_eq!(assembly.diagnostics[0].code, DiagnosticCode::IncludeLimit);
}

#[test]
fn included_bytes_are_limited_and_counted_each_time() {
    use r500_asm::{IncludeLimits, Loaded};
    let mut loader = |path: &str, _: &str| {
        Ok(Loaded { name: path.to_owned(), bytes: b": ; -- twenty bytes.".to_vec() })
    };
    let mut codes = |bytes| {
        let include_limits = IncludeLimits { bytes, ..IncludeLimits::default() };
        let options = Options { loader: Some(&mut loader), include_limits, ..Options::default() };
        let assembly = assemble(b"#include \"a\"\n#include \"a\"", options);
        assembly.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(40), []);
    assert_eq!(codes(39), [DiagnosticCode::IncludeLimit]);
}

#[test]
fn diagnostics_are_limited_by_severity() {
    let report = |source: &str, max_diagnostics| {
        let assembly =
            assemble(source.as_bytes(), Options { max_diagnostics, ..Options::default() });
        let codes: Vec<_> = assembly.diagnostics.iter().map(|d| d.code.name()).collect();
        (codes.join(" "), assembly.is_ok(), assembly.job.program.code.len())
    };
    let said = |codes: &str, ok, instructions| (codes.to_owned(), ok, instructions);
    // Errors up to the limit; the first one above it stops the assembler.
    assert_eq!(report(": ; [ ; ) ; : ;", 2), said("E0101 E0101", false, 2));
    assert_eq!(report(": ; [ ; ) ; = ; : ;", 2), said("E0101 E0101 E0008", false, 1));
    // Warnings do not stop it, and are counted separately.
    assert_eq!(report("; ; ; : ;", 2), said("W0104 W0104 W0009", true, 1));
    assert_eq!(report("; ; [ ; ; ) ; : ;", 2), said("W0104 W0104 E0101 E0101 W0009", false, 1));
    // Errors of the lexer produce no tokens.
    assert_eq!(report("$ ; $ $ $ : ;", 2), said("E0001 W0104 E0001 E0008", false, 0));
}

#[test]
fn a_long_source_of_errors_takes_memory_for_ten_thousand_of_them() {
    let most = Options::default().max_diagnostics;
    for (line, code, closing) in [
        ("; ", DiagnosticCode::EmptyStatement, DiagnosticCode::TooManyWarnings),
        ("$ ", DiagnosticCode::UnknownCharacter, DiagnosticCode::TooManyErrors),
        ("#x\n", DiagnosticCode::UnknownHash, DiagnosticCode::TooManyErrors),
        ("[;", DiagnosticCode::Unexpected, DiagnosticCode::TooManyErrors),
        ("\"\n", DiagnosticCode::UnclosedString, DiagnosticCode::TooManyErrors),
    ] {
        let assembly = assemble(line.repeat(200_000).as_bytes(), Options::default());
        let count = |code| assembly.diagnostics.iter().filter(|d| d.code == code).count();
        assert!((most / 2..=most).contains(&count(code)), "{line:?}: {}", count(code));
        assert_eq!(assembly.diagnostics.last().map(|d| d.code), Some(closing), "{line:?}");
        let text = assembly.render_first(Default::default(), 1);
        assert!(text.contains("\nmore than 10000 "), "{line:?}: {text}");
        assert!(text.contains("; the first 1 are shown"), "{line:?}: {text}");
    }
}

#[test]
fn bits_outside_the_dialect_are_printed_as_fields() {
    // Predication: RGB_PRED_SEL 5:3, INV 6; ALPHA_PRED_SEL 27:25, INV 22.
    check("PRED(!g) : ;", "06400058 08020080 08020080 0 0 0");
    check("PRED.rgb(rgba) PRED.a(6) : ;", "0c000008 08020080 08020080 0 0 0");
    check("PRED(!none) : ;", "00400040 08020080 08020080 0 0 0");
    assert_eq!(codes("PRED(r) PRED.a(g) : ;"), [DiagnosticCode::DuplicateFlag]);
    // WRITE_INACTIVE 7, STAT_WE 31:28.
    check("WRITE_INACTIVE STAT_WE(rba) : ;", "d0000080 08020080 08020080 0 0 0");
    // Predicate write by name of its comparison: as out[2] on an ALU instruction.
    check(": pred[ge].rg = MAD ;", "18000 08020080 08020080 40000000 0 0");
    // ALU result: ALU_WMASK word 3 bit 31, SEL 21, OP 24:23.
    check(": alu[ne].r = MAD.rgb ;", "01800000 08020080 08020080 80000000 0 0");
    check(": alu[lt].a = RCP ;", "00a00000 08020080 08020080 80000000 a 0");
    // Clamp 19 and 20, OMOD disabled 7, W_OMASK word 4 bit 31.
    check(
        ": temp[0].r = clamp raw MIN, depth = clamp 2.0 * MAX ;",
        "00180800 08020080 08020080 1c000000 84000003 4",
    );
    // Relative addresses: REL 9, 19, 29; ADDRD_REL bit 11 of words 4 and 5.
    check(
        "src0.rgb = temp[1+aL], src1.rgb = const[aL+2], src2.rgb = float(3)+aL : ;",
        "0 283c0a01 08020080 0 0 0",
    );
    check(": temp[3+aL].r = MAD, temp[aL].a = MAD ;", "4800 08020080 08020080 0 800 830");
    // SRC_ADDR_REL 7, DST_ADDR_REL 23; DX and DY; UNSCALED 27, IGNORE_UNCOVERED 26 of word 1.
    check(
        "TEX UNSCALED IGNORE_UNCOVERED temp[1+aL].r = DXDY tex[2].rgba temp[3+aL].rgba temp[4].abgr temp[5+aL].rrga ;",
        "803 0d820000 e481e483 d0851b04 0 0",
    );
    // Inline constants by value, and opcodes by number.
    check("src0.rgb = 0.5, src0.a = 480, src1.rgb = float(1.0) : ;", "0 0802e0b0 080200ff 0 0 0");
    check(": OP(6).rgb, OP(4) ;", "0 08020080 08020080 0 4 6");
    check("TEX temp[0].none = OP(7) tex[0].rrrr temp[0].rrrr ;", "3 1c00000 0 0 0 0");
    check("RAW 1 0x2 3 0xFFFFFFFF 5 6 ;", "1 2 3 ffffffff 5 6");
    // Names.
    check(
        "DEF pos = temp[3]; DEF half = 0.5; DEF k = const[7]; DEF t = tex[1]; DEF o = out[1];
         OUT src0.rgb = pos, src1.rgb = Half, src2.rgb = k : o.r = pos.g = MAD ;",
        "9001 1072c003 08020080 20000000 0 30",
    );
}
