//! No input makes the assembler panic, and every error is reported.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Random;
use r500_asm::{Options, PrintOptions, assemble, print, print_code};

/// Assembles; without errors, the job must be restored from its text.
fn digest(source: &[u8]) {
    let assembly = assemble(source, Options::default());
    for diagnostic in &assembly.diagnostics {
        let file = &assembly.files.list[diagnostic.span.file as usize];
        assert!(diagnostic.span.start <= diagnostic.span.end);
        assert!(diagnostic.span.end as usize <= file.bytes.len());
    }
    if assembly.diagnostics.len() < 20 {
        let _ = assembly.render(Default::default());
    }
    let text = print(&assembly.job, &PrintOptions::default()).text;
    if assembly.is_ok() {
        let back = assemble(text.as_bytes(), Options::default());
        assert_eq!(back.job.program.code, assembly.job.program.code, "{text}");
    }
}

#[test]
fn random_bytes() {
    let mut random = Random::new(0x5eed_0006);
    for _ in 0..3_000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.word() as u8).collect();
        digest(&bytes);
        let ascii: Vec<u8> = bytes.iter().map(|b| b % 96 + 32).collect();
        digest(&ascii);
    }
}

/// A seed with every construct of the language.
const SEED: &str = "
NAME \"n\" ; SIZE 2 2 ; TIME 1 ; const[0] = (1, -2.5e-3, inf, 0x7fc00000) ; int[0] = (3, 1, -1) ;
bool[1] = true ; US_OUT_FMT[0] = OUT_FMT(C4_8) C0_SEL(Red) ; DEF a1 = temp[1] ; UNIFORM u1 = const[0].rg ;
INPUT temp[0] = (u, v, plane(1, 2, 3) \"x\", x) ; INPUT temp[1] = values(1) (1, 2, 3, 4) ;
TEXTURE tex[0] = checker(4, 4, 2) nearest ; LEVEL tex[1] = (1, 1) bytes \"00ff\" ;
EXPECT out[0] at (1, 1) = (1, _, 0, 1) ; EXPECT coverage = 1, 1, 1, _ ; COVERAGE all = true ; ENTRY @go ; END 9 ;
@go OUT TEX_SEM_WAIT PRED.rgb(!r) STAT_WE(ga) src0.rgb = temp[1+aL], src1.a = 0.5, srcp.rgb = sub :
    out[0].rgb = temp[2].rg = clamp 2.0 * MAD -|src0.rgb| srcp.1h_ src1.000, depth = raw MIN.a src1.a src0.0 ;
TEX TEX_SEM_ACQUIRE UNSCALED temp[1].rgba = DXDY tex[0].rgba temp[2].abgr temp[3].rgba temp[4].rgba ;
LOOP int[0] all -> @x ; IF alu & !pred.g | bool[2] IGNORE_UNCOVERED ; BREAK IF table(0x28) ; ELSE ; CONTINUE ; ENDIF ; @x ENDLOOP ;
REP int[1] ; ENDREP ; CALL @go ; RETURN ; JUMP 3 JUMP_GLOBAL ;
FC JUMP JUMP_FUNC(0x0f) any B_ELSE A_OP(push) B_OP0(incr) B_OP1(decr) B_POP_CNT(3) WORD1(0x10) -> 5 ;
RAW 1 2 3 4 5 6 ; -- end
";

#[test]
fn mutated_sources() {
    assert!(assemble(SEED.as_bytes(), Options::default()).is_ok());
    let mut random = Random::new(0x5eed_0007);
    let words: Vec<&str> = SEED.split_whitespace().collect();
    for _ in 0..4_000 {
        let mut bytes = SEED.as_bytes().to_vec();
        for _ in 0..=random.below(6) {
            let at = random.below(bytes.len() as u32) as usize;
            match random.below(5) {
                0 => bytes[at] = random.word() as u8,
                1 => {
                    let end = (at + random.below(20) as usize).min(bytes.len());
                    bytes.drain(at..end);
                }
                2 => {
                    let word = words[random.below(words.len() as u32) as usize];
                    let text = format!(" {word} ");
                    bytes.splice(at..at, text.into_bytes());
                }
                3 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b";:,.=@#\"-"[random.below(9) as usize]),
            }
            if bytes.is_empty() {
                bytes.push(b';');
            }
        }
        digest(&bytes);
    }
}

#[test]
fn words_in_any_order() {
    let mut random = Random::new(0x5eed_0008);
    let words: Vec<&str> = SEED.split_whitespace().collect();
    for _ in 0..2_000 {
        let text: Vec<&str> = (0..random.below(60))
            .map(|_| words[random.below(words.len() as u32) as usize])
            .collect();
        digest(text.join(" ").as_bytes());
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    digest(format!("IF {}alu ; ENDIF ;", "(".repeat(100_000)).as_bytes());
    digest(format!("IF {}alu ; ENDIF ;", "!".repeat(100_001)).as_bytes());
    digest("IF alu ; ".repeat(20_000).as_bytes());
    digest("LOOP int[0] ; ".repeat(20_000).as_bytes());
    let nest = format!("{}{}", "IF alu -> 0 ; ".repeat(400), "ENDIF -> 0 ; ".repeat(400));
    let assembly = assemble(nest.as_bytes(), Options::default());
    let text = print_code(&assembly.job.program.code, 0);
    let back = assemble(text.as_bytes(), Options::default());
    assert_eq!(back.job.program.code, assembly.job.program.code);
}
