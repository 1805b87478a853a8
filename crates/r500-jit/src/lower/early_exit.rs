//! Early exit: code after a discard is skipped where all pixels of a group are discarded, if that is worth testing
//! at what is left.

use r500_fast::codegen::CompileUnit;
use r500_ir::{ALL, Stmt};

use super::Lower;
use crate::lir::{Arm, Branch, Class, Opcode, Region};

/// Operations that take about as long as finding out whether any pixel is left.
const LEAST: u64 = 48;

/// Returns whether code after a discard has no visible effect for discarded pixels, and is long.
///
/// Where only colours are left, those of pixels that are not covered are zeros, or stay what they are.
pub(super) fn pays(unit: &CompileUnit<'_>, rest: &[&Stmt]) -> bool {
    let only_colors = !unit.colors.is_empty()
        && unit.colors.iter().all(|color| color.covered)
        && unit.writes.is_empty()
        && unit.moves.is_empty();
    // Instructions count whether anyone sees what they do or not.
    let colors = 24 * unit.colors.len() as u64;
    only_colors
        && !unit.fuel_checked
        && colors + rest.iter().map(|stmt| cost(stmt)).sum::<u64>() >= LEAST
}

/// Operations of the processor for one of a program, roughly.
pub(super) fn cost_of(opcode: r500_ir::Opcode) -> u64 {
    match opcode {
        r500_ir::Opcode::Ex2
        | r500_ir::Opcode::Ln2
        | r500_ir::Opcode::Sin
        | r500_ir::Opcode::Cos => 16,
        r500_ir::Opcode::Rcp | r500_ir::Opcode::Rsq => 8,
        _ => 1,
    }
}

/// Operations of the processor, roughly.
fn cost(stmt: &Stmt) -> u64 {
    match stmt {
        Stmt::Def(_, inst) => cost_of(inst.opcode),
        Stmt::Fetch(_) => 32,
        Stmt::If(_) => 1 + stmt.inside().map(cost).sum::<u64>(),
        Stmt::Loop(repeat) => {
            let pass = stmt.inside().map(cost).sum::<u64>();
            pass.saturating_mul(u64::from(repeat.max_trips))
        }
        _ => 1,
    }
}

impl Lower<'_> {
    /// The rest of a unit, for groups where pixels are left; for others what is seen of it.
    pub(super) fn rest_if_covered(&mut self, unit: &CompileUnit<'_>, rest: &[&Stmt]) {
        let covered = self.covered();
        let left = match self.caps.mask_class {
            Class::Vector => covered,
            Class::Mask => self.op(Opcode::ToMask, &[covered]),
        };
        let all = self.mask(ALL);
        let gone = self.op(Opcode::MaskAndNot, &[left, all]);
        // Where some are left, their zeros are painted over.
        self.begin();
        unit.colors.iter().for_each(|color| self.no_color(color));
        let zeros = self.end();
        self.begin();
        self.lower_rest(unit, rest);
        let body = self.end();
        let arms = [(gone, zeros), (left, body)].into_iter().filter(|(_, body)| !body.is_empty());
        let arms = arms.map(|(mask, body)| Arm { mask, body, assign: Vec::new() }).collect();
        self.region().push(Region::Branch(Branch { phis: Vec::new(), arms }));
    }
}
