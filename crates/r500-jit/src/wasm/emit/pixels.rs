//! Interpolated inputs and colour stores.
//!
//! A vector is one quad. Two neighbouring quads, half a chunk, share their [offsets](PixelOffsets): with two interleaved groups these are
//! the two parts of a group, with one they are consecutive groups.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};

use r500_fast::codegen::{LinearInterpolant, PixelOffsets};
use wasm_encoder::{MemArg, ValType};

use super::{Code, Locals, VECTOR, context, memory, vector, word};
use r500_lir::{Interpolant, StoreColor, VReg};

/// Bytes per pixel.
const PIXEL: u32 = 16;
/// Bytes of one row of a quad, two pixels.
const ROW_OF_QUAD: u32 = 2 * PIXEL;

/// Locals for the inputs and colours that the function uses.
#[derive(Default)]
pub(super) struct PixelLocals {
    interpolants: Option<InterpolantLocals>,
    /// The plane of each target.
    planes: BTreeMap<u8, PlaneLocals>,
}

#[derive(Clone, Copy)]
struct InterpolantLocals {
    /// Address of the first interpolant of the batch.
    first: u32,
    /// Addresses of the group's x and y terms in the first interpolant.
    terms: [u32; 2],
}

#[derive(Clone, Copy)]
struct PlaneLocals {
    /// Address of the first pixel of the batch.
    first: u32,
    /// Addresses of the two rows of the group.
    rows: [u32; 2],
}

impl PixelLocals {
    /// Allocates locals for inputs.
    pub(super) fn interpolants(&mut self, locals: &mut Locals) {
        self.interpolants.get_or_insert_with(|| {
            let [first, x, y] = [(); 3].map(|()| locals.fresh(ValType::I32));
            InterpolantLocals { first, terms: [x, y] }
        });
    }

    /// Allocates locals for a target.
    pub(super) fn plane(&mut self, target: u8, locals: &mut Locals) {
        self.planes.entry(target).or_insert_with(|| {
            let [first, row, next] = [(); 3].map(|()| locals.fresh(ValType::I32));
            PlaneLocals { first, rows: [row, next] }
        });
    }
}

impl Code<'_> {
    /// Sets the locals that are the same for all groups.
    pub(super) fn begin_pixels(&mut self) {
        let context = self.context;
        if let Some(InterpolantLocals { first, .. }) = self.pixels.interpolants {
            self.code().local_get(context).i32_load(word(context::INTERPOLANTS)).local_set(first);
        }
        for (target, PlaneLocals { first, .. }) in self.pixels.planes.clone() {
            let from = word(context::PLANES + 4 * u64::from(target));
            self.code().local_get(context).i32_load(from).local_set(first);
        }
    }

    /// Sets the addresses of the group's inputs and colours.
    pub(super) fn locate_pixels(&mut self) {
        if self.pixels.interpolants.is_none() && self.pixels.planes.is_empty() {
            return;
        }
        let (context, group) = (self.context, self.group);
        let offsets = self.locals.fresh(ValType::I32);
        // Byte offset of the group's quad in its half of a chunk, if a group is one quad.
        let quad = (self.params.function.groups <= 1).then(|| {
            let quad = self.locals.fresh(ValType::I32);
            self.code().local_get(group).local_get(context).i32_load(word(context::SLOTS));
            self.code().i32_sub().i32_const(VECTOR.cast_signed()).i32_and().local_set(quad);
            quad
        });
        if let Some(InterpolantLocals { first, terms }) = self.pixels.interpolants {
            self.locate_half(context::OFFSETS, quad, offsets);
            for (n, local) in terms.into_iter().enumerate() {
                let from = element(offset_of!(PixelOffsets, interpolants), n);
                self.code().local_get(offsets).i32_load(from).local_get(first).i32_add();
                if let Some(quad) = quad {
                    self.code().local_get(quad).i32_add();
                }
                self.code().local_set(local);
            }
        }
        for (target, PlaneLocals { first, rows }) in self.pixels.planes.clone() {
            self.locate_half(context::ROWS + 4 * u64::from(target), quad, offsets);
            for (n, local) in rows.into_iter().enumerate() {
                let from = element(offset_of!(PixelOffsets, rows), n);
                self.code().local_get(offsets).i32_load(from).local_get(first).i32_add();
                if let Some(quad) = quad {
                    let times = (ROW_OF_QUAD / VECTOR).cast_signed();
                    self.code().local_get(quad).i32_const(times).i32_mul().i32_add();
                }
                self.code().local_set(local);
            }
        }
    }

    /// Sets a local to the address of the offsets of the group's half of a chunk, in the list at a field of the context.
    fn locate_half(&mut self, list: u64, quad: Option<u32>, local: u32) {
        let (context, group) = (self.context, self.group);
        self.code().local_get(context).i32_load(word(list)).local_get(group).i32_add();
        if let Some(quad) = quad {
            self.code().local_get(quad).i32_sub();
        }
        self.code().local_set(local);
    }

    /// Pushes an interpolated input: the x terms plus the y terms of the pixels.
    pub(super) fn interpolant(&mut self, Interpolant { number, part }: Interpolant) {
        let InterpolantLocals { terms: [x, y], .. } =
            self.pixels.interpolants.expect("the function was searched for inputs");
        let at = u64::from(number) * size_of::<LinearInterpolant>() as u64;
        let from = vector(at + u64::from(part * VECTOR));
        self.code().local_get(x).v128_load(from).local_get(y).v128_load(from).f32x4_add();
    }

    /// Stores the left and the right pixel of a row of a quad.
    pub(super) fn store_color(
        &mut self,
        StoreColor { target, row, part }: StoreColor,
        pixels: [VReg; 2],
    ) {
        let row = self.pixels.planes[&target].rows[usize::from(row)];
        for (n, pixel) in (0..).zip(pixels) {
            let pixel = self.local(pixel);
            let to = memory(u64::from(part * ROW_OF_QUAD + n * PIXEL), 2);
            self.code().local_get(row).local_get(pixel).v128_store(to);
        }
    }
}

/// Returns the operand of an array element in [`PixelOffsets`].
fn element(array: usize, n: usize) -> MemArg {
    word((array + n * size_of::<u32>()) as u64)
}
