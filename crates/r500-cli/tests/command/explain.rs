//! `r500 explain`.

use super::{Folder, corpus, r500, with_stdin};

/// Returns the line of a field, its columns one space apart.
fn line(text: &str, field: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = text.lines().map(words);
    lines.find(|line| line.split(' ').nth(1) == Some(field)).unwrap_or_default()
}

/// The break of a loop: bits 2:0 = 5, 15:8 = ff, 20:16 = 1, 27:26 = 1, 28 set.
#[test]
fn a_dword_of_a_register() {
    let run = r500(&["explain", "0x1401ff05", "--as", "us_fc_inst"]).status(0);
    let run = run.shows("US_FC_INST = 0x1401ff05");
    for start in [
        "2:0 OP 5 US_FC_OP_BREAKLOOP",
        "5 JUMP_ANY 0 off",
        "15:8 JUMP_FUNC 255 0xff",
        "20:16 B_POP_CNT 1 1",
        "27:26 B_OP1 1 US_FC_B_OP_DECR",
        "28 IGNORE_UNCOVERED 1 on",
    ] {
        let field = start.split(' ').nth(1).unwrap();
        let line = line(run.text(), field);
        assert!(line.starts_with(start), "`{line}` is not `{start}`");
    }
    assert!(!run.text().contains('\x1b') && !run.text().contains("no field names"));
    // Bits 3 and 31 have no name; B_OP0 3 is reserved.
    let run = r500(&["explain", "83000008", "--as", "US_FC_INST"]).status(0);
    assert_eq!(line(run.text(), "B_OP0"), "25:24 B_OP0 3 3 reserved");
    run.shows("bits set that no field names: 0x80000008");
    // Several words of one register.
    let run = r500(&["explain", "0", "0x1401ff05", "--as", "us_fc_inst"]).status(0);
    assert_eq!(run.text().matches("US_FC_INST = ").count(), 2);
    r500(&["explain", "7"]).status(2).says("--as");
    r500(&["explain", "7", "--as", "us_nothing"]).status(2).says("US_FC_INST");
}

#[test]
fn six_dwords_are_an_instruction() {
    let six = ["00004000", "08020080", "08020080", "00000000", "0000406b", "00000000"];
    let run = r500(&[&["explain"], &six[..]].concat()).status(0);
    let run = run.shows(": temp[6].a = RSQ src0.g ;");
    for register in ["US_CMN_INST", "US_ALU_RGB_ADDR", "US_ALU_ALPHA_INST", "US_ALU_RGBA_INST"] {
        assert!(run.text().contains(&format!("{register} = 0x")), "{}", run.text());
    }
    assert!(line(run.text(), "ALPHA_OP").starts_with("3:0 ALPHA_OP 11 OP_RSQ"));
    // A texture instruction does not read dwords 4 and 5.
    let six = ["00007803", "00440000", "c9064e02", "0", "0", "1"];
    let run = r500(&[&["explain"], &six[..]].concat()).status(0);
    run.shows("dword 4 = 0x00000000 ignored\n")
        .shows("dword 5 = 0x00000001 ignored, though it is not 0");
}

#[test]
fn instructions_of_a_file() {
    let capture = corpus("mesa/loop_mandelbrot.json");
    let all = r500(&["explain", &capture]).status(0);
    assert_eq!(all.text().matches("US_CMN_INST = ").count(), 35);
    let run = r500(&["explain", &capture, "7", "3"]).status(0);
    assert_eq!(run.text().matches("US_CMN_INST = ").count(), 2);
    assert!(run.text().starts_with("7: ") && run.text().contains("\n3: "));
    r500(&["explain", &capture, "35"]).status(1).says("no instruction 35; it has 35");
    // What follows the numbers is something else.
    r500(&["explain", &capture, "7", "JUMP_FUNC"]).status(0).shows("US_FC_INST.JUMP_FUNC");
    let folder = Folder::new("explain-file");
    let broken = folder.write("broken.r5", "LAST LAST : ;");
    r500(&["explain", &broken]).status(1).says("error[E0201]");
}

#[test]
fn names_of_all_kinds() {
    r500(&["explain", "us_fc_inst"]).status(0).shows("US_FC_INST: ").shows("JUMP_FUNC");
    r500(&["explain", "US_OUT_FMT"]).status(0).shows("US_OUT_FMT (0 to 3): ");
    r500(&["explain", "jump_func"]).status(0).shows("US_FC_INST.JUMP_FUNC (bits 15:8): ");
    let run = r500(&["explain", "US_FC_INST.B_OP0"]).status(0).shows("others are reserved");
    assert_eq!(run.text().lines().count(), 5, "{}", run.text());
    let run = r500(&["explain", "OP_MAD"]).status(0);
    assert!(run.text().starts_with("OP_MAD = 0 in US_ALU_"), "{}", run.text());
    assert_eq!(run.text().matches("OP_MAD = 0 in").count(), 2);
    r500(&["explain", "e0101"]).status(0).shows("E0101: ").shows("Example:\n\n    ");
    r500(&["explain", "W0701"]).status(0).shows("W0701: ");
    r500(&["explain", "never-written"]).status(0).shows("finding of a run");
    r500(&["explain", "break"]).status(0).shows("literal ").shows("(default)");
    // Several at once, with an empty line between.
    let run = r500(&["explain", "JUMP_FUNC", "E0101"]).status(0);
    assert!(run.text().contains("\n\nE0101: "), "{}", run.text());
    // Each error that there is has a page.
    for code in r500::asm::DiagnosticCode::ALL {
        r500(&["explain", code.name()]).status(0).shows(code.name());
    }
}

