//! The interface to a native compiler: compile units, capabilities, kernels.
//!
//! The fast engine keeps batches, regions, counters and outputs. Each maximal run of statements that a [`Compiler`] supports
//! (operations, discards, fetches from textures with a [`TextureDesc`](Table), and branches and loops of these) is a
//! [`CompileUnit`] and becomes one op, whose [`Kernel`] runs over the chunks that execute. The last unit stores colours to the
//! [`ColorTargets`], if the compiler supports that. All other statements run as bytecode.
//!
//! ```text
//! Function ──▶ CompileUnits ──Compiler──▶ Kernels ─┐
//!    └───────────────────────────────▶ Ops ────────┴──▶ NativeCode ──replace_code──▶ FastDraw
//! ```

use std::fmt;
use std::sync::Arc;

use super::bytecode::Bytecode;
use super::interpolants::is_linear;
use super::lanes;
use r500_exec::{Bindings, Draw, RunError};
use r500_ir::{self, Fetch, Function, Inst, Operand, Stmt, Value, Values};
use r500_simd::Simd;

pub use super::FastDraw;
pub use super::interpolants::LinearInterpolant;
pub use super::render_targets::{BatchOffsets, ColorTargets, PixelOffsets};
pub use r500_texture::batch::{
    AxisDesc as Axis, ChannelSource as Channel, Footprint as Four, LodDesc as Detail, TexelView,
    TextureDesc as Table, WrapMode as Wrap,
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
    pub tables: &'a [(u8, Table)],
    /// By number: which input and channel of it each [interpolant](Batch::interpolants) is.
    pub interpolants: &'a [[u8; 2]],
    /// Types and debug locations of the values.
    pub values: &'a Values,
}

/// The resources of a draw that machine code can use directly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceLayout {
    /// Textures that have a [`Table`], by their units, ascending.
    tables: Vec<(u8, Table)>,
    /// Inputs that are a [`LinearInterpolant`] and their channels, ascending.
    interpolants: Vec<[u8; 2]>,
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
        Self { tables: units.into_iter().filter_map(table).collect(), interpolants }
    }

    /// The table of a unit.
    #[must_use]
    pub fn table(&self, unit: u8) -> Option<&Table> {
        let at = self.tables.binary_search_by_key(&unit, |(unit, _)| *unit).ok()?;
        Some(&self.tables[at].1)
    }

    /// The interpolant of a channel of an input, by its number.
    fn interpolant(&self, input: u8, channel: u8) -> Option<usize> {
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

/// A colour of every pixel, to be put on the [`ColorTargets`] as pictures hold it: NaN as the canonical one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorStore {
    /// 0 to 3: which plane of the targets.
    pub target: u8,
    /// Red, green, blue and alpha.
    pub channels: [Operand; 4],
    /// Which of them are never NaN.
    pub non_nan: [bool; 4],
    /// Whether pixels that are not covered get zeros. If not, they do not matter.
    pub covered: bool,
}

/// The capabilities of a [`Compiler`] besides operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Look up fetches in tables.
    pub fetches: bool,
    /// Take coverage from pixels.
    pub discards: bool,
    /// Compute inputs of [`LinearInterpolant`]s.
    pub inputs: bool,
    /// Store colours.
    pub colors: bool,
}

impl Capabilities {
    /// All of it.
    pub const ALL: Self = Self { fetches: true, discards: true, inputs: true, colors: true };
}

/// Makes machine code.
pub trait Compiler: Send + Sync {
    /// Returns whether the compiler supports an operation. Units have no others.
    fn supports(&self, inst: &Inst) -> bool {
        let _ = inst;
        true
    }

    /// Whether it can look up a fetch in the table of its unit.
    fn supports_fetch(&self, fetch: &Fetch, table: &Table) -> bool {
        let _ = (fetch, table);
        self.capabilities().fetches
    }

    /// The other capabilities of the compiler.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
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
}

