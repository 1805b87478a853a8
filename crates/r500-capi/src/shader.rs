//! Programs as shaders of the GPU at hand: WGSL, GLSL and SPIR-V, with what to bind, and the test of hosts for exact ones.

use std::ffi::c_char;

use r500::emit::{self, Arithmetic, Inputs, Language, Options, SelfTest, Shader as Emitted};

use crate::error::{Error, guarded, or_else};
use crate::handle::{self, Handle, object, shared};
use crate::program::{Program, job};
use crate::{pointers, text as texts};

/// A flag of r500_emit: the bits of the reference engine, on hosts that pass the self-test. Without it a shader uses the host's functions and samplers.
pub const R500_EMIT_EXACT: u32 = 1;
/// A flag of r500_emit: inputs are computed from planes in the uniform buffer. Without it they are varyings.
pub const R500_EMIT_PLANES: u32 = 2;

/// A shader, with its bindings. The caller of r500_emit owns it. No function changes it, so any number of threads may use it at the same time;
/// none may when it is freed.
pub struct Shader(Handle<Emitted>);

object!(Shader: Emitted, "shader");

/// The self-test of hosts for exact shaders. The caller of r500_host_test_new owns it. Threads may use it as they may a shader.
pub struct HostTest(Handle<SelfTest>);

object!(HostTest: SelfTest, "self-test");

/// Returns the language with a name.
///
/// # Safety
/// The contract of `pointers`.
unsafe fn language(name: *const c_char) -> Result<Language, Error> {
    // SAFETY: the contract of this function.
    let name = unsafe { pointers::text(name, "language")? };
    let name = name.ok_or_else(|| Error::argument("language is NULL"))?;
    name.parse().map_err(Error::argument)
}

/// Copies values to memory of the caller if they fit, and returns their number.
///
/// # Safety
/// The contract of `pointers`.
unsafe fn copy<T: Copy>(values: &[T], to: *mut T, room: usize, what: &str) -> Result<usize, Error> {
    // SAFETY: the contract of this function.
    let to = unsafe { pointers::slice_mut(to, room, what)? };
    if let Some(to) = to.get_mut(..values.len()) {
        to.copy_from_slice(values);
    }
    Ok(values.len())
}

/// Writes a program as a shader: "wgsl", "glsl" (4.50), "glsl-es-310", "glsl-es-300" or "spirv" (1.0, for Vulkan). `flags` are R500_EMIT_EXACT and
/// R500_EMIT_PLANES, or 0. Integer and boolean constants are those of the program, float constants are in a uniform buffer. Free it with
/// r500_shader_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_emit(
    program: *const Program,
    language_name: *const c_char,
    flags: u32,
) -> *mut Shader {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (job, language) = unsafe { (job(program)?, language(language_name)?) };
        if flags & !(R500_EMIT_EXACT | R500_EMIT_PLANES) != 0 {
            return Err(Error::argument(format!("flags {flags:#x} has bits without a meaning")));
        }
        let mut options = Options::new(language);
        if flags & R500_EMIT_EXACT != 0 {
            options.arithmetic = Arithmetic::Exact;
        }
        if flags & R500_EMIT_PLANES != 0 {
            options.inputs = Inputs::Planes;
        }
        let shader = emit::emit(job, &options).map_err(Error::input)?;
        Ok(handle::give(Shader(Handle::new(shader))))
    })
}

/// Frees a shader; does nothing for NULL. Builds with debug assertions return false where it was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_shader_free(shader: *mut Shader) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { handle::free(shader) })
}

/// Copies the code of a shader, text without a terminating zero or the little-endian words of SPIR-V, to `size` bytes, if it fits. Returns its size
/// in bytes, 0 if there is an error; with NULL and 0 it only returns that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_shader_code(
    shader: *const Shader,
    bytes: *mut u8,
    size: usize,
) -> usize {
    or_else(
        || 0,
        || {
            // SAFETY: the contract of `pointers`.
            unsafe { copy(&shared(shader)?.code.bytes(), bytes, size, "bytes") }
        },
    )
}

