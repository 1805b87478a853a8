//! Removal of instructions.

use std::collections::BTreeSet;

use r500_check::ExternalReads;
use r500_check::diff::{Change, Diff};
use r500_check::graph::{Graph, Role, Structure};
use r500_isa::state::{UsCodeAddr, UsCodeRange};
use r500_isa::values::InstType;
use r500_isa::words::FcAddr;
use r500_program::{CodeWindow, Job, Program};

use super::State;
use super::recorded::{Recorded, input};

/// Instructions of A and of B that are removed together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Unit([Vec<usize>; 2]);

impl State<'_> {
    /// Removes instructions: halves of the program, quarters and so on to single ones, from the end.
    pub(super) fn remove_instructions(&mut self) {
        if !self.jobs.iter().all(|job| is_whole(&job.program)) {
            return;
        }
        let mut size = units(&self.jobs).len().div_ceil(2);
        while size > 0 {
            let mut all = units(&self.jobs);
            let mut end = all.len();
            let mut removed = false;
            while end > 0 && !self.is_late() {
                let begin = end.saturating_sub(size);
                if self.try_without(&all[begin..end]) {
                    removed = true;
                    // Branches and loops around these have other indices now.
                    all = units(&self.jobs);
                }
                end = begin.min(all.len());
            }
            if !removed || size > 1 {
                size /= 2;
            }
        }
    }

    fn try_without(&mut self, removed: &[Unit]) -> bool {
        let sets: [BTreeSet<usize>; 2] =
            [0, 1].map(|n| removed.iter().flat_map(|unit| unit.0[n].iter().copied()).collect());
        let programs = [0, 1].map(|n| without(&self.jobs[n].program, &sets[n]));
        let [Some(a), Some(b)] = programs else { return false };
        let mut jobs = self.jobs.clone();
        [jobs[0].program, jobs[1].program] = [a, b];
        self.add_inputs(&mut jobs, &sets) && self.try_jobs(jobs)
    }

    /// Adds the registers that are read and no longer written as inputs, with the values that the removed instructions
    /// wrote. Returns whether both programs wrote the same.
    fn add_inputs(&self, jobs: &mut [Job; 2], removed: &[BTreeSet<usize>; 2]) -> bool {
        let before =
            self.jobs.each_ref().map(|job| ExternalReads::of(&job.program).missing(job).inputs);
        let after = jobs.each_ref().map(|job| ExternalReads::of(&job.program).missing(job).inputs);
        let new = [0, 1].map(|n| -> Vec<u8> {
            after[n].keys().copied().filter(|temp| !before[n].contains_key(temp)).collect()
        });
        if new.iter().all(Vec::is_empty) {
            return true;
        }
        // Other registers may have the same role in the two, in ascending order.
        if new[0].len() != new[1].len() {
            return false;
        }
        let recorded = self.jobs.each_ref().map(|job| Recorded::of(job, &self.options));
        let written = |n: usize, temp: u8| recorded[n].after(removed[n].iter().copied(), temp);
        for (&a, &b) in new[0].iter().zip(&new[1]) {
            let (Some(x), Some(y)) = (written(0, a), written(1, b)) else { return false };
            let bits = |values: &[[f32; 4]], mask: u8| -> Vec<u32> {
                let channels = (0..4).filter(|c| mask >> c & 1 != 0);
                let channels = channels.collect::<Vec<usize>>();
                values.iter().flat_map(|v| channels.iter().map(|&c| v[c].to_bits())).collect()
            };
            let mask = after[0][&a] | after[1][&b];
            if bits(x, mask) != bits(y, mask) {
                return false;
            }
            for (job, (temp, values)) in jobs.iter_mut().zip([(a, x), (b, y)]) {
                let width = job.size.map_or(1, |[width, _]| width);
                let inputs = job.inputs.get_or_insert_default();
                inputs.retain(|input| input.temp != temp);
                inputs.push(input(temp, values, width));
            }
        }
        true
    }
}

/// Returns whether all instructions of a program can run, from the first to the last.
fn is_whole(program: &Program) -> bool {
    CodeWindow::of(program).is_ok_and(|window| {
        let last = program.code.len() - 1;
        window.first == 0 && window.start == 0 && window.last == last && window.end == Some(last)
    })
}