/// The state of a batch, for a kernel.
pub struct Batch<'b, 'd> {
    /// All slots, each `stride / 64` chunks.
    pub slots: &'b mut [Chunk],
    /// Mask of the pixels that are covered, `stride / 64` chunks.
    pub covered: &'b mut [Chunk],
    /// By unit: what [`Table`]s tell of.
    pub texels: &'b [TexelView<'b>],
    /// Inputs of the batch; the targets says where in them a chunk lies.
    pub interpolants: &'b [LinearInterpolant],
    /// Where colours go.
    pub targets: ColorTargets<'b>,
    /// The limit of instructions.
    pub fuel: &'b mut Fuel<'d>,
}

/// The fuel of a batch: the instructions that it may still execute.
pub struct Fuel<'a> {
    draw: &'a Draw<'a>,
    pub(super) spent: u64,
    pub(super) pixel: [u32; 2],
}

/// Instructions between two readings of the clock, as in the reference engine.
const CLOCK: u64 = 1024;

impl<'a> Fuel<'a> {
    /// All of a drawing's limit, for the batch whose lower left pixel is given.
    #[must_use]
    pub fn new(draw: &'a Draw<'a>, pixel: [u32; 2]) -> Self {
        Self { draw, spent: 0, pixel }
    }

    /// Instructions left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.draw.options.limits.instructions.saturating_sub(self.spent)
    }

    /// Counts instructions that begin at an address.
    ///
    /// # Errors
    /// [`RunError::Instructions`] if these were too many; what [`check`](Self::check) says, which is
    /// asked now and then.
    #[inline(always)]
    pub fn consume(&mut self, instructions: u64, address: u32) -> Result<(), RunError> {
        let spent = self.spent.saturating_add(instructions);
        if self.spent / CLOCK != spent / CLOCK || self.spent == 0 {
            self.check()?;
        }
        self.spent = spent;
        if spent > self.draw.options.limits.instructions {
            return Err(self.exceeded(address));
        }
        Ok(())
    }

    /// Checks the time limit and cancellation.
    ///
    /// # Errors
    /// [`RunError::Time`] and [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        self.draw.check()
    }

    /// The error of a program that goes on at an address although nothing is left.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn exceeded(&self, address: u32) -> RunError {
        let limit = self.draw.options.limits.instructions;
        RunError::Instructions { address, pixel: self.pixel, limit }
    }
}

/// A function ready to run, with machine code or without.
#[derive(Clone, Debug)]
pub struct NativeCode {
    pub(super) code: Bytecode,
    pub(super) batch_width: u32,
}

impl NativeCode {
    /// Without machine code. `uniforms` are the values of the function's uniforms, in their order.
    ///
    /// # Panics
    /// If there are more or fewer values than uniforms.
    #[must_use]
    pub fn batch(function: &Function, uniforms: &[f32], simd: Simd) -> Self {
        let code = Bytecode::new(function, &bind(function, uniforms), simd);
        let batch_width = super::batch_width(code.slots);
        Self { code, batch_width }
    }

    /// With machine code for what a compiler supports; it does not depend on the values of uniforms. The resources are
    /// those of the draw. `simd` is the level of bytecode.
    ///
    /// # Panics
    /// If there are more or fewer values than uniforms.
    #[must_use]
    pub fn compile(
        function: &Function,
        uniforms: &[f32],
        resources: &ResourceLayout,
        simd: Simd,
        compiler: &dyn Compiler,
    ) -> Self {
        let uniforms = bind(function, uniforms);
        let counted = r500_ir::optimize_for_codegen(function);
        let function = counted.as_ref().unwrap_or(function);
        let mut refused = Vec::new();
        // Units that are refused become ops, which changes the slots of the others.
        loop {
            let native = UnitContext { compiler, resources, refused: &refused };
            let (code, batch_width, again) =
                Bytecode::with_native(function, &uniforms, simd, &native);
            if again.is_empty() {
                return Self { code, batch_width };
            }
            refused.extend(again);
        }
    }

