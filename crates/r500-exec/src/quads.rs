//! Batches of quads: pixels of any places, as structures of arrays.
//!
//! A picture has its pixels in rows; a rasteriser has quads. A [`QuadDrawing`] takes the inputs of quads channel by channel, an array with
//! four lanes for each quad (top left, top right, bottom left, bottom right), and gives colours, depth and coverage in the same form. Four
//! quads that follow one another are a group of pixels.

use std::ops::Range;
use std::sync::Arc;

use r500_isa::TARGETS;
use r500_program::{Input, InputData};
use r500_simd::chunk::{LANES, SIDE, lane_xy};

use crate::numerics::canonical_nan;
use crate::options::GROUP;
use crate::reference::Group;
use crate::{
    BandStats, BindError, Bindings, Counters, Draw, Engine, Limits, Options, PixelRect, Readings,
    RunError, RunInfo, Shader,
};

/// Number of quads of a group.
pub const GROUP_QUADS: usize = LANES / 4;

/// The source of the inputs of quads, and the destination of their results. An engine calls, for one range of quads after the other,
/// [`begin`](Self::begin), [`load`](Self::load) for each channel that the program reads, at least once, and [`store`](Self::store).
pub trait QuadStream {
    /// Begins some quads, which the following calls are for. Stores which pixels are covered: all bits of the lane, or none.
    fn begin(&mut self, quads: Range<usize>, covered: &mut [f32]);

    /// Stores a channel of the input of a temporary.
    fn load(&mut self, temp: u8, channel: u8, lanes: &mut [f32]);

    /// Takes the results.
    fn store(&mut self, pixels: &QuadPixels<'_>);
}

/// The results of the pixels of quads. Those of pixels that are not [alive](Self::alive) have no meaning.
#[derive(Clone, Copy, Debug)]
pub struct QuadPixels<'p> {
    /// The channels of each target; `None` if no instruction can write it. A NaN has any payload.
    pub colors: [Option<[Lanes<'p>; 4]>; TARGETS],
    /// Depth, 0 where none was written; `None` if no instruction can write it. A NaN has any payload.
    pub depth: Option<&'p [f32]>,
    /// Which pixels are covered and not killed: all bits of the lane, or none.
    pub alive: &'p [f32],
}

/// A channel of the pixels of quads.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'p> {
    /// A value for each.
    Each(&'p [f32]),
    /// The same for all.
    Same(f32),
}

impl Lanes<'_> {
    /// Returns the value of a lane.
    #[must_use]
    #[inline]
    pub fn get(&self, lane: usize) -> f32 {
        match self {
            Self::Each(lanes) => lanes[lane],
            Self::Same(value) => *value,
        }
    }
}

impl QuadPixels<'_> {
    /// Returns a colour of a pixel, every NaN canonical; 0 for a target that does not exist.
    #[must_use]
    pub fn color(&self, target: usize, lane: usize) -> [f32; 4] {
        let channels = self.colors[target].as_ref();
        channels.map_or([0.0; 4], |channels| {
            channels.each_ref().map(|channel| canonical_nan(channel.get(lane)))
        })
    }

    /// Returns the depth of a pixel, NaN canonical; 0 if the program writes none.
    #[must_use]
    pub fn depth(&self, lane: usize) -> f32 {
        self.depth.map_or(0.0, |depth| canonical_nan(depth[lane]))
    }

    /// Returns whether a pixel is covered and not killed.
    #[must_use]
    pub fn is_alive(&self, lane: usize) -> bool {
        self.alive[lane].to_bits() != 0
    }
}

/// A program prepared by an engine for quads. An embedder uses a [`QuadDrawing`], which contains one.
pub trait PreparedQuads: Send + Sync {
    /// Runs the program for `count` quads of a draw with the program, the bindings and the readings that it was prepared for.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError>;

    /// Returns which engine draws, and why if it is not the requested one.
    fn run_info(&self) -> RunInfo;
}

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

/// Copies the last quad to the lanes behind the first `count` quads, so that these execute nothing that no quad does.
pub fn repeat_last(lanes: &mut [f32], count: usize) {
    let Some(last) = (4 * count).checked_sub(4) else { return };
    let (quads, rest) = lanes.split_at_mut(4 * count);
    for quad in rest.chunks_mut(4) {
        quad.copy_from_slice(&quads[last..][..quad.len()]);
    }
}

/// A group of quads in the reference engine.
pub struct QuadGroup {
    bindings: Bindings,
    results: QuadResults,
    counters: Counters,
}

/// The results of a group.
#[derive(Clone, Debug, Default)]
struct QuadResults {
    colors: [[[f32; LANES]; 4]; TARGETS],
    depth: [f32; LANES],
    alive: [f32; LANES],
}

