//! From the intermediate form to ops over slots.
//!
//! A slot holds one value of every pixel of a batch. The tree of regions becomes a list of ops with
//! jumps; each value gets a slot for as long as somebody looks at it (linearizer scan), so that the slots
//! in use stay in the processor's nearest cache. The slot that a op writes is never one that it
//! reads, so ops are loops over memory that does not overlap.

use std::collections::BTreeSet;

use r500_isa::values::TexOp;

use super::codegen::{self, CompileUnit, TexelView, UnitBuilder, UnitContext};
use super::dispatch::{self, KernelArgs};
use super::lanes::Chunk;
use crate::Bindings;
use crate::ir::{Function, Loop, Opcode, Operand, Stmt, Value};
use r500_simd::{Simd, SimdLevel, SimdTask};

/// A slot, or the same bits for every pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    Slot(u32),
    Const(f32),
}

/// One op over a batch.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// A loop over a slot.
    Lanes(dispatch::Kernel, KernelArgs),
    /// Texels.
    Fetch(Box<FetchOp>),
    /// Pixels of the mask lose their coverage.
    Discard(Arg),
    /// Covered pixels of the mask are counted.
    Stat { channel: u8, mask: Arg },
    /// Instructions of the program that begin here.
    ConsumeFuel { instructions: u32, address: u32 },
    /// Chunks are noted where pixels of the mask execute and none of them is covered.
    GroupHazard(Arg),
    /// Begins a region for the chunks where the mask has a pixel; goes on at `to` if there is none.
    PushExec { mask: Arg, to: u32 },
    /// Ends the region.
    PopExec,
    /// Begins a loop, a region too: counter `counter` is set to `max_trips`.
    LoopBegin { counter: u32, max_trips: u32 },
    /// Goes back to `to` if passes are left, for the chunks where the mask, if there is one, has a
    /// pixel. Without passes or chunks the region ends.
    LoopBack { counter: u32, mask: Option<Arg>, to: u32 },
    /// Machine code.
    Kernel(codegen::KernelCall),
}

/// A texture fetch: see [`Fetch`](crate::ir::Fetch).
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

/// Where a target's colour is behind the ops.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColorSource {
    /// Channel by channel.
    Slots([Arg; 4]),
    /// On the canvas: see [`codegen::ColorStore`].
    Stored { covered: bool },
}

/// A function as ops.
#[derive(Clone, Debug)]
pub(super) struct Bytecode {
    /// Inputs to deliver before the ops: input, channel, slot.
    pub(super) inputs: Vec<(u8, u8, u32)>,
    pub(super) ops: Vec<Op>,
    /// How many slots there are.
    pub(super) slots: u32,
    /// Slots that hold a constant.
    pub(super) constants: Vec<(u32, f32)>,
    /// How many loops run inside each other.
    pub(super) counters: u32,
    pub(super) colors: [Option<ColorSource>; 4],
    pub(super) depth: Option<(Arg, Arg)>,
    /// Whether pixels lose their coverage.
    pub(super) discards: bool,
    /// Operations that are machine code, and all.
    pub(super) coverage: (usize, usize),
    /// The units that machine code fetches from.
    units: Vec<u8>,
    /// The inputs, and their channels, that machine code computes.
    pub(super) interpolants: Vec<[u8; 2]>,
}

impl Bytecode {
    /// The ops of a function, with the loops of a level.
    pub(super) fn new(function: &Function, parameters: &[(Value, u32)], simd: Simd) -> Self {
        simd.run_plain(Compile { function, parameters, native: None }).0
    }

    /// The ops of a function, with machine code for some of it; how many chunks a batch has beside
    /// each other; and the numbers of units that the compiler refused. If there are any, the code
    /// lacks them.
    pub(super) fn with_native(
        function: &Function,
        parameters: &[(Value, u32)],
        simd: Simd,
        native: &UnitContext<'_>,
    ) -> (Self, u32, Vec<usize>) {
        simd.run_plain(Compile { function, parameters, native: Some(native) })
    }

