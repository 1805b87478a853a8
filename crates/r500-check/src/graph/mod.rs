//! The flow graph: where a group of pixels can go, and what is known of it on the way.
//!
//! [`Graph::new`] follows every state that a group can be in (program counter, loop stack, address
//! stack) from the start of the program; jumps that depend on data go both ways. So it holds for any
//! program, structured or not: what is not in the graph does not happen (as long as the integer
//! constants of its loops are given; a loop whose passes are not known is taken to have some). [`Graph::blocks`] groups
//! instructions into basic blocks with dominators and natural loops; [`Structure`] finds the
//! statements (IF, LOOP, CALL ...) that the flow-control words of a structured program spell.

mod basic_blocks;
mod role;
mod stack_interner;
mod state_explorer;
mod structure;

use r500_isa::values::InstType;
use r500_program::{CodeWindow, Program, WindowError};

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
    visits: Vec<Option<AbstractState>>,
    edges: Vec<Edge>,
    states: usize,
    gave_up: bool,
    pub(crate) steps: Vec<InstInfo>,
    pub(crate) flows: Vec<Option<BranchInfo>>,
}

/// A way from an instruction to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The instruction that it leaves.
    pub from: usize,
    /// Why.
    pub kind: EdgeKind,
    /// Where it goes.
    pub to: Node,
}

/// Why a group goes from one instruction to another.
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
    /// LOOP or REP begins its first pass.
    Enter,
    /// LOOP or REP jumps past the loop.
    Skip,
    /// ENDLOOP or ENDREP begins another pass.
    Back,
    /// ENDLOOP or ENDREP goes on behind the loop.
    LeaveLoop,
    /// A taken BREAKLOOP or BREAKREP.
    Break,
    /// A taken CONTINUE.
    Continue,
    /// The program ends behind `END_ADDR`.
    End,
}

impl EdgeKind {
    /// A word for it; empty for the ordinary way on.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Next | Self::NotTaken | Self::End => "",
            Self::Jump => "jump",
            Self::Call => "call",
            Self::Return => "return",
            Self::Enter => "enter",
            Self::Skip => "skip",
            Self::Back => "next pass",
            Self::LeaveLoop => "done",
            Self::Break => "break",
            Self::Continue => "continue",
        }
    }
}

/// Where an edge goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// An instruction, by index.
    Instruction(usize),
    /// The end of the program.
    End,
    /// An absolute address that cannot run.
    Outside(u32),
}

/// How many of something there are, over all states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthRange {
    /// Fewest.
    pub min: u8,
    /// Most.
    pub max: u8,
}

impl DepthRange {
    /// Always that many.
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

    /// The number, if it is always the same.
    #[must_use]
    pub fn exact(self) -> Option<u8> {
        (self.min == self.max).then_some(self.min)
    }
}

/// What aL can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlRange {
    /// Least.
    pub min: i32,
    /// Greatest.
    pub max: i32,
    /// It may be anything else too, because an integer constant is not given.
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

/// Something that goes wrong at an instruction, in some state.
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

/// What goes wrong at an instruction; the checker says it in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps(u16);

impl Traps {
    fn set(&mut self, trap: Trap) {
        self.0 |= 1 << trap as u16;
    }

    pub(crate) fn has(self, trap: Trap) -> bool {
        self.0 >> trap as u16 & 1 != 0
    }

    /// Whether nothing goes wrong.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Graph {
    /// The flow graph of a program.
    ///
    /// # Errors
    /// [`WindowError`] where nothing can run.
    pub fn new(program: &Program) -> Result<Self, WindowError> {
        let window = CodeWindow::of(program)?;
        let bools = program.state.fc_bool_const.map(|c| c.kbool());
        let steps: Vec<InstInfo> = program.code.iter().map(|&inst| InstInfo::new(inst)).collect();
        let flows: Vec<Option<BranchInfo>> = program
            .code
            .iter()
            .map(|&inst| {
                (inst.ty() == InstType::FC).then(|| BranchInfo::new(inst, window.offset, bools))
            })
            .collect();
        let explored = state_explorer::explore(program, window, &flows);
        let state_explorer::Explored { visits, edges, states, gave_up } = explored;
        Ok(Self { window, visits, edges, states, gave_up, steps, flows })
    }

    /// Where the program can run.
    #[must_use]
    pub fn window(&self) -> CodeWindow {
        self.window
    }

    /// Number of instructions, reached or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.visits.len()
    }

    /// Whether there are no instructions; never, because then there is no graph.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    /// What is known of an instruction; `None` where no run reaches it.
    #[must_use]
    pub fn visit(&self, index: usize) -> Option<&AbstractState> {
        self.visits.get(index)?.as_ref()
    }

    /// Whether some run may reach an instruction.
    #[must_use]
    pub fn reaches(&self, index: usize) -> bool {
        self.visit(index).is_some()
    }

    /// Every edge, by ascending origin.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges that leave an instruction.
    #[must_use]
    pub fn edges_from(&self, index: usize) -> &[Edge] {
        let first = self.edges.partition_point(|edge| edge.from < index);
        let count = self.edges[first..].partition_point(|edge| edge.from == index);
        &self.edges[first..first + count]
    }

    /// States of a group that were told apart.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// Whether there were more states than [`STATES`](crate::limits::STATES): the graph is not
    /// complete then.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Basic blocks, dominators and natural loops.
    #[must_use]
    pub fn blocks(&self) -> Blocks {
        Blocks::of(self)
    }
}
