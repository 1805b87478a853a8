//! Streams as text: known dwords, any dwords and back, faults with their places.
#![allow(clippy::unwrap_used)]

use r500_gen::packets::make_near_valid;
use r500_stream::text::{Printer, parse, print};

#[test]
fn every_notation_assembles_to_its_dwords() {
    // Headers worked out from the packet formats: register / 4, dwords - 1 in bits 29:16, bit 15 one register.
    let cases: [(&str, &[u32]); 16] = [
        (
            "VAP_VPORT_XSCALE = 256.0\n+ VAP_VPORT_XOFFSET = 0x1 # next",
            &[0x0001_0766, 0x4380_0000, 1],
        ),
        ("SU_CULL_MODE = { CULL_BACK, FACE 1 }", &[0x0000_10ae, 6]),
        ("RB3D_COLORPITCH1 = { COLORFORMAT ARGB8888, COLORPITCH 64 }", &[0x138f, 0x00c0_0080]),
        ("SU_DEPTH_SCALE = { SCALE -1.5 }", &[0x10b0, 0xbfc0_0000]),
        ("VAP_PVS_FLOW_CNTL_LOOP_INDEX_2={LOOP_STEP_VAL -1}", &[0x08a6, 0xff00]),
        ("@0x1234 = 7\n+ @0x1238 = 8", &[0x0001_048d, 7, 8]),
        ("0x1234 = 7\n+ 0x1238 = 8", &[0x0001_048d, 7, 8]),
        ("0x42b8 = { CULL_BACK, FACE 1 }\nR300_SC_SCISSORS_TL = 5", &[0x10ae, 6, 0x10f8, 5]),
        ("GA_US_VECTOR_DATA <- 1 2\n+ 3", &[0x0002_9095, 1, 2, 3]),
        ("3D_DRAW_VBUF_2 0x00030024", &[0xc000_3400, 0x0003_0024]),
        ("NOP 4", &[0xc000_1000, 4]),
        ("command 0x77 1 2", &[0xc001_7700, 1, 2]),
        ("fill 2\nfill", &[0x8000_0000; 3]),
        ("dwords 0x40000000 1\n+ 2", &[0x4000_0000, 1, 2]),
        ("  # nothing\n\n", &[]),
        ("sc_scissor0 = { }", &[0x10f8, 0]),
    ];
    for (text, words) in cases {
        assert_eq!(parse(text).as_deref(), Ok(words), "{text}");
        assert_eq!(parse(&print(words)).as_deref(), Ok(words), "{}", print(words));
    }
}

