//! Code emission: encodes the low-level IR as WebAssembly functions.
//!
//! There are two forms. The speculative form computes as WebAssembly does and checks guards for subnormals; values are stored to slots at
//! the end of a group, if no guard failed. Otherwise the exact form recomputes the group (deoptimisation), flushing operands and results as
//! the reference semantics do. Colours are stored as soon as they are computed: nothing reads them, and the exact form stores all colours
//! of the group again.
//!
//! A value is a local of the function, for which the host's compiler allocates a register. Constants are locals, too, set on entry: most
//! hosts are slow at materialising a vector constant.

mod operations;
mod pixels;

use std::collections::{BTreeMap, HashMap, HashSet};

use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, MemArgTarget, ValType};

use super::guards::{self, GuardSet};
use r500_lir::{
    Branch, GatherChannel, LirFunction, LoadTexel, Loop, MemOperand, Opcode, Region, StoreColor,
    VReg,
};

/// Offsets of the context's fields, `Context` in `call`.
pub(super) mod context {
    pub(crate) const SLOTS: u64 = 0;
    pub(crate) const BEGIN: u64 = 4;
    pub(crate) const END: u64 = 8;
    pub(crate) const GRANT: u64 = 12;
    pub(crate) const FUEL: u64 = 16;
    pub(crate) const ADDRESS: u64 = 20;
    pub(crate) const ADDED: u64 = 24;
    pub(crate) const MOST: u64 = 32;
    pub(crate) const REFILL: u64 = 40;
    pub(crate) const COVERED: u64 = 44;
    /// Four bytes for each texture unit.
    pub(crate) const CELLS: u64 = 48;
    pub(crate) const INTERPOLANTS: u64 = 112;
    pub(crate) const OFFSETS: u64 = 116;
    /// Four bytes for each target.
    pub(crate) const PLANES: u64 = 120;
    /// Four bytes for each target.
    pub(crate) const ROWS: u64 = 136;
}

/// Indices of the module's functions.
pub(super) mod function {
    pub(crate) const RUN: u32 = 0;
    pub(crate) const EXACT: u32 = 1;
}

/// Indices of the module's function types.
pub(super) mod signature {
    /// Context → 1 if it stopped, else 0.
    pub(crate) const RUN: u32 = 0;
    /// Context, group → 1 if it stopped, else 0.
    pub(crate) const EXACT: u32 = 1;
}

/// Bytes per vector.
const VECTOR: u32 = 16;

/// A form of the code, by how it treats subnormals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FpMode {
    Speculative,
    Exact,
}

/// The input of code emission.
#[derive(Clone, Copy)]
pub(super) struct EmitParams<'a> {
    pub(super) function: &'a LirFunction,
    pub(super) guards: &'a GuardSet,
    /// Bytes between slots.
    pub(super) stride: u32,
    pub(super) fuel_checked: bool,
}

/// Returns the speculative function, a loop over all groups.
pub(super) fn run(params: EmitParams<'_>) -> Option<Function> {
    Code::new(params, FpMode::Speculative).run()
}

/// Returns the exact function, for one group.
pub(super) fn exact(params: EmitParams<'_>) -> Option<Function> {
    Code::new(params, FpMode::Exact).exact()
}

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7f80_0000;

fn splat(bits: u32) -> i128 {
    let bits = u128::from(bits);
    (bits | bits << 32 | bits << 64 | bits << 96).cast_signed()
}

/// The locals of a function: those of every function, then one for each value.
#[derive(Default)]
struct Locals {
    types: Vec<ValType>,
    /// The local of each value.
    values: HashMap<VReg, u32>,
}

impl Locals {
    fn fresh(&mut self, opcode: ValType) -> u32 {
        self.types.push(opcode);
        self.types.len() as u32 - 1
    }
}

/// The locals of the exact form.
#[derive(Clone, Copy)]
struct FlushLocals {
    operands: [u32; 2],
    /// Masks: the exponent's bits, all bits except the sign, no bits.
    exponent: u32,
    rest: u32,
    zero: u32,
    /// The scale of a product's factors, and the smallest normal product of scaled factors.
    larger: u32,
    least: u32,
}

