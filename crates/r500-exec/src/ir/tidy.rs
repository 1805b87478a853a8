//! Drops what nobody looks at.

use super::{Function, Operand, Range, Stmt, Value};

/// Tidies a function, of whose values ranges are known; `quads`: it reads across quads.
pub(super) fn tidy(function: &mut Function, ranges: &[Range], quads: bool) {
    sweep(function);
    super::zeros::simplify(function, ranges);
    sweep(function);
    if !quads {
        super::left::forget(function);
        sweep(function);
    }
    merge_spends(&mut function.body);
}

/// Removes definitions that nothing looks at, values of loops and branches included.
pub(super) fn sweep(function: &mut Function) {
    let mut users = Users::new(function);
    users.mark(function);
    let live = users.live;
    remove(&mut function.body, &live);
}

/// Which values somebody looks at.
struct Users {
    live: Vec<bool>,
    /// Operands behind each value.
    behind: Vec<Vec<Value>>,
    work: Vec<Value>,
}

impl Users {
    fn new(function: &Function) -> Self {
        let count = function.values as usize;
        let mut users =
            Self { live: vec![false; count], behind: vec![Vec::new(); count], work: Vec::new() };
        users.collect(&function.body);
        users
    }

    /// Notes what each value is made of, and begins with what has an effect.
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, op) => self.depends(*value, op.args()),
                Stmt::Fetch(fetch) => {
                    for value in fetch.texel.into_iter().flatten() {
                        let from = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy);
                        let from: Vec<Operand> = from.copied().chain([fetch.active]).collect();
                        self.depends(value, &from);
                    }
                }
                Stmt::Kill(mask) | Stmt::Stat { mask, .. } | Stmt::Watch(mask) => self.look(*mask),
                Stmt::Spend { .. } => {}
                Stmt::If(branch) => {
                    let masks = branch.masks;
                    for merge in &branch.merges {
                        let from: Vec<Operand> = merge
                            .before
                            .into_iter()
                            .chain(merge.arms.into_iter().flatten())
                            .chain(masks)
                            .collect();
                        self.depends(merge.value, &from);
                    }
                    if branch.arms.iter().any(|arm| has_effects(arm)) {
                        masks.into_iter().for_each(|mask| self.look(mask));
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    for carried in &repeat.carried {
                        self.depends(carried.value, &[carried.init, carried.next]);
                        // How often a loop runs is behind all that it makes.
                        self.depends(carried.value, repeat.again.as_slice());
                    }
                    if has_effects(&repeat.body) {
                        repeat.again.iter().for_each(|again| self.look(*again));
                    }
                    self.collect(&repeat.body);
                }
            }
        }
    }

    fn depends(&mut self, value: Value, from: &[Operand]) {
        let from = from.iter().filter_map(|operand| operand.value());
        self.behind[value.index()].extend(from);
    }

    fn look(&mut self, operand: Operand) {
        if let Some(value) = operand.value()
            && !std::mem::replace(&mut self.live[value.index()], true)
        {
            self.work.push(value);
        }
    }

    fn mark(&mut self, function: &Function) {
        function.outputs().for_each(|operand| self.look(operand));
        while let Some(value) = self.work.pop() {
            for value in std::mem::take(&mut self.behind[value.index()]) {
                self.look(Operand::Value(value));
            }
        }
    }
}

/// Whether statements do something beside values.
pub(super) fn has_effects(list: &[Stmt]) -> bool {
    let has = |stmt: &Stmt| matches!(stmt, Stmt::Kill(_) | Stmt::Stat { .. } | Stmt::Watch(_));
    list.iter().any(|stmt| stmt.any(&mut { has }))
}

/// Whether statements do nothing but count instructions.
fn is_idle(list: &[Stmt]) -> bool {
    list.iter().all(|stmt| matches!(stmt, Stmt::Spend { .. }))
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
            branch.merges.retain(|merge| is_live(merge.value));
            for arm in &mut branch.arms {
                remove(arm, live);
                if is_idle(arm) {
                    arm.clear();
                }
            }
            !branch.merges.is_empty() || branch.arms.iter().any(|arm| !arm.is_empty())
        }
        Stmt::Loop(repeat) => {
            repeat.carried.retain(|carried| is_live(carried.value));
            remove(&mut repeat.body, live);
            if repeat.carried.is_empty() && is_idle(&repeat.body) {
                // What is left of it is the time that it takes.
                let instructions = spent(&repeat.body).saturating_mul(repeat.passes);
                *stmt = Stmt::Spend { instructions, address: 0 };
            }
            true
        }
        Stmt::Kill(_) | Stmt::Stat { .. } | Stmt::Watch(_) | Stmt::Spend { .. } => true,
    });
}

/// Instructions that idle statements count.
pub(super) fn spent(list: &[Stmt]) -> u32 {
    list.iter().fold(0u32, |sum, stmt| match stmt {
        Stmt::Spend { instructions, .. } => sum.saturating_add(*instructions),
        _ => sum,
    })
}

/// Adds up counts of instructions that follow each other with nothing but values between.
fn merge_spends(list: &mut Vec<Stmt>) {
    let mut last: Option<usize> = None;
    let mut kept: Vec<Stmt> = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        match &mut stmt {
            Stmt::Spend { instructions: more, .. } => {
                if let Some(Stmt::Spend { instructions, .. }) = last.and_then(|at| kept.get_mut(at))
                {
                    *instructions = instructions.saturating_add(*more);
                    continue;
                }
                last = Some(kept.len());
            }
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(merge_spends);
                last = None;
            }
            Stmt::Loop(repeat) => {
                merge_spends(&mut repeat.body);
                last = None;
            }
            _ => {}
        }
        kept.push(stmt);
    }
    *list = kept;
}
