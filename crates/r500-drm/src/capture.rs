//! The capture of this process, if requested.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use r500_files::{Output, OutputWriter};
use r500_stream::capture::{Info, Recorder};

use crate::lock::locked;
use crate::{Settings, log};

/// Records the program's operations from its first buffer. If the file cannot be written, reports it once and stops.
///
/// The capture gets its name when the process ends. That of a process that crashes or is killed keeps its temporary name.
#[derive(Debug)]
pub(crate) struct Capture {
    state: Mutex<State>,
    on: bool,
    failed: AtomicBool,
}

#[derive(Debug)]
enum State {
    Off,
    Waiting(PathBuf, Info),
    // Unbuffered: the recorder writes whole records, and a program may end at any time. The output is `None` when it has
    // its name; what the program does after that is still recorded.
    Open(Box<Recorder<OutputWriter>>, Option<Output>),
}

impl Capture {
    pub(crate) fn new(settings: &Settings) -> Self {
        let state = match &settings.capture {
            None => State::Off,
            Some(path) => State::Waiting(
                path.clone(),
                Info {
                    chip: settings.chip.pci_id().into(),
                    driver: concat!("r500 ", env!("CARGO_PKG_VERSION")).to_owned(),
                    program: command_line(),
                    readings: settings.readings.clone(),
                },
            ),
        };
        Self {
            on: !matches!(state, State::Off),
            state: Mutex::new(state),
            failed: AtomicBool::new(false),
        }
    }

    /// Returns whether anything is recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Records an operation.
    pub(crate) fn record(&self, what: impl FnOnce(&mut Recorder<OutputWriter>) -> io::Result<()>) {
        if !self.on {
            return;
        }
        let mut state = locked(&self.state);
        let result = match &mut *state {
            State::Off => return,
            State::Waiting(path, info) => begin(path, info).and_then(|(mut recorder, output)| {
                let result = what(&mut recorder);
                *state = State::Open(Box::new(recorder), Some(output));
                result
            }),
            State::Open(recorder, _) => what(recorder),
        };
        if let Err(error) = result {
            self.fail(&mut state, &error);
        }
    }

    /// Gives the capture its name. With `wait` false, does nothing if another thread uses the capture at this moment.
    pub(crate) fn finish(&self, wait: bool) {
        if !self.on {
            return;
        }
        let mut state = match (wait, self.state.try_lock()) {
            (_, Ok(state)) => state,
            (true, _) => locked(&self.state),
            (false, _) => return,
        };
        if let State::Open(_, output) = &mut *state
            && let Some(output) = output.take()
            && let Err(error) = output.commit()
        {
            self.fail(&mut state, &error);
        }
    }

    /// Returns whether the capture could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn fail(&self, state: &mut State, error: &io::Error) {
        log::print(&format!("there is no capture: {error}"));
        self.failed.store(true, Ordering::Relaxed);
        *state = State::Off;
    }
}

/// Creates the file, and writes its head.
fn begin(path: &Path, info: &Info) -> io::Result<(Recorder<OutputWriter>, Output)> {
    let output = create_numbered(path)?;
    Ok((Recorder::new(output.writer(), info.clone())?, output))
}

/// Creates a file of this process, or the first of `NAME.1.EXT`, `NAME.2.EXT`… that does not exist.
pub(crate) fn create_numbered(path: &Path) -> io::Result<Output> {
    let mut number = 0;
    loop {
        let path = capture_path(path, number);
        match Output::create_new(&path) {
            Ok(output) => return Ok(output),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
            }
        }
    }
}

/// Returns the name of the capture, or of the profile, of a process: that of the first process, with number 0, is the path.
pub fn capture_path(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let extension =
        path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_extension(format!("{number}{extension}"))
}

fn command_line() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_processes_get_numbered_files() {
        assert_eq!(capture_path(Path::new("a/demo.r5cs"), 0), Path::new("a/demo.r5cs"));
        assert_eq!(capture_path(Path::new("a/demo.r5cs"), 2), Path::new("a/demo.2.r5cs"));
        assert_eq!(capture_path(Path::new("demo"), 1), Path::new("demo.1"));
    }
}
