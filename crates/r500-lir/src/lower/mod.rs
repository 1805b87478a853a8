//! Instruction selection: lowers IR of a compile unit to low-level IR.
//!
//! | module | job |
//! | --- | --- |
//! | `control_flow` | branches, loops, their phis |
//! | `arith` | sums, products, the zero rule, selections |
//! | `transcendental` | transcendental functions, step by step as `r500_numerics::kernels` |
//! | `fetch` | texture fetches |
//! | `store_colors` | colour stores to a frame |
//! | `encode_pixels` | colour stores to a surface, in its format |
//! | `early_exit` | early exit of groups whose pixels are all discarded |
//! | `target_caps` | capabilities of the target |
//! | `zero_signs` | speculation: products without the zero rule |
//! | `fold` | constant folding |
//! | `loop_tables` | tables of values that depend on loop counters only |

mod arith;
mod control_flow;
mod early_exit;
mod encode_pixels;
mod fetch;
mod fold;
mod loop_tables;
mod store_colors;
mod target_caps;
mod transcendental;
mod zero_signs;

use std::collections::{HashMap, HashSet};

use loop_tables::{LoopTables, Replacement};

pub use encode_pixels::supports as supports_encoding;
use r500_fast::codegen::{self, CompileUnit, TextureDesc};
use r500_ir::{MulFlags, Operand, Range, RangeFacts, Stmt, Type, Value, Values};

use crate::{Class, Interpolant, LirFunction, MemOperand, Op, Opcode, Region, VReg};
pub use target_caps::TargetCaps;
use zero_signs::Speculation;
pub use zero_signs::is_speculative;

/// Lowers a unit.
pub fn lower(unit: &CompileUnit<'_>, caps: TargetCaps) -> LirFunction {
    let mut lower = Lower {
        caps,
        loop_tables: if caps.tables { LoopTables::of(unit) } else { LoopTables::default() },
        values_of: unit.values,
        tables: unit.tables,
        interpolants: unit.interpolants,
        inputs: HashMap::new(),
        fuel_checked: unit.fuel_checked,
        function: LirFunction::default(),
        consts: HashMap::new(),
        uniform: HashMap::new(),
        values: HashMap::new(),
        value_numbers: vec![HashMap::new()],
        covered: vec![Coverage::default()],
        open: vec![OpenRegion::default()],
        counting: 0,
        writes: unit.writes.iter().copied().collect(),
        relaxed: HashMap::new(),
        roots: HashMap::new(),
        address: 0,
        origin: 0,
    };
    for &(value, slot) in unit.reads {
        let read = lower.function.fresh_in_memory(Class::Vector, Some(MemOperand::Slot(slot, 0)));
        let as_mask = unit.values[value].ty == Type::Mask && caps.mask_class == Class::Mask;
        let v = if as_mask { lower.op(Opcode::ToMask, &[read]) } else { read };
        lower.values.insert(value, v);
    }
    match Speculation::of(unit).filter(|it| caps.speculative || it.always_holds()) {
        Some(speculation) => lower.speculate(unit, speculation),
        None => lower.lower_rest(unit, unit.body),
    }
    let mut function = lower.function;
    function.tables = lower.loop_tables.numbers;
    function.body = lower.open.pop().map(OpenRegion::end).expect("the outermost region stays open");
    function
}

/// The state of lowering.
struct Lower<'a> {
    caps: TargetCaps,
    loop_tables: LoopTables,
    /// Types and debug locations.
    values_of: &'a Values,
    tables: &'a [(u8, TextureDesc)],
    interpolants: &'a [[u8; 2]],
    /// Inputs and their interpolants: computed at their first use.
    inputs: HashMap<Value, u32>,
    fuel_checked: bool,
    function: LirFunction,
    consts: HashMap<u32, VReg>,
    /// Masks in registers that are known to be full or empty.
    uniform: HashMap<VReg, bool>,
    values: HashMap<Value, VReg>,
    /// Value numbering of open regions, beyond that of the IR.
    value_numbers: Vec<HashMap<(Opcode, VReg, VReg), VReg>>,
    /// The coverage, by open region.
    covered: Vec<Coverage>,
    open: Vec<OpenRegion>,
    /// The open region that counts instructions: arms without loops count whether or not a pixel takes them.
    counting: usize,
    /// Values that are stored to slots.
    writes: HashMap<Value, u32>,
    /// Products with a relaxed zero rule, and the flags that they keep.
    relaxed: HashMap<Value, MulFlags>,
    /// Square roots, by their reciprocals.
    roots: HashMap<VReg, VReg>,
    /// Address of the R500 instructions that execute here.
    address: u32,
    /// Address of the R500 instruction that is being lowered.
    origin: u32,
}

