//! The decoder: from machine code to the instructions that the interpreter dispatches on.

use std::collections::HashMap;

use iced_x86::{
    Code, ConditionCode, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind,
    Register, RoundingControl,
};

use crate::fault::DecodeError;
use crate::op::{
    Address, Alu, Arith, Condition, MaskOp, Op, Operand, Source, VectorInst, VectorOp, Width,
};

/// Decoded machine code.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) base: u64,
    pub(crate) ops: Vec<Op>,
    /// The decoded form of each instruction, for messages.
    pub(crate) instructions: Vec<Instruction>,
    /// The index of the instruction at each offset.
    pub(crate) by_offset: HashMap<u64, u32>,
}

impl Program {
    /// Decodes code for a base address. The code consists of instructions only, without constants.
    ///
    /// # Errors
    /// [`DecodeError`] at the first instruction that the emulator does not implement.
    pub fn decode(code: &[u8], base: u64) -> Result<Self, DecodeError> {
        let decoder = Decoder::with_ip(64, code, base, DecoderOptions::NONE);
        let instructions: Vec<_> = decoder.into_iter().collect();
        let by_offset: HashMap<u64, u32> =
            (0..).zip(&instructions).map(|(n, inst)| (inst.ip() - base, n)).collect();
        let ops = (instructions.iter())
            .map(|inst| {
                Reader { inst, base, by_offset: &by_offset }.op().ok_or_else(|| DecodeError {
                    offset: (inst.ip() - base) as usize,
                    instruction: text(inst),
                    code: format!("{:?}", inst.code()),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { base, ops, instructions, by_offset })
    }

    /// Returns the address of the first byte.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }
}

/// Returns an instruction as text.
pub(crate) fn text(inst: &Instruction) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(inst, &mut text);
    text
}

/// Reads the operands of an instruction. Each method returns `None` if the emulator does not
/// implement the instruction.
struct Reader<'a> {
    inst: &'a Instruction,
    base: u64,
    by_offset: &'a HashMap<u64, u32>,
}

impl Reader<'_> {
    fn op(&self) -> Option<Op> {
        use Code as C;
        // The code generator emits no other embedded rounding and does not suppress exceptions.
        let inst = self.inst;
        let rounded = match inst.code() {
            C::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er => RoundingControl::RoundDown,
            _ => RoundingControl::None,
        };
        if inst.rounding_control() != rounded
            || inst.suppress_all_exceptions()
            || inst.has_lock_prefix()
            || inst.segment_prefix() != Register::None
        {
            return None;
        }
        Some(match inst.code() {
            C::Add_rm64_imm8 | C::Add_rm64_imm32 | C::Add_r64_rm64 => self.alu(Alu::Add)?,
            C::Sub_rm64_imm8
            | C::Sub_rm64_imm32
            | C::Sub_rm32_imm8
            | C::Sub_rm32_imm32
            | C::Sub_r64_rm64 => self.alu(Alu::Sub)?,
            C::And_rm64_imm8 => self.alu(Alu::And)?,
            C::Or_rm32_imm32 | C::Or_EAX_imm32 | C::Or_r64_rm64 | C::Or_rm64_r64 => {
                self.alu(Alu::Or)?
            }
            C::Xor_r32_rm32 | C::Xor_rm32_r32 => self.alu(Alu::Xor)?,
            C::Cmp_r64_rm64 | C::Cmp_rm64_r64 | C::Cmp_rm64_imm8 => self.alu(Alu::Cmp)?,
            C::Test_rm32_r32 | C::Test_rm64_r64 => self.alu(Alu::Test)?,
            C::Mov_r32_rm32
            | C::Mov_rm32_r32
            | C::Mov_r32_imm32
            | C::Mov_rm32_imm32
            | C::Mov_r64_rm64
            | C::Mov_rm64_r64
            | C::Mov_rm64_imm32 => {
                Op::Mov { width: self.width()?, dst: self.operand(0)?, src: self.operand(1)? }
            }
            C::Lea_r64_m => Op::Lea { dst: self.register(0)?, address: self.address()? },
            C::Shl_rm64_imm8 => {
                Op::ShiftLeft { width: Width::W64, dst: self.register(0)?, bits: inst.immediate8() }
            }
            C::Shl_rm64_1 => Op::ShiftLeft { width: Width::W64, dst: self.register(0)?, bits: 1 },
            C::Push_r64 => Op::Push(self.register(0)?),
            C::Pop_r64 => Op::Pop(self.register(0)?),
            C::Cmovae_r64_rm64 => {
                let (condition, negated) = self.condition()?;
                Op::MovIf { condition, negated, dst: self.register(0)?, src: self.register(1)? }
            }
            C::Jmp_rel8_64 | C::Jmp_rel32_64 => Op::Jump { target: self.target()? },
            C::Call_rel32_64 => Op::Call { target: self.target()? },
            C::Call_rm64 => Op::CallIndirect { address: self.address()? },
            C::Retnq => Op::Return,
            C::Int3 => Op::Padding,
            // A prefetch accesses no memory visible to a program, and never faults.
            C::Nopd | C::Prefetchw_m8 => Op::Nop,
            C::Ldmxcsr_m32 => Op::LoadMxcsr(self.address()?),
            C::Stmxcsr_m32 => Op::StoreMxcsr(self.address()?),
            C::VEX_Vzeroupper => Op::ZeroUpper,
            _ if inst.is_jcc_short_or_near() => {
                let (condition, negated) = self.condition()?;
                Op::JumpIf { condition, negated, target: self.target()? }
            }
            _ => return self.mask_op().or_else(|| self.vector_op()),
        })
    }

