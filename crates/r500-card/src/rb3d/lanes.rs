//! Blending and stores of many pixels at a time, each as [`Rb3d::write`] stores it: fixed-point targets of 16 and 32 bits a pixel.

use r500_chip::values::BlendFunction;
use r500_isa::TARGETS;

use super::Rb3d;
use super::blend::Blend;
use super::format::{Fraction, Fractions};
use crate::batch::{Batch, LANES, Lane};
use crate::quad::FillArea;
use crate::surface::Pairs;

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
        for (lanes, target) in targets.iter_mut().zip(&self.targets) {
            let format = &target.format;
            // Float constants, and components that are not clamped, belong to formats of floats.
            if self.blend.is_some() && (!format.is_fixed() || format.intensity().is_some()) {
                return None;
            }
            *lanes = Some(TargetLanes {
                color: target.color,
                selects: format.selects(),
                surface: target.surface.pairs()?,
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
            *value = encode(&target.format, components.each_ref())[0];
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
    /// Stores a value.
    #[inline(always)]
    pub(crate) fn fill(&mut self, area: FillArea, value: u32) {
        self.surface.fill(area, [0; 2], value, 0);
    }

    /// Writes the pixels in `left`. `rgba` has their colours, red first.
    #[inline(always)]
    pub(crate) fn write(&mut self, batch: &Batch, left: &Lane<bool>, rgba: [&Lane<f32>; 4]) {
        let Self { surface, format, bits, whole, blend, selects, .. } = self;
        let components = selects.map(|select| rgba[select & 3]);
        let offsets = surface.offsets(batch, [0; 2]);
        let stored = match !*whole || blend.is_some() {
            true => surface.gather(batch, &offsets),
            false => [0; LANES],
        };
        let mut left = *left;
        let mut values = match blend {
            None => encode(format, components),
            Some(blend) => {
                let source = blend.sources(format, components);
                blend.discard(&source, &mut left);
                encode(format, blend.lanes(format, &source, &stored).each_ref())
            }
        };
        if !*whole {
            for (value, stored) in values.iter_mut().zip(&stored) {
                *value = *stored & !*bits | *value & *bits;
            }
        }
        surface.scatter(batch, &offsets, &values, &left);
    }
}

/// Encodes C0 to C3, as [`PixelFormat::encode`](super::format::PixelFormat::encode) does.
#[inline(always)]
fn encode(format: &Fractions, components: [&Lane<f32>; 4]) -> Lane<u32> {
    let mut pixels: Lane<u32> = [0; LANES];
    for (part, component) in format.parts.iter().zip(components) {
        let Some(Fraction { lo, bits, cut }) = *part else { continue };
        let codes = codes(component, bits + cut);
        for (pixel, code) in pixels.iter_mut().zip(&codes) {
            *pixel |= (code >> cut) << lo;
        }
    }
    pixels
}

/// Returns numbers as codes of at most 26 bits, rounded to nearest even. Numbers below 0 and NaN are 0, those above 1 the largest code.
#[inline(always)]
fn codes(numbers: &Lane<f32>, bits: u32) -> Lane<u32> {
    let most = f64::from(u32::MAX >> (32 - bits));
    let mut codes: Lane<u32> = [0; LANES];
    for (code, x) in codes.iter_mut().zip(numbers) {
        let x = if *x > 0.0 { *x } else { 0.0 };
        let x = if x < 1.0 { x } else { 1.0 };
        // The product is exact.
        *code = crate::su::round_ties_even_to_u32(f64::from(x) * most);
    }
    codes
}

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
    fn sources(&self, format: &Fractions, components: [&Lane<f32>; 4]) -> [Lane<f32>; 4] {
        std::array::from_fn(|c| {
            self.source_lanes(components[c], |numbers| {
                decode(&codes(numbers, format.sent_bits), format.sent_bits)
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