    /// How many of the function's operations are machine code, and how many there are. Fetches count if
    /// the compiler takes them.
    #[must_use]
    pub fn coverage(&self) -> (usize, usize) {
        self.code.coverage
    }
}

/// Returns the uniforms of a function with their values.
fn bind(function: &Function, uniforms: &[f32]) -> Vec<(Value, f32)> {
    assert_eq!(function.uniforms.len(), uniforms.len(), "each uniform has a value");
    function.uniforms.iter().map(|uniform| uniform.value).zip(uniforms.iter().copied()).collect()
}

/// The context of a compilation.
pub(super) struct UnitContext<'a> {
    pub(super) compiler: &'a dyn Compiler,
    resources: &'a ResourceLayout,
    /// The units that the compiler has refused.
    pub(super) refused: &'a [usize],
}

impl UnitContext<'_> {
    /// Returns whether a statement can be part of a unit.
    pub(super) fn supports(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Def(_, Inst { opcode: r500_ir::Opcode::Input { input, channel }, .. }) => {
                self.compiler.capabilities().inputs
                    && self.resources.interpolant(*input, *channel).is_some()
            }
            Stmt::Def(_, inst) => self.compiler.supports(inst),
            Stmt::ConsumeFuel { .. } => true,
            Stmt::If(_) | Stmt::Loop(_) => stmt.inside().all(|stmt| self.supports(stmt)),
            Stmt::Fetch(fetch) => {
                let table = self.resources.table(fetch.unit);
                table.is_some_and(|table| self.compiler.supports_fetch(fetch, table))
            }
            Stmt::Discard(_) => self.compiler.capabilities().discards,
            Stmt::Stat { .. } | Stmt::GroupHazard(_) => false,
        }
    }

    /// The tables of units.
    pub(super) fn tables(&self, units: &[u8]) -> Vec<(u8, Table)> {
        units.iter().filter_map(|&unit| Some((unit, *self.resources.table(unit)?))).collect()
    }

    /// The inputs that are interpolants, by their numbers, as far as the compiler computes them.
    pub(super) fn interpolants(&self) -> &[[u8; 2]] {
        if self.compiler.capabilities().inputs { &self.resources.interpolants } else { &[] }
    }
}

/// A unit before its values have slots.
#[derive(Debug, Default)]
pub(super) struct UnitBuilder<'a> {
    pub(super) number: usize,
    pub(super) body: Vec<&'a Stmt>,
    pub(super) reads: Vec<Value>,
    pub(super) writes: Vec<Value>,
    pub(super) defs: Vec<Value>,
    /// See [`PhiMove`].
    pub(super) moves: Vec<(Value, Option<Operand>, Operand)>,
    /// Targets, channels, which of these are numbers: see [`ColorStore`].
    pub(super) colors: Vec<(u8, [Operand; 4], [bool; 4])>,
    pub(super) fuel_checked: bool,
    /// Operations and fetches in it.
    pub(super) operations: usize,
    /// Units that it fetches from, ascending.
    pub(super) units: Vec<u8>,
    /// Whether pixels lose their coverage.
    pub(super) discards: bool,
    /// Instructions to count beforehand, and the address of the first.
    pub(super) consume: Option<(u32, u32)>,
}

/// The maximum number of instructions that a unit executes without checking fuel.
const MAX_UNCHECKED: u64 = 10_000;

