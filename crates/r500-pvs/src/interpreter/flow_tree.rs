//! Flow control as a tree of loops.
//!
//! Flow control depends on no register, so every iteration of a loop executes the same instructions, apart from the loop index. The tree
//! has one iteration of each loop: the sequencer runs it once and records which loops it enters and leaves.

use r500_chip::values::FlowOp;

use super::flow::{FlowControl, FlowEvent, Sequencer};
use crate::Program;

/// What a program executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowNode {
    /// An instruction, by its number.
    Instruction(usize),
    /// A loop.
    Loop(FlowLoop),
}

/// A loop: its body is executed `trips` times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowLoop {
    /// The number of iterations, at least 1.
    pub trips: u16,
    /// The loop index (aL) of the first iteration; `None`: that outside of the loop.
    pub init: Option<i32>,
    /// What each iteration adds to the loop index.
    pub step: i32,
    /// One iteration.
    pub body: Vec<FlowNode>,
}

/// Why flow control is not a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowTreeError {
    /// One iteration of each loop executes too many instructions; jumps may make it endless.
    #[error("one iteration of each loop executes more than {0} instructions")]
    TooLong(usize),
    /// The second iteration of a loop begins at another instruction than the first.
    #[error("a loop begins at instruction {first}, and its further iterations at {again}")]
    Entry {
        /// The first instruction of the first iteration.
        first: u16,
        /// That of further iterations.
        again: u16,
    },
}

/// An open loop, with the nodes of its body so far.
struct Open {
    inst: usize,
    body: Vec<FlowNode>,
}

impl Program {
    /// Returns what the program executes. Calls and jumps are followed; `most` limits the instructions of one iteration of each loop.
    ///
    /// # Errors
    /// [`FlowTreeError`] if there is no such tree, or it is too long.
    pub fn flow_tree(&self, most: usize) -> Result<Vec<FlowNode>, FlowTreeError> {
        let flow = FlowControl::new(self.controls());
        let mut sequencer = Sequencer::of_one_iteration(&flow);
        // The innermost loop last; below all loops, the program.
        let mut open = vec![Open { inst: usize::MAX, body: Vec::new() }];
        let mut instructions = 0;
        handle_events(&flow, &mut sequencer, &mut open)?;
        while let Some(pc) = sequencer.pc() {
            instructions += 1;
            if instructions > most {
                return Err(FlowTreeError::TooLong(most));
            }
            innermost(&mut open).body.push(FlowNode::Instruction(pc));
            sequencer.step(&flow, |_| {});
            handle_events(&flow, &mut sequencer, &mut open)?;
        }
        // The program may end in the first iteration of a loop.
        while open.len() > 1 {
            close(&flow, &mut open, false);
        }
        Ok(std::mem::take(&mut innermost(&mut open).body))
    }
}

#[expect(clippy::expect_used, reason = "the program itself stays open to the end")]
fn innermost(open: &mut [Open]) -> &mut Open {
    open.last_mut().expect("the program is open")
}

/// Opens and closes the loops that the last step entered and left.
fn handle_events(
    flow: &FlowControl,
    sequencer: &mut Sequencer,
    open: &mut Vec<Open>,
) -> Result<(), FlowTreeError> {
    for event in sequencer.take_events() {
        match event {
            FlowEvent::Entered(inst) => {
                let op = flow.ops[inst];
                let first = op.act.wrapping_add(1);
                if op.target != first && op.count_or_target > 1 {
                    return Err(FlowTreeError::Entry { first, again: op.target });
                }
                open.push(Open { inst, body: Vec::new() });
            }
            FlowEvent::Ended { inst, completed } => {
                debug_assert_eq!(innermost(open).inst, inst, "loops end innermost first");
                close(flow, open, completed);
            }
        }
    }
    Ok(())
}

/// Closes the innermost loop, and appends it to the one around it. A loop that was left by a jump, or by the end of the program, runs once.
fn close(flow: &FlowControl, open: &mut Vec<Open>, completed: bool) {
    #[expect(clippy::expect_used, reason = "a loop that was not opened must not close the program")]
    let Open { inst, body } = open.pop().expect("a loop is open");
    let op = flow.ops[inst];
    debug_assert_eq!(op.op, FlowOp::LOOP, "only loops are recorded");
    let trips = if completed { op.count_or_target } else { 1 };
    let init = (!op.keep_index).then_some(op.init);
    if !body.is_empty() {
        let step = op.step;
        innermost(open).body.push(FlowNode::Loop(FlowLoop { trips, init, step, body }));
    }
}