impl FlushLocals {
    fn new(locals: &mut Locals) -> Self {
        let mut fresh = || locals.fresh(ValType::V128);
        Self {
            operands: [fresh(), fresh()],
            exponent: fresh(),
            rest: fresh(),
            zero: fresh(),
            larger: fresh(),
            least: fresh(),
        }
    }

    fn constants(self) -> [(u32, u32); 4] {
        let larger = f32::to_bits(4_294_967_296.0);
        // 2^64 times 2^-126.
        let least = (127 - 62) << 23;
        [(self.exponent, EXPONENT), (self.rest, !SIGN), (self.larger, larger), (self.least, least)]
    }
}

struct Code<'a> {
    params: EmitParams<'a>,
    mode: FpMode,
    locals: Locals,
    bytes: Vec<u8>,
    context: u32,
    /// Address of the group in slot 0.
    group: u32,
    fuel: u32,
    /// The coverage of each part.
    covered: BTreeMap<u32, u32>,
    /// The texels of each texture unit.
    cells: BTreeMap<u8, u32>,
    pixels: pixels::PixelLocals,
    /// For each kind of guard, the minimum so far: of the bits, shifted left by 1 to drop the sign if the value may be negative, minus 1,
    /// so that zero is the maximum.
    seen: BTreeMap<guards::GuardKind, u32>,
    ones: u32,
    /// Nesting depth of open blocks.
    depth: u32,
    /// The block to leave when a guard fails.
    bail: u32,
    /// Values of the exact form that are not subnormal.
    numbers: HashSet<VReg>,
    flush: FlushLocals,
    /// Values to store to slots at the end, with their offsets.
    stores: Vec<(VReg, u64)>,
    /// Whether an operation cannot be encoded.
    refused: bool,
}

impl<'a> Code<'a> {
    fn new(params: EmitParams<'a>, mode: FpMode) -> Self {
        let mut locals = Locals::default();
        let context = locals.fresh(ValType::I32);
        let group = locals.fresh(ValType::I32);
        let fuel = locals.fresh(ValType::I32);
        let kinds = params.guards.kinds();
        let seen = kinds.into_iter().map(|kind| (kind, locals.fresh(ValType::V128))).collect();
        let ones = locals.fresh(ValType::V128);
        let flush = FlushLocals::new(&mut locals);
        Self {
            params,
            mode,
            locals,
            bytes: Vec::new(),
            context,
            group,
            fuel,
            covered: BTreeMap::new(),
            cells: BTreeMap::new(),
            pixels: pixels::PixelLocals::default(),
            seen,
            ones,
            depth: 0,
            bail: 0,
            numbers: HashSet::new(),
            flush,
            stores: Vec::new(),
            refused: false,
        }
    }

