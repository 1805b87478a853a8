//! What a driver's log says of a compilation.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

mod common;

use std::ffi::CStr;

use common::take;
use r500_c::*;

const FAILED: &str = "r300: Initial fragment program
FRAG
DCL IN[0], GENERIC[9], PERSPECTIVE
DCL OUT[0], COLOR
  0: MUL OUT[0], IN[0], IN[0]
  1: END
r300compiler error: Too many constants. Max: 256, Got: 313
r300 FP: Compiler Error:
Too many constants. Max: 256, Got: 313
Using a dummy shader instead.
r300: Initial fragment program
FRAG
DCL OUT[0], COLOR
IMM[0] FLT32 {    0.0000,     1.0000,     0.0000,     0.0000}
  0: MOV OUT[0], IMM[0].xxxy
  1: END
R500 Fragment Program:
--------
0\t0:CMN_INST   0x00078005:OUT TEX_WAIT    wmask: NONE omask: ARGB
\t1:RGB_ADDR   0x08020080:Addr0: 128t, Addr1: 128t, Addr2: 128t, srcp:0
\t2:ALPHA_ADDR 0x08020080:Addr0: 128t, Addr1: 128t, Addr2: 128t, srcp:0
\t3 RGB_INST:  0x00db0490:rgb_A_src:0 0/0/0 0 rgb_B_src:0 1/1/1 0 targ: 0
\t4 ALPHA_INST:0x00c18000:MAD dest:0 alp_A_src:0 1 0 alp_B_src:0 1 0 targ 0 w:0
\t5 RGBA_INST: 0x20490000:MAD dest:0 rgb_C_src:0 0/0/0 0 alp_C_src:0 0 0
";

/// Returns outcome, reason, resource and the numbers of the limit.
fn compilation(source: &str, name: &CStr) -> (String, String, String, [u32; 2]) {
    let (mut most, mut needed) = (7, 7);
    // SAFETY: pointers to memory of this function.
    unsafe {
        let program = r500_read(source.as_ptr(), source.len(), name.as_ptr(), 0);
        assert!(!program.is_null());
        let outcome = take(r500_outcome(program));
        let reason = take(r500_failure(program));
        let resource = take(r500_limit(program, &raw mut most, &raw mut needed));
        assert!(r500_program_free(program));
        (outcome, reason, resource, [most, needed])
    }
}

#[test]
fn a_failed_compilation_has_a_reason_and_a_limit() {
    let (outcome, reason, resource, limit) = compilation(FAILED, c"fp.log");
    assert_eq!(outcome, "failed");
    assert_eq!(reason, "Too many constants. Max: 256, Got: 313");
    assert_eq!((resource.as_str(), limit), ("constants", [256, 313]));
}

#[test]
fn other_programs_have_none() {
    let begin = FAILED.find("Using a dummy").unwrap();
    // Of a compilation without a failure only the last program is left.
    let log = &FAILED[begin..].replace("Using a dummy shader instead.\n", "");
    let log = log.replace("MOV OUT[0], IMM[0].xxxy", "MUL OUT[0], IMM[0].yyyy, IMM[0].xxxy");
    let nothing = (String::new(), String::new(), [0, 0]);
    let (outcome, reason, resource, limit) = compilation(&log, c"fp.log");
    assert_eq!((outcome.as_str(), (reason, resource, limit)), ("compiled", nothing.clone()));
    let source = "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
    let (outcome, reason, resource, limit) = compilation(source, c"a.r5");
    assert_eq!((outcome.as_str(), (reason, resource, limit)), ("", nothing));
}

#[test]
fn missing_pointers_are_errors() {
    // SAFETY: NULL is an error.
    unsafe {
        assert!(r500_outcome(std::ptr::null()).is_null());
        assert!(r500_failure(std::ptr::null()).is_null());
        let mut number = 0;
        assert!(r500_limit(std::ptr::null(), &raw mut number, std::ptr::null_mut()).is_null());
    }
}
