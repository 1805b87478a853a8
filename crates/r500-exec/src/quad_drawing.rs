//! A drawing of quads: a shader prepared for an engine, with its bindings.

use std::sync::Arc;

use r500_program::{Input, InputData};
use r500_simd::chunk::{LANES, SIDE};

use crate::options::GROUP;
use crate::quads::{PreparedQuads, QuadStream};
use crate::{
    BandStats, BindError, Bindings, Draw, Engine, Limits, Options, Readings, RunError, RunInfo,
    Shader,
};

/// A shader prepared for an engine, with its constants and textures, for quads of any places. It can be used by several threads at a time.
///
/// ```
/// use std::ops::Range;
///
/// use r500_exec::{Bindings, Limits, QuadDrawing, QuadPixels, QuadStream, Readings, Shader, reference::Reference};
/// use r500_isa::Instruction;
/// use r500_program::{Job, Program};
///
/// /// Quads whose pixels all have the number of the quad in red, and their red results.
/// struct Numbers {
///     quads: Range<usize>,
///     red: Vec<f32>,
/// }
///
/// impl QuadStream for Numbers {
///     fn begin(&mut self, quads: Range<usize>, covered: &mut [f32]) {
///         self.quads = quads;
///         covered.fill(f32::from_bits(!0));
///     }
///
///     fn load(&mut self, _: u8, channel: u8, lanes: &mut [f32]) {
///         for (n, quad) in self.quads.clone().zip(lanes.as_chunks_mut::<4>().0) {
///             *quad = [if channel == 0 { n as f32 } else { 0.0 }; 4];
///         }
///     }
///
///     fn store(&mut self, pixels: &QuadPixels<'_>) {
///         self.red.extend((0..4 * self.quads.len()).map(|lane| pixels.color(0, lane)[0]));
///     }
/// }
///
/// // OUT LAST src0.rgb = temp[0], src0.a = temp[0] : out[0].rgb = MAD src0.rgb 1 0, out[0].a = MAX src0.a src0.a ;
/// let code = vec![Instruction([0x78101, 0x4_0000, 0x4_0000, 0x00db_0220, 0x0000_c003, 0x0049_0000])];
/// let job = Job::from_program(Program::from_code(code));
/// let bindings = Bindings::new(&job, [2, 2])?;
/// let shader = Shader::new(&job.program)?;
/// let drawing = QuadDrawing::new(&Reference, shader, bindings, [0], Readings::default())?;
/// let mut numbers = Numbers { quads: 0..0, red: Vec::new() };
/// drawing.draw(Limits::default(), 6, &mut numbers)?;
/// assert_eq!(numbers.red[20..], [5.0; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct QuadDrawing {
    shader: Arc<Shader>,
    /// Those of a group.
    bindings: Bindings,
    readings: Readings,
    prepared: Box<dyn PreparedQuads>,
}

impl QuadDrawing {
    /// Prepares a drawing. The program reads constants and textures of `bindings`, whose inputs, size and coverage are replaced, and for `temps` the
    /// inputs of quads.
    ///
    /// # Errors
    /// [`BindError::InputTemp`] if there is no such temporary.
    pub fn new(
        engine: &dyn Engine,
        shader: impl Into<Arc<Shader>>,
        mut bindings: Bindings,
        temps: impl IntoIterator<Item = u8>,
        readings: Readings,
    ) -> Result<Self, BindError> {
        bindings.set_size([SIDE; 2]);
        bindings.clear_inputs();
        for temp in temps {
            let data = InputData::Values { width: SIDE, values: vec![[0.0; 4]; LANES] };
            bindings.set_input(Input { temp, data })?;
        }
        bindings.set_coverage(Some(vec![false; LANES]))?;
        let (shader, options) = (shader.into(), Self::options(readings, Limits::default()));
        let draw = Draw::recorded(&shader, &bindings, &options);
        let prepared = engine.prepare_quads(draw);
        Ok(Self { shader, bindings, readings, prepared })
    }

    fn options(readings: Readings, limits: Limits) -> Options<'static> {
        Options { readings, limits, group: GROUP, threads: 1, ..Options::default() }
    }

    /// Runs the program for `count` quads, on this thread.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded; some quads have been stored then.
    pub fn draw(
        &self,
        limits: Limits,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        let options = Self::options(self.readings, limits);
        let draw = Draw::new(&self.shader, &self.bindings, &options)?;
        self.prepared.draw_quads(&draw, count, stream)
    }

    /// Returns which engine draws, and why if it is not the requested one.
    #[must_use]
    pub fn run_info(&self) -> RunInfo {
        self.prepared.run_info()
    }
}

impl std::fmt::Debug for QuadDrawing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuadDrawing").field("run_info", &self.run_info()).finish_non_exhaustive()
    }
}
