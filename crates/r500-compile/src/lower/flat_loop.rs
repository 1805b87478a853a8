//! Loops of vertex shaders. Vertices take every way, so a loop of the chip has all passes that it may need: a variable of 0 or 1 holds
//! whether the vertex has left it, and keeps the others as they are from then on.

use r500_glsl::tree::{Loop, VariableId};
use r500_glsl::{Diagnostic, Span};
use r500_pvs::FLOW_LEVELS;

use super::repeat::{CHIP_PASSES, zero};
use super::statement::has_exits;
use super::{Lower, Open};
use crate::code::Node;
use crate::points::Origin;

impl<'a> Lower<'a> {
    /// Each pass by itself, if their number is known and they fit; else a loop of the chip.
    pub(super) fn repeat_flat(&mut self, of: &'a Loop, passes: Option<usize>, span: Span) {
        let has_chip_loop = passes.is_none_or(|passes| passes <= CHIP_PASSES);
        let most = if has_chip_loop { self.most_unrolled } else { usize::MAX };
        if !self.attempt(|lower| lower.unroll(of, passes, most, span)) {
            self.roll_flat(of, passes, span);
        }
    }

    /// Lowers something that is kept if it returns true.
    fn attempt(&mut self, lower: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.checkpoint();
        let is_kept = lower(self);
        if is_kept {
            self.builder.keep();
        } else {
            self.restore(before);
        }
        is_kept
    }

    fn roll_flat(&mut self, of: &'a Loop, passes: Option<usize>, span: Span) {
        if self.chip_loops >= FLOW_LEVELS {
            let message = format!("loops are nested too deep; the chip has {FLOW_LEVELS} levels");
            return self.error(Diagnostic::error(span, message));
        }
        let count = passes.unwrap_or_else(|| self.chip_passes(of, span));
        let (broken, continued) = (self.hidden(zero()), self.hidden(zero()));
        let may_leave = passes.is_none() || has_exits(&of.body);
        let own = if may_leave { vec![broken] } else { Vec::new() };
        let point = self.builder.point;
        let held = self.put_into_registers(self.held_over(of, own).into_iter());
        self.loops.push(Open::Unrolled { broken, continued });
        self.chip_loops += 1;
        self.builder.open();
        let around = self.points.enter_chip_loop(self.parts.passes(of), None);
        self.pass(of, passes.is_none(), [broken, continued], span);
        self.builder.span = span;
        self.builder.set(&self.register_values(&held));
        self.points.leave(around);
        let nodes = self.builder.close();
        self.chip_loops -= 1;
        self.loops.pop();
        for (id, register) in held {
            self.values[id] = Some(register);
        }
        #[expect(clippy::expect_used, reason = "a loop with other passes must not compile")]
        let count = u8::try_from(count).expect("the chip's loop has 255 passes at most");
        let origin = Origin { span, point };
        self.builder.set_origin(origin);
        self.builder.node(Node::Loop(count, nodes, origin));
    }

    /// A pass, for the vertices that are still in the loop.
    fn pass(
        &mut self,
        of: &'a Loop,
        is_tested: bool,
        [broken, continued]: [VariableId; 2],
        span: Span,
    ) {
        self.at(self.parts.test(of));
        let returned = self.frames.last().map(|frame| frame.returned);
        let flags: Vec<VariableId> = [Some(broken), returned].into_iter().flatten().collect();
        if is_tested && of.test_first {
            self.leave_where_false(of, broken, &flags, span);
        }
        self.values[continued] = Some(zero());
        let active = self.none_of(&flags);
        self.branch(active, span, |lower| lower.block(&of.body), |_| {});
        if let Some(step) = &of.step {
            self.at(self.parts.step(of));
            let active = self.none_of(&flags);
            self.branch(active, span, |lower| drop(lower.expr(step)), |_| {});
        }
        if is_tested && !of.test_first {
            self.leave_where_false(of, broken, &flags, span);
        }
    }

    /// Sets a flag where the test fails.
    fn leave_where_false(
        &mut self,
        of: &'a Loop,
        broken: VariableId,
        flags: &[VariableId],
        span: Span,
    ) {
        let Some(test) = &of.test else { return };
        let leave = |lower: &mut Self| {
            let condition = lower.condition(test);
            lower.branch(condition.not(), span, |lower| lower.set_flag(broken), |_| {});
        };
        // Those that have left may test, too, if nothing comes of it.
        if !self.has_effects(test) {
            return leave(self);
        }
        let active = self.none_of(flags);
        self.branch(active, span, leave, |_| {});
    }
}
