//! `RB3D`: the render backend. Blending, logic operations, channel masks, render targets, resolve.

mod blend;
mod format;
mod lanes;

pub(crate) use lanes::RenderLanes;

use r500_chip::rb3d::{
    Rb3dAaresolveCtl, Rb3dAaresolveOffset, Rb3dAaresolvePitch, Rb3dCctl, Rb3dColorChannelMask,
    Rb3dColoroffset, Rb3dColorpitch, Rb3dDitherCtl, Rb3dRopcntl,
};
use r500_chip::tiling::Tiling;
use r500_chip::values::{DitherMode, MicroTile};
use r500_isa::TARGETS;
use r500_isa::state::UsOutFmt;
use r500_isa::values::OutFormat;
use r500_stream::State;

use crate::reading::{Readings, TargetRounding};
use crate::report::{Note, Report};
use crate::surface::Surface;
use blend::Blend;
use format::PixelFormat;

/// State of the block.
#[derive(Debug)]
pub(crate) struct Rb3d {
    targets: Vec<Target>,
    blend: Option<Blend>,
    /// Code of the logic operation, if enabled.
    rop: Option<u8>,
    resolve: Option<Resolve>,
}

/// A render target of a draw.
#[derive(Debug)]
struct Target {
    /// Its number, 0 to 3.
    number: usize,
    /// The program's colour that it stores, 0 to 3.
    color: usize,
    surface: Surface,
    format: PixelFormat,
    /// Pixel bits that are written.
    bits: u128,
}

/// A resolve: averages the samples of target A into another surface.
#[derive(Debug)]
struct Resolve {
    surface: Surface,
    /// Whether the mean is computed in linear light, gamma 2.2.
    gamma: bool,
    /// Whether alpha is that of sample 0.
    alpha_of_first: bool,
}

impl Rb3d {
    /// Reads the registers. `written` tells which colours the fragment program writes.
    pub(crate) fn new(
        state: &State,
        written: [bool; TARGETS],
        samples: usize,
        readings: &Readings,
        report: &mut Report,
    ) -> Self {
        let registers = &state.registers;
        let cctl: Rb3dCctl = registers.get();
        let masks = registers.get::<Rb3dColorChannelMask>().bits();
        let rop: Rb3dRopcntl = registers.get();
        let dither: Rb3dDitherCtl = registers.get();
        let nearest = match dither.dither_mode() {
            DitherMode::TRUNCATE => readings.target_rounding == TargetRounding::Nearest,
            _ => true,
        };
        let first: Rb3dColorpitch = registers.get();
        let mut targets = Vec::new();
        for n in 0..TARGETS {
            let out_fmt: UsOutFmt = registers.member(n as u32);
            // Either colour A goes to several targets, or each target stores its own.
            let copies = n <= usize::from(cctl.num_multiwrites().code());
            let color = if copies { 0 } else { n };
            let binding = state.member_binding::<Rb3dColoroffset>(n as u32);
            let (Some(binding), true) = (binding, written[color]) else { continue };
            let out_fmt = if copies { registers.get() } else { out_fmt };
            if out_fmt.out_fmt() == OutFormat::UNUSED {
                continue;
            }
            let pitch: Rb3dColorpitch = registers.member(n as u32);
            let of_format = match cctl.independent_colorformat_enable() {
                true => pitch,
                false => first,
            };
            let format = PixelFormat::new(of_format.colorformat(), out_fmt, nearest);
            let Some(format) = format else {
                let why = format!(
                    "COLORFORMAT {} with OUT_FMT {}",
                    of_format.colorformat().code(),
                    out_fmt.out_fmt().code()
                );
                report.note(Note::Target { target: n, why });
                continue;
            };
            let shift = if cctl.independent_color_channel_mask_enable() { 4 * n } else { 0 };
            let bits = format.write_mask((masks >> shift & 15) as u8);
            let base = registers.member::<Rb3dColoroffset>(n as u32).bits() & !31;
            let tiling = Tiling {
                log2_bytes: format.log2_bytes(),
                macro_tiled: pitch.colortile(),
                micro: pitch.colormicrotile(),
            };
            let (buffer, endian) = (binding.buffer.clone(), pitch.colorendian());
            let columns = u32::from(pitch.colorpitch()) * 2;
            let surface = Surface::new(buffer, base, columns, tiling, endian).with_samples(samples);
            targets.push(Target { number: n, color, surface, format, bits });
        }
        let resolve = resolve(state, &mut targets);
        Self {
            targets,
            blend: Blend::new(state, readings),
            rop: rop.rop_enable().then(|| rop.rop()),
            resolve,
        }
    }

    /// Writes the colours of a pixel to its covered samples.
    pub(crate) fn write(&self, at: [u32; 2], mask: u8, colors: &[[f32; 4]; TARGETS]) {
        if let Some(resolve) = &self.resolve {
            if let Some(target) = self.targets.first() {
                resolve.pixel(target, at);
            }
            return;
        }
        for target in self.written() {
            let color = target.format.components(colors[target.color]);
            // The logic operation replaces blending.
            let blend = self.blend.as_ref().filter(|_| self.rop.is_none());
            if blend.is_some_and(|blend| blend.discards(&target.format, color)) {
                continue;
            }
            // Without blending, all samples get the same bits.
            let plain = target.format.encode(color);
            for sample in 0..target.surface.samples {
                if mask >> sample & 1 != 0 {
                    self.sample(target, at, sample, color, plain);
                }
            }
        }
    }

