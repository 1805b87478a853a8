//! Drawing of a capture's R500 program by an engine of r500.

use std::time::{Duration, Instant};

use anyhow::Result;
use r500::exec::reference::Reference;
use r500::exec::{
    Bindings, ColorSurface, Draw, Drawing, Engine, Frame, Options, PixelRect, PreparedDraw,
    RunInfo, Shader, Surfaces, draw_into,
};
use r500::fast::{Fast, Simd};
use r500::jit::{Effort, Jit, Settings, When};
use r500::picture::Picture;

use crate::capture::Capture;

/// The reason why there is no such engine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoEngine {
    /// The name does not exist.
    Unknown(String),
    /// This machine lacks the instructions.
    Unavailable(String),
}

/// Returns the engine with a name and vector instructions.
///
/// # Errors
/// [`NoEngine`].
pub(crate) fn engine(name: &str, simd: &str) -> Result<Box<dyn Engine>, NoEngine> {
    match (name, simd) {
        ("reference", "auto") => Ok(Box::new(Reference)),
        ("reference", _) => Err(NoEngine::Unknown(
            "--simd: the reference engine has no instructions to choose from".into(),
        )),
        ("fast", "auto") => Ok(Box::new(Fast::new())),
        ("fast", _) => level(simd).map(|simd| Box::new(Fast::with(simd)) as _),
        ("jit", _) => {
            let simd = if simd == "auto" { Simd::detect() } else { level(simd)? };
            // The machine code is timed, not its compilation.
            let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
            let jit = Jit::with(simd, settings);
            match jit.unavailable() {
                None => Ok(Box::new(jit)),
                Some(why) => Err(NoEngine::Unavailable(format!("--engine: {why}"))),
            }
        }
        ("auto", _) => match engine("jit", simd) {
            Err(NoEngine::Unavailable(_)) => engine("fast", simd),
            engine => engine,
        },
        _ => {
            let wanted = "wanted is reference, fast, jit or auto";
            Err(NoEngine::Unknown(format!("--engine: `{name}`: {wanted}")))
        }
    }
}

fn level(name: &str) -> Result<Simd, NoEngine> {
    let here: Vec<_> = Simd::available().map(Simd::name).collect();
    let here = here.join(", ");
    match Simd::from_name(name) {
        Some(simd) if simd.is_available() => Ok(simd),
        Some(_) => {
            Err(NoEngine::Unavailable(format!("--simd: this machine has {here} and not {name}")))
        }
        None => Err(NoEngine::Unknown(format!("--simd: `{name}`: this machine has {here}"))),
    }
}

/// A program with all its inputs, for a picture size.
pub(crate) struct Scene {
    shader: Shader,
    bindings: Bindings,
    options: Options<'static>,
}

impl Scene {
    /// Decodes and binds a capture.
    ///
    /// # Errors
    /// If the program cannot run.
    pub(crate) fn new(capture: &Capture, size: [u32; 2], threads: usize) -> Result<Self> {
        Ok(Self {
            shader: Shader::new(&capture.job.program)?,
            bindings: Bindings::new(&capture.job, size)?,
            options: Options { threads, ..Options::default() },
        })
    }
}

/// A scene prepared for drawing by an engine.
pub(crate) struct Ours<'a> {
    draw: Draw<'a>,
    prepared: Box<dyn PreparedDraw>,
    frame: Frame,
}

impl<'a> Ours<'a> {
    /// Prepares an engine for a scene.
    ///
    /// # Errors
    /// If the picture is too large.
    pub(crate) fn new(engine: &dyn Engine, scene: &'a Scene) -> Result<Self> {
        let Scene { shader, bindings, options } = scene;
        let draw = Draw::new(shader, bindings, options)?;
        let frame = Frame::new(shader, bindings, options)?;
        Ok(Self { draw, prepared: engine.prepare(draw), frame })
    }

    /// Draws a frame over the previous one.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub(crate) fn draw(&mut self) -> Result<()> {
        Ok(draw_into(&*self.prepared, &self.draw, &mut self.frame)?)
    }

    /// Returns the picture, in 8 bits per channel.
    pub(crate) fn picture(&self) -> Picture {
        Picture::from_colors(self.frame.width(), self.frame.target(0).unwrap_or_default())
    }

    /// Returns which engine draws.
    pub(crate) fn run_info(&self) -> RunInfo {
        self.prepared.run_info()
    }
}

/// A scene prepared for drawing by an engine to 8 bits per channel.
pub(crate) struct OursRgba8<'a> {
    drawing: Drawing<'a>,
    bindings: &'a Bindings,
    bytes: Vec<u8>,
}

impl<'a> OursRgba8<'a> {
    /// Prepares an engine for a scene.
    ///
    /// # Errors
    /// If the program cannot run.
    pub(crate) fn new(engine: &'a dyn Engine, scene: &'a Scene) -> Result<Self> {
        let Scene { shader, bindings, options } = scene;
        let drawing = Drawing::new(engine, shader.clone(), bindings, options.clone())?;
        let [width, height] = bindings.size();
        let bytes = vec![0; width as usize * height as usize * 4];
        Ok(Self { drawing, bindings, bytes })
    }

    /// Draws a picture over the previous one.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub(crate) fn draw(&mut self) -> Result<()> {
        let [width, height] = self.bindings.size();
        let area = PixelRect { x: 0, y: 0, width, height };
        let surface = ColorSurface::rgba8(&mut self.bytes, width as usize * 4);
        self.drawing.draw_to(self.bindings, &mut Surfaces::color(area, surface))?;
        Ok(())
    }
}

/// Number of timed preparations; the shortest counts.
const PREPARATIONS: u32 = 5;

/// Returns the time from a program to its first pixels: decoding, binding, preparing, and a picture
/// of 4x4.
///
/// # Errors
/// If the program cannot run.
pub(crate) fn preparation(engine: &dyn Engine, capture: &Capture) -> Result<Duration> {
    let mut shortest = Duration::MAX;
    for _ in 0..PREPARATIONS {
        let start = Instant::now();
        let scene = Scene::new(capture, [4, 4], 1)?;
        Ours::new(engine, &scene)?.draw()?;
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_names() {
        for (name, simd) in [("reference", "auto"), ("fast", "auto"), ("fast", "scalar")] {
            assert_eq!(engine(name, simd).map(|engine| engine.name()).ok(), Some(name));
        }
        // The jit engine generates no portable code.
        assert_eq!(engine("auto", "scalar").map(|engine| engine.name()).ok(), Some("fast"));
        let unknown = |name, simd| matches!(engine(name, simd), Err(NoEngine::Unknown(_)));
        assert!(unknown("quick", "auto"));
        assert!(unknown("fast", "mmx"));
        assert!(unknown("reference", "avx2"));
    }
}
