//! Constant expressions, macros and repetitions: they assemble to the dwords of the plain text, which stands next to them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_asm::{DiagnosticCode, ExpansionLimits, Options, assemble, print_code};

#[track_caller]
fn dwords(source: &str) -> Vec<[u32; 6]> {
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.diagnostics.is_empty(), "{source}\n{}", assembly.render(Default::default()));
    assembly.job.program.code.iter().map(|i| i.0).collect()
}

fn codes(source: &str) -> Vec<DiagnosticCode> {
    let assembly = assemble(source.as_bytes(), Options::default());
    assembly.diagnostics.iter().map(|d| d.code).collect()
}

/// Both texts are the same program, which prints as plain instructions.
#[track_caller]
fn same(source: &str, plain: &str) {
    let (got, wanted) = (dwords(source), dwords(plain));
    assert!(got == wanted, "{source}\n got {got:08x?}\nwant {wanted:08x?}");
    let code = assemble(source.as_bytes(), Options::default()).job.program.code;
    let printed = print_code(&code, 0);
    assert!(!printed.contains(".rept") && !printed.contains(".macro"), "{printed}");
    assert_eq!(dwords(&printed), wanted, "{printed}");
}

#[track_caller]
fn constant(text: &str) -> [u32; 4] {
    let source = format!("DEF two = 2 ;\nDEF third = 1/3 ;\nconst[0] = ({text}) ;");
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.diagnostics.is_empty(), "{text}\n{}", assembly.render(Default::default()));
    assembly.job.program.state.constants[0]
}

/// The bits were computed by hand or are those of a constant of the standard library.
#[test]
fn expressions_are_rounded_once() {
    // 1/128 = 2^-7: exponent 127 - 7 = 120 = 0x78. -(1+2)/3 = -1. 2*pi and sqrt(2), to nearest.
    let bits = constant("1/128, 2*pi, sqrt(2), -(1+2)/3");
    assert_eq!(bits, [0x3c00_0000, 0x40c9_0fdb, 0x3fb5_04f3, 0xbf80_0000]);
    assert_eq!(bits[1], std::f32::consts::TAU.to_bits());
    assert_eq!(bits[2], std::f32::consts::SQRT_2.to_bits());
    // The third is a double: 3 * (1/3) = 1 exactly, which no float of one third gives in double precision.
    assert_eq!(
        constant("third, 3*third, third*two, 1-two"),
        [0x3eaa_aaab, 0x3f80_0000, 0x3f2a_aaab, 0xbf80_0000]
    );
    // Products before sums, from left to right, signs before both.
    assert_eq!(constant("1+2*3, 8/4/2, 8-4-2, -two*-3").map(f32::from_bits), [7.0, 1.0, 2.0, 6.0]);
    assert_eq!(
        constant("floor(-1.5), ceil(1.2), round(2.5), mod(-1, 4)").map(f32::from_bits),
        [-2.0, 2.0, 3.0, 3.0]
    );
    assert_eq!(
        constant("min(1, 2), max(1, 2), pow(2, 10), log2(8)").map(f32::from_bits),
        [1.0, 2.0, 1024.0, 3.0]
    );
    // Alone, `0x` has bits; in an expression, a whole number. One infinity more is one infinity.
    assert_eq!(
        constant("0x3f800000, 0x10+0, inf-1, 1e2*1e-2"),
        [0x3f80_0000, 0x4180_0000, 0x7f80_0000, 0x3f80_0000]
    );
    // 2^24 + 1 is halfway between two floats: to the even one. A little more, which only a double has, is rounded up.
    assert_eq!(constant("16777217+0, 16777217+1e-6, 0, 0")[..2], [0x4b80_0000, 0x4b80_0001]);
}

