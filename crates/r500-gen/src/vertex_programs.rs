//! Random vertex programs: instructions as compilers write them, few registers, so that instructions read what others wrote; among them
//! predicates, address registers, pairs of both engines, loops, and arbitrary bits.

use r500_chip::values::FlowOp;
use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};
use r500_pvs::{
    Component, Controls, Dst, DstType, DualMath, Flow, Instruction, MathOp, Op, Program, Src,
    SrcType, Swizzle, VectorOp,
};

use crate::Choices;

/// Operations of the vector engine, common ones first.
const VECTOR: [VectorOp; 22] = [
    VectorOp::ADD,
    VectorOp::MULTIPLY,
    VectorOp::MULTIPLY_ADD,
    VectorOp::DOT_PRODUCT,
    VectorOp::MAXIMUM,
    VectorOp::SET_GREATER_THAN_EQUAL,
    VectorOp::SET_LESS_THAN,
    VectorOp::MINIMUM,
    VectorOp::FRACTION,
    VectorOp::SET_EQUAL,
    VectorOp::SET_NOT_EQUAL,
    VectorOp::SET_GREATER_THAN,
    VectorOp::COND_MUX_GTE,
    VectorOp::COND_MUX_GT,
    VectorOp::COND_MUX_EQ,
    VectorOp::MULTIPLYX2_ADD,
    VectorOp::MULTIPLY_CLAMP,
    VectorOp::DISTANCE_VECTOR,
    VectorOp::COND_WRITE_GTE,
    VectorOp::PRED_SET_NEQ_PUSH,
    VectorOp::FLT2FIX_DX,
    VectorOp::NOP,
];

/// Operations of the math engine, common ones first.
const MATH: [MathOp; 16] = [
    MathOp::RECIP_DX,
    MathOp::RECIP_SQRT_DX,
    MathOp::RECIP_IEEE,
    MathOp::EXP_BASE2_FULL_DX,
    MathOp::LOG_BASE2_FULL_DX,
    MathOp::RECIP_SQRT_IEEE,
    MathOp::SIN,
    MathOp::COS,
    MathOp::POWER_FUNC_FF,
    MathOp::MULTIPLY,
    MathOp::RECIP_FF,
    MathOp::EXP_BASE2_DX,
    MathOp::LOG_BASE2_DX,
    MathOp::LIGHT_COEFF_DX,
    MathOp::PRED_SET_GT,
    MathOp::PRED_SET_INV,
];

const DESTINATIONS: [DstType; 4] =
    [DstType::TEMPORARY, DstType::OUT, DstType::ALT_TEMPORARY, DstType::OUT_REPL_X];

/// Registers of each file that programs name.
const REGISTERS: u32 = 4;

/// Makes a program of up to `most` instructions and those that write what temporaries hold at the end. A plain one has no loops, predicates,
/// conditional writes or arbitrary bits.
pub fn program(choices: &mut impl Choices, most: u32, is_plain: bool) -> Program {
    let count = 1 + choices.below(most);
    let mut code: Vec<Instruction> =
        (0..count).map(|_| if is_plain { plain(choices) } else { instruction(choices) }).collect();
    let loops = if is_plain { 0 } else { choices.weighted(&[6, 2, 1]) as u8 };
    let flow = (0..loops).map(|number| repetition(choices, number, count)).collect();
    for n in 0..choices.below(REGISTERS + 1) as u8 {
        let kind = if choices.chance(1, 4) { SrcType::ALT_TEMPORARY } else { SrcType::TEMPORARY };
        let src = identity(kind, n);
        let dst =
            written(DstType::OUT, n + 4, [true; 4]).with(Dst::OPCODE, VectorOp::MAXIMUM.code());
        code.push(Instruction([dst.bits(), src.bits(), src.bits(), src.bits()]));
    }
    let controls = Controls { flow, ..Controls::of_code(0, &code) };
    Program::from_code(controls, 0, code)
}

