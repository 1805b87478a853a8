//! Compares the words of every form with the output of GNU's assembler for the same text: `words.txt`, which `tools/aarch64-words` writes
//! and checks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use super::*;

/// Returns the assembler's word for each text, from lines of a word and its text.
fn assembled() -> BTreeMap<&'static str, u32> {
    let lines = include_str!("words.txt").lines().filter(|line| !line.starts_with('#'));
    let table = lines.map(|line| {
        let (word, text) = line.split_once(' ').expect("a word and a text");
        (text, u32::from_str_radix(word, 16).expect("a word in hexadecimal"))
    });
    table.collect()
}

type Three = fn(V, V, V) -> u32;
type Two = fn(V, V) -> u32;

/// Returns every form, with operands that set and clear all bits of their fields, and its text.
fn forms() -> Vec<(u32, String)> {
    let mut all = Vec::new();
    let mut is = |word: u32, text: &str| all.push((word, text.to_owned()));
    let registers = [[0, 31, 10], [31, 0, 21], [21, 10, 31]];
    let three: [(Three, &str, &str); 23] = [
        (fadd, "fadd", "4s"),
        (fsub, "fsub", "4s"),
        (fmul, "fmul", "4s"),
        (fdiv, "fdiv", "4s"),
        (fcmeq, "fcmeq", "4s"),
        (fcmge, "fcmge", "4s"),
        (fcmgt, "fcmgt", "4s"),
        (add, "add", "4s"),
        (sub, "sub", "4s"),
        (mul, "mul", "4s"),
        (umin, "umin", "4s"),
        (umaxp, "umaxp", "4s"),
        (zip1, "zip1", "4s"),
        (zip2, "zip2", "4s"),
        (zip1_2d, "zip1", "2d"),
        (zip2_2d, "zip2", "2d"),
        (and, "and", "16b"),
        (bic, "bic", "16b"),
        (orr, "orr", "16b"),
        (eor, "eor", "16b"),
        (bsl, "bsl", "16b"),
        (bit, "bit", "16b"),
        (bif, "bif", "16b"),
    ];
    for (form, name, lanes) in three {
        for [d, n, m] in registers {
            let text = format!("{name} v{d}.{lanes}, v{n}.{lanes}, v{m}.{lanes}");
            is(form(V(d), V(n), V(m)), &text);
        }
    }
    let two: [(Two, &str, &str, &str); 12] = [
        (fcmeq_zero, "fcmeq", "4s", ", #0.0"),
        (fcmge_zero, "fcmge", "4s", ", #0.0"),
        (fcmgt_zero, "fcmgt", "4s", ", #0.0"),
        (fcmle_zero, "fcmle", "4s", ", #0.0"),
        (fcmlt_zero, "fcmlt", "4s", ", #0.0"),
        (fabs, "fabs", "4s", ""),
        (fsqrt, "fsqrt", "4s", ""),
        (frintn, "frintn", "4s", ""),
        (frintm, "frintm", "4s", ""),
        (fcvtzs, "fcvtzs", "4s", ""),
        (scvtf, "scvtf", "4s", ""),
        (mvn, "mvn", "16b", ""),
    ];
    for (form, name, lanes, end) in two {
        for [d, n, _] in registers {
            is(form(V(d), V(n)), &format!("{name} v{d}.{lanes}, v{n}.{lanes}{end}"));
        }
    }
    for by in [1, 9, 23, 31] {
        is(shl(V(3), V(28), by), &format!("shl v3.4s, v28.4s, #{by}"));
        is(sshr(V(28), V(3), by), &format!("sshr v28.4s, v3.4s, #{by}"));
    }
    is(shl(V(3), V(28), 0), "shl v3.4s, v28.4s, #0");
    is(sshr(V(3), V(28), 32), "sshr v3.4s, v28.4s, #32");
    for index in 0..4 {
        is(dup(V(17), V(30), index), &format!("dup v17.4s, v30.s[{index}]"));
        is(umov(X(17), V(30), index), &format!("umov w17, v30.s[{index}]"));
        is(ld1_lane(V(17), index, X(30)), &format!("ld1 {{v17.s}}[{index}], [x30]"));
    }
    is(fmov_to_x(X(17), V(31)), "fmov x17, d31");
    for bytes in 0..4 {
        let by = 8 * bytes;
        is(movi(V(9), 0xa5, bytes), &format!("movi v9.4s, #0xa5, lsl #{by}"));
        is(mvni(V(22), 0x5a, bytes), &format!("mvni v22.4s, #0x5a, lsl #{by}"));
    }
    for (imm, number) in [(0x70, "1.0"), (0x60, "0.5"), (0x80, "-2.0"), (0xbf, "-31.0")] {
        is(fmov_imm(V(22), imm), &format!("fmov v22.4s, #{number}"));
    }
    for (bits, text) in [
        (0, "movi v5.4s, #0x0, lsl #0"),
        (u32::MAX, "mvni v5.4s, #0x0, lsl #0"),
        (0x8000_0000, "movi v5.4s, #0x80, lsl #24"),
        (0x7fff_ffff, "mvni v5.4s, #0x80, lsl #24"),
        (0x0080_0000, "movi v5.4s, #0x80, lsl #16"),
        (f32::to_bits(1.0), "fmov v5.4s, #1.0"),
        (f32::to_bits(-0.3125), "fmov v5.4s, #-0.3125"),
        (f32::to_bits(31.0), "fmov v5.4s, #31.0"),
        (f32::to_bits(0.125), "movi v5.4s, #0x3e, lsl #24"),
    ] {
        is(vector_of(V(5), bits).expect("one instruction makes it"), text);
    }
    for offset in [0, 16, 65520] {
        is(ldr_q(V(29), X(3), offset), &format!("ldr q29, [x3, #{offset}]"));
        is(str_q(V(3), SP, offset), &format!("str q3, [sp, #{offset}]"));
    }
    for offset in [0, 4, 16380] {
        is(ldr_s(V(29), X(3), offset), &format!("ldr s29, [x3, #{offset}]"));
        is(ldr_w(X(29), X(3), offset), &format!("ldr w29, [x3, #{offset}]"));
    }
    for offset in [0, 8, 32760] {
        is(ldr(X(29), X(3), offset), &format!("ldr x29, [x3, #{offset}]"));
        is(str(XZR, X(28), offset), &format!("str xzr, [x28, #{offset}]"));
    }
    for (at, (eight, sixteen)) in [(0, 0), (504, 1008), (-512, -1024)].into_iter().enumerate() {
        let [a, b, n] = registers[at];
        is(stp_q(V(a), V(b), X(19), sixteen), &format!("stp q{a}, q{b}, [x19, #{sixteen}]"));
        is(ldp_q(V(a), V(b), SP, sixteen), &format!("ldp q{a}, q{b}, [sp, #{sixteen}]"));
        is(stp_d(V(a), V(b), SP, eight), &format!("stp d{a}, d{b}, [sp, #{eight}]"));
        is(ldp_d(V(b), V(a), SP, eight), &format!("ldp d{b}, d{a}, [sp, #{eight}]"));
        let (x, y) = (a % 30, n % 30 + 1);
        is(stp(X(x), X(y), SP, eight), &format!("stp x{x}, x{y}, [sp, #{eight}]"));
        is(ldp(X(y), X(x), SP, eight), &format!("ldp x{y}, x{x}, [sp, #{eight}]"));
        is(stp_pre(X(x), X(y), SP, eight), &format!("stp x{x}, x{y}, [sp, #{eight}]!"));
        is(ldp_post(X(y), X(x), SP, eight), &format!("ldp x{y}, x{x}, [sp], #{eight}"));
    }
    is(add_imm(X(2), SP, 4095, false), "add x2, sp, #4095");
    is(add_imm(SP, X(29), 1, true), "add sp, x29, #1, lsl #12");
    is(sub_imm(SP, SP, 2048, false), "sub sp, sp, #2048");
    is(sub_imm(X(9), X(10), 4095, true), "sub x9, x10, #4095, lsl #12");
    is(subs_w_imm(X(27), X(27), 1), "subs w27, w27, #1");
    is(add_x(X(9), X(28), X(21), 0), "add x9, x28, x21");
    is(add_x(X(9), X(28), X(21), 1), "add x9, x28, x21, lsl #1");
    is(sub_x(X(28), X(9), X(25)), "sub x28, x9, x25");
    is(cmp(X(20), X(21)), "cmp x20, x21");
    is(cmp_imm(X(9), 0), "cmp x9, #0");
    for bit in [0, 4, 63] {
        is(and_bit(X(25), X(20), bit), &format!("and x25, x20, #{:#x}", 1_u64 << bit));
    }
    is(mov(X(19), X(0)), "mov x19, x0");
    is(mov(X(0), X(30)), "mov x0, x30");
    for part in 0..4 {
        let by = 16 * part;
        is(movz(X(9), 0x8001, part), &format!("movz x9, #0x8001, lsl #{by}"));
        is(movk(X(22), 0x7ffe, part), &format!("movk x22, #0x7ffe, lsl #{by}"));
    }
    for (to, bytes) in [(0, "."), (3, ".+12"), (-2, ".-8")] {
        is(b(to), &format!("b {bytes}"));
        is(bl(to), &format!("bl {bytes}"));
        is(cbz(X(17), to), &format!("cbz x17, {bytes}"));
        is(b_if(Condition::Ne, to), &format!("b.ne {bytes}"));
        is(b_if(Condition::Lo, to), &format!("b.lo {bytes}"));
        is(b_if(Condition::Ge, to), &format!("b.ge {bytes}"));
        is(b_if(Condition::Le, to), &format!("b.le {bytes}"));
    }
    is(blr(X(9)), "blr x9");
    is(RET, "ret");
    is(BRK, "brk #0");
    for (bytes, text) in [(0, "."), (12345, ".+12345"), (-4, ".-4")] {
        is(adr(X(23), bytes), &format!("adr x23, {text}"));
    }
    is(mrs_fpcr(X(9)), "mrs x9, fpcr");
    is(msr_fpcr(X(9)), "msr fpcr, x9");
    is(mrs_fpsr(X(14)), "mrs x14, fpsr");
    is(msr_fpsr(XZR), "msr fpsr, xzr");
    all
}