#[test]
fn registers_programs_and_draws_are_explained() {
    let words = [
        0x0001_0766,
        0x4380_0000,
        0x4280_0000, // viewport
        0x0000_0826,
        0x4380_0000, // its second address
        0x0000_0880,
        0,
        0x0003_8882,
        0x00f0_0203,
        0x00d1_0001,
        0x0124_8001,
        0x0124_8001,
        0x0000_1094,
        0x0001_0003,
        0x0003_9095,
        0x3f80_0000,
        0,
        0,
        0x3f00_0000,
        0xc000_1000,
        8,
        0xc000_3400,
        0x0003_0034,
    ];
    let text = print(&words);
    for line in [
        "VAP_VPORT_XSCALE = 0x43800000               # 256\n",
        "+ VAP_VPORT_XOFFSET = 0x42800000            # 64\n",
        "@0x2098 = 0x43800000                        # VAP_VPORT_XSCALE 256\n",
        "VAP_PVS_VECTOR_DATA_REG_128 <- 0x00f00203 0x00d10001 0x01248001 0x01248001 # 0: out[0].xyzw = VE_ADD",
        "GA_US_VECTOR_INDEX = 0x00010003             # INDEX 3, TYPE constants follow, four dwords each\n",
        "# const[3] = 1 0 0 0.5\n",
        "NOP 0x00000008                              # relocation 2\n",
        "# PRIM_TYPE triangle list, PRIM_WALK the packet or VAP_PORT_DATA, NUM_VERTICES 3\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert_eq!(parse(&text).unwrap(), words);
    let fillers = vec![0x8000_0000; 5000];
    assert_eq!(print(&fillers), "fill 4096\nfill 904\n");
    assert_eq!(parse(&print(&fillers)).unwrap(), fillers);
    let words = [0x1094, 5, 0x0005_9095, 1, 2, 3, 4, 5, 6];
    let printer = Printer::default().instructions(|inst| format!("{:?}", inst.0));
    assert!(printer.print(&words).ends_with("# 5: [1, 2, 3, 4, 5, 6]\n"));
}

#[test]
fn any_dwords_print_and_assemble_back() {
    arbtest::arbtest(|u| {
        let mut words: Vec<u32> = u.arbitrary()?;
        make_near_valid(&mut words);
        let text = print(&words);
        assert_eq!(parse(&text).as_ref(), Ok(&words), "{text}");
        Ok(())
    });
}

#[test]
fn any_text_assembles_or_is_reported_in_place() {
    arbtest::arbtest(|u| {
        let pieces = [
            "SU_CULL_MODE",
            "=",
            "{",
            "}",
            "CULL_BACK",
            ",",
            "+",
            "<-",
            "@0x",
            "1",
            "0x20",
            " ",
            "\n",
            "#",
            "NOP",
            "fill",
            "command",
            "dwords",
            "-",
            ".",
            "ö",
            "3D_DRAW_VBUF_2",
            "99999999999",
            "GA_US_VECTOR_DATA",
            "+ ",
            "OUT_CS_REG(",
            "OUT_CS_REG_SEQ(SU_CULL_MODE, 2);",
            "OUT_CS(",
            "OUT_CS(PACKET3(0x34, 1));",
            "fui(",
            "END_CS;",
            "(",
            ")",
            ");",
            ", ",
            "<<",
            "~",
            "/*",
            "*/",
            "//",
        ];
        let count = u.int_in_range(0..=40)?;
        let text: String =
            (0..count).map(|_| u.choose(&pieces).copied()).collect::<Result<_, _>>()?;
        match parse(&text) {
            Ok(words) => assert_eq!(parse(&print(&words)), Ok(words)),
            Err(errors) => {
                assert!(!errors.is_empty());
                for error in errors {
                    let line = text.lines().nth(error.line - 1).unwrap();
                    assert!(error.column <= line.chars().count() + 1, "{error} of {line:?}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn faults_name_line_and_column() {
    let cases = [
        ("SU_CULL_MODES = 1", "line 1, column 1: no register or command is called SU_CULL_MODES"),
        ("\nSU_CULL_MODE 1", "line 2, column 14: expected = or <-"),
        ("SU_CULL_MODE =", "line 1, column 15: expected a number, a float or fields"),
        ("SU_CULL_MODE = 1 2", "line 1, column 18: expected the end of the line"),
        ("SU_CULL_MODE = { CULL }", "line 1, column 18: SU_CULL_MODE has no field CULL"),
        (
            "SU_CULL_MODE = { FACE 2 }",
            "line 1, column 23: FACE has no value `2`; it has 0 (positive cross product: counter-clockwise), \
             1 (negative cross product: clockwise)",
        ),
        (
            "US_OUT_FMT_0 = { C0_SEL X }",
            "line 1, column 25: C0_SEL has no value `X`; it has 0 (Alpha), 1 (Red), 2 (Green), 3 (Blue)",
        ),
        ("SU_REG_DEST = { SELECT }", "line 1, column 24: SELECT needs a value: numbers up to 15"),
        ("SU_CULL_MODE = { FACE 1 CULL_BACK }", "line 1, column 25: expected , or }"),
        ("@0x8000 = 1", "line 1, column 1: packets do not reach 0x8000"),
        ("US_CMN_INST_0 = 1", "line 1, column 1: packets do not reach 0xb800"),
        ("+ SU_CULL_MODE = 1", "line 1, column 1: there is no packet to continue"),
        (
            "GA_OFFSET = 1\n+ GA_OFFSET = 1",
            "line 2, column 3: the packet writes 0x4294 next, not 0x4290",
        ),
        ("@0x10 = 4294967296", "line 1, column 9: expected a number, a float or fields"),
        ("command 0x100 1", "line 1, column 9: expected an opcode"),
        ("NOP", "line 1, column 4: expected a number, a float or fields"),
        ("fill 4097", "line 1, column 1: a line fills at most 4096 dwords"),
        ("dwords { }", "line 1, column 8: expected a number"),
    ];
    for (text, message) in cases {
        let errors = parse(text).unwrap_err();
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(messages, [message], "{text}");
    }
    let errors = parse("A = 1\n+ B = 2\nC\n").unwrap_err();
    assert_eq!(errors.iter().map(|error| error.line).collect::<Vec<_>>(), [1, 3]);
    let long = format!("NOP {}", "1 ".repeat(16_385));
    assert!(parse(&long).unwrap_err()[0].to_string().ends_with("at most 16384 dwords"));
}

/// Packet headers as above: a register's address / 4 for one dword.
#[test]
fn memories_that_are_written_word_by_word_are_explained() {
    // GA_US_VECTOR_INDEX 5 and six packets for GA_US_VECTOR_DATA, then 1 with the type of constants and four dwords.
    let mut words = vec![0x1094, 5];
    for dword in 1..=6 {
        words.extend([0x1095, dword]);
    }
    words.extend([0x1094, 0x0001_0001]);
    for value in [1.0f32, 0.5, 0.25, 2.0] {
        words.extend([0x1095, value.to_bits()]);
    }
    // VAP_PVS_VECTOR_INDX_REG 0; an instruction as two packets of two dwords each.
    words.extend([0x0880, 0, 0x0001_8882, 0x00f0_0203, 0x00d1_0001]);
    words.extend([0x0001_8882, 0x0124_8001, 0x0124_8001]);
    let printer = Printer::default().instructions(|inst| format!("{:?}", inst.0));
    let text = printer.print(&words);
    for line in [
        "GA_US_VECTOR_DATA = 0x00000005              # instruction 5, dword 4\n",
        "GA_US_VECTOR_DATA = 0x00000006              # 5: [1, 2, 3, 4, 5, 6]\n",
        "GA_US_VECTOR_DATA = 0x3f000000              # const[1].g = 0.5\n",
        "GA_US_VECTOR_DATA = 0x40000000              # const[1] = 1 0.5 0.25 2\n",
        "VAP_PVS_VECTOR_DATA_REG_128 <- 0x00f00203 0x00d10001 # instruction 0\n",
        "VAP_PVS_VECTOR_DATA_REG_128 <- 0x01248001 0x01248001 # 0: out[0].xyzw = VE_ADD",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert_eq!(parse(&text).unwrap(), words);
}

#[test]
fn lines_have_the_places_of_their_first_dwords() {
    let words = [
        0x8000_0000,
        0x8000_0000, // 0: two packets of type 2
        0x0001_0766,
        1,
        2, // 2: two registers in one packet
        0x0008_9095,
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8, // 5: nine dwords to one register, six a line
        0xc000_1000,
        8, // 15: a command
        0x0003_0766,
        1, // 17: a packet that is cut off
    ];
    let mut lines = Vec::new();
    let all = Printer::default().lines(&words, |dword, line| {
        lines.push((dword, line.split_whitespace().next().unwrap().to_owned()));
        Ok::<(), ()>(())
    });
    all.unwrap();
    let lines: Vec<_> = lines.iter().map(|(dword, word)| (*dword, word.as_str())).collect();
    let expected = [
        (0, "fill"),
        (2, "VAP_VPORT_XSCALE"),
        (4, "+"),
        (5, "GA_US_VECTOR_DATA"),
        (12, "+"),
        (15, "NOP"),
        (17, "dwords"),
    ];
    assert_eq!(lines, expected);
    // The same text as in one piece.
    let mut text = String::new();
    let joined = Printer::default().lines(&words, |_, line| {
        text += line;
        text.push('\n');
        Ok::<(), ()>(())
    });
    joined.unwrap();
    assert_eq!(text, print(&words));
}

#[test]
fn macros_of_drivers_write_registers() {
    // Register / 4: GB_ENABLE 0x4008, US_CONFIG 0x4600, GA_US_VECTOR_DATA 0x4254; bit 15 one register; command 0x34 draws.
    let cases: [(&str, &[u32]); 13] = [
        ("OUT_CS_REG(R300_GB_ENABLE, 0x10);", &[0x1002, 0x10]),
        ("\tOUT_BATCH_REGVAL( R300_GB_ENABLE , 1u << 4 | 2 ) ; /* why */ // more", &[0x1002, 0x12]),
        (
            "OUT_RING_REG(R300_GB_ENABLE,\n             (1 << 4) |\n             2);",
            &[0x1002, 0x12],
        ),
        ("WREG32(0x4008, 16);OUTREG(GB_ENABLE, ~0)", &[0x1002, 0x10, 0x1002, u32::MAX]),
        ("radeon_set_reg(cs, R300_GB_ENABLE + 0x5f8, 7);", &[0x1180, 7]),
        (
            "BEGIN_CS(3);\nOUT_CS_REG_SEQ(R500_US_CONFIG, 2);\nOUT_CS(2); OUT_CS(0x3);\nEND_CS;",
            &[0x0001_1180, 2, 3],
        ),
        (
            "OUT_CS_ONE_REG(R500_GA_US_VECTOR_DATA, 2);\nOUT_CS_32F(1.0f);\nOUT_CS(fui(0.5));",
            &[0x0001_9095, 0x3f80_0000, 0x3f00_0000],
        ),
        (
            "OUT_CS_PKT3(R300_PACKET3_3D_DRAW_VBUF_2, 0);\nOUT_CS(0x00030024);",
            &[0xc000_3400, 0x0003_0024],
        ),
        (
            "radeon_ring_write(ring, PACKET0(R300_GB_ENABLE, 0));\nradeon_ring_write(ring, 16);",
            &[0x1002, 0x10],
        ),
        ("OUT_CS(CP_PACKET3(0x34, 0));\nOUT_CS(5);", &[0xc000_3400, 5]),
        ("/* two\n   lines */ OUT_CS_REG(GB_ENABLE, 1);\n// one\n", &[0x1002, 1]),
        ("/*\n(\n a # b\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n*/\nOUT_CS(3);", &[3]),
        // Both notations in one text.
        ("OUT_CS_REG(R300_GB_ENABLE, 1);\nGB_ENABLE = 2\n", &[0x1002, 1, 0x1002, 2]),
    ];
    for (text, words) in cases {
        assert_eq!(parse(text).as_deref(), Ok(words), "{text}");
    }
    let message = |text: &str| {
        let errors = parse(text).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].to_string()
    };
    assert_eq!(
        message("OUT_CS_REG(R300_GB_ENABLE, 1);\n  OUT_CS_REG(R300_NO_SUCH, 1);"),
        "line 2, column 3: no register or command is called R300_NO_SUCH"
    );
    assert_eq!(
        message("OUT_CS_REG_SEQ(R500_US_CONFIG, 2);\nOUT_CS(1);\nOUT_CS_REG(R300_GB_ENABLE, 1);"),
        "line 3, column 1: the packet before has 1 of 2 values"
    );
    assert_eq!(
        message("OUT_CS_REG_SEQ(R500_US_CONFIG, 2);\nOUT_CS(1);"),
        "line 2, column 1: the packet before has 1 of 2 values"
    );
    assert_eq!(
        message("OUT_CS_REG(R300_GB_ENABLE, R300_GB_POINT_STUFF_ENABLE);"),
        "line 1, column 1: expected a number of 32 bits (names of constants and variables have no value here)"
    );
    assert!(message("OUT_CS_RELOC(buffer, 0, 1, 0);").contains("OUT_CS_RELOC is not understood"));
    // Long lines take linear time.
    assert_eq!(parse(&"/**/".repeat(1 << 20)), Ok(vec![]));
    assert_eq!(parse(&"OUT_CS(7);".repeat(1 << 18)), Ok(vec![7; 1 << 18]));
    let long = format!("OUT_CS({})", "1,".repeat(1 << 20));
    assert!(message(&long).contains("OUT_CS is not understood"));
    assert!(message("OUT_CS_REG(R300_GB_ENABLE, 1").contains("expected ) of the call"));
}
