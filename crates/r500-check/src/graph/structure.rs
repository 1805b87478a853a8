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
//! | RETURN | POP; DECR 1 where the calls INCR; not inside a branch or loop |
//! | plain jumps | forward, counting nothing, decided alike by all pixels |

use r500_isa::values::{AddrOp, BranchOp, FcOp};

use super::{Graph, Role};
use crate::step::Flow;

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
    Choice {
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
    Over {
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
    pub reason: &'static str,
}

/// What statements are inside of.
#[derive(Clone, Copy)]
struct Scope {
    sub: Option<usize>,
    running: Option<Running>,
    /// Branch levels open since the loop, or the function, began.
    levels: u8,
    /// Not the outermost list of its function.
    nested: bool,
}

#[derive(Clone, Copy)]
struct Running {
    end: usize,
    rep: bool,
}

/// Statements, and branch levels that the ENDIF behind them must close for the last of them.
struct List {
    statements: Vec<Statement>,
    pending: u8,
    returned: bool,
}

struct Parser<'a> {
    graph: &'a Graph,
    passes: &'a dyn Fn(u8) -> Option<u8>,
    roles: Vec<Option<Role>>,
    subs: Vec<(usize, bool)>,
    calls: Vec<(Option<usize>, usize)>,
}

type Parsed<T> = Result<T, Unstructured>;