    fn alu(&self, op: Alu) -> Option<Op> {
        Some(Op::Alu { op, width: self.width()?, dst: self.operand(0)?, src: self.operand(1)? })
    }

    /// Decodes opmask instructions, including transfers between opmasks, vectors and general
    /// registers.
    fn mask_op(&self) -> Option<Op> {
        use Code as C;
        let three = |op| {
            let [dst, a, b] = [self.register(0)?, self.register(1)?, self.register(2)?];
            Some(Op::Mask { op, dst, a, b })
        };
        let two = || Some((self.register(0)?, self.register(1)?));
        Some(match self.inst.code() {
            C::VEX_Kandw_kr_kr_kr => three(MaskOp::And)?,
            C::VEX_Korw_kr_kr_kr => three(MaskOp::Or)?,
            C::VEX_Kxorw_kr_kr_kr => three(MaskOp::Xor)?,
            C::VEX_Kxnorw_kr_kr_kr => three(MaskOp::Xnor)?,
            C::VEX_Kandnw_kr_kr_kr => three(MaskOp::AndNot)?,
            C::VEX_Kmovw_kr_km16 if self.inst.op1_kind() == OpKind::Memory => {
                Op::LoadMask { dst: self.register(0)?, address: self.address()? }
            }
            C::VEX_Kmovw_kr_km16 => {
                let (dst, src) = two()?;
                Op::MoveMask { dst, src }
            }
            C::VEX_Kmovw_m16_kr => {
                Op::StoreMask { address: self.address()?, src: self.register(1)? }
            }
            C::VEX_Kmovw_r32_kr => {
                let (dst, src) = two()?;
                Op::MaskToGeneral { dst, src }
            }
            C::EVEX_Vpmovd2m_kr_zmm => {
                let (dst, src) = two()?;
                Op::SignsToMask { dst, src, size: 64 }
            }
            C::EVEX_Vpmovm2d_zmm_kr => {
                let (dst, src) = two()?;
                Op::MaskToVector { dst, src, size: 64 }
            }
            C::VEX_Vmovmskps_r32_ymm => {
                let (dst, src) = two()?;
                Op::SignsToGeneral { dst, src, size: 32 }
            }
            _ => return None,
        })
    }

