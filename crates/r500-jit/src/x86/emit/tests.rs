//! Decoded AVX-512 encodings: registers beyond the 16th, masks, zeroing masks, broadcast constants, for each kind of operation. The
//! expected text is from Intel's manual.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter, MemorySizeOptions};

use super::*;
use r500_lir::{Access, IntRange, Interpolant, LoadTexel, Opcode, Relation, Rounding, StoreColor};
use r500_lir::{MachInst, Mem};

/// Returns the disassembly of instructions.
fn text_of(insts: &[MachInst]) -> String {
    text_of_groups(1, insts)
}

/// Returns the disassembly for a number of interleaved groups.
fn text_of_groups(groups: u32, insts: &[MachInst]) -> String {
    let unit = UnitLayout { stride: 256, ..UnitLayout::default() };
    let code = MachCode { groups, labels: 1, ..MachCode::default() };
    let mut emit = Emit::new(&code, &[], Level::Avx512, &unit).unwrap();
    for inst in insts {
        emit.inst(inst).unwrap();
    }
    let code = emit.a.assemble().unwrap().code;
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_memory_size_options(MemorySizeOptions::Always);
    let mut all = Vec::new();
    for inst in Decoder::new(64, &code, DecoderOptions::NONE).iter() {
        assert!(!inst.is_invalid());
        let mut text = String::new();
        formatter.format(&inst, &mut text);
        all.push(text);
    }
    all.join("; ")
}

/// Checks operations that are one instruction each.
fn are(ops: &[(Opcode, u8, &[RegMem], &str)]) {
    for &(opcode, dst, args, expected) in ops {
        assert_eq!(text_of(&[MachInst::op(opcode, dst, args)]), expected, "{opcode:?}");
    }
}

const fn reg(register: u8) -> RegMem {
    RegMem::Register(register)
}

const STACK: RegMem = RegMem::Memory(Mem::Stack(2));
const SLOT: RegMem = RegMem::Memory(Mem::Slot(3, 0));
const CONST: RegMem = RegMem::Memory(Mem::Const(0x3f80_0000));

#[test]
fn two_operands_are_registers_or_memory() {
    for (opcode, name) in [
        (Opcode::Add, "vaddps"),
        (Opcode::Sub, "vsubps"),
        (Opcode::Mul, "vmulps"),
        (Opcode::Div, "vdivps"),
        (Opcode::Min, "vminps"),
        (Opcode::Max, "vmaxps"),
        (Opcode::And, "vpandd"),
        (Opcode::Or, "vpord"),
        (Opcode::Xor, "vpxord"),
        (Opcode::AndNot, "vpandnd"),
        (Opcode::IntAdd, "vpaddd"),
        (Opcode::IntSub, "vpsubd"),
        (Opcode::IntMin, "vpminud"),
        (Opcode::IntMul, "vpmulld"),
        (Opcode::UnpackLo32, "vunpcklps"),
        (Opcode::UnpackHi32, "vunpckhps"),
    ] {
        are(&[
            (opcode, 18, &[reg(3), reg(31)], &format!("{name} zmm18,zmm3,zmm31")),
            (opcode, 5, &[reg(16), STACK], &format!("{name} zmm5,zmm16,zmmword ptr [rsp+80h]")),
            (opcode, 0, &[reg(1), SLOT], &format!("{name} zmm0,zmm1,zmmword ptr [r12+300h]")),
            (
                opcode,
                31,
                &[reg(30), CONST],
                &format!("{name} zmm31,zmm30,dword ptr [r14]{{1to16}}"),
            ),
        ]);
    }
}

