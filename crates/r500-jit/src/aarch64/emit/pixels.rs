//! Inputs, coverage and colour stores of pixels.
//!
//! A vector is one quad. Two neighbouring quads, half a chunk, share their [offsets](PixelOffsets). If a group is one quad, its position
//! among the two is a run-time value ([`QUAD`]).

use std::mem::{offset_of, size_of};

use r500_fast::codegen::{LinearInterpolant, PixelOffsets};

use super::{COVERED, Emit, OFFSET, PLACES, QUAD, SCRATCH, SLOTS, SPARE, TERMS, VECTOR, context};
use crate::aarch64::encode::{self, V};
use r500_lir::{Interpolant, Opcode, StoreColor};
use r500_lir::{MachCode, MachInst};

/// Bytes per pixel.
const PIXEL: u32 = 16;
/// Bytes of one row of a quad, two pixels.
const ROW_OF_QUAD: u32 = 2 * PIXEL;
/// Bytes of half a chunk in a slot, which is also the size of its offsets.
const HALF: u32 = 32;

const _: () = assert!(size_of::<PixelOffsets>() == HALF as usize);

/// Which pixel data code accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PixelUse {
    interpolants: bool,
    colors: bool,
    coverage: bool,
}

impl PixelUse {
    pub(super) fn of(code: &MachCode) -> Self {
        let mut uses = Self::default();
        for inst in &code.insts {
            let MachInst::Op { opcode, .. } = inst else { continue };
            match opcode {
                Opcode::Interpolant(_) => uses.interpolants = true,
                Opcode::StoreColor(_) => uses.colors = true,
                Opcode::LoadCoverage(_) | Opcode::StoreCoverage(_) => uses.coverage = true,
                _ => {}
            }
        }
        uses
    }
}

/// Returns the offset of a field of the pixel offsets, for one half of the group.
fn field(half: u32, array: usize, number: u32) -> u32 {
    half * HALF + array as u32 + 4 * number
}

impl Emit<'_> {
    /// Returns whether a group is one quad, whose position in its half of a chunk is a run-time value.
    fn is_single(&self) -> bool {
        self.groups() == 1
    }

    /// Returns the half of the group and the quad of that half that a vector is, where these are known.
    fn quad(&self, part: u32) -> (u32, u32) {
        if self.is_single() { (0, 0) } else { (part / 2, part % 2) }
    }

    /// Loads the addresses of a group's coverage and pixel offsets.
    pub(super) fn locate_pixels(&mut self) {
        if self.pixels.coverage {
            self.load_context(COVERED, context::COVERED);
            self.a.put(encode::add_x(COVERED, COVERED, SLOTS, 0));
        }
        if !self.pixels.interpolants && !self.pixels.colors {
            return;
        }
        self.load_context(PLACES, context::PLACES);
        self.a.put(encode::add_x(PLACES, PLACES, SLOTS, 0));
        if self.is_single() {
            self.a.put(encode::and_bit(QUAD, OFFSET, VECTOR.trailing_zeros() as u8));
            self.a.put(encode::sub_x(PLACES, PLACES, QUAD));
        }
        self.locate_interpolants();
    }

    /// Loads the addresses of a group's interpolant terms.
    pub(super) fn locate_interpolants(&mut self) {
        if !self.pixels.interpolants {
            return;
        }
        let [first, ..] = SCRATCH;
        self.load_context(first, context::INTERPOLANTS);
        let halves = self.groups().div_ceil(2);
        for (half, terms) in (0..halves).zip(TERMS) {
            for (number, term) in (0..).zip(terms) {
                let from = field(half, offset_of!(PixelOffsets, interpolants), number);
                self.a.put(encode::ldr_w(term, PLACES, from));
                self.a.put(encode::add_x(term, first, term, 0));
                if self.is_single() {
                    self.a.put(encode::add_x(term, term, QUAD, 0));
                }
            }
        }
    }

    /// Emits an interpolated input: the x terms plus the y terms of the pixels.
    pub(super) fn interpolant(&mut self, Interpolant { number, part }: Interpolant, dst: V) {
        let (half, quad) = self.quad(part);
        let offset = number * size_of::<LinearInterpolant>() as u32 + quad * VECTOR;
        for (to, term) in [SPARE[1], dst].into_iter().zip(TERMS[half as usize]) {
            let (base, offset) = self.a.reach_q(term, offset, SCRATCH[0]);
            self.a.put(encode::ldr_q(to, base, offset));
        }
        self.a.put(encode::fadd(dst, SPARE[1], dst));
    }

    pub(super) fn load_coverage(&mut self, part: u32, dst: V) {
        self.a.put(encode::ldr_q(dst, COVERED, part * VECTOR));
    }

    pub(super) fn store_coverage(&mut self, part: u32, from: V) {
        self.a.put(encode::str_q(from, COVERED, part * VECTOR));
    }

    /// Stores the left and the right pixel of a row of a quad.
    pub(super) fn store_color(
        &mut self,
        StoreColor { target, row, part }: StoreColor,
        [left, right]: [V; 2],
    ) {
        let (half, quad) = self.quad(part);
        let [plane, offset, _] = SCRATCH;
        self.load_context(plane, context::PLANES + 8 * i32::from(target));
        let from = field(half, offset_of!(PixelOffsets, rows), row.into());
        self.a.put(encode::ldr_w(offset, PLACES, from));
        self.a.put(encode::add_x(plane, plane, offset, 0));
        if self.is_single() {
            const TIMES: u32 = ROW_OF_QUAD / VECTOR;
            self.a.put(encode::add_x(plane, plane, QUAD, TIMES.trailing_zeros() as u8));
        }
        let at = (quad * ROW_OF_QUAD).cast_signed();
        self.a.put(encode::stp_q(left, right, plane, at));
    }
}
