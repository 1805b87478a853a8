//! Stores of pixels to frames, and, encoded, loads and stores of surfaces.

use iced_x86::Register::{self, RAX, RCX, RDX};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand};

use super::operations::at_index;
use super::{Emit, SPARE, context, field};
use crate::x86::level::Level;
use r500_lir::RegMem;
use r500_lir::{Class, Opcode, PixelRows, StoreColor};

/// Adjacent pixels of a row that are adjacent in a vector.
#[derive(Clone, Copy)]
struct Piece {
    /// The row of the chunk, with AVX2 of half a chunk.
    row: u32,
    /// Byte offset from the row's first pixel.
    column: u32,
    /// Byte offset in the vector.
    at: u32,
    /// Size in bytes.
    size: u32,
}

/// Returns the pieces of rows that a vector of pixels consists of.
fn pieces(level: Level, PixelRows { bytes, number, .. }: PixelRows) -> Vec<Piece> {
    let (row, number) = (u32::from(bytes) * 4, u32::from(number));
    let piece = |row: u32, at: u32, size: u32| Piece { row, column: 0, at, size };
    match (level, bytes) {
        (Level::Avx512, 16) => vec![piece(number, 0, 64)],
        (Level::Avx512, 8) => vec![piece(number, 0, 32), piece(number + 2, 32, 32)],
        (Level::Avx512, _) => (0..4).map(|n| piece(n, n * row, row)).collect(),
        (Level::Avx2, 16) => {
            vec![Piece { row: number / 2, column: 32 * (number % 2), at: 0, size: 32 }]
        }
        (Level::Avx2, 8) => vec![piece(number, 0, 32)],
        (Level::Avx2, _) => (0..2).map(|n| piece(n, n * row, row)).collect(),
    }
}