#[test]
fn one_operand_is_a_register_or_memory() {
    for (opcode, name, end) in [
        (Opcode::Sqrt, "vsqrtps", ""),
        (Opcode::ToFloat, "vcvtdq2ps", ""),
        // Bit 3 suppresses the inexact flag; rounding to nearest even (0), down (1).
        (Opcode::Round(Rounding::Nearest), "vrndscaleps", ",8"),
        (Opcode::Round(Rounding::Floor), "vrndscaleps", ",9"),
        (Opcode::Shl(23), "vpslld", ",17h"),
        (Opcode::Sar(23), "vpsrad", ",17h"),
        (Opcode::QuadBroadcast(0), "vpermilps", ",0"),
        (Opcode::QuadBroadcast(2), "vpermilps", ",0AAh"),
        (Opcode::QuadBroadcast(3), "vpermilps", ",0FFh"),
    ] {
        are(&[
            (opcode, 17, &[reg(29)], &format!("{name} zmm17,zmm29{end}")),
            (opcode, 9, &[STACK], &format!("{name} zmm9,zmmword ptr [rsp+80h]{end}")),
            (opcode, 9, &[SLOT], &format!("{name} zmm9,zmmword ptr [r12+300h]{end}")),
            (opcode, 9, &[CONST], &format!("{name} zmm9,dword ptr [r14]{{1to16}}{end}")),
        ]);
    }
}

#[test]
fn copies_are_moves_that_take_any_address() {
    are(&[
        (Opcode::Copy, 17, &[reg(29)], "vmovups zmm17,zmm29"),
        (Opcode::Copy, 9, &[SLOT], "vmovups zmm9,zmmword ptr [r12+300h]"),
        (Opcode::Copy, 9, &[CONST], "vbroadcastss zmm9,dword ptr [r14]"),
    ]);
}

#[test]
fn comparisons_make_masks_and_never_raise_of_quiet_nan_what_others_do_not() {
    for (relation, name) in [
        (Relation::Eq, "vcmpeqps"),
        (Relation::Ne, "vcmpneqps"),
        (Relation::Lt, "vcmplt_oqps"),
        (Relation::Le, "vcmple_oqps"),
        (Relation::Gt, "vcmpgt_oqps"),
        (Relation::Ge, "vcmpge_oqps"),
    ] {
        let opcode = Opcode::Cmp(relation);
        are(&[
            // Allocatable mask registers start at `k1`.
            (opcode, 0, &[reg(17), reg(4)], &format!("{name} k1,zmm17,zmm4")),
            (opcode, 6, &[reg(2), SLOT], &format!("{name} k7,zmm2,zmmword ptr [r12+300h]")),
            (opcode, 1, &[reg(31), CONST], &format!("{name} k2,zmm31,dword ptr [r14]{{1to16}}")),
        ]);
    }
}

#[test]
fn what_is_masked_away_is_zero_or_the_other() {
    are(&[
        (Opcode::MaskedMove, 20, &[reg(0), reg(7)], "vmovaps zmm20{k1}{z},zmm7"),
        (Opcode::MaskedMove, 1, &[reg(6), STACK], "vmovups zmm1{k7}{z},zmmword ptr [rsp+80h]"),
        (Opcode::MaskedMove, 1, &[reg(6), CONST], "vbroadcastss zmm1{k7}{z},dword ptr [r14]"),
        (Opcode::MaskedMul, 16, &[reg(2), reg(8), reg(24)], "vmulps zmm16{k3}{z},zmm8,zmm24"),
        (
            Opcode::MaskedMul,
            1,
            &[reg(2), reg(8), CONST],
            "vmulps zmm1{k3}{z},zmm8,dword ptr [r14]{1to16}",
        ),
        // Mask ? the first : the second. The instruction selects its last operand for set mask bits.
        (Opcode::Blend, 1, &[reg(1), reg(18), reg(3)], "vblendmps zmm1{k2},zmm3,zmm18"),
        (
            Opcode::Blend,
            1,
            &[reg(1), SLOT, reg(3)],
            "vblendmps zmm1{k2},zmm3,zmmword ptr [r12+300h]",
        ),
        (
            Opcode::Blend,
            1,
            &[reg(1), CONST, reg(3)],
            "vblendmps zmm1{k2},zmm3,dword ptr [r14]{1to16}",
        ),
    ]);
}

#[test]
fn masks_have_operations_and_forms_of_their_own() {
    are(&[
        (Opcode::MaskAnd, 0, &[reg(1), reg(2)], "kandw k1,k2,k3"),
        (Opcode::MaskOr, 4, &[reg(5), reg(6)], "korw k5,k6,k7"),
        // The complement of the first, and the second.
        (Opcode::MaskAndNot, 0, &[reg(1), reg(2)], "kandnw k1,k2,k3"),
        (Opcode::MaskAll, 3, &[], "kxnorw k4,k4,k4"),
        (Opcode::MaskNone, 3, &[], "kxorw k4,k4,k4"),
        (Opcode::ToMask, 0, &[reg(19)], "vpmovd2m k1,zmm19"),
        (Opcode::FromMask, 19, &[reg(0)], "vpmovm2d zmm19,k1"),
    ]);
}

