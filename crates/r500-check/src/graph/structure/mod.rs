//! Statements recovered from jumps.
//!
//! A program is structured where each flow-control instruction is one word of a statement in its
//! canonical meaning: a pixel that a branch or a loop parks wakes exactly where its own path goes
//! on, whatever its neighbours do. The forms that are understood:
//!
//! | statement | words |
//! | --- | --- |
//! | IF, ELSE, ENDIF | JUMP with `B_OP0` INCR, all; JUMP with `B_ELSE` that nobody wants; JUMP to the next instruction with DECR on every way. The jump of IF and ELSE leads behind the branch and counts nothing, or onto ENDIF (of this branch or, last in an arm, of one around it) and counts like the other way; the last IF in an arm may also lead behind the ENDIF of the branch around, closing what that closes |
//! | LOOP, REP | nobody wants the jump; it leads behind the loop, or onto its end (drivers do so) where there is at least one pass |
//! | ENDLOOP, ENDREP | all want the jump, to the first of the body |
//! | BREAK, CONTINUE | any condition; DECR by the levels open in the loop; behind the loop, or onto its end |
//! | CALL | PUSH; unconditional, or decided alike by all, or ANY with `B_OP1` INCR |
//! | RETURN | POP; DECR by the levels open since the call, that of the call included; not inside a loop, nor where pixels have parted |
//! | plain jumps | forward, counting nothing, decided alike by all pixels |

mod branch;
mod divergence;
mod reason;
mod recover;

use super::{Graph, Role};
use divergence::Divergence;
pub use reason::UnstructuredReason;
use reason::UnstructuredReason as Reason;
use recover::{Parser, Scope, refuse};

/// A structured program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The statements from the start to the end of the program.
    pub main: Vec<Statement>,
    /// Subroutines that are called, in the order of their first calls.
    pub subs: Vec<Subroutine>,
    /// The part that each instruction plays; `None` where it plays none because nothing leads there.
    pub roles: Vec<Option<Role>>,
    /// Instructions that some pixels of a group may execute while others of it sleep.
    pub divergent: Vec<bool>,
}

/// A subroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subroutine {
    /// Its first instruction.
    pub entry: usize,
    /// Calls open a branch level and returns close it.
    pub counted: bool,
    /// Its statements, the last RETURN included.
    pub body: Vec<Statement>,
}

/// A statement. Places are indices of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Instructions one after the other.
    Straight {
        /// The first.
        first: usize,
        /// The last.
        last: usize,
    },
    /// A branch.
    If {
        /// IF.
        at: usize,
        /// What runs where the jump is not wanted.
        then: Vec<Statement>,
        /// ELSE.
        else_at: Option<usize>,
        /// What runs otherwise.
        otherwise: Vec<Statement>,
        /// ENDIF; `None` where that of the branch around closes this one too.
        endif: Option<usize>,
    },
    /// A branch of plain jumps, which all pixels take alike.
    UniformIf {
        /// The jump.
        at: usize,
        /// What runs where it is not taken.
        then: Vec<Statement>,
        /// The jump over the other arm, where there is one.
        over: Option<usize>,
        /// What runs otherwise.
        otherwise: Vec<Statement>,
    },
    /// A loop.
    Loop {
        /// LOOP or REP.
        at: usize,
        /// What is repeated.
        body: Vec<Statement>,
        /// ENDLOOP or ENDREP.
        end: usize,
    },
    /// BREAKLOOP or BREAKREP.
    Break(usize),
    /// CONTINUE.
    Continue(usize),
    /// A call.
    Call {
        /// The instruction.
        at: usize,
        /// Number of the subroutine.
        sub: usize,
    },
    /// A return.
    Return(usize),
    /// A jump over instructions that do not run here.
    Skip {
        /// The instruction.
        at: usize,
        /// Where it goes.
        to: usize,
    },
}

/// Why a program is not structured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstructured {
    /// The first instruction that does not fit.
    pub index: usize,
    /// Why.
    pub reason: UnstructuredReason,
}

