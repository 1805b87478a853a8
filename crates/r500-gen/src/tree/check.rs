//! Validity of trees.

use r500_isa::values::{AlphaOp, Omod, RgbOp, Sel, TexOp};
use r500_isa::{INSTRUCTION_SLOTS, Source, TEMPORARIES, TEXTURE_UNITS};

use super::{Alu, Call, Cond, Half, If, IfShape, Leave, Loop, LoopKind, Return, Stmt, Tex, Tree};

/// Limit of open branch levels in full flow control.
pub(crate) const BRANCH_LEVELS: u32 = 32;
/// Limit of open branch levels in partial flow control (`US_FC_CTRL.FULL_FC_EN` clear).
pub(crate) const PARTIAL_LEVELS: u32 = 4;
/// Limit of nested loops.
pub(crate) const LOOP_FRAMES: u32 = 32;
/// Limit of nested calls.
pub(crate) const CALLS: u32 = 32;

/// Why a tree is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A temporary above `US_PIXSIZE`, possibly with aL added.
    #[error("temporary {0} is out of range")]
    Temporary(i32),
    /// An undefined constant, possibly with aL added.
    #[error("constant {0} is out of range")]
    Constant(i32),
    /// An operation, or a pair of operations, that the documents exclude.
    #[error("the operations of an instruction do not go together")]
    Operation,
    /// A value wider than its field.
    #[error("a mask or number is wider than its field")]
    Width,
    /// BREAK or CONTINUE outside of the loops of its body.
    #[error("BREAK or CONTINUE outside a loop")]
    LeavesNoLoop,
    /// A return that the documents do not permit: in the main program, in a loop, in divergent flow, or by a condition
    /// that depends on the pixel. Also in an arm that may run without an active pixel.
    #[error("a return from the main program, a loop, a divergent branch or an idle arm")]
    Return,
    /// A call of a subroutine that does not exist or is not after the caller.
    #[error("a call of a subroutine that does not follow the caller")]
    Call,
    /// A call with a condition in an encoding without one.
    #[error("a conditional call needs JUMP_ANY and a counted subroutine")]
    ConditionalCall,
    /// A loop of no iterations with its ENDLOOP as target, which would end another loop.
    #[error("a loop of zero iterations must jump past its end")]
    EmptyLoop,
    /// A branch of plain jumps with a condition that depends on the pixel.
    #[error("a branch of plain jumps needs a static condition")]
    PlainBranch,
    /// A branch without ENDIF that no other ENDIF follows.
    #[error("a merged branch must be the last statement of a usual or merged one")]
    Merged,
    /// Too many nested levels, loops or calls.
    #[error("too deep")]
    Depth,
    /// Loops or calls without full flow control.
    #[error("loops and calls need full flow control")]
    PartialFlowControl,
    /// Quad differences in divergent flow, or together with `IGNORE_UNCOVERED`, which lets uncovered pixels take other
    /// paths.
    #[error("quad differences where the four pixels may differ")]
    Derivative,
    /// More instructions than there are slots.
    #[error("{0} instructions do not fit")]
    Size(usize),
}

impl Tree {
    /// Checks that the tree is valid: lowering and the oracle agree on its meaning.
    ///
    /// # Errors
    /// The first [`Invalid`] property.
    pub fn check(&self) -> Result<(), Invalid> {
        if usize::from(self.pixsize) >= TEMPORARIES || self.constants.len() > r500_isa::CONSTANTS {
            return Err(Invalid::Width);
        }
        let size = usize::from(self.offset) + self.size();
        if size > INSTRUCTION_SLOTS {
            return Err(Invalid::Size(size));
        }
        let mut check = Check { tree: self, callers: vec![None; self.subs.len()], body: None };
        let start =
            Context { al: (0, 0), levels: 0, loops: 0, calls: 0, uniform: true, in_loop: false };
        check.list(&self.main, start, false, false)?;
        // Callers precede their callees, so all callers of a subroutine are known when it is checked.
        for (n, sub) in self.subs.iter().enumerate() {
            check.body = Some(n);
            let context = check.callers[n].unwrap_or(start);
            check.list(&sub.body, Context { in_loop: false, ..context }, true, false)?;
        }
        let ignores = self.ignores_uncovered();
        if ignores && self.has_derivatives() {
            return Err(Invalid::Derivative);
        }
        Ok(())
    }