impl Emit<'_> {
    /// Returns the address of a piece, in `rcx` and `rdx`, after [`find_plane`](Self::find_plane).
    fn piece_address(
        &mut self,
        part: u32,
        Piece { row, column, .. }: Piece,
    ) -> Result<MemoryOperand, IcedError> {
        let (chunk, at) = self.chunk(part);
        let place = at + i64::from(32 * (row / 2) + 4 * (row % 2));
        self.load_number(RDX, at_index(chunk, RAX, place))?;
        Ok(at_index(RCX, RDX, column.into()))
    }

    /// Loads the address of the offsets into `rax`, and that of a plane's first pixel into `rcx`.
    fn find_plane(&mut self, target: u8) -> Result<(), IcedError> {
        let target = 8 * i32::from(target);
        self.a.mov(RAX, field(context::ROWS + target))?;
        self.a.mov(RCX, field(context::PLANES + target))
    }

    pub(super) fn load_pixels(&mut self, rows: PixelRows, dst: u8) -> Result<(), IcedError> {
        use Code as C;
        self.find_plane(rows.target)?;
        let to = self.vector(dst);
        for piece @ Piece { at, size, .. } in pieces(self.level, rows) {
            let from = self.piece_address(rows.part, piece)?;
            let inst = match (at, size) {
                (0, 64) => Instruction::with2(C::EVEX_Vmovups_zmm_k1z_zmmm512, to, from)?,
                (0, 32) => {
                    let code =
                        self.pick(C::VEX_Vmovups_ymm_ymmm256, C::EVEX_Vmovups_ymm_k1z_ymmm256);
                    Instruction::with2(code, Register::YMM0 + u32::from(dst), from)?
                }
                (_, 32) => Instruction::with4(
                    C::EVEX_Vinsertf32x8_zmm_k1z_zmm_ymmm256_imm8,
                    to,
                    to,
                    from,
                    1,
                )?,
                (0, 16) => {
                    let code =
                        self.pick(C::VEX_Vmovups_xmm_xmmm128, C::EVEX_Vmovups_xmm_k1z_xmmm128);
                    Instruction::with2(code, Register::XMM0 + u32::from(dst), from)?
                }
                (_, 16) => {
                    let code = self.pick(
                        C::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8,
                        C::EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8,
                    );
                    Instruction::with4(code, to, to, from, at / 16)?
                }
                _ => unreachable!("pixels of fewer than 4 bytes are not loaded"),
            };
            self.add(inst)?;
        }
        Ok(())
    }

    pub(super) fn store_pixels(
        &mut self,
        rows: PixelRows,
        from: Option<RegMem>,
    ) -> Result<(), IcedError> {
        self.find_plane(rows.target)?;
        let Some(RegMem::Register(from)) = from else {
            unreachable!("{from:?} is not in a register")
        };
        for piece in pieces(self.level, rows) {
            let to = self.piece_address(rows.part, piece)?;
            self.store_piece(to, from, piece)?;
        }
        Ok(())
    }

    fn store_piece(
        &mut self,
        to: MemoryOperand,
        from: u8,
        Piece { at, size, .. }: Piece,
    ) -> Result<(), IcedError> {
        use Code as C;
        let vector = self.vector(from);
        let [xmm, ymm] = [Register::XMM0, Register::YMM0].map(|first| first + u32::from(from));
        let inst = match (size, at) {
            (64, _) => return self.store(Class::Vector, to, from),
            (32, 0) => {
                let code = self.pick(C::VEX_Vmovups_ymmm256_ymm, C::EVEX_Vmovups_ymmm256_k1z_ymm);
                Instruction::with2(code, to, ymm)?
            }
            (32, _) => {
                Instruction::with3(C::EVEX_Vextractf32x8_ymmm256_k1z_zmm_imm8, to, vector, 1)?
            }
            (16, 0) => {
                let code = self.pick(C::VEX_Vmovups_xmmm128_xmm, C::EVEX_Vmovups_xmmm128_k1z_xmm);
                Instruction::with2(code, to, xmm)?
            }
            (16, _) => {
                let code = self.pick(
                    C::VEX_Vextractf128_xmmm128_ymm_imm8,
                    C::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8,
                );
                Instruction::with3(code, to, vector, at / 16)?
            }
            (8, 16..) => {
                // Only the lowest 128 bits have such stores.
                let spare = Register::XMM0 + u32::from(SPARE);
                let code = C::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8;
                self.add(Instruction::with3(code, spare, vector, at / 16)?)?;
                return self.store_piece(to, SPARE, Piece { row: 0, column: 0, at: at % 16, size });
            }
            (8, 0) => {
                let code = self.pick(C::VEX_Vmovlps_m64_xmm, C::EVEX_Vmovlps_m64_xmm);
                Instruction::with2(code, to, xmm)?
            }
            (8, _) => {
                let code = self.pick(C::VEX_Vmovhps_m64_xmm, C::EVEX_Vmovhps_m64_xmm);
                Instruction::with2(code, to, xmm)?
            }
            (_, 0) => {
                let code = self.pick(C::VEX_Vmovd_rm32_xmm, C::EVEX_Vmovd_rm32_xmm);
                Instruction::with2(code, to, xmm)?
            }
            _ => {
                let code = self.pick(C::VEX_Vpextrd_rm32_xmm_imm8, C::EVEX_Vpextrd_rm32_xmm_imm8);
                Instruction::with3(code, to, xmm, at / 4)?
            }
        };
        self.add(inst)
    }

    /// Stores pixels to the rows of the frame: with AVX2 one row of four pixels, of which each vector has two; with AVX-512 two rows.
    pub(super) fn store_color(
        &mut self,
        StoreColor { target, row, part }: StoreColor,
        first: Option<RegMem>,
        other: Option<RegMem>,
    ) -> Result<(), IcedError> {
        self.a.mov(RAX, field(context::PLACES))?;
        self.a.mov(RCX, field(context::PLANES + 8 * i32::from(target)))?;
        let (chunk, at) = self.chunk(part);
        let place = |half: i64| at_index(chunk, RAX, at + 32 * half + 4 * i64::from(row));
        self.load_number(RDX, place(0))?;
        let mut to = at_index(RCX, RDX, 0);
        for (n, from) in [first, other].into_iter().enumerate() {
            let Some(RegMem::Register(from)) = from else {
                unreachable!("{from:?} is not in a register")
            };
            self.store(Class::Vector, to, from)?;
            match self.level {
                Level::Avx2 => to = at_index(RCX, RDX, 32),
                Level::Avx512 if n == 0 => {
                    self.load_number(RDX, place(1))?;
                }
                Level::Avx512 => {}
            }
        }
        Ok(())
    }

    /// Encodes a fused multiply-add, which overwrites an operand: the one in the result's register, or a copy of the first.
    pub(super) fn mul_add(
        &mut self,
        opcode: Opcode,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
        c: Option<RegMem>,
    ) -> Result<(), IcedError> {
        use Code as C;
        let [sum, product] = match opcode {
            Opcode::NegMulAdd => [
                [
                    C::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
                    C::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
                ],
                [
                    C::VEX_Vfnmadd132ps_ymm_ymm_ymmm256,
                    C::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
                ],
            ],
            _ => [
                [C::VEX_Vfmadd231ps_ymm_ymm_ymmm256, C::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er],
                [C::VEX_Vfmadd132ps_ymm_ymm_ymmm256, C::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er],
            ],
        }
        .map(|[vex, evex]| self.pick(vex, evex));
        let in_dst = Some(RegMem::Register(dst));
        if c == in_dst {
            let inst = self.three(sum, dst, a, b)?;
            return self.add(inst);
        }
        let (first, second) = if b == in_dst { (b, a) } else { (a, b) };
        if first != in_dst {
            let (to, from) = (self.vector(dst), self.register(Class::Vector, first));
            let code = self.pick(C::VEX_Vmovaps_ymm_ymmm256, C::EVEX_Vmovaps_zmm_k1z_zmmm512);
            self.add(Instruction::with2(code, to, from)?)?;
        }
        let inst = self.three(product, dst, c, second)?;
        self.add(inst)
    }

    pub(super) fn half(&mut self, dst: u8, from: Option<RegMem>) -> Result<(), IcedError> {
        use Code as C;
        let (to, from) = (self.vector(dst), self.register(Class::Vector, from));
        let half = match self.level {
            Level::Avx2 => Register::XMM0,
            Level::Avx512 => Register::YMM0,
        } + u32::from(dst);
        // Rounding control 0: to nearest even.
        let code = self
            .pick(C::VEX_Vcvtps2ph_xmmm128_ymm_imm8, C::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae);
        self.add(Instruction::with3(code, half, from, 0)?)?;
        let code = self.pick(C::VEX_Vpmovzxwd_ymm_xmmm128, C::EVEX_Vpmovzxwd_zmm_k1z_ymmm256);
        self.add(Instruction::with2(code, to, half)?)
    }

    pub(super) fn narrow(
        &mut self,
        bytes: u8,
        dst: u8,
        from: Option<RegMem>,
    ) -> Result<(), IcedError> {
        use Code as C;
        let (to, from) = (self.vector(dst), self.register(Class::Vector, from));
        if self.level == Level::Avx512 {
            let (code, first) = match bytes {
                2 => (C::EVEX_Vpmovdw_ymmm256_k1z_zmm, Register::YMM0),
                _ => (C::EVEX_Vpmovdb_xmmm128_k1z_zmm, Register::XMM0),
            };
            return self.add(Instruction::with2(code, first + u32::from(dst), from)?);
        }
        // VPACKUSDW duplicates each half in its 128 bits; VPERMQ moves both halves together.
        self.add(Instruction::with3(C::VEX_Vpackusdw_ymm_ymm_ymmm256, to, from, from)?)?;
        self.add(Instruction::with3(C::VEX_Vpermq_ymm_ymmm256_imm8, to, to, 0b00_00_10_00)?)?;
        if bytes == 1 {
            self.add(Instruction::with3(C::VEX_Vpackuswb_ymm_ymm_ymmm256, to, to, to)?)?;
        }
        Ok(())
    }
}
