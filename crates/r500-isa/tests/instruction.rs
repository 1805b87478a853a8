//! Tests instructions: bytes, layout, and the accessors that combine fields of several words,
//! against bit positions written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_isa::values::{InstType, Mod, Omod, Sel, SrcpOp, Swiz, Target};
use r500_isa::words::AluRgbAddr;
use r500_isa::{Half, InlineConst, Instruction, Operand, Slot, Source, Word};

/// Six dwords in which every bit of a word differs from the same bit of some other word.
const MIXED: Instruction =
    Instruction([0x0123_4567, 0x89ab_cdef, 0x1357_9bdf, 0xfdb9_7531, 0x2468_ace0, 0x0eca_8642]);

#[test]
fn bytes_are_little_endian_words_in_order() {
    let bytes = MIXED.to_le_bytes();
    assert_eq!(bytes[..8], [0x67, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab, 0x89]);
    assert_eq!(bytes[20..], [0x42, 0x86, 0xca, 0x0e]);
    assert_eq!(Instruction::from_le_bytes(&bytes), MIXED);

    // Each byte has its own position.
    for i in 0..24 {
        let mut bytes = [0; 24];
        bytes[i] = 0xa5;
        let inst = Instruction::from_le_bytes(&bytes);
        let mut words = [0; 6];
        words[i / 4] = 0xa5 << (8 * (i % 4));
        assert_eq!(inst.0, words, "byte {i}");
        assert_eq!(inst.to_le_bytes(), bytes, "byte {i}");
    }
}

#[test]
fn layout_follows_the_type() {
    let alu: &[&str] = &[
        "US_CMN_INST",
        "US_ALU_RGB_ADDR",
        "US_ALU_ALPHA_ADDR",
        "US_ALU_RGB_INST",
        "US_ALU_ALPHA_INST",
        "US_ALU_RGBA_INST",
    ];
    let fc: &[&str] = &["US_CMN_INST", "", "US_FC_INST", "US_FC_ADDR", "", ""];
    let tex: &[&str] = &["US_CMN_INST", "US_TEX_INST", "US_TEX_ADDR", "US_TEX_ADDR_DXDY", "", ""];
    for (code, ty, wanted) in [
        (0, InstType::ALU, alu),
        (1, InstType::OUT, alu),
        (2, InstType::FC, fc),
        (3, InstType::TEX, tex),
    ] {
        // Only the lowest two bits of word 0 select the type.
        for rest in [0, 0xffff_fffc] {
            let inst = Instruction([rest | code, !0, !0, !0, !0, !0]);
            assert_eq!(inst.ty(), ty);
            let names = inst.layout().map(|r| r.map_or("", |r| r.name));
            assert_eq!(names, wanted, "{ty:?}");
        }
    }
}

#[test]
fn views_are_the_words_of_the_layout() {
    let [cmn, one, two, three, four, five] = MIXED.0;
    assert_eq!(MIXED.cmn().bits(), cmn);
    assert_eq!((MIXED.rgb_addr().bits(), MIXED.tex_inst().bits()), (one, one));
    assert_eq!((MIXED.alpha_addr().bits(), MIXED.tex_addr().bits()), (two, two));
    assert_eq!(MIXED.fc_inst().bits(), two);
    assert_eq!((MIXED.rgb_inst().bits(), MIXED.tex_addr_dxdy().bits()), (three, three));
    assert_eq!(MIXED.fc_addr().bits(), three);
    assert_eq!(MIXED.alpha_inst().bits(), four);
    assert_eq!(MIXED.rgba_inst().bits(), five);
}

#[test]
fn sources_of_both_halves() {
    // ADDRn at 10n+7:10n, its CONST above, its REL above that; SRCP_OP at 31:30.
    let word = 0x12 | 1 << 8 | 0x83 << 10 | 1 << 19 | 0x7f << 20 | 2 << 30;
    let source = |addr, constant, relative| Source { addr, constant, relative };
    let wanted = [source(0x12, true, false), source(0x83, false, true), source(0x7f, false, false)];

    let inst = Instruction([0, word, 0, 0, 0, 0]);
    assert_eq!(inst.sources(Half::Rgb), wanted);
    assert_eq!(inst.srcp_op(Half::Rgb), SrcpOp::ADD);
    assert_eq!(inst.sources(Half::Alpha), [source(0, false, false); 3]);
    assert_eq!(inst.srcp_op(Half::Alpha), SrcpOp::NEG2);

    let inst = Instruction([0, 0, word, 0, 0, 0]);
    assert_eq!(inst.sources(Half::Alpha), wanted);
    assert_eq!(inst.srcp_op(Half::Alpha), SrcpOp::ADD);
    assert_eq!(inst.sources(Half::Rgb), [source(0, false, false); 3]);

    assert_eq!(wanted[0].inline(), None);
    assert_eq!(wanted[0].temporary(), None);
    assert_eq!(wanted[1].inline(), Some(InlineConst::new(3)));
    assert_eq!(wanted[1].temporary(), None);
    assert_eq!(wanted[2].inline(), None);
    assert_eq!(wanted[2].temporary(), Some(0x7f));
    assert_eq!(Source::UNUSED.inline().unwrap().value(), 0.0);
}