/// Makes a program of arbitrary dwords that name a few registers, at addresses relative to A0 and aL, too, under predicates, with nested loops, jumps and
/// calls. It may be endless.
pub fn wild(choices: &mut impl Choices, most: u32) -> Program {
    let count = 1 + choices.below(most);
    let mut code: Vec<Instruction> = (0..count).map(|_| relative(choices)).collect();
    for n in 0..REGISTERS as u8 {
        for (kind, out) in [(SrcType::TEMPORARY, n), (SrcType::ALT_TEMPORARY, n + 4)] {
            let src = identity(kind, n);
            let dst =
                written(DstType::OUT, out, [true; 4]).with(Dst::OPCODE, VectorOp::MAXIMUM.code());
            code.push(Instruction([dst.bits(), src.bits(), src.bits(), src.bits()]));
        }
    }
    let flow = (0..choices.below(4) as u8).map(|number| transfer(choices, number, count)).collect();
    let controls = Controls { flow, ..Controls::of_code(0, &code) };
    Program::from_code(controls, 0, code)
}

/// Returns a program that first copies inputs to the temporaries that generated programs name, so that its operations work on values. The program
/// begins at 0.
pub fn with_inputs(program: &Program) -> Program {
    let mut code = Vec::new();
    for n in 0..REGISTERS as u8 {
        for kind in [DstType::TEMPORARY, DstType::ALT_TEMPORARY] {
            let number = if kind == DstType::TEMPORARY { n } else { n + 4 };
            let src = identity(SrcType::INPUT, number);
            let dst = written(kind, n, [true; 4]).with(Dst::OPCODE, VectorOp::MAXIMUM.code());
            code.push(Instruction([dst.bits(), src.bits(), src.bits(), src.bits()]));
        }
    }
    let more = code.len() as u16;
    let moved = |address: u16| address.wrapping_add(more);
    let flow = program.controls().flow.iter().map(|flow| {
        let (low, high) = (flow.low, flow.high);
        let low = low.with(VapPvsFlowCntlAddrsLw::ACT_ADRS, moved(low.act_adrs()));
        let low = match flow.op {
            FlowOp::LOOP => low,
            _ => low.with(VapPvsFlowCntlAddrsLw::LOOP_CNT_JMP_INST, moved(low.loop_cnt_jmp_inst())),
        };
        let high = high
            .with(VapPvsFlowCntlAddrsUw::LAST_INST, moved(high.last_inst()))
            .with(VapPvsFlowCntlAddrsUw::RTN_INST, moved(high.rtn_inst()));
        Flow { low, high, ..*flow }
    });
    let flow = flow.collect();
    code.extend_from_slice(program.instructions().1);
    let controls = Controls { flow, ..Controls::of_code(0, &code) };
    Program::from_code(controls, 0, code)
}

/// Makes arbitrary bits that name a few registers; a quarter has relative addresses and predicates.
fn relative(choices: &mut impl Choices) -> Instruction {
    let Instruction(mut words) = arbitrary(choices);
    if choices.chance(1, 4) {
        words[0] |= choices.bits() & (1 << 31 | 1 << 12);
        words[1..].iter_mut().for_each(|word| *word |= choices.bits() & (1 << 31 | 1 << 4));
    } else {
        words[0] &= !(1 << 26);
    }
    Instruction(words)
}

/// Makes a loop, with a loop index; less often a jump or a call.
fn transfer(choices: &mut impl Choices, number: u8, count: u32) -> Flow {
    let (first, trips) = (choices.below(count), choices.below(40));
    let last = first + choices.below(count - first);
    let op = match choices.weighted(&[6, 1, 1]) {
        0 => FlowOp::LOOP,
        1 => FlowOp::JUMP,
        _ => FlowOp::CALL,
    };
    let target = match op {
        FlowOp::LOOP => trips,
        // Mostly forward: a jump back is endless.
        _ => first + choices.below(count + 2 - first),
    };
    // An index that stays is as common as one that moves.
    let step = choices.weighted(&[3, 1, 1, 1]) as u32;
    Flow {
        number,
        op,
        low: VapPvsFlowCntlAddrsLw(first.wrapping_sub(1) & 0xffff | target << 16),
        high: VapPvsFlowCntlAddrsUw(last | first << 16),
        index: VapPvsFlowCntlLoopIndex(choices.below(3) | step << 8),
    }
}

