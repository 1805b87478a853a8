//! Blending and stores of many pixels at a time, each as [`Rb3d::write`] stores it: fixed-point targets of 16 and 32 bits a pixel.

use r500_chip::values::BlendFunction;
use r500_isa::TARGETS;
use r500_simd::SimdLevel;
use r500_simd::level::Portable;

use super::Rb3d;
use super::blend::Blend;
use super::format::{Fraction, Fractions};
use crate::batch::{Batch, LANES, Lane};
use crate::quad::FillArea;
use crate::surface::{Offsets, Pairs};

/// The block in a state for which many pixels can be stored at a time.
pub(crate) struct RenderLanes<'a> {
    targets: [Option<TargetLanes<'a>>; TARGETS],
}

/// A render target.
pub(crate) struct TargetLanes<'a> {
    /// The program's colour.
    pub(crate) color: usize,
    /// Its channels that are C0 to C3.
    selects: [usize; 4],
    surface: Pairs<'a>,
    format: Fractions,
    /// Pixel bits that are written, and whether these are all.
    bits: u32,
    whole: bool,
    blend: Option<&'a Blend>,
}

impl Rb3d {
    /// Prepares the block; `None` if only [`write`](Self::write) implements its state.
    pub(crate) fn lanes(&self) -> Option<RenderLanes<'_>> {
        if self.resolve.is_some() || self.rop.is_some() {
            return None;
        }
        let mut targets = [const { None }; TARGETS];
        for (lanes, target) in targets.iter_mut().zip(self.written()) {
            let format = &target.format;
            // Float constants, and components that are not clamped, belong to formats of floats.
            if self.blend.is_some() && (!format.is_fixed() || format.intensity().is_some()) {
                return None;
            }
            *lanes = Some(TargetLanes {
                color: target.color,
                selects: format.selects(),
                surface: target.surface.pairs([0; 2])?,
                format: format.fractions()?,
                bits: target.bits as u32,
                whole: target.bits == format.all_bits(),
                blend: self.blend.as_ref(),
            });
        }
        Some(RenderLanes { targets })
    }
}

impl<'a> RenderLanes<'a> {
    /// Notes the bytes that were written.
    pub(crate) fn finish(self) {
        for target in self.targets.into_iter().flatten() {
            target.surface.finish();
        }
    }

    /// Returns the pixels of the targets if every pixel has these colours; `None` if they depend on what is stored.
    pub(crate) fn fill(&self, colors: &[[f32; 4]; TARGETS]) -> Option<[u32; TARGETS]> {
        let mut values = [0; TARGETS];
        for (value, target) in values.iter_mut().zip(self.targets.iter().flatten()) {
            if !target.whole || target.blend.is_some() {
                return None;
            }
            let color = colors[target.color];
            let components = target.selects.map(|select| [color[select]; LANES]);
            *value = encode::<Portable>(&target.format, components.each_ref())[0];
        }
        Some(values)
    }

    /// Returns the targets.
    #[inline(always)]
    pub(crate) fn targets(&mut self) -> impl Iterator<Item = &mut TargetLanes<'a>> {
        self.targets.iter_mut().flatten()
    }
}

impl TargetLanes<'_> {
    /// Returns where the pixels of a batch are, and asks for them to be in the cache when it is written.
    #[inline(always)]
    pub(crate) fn prepare(&self, batch: &Batch) -> Offsets {
        let offsets = self.surface.offsets(batch);
        self.surface.prefetch(batch, &offsets);
        offsets
    }

    /// Stores a value.
    #[inline(always)]
    pub(crate) fn fill<L: SimdLevel>(&mut self, level: L, area: FillArea, value: u32) {
        self.surface.fill(level, area, value, 0);
    }

    /// Writes the pixels in `left`. `rgba` has their colours, red first.
    #[inline(always)]
    pub(crate) fn write<L: SimdLevel>(
        &mut self,
        level: L,
        batch: &Batch,
        offsets: &Offsets,
        left: &Lane<bool>,
        rgba: [&Lane<f32>; 4],
    ) {
        let Self { surface, format, bits, whole, blend, selects, .. } = self;
        let components = selects.map(|select| rgba[select & 3]);
        let stored = match !*whole || blend.is_some() {
            true => surface.gather(level, batch, offsets),
            false => [0; LANES],
        };
        let mut left = *left;
        let mut values = match blend {
            None => encode::<L>(format, components),
            Some(blend) => {
                let source = blend.sources::<L>(format, components);
                blend.discard(&source, &mut left);
                encode::<L>(format, blend.lanes(format, &source, &stored).each_ref())
            }
        };
        if !*whole {
            for (value, stored) in values.iter_mut().zip(&stored) {
                *value = *stored & !*bits | *value & *bits;
            }
        }
        surface.scatter(level, batch, offsets, &values, &left);
    }
}

