//! Tests vertex instructions: known encodings, and text that parses back to the same dwords.
#![allow(clippy::unwrap_used, clippy::panic)]

use r500_pvs::{
    Addressing, Component, Expectation, Expected, Fill, Instruction, MathOp, Op, Source, VectorOp,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The instruction with which drivers of this family copy an input to the position, derived from the documents:
/// operation 3 (add), output 0, all components; input 0 xyzw; input 0 twice with every swizzle 4 (zero).
#[test]
fn copy_of_an_input_decodes() {
    let inst = Instruction([0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x0124_8001]);
    assert_eq!(inst.op(), Op::Vector(VectorOp::ADD));
    assert_eq!(inst.dst().addressing(), Addressing::Absolute);
    let text = "out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 (input[0].0000)";
    assert_eq!(inst.to_string(), text);
    assert_eq!(text.parse(), Ok(inst));
    // A driver's program is shorter to read with the sources that it writes where there is nothing to read.
    let short = "out[0].xyzw = VE_ADD input[0].xyzw input[0].0000";
    assert_eq!(inst.with_fill(Fill::Zero).to_string(), short);
    assert_eq!(Instruction::parse(short, Fill::Zero), Ok(inst));
}

/// The first source that the operation does not read is what it would be anyway, the others are not; found by fuzzing.
#[test]
fn all_sources_before_one_in_brackets_are_printed() {
    let inst = Instruction([0, 0x4000_0000, 0x9595_2600, 0x0a95_9547]);
    for fill in [Fill::Unused, Fill::Zero, Fill::Clear] {
        let text = inst.with_fill(fill).to_string();
        assert_eq!(Instruction::parse(&text, fill), Ok(inst), "{text}");
    }
}

#[test]
fn every_notation_parses_to_its_bits() {
    let unused = 0x01ff_e000;
    let cases: [(&str, [u32; 4]); 17] = [
        // Opcode 6 (MATH_INST 0x40), temporary 5 (5 << 13), w (1 << 23); source: constant (2) 7 (7 << 5), xxxx. The others are the
        // same register with swizzle 7 four times.
        ("temp[5].w = ME_RCP const[7].xxxx", [0x0080_a046, 0xe2, unused | 0xe2, unused | 0xe2]),
        // MACRO_INST 0x80, where three temporaries are different; else only with the suffix.
        (
            "temp[0].x = VE_MAD temp[1].xxxx temp[2].xxxx temp[3].xxxx",
            [0x0010_0080, 0x20, 0x40, 0x60],
        ),
        (
            "temp[0].x = VE_MAD.1CLK temp[1].xxxx temp[2].xxxx temp[3].xxxx",
            [0x0010_0004, 0x20, 0x40, 0x60],
        ),
        (
            "temp[0].x = VE_MAD temp[1].xxxx temp[2].xxxx temp[1].xxxx",
            [0x0010_0004, 0x20, 0x40, 0x20],
        ),
        (
            "temp[0].x = VE_MULTIPLYX2_ADD.2CLK temp[0].xxxx temp[0].xxxx temp[0].xxxx",
            [0x0010_0081, 0, 0, 0],
        ),
        // PRED_ENABLE (1 << 26), PRED_SENSE (1 << 27).
        (
            "(p) alt_temp[1].y = VE_FRC temp[2].-x-y-z-w",
            [0x0c20_2406, 0x1ed1_0040, unused | 0x40, unused | 0x40],
        ),
        (
            "(!p) alt_temp[1].y = VE_FRC |temp[2].xyzw|",
            [0x0420_2406, 0x00d1_0048, unused | 0x40, unused | 0x40],
        ),
        // ADDR_MODE_0 of a source (bit 4), ADDR_SEL y (1 << 29); ADDR_MODE_1 (bit 31). A source that is not read is the one before,
        // without its mode.
        (
            "out_repl_x[0].x = VE_MAX const[a0.y+3].xxxx const[aL+3].-xx-xx",
            [0x0010_0307, 0x2000_0072, 0x8a00_0062, unused | 0x62],
        ),
        // A0 as destination; ADDR_MODE_1 of a destination is bit 12. Sources in brackets are not read.
        (
            "a0[0].x = VE_FLT2FIX_DX input[9].w01h (temp[0].xxxx) (temp[0].xxxx)",
            [0x0010_010d, 0x01ac_6121, 0, 0],
        ),
        ("temp[aL+127]._ = VE_NOP", [0x000f_f000, 0, 0, 0]),
        // VE_SAT, ME_SAT.
        ("temp[0].x = VE_FRC.SAT.ME_SAT temp[0].xxxx", [0x0310_0006, 0, unused, unused]),
        ("temp[0].x = ME_SIN.SAT temp[0].___x", [0x0210_0050, 0x003f_e000, unused, unused]),
        // DUAL_MATH_OP (1 << 28): rsq is 9 << 21, alt 1 is 1 << 19, w is 3 << 27; source temporary 4, y and x.
        (
            "temp[0].x = VE_FRC temp[0].xxxx, alt_temp[1].w = ME_RECIP_SQRT_FF temp[4].yx",
            [0x1010_0006, 0, unused, 0x1928_2080],
        ),
        // In the other order, with both saturations.
        (
            "alt_temp[1].w = ME_RECIP_SQRT_FF.SAT temp[4].yx , temp[0].x = VE_FRC.SAT temp[0].xxxx ;",
            [0x1310_0006, 0, unused, 0x1928_2080],
        ),
        // The exponent of a power is the third source.
        (
            "temp[0].x = ME_POW temp[1].xxxx temp[2].yyyy",
            [0x0010_0045, 0x20, unused | 0x20, 0x0049_2040],
        ),
        // What the documents reserve, and bits without a name.
        ("reg7[3].x = VE_30 temp[0].xxxx temp[0].xxxx temp[0].xxxx", [0x0010_671e, 0, 0, 0]),
        ("temp[0].x = VE_NOP .bits 0x20000000 4 4 0", [0x2010_0000, 4, 4, 0]),
    ];
    let hex = |words: [u32; 4]| words.map(|word| format!("{word:08x}"));
    for (text, dwords) in cases {
        let inst: Instruction = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(hex(inst.0), hex(dwords), "{text}");
        let printed = inst.to_string();
        assert_eq!(printed.parse(), Ok(inst), "{printed}");
    }
}

#[test]
fn names_and_case_are_free() {
    let inst: Instruction = "temp[1].xyz = VE_MUL.SAT input[0].xyz_ const[3].xxx_".parse().unwrap();
    for text in [
        "TEMP[1].XYZ = ve_mul.sat INPUT[0].XYZ_ CONST[3].XXX_ ;",
        "temporary [ 1 ] . xyz = VE_MULTIPLY.SATURATION\n input[0].xyz_\tconstant[3].xxx_;",
    ] {
        assert_eq!(text.parse(), Ok(inst), "{text}");
    }
    let negated: Instruction = "temp[1].xy = VE_FRC -temp[0].xy__".parse().unwrap();
    assert_eq!(negated.to_string(), "temp[1].xy = VE_FRC temp[0].-x-y__");
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

/// `R500_INSTRUCTIONS=1000000` tries more.
#[test]
fn any_dwords_print_and_parse_back() {
    let count = std::env::var("R500_INSTRUCTIONS").map_or(100_000, |text| text.parse().unwrap());
    let mut random = SplitMix64::seed_from_u64(1);
    let mut without_bits = 0;
    for round in 0..count {
        let mut words = [0; 4].map(|_: u32| random.next_u32());
        // Most random dwords have a bit without a notation, so half of the rounds mask those out.
        if round % 2 == 0 {
            words[0] &= 0x17ff_f5df;
            for word in &mut words[1..] {
                *word &= 0x1eff_fffb;
            }
        }
        let inst = Instruction(words);
        let text = inst.to_string();
        assert!(!text.contains(".dwords"), "{text}");
        without_bits += usize::from(!text.contains(".bits"));
        for fill in [Fill::Unused, Fill::Zero, Fill::Clear] {
            let text = inst.with_fill(fill).to_string();
            assert_eq!(Instruction::parse(&text, fill), Ok(inst), "{text}");
        }
    }
    assert!(without_bits * 5 > count, "{without_bits} of {count} are without .bits");
}

#[test]
fn errors_say_where_and_how() {
    let cases = [
        ("", 0, "expected a destination, such as temp[0].xyzw"),
        ("VE_ADD out[0].x", 0, "`VE_ADD` is not a destination"),
        (
            "out[0].x = VE_ADDD temp[0].xxxx",
            11,
            "there is no operation `VE_ADDD`; did you mean `VE_ADD`?",
        ),
        ("out[128].x = VE_NOP", 4, "expected a number from 0 to 127, of `out`"),
        ("out[0]. = VE_NOP", 8, "expected the components to write, some of `xyzw`"),
        (
            "out[0].yx = VE_NOP",
            7,
            "the components of a mask are in the order xyzw, each once; write `.xy`",
        ),
        ("out[0].xrz = VE_NOP", 7, "`xrz` is not a mask"),
        (
            "out[0].x = VE_ADD inputs[0].xyzw",
            18,
            "`inputs` is not a source; sources are temp, alt_temp, input and const",
        ),
        ("out[0].x = VE_ADD input[0].xyz input[0].xyzw", 27, "a source has four components, not 3"),
        ("out[0].x = VE_FRC input[0].x", 27, "a source has four components, not 1; write `.xxxx`"),
        ("out[0].x = VE_ADD input[0].xyzw", 11, "VE_ADD has 2 sources, and 1 are given"),
        (
            "out[0].x = VE_FRC input[0].xyzw input[0].xyzw",
            32,
            "VE_FRC has one source, and 2 are given",
        ),
        ("out[0].x = VE_FRC.CLAMP input[0].xyzw", 18, "there is no suffix `.CLAMP`; write `.SAT`"),
        ("out[0].x = VE_NOP ; y", 20, "the statement should end here"),
        ("temp[0].x = VE_NOP, temp[1].x = VE_NOP", 32, "both operations are of the vector engine"),
        (
            "temp[0].x = VE_NOP, temp[1].x = ME_SIN temp[0].x_",
            20,
            "the math engine's operation of two writes one component of alt_temp[0] to",
        ),
        (
            "temp[0].x = VE_NOP, alt_temp[1].x = ME_SIN temp[0].xxxx",
            43,
            "the source of the second of two operations has two components, not 4",
        ),
        (
            "temp[0].x = VE_MAD temp[0].xxxx temp[0].xxxx temp[0].xxxx, alt_temp[1].x = ME_SIN temp[0].x_",
            45,
            "VE_MAD has 2 sources, and 3 are given; the first of two operations has at most two sources",
        ),
        (".dwords 0x1 0x2 3", 17, "expected a dword, such as 0x00f00002"),
        ("\u{f6}", 0, "expected a destination"),
    ];
    for (line, at, expected) in cases {
        let error = line.parse::<Instruction>().unwrap_err();
        let text = error.to_string();
        let message = text.split_once(": ").unwrap().1;
        assert!(message.starts_with(expected), "{line}: {text}");
        assert_eq!(error.span.start, at, "{line}: {text}");
    }
}

/// Returns the program of a text without includes.
fn program(text: &str) -> Source {
    let parsed = Source::parse(text, &mut |name| Err(format!("no {name}")));
    parsed.unwrap_or_else(|errors| panic!("{errors:#?}"))
}

#[test]
fn a_program_has_the_registers_that_it_implies() {
    let source = program(
        "-- position, then a colour
         # of const[0]
         NAME \"two\" ;
         const[3] = (1, -0.5, 0, 0x7f800000) ;
         out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         out[1].xyzw = VE_ADD
            const[0].xyzw   -- over two lines
            const[0].0000 ;",
    );
    let controls = source.program.controls();
    // First 0, position complete after 0, last 1; inputs are read up to 0.
    assert_eq!((controls.range.0, controls.inputs.0), (1 << 20, 0));
    assert_eq!(controls.constants.pvs_max_const_addr(), 255);
    assert_eq!(source.name.as_deref(), Some("two"));
    assert_eq!(source.constants[&3], [0x3f80_0000, 0xbf00_0000, 0, 0x7f80_0000]);
    assert_eq!(source.program.instructions().1.len(), 2);
    assert_eq!(source.spans.len(), 2);
}

#[test]
fn flow_control_and_registers_print_and_parse_back() {
    let text = "VAP_PVS_CODE_CNTL_0 = PVS_FIRST_INST(1) PVS_XYZW_VALID_INST(4) PVS_LAST_INST(4) ;
         VAP_PVS_CONST_CNTL = PVS_CONST_BASE_OFFSET(2) PVS_MAX_CONST_ADDR(9) ;
         VAP_OUT_VTX_FMT_0 = 0x3 ;
         FLOW[0] = LOOP after 1, 3 times 2 to 3, aL 4 step -1 repeat ;
         FLOW[5] = JUMP after 2 to 4 ;
         FLOW[6] = CALL after 3, 4 to 4, return 3 ;
         temp[0].x = VE_ADD const[aL+0].xxxx temp[0].0000 ;
         temp[1].xyzw = VE_MAD temp[0].xyzw temp[2].xyzw temp[3].xyzw ;
         (!p) temp[0].x = ME_PRED_SET_INV temp[0].wwww ;
         out[0].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;";
    let source = program(text);
    let [low, high] =
        [source.program.controls().flow[0].low.0, source.program.controls().flow[0].high.0];
    // ACT_ADRS 1, LOOP_CNT 3; LAST_INST 3, RTN_INST 2.
    assert_eq!((low, high), (0x0003_0001, 0x0002_0003));
    assert_eq!(source.program.controls().flow[0].index.0, 4 | 0xff << 8 | 1 << 31);
    let printed = source.program.to_string();
    assert_eq!(program(&printed).program, source.program, "{printed}");
}

/// What Mesa writes into sources that nothing reads is not printed, but for a line.
#[test]
fn programs_of_drivers_print_without_brackets() {
    let source = program(
        "FILL 0000 ; out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ; out[1].x = ME_RCP temp[1].xxxx ;",
    );
    assert_eq!(source.program.instructions().1[0].0[3], 0x0124_8001);
    let printed = source.program.to_string();
    assert!(printed.contains("FILL 0000 ;") && !printed.contains("(temp"), "{printed}");
    assert_eq!(program(&printed).program, source.program);
}

#[test]
fn all_errors_are_reported_with_their_places() {
    let text = "out[0].xyzw = VE_ADDD input[0].xyzw ;\n#include \"lost\"\nFLOW[16] = JUMP after 0 to 1 ;\nVAP_PVS_CNTL = 3 ;\nout[1].xyzw = VE_FRC temp[0].x ;\nout[1].x = VE_NOP";
    let errors = Source::parse(text, &mut |name| Err(format!("no {name}"))).unwrap_err();
    let found: Vec<(usize, String)> = errors
        .iter()
        .map(|error| (text[..error.span.start].matches('\n').count() + 1, error.message.clone()))
        .collect();
    let expected = [
        (1, "there is no operation `VE_ADDD`"),
        (2, "`lost`: no lost"),
        (3, "expected a flow control instruction"),
        (4, "`VAP_PVS_CNTL` does not belong to a vertex program"),
        (5, "a source has four components, not 1"),
        (6, "the last statement has no end"),
    ];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    assert_eq!(&text[errors[0].span.clone()], "VE_ADDD");
}

#[test]
fn places_of_errors_are_between_characters() {
    for text in
        ["\u{f6}", "temp[0].x = VE_NOP \u{f6}", "-- \u{f6}\n\u{f6} ; \u{f6}", "NAME \"\u{f6} ;"]
    {
        for error in Source::parse(text, &mut |_| Err(String::new())).unwrap_err() {
            assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}");
        }
    }
}

#[test]
fn included_files_stand_where_they_are_included() {
    let mut include = |name: &str| match name {
        "a" => Ok("out[0].x = VE_NOP ;\n#include \"b\"\n".to_owned()),
        "b" => Ok("out[1].x = VE_NOP ;".to_owned()),
        "bad" => Ok("\nout[1].x = VE_NIP ;".to_owned()),
        "self" => Ok("#include \"self\"".to_owned()),
        _ => Err("it is not there".to_owned()),
    };
    let source = Source::parse("#include \"a\"\nout[2].x = VE_NOP ;", &mut include).unwrap();
    let outputs: Vec<u8> =
        source.program.instructions().1.iter().map(|inst| inst.dst().offset()).collect();
    assert_eq!(outputs, [0, 1, 2]);
    let errors = Source::parse("#include \"bad\"\n#include \"self\"", &mut include).unwrap_err();
    assert_eq!(errors[0].message, "bad:2: there is no operation `VE_NIP`");
    assert!(errors[1].message.contains("`self` includes itself"), "{errors:?}");
}

/// Constants, inputs and expectations print, and parse back to the same.
#[test]
fn values_round_trip() {
    let text = "NAME \"light\" ;\n\
        const[0] = (1, -0, 0.1, 1e-20) ;\n\
        const[255] = (inf, -inf, 0x7fc00001, 3e38) ;\n\
        input[31] = (1, 2, 3, 4) ;\n\
        out[0].xyzw = VE_ADD input[0].xyzw const[0].0000 ;\n\
        EXPECT out[0] = (1, _, 0x3f800000, nan), out[1].zx = (3, 1) FOR input[0] = (1, 2, 3, 4), const[0] = (0, 0, 0, 0) ;\n\
        EXPECT tolerance = 0.001 ;\n\
        EXPECT out[0].w = (4) ;\n";
    let parse = |text: &str| Source::parse(text, &mut |_| Err(String::new())).unwrap();
    let source = parse(text);
    assert_eq!(source.constants[&255][2], 0x7fc0_0001);
    let [first, second] = source.expectations.as_slice() else { panic!("there are two") };
    // `.zx = (3, 1)`: x is 1, z is 3.
    let outputs = first.outputs[1].1.map(|value| value.map(|value| f32::from_bits(value.bits)));
    assert_eq!(outputs, [Some(1.0), None, Some(3.0), None]);
    assert_eq!((first.tolerance, second.tolerance), (0.0, 0.001));
    assert_eq!(first.inputs[&0].map(f32::from_bits), [1.0, 2.0, 3.0, 4.0]);

    let again = parse(&source.to_string());
    assert_eq!(again.program, source.program);
    assert_eq!(again.name, source.name);
    assert_eq!((&again.constants, &again.inputs), (&source.constants, &source.inputs));
    let bare = |source: &Source| -> Vec<_> {
        let all = source.expectations.iter().cloned();
        all.map(|expectation| Expectation { span: 0..0, ..expectation }).collect()
    };
    assert_eq!(bare(&again), bare(&source));
}

/// Numbers may be off by the tolerance, bits may not.
#[test]
fn expected_values_admit_what_they_say() {
    let number = |value: f32| Expected { bits: value.to_bits(), exact: false };
    assert!(number(0.0).admits(-0.0, 0.0) && number(f32::NAN).admits(-f32::NAN, 0.0));
    assert!(number(f32::INFINITY).admits(f32::INFINITY, 0.0));
    assert!(!number(1.0).admits(1.001, 0.0) && number(1.0).admits(1.0005, 0.001));
    // Relative above 1.
    assert!(number(1000.0).admits(1000.5, 0.001) && !number(1.0).admits(1.5, 0.001));
    assert!(!number(1.0).admits(f32::NAN, 1e9));
    let bits = Expected { bits: 0.0f32.to_bits(), exact: true };
    assert!(bits.admits(0.0, 1.0) && !bits.admits(-0.0, 1.0));
}
