//! The interface to a native compiler: compile units, kernels.
//!
//! The fast engine keeps batches, regions, counters and outputs. Each maximal run of statements that a [`Compiler`] supports
//! (operations, discards, fetches from textures with a [`TextureDesc`], and branches and loops of these) is a
//! [`CompileUnit`] and becomes one op, whose [`Kernel`] runs over the chunks that execute. The last unit stores colours to the
//! [`ColorTargets`]. All other statements run as bytecode. A call from machine code for
//! each of them, a vector of pixels at a time, would be slower: see `benches/RESULTS.md`.
//!
//! ```text
//! Function ──▶ CompileUnits ──Compiler──▶ Kernels ─┐
//!    └───────────────────────────────▶ Ops ────────┴──▶ NativeCode ──replace_code──▶ FastDraw
//! ```

use std::fmt;
use std::sync::Arc;

use super::interpolants::is_linear;
use super::lanes;
use r500_exec::output::color::PixelEncoding;
use r500_exec::{Bindings, RunError};
use r500_ir::{self, Function, Inst, Operand, Stmt, Value, Values};

pub use super::fuel::Fuel;
pub use super::interpolants::LinearInterpolant;
pub use super::render_targets::{
    BatchOffsets, ColorTargets, PixelOffsets, PlanePixels, TARGETS, TargetPlane,
};
pub use r500_texture::batch::{
    AxisDesc, ChannelSource, Footprint, LodDesc, TexelView, TextureDesc, WrapMode, texel_math,
};

/// Lanes of a chunk.
pub const LANES: usize = lanes::LANES;

/// One value of sixteen pixels: four quads; in a quad top left, top right, bottom left, bottom right.
pub type Chunk = [f32; LANES];

/// A part of a function, for a compiler.
///
/// A chunk is 64 bytes, a slot `stride` bytes: some chunks one after the other. A kernel runs over
/// the same chunks of every slot; lanes of different chunks have nothing to do with each other, those
/// of a quad meet in [`Opcode::QuadBroadcast`](r500_ir::Opcode::QuadBroadcast) only.
#[derive(Clone, Copy, Debug)]
pub struct CompileUnit<'a> {
    /// What to do: [`Stmt::Def`], [`Stmt::Fetch`] and [`Stmt::Discard`] if the compiler takes them, [`Stmt::If`] and [`Stmt::Loop`] of these and of [`Stmt::ConsumeFuel`].
    pub body: &'a [&'a Stmt],
    /// Values from before, with the slots that hold them, by slot. One that is used as a mask holds
    /// all bits or none.
    pub reads: &'a [(Value, u32)],
    /// Values that are used after the unit, with the slots to store them to, by slot. No slot is in both lists, none twice
    /// in one.
    pub writes: &'a [(Value, u32)],
    /// Moves after the body, in order. Their slots may be among those read.
    pub moves: &'a [PhiMove],
    /// Colours to store after all else; each target once.
    pub colors: &'a [ColorStore],
    /// Bytes from one slot to the next.
    pub stride: u32,
    /// Whether [`Stmt::ConsumeFuel`] is to be counted while running. If not, all of them are counted
    /// beforehand, and a compiler ignores them.
    pub fuel_checked: bool,
    /// The units that the body fetches from, ascending.
    pub tables: &'a [(u8, TextureDesc)],
    /// By number: which input and channel of it each [interpolant](Batch::interpolants) is.
    pub interpolants: &'a [[u8; 2]],
    /// Types and debug locations of the values.
    pub values: &'a Values,
}

/// The resources of a draw that machine code can use directly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceLayout {
    /// Textures that have a [`TextureDesc`], by their units, ascending.
    tables: Vec<(u8, TextureDesc)>,
    /// Inputs that are a [`LinearInterpolant`] and their channels, ascending.
    pub(super) interpolants: Vec<[u8; 2]>,
    /// How surfaces hold the colours of each target, `None` of those without one; floats of a frame if there are no surfaces.
    pub(super) encodings: Option<[Option<PixelEncoding>; TARGETS]>,
}

impl ResourceLayout {
    /// Those that a function reads. Textures are decoded for it.
    #[must_use]
    pub fn of(function: &Function, bindings: &Bindings) -> Self {
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
        let table = |unit: u8| Some((unit, bindings.sampler(usize::from(unit))?.texture_desc()?));
        interpolants.sort_unstable();
        interpolants.dedup();
        interpolants.retain(|channel| is_linear(bindings, *channel));
        let tables = units.into_iter().filter_map(table).collect();
        Self { tables, interpolants, encodings: None }
    }

    /// The same for a draw to surfaces that hold colours like this, by target; `None` where there is no surface.
    #[must_use]
    pub fn with_encodings(self, encodings: [Option<PixelEncoding>; TARGETS]) -> Self {
        Self { encodings: Some(encodings), ..self }
    }

