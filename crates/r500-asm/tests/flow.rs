//! Flow control: statements against dwords worked out from the table of usual encodings and the
//! field positions of `US_FC_INST` and `US_FC_ADDR`.
//!
//! `US_FC_INST`: OP 2:0 (JUMP 0, LOOP 1, ENDLOOP 2, REP 3, ENDREP 4, BREAKLOOP 5, BREAKREP 6,
//! CONTINUE 7), B_ELSE 4, JUMP_ANY 5, A_OP 7:6 (pop 1, push 2), JUMP_FUNC 15:8, B_POP_CNT 20:16,
//! B_OP0 25:24 and B_OP1 27:26 (decr 1, incr 2), IGNORE_UNCOVERED 28.
//! `US_FC_ADDR`: BOOL_ADDR 4:0, INT_ADDR 12:8, JUMP_ADDR 24:16, JUMP_GLOBAL 31.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use r500_asm::{DiagnosticCode, Options, assemble, print_code};

/// Words 0, 2 and 3 of each flow-control instruction; the others are 0.
#[track_caller]
fn check(source: &str, expected: &[[u32; 3]]) {
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.diagnostics.is_empty(), "{}", assembly.render(Default::default()));
    let got: Vec<_> = assembly
        .job
        .program
        .code
        .iter()
        .filter(|i| i.0[0] & 3 == 2)
        .map(|i| {
            assert_eq!([i.0[1], i.0[4], i.0[5]], [0; 3]);
            [i.0[0], i.0[2], i.0[3]]
        })
        .collect();
    assert!(got == expected, "{source}\n got {got:08x?}\nwant {expected:08x?}");
}