#[test]
fn expressions_stand_wherever_a_number_does() {
    same(
        "DEF K = 3 ;\nsrc0.rgb = temp[K], src1.rgb = const[2*K+1], src2.a = 1/4 : temp[K+1].rgb = MAD src0.rgb src1.rgb src1.000 ;",
        "src0.rgb = temp[3], src1.rgb = const[7], src2.a = 0.25 : temp[4].rgb = MAD src0.rgb src1.rgb src1.000 ;",
    );
    same(
        "DEF K = 3 ;\nsrc0.rgb = temp[K-1+aL], src1.rgb = const[aL+K*2], src2.rgb = 1/2+aL : temp[K+aL].r = MAD src0.rrr ;",
        "src0.rgb = temp[2+aL], src1.rgb = const[6+aL], src2.rgb = 0.5+aL : temp[3+aL].r = MAD src0.rrr ;",
    );
    same(
        "DEF half = 0.5 ;\nDEF K = 2 ;\nsrc0.rgb = half+aL, src1.rgb = half*K, src2.a = float(20+K) : ;",
        "src0.rgb = 0.5+aL, src1.rgb = 1.0, src2.a = float(22) : ;",
    );
    same(
        "DEF n = 1 ;\nTEX temp[n].rgba = LD tex[n+1].rgba temp[2*n].rgba ;",
        "TEX temp[1].rgba = LD tex[2].rgba temp[2].rgba ;",
    );
    same("DEF n = 300 ;\nRAW n-300 0x10*2 1 2 3 n/3 ;", "RAW 0 32 1 2 3 100 ;");
    same(
        "DEF n = 2 ;\nLOOP int[n+1] ; IF bool[n] ; JUMP -> n ; ENDIF ; ENDLOOP ; @n FC JUMP B_POP_CNT(n*2) -> 7 ;",
        "LOOP int[3] ; IF bool[2] ; JUMP -> 5 ; ENDIF ; ENDLOOP ; FC JUMP B_POP_CNT(4) -> 7 ;",
    );
    let assembly = assemble(
        b"DEF w = 8 ;\nSIZE w w/2 ;\nTIME w/3 ;\nint[w-8] = (w, 2*1, -w/4) ;\nUS_PIXSIZE = w-1 ;\nEXPECT tolerance = 1/256 ;\nEXPECT out[0] at (w-1, 0) = (1/4, _, -1/2, 0) ;",
        Options::default(),
    );
    assert!(assembly.diagnostics.is_empty(), "{}", assembly.render(Default::default()));
    let job = &assembly.job;
    assert_eq!(job.size, Some([8, 4]));
    assert_eq!(job.time, Some(8.0 / 3.0));
    let int = job.program.state.fc_int_const[0].unwrap();
    assert_eq!((int.kr(), int.kg(), int.kb()), (8, 2, -2));
    assert_eq!(job.program.state.pixsize.unwrap().0, 7);
    assert_eq!(job.expect.tolerance, 1.0 / 256.0);
    assert_eq!(
        job.expect.targets[0].as_ref().unwrap()[7],
        [Some(0.25), None, Some(-0.5), Some(0.0)]
    );
}

#[test]
fn expressions_without_a_value_are_reported() {
    use DiagnosticCode::{BadExpression, BadNumber, NoInline, OutOfRange, Unexpected};
    for (text, code) in [
        ("const[0] = (1/0, 0, 0, 0) ;", BadExpression),
        ("const[0] = (sqrt(-1), 0, 0, 0) ;", BadExpression),
        ("const[0] = (1+nothing, 0, 0, 0) ;", BadExpression),
        ("const[0] = (1+(1, 2), 0, 0, 0) ;", BadExpression),
        ("const[0] = (pow(2), 0, 0, 0) ;", BadExpression),
        ("const[0] = (1e300*1, 0, 0, 0) ;", OutOfRange),
        ("const[0] = (1+, 0, 0, 0) ;", Unexpected),
        ("src0.rgb = temp[1/2] : ;", BadNumber),
        ("src0.rgb = temp[1-2] : ;", OutOfRange),
        ("src0.rgb = temp[-1] : ;", OutOfRange),
        ("src0.rgb = temp[64*2] : ;", OutOfRange),
        ("src0.rgb = 1/3 : ;", NoInline),
        ("src0.rgb = float(1/2) : ;", BadNumber),
        ("DEF third = 1/3 ;\nsrc0.rgb = third : ;", NoInline),
        ("TEX temp[0].rgba = LD tex[1+aL].rgba temp[0].rgba ;", Unexpected),
    ] {
        assert_eq!(codes(text), [code], "{text}");
    }
    let deep = format!("const[0] = ({}1{}, 0, 0, 0) ;", "(".repeat(100), ")".repeat(100));
    assert_eq!(codes(&deep), [BadExpression]);
    let long = format!("const[0] = (1{}, 0, 0, 0) ;", "+1".repeat(1000));
    assert_eq!(codes(&long), [BadExpression]);
}