#[test]
fn every_form_is_what_the_assembler_makes() {
    let mut assembled = assembled();
    let forms = forms();
    let missing: Vec<_> =
        forms.iter().filter(|(_, text)| !assembled.contains_key(text.as_str())).collect();
    if !missing.is_empty() {
        let texts: Vec<_> = missing.iter().map(|(_, text)| text.as_str()).collect();
        panic!(
            "not in words.txt: add these with the word 0, then\ntools/aarch64-words --write\n\n{}",
            texts.join("\n")
        );
    }
    for (word, text) in &forms {
        let wanted = assembled[text.as_str()];
        assert_eq!(*word, wanted, "{text}: {word:08x}, not {wanted:08x}");
    }
    for (_, text) in &forms {
        assembled.remove(text.as_str());
    }
    assert!(assembled.is_empty(), "of words.txt nothing is made: {assembled:?}");
}

#[test]
fn most_numbers_take_more_than_one_instruction() {
    for number in [0.1, 3.3, 1.0 / 3.0, 33.0, 1e-30] {
        assert_eq!(vector_of(V(0), f32::to_bits(number)), None, "{number}");
    }
    for bits in [0x0001_0001, 0x3fc0_0001, 0x4080_4000] {
        assert_eq!(vector_of(V(0), bits), None, "{bits:08x}");
    }
}
