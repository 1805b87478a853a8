//! Bytecode: ops over slots.
//!
//! A slot holds one value of every pixel of a batch. A kernel may write a slot that it reads; other ops never do.

use r500_isa::TEXTURE_UNITS;
use r500_isa::values::TexOp;

use super::arg::Arg;
use super::codegen::{KernelCall, TexelView};
use super::constant_load::ConstantLoad;
use super::dispatch::{Kernel, KernelArgs};
use r500_exec::Draw;

/// An op over a batch.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Calls of a kernel, in order, each a loop over the lanes of a slot: a range of [`Bytecode::calls`].
    Lanes(Kernel, [u32; 2]),
    /// Fetches texels.
    Fetch(Box<FetchOp>),
    /// Loads constants of the table.
    LoadConstant(ConstantLoad),
    /// Removes the coverage of the mask's lanes.
    Discard(Arg),
    /// Counts the covered lanes of the mask.
    Stat { channel: u8, mask: Arg },
    /// Charges executed instructions against the limit.
    ConsumeFuel { instructions: u32, address: u32 },
    /// Marks chunks for replay: those with executing lanes of the mask, none of which is covered.
    GroupHazard(Arg),
    /// Restricts execution to the chunks where the mask has a lane; jumps to `to` if there are none.
    PushExec { mask: Arg, to: u32 },
    /// Restores the chunks of the enclosing region.
    PopExec,
    /// Starts a loop: sets counter `counter` to `max_trips`.
    LoopBegin { counter: u32, max_trips: u32 },
    /// Jumps back to `to` if iterations remain, for the chunks where the mask, if there is one, has a lane. Otherwise the loop ends.
    LoopBack { counter: u32, mask: Option<Arg>, to: u32 },
    /// Calls machine code.
    Kernel(KernelCall),
}

/// A texture fetch: see [`Fetch`](r500_ir::Fetch).
#[derive(Clone, Debug)]
pub(super) struct FetchOp {
    pub(super) unit: u8,
    pub(super) op: TexOp,
    pub(super) unscaled: bool,
    pub(super) strq: [Arg; 4],
    pub(super) dx: [Arg; 4],
    pub(super) dy: [Arg; 4],
    pub(super) active: Arg,
    /// Slots of the texel's channels, and their ascending order.
    pub(super) texel: [Option<u32>; 4],
    pub(super) ascending: [u8; 4],
}

/// The location of a target's colour after the ops.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColorSource {
    /// In slots, channel by channel; NaN are canonical.
    Slots([Arg; 4]),
    /// Stored by machine code: see [`ColorStore`](super::codegen::ColorStore).
    Stored { covered: bool },
}

/// The bytecode of a function.
#[derive(Clone, Debug)]
pub(super) struct Bytecode {
    /// Inputs to load before the ops: input, channel, slot.
    pub(super) inputs: Vec<(u8, u8, u32)>,
    pub(super) ops: Vec<Op>,
    /// The arguments of kernels.
    pub(super) calls: Vec<KernelArgs>,
    /// The number of slots.
    pub(super) slots: u32,
    /// Slots that hold a constant.
    pub(super) constants: Vec<(u32, f32)>,
    /// How many of the constants, the first ones, are uniforms.
    pub(super) uniforms: usize,
    /// The number of loop counters: the depth of nested loops.
    pub(super) counters: u32,
    pub(super) colors: [Option<ColorSource>; 4],
    pub(super) depth: Option<(Arg, Arg)>,
    /// Whether lanes are discarded.
    pub(super) discards: bool,
    /// The number of operations that are machine code, and of all operations.
    pub(super) coverage: (usize, usize),
    /// The units that machine code fetches from.
    pub(super) units: Vec<u8>,
    /// The channels of inputs that machine code interpolates.
    pub(super) interpolants: Vec<[u8; 2]>,
    /// The results of a function without targets.
    pub(super) results: Vec<Arg>,
}

impl Bytecode {
    /// Sets the values of uniforms, in the function's order.
    pub(super) fn set_uniforms(&mut self, values: &[f32]) {
        for ((_, constant), value) in self.constants.iter_mut().zip(values) {
            *constant = *value;
        }
    }

    /// Returns whether machine code stores the colours.
    pub(super) fn stores_colors(&self) -> bool {
        self.colors.iter().flatten().any(|color| matches!(color, ColorSource::Stored { .. }))
    }

    /// Returns the texels that machine code fetches from, by texture unit.
    pub(super) fn texels<'a>(&self, draw: &Draw<'a>) -> [TexelView<'a>; TEXTURE_UNITS] {
        let Draw { bindings, options, .. } = *draw;
        let readings = options.readings.texture();
        let mut texels = [TexelView::NONE; TEXTURE_UNITS];
        for unit in self.units.iter().map(|unit| usize::from(*unit)) {
            if let Some(sampler) = bindings.sampler(unit) {
                texels[unit] = sampler.texel_view(&readings);
            }
        }
        texels
    }
}