#[test]
fn repetitions_count() {
    same(
        "DEF K = 10 ;\n.rept 3, i ;\n src0.rgb = temp[K+i] : temp[2*i].rgb = MAX src0.rgb src0.rgb ;\n.endr ;\n: ;",
        "src0.rgb = temp[10] : temp[0].rgb = MAX src0.rgb src0.rgb ;
         src0.rgb = temp[11] : temp[2].rgb = MAX src0.rgb src0.rgb ;
         src0.rgb = temp[12] : temp[4].rgb = MAX src0.rgb src0.rgb ; : ;",
    );
    same(
        ".rept 2, i ; .rept 2, j ; RAW 0 0 0 0 i j ; .endr ; .endr ;",
        "RAW 0 0 0 0 0 0 ; RAW 0 0 0 0 0 1 ; RAW 0 0 0 0 1 0 ; RAW 0 0 0 0 1 1 ;",
    );
}

#[test]
fn repetitions_of_nothing_are_nothing() {
    same(".rept 0 ; anything at all .endr ;", "");
    same(".rept 2-2 ; : ; .endr ; LAST : ;", "LAST : ;");
    same(".REPT 1 ; : ; .ENDR ;", ": ;");
}

#[test]
fn macros_have_arguments() {
    same(
        ".macro lerp to, a, b, t ;
            src0.rgb = a, src1.rgb = b, src2.rgb = t, srcp.rgb = sub :
            to.rgb = MAD srcp.rgb src2.rgb src0.rgb ;
        .endm ;
        DEF color = temp[5] ;
        lerp temp[1], temp[2], const[3], 0.5 ;
        lerp color, color, const[1+2*3], 1/4 ;",
        "src0.rgb = temp[2], src1.rgb = const[3], src2.rgb = 0.5, srcp.rgb = sub : temp[1].rgb = MAD srcp.rgb src2.rgb src0.rgb ;
         src0.rgb = temp[5], src1.rgb = const[7], src2.rgb = 0.25, srcp.rgb = sub : temp[5].rgb = MAD srcp.rgb src2.rgb src0.rgb ;",
    );
    // Masks, opcodes and flags can be arguments; suffixes are themselves, whatever parameters are called.
    same(
        ".macro each flags, opcode, a, mask ; flags src0.rgb = temp[a], src0.a = temp[a] : temp[a].mask = opcode src0.rgb src0.rgb, temp[a].a = MAX src0.a src0.a ; .endm ;
         each LAST NOP, MIN, 3, rg ; each , MAX, 4, none ;",
        "LAST NOP src0.rgb = temp[3], src0.a = temp[3] : temp[3].rg = MIN src0.rgb src0.rgb, temp[3].a = MAX src0.a src0.a ;
         src0.rgb = temp[4], src0.a = temp[4] : temp[4].none = MAX src0.rgb src0.rgb, temp[4].a = MAX src0.a src0.a ;",
    );
    same(".macro nothing ; .endm ; nothing ; : ;", ": ;");
}

/// An argument is a unit of an expression, and its names are those of the use.
#[test]
fn arguments_are_units_with_the_names_of_their_use() {
    same(
        ".macro at n ; RAW 0 0 0 0 0 2*n ; .endm ;\nDEF K = 3 ;\nat K+1 ; at K-1 ; at (K) ;",
        "RAW 0 0 0 0 0 8 ; RAW 0 0 0 0 0 4 ; RAW 0 0 0 0 0 6 ;",
    );
    same(
        ".macro inner n ; RAW 0 0 0 0 0 10-n ; .endm ;\n.macro outer n ; inner n-1 ; inner 2*n ; .endm ;\nouter 1+2 ;",
        "RAW 0 0 0 0 0 8 ; RAW 0 0 0 0 0 4 ;",
    );
    // `x` of the macro and `x` of the use are different names.
    same(
        ".macro keep n ; DEF x = 100 ; RAW 0 0 0 0 x n ; .endm ;\nDEF x = 7 ;\nkeep x ; RAW 0 0 0 0 0 x ;",
        "RAW 0 0 0 0 100 7 ; RAW 0 0 0 0 0 7 ;",
    );
    // What a body names is what was defined around the macro, not around its use.
    assert_eq!(
        codes(
            ".macro free ; RAW 0 0 0 0 0 y ; .endm ;\n.macro use ; DEF y = 1 ; free ; .endm ;\nuse ;"
        ),
        [DiagnosticCode::Unexpected]
    );
}