#[test]
fn values_come_from_memory_and_go_there() {
    let [vector, mask] = [Class::Vector, Class::Mask];
    let constant = Mem::Const(7);
    for (inst, expected) in [
        (MachInst::op(Opcode::Store(3, 0), 0, &[reg(21)]), "vmovups zmmword ptr [r12+300h],zmm21"),
        (
            MachInst::Load { class: vector, dst: 21, from: Mem::Slot(1, 0) },
            "vmovups zmm21,zmmword ptr [r12+100h]",
        ),
        (
            MachInst::Load { class: vector, dst: 21, from: constant },
            "vbroadcastss zmm21,dword ptr [r14]",
        ),
        (
            MachInst::Load { class: mask, dst: 0, from: Mem::Stack(1) },
            "kmovw k1,word ptr [rsp+40h]",
        ),
        (
            MachInst::Store { class: vector, to: Mem::Stack(1), from: 30 },
            "vmovups zmmword ptr [rsp+40h],zmm30",
        ),
        (
            MachInst::Store { class: mask, to: Mem::Stack(1), from: 6 },
            "kmovw word ptr [rsp+40h],k7",
        ),
        (MachInst::Move { class: vector, dst: 31, from: 15 }, "vmovaps zmm31,zmm15"),
        (MachInst::Move { class: mask, dst: 6, from: 0 }, "kmovw k7,k1"),
        (MachInst::Test { class: mask, mask: 2 }, "kmovw eax,k3"),
        (
            MachInst::MemMove { class: mask, to: Mem::Stack(1), from: Mem::Stack(0) },
            "kmovw k0,word ptr [rsp]; kmovw word ptr [rsp+40h],k0",
        ),
    ] {
        assert_eq!(text_of(&[inst]), expected);
    }
}

#[test]
fn the_constant_pool_has_each_constant_once() {
    let add = |bits| MachInst::op(Opcode::Add, 0, &[reg(0), RegMem::Memory(Mem::Const(bits))]);
    assert_eq!(
        text_of(&[add(5), add(6), add(5)]),
        "vaddps zmm0,zmm0,dword ptr [r14]{1to16}; vaddps zmm0,zmm0,dword ptr [r14+4]{1to16}; \
         vaddps zmm0,zmm0,dword ptr [r14]{1to16}"
    );
}

#[test]
fn vectors_are_moved_eight_bytes_at_a_time() {
    let carry =
        MachInst::MemMove { class: Class::Vector, to: Mem::Slot(0, 0), from: Mem::Stack(0) };
    let expected: Vec<String> = (0..8)
        .map(|n| match n * 8 {
            0 => "mov rcx,qword ptr [rsp]; mov qword ptr [r12],rcx".to_owned(),
            at @ 8 => format!("mov rcx,qword ptr [rsp+{at}]; mov qword ptr [r12+{at}],rcx"),
            at => format!("mov rcx,qword ptr [rsp+{at:X}h]; mov qword ptr [r12+{at:X}h],rcx"),
        })
        .collect();
    assert_eq!(text_of(&[carry]), expected.join("; "));
}

