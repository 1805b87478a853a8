//! Memory use of a picture of 8192x8192 besides its frame. Large and slow, so ignored by default: `cargo test --release
//! -p r500 --test memory -- --ignored --nocapture`.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

use std::path::Path;

use r500::exec::{Bindings, Limits, Options, Shader, draw};
use r500::fast::Fast;
use r500::files::NamedFiles;
use r500::reader::assembly::assemble_with_files;

const SIDE: u32 = 8192;

/// Programs: one with arithmetic only, one that fetches.
const PROGRAMS: [(&str, &str); 2] = [
    (
        "a gradient",
        "OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgr src0.ggg src0.000, out[0].a = MAX src0.1 src0.1 ;",
    ),
    (
        "a texture",
        "TEXTURE tex[0] = noise(64, 64, 7) linear ;
         TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
         OUT TEX_SEM_WAIT src0.rgb = temp[1], src0.a = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb,
             out[0].a = MAX src0.a src0.a ;",
    ),
];

#[test]
#[ignore = "takes over a GiB of memory"]
fn a_large_picture_takes_little_beside_its_frame() {
    for (name, text) in PROGRAMS {
        let assembly =
            assemble_with_files(text.as_bytes(), name, &NamedFiles::below(Path::new("")));
        assert!(assembly.is_ok(), "{name}: {:?}", assembly.diagnostics);
        let job = assembly.job;
        let shader = Shader::new(&job.program).unwrap();
        let before = now("VmRSS");
        // The peak from here on is the memory of this picture.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let bindings = Bindings::new(&job, [SIDE, SIDE]).unwrap();
        let limits = Limits { memory: 8 << 30, ..Limits::default() };
        let options = Options { limits, threads: 2, ..Options::default() };
        let start = std::time::Instant::now();
        let frame = draw(&Fast::new(), &shader, &bindings, &options).unwrap();
        let most = now("VmHWM");
        frame.run_info.drawn_by("fast").unwrap();
        let pixels = u64::from(SIDE) * u64::from(SIDE);
        // Target A and coverage.
        let of_frame = pixels * (16 + 1) / 1024;
        let beyond = (most - before).checked_sub(of_frame).expect("the frame is in memory");
        eprintln!(
            "{name}: {beyond} KiB beyond the frame of {of_frame} KiB, {:.1} s",
            start.elapsed().as_secs_f64()
        );
        assert!(beyond < 100_000, "{name}: {beyond} KiB");
    }
}

/// Returns a line of the kernel's status of this process, in KiB.
fn now(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
