//! The pages of machine code: none is both writable and executable, and all are unmapped in the end. A test binary of its own, so that no
//! other test maps executable pages.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used)]

mod common;

use common::capture;
use r500_exec::{Bindings, Draw, Engine, Frame, Options, Shader, draw_into};
use r500_fast::Simd;
use r500_jit::{Effort, Jit, Settings, When};

/// Returns the number of anonymous executable mappings; asserts that none is writable.
fn executable() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let anonymous = maps.lines().filter(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(!words[1].contains("wx"), "{line}");
        words[1].contains('x') && words.len() == 5
    });
    anonymous.count()
}

#[test]
fn code_is_never_writable_and_goes_with_its_engine() {
    let before = executable();
    let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
    let jit = Jit::with(Simd::detect(), settings);
    if jit.unavailable().is_some() {
        return;
    }
    let options = Options { threads: 1, ..Options::default() };
    for (n, name) in ["scene_plasma", "loop_mandelbrot", "tex_branch"].into_iter().enumerate() {
        let job = capture(name);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [32, 32]).unwrap();
        let draw = Draw::new(&shader, &bindings, &options).unwrap();
        let mut frame = Frame::new(&shader, &bindings, &options).unwrap();
        let prepared = jit.prepare(draw);
        draw_into(&*prepared, &draw, &mut frame).unwrap();
        frame.run_info.drawn_by("jit").unwrap();
        // Adjacent mappings may be merged.
        assert!(executable() > before, "{n}");
    }
    // The draws are dropped; the engine keeps compiled code.
    assert!(executable() > before);
    drop(jit);
    assert_eq!(executable(), before);
}