/// Makes a loop over some of the first instructions.
fn repetition(choices: &mut impl Choices, number: u8, count: u32) -> Flow {
    let first = choices.below(count);
    let last = first + choices.below(count - first);
    let (trips, index) = (choices.below(4), choices.below(2) << 8);
    Flow {
        number,
        op: FlowOp::LOOP,
        low: VapPvsFlowCntlAddrsLw(first.wrapping_sub(1) & 0xffff | trips << 16),
        high: VapPvsFlowCntlAddrsUw(last | first << 16),
        index: VapPvsFlowCntlLoopIndex(index),
    }
}

fn identity(kind: SrcType, number: u8) -> Src {
    Src(0)
        .with(Src::REG_TYPE, kind)
        .with(Src::OFFSET, number)
        .with(Src::SWIZZLE_X, Swizzle::X)
        .with(Src::SWIZZLE_Y, Swizzle::Y)
        .with(Src::SWIZZLE_Z, Swizzle::Z)
        .with(Src::SWIZZLE_W, Swizzle::W)
}

fn written(kind: DstType, number: u8, [x, y, z, w]: [bool; 4]) -> Dst {
    Dst(0)
        .with(Dst::REG_TYPE, kind)
        .with(Dst::OFFSET, number)
        .with(Dst::WE_X, x)
        .with(Dst::WE_Y, y)
        .with(Dst::WE_Z, z)
        .with(Dst::WE_W, w)
}

/// Makes an instruction.
pub fn instruction(choices: &mut impl Choices) -> Instruction {
    if choices.chance(1, 48) {
        return arbitrary(choices);
    }
    let op = match choices.weighted(&[8, 2]) {
        0 => Op::Vector(choices.pick(VECTOR[0], &VECTOR)),
        _ => Op::Math(choices.pick(MATH[0], &MATH)),
    };
    let inst = of_op(choices, op);
    let is_guarded = choices.chance(1, 24);
    let dst = inst.dst().with(Dst::PRED_ENABLE, is_guarded);
    let [_, a, b, c] = inst.0;
    Instruction([dst.with(Dst::PRED_SENSE, is_guarded && choices.chance(1, 2)).bits(), a, b, c])
}

/// Makes an instruction without predicates, conditional writes and arbitrary bits.
fn plain(choices: &mut impl Choices) -> Instruction {
    let op = match choices.weighted(&[8, 2]) {
        0 => Op::Vector(choices.pick(VECTOR[0], &VECTOR[..18])),
        _ => Op::Math(choices.pick(MATH[0], &MATH[..14])),
    };
    of_op(choices, op)
}

fn of_op(choices: &mut impl Choices, op: Op) -> Instruction {
    let kind = match op {
        Op::Vector(VectorOp::FLT2FIX_DX) => DstType::A0,
        _ => DESTINATIONS[choices.weighted(&[24, 8, 4, 1])],
    };
    let mask = match choices.weighted(&[4, 3, 2]) {
        0 => [true; 4],
        1 => {
            let one = choices.below(4);
            [0, 1, 2, 3].map(|channel| channel == one)
        }
        _ => [(); 4].map(|()| choices.chance(1, 2)),
    };
    let saturate = choices.chance(1, 8);
    let mut dst = written(kind, choices.below(REGISTERS) as u8, mask)
        .with(Dst::VE_SAT, saturate)
        .with(Dst::ME_SAT, saturate);
    dst = match op {
        Op::Math(op) => dst.with(Dst::OPCODE, op.code()).with(Dst::MATH_INST, true),
        Op::Vector(op) => dst.with(Dst::OPCODE, op.code()),
        Op::Macro(op) => dst.with(Dst::OPCODE, op.code()).with(Dst::MACRO_INST, true),
    };
    let scalar = matches!(op, Op::Math(_));
    let mut words = [dst.bits(), 0, 0, 0];
    for word in &mut words[1..] {
        *word = source(choices, scalar).bits();
    }
    if matches!(op, Op::Vector(_)) && op.sources() < 3 && choices.chance(1, 16) {
        words[0] |= Dst(0).with(Dst::DUAL_MATH_OP, true).bits();
        words[3] = second(choices).bits();
    }
    Instruction(words)
}

