//! Bytecode: ops over slots.
//!
//! A slot holds one value of every pixel of a batch. The region tree is [linearised](super::linearizer); each value has
//! a slot while it is [live](super::live_ranges), so that the slots in use stay in the processor's nearest cache. The slot
//! that an op writes is never one that it reads, so that ops are loops over memory that does not overlap.

use r500_isa::TEXTURE_UNITS;
use r500_isa::values::TexOp;

use super::codegen::{self, CompileUnit, TexelView, UnitContext};
use super::dispatch::{self, KernelArgs};
use super::lanes::Chunk;
use super::linearizer::{Linearizer, VirtualOp, position};
use super::live_ranges::{LiveRanges, SlotAllocation};
use r500_exec::Bindings;
use r500_ir::{Function, Opcode, Operand, Stmt, Value};
use r500_simd::{Simd, SimdLevel, SimdTask};

/// An argument of an op: a slot, or the same bits in every lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    Slot(u32),
    Const(f32),
}

/// An op over a batch.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// A loop over the lanes of a slot.
    Lanes(dispatch::Kernel, KernelArgs),
    /// Fetches texels.
    Fetch(Box<FetchOp>),
    /// Removes the coverage of the mask's lanes.
    Discard(Arg),
    /// Counts the covered lanes of the mask.
    Stat { channel: u8, mask: Arg },
    /// Counts instructions of the program against the limit.
    ConsumeFuel { instructions: u32, address: u32 },
    /// Marks chunks for replay where lanes of the mask execute of which none is covered.
    GroupHazard(Arg),
    /// Restricts execution to the chunks where the mask has a lane; jumps to `to` if there is none.
    PushExec { mask: Arg, to: u32 },
    /// Restores the chunks before the last restriction.
    PopExec,
    /// Begins a loop: sets counter `counter` to `max_trips`.
    LoopBegin { counter: u32, max_trips: u32 },
    /// Jumps back to `to` if iterations are left, for the chunks where the mask, if there is one, has a lane. Otherwise the
    /// loop ends.
    LoopBack { counter: u32, mask: Option<Arg>, to: u32 },
    /// Calls machine code.
    Kernel(codegen::KernelCall),
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
    /// Slots of the texel's channels, ascending in no order.
    pub(super) texel: [Option<u32>; 4],
}

/// Where a target's colour is after the ops.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColorSource {
    /// In slots, channel by channel.
    Slots([Arg; 4]),
    /// Stored by machine code: see [`codegen::ColorStore`].
    Stored { covered: bool },
}

/// The bytecode of a function.
#[derive(Clone, Debug)]
pub(super) struct Bytecode {
    /// Inputs to load before the ops: input, channel, slot.
    pub(super) inputs: Vec<(u8, u8, u32)>,
    pub(super) ops: Vec<Op>,
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
    /// The number of operations that are machine code, and of all.
    pub(super) coverage: (usize, usize),
    /// The units that machine code fetches from.
    units: Vec<u8>,
    /// The inputs, and their channels, that machine code computes.
    pub(super) interpolants: Vec<[u8; 2]>,
}

impl Bytecode {
    /// Compiles a function, with the kernels of an instruction-set level.
    pub(super) fn new(function: &Function, uniforms: &[(Value, f32)], simd: Simd) -> Self {
        simd.run_plain(Compile { function, uniforms, native: None }).0
    }

    /// Compiles a function, with machine code for what a compiler supports. Returns the bytecode, the number of columns of
    /// chunks in a batch, and the units that the compiler refused: if there are any, the bytecode lacks them.
    pub(super) fn with_native(
        function: &Function,
        uniforms: &[(Value, f32)],
        simd: Simd,
        native: &UnitContext<'_>,
    ) -> (Self, u32, Vec<usize>) {
        simd.run_plain(Compile { function, uniforms, native: Some(native) })
    }