fn refuse<T>(index: usize, reason: &'static str) -> Parsed<T> {
    Err(Unstructured { index, reason })
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
            return refuse(window.start, "END_ADDR is not in the window");
        };
        let mut parser = Parser {
            graph,
            passes: &passes,
            roles: vec![None; graph.len()],
            subs: Vec::new(),
            calls: Vec::new(),
        };
        if end < window.start {
            return refuse(window.start, "the program starts behind its end");
        }
        let scope = Scope { sub: None, running: None, levels: 0, nested: false };
        let main = parser.list(window.start, end + 1, scope)?.statements;
        let mut bodies = Vec::new();
        while let Some(&(entry, _)) = parser.subs.get(bodies.len()) {
            let scope = Scope { sub: Some(bodies.len()), ..scope };
            let list = parser.list(entry, window.last + 1, scope)?;
            if !list.returned {
                return refuse(entry, "a subroutine without RETURN");
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
            let wants = graph.flows[at].map(|flow| flow.wants);
            let (may, may_not) = wants.map_or((true, true), |w| (w.some, w.some_not));
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

impl Parser<'_> {
    /// Statements from `at` to before `to`.
    fn list(&mut self, from: usize, to: usize, scope: Scope) -> Parsed<List> {
        let mut list = List { statements: Vec::new(), pending: 0, returned: false };
        let mut at = from;
        while at < to {
            list.pending = 0;
            if scope.sub.is_some() && self.graph.window.end == Some(at) {
                return refuse(at, "the program ends inside a subroutine");
            }
            let Some(flow) = self.graph.flows[at] else {
                self.play(at, Role::Straight)?;
                match list.statements.last_mut() {
                    Some(Statement::Straight { last, .. }) => *last = at,
                    _ => list.statements.push(Statement::Straight { first: at, last: at }),
                }
                at += 1;
                continue;
            };
            let (statement, next) = match flow.op {
                FcOp::JUMP => match flow.a_op {
                    AddrOp::NONE if self.is_idle(at, &flow) => {
                        self.play(at, Role::Straight)?;
                        (Statement::Straight { first: at, last: at }, at + 1)
                    }
                    AddrOp::NONE if flow.b_op0 == BranchOp::INCR => {
                        let (statement, next, pending) = self.branch(at, to, &flow, scope)?;
                        list.pending = pending;
                        (statement, next)
                    }
                    AddrOp::NONE => self.plain(at, to, &flow, scope)?,
                    AddrOp::PUSH => self.call(at, &flow, scope)?,
                    AddrOp::POP => {
                        let last = self.give_back(at, &flow, scope)?;
                        if last && !scope.nested {
                            list.statements.push(Statement::Return(at));
                            list.returned = true;
                            return Ok(list);
                        }
                        (Statement::Return(at), at + 1)
                    }
                    _ => return refuse(at, "A_OP is reserved"),
                },
                FcOp::LOOP | FcOp::REP => self.repeat(at, to, &flow, scope)?,
                FcOp::BREAKLOOP | FcOp::BREAKREP | FcOp::CONTINUE => {
                    self.leave(at, &flow, scope)?
                }
                _ => return refuse(at, "the end of a loop that does not begin here"),
            };
            list.statements.push(statement);
            at = next;
        }
        Ok(list)
    }

    /// IF with its arms; what follows it, and the levels that are still to close there.
    fn branch(
        &mut self,
        at: usize,
        to: usize,
        flow: &Flow,
        scope: Scope,
    ) -> Parsed<(Statement, usize, u8)> {
        if flow.any || flow.b_else {
            return refuse(
                at,
                "a branch that JUMP_ANY or B_ELSE decides for pixels that go the other way",
            );
        }
        let inner = Scope { levels: scope.levels.saturating_add(1), nested: true, ..scope };
        if flow.b_op1 == BranchOp::DECR && flow.pop != 0 {
            return self.last_branch(at, to, flow, inner);
        }
        let target = self.forward(at, to, flow)?;
        let (then, else_at, otherwise, endif, pending);
        if flow.closes_when_jumping() == Some(0) {
            // Behind ENDIF, nothing counted.
            let end = self.endif_before(at, target)?;
            then = self.list(at + 1, end, inner)?;
            (else_at, otherwise, pending) = (None, Vec::new(), then.pending);
            endif = Some(end);
        } else if flow.b_op1 != BranchOp::INCR {
            return refuse(at, "a branch whose jump neither opens a level nor leads behind one");
        } else if let Some(middle) = self.else_before(at, target) {
            then = self.list(at + 1, middle, inner)?;
            if then.pending != 0 {
                return refuse(middle, "ELSE with inner levels still open");
            }
            let word = self.graph.flows[middle];
            let Some(word) = word else { return refuse(middle, "no ELSE") };
            let after = self.forward(middle, to, &word)?;
            let closed = after > target && self.closes(after - 1).is_some();
            let end = if closed && word.closes_when_jumping() == Some(1) {
                Some(after - 1)
            } else if word.any || word.closes_when_jumping() == Some(0) {
                if after < to && self.closes(after).is_some() {
                    Some(after)
                } else if after == to {
                    None
                } else if closed && word.any {
                    Some(after - 1)
                } else {
                    return refuse(middle, "ELSE leads neither to nor behind an ENDIF");
                }
            } else {
                return refuse(middle, "ELSE does not lead behind its ENDIF with its level closed");
            };
            let other = self.list(target, end.unwrap_or(to), inner)?;
            (else_at, pending) = (Some(middle), other.pending);
            (otherwise, endif) = (other.statements, end);
            self.play(middle, Role::Else { after: end.unwrap_or(to) })?;
        } else {
            // Onto ENDIF, counted.
            endif = if target < to && self.closes(target).is_some() {
                Some(target)
            } else if target == to {
                None
            } else {
                return refuse(at, "a branch that leads neither to ELSE nor to ENDIF");
            };
            then = self.list(at + 1, target, inner)?;
            (else_at, otherwise, pending) = (None, Vec::new(), then.pending);
        }
        let other = if else_at.is_some() { target } else { endif.unwrap_or(to) };
        self.play(at, Role::If { other })?;
        let (next, pending) = match endif {
            Some(end) => {
                if self.closes(end) != Some(pending + 1) {
                    return refuse(end, "ENDIF closes another number of levels than are open");
                }
                self.play(end, Role::EndIf)?;
                (end + 1, 0)
            }
            None => (to, pending + 1),
        };
        let then = then.statements;
        Ok((Statement::If { at, then, else_at, otherwise, endif }, next, pending))
    }

    /// IF without an ENDIF of its own, last in an arm, whose jump leads behind the ENDIF of the branch
    /// around and closes what that closes.
    fn last_branch(
        &mut self,
        at: usize,
        to: usize,
        flow: &Flow,
        inner: Scope,
    ) -> Parsed<(Statement, usize, u8)> {
        let behind = self.graph.window.index(flow.target) == Some(to + 1);
        let Some(closed) = self.closes(to).filter(|_| behind && self.graph.window.end != Some(to))
        else {
            return refuse(at, "a branch that closes levels, but does not lead behind their ENDIF");
        };
        let list = self.list(at + 1, to, inner)?;
        if flow.pop.saturating_add(1).saturating_add(list.pending) != closed {
            return refuse(at, "a branch that closes another number of levels than its ENDIF");
        }
        self.play(at, Role::If { other: to })?;
        let (then, otherwise) = (list.statements, Vec::new());
        let statement = Statement::If { at, then, else_at: None, otherwise, endif: None };
        Ok((statement, to, list.pending + 1))
    }

    /// A jump that counts nothing: forward, and all pixels must decide alike.
    fn plain(
        &mut self,
        at: usize,
        to: usize,
        flow: &Flow,
        scope: Scope,
    ) -> Parsed<(Statement, usize)> {
        if flow.b_else || flow.b_op0 != BranchOp::NONE || flow.closes_when_jumping() != Some(0) {
            return refuse(at, "a jump that counts branch levels, but no IF, ELSE or ENDIF");
        }
        if !flow.uniform {
            return refuse(at, "a jump that pixels decide apart, without a branch level");
        }
        let target = self.forward(at, to, flow)?;
        self.play(at, Role::Skip { to: target })?;
        if flow.wants.always() && !flow.any {
            return Ok((Statement::Over { at, to: target }, target));
        }
        let inner = Scope { nested: true, ..scope };
        let last = target - 1;
        let over = self.graph.flows[last].filter(|word| {
            last > at
                && word.op == FcOp::JUMP
                && word.a_op == AddrOp::NONE
                && !word.b_else
                && word.wants.always()
                && !word.any
                && word.closes_when_jumping() == Some(0)
        });
        let Some(word) = over else {
            let then = self.whole(at + 1, target, inner)?;
            let (over, otherwise) = (None, Vec::new());
            return Ok((Statement::Choice { at, then, over, otherwise }, target));
        };
        let behind = self.forward(last, to, &word)?;
        let then = self.whole(at + 1, last, inner)?;
        self.play(last, Role::Skip { to: behind })?;
        let otherwise = self.whole(target, behind, inner)?;
        Ok((Statement::Choice { at, then, over: Some(last), otherwise }, behind))
    }

    fn repeat(
        &mut self,
        at: usize,
        to: usize,
        flow: &Flow,
        scope: Scope,
    ) -> Parsed<(Statement, usize)> {
        if flow.b_else || flow.a_op != AddrOp::NONE || flow.b_op0 != BranchOp::NONE {
            return refuse(at, "a loop that also counts branch levels or addresses");
        }
        if !flow.wants.never() || flow.closes_when_jumping() != Some(0) {
            return refuse(at, "a loop with a condition");
        }
        let target =
            self.graph.window.index(flow.target).filter(|&target| target > at && target <= to);
        let Some(target) = target else {
            return refuse(at, "a loop that leads out of what it is in");
        };
        let ends = |index: usize| {
            self.graph.flows[index].is_some_and(|word| {
                word.ends_pass() && self.graph.window.index(word.target) == Some(at + 1)
            })
        };
        let none = (self.passes)(flow.int) == Some(0);
        let end = if target - 1 > at && ends(target - 1) {
            target - 1
        } else if target < to && ends(target) && !none {
            target
        } else {
            return refuse(
                at,
                "a loop that leads neither behind its end nor, with passes, onto it",
            );
        };
        let Some(word) = self.graph.flows[end] else { return refuse(end, "no end of a loop") };
        let rep = flow.op == FcOp::REP;
        let plain = !word.b_else
            && word.a_op == AddrOp::NONE
            && word.b_op0 == BranchOp::NONE
            && word.closes_when_jumping() == Some(0)
            && word.wants.always();
        if !plain || rep != (word.op == FcOp::ENDREP) {
            return refuse(
                end,
                "the end of a loop that has a condition, counts, or is of the other kind",
            );
        }
        if self.graph.window.end == Some(end) {
            return refuse(end, "the program ends inside a loop");
        }
        let running = Some(Running { end, rep });
        let body = self.whole(at + 1, end, Scope { running, levels: 0, nested: true, ..scope })?;
        self.play(at, Role::Loop { exit: end + 1 })?;
        self.play(end, Role::EndLoop { body: at + 1 })?;
        Ok((Statement::Loop { at, body, end }, end + 1))
    }

    fn leave(&mut self, at: usize, flow: &Flow, scope: Scope) -> Parsed<(Statement, usize)> {
        let Some(Running { end, rep }) = scope.running else {
            return refuse(at, "BREAK or CONTINUE outside every loop");
        };
        if flow.b_else || flow.a_op != AddrOp::NONE || flow.b_op0 != BranchOp::NONE {
            return refuse(at, "BREAK or CONTINUE that also counts");
        }
        if flow.closes_when_jumping() != Some(scope.levels) {
            return refuse(
                at,
                "BREAK or CONTINUE that closes another number of levels than are open in the loop",
            );
        }
        let target = self.graph.window.index(flow.target);
        let (role, statement, wanted) = if flow.op == FcOp::CONTINUE {
            (Role::Continue { end }, Statement::Continue(at), end)
        } else {
            if rep != (flow.op == FcOp::BREAKREP) {
                return refuse(at, "BREAK of the other kind of loop");
            }
            (Role::Break { exit: end + 1 }, Statement::Break(at), end + 1)
        };
        if target != Some(wanted) {
            return refuse(
                at,
                "BREAK that does not lead behind its loop, or CONTINUE that does not lead to its end",
            );
        }
        self.play(at, role)?;
        Ok((statement, at + 1))
    }

    fn call(&mut self, at: usize, flow: &Flow, scope: Scope) -> Parsed<(Statement, usize)> {
        let counted = flow.b_op1 == BranchOp::INCR;
        if flow.b_else || (!counted && flow.closes_when_jumping() != Some(0)) {
            return refuse(at, "a call that closes branch levels");
        }
        if !flow.wants.always() && flow.b_op0 != BranchOp::NONE {
            return refuse(at, "a call that counts where it is not taken");
        }
        if !(flow.uniform || flow.any && counted) {
            return refuse(at, "a call with a condition needs JUMP_ANY and B_OP1 INCR");
        }
        let Some(entry) = self.graph.window.index(flow.target) else {
            return refuse(at, "a call out of the window");
        };
        let known = self.subs.iter().position(|sub| sub.0 == entry);
        let sub = known.unwrap_or_else(|| {
            self.subs.push((entry, counted));
            self.subs.len() - 1
        });
        if self.subs[sub].1 != counted {
            return refuse(at, "calls of one subroutine that count and others that do not");
        }
        self.calls.push((scope.sub, sub));
        self.play(at, Role::Call { sub })?;
        Ok((Statement::Call { at, sub }, at + 1))
    }

    /// RETURN; whether it is unconditional.
    fn give_back(&mut self, at: usize, flow: &Flow, scope: Scope) -> Parsed<bool> {
        let Some(sub) = scope.sub else { return refuse(at, "RETURN outside every subroutine") };
        if scope.running.is_some() || scope.levels != 0 {
            return refuse(at, "RETURN inside a branch or loop");
        }
        if flow.b_else || flow.closes_when_jumping() != Some(u8::from(self.subs[sub].1)) {
            return refuse(at, "RETURN closes another number of levels than its calls open");
        }
        let always = flow.wants.always() && !flow.any;
        if !always && (!flow.uniform || flow.b_op0 != BranchOp::NONE) {
            return refuse(at, "RETURN that pixels decide apart");
        }
        self.play(at, Role::Return { sub })?;
        Ok(always)
    }

    /// A list that leaves no levels to close.
    fn whole(&mut self, from: usize, to: usize, scope: Scope) -> Parsed<Vec<Statement>> {
        let list = self.list(from, to, scope)?;
        if list.pending != 0 {
            return refuse(to, "a branch without ENDIF");
        }
        Ok(list.statements)
    }

    fn play(&mut self, at: usize, role: Role) -> Parsed<()> {
        match &mut self.roles[at] {
            Some(_) => refuse(at, "an instruction of two statements"),
            empty => {
                *empty = Some(role);
                Ok(())
            }
        }
    }

    /// The target of a jump that must lead forward, not past `to` nor past the end of the program.
    fn forward(&self, at: usize, to: usize, flow: &Flow) -> Parsed<usize> {
        let target = self.graph.window.index(flow.target);
        let target = target.filter(|&target| target > at && target <= to);
        match target.filter(|target| self.graph.window.end != target.checked_sub(1)) {
            Some(target) => Ok(target),
            None => refuse(at, "a jump backward, or out of the statement or program that it is in"),
        }
    }

    /// Levels that an ENDIF closes on every way that it can go; `None` for other instructions.
    fn closes(&self, at: usize) -> Option<u8> {
        let flow = self.graph.flows.get(at).copied().flatten()?;
        if flow.op != FcOp::JUMP || flow.a_op != AddrOp::NONE || flow.b_else {
            return None;
        }
        // Where all sleep, "all" jumps and "any" does not.
        let jumps = flow.wants.some || !flow.any;
        let stays = flow.wants.some_not || flow.any;
        let leads = self.graph.window.index(flow.target) == Some(at + 1);
        let here = self.graph.window.end == Some(at);
        let sound = (!jumps || (flow.b_op1 == BranchOp::DECR && (leads || here)))
            && (!stays || flow.b_op0 == BranchOp::DECR);
        (sound && flow.pop != 0).then_some(flow.pop)
    }

    fn endif_before(&self, at: usize, target: usize) -> Parsed<usize> {
        match target.checked_sub(1) {
            Some(end) if end > at && self.closes(end).is_some() => Ok(end),
            _ => refuse(at, "a branch that does not lead behind an ENDIF"),
        }
    }

    fn else_before(&self, at: usize, target: usize) -> Option<usize> {
        let middle = target.checked_sub(1).filter(|&middle| middle > at)?;
        let flow = self.graph.flows[middle]?;
        let fits = flow.op == FcOp::JUMP
            && flow.a_op == AddrOp::NONE
            && flow.b_else
            && flow.wants.never()
            && flow.b_op0 == BranchOp::NONE;
        fits.then_some(middle)
    }

    /// A jump that changes nothing whether it is taken or not.
    fn is_idle(&self, at: usize, flow: &Flow) -> bool {
        let counts = |op: BranchOp| op == BranchOp::INCR || (op == BranchOp::DECR && flow.pop != 0);
        let never = flow.wants.never() && flow.any;
        let next = self.graph.window.index(flow.target) == Some(at + 1);
        !flow.b_else && (never || next) && !(counts(flow.b_op0) || (counts(flow.b_op1) && !never))
    }

    fn refuse_recursion(&self) -> Parsed<()> {
        // A subroutine's height: one more than that of those it calls.
        let mut height = vec![0usize; self.subs.len()];
        for _ in 0..=self.subs.len() {
            let mut grown = false;
            for &(from, to) in &self.calls {
                if let Some(from) = from
                    && height[from] <= height[to]
                {
                    height[from] = height[to] + 1;
                    grown = true;
                }
            }
            if !grown {
                return Ok(());
            }
        }
        refuse(self.subs.first().map_or(0, |sub| sub.0), "subroutines that call each other")
    }
}

/// Finds where pixels of a group part.
struct Divergence<'a> {
    graph: &'a Graph,
    divergent: Vec<bool>,
    subs: Vec<bool>,
}