impl QuadGroup {
    /// Returns a group of a draw of quads.
    #[must_use]
    pub fn new(draw: &Draw<'_>) -> Self {
        let bindings = draw.bindings.clone();
        Self { bindings, results: QuadResults::default(), counters: Counters::default() }
    }

    /// Runs the program for a group, with the inputs that `load` stores for a temporary and a channel.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    pub fn run(
        &mut self,
        draw: &Draw<'_>,
        covered: &[f32; LANES],
        mut load: impl FnMut(u8, u8, &mut [f32; LANES]),
    ) -> Result<(), RunError> {
        draw.check()?;
        let pixel = |lane: usize| {
            let (x, y) = lane_xy(lane);
            (y * SIDE + x) as usize
        };
        let mut lanes = [0.0; LANES];
        for input in draw.bindings.inputs() {
            for channel in 0..4 {
                load(input.temp, channel, &mut lanes);
                let values = self.bindings.input_values_mut(input.temp);
                let values = values.expect("the inputs of quads have values");
                for (lane, value) in lanes.iter().enumerate() {
                    values[pixel(lane)][usize::from(channel)] = *value;
                }
            }
        }
        let mask = self.bindings.coverage_mut().expect("quads have a mask");
        for (lane, covered) in covered.iter().enumerate() {
            mask[pixel(lane)] = covered.to_bits() != 0;
        }
        let draw = draw.with_bindings(&self.bindings);
        let mut group = Group::new(&draw, PixelRect { x: 0, y: 0, width: SIDE, height: SIDE });
        group.run()?;
        self.counters.merge(group.state().counters());
        for (lane, pixel) in group.state().lanes().iter().enumerate() {
            let pixel = pixel.output();
            for (target, color) in self.results.colors.iter_mut().zip(pixel.color) {
                for (channel, value) in target.iter_mut().zip(color) {
                    channel[lane] = value;
                }
            }
            self.results.depth[lane] = pixel.depth.unwrap_or_default();
            self.results.alive[lane] = f32::from_bits(if pixel.covered { !0 } else { 0 });
        }
        Ok(())
    }

    /// Returns a channel of a target of the last run.
    #[must_use]
    pub fn color(&self, target: usize, channel: usize) -> &[f32; LANES] {
        &self.results.colors[target][channel]
    }

    /// Returns the depth of the last run, 0 where none was written.
    #[must_use]
    pub fn depth(&self) -> &[f32; LANES] {
        &self.results.depth
    }

    /// Returns which pixels are covered and not killed after the last run.
    #[must_use]
    pub fn alive(&self) -> &[f32; LANES] {
        &self.results.alive
    }

    /// Returns the counters of all runs.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// Quads in the reference engine, group by group.
pub struct ReferenceQuads {
    /// Why another engine does not draw them.
    pub fallback_reason: Option<String>,
}

impl PreparedQuads for ReferenceQuads {
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        let mut group = QuadGroup::new(draw);
        let targets = draw.shader.targets();
        for first in (0..count).step_by(GROUP_QUADS) {
            let quads = first..count.min(first + GROUP_QUADS);
            let (count, lanes) = (quads.len(), 4 * quads.len());
            let mut covered = [0.0; LANES];
            stream.begin(quads, &mut covered[..lanes]);
            group.run(draw, &covered, |temp, channel, to| {
                stream.load(temp, channel, &mut to[..lanes]);
                repeat_last(to, count);
            })?;
            let channels = |target: usize| {
                [0, 1, 2, 3].map(|channel| Lanes::Each(&group.color(target, channel)[..lanes]))
            };
            stream.store(&QuadPixels {
                colors: std::array::from_fn(|n| targets[n].then(|| channels(n))),
                depth: draw.shader.writes_depth().then(|| &group.depth()[..lanes]),
                alive: &group.alive()[..lanes],
            });
        }
        Ok(BandStats { counters: *group.counters(), ..BandStats::default() })
    }

    fn run_info(&self) -> RunInfo {
        RunInfo { fallback_reason: self.fallback_reason.clone(), ..RunInfo::of("reference") }
    }
}

/// Quads of another engine than the requested one.
pub struct FallbackQuads {
    /// The prepared draw.
    pub prepared: Box<dyn PreparedQuads>,
    /// Why the requested engine does not draw; if the other engine falls back, too, its reason is reported.
    pub reason: String,
}

impl PreparedQuads for FallbackQuads {
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        self.prepared.draw_quads(draw, count, stream)
    }

    fn run_info(&self) -> RunInfo {
        let run_info = self.prepared.run_info();
        let fallback_reason = run_info.fallback_reason.or(Some(self.reason.clone()));
        RunInfo { fallback_reason, ..run_info }
    }
}