#[test]
fn labels_of_a_body_belong_to_its_use() {
    same(
        ".macro skip n ; JUMP @over IF alu ; : temp[n].r = FRC src0.rrr ; @over .endm ;\nskip 1 ;\n@over skip 2 ;\nJUMP @over ;",
        "JUMP -> 2 IF alu ; : temp[1].r = FRC src0.rrr ; JUMP -> 4 IF alu ; : temp[2].r = FRC src0.rrr ; JUMP -> 2 ;",
    );
    same(
        ".rept 2 ; JUMP @next ; JUMP @end ; @next .endr ; @end : ;",
        "JUMP -> 2 ; JUMP -> 4 ; JUMP -> 4 ; JUMP -> 4 ; : ;",
    );
    // A label as argument is one of the use.
    same(
        ".macro go to ; @here JUMP to ; JUMP @here ; .endm ;\ngo @here ; @here : ;",
        "JUMP -> 2 ; JUMP -> 0 ; : ;",
    );
    assert_eq!(
        codes(".macro go ; JUMP @inside ; @inside .endm ;\ngo ; JUMP @inside ;"),
        [DiagnosticCode::UnknownLabel]
    );
}

#[test]
fn macros_may_use_macros_and_themselves() {
    // From n down to 1: a repetition of 0 or 1 ends it.
    same(
        ".macro down n ; RAW 0 0 0 0 0 n ; .rept min(n-1, 1) ; down n-1 ; .endr ; .endm ;\ndown 3 ;",
        "RAW 0 0 0 0 0 3 ; RAW 0 0 0 0 0 2 ; RAW 0 0 0 0 0 1 ;",
    );
    // A macro of a macro is one of its use.
    same(
        ".macro outer n ; .macro inner m ; RAW 0 0 0 0 n m ; .endm ; inner 5 ; .endm ;\nouter 1 ; outer 2 ;",
        "RAW 0 0 0 0 1 5 ; RAW 0 0 0 0 2 5 ;",
    );
    // Parts of a program in files of their own.
    let mut load = |path: &str, _: &str| {
        let text = match path {
            "lib" => ".macro twice n ; #include \"part\" #include \"part\" .endm ;",
            _ => "RAW 0 0 0 0 0 n ;",
        };
        Ok(r500_asm::Loaded { name: path.to_owned(), bytes: text.into() })
    };
    let options = Options { loader: Some(&mut load), ..Options::default() };
    let assembly = assemble(b"#include \"lib\"\ntwice 4 ;", options);
    assert!(assembly.is_ok(), "{}", assembly.render(Default::default()));
    let words: Vec<u32> = assembly.job.program.code.iter().map(|inst| inst.0[5]).collect();
    assert_eq!(words, [4, 4]);
}

#[test]
fn macros_are_checked() {
    use DiagnosticCode::{
        BadName, DuplicateName, MacroArguments, NoBody, NoSemicolon, Unexpected, UnknownStatement,
    };
    for (text, wanted) in [
        (".macro a ; .endm ; .macro A ; .endm ;", &[DuplicateName][..]),
        ("DEF a1 = temp[0] ; .macro a1 ; .endm ;", &[DuplicateName]),
        (".macro mad ; .endm ;", &[BadName]),
        (".macro m p, P ; .endm ;", &[DuplicateName]),
        (".macro m temp ; .endm ;", &[BadName]),
        (".macro m p ; .endm ; m ;", &[MacroArguments]),
        (".macro m ; .endm ; m 1 ;", &[MacroArguments]),
        (".macro m ; .endm ; m", &[NoSemicolon]),
        (".macro m ; .endr ; .endm ;", &[NoBody]),
        (".rept 2 ; .macro m ; .endr ;", &[NoBody]),
        (".rept 2 ; : ;", &[NoBody]),
        (".endr ; .endm ;", &[NoBody, NoBody]),
        (".repeat 2 ;", &[UnknownStatement]),
        (". rept 2 ;", &[Unexpected]),
        (".rept 2", &[NoSemicolon]),
        (".rept 2 ; : ; .endr", &[NoSemicolon]),
        (".rept 2, 3 ; : ; .endr ;", &[BadName]),
    ] {
        assert_eq!(codes(text), wanted, "{text}");
    }
}

