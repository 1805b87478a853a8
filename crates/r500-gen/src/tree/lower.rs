//! Lowering of trees to instructions.
//!
//! The encodings are those that drivers emit and documents describe; where several are equivalent, the tree's forms
//! select one.
//!
//! | statement | `OP` | `JUMP_FUNC` | `JUMP_ANY` | `B_ELSE` | `B_OP0` | `B_OP1` | target |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | IF | JUMP | inverse of the condition | all | | INCR | - | after ENDIF |
//! | IF with ELSE | JUMP | inverse of the condition | all | | INCR | INCR | after ELSE |
//! | ELSE | JUMP | never | all or any | 1 | - | DECR 1 | after ENDIF |
//! | ENDIF | JUMP | any | any | | DECR | DECR | next |
//! | LOOP, REP | LOOP, REP | never | all or any | | - | - | after ENDLOOP, or ENDLOOP |
//! | ENDLOOP | ENDLOOP, ENDREP | always | all or any | | - | - | first of the body |
//! | BREAK | BREAKLOOP, BREAKREP | its condition | all or any | | - | DECR by the depth in the loop | after ENDLOOP |
//! | CONTINUE | CONTINUE | its condition | all or any | | - | DECR by the depth in the loop | ENDLOOP |
//! | call | JUMP, PUSH | its condition | any, or all without one | | - | INCR if counted | the subroutine |
//! | return | JUMP, POP | its condition | all | | - | DECR by the depth, one more if counted | the popped address |

use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsPixsize,
};
use r500_isa::values::{AddrOp, BranchOp, FcOp, InstType, OutFormat, RgbMask};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{Instruction, Slot, TARGETS};
use r500_program::{OUT_FMT_RGBA8, Program, State};

use super::{
    Alu, Call, Cond, Endif, Hints, If, IfShape, Layout, Leave, Loop, LoopKind, Pred, Return, Stmt,
    Tex, TexReg, Tree, Trim,
};

/// Conditions that never and always hold.
const NEVER: Cond = Cond { table: 0, pred: Pred::NONE, boolean: 0 };
const ALWAYS: Cond = NEVER.not();

impl Tree {
    /// Returns the program: instructions and state. The four targets are float.
    ///
    /// The result is unspecified for a tree that is not [valid](Tree::check).
    #[must_use]
    pub fn lower(&self) -> Program {
        let mut lower = Lower {
            tree: self,
            code: Vec::new(),
            calls: Vec::new(),
            starts: Vec::new(),
            loops: Vec::new(),
            levels: 0,
            counted: false,
        };
        let range = lower.program();
        Program { code: lower.code, state: self.state(range) }
    }

    fn state(&self, Range { size, start, end }: Range) -> State {
        let words = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let float = OUT_FMT_RGBA8.with(r500_isa::state::UsOutFmt::OUT_FMT, OutFormat::C4_32_FP);
        State {
            config: Some(
                UsConfig(0).with(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO, self.zero_rule),
            ),
            pixsize: Some(UsPixsize(0).with(UsPixsize::PIX_SIZE, self.pixsize)),
            fc_ctrl: Some(UsFcCtrl(0).with(UsFcCtrl::FULL_FC_EN, self.full_fc)),
            fc_bool_const: Some(UsFcBoolConst(self.bools)),
            fc_int_const: self.ints.map(Some),
            code_addr: Some(
                UsCodeAddr(0)
                    .with(UsCodeAddr::START_ADDR, words(start))
                    .with(UsCodeAddr::END_ADDR, words(end)),
            ),
            code_range: Some(
                UsCodeRange(0)
                    .with(UsCodeRange::CODE_ADDR, self.offset)
                    .with(UsCodeRange::CODE_SIZE, words(size.saturating_sub(1))),
            ),
            code_offset: Some(UsCodeOffset(0).with(UsCodeOffset::OFFSET_ADDR, self.offset)),
            out_fmt: [Some(float); TARGETS],
            constants: self.constants.clone(),
            ..State::default()
        }
    }
}

/// The instructions of a program, and the indices of its first and last.
struct Range {
    size: usize,
    start: usize,
    end: usize,
}

struct Lower<'a> {
    tree: &'a Tree,
    code: Vec<Instruction>,
    /// Addresses of calls, and their callees.
    calls: Vec<(usize, u8)>,
    /// Addresses of subroutines.
    starts: Vec<usize>,
    /// Running loops, innermost last.
    loops: Vec<Open>,
    /// Branch levels open since the innermost loop or the start of the body.
    levels: usize,
    /// Whether the subroutine that is being lowered has counted calls.
    counted: bool,
}

