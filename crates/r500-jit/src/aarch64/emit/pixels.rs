//! Inputs of pixels, coverage, and the pixels of frames that colours go to.
//!
//! A vector is one quad. Two neighbouring quads, half a chunk, share their [offsets](PixelOffsets): where one group is one quad,
//! which of the two it is is known only then ([`QUAD`]).

use std::mem::{offset_of, size_of};

use r500_fast::codegen::{LinearInterpolant, PixelOffsets};

use super::{COVERED, Emit, OFFSET, PLACES, QUAD, SCRATCH, SLOTS, SPARE, TERMS, VECTOR, context};
use crate::aarch64::encode::{self, V};
use crate::lir::{Interpolant, Opcode, StoreColor};
use crate::mach_inst::{MachCode, MachInst};

/// Bytes of a pixel.
const PIXEL: u32 = 16;
/// Bytes of the two pixels that a quad has in a row.
const ROW_OF_QUAD: u32 = 2 * PIXEL;
/// Bytes of half a chunk in a slot; those of its offsets are as many.
const HALF: u32 = 32;

const _: () = assert!(size_of::<PixelOffsets>() == HALF as usize);

/// What code does with pixels.
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

/// A field of the offsets of one half of the group.
fn field(half: u32, array: usize, number: u32) -> u32 {
    half * HALF + array as u32 + 4 * number
}

impl Emit<'_> {
    /// Whether which quad of its half a group is differs from group to group.
    fn is_single(&self) -> bool {
        self.groups() == 1
    }

    /// The half of the group that a vector is in, and which of its two quads it is, if that is known.
    fn quad(&self, part: u32) -> (u32, u32) {
        if self.is_single() { (0, 0) } else { (part / 2, part % 2) }
    }

    /// Where the pixels of a group are.
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

    /// Where the terms of a group's inputs are.
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

    /// The terms of the pixels by column and by row, added.
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

    /// The left and the right pixel of a row of a quad.
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
