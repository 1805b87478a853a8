//! Instruction encoding for A64, the instruction set of AArch64: the subset that code uses.
//!
//! Names and operand order are those of Arm's assembly language. Vectors have four 32-bit lanes (`4s`) unless a name says otherwise.
//! `tests` compares each form with the output of GNU's assembler.

/// A vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct V(pub(super) u8);

/// A general register, 64 bits or the lower 32; 31 is the stack pointer or zero, depending on the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct X(pub(super) u8);

/// The stack pointer, as an operand of instructions that can take it.
pub(super) const SP: X = X(31);
/// The zero register, as an operand of instructions that can take it.
pub(super) const XZR: X = X(31);

impl V {
    const fn bits(self) -> u32 {
        assert!(self.0 < 32, "there are 32 registers");
        self.0 as u32
    }
}

impl X {
    const fn bits(self) -> u32 {
        assert!(self.0 < 32, "there are 32 registers");
        self.0 as u32
    }
}

/// A branch condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Ne = 1,
    Lo = 3,
    Ge = 10,
    Le = 13,
}

/// Encodes an unsigned scaled offset: a multiple of `size`, at most `most` times it.
const fn scaled(offset: u32, size: u32, most: u32) -> u32 {
    assert!(offset.is_multiple_of(size) && offset / size <= most, "the offset fits");
    offset / size
}

/// Encodes the signed 7-bit scaled offset of a pair.
const fn paired(offset: i32, size: i32) -> u32 {
    assert!(offset % size == 0 && offset / size >= -64 && offset / size < 64, "the offset fits");
    (offset / size).cast_unsigned() & 0x7f
}

macro_rules! vector_forms {
    (three: $($three:ident $three_word:literal)*; two: $($two:ident $two_word:literal)*;) => {
        $(pub(super) const fn $three(d: V, n: V, m: V) -> u32 {
            $three_word | m.bits() << 16 | n.bits() << 5 | d.bits()
        })*
        $(pub(super) const fn $two(d: V, n: V) -> u32 {
            $two_word | n.bits() << 5 | d.bits()
        })*
    };
}

vector_forms! {
    three:
    fadd 0x4e20_d400
    fsub 0x4ea0_d400
    fmul 0x6e20_dc00
    fdiv 0x6e20_fc00
    fcmeq 0x4e20_e400
    fcmge 0x6e20_e400
    fcmgt 0x6ea0_e400
    add 0x4ea0_8400
    sub 0x6ea0_8400
    mul 0x4ea0_9c00
    umin 0x6ea0_6c00
    umaxp 0x6ea0_a400
    zip1 0x4e80_3800
    zip2 0x4e80_7800
    zip1_2d 0x4ec0_3800
    zip2_2d 0x4ec0_7800
    and 0x4e20_1c00
    bic 0x4e60_1c00
    orr 0x4ea0_1c00
    eor 0x6e20_1c00
    bsl 0x6e60_1c00
    bit 0x6ea0_1c00
    bif 0x6ee0_1c00;
    two:
    fcmeq_zero 0x4ea0_d800
    fcmge_zero 0x6ea0_c800
    fcmgt_zero 0x4ea0_c800
    fcmle_zero 0x6ea0_d800
    fcmlt_zero 0x4ea0_e800
    fabs 0x4ea0_f800
    fsqrt 0x6ea1_f800
    frintn 0x4e21_8800
    frintm 0x4e21_9800
    fcvtzs 0x4ea1_b800
    scvtf 0x4e21_d800
    mvn 0x6e20_5800;
}

/// Shift left, by less than 32.
pub(super) const fn shl(d: V, n: V, by: u8) -> u32 {
    assert!(by < 32, "a lane has 32 bits");
    0x4f00_5400 | (32 + by as u32) << 16 | n.bits() << 5 | d.bits()
}

/// Arithmetic shift right, by 1 to 32.
pub(super) const fn sshr(d: V, n: V, by: u8) -> u32 {
    assert!(by >= 1 && by <= 32, "a lane has 32 bits");
    0x4f00_0400 | (64 - by as u32) << 16 | n.bits() << 5 | d.bits()
}

/// Encodes a lane index.
const fn lane(index: u8) -> u32 {
    assert!(index < 4, "there are four lanes");
    (index as u32) << 19 | 1 << 18
}

/// DUP: broadcasts a lane.
pub(super) const fn dup(d: V, n: V, index: u8) -> u32 {
    0x4e00_0400 | lane(index) | n.bits() << 5 | d.bits()
}

/// UMOV: moves a lane to a 32-bit register.
pub(super) const fn umov(d: X, n: V, index: u8) -> u32 {
    0x0e00_3c00 | lane(index) | n.bits() << 5 | d.bits()
}

