//! Lowering of branches and loops, with their phis and parameters.

use r500_ir::{If, Operand, Stmt};

use super::Lower;
use crate::{Arm, Branch, Class, Loop, LoopParam, Phi, PhiMove, Region, VReg};

impl Lower<'_> {
    pub(super) fn branch(&mut self, branch: &If) {
        // Identical phis share one location.
        let mut unique: Vec<r500_ir::Phi> = Vec::new();
        let places: Vec<usize> = (branch.phis.iter())
            .map(|phi| {
                let class = self.class_of(phi.value);
                let alike = |other: &r500_ir::Phi| {
                    (other.incoming, other.arms) == (phi.incoming, phi.arms)
                        && self.class_of(other.value) == class
                };
                unique.iter().position(alike).unwrap_or_else(|| {
                    unique.push(*phi);
                    unique.len() - 1
                })
            })
            .collect();
        let phis: Vec<Phi> = (unique.iter())
            .map(|phi| {
                let class = self.class_of(phi.value);
                let before = self.before(branch, phi, class);
                Phi { var: self.function.fresh(class), incoming: before }
            })
            .collect();
        let mut now: Vec<VReg> = phis.iter().map(|phi| phi.var).collect();
        // Whether each phi is defined so far.
        let mut begun: Vec<bool> = phis.iter().map(|phi| phi.incoming.is_some()).collect();
        let mut arms = Vec::new();
        for (number, (mask, stmts)) in branch.masks.iter().zip(&branch.arms).enumerate() {
            if stmts.is_empty() {
                continue;
            }
            let mask = self.mask(*mask);
            self.begin();
            let counting = self.counting;
            if stmts.iter().any(|stmt| stmt.any(&mut |stmt| matches!(stmt, Stmt::Loop(_)))) {
                self.counting = self.open.len() - 1;
            }
            for stmt in stmts {
                self.stmt(stmt);
            }
            self.counting = counting;
            let mut assign = Vec::new();
            for ((phi, now), begun) in unique.iter().zip(&mut now).zip(&mut begun) {
                let Some(from) = phi.arms[number] else { continue };
                let class = self.function.class(*now);
                let from = self.operand(from, class);
                let from = match std::mem::replace(begun, true) {
                    true => self.choose(mask, from, *now),
                    false => from,
                };
                let old = std::mem::replace(now, self.function.fresh(class));
                assign.push(PhiMove { old, new: *now, from });
            }
            let body = self.end();
            arms.push(Arm { mask, body, assign });
        }
        match arms.is_empty() {
            // No arm has code: the phis are their incoming values.
            true => {
                for (now, phi) in now.iter_mut().zip(&phis) {
                    *now = phi.incoming.unwrap_or_else(|| self.undef(phi.var));
                }
            }
            false => self.region().push(Region::Branch(Branch { phis, arms })),
        }
        for (phi, place) in branch.phis.iter().zip(places) {
            self.define(phi.value, now[place]);
        }
    }

    /// Returns an undefined value of the class of `v`.
    fn undef(&mut self, v: VReg) -> VReg {
        self.operand(Operand::Const(0), self.function.class(v))
    }

    /// Returns a phi's value before the arms: arms without statements are if-converted to selects.
    fn before(&mut self, branch: &If, phi: &r500_ir::Phi, class: Class) -> Option<VReg> {
        let mut before = phi.incoming.map(|before| self.operand(before, class));
        for ((mask, stmts), from) in branch.masks.iter().zip(&branch.arms).zip(phi.arms) {
            let Some(from) = from.filter(|_| stmts.is_empty()) else { continue };
            let from = self.operand(from, class);
            let mask = self.mask(*mask);
            before = Some(match before {
                Some(before) => self.choose(mask, from, before),
                None => from,
            });
        }
        before
    }

    /// Loop-invariant code motion of inputs: computes those that a loop uses before the loop.
    fn hoist_inputs(&mut self, repeat: &r500_ir::Loop) {
        let mut used = Vec::new();
        let see = &mut |operand: Operand| used.extend(operand.value());
        repeat.body.iter().for_each(|stmt| stmt.each(&mut |stmt| stmt.operands(see)));
        for value in used {
            if self.inputs.contains_key(&value) {
                self.vector(Operand::Value(value));
            }
        }
    }

    pub(super) fn repeat(&mut self, repeat: &r500_ir::Loop) {
        self.hoist_inputs(repeat);
        let mut params: Vec<LoopParam> = (repeat.params.iter())
            .map(|param| {
                let class = self.class_of(param.value);
                let init = self.operand(param.init, class);
                let [var, out] = [(); 2].map(|()| self.function.fresh(class));
                self.values.insert(param.value, var);
                LoopParam { var, init, next: var, out }
            })
            .collect();
        self.begin();
        let counting = std::mem::replace(&mut self.counting, self.open.len() - 1);
        // The previous iteration may have changed the coverage.
        self.covered.last_mut().into_iter().for_each(|coverage| coverage.now = None);
        for stmt in &repeat.body {
            self.stmt(stmt);
        }
        self.counting = counting;
        for (param, from) in params.iter_mut().zip(&repeat.params) {
            param.next = self.operand(from.next, self.function.class(param.var));
        }
        let continue_mask = repeat.continue_mask.map(|mask| self.mask(mask));
        let address = self.address;
        let body = self.end();
        let max_trips = repeat.max_trips.max(1);
        self.region().push(Region::Loop(Loop {
            max_trips,
            params: params.clone(),
            body,
            continue_mask,
            address,
        }));
        for (from, param) in repeat.params.iter().zip(params) {
            self.define(from.value, param.out);
        }
    }
}