    /// Returns an upper bound of the instructions that the tree lowers to.
    pub(crate) fn size(&self) -> usize {
        let subs: usize = self.subs.iter().map(|sub| size(&sub.body) + 1).sum();
        // Includes the jump over subroutines and the last instruction.
        size(&self.main) + subs + 2
    }

    /// Returns whether some instruction takes differences across the quad.
    #[must_use]
    pub fn has_derivatives(&self) -> bool {
        let mut found = false;
        self.each(&mut |stmt| found |= matches!(stmt, Stmt::Alu(alu) if alu.is_derivative()));
        found
    }

    fn ignores_uncovered(&self) -> bool {
        let mut found = false;
        self.each(&mut |stmt| {
            found |= match stmt {
                Stmt::If(node) => node.form.trims.iter().any(|trim| trim.ignore_uncovered),
                Stmt::Loop(node) => node.form.trims.iter().any(|trim| trim.ignore_uncovered),
                Stmt::Break(node) | Stmt::Continue(node) => node.trim.ignore_uncovered,
                Stmt::Call(node) => node.trim.ignore_uncovered,
                Stmt::Return(node) => node.trim.ignore_uncovered,
                Stmt::Alu(_) | Stmt::Tex(_) => false,
            };
        });
        found
    }

    /// Returns the range of aL in a loop inside code with the range `outer`.
    pub(crate) fn al_range(&self, kind: LoopKind, int: u8, outer: (i32, i32)) -> (i32, i32) {
        if kind == LoopKind::Rep {
            return outer;
        }
        let int = self.int(int);
        let first = i32::from(int.kg());
        let last = first + i32::from(int.kb()) * (i32::from(int.kr()) - 1).max(0);
        (first.min(last), first.max(last))
    }
}

/// Returns whether a loop's own BREAK or CONTINUE may make its pixels diverge.
pub(crate) fn may_leave(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break(_) | Stmt::Continue(_) => true,
        Stmt::Loop(_) => false,
        other => other.lists().into_iter().flatten().any(|list| may_leave(list)),
    })
}

fn size(list: &[Stmt]) -> usize {
    let one = |stmt: &Stmt| match stmt {
        Stmt::If(If { then, otherwise, form, .. }) => {
            let arm = otherwise.as_ref().map_or(0, |list| 1 + size(list));
            let endif = usize::from(matches!(form.shape, IfShape::Usual | IfShape::Through));
            1 + size(then) + arm + endif
        }
        Stmt::Loop(node) => 2 + size(&node.body),
        _ => 1,
    };
    list.iter().map(one).sum()
}

/// Facts about the path to a statement.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// Range of aL.
    al: (i32, i32),
    /// Open branch levels.
    levels: u32,
    /// Running loops.
    loops: u32,
    /// Open calls.
    calls: u32,
    /// Whether all pixels of a quad arrive together.
    uniform: bool,
    /// Whether there is a loop around it in its own body.
    in_loop: bool,
}

struct Check<'a> {
    tree: &'a Tree,
    /// Facts common to all callers of each subroutine.
    callers: Vec<Option<Context>>,
    /// The subroutine that is checked.
    body: Option<usize>,
}

