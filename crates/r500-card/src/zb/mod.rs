//! `ZB`: depth and stencil tests, occlusion counts, and depth clears.

mod lanes;

pub(crate) use lanes::{DepthFill, DepthLanes};

use r500_chip::tiling::Tiling;
use r500_chip::values::{CompareFunc, DepthFormat, StencilOp};
use r500_chip::zb::{
    ZbBwCntl, ZbCntl, ZbDepthclearvalue, ZbDepthoffset, ZbDepthpitch, ZbDepthxyOffset, ZbFormat,
    ZbStencilrefmask, ZbStencilrefmaskBf, ZbZstencilcntl, ZbZtop,
};
use r500_stream::State;

use crate::reading::{Depth16, Readings};
use crate::surface::Surface;

/// State of the block.
#[derive(Debug)]
pub(crate) struct Zb {
    surface: Option<Surface>,
    format: DepthFormat,
    invert: bool,
    depth_16: Depth16,
    /// Whether, and how, depth is compared as signed numbers.
    signed: Option<Signed>,
    /// Offset of columns and rows.
    offset: [u32; 2],
    /// The depth function; `None` if the test is off.
    depth_test: Option<CompareFunc>,
    depth_write: bool,
    /// Stencil state of front and back faces.
    stencil: Option<[Stencil; 2]>,
    /// Whether tests precede the fragment program.
    pub(crate) early: bool,
    /// The value to store in each covered pixel instead of testing.
    clear: Option<u32>,
    /// Whether colours are not written.
    pub(crate) no_colors: bool,
}

/// The interpretation of depth codes as signed numbers.
#[derive(Clone, Copy, Debug)]
enum Signed {
    TwosComplement,
    SignAndMagnitude,
}

