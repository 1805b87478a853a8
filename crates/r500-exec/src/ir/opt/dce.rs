//! Dead-code elimination, and the merging of fuel statements.

use crate::ir::{Function, Operand, Stmt, Value};

/// Removes definitions that nothing looks at, values of loops and branches included.
pub(super) fn eliminate_dead_code(function: &mut Function) {
    let mut liveness = Liveness::new(function);
    liveness.propagate(function);
    let live = liveness.live;
    remove(&mut function.body, &live);
}

/// Which values somebody looks at.
struct Liveness {
    live: Vec<bool>,
    /// Operands behind each value.
    operands: Vec<Vec<Value>>,
    work: Vec<Value>,
}

impl Liveness {
    fn new(function: &Function) -> Self {
        let count = function.values as usize;
        let mut liveness =
            Self { live: vec![false; count], operands: vec![Vec::new(); count], work: Vec::new() };
        liveness.collect(&function.body);
        liveness
    }

    /// Notes what each value is made of, and begins with what has an effect.
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, inst) => self.add_operands(*value, inst.args()),
                Stmt::Fetch(fetch) => {
                    for value in fetch.texel.into_iter().flatten() {
                        let from = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy);
                        let from: Vec<Operand> = from.copied().chain([fetch.active]).collect();
                        self.add_operands(value, &from);
                    }
                }
                Stmt::Discard(mask) | Stmt::Stat { mask, .. } | Stmt::GroupHazard(mask) => {
                    self.demand(*mask)
                }
                Stmt::ConsumeFuel { .. } => {}
                Stmt::If(branch) => {
                    let masks = branch.masks;
                    for phi in &branch.phis {
                        let from: Vec<Operand> = phi
                            .incoming
                            .into_iter()
                            .chain(phi.arms.into_iter().flatten())
                            .chain(masks)
                            .collect();
                        self.add_operands(phi.value, &from);
                    }
                    if branch.arms.iter().any(|arm| has_effects(arm)) {
                        masks.into_iter().for_each(|mask| self.demand(mask));
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    for param in &repeat.params {
                        self.add_operands(param.value, &[param.init, param.next]);
                        // How often a loop runs is behind all that it makes.
                        self.add_operands(param.value, repeat.continue_mask.as_slice());
                    }
                    if has_effects(&repeat.body) {
                        repeat.continue_mask.iter().for_each(|again| self.demand(*again));
                    }
                    self.collect(&repeat.body);
                }
            }
        }
    }

    fn add_operands(&mut self, value: Value, from: &[Operand]) {
        let from = from.iter().filter_map(|operand| operand.value());
        self.operands[value.index()].extend(from);
    }

    fn demand(&mut self, operand: Operand) {
        if let Some(value) = operand.value()
            && !std::mem::replace(&mut self.live[value.index()], true)
        {
            self.work.push(value);
        }
    }

    fn propagate(&mut self, function: &Function) {
        function.outputs().for_each(|operand| self.demand(operand));
        while let Some(value) = self.work.pop() {
            for value in std::mem::take(&mut self.operands[value.index()]) {
                self.demand(Operand::Value(value));
            }
        }
    }
}

/// Whether statements do something beside values.
pub(super) fn has_effects(list: &[Stmt]) -> bool {
    let has =
        |stmt: &Stmt| matches!(stmt, Stmt::Discard(_) | Stmt::Stat { .. } | Stmt::GroupHazard(_));
    list.iter().any(|stmt| stmt.any(&mut { has }))
}

/// Whether statements do nothing but count instructions.
fn only_consumes_fuel(list: &[Stmt]) -> bool {
    list.iter().all(|stmt| matches!(stmt, Stmt::ConsumeFuel { .. }))
}

fn remove(list: &mut Vec<Stmt>, live: &[bool]) {
    let is_live = |value: Value| live.get(value.index()).copied().unwrap_or(false);
    list.retain_mut(|stmt| match stmt {
        Stmt::Def(value, _) => is_live(*value),
        Stmt::Fetch(fetch) => {
            for texel in &mut fetch.texel {
                *texel = texel.filter(|value| is_live(*value));
            }
            fetch.texel.iter().any(Option::is_some)
        }
        Stmt::If(branch) => {
            branch.phis.retain(|phi| is_live(phi.value));
            for arm in &mut branch.arms {
                remove(arm, live);
                if only_consumes_fuel(arm) {
                    arm.clear();
                }
            }
            !branch.phis.is_empty() || branch.arms.iter().any(|arm| !arm.is_empty())
        }
        Stmt::Loop(repeat) => {
            repeat.params.retain(|param| is_live(param.value));
            remove(&mut repeat.body, live);
            if repeat.params.is_empty() && only_consumes_fuel(&repeat.body) {
                // What is left of it is the time that it takes.
                let instructions = fuel_of(&repeat.body).saturating_mul(repeat.max_trips);
                *stmt = Stmt::ConsumeFuel { instructions, address: 0 };
            }
            true
        }
        Stmt::Discard(_) | Stmt::Stat { .. } | Stmt::GroupHazard(_) | Stmt::ConsumeFuel { .. } => {
            true
        }
    });
}

/// Instructions that idle statements count.
pub(super) fn fuel_of(list: &[Stmt]) -> u32 {
    list.iter().fold(0u32, |sum, stmt| match stmt {
        Stmt::ConsumeFuel { instructions, .. } => sum.saturating_add(*instructions),
        _ => sum,
    })
}

/// Adds up counts of instructions that follow each other with nothing but values between.
pub(super) fn merge_fuel(list: &mut Vec<Stmt>) {
    let mut last: Option<usize> = None;
    let mut kept: Vec<Stmt> = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        match &mut stmt {
            Stmt::ConsumeFuel { instructions: more, .. } => {
                if let Some(Stmt::ConsumeFuel { instructions, .. }) =
                    last.and_then(|at| kept.get_mut(at))
                {
                    *instructions = instructions.saturating_add(*more);
                    continue;
                }
                last = Some(kept.len());
            }
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(merge_fuel);
                last = None;
            }
            Stmt::Loop(repeat) => {
                merge_fuel(&mut repeat.body);
                last = None;
            }
            _ => {}
        }
        kept.push(stmt);
    }
    *list = kept;
}