    fn compile<L: SimdLevel>(
        function: &Function,
        uniforms: &[(Value, f32)],
        level: L,
        native: Option<&UnitContext<'_>>,
    ) -> (Self, u32, Vec<usize>) {
        let mut linearizer = Linearizer::new(function, native);
        let stores_colors = linearizer.store_colors(function);
        let colors = function.colors.map(|color| color.filter(|_| !stores_colors));
        let depth = function.depth;
        let outputs = colors.iter().flatten().flatten().copied();
        let outputs =
            outputs.chain(depth.into_iter().flat_map(|(depth, written)| [depth, written]));
        for operand in outputs {
            linearizer.uses.push((linearizer.at(), operand));
        }
        linearizer.note_unit_outputs();
        let mut places = LiveRanges::of(&linearizer).allocate();
        // Uniforms stay in slots of their own.
        let mut constants: Vec<(u32, f32)> =
            uniforms.iter().map(|&(value, x)| (places.reserve(value), x)).collect();
        let (places, own) = (places, constants.len());
        let arg = |operand: Operand| match operand {
            Operand::Const(bits) => Arg::Const(f32::from_bits(bits)),
            Operand::Value(value) => Arg::Slot(places.of(value)),
        };
        let mut materialize = |x: f32| {
            let known = constants[own..].iter().find(|(_, known)| known.to_bits() == x.to_bits());
            Arg::Slot(known.map(|(slot, _)| *slot).unwrap_or_else(|| {
                let slot = places.count + position(constants.len() - own);
                constants.push((slot, x));
                slot
            }))
        };
        // Constants are materialised for ops only, of which machine code leaves few.
        let columns = super::batch_width(places.count);
        let stride = columns * (super::ROWS / 4) * (size_of::<Chunk>() as u32);
        let kill = |stmt: &Stmt| matches!(stmt, Stmt::Discard(_));
        let discards = function.body.iter().any(|stmt| stmt.any(&mut { kill }));
        let mut refused = Vec::new();
        let (mut coverage, mut units) = ((0, 0), Vec::new());
        let mut inputs = Vec::new();
        let mut ops = Vec::with_capacity(linearizer.ops.len());
        // Jumps name positions of virtual ops, of which inputs and copies onto themselves are dropped.
        let mut moved = Vec::with_capacity(linearizer.ops.len() + 1);
        for op in &linearizer.ops {
            moved.push(position(ops.len()));
            match op {
                VirtualOp::Def(value, inst) => {
                    let dst = places.of(*value);
                    if let Opcode::Input { input, channel } = inst.opcode {
                        inputs.push((input, channel, dst));
                    } else {
                        coverage.1 += 1;
                        let args = inst.args.map(arg);
                        let (entry, call) = dispatch::select_kernel(
                            level,
                            inst.opcode,
                            dst,
                            args,
                            &mut materialize,
                        );
                        ops.push(Op::Lanes(entry, call));
                    }
                }
                VirtualOp::Copy(value, from) => {
                    let (dst, from) = (places.of(*value), arg(*from));
                    if from != Arg::Slot(dst) {
                        let (entry, call) = dispatch::copy(level, dst, from);
                        ops.push(Op::Lanes(entry, call));
                    }
                }
                VirtualOp::MaskedMove(value, mask, from) => {
                    let dst = places.of(*value);
                    let (mask, from) = (arg(*mask), arg(*from));
                    let (entry, call) =
                        dispatch::masked_move(level, dst, mask, from, &mut materialize);
                    ops.push(Op::Lanes(entry, call));
                }
                VirtualOp::Unit(part) => {
                    let Some((part, native)) = linearizer.part(*part) else { continue };
                    coverage.1 += part.operations;
                    let placed = |values: &[Value]| {
                        let mut list: Vec<_> =
                            values.iter().map(|&value| (value, places.of(value))).collect();
                        list.sort_unstable_by_key(|(_, slot)| *slot);
                        list
                    };
                    let (reads, writes) = (placed(&part.reads), placed(&part.writes));
                    let moves: Vec<_> = (part.moves.iter())
                        .map(|&(value, mask, from)| codegen::PhiMove {
                            value,
                            slot: places.of(value),
                            mask,
                            from,
                        })
                        .collect();
                    let colors: Vec<_> = (part.colors.iter())
                        .map(|&(target, channels, numbers)| codegen::ColorStore {
                            target,
                            channels,
                            non_nan: numbers,
                            covered: discards,
                        })
                        .collect();
                    let tables = native.tables(&part.units);
                    let unit = CompileUnit {
                        body: &part.body,
                        reads: &reads,
                        writes: &writes,
                        moves: &moves,
                        colors: &colors,
                        stride,
                        fuel_checked: part.fuel_checked,
                        tables: &tables,
                        interpolants: native.interpolants(),
                        values: &linearizer.values,
                    };
                    if let Some((instructions, address)) = part.consume {
                        ops.push(Op::ConsumeFuel { instructions, address });
                    }
                    match native.compiler.compile(&unit) {
                        Some(kernel) => {
                            coverage.0 += part.operations;
                            let discards = part.discards;
                            units.extend_from_slice(&part.units);
                            ops.push(Op::Kernel(codegen::KernelCall { kernel, discards }));
                        }
                        None => refused.push(part.number),
                    }
                }
                VirtualOp::Other(stmt) => ops.extend(other(stmt, &arg, &places)),
                VirtualOp::Deleted => {}
                VirtualOp::PushExec(mask, to) => {
                    ops.push(Op::PushExec { mask: arg(*mask), to: *to });
                }
                VirtualOp::PopExec => ops.push(Op::PopExec),
                VirtualOp::LoopBegin(counter, max_trips) => {
                    ops.push(Op::LoopBegin { counter: *counter, max_trips: *max_trips });
                }
                VirtualOp::LoopBack(counter, mask, to) => {
                    let mask = mask.map(arg);
                    ops.push(Op::LoopBack { counter: *counter, mask, to: *to });
                }
            }
        }
        moved.push(position(ops.len()));
        for op in &mut ops {
            if let Op::PushExec { to, .. } | Op::LoopBack { to, .. } = op {
                *to = moved[*to as usize];
            }
        }
        let color = |channels: [Operand; 4]| match stores_colors {
            true => ColorSource::Stored { covered: discards },
            false => ColorSource::Slots(channels.map(arg)),
        };
        let code = Self {
            inputs,
            ops,
            slots: places.count + position(constants.len() - own),
            constants,
            uniforms: own,
            counters: linearizer.counters,
            colors: function.colors.map(|channels| channels.map(color)),
            depth: depth.map(|(depth, written)| (arg(depth), arg(written))),
            discards,
            coverage,
            units,
            interpolants: native.map(|native| native.interpolants().to_vec()).unwrap_or_default(),
        };
        (code, columns, refused)
    }

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

