//! Diagnostics: every page's example is reported with its code, and the exact texts of files with
//! many mistakes. `BLESS=1` rewrites the expected texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use r500_asm::{DiagnosticCode, Options, RenderOptions, assemble};

#[test]
fn examples_show_their_code() {
    for code in DiagnosticCode::ALL {
        let info = code.info();
        assert_eq!(DiagnosticCode::from_name(&info.name.to_lowercase()), Some(*code));
        assert!(!info.title.is_empty() && !info.explanation.is_empty(), "{}", info.name);
        if DiagnosticCode::NO_EXAMPLE.contains(code) {
            continue;
        }
        let assembly = assemble(info.example.as_bytes(), Options::default());
        let found: Vec<DiagnosticCode> = assembly.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [*code], "{}\n{}", info.name, assembly.render(Default::default()));
        assert_eq!(assembly.diagnostics[0].severity(), info.severity);
    }
}

#[test]
fn names_ascend() {
    let names: Vec<&str> = DiagnosticCode::ALL.iter().map(|c| &c.name()[1..]).collect();
    assert!(names.is_sorted() && names.windows(2).all(|w| w[0] != w[1]), "{names:?}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

#[test]
fn texts() {
    let mut sources: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "r5"))
        .collect();
    sources.sort();
    assert!(!sources.is_empty());
    let mut wrong = Vec::new();
    for path in sources {
        let source = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let assembly = assemble(&source, Options { name, ..Options::default() });
        let text = assembly.render(RenderOptions::default());
        let expected = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &text).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != text {
            wrong.push(format!("{name} gives\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n(BLESS=1 rewrites)", wrong.join("\n"));
}

/// Ten mistakes, one a line, and the text that each must point to.
#[test]
fn ten_mistakes() {
    let source = std::fs::read_to_string(folder().join("ten.r5")).unwrap();
    let assembly = assemble(source.as_bytes(), Options::default());
    let found: Vec<(DiagnosticCode, &str, u32)> = assembly
        .diagnostics
        .iter()
        .map(|d| {
            let text = &source[d.span.start as usize..d.span.end as usize];
            (d.code, text, assembly.files.position(d.span).line)
        })
        .collect();
    assert_eq!(
        found,
        [
            (DiagnosticCode::DuplicateFlag, "LAST", 2),
            (DiagnosticCode::BadSource, "tmp", 3),
            (DiagnosticCode::OutOfRange, "128", 4),
            (DiagnosticCode::NoInline, "0.3", 5),
            (DiagnosticCode::UnknownOpcode, "MUL src0.rgb src0.rgb", 6),
            (DiagnosticCode::SwizzleLength, "src0.1", 7),
            (DiagnosticCode::WrongHalf, "RCP src0.r", 8),
            (DiagnosticCode::NoSemicolon, "0", 9),
            (DiagnosticCode::UnknownLabel, "@nowhere", 11),
            (DiagnosticCode::Unclosed, "IF", 12),
        ]
    );
    assert!(!assembly.is_ok());
    assert_eq!(assembly.errors().count(), 10);
}

#[test]
fn fixes_are_right() {
    for (wrong, code) in [
        (": temp[0].gr = MAD ;", DiagnosticCode::BadMask),
        (": temp[0].rgb = MADD src0.rgb ;", DiagnosticCode::UnknownOpcode),
        (": temp[0].rgb = MAD src0.r ;", DiagnosticCode::SwizzleLength),
        (": temp[0].a = MAD -|src0.rgb| ;", DiagnosticCode::SwizzleLength),
        ("scr0.rgb = temp[0] : MAD.rgb src0.rgb ;", DiagnosticCode::UnknownStatement),
        ("src0.rgb = temp[0], src1.rgb = cosnt[0] : MAD.rgb src0.rgb ;", DiagnosticCode::BadSource),
        ("JUMP @ned ; @end", DiagnosticCode::UnknownLabel),
        ("US_PIXSIZE = PIXSIZE(1) ;", DiagnosticCode::UnknownField),
    ] {
        let assembly = assemble(wrong.as_bytes(), Options::default());
        let [diagnostic] = &assembly.diagnostics[..] else {
            panic!("{wrong}\n{}", assembly.render(Default::default()));
        };
        assert_eq!(diagnostic.code, code);
        let mut right = wrong.to_owned();
        let place = diagnostic.span.start as usize..diagnostic.span.end as usize;
        right.replace_range(place, diagnostic.fix.as_deref().expect(wrong));
        let again = assemble(right.as_bytes(), Options::default());
        assert!(again.diagnostics.is_empty(), "{right}\n{}", again.render(Default::default()));
    }
}

#[test]
fn colours_are_optional() {
    let assembly = assemble(b"LAST LAST : ;", Options::default());
    assert!(!assembly.render(RenderOptions { color: false }).contains('\x1b'));
    assert!(assembly.render(RenderOptions { color: true }).contains('\x1b'));
}

/// Operations, swizzles and operands of other languages: the fix is the equivalent in this language, and assembles.
#[test]
fn foreign_operations_have_fixes() {
    let cases = [
        ("temp[1].rgb = MOV src0.rgb", "temp[1].rgb = MAD src0.rgb src0.111 src0.000"),
        ("temp[1].a = MOV src0.a", "temp[1].a = MAD src0.a src0.1 src0.0"),
        ("temp[1].rgb = MOV src0.xyzw", "temp[1].rgb = MAD src0.rgb src0.111 src0.000"),
        ("temp[1].r = ADD src0.rrr src1.r", "temp[1].r = MAD src0.rrr src0.111 src1.rrr"),
        ("temp[1].rgb = SUB src0.rgb -src1.rgb", "temp[1].rgb = MAD src0.rgb src0.111 src1.rgb"),
        ("temp[1].a = SUB src0.a src1.g", "temp[1].a = MAD src0.a src0.1 -src1.g"),
        ("temp[1].rgb = MUL |src0.rgb| src1.bbb", "temp[1].rgb = MAD |src0.rgb| src1.bbb src0.000"),
        ("temp[1].rgb = SIN src0.r", "temp[1].rgb = SOP, SIN src0.r"),
        ("temp[1].rgb = RSQ |src0.rgb|", "temp[1].rgb = SOP, RSQ |src0.r|"),
        ("temp[1].rgb = MAX src0.xyz src1.rgb", "temp[1].rgb = MAX src0.rgb src1.rgb"),
        ("temp[1].rg = MAX src0.rg src1.rgb", "temp[1].rg = MAX src0.rg_ src1.rgb"),
        ("temp[1].xyz = MAX src0.rgb src1.rgb", "temp[1].rgb = MAX src0.rgb src1.rgb"),
        ("temp[1].rgb = MAD src0.rgb src0.111", "temp[1].rgb = MAD src0.rgb src0.111 src0.000"),
        ("temp[1].a = MAD src0.a src1.a", "temp[1].a = MAD src0.a src1.a src0.0"),
    ];
    for (wrong, right) in cases {
        let line = |op: &str| format!("src0.rgb = temp[0], src1.rgb = temp[1] : {op} ;");
        let (wrong, right) = (line(wrong), line(right));
        let assembly = assemble(wrong.as_bytes(), Options::default());
        let [diagnostic] = &assembly.diagnostics[..] else {
            panic!("{wrong}: {}", assembly.render(RenderOptions::default()));
        };
        let fix = diagnostic.fix.as_ref().unwrap_or_else(|| panic!("{wrong}: no fix"));
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        let fixed = format!("{}{fix}{}", &wrong[..start], &wrong[end..]);
        assert_eq!(fixed, right);
        let fixed = assemble(fixed.as_bytes(), Options::default());
        assert!(fixed.diagnostics.is_empty(), "{}", fixed.render(RenderOptions::default()));
    }
}

/// A line of another language: the message explains where operands are written here.
#[test]
fn operations_in_front_of_registers_are_explained() {
    for line in ["MOV temp[0].rgb, const[1] ;", "OUT LAST mul temp[0].rgb, temp[1], const[1] ;"] {
        let assembly = assemble(line.as_bytes(), Options::default());
        let diagnostic = &assembly.diagnostics[0];
        let help = diagnostic.help.join("\n");
        assert!(
            help.contains("`MAD a") && help.contains("src0.rgb = const[1] :"),
            "{line}: {help}"
        );
        assert_eq!(diagnostic.fix, None, "{line}");
    }
}

/// Operations that take several instructions are explained, and not treated as misspelt ones.
#[test]
fn operations_of_several_instructions_are_explained() {
    for (word, wanted) in [("LRP", "srcp"), ("POW", "EX2"), ("FLR", "FRC"), ("SLT", "CMP")] {
        let source = format!(": temp[1].rgb = {word} src0.rgb src1.rgb src2.rgb ;");
        let assembly = assemble(source.as_bytes(), Options::default());
        let diagnostic = &assembly.diagnostics[0];
        assert_eq!(diagnostic.code, DiagnosticCode::UnknownOpcode);
        assert!(diagnostic.fix.is_none() && diagnostic.help[0].contains(wanted), "{diagnostic:?}");
    }
    // Complete operations give no message: one operand, two of two, all three.
    let source = "src0.rgb = temp[0] : temp[1].rgb = FRC src0.rgb, temp[1].a = MAX src0.r src0.g ;";
    assert!(assemble(source.as_bytes(), Options::default()).diagnostics.is_empty());
}