    fn compile<L: SimdLevel>(
        function: &Function,
        parameters: &[(Value, u32)],
        level: L,
        native: Option<&UnitContext<'_>>,
    ) -> (Self, u32, Vec<usize>) {
        let mut linearizer =
            Linearizer { first_extra: function.values, native, ..Linearizer::default() };
        linearizer.list(&function.body);
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
        let mut places = LiveRanges::of(&linearizer, function.values as usize).allocate();
        // Parameters stay in slots of their own.
        let mut constants: Vec<(u32, f32)> = Vec::new();
        for &(value, bits) in parameters {
            if let Some(place) = places.slots.get_mut(value.index()) {
                *place = places.count;
                constants.push((places.count, f32::from_bits(bits)));
                places.count += 1;
            }
        }
        let (places, own) = (places, constants.len());
        let arg = |operand: Operand| match operand {
            Operand::Const(bits) => Arg::Const(f32::from_bits(bits)),
            Operand::Value(value) => Arg::Slot(places.of(value)),
        };
        let mut materialize = |x: f32| {
            let known = constants[own..].iter().find(|(_, known)| known.to_bits() == x.to_bits());
            Arg::Slot(known.map(|(slot, _)| *slot).unwrap_or_else(|| {
                let slot = places.count + u32::try_from(constants.len() - own).unwrap_or(0);
                constants.push((slot, x));
                slot
            }))
        };
        // Constants are materialize out for ops only, of which few are left beside machine code.
        let columns = super::batch_width(places.count);
        let stride = columns * (super::ROWS / 4) * u32::try_from(size_of::<Chunk>()).unwrap_or(64);
        let kill = |stmt: &Stmt| matches!(stmt, Stmt::Discard(_));
        let discards = function.body.iter().any(|stmt| stmt.any(&mut { kill }));
        let mut refused = Vec::new();
        let (mut coverage, mut units) = ((0, 0), Vec::new());
        let mut inputs = Vec::new();
        let mut ops = Vec::with_capacity(linearizer.ops.len());
        // Jumps are to places among the virtual ops, of which inputs and copies onto themselves go.
        let mut moved = Vec::with_capacity(linearizer.ops.len() + 1);
        for op in &linearizer.ops {
            moved.push(u32::try_from(ops.len()).unwrap_or(u32::MAX));
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
                        source_locs: &function.source_locs,
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
        moved.push(u32::try_from(ops.len()).unwrap_or(u32::MAX));
        for op in &mut ops {
            if let Op::PushExec { to, .. } | Op::LoopBack { to, .. } = op {
                *to = moved.get(*to as usize).copied().unwrap_or(u32::MAX);
            }
        }
        let color = |channels: [Operand; 4]| match stores_colors {
            true => ColorSource::Stored { covered: discards },
            false => ColorSource::Slots(channels.map(arg)),
        };
        let code = Self {
            inputs,
            ops,
            slots: places.count + u32::try_from(constants.len() - own).unwrap_or(0),
            constants,
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

    /// Whether machine code paints its colours.
    pub(super) fn stores_colors(&self) -> bool {
        self.colors.iter().flatten().any(|color| matches!(color, ColorSource::Stored { .. }))
    }

    /// What machine code fetches from, by unit.
    pub(super) fn texels<'a>(&self, bindings: &'a Bindings) -> Vec<TexelView<'a>> {
        let last = self.units.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let mut texels = vec![TexelView::NONE; last];
        for unit in self.units.iter().map(|unit| usize::from(*unit)) {
            if let Some(sampler) = bindings.sampler(unit) {
                texels[unit] = sampler.texel_view();
            }
        }
        texels
    }
}

/// Makes ops with the loops of a level.
struct Compile<'a> {
    function: &'a Function,
    parameters: &'a [(Value, u32)],
    native: Option<&'a UnitContext<'a>>,
}

