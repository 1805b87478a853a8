//! `abs (neg a)` → `abs a`: the sign that is dropped need not be changed before.

use super::{Analyses, Pass};
use crate::{Function, Inst, Opcode};

pub(super) const PASS: Pass = Pass { name: "abs_of_neg", run };

fn run(function: &mut Function, analyses: &Analyses<'_>) -> bool {
    let (defs, mut changed) = (analyses.defs(function), false);
    function.each_inst_mut(&mut |_, inst| {
        if inst.opcode == Opcode::Abs
            && let Some(Inst { opcode: Opcode::Neg, args: [a, ..] }) = defs.of_operand(inst.args[0])
        {
            *inst = Inst::new(Opcode::Abs, &[*a]);
            changed = true;
        }
    });
    changed
}
