//! The control-flow graph of a group of pixels, built by abstract interpretation.
//!
//! [`Graph::new`] follows every state that a group can be in (program counter, loop stack, address
//! stack) from the start of the program; data-dependent jumps take both edges. The graph is sound
//! for any program, structured or not: an edge that is missing is never taken (given the integer
//! constants of the loops; a loop with an unknown trip count is taken to have at least one
//! iteration). [`Graph::blocks`] groups instructions into basic blocks with dominators and natural
//! loops; [`Structure`] recovers the statements (IF, LOOP, CALL, ...) of a structured program.

mod basic_blocks;
mod role;
mod stack_interner;
mod state_explorer;
mod structure;

use r500_isa::INT_CONSTANTS;
use r500_isa::state::UsFcIntConst;
use r500_isa::values::InstType;
use r500_program::{CodeWindow, Executable, Program, WindowError};

use r500_isa::{BranchInfo, InstInfo};

pub use basic_blocks::{Block, BlockNode, Blocks, NaturalLoop};
pub use role::Role;
pub use state_explorer::AbstractState;
pub use structure::{Statement, Structure, Subroutine, Unstructured, UnstructuredReason};

/// The flow graph of a program, by instruction. Instructions are named by their index in
/// [`Program::code`].
#[derive(Debug)]
pub struct Graph {
    window: CodeWindow,
    int_constants: [Option<UsFcIntConst>; INT_CONSTANTS],
    visits: Vec<Option<AbstractState>>,
    edges: Vec<Edge>,
    states: usize,
    gave_up: bool,
    pub(crate) infos: Vec<InstInfo>,
    pub(crate) flows: Vec<Option<BranchInfo>>,
}

/// A control-flow edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The source instruction.
    pub from: usize,
    /// The kind of transfer.
    pub kind: EdgeKind,
    /// The target.
    pub to: Node,
}

/// The kind of a control-flow edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The next instruction follows.
    Next,
    /// A jump, BREAK or CONTINUE that is not taken.
    NotTaken,
    /// A taken jump.
    Jump,
    /// A taken jump that pushes the next address.
    Call,
    /// A taken jump to the popped address.
    Return,
    /// LOOP or REP begins its first iteration.
    Enter,
    /// LOOP or REP jumps past the loop.
    Skip,
    /// ENDLOOP or ENDREP begins another iteration.
    Back,
    /// ENDLOOP or ENDREP leaves the loop.
    LeaveLoop,
    /// A taken BREAKLOOP or BREAKREP.
    Break,
    /// A taken CONTINUE.
    Continue,
    /// The program ends after `END_ADDR`.
    End,
}

impl EdgeKind {
    /// Returns a label for the edge; empty for a fall-through edge.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Next | Self::NotTaken | Self::End => "",
            Self::Jump => "jump",
            Self::Call => "call",
            Self::Return => "return",
            Self::Enter => "enter",
            Self::Skip => "skip",
            Self::Back => "next iteration",
            Self::LeaveLoop => "done",
            Self::Break => "break",
            Self::Continue => "continue",
        }
    }
}

/// The target of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// An instruction, by index.
    Instruction(usize),
    /// The end of the program.
    End,
    /// An absolute address that cannot run.
    Outside(u32),
}

/// A range of stack depths over all abstract states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthRange {
    /// The smallest depth.
    pub min: u8,
    /// The largest depth.
    pub max: u8,
}

impl DepthRange {
    /// Returns the range of a single depth.
    #[must_use]
    pub const fn exactly(n: u8) -> Self {
        Self { min: n, max: n }
    }

    fn of(n: usize) -> Self {
        Self::exactly(u8::try_from(n).unwrap_or(u8::MAX))
    }

    fn hull(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the depth, if the range has one value.
    #[must_use]
    pub fn exact(self) -> Option<u8> {
        (self.min == self.max).then_some(self.min)
    }
}

/// The range of aL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlRange {
    /// The least value.
    pub min: i32,
    /// The greatest value.
    pub max: i32,
    /// Whether other values are possible because an integer constant is not given.
    pub unknown: bool,
}

