//! Drawing of rows of the picture with the jit engine.
//!
//! The page divides the rows of a picture among workers. Each worker has its own module and draws bands of rows.

use std::sync::Arc;

use r500::builtin_uniforms::BuiltinUniforms;
use r500::emit::Interface;
use r500::exec::record::DrawSetup;
use r500::exec::{
    Bindings, Counters, Draw, Engine, Frame, Limits, Options, PixelRect, RunInfo, Shader, draw_into,
};
use r500::picture::Picture as Upright;
use r500::program::{Job, LiveSource, LiveTexture, Uniform};
use r500_jit::Jit;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::look::Look;
use crate::message::Attached;

/// Greatest width and height of a texture.
const MAX_SIDE: u32 = 4096;

/// A picture to be drawn.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Drawing {
    /// Width and height of the whole picture.
    pub size: [u32; 2],
    /// Seconds, for the constant that is set to the time.
    pub time: f32,
    /// Constants with other values than in the source: number, and value as bits.
    #[serde(default)]
    pub constants: Vec<(usize, [u32; 4])>,
    /// The lowest row and the number of rows of each band.
    pub bands: Vec<(u32, u32)>,
    /// Target to show: 0 to 3, or 4 for depth.
    #[serde(default)]
    pub target: usize,
    /// How its values are displayed.
    #[serde(default)]
    pub look: Look,
    /// The pointer, for the constant that is set to it; if absent, the constant keeps the value of the source.
    #[serde(default)]
    pub mouse: Option<Mouse>,
    /// Number of pictures drawn before, for the constant that is set to it.
    #[serde(default)]
    pub frame: u32,
    /// Instructions that a group of pixels may execute.
    pub limit: u64,
    /// Texels of textures that change; their bytes are attached in this order.
    #[serde(default)]
    pub live: Vec<LiveTexels>,
}

/// Texels of a texture that changes.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveTexels {
    /// Its unit.
    pub unit: u8,
    /// Width and height.
    pub size: [u32; 2],
    /// Bytes attached, row 0 first: floats of what the program wrote, else a byte for each channel. If 0, all are 0.
    pub length: usize,
}

/// A texture that changes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveUnit {
    /// Its unit.
    pub unit: u8,
    /// What it has.
    #[cfg_attr(test, ts(type = "\"previous\" | \"keyboard\" | \"camera\" | \"video\""))]
    pub source: &'static str,
    /// The output, of `previous`.
    pub target: u8,
}

impl LiveUnit {
    /// Returns the textures of a job that change.
    pub(crate) fn all(job: &Job) -> Vec<Self> {
        let unit = |live: &LiveTexture| {
            let (source, target) = match live.source {
                LiveSource::Previous(target) => ("previous", target),
                LiveSource::Keyboard => ("keyboard", 0),
                LiveSource::Camera => ("camera", 0),
                LiveSource::Video => ("video", 0),
            };
            Self { unit: live.unit, source, target }
        };
        job.live.iter().map(unit).collect()
    }
}

/// The pointer over the picture.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mouse {
    /// Column, from 0 at the left to 1.
    pub x: f32,
    /// Row, from 0 at the bottom to 1.
    pub y: f32,
    /// Whether a button is pressed.
    pub pressed: bool,
}

/// A program that was loaded.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Loaded {
    /// Width and height that the source gives.
    pub(crate) size: Option<[u32; 2]>,
    /// Targets that the program may write, and always the first.
    pub(crate) targets: [bool; 4],
    /// Whether the program may write depth.
    pub(crate) depth: bool,
    /// Whether a constant is set to the time.
    pub(crate) moves: bool,
    /// Textures that change.
    pub(crate) live: Vec<LiveUnit>,
}

/// A picture that was drawn.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Drawn {
    bands: Vec<Band>,
    /// The engine that drew it.
    engine: &'static str,
    /// Why machine code was not used.
    instead: Option<String>,
    instructions: u64,
    killed: u64,
}

