//! Tests vertex instructions: known encodings, and text that parses back to the same dwords.
#![allow(clippy::unwrap_used)]

use r500_pvs::{Addressing, Component, Instruction, MathOp, Op, VectorOp};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The instruction with which drivers of this family copy an input to the position, derived from the documents:
/// operation 3 (add), output 0, all components; input 0 xyzw; input 0 twice with every swizzle 4 (zero).
#[test]
fn copy_of_an_input_decodes() {
    let inst = Instruction([0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x0124_8001]);
    assert_eq!(inst.op(), Op::Vector(VectorOp::ADD));
    assert_eq!(inst.dst().addressing(), Addressing::Absolute);
    let text = "VE_ADD out[0].xyzw, input[0].xyzw, input[0].0000, input[0].0000";
    assert_eq!(inst.to_string(), text);
    assert_eq!(text.parse(), Ok(inst));
}

#[test]
fn every_notation_parses_to_its_bits() {
    let cases: [(&str, [u32; 4]); 9] = [
        // Opcode 6 (MATH_INST 0x40), temporary 5 (5 << 13), w (1 << 23); source: constant (2) 7 (7 << 5), xxxx.
        ("ME_RECIP_DX temp[5].w, const[7].xxxx", [0x0080_a046, 0x0000_00e2, 0, 0]),
        // MACRO_INST 0x80.
        (
            "PVS_MACRO_OP_2CLK_MADD temp[0].x, temp[0].xxxx, temp[0].xxxx, temp[0].xxxx",
            [0x0010_0080, 0, 0, 0],
        ),
        // PRED_ENABLE (1 << 26), PRED_SENSE (1 << 27).
        ("(p) VE_FRACTION alt[1].y, -temp[2].xyzw", [0x0c20_2406, 0x1ed1_0040, 0, 0]),
        ("(!p) VE_FRACTION alt[1].y, |temp[2]|.xyzw", [0x0420_2406, 0x00d1_0048, 0, 0]),
        // ADDR_MODE_0 of a source (bit 4), ADDR_SEL y (1 << 29); ADDR_MODE_1 (bit 31).
        (
            "VE_MAXIMUM out_x[0].x, const[a0.y+3].xxxx, const[aL+3].-xx-xx",
            [0x0010_0307, 0x2000_0072, 0x8a00_0062, 0],
        ),
        // A0 as destination; ADDR_MODE_1 of a destination is bit 12.
        ("VE_FLT2FIX_DX a0[0].x, input[9].w01x", [0x0010_010d, 0x002c_6121, 0, 0]),
        ("VECTOR_NO_OP temp[aL+127]._", [0x000f_f000, 0, 0, 0]),
        // VE_SAT, ME_SAT.
        ("VE_FRACTION.ve_sat.me_sat temp[0].x, temp[0].xxxx", [0x0310_0006, 0, 0, 0]),
        // DUAL_MATH_OP (1 << 28): rsq is 9 << 21, alt 1 is 1 << 19, w is 3 << 27; source temporary 4, y and x.
        (
            "VE_FRACTION temp[0].x, temp[0].xxxx, temp[0].xxxx + ME_RECIP_SQRT_FF alt[1].w, temp[4].yx",
            [0x1010_0006, 0, 0, 0x1928_2080],
        ),
    ];
    for (text, dwords) in cases {
        let inst: Instruction = text.parse().unwrap();
        let hex = |words: [u32; 4]| words.map(|word| format!("{word:08x}"));
        assert_eq!(hex(inst.0), hex(dwords), "{text}");
    }
}

#[test]
fn dual_math_is_decoded_apart() {
    let inst = Instruction([0x1010_0006, 0, 0, 0x1928_2084]);
    let dual = inst.dual_math().unwrap();
    assert_eq!(dual.op(), MathOp::new(25));
    assert_eq!((dual.dst_offset(), dual.dst_we_sel()), (1, Component::W));
    assert_eq!(dual.source().0 & 0x0007_ffff, 0x2080);
    assert_eq!(dual.source().negate(), [false; 4]);
    assert_eq!(Instruction([0x0010_0006, 0, 0, 0]).dual_math(), None);
}

#[test]
fn any_dwords_print_and_parse_back() {
    let mut random = SplitMix64::seed_from_u64(1);
    let mut assembled = 0;
    for round in 0..200_000 {
        let mut words = [0; 4].map(|_: u32| random.next_u32());
        // Most random dwords hold a reserved code, so half of the rounds mask it out.
        if round % 2 == 0 {
            words[0] &= 0x17ff_f5df;
            for word in &mut words[1..] {
                *word &= 0x1edb_7ffb;
            }
        }
        let inst = Instruction(words);
        let text = inst.to_string();
        assembled += usize::from(!text.starts_with('.'));
        assert_eq!(text.parse(), Ok(inst), "{text}");
    }
    assert!(assembled > 20_000, "{assembled} of 200,000 have a notation");
}

#[test]
fn components_that_are_not_read_print_as_underscores() {
    // Of a program written by hand: swizzle code 7 in components that the instruction does not read.
    for (words, text) in [
        (
            [0x0030_0003, 0x01f9_0022, 0x01fd_a022, 0x01fd_a022],
            "VE_ADD temp[0].xy, const[1].xy__, const[1].11__, const[1].11__",
        ),
        (
            [0x0010_0001, 0x00d1_0002, 0x00d1_0001, 0x01ff_e002],
            "VE_DOT_PRODUCT temp[0].x, const[0].xyzw, input[0].xyzw, const[0].____",
        ),
    ] {
        assert_eq!(Instruction(words).to_string(), text);
    }
}

#[test]
fn errors_name_the_column() {
    let cases = [
        ("", 0, "an operation"),
        ("VE_ADDD out[0].x", 0, "an operation"),
        ("VE_ADD out[128].x", 11, "a register number"),
        ("VE_ADD out[0].", 14, "components, or _"),
        ("VE_ADD out[0].x, inputs[0].xyzw", 17, "a source"),
        ("VE_ADD out[0].x, input[0].xyz", 29, "x, y, z, w, 0, 1 or _"),
        ("VE_ADD out[0].x, input[0].xyzw,", 31, "a source"),
        ("VE_ADD out[0].x y", 16, "the end of the line"),
        ("VE_ADD out[0].x + VE_ADD alt[0].x, temp[0].xx", 18, "an operation of the math engine"),
        (".dwords 0x1 0x2 3", 16, "a dword, such as 0x00f00002"),
        ("VE_ADD ö", 7, "a destination"),
    ];
    for (line, at, expected) in cases {
        let error = line.parse::<Instruction>().unwrap_err();
        assert_eq!((error.at, error.expected), (at, expected), "{line}");
    }
}