impl SimdTask for Compile<'_> {
    type Output = (Bytecode, u32, Vec<usize>);

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> (Bytecode, u32, Vec<usize>) {
        Bytecode::compile(self.function, self.parameters, level, self.native)
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

/// A op whose values have no slots yet. Jumps lead to places in the list of these.
#[derive(Debug)]
enum VirtualOp<'a> {
    Def(Value, crate::ir::Inst),
    Copy(Value, Operand),
    MaskedMove(Value, Operand, Operand),
    Other(&'a Stmt),
    PushExec(Operand, u32),
    PopExec,
    LoopBegin(u32, u32),
    LoopBack(u32, Option<Operand>, u32),
    /// A segment, by its place in the list of these.
    Unit(usize),
    Deleted,
}

/// The tree of regions as a list, with who writes and reads what where.
#[derive(Default)]
struct Linearizer<'a> {
    ops: Vec<VirtualOp<'a>>,
    writes: Vec<(u32, Value)>,
    uses: Vec<(u32, Operand)>,
    /// First and last place of each loop.
    loops: Vec<(u32, u32)>,
    depth: u32,
    counters: u32,
    /// Values made here, beyond those of the function.
    extra: u32,
    first_extra: u32,
    native: Option<&'a UnitContext<'a>>,
    parts: Vec<UnitBuilder<'a>>,
    /// Segments met, refused ones too.
    units: usize,
}

impl<'a> Linearizer<'a> {
    fn at(&self) -> u32 {
        u32::try_from(self.ops.len()).unwrap_or(u32::MAX)
    }

    fn list(&mut self, stmts: &'a [Stmt]) {
        let Some(native) = self.native else { return self.one_by_one(stmts) };
        let mut rest = stmts;
        while let Some(first) = rest.first() {
            let takes = native.supports(first);
            let alike = rest.iter().take_while(|stmt| native.supports(stmt) == takes).count();
            let (run, behind) = rest.split_at(alike);
            rest = behind;
            let number = self.units;
            self.units += usize::from(takes);
            let part = (takes && !native.refused.contains(&number)).then(|| UnitBuilder::new(run));
            match part.filter(|part| part.operations > 0) {
                Some(part) => self.unit(UnitBuilder { number, ..part }),
                None => self.one_by_one(run),
            }
        }
    }

    /// A op for a whole segment.
    fn unit(&mut self, part: UnitBuilder<'a>) {
        let at = self.at();
        self.uses.extend(part.reads.iter().map(|value| (at, Operand::Value(*value))));
        self.ops.push(VirtualOp::Unit(self.parts.len()));
        self.parts.push(part);
    }

    /// Has the last segment, or one of its own, paint colours, if the compiler can; whether it does.
    fn store_colors(&mut self, function: &Function) -> bool {
        let Some(native) = self.native.filter(|native| native.compiler.capabilities().colors)
        else {
            return false;
        };
        if !matches!(self.ops.last(), Some(VirtualOp::Unit(_))) {
            let number = self.units;
            self.units += 1;
            if native.refused.contains(&number) {
                return false;
            }
            self.unit(UnitBuilder { number, ..UnitBuilder::default() });
        }
        let at = self.at() - 1;
        let colors = function.colors.iter().zip(function.non_nan);
        for (target, (channels, numbers)) in (0..).zip(colors) {
            let Some(channels) = channels else { continue };
            self.uses.extend(channels.map(|channel| (at, channel)));
            if let Some(part) = self.parts.last_mut() {
                part.add_uses(channels.iter().copied());
                part.colors.push((target, *channels, numbers));
            }
        }
        true
    }