    fn sample(&self, target: &Target, at: [u32; 2], sample: u32, color: [f32; 4], plain: u128) {
        let format = &target.format;
        let whole = target.bits == format.all_bits();
        let reads = !whole || self.blend.is_some() || self.rop.is_some();
        let stored = if reads { target.surface.load(at, sample) } else { 0 };
        // The logic operation replaces blending.
        let value = match (self.rop, &self.blend) {
            (Some(rop), _) => logic(rop, plain, stored),
            (None, Some(blend)) => format.encode(blend.apply(format, color, stored)),
            (None, None) => plain,
        };
        let value = stored & !target.bits | value & target.bits;
        target.surface.store(at, sample, value);
    }
}

impl Rb3d {
    /// Returns the targets of which the draw may write bits.
    fn written(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| target.bits != 0)
    }

    /// Returns the surfaces that the draw reads or writes.
    pub(crate) fn surfaces(&self) -> impl Iterator<Item = &Surface> {
        let resolved = self.resolve.iter().map(|resolve| &resolve.surface);
        // A resolve reads its source whatever the channel mask is.
        let targets = self.targets.iter().filter(|it| it.bits != 0 || self.resolve.is_some());
        targets.map(|target| &target.surface).chain(resolved)
    }

    /// Returns whether colours change nothing.
    pub(crate) fn ignores_colors(&self) -> bool {
        self.resolve.is_none() && self.written().next().is_none()
    }

    /// Returns size and colours of target `n`, up to a width and height; `None` if it is not bound.
    pub(crate) fn picture(&self, n: usize, most: [u32; 2]) -> Option<([u32; 2], Vec<[f32; 4]>)> {
        let target = self.targets.iter().find(|target| target.number == n)?;
        let surface = &target.surface;
        let [width, height] = [most[0].min(surface.pitch), most[1].min(surface.rows())];
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        let color = |at| {
            let mut sum = [0.0; 4];
            for sample in 0..surface.samples {
                let rgba = target.format.rgba(target.format.decode(surface.load(at, sample)));
                sum.iter_mut().zip(rgba).for_each(|(sum, x)| *sum += x);
            }
            sum.map(|sum| sum / surface.samples as f32)
        };
        Some(([width, height], pixels.map(color).collect()))
    }
}

/// Reads a resolve's destination. The tile bits of target A's pitch describe it (observed); the multisampled surface
/// uses both kinds of tiles.
fn resolve(state: &State, targets: &mut [Target]) -> Option<Resolve> {
    let registers = &state.registers;
    let cntl: Rb3dAaresolveCtl = registers.get();
    if !cntl.aaresolve_mode() {
        return None;
    }
    let source = targets.first_mut()?;
    let buffer = state.binding::<Rb3dAaresolveOffset>()?.buffer.clone();
    let base = registers.get::<Rb3dAaresolveOffset>().bits() & !31;
    let pitch = u32::from(registers.get::<Rb3dAaresolvePitch>().aaresolve_pitch()) * 2;
    let tiling = source.surface.tiling();
    let surface = Surface::new(buffer, base, pitch, tiling, source.surface.endian);
    source.surface.set_tiling(Tiling { macro_tiled: true, micro: MicroTile::TILED, ..tiling });
    Some(Resolve {
        surface,
        gamma: cntl.aaresolve_gamma(),
        alpha_of_first: !cntl.aaresolve_alpha(),
    })
}

impl Resolve {
    /// Stores the mean of a pixel's samples, rounded once.
    fn pixel(&self, source: &Target, at: [u32; 2]) {
        let samples = source.surface.samples;
        let load = |sample| source.format.decode(source.surface.load(at, sample));
        let mut sum = [0.0_f64; 4];
        for sample in 0..samples {
            let color = load(sample);
            for (channel, (sum, x)) in sum.iter_mut().zip(color).enumerate() {
                let x = f64::from(x);
                *sum += if self.gamma && channel != 3 { x.powf(2.2) } else { x };
            }
        }
        let mut mean: [f64; 4] = sum.map(|sum| sum / f64::from(samples));
        if self.gamma {
            mean[..3].iter_mut().for_each(|x| *x = x.max(0.0).powf(1.0 / 2.2));
        }
        if self.alpha_of_first {
            mean[3] = load(0)[3].into();
        }
        self.surface.store(at, 0, source.format.encode_exact(mean));
    }
}

/// Applies a ROP2 code: its bit n is the result for the source bit 1 and the destination bit 0 of n.
fn logic(rop: u8, source: u128, stored: u128) -> u128 {
    let minterms = [!source & !stored, !source & stored, source & !stored, source & stored];
    let chosen = (0..).zip(minterms).filter(|(n, _)| rop >> n & 1 != 0);
    chosen.fold(0, |result, (_, minterm)| result | minterm)
}

#[cfg(test)]
mod tests;
