//! `r500 run`.

use r500::fast::Simd;
use r500::jit::{Jit, Settings};

use super::{corpus, r500};

/// `--dump-ir` and `--dump-asm` name the instructions that the code comes from.
#[test]
fn dumps_name_their_instructions() {
    let program = corpus("mesa/loop_mandelbrot.json");
    let row = ["--input", "t0=0.5,0.25"];
    let ir = r500(&[&["run", &program, "--dump-ir"], &row[..]].concat()).status(0);
    assert!(ir.text().lines().any(|line| line.trim_start().starts_with("loop ")));
    // Each product has a line somewhere before it that says where it comes from.
    let (mut address, mut products) = (None, 0);
    for line in ir.text().lines().map(str::trim_start) {
        if let Some(comment) = line.strip_prefix("; ") {
            address = comment.split_once(": ").and_then(|(n, _)| n.parse::<u32>().ok()).or(address);
        } else if line.contains(" * ") {
            assert!(address.is_some(), "{line}");
            products += 1;
        }
    }
    assert!(products > 3);
    let asm =
        |simd: &str| r500(&[&["run", &program, "--dump-asm", "--simd", simd], &row[..]].concat());
    if Jit::with(Simd::Avx2, Settings::default()).unavailable().is_none() {
        let asm = asm("avx2").status(0);
        assert!(asm.text().contains("operations are machine code (avx2)\n"));
        for wanted in ["vmulps ymm", "ret\n", " MAD "] {
            assert!(asm.text().contains(wanted), "no {wanted} in\n{}", asm.text());
        }
    } else {
        asm("auto").status(3).says("no machine code");
    }
}