#[test]
fn texels_come_from_a_place_for_each_quad_and_are_turned() {
    are(&[
        (Opcode::UnpackLo64, 20, &[reg(5), reg(31)], "vunpcklpd zmm20,zmm5,zmm31"),
        (Opcode::UnpackHi64, 20, &[reg(5), STACK], "vunpckhpd zmm20,zmm5,zmmword ptr [rsp+80h]"),
        (Opcode::Truncate(IntRange::All), 17, &[reg(30)], "vcvttps2dq zmm17,zmm30"),
        (Opcode::FloorToInt, 17, &[reg(30)], "vcvtps2dq zmm17{rd-sae},zmm30"),
        (Opcode::Remainder, 17, &[reg(30)], "vreduceps zmm17,zmm30,8"),
        (Opcode::Scale, 17, &[reg(30), reg(2)], "vscalefps zmm17,zmm30,zmm2"),
        // Lane 2 of each quad's offsets; the second texel of the footprint.
        (
            Opcode::LoadTexel(LoadTexel { unit: 3, pixel: 2, offset: 16, tiny: false }),
            20,
            &[STACK],
            "mov rax,qword ptr [rbx+68h]; mov ecx,dword ptr [rsp+88h]; mov edx,dword ptr [rsp+98h]; \
             mov esi,dword ptr [rsp+0A8h]; mov edi,dword ptr [rsp+0B8h]; \
             vmovups xmm20,xmmword ptr [rax+rcx+10h]; \
             vinsertf32x4 zmm20,zmm20,xmmword ptr [rax+rdx+10h],1; \
             vinsertf32x4 zmm20,zmm20,xmmword ptr [rax+rsi+10h],2; \
             vinsertf32x4 zmm20,zmm20,xmmword ptr [rax+rdi+10h],3",
        ),
        (
            Opcode::LoadTexel(LoadTexel { unit: 15, pixel: 0, offset: 0, tiny: false }),
            1,
            &[STACK],
            "mov rax,qword ptr [rbx+0C8h]; mov ecx,dword ptr [rsp+80h]; mov edx,dword ptr [rsp+90h]; \
             mov esi,dword ptr [rsp+0A0h]; mov edi,dword ptr [rsp+0B0h]; \
             vmovups xmm1,xmmword ptr [rax+rcx]; vinsertf32x4 zmm1,zmm1,xmmword ptr [rax+rdx],1; \
             vinsertf32x4 zmm1,zmm1,xmmword ptr [rax+rsi],2; \
             vinsertf32x4 zmm1,zmm1,xmmword ptr [rax+rdi],3",
        ),
    ]);
}

/// Slots, tables, planes and coverage are aligned to nothing.
#[test]
fn no_instruction_wants_aligned_memory() {
    let vector = Class::Vector;
    let ops = [
        (Opcode::MaskedMove, 1, vec![reg(6), SLOT]),
        (Opcode::MaskedMul, 1, vec![reg(6), reg(8), SLOT]),
        (Opcode::Blend, 1, vec![reg(6), SLOT, reg(8)]),
        (Opcode::Copy, 1, vec![SLOT]),
        (Opcode::Add, 1, vec![reg(2), SLOT]),
        (Opcode::Store(3, 0), 0, vec![reg(2)]),
        (Opcode::LoadCoverage(0), 1, vec![]),
        (Opcode::StoreCoverage(0), 0, vec![reg(2)]),
        (Opcode::Interpolant(Interpolant { number: 1, part: 0 }), 1, vec![]),
        (Opcode::StoreColor(StoreColor { target: 0, row: 0, part: 0 }), 0, vec![reg(2), reg(3)]),
        (Opcode::Permute2Lo, 1, vec![reg(2), SLOT]),
        (Opcode::LoadTexel(LoadTexel { unit: 3, pixel: 2, offset: 0, tiny: false }), 1, vec![SLOT]),
    ];
    let mut insts: Vec<MachInst> =
        ops.iter().map(|(opcode, dst, args)| MachInst::op(*opcode, *dst, args)).collect();
    let slot = Mem::Slot(1, 0);
    insts.push(MachInst::Load { class: vector, dst: 1, from: slot });
    insts.push(MachInst::Store { class: vector, to: slot, from: 1 });
    insts.push(MachInst::MemMove { class: vector, to: slot, from: Mem::Stack(0) });
    for inst in text_of(&insts).split("; ") {
        let aligned = ["vmovap", "vmovdqa", "vmovnt"].iter().any(|name| inst.starts_with(name));
        assert!(!aligned || !inst.contains('['), "{inst}");
    }
}