    /// Notes what units leave to others, when all that looks at anything is known.
    fn note_unit_outputs(&mut self) {
        let mut makers = vec![usize::MAX; self.first_extra as usize];
        for (number, part) in self.parts.iter().enumerate() {
            part.defs.iter().for_each(|value| makers[value.index()] = number);
        }
        for (at, operand) in &self.uses {
            let Some(value) = operand.value() else { continue };
            let Some(&maker) = makers.get(value.index()) else { continue };
            // What it moves itself it need not leave.
            let itself =
                matches!(self.ops.get(*at as usize), Some(VirtualOp::Unit(part)) if *part == maker);
            if let Some(part) = self.parts.get_mut(maker).filter(|_| !itself) {
                part.writes.push(value);
            }
        }
        for (at, op) in self.ops.iter().enumerate() {
            let VirtualOp::Unit(part) = op else { continue };
            let (Some(part), Ok(at)) = (self.parts.get_mut(*part), u32::try_from(at)) else {
                continue;
            };
            part.writes.sort_unstable();
            part.writes.dedup();
            self.writes.extend(part.writes.iter().map(|value| (at, *value)));
        }
    }

    /// A segment, and who compiles it.
    fn part(&self, number: usize) -> Option<(&UnitBuilder<'a>, &'a UnitContext<'a>)> {
        Some((self.parts.get(number)?, self.native?))
    }

