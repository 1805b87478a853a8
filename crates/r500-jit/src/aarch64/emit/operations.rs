//! Encoding of operations.

use super::{Emit, FAR, FpMode, POOL, SCRATCH, SPARE, TABLES, context};
use crate::aarch64::encode::{self, V, X};
use crate::aarch64::error::CompileError;
use r500_lir::{GatherChannel, IntRange, LoadTexel, Opcode, Relation, Rounding};
use r500_lir::{Mem, RegMem};

/// Registers that cache texel addresses.
const CELLS: [X; 4] = [X(10), X(11), X(12), X(13)];

/// Cached texel addresses: the texels of a footprint are fetched in sequence and share one address.
#[derive(Debug, Default)]
pub(super) struct TexelAddresses {
    held: [Option<CellAddress>; 4],
    next: usize,
}

/// The address of a pixel's texel, computed from a vector of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellAddress {
    unit: u8,
    offsets: V,
    pixel: u8,
}

impl TexelAddresses {
    /// Invalidates the addresses that depend on a vector register.
    pub(super) fn forget(&mut self, v: V) {
        for held in &mut self.held {
            *held = held.filter(|cell| cell.offsets != v);
        }
    }

    /// Invalidates all addresses, at a label.
    pub(super) fn clear(&mut self) {
        self.held = [None; 4];
    }
}

/// Constants of the exact product: the scale 2^64, and the scaled product that rounds to 2^-126, 2^-62.
const LARGER: u32 = (127 + 64) << 23;
const LEAST_OF_LARGER: u32 = (127 - 62) << 23;
const LEAST: u32 = 1 << 23;