/// If an operation reads a constant from memory, the instruction reads four bytes and no more.
#[test]
fn constants_are_read_as_four_bytes() {
    let opcodes = [
        Opcode::Add,
        Opcode::Sub,
        Opcode::Mul,
        Opcode::Div,
        Opcode::Min,
        Opcode::Max,
        Opcode::Sqrt,
        Opcode::Copy,
        Opcode::Round(Rounding::Floor),
        Opcode::ToFloat,
        Opcode::And,
        Opcode::Or,
        Opcode::Xor,
        Opcode::AndNot,
        Opcode::IntAdd,
        Opcode::IntSub,
        Opcode::IntMin,
        Opcode::IntMul,
        Opcode::QuadBroadcast(1),
        Opcode::Cmp(Relation::Lt),
        Opcode::Blend,
        Opcode::MaskedMove,
        Opcode::MaskedMul,
        Opcode::Truncate(IntRange::All),
        Opcode::Scale,
        Opcode::UnpackLo32,
        Opcode::UnpackHi32,
        Opcode::UnpackLo64,
        Opcode::UnpackHi64,
        Opcode::Permute2Lo,
        Opcode::Permute2Hi,
    ];
    let mut read = 0;
    for opcode in opcodes {
        let (at, access) = opcode.memory_operand(true).unwrap();
        if access != Access::Elements {
            continue;
        }
        let mut args = [reg(1), reg(2), reg(3)];
        args[at] = CONST;
        let text = text_of(&[MachInst::op(opcode, 4, &args)]);
        assert!(text.contains("dword ptr [r14]") && !text.contains("mmword"), "{opcode:?}: {text}");
        read += 1;
    }
    assert_eq!(read, opcodes.len() - 4);
}

/// VFIXUPIMMPS overwrites its first operand.
#[test]
fn fixed_up_values_are_copied_where_they_are_in_another_register() {
    are(&[
        (
            Opcode::FixUp,
            17,
            &[reg(17), reg(3), CONST],
            "vfixupimmps zmm17,zmm3,dword ptr [r14]{1to16},0",
        ),
        (
            Opcode::FixUp,
            5,
            &[reg(6), reg(5), reg(2)],
            "vmovaps zmm31,zmm6; vfixupimmps zmm31,zmm5,zmm2,0; vmovaps zmm5,zmm31",
        ),
    ]);
}

/// Offsets are reloaded for another vector or pixel, after a store to their slot, and after their registers were overwritten.
#[test]
fn texels_of_a_footprint_share_their_offsets() {
    let texel = |pixel, offset| {
        let texel = LoadTexel { unit: 3, pixel, offset, tiny: false };
        MachInst::op(Opcode::LoadTexel(texel), 20, &[STACK])
    };
    let spilled = |slot| MachInst::Store { class: Class::Vector, to: Mem::Stack(slot), from: 3 };
    let input = MachInst::op(Opcode::Interpolant(Interpolant { number: 0, part: 0 }), 18, &[]);
    let sum = MachInst::op(Opcode::Add, 1, &[reg(2), reg(3)]);
    for (between, pixel, loads) in [
        (sum, 0, 4),
        (spilled(1), 0, 4),
        (spilled(2), 0, 8),
        (sum, 1, 8),
        (input, 0, 8),
        (MachInst::Label(Label(0)), 0, 8),
    ] {
        let text = text_of(&[texel(0, 0), between, texel(pixel, 16)]);
        assert_eq!(text.matches(",dword ptr [rsp+").count(), loads, "{text}");
    }
}

#[test]
fn coverage_is_found_from_where_the_slots_are() {
    are(&[
        (
            Opcode::LoadCoverage(0),
            18,
            &[],
            "mov rax,qword ptr [rbx+48h]; vmovups zmm18,zmmword ptr [r12+rax]",
        ),
        (
            Opcode::StoreCoverage(0),
            0,
            &[reg(18)],
            "mov rax,qword ptr [rbx+48h]; vmovups zmmword ptr [r12+rax],zmm18",
        ),
    ]);
}