/// FMOV: moves the lower half of a vector to a 64-bit register.
pub(super) const fn fmov_to_x(d: X, n: V) -> u32 {
    0x9e66_0000 | n.bits() << 5 | d.bits()
}

/// Encodes an 8-bit immediate of a vector instruction.
const fn immediate(word: u32, d: V, imm: u8) -> u32 {
    word | (imm as u32 >> 5) << 16 | (imm as u32 & 31) << 5 | d.bits()
}

/// MOVI: a byte, shifted left by `bytes` bytes, in all lanes.
pub(super) const fn movi(d: V, imm: u8, bytes: u8) -> u32 {
    assert!(bytes < 4, "a lane has four bytes");
    immediate(0x4f00_0400 | (bytes as u32) << 13, d, imm)
}

/// MVNI: the complement of such an immediate.
pub(super) const fn mvni(d: V, imm: u8, bytes: u8) -> u32 {
    assert!(bytes < 4, "a lane has four bytes");
    immediate(0x6f00_0400 | (bytes as u32) << 13, d, imm)
}

/// FMOV: a float with a sign, three bits of exponent and four of fraction, in all lanes.
pub(super) const fn fmov_imm(d: V, imm: u8) -> u32 {
    immediate(0x4f00_f400, d, imm)
}

/// Returns the single instruction that broadcasts 32 bits, if there is one.
pub(super) fn vector_of(d: V, bits: u32) -> Option<u32> {
    for bytes in 0..4 {
        let mask = 0xff << (8 * u32::from(bytes));
        let byte = |bits: u32| (bits >> (8 * u32::from(bytes))) as u8;
        if bits & !mask == 0 {
            return Some(movi(d, byte(bits), bytes));
        }
        if !bits & !mask == 0 {
            return Some(mvni(d, byte(!bits), bytes));
        }
    }
    // An FMOV immediate: sign; the complement of an exponent bit, that bit five times, two more; four bits of fraction.
    let exponent = bits >> 25 & 0x3f;
    let is_short = bits & 0x7_ffff == 0 && (exponent == 0x20 || exponent == 0x1f);
    is_short.then(|| fmov_imm(d, (bits >> 31 << 7 | (exponent & 1) << 6 | bits >> 19 & 0x3f) as u8))
}

pub(super) const fn ldr_q(t: V, n: X, offset: u32) -> u32 {
    0x3dc0_0000 | scaled(offset, 16, 4095) << 10 | n.bits() << 5 | t.bits()
}

pub(super) const fn str_q(t: V, n: X, offset: u32) -> u32 {
    0x3d80_0000 | scaled(offset, 16, 4095) << 10 | n.bits() << 5 | t.bits()
}

/// Loads four bytes to lane 0 and clears the other lanes.
pub(super) const fn ldr_s(t: V, n: X, offset: u32) -> u32 {
    0xbd40_0000 | scaled(offset, 4, 4095) << 10 | n.bits() << 5 | t.bits()
}

/// Loads four bytes to a lane and keeps the others.
pub(super) const fn ld1_lane(t: V, index: u8, n: X) -> u32 {
    assert!(index < 4, "there are four lanes");
    let (q, s) = (index as u32 >> 1, index as u32 & 1);
    0x0d40_8000 | q << 30 | s << 12 | n.bits() << 5 | t.bits()
}

macro_rules! pairs {
    ($($name:ident $register:ident $size:literal $word:literal)*) => {
        $(pub(super) const fn $name(t: $register, t2: $register, n: X, offset: i32) -> u32 {
            $word | paired(offset, $size) << 15 | t2.bits() << 10 | n.bits() << 5 | t.bits()
        })*
    };
}

pairs! {
    stp_q V 16 0xad00_0000
    ldp_q V 16 0xad40_0000
    stp_d V 8 0x6d00_0000
    ldp_d V 8 0x6d40_0000
    stp X 8 0xa900_0000
    ldp X 8 0xa940_0000
    // Pre-index and post-index: the base is updated before or after the access.
    stp_pre X 8 0xa980_0000
    ldp_post X 8 0xa8c0_0000
}

pub(super) const fn ldr(t: X, n: X, offset: u32) -> u32 {
    0xf940_0000 | scaled(offset, 8, 4095) << 10 | n.bits() << 5 | t.bits()
}

pub(super) const fn str(t: X, n: X, offset: u32) -> u32 {
    0xf900_0000 | scaled(offset, 8, 4095) << 10 | n.bits() << 5 | t.bits()
}