    fn one_by_one(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Def(value, inst) => {
                    inst.args().iter().for_each(|arg| self.uses.push((self.at(), *arg)));
                    self.writes.push((self.at(), *value));
                    self.ops.push(VirtualOp::Def(*value, *inst));
                }
                Stmt::If(branch) => self.branch(branch),
                Stmt::Loop(repeat) => self.repeat(repeat),
                stmt => {
                    let at = self.at();
                    stmt.operands(&mut |operand| self.uses.push((at, operand)));
                    if let Stmt::Fetch(fetch) = stmt {
                        let texel = fetch.texel.into_iter().flatten();
                        texel.for_each(|value| self.writes.push((at, value)));
                    }
                    self.ops.push(VirtualOp::Other(stmt));
                }
            }
        }
    }

    /// Has a segment move a value as its last deed. False if there is none.
    fn push_phi_move(&mut self, value: Value, mask: Option<Operand>, from: Operand) -> bool {
        // What a compiler refuses falls back to ops, and others would have other numbers then.
        if self.native.is_none_or(|native| !native.refused.is_empty()) {
            return false;
        }
        if !matches!(self.ops.last(), Some(VirtualOp::Unit(_))) {
            let number = self.units;
            self.units += 1;
            self.unit(UnitBuilder { number, ..UnitBuilder::default() });
        }
        let Some(part) = self.parts.last_mut() else { return false };
        let old = mask.map(|_| Operand::Value(value));
        let looks = [mask, Some(from), old].into_iter().flatten();
        part.push_phi_move((value, mask, from), looks.clone());
        let at = self.at() - 1;
        self.uses.extend(looks.map(|operand| (at, operand)));
        self.writes.push((at, value));
        true
    }

    fn copy(&mut self, value: Value, from: Operand) {
        if self.push_phi_move(value, None, from) {
            return;
        }
        self.uses.push((self.at(), from));
        self.writes.push((self.at(), value));
        self.ops.push(VirtualOp::Copy(value, from));
    }

    fn masked_move(&mut self, value: Value, mask: Operand, from: Operand) {
        if self.push_phi_move(value, Some(mask), from) {
            return;
        }
        for operand in [mask, from, Operand::Value(value)] {
            self.uses.push((self.at(), operand));
        }
        self.ops.push(VirtualOp::MaskedMove(value, mask, from));
    }

    fn branch(&mut self, branch: &'a crate::ir::If) {
        for phi in &branch.phis {
            if let Some(incoming) = phi.incoming {
                self.copy(phi.value, incoming);
            }
        }
        let mut begun: Vec<bool> = branch.phis.iter().map(|phi| phi.incoming.is_some()).collect();
        for (arm, (mask, stmts)) in branch.masks.iter().zip(&branch.arms).enumerate() {
            let skip = (!stmts.is_empty()).then(|| {
                self.uses.push((self.at(), *mask));
                self.ops.push(VirtualOp::PushExec(*mask, 0));
                self.ops.len() - 1
            });
            self.list(stmts);
            for (phi, begun) in branch.phis.iter().zip(&mut begun) {
                let Some(from) = phi.arms[arm] else { continue };
                if std::mem::replace(begun, true) {
                    self.masked_move(phi.value, *mask, from);
                } else {
                    self.copy(phi.value, from);
                }
            }
            let Some(skip) = skip else { continue };
            self.ops.push(VirtualOp::PopExec);
            let to = self.at();
            if let Some(VirtualOp::PushExec(_, place)) = self.ops.get_mut(skip) {
                *place = to;
            }
        }
    }

    fn repeat(&mut self, repeat: &'a Loop) {
        for param in &repeat.params {
            self.copy(param.value, param.init);
        }
        let counter = self.depth;
        self.depth += 1;
        self.counters = self.counters.max(self.depth);
        self.ops.push(VirtualOp::LoopBegin(counter, repeat.max_trips));
        let first = self.at();
        self.list(&repeat.body);
        self.loop_back_moves(repeat, first);
        if let Some(mask) = repeat.continue_mask {
            self.uses.push((self.at(), mask));
        }
        self.ops.push(VirtualOp::LoopBack(counter, repeat.continue_mask, first));
        self.loops.push((first, self.at()));
        self.depth -= 1;
    }

    /// Carried values take their next ones, all at once: what is read of those that are overwritten
    /// is set aside first.
    fn loop_back_moves(&mut self, repeat: &'a Loop, first: u32) {
        let is_param =
            |operand: Operand| repeat.params.iter().any(|c| Operand::Value(c.value) == operand);
        let mut moves = Vec::new();
        for param in &repeat.params {
            let (value, next) = (param.value, param.next);
            if next == Operand::Value(value) {
                continue;
            }
            if is_param(next) {
                let saved = Value(self.first_extra + self.extra);
                self.extra += 1;
                self.copy(saved, next);
                moves.push((value, None, Operand::Value(saved)));
                continue;
            }
            // What stays as it is for some pixels changes in its place for the others.
            let wanted =
                repeat.continue_mask.into_iter().chain(repeat.params.iter().map(|c| c.next));
            let moved = moves.iter().flat_map(|(_, mask, from)| [*mask, Some(*from)]);
            let alone = wanted.filter(|operand| *operand == next).count() == 1
                && !moved.flatten().any(|operand| operand == next);
            match self.selection(next, value, first).filter(|_| alone) {
                Some((mask, from)) if !is_param(mask) && !is_param(from) => {
                    self.delete_def(next);
                    moves.push((value, Some(mask), from));
                }
                _ => moves.push((value, None, next)),
            }
        }
        for (value, mask, from) in moves {
            match mask {
                Some(mask) => self.masked_move(value, mask, from),
                None => self.copy(value, from),
            }
        }
        // They must outlive the pass.
        for param in &repeat.params {
            self.uses.push((self.at(), Operand::Value(param.value)));
        }
    }

    /// Mask and value, if `next` is computed from place `first` on as `mask ? value : old` and
    /// nobody has looked at it.
    fn selection(&self, next: Operand, old: Value, first: u32) -> Option<(Operand, Operand)> {
        let made = self.ops[first as usize..].iter().find_map(|op| match op {
            VirtualOp::Def(value, inst) if Operand::Value(*value) == next => Some(*inst),
            _ => None,
        })?;
        let [mask, from, kept] = made.args;
        let selects = made.opcode == Opcode::Select && kept == Operand::Value(old);
        (selects && !self.uses.iter().any(|(_, operand)| *operand == next)).then_some((mask, from))
    }

    /// Takes back the op that computes a value.
    fn delete_def(&mut self, value: Operand) {
        let made = self
            .ops
            .iter()
            .position(|op| matches!(op, VirtualOp::Def(made, _) if Operand::Value(*made) == value));
        let Some(at) = made else { return };
        self.ops[at] = VirtualOp::Deleted;
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.uses.retain(|(place, _)| *place != at);
        self.writes.retain(|(place, _)| *place != at);
    }
}

