//! Programs: reading any format, checks, text.

use std::ffi::c_char;

use r500::asm::PrintOptions;
use r500::check::check_job;
use r500::exec::{Bindings, Options, Shader};
use r500::formats::Limits;
use r500::program::Job;
use r500::reader::{self, Language};
use r500::writer;

use crate::error::{guarded, or_else, text};
use crate::pointers;

/// A program with all that its file says about it: constants, inputs, textures, size.
pub struct Program {
    pub(crate) job: Job,
}

/// Returns the library's version.
#[unsafe(no_mangle)]
pub extern "C" fn r500_version() -> *const c_char {
    const VERSION: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
        concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes(),
    ) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

/// Reads a program in any of the formats that the r500 command reads: assembly, JSON captures, driver logs, raw dwords, C
/// arrays, hex text; gzipped or not. `name` is the file's name, which helps where content is ambiguous, or NULL; no file is
/// opened. `index` selects one of several programs. Free it with r500_program_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_read(
    bytes: *const u8,
    size: usize,
    name: *const c_char,
    index: usize,
) -> *mut Program {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (bytes, name) =
            unsafe { (pointers::slice(bytes, size, "bytes")?, pointers::text(name, "name")?) };
        let jobs = reader::read(bytes, name, None, &Limits::default()).map_err(text)?;
        let count = jobs.len();
        let job = jobs.into_iter().nth(index);
        let job = job.ok_or_else(|| format!("there is no program {index}: there are {count}"))?;
        Ok(pointers::give(Program { job }))
    })
}

/// Frees a program. Nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_program_free(program: *mut Program) {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        unsafe { pointers::free(program) };
        Ok(())
    });
}

/// Stores the width and height that the program's file gives. False, without an error, if it gives none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_program_size(
    program: *const Program,
    width: *mut u32,
    height: *mut u32,
) -> bool {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        let (program, to) = unsafe {
            let to = [pointers::exclusive(width, "width")?, pointers::exclusive(height, "height")?];
            (pointers::reference(program, "program")?, to)
        };
        let Some(size) = program.job.size else { return Ok(false) };
        to.into_iter().zip(size).for_each(|(to, size)| *to = size);
        Ok(true)
    })
}

/// Checks a program. Returns a line for each finding, `error[R5001]: …`; an empty text if there are none. Free it with
/// r500_text_free. See docs/src/checking.md for the codes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_check(program: *const Program) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let program = unsafe { pointers::reference(program, "program")? };
        let lines = check_job(&program.job).lints.into_iter().map(|lint| {
            let info = lint.code.info();
            format!("{}[{}]: {lint}\n", info.severity.name(), info.number)
        });
        Ok(pointers::give_text(lines.collect()))
    })
}

/// Returns a program in the assembly language. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_disassemble(program: *const Program) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let program = unsafe { pointers::reference(program, "program")? };
        let options = PrintOptions::default();
        let written = writer::write(&program.job, Language::Assembly, &options).map_err(text)?;
        Ok(pointers::give_text(String::from_utf8_lossy(&written.bytes).into_owned()))
    })
}

/// Returns what each instruction did to pixel x, y of a picture: a line with its address and text, then one for each write,
/// indented. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_trace(
    program: *const Program,
    width: u32,
    height: u32,
    x: u32,
    y: u32,
) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let program = unsafe { pointers::reference(program, "program")? };
        let shader = Shader::new(&program.job.program).map_err(text)?;
        let bindings = Bindings::new(&program.job, [width, height]).map_err(text)?;
        let steps = r500::trace::trace(&shader, &bindings, &Options::default(), [x, y]);
        let mut lines = String::new();
        for step in steps.map_err(text)? {
            lines.push_str(&format!("{} {}\n", step.address, step.text.trim_end()));
            for write in step.writes {
                let channels: String = "rgba"
                    .chars()
                    .enumerate()
                    .filter(|(n, _)| write.mask >> n & 1 != 0)
                    .map(|(_, c)| c)
                    .collect();
                let dot = if channels.is_empty() { "" } else { "." };
                lines.push_str(&format!(
                    "  {}{dot}{channels} = {:?}\n",
                    write.register, write.value
                ));
            }
        }
        Ok(pointers::give_text(lines))
    })
}

/// Frees a text that a function of this library returned. Nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_text_free(text: *mut c_char) {
    guarded(|| {
        // SAFETY: the contract of `pointers`.
        unsafe { pointers::free_text(text) };
        Ok(())
    });
}