/// Makes the second operation of a pair.
fn second(choices: &mut impl Choices) -> DualMath {
    let source = source(choices, true);
    let [x, y, ..] = source.swizzle();
    let op = choices.pick(MATH[0], &MATH).code();
    DualMath(0)
        .with(DualMath::SRC_REG_TYPE, source.reg_type())
        .with(DualMath::SRC_OFFSET, source.offset())
        .with(DualMath::SRC_ABS_XYZW, source.abs_xyzw())
        .with(DualMath::SRC_SWIZZLE_X, x)
        .with(DualMath::SRC_SWIZZLE_Y, y)
        .with(DualMath::SRC_MODIFIER_X, choices.chance(1, 4))
        .with(DualMath::DST_OPCODE_MSB, op >> 4 != 0)
        .with(DualMath::DST_OPCODE, op & 15)
        .with(DualMath::DST_OFFSET, choices.below(REGISTERS) as u8)
        .with(DualMath::DST_WE_SEL, Component::new(choices.below(4) as u8))
}

fn source(choices: &mut impl Choices, scalar: bool) -> Src {
    let kinds = [SrcType::TEMPORARY, SrcType::CONSTANT, SrcType::INPUT, SrcType::ALT_TEMPORARY];
    let kind = kinds[choices.weighted(&[8, 3, 2, 2])];
    let one = choices.below(6) as u8;
    let swizzle = match choices.weighted(&[4, 3, 3]) {
        0 if !scalar => [0, 1, 2, 3],
        2 => [(); 4].map(|()| choices.below(6) as u8),
        _ => [one; 4],
    };
    let [x, y, z, w] = swizzle.map(Swizzle::new);
    let negate = match choices.weighted(&[4, 1, 1]) {
        0 => [false; 4],
        1 => [true; 4],
        _ => [(); 4].map(|()| choices.chance(1, 2)),
    };
    let mut src = Src(0)
        .with(Src::REG_TYPE, kind)
        .with(Src::OFFSET, choices.below(REGISTERS) as u8)
        .with(Src::ABS_XYZW, choices.chance(1, 8))
        .with(Src::SWIZZLE_X, x)
        .with(Src::SWIZZLE_Y, y)
        .with(Src::SWIZZLE_Z, z)
        .with(Src::SWIZZLE_W, w)
        .with(Src::MODIFIER_X, negate[0])
        .with(Src::MODIFIER_Y, negate[1])
        .with(Src::MODIFIER_Z, negate[2])
        .with(Src::MODIFIER_W, negate[3]);
    if kind == SrcType::CONSTANT && choices.chance(1, 6) {
        src = src
            .with(Src::ADDR_MODE_0, true)
            .with(Src::ADDR_SEL, Component::new(choices.below(4) as u8));
    } else if choices.chance(1, 96) {
        src = src.with(Src::ADDR_MODE_1, true);
    }
    src
}

/// Makes arbitrary bits that name a few registers.
fn arbitrary(choices: &mut impl Choices) -> Instruction {
    let mut words = [(); 4].map(|()| choices.bits());
    // DST_OFFSET and SRC_OFFSET from 4 on.
    words[0] &= !(0x1f << 15);
    words[1..].iter_mut().for_each(|word| *word &= !(0x3f << 7));
    // Relative addresses of temporaries keep a whole program as it is.
    words[0] &= !(1 << 31 | 1 << 12);
    words[1..].iter_mut().for_each(|word| *word &= !(1 << 31 | 1 << 4));
    Instruction(words)
}