impl Check<'_> {
    /// Checks a list of statements. `returns`: there is no divergent branch and no loop between the list and the start
    /// of the body. `closes`: an ENDIF that may close another level follows.
    fn list(
        &mut self,
        list: &[Stmt],
        context: Context,
        returns: bool,
        closes: bool,
    ) -> Result<(), Invalid> {
        let last = list.len().wrapping_sub(1);
        for (i, stmt) in list.iter().enumerate() {
            match stmt {
                Stmt::Alu(alu) => self.alu(alu, context)?,
                Stmt::Tex(tex) => self.tex(tex, context)?,
                Stmt::If(node) => self.branch(node, context, returns, closes && i == last)?,
                Stmt::Loop(node) => self.repeat(node, context)?,
                Stmt::Break(Leave { when, .. }) | Stmt::Continue(Leave { when, .. }) => {
                    self.when(*when)?;
                    require(context.in_loop, Invalid::LeavesNoLoop)?;
                }
                Stmt::Call(call) => self.call(call, context)?,
                Stmt::Return(Return { when, .. }) => {
                    self.when(*when)?;
                    let fits = when.is_none_or(Cond::is_static);
                    require(returns && fits && !context.in_loop, Invalid::Return)?;
                }
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        node: &If,
        context: Context,
        returns: bool,
        closes: bool,
    ) -> Result<(), Invalid> {
        let shape = node.form.shape;
        self.when(Some(node.cond))?;
        require(shape != IfShape::Merged || closes, Invalid::Merged)?;
        let fixed = node.cond.is_static();
        require(shape != IfShape::Plain || fixed, Invalid::PlainBranch)?;
        let levels = context.levels + u32::from(shape != IfShape::Plain);
        let most = if self.tree.full_fc { BRANCH_LEVELS } else { PARTIAL_LEVELS };
        require(levels <= most, Invalid::Depth)?;
        let inside = Context { levels, uniform: context.uniform && fixed, ..context };
        let closes = matches!(shape, IfShape::Usual | IfShape::Merged);
        let has_else = node.otherwise.is_some();
        self.list(&node.then, inside, returns && fixed, closes && !has_else)?;
        // An ELSE that never jumps runs its arm even without an active pixel, and a return there would also affect
        // pixels that wait for ENDIF.
        let returns = returns && fixed && (shape == IfShape::Plain || !node.form.else_any);
        node.otherwise.as_ref().map_or(Ok(()), |list| self.list(list, inside, returns, closes))
    }

    fn repeat(&mut self, node: &Loop, context: Context) -> Result<(), Invalid> {
        require(self.tree.full_fc, Invalid::PartialFlowControl)?;
        require(usize::from(node.int) < r500_isa::INT_CONSTANTS, Invalid::Width)?;
        let passes = self.tree.int(node.int).kr();
        require(passes != 0 || node.form.past_end, Invalid::EmptyLoop)?;
        require(context.loops < LOOP_FRAMES, Invalid::Depth)?;
        let inside = Context {
            al: self.tree.al_range(node.kind, node.int, context.al),
            loops: context.loops + 1,
            uniform: context.uniform && !may_leave(&node.body),
            in_loop: true,
            ..context
        };
        self.list(&node.body, inside, false, false)
    }

    fn call(&mut self, call: &Call, context: Context) -> Result<(), Invalid> {
        require(self.tree.full_fc, Invalid::PartialFlowControl)?;
        self.when(call.when)?;
        let n = usize::from(call.sub);
        let Some(sub) = self.tree.subs.get(n).filter(|_| self.body.is_none_or(|body| body < n))
        else {
            return Err(Invalid::Call);
        };
        let conditional = call.when.is_some();
        require(!conditional || (sub.counted && call.any), Invalid::ConditionalCall)?;
        let levels = context.levels + u32::from(sub.counted);
        require(levels <= BRANCH_LEVELS && context.calls < CALLS, Invalid::Depth)?;
        let mut inside = Context {
            levels,
            calls: context.calls + 1,
            uniform: context.uniform && !conditional,
            ..context
        };
        if let Some(Some(other)) = self.callers.get(n) {
            inside = Context {
                al: (inside.al.0.min(other.al.0), inside.al.1.max(other.al.1)),
                levels: inside.levels.max(other.levels),
                loops: inside.loops.max(other.loops),
                calls: inside.calls.max(other.calls),
                uniform: inside.uniform && other.uniform,
                in_loop: false,
            };
        }
        if let Some(callers) = self.callers.get_mut(n) {
            *callers = Some(inside);
        }
        Ok(())
    }

    fn when(&self, when: Option<Cond>) -> Result<(), Invalid> {
        let boolean = when.map_or(0, |cond| cond.boolean);
        require(usize::from(boolean) < r500_isa::BOOL_CONSTANTS, Invalid::Width)
    }

    fn alu(&self, alu: &Alu, context: Context) -> Result<(), Invalid> {
        let (rgb, alpha) = (alu.rgb.op, alu.alpha.op);
        let dot = rgb.is_dot_product();
        let fits = rgb.is_named()
            && alpha.is_named()
            && (alpha != AlphaOp::DP || dot)
            && (rgb != RgbOp::SOP || alpha.is_transcendental())
            && (rgb != RgbOp::DP4 || !alpha.is_derivative())
            && (alu.rgb.omod != Omod::DISABLED
                || matches!(rgb, RgbOp::MIN | RgbOp::MAX | RgbOp::CND | RgbOp::CMP))
            && (alu.alpha.omod != Omod::DISABLED
                || matches!(alpha, AlphaOp::MIN | AlphaOp::MAX | AlphaOp::CND | AlphaOp::CMP));
        require(fits, Invalid::Operation)?;
        require(!alu.is_derivative() || context.uniform, Invalid::Derivative)?;
        let narrow = alu.rgb.wmask | alu.rgb.omask < 8
            && alu.alpha.wmask | alu.alpha.omask < 2
            && alu.hints.stat_we < 16;
        require(narrow, Invalid::Width)?;
        self.half(&alu.rgb, context)?;
        self.half(&alu.alpha, context)
    }

    fn half<Op, const N: usize>(
        &self,
        half: &Half<Op, N>,
        context: Context,
    ) -> Result<(), Invalid> {
        for source in half.sources {
            self.source(source, context)?;
        }
        let known = half.operands.iter().all(|operand| operand.sel.code() <= Sel::SRCP.code());
        require(known && half.dest.addr < 128, Invalid::Width)?;
        self.temp(half.dest.addr, half.dest.relative, context)
    }

    fn source(&self, source: Source, context: Context) -> Result<(), Invalid> {
        if source.constant {
            let (least, greatest) = moved(source.addr, source.relative, context);
            let known = i32::try_from(self.tree.constants.len()).unwrap_or(i32::MAX);
            require(least >= 0, Invalid::Constant(least))?;
            require(greatest < known, Invalid::Constant(greatest))
        } else if source.inline().is_some() {
            // The effect of REL on an inline constant is open.
            require(!source.relative, Invalid::Operation)
        } else {
            self.temp(source.addr, source.relative, context)
        }
    }

    fn tex(&self, tex: &Tex, context: Context) -> Result<(), Invalid> {
        require(tex.op.code() <= TexOp::DXDY.code(), Invalid::Operation)?;
        let narrow = usize::from(tex.unit) < TEXTURE_UNITS && tex.wmask < 16;
        require(narrow && tex.hints.stat_we < 16, Invalid::Width)?;
        for reg in [tex.coord, tex.gradients[0], tex.gradients[1]] {
            self.temp(reg.addr, reg.relative, context)?;
        }
        self.temp(tex.dest.addr, tex.dest.relative, context)
    }

    fn temp(&self, addr: u8, relative: bool, context: Context) -> Result<(), Invalid> {
        let (least, greatest) = moved(addr, relative, context);
        require(least >= 0, Invalid::Temporary(least))?;
        require(greatest <= i32::from(self.tree.pixsize), Invalid::Temporary(greatest))
    }
}

/// Returns the range of an address, with aL added if it is relative.
fn moved(addr: u8, relative: bool, context: Context) -> (i32, i32) {
    let addr = i32::from(addr);
    if relative { (addr + context.al.0, addr + context.al.1) } else { (addr, addr) }
}

fn require(holds: bool, otherwise: Invalid) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(otherwise) }
}