#[test]
fn names_that_are_none() {
    let run = r500(&["explain", "JUMP_FUNK"]).status(1);
    assert_eq!(run.stderr, "error: JUMP_FUNK: nothing has this name; did you mean JUMP_FUNC?\n");
    r500(&["explain", "US_FC_INST.NOPE"]).status(1).says("nothing has this name");
    r500(&["explain", "no-such-thing"]).status(1).says("it is neither a file");
    r500(&["explain", ""]).status(1).says("nothing has this name");
    with_stdin(&["explain", "-"], b"\xff\xfe").status(1).says("nothing has this name");
    assert_eq!(with_stdin(&["explain", "-"], b"").status(0).text(), "");
    r500(&["explain"]).status(2);
}

#[test]
fn from_stdin_and_as_json() {
    let input = b"us_out_fmt E0001\n00004000 08020080 08020080 00000000 0000406b 00000000 B_OP1";
    let run = with_stdin(&["explain", "-", "--format", "json"], input).status(0);
    let answer: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(answer["version"], 1);
    let list = answer["explanations"].as_array().unwrap();
    let kinds: Vec<_> = list.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["register", "diagnostic", "instruction", "field"]);
    assert_eq!((&list[0]["name"], &list[0]["count"]), (&"US_OUT_FMT".into(), &4.into()));
    assert_eq!(list[2]["text"], ": temp[6].a = RSQ src0.g ;");
    assert_eq!(list[2]["dwords"][4]["bits"], "0000406b");
    assert_eq!((&list[3]["hi"], &list[3]["lo"]), (&27.into(), &26.into()));

    let args = ["explain", "0x83000008", "--as", "us_fc_inst", "--format", "json"];
    let answer: serde_json::Value = serde_json::from_str(r500(&args).status(0).text()).unwrap();
    let word = &answer["explanations"][0];
    assert_eq!(word["unnamed_bits"], "80000008");
    let fields = word["fields"].as_array().unwrap();
    let field = fields.iter().find(|field| field["name"] == "B_OP0").unwrap();
    assert_eq!((&field["code"], &field["reserved"]), (&3.into(), &true.into()));
    for name in ["OP_MAD", "never-written", "break"] {
        let run = r500(&["explain", name, "--format", "json"]).status(0);
        let answer: serde_json::Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!(answer["explanations"][0]["name"], name);
    }
}

/// Registers outside the fragment processor: bits 4:0 of the format are 24:21 (6 = ARGB8888), the pitch is halved.
#[test]
fn registers_of_the_whole_3d_engine() {
    let run = r500(&["explain", "00c00100", "--as", "RB3D_COLORPITCH2"]).status(0);
    let run = run.shows("RB3D_COLORPITCH = 0x00c00100");
    assert!(line(run.text(), "COLORFORMAT").starts_with("24:21 COLORFORMAT 6 ARGB8888"));
    assert!(line(run.text(), "COLORPITCH").starts_with("13:1 COLORPITCH 128 0x80"));
    let run = r500(&["explain", "3fc00000", "--as", "su_depth_scale"]).status(0);
    assert!(line(run.text(), "SCALE").contains(" 1.5 "), "{}", run.text());
    let run = r500(&["explain", "@4e40", "@42b8", "VAP_VTX_AOS_ATTR23"]).status(0);
    run.shows("RB3D_COLORPITCH2 at 0x4e40: member of\nRB3D_COLORPITCH (0 to 3)")
        .shows("\nSU_CULL_MODE: culling by face.\n  at 0x42b8, read and write\n")
        .shows("VAP_VTX_AOS_ATTR23 at 0x20d0");
    r500(&["explain", "@4e41"]).status(1);
    let run = r500(&["explain", "GL_SRC_ALPHA_SATURATE", "PACKET3", "3D_DRAW_IMMD_2"]).status(0);
    run.shows("GL_SRC_ALPHA_SATURATE = 42 in RB3D_BLENDCNTL.SRCBLEND (21:16)")
        .shows("15:8  IT_OPCODE")
        .shows("3D_DRAW_IMMD_2 = 53 in PACKET3.IT_OPCODE");
}

#[test]
fn four_dwords_are_a_vertex_instruction() {
    let four = ["00f00203", "00d10001", "01248001", "01248001"];
    let run = r500(&[&["explain"], &four[..], &["--as", "pvs"]].concat()).status(0);
    let run = run.shows("VE_ADD out[0].xyzw, input[0].xyzw, input[0].0000, input[0].0000\n");
    assert!(line(run.text(), "OPCODE").starts_with("5:0 OPCODE 3"));
    assert_eq!(run.text().matches("PVS_SRC_OPERAND = ").count(), 3);
}