/// A loop that is being lowered.
struct Open {
    kind: LoopKind,
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// What the ENDIF after a list of statements does for the last of them.
#[derive(Default)]
struct Tail {
    /// Jumps with the instruction after it as target.
    jumps: Vec<usize>,
    /// Levels that it closes besides its own.
    levels: usize,
}

/// A flow-control instruction without its target.
struct Jump {
    op: FcOp,
    want: Cond,
    any: bool,
    b_else: bool,
    b_op0: BranchOp,
    b_op1: BranchOp,
    pop: usize,
    a_op: AddrOp,
    int: u8,
}

impl Jump {
    const fn new(op: FcOp, want: Cond, any: bool) -> Self {
        let (b_op0, b_op1) = (BranchOp::NONE, BranchOp::NONE);
        Self { op, want, any, b_else: false, b_op0, b_op1, pop: 0, a_op: AddrOp::NONE, int: 0 }
    }

    /// Closes that many levels when it jumps.
    const fn closing(self, levels: usize) -> Self {
        let b_op1 = if levels == 0 { BranchOp::NONE } else { BranchOp::DECR };
        Self { b_op1, pop: levels, ..self }
    }
}

impl Lower<'_> {
    fn program(&mut self) -> Range {
        let tree = self.tree;
        let mut start = 0;
        match (tree.layout, tree.main.split_last()) {
            (Layout::Front, _) => {
                self.subs();
                start = self.code.len();
                self.list(&tree.main, 0);
            }
            (Layout::Inside, Some((last, rest))) => {
                self.list(rest, 0);
                let over = self.jump(Jump::new(FcOp::JUMP, ALWAYS, false), Trim::USUAL);
                self.subs();
                self.land(over, self.code.len());
                self.list(std::slice::from_ref(last), 0);
            }
            _ => {
                self.list(&tree.main, 0);
            }
        }
        // Jumps past the last statement need an instruction as target, and END_ADDR ends the program after any
        // instruction, even a jump.
        if !matches!(tree.main.last(), Some(Stmt::Alu(_) | Stmt::Tex(_))) {
            self.code.push(alu(&Alu::IDLE));
        }
        let end = self.code.len() - 1;
        if self.starts.len() < tree.subs.len() {
            self.subs();
        }
        for (at, sub) in std::mem::take(&mut self.calls) {
            let target = self.starts.get(usize::from(sub)).copied().unwrap_or_default();
            self.land(at, target);
        }
        Range { size: self.code.len(), start, end }
    }

    fn subs(&mut self) {
        for sub in &self.tree.subs {
            self.starts.push(self.code.len());
            self.counted = sub.counted;
            self.list(&sub.body, 0);
            self.give_back(&Return { when: None, trim: Trim::USUAL });
        }
    }

    /// Lowers a list. `chain` is the number of levels that the ENDIF after the enclosing branch closes.
    fn list(&mut self, list: &[Stmt], chain: usize) -> Tail {
        let mut tail = Tail::default();
        for stmt in list {
            match stmt {
                Stmt::Alu(node) => self.code.push(alu(node)),
                Stmt::Tex(node) => self.code.push(tex(node)),
                Stmt::If(node) if node.form.shape == IfShape::Plain => self.plain_branch(node),
                Stmt::If(node) => tail = self.branch(node, chain),
                Stmt::Loop(node) => self.repeat(node),
                Stmt::Break(node) => self.leave(node, true),
                Stmt::Continue(node) => self.leave(node, false),
                Stmt::Call(node) => self.call(node),
                Stmt::Return(node) => self.give_back(node),
            }
        }
        tail
    }

