//! The virtual card, and captures that are executed on it.

use std::io::{BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use r500::fast::Simd;
use r500::{files, jit};
use r500_card::{Host, Limits, Playback, Played};
use r500_stream::{ChunkKind, Submission, Tiling};

use crate::error::{error, of_file, of_host, of_playback};
use crate::vectors::bytes_of;

/// A card belongs to one thread at a time.
#[pyclass(frozen)]
pub(crate) struct Card(Mutex<Host>);

/// Columns, rows and bytes of a picture.
type Pixels<'py> = (u32, u32, Bound<'py, PyBytes>);

impl Card {
    /// Returns the card for exclusive use.
    fn host(&self) -> PyResult<MutexGuard<'_, Host>> {
        match self.0.try_lock() {
            Ok(host) => Ok(host),
            Err(TryLockError::WouldBlock) => Err(error("another thread uses the card")),
            Err(TryLockError::Poisoned(_)) => Err(error("a call on the card has panicked")),
        }
    }
}

fn submission(
    host: &Host,
    words: &[u32],
    relocations: &[(u32, u32, u32, u32)],
    flags: u32,
) -> PyResult<Submission> {
    let entry = |&(name, read, write, flags): &(u32, u32, u32, u32)| [name, read, write, flags];
    let relocations: Vec<u32> = relocations.iter().flat_map(entry).collect();
    let flags = [flags];
    let chunks = [
        (ChunkKind::Relocations, relocations.as_slice()),
        (ChunkKind::IndirectBuffer, words),
        (ChunkKind::Flags, flags.as_slice()),
    ];
    host.submission(chunks).map_err(of_host)
}

#[pymethods]
impl Card {
    #[new]
    fn new(engine: Option<&str>, chip: Option<&str>, checked: bool) -> PyResult<Self> {
        let name = engine.map_or(Ok(r500_card::Card::USUAL_ENGINE), str::parse).map_err(error)?;
        let chip = chip.map_or(Ok(r500_stream::Chip::default()), str::parse).map_err(error)?;
        let settings = jit::Settings::default();
        let simd = Simd::detect();
        let mut card = r500_card::Card::with_engine(jit::engine(name, simd, settings));
        card.set_vertex_engine(jit::vertex_engine(name, simd, settings));
        let mut host = Host::new(card, chip);
        host.is_checked = checked;
        Ok(Self(Mutex::new(host)))
    }

    fn set_reading(&self, name: &str, value: &str) -> PyResult<()> {
        self.host()?.set_reading(name, value).map_err(of_host)
    }

    /// Sets the seconds that a submission may take; None for any time.
    fn set_time_limit(&self, seconds: Option<f64>) -> PyResult<()> {
        let time = seconds.map(Duration::try_from_secs_f64).transpose().map_err(error)?;
        self.host()?.card.set_limits(Limits { time, ..Limits::default() });
        Ok(())
    }

    fn create_buffer(&self, size: usize) -> PyResult<u32> {
        self.host()?.create_buffer(size).map_err(of_host)
    }

    fn close_buffer(&self, name: u32) -> PyResult<()> {
        self.host()?.close_buffer(name).map_err(of_host)
    }

    fn buffer_size(&self, name: u32) -> PyResult<usize> {
        Ok(self.host()?.buffer(name).map_err(of_host)?.size())
    }

    fn set_tiling(&self, name: u32, flags: u32, pitch: u32) -> PyResult<()> {
        self.host()?.set_tiling(name, Tiling { flags, pitch }).map_err(of_host)
    }

    fn write_buffer(&self, name: u32, offset: usize, bytes: &[u8]) -> PyResult<()> {
        self.host()?.write_buffer(name, offset, bytes).map_err(of_host)
    }

