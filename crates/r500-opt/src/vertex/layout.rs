//! Relocation: loops refer to instructions by their numbers, and registers name the last instructions that write the position and read inputs.

use r500_chip::values::FlowOp;
use r500_pvs::{Controls, Flow, Instruction, Program};

/// Instructions with the numbers of those that they compute.
pub(super) type Rewritten = Vec<(Instruction, Vec<usize>)>;

/// Code that is put together anew.
pub(super) struct Layout {
    base: usize,
    code: Vec<Instruction>,
    origins: Vec<Vec<usize>>,
    flow: Vec<Flow>,
    /// Original numbers of instructions that begin a stretch, with the new ones.
    moved: Vec<(usize, usize)>,
}

/// Returns the instructions before which flow control takes effect or to which it goes: the first after the beginning of a loop, the first of
/// its body, and the first after it.
fn boundaries(flow: &Flow) -> [usize; 3] {
    debug_assert!(flow.op == FlowOp::LOOP, "other flow control is not optimised");
    let begin = usize::from(flow.low.act_adrs().wrapping_add(1));
    [begin, usize::from(flow.high.rtn_inst()), usize::from(flow.high.last_inst()) + 1]
}

impl Layout {
    pub(super) fn new(base: usize, controls: &Controls) -> Self {
        let (code, origins, moved) = (Vec::new(), Vec::new(), Vec::new());
        Self { base, code, origins, flow: controls.flow.clone(), moved }
    }

    /// Returns whether flow control takes effect before an instruction.
    pub(super) fn is_boundary(&self, number: usize) -> bool {
        self.flow.iter().any(|flow| boundaries(flow).contains(&number))
    }

    /// Returns the number of the next instruction.
    pub(super) fn next(&self) -> usize {
        self.base + self.code.len()
    }

    /// Adds an instruction that stays as it is.
    pub(super) fn keep(&mut self, number: usize, inst: Instruction) {
        self.moved.push((number, self.next()));
        self.code.push(inst);
        self.origins.push(vec![number]);
    }

    /// Adds what replaces a stretch that begins at an instruction.
    pub(super) fn replace(&mut self, number: usize, with: &Rewritten) {
        self.moved.push((number, self.next()));
        for (inst, origins) in with {
            self.code.push(*inst);
            self.origins.push(origins.clone());
        }
    }

    /// Returns the program, with the original numbers of each instruction's; `None` if nothing is left.
    pub(super) fn finish(mut self, program: &Program) -> Option<(Program, Vec<Vec<usize>>)> {
        if self.code.is_empty() {
            return None;
        }
        let end = self.base + program.instructions().1.len();
        self.moved.push((end, self.next()));
        let moved = |number: usize| {
            let found = self.moved.binary_search_by_key(&number, |(old, _)| *old).ok()?;
            u32::try_from(self.moved[found].1).ok()
        };
        let old = program.controls();
        let mut loops = Vec::new();
        for flow in &old.flow {
            let [begin, first, after] = boundaries(flow).map(moved);
            let (begin, first, after) = (begin?, first?, after?);
            let mut flow = *flow;
            // Each fits: no number is greater than before.
            flow.low.0 = flow.low.0 & !0xffff | begin.wrapping_sub(1) & 0xffff;
            flow.high.0 = after.checked_sub(1)? | first << 16;
            loops.push(flow);
        }
        let mut controls = Controls::of_code(self.base, &self.code).with_loops(loops);
        (controls.constants, controls.outputs) = (old.constants, old.outputs);
        Some((Program::from_code(controls, self.base, self.code), self.origins))
    }
}