/// A band of rows.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    /// The lowest row, counted from the bottom of the picture.
    y: u32,
    /// Their number.
    rows: u32,
    /// Pixels of 8 bits a channel, the upper row first; or raw values, the lowest row first.
    bytes: Bytes,
}

/// A program that is drawn repeatedly.
pub struct Picture {
    engine: Arc<Jit>,
    job: Job,
    shader: Arc<Shader>,
    /// The bands drawn last, with their targets and display transforms.
    drawn: Vec<(Frame, Upright)>,
}

impl Picture {
    /// Prepares a picture for an engine, which keeps the code that it compiled before.
    ///
    /// # Errors
    /// The reason why the program cannot run.
    pub fn new(job: Job, engine: Arc<Jit>) -> Result<Self, String> {
        let shader = Arc::new(Shader::new(&job.program).map_err(|error| error.to_string())?);
        Ok(Self { engine, job, shader, drawn: Vec::new() })
    }

    /// Returns the size and the targets of the program.
    #[must_use]
    pub fn loaded(&self) -> Loaded {
        let mut targets = self.shader.targets();
        targets[0] = true;
        Loaded {
            size: self.job.size,
            targets,
            depth: self.shader.writes_depth(),
            moves: self.job.uniforms.iter().any(|uniform| uniform.name == "time"),
            live: LiveUnit::all(&self.job),
        }
    }