    fn code(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.bytes)
    }

    fn open_block(&mut self) -> u32 {
        self.code().block(BlockType::Empty);
        self.depth += 1;
        self.depth
    }

    fn open_loop(&mut self) -> u32 {
        self.code().loop_(BlockType::Empty);
        self.depth += 1;
        self.depth
    }

    fn open_if(&mut self) {
        self.code().if_(BlockType::Empty);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.code().end();
        self.depth -= 1;
    }

    /// Returns the relative depth of a block, for branches.
    fn to(&self, block: u32) -> u32 {
        self.depth - block
    }

    /// Emits the function over all groups.
    fn run(mut self) -> Option<Function> {
        let params = self.params;
        let end = self.locals.fresh(ValType::I32);
        self.tables();
        self.constants();
        let (context, group, ones) = (self.context, self.group, self.ones);
        self.code().v128_const(-1).local_set(ones);
        self.code().local_get(context).i32_load(word(context::SLOTS));
        self.code().local_get(context).i32_load(word(context::BEGIN)).i32_add().local_set(group);
        self.code().local_get(context).i32_load(word(context::SLOTS));
        self.code().local_get(context).i32_load(word(context::END)).i32_add().local_set(end);
        let done = self.open_block();
        let top = self.open_loop();
        let to = self.to(done);
        self.code().local_get(group).local_get(end).i32_ge_u().br_if(to);
        let next = self.open_block();
        self.bail = self.open_block();
        self.begin_group();
        self.nodes(&params.function.body);
        self.deopt_if_subnormal();
        self.end_group();
        let to = self.to(next);
        self.code().br(to);
        self.close();
        // Deoptimise: call the exact form for the group.
        self.code().local_get(context).local_get(group).call(function::EXACT);
        self.open_if();
        self.code().i32_const(1).return_();
        self.close();
        self.close();
        let bytes = (params.function.groups.max(1) * VECTOR).cast_signed();
        let to = self.to(top);
        self.code().local_get(group).i32_const(bytes).i32_add().local_set(group).br(to);
        self.close();
        self.close();
        self.code().i32_const(0).end();
        self.finish(1)
    }

    /// Emits the function over one group.
    fn exact(mut self) -> Option<Function> {
        self.tables();
        self.constants();
        for (local, bits) in self.flush.constants() {
            self.code().v128_const(splat(bits)).local_set(local);
        }
        self.begin_group();
        let params = self.params;
        self.nodes(&params.function.body);
        self.end_group();
        self.code().i32_const(0).end();
        self.finish(2)
    }

    fn finish(self, parameters: usize) -> Option<Function> {
        if self.refused {
            return None;
        }
        let mut function =
            Function::new_with_locals_types(self.locals.types[parameters..].to_vec());
        function.raw(self.bytes);
        Some(function)
    }

    /// Allocates locals for coverage, textures, interpolants and planes.
    fn tables(&mut self) {
        let function = self.params.function;
        function.each_op(|op| match op.opcode {
            Opcode::LoadCoverage(part) | Opcode::StoreCoverage(part) => {
                let locals = &mut self.locals;
                self.covered.entry(part).or_insert_with(|| locals.fresh(ValType::V128));
            }
            Opcode::LoadTexel(LoadTexel { unit, .. })
            | Opcode::GatherChannel(GatherChannel { unit, .. }) => {
                let locals = &mut self.locals;
                self.cells.entry(unit).or_insert_with(|| locals.fresh(ValType::I32));
            }
            Opcode::Interpolant(_) => self.pixels.interpolants(&mut self.locals),
            Opcode::StoreColor(StoreColor { target, .. }) => {
                self.pixels.plane(target, &mut self.locals);
            }
            _ => {}
        });
        let context = self.context;
        for (unit, local) in self.cells.clone() {
            let from = word(context::CELLS + 4 * u64::from(unit));
            self.code().local_get(context).i32_load(from).local_set(local);
        }
        self.begin_pixels();
    }

    fn constants(&mut self) {
        for (n, operand) in self.params.function.mem_operands.iter().enumerate() {
            if let Some(MemOperand::Const(bits)) = operand {
                let local = self.local(VReg(n as u32));
                self.code().v128_const(splat(*bits)).local_set(local);
            }
        }
    }

    /// Initialises the fuel and loads values from slots.
    fn begin_group(&mut self) {
        let params = self.params;
        let (context, group, fuel) = (self.context, self.group, self.fuel);
        if params.fuel_checked {
            self.code().local_get(context).i32_load(word(context::GRANT)).local_set(fuel);
            self.code().local_get(context).i64_const(0).i64_store(long(context::ADDED));
        }
        if self.mode == FpMode::Speculative {
            let ones = self.ones;
            for seen in self.seen.clone().into_values() {
                self.code().local_get(ones).local_set(seen);
            }
        }
        for (part, local) in self.covered.clone() {
            self.covered_at();
            let from = vector(u64::from(part * VECTOR));
            self.code().v128_load(from).local_set(local);
        }
        self.locate_pixels();
        for (n, operand) in params.function.mem_operands.iter().enumerate() {
            if let Some(MemOperand::Slot(slot, part)) = operand {
                let v = VReg(n as u32);
                let local = self.local(v);
                let from = vector(self.place(*slot, *part));
                self.code().local_get(group).v128_load(from).local_set(local);
                self.guard(v);
            }
        }
        for (n, operand) in params.function.mem_operands.iter().enumerate() {
            if let Some(MemOperand::Const(_)) = operand {
                self.guard(VReg(n as u32));
            }
        }
    }

    /// Stores values to slots, and the used fuel.
    fn end_group(&mut self) {
        let (context, group, fuel) = (self.context, self.group, self.fuel);
        for (v, place) in std::mem::take(&mut self.stores) {
            let from = self.local(v);
            self.code().local_get(group).local_get(from).v128_store(vector(place));
        }
        for (part, local) in self.covered.clone() {
            self.covered_at();
            self.code().local_get(local).v128_store(vector(u64::from(part * VECTOR)));
        }
        if !self.params.fuel_checked {
            return;
        }
        // The maximum that a group used beyond its grant.
        self.code().local_get(context).i64_load(long(context::ADDED));
        self.code().local_get(fuel).i64_extend_i32_s().i64_sub();
        self.code().local_get(context).i64_load(long(context::MOST)).i64_gt_s();
        self.open_if();
        self.code().local_get(context).local_get(context).i64_load(long(context::ADDED));
        self.code().local_get(fuel).i64_extend_i32_s().i64_sub().i64_store(long(context::MOST));
        self.close();
    }

    /// Pushes the address of the group's coverage.
    fn covered_at(&mut self) {
        let (context, group) = (self.context, self.group);
        self.code().local_get(context).i32_load(word(context::COVERED)).local_get(group).i32_add();
    }

    fn place(&self, slot: u32, part: u32) -> u64 {
        u64::from(slot) * u64::from(self.params.stride) + u64::from(part * VECTOR)
    }

    fn local(&mut self, v: VReg) -> u32 {
        if let Some(local) = self.locals.values.get(&v) {
            return *local;
        }
        let local = self.locals.fresh(ValType::V128);
        self.locals.values.insert(v, local);
        local
    }

    /// Makes a value share the local of another one.
    fn same(&mut self, v: VReg, as_v: VReg) {
        let local = self.local(as_v);
        self.locals.values.insert(v, local);
    }

    /// Emits the guard of a value, if it has one.
    fn guard(&mut self, v: VReg) {
        if self.mode == FpMode::Exact {
            return;
        }
        let Some(guard) = self.params.guards.get(v) else { return };
        let Some(&seen) = self.seen.get(&guard) else { return };
        let (local, ones) = (self.local(v), self.ones);
        self.code().local_get(seen).local_get(local);
        if !guard.positive {
            self.code().local_get(local).i32x4_add();
        }
        self.code().local_get(ones).i32x4_add().i32x4_min_u().local_set(seen);
    }

    /// Pushes whether a guard failed: whether a guarded value is neither zero nor at least as large as its guard requires.
    fn tiny_seen(&mut self) {
        self.code().v128_const(0);
        for (guard, seen) in self.seen.clone() {
            let least = ((guard.size.least() + 127) as u32) << 23;
            let least = if guard.positive { least - 1 } else { 2 * least - 1 };
            self.code().local_get(seen).v128_const(splat(least)).i32x4_lt_u().v128_or();
        }
        self.code().v128_any_true();
    }

    fn deopt_if_subnormal(&mut self) {
        if self.seen.is_empty() {
            return;
        }
        self.tiny_seen();
        let to = self.to(self.bail);
        self.code().br_if(to);
    }

    fn nodes(&mut self, nodes: &[Region]) {
        for node in nodes {
            match node {
                Region::Ops(ops) => ops.iter().for_each(|op| self.op(op)),
                Region::ConsumeFuel(instructions) if self.params.fuel_checked => {
                    let fuel = self.fuel;
                    let instructions = i32::try_from(*instructions).expect("a function has few");
                    self.code().local_get(fuel).i32_const(instructions).i32_sub().local_set(fuel);
                }
                Region::ConsumeFuel(_) => {}
                Region::Branch(branch) => self.branch(branch),
                Region::Loop(repeat) => self.repeat(repeat),
            }
        }
    }

    fn branch(&mut self, branch: &Branch) {
        let moves: Vec<_> =
            branch.phis.iter().filter_map(|phi| Some((phi.incoming?, phi.var))).collect();
        self.moves(&moves);
        for arm in &branch.arms {
            let mask = self.local(arm.mask);
            self.code().local_get(mask).v128_any_true();
            self.open_if();
            self.nodes(&arm.body);
            let moves: Vec<_> = arm.assign.iter().map(|assign| (assign.from, assign.old)).collect();
            self.moves(&moves);
            self.close();
            for assign in &arm.assign {
                self.same(assign.new, assign.old);
            }
        }
    }

    fn repeat(&mut self, repeat: &Loop) {
        let params = self.params;
        let passes = self.locals.fresh(ValType::I32);
        let moves: Vec<_> = repeat.params.iter().map(|c| (c.init, c.var)).collect();
        self.moves(&moves);
        self.code().i32_const(repeat.max_trips.cast_signed()).local_set(passes);
        let after = self.open_block();
        let top = self.open_loop();
        self.nodes(&repeat.body);
        let continue_mask = repeat.continue_mask.map(|mask| self.local(mask));
        // The mask may be a loop parameter that the moves overwrite.
        if let Some(continue_mask) = continue_mask {
            self.code().local_get(continue_mask).v128_any_true();
        }
        let moves: Vec<_> = repeat.params.iter().map(|c| (c.next, c.var)).collect();
        self.moves(&moves);
        let to = self.to(after);
        if continue_mask.is_some() {
            self.code().i32_eqz().br_if(to);
        }
        self.code().local_get(passes).i32_const(1).i32_sub().local_tee(passes);
        self.code().i32_eqz().br_if(to);
        if params.fuel_checked {
            self.refill(repeat.address);
        }
        let to = self.to(top);
        self.code().br(to);
        self.close();
        self.close();
        for param in &repeat.params {
            self.same(param.out, param.var);
        }
    }

    /// Requests fuel if none is left; returns if there is no more.
    fn refill(&mut self, address: u32) {
        let (context, fuel) = (self.context, self.fuel);
        self.code().local_get(fuel).i32_const(0).i32_lt_s();
        self.open_if();
        // If a guard failed, the exact form might not run out of fuel.
        if self.mode == FpMode::Speculative {
            self.deopt_if_subnormal();
        }
        self.code().local_get(context).local_get(fuel).i32_store(word(context::FUEL));
        self.code().local_get(context).i32_const(address.cast_signed());
        self.code().i32_store(word(context::ADDRESS));
        self.code().local_get(context).local_get(context).i32_load(word(context::REFILL));
        self.code().call_indirect(0, signature::RUN);
        self.open_if();
        self.code().i32_const(1).return_();
        self.close();
        self.code().local_get(context).i32_load(word(context::FUEL)).local_set(fuel);
        self.close();
    }

    /// Emits parallel moves.
    fn moves(&mut self, moves: &[(VReg, VReg)]) {
        for (from, _) in moves {
            let from = self.local(*from);
            self.code().local_get(from);
        }
        for (_, to) in moves.iter().rev() {
            let to = self.local(*to);
            self.code().local_set(to);
        }
    }
}

fn word(offset: u64) -> MemArg {
    memory(offset, 2)
}

fn long(offset: u64) -> MemArg {
    memory(offset, 3)
}

fn vector(offset: u64) -> MemArg {
    memory(offset, 4)
}

fn memory(offset: u64, align: u32) -> MemArg {
    MemArg { offset, align, target: MemArgTarget::Memory(0), ordering: None }
}
