//! The program of `r500 capture`, run as if it were this process: it gets this process's signals, and gives it its exit status.
//! When it has ended, what became of its captures is said.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};

use r500_stream::capture::{Reader, Record};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, kill_process, setrlimit,
    waitid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::Cause;

use super::interrupt::is_ignored;
use super::terminal;

/// Runs a program to its end. Signals that other processes send to this one are passed on; those of the terminal reach all
/// processes of the foreground, and so the program, too.
pub(super) fn wait_for(command: &mut Command) -> io::Result<ExitStatus> {
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
    // Before the program starts, so that no signal ends this process alone.
    let mut signals = SignalsInfo::<WithOrigin>::new(wanted.iter().filter(|s| !is_ignored(**s)))?;
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    // The number of a process that has ended is its own until it is waited for, under this lock.
    let running = Arc::new(Mutex::new(true));
    let watched = Arc::clone(&running);
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || {
        for origin in signals.forever() {
            let own = |sender: i32| sender == pid.as_raw_nonzero().get();
            if origin.cause == Cause::Kernel || origin.process.is_some_and(|from| own(from.pid)) {
                continue;
            }
            let running = watched.lock().unwrap_or_else(PoisonError::into_inner);
            if let (true, Some(signal)) = (*running, Signal::from_named_raw(origin.signal)) {
                // The program has ended, or has the rights of another user: in both cases nothing can be done.
                let _ = kill_process(pid, signal);
            }
        }
    })?;
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), ended))?;
    *running.lock().unwrap_or_else(PoisonError::into_inner) = false;
    child.wait()
}

/// Ends this process as another one ended: with its exit status, or by its signal.
pub(super) fn end_like(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        // A core file of this process would tell nothing of the program.
        let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
        let _ = setrlimit(Resource::Core, limit);
        // Fails for signals without a name; shells report this status for them.
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    }
    std::process::exit(status.code().unwrap_or(128));
}

/// A file with what a process submitted.
struct Capture {
    path: PathBuf,
    /// Whether its process ended by itself.
    whole: bool,
    has_submissions: bool,
}

/// Says what the captures of a program that has ended lack. Deletes captures of buffers alone if there is no other one.
pub(super) fn report(path: &Path, program: &OsStr, status: ExitStatus) {
    let captures = captures(path);
    let name = program.to_string_lossy();
    if captures.iter().any(|capture| capture.has_submissions) {
        for capture in &captures {
            let file = capture.path.display();
            if !capture.whole {
                terminal::warn(&format!(
                    "{file} is the capture of a process that crashed, was killed or is still running; `r500 replay` reads it"
                ));
            } else if !capture.has_submissions {
                terminal::note(&format!("{file} has buffers, but no submission"));
            }
        }
        return;
    }
    let mut kept = String::new();
    for Capture { path, whole, .. } in captures {
        if !whole {
            kept = format!(", only {} with its buffers", path.display());
        } else if let Err(error) = r500::files::remove(&path) {
            terminal::warn(&format!("cannot remove {}: {error}", path.display()));
        }
    }
    let ended = match status.signal() {
        Some(signal) => format!(" was ended by {} and", name_of(signal)),
        None => String::new(),
    };
    // The library's status for outputs that cannot be written, which it has said.
    let unwritten =
        if status.code() == Some(3) { ", or its capture could not be written" } else { "" };
    let why = why_not(program);
    terminal::warn(&format!(
        "{name}{ended} submitted nothing to the card{unwritten}: there is no {}{kept} ({why})",
        path.display()
    ));
}

/// Returns the captures of the processes of a program.
fn captures(path: &Path) -> Vec<Capture> {
    let mut captures = Vec::new();
    for number in 0.. {
        let whole = r500_drm::capture_path(path, number);
        let part = r500::files::unfinished_path(&whole);
        let Some(path) = [whole.clone(), part].into_iter().find(|path| path.is_file()) else {
            break;
        };
        captures.push(Capture {
            has_submissions: has_submissions(&path),
            whole: path == whole,
            path,
        });
    }
    captures
}

/// Returns whether a capture has submissions. One that cannot be read is left to those who read it.
fn has_submissions(path: &Path) -> bool {
    let file = r500::files::open(path, u64::MAX).map(io::BufReader::new);
    match file.map(Reader::new) {
        Ok(Ok(mut reader)) => reader.any(|record| {
            record.map_or(true, |record| matches!(record, Record::Submission { .. }))
        }),
        // Not even the head: the process ended before.
        Ok(Err(_)) => false,
        Err(_) => true,
    }
}

fn name_of(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Returns why a program may have submitted nothing.
fn why_not(program: &OsStr) -> &'static str {
    let file = find(program);
    match file.as_deref() {
        Some(file) if has_other_rights(file) => {
            "it runs with the rights of another user, for which the loader ignores the card's library"
        }
        Some(file) if is_linked_statically(file).unwrap_or(false) => {
            "it is linked statically: no loader puts the card's library into it"
        }
        _ => {
            "it draws nothing or with another driver, or a program that it starts does not see the card: one that is linked \
             statically or runs with the rights of another user"
        }
    }
}

/// Returns the file of a program, as `exec` finds it.
fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return Some(path.to_owned());
    }
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(path)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0)
}

fn has_other_rights(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.mode() & 0o6000 != 0)
}

/// Returns whether a program needs no loader: an ELF file of 64 bits without a program header `PT_INTERP`. `None` for other files.
fn is_linked_statically(file: &Path) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    /// Linkers put the program headers after the header, which has 64 bytes.
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    r500::files::open(file, u64::MAX).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let bytes = |at: usize, count: usize| head.get(at..at.checked_add(count)?);
    let dword = |at: usize| Some(u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?));
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?)));
    let (first, size, count) = (dword(32)? as usize, half(54)?, half(56)?);
    for number in 0..count {
        if dword(first.checked_add(number * size)?)? == INTERPRETER {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn programs_without_a_loader_are_recognised() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(is_linked_statically(&own), Some(false));
        // The header of the ELF specification, with one program header at 64: PT_LOAD, then PT_INTERP.
        let mut program = vec![0; 120];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (program[32], program[54], program[56], program[64]) = (64, 56, 1, 1);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        for (kind, wanted) in [(1, Some(true)), (3, Some(false))] {
            program[64] = kind;
            r500::files::write(&file, &program).unwrap();
            assert_eq!(is_linked_statically(&file), wanted);
        }
        // A header that names more program headers than there are, and a script.
        program[56] = 200;
        program[64] = 1;
        for bytes in [&program[..], b"#!/bin/sh\n"] {
            r500::files::write(&file, bytes).unwrap();
            assert_eq!(is_linked_statically(&file), None);
        }
    }
}