#[test]
fn inputs_are_numbers_of_columns_and_rows() {
    let ramp =
        |number, part| MachInst::op(Opcode::Interpolant(Interpolant { number, part }), 18, &[]);
    let copy = MachInst::op(Opcode::Copy, 17, &[reg(29)]);
    let covered = MachInst::op(Opcode::LoadCoverage(0), 3, &[]);
    // The addresses are loaded once, and again after their registers were overwritten. The third interpolant starts at byte 2 * 768.
    let place = "mov rax,qword ptr [rbx+0F8h]; mov rdx,qword ptr [rbx+0D0h]; \
                 mov ecx,dword ptr [r12+rdx+8]; mov edx,dword ptr [r12+rdx+0Ch]; ";
    let first = "vbroadcastf32x8 zmm18,ymmword ptr [rax+rcx]; \
                 vaddps zmm18,zmm18,zmmword ptr [rax+rdx]";
    let third = "vbroadcastf32x8 zmm18,ymmword ptr [rax+rcx+600h]; \
                 vaddps zmm18,zmm18,zmmword ptr [rax+rdx+600h]";
    assert_eq!(
        text_of(&[ramp(0, 0), copy, ramp(2, 0)]),
        format!("{place}{first}; vmovups zmm17,zmm29; {third}")
    );
    let cover = "mov rax,qword ptr [rbx+48h]; vmovups zmm3,zmmword ptr [r12+rax]";
    assert_eq!(
        text_of(&[ramp(2, 0), covered, ramp(0, 0)]),
        format!("{place}{third}; {cover}; {place}{first}")
    );
}

/// The last chunk is interleaved with itself if it has no partner.
#[test]
fn the_next_chunk_has_a_register() {
    let text = text_of_groups(2, &[MachInst::Label(Label(0)), MachInst::NextGroup(Label(0))]);
    let wanted = "lea r15,[r12+40h]; cmp r15,r13; cmovae r15,r12; add r12,80h; cmp r12,r13; jb";
    assert!(text.starts_with(wanted), "{text}");
    are(&[
        (Opcode::Store(3, 1), 0, &[reg(21)], "vmovups zmmword ptr [r15+300h],zmm21"),
        (
            Opcode::LoadCoverage(1),
            18,
            &[],
            "mov rax,qword ptr [rbx+48h]; vmovups zmm18,zmmword ptr [r15+rax]",
        ),
        (
            Opcode::StoreColor(StoreColor { target: 0, row: 0, part: 1 }),
            0,
            &[reg(18), reg(3)],
            "mov rax,qword ptr [rbx+0D0h]; mov rcx,qword ptr [rbx+0D8h]; \
             mov edx,dword ptr [r15+rax]; vmovups zmmword ptr [rcx+rdx],zmm18; \
             mov edx,dword ptr [r15+rax+20h]; vmovups zmmword ptr [rcx+rdx],zmm3",
        ),
        (
            Opcode::Interpolant(Interpolant { number: 0, part: 1 }),
            18,
            &[],
            "mov rax,qword ptr [rbx+0F8h]; mov rdi,qword ptr [rbx+0D0h]; \
             mov esi,dword ptr [r15+rdi+8]; mov edi,dword ptr [r15+rdi+0Ch]; \
             vbroadcastf32x8 zmm18,ymmword ptr [rax+rsi]; \
             vaddps zmm18,zmm18,zmmword ptr [rax+rdi]",
        ),
    ]);
}

#[test]
fn pixels_go_where_their_rows_lie() {
    let paint = Opcode::StoreColor(StoreColor { target: 2, row: 1, part: 0 });
    are(&[(
        paint,
        0,
        &[reg(18), reg(3)],
        "mov rax,qword ptr [rbx+0D0h]; mov rcx,qword ptr [rbx+0E8h]; \
         mov edx,dword ptr [r12+rax+4]; vmovups zmmword ptr [rcx+rdx],zmm18; \
         mov edx,dword ptr [r12+rax+24h]; vmovups zmmword ptr [rcx+rdx],zmm3",
    )]);
    // The index vector precedes all constants, and is loaded into the result's register, unless an operand is there.
    are(&[
        (
            Opcode::Permute2Lo,
            17,
            &[reg(18), reg(3)],
            "vmovups zmm17,zmmword ptr [r14]; vpermi2pd zmm17,zmm18,zmm3",
        ),
        (
            Opcode::Permute2Hi,
            18,
            &[reg(18), STACK],
            "vmovups zmm31,zmmword ptr [r14+40h]; vpermi2pd zmm31,zmm18,zmmword ptr [rsp+80h]; \
             vmovaps zmm18,zmm31",
        ),
        (
            Opcode::Permute2Hi,
            3,
            &[reg(18), reg(3)],
            "vmovups zmm31,zmmword ptr [r14+40h]; vpermi2pd zmm31,zmm18,zmm3; vmovaps zmm3,zmm31",
        ),
    ]);
}
