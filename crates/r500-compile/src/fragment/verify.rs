//! Checks a compilation: what the program draws is what the [evaluator](crate::evaluate) gives, for inputs, uniforms and textures of
//! any kind.

use std::fmt;

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Limits, Options, draw};
use r500_glsl::tree::Shader;
use r500_glsl::types::Dimensions;
use r500_isa::texture::{TxFilter0, TxFormat0, TxFormat1};
use r500_program::{InputData, Job, Level, Texture};

use super::Compiled;
use crate::comparison::{Random, same};
use crate::evaluate::{Quad, quad};

/// A pixel that the program draws otherwise than the shader says: an error of the compiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// What differs: `out[0].r`, `depth`, `discard`.
    pub what: String,
    /// What the evaluator gives.
    pub expected: f32,
    /// What the program draws.
    pub drawn: f32,
    /// The draw that shows it.
    pub job: Box<Job>,
    /// The pixel.
    pub pixel: [u32; 2],
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.pixel;
        write!(
            f,
            "{} is {} at ({x}, {y}); the shader gives {}",
            self.what, self.drawn, self.expected
        )
    }
}

impl std::error::Error for Mismatch {}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Pixels whose results are the same.
    pub pixels: usize,
    /// Pixels whose results the rules leave open.
    pub open: usize,
}

/// Instructions that a group of 16 pixels may take.
const MOST_INSTRUCTIONS: u64 = 200_000;

/// Side of the pictures that are compared.
pub(crate) const SIDE: u32 = 4;

/// Compares in `draws` pictures of 16 pixels, with numbers that `seed` chooses.
///
/// # Errors
/// [`Mismatch`], the first one.
pub fn verify(
    shader: &Shader,
    compiled: &Compiled,
    draws: usize,
    seed: u64,
) -> Result<Checked, Box<Mismatch>> {
    let mut random = Random::new(seed);
    let mut checked = Checked::default();
    for _ in 0..draws {
        let job = random_draw(compiled, &mut random);
        compare(shader, compiled, &job, &mut checked)?;
    }
    Ok(checked)
}

/// Compares a draw of the program.
///
/// # Errors
/// [`Mismatch`], the first one.
pub fn compare(
    shader: &Shader,
    compiled: &Compiled,
    job: &Job,
    checked: &mut Checked,
) -> Result<(), Box<Mismatch>> {
    let size = job.size.unwrap_or([SIDE; 2]);
    let options = Options {
        limits: Limits { instructions: MOST_INSTRUCTIONS, ..Limits::default() },
        threads: 1,
        ..Options::default()
    };
    let shaded = r500_exec::Shader::new(&job.program).ok().zip(Bindings::new(job, size).ok());
    let drawn = shaded.and_then(|(program, bindings)| {
        let frame = draw(&Reference, &program, &bindings, &options).ok()?;
        Some((frame, bindings))
    });
    // One that takes too long is not compared.
    let Some((frame, bindings)) = drawn else {
        checked.open += (size[0] * size[1]) as usize;
        return Ok(());
    };
    let pixels = compiled.pixels(&bindings);
    for (x, y) in (0..size[1]).step_by(2).flat_map(|y| (0..size[0]).step_by(2).map(move |x| (x, y)))
    {
        let expected = quad(shader, pixels, [x, y]);
        for lane in 0..4 {
            let [px, py] = [x + (lane as u32 & 1), y + (lane as u32 >> 1)];
            if px >= size[0] || py >= size[1] {
                continue;
            }
            if expected.open[lane] {
                checked.open += 1;
                continue;
            }
            let at = (py * size[0] + px) as usize;
            let differs = difference(&expected, lane, &frame, at);
            if let Some((what, expected, drawn)) = differs {
                let job = Box::new(job.clone());
                return Err(Box::new(Mismatch { what, expected, drawn, job, pixel: [px, py] }));
            }
            checked.pixels += 1;
        }
    }
    Ok(())
}

/// Returns what of a pixel differs, with both values.
fn difference(
    expected: &Quad,
    lane: usize,
    frame: &r500_exec::Frame,
    at: usize,
) -> Option<(String, f32, f32)> {
    let covered = frame.coverage()[at];
    if covered == expected.discarded[lane] {
        let number = |value: bool| f32::from(u8::from(value));
        return Some(("discard".to_owned(), number(expected.discarded[lane]), number(!covered)));
    }
    if !covered {
        return None;
    }
    for (target, color) in expected.colors.iter().enumerate() {
        let (Some(color), Some(pixels)) = (color, frame.target(target)) else { continue };
        for (channel, letter) in "rgba".chars().enumerate() {
            let (want, have) = (color[channel][lane], pixels[at][channel]);
            if !same(want, have) {
                return Some((format!("out[{target}].{letter}"), want, have));
            }
        }
    }
    let (want, have) = (expected.depth?[lane], frame.depth()?[at]);
    (!same(want, have)).then(|| ("depth".to_owned(), want, have))
}

pub(crate) fn random_draw(compiled: &Compiled, random: &mut Random) -> Job {
    let mut job = compiled.job.clone();
    job.size = Some([SIDE; 2]);
    for (uniform, base) in job.uniforms.clone().iter().zip(&compiled.uniform_bases) {
        for channel in 0..uniform.channels {
            let value = random.uniform(*base);
            let channel = usize::from(uniform.channel + channel);
            job.program.state.set_constant(usize::from(uniform.constant), channel, value.to_bits());
        }
    }
    for input in job.inputs.iter_mut().flatten() {
        let values = (0..SIDE * SIDE).map(|_| std::array::from_fn(|_| random.number())).collect();
        input.data = InputData::Values { width: SIDE, values };
    }
    for (unit, sampler) in compiled.samplers.iter().enumerate() {
        // Others than flat ones read as a unit that is not enabled.
        if matches!(sampler.dimensions, Dimensions::D1 | Dimensions::D2 | Dimensions::Rect) {
            job.textures[unit] = Some(random_texture(random));
        }
    }
    job
}

/// A texture of 4x4 texels of 8 bits, nearest filter, repeated.
fn random_texture(random: &mut Random) -> Texture {
    let bytes: Vec<u8> = (0..SIDE * SIDE * 4).map(|_| random.next() as u8).collect();
    Texture {
        // As Mesa's driver sets them for such a texture.
        filter0: TxFilter0(0x0000_0a00),
        format0: TxFormat0(0)
            .with(TxFormat0::TXWIDTH, SIDE as u16 - 1)
            .with(TxFormat0::TXHEIGHT, SIDE as u16 - 1),
        format1: TxFormat1(0x0008_860c),
        levels: vec![Level { width: SIDE, height: SIDE, layers: 1, bytes }],
        ..Texture::default()
    }
}
