//! Where a program can go: basic blocks, and what leads from one to the next.
//!
//! Flow control depends on no register, so that the sequencer itself goes every way there is; loops run twice at most, which takes the way
//! back and the way out.

use std::collections::{BTreeMap, BTreeSet};

use r500_chip::values::FlowOp;

use super::flow::{FlowControl, Sequencer};
use crate::Program;

/// Basic blocks of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGraph {
    /// The blocks, in the order of their instructions.
    pub blocks: Vec<FlowBlock>,
    /// The block of the first instruction that is executed; `None` if there is none.
    pub start: Option<usize>,
    /// Loops that are executed.
    pub loops: usize,
    /// Whether all ways are in the graph: not if following them takes too long, as without end.
    pub complete: bool,
}

/// Instructions that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowBlock {
    /// The number of the first instruction.
    pub first: usize,
    /// That of the last one.
    pub last: usize,
    /// Whether it is executed.
    pub reached: bool,
    /// Loops around it.
    pub loops: usize,
    /// What follows; `None`: the end.
    pub successors: Vec<(FlowEdge, Option<usize>)>,
}

/// Why one instruction follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowEdge {
    /// It stands after it.
    Next,
    /// A loop begins.
    Enter,
    /// The next pass of a loop begins.
    Back,
    /// A loop ends.
    Leave,
    /// A loop of no passes is left out.
    Skip,
    /// A jump.
    Jump,
    /// A subroutine is called.
    Call,
    /// A subroutine returns.
    Return,
    /// The program ends.
    End,
}

impl Program {
    /// Returns where the program can go. `most` limits the instructions that are followed.
    #[must_use]
    pub fn flow_graph(&self, most: usize) -> FlowGraph {
        let mut flow = FlowControl::new(self.controls());
        for inst in &mut flow.ops {
            if inst.op == FlowOp::LOOP {
                inst.count_or_target = inst.count_or_target.min(2);
                // A loop ends early only if its index stays the same.
                inst.step = 1;
            }
        }
        let mut sequencer = Sequencer::new(&flow, true);
        let mut edges: BTreeMap<(usize, Option<usize>), FlowEdge> = BTreeMap::new();
        // The loops around each instruction that is reached.
        let mut depths: BTreeMap<usize, usize> = BTreeMap::new();
        let mut executed: BTreeSet<usize> = BTreeSet::new();
        let start = sequencer.pc();
        let mut left = most;
        while let Some(from) = sequencer.pc() {
            let before: Vec<_> = sequencer.frames().collect();
            let frames = before.iter().map(|(inst, _)| *inst);
            let around: Vec<_> = frames.filter(|inst| flow.ops[*inst].op == FlowOp::LOOP).collect();
            let depth = depths.entry(from).or_default();
            *depth = around.len().max(*depth);
            executed.extend(around);
            if left == 0 {
                break;
            }
            left -= 1;
            sequencer.step(&flow, |_| {});
            let after: Vec<_> = sequencer.frames().collect();
            let edge = edge(&flow, from, &before, sequencer.pc(), &after);
            edges.entry((from, sequencer.pc())).or_insert(edge);
        }
        let blocks = self.blocks(start, &edges, &depths);
        #[expect(clippy::expect_used, reason = "a wrong graph must not be shown")]
        let start = start.map(|start| {
            let first = |block: &FlowBlock| block.first == start;
            blocks.iter().position(first).expect("a block begins with the first instruction")
        });
        FlowGraph { blocks, start, loops: executed.len(), complete: sequencer.pc().is_none() }
    }

    fn blocks(
        &self,
        start: Option<usize>,
        edges: &BTreeMap<(usize, Option<usize>), FlowEdge>,
        depths: &BTreeMap<usize, usize>,
    ) -> Vec<FlowBlock> {
        // A block begins where something else than the instruction before leads to, or where that leads elsewhere, too.
        let mut leaders: BTreeSet<usize> = start.into_iter().collect();
        for ((from, to), edge) in edges {
            if *edge != FlowEdge::Next {
                leaders.extend(to);
                leaders.insert(from + 1);
            }
        }
        let window: BTreeSet<usize> = self.window().map(|(number, _)| number).collect();
        let mut blocks: Vec<FlowBlock> = Vec::new();
        let numbers: BTreeSet<usize> = window.iter().chain(depths.keys()).copied().collect();
        for number in numbers {
            let depth = depths.get(&number).copied();
            let reached = depth.is_some();
            match blocks.last_mut() {
                Some(block)
                    if block.last + 1 == number
                        && block.reached == reached
                        && !leaders.contains(&number) =>
                {
                    block.last = number;
                }
                _ => blocks.push(FlowBlock {
                    first: number,
                    last: number,
                    reached,
                    // What is not executed is in no loop.
                    loops: depth.unwrap_or_default(),
                    successors: Vec::new(),
                }),
            }
        }
        let starts: BTreeMap<usize, usize> =
            blocks.iter().enumerate().map(|(n, block)| (block.first, n)).collect();
        for block in &mut blocks {
            let leaving = edges.range((block.last, None)..=(block.last, Some(usize::MAX)));
            block.successors = leaving
                .map(|((_, to), edge)| {
                    let to = to.map(|to| {
                        #[expect(clippy::expect_used, reason = "a wrong graph must not be shown")]
                        let block = starts.get(&to).expect("a block begins where an edge leads");
                        *block
                    });
                    (*edge, to)
                })
                .collect();
        }
        blocks
    }
}