impl Structure {
    /// The statements of a program.
    ///
    /// # Errors
    /// [`Unstructured`], with the first instruction that is no word of a statement.
    pub fn recover(program: &r500_program::Program, graph: &Graph) -> Result<Self, Unstructured> {
        let ints = &program.state.fc_int_const;
        let passes =
            |int: u8| ints.get(usize::from(int)).copied().flatten().map(|constant| constant.kr());
        let window = graph.window();
        let Some(end) = window.end else {
            return refuse(window.start, Reason::EndOutsideWindow);
        };
        let mut parser = Parser {
            graph,
            trip_count: &passes,
            roles: vec![None; graph.len()],
            subs: Vec::new(),
            calls: Vec::new(),
        };
        if end < window.start {
            return refuse(window.start, Reason::EndBeforeStart);
        }
        let scope =
            Scope { sub: None, enclosing_loop: None, levels: 0, nested: false, convergent: true };
        let main = parser.parse_list(window.start, end + 1, scope)?.statements;
        let mut bodies = Vec::new();
        while let Some(&(entry, _)) = parser.subs.get(bodies.len()) {
            let scope = Scope { sub: Some(bodies.len()), ..scope };
            let list = parser.parse_list(entry, window.last + 1, scope)?;
            if !list.returned {
                return refuse(entry, Reason::NoReturn);
            }
            bodies.push(list.statements);
        }
        parser.refuse_recursion()?;
        let Parser { roles, subs, .. } = parser;
        let subs: Vec<Subroutine> = subs
            .into_iter()
            .zip(bodies)
            .map(|((entry, counted), body)| Subroutine { entry, counted, body })
            .collect();
        let divergent = Divergence::of(graph, &main, &subs);
        Ok(Self { main, subs, roles, divergent })
    }

    /// Every way that a pixel of its own can go: pairs of instructions, and where it can end.
    ///
    /// Unlike the edges of the [`Graph`], which a group goes along while some of its pixels sleep,
    /// these are the paths of one pixel, along which it executes everything.
    #[must_use]
    pub fn pixel_edges(&self, graph: &Graph) -> Vec<(usize, usize)> {
        let mut edges = Vec::with_capacity(self.roles.len() + 16);
        let end = graph.window().end;
        let calls: Vec<(usize, usize)> = (self.roles.iter().enumerate())
            .filter_map(|(at, role)| match role {
                Some(Role::Call { sub }) => Some((at, *sub)),
                _ => None,
            })
            .collect();
        for (at, role) in self.roles.iter().enumerate() {
            let Some(role) = *role else { continue };
            if Some(at) == end {
                continue;
            }
            let wants = graph.flows[at].map(|flow| flow.outcome);
            let (may, may_not) = wants.map_or((true, true), |w| (w.may_jump, w.may_fall_through));
            let mut go = |to: usize| edges.push((at, to));
            match role {
                Role::Straight | Role::EndIf => go(at + 1),
                Role::If { other } | Role::Skip { to: other } => {
                    if may_not {
                        go(at + 1);
                    }
                    if may {
                        go(other);
                    }
                }
                Role::Else { after } => go(after),
                Role::Loop { exit } => {
                    go(at + 1);
                    if graph.edges_from(at).iter().any(|e| e.kind == super::EdgeKind::Skip) {
                        go(exit);
                    }
                }
                Role::EndLoop { body } => {
                    go(body);
                    go(at + 1);
                }
                Role::Break { exit: to } | Role::Continue { end: to } => {
                    if may {
                        go(to);
                    }
                    if may_not {
                        go(at + 1);
                    }
                }
                Role::Call { sub } => {
                    if may {
                        go(self.subs[sub].entry);
                    }
                    if may_not {
                        go(at + 1);
                    }
                }
                Role::Return { sub } => {
                    calls.iter().filter(|call| call.1 == sub).for_each(|call| go(call.0 + 1));
                    if may_not {
                        go(at + 1);
                    }
                }
            }
        }
        edges
    }
}