    /// The table of a unit.
    #[must_use]
    pub fn table(&self, unit: u8) -> Option<&TextureDesc> {
        let at = self.tables.binary_search_by_key(&unit, |(unit, _)| *unit).ok()?;
        Some(&self.tables[at].1)
    }

    /// The interpolant of a channel of an input, by its number.
    pub(super) fn interpolant(&self, input: u8, channel: u8) -> Option<usize> {
        self.interpolants.binary_search(&[input, channel]).ok()
    }
}

/// A move to a phi or a loop parameter of a region that the interpreter runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhiMove {
    /// The variable, which is this value from now on.
    pub value: Value,
    /// Its slot.
    pub slot: u32,
    /// The pixels that it changes for; all if not said. For the others it stays what it was.
    pub mask: Option<Operand>,
    /// What it becomes.
    pub from: Operand,
}

/// A colour of every pixel, to be put on the [`ColorTargets`] as frames hold it, NaN as the canonical one, or as surfaces do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorStore {
    /// 0 to 3: which plane of the targets.
    pub target: u8,
    /// Red, green, blue and alpha.
    pub channels: [Operand; 4],
    /// Which of them are never NaN.
    pub non_nan: [bool; 4],
    /// Whether some pixels are not covered: in a frame they get zeros, in a surface they keep what they have. If not, they do
    /// not matter.
    pub covered: bool,
    /// How a surface holds the pixels; floats of a frame if not said.
    pub encoding: Option<PixelEncoding>,
}

/// A native compiler. It supports discards, inputs that are a [`LinearInterpolant`], fetches from textures with a
/// [`TextureDesc`], and stores of colours.
pub trait Compiler: Send + Sync {
    /// Returns whether the compiler supports an operation. Units have no others.
    fn supports(&self, inst: &Inst) -> bool {
        let _ = inst;
        true
    }

    /// Compiles a unit; `None` if it cannot: the unit then runs as bytecode.
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>>;
}

/// The machine code of a unit.
pub trait Kernel: Send + Sync {
    /// Runs over the chunks from `run.0` to before `run.1` of a batch. Written are those chunks of the
    /// unit's [`writes`](CompileUnit::writes) and [`moves`](CompileUnit::moves), if it discards of
    /// [`covered`](Batch::covered), and of the planes of its [`colors`](CompileUnit::colors) the pixels that
    /// the [`offsets`](ColorTargets::offsets) of these chunks tell of; read are those of its [`reads`](CompileUnit::reads), and the texels of
    /// its [`tables`](CompileUnit::tables), its [`interpolants`](CompileUnit::interpolants), and what is covered; nothing else. But for colours, what it leaves
    /// of a chunk that it has killed altogether does not matter.
    ///
    /// # Errors
    /// [`RunError`] if a limit strikes.
    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError>;

    /// Runs over all chunks of adjacent batches, as [`run`](Self::run) does of each. The interpolants are those of one batch after
    /// the other, and so is coverage if pixels lose it; the planes go from the first pixel of the first batch on; everything else is the
    /// same memory for each.
    ///
    /// # Errors
    /// [`RunError`] if a limit strikes.
    fn run_adjacent(
        &self,
        batch: &mut Batch<'_, '_>,
        adjacent: AdjacentBatches,
    ) -> Result<(), RunError> {
        run_one_by_one(self, batch, adjacent)
    }
}

/// Runs a kernel over adjacent batches, one call for each.
///
/// # Errors
/// [`RunError`] if a limit strikes.
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

/// Batches next to each other in a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjacentBatches {
    /// Chunks in a batch.
    pub chunks: usize,
    /// How many batches.
    pub count: usize,
    /// Pixels from a batch to the next one.
    pub pixels: usize,
    /// Chunks of coverage from a batch to the next one: 0 if none loses any, so that all have the same.
    pub covered: usize,
}

/// The state of a batch, for a kernel.
pub struct Batch<'b, 'd> {
    /// All slots, each `stride / 64` chunks.
    pub slots: &'b mut [Chunk],
    /// Mask of the pixels that are covered, `stride / 64` chunks.
    pub covered: &'b mut [Chunk],
    /// By unit: what [`TextureDesc`]s tell of.
    pub texels: &'b [TexelView<'b>],
    /// Inputs of the batch; the targets says where in them a chunk lies.
    pub interpolants: &'b [LinearInterpolant],
    /// Where colours go.
    pub targets: ColorTargets<'b>,
    /// The limit of instructions.
    pub fuel: &'b mut Fuel<'d>,
}

/// The op that calls a kernel.
#[derive(Clone)]
pub(super) struct KernelCall {
    pub(super) kernel: Arc<dyn Kernel>,
    /// Whether pixels lose their coverage.
    pub(super) discards: bool,
    /// Whether it counts instructions while it runs.
    pub(super) fuel_checked: bool,
}

impl fmt::Debug for KernelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("discards", &self.discards).finish_non_exhaustive()
    }
}