#[track_caller]
fn codes(source: &str) -> Vec<DiagnosticCode> {
    assemble(source.as_bytes(), Options::default()).diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn branch() {
    // IF: FUNC 0f, B_OP0 incr, after ENDIF. ENDIF: any, B_OP0 decr, POP 1, next.
    check("IF alu ; : ; ENDIF ;", &[[2, 0x0200_0f00, 0x0003_0000], [2, 0x0101_0020, 0x0003_0000]]);
    // With ELSE: B_OP1 incr too, after ELSE; ELSE: B_ELSE, B_OP1 decr, POP 1, after ENDIF.
    check(
        "IF alu ; : ; ELSE ; : ; ENDIF ;",
        &[
            [2, 0x0a00_0f00, 0x0003_0000],
            [2, 0x0401_0010, 0x0005_0000],
            [2, 0x0101_0020, 0x0005_0000],
        ],
    );
}

#[test]
fn mesa_flow_control_prints_as_statements() {
    // The words counted over the corpus: flags in any order.
    check(
        "LOOP int[0] all IGNORE_UNCOVERED ALU_WAIT -> @end ;
           IF alu ALU_WAIT IGNORE_UNCOVERED ; BREAK IGNORE_UNCOVERED ALU_WAIT ; ELSE ALU_WAIT ; ENDIF ALU_WAIT ;
         @end ENDLOOP ALU_WAIT IGNORE_UNCOVERED ;",
        &[
            [0x402, 0x1000_0001, 0x0005_0000],
            [0x402, 0x1a00_0f00, 0x0004_0000],
            [0x402, 0x1401_ff05, 0x0006_0000],
            [0x402, 0x0401_0010, 0x0005_0000],
            [0x402, 0x0101_0020, 0x0005_0000],
            [0x402, 0x1000_ff22, 0x0001_0000],
        ],
    );
}

#[test]
fn loops_are_safe_by_default() {
    // JUMP_ANY, target after ENDLOOP; ENDLOOP jumps to the first instruction of the body, with LOOP's constant.
    check("LOOP int[3] ; : ; ENDLOOP ;", &[[2, 0x21, 0x0003_0300], [2, 0xff22, 0x0001_0300]]);
    check("REP int[31] ; ENDREP ;", &[[2, 0x23, 0x0002_1f00], [2, 0xff24, 0x0001_1f00]]);
}

#[test]
fn breaks_take_their_depth() {
    check(
        "LOOP int[0] ; IF alu ; IF !alu ; BREAK ; ENDIF ; ENDIF ; CONTINUE ; ENDLOOP ;",
        &[
            [2, 0x21, 0x0008_0000],
            [2, 0x0200_0f00, 0x0006_0000],
            [2, 0x0200_f000, 0x0005_0000],
            [2, 0x0402_ff05, 0x0008_0000],
            [2, 0x0101_0020, 0x0005_0000],
            [2, 0x0101_0020, 0x0006_0000],
            [2, 0xff07, 0x0007_0000],
            [2, 0xff22, 0x0001_0000],
        ],
    );
    // Only branches inside the innermost loop count; BREAKREP exits a REP.
    check(
        "IF alu ; REP int[0] ; IF alu ; BREAK ; ENDIF ; ENDREP ; ENDIF ;",
        &[
            [2, 0x0200_0f00, 0x0007_0000],
            [2, 0x23, 0x0006_0000],
            [2, 0x0200_0f00, 0x0005_0000],
            [2, 0x0401_ff06, 0x0006_0000],
            [2, 0x0101_0020, 0x0005_0000],
            [2, 0xff24, 0x0002_0000],
            [2, 0x0101_0020, 0x0007_0000],
        ],
    );
    check(
        "LOOP int[0] ; IF alu ; CONTINUE ; ENDIF ; ENDLOOP ;",
        &[
            [2, 0x21, 0x0005_0000],
            [2, 0x0200_0f00, 0x0004_0000],
            [2, 0x0401_ff07, 0x0004_0000],
            [2, 0x0101_0020, 0x0004_0000],
            [2, 0xff22, 0x0001_0000],
        ],
    );
}

#[test]
fn subroutines() {
    // CALL: any, A_OP push, B_OP1 incr. RETURN: all, A_OP pop, B_OP1 decr, POP 1.
    check(
        "CALL @sub ; CALL sub IF pred.g ; JUMP @end ; @sub : ; RETURN ; @end",
        &[
            [2, 0x0800_ffa0, 0x0003_0000],
            [2 | 3 << 3, 0x0800_cca0, 0x0003_0000],
            [2, 0xff00, 0x0005_0000],
            [2, 0x0401_ff40, 0],
        ],
    );
}

#[test]
fn conditions() {
    let jump = |condition: &str, word0: u32, func: u32, addr: u32| {
        check(&format!("JUMP 7 IF {condition} ;"), &[[word0, func << 8, 7 << 16 | addr]]);
    };
    jump("alu", 2, 0xf0, 0);
    jump("!alu", 2, 0x0f, 0);
    jump("pred.r", 2 | 2 << 3, 0xcc, 0);
    jump("!pred.a", 2 | 5 << 3, 0x33, 0);
    jump("bool[5]", 2, 0xaa, 5);
    jump("!bool[31]", 2, 0x55, 31);
    jump("table(0x28)", 2, 0x28, 0);
    jump("table(40)", 2, 0x28, 0);
    // 1 where 4*alu + 2*pred + bool has alu and not bool: 4 and 6.
    jump("alu & !bool[2]", 2, 0x50, 2);
    // Index 7, and all below 2 (neither alu nor predicate).
    jump("alu & pred.b & bool[1] | !(alu | pred.b)", 2 | 4 << 3, 0x83, 1);
    // IF jumps if its condition is false.
    check(
        "IF !pred.r PRED.a(!b) ; ENDIF ;",
        &[
            [2 | 2 << 3 | 1 << 22 | 4 << 25, 0x0200_cc00, 0x0002_0000],
            [2, 0x0101_0020, 0x0002_0000],
        ],
    );
    assert_eq!(codes("IF pred.r & pred.g ; ENDIF ;"), [DiagnosticCode::ConditionConflict]);
    assert_eq!(codes("IF pred.r PRED(g) ; ENDIF ;"), [DiagnosticCode::ConditionConflict]);
}

#[test]
fn general_form_reaches_every_field() {
    check(
        "FC CONTINUE JUMP_FUNC(0xa5) any B_ELSE A_OP(push) B_OP0(incr) B_OP1(decr) B_POP_CNT(31)
            IGNORE_UNCOVERED bool[17] int[9] JUMP_GLOBAL LAST NOP TEX_SEM_WAIT ALU_WAIT WRITE_INACTIVE
            PRED.rgb(!6) STAT_WE(ra) WMASK(ga) OMASK(rb) CLAMP(rgba) ALU_RESULT.a(ne) -> 300 ;",
        &[[
            2 | 1 << 2 | 6 << 3 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 2 << 11 | 1 << 14
                | 5 << 15 | 3 << 19 | 1 << 21 | 3 << 23 | 9 << 28,
            7 | 1 << 4 | 1 << 5 | 2 << 6 | 0xa5 << 8 | 31 << 16 | 2 << 24 | 1 << 26 | 1 << 28,
            17 | 9 << 8 | 300 << 16 | 1 << 31,
        ]],
    );
    check("FC JUMP A_OP(3) B_OP0(3) B_OP1(3) ;", &[[2, 3 << 6 | 3 << 24 | 3 << 26, 0]]);
    let assembly = assemble(
        b"FC JUMP WORD1(0xdeadbeef) WORD2(0xe0e00008) WORD3(0x7e00e0e0) WORD4(4) WORD5(5) ;",
        Options::default(),
    );
    assert!(assembly.diagnostics.is_empty());
    assert_eq!(assembly.job.program.code[0].0, [2, 0xdead_beef, 0xe0e0_0008, 0x7e00_e0e0, 4, 5]);
    assert_eq!(codes("FC JUMP WORD2(1) ;"), [DiagnosticCode::NamedBits]);
}

#[test]
fn global_jumps_count_the_offset() {
    check(
        "US_CODE_OFFSET = 100 ; : ; @here JUMP @here JUMP_GLOBAL ; JUMP @here ; JUMP 1 JUMP_GLOBAL ;",
        &[[2, 0xff00, 101 << 16 | 1 << 31], [2, 0xff00, 1 << 16], [2, 0xff00, 1 << 16 | 1 << 31]],
    );
}

#[test]
fn unusual_flow_control_prints_as_fc() {
    let far = format!("JUMP @far ; {} @far", ": ; ".repeat(511));
    assert_eq!(codes(&far), [DiagnosticCode::JumpTooFar]);
    let far = format!("IF alu ; {} ENDIF ;", ": ; ".repeat(510));
    assert_eq!(codes(&far), [DiagnosticCode::JumpTooFar, DiagnosticCode::JumpTooFar]);
    assert_eq!(codes(&": ; ".repeat(512)), []);
    assert_eq!(codes(&": ; ".repeat(513)), [DiagnosticCode::TooLong]);
    let deep = format!(
        "LOOP int[0] ; {}BREAK ; {}ENDLOOP ;",
        "IF alu ; ".repeat(32),
        "ENDIF ; ".repeat(32)
    );
    assert_eq!(codes(&deep), [DiagnosticCode::TooDeep]);
}

#[test]
fn structure_of_compiled_programs_is_found() {
    // All flow control that Mesa emits prints without the general form.
    let mut nests = 0;
    for (name, code) in common::programs() {
        let text = print_code(&code, 0);
        let mesa = common::corpus().join(format!("mesa/{name}.json")).exists();
        if mesa {
            assert!(!text.contains("FC "), "{name}\n{text}");
            assert!(!text.contains("WORD"), "{name}\n{text}");
            nests += usize::from(text.contains("IF ")) + usize::from(text.contains("LOOP "));
        }
    }
    assert!(nests > 30);
}

#[test]
fn nested_statements_print_as_statements() {
    let source = "\
LOOP int[0] ALU_WAIT ;
    IF alu ALU_WAIT ;
        BREAK ALU_WAIT ;
    ELSE ALU_WAIT ;
        IF !pred.g any ;
            CONTINUE IF bool[3] ;
        ENDIF ;
    ENDIF ALU_WAIT ;
    CALL @L11 IF alu IGNORE_UNCOVERED ;
ENDLOOP ALU_WAIT ;
JUMP @L13 ;
@L11
src0.rgb = temp[0] : temp[0].r = FRC src0.rrr ;
RETURN IF pred.r ;
@L13
REP int[2] ;
    BREAK IF table(0x28) ;
ENDREP ;
";
    let assembly = assemble(source.as_bytes(), Options::default());
    assert!(assembly.diagnostics.is_empty(), "{}", assembly.render(Default::default()));
    assert_eq!(print_code(&assembly.job.program.code, 0), source);
}
