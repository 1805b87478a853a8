//! Bytecode generation.
//!
//! The region tree is [linearised](super::linearizer). Each value has a slot while it is [live](super::live_ranges), so the slots in use
//! stay in the cache.

use super::arg::Arg;
use super::bytecode::{Bytecode, ColorSource, FetchOp, Op};
use super::codegen::{CompileUnit, KernelCall, PhiMove};
use super::constant_load::ConstantLoad;
use super::dispatch::{self, Kernel, KernelArgs};
use super::fusion;
use super::linearizer::{Linearizer, VirtualOp, position};
use super::live_ranges::{LiveRanges, SlotAllocation};
use super::reg_file::ascending;
use super::tile::{batch_chunks, batch_width};
use super::unit_builder::UnitContext;
use r500_ir::{Function, Opcode, Operand, Stmt, Value};
use r500_lanes::Chunk;
use r500_simd::{Simd, SimdLevel, SimdTask};

impl Bytecode {
    /// Compiles a function, with the kernels of an instruction-set level.
    pub(super) fn new(function: &Function, uniforms: &[(Value, f32)], simd: Simd) -> Self {
        simd.run_plain(Compile { function, uniforms, native: None }).0
    }

    /// Compiles a function, with machine code for the statements that a compiler supports. Returns the bytecode, the number of columns of
    /// chunks in a batch, and the units that the compiler refused: if there are any, the bytecode is incomplete.
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
        let kill = |stmt: &Stmt| matches!(stmt, Stmt::Discard(_));
        let discards = function.body.iter().any(|stmt| stmt.any(&mut { kill }));
        let mut linearizer = Linearizer::new(function, native);
        let stores_colors = linearizer.store_colors(function, discards);
        let colors = match stores_colors {
            true => [None; 4],
            false => linearizer.canonical_colors(function),
        };
        let depth = function.depth;
        let outputs = colors.iter().flatten().flatten().copied();
        let outputs =
            outputs.chain(depth.into_iter().flat_map(|(depth, written)| [depth, written]));
        let outputs = outputs.chain(function.results.iter().copied());
        for operand in outputs {
            linearizer.uses.push((linearizer.at(), operand));
        }
        linearizer.note_unit_outputs();
        if native.is_none() {
            fusion::fuse(level, &mut linearizer);
        }
        let mut places = LiveRanges::of(&linearizer).allocate();
        // Uniforms have reserved slots.
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
        // Constants are materialised for ops only; little of a function remains ops with machine code.
        let columns = batch_width(places.count);
        let chunks = batch_chunks(columns, !function.results.is_empty());
        let stride = chunks * (size_of::<Chunk>() as u32);
        let mut refused = Vec::new();
        let (mut coverage, mut units) = ((0, 0), Vec::new());
        let mut inputs = Vec::new();
        let mut ops = Vec::with_capacity(linearizer.ops.len());
        let mut calls = Vec::new();
        // Jumps refer to positions of virtual ops, of which inputs and self-copies are dropped.
        let mut moved = Vec::with_capacity(linearizer.ops.len() + 1);
        for op in &linearizer.ops {
            moved.push(position(ops.len()));
            match op {
                VirtualOp::Def(value, inst) => {
                    let dst = places.of(*value);
                    if let Opcode::Input { input, channel } = inst.opcode {
                        inputs.push((input, channel, dst));
                    } else if let Opcode::LoadConstant { base, channel } = inst.opcode {
                        coverage.1 += 1;
                        let index = arg(inst.args[0]);
                        ops.push(Op::LoadConstant(ConstantLoad { dst, index, base, channel }));
                    } else {
                        coverage.1 += 1;
                        let args = inst.args.map(arg);
                        let call = dispatch::select_kernel(
                            level,
                            inst.opcode,
                            dst,
                            args,
                            &mut materialize,
                        );
                        push_call(&mut ops, &mut calls, call);
                    }
                }
                VirtualOp::Fused(value, kernel, operands) => {
                    coverage.1 += 2;
                    let mut args = [Arg::Const(0.0); 5];
                    for (to, operand) in args.iter_mut().zip(operands) {
                        *to = arg(*operand);
                    }
                    let call = KernelArgs::fused(places.of(*value), args);
                    push_call(&mut ops, &mut calls, (*kernel, call));
                }
                VirtualOp::Copy(value, from) => {
                    let (dst, from) = (places.of(*value), arg(*from));
                    if from != Arg::Slot(dst) {
                        push_call(&mut ops, &mut calls, dispatch::copy(level, dst, from));
                    }
                }
                VirtualOp::CanonicalNan(value, from) => {
                    let (dst, from) = (places.of(*value), places.of(*from));
                    push_call(&mut ops, &mut calls, dispatch::canonical_nan(level, dst, from));
                }
                VirtualOp::MaskedMove(value, mask, from) => {
                    let dst = places.of(*value);
                    let (mask, from) = (arg(*mask), arg(*from));
                    let call = dispatch::masked_move(level, dst, mask, from, &mut materialize);
                    push_call(&mut ops, &mut calls, call);
                }
                VirtualOp::Unit(number) => {
                    let Some((builder, native)) = linearizer.unit(*number) else { continue };
                    coverage.1 += builder.operations;
                    let placed = |values: &[Value]| {
                        let mut list: Vec<_> =
                            values.iter().map(|&value| (value, places.of(value))).collect();
                        list.sort_unstable_by_key(|(_, slot)| *slot);
                        list
                    };
                    let (reads, writes) = (placed(&builder.reads), placed(&builder.writes));
                    let moves: Vec<_> = (builder.moves.iter())
                        .map(|&(value, mask, from)| PhiMove {
                            value,
                            slot: places.of(value),
                            mask,
                            from,
                        })
                        .collect();
                    let tables = native.tables(&builder.units);
                    let unit = CompileUnit {
                        body: &builder.body,
                        reads: &reads,
                        writes: &writes,
                        moves: &moves,
                        colors: &builder.colors,
                        stride,
                        fuel_checked: builder.fuel_checked,
                        tables: &tables,
                        interpolants: &native.resources.interpolants,
                        values: &linearizer.values,
                    };
                    if let Some((instructions, address)) = builder.consume {
                        ops.push(Op::ConsumeFuel { instructions, address });
                    }
                    match native.compiler.compile(&unit) {
                        Some(kernel) => {
                            coverage.0 += builder.operations;
                            let discards = builder.discards;
                            units.extend_from_slice(&builder.units);
                            let fuel_checked = builder.fuel_checked;
                            ops.push(Op::Kernel(KernelCall { kernel, discards, fuel_checked }));
                        }
                        None => refused.push(builder.number),
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
        let colors = match stores_colors {
            true => function
                .colors
                .map(|color| color.map(|_| ColorSource::Stored { covered: discards })),
            false => {
                colors.map(|color| color.map(|channels| ColorSource::Slots(channels.map(arg))))
            }
        };
        let code = Self {
            inputs,
            ops,
            calls,
            slots: places.count + position(constants.len() - own),
            constants,
            uniforms: own,
            counters: linearizer.counters,
            colors,
            depth: depth.map(|(depth, written)| (arg(depth), arg(written))),
            discards,
            coverage,
            units,
            interpolants: native
                .map(|native| native.resources.interpolants.clone())
                .unwrap_or_default(),
            results: function.results.iter().map(|result| arg(*result)).collect(),
        };
        (code, columns, refused)
    }
}

/// Appends a call of a kernel; to the last op if that calls the same kernel. Channels of an instruction mostly do, which amortises
/// dispatch.
///
/// No jump leads between two calls of an op: a jump target follows the start of a loop or the end of an arm.
fn push_call(ops: &mut Vec<Op>, calls: &mut Vec<KernelArgs>, (kernel, call): (Kernel, KernelArgs)) {
    let at = position(calls.len());
    calls.push(call);
    match ops.last_mut() {
        Some(Op::Lanes(last, calls)) if last.is_same(kernel) => calls[1] = at + 1,
        _ => ops.push(Op::Lanes(kernel, [at, at + 1])),
    }
}

/// Compilation with the kernels of a level.
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
        Stmt::Fetch(fetch) => {
            let texel = fetch.texel.map(|value| value.map(|value| places.of(value)));
            Op::Fetch(Box::new(FetchOp {
                unit: fetch.unit,
                op: fetch.op,
                unscaled: fetch.unscaled,
                strq: fetch.strq.map(arg),
                dx: fetch.dx.map(arg),
                dy: fetch.dy.map(arg),
                active: arg(fetch.active),
                texel,
                ascending: ascending(texel),
            }))
        }
        Stmt::Discard(mask) => Op::Discard(arg(*mask)),
        Stmt::GroupHazard(mask) => Op::GroupHazard(arg(*mask)),
        Stmt::Stat { channel, mask } => Op::Stat { channel: *channel, mask: arg(*mask) },
        Stmt::ConsumeFuel { instructions, address } => {
            Op::ConsumeFuel { instructions: *instructions, address: *address }
        }
        Stmt::Def(..) | Stmt::If(_) | Stmt::Loop(_) => return None,
    })
}