    /// Gives the textures that change their texels, which are attached.
    ///
    /// # Errors
    /// If bytes are missing, or there is no such texture.
    pub(crate) fn take_live(
        &mut self,
        all: &[LiveTexels],
        attached: &mut Attached<'_>,
    ) -> Result<(), String> {
        for texels in all {
            let bytes = attached.take(texels.length)?;
            let live = self.job.live.iter().find(|live| live.unit == texels.unit);
            let slot = self.job.textures.get_mut(usize::from(texels.unit));
            let (Some(live), Some(Some(texture))) = (live, slot) else {
                return Err(format!("tex[{}] is not a texture that changes", texels.unit));
            };
            let [width, height] = texels.size.map(|side| side as usize);
            let wanted = width * height * if live.source.has_floats() { 16 } else { 4 };
            if texels.size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
                return Err(format!("a texture of {width}x{height} texels"));
            }
            let bytes = if bytes.is_empty() { vec![0; wanted] } else { bytes.to_vec() };
            if bytes.len() != wanted {
                return Err(format!("tex[{}] has {wanted} bytes, not {}", live.unit, bytes.len()));
            }
            *texture = live.with_texels(texture, texels.size, bytes);
        }
        Ok(())
    }

    /// Draws bands.
    ///
    /// # Errors
    /// The reason why the picture cannot be drawn.
    pub fn draw(&mut self, drawing: &Drawing) -> Result<Drawn, String> {
        let bindings = self.bindings(drawing)?;
        let limits = Limits { instructions: drawing.limit, memory: 1 << 30, time: None };
        let options = Options { threads: 1, limits, ..Options::default() };
        let draw =
            Draw::new(&self.shader, &bindings, &options).map_err(|error| error.to_string())?;
        let prepared = self.engine.prepare(draw);
        let mut counters = Counters::default();
        let mut ran = None::<RunInfo>;
        self.drawn.truncate(drawing.bands.len());
        for (n, &(y, height)) in drawing.bands.iter().enumerate() {
            let area = PixelRect { x: 0, y, width: drawing.size[0], height };
            // A frame of the same shape is reused.
            if self.drawn.get(n).is_none_or(|(frame, _)| frame.area() != area) {
                let options = Options { area: Some(area), ..options.clone() };
                let frame = Frame::new(&self.shader, &bindings, &options)
                    .map_err(|error| error.to_string())?;
                self.drawn.truncate(n);
                self.drawn.push((frame, Upright::default()));
            }
            let Some((frame, shown)) = self.drawn.get_mut(n) else { break };
            draw_into(&*prepared, &draw, frame).map_err(|error| error.to_string())?;
            *shown = upright(frame, drawing.target, &drawing.look);
            counters.merge(&frame.counters);
            ran = Some(frame.run_info.clone());
        }
        Ok(Drawn {
            bands: self.shown(),
            engine: ran.as_ref().map_or("", |ran| ran.engine),
            instead: ran.and_then(|ran| ran.fallback_reason),
            instructions: counters.instructions,
            killed: counters.killed,
        })
    }

    /// Returns the bands drawn last as pictures of a target.
    pub fn show(&mut self, target: usize, look: Look) -> Vec<Band> {
        for (frame, shown) in &mut self.drawn {
            *shown = upright(frame, target, &look);
        }
        self.shown()
    }

    fn shown(&self) -> Vec<Band> {
        let bands = self.drawn.iter().map(|(frame, shown)| {
            band(frame, shown.pixels.as_ptr() as usize, size_of_val(shown.pixels.as_slice()))
        });
        bands.collect()
    }

    /// Returns the raw values of the bands drawn last: four floats per pixel, or one for depth. The result is empty if
    /// the program cannot write the target.
    #[must_use]
    pub fn values(&self, target: usize) -> Vec<Band> {
        let bands = self.drawn.iter().filter_map(|(frame, _)| {
            let (at, length) = match target {
                4 => frame.depth().map(|values| (values.as_ptr() as usize, size_of_val(values)))?,
                _ => frame
                    .target(target)
                    .map(|values| (values.as_ptr() as usize, size_of_val(values)))?,
            };
            Some(band(frame, at, length))
        });
        bands.collect()
    }

    /// Returns the program with what it is drawn with.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns the uniform buffer of a shader of the program for a picture.
    ///
    /// # Errors
    /// The reason why the picture cannot be drawn.
    pub fn uniforms(&self, interface: &Interface, drawing: &Drawing) -> Result<Vec<u8>, String> {
        let bindings = self.bindings(drawing)?;
        crate::gpu::uniforms(interface, &self.job, bindings.constants(), drawing.size)
    }

    /// Returns the names of the program's constants.
    #[must_use]
    pub fn names(&self) -> &[Uniform] {
        &self.job.uniforms
    }

    /// Returns the picture as the draw setup of a recording.
    ///
    /// # Errors
    /// The reason why the inputs cannot be bound.
    pub fn scene(&self, drawing: &Drawing) -> Result<DrawSetup, String> {
        let limits = Limits { instructions: drawing.limit, memory: 1 << 30, time: None };
        Ok(DrawSetup {
            shader: self.shader.clone(),
            bindings: Arc::new(self.bindings(drawing)?),
            options: Options { threads: 1, limits, ..Options::default() },
        })
    }

    fn bindings(&self, drawing: &Drawing) -> Result<Bindings, String> {
        let mut bindings =
            Bindings::new(&self.job, drawing.size).map_err(|error| error.to_string())?;
        for &(number, value) in &drawing.constants {
            let value = value.map(f32::from_bits);
            bindings.set_constant(number, value).map_err(|error| error.to_string())?;
        }
        let builtin = BuiltinUniforms {
            time: Some(drawing.time),
            resolution: Some(drawing.size),
            mouse: drawing.mouse.map(|mouse| ([mouse.x, mouse.y], mouse.pressed)),
            frame: Some(drawing.frame),
        };
        builtin.bind(&self.job.uniforms, &mut bindings).map_err(|error| error.to_string())?;
        Ok(bindings)
    }
}

fn upright(frame: &Frame, target: usize, look: &Look) -> Upright {
    let width = frame.width();
    match (frame.target(target), frame.depth()) {
        (Some(colors), _) => look.of_colors(width, colors),
        (None, Some(values)) if target == 4 => look.of_values(width, values),
        // A target that the program does not write holds the initial values.
        _ => {
            let nothing = vec![[0.0; 4]; width as usize * frame.height() as usize];
            look.of_colors(width, &nothing)
        }
    }
}

fn band(frame: &Frame, at: usize, length: usize) -> Band {
    let PixelRect { y, height, .. } = frame.area();
    Band { y, rows: height, bytes: Bytes { at, length } }
}
