//! The trace: a file of events in Chrome's JSON format, which Perfetto shows.
//!
//! A complete file is a JSON array with an event a line. The file of a process that was killed has no closing bracket, which the format
//! allows.

use std::fmt::Debug;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use r500_files::{Output, OutputWriter};
use serde::{Serialize, Serializer};

use super::pace::Numbers;
use crate::capture::create_numbered;
use crate::lock::locked;
use crate::log;
use crate::machine::DrawTime;

/// Begin and end of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) begin: Instant,
    pub(crate) end: Instant,
}

/// A trace that begins with the first event.
#[derive(Debug)]
pub(crate) struct Trace {
    begin: Instant,
    state: Mutex<State>,
    failed: AtomicBool,
}

#[derive(Debug)]
enum State {
    Waiting(PathBuf),
    Open(BufWriter<OutputWriter>, Output),
    /// Complete, or failed.
    Closed,
}

/// An event of the format; times are in microseconds.
#[derive(Debug, Serialize)]
struct Event<'a, N: Debug + Serialize> {
    name: N,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// The scope of an instant: the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    pid: u32,
    tid: i32,
    #[serde(skip_serializing_if = "Args::is_empty")]
    args: Args<'a>,
}

/// Values of an event.
#[derive(Debug, Clone, Copy)]
enum Args<'a> {
    Counts(&'a [(&'static str, u64)]),
    Milliseconds(&'a [(&'static str, Duration)]),
    Name(&'a str),
}

impl Args<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Counts([]) | Self::Milliseconds([]))
    }
}

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Counts(counts) => serializer.collect_map(counts.iter().copied()),
            Self::Milliseconds(times) => {
                let ms = |&(name, time): &(_, Duration)| (name, time.as_secs_f64() * 1e3);
                serializer.collect_map(times.iter().map(ms))
            }
            Self::Name(name) => serializer.collect_map([("name", name)]),
        }
    }
}

impl Trace {
    pub(crate) fn new(path: PathBuf) -> Self {
        let state = Mutex::new(State::Waiting(path));
        Self { begin: Instant::now(), state, failed: AtomicBool::new(false) }
    }

    /// Adds a submission, its draws, and the blocks of each draw. A block runs many times in a draw; here it is one span as long as all of
    /// them, in pipeline order.
    pub(super) fn submission(&self, number: u64, dwords: usize, span: Span, draws: &[DrawTime]) {
        self.write(|file| {
            let counts = [("dwords", dwords as u64), ("draws", draws.len() as u64)];
            self.span(file, format_args!("submission {number}"), span, Args::Counts(&counts))?;
            for draw in draws {
                let span = Span { begin: draw.begin, end: draw.end };
                let name = format_args!("draw {}", draw.number);
                self.span(file, name, span, Args::Counts(&draw.counts))?;
                let mut begin = draw.begin;
                for &(name, time) in draw.blocks.iter().filter(|(_, time)| !time.is_zero()) {
                    let span = Span { begin, end: begin + time };
                    self.span(file, format_args!("{name}"), span, Args::Counts(&[]))?;
                    begin = span.end;
                }
            }
            Ok(())
        });
    }

    /// Adds a request of the program.
    pub(super) fn request(&self, name: &'static str, span: Span) {
        self.write(|file| self.span(file, format_args!("{name}"), span, Args::Counts(&[])));
    }

    /// Adds a frame and its numbers.
    pub(super) fn frame(&self, number: u32, at: Instant, numbers: &Numbers) {
        let draws = [("draws", numbers.draws), ("submissions", numbers.submissions)];
        self.write(|file| {
            let name = format_args!("frame {number}");
            self.event(file, name, "i", (Some(at), Some("p")), Args::Counts(&[]))?;
            let when = (Some(at), None);
            self.event(file, format_args!("of a frame"), "C", when, Args::Counts(&draws))?;
            let blocks = Args::Milliseconds(&numbers.blocks);
            self.event(file, format_args!("ms of a frame"), "C", when, blocks)
        });
    }

    /// Writes the end of the file, and gives it its name. With `wait` false, does nothing if another thread writes at this moment.
    pub(super) fn finish(&self, wait: bool) {
        let mut state = match (wait, self.state.try_lock()) {
            (_, Ok(state)) => state,
            (true, _) => locked(&self.state),
            (false, _) => return,
        };
        if let State::Open(mut file, output) = std::mem::replace(&mut *state, State::Closed) {
            let end = file.write_all(b"\n]\n").and_then(|()| file.flush());
            drop(file);
            if let Err(error) = end.and_then(|()| output.commit()) {
                self.fail(&error);
            }
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn write(&self, what: impl FnOnce(&mut BufWriter<OutputWriter>) -> io::Result<()>) {
        let mut state = locked(&self.state);
        let result = match &mut *state {
            State::Closed => return,
            State::Open(file, _) => what(file),
            State::Waiting(path) => create_numbered(path).and_then(|output| {
                let mut file = BufWriter::new(output.writer());
                let result = self.head(&mut file).and_then(|()| what(&mut file));
                *state = State::Open(file, output);
                result
            }),
        };
        if let Err(error) = result {
            *state = State::Closed;
            self.fail(&error);
        }
    }

    fn fail(&self, error: &io::Error) {
        log::print(&format!("there is no profile: {error}"));
        self.failed.store(true, Ordering::Relaxed);
    }

    fn head(&self, file: &mut impl Write) -> io::Result<()> {
        let program = std::env::args_os().next().unwrap_or_default();
        file.write_all(b"[\n")?;
        let name = Event {
            name: "process_name",
            ph: "M",
            ts: None,
            dur: None,
            s: None,
            pid: std::process::id(),
            tid: thread(),
            args: Args::Name(&program.to_string_lossy()),
        };
        Ok(serde_json::to_writer(file, &name)?)
    }

    fn span(
        &self,
        file: &mut impl Write,
        name: std::fmt::Arguments<'_>,
        span: Span,
        args: Args<'_>,
    ) -> io::Result<()> {
        let dur = Some(microseconds(span.end.duration_since(span.begin)));
        let ts = Some(self.time(span.begin));
        let (pid, tid) = (std::process::id(), thread());
        put(file, &Event { name, ph: "X", ts, dur, s: None, pid, tid, args })
    }

    fn event(
        &self,
        file: &mut impl Write,
        name: std::fmt::Arguments<'_>,
        ph: &'static str,
        (at, s): (Option<Instant>, Option<&'static str>),
        args: Args<'_>,
    ) -> io::Result<()> {
        let (ts, pid, tid) = (at.map(|at| self.time(at)), std::process::id(), thread());
        put(file, &Event { name, ph, ts, dur: None, s, pid, tid, args })
    }

    /// Returns the time since the begin of the trace.
    fn time(&self, at: Instant) -> f64 {
        microseconds(at.saturating_duration_since(self.begin))
    }
}

fn put(file: &mut impl Write, event: &impl Serialize) -> io::Result<()> {
    file.write_all(b",\n")?;
    Ok(serde_json::to_writer(file, event)?)
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

fn thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}
