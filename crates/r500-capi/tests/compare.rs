//! Findings, textures, limits, the optimiser and comparisons for C.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::panic)]

mod common;

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use common::{colors, error, take};
use r500_c::*;

/// Calls with a program of the assembly language.
fn with<T>(source: &str, call: impl FnOnce(*mut Program) -> T) -> T {
    // SAFETY: an array and a text of this function; freed once.
    unsafe {
        let program = r500_read(source.as_ptr(), source.len(), c"a.r5".as_ptr(), 0);
        assert!(!program.is_null(), "{:?}", error());
        let result = call(program);
        assert!(r500_program_free(program));
        result
    }
}

/// Copies colours, by way of a temporary that the optimiser removes.
const LONG: &str = "
    src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;
    OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;";
const SHORT: &str = "
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;";
/// Temporary 1 is never written.
const UNSET: &str = "
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
    INPUT temp[0] = (u, v, 0, 1) ;";

#[test]
fn findings_are_the_lines_of_the_check() {
    for source in [SHORT, LONG, UNSET] {
        with(source, |program| {
            // SAFETY: an array of this function.
            unsafe {
                let text = take(r500_check(program));
                let count = r500_findings(program, null_mut(), 0);
                assert_eq!(text.lines().count(), count);
                let mut findings = vec![Finding { severity: 9, code: 9, address: 9 }; count + 1];
                assert_eq!(r500_findings(program, findings.as_mut_ptr(), count), count);
                for (line, finding) in text.lines().zip(&findings) {
                    let severity = ["note", "warning", "error"][finding.severity as usize];
                    let head = format!("{severity}[R{}]: ", finding.code);
                    let rest = line.strip_prefix(&head).unwrap_or_else(|| panic!("{line}"));
                    // The number is there once.
                    assert!(!rest.contains(&format!("[R{}]", finding.code)), "{line}");
                }
                assert_eq!(findings[count].code, 9);
            }
        });
    }
    let codes = with(UNSET, |program| {
        let mut findings = [Finding::default(); 16];
        // SAFETY: as above.
        let count = unsafe { r500_findings(program, findings.as_mut_ptr(), 16) };
        findings[..count.min(16)].to_vec()
    });
    assert!(codes.iter().any(|finding| finding.address == 0), "{codes:?}");
    // SAFETY: NULL is an error.
    assert_eq!(unsafe { r500_findings(null(), null_mut(), 0) }, usize::MAX);
    assert_eq!(error().0, R500_ERROR_ARGUMENT);
}

#[test]
fn an_optimised_program_is_shorter_and_equal() {
    with(LONG, |long| {
        let mut evidence = null_mut();
        // SAFETY: as above.
        unsafe {
            let short = r500_optimize(long, &raw mut evidence);
            assert_eq!(take(evidence), "proved");
            let lines = |program| take(r500_disassemble(program)).matches(" ;").count();
            assert!(lines(short) < lines(long));
            let mut verdict = 99;
            assert_eq!(
                take(r500_diff(long, short, &raw mut verdict)),
                "equal for all constants, inputs and textures"
            );
            assert_eq!(verdict, R500_DIFF_PROVED);
            // The copy without evidence; nothing is left to do.
            let again = r500_optimize(short, null_mut());
            assert!(!again.is_null());
            assert!(r500_program_free(again) && r500_program_free(short));
        }
    });
    with(SHORT, |short| {
        let mut evidence = null_mut();
        // SAFETY: as above.
        unsafe {
            assert!(r500_program_free(r500_optimize(short, &raw mut evidence)));
        }
        assert_eq!(take(evidence), "unchanged");
    });
}

#[test]
fn programs_that_differ_have_a_pixel() {
    let other = SHORT.replace("out[0].a = MAX src0.a src0.a", "out[0].a = MAX src0.0 src0.0");
    with(SHORT, |a| {
        with(&other, |b| {
            let mut verdict = 99;
            // SAFETY: as above.
            let text = take(unsafe { r500_diff(a, b, &raw mut verdict) });
            assert_eq!(verdict, R500_DIFF_DIFFERENT);
            assert!(text.starts_with("pixel ") && text.contains("target A: ("), "{text}");
        });
        // SAFETY: NULL is an error.
        unsafe {
            assert!(r500_diff(a, null(), null_mut()).is_null());
            assert_eq!(error().0, R500_ERROR_ARGUMENT);
        }
    });
}

/// Fetches with the position.
const FETCH: &str = "
    INPUT temp[0] = (u, v, 0, 1) ;
    TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;";

/// Draws 2x2 pixels.
fn draw(drawing: *mut Drawing) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let surfaces = colors(&mut bytes, 2);
    // SAFETY: as above.
    unsafe { r500_draw(drawing, &raw const surfaces) }.then_some(bytes)
}

#[test]
fn textures_of_the_caller_are_drawn() {
    // Two rows of two texels, the first at v = 0.
    let texels: [u8; 16] = [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 10, 20, 30, 40];
    with(FETCH, |program| {
        // SAFETY: as above.
        unsafe {
            let drawing = r500_prepare(program, 2, 2, null());
            let spec = c"raw:texels,size=2x2,format=8_8_8_8";
            let size = texels.len();
            assert!(
                r500_set_texture(drawing, 0, spec.as_ptr(), texels.as_ptr(), size),
                "{:?}",
                error()
            );
            assert_eq!(draw(drawing), Some(texels));
            let wrong: [(usize, &CStr, usize, u32); 5] = [
                (16, spec, 16, R500_ERROR_ARGUMENT),
                (0, spec, 15, R500_ERROR_INPUT),
                (0, spec, 0, R500_ERROR_INPUT),
                (0, c"picture.png", 16, R500_ERROR_INPUT),
                (0, c"checker,wrap=round", 0, R500_ERROR_ARGUMENT),
            ];
            for (unit, spec, size, code) in wrong {
                assert!(!r500_set_texture(drawing, unit, spec.as_ptr(), texels.as_ptr(), size));
                assert_eq!(error().0, code, "{:?}", error());
            }
            assert!(!r500_set_texture(drawing, 0, null(), null(), 0));
            // The texture stays until it is removed.
            assert_eq!(draw(drawing), Some(texels));
            assert!(r500_clear_texture(drawing, 0) && !r500_clear_texture(drawing, 16));
            assert_ne!(draw(drawing), Some(texels));
            assert!(r500_set_texture(drawing, 0, c"checker".as_ptr(), null(), 0), "{:?}", error());
            assert_ne!(draw(drawing), None);
            assert!(r500_drawing_free(drawing));
        }
    });
}

#[test]
fn limits_end_a_picture() {
    with(LONG, |program| {
        // SAFETY: as above.
        unsafe {
            let drawing = r500_prepare(program, 2, 2, c"reference".as_ptr());
            assert!(draw(drawing).is_some());
            assert!(r500_set_limits(drawing, 1, 0, 0.0));
            assert_eq!(draw(drawing), None);
            assert_eq!(error().0, R500_ERROR_LIMIT, "{:?}", error());
            // 0 keeps it.
            assert!(r500_set_limits(drawing, 0, 0, -1.0));
            assert_eq!(draw(drawing), None);
            assert!(r500_set_limits(drawing, 1000, 0, 0.0));
            assert!(draw(drawing).is_some());
            for seconds in [f64::NAN, f64::INFINITY] {
                assert!(!r500_set_limits(drawing, 0, 0, seconds));
                assert_eq!(error().0, R500_ERROR_ARGUMENT);
            }
            assert!(r500_drawing_free(drawing));
        }
    });
}
