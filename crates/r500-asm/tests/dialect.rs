//! The living dialect (public `*.fs.asm` sources), rule by rule, against dwords.
//!
//! The rows of [`KNOWN`] were made with the dialect's own assembler. All others are worked out by
//! hand from the field tables: the comment at a row names the fields that are set. Where nothing
//! else is said, words 1 and 2 are 0x08020080: three times inline constant 0.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_asm::{Code, Options, assemble};

fn dwords(source: &str) -> Vec<[u32; 6]> {
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.diagnostics.is_empty(), "{source}\n{}", assembly.render(Default::default()));
    assembly.job.program.code.iter().map(|i| i.0).collect()
}

fn codes(source: &str) -> Vec<Code> {
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
