//! Flow control: structured statements, `JUMP`, and the general form `FC`.
//!
//! Each statement has a standard encoding ([`crate::flow`], shared with the printer), and targets that follow from the
//! blocks around it. Modifiers replace single fields.

use r500_isa::values::{AddrOp, BranchOp, InstType, PredSel};
use r500_isa::words::{CmnInst, FcAddr, FcInst};
use r500_isa::{FieldValue, Instruction};

use super::blocks::Block;
use super::flags::{Flags, InstKind};
use super::labels::LabelUse;
use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::flow::{FlowKind, encode};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

/// Fields given by modifiers; `None` leaves the default.
#[derive(Default)]
struct Modifiers {
    flags: Flags,
    condition: Option<super::condition::Condition>,
    any: Option<bool>,
    func: Option<u8>,
    b_else: bool,
    a_op: Option<AddrOp>,
    b_op0: Option<BranchOp>,
    b_op1: Option<BranchOp>,
    pop: Option<u8>,
    ignore_uncovered: bool,
    global: Option<Span>,
    boolean: Option<u8>,
    int: Option<u8>,
    target: Option<JumpTo>,
}

enum JumpTo {
    Address(u16),
    Label(LabelUse),
}

impl Parser<'_> {
    pub(super) fn flow_statement(&mut self) -> Parsed<()> {
        let word = self.bump();
        let start = word.span;
        let at = self.job.program.code.len();
        let mut modifiers = Modifiers::default();
        let kind = match word.kw {
            Kw::Fc => {
                let Some(op) = names::value_of(names::FC_OPS, self.tok.kw) else {
                    return Err(self.expected(
                        "JUMP, LOOP, ENDLOOP, REP, ENDREP, BREAKLOOP, BREAKREP or CONTINUE",
                    ));
                };
                self.bump();
                FlowKind::General(op)
            }
            Kw::If => {
                modifiers.condition = Some(self.condition()?);
                FlowKind::If { has_else: false }
            }
            Kw::Else => FlowKind::Else,
            Kw::Endif => FlowKind::Endif,
            Kw::Loop | Kw::Rep => FlowKind::Loop { rep: word.kw == Kw::Rep },
            Kw::Endloop | Kw::Endrep => FlowKind::Endloop { rep: word.kw == Kw::Endrep },
            Kw::Break | Kw::Continue => {
                let (rep, depth) = self.enclosing_loop(start, word.kw);
                if word.kw == Kw::Break {
                    FlowKind::Break { rep, depth }
                } else {
                    FlowKind::Continue { depth }
                }
            }
            Kw::Call => FlowKind::Call,
            Kw::Return => FlowKind::Return,
            _ => FlowKind::Jump,
        };
        if matches!(kind, FlowKind::Call | FlowKind::Jump) && !self.at(TokenKind::Arrow) {
            self.target(&mut modifiers)?;
        }
        self.modifiers(&mut modifiers, kind)?;
        self.parse_semicolon()?;
        if matches!(kind, FlowKind::Loop { .. }) && modifiers.int.is_none() {
            let span = start.after();
            self.report(
                Diagnostic::new(DiagnosticCode::Unexpected, start, "a loop without a counter")
                    .label("`int[n]` must follow")
                    .related(span, ""),
            );
        }

        let mut fc = encode(kind);
        if let FlowKind::Endloop { .. } = kind
            && let Some(Block::Loop { int, .. }) = self.flow.blocks.last()
        {
            fc.1 = fc.1.with(FcAddr::INT_ADDR, *int);
        }
        self.apply(&mut fc, &modifiers, kind);
        let mut inst = Instruction([modifiers.flags.cmn.bits(), 0, fc.0.bits(), fc.1.bits(), 0, 0]);
        let mut cmn = inst.cmn().with(CmnInst::TYPE, InstType::FC);
        if let Some(sel) = modifiers.condition.and_then(|c| c.predicate) {
            cmn = self.condition_predicate(cmn, sel, &modifiers.flags, start);
        }
        inst.0[0] = cmn.bits();
        self.insert_unnamed_bits(&modifiers.flags, &mut inst);
        self.push(start, inst);

        let targeted = modifiers.target.is_some();
        match modifiers.target {
            Some(JumpTo::Label(label)) => {
                self.flow.jumps.push((at, label));
                if let Some(span) = modifiers.global {
                    self.flow.global.push((at, span));
                }
            }
            Some(JumpTo::Address(_)) => {}
            None => {
                if let Some(span) = modifiers.global
                    && !matches!(kind, FlowKind::General(_))
                {
                    self.flow.global.push((at, span));
                }
            }
        }
        self.nest(kind, at, start, targeted, modifiers.b_op1.is_some());
        Ok(())
    }

    /// Returns the number of `IF`s that a `BREAK` or `CONTINUE` exits, and whether its loop is a `REP`.
    fn enclosing_loop(&mut self, span: Span, kw: Kw) -> (bool, u8) {
        let innermost = self.flow.loops.last().copied();
        if let Some(at) = innermost
            && let Some(Block::Loop { rep, .. }) = self.flow.blocks.get(at)
        {
            let (rep, depth) = (*rep, self.flow.blocks.len() - 1 - at);
            if depth > 31 {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::TooDeep,
                        span,
                        format!("`{}` leaves {depth} branches", kw.text()),
                    )
                    .label("B_POP_CNT is at most 31"),
                );
            }
            return (rep, u8::try_from(depth.min(31)).unwrap_or(31));
        }
        self.report(
            Diagnostic::new(
                DiagnosticCode::OutsideLoop,
                span,
                format!("`{}` outside of a loop", kw.text()),
            )
            .label("no `LOOP` or `REP` is open here"),
        );
        (false, 0)
    }

    fn modifiers(&mut self, m: &mut Modifiers, kind: FlowKind) -> Parsed<()> {
        loop {
            match self.tok.kw {
                Kw::Any | Kw::All => {
                    m.any = Some(self.tok.kw == Kw::Any);
                    self.bump();
                }
                Kw::IgnoreUncovered => {
                    m.ignore_uncovered = true;
                    self.bump();
                }
                Kw::JumpFunc => m.func = Some(self.argument(255, "a truth table")?),
                Kw::BPopCnt => m.pop = Some(self.argument(31, "B_POP_CNT")?),
                Kw::BElse => {
                    m.b_else = true;
                    self.bump();
                }
                Kw::AOp => m.a_op = Some(AddrOp::new(self.choice(names::ADDR_OPS)?)),
                Kw::BOp0 => m.b_op0 = Some(BranchOp::new(self.choice(names::BRANCH_OPS)?)),
                Kw::BOp1 => m.b_op1 = Some(BranchOp::new(self.choice(names::BRANCH_OPS)?)),
                Kw::JumpGlobal => m.global = Some(self.bump().span),
                Kw::If
                    if matches!(
                        kind,
                        FlowKind::Break { .. }
                            | FlowKind::Continue { .. }
                            | FlowKind::Call
                            | FlowKind::Return
                            | FlowKind::Jump
                    ) =>
                {
                    self.bump();
                    m.condition = Some(self.condition()?);
                }
                _ => match self.tok.kind {
                    TokenKind::Arrow => {
                        self.bump();
                        self.target(m)?;
                    }
                    TokenKind::Semicolon | TokenKind::End => return Ok(()),
                    TokenKind::Word => {
                        if self.parse_flag(&mut m.flags, InstKind::Flow)? {
                            continue;
                        }
                        let span = self.tok.span;
                        match self.register()? {
                            Some(Register::Int(n)) => m.int = Some(n),
                            Some(Register::Bool(n)) => m.boolean = Some(n),
                            Some(_) => {
                                self.report(
                                    Diagnostic::new(
                                        DiagnosticCode::WrongRegister,
                                        span.to(self.before),
                                        "flow control has no use for this register",
                                    )
                                    .label("expected `int[n]` or `bool[n]`"),
                                );
                            }
                            None => return Err(self.bad_modifier()),
                        }
                    }
                    _ => return Err(self.missing_semicolon("a modifier or `;`")),
                },
            }
        }
    }

    #[cold]
    fn bad_modifier(&mut self) -> ParseAbort {
        if self.tok.first {
            return self.missing_semicolon("a modifier or `;`");
        }
        let span = self.tok.span;
        let text = self.text(span);
        let known = [
            Kw::Any,
            Kw::All,
            Kw::IgnoreUncovered,
            Kw::JumpFunc,
            Kw::BPopCnt,
            Kw::BElse,
            Kw::AOp,
            Kw::BOp0,
            Kw::BOp1,
            Kw::JumpGlobal,
            Kw::AluWait,
            Kw::TexSemWait,
            Kw::Int,
            Kw::Bool,
        ];
        self.report(
            Diagnostic::new(
                DiagnosticCode::Unexpected,
                span,
                format!("expected a modifier or `;`, found `{text}`"),
            )
            .label("not a modifier of flow control")
            .suggest(names::closest(&text, known.iter().map(|k| k.text()))),
        );
        ParseAbort
    }

    fn argument(&mut self, max: u8, what: &str) -> Parsed<u8> {
        self.bump();
        self.expect_token(TokenKind::OpenParen)?;
        #[allow(clippy::cast_possible_truncation)]
        let n = self.number(u32::from(max), what)? as u8;
        self.expect_token(TokenKind::CloseParen)?;
        Ok(n)
    }

    /// Parses `(word)` or `(code)` of a two-bit field.
    fn choice<T: FieldValue>(&mut self, table: &[(Kw, T)]) -> Parsed<u8> {
        self.bump();
        self.expect_token(TokenKind::OpenParen)?;
        #[allow(clippy::cast_possible_truncation)]
        let code = if let Some(value) = names::value_of(table, self.tok.kw) {
            self.bump();
            value.code() as u8
        } else if self.at_number() {
            self.number(3, "the field")? as u8
        } else {
            let words: Vec<_> = table.iter().map(|(k, _)| format!("`{}`", k.text())).collect();
            return Err(self.expected(&format!("{} or a code", words.join(", "))));
        };
        self.expect_token(TokenKind::CloseParen)?;
        Ok(code)
    }

    /// Parses `@label`, `label` or an address.
    fn target(&mut self, m: &mut Modifiers) -> Parsed<()> {
        let start = self.tok.span;
        let marked = self.eat(TokenKind::At);
        if !self.at(TokenKind::Word) {
            return Err(self.expected("a label or an address"));
        }
        if !marked && self.at_digit() {
            let address = self.number(511, "a jump address")?;
            #[allow(clippy::cast_possible_truncation)]
            let address = address as u16;
            m.target = Some(JumpTo::Address(address));
        } else {
            m.target = Some(JumpTo::Label(self.label_use(start)?));
        }
        Ok(())
    }

    /// Applies modifiers to the fields.
    fn apply(&mut self, fc: &mut (FcInst, FcAddr), m: &Modifiers, kind: FlowKind) {
        let (mut w, mut a) = *fc;
        if let Some(condition) = m.condition {
            let jump = if matches!(kind, FlowKind::If { .. }) {
                !condition.table
            } else {
                condition.table
            };
            w = w.with(FcInst::JUMP_FUNC, jump);
            if let Some(n) = condition.boolean {
                a = a.with(FcAddr::BOOL_ADDR, n);
            }
        }
        if let Some(func) = m.func {
            w = w.with(FcInst::JUMP_FUNC, func);
        }
        if let Some(any) = m.any {
            w = w.with(FcInst::JUMP_ANY, any);
        }
        if m.b_else {
            w = w.with(FcInst::B_ELSE, true);
        }
        if let Some(op) = m.a_op {
            w = w.with(FcInst::A_OP, op);
        }
        if let Some(op) = m.b_op0 {
            w = w.with(FcInst::B_OP0, op);
        }
        if let Some(op) = m.b_op1 {
            w = w.with(FcInst::B_OP1, op);
        }
        if let Some(pop) = m.pop {
            w = w.with(FcInst::B_POP_CNT, pop);
        }
        if m.ignore_uncovered {
            w = w.with(FcInst::IGNORE_UNCOVERED, true);
        }
        if m.global.is_some() {
            a = a.with(FcAddr::JUMP_GLOBAL, true);
        }
        if let Some(n) = m.boolean {
            a = a.with(FcAddr::BOOL_ADDR, n);
        }
        if let Some(n) = m.int {
            a = a.with(FcAddr::INT_ADDR, n);
        }
        if let Some(JumpTo::Address(n)) = m.target {
            a = a.with(FcAddr::JUMP_ADDR, n);
        }
        *fc = (w, a);
    }

    /// Returns the predicate bit of a condition; a flag must not contradict it.
    fn condition_predicate(
        &mut self,
        cmn: CmnInst,
        sel: PredSel,
        flags: &Flags,
        span: Span,
    ) -> CmnInst {
        if flags.has(Kw::Pred) && cmn.rgb_pred_sel() != PredSel::NONE {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::ConditionConflict,
                    span.to(self.before),
                    "the condition and the flag `PRED` both choose a predicate",
                )
                .label("one of them is enough"),
            );
        }
        cmn.with(CmnInst::RGB_PRED_SEL, sel)
    }
}