impl<'a> Divergence<'a> {
    fn of(graph: &'a Graph, main: &[Statement], subs: &[Subroutine]) -> Vec<bool> {
        let mut found =
            Self { graph, divergent: vec![false; graph.len()], subs: vec![false; subs.len()] };
        found.mark(main, false);
        // A subroutine called where pixels have parted may be marked late.
        for _ in 0..=subs.len() {
            for (number, sub) in subs.iter().enumerate() {
                found.mark(&sub.body, found.subs[number]);
            }
        }
        found.divergent
    }

    fn uniform(&self, at: usize) -> bool {
        self.graph.flows[at].is_none_or(|flow| flow.uniform)
    }

    fn mark(&mut self, statements: &[Statement], apart: bool) {
        for statement in statements {
            match statement {
                Statement::Straight { first, last } => {
                    self.divergent[*first..=*last].iter_mut().for_each(|d| *d |= apart);
                }
                Statement::If { at, then, otherwise, else_at, endif } => {
                    self.divergent[*at] |= apart;
                    let apart = apart || !self.uniform(*at);
                    for at in else_at.iter().chain(endif) {
                        self.divergent[*at] |= apart;
                    }
                    self.mark(then, apart);
                    self.mark(otherwise, apart);
                }
                Statement::Choice { at, then, over, otherwise } => {
                    for at in over.iter().chain([at]) {
                        self.divergent[*at] |= apart;
                    }
                    self.mark(then, apart);
                    self.mark(otherwise, apart);
                }
                Statement::Loop { at, body, end } => {
                    self.divergent[*at] |= apart;
                    let apart = apart || self.parts(body, false);
                    self.divergent[*end] |= apart;
                    self.mark(body, apart);
                }
                Statement::Call { at, sub } => {
                    self.divergent[*at] |= apart;
                    self.subs[*sub] |= apart || !self.uniform(*at);
                }
                Statement::Break(at)
                | Statement::Continue(at)
                | Statement::Return(at)
                | Statement::Over { at, .. } => self.divergent[*at] |= apart,
            }
        }
    }

    /// Whether pixels may leave a pass of this body apart from each other.
    fn parts(&self, body: &[Statement], apart: bool) -> bool {
        body.iter().any(|statement| match statement {
            Statement::If { at, then, otherwise, .. } => {
                let apart = apart || !self.uniform(*at);
                self.parts(then, apart) || self.parts(otherwise, apart)
            }
            Statement::Choice { then, otherwise, .. } => {
                self.parts(then, apart) || self.parts(otherwise, apart)
            }
            Statement::Break(at) | Statement::Continue(at) => apart || !self.uniform(*at),
            _ => false,
        })
    }
}
