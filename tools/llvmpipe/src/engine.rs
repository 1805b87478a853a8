//! A capture's R500 program as an engine of r500 draws it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use r500::exec::reference::Reference;
use r500::exec::{Bindings, Engine, Frame, Options, Shader, draw};
use r500::picture::Picture;

use crate::capture::Capture;

/// The engine of that name, at that instruction set.
///
/// # Errors
/// If there is none.
pub(crate) fn engine(name: &str, simd: &str) -> Result<Box<dyn Engine>> {
    match name {
        "reference" if simd == "auto" => Ok(Box::new(Reference)),
        "reference" => bail!("--simd: the reference engine has no instruction sets to choose from"),
        _ => bail!("--engine: `{name}` is none; wanted is reference"),
    }
}

/// A program that an engine draws.
pub(crate) struct Ours<'a> {
    engine: &'a dyn Engine,
    shader: Shader,
    bindings: Bindings,
    options: Options<'static>,
    frame: Option<Frame>,
}

/// How often preparing is timed; the shortest counts.
const PREPARATIONS: u32 = 5;

impl<'a> Ours<'a> {
    /// Binds a capture, for a picture of that size.
    ///
    /// # Errors
    /// If the program cannot run.
    pub(crate) fn new(
        engine: &'a dyn Engine,
        capture: &Capture,
        size: [u32; 2],
        threads: usize,
    ) -> Result<Self> {
        Ok(Self {
            engine,
            shader: Shader::new(&capture.job.program)?,
            bindings: Bindings::new(&capture.job, size)?,
            options: Options { threads, ..Options::default() },
            frame: None,
        })
    }

    /// Time from a program to its first pixels: decoding, preparing, and a picture of 4x4.
    ///
    /// # Errors
    /// If the program cannot run.
    pub(crate) fn prepare(engine: &dyn Engine, capture: &Capture) -> Result<Duration> {
        let bindings = Bindings::new(&capture.job, [4, 4])?;
        let options = Options { threads: 1, ..Options::default() };
        let mut shortest = Duration::MAX;
        for _ in 0..PREPARATIONS {
            let start = Instant::now();
            let shader = Shader::new(&capture.job.program)?;
            draw(engine, &shader, &bindings, &options)?;
            shortest = shortest.min(start.elapsed());
        }
        Ok(shortest)
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// If a limit strikes.
    pub(crate) fn draw(&mut self) -> Result<()> {
        self.frame = Some(draw(self.engine, &self.shader, &self.bindings, &self.options)?);
        Ok(())
    }

    /// What was drawn, in 8 bits a channel.
    pub(crate) fn picture(&self) -> Picture {
        let [width, _] = self.bindings.size();
        let colors = self.frame.as_ref().and_then(|frame| frame.target(0));
        Picture::from_colors(width, colors.unwrap_or_default())
    }
}
