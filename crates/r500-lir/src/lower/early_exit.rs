//! Early exit: groups whose pixels are all discarded skip the code after a discard, if that code is long enough to pay for the test.

use r500_fast::codegen::CompileUnit;
use r500_ir::{ALL, Stmt};

use super::Lower;
use crate::{Arm, Branch, Class, Opcode, Region};

/// Minimum cost of the skipped code: about the cost of the test, in operations.
const LEAST: u64 = 48;

/// Returns whether code after a discard has no observable effect for discarded pixels, and is long enough.
///
/// If only colour stores remain, uncovered pixels store zeros or keep their contents.
pub(super) fn is_profitable(unit: &CompileUnit<'_>, rest: &[&Stmt]) -> bool {
    let only_colors = !unit.colors.is_empty()
        && unit.colors.iter().all(|color| color.covered)
        && unit.writes.is_empty()
        && unit.moves.is_empty();
    // Counted instructions are observable for uncovered pixels, too.
    let colors = 24 * unit.colors.len() as u64;
    only_colors
        && !unit.fuel_checked
        && colors + rest.iter().map(|stmt| cost(stmt)).sum::<u64>() >= LEAST
}

/// Returns the estimated number of machine operations for an IR operation.
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

/// Returns the estimated number of machine operations of a statement.
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
    /// Lowers the rest of a unit for groups with covered pixels; other groups store the colours of uncovered pixels only.
    pub(super) fn rest_if_covered(&mut self, unit: &CompileUnit<'_>, rest: &[&Stmt]) {
        let covered = self.covered();
        let left = match self.caps.mask_class {
            Class::Vector => covered,
            Class::Mask => self.op(Opcode::ToMask, &[covered]),
        };
        let all = self.mask(ALL);
        let gone = self.op(Opcode::MaskAndNot, &[left, all]);
        // If some lanes are covered and others not, the rest overwrites these zeros.
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