impl Emit<'_> {
    pub(super) fn op(
        &mut self,
        opcode: Opcode,
        dst: V,
        args: [Option<RegMem>; 3],
    ) -> Result<(), CompileError> {
        let [a, b, c] = args.map(|place| match place {
            Some(RegMem::Register(register)) => V(register),
            // Unused, or the zero of a comparison.
            Some(RegMem::Memory(_)) | None => SPARE[0],
        });
        let zero = args[1] == Some(RegMem::Memory(Mem::Const(0)));
        let is_register = |place: &Option<RegMem>| !matches!(place, Some(RegMem::Memory(_)));
        debug_assert!(
            args.iter().enumerate().all(|(n, place)| n == 1 && zero || is_register(place)),
            "operands of {opcode:?} are in registers: {args:?}"
        );
        let word = match opcode {
            Opcode::Add => encode::fadd(dst, a, b),
            Opcode::Sub => encode::fsub(dst, a, b),
            Opcode::Mul => {
                self.product(dst, a, b);
                return Ok(());
            }
            Opcode::Div => encode::fdiv(dst, a, b),
            Opcode::Min | Opcode::Max => {
                let relation = if opcode == Opcode::Min { Relation::Lt } else { Relation::Gt };
                self.pick(relation, dst, a, (!zero).then_some(b));
                return Ok(());
            }
            Opcode::Sqrt => encode::fsqrt(dst, a),
            Opcode::Copy | Opcode::ToMask | Opcode::FromMask => {
                self.copy(dst, a);
                return Ok(());
            }
            Opcode::Round(Rounding::Nearest) => encode::frintn(dst, a),
            Opcode::Round(Rounding::Floor) => encode::frintm(dst, a),
            Opcode::ToFloat => encode::scvtf(dst, a),
            Opcode::Truncate(range) => {
                self.truncate(range, dst, a);
                return Ok(());
            }
            Opcode::And | Opcode::MaskAnd => encode::and(dst, a, b),
            Opcode::Or | Opcode::MaskOr => encode::orr(dst, a, b),
            Opcode::Xor => encode::eor(dst, a, b),
            Opcode::AndNot | Opcode::MaskAndNot => encode::bic(dst, b, a),
            Opcode::IntAdd => encode::add(dst, a, b),
            Opcode::IntSub => encode::sub(dst, a, b),
            Opcode::IntMin => encode::umin(dst, a, b),
            Opcode::IntMul => encode::mul(dst, a, b),
            Opcode::Shl(by) => encode::shl(dst, a, by),
            Opcode::Sar(by) => encode::sshr(dst, a, by),
            Opcode::QuadBroadcast(corner) => encode::dup(dst, a, corner),
            Opcode::Cmp(relation) => {
                self.compare(relation, dst, a, (!zero).then_some(b));
                return Ok(());
            }
            Opcode::MaskAll => encode::mvni(dst, 0, 0),
            Opcode::MaskNone => encode::movi(dst, 0, 0),
            Opcode::Blend => {
                self.blend(dst, a, b, c);
                return Ok(());
            }
            Opcode::UnpackLo32 => encode::zip1(dst, a, b),
            Opcode::UnpackHi32 => encode::zip2(dst, a, b),
            Opcode::UnpackLo64 => encode::zip1_2d(dst, a, b),
            Opcode::UnpackHi64 => encode::zip2_2d(dst, a, b),
            Opcode::LoadTexel(LoadTexel { unit, pixel, offset, .. }) => {
                let cell = self.cell(unit, a, pixel);
                // The base offset may be arbitrary: a unit's offset within a texel is a multiple of 16.
                let (base, offset) = self.a.reach_q(cell, offset.into(), FAR);
                encode::ldr_q(dst, base, offset)
            }
            Opcode::GatherChannel(channel) => {
                self.gather(channel, dst, a);
                return Ok(());
            }
            Opcode::Interpolant(input) => {
                self.interpolant(input, dst);
                return Ok(());
            }
            Opcode::LoadCoverage(part) => {
                self.load_coverage(part, dst);
                return Ok(());
            }
            Opcode::StoreCoverage(part) => {
                self.store_coverage(part, a);
                return Ok(());
            }
            Opcode::StoreColor(color) => {
                self.store_color(color, [a, b]);
                return Ok(());
            }
            Opcode::Store(slot, part) => {
                self.store(Mem::Slot(slot, part), a);
                return Ok(());
            }
            // The lowering for single quads with vector masks emits none of these.
            Opcode::FloorToInt
            | Opcode::Lookup(_)
            | Opcode::Tabulated(_)
            | Opcode::Remainder
            | Opcode::Scale
            | Opcode::FixUp
            | Opcode::MaskedMove
            | Opcode::MaskedMul
            | Opcode::Permute128Lo
            | Opcode::Permute128Hi
            | Opcode::Permute2Lo
            | Opcode::Permute2Hi
            | Opcode::MulAdd
            | Opcode::NegMulAdd
            | Opcode::ToHalf
            | Opcode::PermuteQuads
            | Opcode::Narrow(_)
            | Opcode::LoadPixels(_)
            | Opcode::StorePixels(_)
            | Opcode::CountFuel(_) => return Err(CompileError::Unsupported(opcode)),
        };
        self.a.put(word);
        Ok(())
    }

    /// Emits a product. The processor flushes results that are tiny before rounding. The exact form detects those that round up to 2^-126,
    /// by scaling a factor by 2^64: the scaled product has the same digits and does not underflow. It ORs the bits of 2^-126 into the
    /// flushed zero. If the scaled product overflows, or is NaN because a factor is zero, it does not compare equal, so nothing changes.
    fn product(&mut self, dst: V, a: V, b: V) {
        if self.mode == FpMode::Speculative {
            return self.a.put(encode::fmul(dst, a, b));
        }
        let [constant, larger] = SPARE;
        self.a.vector_of(larger, LARGER, POOL, FAR);
        self.a.put(encode::fmul(larger, a, larger));
        self.a.put(encode::fmul(larger, larger, b));
        self.a.put(encode::fabs(larger, larger));
        self.a.vector_of(constant, LEAST_OF_LARGER, POOL, FAR);
        self.a.put(encode::fcmeq(larger, larger, constant));
        self.a.vector_of(constant, LEAST, POOL, FAR);
        self.a.put(encode::and(larger, larger, constant));
        self.a.put(encode::fmul(dst, a, b));
        self.a.put(encode::orr(dst, dst, larger));
    }

    /// Emits `a relation b ? a : b`, with b = 0 if `None`; NaN operands give b.
    fn pick(&mut self, relation: Relation, dst: V, a: V, b: Option<V>) {
        let [_, mask] = SPARE;
        match b {
            None => {
                self.compare(relation, mask, a, None);
                self.a.put(encode::and(dst, a, mask));
            }
            Some(b) if dst == a || dst == b => {
                self.compare(relation, mask, a, Some(b));
                self.blend_by(mask, dst, a, b);
            }
            Some(b) => {
                self.compare(relation, dst, a, Some(b));
                self.a.put(encode::bsl(dst, a, b));
            }
        }
    }

    /// Emits mask ? a : b, in the register of a or b.
    fn blend_by(&mut self, mask: V, dst: V, a: V, b: V) {
        self.a.put(match dst == b {
            true => encode::bit(dst, a, mask),
            false => encode::bif(dst, b, mask),
        });
    }

    fn blend(&mut self, dst: V, mask: V, a: V, b: V) {
        if dst == mask {
            self.a.put(encode::bsl(dst, a, b));
        } else if dst == a || dst == b {
            self.blend_by(mask, dst, a, b);
        } else {
            self.copy(dst, mask);
            self.a.put(encode::bsl(dst, a, b));
        }
    }

    /// Compares with a vector, or with zero.
    fn compare(&mut self, relation: Relation, dst: V, a: V, b: Option<V>) {
        let word = match (relation, b) {
            (Relation::Eq | Relation::Ne, Some(b)) => encode::fcmeq(dst, a, b),
            (Relation::Lt, Some(b)) => encode::fcmgt(dst, b, a),
            (Relation::Le, Some(b)) => encode::fcmge(dst, b, a),
            (Relation::Gt, Some(b)) => encode::fcmgt(dst, a, b),
            (Relation::Ge, Some(b)) => encode::fcmge(dst, a, b),
            (Relation::Eq | Relation::Ne, None) => encode::fcmeq_zero(dst, a),
            (Relation::Lt, None) => encode::fcmlt_zero(dst, a),
            (Relation::Le, None) => encode::fcmle_zero(dst, a),
            (Relation::Gt, None) => encode::fcmgt_zero(dst, a),
            (Relation::Ge, None) => encode::fcmge_zero(dst, a),
        };
        self.a.put(word);
        if relation == Relation::Ne {
            self.a.put(encode::mvn(dst, dst));
        }
    }

    /// Emits a truncation. The instruction saturates to 2^31 - 1 and maps NaN to 0; `IntRange::All` needs 2^31 for both.
    fn truncate(&mut self, range: IntRange, dst: V, a: V) {
        if range != IntRange::All {
            return self.a.put(encode::fcvtzs(dst, a));
        }
        let [least, inside] = SPARE;
        self.a.vector_of(inside, 2_147_483_648.0_f32.to_bits(), POOL, FAR);
        self.a.put(encode::fcmgt(inside, inside, a));
        self.a.put(encode::fcvtzs(dst, a));
        self.a.vector_of(least, 1 << 31, POOL, FAR);
        self.a.put(encode::bif(dst, least, inside));
    }

    /// Returns a register with the address of a pixel's texel.
    fn cell(&mut self, unit: u8, offsets: V, pixel: u8) -> X {
        let cell = CellAddress { unit, offsets, pixel };
        if let Some(n) = self.cells.held.iter().position(|held| *held == Some(cell)) {
            return CELLS[n];
        }
        let n = self.cells.next;
        self.cells.next = (n + 1) % CELLS.len();
        self.cells.held[n] = Some(cell);
        let held = self.unit.units.iter().position(|other| *other == unit);
        let table = held.and_then(|at| TABLES.get(at).copied()).unwrap_or_else(|| {
            self.load_context(SCRATCH[0], context::CELLS + 8 * i32::from(unit));
            SCRATCH[0]
        });
        self.a.put(encode::umov(CELLS[n], offsets, pixel));
        self.a.put(encode::add_x(CELLS[n], table, CELLS[n], 0));
        CELLS[n]
    }

    /// Gathers one channel for each pixel. The result may replace the offsets.
    fn gather(&mut self, GatherChannel { unit, offset, .. }: GatherChannel, dst: V, offsets: V) {
        let cells = [0, 1, 2, 3].map(|pixel| self.cell(unit, offsets, pixel));
        for (pixel, cell) in (0..).zip(cells) {
            if pixel == 0 {
                self.a.put(encode::ldr_s(dst, cell, offset.into()));
                continue;
            }
            let from = match offset {
                0 => cell,
                offset => {
                    self.a.put(encode::add_imm(FAR, cell, offset.into(), false));
                    FAR
                }
            };
            self.a.put(encode::ld1_lane(dst, pixel, from));
        }
    }
}