    fn branch(&mut self, node: &If, chain: usize) -> Tail {
        let merged = node.form.shape == IfShape::Merged;
        let through = node.form.shape == IfShape::Through;
        let [if_trim, else_trim, endif_trim] = node.form.trims;
        // Levels of other branches, which jumps of this one over the common ENDIF close themselves.
        let chain = if merged { chain + 1 } else { 0 };
        let (mut to_endif, mut past_end) = (Vec::new(), Vec::new());

        let skip = Jump::new(FcOp::JUMP, node.cond.not(), false);
        let skip = if node.otherwise.is_some() || through {
            Jump { b_op1: BranchOp::INCR, ..skip }
        } else {
            skip.closing(chain)
        };
        let skip = self.jump(Jump { b_op0: BranchOp::INCR, ..skip }, if_trim);
        self.levels += 1;
        let mut tail = self.list(&node.then, chain);
        let mut last_jump = skip;
        if let Some(otherwise) = &node.otherwise {
            let swap = Jump::new(FcOp::JUMP, NEVER, node.form.else_any);
            let swap = if through { swap } else { swap.closing(chain + 1) };
            last_jump = self.jump(Jump { b_else: true, ..swap }, else_trim);
            self.land(skip, self.code.len());
            tail = self.list(otherwise, chain);
        }
        if through { &mut to_endif } else { &mut past_end }.push(last_jump);
        self.levels -= 1;

        tail.jumps.append(&mut past_end);
        tail.levels += 1;
        if merged {
            return tail;
        }
        let end = Jump { pop: tail.levels, ..endif(node.form.endif) };
        let end = self.jump(end, endif_trim);
        self.land(end, end + 1);
        for jump in to_endif {
            self.land(jump, end);
        }
        for jump in tail.jumps {
            self.land(jump, end + 1);
        }
        Tail::default()
    }

    fn plain_branch(&mut self, node: &If) {
        let any = node.form.else_any;
        let skip = Jump::new(FcOp::JUMP, node.cond.not(), any);
        let skip = self.jump(skip, node.form.trims[0]);
        self.list(&node.then, 0);
        if let Some(otherwise) = &node.otherwise {
            let over = self.jump(Jump::new(FcOp::JUMP, ALWAYS, any), node.form.trims[1]);
            self.land(skip, self.code.len());
            self.list(otherwise, 0);
            self.land(over, self.code.len());
        } else {
            self.land(skip, self.code.len());
        }
    }

    fn repeat(&mut self, node: &Loop) {
        let (enter, leave) = match node.kind {
            LoopKind::Loop => (FcOp::LOOP, FcOp::ENDLOOP),
            LoopKind::Rep => (FcOp::REP, FcOp::ENDREP),
        };
        let Loop { int, form, .. } = *node;
        let levels = std::mem::take(&mut self.levels);
        let start = Jump { int, ..Jump::new(enter, NEVER, form.any) };
        let start = self.jump(start, form.trims[0]);
        self.loops.push(Open { kind: node.kind, breaks: Vec::new(), continues: Vec::new() });
        self.list(&node.body, 0);
        let end = Jump { int, ..Jump::new(leave, ALWAYS, form.end_any) };
        let end = self.jump(end, form.trims[1]);
        self.land(end, start + 1);
        self.land(start, if form.past_end { end + 1 } else { end });
        if let Some(open) = self.loops.pop() {
            open.breaks.into_iter().for_each(|at| self.land(at, end + 1));
            open.continues.into_iter().for_each(|at| self.land(at, end));
        }
        self.levels = levels;
    }

    fn leave(&mut self, node: &Leave, is_break: bool) {
        let kind = self.loops.last().map_or(LoopKind::Loop, |open| open.kind);
        let op = match (is_break, kind) {
            (true, LoopKind::Loop) => FcOp::BREAKLOOP,
            (true, LoopKind::Rep) => FcOp::BREAKREP,
            (false, _) => FcOp::CONTINUE,
        };
        let jump = Jump::new(op, node.when.unwrap_or(ALWAYS), node.any).closing(self.levels);
        let at = self.jump(jump, node.trim);
        if let Some(open) = self.loops.last_mut() {
            if is_break { &mut open.breaks } else { &mut open.continues }.push(at);
        }
    }

    fn call(&mut self, node: &Call) {
        let counted = self.tree.subs.get(usize::from(node.sub)).is_some_and(|sub| sub.counted);
        let b_op1 = if counted { BranchOp::INCR } else { BranchOp::NONE };
        let jump = Jump::new(FcOp::JUMP, node.when.unwrap_or(ALWAYS), node.any);
        let at = self.jump(Jump { b_op1, a_op: AddrOp::PUSH, ..jump }, node.trim);
        self.calls.push((at, node.sub));
    }

    fn give_back(&mut self, node: &Return) {
        let jump = Jump::new(FcOp::JUMP, node.when.unwrap_or(ALWAYS), false);
        let jump = jump.closing(self.levels + usize::from(self.counted));
        let at = self.jump(Jump { a_op: AddrOp::POP, ..jump }, node.trim);
        // The popped address replaces the target; the next instruction is a placeholder.
        self.land(at, at + 1);
    }

