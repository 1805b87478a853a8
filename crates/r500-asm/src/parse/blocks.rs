//! Open blocks of flow control (`IF`, `LOOP`, `REP`): resolution of their targets, and labels.

use r500_isa::values::BranchOp;
use r500_isa::words::{FcAddr, FcInst};

use super::Parser;
use super::labels::LabelUse;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::flow::FlowKind;
use crate::source::Span;

/// The stack of open blocks, and jumps with unresolved targets.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) blocks: Vec<Block>,
    /// Which of the blocks are loops.
    pub(super) loops: Vec<usize>,
    pub(super) jumps: Vec<(usize, LabelUse)>,
    /// Instructions whose address is absolute.
    pub(super) global: Vec<(usize, Span)>,
}

/// An open block.
pub(super) enum Block {
    If { at: usize, span: Span, targeted: bool, b_op1: bool, else_at: Option<(usize, bool)> },
    Loop { at: usize, span: Span, targeted: bool, rep: bool, int: u8, exits: Vec<(usize, bool)> },
}

impl Parser<'_> {
    pub(super) fn nest(
        &mut self,
        kind: FlowKind,
        at: usize,
        span: Span,
        targeted: bool,
        b_op1: bool,
    ) {
        match kind {
            FlowKind::If { .. } => {
                self.flow.blocks.push(Block::If { at, span, targeted, b_op1, else_at: None });
            }
            FlowKind::Loop { rep } => {
                let int = self.job.program.code[at].fc_addr().int_addr();
                self.flow.loops.push(self.flow.blocks.len());
                self.flow.blocks.push(Block::Loop {
                    at,
                    span,
                    targeted,
                    rep,
                    int,
                    exits: Vec::new(),
                });
            }
            FlowKind::Else => self.nest_else(at, span, targeted),
            FlowKind::Endif => self.nest_endif(at, span, targeted),
            FlowKind::Endloop { rep } => self.nest_endloop(rep, at, span, targeted),
            FlowKind::Break { .. } | FlowKind::Continue { .. } if !targeted => {
                let is_break = matches!(kind, FlowKind::Break { .. });
                let innermost = self.flow.loops.last().copied();
                if let Some(n) = innermost
                    && let Some(Block::Loop { exits, .. }) = self.flow.blocks.get_mut(n)
                {
                    exits.push((at, is_break));
                }
            }
            _ => {}
        }
    }

    fn nest_else(&mut self, at: usize, span: Span, targeted: bool) {
        let mut patch = None;
        match self.flow.blocks.last_mut() {
            Some(Block::If { at: if_at, targeted: if_targeted, b_op1, else_at, .. })
                if else_at.is_none() =>
            {
                *else_at = Some((at, targeted));
                patch = Some((*if_at, *if_targeted, *b_op1));
            }
            Some(Block::If { span: open, .. }) => {
                let open = *open;
                self.report(
                    Diagnostic::new(DiagnosticCode::Unopened, span, "a second `ELSE`")
                        .label("this branch has its `ELSE` already")
                        .related(open, "the `IF`"),
                );
            }
            _ => self.unopened(span, "ELSE", "IF"),
        }
        if let Some((if_at, if_targeted, b_op1)) = patch {
            let inst = &mut self.job.program.code[if_at];
            if !b_op1 {
                inst.0[2] = inst.fc_inst().with(FcInst::B_OP1, BranchOp::INCR).bits();
            }
            if !if_targeted {
                self.set_target(if_at, at + 1, span);
            }
        }
    }

    fn nest_endif(&mut self, at: usize, span: Span, targeted: bool) {
        match self.flow.blocks.last() {
            Some(Block::If { at: if_at, targeted: if_targeted, else_at, .. }) => {
                let last = else_at.unwrap_or((*if_at, *if_targeted));
                self.flow.blocks.pop();
                if !last.1 {
                    self.set_target(last.0, at + 1, span);
                }
            }
            _ => self.unopened(span, "ENDIF", "IF"),
        }
        if !targeted {
            self.set_target(at, at + 1, span);
        }
    }

    fn nest_endloop(&mut self, end_rep: bool, at: usize, span: Span, targeted: bool) {
        let (word, opener) = if end_rep { ("ENDREP", "REP") } else { ("ENDLOOP", "LOOP") };
        match self.flow.blocks.pop() {
            Some(Block::Loop { at: loop_at, targeted: loop_targeted, rep, exits, .. })
                if rep == end_rep =>
            {
                self.flow.loops.pop();
                if !loop_targeted {
                    self.set_target(loop_at, at + 1, span);
                }
                if !targeted {
                    self.set_target(at, loop_at + 1, span);
                }
                for (exit, is_break) in exits {
                    self.set_target(exit, if is_break { at + 1 } else { at }, span);
                }
            }
            Some(block) => {
                self.flow.blocks.push(block);
                self.unopened(span, word, opener);
            }
            None => self.unopened(span, word, opener),
        }
    }

    #[cold]
    fn unopened(&mut self, span: Span, word: &str, opener: &str) {
        let mut diagnostic =
            Diagnostic::new(DiagnosticCode::Unopened, span, format!("`{word}` without `{opener}`"));
        if let Some(block) = self.flow.blocks.last() {
            let (open, what) = block.describe();
            diagnostic = diagnostic
                .label(format!("the innermost open block is not `{opener}`"))
                .related(open, format!("this `{what}` is open"));
        } else {
            diagnostic = diagnostic.label("nothing is open here");
        }
        self.report(diagnostic);
    }

    /// Sets the jump address of the instruction at `at`.
    pub(super) fn set_target(&mut self, at: usize, target: usize, span: Span) {
        match u16::try_from(target) {
            Ok(target) if target < 512 => {
                let inst = &mut self.job.program.code[at];
                inst.0[3] = inst.fc_addr().with(FcAddr::JUMP_ADDR, target).bits();
            }
            _ => {
                let from = self.spans.get(at).copied().unwrap_or(span);
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::JumpTooFar,
                        from,
                        format!("jump address {target} does not fit"),
                    )
                    .label("a jump address has nine bits: 511 is the greatest")
                    .related(span, "the target"),
                );
            }
        }
    }

    /// Reports unclosed blocks, and resolves labels.
    pub(super) fn finish_flow(&mut self) {
        for block in std::mem::take(&mut self.flow.blocks) {
            let (span, what) = block.describe();
            let end = match what {
                "IF" => "ENDIF",
                "LOOP" => "ENDLOOP",
                _ => "ENDREP",
            };
            self.report(
                Diagnostic::new(
                    DiagnosticCode::Unclosed,
                    span,
                    format!("`{what}` without `{end}`"),
                )
                .label("opened here and never closed"),
            );
        }
        for (at, target) in std::mem::take(&mut self.flow.jumps) {
            match self.label(&target) {
                Some((address, _)) => self.set_target(at, address, target.span),
                None => self.unknown_label(&target),
            }
        }
        let offset = self.job.program.state.base_address();
        for (at, span) in std::mem::take(&mut self.flow.global) {
            let address = self.job.program.code[at].fc_addr().jump_addr();
            self.set_target(at, usize::from(address) + usize::from(offset), span);
        }
    }
}

impl Block {
    const fn describe(&self) -> (Span, &'static str) {
        match self {
            Self::If { span, .. } => (*span, "IF"),
            Self::Loop { span, rep: true, .. } => (*span, "REP"),
            Self::Loop { span, .. } => (*span, "LOOP"),
        }
    }
}