impl Signed {
    /// Returns the number of a code.
    fn number(self, code: u32, bits: u32) -> i64 {
        let (sign, magnitude) = (code >> (bits - 1) & 1, code & !(1 << (bits - 1)));
        match (self, sign) {
            (_, 0) => i64::from(code),
            (Self::TwosComplement, _) => i64::from(code) - (1 << bits),
            (Self::SignAndMagnitude, _) => -i64::from(magnitude),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Stencil {
    func: CompareFunc,
    fail: StencilOp,
    zfail: StencilOp,
    zpass: StencilOp,
    reference: u8,
    mask: u8,
    write_mask: u8,
}

impl Zb {
    /// Returns the offset of columns and rows in the depth buffer.
    pub(crate) fn offset(&self) -> [u32; 2] {
        self.offset
    }

    /// Returns whether pixels of the depth buffer are read or written.
    pub(crate) fn is_used(&self) -> bool {
        self.clear.is_some() || self.depth_test.is_some() || self.stencil.is_some()
    }

    /// Returns the depth buffer, if there is one.
    pub(crate) fn surface(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    pub(crate) fn new(state: &State, samples: usize, readings: &Readings) -> Self {
        let registers = &state.registers;
        let cntl: ZbCntl = registers.get();
        let ops: ZbZstencilcntl = registers.get();
        let format: ZbFormat = registers.get();
        let clear: ZbBwCntl = registers.get();
        let offset: ZbDepthxyOffset = registers.get();
        let front: ZbStencilrefmask = registers.get();
        let back: ZbStencilrefmaskBf = registers.get();
        let front_masks = [front.stencilref(), front.stencilmask(), front.stencilwritemask()];
        let back_masks = match cntl.stencil_refmask_front_back() {
            true => [back.stencilref(), back.stencilmask(), back.stencilwritemask()],
            false => front_masks,
        };
        let stencil = |func, fail, zfail, zpass, [reference, mask, write_mask]: [u8; 3]| Stencil {
            func,
            fail,
            zfail,
            zpass,
            reference,
            mask,
            write_mask,
        };
        let faces = [
            stencil(
                ops.stencilfunc(),
                ops.stencilfail(),
                ops.stencilzfail(),
                ops.stencilzpass(),
                front_masks,
            ),
            match cntl.stencil_front_back() {
                true => stencil(
                    ops.stencilfunc_bf(),
                    ops.stencilfail_bf(),
                    ops.stencilzfail_bf(),
                    ops.stencilzpass_bf(),
                    back_masks,
                ),
                false => stencil(
                    ops.stencilfunc(),
                    ops.stencilfail(),
                    ops.stencilzfail(),
                    ops.stencilzpass(),
                    back_masks,
                ),
            },
        ];
        let format_code = format.depthformat();
        // Only one format has stencil bits.
        let has_stencil = cntl.stencil_enable() && format_code == DepthFormat::Z24S8;
        Self {
            surface: surface(state, format_code, samples),
            format: format_code,
            invert: format.invert(),
            depth_16: readings.depth_16,
            signed: cntl.zsigned_compare().then(|| match cntl.zsigned_magnitude() {
                true => Signed::SignAndMagnitude,
                false => Signed::TwosComplement,
            }),
            offset: [offset.depthx_offset(), offset.depthy_offset()].map(|n| u32::from(n) * 2),
            depth_test: cntl.z_enable().then_some(ops.zfunc()),
            // Without the test, depth is not written (derived from OpenGL's rules).
            depth_write: cntl.zwriteenable() && cntl.z_enable(),
            stencil: has_stencil.then_some(faces),
            early: registers.get::<ZbZtop>().ztop(),
            clear: clear
                .zb_cb_clear()
                .then(|| registers.get::<ZbDepthclearvalue>().depthclearvalue()),
            no_colors: ops.zero_output_mask(),
        }
    }

    /// Tests a sample of a pixel and updates depth and stencil. Returns whether it passes both tests. `depth` has 24
    /// bits.
    pub(crate) fn sample(&self, [x, y]: [u32; 2], sample: u32, depth: u32, back: bool) -> bool {
        let at = [x + self.offset[0], y + self.offset[1]];
        if let (Some(value), Some(surface)) = (self.clear, &self.surface) {
            surface.store(at, sample, value.into());
            return true;
        }
        if self.depth_test.is_none() && self.stencil.is_none() {
            return true;
        }
        // Without a buffer, the stored value is 0.
        let stored = self.surface.as_ref().map_or(0, |surface| surface.load(at, sample) as u32);
        let (value, both) = self.test(stored, depth, back);
        if value != stored
            && let Some(surface) = &self.surface
        {
            surface.store(at, sample, value.into());
        }
        both
    }

    /// Tests a sample with a stored pixel. Returns the pixel after it, and whether both tests pass. `depth` has 24 bits.
    #[inline(always)]
    fn test(&self, stored: u32, depth: u32, back: bool) -> (u32, bool) {
        let (old_depth, old_stencil) = match self.format {
            DepthFormat::Z24S8 => (stored >> 8, stored as u8),
            _ => (stored & 0xffff, 0),
        };
        let depth = self.code(depth);
        let depth_passes = self.depth_test.is_none_or(|func| match self.signed {
            None => passes(func, depth, old_depth),
            Some(signed) => {
                let bits = if self.format == DepthFormat::Z24S8 { 24 } else { 16 };
                passes(func, signed.number(depth, bits), signed.number(old_depth, bits))
            }
        });
        let mut new_stencil = old_stencil;
        let mut stencil_passes = true;
        if let Some(faces) = &self.stencil {
            let stencil = &faces[usize::from(back)];
            let mask = stencil.mask;
            stencil_passes = passes(stencil.func, stencil.reference & mask, old_stencil & mask);
            let op = match (stencil_passes, depth_passes) {
                (false, _) => stencil.fail,
                (true, false) => stencil.zfail,
                (true, true) => stencil.zpass,
            };
            let value = operate(op, old_stencil, stencil.reference);
            new_stencil = old_stencil & !stencil.write_mask | value & stencil.write_mask;
        }
        let both = depth_passes && stencil_passes;
        let new_depth = if both && self.depth_write { depth } else { old_depth };
        let value = match self.format {
            DepthFormat::Z24S8 => new_depth << 8 | u32::from(new_stencil),
            _ => new_depth,
        };
        (value, both)
    }

    /// Converts 24 bits of depth to the format of the buffer.
    fn code(&self, depth: u32) -> u32 {
        match self.format {
            DepthFormat::Z24S8 => depth,
            DepthFormat::Z16_13E3 => float_13e3(depth, self.invert),
            _ => match self.depth_16 {
                Depth16::Upper => depth >> 8,
                Depth16::Nearest => {
                    ((u64::from(depth) * 0xffff * 2 + 0xff_ffff) / (2 * 0xff_ffff)) as u32
                }
            },
        }
    }
}

fn surface(state: &State, format: DepthFormat, samples: usize) -> Option<Surface> {
    let pitch: ZbDepthpitch = state.registers.get();
    let offset: ZbDepthoffset = state.registers.get();
    let buffer = state.binding::<ZbDepthoffset>()?.buffer.clone();
    let tiling = Tiling {
        log2_bytes: if format == DepthFormat::Z24S8 { 2 } else { 1 },
        macro_tiled: pitch.depthmacrotile(),
        micro: pitch.depthmicrotile(),
    };
    let (base, columns) = (offset.depthoffset() << 5, u32::from(pitch.depthpitch()) * 4);
    let surface = Surface::new(buffer, base, columns, tiling, pitch.depthendian());
    Some(surface.with_samples(samples))
}

/// Converts depth to a float with 3 bits of exponent and 13 of mantissa, which counts leading zeros or ones; codes sort
/// as depths.
///
/// Documented by name; it is open which end is precise. Drivers do not use it.
fn float_13e3(depth: u32, ones: bool) -> u32 {
    let bits = if ones { !depth & 0xff_ffff } else { depth };
    let leading = (bits << 8).leading_zeros().min(7);
    // Without the leading bit, except for the smallest exponent.
    let shift = if leading == 7 { 7 } else { leading + 1 };
    let mantissa = (bits << shift & 0xff_ffff) >> 11;
    let code = (7 - leading) << 13 | mantissa;
    if ones { !code & 0xffff } else { code }
}

/// Returns whether a comparison of the new (reference) with the stored value holds.
fn passes<T: Ord>(func: CompareFunc, new: T, stored: T) -> bool {
    match func {
        CompareFunc::NEVER => false,
        CompareFunc::LESS => new < stored,
        CompareFunc::LEQUAL => new <= stored,
        CompareFunc::EQUAL => new == stored,
        CompareFunc::GEQUAL => new >= stored,
        CompareFunc::GREATER => new > stored,
        CompareFunc::NOTEQUAL => new != stored,
        _ => true,
    }
}

fn operate(op: StencilOp, old: u8, reference: u8) -> u8 {
    match op {
        StencilOp::ZERO => 0,
        StencilOp::REPLACE => reference,
        StencilOp::INCR => old.saturating_add(1),
        StencilOp::DECR => old.saturating_sub(1),
        StencilOp::INVERT => !old,
        StencilOp::INCR_WRAP => old.wrapping_add(1),
        StencilOp::DECR_WRAP => old.wrapping_sub(1),
        _ => old,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_chip::values::Endian;
    use r500_stream::{Buffer, BufferId};

    /// Returns the block after register writes, with a Z24S8 buffer of one pixel.
    fn zb(setup: &[(u32, u32)], stored: u32) -> Zb {
        let mut state = State::default();
        state.registers.write(0x4f10, 2);
        for (address, value) in setup {
            state.registers.write(*address, *value);
        }
        let mut zb = Zb::new(&state, 1, &Readings::REFERENCE);
        let tiling = Tiling::linear(if zb.format == DepthFormat::Z24S8 { 2 } else { 1 });
        let surface = Surface::new(Buffer::zeroed(BufferId(0), 128), 0, 4, tiling, Endian::NONE);
        surface.store([0, 0], 0, stored.into());
        zb.surface = Some(surface);
        zb
    }

    fn stored(zb: &Zb) -> u32 {
        zb.surface.as_ref().map_or(0, |surface| surface.load([0, 0], 0) as u32)
    }

    #[test]
    fn depth_functions_compare_new_with_stored() {
        // Results for a new depth below, at and above the stored depth of 100.
        let expected = [0b000, 0b001, 0b011, 0b010, 0b110, 0b100, 0b101, 0b111];
        for (func, expected) in (0..).zip(expected) {
            for (n, depth) in (0..).zip([99, 100, 101]) {
                let zb = zb(&[(0x4f00, 6), (0x4f04, func)], 100 << 8 | 0x5a);
                let passes = zb.sample([0, 0], 0, depth, false);
                assert_eq!(passes, expected >> n & 1 != 0, "{func} {depth}");
                let depth = if passes { depth } else { 100 };
                assert_eq!(stored(&zb), depth << 8 | 0x5a, "the stencil stays");
            }
        }
    }

    #[test]
    fn stencil_operations_follow_the_result_of_both_tests() {
        // Old value, reference 0x0f: results of each operation for 0 and 255.
        let results =
            [(0, 255), (0, 0), (0x0f, 0x0f), (1, 255), (0, 254), (255, 0), (1, 0), (255, 254)];
        for (op, (of_zero, of_max)) in (0..).zip(results) {
            for (old, expected) in [(0, of_zero), (255, of_max)] {
                // Function (3 bits from 3 on): always, or never for the first operation; depth passes or not.
                for (shift, stencil_func, depth_func) in [(6, 0, 7), (14 - 2, 7, 0), (9, 7, 7)] {
                    let ops = op << shift | stencil_func << 3 | depth_func;
                    let setup = [(0x4f00, 3), (0x4f04, ops), (0x4f08, 0xff_ff0f)];
                    let zb = zb(&setup, 77 << 8 | old);
                    let passes = zb.sample([0, 0], 0, 5, false);
                    assert_eq!(passes, (stencil_func, depth_func) == (7, 7));
                    assert_eq!(stored(&zb), 77 << 8 | expected, "{op} at {shift}");
                }
            }
        }
    }

    #[test]
    fn masks_select_the_bits_to_compare_and_to_write() {
        // Equal under mask 0xf0, replace, write mask 0x3c; reference 0xa5.
        let setup = [(0x4f00, 1), (0x4f04, 3 << 3 | 2 << 9), (0x4f08, 0x3c_f0_a5)];
        let same = zb(&setup, 0xaf);
        assert!(same.sample([0, 0], 0, 0, false));
        assert_eq!(stored(&same), 0xaf & !0x3c | 0xa5 & 0x3c);
        assert!(!zb(&setup, 0xbf).sample([0, 0], 0, 0, false));
    }

    #[test]
    fn back_faces_have_operations_and_references_of_their_own() {
        // Front: always, replace. Back: always, replace; reference 1 and 2.
        let ops = 7 << 3 | 2 << 9 | 7 << 15 | 2 << 21;
        let masks = [(0x4f08, 0xff_ff01), (0x4fd4, 0xff_ff02)];
        for (cntl, expected) in [(1 | 1 << 4 | 1 << 6, 2), (1 | 1 << 4, 1)] {
            let zb = zb(&[(0x4f00, cntl), (0x4f04, ops), masks[0], masks[1]], 0);
            zb.sample([0, 0], 0, 0, true);
            assert_eq!(stored(&zb), expected);
        }
    }

    #[test]
    fn sixteen_bits_keep_the_upper_ones() {
        let zb = zb(&[(0x4f10, 0), (0x4f00, 6), (0x4f04, 7)], 0);
        assert!(zb.sample([0, 0], 0, 0x12_34ff, false));
        assert_eq!(stored(&zb) & 0xffff, 0x1234);
    }

    #[test]
    fn a_colour_clear_stores_its_value_untested() {
        let zb = zb(&[(0x4f1c, 1 << 5), (0x4f28, 0x0102_0304), (0x4f00, 2)], 9);
        assert!(zb.sample([0, 0], 0, 0, false));
        assert_eq!(stored(&zb), 0x0102_0304);
    }

    #[test]
    fn signed_depth_compares_by_its_sign() {
        // Less: 0x800001 is the second smallest number in two's complement, and just below 0 in sign and magnitude.
        for (cntl, depth, stored_depth, expected) in [
            (6, 0x80_0001, 5, false),
            (6 | 1 << 3, 0x80_0001, 5, true),
            (6 | 1 << 3, 0x80_0001, 0xff_ffff, true),
            (6 | 1 << 3 | 1 << 5, 0x80_0001, 0xff_ffff, false),
            (6 | 1 << 3 | 1 << 5, 0x80_0001, 0, true),
        ] {
            let zb = zb(&[(0x4f00, cntl), (0x4f04, 1)], stored_depth << 8);
            assert_eq!(zb.sample([0, 0], 0, depth, false), expected, "{cntl:#x} {stored_depth:#x}");
        }
    }

    #[test]
    fn the_depth_buffer_may_lie_elsewhere() {
        // X 2, y 2.
        let zb = zb(&[(0x4f00, 6), (0x4f04, 7), (0x4f60, 1 << 1 | 1 << 17)], 0);
        zb.sample([1, 0], 0, 9, false);
        let surface = zb.surface.as_ref().map(|s| [[1, 0], [3, 2]].map(|at| s.load(at, 0)));
        assert_eq!(surface, Some([0, 9 << 8]));
    }

    #[test]
    fn floats_of_16_bits_sort_like_depths() {
        for ones in [false, true] {
            let codes = (0..=0xff_ffff).step_by(0xfff).map(|depth| float_13e3(depth, ones));
            assert!(codes.clone().is_sorted());
            assert!(codes.clone().all(|code| code <= 0xffff));
        }
    }
}
