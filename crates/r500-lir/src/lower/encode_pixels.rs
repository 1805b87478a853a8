//! Colour stores in a surface's format: components are encoded in vectors of 32 bits, which are permuted to rows of pixels.
//!
//! [`r500_exec::output::color`] defines the encodings. A fixed-point code is the exact product with the largest code, rounded to nearest
//! even: a fused multiply-add with 2^23 or 1.5 * 2^23, whose last place has the value 1, leaves the code in the lowest bits of the sum.
//!
//! ```text
//! x → min (max x 0) 1 → x * 255 + 2^23 → shifted, merged with the other components → rows of pixels
//! ```

use r500_exec::output::color::{Code, Component, PixelEncoding};
use r500_fast::codegen::ColorStore;

use super::Lower;
use crate::{Class, Op, Opcode, PixelRows, Relation, VReg};

/// 2^23: floats from this number to its double have no fraction bits.
const NO_FRACTIONS: f32 = 8_388_608.0;

/// Returns whether code can store this encoding. `discards`: whether some pixels are uncovered, so that these must keep their bytes.
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "code elsewhere stores floats alone")
)]
pub fn supports(encoding: &PixelEncoding, discards: bool) -> bool {
    // The sRGB curve needs double precision. Pixels of one or two bytes would have to be loaded one by one to be kept.
    encoding.components().all(|component| component.code != Code::Srgb)
        && !(discards && encoding.bytes < 4)
}

impl Lower<'_> {
    /// Stores the pixels of a surface.
    pub(super) fn surface_color(&mut self, color: &ColorStore, encoding: &PixelEncoding) {
        let dwords: Vec<VReg> = (0..u32::from(encoding.bytes).div_ceil(4))
            .map(|number| self.dword(color, encoding, number))
            .collect();
        let mut rows = self.pixel_rows(&dwords);
        if encoding.bytes < 4 {
            let narrow = Opcode::Narrow(encoding.bytes);
            rows.iter_mut().for_each(|row| *row = self.op(narrow, &[*row]));
        }
        let kept = color.covered.then(|| {
            let covered = self.covered();
            self.pixel_rows(&vec![covered; dwords.len()])
        });
        for (number, mut row) in rows.into_iter().enumerate() {
            let of = PixelRows {
                target: color.target,
                bytes: encoding.bytes,
                number: number as u8,
                part: 0,
            };
            if let Some(kept) = &kept {
                let mask = match self.caps.mask_class {
                    Class::Vector => kept[number],
                    Class::Mask => self.op(Opcode::ToMask, &[kept[number]]),
                };
                let old = self.op(Opcode::LoadPixels(of), &[]);
                row = self.op(Opcode::Blend, &[mask, row, old]);
            }
            let args = [Some(row), None, None];
            let opcode = Opcode::StorePixels(of);
            self.push(Op { opcode, dst: None, args, origin: self.origin });
        }
    }

    /// Returns 32 bits of each pixel: number `number` from the lowest up.
    fn dword(&mut self, color: &ColorStore, encoding: &PixelEncoding, number: u32) -> VReg {
        let (mut constant, mut value) = (0, None);
        for component in encoding.components().filter(|component| component.lo / 32 == number) {
            let x = self.vector(color.channels[component.channel]);
            let x = self.vector_of(x);
            let lo = component.lo % 32;
            if let Some(bits) = self.constant(x) {
                constant |= component.encode(f32::from_bits(bits)) << lo;
                continue;
            }
            let code = self.code_at(color, &component, x, lo);
            value = Some(match value {
                Some(value) => self.op(Opcode::Or, &[value, code]),
                None => code,
            });
        }
        match value {
            Some(value) if constant != 0 => {
                let constant = self.bits(constant);
                self.op(Opcode::Or, &[value, constant])
            }
            Some(value) => value,
            None => self.bits(constant),
        }
    }

    /// Returns a component's code, shifted to its position in its 32 bits, with all other bits zero.
    fn code_at(&mut self, color: &ColorStore, component: &Component, x: VReg, lo: u32) -> VReg {
        let &Component { channel, bits, code, .. } = component;
        let (code, clean) = match code {
            Code::Unorm => (self.unorm(x, bits), false),
            Code::Snorm => (self.snorm(x, bits, color.non_nan[channel]), false),
            Code::Half => {
                let x = self.channel(color.channels[channel], color.non_nan[channel], None);
                (self.op(Opcode::ToHalf, &[x]), true)
            }
            Code::Float => {
                (self.channel(color.channels[channel], color.non_nan[channel], None), true)
            }
            Code::Srgb => unreachable!("`supports` excludes it"),
        };
        // For a component that ends at bit 31, the shift drops the bits above the code.
        let code = match clean || lo + bits == 32 {
            true => code,
            false => {
                let mask = self.bits((1 << bits) - 1);
                self.op(Opcode::And, &[code, mask])
            }
        };
        if lo == 0 { code } else { self.op(Opcode::Shl(lo as u8), &[code]) }
    }

    /// Encodes an unsigned normalised component, in the lowest bits. NaN becomes 0: the maximum of NaN and 0 is 0.
    fn unorm(&mut self, x: VReg, bits: u32) -> VReg {
        let [zero, one] = [0.0, 1.0].map(|x| self.float(x));
        let x = self.op(Opcode::Max, &[x, zero]);
        let x = self.op(Opcode::Min, &[x, one]);
        self.fixed_point(x, (1_u32 << bits) - 1, NO_FRACTIONS)
    }

    /// Encodes a signed normalised component in two's complement, in the lowest bits: 1.5 * 2^23 leaves room for negative codes.
    fn snorm(&mut self, x: VReg, bits: u32, number: bool) -> VReg {
        let [zero, one, least] = [0.0, 1.0, -1.0].map(|x| self.float(x));
        let x = match number {
            true => x,
            false => {
                let nan = self.compare(Relation::Ne, x, x);
                self.choose(nan, zero, x)
            }
        };
        let x = self.op(Opcode::Max, &[x, least]);
        let x = self.op(Opcode::Min, &[x, one]);
        self.fixed_point(x, (1_u32 << (bits - 1)) - 1, 1.5 * NO_FRACTIONS)
    }

    fn fixed_point(&mut self, x: VReg, largest: u32, base: f32) -> VReg {
        // The product with codes of up to 16 bits is exact.
        let (largest, base) = (self.float(largest as f32), self.float(base));
        self.op(Opcode::MulAdd, &[x, largest, base])
    }

    /// Permutes one, two or four vectors with 32 bits of each pixel to as many vectors of rows, as [`PixelRows`] describes.
    fn pixel_rows(&mut self, dwords: &[VReg]) -> Vec<VReg> {
        match *dwords {
            [a] => vec![self.op(Opcode::PermuteQuads, &[a])],
            [a, b] => {
                [Opcode::UnpackLo32, Opcode::UnpackHi32].map(|half| self.op(half, &[a, b])).into()
            }
            [a, b, c, d] => {
                let rows = self.float_rows([a, b, c, d]);
                // With AVX-512, both halves of a row are in one vector: order by the rows of the chunk.
                let order = if self.caps.rows { [0, 2, 1, 3] } else { [0, 1, 2, 3] };
                order.map(|number: usize| rows.as_flattened()[number]).into()
            }
            _ => unreachable!("pixels have 4, 8 or 16 bytes here"),
        }
    }
}
