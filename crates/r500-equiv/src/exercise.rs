//! Execution coverage: which instructions and branches of a program a comparison has executed.

use std::collections::BTreeSet;

use r500_check::graph::{EdgeKind, Graph, Node};
use r500_exec::reference::Group;
use r500_exec::{Bindings, Draw, Options, PixelRect, RunError, Shader};
use r500_isa::BranchInfo;
use r500_isa::values::InstType;
use r500_program::Program;

use crate::pixel_paths::Executable;

/// The executed instructions and branches of a program, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exercise {
    executed: BTreeSet<u32>,
    followed: BTreeSet<(u32, u32)>,
    steps: u64,
}

/// The instructions and branches that no run has executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unexercised {
    /// Addresses of instructions that no active pixel has executed, without flow control that never jumps (ENDIF).
    pub instructions: Vec<u32>,
    /// Branches that no group has followed: the addresses of the flow-control instruction and of its target.
    pub branches: Vec<(u32, u32)>,
    /// Further instructions that were not executed, and that only pixels without a vote (`IGNORE_UNCOVERED`) can execute.
    pub without_vote: Vec<u32>,
}

/// Number of groups that are followed in a picture.
pub(crate) const GROUPS: usize = 64;
/// Limit of instructions for which a group is followed.
const MOST_STEPS: u64 = 1 << 18;
/// Limit of the instructions that the pixels of all followed groups execute.
const ALL_STEPS: u64 = 1 << 24;

impl Exercise {
    /// Follows groups of pixels, spread over a picture, in the reference engine.
    ///
    /// # Errors
    /// [`RunError`] if the draw cannot begin. A limit that is exceeded later only ends a group.
    pub fn record(
        &mut self,
        shader: &Shader,
        bindings: &Bindings,
        options: &Options<'_>,
    ) -> Result<(), RunError> {
        self.record_groups(shader, bindings, options, GROUPS)
    }

    /// Follows at most `most` groups.
    pub(crate) fn record_groups(
        &mut self,
        shader: &Shader,
        bindings: &Bindings,
        options: &Options<'_>,
        most: usize,
    ) -> Result<(), RunError> {
        let mut options = options.clone();
        options.limits.instructions = options.limits.instructions.min(MOST_STEPS);
        let draw = Draw::new(shader, bindings, &options)?;
        let [width, height] = options.group;
        let [columns, rows] = [0, 1].map(|n| bindings.size()[n].div_ceil(options.group[n]));
        let groups = (0..rows).flat_map(|y| (0..columns).map(move |x| [x * width, y * height]));
        let is_covered = |&[left, top]: &[u32; 2]| {
            let mut pixels = (0..height).flat_map(|y| (0..width).map(move |x| (left + x, top + y)));
            pixels.any(|(x, y)| bindings.covers(x, y))
        };
        let groups: Vec<[u32; 2]> = groups.filter(is_covered).collect();
        let count = groups.len().min(most);
        for n in 0..count {
            // Evenly spread, over several columns.
            let [x, y] = groups[(n * groups.len() / count + n) % groups.len()];
            let rect = PixelRect { x, y, width, height };
            self.follow(Group::new(&draw, rect), &options);
        }
        Ok(())
    }

    fn follow(&mut self, mut group: Group<'_>, options: &Options<'_>) {
        let mut from = None;
        while !group.ended() && self.steps < ALL_STEPS {
            let state = group.state();
            self.steps += state.lanes().len() as u64;
            let address = state.address();
            if state.lanes().iter().any(|lane| lane.executes(&options.readings)) {
                self.executed.insert(address);
            }
            self.followed.extend(from.map(|from| (from, address)));
            from = Some(address);
            if group.step().is_err() {
                return;
            }
        }
    }

