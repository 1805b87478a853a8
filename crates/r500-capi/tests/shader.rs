//! Shaders of other GPUs for C.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

mod common;

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use common::{error, take};
use r500_c::*;

const SOURCE: &str = "
    UNIFORM \"shade\" = const[0] ;
    const[0] = (0.25, 0.5, 0.75, 1) ;
    INPUT temp[0] = (u, v, 0, 1) ;
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src1.rgb = const[0], src0.a = temp[0] :
        out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src0.a src0.a ;";

fn program(source: &str) -> *mut Program {
    // SAFETY: an array and a text of the caller.
    let program = unsafe { r500_read(source.as_ptr(), source.len(), c"a.r5".as_ptr(), 0) };
    assert!(!program.is_null(), "{:?}", error());
    program
}

/// Returns the code of a shader, and frees it.
fn code(shader: *mut Shader) -> Vec<u8> {
    assert!(!shader.is_null(), "{:?}", error());
    // SAFETY: a shader of the library, freed once; arrays of this function.
    unsafe {
        let size = r500_shader_code(shader, null_mut(), 0);
        let mut bytes = vec![0; size];
        assert_eq!(r500_shader_code(shader, bytes.as_mut_ptr(), size), size);
        assert!(r500_shader_free(shader));
        bytes
    }
}

#[test]
fn programs_become_shaders_of_every_language() {
    let program = program(SOURCE);
    // SAFETY: a program of the library, freed once; texts and arrays of this function.
    unsafe {
        for (language, starts) in [
            (c"wgsl", "diagnostic("),
            (c"glsl", "#version 450"),
            (c"glsl-es-310", "#version 310 es"),
            (c"glsl-es-300", "#version 300 es"),
        ] {
            let text = code(r500_emit(program, language.as_ptr(), 0));
            assert!(text.starts_with(starts.as_bytes()), "{}", String::from_utf8_lossy(&text));
        }
        let words = code(r500_emit(program, c"spirv".as_ptr(), R500_EMIT_EXACT));
        assert_eq!(&words[..4], &0x0723_0203_u32.to_le_bytes());

        let shader = r500_emit(program, c"wgsl".as_ptr(), R500_EMIT_EXACT | R500_EMIT_PLANES);
        let interface = take(r500_shader_interface(shader));
        assert!(interface.contains("\"shade\"") && interface.contains("\"plane_inputs\""));
        let mut uniforms = [9.0; 24];
        // The constant, the size, three vectors of a plane, the numbers that the host must not know.
        assert_eq!(r500_shader_uniforms(shader, uniforms.as_mut_ptr(), 24), 24);
        assert_eq!(uniforms[..4], [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(uniforms[20..], [0.0, -0.0, 1.0, -1.0]);
        let mut few = [9.0; 4];
        assert_eq!(r500_shader_uniforms(shader, few.as_mut_ptr(), 4), 24);
        assert_eq!(few, [9.0; 4]);
        assert!(r500_shader_free(shader));
        assert!(r500_program_free(program));
    }
}

#[test]
fn wrong_arguments_are_named() {
    let program = program(SOURCE);
    // SAFETY: a program of the library, freed once; texts of this function.
    unsafe {
        for (language, flags, part) in [
            (c"hlsl".as_ptr(), 0, "no language \"hlsl\""),
            (null(), 0, "language is NULL"),
            (c"wgsl".as_ptr(), 4, "flags 0x4"),
            (c"glsl-es-300".as_ptr(), R500_EMIT_EXACT, "glsl-es-310"),
        ] {
            assert!(r500_emit(program, language, flags).is_null());
            assert!(error().1.contains(part), "{}", error().1);
        }
        let mut size = [0; 3];
        assert_eq!(r500_texels(program, 3, 0, size.as_mut_ptr(), null_mut(), 0), 0);
        assert!(error().1.contains("unit 3"), "{}", error().1);
        assert!(r500_host_test_new(c"glsl-es-300".as_ptr()).is_null());
        assert!(r500_program_free(program));
    }
}

#[test]
fn texels_are_those_of_the_texture() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/tex_mips.json");
    let bytes = std::fs::read(file).unwrap();
    // SAFETY: arrays of this function; a program of the library, freed once.
    unsafe {
        let program = r500_read(bytes.as_ptr(), bytes.len(), c"tex_mips.json".as_ptr(), 0);
        assert!(!program.is_null(), "{:?}", error());
        let mut size = [0; 3];
        let count = r500_texels(program, 0, 1, size.as_mut_ptr(), null_mut(), 0);
        assert_eq!((size, count), ([32, 32, 1], 32 * 32 * 4));
        let mut texels = vec![-1.0; count];
        assert_eq!(
            r500_texels(program, 0, 1, size.as_mut_ptr(), texels.as_mut_ptr(), count),
            count
        );
        assert!(texels.iter().all(|x| (0.0..=1.0).contains(x)) && texels.iter().any(|x| *x > 0.0));
        // 64x64 has seven levels.
        assert_eq!(r500_texels(program, 0, 7, size.as_mut_ptr(), null_mut(), 0), 0);
        assert!(r500_program_free(program));
    }
}

#[test]
fn a_picture_of_the_host_test_is_compared() {
    // SAFETY: objects of the library, freed once; texts and arrays of this function.
    unsafe {
        let test = r500_host_test_new(c"wgsl".as_ptr());
        assert!(!test.is_null(), "{:?}", error());
        let text = code(r500_host_test_shader(test));
        assert!(CStr::from_bytes_until_nul(&text).is_err());
        let mut size = [0; 2];
        let count = r500_host_test_texels(test, size.as_mut_ptr(), null_mut(), 0);
        let pixels = (size[0] * size[1]) as usize;
        assert_eq!(count, pixels * 4);
        let black = vec![0; pixels * 4];
        let failures = take(r500_host_test_compare(test, black.as_ptr(), black.len()));
        assert!(failures.lines().any(|line| line.starts_with("1 / a: ")), "{failures}");
        assert!(r500_host_test_compare(test, black.as_ptr(), 4).is_null());
        assert!(error().1.contains("pixels"));
        assert!(r500_host_test_free(test));
    }
}