/// What a macro with an error says: once for all uses, with the place in the body, the argument and the use.
#[test]
fn errors_of_bodies_name_the_use() {
    let source = ".macro put n ;\n    : temp[n].r = FRC src0.rrr ;\n.endm ;\nput 1 ;\nput 100+28 ;\nput 100+28 ;\n";
    let assembly = assemble(source.as_bytes(), Options::default());
    let text = |span: r500_asm::Span| &source[span.start as usize..span.end as usize];
    let [error, again] = &assembly.diagnostics[..] else { panic!("{:?}", assembly.diagnostics) };
    for (error, line) in [(error, 5), (again, 6)] {
        assert_eq!(text(error.span), "100+28");
        assert_eq!(assembly.files.position(error.span).line, line);
        let places: Vec<&str> = error.related.iter().map(|(span, _)| text(*span)).collect();
        assert_eq!(places, ["n", "put 100+28"]);
    }
    // Of the body itself, the first of three uses is listed.
    let assembly = assemble(
        b".macro bad ;\n: temp[200].r = FRC src0.rrr ;\n.endm ;\nbad ; bad ; bad ;",
        Options::default(),
    );
    assert_eq!(assembly.diagnostics.len(), 1);
    assert_eq!(assembly.diagnostics[0].related[0].1, "in this use of `bad`");
}

/// Text that multiplies ends with an error, in bounded time and memory.
#[test]
fn expansion_is_limited() {
    let limit = [DiagnosticCode::ExpansionLimit];
    assert_eq!(codes(".macro a ; a ; a ; .endm ; a ;"), limit);
    assert_eq!(codes(".macro a n ; a n+n ; .endm ; a 1 ;"), limit);
    let nested = format!("{} {}", ".rept 1000 ; ".repeat(10), ".endr ; ".repeat(10));
    assert_eq!(codes(&nested), limit);
    let wide = format!(".rept 60000 ; {} .endr ;", "-- a comment of no use\n".repeat(100));
    assert_eq!(codes(&wide), limit);
    let doubling: String =
        (0..60).map(|n| format!(".macro m{} p ; m{n} p p ; .endm ;\n", n + 1)).collect();
    let source = format!(".macro m0 p ; RAW 0 0 0 0 0 0 p ; .endm ;\n{doubling}m60 1 ;");
    assert_eq!(codes(&source).first(), limit.first());
    // An option of the library.
    let expansion_limits = ExpansionLimits { count: 3, ..ExpansionLimits::default() };
    let count = |text: &str| {
        let options = Options { expansion_limits, ..Options::default() };
        let assembly = assemble(text.as_bytes(), options);
        (assembly.is_ok(), assembly.job.program.code.len())
    };
    assert_eq!(count(".rept 3 ; : ; .endr ;"), (true, 3));
    assert_eq!(count(".rept 4 ; : ; .endr ;"), (false, 3));
    // 64 levels, the innermost with one or two iterations.
    let levels = |n: usize| format!("{} : ; {}", ".rept 1 ; ".repeat(n), ".endr ; ".repeat(n));
    assert_eq!((codes(&levels(64)), codes(&levels(65))), (vec![], limit.to_vec()));
    let inner =
        format!("{}.rept 2 ; : ; .endr ; {}", ".rept 1 ; ".repeat(63), ".endr ; ".repeat(63));
    assert_eq!(dwords(&inner).len(), 2);
}

/// Uses and repetitions with the instructions that they produce.
#[test]
fn expansions_are_listed() {
    let source = ": ;\n.macro two ; .rept 2 ; : ; .endr ; .endm ;\ntwo ; : ; .rept 3 ; two ; .endr ; .rept 0 ; .endr ;";
    let assembly = assemble(source.as_bytes(), Options::default());
    let found: Vec<(&str, usize, usize)> = assembly
        .expansions
        .iter()
        .map(|e| (&source[e.call.start as usize..e.call.end as usize], e.first, e.end))
        .collect();
    assert_eq!(found, [("two", 1, 3), (".rept 3", 4, 10), (".rept 0", 10, 10)]);
    assert_eq!(assembly.job.program.code.len(), 10);
}

