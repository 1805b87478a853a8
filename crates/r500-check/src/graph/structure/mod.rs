//! The structurizer: recovers structured statements from jumps.
//!
//! A program is structured if each flow-control instruction is part of a statement with its usual
//! meaning: a pixel that a branch or a loop deactivates becomes active again exactly where its own
//! path continues, whatever other pixels do. The recognised forms:
//!
//! | statement | instructions |
//! | --- | --- |
//! | IF, ELSE, ENDIF | JUMP with `B_OP0` INCR, all; JUMP with `B_ELSE` and a false condition; JUMP to the next instruction with DECR on both edges. The jump of IF and ELSE leads to the instruction after the branch and counts nothing, or to ENDIF (of this branch or, last in an arm, of an enclosing one) and counts like the other edge; the last IF in an arm may also jump past the ENDIF of the enclosing branch, closing the levels that ENDIF closes |
//! | LOOP, REP | the jump condition is false; the target is the instruction after the loop, or its end (drivers do so) if there is at least one iteration |
//! | ENDLOOP, ENDREP | the jump condition is true; the target is the first instruction of the body |
//! | BREAK, CONTINUE | any condition; DECR by the levels open in the loop; target after the loop, or its end |
//! | CALL | PUSH; unconditional, or with a uniform condition, or ANY with `B_OP1` INCR |
//! | RETURN | POP; DECR by the levels open since the call, that of the call included; not inside a loop or in divergent code |
//! | plain jumps | forward, counting nothing, with a uniform condition |

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
    /// The role of each instruction; `None` if unreachable.
    pub roles: Vec<Option<Role>>,
    /// Whether some pixels of a group may execute the instruction while others are inactive.
    pub divergent: Vec<bool>,
}

/// A subroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subroutine {
    /// Its first instruction.
    pub entry: usize,
    /// Whether calls open a branch level and returns close it.
    pub counted: bool,
    /// Its statements, the last RETURN included.
    pub body: Vec<Statement>,
}

/// A statement. Numbers are instruction indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Consecutive instructions.
    Straight {
        /// The first instruction.
        first: usize,
        /// The last instruction.
        last: usize,
    },
    /// A branch.
    If {
        /// IF.
        at: usize,
        /// Runs if the jump condition is false.
        then: Vec<Statement>,
        /// ELSE.
        else_at: Option<usize>,
        /// Runs otherwise.
        otherwise: Vec<Statement>,
        /// ENDIF; `None` if the ENDIF of the enclosing branch closes this one too.
        endif: Option<usize>,
    },
    /// A branch of plain jumps with a uniform condition.
    UniformIf {
        /// The jump.
        at: usize,
        /// Runs if the jump is not taken.
        then: Vec<Statement>,
        /// The jump over the other arm, if there is one.
        over: Option<usize>,
        /// Runs otherwise.
        otherwise: Vec<Statement>,
    },
    /// A loop.
    Loop {
        /// LOOP or REP.
        at: usize,
        /// The body.
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
    /// An unconditional jump over instructions that do not run here.
    Skip {
        /// The instruction.
        at: usize,
        /// The target.
        to: usize,
    },
}

/// Why a program is unstructured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstructured {
    /// The first instruction that fits no statement.
    pub index: usize,
    /// The kind of transfer.
    pub reason: UnstructuredReason,
}

impl Structure {
    /// Recovers the statements of a program.
    ///
    /// # Errors
    /// [`Unstructured`], with the first instruction that fits no statement.
    pub fn recover(graph: &Graph) -> Result<Self, Unstructured> {
        let trip_count = |int: u8| graph.int_constant(int).map(|constant| constant.kr());
        let window = graph.window();
        let Some(end) = window.end else {
            return refuse(window.start, Reason::EndOutsideWindow);
        };
        let mut parser = Parser {
            graph,
            trip_count: &trip_count,
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

    /// Returns the control-flow edges of a single pixel, as pairs of instructions.
    ///
    /// The edges of the [`Graph`] are those of a group, some of whose pixels may be inactive. These
    /// are the edges along which one pixel executes every instruction.
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