    /// Appends a flow-control instruction with an unresolved target. Returns its index.
    fn jump(&mut self, jump: Jump, trim: Trim) -> usize {
        let pop = u8::try_from(jump.pop).unwrap_or(u8::MAX);
        let cmn = common(InstType::FC, trim.hints)
            .with(CmnInst::RGB_PRED_SEL, jump.want.pred.sel)
            .with(CmnInst::RGB_PRED_INV, jump.want.pred.inv);
        let fc = FcInst(0)
            .with(FcInst::OP, jump.op)
            .with(FcInst::B_ELSE, jump.b_else)
            .with(FcInst::JUMP_ANY, jump.any)
            .with(FcInst::A_OP, jump.a_op)
            .with(FcInst::JUMP_FUNC, jump.want.table)
            .with(FcInst::B_POP_CNT, pop)
            .with(FcInst::B_OP0, jump.b_op0)
            .with(FcInst::B_OP1, jump.b_op1)
            .with(FcInst::IGNORE_UNCOVERED, trim.ignore_uncovered);
        let addr = FcAddr(0)
            .with(FcAddr::BOOL_ADDR, jump.want.boolean)
            .with(FcAddr::INT_ADDR, jump.int)
            .with(FcAddr::JUMP_GLOBAL, trim.global);
        self.code.push(Instruction([cmn.bits(), 0, fc.bits(), addr.bits(), 0, 0]));
        self.code.len() - 1
    }

    /// Sets the target of a flow-control instruction.
    fn land(&mut self, at: usize, target: usize) {
        let Some(inst) = self.code.get_mut(at) else { return };
        let addr = inst.fc_addr();
        let offset = if addr.jump_global() { self.tree.offset } else { 0 };
        let target = u16::try_from(target).unwrap_or(u16::MAX).wrapping_add(offset);
        inst.0[3] = addr.with(FcAddr::JUMP_ADDR, target).bits();
    }
}

fn endif(form: Endif) -> Jump {
    let end = |want, any| Jump::new(FcOp::JUMP, want, any);
    match form {
        Endif::Never => Jump { b_op0: BranchOp::DECR, ..end(NEVER, true) },
        Endif::Always => Jump { b_op1: BranchOp::DECR, ..end(ALWAYS, false) },
        Endif::Either { table, any } => Jump {
            b_op0: BranchOp::DECR,
            b_op1: BranchOp::DECR,
            ..end(Cond { table, ..NEVER }, any)
        },
    }
}

fn common(ty: InstType, hints: Hints) -> CmnInst {
    CmnInst(0)
        .with(CmnInst::TYPE, ty)
        .with(CmnInst::TEX_SEM_WAIT, hints.tex_sem_wait)
        .with(CmnInst::LAST, hints.last)
        .with(CmnInst::NOP, hints.nop)
        .with(CmnInst::ALU_WAIT, hints.alu_wait)
        .with(CmnInst::STAT_WE, hints.stat_we)
}

fn predicated(cmn: CmnInst, rgb: Pred, alpha: Pred) -> CmnInst {
    cmn.with(CmnInst::RGB_PRED_SEL, rgb.sel)
        .with(CmnInst::RGB_PRED_INV, rgb.inv)
        .with(CmnInst::ALPHA_PRED_SEL, alpha.sel)
        .with(CmnInst::ALPHA_PRED_INV, alpha.inv)
}