#[test]
fn replacing_a_source_changes_its_ten_bits() {
    let all = Source { addr: 0xff, constant: true, relative: true };
    let none = Source { addr: 0, constant: false, relative: false };
    for n in 0..3 {
        let bits = 0x3ff << (10 * n);
        assert_eq!(AluRgbAddr::from_bits(0).with_source(n, all).bits(), bits);
        assert_eq!(AluRgbAddr::from_bits(u32::MAX).with_source(n, none).bits(), !bits);
    }
    assert_eq!(AluRgbAddr::from_bits(5).with_source(3, all).bits(), 5);
}

/// Positions of the operands: word of the instruction, lowest bit of select, swizzles and modifier.
const RGB_OPERANDS: [(Slot, usize, u32, [u32; 3], u32); 3] = [
    (Slot::A, 3, 0, [2, 5, 8], 11),
    (Slot::B, 3, 13, [15, 18, 21], 24),
    (Slot::C, 5, 12, [14, 17, 20], 23),
];
const ALPHA_OPERANDS: [(Slot, usize, u32, [u32; 1], u32); 3] =
    [(Slot::A, 4, 12, [14], 17), (Slot::B, 4, 19, [21], 24), (Slot::C, 5, 25, [27], 30)];

fn place<const N: usize>(word: u32, operand: Operand<N>, at: (u32, [u32; N], u32)) -> u32 {
    let mut put = vec![(operand.sel.code(), at.0, 3), (operand.modifier.code(), at.2, 3)];
    put.extend(operand.swiz.iter().zip(at.1).map(|(s, lo)| (s.code(), lo, 7)));
    put.into_iter().fold(word, |w, (code, lo, max)| w & !(max << lo) | u32::from(code) << lo)
}

#[test]
fn rgb_operands_read_and_write_their_bits() {
    for (slot, word, sel, swiz, modifier) in RGB_OPERANDS {
        for code in 0..=2u8.pow(3) {
            let operand = Operand {
                sel: Sel::new(code & 3),
                swiz: [Swiz::new(code & 7), Swiz::new((code + 3) & 7), Swiz::new(!code & 7)],
                modifier: Mod::new((code + 1) & 3),
            };
            let written = MIXED.with_rgb_operand(slot, operand);
            let mut wanted = MIXED.0;
            wanted[word] = place(wanted[word], operand, (sel, swiz, modifier));
            assert_eq!(written.0, wanted, "{slot:?}, code {code}");
            assert_eq!(written.rgb_operand(slot), operand, "{slot:?}, code {code}");
        }
    }
}

#[test]
fn alpha_operands_read_and_write_their_bits() {
    for (slot, word, sel, swiz, modifier) in ALPHA_OPERANDS {
        for code in 0..=2u8.pow(3) {
            let operand = Operand {
                sel: Sel::new(code & 3),
                swiz: [Swiz::new(!code & 7)],
                modifier: Mod::new((code + 1) & 3),
            };
            let written = MIXED.with_alpha_operand(slot, operand);
            let mut wanted = MIXED.0;
            wanted[word] = place(wanted[word], operand, (sel, swiz, modifier));
            assert_eq!(written.0, wanted, "{slot:?}, code {code}");
            assert_eq!(written.alpha_operand(slot), operand, "{slot:?}, code {code}");
        }
    }
}

#[test]
fn output_modifier_and_target_of_both_halves() {
    // 28:26 and 30:29, in word 3 for colours and word 4 for alpha.
    let inst = Instruction([0, 0, 0, 5 << 26 | 3 << 29, 7 << 26 | 1 << 29, 0]);
    assert_eq!((inst.omod(Half::Rgb), inst.target(Half::Rgb)), (Omod::DIV4, Target::D));
    assert_eq!((inst.omod(Half::Alpha), inst.target(Half::Alpha)), (Omod::DISABLED, Target::B));
    assert_eq!(Omod::DISABLED.factor(), None);
    let factors: Vec<_> = (0..7).map(|code| Omod::new(code).factor().unwrap()).collect();
    assert_eq!(factors, [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125]);
}

#[test]
fn predicate_comparisons_by_target() {
    use r500_isa::values::Compare;
    // TARGET of an ALU instruction: A equal, B less, C greater or equal, D not equal to zero.
    let compares = [Target::A, Target::B, Target::C, Target::D].map(Target::compare);
    assert_eq!(compares, [Compare::EQ, Compare::LT, Compare::GE, Compare::NE]);
}

#[test]
fn words_keep_the_bits_that_a_layout_does_not_name() {
    // TexInst has no fields in 15:0, 21:20 and 31:28; rewriting a field keeps these bits.
    let inst = Instruction([3, u32::MAX, 0, 0, 0xdead_beef, 0x0bad_cafe]);
    let word = inst.tex_inst().with(r500_isa::words::TexInst::TEX_ID, 0);
    assert_eq!(word.bits(), 0xfff0_ffff);
    let mut rewritten = inst;
    rewritten.0[1] = word.bits();
    assert_eq!(rewritten.0[4..], inst.0[4..]);
}