/// Encodes C0 to C3, as [`PixelFormat::encode`](super::format::PixelFormat::encode) does.
#[inline(always)]
fn encode<L: SimdLevel>(format: &Fractions, components: [&Lane<f32>; 4]) -> Lane<u32> {
    let mut pixels: Lane<u32> = [0; LANES];
    for (part, component) in format.parts.iter().zip(components) {
        let Some(Fraction { lo, bits, cut }) = *part else { continue };
        let codes = codes::<L>(component, bits + cut);
        for (pixel, code) in pixels.iter_mut().zip(&codes) {
            *pixel |= (code >> cut) << lo;
        }
    }
    pixels
}

/// Returns numbers as codes of at most 26 bits, rounded to nearest even. Numbers below 0 and NaN are 0, those above 1 the largest code.
#[inline(always)]
fn codes<L: SimdLevel>(numbers: &Lane<f32>, bits: u32) -> Lane<u32> {
    let most = u32::MAX >> (32 - bits);
    let mut codes: Lane<u32> = [0; LANES];
    let clamp = |x: f32| {
        let x = if x > 0.0 { x } else { 0.0 };
        if x < 1.0 { x } else { 1.0 }
    };
    if L::MUL_ADD && bits <= FUSED_BITS {
        let most = most as f32;
        for (code, x) in codes.iter_mut().zip(numbers) {
            // The sum is rounded once, to an integer, which is in the lowest bits.
            *code = clamp(*x).mul_add(most, FUSED_ONES).to_bits() & !FUSED_ONES.to_bits();
        }
        return codes;
    }
    for (code, x) in codes.iter_mut().zip(numbers) {
        // The product is exact.
        *code = crate::su::round_ties_even_to_u32(f64::from(clamp(*x)) * f64::from(most));
    }
    codes
}

/// Codes of as many bits are float32 numbers, next to a number whose last bit counts ones.
const FUSED_BITS: u32 = 22;
const FUSED_ONES: f32 = 8_388_608.0;

/// Returns the numbers that codes stand for.
#[inline(always)]
fn decode(codes: &Lane<u32>, bits: u32) -> Lane<f32> {
    let most = u32::MAX >> (32 - bits);
    let mut numbers: Lane<f32> = [0.0; LANES];
    for (number, code) in numbers.iter_mut().zip(codes) {
        // Both are exact as floats; signed conversion is an instruction.
        *number = (code & most).cast_signed() as f32 / most.cast_signed() as f32;
    }
    numbers
}

impl Blend {
    /// Returns the sources of C0 to C3.
    #[inline(always)]
    fn sources<L: SimdLevel>(
        &self,
        format: &Fractions,
        components: [&Lane<f32>; 4],
    ) -> [Lane<f32>; 4] {
        std::array::from_fn(|c| {
            self.source_lanes(components[c], |numbers| {
                decode(&codes::<L>(numbers, format.sent_bits), format.sent_bits)
            })
        })
    }

    /// Leaves out the pixels that the source does not change.
    #[inline(always)]
    fn discard(&self, source: &[Lane<f32>; 4], left: &mut Lane<bool>) {
        if !self.may_discard() {
            return;
        }
        for (lane, left) in left.iter_mut().enumerate() {
            *left &= !self.discards_source(source.each_ref().map(|c| c[lane]));
        }
    }

