//! The interface to a native compiler: compile units, kernels.
//!
//! The fast engine keeps batches, regions, counters and outputs. Each maximal run of statements that a [`Compiler`] supports (operations,
//! discards, fetches from textures with a [`TextureDesc`], and branches and loops of these) forms a [`CompileUnit`] and becomes one op,
//! whose [`Kernel`] runs over the executing chunks. The last unit stores colours to the [`ColorTargets`]. All other statements run as
//! bytecode: calling out from machine code for each of them, one vector of pixels at a time, would be slower (see `benches/RESULTS.md`).
//!
//! ```text
//! Function ──▶ CompileUnits ──Compiler──▶ Kernels ─┐
//!    └───────────────────────────────▶ Ops ────────┴──▶ NativeCode ──replace_code──▶ FastDraw
//! ```

use std::fmt;
use std::sync::Arc;

use super::interpolants::is_linear;
use r500_exec::output::color::PixelEncoding;
use r500_exec::{Bindings, RunError};
use r500_ir::{self, Function, Inst, Operand, Stmt, Value, Values};
use r500_lanes as lanes;
use r500_texture::TexReadings;

pub use super::fuel::Fuel;
pub use super::interpolants::LinearInterpolant;
pub use super::render_targets::{
    BatchOffsets, ColorTargets, PixelOffsets, PlanePixels, TARGETS, TargetPlane,
};
pub use r500_texture::batch::{
    AxisDesc, ChannelSource, Footprint, LodDesc, TexelView, TextureDesc, WrapMode, texel_math,
};

/// Lanes per chunk.
pub const LANES: usize = lanes::LANES;

/// One value of sixteen pixels: four quads, each top left, top right, bottom left, bottom right.
pub type Chunk = [f32; LANES];

/// A part of a function, for a compiler.
///
/// A chunk is 64 bytes, a slot is `stride` bytes of consecutive chunks. A kernel runs over the same chunks of every slot. Lanes of
/// different chunks are independent; lanes of a quad interact in [`Opcode::QuadBroadcast`](r500_ir::Opcode::QuadBroadcast) only.
#[derive(Clone, Copy, Debug)]
pub struct CompileUnit<'a> {
    /// The statements: [`Stmt::Def`], [`Stmt::Fetch`] and [`Stmt::Discard`] that the compiler supports, [`Stmt::If`] and [`Stmt::Loop`] of
    /// these and of [`Stmt::ConsumeFuel`].
    pub body: &'a [&'a Stmt],
    /// Live-in values with their slots, ordered by slot. A value that is used as a mask holds all bits or none.
    pub reads: &'a [(Value, u32)],
    /// Values that are used after the unit, with the slots to store them to, ordered by slot. No slot is in both lists, or twice in one.
    pub writes: &'a [(Value, u32)],
    /// Moves after the body, in order. Their slots may be among `reads`.
    pub moves: &'a [PhiMove],
    /// Colours to store at the end; at most one per target.
    pub colors: &'a [ColorStore],
    /// Bytes between slots.
    pub stride: u32,
    /// Whether code counts [`Stmt::ConsumeFuel`] while it runs. Otherwise all of them are counted beforehand, and a compiler ignores them.
    pub fuel_checked: bool,
    /// The texture units that the body fetches from, ascending.
    pub tables: &'a [(u8, TextureDesc)],
    /// The input and channel of each [interpolant](Batch::interpolants).
    pub interpolants: &'a [[u8; 2]],
    /// Types and debug locations of the values.
    pub values: &'a Values,
}

/// The layout of a draw's resources that machine code can use directly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceLayout {
    /// Textures with a [`TextureDesc`], by ascending unit.
    tables: Vec<(u8, TextureDesc)>,
    /// Channels of inputs that are a [`LinearInterpolant`], ascending.
    pub(super) interpolants: Vec<[u8; 2]>,
    /// The pixel encoding of each target's surface, `None` for targets without one. Without surfaces, colours are floats of a frame.
    pub(super) encodings: Option<[Option<PixelEncoding>; TARGETS]>,
}

impl ResourceLayout {
    /// Returns the layout of the resources that a function reads, under readings of the texture unit. Decodes textures for it.
    #[must_use]
    pub fn of(function: &Function, bindings: &Bindings, readings: &TexReadings) -> Self {
        let (mut units, mut interpolants) = (Vec::new(), Vec::new());
        let read = &mut |stmt: &Stmt| match stmt {
            Stmt::Fetch(fetch) => units.push(fetch.unit),
            Stmt::Def(_, Inst { opcode: r500_ir::Opcode::Input { input, channel }, .. }) => {
                interpolants.push([*input, *channel]);
            }
            _ => {}
        };
        function.body.iter().for_each(|stmt| stmt.each(read));
        units.sort_unstable();
        units.dedup();
        let table = |unit: u8| {
            let sampler = bindings.sampler(usize::from(unit))?;
            Some((unit, sampler.texture_desc(readings)?))
        };
        interpolants.sort_unstable();
        interpolants.dedup();
        interpolants.retain(|channel| is_linear(bindings, *channel));
        let tables = units.into_iter().filter_map(table).collect();
        Self { tables, interpolants, encodings: None }
    }

    /// Returns the layout for a draw to surfaces with these pixel encodings, by target; `None` for targets without a surface.
    #[must_use]
    pub fn with_encodings(self, encodings: [Option<PixelEncoding>; TARGETS]) -> Self {
        Self { encodings: Some(encodings), ..self }
    }

