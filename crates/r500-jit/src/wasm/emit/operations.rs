//! Encoding of operations.

use wasm_encoder::InstructionSink;

use super::{Code, EXPONENT, FlushLocals, FpMode, SIGN, memory, splat};
use r500_lir::{IntRange, MemOperand, Op, Opcode, Relation, Rounding, VReg};

impl Code<'_> {
    pub(super) fn op(&mut self, op: &Op) {
        let Some(a) = op.args[0] else {
            match op.opcode {
                Opcode::MaskAll => _ = self.code().v128_const(-1),
                Opcode::MaskNone => _ = self.code().v128_const(0),
                Opcode::LoadCoverage(part) => {
                    let covered = self.covered[&part];
                    self.code().local_get(covered);
                }
                Opcode::Interpolant(input) => self.interpolant(input),
                _ => self.refused = true,
            }
            return self.result(op);
        };
        let b = op.args[1].unwrap_or(a);
        match op.opcode {
            Opcode::Store(slot, part) => {
                self.stores.push((a, self.place(slot, part)));
                return;
            }
            Opcode::StoreCoverage(part) => {
                let (left, covered) = (self.local(a), self.covered[&part]);
                self.code().local_get(left).local_set(covered);
                return;
            }
            Opcode::StoreColor(color) => return self.store_color(color, [a, b]),
            Opcode::LoadTexel(texel) => {
                self.cell(texel.unit, a, texel.pixel);
                self.code().v128_load(memory(u64::from(texel.offset), 2));
            }
            Opcode::GatherChannel(number) => {
                let from = memory(u64::from(number.offset), 2);
                // Addresses are pushed in reverse: the last one is popped first.
                for pixel in [3, 2, 1, 0] {
                    self.cell(number.unit, a, pixel);
                }
                self.code().v128_load32_zero(from);
                for pixel in [1, 2, 3] {
                    self.code().v128_load32_lane(from, pixel);
                }
            }
            Opcode::Add => _ = self.numbers(&[a, b]).f32x4_add(),
            Opcode::Sub => _ = self.numbers(&[a, b]).f32x4_sub(),
            Opcode::Mul => self.product(a, b),
            Opcode::MaskedMul => {
                let c = op.args[2].expect("three arguments");
                self.product(b, c);
                self.bits(&[a]).v128_and();
            }
            Opcode::Div => _ = self.numbers(&[a, b]).f32x4_div(),
            // PMIN(b, a) is `a < b ? a : b`.
            Opcode::Min => _ = self.numbers(&[b, a]).f32x4_pmin(),
            Opcode::Max => _ = self.numbers(&[b, a]).f32x4_pmax(),
            Opcode::Sqrt => _ = self.numbers(&[a]).f32x4_sqrt(),
            Opcode::Round(Rounding::Nearest) => _ = self.numbers(&[a]).f32x4_nearest(),
            Opcode::Round(Rounding::Floor) => _ = self.numbers(&[a]).f32x4_floor(),
            Opcode::Cmp(relation) => {
                let mut code = self.numbers(&[a, b]);
                match relation {
                    Relation::Lt => code.f32x4_lt(),
                    Relation::Le => code.f32x4_le(),
                    Relation::Gt => code.f32x4_gt(),
                    Relation::Ge => code.f32x4_ge(),
                    Relation::Eq => code.f32x4_eq(),
                    Relation::Ne => code.f32x4_ne(),
                };
            }
            Opcode::Copy | Opcode::ToMask | Opcode::FromMask => _ = self.bits(&[a]),
            Opcode::ToFloat => _ = self.bits(&[a]).f32x4_convert_i32x4_s(),
            Opcode::And | Opcode::MaskAnd | Opcode::MaskedMove => _ = self.bits(&[a, b]).v128_and(),
            Opcode::Or | Opcode::MaskOr => _ = self.bits(&[a, b]).v128_or(),
            Opcode::Xor => _ = self.bits(&[a, b]).v128_xor(),
            Opcode::AndNot | Opcode::MaskAndNot => _ = self.bits(&[b, a]).v128_andnot(),
            Opcode::IntAdd => _ = self.bits(&[a, b]).i32x4_add(),
            Opcode::IntSub => _ = self.bits(&[a, b]).i32x4_sub(),
            Opcode::Shl(bits) => _ = self.bits(&[a]).i32_const(i32::from(bits)).i32x4_shl(),
            Opcode::Sar(bits) => _ = self.bits(&[a]).i32_const(i32::from(bits)).i32x4_shr_s(),
            Opcode::QuadBroadcast(corner) => {
                self.bits(&[a, a]).i8x16_shuffle(words([corner; 4]));
            }
            Opcode::Blend => {
                let c = op.args[2].expect("three arguments");
                match self.params.function.mem_operand(b) {
                    Some(MemOperand::Const(0)) => self.bits(&[c, a]).v128_andnot(),
                    _ => self.bits(&[b, c, a]).v128_bitselect(),
                };
            }
            Opcode::IntMin => _ = self.bits(&[a, b]).i32x4_min_u(),
            Opcode::IntMul => _ = self.bits(&[a, b]).i32x4_mul(),
            // The lowest bits of the sum are the integer in two's complement.
            Opcode::Truncate(IntRange::FewWhole) => {
                let fractionless = splat(12_582_912.0_f32.to_bits());
                let mut code = self.bits(&[a]);
                code.v128_const(fractionless).f32x4_add().v128_const(fractionless).i32x4_sub();
            }
            Opcode::Truncate(IntRange::Integers) => _ = self.bits(&[a]).i32x4_trunc_sat_f32x4_s(),
            // The instruction saturates to 2^31 - 1 and maps NaN to 0; both must give 2^31.
            Opcode::Truncate(IntRange::All) => {
                let mut code = self.bits(&[a]);
                code.i32x4_trunc_sat_f32x4_s().v128_const(splat(SIGN));
                let mut code = self.bits(&[a]);
                code.v128_const(splat(2_147_483_648.0_f32.to_bits())).f32x4_lt().v128_bitselect();
            }
            Opcode::UnpackLo32 => _ = self.bits(&[a, b]).i8x16_shuffle(words([0, 4, 1, 5])),
            Opcode::UnpackHi32 => _ = self.bits(&[a, b]).i8x16_shuffle(words([2, 6, 3, 7])),
            Opcode::UnpackLo64 => _ = self.bits(&[a, b]).i8x16_shuffle(words([0, 1, 4, 5])),
            Opcode::UnpackHi64 => _ = self.bits(&[a, b]).i8x16_shuffle(words([2, 3, 6, 7])),
            Opcode::MaskAll
            | Opcode::MaskNone
            | Opcode::LoadCoverage(_)
            | Opcode::Interpolant(_)
            | Opcode::Permute128Lo
            | Opcode::Permute128Hi
            | Opcode::Permute2Lo
            | Opcode::Permute2Hi
            | Opcode::FloorToInt
            | Opcode::Remainder
            | Opcode::Scale
            | Opcode::FixUp
            | Opcode::CountFuel(_)
            | Opcode::Lookup(_)
            | Opcode::Tabulated(_)
            | Opcode::MulAdd
            | Opcode::NegMulAdd
            | Opcode::ToHalf
            | Opcode::PermuteQuads
            | Opcode::Narrow(_)
            | Opcode::LoadPixels(_)
            | Opcode::StorePixels(_) => self.refused = true,
        }
        self.result(op);
    }

    /// Pops the result of an operation into its local.
    fn result(&mut self, op: &Op) {
        let Some(dst) = op.dst else {
            self.refused = true;
            return;
        };
        if self.mode == FpMode::Exact {
            if matches!(op.opcode, Opcode::Add | Opcode::Sub | Opcode::Div) {
                let [result, _] = self.flush.operands;
                self.code().local_set(result);
                self.flushed(result);
            }
            let number = matches!(
                op.opcode,
                Opcode::Add
                    | Opcode::Sub
                    | Opcode::Mul
                    | Opcode::MaskedMul
                    | Opcode::Div
                    | Opcode::Sqrt
                    | Opcode::Interpolant(_)
            );
            if number {
                self.numbers.insert(dst);
            }
        }
        let local = self.local(dst);
        self.code().local_set(local);
        self.guard(dst);
    }

    /// Emits a product. The reference flushes products that are tiny after rounding with an unbounded exponent. So the exact form scales
    /// both factors by 2^32, which changes no digit, and compares the scaled product, which does not underflow where the comparison
    /// matters; a scaled product that overflows is large.
    fn product(&mut self, a: VReg, b: VReg) {
        if self.mode == FpMode::Speculative {
            self.numbers(&[a, b]).f32x4_mul();
            return;
        }
        let FlushLocals { operands: [x, y], larger, least, rest, .. } = self.flush;
        self.numbers(&[a, b]).local_set(y).local_set(x);
        let mut code = self.code();
        code.local_get(x).local_get(y).f32x4_mul();
        code.local_get(x).local_get(larger).f32x4_mul();
        code.local_get(y).local_get(larger).f32x4_mul();
        code.f32x4_mul().local_get(rest).v128_and().local_get(least).f32x4_lt();
        code.local_get(rest).v128_and().v128_andnot();
    }

    /// Pushes the address of a pixel's texel, at an offset into a unit's texels.
    fn cell(&mut self, unit: u8, at: VReg, pixel: u8) {
        let (at, cells) = (self.local(at), self.cells[&unit]);
        self.code().local_get(cells);
        self.code().local_get(at).i32x4_extract_lane(pixel).i32_add();
    }

    /// Pushes arguments, unchanged.
    fn bits(&mut self, args: &[VReg]) -> InstructionSink<'_> {
        for v in args {
            let local = self.local(*v);
            self.code().local_get(local);
        }
        self.code()
    }

    /// Pushes arguments, flushing subnormals in the exact form.
    fn numbers(&mut self, args: &[VReg]) -> InstructionSink<'_> {
        for v in args {
            let local = self.local(*v);
            let flush = match self.params.function.mem_operand(*v) {
                Some(MemOperand::Const(bits)) => bits & EXPONENT == 0 && bits << 1 != 0,
                _ => !self.numbers.contains(v),
            };
            if self.mode == FpMode::Exact && flush {
                self.flushed(local);
            } else {
                self.code().local_get(local);
            }
        }
        self.code()
    }

    /// Pushes a local with subnormals flushed to zeros of their sign.
    fn flushed(&mut self, local: u32) {
        let FlushLocals { exponent, rest, zero, .. } = self.flush;
        let mut code = self.code();
        code.local_get(local).local_get(local).local_get(exponent).v128_and();
        code.local_get(zero).i32x4_eq().local_get(rest).v128_and().v128_andnot();
    }
}

/// Returns the byte indices of a shuffle of words.
fn words(words: [u8; 4]) -> [u8; 16] {
    std::array::from_fn(|byte| words[byte / 4] * 4 + byte as u8 % 4)
}