    /// The texels that machine code fetches from, by texture unit.
    pub(super) fn texels<'a>(&self, bindings: &'a Bindings) -> [TexelView<'a>; TEXTURE_UNITS] {
        let mut texels = [TexelView::NONE; TEXTURE_UNITS];
        for unit in self.units.iter().map(|unit| usize::from(*unit)) {
            if let Some(sampler) = bindings.sampler(unit) {
                texels[unit] = sampler.texel_view();
            }
        }
        texels
    }
}

/// Compiles with the kernels of a level.
struct Compile<'a> {
    function: &'a Function,
    uniforms: &'a [(Value, f32)],
    native: Option<&'a UnitContext<'a>>,
}

impl SimdTask for Compile<'_> {
    type Output = (Bytecode, u32, Vec<usize>);

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> (Bytecode, u32, Vec<usize>) {
        Bytecode::compile(self.function, self.uniforms, level, self.native)
    }
}

fn other(stmt: &Stmt, arg: &impl Fn(Operand) -> Arg, places: &SlotAllocation) -> Option<Op> {
    Some(match stmt {
        Stmt::Fetch(fetch) => Op::Fetch(Box::new(FetchOp {
            unit: fetch.unit,
            op: fetch.op,
            unscaled: fetch.unscaled,
            strq: fetch.strq.map(arg),
            dx: fetch.dx.map(arg),
            dy: fetch.dy.map(arg),
            active: arg(fetch.active),
            texel: fetch.texel.map(|value| value.map(|value| places.of(value))),
        })),
        Stmt::Discard(mask) => Op::Discard(arg(*mask)),
        Stmt::GroupHazard(mask) => Op::GroupHazard(arg(*mask)),
        Stmt::Stat { channel, mask } => Op::Stat { channel: *channel, mask: arg(*mask) },
        Stmt::ConsumeFuel { instructions, address } => {
            Op::ConsumeFuel { instructions: *instructions, address: *address }
        }
        Stmt::Def(..) | Stmt::If(_) | Stmt::Loop(_) => return None,
    })
}
