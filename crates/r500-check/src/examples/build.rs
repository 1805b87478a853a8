//! Builders of instructions and jobs for the examples.

use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsOutFmt, UsPixsize,
};
use r500_isa::values::{
    AddrOp, AlphaOp, BranchOp, Channel, FcOp, InstType, Mod, OutFormat, RgbMask, Sel, Swiz, TexOp,
};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexInst,
};
use r500_isa::{BitField, FieldValue, Instruction, Operand, Slot, Source, Word};
use r500_program::{Input, Job, OUT_FMT_RGBA8, Program};

/// Returns an instruction with a field of one of its dwords changed.
pub(super) fn with<W: Word, T: FieldValue>(
    mut inst: Instruction,
    word: usize,
    field: BitField<W, T>,
    value: T,
) -> Instruction {
    if let Some(dword) = inst.0.get_mut(word) {
        *dword = field.set(W::from_bits(*dword), value).bits();
    }
    inst
}

pub(super) const fn temp(addr: u8) -> Source {
    Source { addr, constant: false, relative: false }
}

pub(super) const fn constant(addr: u8) -> Source {
    Source { addr, constant: true, relative: false }
}

/// Sets source `n` in both halves.
pub(super) fn source(inst: Instruction, n: usize, source: Source) -> Instruction {
    let [cmn, _, _, rgb, alpha, rgba] = inst.0;
    let rgb_addr = inst.rgb_addr().with_source(n, source).bits();
    let alpha_addr = inst.alpha_addr().with_source(n, source).bits();
    Instruction([cmn, rgb_addr, alpha_addr, rgb, alpha, rgba])
}

/// Returns `src0 * 1 + 0` in both halves, with all sources inline 0 and no writes.
pub(super) fn idle() -> Instruction {
    let inst = Instruction([
        0,
        (0..3).fold(AluRgbAddr(0), |w, n| w.with_source(n, Source::UNUSED)).bits(),
        (0..3).fold(AluAlphaAddr(0), |w, n| w.with_source(n, Source::UNUSED)).bits(),
        0,
        0,
        0,
    ]);
    let operand = |sel, swiz| Operand { sel, swiz, modifier: Mod::NOP };
    let scalar = |swiz| Operand { sel: Sel::SRC0, swiz: [swiz], modifier: Mod::NOP };
    inst.with_rgb_operand(Slot::A, operand(Sel::SRC0, [Swiz::R, Swiz::G, Swiz::B]))
        .with_rgb_operand(Slot::B, operand(Sel::SRC0, [Swiz::ONE; 3]))
        .with_rgb_operand(Slot::C, operand(Sel::SRC0, [Swiz::ZERO; 3]))
        .with_alpha_operand(Slot::A, scalar(Swiz::A))
        .with_alpha_operand(Slot::B, scalar(Swiz::ONE))
        .with_alpha_operand(Slot::C, scalar(Swiz::ZERO))
}

/// Returns `temp[to] = from`.
pub(super) fn mov(to: u8, from: Source) -> Instruction {
    let inst = source(idle(), 0, from);
    let inst = with(inst, 0, CmnInst::RGB_WMASK, RgbMask::RGB);
    let inst = with(inst, 0, CmnInst::ALPHA_WMASK, true);
    with(with(inst, 5, AluRgbaInst::RGB_ADDRD, to), 4, AluAlphaInst::ALPHA_ADDRD, to)
}

/// Returns `out[0] = from`.
pub(super) fn out(from: Source) -> Instruction {
    let inst = with(source(idle(), 0, from), 0, CmnInst::TYPE, InstType::OUT);
    with(with(inst, 0, CmnInst::RGB_OMASK, RgbMask::RGB), 0, CmnInst::ALPHA_OMASK, true)
}

/// Returns an alpha operation on the alpha of a source, into `temp[to].a`.
pub(super) fn alpha(to: u8, op: AlphaOp, from: Source) -> Instruction {
    let inst = with(source(idle(), 0, from), 0, CmnInst::ALPHA_WMASK, true);
    with(with(inst, 4, AluAlphaInst::ALPHA_OP, op), 4, AluAlphaInst::ALPHA_ADDRD, to)
}

/// Returns a test that sets the ALU result to whether red of the source is 0.
pub(super) fn test(from: Source) -> Instruction {
    with(source(idle(), 0, from), 3, AluRgbInst::ALU_WMASK, true)
}

/// Returns a fetch from unit 0 at `temp[from]`, with the semaphore.
pub(super) fn fetch(to: u8, from: u8) -> Instruction {
    let cmn = CmnInst(0)
        .with(CmnInst::TYPE, InstType::TEX)
        .with(CmnInst::RGB_WMASK, RgbMask::RGB)
        .with(CmnInst::ALPHA_WMASK, true);
    let tex = TexInst(0).with(TexInst::INST, TexOp::LD).with(TexInst::TEX_SEM_ACQUIRE, true);
    let addr = TexAddr(0)
        .with(TexAddr::SRC_ADDR, from)
        .with(TexAddr::SRC_T_SWIZ, Channel::G)
        .with(TexAddr::SRC_R_SWIZ, Channel::B)
        .with(TexAddr::SRC_Q_SWIZ, Channel::A)
        .with(TexAddr::DST_ADDR, to)
        .with(TexAddr::DST_G_SWIZ, Channel::G)
        .with(TexAddr::DST_B_SWIZ, Channel::B)
        .with(TexAddr::DST_A_SWIZ, Channel::A);
    Instruction([cmn.bits(), tex.bits(), addr.bits(), 0, 0, 0])
}