/// From where to where each value is needed: place of the first write, place of the last look.
struct LiveRanges {
    spans: Vec<Option<(u32, u32)>>,
    /// Values that may coverage a slot: the first is copied into the second.
    copies: Vec<(u32, Value, Value)>,
}

impl LiveRanges {
    fn of(linearizer: &Linearizer<'_>, values: usize) -> Self {
        let count = values + linearizer.extra as usize;
        let mut spans: Vec<Option<(u32, u32)>> = vec![None; count];
        for &(at, value) in &linearizer.writes {
            let span = spans[value.index()].get_or_insert((at, at));
            span.0 = span.0.min(at);
            span.1 = span.1.max(at);
        }
        for &(at, operand) in &linearizer.uses {
            if let Some(value) = operand.value()
                && let Some(span) = &mut spans[value.index()]
            {
                span.1 = span.1.max(at);
            }
        }
        // What comes from before a loop and is looked at inside stays to its end. Inner loops come
        // first in the list, so that theirs reaches the outer ones.
        let mut inside: Vec<Vec<Value>> = vec![Vec::new(); linearizer.loops.len()];
        for &(at, operand) in &linearizer.uses {
            let Some(value) = operand.value() else { continue };
            for (number, &(first, last)) in linearizer.loops.iter().enumerate() {
                if (first..last).contains(&at) {
                    inside[number].push(value);
                }
            }
        }
        for (number, &(first, last)) in linearizer.loops.iter().enumerate() {
            for value in &inside[number] {
                if let Some(span) = &mut spans[value.index()]
                    && span.0 < first
                {
                    span.1 = span.1.max(last - 1);
                }
            }
        }
        let copies = linearizer.ops.iter().enumerate().filter_map(|(at, op)| match op {
            VirtualOp::Copy(to, Operand::Value(from)) => {
                Some((u32::try_from(at).unwrap_or(u32::MAX), *from, *to))
            }
            _ => None,
        });
        Self { spans, copies: copies.collect() }
    }

    /// Gives every value a slot.
    fn allocate(&self) -> SlotAllocation {
        let mut by_start: Vec<(u32, u32, usize)> = (self.spans.iter().enumerate())
            .filter_map(|(value, span)| span.map(|(start, last)| (start, last, value)))
            .collect();
        by_start.sort_unstable();
        let mut slots = vec![u32::MAX; self.spans.len()];
        // Slots in use, by where they come free; the lowest free slot is taken first.
        let mut busy = BTreeSet::new();
        let mut free = BTreeSet::new();
        let mut count = 0;
        for (start, last, value) in by_start {
            // A slot whose last look is in this very op is not free yet.
            while let Some(&(until, slot)) = busy.first()
                && until < start
            {
                busy.pop_first();
                free.insert(slot);
            }
            let copied = self.coalesce_candidate(start, value);
            let slot = match copied {
                // A copy of what nobody needs any more takes its place.
                Some(from) if busy.remove(&(start, slots[from])) => slots[from],
                _ => free.pop_first().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                }),
            };
            slots[value] = slot;
            busy.insert((last, slot));
        }
        SlotAllocation { slots, count }
    }

    /// The value that the first write of this one copies, if that is the last look at it.
    fn coalesce_candidate(&self, start: u32, value: usize) -> Option<usize> {
        let copy = self.copies.binary_search_by_key(&start, |(at, ..)| *at).ok()?;
        let (_, from, to) = self.copies[copy];
        let ends = self.spans[from.index()].is_some_and(|(_, last)| last == start);
        (to.index() == value && ends).then_some(from.index())
    }
}

/// The slot of each value.
struct SlotAllocation {
    slots: Vec<u32>,
    count: u32,
}

impl SlotAllocation {
    fn of(&self, value: Value) -> u32 {
        self.slots.get(value.index()).copied().unwrap_or(0)
    }
}