/// Loads four bytes and clears the upper half.
pub(super) const fn ldr_w(t: X, n: X, offset: u32) -> u32 {
    0xb940_0000 | scaled(offset, 4, 4095) << 10 | n.bits() << 5 | t.bits()
}

/// Encodes a 12-bit immediate, optionally shifted left by 12.
const fn twelve(imm: u32, shifted: bool) -> u32 {
    assert!(imm < 1 << 12, "the immediate has twelve bits");
    (shifted as u32) << 22 | imm << 10
}

pub(super) const fn add_imm(d: X, n: X, imm: u32, shifted: bool) -> u32 {
    0x9100_0000 | twelve(imm, shifted) | n.bits() << 5 | d.bits()
}

pub(super) const fn sub_imm(d: X, n: X, imm: u32, shifted: bool) -> u32 {
    0xd100_0000 | twelve(imm, shifted) | n.bits() << 5 | d.bits()
}

/// Subtracts 32-bit operands and sets flags.
pub(super) const fn subs_w_imm(d: X, n: X, imm: u32) -> u32 {
    0x7100_0000 | twelve(imm, false) | n.bits() << 5 | d.bits()
}

/// Adds two registers, the second one shifted left.
pub(super) const fn add_x(d: X, n: X, m: X, by: u8) -> u32 {
    assert!(by < 64, "a register has 64 bits");
    0x8b00_0000 | m.bits() << 16 | (by as u32) << 10 | n.bits() << 5 | d.bits()
}

pub(super) const fn sub_x(d: X, n: X, m: X) -> u32 {
    0xcb00_0000 | m.bits() << 16 | n.bits() << 5 | d.bits()
}

pub(super) const fn cmp(n: X, m: X) -> u32 {
    0xeb00_001f | m.bits() << 16 | n.bits() << 5
}

pub(super) const fn cmp_imm(n: X, imm: u32) -> u32 {
    0xf100_001f | twelve(imm, false) | n.bits() << 5
}

/// Isolates one bit, in place.
pub(super) const fn and_bit(d: X, n: X, bit: u8) -> u32 {
    assert!(bit < 64, "a register has 64 bits");
    0x9240_0000 | ((64 - bit as u32) & 63) << 16 | n.bits() << 5 | d.bits()
}

pub(super) const fn mov(d: X, m: X) -> u32 {
    0xaa00_03e0 | m.bits() << 16 | d.bits()
}

/// Moves 16 bits to position 16 * `part` and clears the other bits.
pub(super) const fn movz(d: X, imm: u16, part: u8) -> u32 {
    assert!(part < 4, "a register has four parts");
    0xd280_0000 | (part as u32) << 21 | (imm as u32) << 5 | d.bits()
}

/// Moves 16 bits to position 16 * `part` and keeps the other bits.
pub(super) const fn movk(d: X, imm: u16, part: u8) -> u32 {
    assert!(part < 4, "a register has four parts");
    0xf280_0000 | (part as u32) << 21 | (imm as u32) << 5 | d.bits()
}

/// Branches by an offset in instructions.
pub(super) const fn b(to: i32) -> u32 {
    0x1400_0000 | to.cast_unsigned() & 0x3ff_ffff
}

pub(super) const fn bl(to: i32) -> u32 {
    0x9400_0000 | to.cast_unsigned() & 0x3ff_ffff
}

pub(super) const fn b_if(condition: Condition, to: i32) -> u32 {
    0x5400_0000 | (to.cast_unsigned() & 0x7_ffff) << 5 | condition as u32
}

pub(super) const fn cbz(t: X, to: i32) -> u32 {
    0xb400_0000 | (to.cast_unsigned() & 0x7_ffff) << 5 | t.bits()
}

pub(super) const fn blr(n: X) -> u32 {
    0xd63f_0000 | n.bits() << 5
}

pub(super) const RET: u32 = 0xd65f_03c0;
/// A trap: padding between code and constants.
pub(super) const BRK: u32 = 0xd420_0000;

/// ADR: the address at a byte offset from the instruction.
pub(super) const fn adr(d: X, bytes: i32) -> u32 {
    let bytes = bytes.cast_unsigned() & 0x1f_ffff;
    0x1000_0000 | (bytes & 3) << 29 | (bytes >> 2) << 5 | d.bits()
}

pub(super) const fn mrs_fpcr(t: X) -> u32 {
    0xd53b_4400 | t.bits()
}

pub(super) const fn msr_fpcr(t: X) -> u32 {
    0xd51b_4400 | t.bits()
}

pub(super) const fn mrs_fpsr(t: X) -> u32 {
    0xd53b_4420 | t.bits()
}

pub(super) const fn msr_fpsr(t: X) -> u32 {
    0xd51b_4420 | t.bits()
}

#[cfg(test)]
mod tests;