    /// Returns the reachable instructions and branches that were not executed, without the instructions that no pixel can
    /// execute. `executable` returns those that some pixel can; it is called only if something was not executed.
    pub(crate) fn unexercised_of<'a>(
        &self,
        program: &Program,
        executable: impl FnOnce() -> Option<&'a Executable>,
    ) -> Unexercised {
        let mut unexercised = self.unexercised(program);
        if !unexercised.instructions.is_empty()
            && let Some(executable) = executable()
        {
            let instructions = std::mem::take(&mut unexercised.instructions);
            let (voted, other): (Vec<u32>, Vec<u32>) =
                instructions.iter().partition(|at| executable.instructions.contains(at));
            unexercised.instructions = voted;
            if executable.without_vote_matter {
                unexercised.without_vote = other;
            }
        }
        unexercised
    }

    /// Returns the reachable instructions and branches that were not executed.
    #[must_use]
    pub fn unexercised(&self, program: &Program) -> Unexercised {
        let Ok(graph) = Graph::new(program) else { return Unexercised::default() };
        let offset = program.state.base_address();
        let address = |index: usize| u32::from(offset) + index as u32;
        let reached = (0..graph.len()).filter(|&index| graph.reaches(index));
        // An ENDIF is skipped where all pixels of the branch have left the loop.
        let is_join = |index: usize| {
            let inst = program.code[index];
            let branch = || BranchInfo::new(inst, u32::from(offset), None);
            inst.ty() == InstType::FC && branch().outcome.never()
        };
        let reached = reached.filter(|&index| !is_join(index));
        let instructions = reached.map(address).filter(|a| !self.executed.contains(a)).collect();
        let branches = graph.edges().iter().filter_map(|edge| match (edge.kind, edge.to) {
            (EdgeKind::Next | EdgeKind::End, _) => None,
            (_, Node::Instruction(to)) => Some((address(edge.from), address(to))),
            _ => None,
        });
        // Branches of instructions that were not executed are left out: they add nothing.
        let branches = branches.filter(|(from, _)| self.executed.contains(from));
        let branches = branches.filter(|branch| !self.followed.contains(branch)).collect();
        Unexercised { instructions, branches, without_vote: Vec::new() }
    }
}

impl Unexercised {
    /// Returns whether everything was executed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty() && self.branches.is_empty() && self.without_vote.is_empty()
    }

    /// Returns what neither of two runs has executed. What one knows to be out of reach of pixels with a vote is so for both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let has =
            |of: &Self, at: &u32| of.instructions.contains(at) || of.without_vote.contains(at);
        let shared = |list: &[u32]| -> Vec<u32> {
            list.iter().filter(|at| has(self, at) && has(other, at)).copied().collect()
        };
        let mut without_vote = shared(&self.without_vote);
        without_vote.extend(shared(&other.without_vote));
        without_vote.sort_unstable();
        without_vote.dedup();
        let mut instructions = shared(&self.instructions);
        instructions.retain(|at| !without_vote.contains(at));
        let branches = self.branches.iter().filter(|at| other.branches.contains(at)).copied();
        Self { instructions, branches: branches.collect(), without_vote }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use std::path::Path;

    use r500_gen::{Case, Rng, Shape};
    use r500_program::Job;

    use super::*;
    use crate::pixel_paths::executable;

    /// Returns whether the paths of pixels are known, after a run that executes nothing else.
    fn executes_only_paths(job: &Job) -> bool {
        let options = Options::default();
        let Some(executable) = executable(job, &BTreeSet::new(), &options) else { return false };
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(job, job.size.unwrap()).unwrap();
        let mut exercise = Exercise::default();
        exercise.record(&shader, &bindings, &options).unwrap();
        let executed = &exercise.executed;
        assert!(executed.is_subset(&executable.instructions), "{}: {executable:?}", job.name);
        true
    }

    #[test]
    fn pixels_of_captures_execute_only_paths() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa");
        let (mut all, mut known) = (0, 0);
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let limits = r500_formats::Limits::default();
            let bytes = std::fs::read(&file).unwrap();
            for job in r500::reader::read(&bytes, None, None, &limits).unwrap() {
                all += 1;
                known += usize::from(executes_only_paths(&job));
            }
        }
        assert!(known * 10 >= all * 8, "{known} of {all}");
    }

    /// Without subroutines, TEXKILL and uncovered pixels: these have paths that pixels with a vote do not have.
    #[test]
    fn pixels_of_generated_programs_execute_only_paths() {
        let shape =
            Shape { instructions: 40, depth: 3, calls: false, kills: false, ..Shape::default() };
        let mut known = 0;
        for seed in 0..200 {
            let mut case = Case::generate(&mut Rng::new(seed), &shape);
            case.picture.coverage = None;
            known += usize::from(executes_only_paths(&case.job("generated")));
        }
        assert!(known >= 50, "{known}");
    }
}