    /// Returns the texture of a unit.
    #[must_use]
    pub fn table(&self, unit: u8) -> Option<&TextureDesc> {
        let at = self.tables.binary_search_by_key(&unit, |(unit, _)| *unit).ok()?;
        Some(&self.tables[at].1)
    }

    /// Returns the index of the interpolant of a channel of an input.
    pub(super) fn interpolant(&self, input: u8, channel: u8) -> Option<usize> {
        self.interpolants.binary_search(&[input, channel]).ok()
    }
}

/// A move to a phi or a loop parameter of a region that the interpreter executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhiMove {
    /// The variable, which has the new value after the move.
    pub value: Value,
    /// Its slot.
    pub slot: u32,
    /// The pixels that it changes for, all if `None`. It keeps its value in the others.
    pub mask: Option<Operand>,
    /// The new value.
    pub from: Operand,
}

/// A colour to store to the [`ColorTargets`], as floats of a frame with canonical NaN, or in a surface's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorStore {
    /// The target, 0 to 3.
    pub target: u8,
    /// Red, green, blue and alpha.
    pub channels: [Operand; 4],
    /// Which channels are never NaN.
    pub non_nan: [bool; 4],
    /// Whether some pixels may be uncovered: in a frame they are set to zero, in a surface they keep their contents. Otherwise all pixels
    /// are stored.
    pub covered: bool,
    /// The encoding of a surface's pixels; `None` for the floats of a frame.
    pub encoding: Option<PixelEncoding>,
}

/// A native compiler. It supports discards, inputs that are a [`LinearInterpolant`], fetches from textures with a [`TextureDesc`], and
/// colour stores.
pub trait Compiler: Send + Sync {
    /// Returns whether the compiler supports an operation. Units contain no others.
    fn supports(&self, inst: &Inst) -> bool {
        let _ = inst;
        true
    }

    /// Compiles a unit. `None` if it cannot: the unit then runs as bytecode.
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>>;
}

/// The machine code of a unit.
pub trait Kernel: Send + Sync {
    /// Runs over the chunks `run.0..run.1` of a batch. It writes those chunks of the unit's [`writes`](CompileUnit::writes) and
    /// [`moves`](CompileUnit::moves), of [`covered`](Batch::covered) if it discards, and the pixels of its [`colors`](CompileUnit::colors)'
    /// planes at the [`offsets`](ColorTargets::offsets) of these chunks. It reads those chunks of its [`reads`](CompileUnit::reads) and of
    /// the coverage, the texels of its [`tables`](CompileUnit::tables), and its [`interpolants`](CompileUnit::interpolants). It accesses
    /// nothing else. Except for colours, its results in chunks of which it has discarded all pixels are unspecified.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError>;

    /// Runs over all chunks of adjacent batches, as [`run`](Self::run) does for each. The interpolants of all batches follow each other,
    /// and so does the coverage if pixels are discarded; the planes start at the first pixel of the first batch. All other memory is shared
    /// by the batches.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn run_adjacent(
        &self,
        batch: &mut Batch<'_, '_>,
        adjacent: AdjacentBatches,
    ) -> Result<(), RunError> {
        run_one_by_one(self, batch, adjacent)
    }
}

/// Runs a kernel over adjacent batches, with one call for each.
///
/// # Errors
/// [`RunError`] if a limit is exceeded.
pub fn run_one_by_one(
    kernel: &(impl Kernel + ?Sized),
    batch: &mut Batch<'_, '_>,
    AdjacentBatches { chunks, count, pixels, covered: step }: AdjacentBatches,
) -> Result<(), RunError> {
    let channels = batch.interpolants.len() / count.max(1);
    for number in 0..count {
        let Batch { slots, covered, texels, interpolants, targets, fuel } = batch;
        let targets = targets.reborrow_from(number * pixels);
        let (covered, interpolants) =
            (&mut covered[number * step..], &interpolants[number * channels..]);
        let batch = &mut Batch { slots, covered, texels, interpolants, targets, fuel };
        kernel.run(batch, (0, chunks))?;
    }
    Ok(())
}

/// Horizontally adjacent batches of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjacentBatches {
    /// Chunks per batch.
    pub chunks: usize,
    /// Number of batches.
    pub count: usize,
    /// Pixels between batches.
    pub pixels: usize,
    /// Chunks of coverage between batches; 0 if no pixel is discarded, so that all batches share it.
    pub covered: usize,
}

/// The state of a batch, for a kernel.
pub struct Batch<'b, 'd> {
    /// All slots, each `stride / 64` chunks.
    pub slots: &'b mut [Chunk],
    /// The mask of covered pixels, `stride / 64` chunks.
    pub covered: &'b mut [Chunk],
    /// The texels of each unit, in the layout of its [`TextureDesc`].
    pub texels: &'b [TexelView<'b>],
    /// The interpolants of the batch; the targets have the offsets of chunks in them.
    pub interpolants: &'b [LinearInterpolant],
    /// The planes to store colours to.
    pub targets: ColorTargets<'b>,
    /// The limit of instructions.
    pub fuel: &'b mut Fuel<'d>,
}

/// The op that calls a kernel.
#[derive(Clone)]
pub(super) struct KernelCall {
    pub(super) kernel: Arc<dyn Kernel>,
    /// Whether it discards pixels.
    pub(super) discards: bool,
    /// Whether it counts instructions while it runs.
    pub(super) fuel_checked: bool,
}

impl fmt::Debug for KernelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("discards", &self.discards).finish_non_exhaustive()
    }
}