fn alu(node: &Alu) -> Instruction {
    let Alu { rgb, alpha, .. } = node;
    let ty = if node.out { InstType::OUT } else { InstType::ALU };
    let mut cmn = predicated(common(ty, node.hints), rgb.pred, alpha.pred)
        .with(CmnInst::RGB_WMASK, RgbMask::new(rgb.wmask))
        .with(CmnInst::ALPHA_WMASK, alpha.wmask != 0)
        .with(CmnInst::RGB_OMASK, RgbMask::new(rgb.omask))
        .with(CmnInst::ALPHA_OMASK, alpha.omask != 0)
        .with(CmnInst::RGB_CLAMP, rgb.clamp)
        .with(CmnInst::ALPHA_CLAMP, alpha.clamp);
    if let Some((sel, compare)) = node.result {
        cmn = cmn.with(CmnInst::ALU_RESULT_SEL, sel).with(CmnInst::ALU_RESULT_OP, compare);
    }
    let (mut rgb_addr, mut alpha_addr) = (AluRgbAddr(0), AluAlphaAddr(0));
    for n in 0..3 {
        rgb_addr = rgb_addr.with_source(n, rgb.sources[n]);
        alpha_addr = alpha_addr.with_source(n, alpha.sources[n]);
    }
    let mut inst = Instruction([
        cmn.bits(),
        rgb_addr.with(AluRgbAddr::SRCP_OP, rgb.srcp).bits(),
        alpha_addr.with(AluAlphaAddr::SRCP_OP, alpha.srcp).bits(),
        AluRgbInst(0)
            .with(AluRgbInst::OMOD, rgb.omod)
            .with(AluRgbInst::TARGET, rgb.target)
            .with(AluRgbInst::ALU_WMASK, node.result.is_some())
            .bits(),
        AluAlphaInst(0)
            .with(AluAlphaInst::ALPHA_OP, alpha.op)
            .with(AluAlphaInst::ALPHA_ADDRD, alpha.dest.addr)
            .with(AluAlphaInst::ALPHA_ADDRD_REL, alpha.dest.relative)
            .with(AluAlphaInst::OMOD, alpha.omod)
            .with(AluAlphaInst::TARGET, alpha.target)
            .with(AluAlphaInst::W_OMASK, node.depth)
            .bits(),
        AluRgbaInst(0)
            .with(AluRgbaInst::RGB_OP, rgb.op)
            .with(AluRgbaInst::RGB_ADDRD, rgb.dest.addr)
            .with(AluRgbaInst::RGB_ADDRD_REL, rgb.dest.relative)
            .bits(),
    ]);
    for (n, slot) in Slot::ALL.into_iter().enumerate() {
        inst = inst
            .with_rgb_operand(slot, rgb.operands[n])
            .with_alpha_operand(slot, alpha.operands[n]);
    }
    inst
}

fn tex(node: &Tex) -> Instruction {
    let [r, g, b, a] = node.swiz;
    let [s, t, p, q] = node.coord.swiz;
    let [
        TexReg { swiz: [dx_s, dx_t, dx_r, dx_q], .. },
        TexReg { swiz: [dy_s, dy_t, dy_r, dy_q], .. },
    ] = node.gradients;
    let [dx, dy] = node.gradients;
    let cmn = predicated(common(InstType::TEX, node.hints), node.rgb_pred, node.alpha_pred)
        .with(CmnInst::RGB_WMASK, RgbMask::new(node.wmask & 7))
        .with(CmnInst::ALPHA_WMASK, node.wmask >> 3 != 0);
    let inst = TexInst(0)
        .with(TexInst::TEX_ID, node.unit)
        .with(TexInst::INST, node.op)
        .with(TexInst::TEX_SEM_ACQUIRE, node.acquire)
        .with(TexInst::IGNORE_UNCOVERED, node.ignore_uncovered)
        .with(TexInst::UNSCALED, node.unscaled);
    let addr = TexAddr(0)
        .with(TexAddr::SRC_ADDR, node.coord.addr)
        .with(TexAddr::SRC_ADDR_REL, node.coord.relative)
        .with(TexAddr::SRC_S_SWIZ, s)
        .with(TexAddr::SRC_T_SWIZ, t)
        .with(TexAddr::SRC_R_SWIZ, p)
        .with(TexAddr::SRC_Q_SWIZ, q)
        .with(TexAddr::DST_ADDR, node.dest.addr)
        .with(TexAddr::DST_ADDR_REL, node.dest.relative)
        .with(TexAddr::DST_R_SWIZ, r)
        .with(TexAddr::DST_G_SWIZ, g)
        .with(TexAddr::DST_B_SWIZ, b)
        .with(TexAddr::DST_A_SWIZ, a);
    let gradients = TexAddrDxdy(0)
        .with(TexAddrDxdy::DX_ADDR, dx.addr)
        .with(TexAddrDxdy::DX_ADDR_REL, dx.relative)
        .with(TexAddrDxdy::DX_S_SWIZ, dx_s)
        .with(TexAddrDxdy::DX_T_SWIZ, dx_t)
        .with(TexAddrDxdy::DX_R_SWIZ, dx_r)
        .with(TexAddrDxdy::DX_Q_SWIZ, dx_q)
        .with(TexAddrDxdy::DY_ADDR, dy.addr)
        .with(TexAddrDxdy::DY_ADDR_REL, dy.relative)
        .with(TexAddrDxdy::DY_S_SWIZ, dy_s)
        .with(TexAddrDxdy::DY_T_SWIZ, dy_t)
        .with(TexAddrDxdy::DY_R_SWIZ, dy_r)
        .with(TexAddrDxdy::DY_Q_SWIZ, dy_q);
    Instruction([cmn.bits(), inst.bits(), addr.bits(), gradients.bits(), 0, 0])
}