/// The known coverage in a region.
#[derive(Clone, Copy, Debug, Default)]
struct Coverage {
    /// The current coverage, if it is in a register.
    now: Option<VReg>,
    /// Whether the region has changed it.
    changed: bool,
}

/// A region under construction.
#[derive(Default)]
struct OpenRegion {
    nodes: Vec<Region>,
    ops: Vec<Op>,
}

impl OpenRegion {
    fn push(&mut self, node: Region) {
        if !self.ops.is_empty() {
            self.nodes.push(Region::Ops(std::mem::take(&mut self.ops)));
        }
        self.nodes.push(node);
    }

    fn end(mut self) -> Vec<Region> {
        if !self.ops.is_empty() {
            self.nodes.push(Region::Ops(self.ops));
        }
        self.nodes
    }
}

impl Lower<'_> {
    /// Lowers some statements at the end of a unit's body, then its stores.
    fn lower_rest(&mut self, unit: &CompileUnit<'_>, stmts: &[&Stmt]) {
        let mut stmts = stmts.iter();
        while let Some(stmt) = stmts.next() {
            self.stmt(stmt);
            if matches!(stmt, Stmt::Discard(_)) && early_exit::is_profitable(unit, stmts.as_slice())
            {
                return self.rest_if_covered(unit, stmts.as_slice());
            }
        }
        let moved = self.moves(unit.moves);
        unit.colors.iter().for_each(|color| self.color(color));
        // All reads of these slots precede these stores.
        moved.into_iter().for_each(|(v, slot)| self.store(v, slot));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Def(value, inst) => {
                self.origin = self.values_of[*value].source_loc;
                if let r500_ir::Opcode::Input { input, channel } = inst.opcode {
                    return self.input(*value, [input, channel]);
                }
                let v = match self.loop_tables.replacement(*value) {
                    None => self.def(*value, inst),
                    Some(Replacement::Constant(bits)) => self.bits(bits),
                    Some(Replacement::Table(entry)) => self.op(Opcode::Tabulated(entry), &[]),
                    Some(Replacement::Nothing) => return,
                };
                self.define(*value, v);
            }
            Stmt::ConsumeFuel { instructions, address } => {
                self.address = *address;
                if !self.fuel_checked {
                    return;
                }
                self.consume_fuel(*instructions);
            }
            Stmt::If(branch) => self.branch(branch),
            Stmt::Loop(repeat) => self.repeat(repeat),
            Stmt::Fetch(fetch) => {
                self.origin = fetch.address;
                self.fetch(fetch);
            }
            Stmt::Discard(mask) => self.kill(*mask),
            // Units contain none of these.
            Stmt::Stat { .. } | Stmt::GroupHazard(_) => {}
        }
    }

    /// Lowers the phi moves at the end of a unit, in order. Returns the values to store, with their slots. Reads of a slot precede the
    /// store to it ([`schedule`](crate::schedule) preserves that order).
    fn moves(&mut self, moves: &[codegen::PhiMove]) -> Vec<(VReg, u32)> {
        let mut moved = Vec::new();
        let slots: HashSet<u32> = moves.iter().map(|moved| moved.slot).collect();
        for (i, &codegen::PhiMove { value, slot, mask, from }) in moves.iter().enumerate() {
            let class = self.class_of(value);
            let mut new = self.operand(from, class);
            if let Some(mask) = mask {
                let mask = self.mask(mask);
                let old = self.operand(Operand::Value(value), class);
                new = self.choose(mask, new, old);
            }
            // A value in a slot that is overwritten here must be copied first.
            if let Some(MemOperand::Slot(from, _)) = self.function.mem_operand(new)
                && slots.contains(&from)
            {
                new = self.op(Opcode::Copy, &[new]);
            }
            self.values.insert(value, new);
            // Only the last move to a slot is stored.
            if !moves[i + 1..].iter().any(|later| later.slot == slot) {
                moved.push((new, slot));
            }
        }
        moved
    }

    fn store(&mut self, v: VReg, slot: u32) {
        let vector = self.vector_of(v);
        self.put(Opcode::Store(slot, 0), vector);
    }

    /// Emits an operation without a result.
    fn put(&mut self, opcode: Opcode, v: VReg) {
        self.push(Op { opcode, dst: None, args: [Some(v), None, None], origin: self.origin });
    }

    /// Converts a value to a vector.
    fn vector_of(&mut self, v: VReg) -> VReg {
        match self.function.class(v) {
            Class::Vector => v,
            Class::Mask => self.op(Opcode::FromMask, &[v]),
        }
    }

    /// Returns the coverage as a vector mask.
    fn covered(&mut self) -> VReg {
        if let Some(&Coverage { now: Some(covered), .. }) = self.covered.last() {
            return covered;
        }
        let covered = self.op(Opcode::LoadCoverage(0), &[]);
        if let Some(coverage) = self.covered.last_mut() {
            coverage.now = Some(covered);
        }
        covered
    }

    /// Removes the coverage of the pixels of a mask.
    fn kill(&mut self, mask: Operand) {
        self.origin = self.address;
        let mask = self.mask(mask);
        let mask = self.vector_of(mask);
        let covered = self.covered();
        let left = self.op(Opcode::AndNot, &[mask, covered]);
        self.put(Opcode::StoreCoverage(0), left);
        if let Some(coverage) = self.covered.last_mut() {
            *coverage = Coverage { now: Some(left), changed: true };
        }
    }

    /// Registers an input. It is computed at its first use, or here if it is stored to a slot.
    fn input(&mut self, value: Value, channel: [u8; 2]) {
        let number = self.interpolants.binary_search(&channel);
        let number = number.expect("units read inputs that are interpolants");
        self.inputs.insert(value, number as u32);
        if let Some(&slot) = self.writes.get(&value) {
            let v = self.vector(Operand::Value(value));
            self.store(v, slot);
        }
    }

    /// Defines a value; stores it if it has a slot.
    fn define(&mut self, value: Value, v: VReg) {
        self.values.insert(value, v);
        if let Some(&slot) = self.writes.get(&value) {
            self.store(v, slot);
        }
    }

    /// Counts instructions in the region that counts. A region has one such node: its position is not observable.
    fn consume_fuel(&mut self, instructions: u32) {
        let nodes = &mut self.open[self.counting].nodes;
        let counted = nodes.iter_mut().find_map(|node| match node {
            Region::ConsumeFuel(sum) => Some(sum),
            _ => None,
        });
        match counted {
            Some(sum) => *sum = sum.saturating_add(instructions),
            None => nodes.push(Region::ConsumeFuel(instructions)),
        }
    }

    fn begin(&mut self) {
        self.open.push(OpenRegion::default());
        self.value_numbers.push(HashMap::new());
        let now = self.covered.last().and_then(|coverage| coverage.now);
        self.covered.push(Coverage { now, changed: false });
    }

    fn end(&mut self) -> Vec<Region> {
        self.value_numbers.pop();
        let inside = self.covered.pop();
        if let Some(coverage) = self.covered.last_mut()
            && inside.is_some_and(|inside| inside.changed)
        {
            *coverage = Coverage { now: None, changed: true };
        }
        self.open.pop().map(OpenRegion::end).expect("each end has a beginning")
    }

    fn region(&mut self) -> &mut OpenRegion {
        if self.open.is_empty() {
            self.open.push(OpenRegion::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn push(&mut self, op: Op) {
        self.region().ops.push(op);
    }

    fn class_of(&self, value: Value) -> Class {
        match self.values_of[value].ty {
            Type::Mask => self.caps.mask_class,
            Type::F32 => Class::Vector,
        }
    }

    /// Emits an operation, unless constant folding or value numbering has its result.
    fn op(&mut self, opcode: Opcode, args: &[VReg]) -> VReg {
        let constants = args.iter().map(|v| self.constant(*v)).collect::<Option<Vec<_>>>();
        if let Some(bits) = constants.and_then(|constants| fold::folded(opcode, &constants)) {
            return self.bits(bits);
        }
        let key = match *args {
            [a] => Some((opcode, a, a)),
            [a, b] => Some((opcode, a, b)),
            [] if matches!(opcode, Opcode::Interpolant(_)) => Some((opcode, VReg(0), VReg(0))),
            _ => None,
        };
        if let Some(key) = key
            && let Some(v) = self.value_numbers.iter().rev().find_map(|known| known.get(&key))
        {
            return *v;
        }
        let class = match opcode {
            Opcode::Cmp(_)
            | Opcode::MaskAnd
            | Opcode::MaskOr
            | Opcode::MaskAndNot
            | Opcode::MaskAll
            | Opcode::MaskNone
            | Opcode::ToMask => self.caps.mask_class,
            _ => Class::Vector,
        };
        let dst = self.function.fresh(class);
        let mut given = [None; 3];
        for (to, from) in given.iter_mut().zip(args) {
            *to = Some(*from);
        }
        self.push(Op { opcode, dst: Some(dst), args: given, origin: self.origin });
        if let (Some(key), Some(known)) = (key, self.value_numbers.last_mut()) {
            known.insert(key, dst);
        }
        dst
    }

    /// Returns a value's bits, if it is a constant.
    fn constant(&self, v: VReg) -> Option<u32> {
        match self.function.mem_operand(v) {
            Some(MemOperand::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    /// Returns whether a mask is full (true) or empty (false), if that is known.
    fn constant_mask(&self, mask: VReg) -> Option<bool> {
        match self.constant(mask) {
            Some(0) => Some(false),
            Some(u32::MAX) => Some(true),
            _ => self.uniform.get(&mask).copied(),
        }
    }

    /// Returns a constant, equal in all lanes.
    fn bits(&mut self, bits: u32) -> VReg {
        if let Some(v) = self.consts.get(&bits) {
            return *v;
        }
        let v = self.function.fresh_in_memory(Class::Vector, Some(MemOperand::Const(bits)));
        self.consts.insert(bits, v);
        v
    }

    /// Returns a float constant, equal in all lanes.
    fn float(&mut self, x: f32) -> VReg {
        self.bits(x.to_bits())
    }

    fn operand(&mut self, operand: Operand, class: Class) -> VReg {
        match operand {
            Operand::Value(value) => match self.values.get(&value) {
                Some(&v) => v,
                None => {
                    let number = self.inputs.get(&value).copied();
                    let number = number.expect("the verifier excludes undefined values");
                    self.op(Opcode::Interpolant(Interpolant { number, part: 0 }), &[])
                }
            },
            Operand::Const(bits) if class == Class::Vector => self.bits(bits),
            Operand::Const(bits) => {
                let all = bits != 0;
                let mask = self.op(if all { Opcode::MaskAll } else { Opcode::MaskNone }, &[]);
                self.uniform.insert(mask, all);
                mask
            }
        }
    }

    /// Returns the known range facts of an operand.
    fn facts(&self, operand: Operand) -> RangeFacts {
        match operand {
            Operand::Const(bits) => Range::of(f32::from_bits(bits)).facts(),
            Operand::Value(value) => self.values_of[value].facts,
        }
    }

    fn vector(&mut self, operand: Operand) -> VReg {
        self.operand(operand, Class::Vector)
    }

    fn mask(&mut self, operand: Operand) -> VReg {
        self.operand(operand, self.caps.mask_class)
    }

    fn def(&mut self, value: Value, inst: &r500_ir::Inst) -> VReg {
        let [a, b, c] = inst.args;
        match inst.opcode {
            r500_ir::Opcode::Select
            | r500_ir::Opcode::And
            | r500_ir::Opcode::Or
            | r500_ir::Opcode::AndNot => self.logic(value, inst),
            r500_ir::Opcode::Mul(product) => {
                let product = self.relaxed.get(&value).copied().unwrap_or(product);
                let (a, b) = (self.vector(a), self.vector(b));
                self.product(product, a, b)
            }
            r500_ir::Opcode::Mad(product, sign) => {
                let product = self.relaxed.get(&value).copied().unwrap_or(product);
                let is_bounded = self.facts(a).bounded;
                let (a, b, c) = (self.vector(a), self.vector(b), self.vector(c));
                if is_bounded && let Some(factor) = self.exact_factor(product, sign, b) {
                    return self.op(Opcode::MulAdd, &[a, factor, c]);
                }
                self.mad(product, sign, a, b, c)
            }
            r500_ir::Opcode::Ex2 => {
                let is_exponent = self.facts(a).exponent;
                let a = self.vector(a);
                self.power_of_two(a, is_exponent)
            }
            r500_ir::Opcode::Ln2 => {
                let is_positive = self.facts(a).positive;
                let a = self.vector(a);
                self.logarithm(a, is_positive)
            }
            r500_ir::Opcode::Sin | r500_ir::Opcode::Cos
                if self.caps.fused && self.facts(a).fraction =>
            {
                let a = self.vector(a);
                match inst.opcode {
                    r500_ir::Opcode::Sin => self.sine_of_fraction(a),
                    _ => self.cosine_of_fraction(a),
                }
            }
            opcode => {
                let (a, b) = (self.vector(a), self.vector(b));
                self.simple(opcode, a, b)
            }
        }
    }
}

#[cfg(test)]
mod tests;