/// Returns why one instruction follows another, from the loops and calls around both, with their remaining passes.
fn edge(
    flow: &FlowControl,
    from: usize,
    before: &[(usize, u16)],
    to: Option<usize>,
    after: &[(usize, u16)],
) -> FlowEdge {
    let Some(to) = to else { return FlowEdge::End };
    let common = before.iter().zip(after).take_while(|((a, _), (b, _))| a == b).count();
    if before[..common].iter().zip(after).any(|((_, a), (_, b))| a != b) {
        return FlowEdge::Back;
    }
    let is_call =
        |frames: &[(usize, u16)]| frames.iter().any(|(inst, _)| flow.ops[*inst].op == FlowOp::CALL);
    let jumps = flow.after(from as u16).any(|(_, inst)| inst.op == FlowOp::JUMP);
    match (&before[common..], &after[common..]) {
        (_, entered) if is_call(entered) => FlowEdge::Call,
        (left, _) if is_call(left) => FlowEdge::Return,
        (_, [_, ..]) => FlowEdge::Enter,
        _ if jumps && to != from + 1 => FlowEdge::Jump,
        ([_, ..], []) => FlowEdge::Leave,
        ([], []) if to == from + 1 => FlowEdge::Next,
        ([], []) => FlowEdge::Skip,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};

    use super::*;
    use crate::{Controls, Flow, Instruction, Source};

    /// Returns the blocks as text: first to last, loops around them, what follows.
    fn graph(flow: &str, instructions: usize) -> Vec<String> {
        let copy = "temp[0].x = VE_ADD input[0].xxxx input[0].0000 ;\n";
        let text = flow.to_owned() + &copy.repeat(instructions);
        let graph = Source::parse(&text, &mut |_| Err(String::new())).unwrap();
        let graph = graph.program.flow_graph(10_000);
        assert!(graph.complete);
        let blocks = graph.blocks.iter().map(|block| {
            let successors: Vec<String> = block
                .successors
                .iter()
                .map(|(edge, to)| match to {
                    Some(to) => format!("{edge:?} {}", graph.blocks[*to].first),
                    None => format!("{edge:?}"),
                })
                .collect();
            let reached = if block.reached { "" } else { "unreached " };
            let (first, last, loops) = (block.first, block.last, block.loops);
            format!("{reached}{first}-{last} in {loops}: {}", successors.join(", "))
        });
        blocks.collect()
    }

    #[test]
    fn loops_have_ways_back_and_out() {
        let nested = graph(
            "FLOW[0] = LOOP after 0, 3 times 1 to 3, aL 0 step 1 ;
             FLOW[1] = LOOP after 1, 2 times 2 to 3, aL 0 step 0 ;",
            5,
        );
        let expected = [
            "0-0 in 0: Enter 1",
            "1-1 in 1: Enter 2",
            // The inner loop first: back to its start; then to the outer one's; then out of both.
            "2-3 in 2: Back 1, Back 2, Leave 4",
            "4-4 in 0: End",
        ];
        assert_eq!(nested, expected);
        // One pass has no way back, none is left out.
        let once = graph("FLOW[0] = LOOP after 0, 1 times 1 to 1, aL 0 step 0 ;", 3);
        assert_eq!(once, ["0-0 in 0: Enter 1", "1-1 in 1: Leave 2", "2-2 in 0: End"]);
        let never = graph("FLOW[0] = LOOP after 0, 0 times 1 to 1, aL 0 step 0 ;", 3);
        assert_eq!(never, ["0-0 in 0: Skip 2", "unreached 1-1 in 0: ", "2-2 in 0: End"]);
    }

    #[test]
    fn jumps_and_calls_lead_elsewhere() {
        let jump = graph("FLOW[0] = JUMP after 0 to 2 ;", 3);
        assert_eq!(jump, ["0-0 in 0: Jump 2", "unreached 1-1 in 0: ", "2-2 in 0: End"]);
        // A subroutine at 3 is called after 0 and returns to 1; the program then runs into it.
        let call = graph("FLOW[0] = CALL after 0, 3 to 3, return 1 ;", 4);
        let expected = ["0-0 in 0: Call 3", "1-2 in 0: Next 3", "3-3 in 0: End, Return 1"];
        assert_eq!(call, expected);
        // A jump out of a loop ends it in its first pass.
        let out = graph(
            "FLOW[0] = LOOP after 0, 5 times 1 to 2, aL 0 step 0 ;
             FLOW[1] = JUMP after 1 to 3 ;",
            4,
        );
        let expected =
            ["0-0 in 0: Enter 1", "1-1 in 1: Jump 3", "unreached 2-2 in 0: ", "3-3 in 0: End"];
        assert_eq!(out, expected);
    }

    /// Any flow control gives a graph, in which every instruction is in one block.
    #[test]
    fn any_flow_control_has_a_graph() {
        let mut state = 1_u64;
        let mut below = |most: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) as u32) % most
        };
        let mut complete = 0;
        for _ in 0..3_000 {
            let code = vec![Instruction([0; 4]); 8];
            let mut controls = Controls::of_code(0, &code);
            controls.flow = (0..below(5) as u8)
                .map(|number| Flow {
                    number,
                    op: [FlowOp::LOOP, FlowOp::CALL, FlowOp::JUMP][below(3) as usize],
                    low: VapPvsFlowCntlAddrsLw(below(9) | below(9) << 16),
                    high: VapPvsFlowCntlAddrsUw(below(9) | below(9) << 16),
                    index: VapPvsFlowCntlLoopIndex(below(3) << 8),
                })
                .collect();
            let graph = Program::from_code(controls, 0, code).flow_graph(2_000);
            complete += u32::from(graph.complete);
            let mut next = 0;
            for block in &graph.blocks {
                assert!(block.first >= next && block.last >= block.first);
                next = block.last + 1;
                assert!(!block.reached || !graph.complete || !block.successors.is_empty());
            }
            assert!(next >= 8, "{graph:?}");
        }
        assert!(complete > 1_000, "{complete}");
    }
}