    fn vector_op(&self) -> Option<Op> {
        use Code as C;
        let mut aligned = false;
        let inst = self.inst;
        // The immediate is the last operand.
        let imm = inst.immediate8();
        let op = match inst.code() {
            C::VEX_Vmovups_xmmm128_xmm
            | C::VEX_Vmovups_ymmm256_ymm
            | C::EVEX_Vmovups_xmmm128_k1z_xmm
            | C::EVEX_Vmovups_ymmm256_k1z_ymm
            | C::EVEX_Vmovups_zmmm512_k1z_zmm => return self.store(self.vector_size(1)?, 0),
            C::VEX_Vmovlps_m64_xmm | C::EVEX_Vmovlps_m64_xmm => return self.store(8, 0),
            C::VEX_Vmovhps_m64_xmm | C::EVEX_Vmovhps_m64_xmm => return self.store(8, 8),
            C::VEX_Vmovd_rm32_xmm | C::EVEX_Vmovd_rm32_xmm => return self.store(4, 0),
            C::VEX_Vpextrd_rm32_xmm_imm8 | C::EVEX_Vpextrd_rm32_xmm_imm8 => {
                return self.store(4, 4 * (imm & 3));
            }
            C::VEX_Vextractf128_xmmm128_ymm_imm8 | C::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8
                if inst.op0_kind() == OpKind::Memory =>
            {
                return self.store_part(16, imm);
            }
            C::EVEX_Vextractf32x8_ymmm256_k1z_zmm_imm8 if inst.op0_kind() == OpKind::Memory => {
                return self.store_part(32, imm);
            }
            C::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae => {
                return Some(Op::CompareToMask {
                    predicate: imm & 0x1f,
                    dst: self.register(0)?,
                    a: self.register(1)?,
                    b: self.source(2, 4, false)?,
                    mask: self.opmask(),
                });
            }
            C::VEX_Vaddps_ymm_ymm_ymmm256 | C::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::Arith(Arith::Add)
            }
            C::VEX_Vsubps_ymm_ymm_ymmm256 | C::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::Arith(Arith::Sub)
            }
            C::VEX_Vmulps_ymm_ymm_ymmm256 | C::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::Arith(Arith::Mul)
            }
            C::VEX_Vdivps_ymm_ymm_ymmm256 | C::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::Arith(Arith::Div)
            }
            C::VEX_Vminps_ymm_ymm_ymmm256 | C::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae => {
                VectorOp::Arith(Arith::Min)
            }
            C::VEX_Vmaxps_ymm_ymm_ymmm256 | C::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae => {
                VectorOp::Arith(Arith::Max)
            }
            C::VEX_Vandps_ymm_ymm_ymmm256 | C::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 => VectorOp::And,
            C::VEX_Vorps_ymm_ymm_ymmm256 | C::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 => VectorOp::Or,
            C::VEX_Vxorps_ymm_ymm_ymmm256 | C::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 => VectorOp::Xor,
            C::VEX_Vandnps_ymm_ymm_ymmm256 | C::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::AndNot
            }
            C::VEX_Vpaddd_ymm_ymm_ymmm256 | C::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::AddInt
            }
            C::VEX_Vpsubd_ymm_ymm_ymmm256 | C::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::SubInt
            }
            C::VEX_Vpminud_ymm_ymm_ymmm256 | C::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::MinUnsigned
            }
            C::VEX_Vpmulld_ymm_ymm_ymmm256 | C::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::MulLow
            }
            C::VEX_Vunpcklps_ymm_ymm_ymmm256 | C::EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::Unpack { high: false, wide: false }
            }
            C::VEX_Vunpckhps_ymm_ymm_ymmm256 | C::EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32 => {
                VectorOp::Unpack { high: true, wide: false }
            }
            C::VEX_Vunpcklpd_ymm_ymm_ymmm256 | C::EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64 => {
                VectorOp::Unpack { high: false, wide: true }
            }
            C::VEX_Vunpckhpd_ymm_ymm_ymmm256 | C::EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64 => {
                VectorOp::Unpack { high: true, wide: true }
            }
            C::EVEX_Vpermi2pd_zmm_k1z_zmm_zmmm512b64 => VectorOp::Permute2,
            C::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8 => VectorOp::Permute128(imm),
            C::VEX_Vpermd_ymm_ymm_ymmm256 => VectorOp::PermuteAll(8),
            C::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 => VectorOp::PermuteAll(16),
            C::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8 => VectorOp::Insert128(imm & 1),
            C::EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8 => VectorOp::Insert128(imm & 3),
            C::EVEX_Vinsertf32x8_zmm_k1z_zmm_ymmm256_imm8 => VectorOp::Insert256(imm & 1),
            C::VEX_Vextractf128_xmmm128_ymm_imm8 => VectorOp::Extract { bytes: 16, which: imm & 1 },
            C::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8 => {
                VectorOp::Extract { bytes: 16, which: imm & 3 }
            }
            C::EVEX_Vextractf32x8_ymmm256_k1z_zmm_imm8 => {
                VectorOp::Extract { bytes: 32, which: imm & 1 }
            }
            C::VEX_Vpermq_ymm_ymmm256_imm8 | C::EVEX_Vpermq_zmm_k1z_zmmm512b64_imm8 => {
                VectorOp::PermuteQuarters(imm)
            }
            C::VEX_Vfmadd132ps_ymm_ymm_ymmm256 | C::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::MulAdd132 { negate: false }
            }
            C::VEX_Vfnmadd132ps_ymm_ymm_ymmm256
            | C::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::MulAdd132 { negate: true }
            }
            C::VEX_Vfmadd231ps_ymm_ymm_ymmm256 | C::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::MulAdd231 { negate: false }
            }
            C::VEX_Vfnmadd231ps_ymm_ymm_ymmm256
            | C::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er => {
                VectorOp::MulAdd231 { negate: true }
            }
            // The code generator emits no other rounding mode than to nearest even, no memory
            // destination, and no mask (its bits would stand for elements of the result).
            C::VEX_Vcvtps2ph_xmmm128_ymm_imm8 | C::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae
                if imm & 7 == 0 && self.is_plain() =>
            {
                VectorOp::ToHalf
            }
            C::EVEX_Vpmovdw_ymmm256_k1z_zmm if self.is_plain() => VectorOp::Narrow(2),
            C::EVEX_Vpmovdb_xmmm128_k1z_zmm if self.is_plain() => VectorOp::Narrow(1),
            C::VEX_Vpmovzxwd_ymm_xmmm128 | C::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => {
                VectorOp::ZeroExtend16
            }
            C::VEX_Vpackusdw_ymm_ymm_ymmm256 => VectorOp::PackUnsigned(4),
            C::VEX_Vpackuswb_ymm_ymm_ymmm256 => VectorOp::PackUnsigned(2),
            C::VEX_Vpermilps_ymm_ymmm256_imm8 | C::EVEX_Vpermilps_zmm_k1z_zmmm512b32_imm8 => {
                VectorOp::PermuteWithin(imm)
            }
            // The immediate only controls exceptions.
            C::EVEX_Vfixupimmps_zmm_k1z_zmm_zmmm512b32_imm8_sae => VectorOp::FixUp,
            C::VEX_Vcvttps2dq_ymm_ymmm256 | C::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae => {
                VectorOp::Truncate
            }
            C::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er => VectorOp::FloorToInt,
            // Bit 3 controls exceptions. The other bits select kept fraction bits, and rounding
            // other than to nearest.
            C::EVEX_Vreduceps_zmm_k1z_zmmm512b32_imm8_sae => match imm & 0b1111_0111 {
                0 => VectorOp::Remainder,
                _ => return None,
            },
            C::EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er => VectorOp::Scale,
            C::VEX_Vcvtdq2ps_ymm_ymmm256 | C::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er => {
                VectorOp::ToFloat
            }
            C::VEX_Vsqrtps_ymm_ymmm256 | C::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er => VectorOp::Sqrt,
            // Bit 2 selects the rounding mode of MXCSR; the bits above bit 3 are the number of
            // fraction bits to keep.
            C::VEX_Vroundps_ymm_ymmm256_imm8 | C::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae => {
                match imm & 0b1111_0100 {
                    0 => VectorOp::Round(imm & 3),
                    _ => return None,
                }
            }
            C::VEX_Vpslld_ymm_ymm_imm8 | C::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 => {
                VectorOp::ShiftLeft(imm)
            }
            C::VEX_Vpsrad_ymm_ymm_imm8 | C::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 => {
                VectorOp::ShiftRightArithmetic(imm)
            }
            C::VEX_Vblendvps_ymm_ymm_ymmm256_ymm => VectorOp::BlendBySign(self.register(3)?),
            C::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32 => VectorOp::BlendByMask,
            C::VEX_Vpcmpeqd_ymm_ymm_ymmm256 => VectorOp::EqualInt,
            C::VEX_Vcmpps_ymm_ymm_ymmm256_imm8 => VectorOp::CompareToVector(imm & 0x1f),
            C::VEX_Vmovups_xmm_xmmm128
            | C::VEX_Vmovups_ymm_ymmm256
            | C::EVEX_Vmovups_xmm_k1z_xmmm128
            | C::EVEX_Vmovups_ymm_k1z_ymmm256
            | C::EVEX_Vmovups_zmm_k1z_zmmm512
            | C::VEX_Vbroadcastss_ymm_m32
            | C::EVEX_Vbroadcastss_zmm_k1z_xmmm32
            | C::EVEX_Vbroadcastf32x8_zmm_k1z_m256 => VectorOp::Move,
            C::VEX_Vmovaps_ymm_ymmm256 | C::EVEX_Vmovaps_zmm_k1z_zmmm512 => {
                aligned = true;
                VectorOp::Move
            }
            _ => return None,
        };
        self.vector(op, aligned)
    }

    /// Decodes a store of `size` bytes of a register, beginning with byte `from`.
    fn store(&self, size: u8, from: u8) -> Option<Op> {
        // With a register as destination it is a move, which the code generator emits in another
        // encoding.
        if self.inst.op0_kind() != OpKind::Memory {
            return None;
        }
        let (address, src) = (self.address()?, self.register(1)?);
        Some(Op::StoreVector { address, src, from, size, aligned: false, mask: self.opmask() })
    }

    /// Decodes a store of one part of a register. The code generator emits no masks here.
    fn store_part(&self, size: u8, which: u8) -> Option<Op> {
        let parts = self.vector_size(1)? / size;
        (self.opmask() == 0).then(|| self.store(size, which % parts * size))?
    }

    /// Returns whether the destination is a whole register.
    fn is_plain(&self) -> bool {
        self.inst.op0_kind() == OpKind::Register && self.opmask() == 0
    }

    fn vector(&self, op: VectorOp, aligned: bool) -> Option<Op> {
        let inst = self.inst;
        // A memory source of one element or half a vector, repeated in all.
        let repeated = match inst.code() {
            Code::VEX_Vbroadcastss_ymm_m32 | Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32 => Some(4),
            Code::EVEX_Vbroadcastf32x8_zmm_k1z_m256 => Some(32),
            _ => None,
        };
        let element = match op {
            VectorOp::Unpack { wide: true, .. }
            | VectorOp::Permute2
            | VectorOp::PermuteQuarters(_) => 8,
            _ => 4,
        };
        // The last operand before the immediate or the register that selects.
        let last = match op {
            VectorOp::Move
            | VectorOp::Truncate
            | VectorOp::FloorToInt
            | VectorOp::Remainder
            | VectorOp::ToFloat
            | VectorOp::Sqrt
            | VectorOp::Round(_)
            | VectorOp::ShiftLeft(_)
            | VectorOp::ShiftRightArithmetic(_)
            | VectorOp::PermuteQuarters(_)
            | VectorOp::Extract { .. }
            | VectorOp::ToHalf
            | VectorOp::ZeroExtend16
            | VectorOp::Narrow(_)
            | VectorOp::PermuteWithin(_) => 1,
            _ => 2,
        };
        let b = match repeated {
            Some(element) if inst.op1_kind() == OpKind::Memory => {
                Source::Broadcast { address: self.address()?, element }
            }
            // The code generator emits no register source.
            Some(_) => return None,
            None => self.source(last, element, aligned)?,
        };
        let inst = VectorInst {
            op,
            dst: self.register(0)?,
            a: if last == 2 { self.register(1)? } else { 0 },
            b,
            size: self.vector_size(0)?,
            mask: self.opmask(),
            element,
            zeroing: inst.zeroing_masking(),
        };
        Some(Op::Vector(inst))
    }

    fn opmask(&self) -> u8 {
        match self.inst.op_mask() {
            Register::None => 0,
            mask => mask.number() as u8,
        }
    }

    fn source(&self, n: u32, element: u8, aligned: bool) -> Option<Source> {
        if self.inst.op_kind(n) == OpKind::Register {
            return Some(Source::Register(self.register(n)?));
        }
        let address = self.address()?;
        if self.inst.is_broadcast() {
            return Some(Source::Broadcast { address, element });
        }
        let size = u8::try_from(self.inst.memory_size().size()).ok()?;
        Some(Source::Memory { address, size, aligned })
    }

    fn vector_size(&self, n: u32) -> Option<u8> {
        u8::try_from(self.inst.op_register(n).size()).ok()
    }

    fn width(&self) -> Option<Width> {
        let bytes = match self.inst.op0_kind() {
            OpKind::Register => self.inst.op0_register().size(),
            _ => self.inst.memory_size().size(),
        };
        match bytes {
            4 => Some(Width::W32),
            8 => Some(Width::W64),
            _ => None,
        }
    }

    fn register(&self, n: u32) -> Option<u8> {
        let register = self.inst.op_register(n);
        (register != Register::None).then(|| register.number() as u8)
    }

    fn operand(&self, n: u32) -> Option<Operand> {
        Some(match self.inst.op_kind(n) {
            OpKind::Register => Operand::Register(self.register(n)?),
            OpKind::Memory => Operand::Memory(self.address()?),
            OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32
            | OpKind::Immediate32to64 => Operand::Immediate(self.inst.immediate(n)),
            _ => return None,
        })
    }

    fn address(&self) -> Option<Address> {
        let inst = self.inst;
        if !(0..inst.op_count()).any(|n| inst.op_kind(n) == OpKind::Memory) {
            return None;
        }
        let number = |register: Register| register.is_gpr64().then(|| register.number() as u8);
        let base = match inst.memory_base() {
            // The displacement that iced returns is the absolute address.
            Register::None | Register::RIP => None,
            register => Some(number(register)?),
        };
        let index = match inst.memory_index() {
            Register::None => None,
            register => Some(number(register)?),
        };
        let scale = inst.memory_index_scale() as u8;
        Some(Address { base, index, scale, displacement: inst.memory_displacement64() })
    }

    fn target(&self) -> Option<u32> {
        self.by_offset.get(&self.inst.near_branch_target().wrapping_sub(self.base)).copied()
    }

    fn condition(&self) -> Option<(Condition, bool)> {
        Some(match self.inst.condition_code() {
            ConditionCode::o => (Condition::Overflow, false),
            ConditionCode::no => (Condition::Overflow, true),
            ConditionCode::b => (Condition::Below, false),
            ConditionCode::ae => (Condition::Below, true),
            ConditionCode::e => (Condition::Equal, false),
            ConditionCode::ne => (Condition::Equal, true),
            ConditionCode::be => (Condition::BelowOrEqual, false),
            ConditionCode::a => (Condition::BelowOrEqual, true),
            ConditionCode::s => (Condition::Sign, false),
            ConditionCode::ns => (Condition::Sign, true),
            ConditionCode::l => (Condition::Less, false),
            ConditionCode::ge => (Condition::Less, true),
            ConditionCode::le => (Condition::LessOrEqual, false),
            ConditionCode::g => (Condition::LessOrEqual, true),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_not_emitted_is_an_error_that_names_it() {
        // nop; cpuid
        let error = Program::decode(&[0x90, 0x0f, 0xa2], 0).unwrap_err();
        assert_eq!(error.to_string(), "at 0x1: the emulator has no 'cpuid' (Cpuid)");
        // vaddps zmm0,zmm0,zmm0,{rz-sae}
        let rounding = [0x62, 0xf1, 0x7c, 0x78, 0x58, 0xc0];
        assert!(Program::decode(&rounding, 0).is_err());
        // jmp into the middle of itself
        assert!(Program::decode(&[0xeb, 0xff], 0).is_err());
        // A truncated instruction.
        assert!(Program::decode(&[0x62, 0xf1], 0).is_err());
    }
}