    /// Blends sources with stored pixels.
    #[inline(always)]
    fn lanes(
        &self,
        format: &Fractions,
        source: &[Lane<f32>; 4],
        stored: &Lane<u32>,
    ) -> [Lane<f32>; 4] {
        let widen = |numbers: &Lane<f32>| numbers.map(f64::from);
        let source = source.each_ref().map(widen);
        let destination: [Lane<f64>; 4] = std::array::from_fn(|c| match format.parts[c] {
            None => [self.missing(c).into(); LANES],
            Some(Fraction { lo, bits, .. }) => widen(&decode(&stored.map(|s| s >> lo), bits)),
        });
        let mut blended = [[0.0; LANES]; 4];
        for (c, blended) in blended.iter_mut().enumerate() {
            if format.parts[c].is_none() {
                continue;
            }
            let (function, from, to) = self.equation(c);
            let (s, d) = (&source[c], &destination[c]);
            let factor = |factor| self.factors(factor, c, &source, &destination);
            match function {
                BlendFunction::MIN => {
                    for (lane, blended) in blended.iter_mut().enumerate() {
                        *blended = (if s[lane] < d[lane] { s[lane] } else { d[lane] }) as f32;
                    }
                    continue;
                }
                BlendFunction::MAX => {
                    for (lane, blended) in blended.iter_mut().enumerate() {
                        *blended = (if s[lane] > d[lane] { s[lane] } else { d[lane] }) as f32;
                    }
                    continue;
                }
                _ => {}
            }
            // Factors and colours are finite, so a product with 0 is 0.
            let (a, b) = (factor(from), factor(to));
            let signs = match function {
                BlendFunction::SUB | BlendFunction::SUB_NO_CLAMP => [1.0, -1.0],
                BlendFunction::REVERSE_SUB | BlendFunction::REVERSE_SUB_NO_CLAMP => [-1.0, 1.0],
                _ => [1.0, 1.0],
            };
            for (lane, blended) in blended.iter_mut().enumerate() {
                // Stores clamp to 0..1.
                *blended = (s[lane] * a[lane] * signs[0] + d[lane] * b[lane] * signs[1]) as f32;
            }
        }
        blended
    }
}

#[cfg(test)]
mod tests {
    use r500_simd::{Simd, SimdTask};

    use super::*;

    struct Codes(Lane<f32>, u32);

    impl SimdTask for Codes {
        type Output = Lane<u32>;

        #[inline(always)]
        fn run<L: SimdLevel>(self, _: L) -> Lane<u32> {
            codes::<L>(&self.0, self.1)
        }
    }

    /// Numbers next to each code and to each middle of two, at every level. The expected code is that of exact integers.
    #[test]
    fn codes_are_the_nearest_even_ones() {
        let exact = |x: f32, most: u32| {
            if x.is_nan() || x <= 0.0 {
                return 0;
            }
            if x >= 1.0 {
                return most;
            }
            // x is m / 2^e with 0 < m < 2^24; below 2^-60 it is nearer to 0 than to any middle.
            let e = 150 - i32::from((x.to_bits() >> 23 & 0xff) as u8).max(1);
            let m = u128::from(x.to_bits() & 0x7f_ffff | if x.is_normal() { 1 << 23 } else { 0 });
            if e > 100 {
                return 0;
            }
            let (product, one) = (m * u128::from(most), 1_u128 << e);
            let (whole, rest) = (product / one, product % one);
            let up = 2 * rest > one || 2 * rest == one && whole % 2 == 1;
            whole as u32 + u32::from(up)
        };
        for bits in 1..=26 {
            let most = u32::MAX >> (32 - bits);
            let mut numbers =
                vec![0.0, -0.0, 1.0, -1.0, 2.0, f32::NAN, f32::INFINITY, 1e-30, 1e-40];
            let step = (most / 500).max(1);
            for n in (0..most).step_by(step as usize).chain([most - 1]) {
                for middle in [0.0, 0.5] {
                    let near = ((f64::from(n) + middle) / f64::from(most)) as f32;
                    numbers.extend([near.next_down(), near, near.next_up()]);
                }
            }
            for chunk in numbers.chunks(LANES) {
                let mut lanes = [0.0; LANES];
                lanes[..chunk.len()].copy_from_slice(chunk);
                for level in Simd::available() {
                    let got = level.run_plain(Codes(lanes, bits));
                    let wanted = lanes.map(|x| exact(x, most));
                    assert_eq!(got, wanted, "{bits} bits, {}: {lanes:?}", level.name());
                }
            }
        }
    }
}