/// A source without a suffix is one of both halves.
#[test]
fn sources_of_both_halves() {
    same(
        "src0 = temp[3], src1 = const[4], src2 = 0.5, srcp = add : temp[1].rgb = MAD srcp.rgb src0.111 src1.rgb, temp[1].a = MAX srcp.a src2.a ;",
        "src0.rgb = temp[3], src0.a = temp[3], src1.rgb = const[4], src1.a = const[4], src2.rgb = 0.5, src2.a = 0.5, srcp.rgb = add, srcp.a = add : temp[1].rgb = MAD srcp.rgb src0.111 src1.rgb, temp[1].a = MAX srcp.a src2.a ;",
    );
    // By hand: ADDR0 3 in both, ADDR1 4 of a constant (bit 18), ADDR2 0x80 + 48 = 0xb0, SRCP_OP add = 2 in bits 31:30.
    let words = 3 | 4 << 10 | 1 << 18 | 0xb0 << 20 | 2 << 30;
    let got = dwords("src0 = temp[3], src1 = const[4], src2 = 0.5, srcp = add : ;");
    assert_eq!(got, [[0, words, words, 0, 0, 0]]);
    same("src0 = temp[2+aL] : ;", "src0.rgb = temp[2+aL], src0.a = temp[aL+2] : ;");
    let twice = [DiagnosticCode::DuplicateLet];
    assert_eq!(codes("src0 = temp[0], src0.a = temp[1] : ;"), twice);
    assert_eq!(codes("src0.rgb = temp[0], src0 = temp[1] : ;"), twice);
    assert_eq!(codes("src0, src1 = temp[1] : ;"), [DiagnosticCode::Unexpected]);
}

#[test]
fn there_are_three_sources() {
    for (text, fix) in [
        ("src3.rgb = temp[0] : ;", Some("src0")),
        ("src0 = temp[0], src3.rgb = temp[0] : ;", Some("src1")),
        ("src0.rgb = temp[0], src1.a = temp[0], SRC9 = temp[0] : ;", Some("src2")),
        ("src0 = temp[0], src1 = temp[0], src2.a = temp[0], src3.rgb = temp[0] : ;", None),
        ("src0 = temp[0] : temp[0].rgb = MAD src0.rgb src3.rgb ;", None),
        ("src0 = temp[0] : temp[0].rgb = MAD -src3.rgb ;", None),
    ] {
        let assembly = assemble(text.as_bytes(), Options::default());
        let [error] = &assembly.diagnostics[..] else {
            panic!("{text}: {:?}", assembly.diagnostics)
        };
        assert_eq!(error.code, DiagnosticCode::NoSource, "{text}");
        assert_eq!(error.label, "there are three sources: src0, src1, src2");
        assert_eq!(error.fix.as_deref(), fix, "{text}");
    }
}

#[test]
fn outputs_need_out() {
    let warning = [DiagnosticCode::OutputWithoutOut];
    let op = "MAX src0.rgb src0.rgb";
    assert_eq!(codes(&format!("src0 = temp[0] : out[1].rgb = {op} ;")), warning);
    assert_eq!(
        codes(&format!("DEF color = out[1] ;\nsrc0 = temp[0] : color.rg = temp[1].rg = {op} ;")),
        warning
    );
    assert_eq!(codes("src0 = temp[0] : out[0].a = RCP src0.a ;"), warning);
    assert_eq!(codes(&format!("OUT src0 = temp[0] : out[1].rgb = {op} ;")), []);
    assert_eq!(codes(&format!("src0 = temp[0] : pred[lt].rgb = {op} ;")), []);
    // No bit is written: a source of the public dialect names a target so.
    assert_eq!(codes("src0 = temp[0] : out[1].none = MAX.rgb src0.rgb src0.rgb ;"), []);
    let assembly = assemble(b": out[2].rg = MAX src0.rgb src0.rgb ;", Options::default());
    let help = assembly.diagnostics[0].help.join("\n");
    assert!(help.contains("`OUT`") && help.contains("`pred[ge].rg`"), "{help}");
    assert_eq!(codes("src0 = out[0] : ;"), [DiagnosticCode::BadSource]);
}