impl<'a> UnitBuilder<'a> {
    pub(super) fn new(stmts: &'a [Stmt]) -> Self {
        let mut part = Self::default();
        let mut inside = FuelUse::default();
        for stmt in stmts {
            if let Stmt::ConsumeFuel { instructions, address } = stmt {
                part.consume(u64::from(*instructions), *address);
            } else {
                part.body.push(stmt);
                part.collect(stmt);
                inside.add(stmt, 1);
            }
        }
        part.fuel_checked = inside.varies || inside.instructions > MAX_UNCHECKED;
        if let Some(address) = inside.address.filter(|_| !part.fuel_checked) {
            part.consume(inside.instructions, address);
        }
        part.units.sort_unstable();
        part.units.dedup();
        part.defs.sort_unstable();
        part.reads.sort_unstable();
        part.reads.dedup();
        let defs = &part.defs;
        part.reads.retain(|value| defs.binary_search(value).is_err());
        part
    }

    /// Adds a move after the body, with its operands.
    pub(super) fn push_phi_move(
        &mut self,
        (value, mask, from): (Value, Option<Operand>, Operand),
        looks: impl Iterator<Item = Operand>,
    ) {
        self.add_uses(looks);
        self.moves.push((value, mask, from));
    }

    /// Adds uses after the body.
    pub(super) fn add_uses(&mut self, operands: impl Iterator<Item = Operand>) {
        let moved: Vec<Value> = self.moves.iter().map(|(value, ..)| *value).collect();
        self.reads.extend(
            operands
                .filter_map(Operand::value)
                .filter(|value| self.defs.binary_search(value).is_err() && !moved.contains(value)),
        );
        self.reads.sort_unstable();
        self.reads.dedup();
    }

    fn consume(&mut self, instructions: u64, address: u32) {
        let (sum, _) = self.consume.get_or_insert((0, address));
        *sum = sum.saturating_add(u32::try_from(instructions).unwrap_or(u32::MAX));
    }

    /// Collects the definitions and uses of a statement.
    fn collect(&mut self, stmt: &Stmt) {
        stmt.operands(&mut |operand| self.reads.extend(operand.value()));
        match stmt {
            Stmt::Def(value, inst) => {
                let input = matches!(inst.opcode, r500_ir::Opcode::Input { .. });
                self.operations += usize::from(!input);
                self.defs.push(*value);
            }
            Stmt::Fetch(fetch) => {
                self.operations += 1;
                self.units.push(fetch.unit);
                self.defs.extend(fetch.texel.into_iter().flatten());
            }
            Stmt::Discard(_) => self.discards = true,
            Stmt::If(branch) => {
                self.defs.extend(branch.phis.iter().map(|phi| phi.value));
                branch.arms.iter().flatten().for_each(|stmt| self.collect(stmt));
            }
            Stmt::Loop(repeat) => {
                self.defs.extend(repeat.params.iter().map(|param| param.value));
                repeat.body.iter().for_each(|stmt| self.collect(stmt));
            }
            _ => {}
        }
    }
}

/// Instructions that statements count at most.
#[derive(Default)]
struct FuelUse {
    instructions: u64,
    address: Option<u32>,
    /// The number depends on lanes.
    varies: bool,
}

impl FuelUse {
    fn add(&mut self, stmt: &Stmt, times: u64) {
        match stmt {
            Stmt::ConsumeFuel { instructions, address } => {
                let more = u64::from(*instructions).saturating_mul(times);
                self.instructions = self.instructions.saturating_add(more);
                self.address.get_or_insert(*address);
            }
            Stmt::If(branch) => {
                branch.arms.iter().flatten().for_each(|stmt| self.add(stmt, times));
            }
            Stmt::Loop(repeat) => {
                self.varies |= repeat.continue_mask.is_some();
                let times = times.saturating_mul(u64::from(repeat.max_trips));
                repeat.body.iter().for_each(|stmt| self.add(stmt, times));
            }
            _ => {}
        }
    }
}

/// The op that calls a kernel.
#[derive(Clone)]
pub(super) struct KernelCall {
    pub(super) kernel: Arc<dyn Kernel>,
    /// Whether pixels lose their coverage.
    pub(super) discards: bool,
}

impl fmt::Debug for KernelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("discards", &self.discards).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