pub(super) fn wait(inst: Instruction) -> Instruction {
    with(inst, 0, CmnInst::TEX_SEM_WAIT, true)
}

/// Returns a flow-control instruction with `ALU_WAIT`.
pub(super) fn flow(op: FcOp, func: u8, any: bool, target: u16) -> Instruction {
    let cmn = CmnInst(0).with(CmnInst::TYPE, InstType::FC).with(CmnInst::ALU_WAIT, true);
    let inst =
        FcInst(0).with(FcInst::OP, op).with(FcInst::JUMP_FUNC, func).with(FcInst::JUMP_ANY, any);
    let addr = FcAddr(0).with(FcAddr::JUMP_ADDR, target);
    Instruction([cmn.bits(), 0, inst.bits(), addr.bits(), 0, 0])
}

/// Sets the branch operations: without the jump, with it, and the count of DECR.
pub(super) fn counts(inst: Instruction, op0: BranchOp, op1: BranchOp, pop: u8) -> Instruction {
    let inst = with(with(inst, 2, FcInst::B_OP0, op0), 2, FcInst::B_OP1, op1);
    with(inst, 2, FcInst::B_POP_CNT, pop)
}

/// Returns IF: enters the branch if the ALU result is set, else continues after `endif`.
pub(super) fn branch(endif: u16) -> Instruction {
    let inst = flow(FcOp::JUMP, 0x0f, false, endif + 1);
    counts(inst, BranchOp::INCR, BranchOp::NONE, 0)
}

pub(super) fn endif(at: u16) -> Instruction {
    counts(flow(FcOp::JUMP, 0, true, at + 1), BranchOp::DECR, BranchOp::NONE, 1)
}

/// Returns LOOP with its end, as the documents advise: JUMP_ANY, with the instruction after the end
/// as target.
pub(super) fn begin(end: u16) -> Instruction {
    flow(FcOp::LOOP, 0, true, end + 1)
}

pub(super) fn end(body: u16) -> Instruction {
    flow(FcOp::ENDLOOP, 0xff, true, body)
}

/// Returns BREAK inside `levels` branches.
pub(super) fn leave(end: u16, levels: u8) -> Instruction {
    let op = if levels == 0 { BranchOp::NONE } else { BranchOp::DECR };
    counts(flow(FcOp::BREAKLOOP, 0xff, false, end + 1), BranchOp::NONE, op, levels)
}

pub(super) fn call(entry: u16) -> Instruction {
    with(flow(FcOp::JUMP, 0xff, false, entry), 2, FcInst::A_OP, AddrOp::PUSH)
}

pub(super) fn ret() -> Instruction {
    with(flow(FcOp::JUMP, 0xff, false, 0), 2, FcInst::A_OP, AddrOp::POP)
}

/// Returns a job with all relevant state: an input in temp[0], eight temporaries, one constant (1,
/// 1, 1, 1), four iterations in integer constant 0, boolean constants, full flow control.
pub(super) fn job(code: &[Instruction]) -> Job {
    let mut program = Program::from_code(code.to_vec());
    let last = u16::try_from(code.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let state = &mut program.state;
    state.config = Some(UsConfig(0).with(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO, true));
    state.pixsize = Some(UsPixsize(0).with(UsPixsize::PIX_SIZE, 7));
    state.fc_ctrl = Some(UsFcCtrl(0).with(UsFcCtrl::FULL_FC_EN, true));
    state.fc_bool_const = Some(UsFcBoolConst(1));
    state.fc_int_const[0] = Some(ints(4, 0, 1));
    state.code_offset = Some(UsCodeOffset(0));
    state.code_addr = Some(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, last));
    state.code_range = Some(UsCodeRange(0).with(UsCodeRange::CODE_SIZE, last));
    state.out_fmt[0] = Some(OUT_FMT_RGBA8);
    for format in &mut state.out_fmt[1..] {
        *format = Some(UsOutFmt(0).with(UsOutFmt::OUT_FMT, OutFormat::UNUSED));
    }
    state.constants = vec![[1f32.to_bits(); 4]];
    Job { inputs: Some(vec![Input::uv()]), ..Job::from_program(program) }
}

pub(super) fn ints(iterations: u8, start: u8, step: i8) -> UsFcIntConst {
    UsFcIntConst(0)
        .with(UsFcIntConst::KR, iterations)
        .with(UsFcIntConst::KG, start)
        .with(UsFcIntConst::KB, step)
}

/// Returns a job with some of its state changed.
pub(super) fn change(mut job: Job, change: impl FnOnce(&mut Job)) -> Job {
    change(&mut job);
    job
}