impl AlRange {
    const fn exactly(n: i32) -> Self {
        Self { min: n, max: n, unknown: false }
    }

    const fn unknown() -> Self {
        Self { min: 0, max: 0, unknown: true }
    }

    fn hull(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            unknown: self.unknown || other.unknown,
        }
    }
}

/// An error that an instruction causes in some state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    RunsOut,
    JumpsOut,
    BranchOverflow,
    LoopOverflow,
    LoopUnderflow,
    CallOverflow,
    CallUnderflow,
    ReservedAddrOp,
    ReservedBranchOp0,
    ReservedBranchOp1,
    ElseWithoutLevel,
    EndsInBranch,
    EndsInLoop,
}

/// The set of errors that an instruction causes; the checker writes their messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps(u16);

impl Traps {
    fn set(&mut self, trap: Trap) {
        self.0 |= 1 << trap as u16;
    }

    pub(crate) fn has(self, trap: Trap) -> bool {
        self.0 >> trap as u16 & 1 != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Graph {
    /// Builds the control-flow graph of a program.
    ///
    /// # Errors
    /// [`WindowError`] if no instruction can run.
    pub fn new(program: &Program) -> Result<Self, WindowError> {
        Executable::of(program).map(|program| Self::of(&program))
    }

    /// Builds the control-flow graph of an executable program.
    #[must_use]
    pub fn of(program: &Executable<'_>) -> Self {
        let Executable { window, int_constants, .. } = *program;
        let bools = program.bool_constants.map(|c| c.kbool());
        let infos: Vec<InstInfo> = program.code.iter().map(|&inst| InstInfo::new(inst)).collect();
        let flows: Vec<Option<BranchInfo>> = program
            .code
            .iter()
            .map(|&inst| {
                (inst.ty() == InstType::FC).then(|| BranchInfo::new(inst, window.offset, bools))
            })
            .collect();
        let explored = state_explorer::explore(program, &flows);
        let state_explorer::Explored { visits, edges, states, gave_up } = explored;
        Self { window, int_constants, visits, edges, states, gave_up, infos, flows }
    }

    /// Returns the code window.
    #[must_use]
    pub fn window(&self) -> CodeWindow {
        self.window
    }

    /// Returns an integer constant; `None` if it is not given.
    #[must_use]
    pub fn int_constant(&self, n: u8) -> Option<UsFcIntConst> {
        self.int_constants.get(usize::from(n)).copied().flatten()
    }

    /// Returns the number of instructions, reached or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.visits.len()
    }

    /// Returns whether there are no instructions; always false, because an empty program has no
    /// graph.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    /// Returns the abstract state of an instruction; `None` if unreachable.
    #[must_use]
    pub fn abstract_state(&self, index: usize) -> Option<&AbstractState> {
        self.visits.get(index)?.as_ref()
    }

    /// Returns whether some run may reach an instruction.
    #[must_use]
    pub fn reaches(&self, index: usize) -> bool {
        self.abstract_state(index).is_some()
    }

    /// Returns the def/use facts of an instruction, reachable or not.
    ///
    /// # Panics
    /// If the program has no such instruction.
    #[must_use]
    pub fn info(&self, index: usize) -> &InstInfo {
        &self.infos[index]
    }

    /// Returns the branch decision of a flow-control instruction; `None` for others.
    #[must_use]
    pub fn flow(&self, index: usize) -> Option<&BranchInfo> {
        self.flows.get(index)?.as_ref()
    }

    /// Returns every edge, by ascending source.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the edges that leave an instruction.
    #[must_use]
    pub fn edges_from(&self, index: usize) -> &[Edge] {
        let first = self.edges.partition_point(|edge| edge.from < index);
        let count = self.edges[first..].partition_point(|edge| edge.from == index);
        &self.edges[first..first + count]
    }

    /// Returns the number of distinct states of a group.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// Returns whether there were more states than [`STATES`](crate::limits::STATES), so that the
    /// graph is incomplete.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Computes basic blocks, dominators and natural loops.
    #[must_use]
    pub fn blocks(&self) -> Blocks {
        Blocks::of(self)
    }
}