    fn read_buffer<'py>(
        &self,
        py: Python<'py>,
        name: u32,
        offset: usize,
        size: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let host = self.host()?;
        host.check_range(name, offset, size).map_err(of_host)?;
        PyBytes::new_with(py, size, |bytes| host.read_buffer(name, offset, bytes).map_err(of_host))
    }

    fn submit(
        &self,
        py: Python<'_>,
        words: Vec<u32>,
        relocations: Vec<(u32, u32, u32, u32)>,
        flags: u32,
    ) -> PyResult<()> {
        py.detach(|| {
            let mut host = self.host()?;
            let submission = submission(&host, &words, &relocations, flags)?;
            host.submit(&submission).map_err(of_host)
        })
    }

    fn check(
        &self,
        py: Python<'_>,
        words: Vec<u32>,
        relocations: Vec<(u32, u32, u32, u32)>,
        flags: u32,
    ) -> PyResult<()> {
        py.detach(|| {
            let host = self.host()?;
            host.check(&submission(&host, &words, &relocations, flags)?).map_err(of_host)
        })
    }

    /// Returns width, height and colours of a render target, the first row in memory first.
    fn target<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Pixels<'py>> {
        let picture = py.detach(|| {
            let host = self.host()?;
            PyResult::Ok((n < r500::isa::TARGETS).then(|| host.card.target(n)))
        })?;
        let picture = picture.flatten().ok_or_else(|| {
            error(format!(
                "target {n} does not exist, has no buffer, or a format that cannot be read"
            ))
        })?;
        let [width, height] = picture.size;
        Ok((width, height, PyBytes::new(py, &bytes_of(&picture.colors))))
    }

    fn notes(&self) -> PyResult<Vec<String>> {
        Ok(self.host()?.card.report().remarks().collect())
    }

    fn statistics(&self) -> PyResult<String> {
        Ok(self.host()?.card.report().statistics.to_string())
    }
}

/// So does a capture.
#[pyclass]
pub(crate) struct Capture(Playback<Box<dyn Read + Send + Sync>>);

/// Kind, columns and rows of a frame, compared and differing buffers, and whether the file ends inside of a record.
type Event = (&'static str, (u32, u32), (u64, u64), bool);

#[pymethods]
impl Capture {
    /// Opens a file, or takes the bytes of one.
    #[new]
    fn new(path: Option<PathBuf>, bytes: Option<Vec<u8>>) -> PyResult<Self> {
        let source: Box<dyn Read + Send + Sync> = match (path, bytes) {
            (Some(path), _) => {
                // Records are read one at a time, each with its own limit.
                let file = files::open(&path, u64::MAX);
                let file = file.map_err(|refused| of_file(&path, refused))?;
                Box::new(BufReader::new(file))
            }
            (None, Some(bytes)) => Box::new(Cursor::new(bytes)),
            (None, None) => return Err(error("a capture needs a path or bytes")),
        };
        Playback::new(source).map(Self).map_err(error)
    }

    /// Continues to the next event on the card.
    fn step(&mut self, py: Python<'_>, card: &Card) -> PyResult<Event> {
        let played = py.detach(|| self.0.step(&mut *card.host()?).map_err(of_playback))?;
        Ok(match played {
            Played::Submission => ("submission", (0, 0), (0, 0), false),
            Played::Comparison { compared, different } => {
                ("comparison", (0, 0), (compared, different), false)
            }
            Played::Frame { width, height } => ("frame", (width, height), (0, 0), false),
            Played::End { truncated } => ("end", (0, 0), (0, 0), truncated),
        })
    }

    #[getter]
    fn submissions(&self) -> u64 {
        self.0.submissions()
    }

    #[getter]
    fn frames(&self) -> u64 {
        self.0.frames()
    }

    /// Returns the picture of the last event: red, green and blue bytes, the top row first.
    fn frame<'py>(&self, py: Python<'py>) -> PyResult<Pixels<'py>> {
        let frame = self.0.frame().ok_or_else(|| error("the last event was not a frame"))?;
        let rgb = py.detach(|| frame.rgb()).map_err(error)?;
        let [width, height] = frame.size();
        Ok((width, height, PyBytes::new(py, &rgb)))
    }
}