/// Returns the units of two programs in their order: aligned instructions, others alone, and the instructions of a branch
/// or loop together. Units of one instruction come after those of the branches and loops around them.
fn units(jobs: &[Job; 2]) -> Vec<Unit> {
    let [a, b] = jobs.each_ref().map(|job| &job.program);
    let mut partner = [vec![None; a.code.len()], vec![None; b.code.len()]];
    let mut units: Vec<(usize, Unit)> = Vec::new();
    // The position of each instruction of A and B in the order of both.
    let mut order = [vec![0; a.code.len()], vec![0; b.code.len()]];
    for (at, change) in Diff::of(a, b).changes.into_iter().enumerate() {
        let unit = match change {
            Change::Same { a, b } | Change::Changed { a, b, .. } => {
                (partner[0][a], partner[1][b]) = (Some(b), Some(a));
                (order[0][a], order[1][b]) = (at, at);
                Unit([vec![a], vec![b]])
            }
            Change::Removed(a) => {
                order[0][a] = at;
                Unit([vec![a], Vec::new()])
            }
            Change::Added(b) => {
                order[1][b] = at;
                Unit([Vec::new(), vec![b]])
            }
        };
        units.push((at, unit));
    }
    for (n, program) in [a, b].into_iter().enumerate() {
        for group in flow_groups(program) {
            let others: Vec<usize> = group.iter().filter_map(|&at| partner[n][at]).collect();
            let first = group.iter().map(|&at| order[n][at]).min().unwrap_or_default();
            let unit = if n == 0 { Unit([group, others]) } else { Unit([others, group]) };
            units.push((first, unit));
        }
    }
    units.sort_by_key(|(at, _)| *at);
    units.into_iter().map(|(_, unit)| unit).collect()
}

/// Returns the flow-control instructions of each branch (IF, ELSE, ENDIF) and loop (LOOP, ENDLOOP and its BREAKs).
fn flow_groups(program: &Program) -> Vec<Vec<usize>> {
    let Ok(graph) = Graph::new(program) else { return Vec::new() };
    if graph.gave_up() {
        return Vec::new();
    }
    let Ok(structure) = Structure::recover(&graph) else { return Vec::new() };
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut loops: Vec<Vec<usize>> = Vec::new();
    let mut closed = Vec::new();
    for (at, role) in structure.roles.iter().enumerate() {
        match role {
            Some(Role::If { .. }) => open.push(vec![at]),
            Some(Role::Else { .. }) => open.last_mut().into_iter().for_each(|group| group.push(at)),
            Some(Role::EndIf) => {
                if let Some(mut group) = open.pop() {
                    group.push(at);
                    closed.push(group);
                }
            }
            Some(Role::Loop { .. }) => loops.push(vec![at]),
            Some(Role::Break { .. } | Role::Continue { .. }) => {
                loops.last_mut().into_iter().for_each(|group| group.push(at));
            }
            Some(Role::EndLoop { .. }) => {
                if let Some(mut group) = loops.pop() {
                    group.push(at);
                    closed.push(group);
                }
            }
            _ => {}
        }
    }
    closed
}

/// Returns a program without some of its instructions: jumps lead to the next one that remains. Returns `None` if none
/// remains.
fn without(program: &Program, removed: &BTreeSet<usize>) -> Option<Program> {
    let offset = usize::from(program.state.base_address());
    let moved = |index: usize| index - removed.range(..index).count();
    let mut kept = program.clone();
    kept.code.clear();
    for (index, inst) in program.code.iter().enumerate() {
        if removed.contains(&index) {
            continue;
        }
        let mut inst = *inst;
        if inst.ty() == InstType::FC {
            let address = inst.fc_addr();
            let base = if address.jump_global() { offset } else { 0 };
            let target = usize::from(address.jump_addr()).checked_sub(base);
            if let Some(target) = target.filter(|target| *target <= program.code.len()) {
                let target = u16::try_from(moved(target) + base).ok()?;
                inst.0[3] = address.with(FcAddr::JUMP_ADDR, target).bits();
            }
        }
        kept.code.push(inst);
    }
    let last = u16::try_from(kept.code.len().checked_sub(1)?).ok()?;
    let state = &mut kept.state;
    state.code_addr = state.code_addr.map(|addr| addr.with(UsCodeAddr::END_ADDR, last));
    state.code_range = state.code_range.map(|range| range.with(UsCodeRange::CODE_SIZE, last));
    Some(kept)
}
