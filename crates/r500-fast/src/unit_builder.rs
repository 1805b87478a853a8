//! Construction of compile units, before slot allocation: supported statements, reads, writes, fuel.

use super::codegen::{ColorStore, Compiler, ResourceLayout};
use r500_ir::{Inst, Operand, Stmt, Value};
use r500_texture::batch::TextureDesc;

/// The context of a compilation.
pub(super) struct UnitContext<'a> {
    pub(super) compiler: &'a dyn Compiler,
    pub(super) resources: &'a ResourceLayout,
    /// The units that the compiler has refused.
    pub(super) refused: &'a [usize],
}

impl UnitContext<'_> {
    /// Returns whether a statement can be unit of a unit.
    pub(super) fn supports(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Def(_, Inst { opcode: r500_ir::Opcode::Input { input, channel }, .. }) => {
                self.resources.interpolant(*input, *channel).is_some()
            }
            // The table is not among the memory of machine code.
            Stmt::Def(_, Inst { opcode: r500_ir::Opcode::LoadConstant { .. }, .. }) => false,
            Stmt::Def(_, inst) => self.compiler.supports(inst),
            Stmt::ConsumeFuel { .. } => true,
            Stmt::If(_) | Stmt::Loop(_) => stmt.inside().all(|stmt| self.supports(stmt)),
            Stmt::Fetch(fetch) => self.resources.table(fetch.unit).is_some(),
            Stmt::Discard(_) => true,
            Stmt::Stat { .. } | Stmt::GroupHazard(_) => false,
        }
    }

    /// Returns the textures of units.
    pub(super) fn tables(&self, units: &[u8]) -> Vec<(u8, TextureDesc)> {
        units.iter().filter_map(|&unit| Some((unit, *self.resources.table(unit)?))).collect()
    }
}

/// A unit under construction.
#[derive(Debug, Default)]
pub(super) struct UnitBuilder<'a> {
    pub(super) number: usize,
    pub(super) body: Vec<&'a Stmt>,
    pub(super) reads: Vec<Value>,
    pub(super) writes: Vec<Value>,
    pub(super) defs: Vec<Value>,
    /// See [`PhiMove`].
    pub(super) moves: Vec<(Value, Option<Operand>, Operand)>,
    pub(super) colors: Vec<ColorStore>,
    pub(super) fuel_checked: bool,
    /// Number of operations and fetches.
    pub(super) operations: usize,
    /// Texture units that it fetches from, ascending.
    pub(super) units: Vec<u8>,
    /// Whether it discards pixels.
    pub(super) discards: bool,
    /// Instructions to count before the unit, and the address of the first.
    pub(super) consume: Option<(u32, u32)>,
}

/// The maximum number of instructions that a unit executes without checking fuel.
const MAX_UNCHECKED: u64 = 10_000;

impl<'a> UnitBuilder<'a> {
    pub(super) fn new(stmts: &'a [Stmt]) -> Self {
        let mut unit = Self::default();
        let mut inside = FuelUse::default();
        for stmt in stmts {
            if let Stmt::ConsumeFuel { instructions, address } = stmt {
                unit.consume(u64::from(*instructions), *address);
            } else {
                unit.body.push(stmt);
                unit.collect(stmt);
                inside.add(stmt, 1);
            }
        }
        unit.fuel_checked = inside.varies || inside.instructions > MAX_UNCHECKED;
        if let Some(address) = inside.address.filter(|_| !unit.fuel_checked) {
            unit.consume(inside.instructions, address);
        }
        unit.units.sort_unstable();
        unit.units.dedup();
        unit.defs.sort_unstable();
        unit.reads.sort_unstable();
        unit.reads.dedup();
        let defs = &unit.defs;
        unit.reads.retain(|value| defs.binary_search(value).is_err());
        unit
    }

    /// Adds a move after the body, with its operands.
    pub(super) fn push_phi_move(
        &mut self,
        (value, mask, from): (Value, Option<Operand>, Operand),
        uses: impl Iterator<Item = Operand>,
    ) {
        self.add_uses(uses);
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

    /// Collects the definitions and uses of a statement and of all statements in its regions.
    fn collect(&mut self, stmt: &Stmt) {
        stmt.each(&mut |stmt| {
            stmt.operands(&mut |operand| self.reads.extend(operand.value()));
            stmt.defs(&mut |value| self.defs.push(value));
            match stmt {
                Stmt::Def(_, Inst { opcode: r500_ir::Opcode::Input { .. }, .. }) => {}
                Stmt::Def(..) => self.operations += 1,
                Stmt::Fetch(fetch) => {
                    self.operations += 1;
                    self.units.push(fetch.unit);
                }
                Stmt::Discard(_) => self.discards = true,
                _ => {}
            }
        });
    }
}

/// The maximum number of instructions that statements count.
#[derive(Default)]
struct FuelUse {
    instructions: u64,
    address: Option<u32>,
    /// Whether the number depends on lanes.
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
