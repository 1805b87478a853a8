//! Programs: reading any format, checks, text.

use std::ffi::c_char;

use r500::asm::PrintOptions;
use r500::builtin_uniforms;
use r500::check::{Assumptions, Location, Severity, check};
use r500::exec::{Options, Shader};
use r500::formats::Limits;
use r500::lint;
use r500::program::{Failure, Job, Outcome};
use r500::reader::{self, Language};
use r500::writer;

use crate::error::{Error, guarded, or_else};
use crate::handle::{self, Handle, object, shared};
use crate::{pointers, text as texts};

/// A program with all that its file says about it: constants, inputs, textures, size. The caller of r500_read owns it. No function changes it,
/// so any number of threads may use it at the same time; none may when it is freed. Drawings of it do not need it any more.
pub struct Program(Handle<ProgramState>);

/// A job, and what its format says about its inputs.
pub struct ProgramState {
    job: Job,
    assumptions: Assumptions,
}

object!(Program: ProgramState, "program");

/// Passes ownership of a program to C.
pub(crate) fn give(job: Job, assumptions: Assumptions) -> *mut Program {
    handle::give(Program(Handle::new(ProgramState { job, assumptions })))
}

/// Returns the job of a program.
///
/// # Safety
/// As for `shared`.
pub(crate) unsafe fn job<'a>(program: *const Program) -> Result<&'a Job, Error> {
    // SAFETY: the contract of this function.
    Ok(unsafe { &shared(program)?.job })
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
        let jobs = reader::jobs(bytes, name, None, &Limits::default()).map_err(Error::input)?;
        let source = jobs.assembly().map(lint::assumptions);
        let jobs = jobs.collect::<Result<Vec<_>, _>>().map_err(Error::input)?;
        let count = jobs.len();
        let job = jobs.into_iter().nth(index);
        let job = job.ok_or_else(|| {
            Error::argument(format!("there is no program {index}: there are {count}"))
        })?;
        let assumptions = source.unwrap_or_else(|| Assumptions::of_job(&job));
        Ok(give(job, assumptions))
    })
}

/// Frees a program; does nothing for NULL. Builds with debug assertions return false where it was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_program_free(program: *mut Program) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { handle::free(program) })
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
            (job(program)?, to)
        };
        let Some(size) = program.size else { return Ok(false) };
        to.into_iter().zip(size).for_each(|(to, size)| *to = size);
        Ok(true)
    })
}

/// Returns how the driver's compilation of a program ended: "compiled"; "failed", and the program is the driver's dummy or has no
/// instructions; "dummy", which the driver took for a shader without instructions. Empty if the program is not from a driver's log. NULL if
/// there is an error. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_outcome(program: *const Program) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let job = unsafe { job(program)? };
        let compilation = job.compilation.as_deref();
        texts::give(compilation.map_or("", |compilation| compilation.outcome.name()))
    })
}

/// Returns why the driver could not compile a program, in its words; empty if it could, or if the program is not from a driver's log.
/// NULL if there is an error. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_failure(program: *const Program) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let failure = failure(unsafe { job(program)? });
        texts::give(failure.map_or("", |failure| &failure.reason))
    })
}

/// Returns what ran out in the compilation of a program that failed: "temporaries", "constants", "instructions", "flow-control",
/// "operations"; empty if nothing did. Stores the limit in `most` and what the shader needs in `needed`, 0 where the driver does not print
/// the number; `needed` - `most` is the excess. NULL if there is an error. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_limit(
    program: *const Program,
    most: *mut u32,
    needed: *mut u32,
) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (job, most, needed) = unsafe {
            let most = pointers::exclusive(most, "most")?;
            (job(program)?, most, pointers::exclusive(needed, "needed")?)
        };
        let limit = failure(job).and_then(|failure| failure.limit);
        // No limit is 0, and no shader that fails needs 0.
        *most = limit.and_then(|limit| limit.most).unwrap_or_default();
        *needed = limit.and_then(|limit| limit.needed).unwrap_or_default();
        texts::give(limit.map_or("", |limit| limit.resource.name()))
    })
}

/// Returns why the driver could not compile a program, if it could not.
fn failure(job: &Job) -> Option<&Failure> {
    match &job.compilation.as_deref()?.outcome {
        Outcome::Failed(failure) => Some(failure),
        Outcome::Compiled | Outcome::Dummy => None,
    }
}

/// Checks a program. Returns a line for each finding, `error[R5001]: …`; an empty text if there are none. Free it with
/// r500_text_free. See docs/src/checking.md for the codes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_check(program: *const Program) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let ProgramState { job, assumptions } = unsafe { shared(program)? };
        let lines =
            check(&job.program, assumptions).lints.into_iter().map(|lint| format!("{lint}\n"));
        texts::give(&lines.collect::<String>())
    })
}

/// A finding of r500_findings: information.
pub const R500_SEVERITY_NOTE: u32 = 0;
/// A finding of r500_findings: the program runs, but perhaps not as intended, or differently on a card.
pub const R500_SEVERITY_WARNING: u32 = 1;
/// A finding of r500_findings: the program cannot run as written.
pub const R500_SEVERITY_ERROR: u32 = 2;

/// A finding about a program.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// R500_SEVERITY_NOTE, R500_SEVERITY_WARNING or R500_SEVERITY_ERROR.
    pub severity: u32,
    /// Its number: 5001 for R5001.
    pub code: u32,
    /// The address of the instruction that it is about; UINT32_MAX if it is about none.
    pub address: u32,
}

/// Checks a program. Stores the first `count` findings, in the order of the lines of r500_check, and returns how many there are; SIZE_MAX if
/// there is an error. To ask for the number alone, pass NULL and 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_findings(
    program: *const Program,
    findings: *mut Finding,
    count: usize,
) -> usize {
    or_else(
        || usize::MAX,
        || {
            // SAFETY: the contract of `pointers`.
            let (ProgramState { job, assumptions }, to) =
                unsafe { (shared(program)?, pointers::slice_mut(findings, count, "findings")?) };
            let lints = check(&job.program, assumptions).lints;
            for (to, lint) in to.iter_mut().zip(&lints) {
                let number = lint.code.info().number.trim_start_matches('R');
                *to = Finding {
                    severity: match lint.severity() {
                        Severity::Note => R500_SEVERITY_NOTE,
                        Severity::Warning => R500_SEVERITY_WARNING,
                        Severity::Error => R500_SEVERITY_ERROR,
                    },
                    code: number.parse().map_err(Error::input)?,
                    address: match lint.location {
                        Location::Instruction { address, .. } => address,
                        _ => u32::MAX,
                    },
                };
            }
            Ok(lints.len())
        },
    )
}

/// Returns a program in the assembly language. Free it with r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_disassemble(program: *const Program) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let job = unsafe { job(program)? };
        let options = PrintOptions::default();
        let written = writer::write(job, Language::Assembly, &options).map_err(Error::input)?;
        texts::give(&String::from_utf8_lossy(&written.bytes))
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
        let job = unsafe { job(program)? };
        let shader = Shader::new(&job.program).map_err(Error::input)?;
        let bindings = builtin_uniforms::bind(job, [width, height]).map_err(Error::input)?;
        let steps = r500::trace::trace(&shader, &bindings, &Options::default(), [x, y]);
        let mut lines = String::new();
        for step in steps? {
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
        texts::give(&lines)
    })
}

/// Frees a text that a function of this library returned; does nothing for NULL. Builds with debug assertions return false where it
/// was one of the last texts to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_text_free(text: *mut c_char) -> bool {
    // SAFETY: the contract of `pointers`.
    guarded(|| unsafe { texts::free(text) })
}