/// Returns what to bind to a shader, as a JSON object: the layout of the uniform buffer, varyings, textures, targets; and the instructions that make
/// small differences of hosts large. NULL if there is an error. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_shader_interface(shader: *const Shader) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let shader = unsafe { shared(shader)? };
        texts::give(&shader.interface.json())
    })
}

/// Copies the uniform buffer for the constants and inputs of the program, and for a picture of one pixel, to `count` floats, if it fits. Returns the
/// number of its floats; 0 also if there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_shader_uniforms(
    shader: *const Shader,
    values: *mut f32,
    count: usize,
) -> usize {
    or_else(
        || 0,
        || {
            // SAFETY: the contract of `pointers`.
            unsafe { copy(shared(shader)?.uniforms.as_flattened(), values, count, "values") }
        },
    )
}

/// Copies a level of the texture of a unit as an exact shader must load it, four floats a texel, to `count` floats, if it fits: row by row, layer by layer
/// (the faces +X, -X, +Y, -Y, +Z, -Z of a cube). Stores width, height and layers in `size`, three numbers. Returns the number of floats; 0 if there is an
/// error, or the texture has no such level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_texels(
    program: *const Program,
    unit: u8,
    level: usize,
    size: *mut u32,
    values: *mut f32,
    count: usize,
) -> usize {
    or_else(
        || 0,
        || {
            // SAFETY: the contract of `pointers`.
            let (job, size) = unsafe { (job(program)?, pointers::slice_mut(size, 3, "size")?) };
            let levels = emit::texels(job, unit)
                .map_err(|error| Error::input(format!("unit {unit}: {error}")))?;
            let Some(level) = levels.get(level) else { return Ok(0) };
            size.copy_from_slice(&level.size);
            // SAFETY: as above.
            unsafe { copy(level.texels.as_flattened(), values, count, "values") }
        },
    )
}

/// Returns the self-test of hosts for exact shaders in a language. Draw its shader over a picture of its size, with 8 bits a channel (RGBA, not sRGB),
/// and pass the bytes to r500_host_test_compare. Free it with r500_host_test_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_host_test_new(language_name: *const c_char) -> *mut HostTest {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let language = unsafe { language(language_name)? };
        let test = emit::self_test(language).map_err(Error::input)?;
        Ok(handle::give(HostTest(Handle::new(test))))
    })
}

/// Frees a self-test; does nothing for NULL. Builds with debug assertions return false where it was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_host_test_free(test: *mut HostTest) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { handle::free(test) })
}

/// Returns the shader of a self-test; the self-test may be freed before it. Free it with r500_shader_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_host_test_shader(test: *const HostTest) -> *mut Shader {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let shader = unsafe { shared(test)? }.shader.clone();
        Ok(handle::give(Shader(Handle::new(shader))))
    })
}

/// Stores width and height of the picture of a self-test, which are also those of its texture, in `size`, two numbers. Copies the texels, four floats
/// each, to `count` floats, if they fit, and returns the number of floats; 0 if there is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_host_test_texels(
    test: *const HostTest,
    size: *mut u32,
    values: *mut f32,
    count: usize,
) -> usize {
    or_else(
        || 0,
        || {
            // SAFETY: the contract of `pointers`.
            unsafe {
                let (test, size) = (shared(test)?, pointers::slice_mut(size, 2, "size")?);
                size.copy_from_slice(&test.size);
                copy(test.texels.texels.as_flattened(), values, count, "values")
            }
        },
    )
}

/// Compares the picture that a host drew, `size` bytes, row 0 first, with what exact shaders need. Returns the operations that differ, one a line:
/// empty if exact shaders are exact there. NULL if there is an error. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_host_test_compare(
    test: *const HostTest,
    rgba: *const u8,
    size: usize,
) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (test, bytes) = unsafe { (shared(test)?, pointers::slice(rgba, size, "rgba")?) };
        let (pixels, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(Error::argument(format!("rgba: {size} bytes are not pixels of 4 bytes")));
        }
        let failures = test.compare(pixels).map_err(Error::argument)?;
        let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
        texts::give(&lines.join("\n"))
    })
}
