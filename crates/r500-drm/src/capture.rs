//! The capture of this process, if requested.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use r500_stream::capture::{Info, Recorder};

use crate::worker::locked;
use crate::{Settings, log};

/// Records the program's operations from its first buffer. If the file cannot be written, reports it once and stops.
#[derive(Debug)]
pub(crate) struct Capture {
    state: Mutex<State>,
    on: bool,
}

#[derive(Debug)]
enum State {
    Off,
    Waiting(PathBuf, Info),
    // Unbuffered: the recorder writes whole records, and a program may end at any time.
    Open(Box<Recorder<fs::File>>),
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
        Self { on: !matches!(state, State::Off), state: Mutex::new(state) }
    }

    /// Returns whether anything is recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Records an operation.
    pub(crate) fn record(&self, what: impl FnOnce(&mut Recorder<fs::File>) -> io::Result<()>) {
        if !self.on {
            return;
        }
        let mut state = locked(&self.state);
        let result = match &mut *state {
            State::Off => return,
            State::Waiting(path, info) => begin(path, info).and_then(|mut recorder| {
                let result = what(&mut recorder);
                *state = State::Open(Box::new(recorder));
                result
            }),
            State::Open(recorder) => what(recorder),
        };
        if let Err(error) = result {
            log::print(&format!("the capture ends here: {error}"));
            *state = State::Off;
        }
    }
}

/// Creates the file, or the first of `NAME.1.EXT`, `NAME.2.EXT`… that does not exist.
fn begin(path: &Path, info: &Info) -> io::Result<Recorder<fs::File>> {
    let mut number = 0;
    loop {
        let path = numbered(path, number);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Recorder::new(file, info.clone()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
            }
        }
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
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
        assert_eq!(numbered(Path::new("a/demo.r5cs"), 0), Path::new("a/demo.r5cs"));
        assert_eq!(numbered(Path::new("a/demo.r5cs"), 2), Path::new("a/demo.2.r5cs"));
        assert_eq!(numbered(Path::new("demo"), 1), Path::new("demo.1"));
    }
}
