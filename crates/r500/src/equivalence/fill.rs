//! Values for resources that two programs read and their jobs do not provide.
//!
//! Bare programs (driver logs, C arrays, hex text) have no constants, textures or inputs. With zeros, differences would
//! be hidden: loops would not iterate, products would be 0. Both sides get the same values instead, register by
//! register, unless names show that the registers of the two do not correspond.

use std::path::Path;

use r500_check::ExternalReads;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Input, InputData, Job, Plane, Texture};

use super::{InterfaceMatch, Random, SIDES, Shared, Side};
use crate::texture::{Filter, Source, TextureSpec};

/// The resources that are read and not provided, and how each can be filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Registers that get the same values on both sides.
    pub filled: ExternalReads,
    /// Registers that one side provides and that are copied to the other: the side that provides them.
    pub copied: Vec<(Side, ExternalReads)>,
    /// Registers that cannot be filled: one side has names, so equal numbers mean nothing.
    pub unfilled: Vec<(Side, ExternalReads)>,
}

impl Fill {
    /// Finds the resources that two jobs read and do not provide. `sharing` lists the constants that get values by
    /// name.
    #[must_use]
    pub fn of(jobs: &[Job; 2], sharing: &InterfaceMatch) -> Self {
        let reads = jobs.each_ref().map(|job| ExternalReads::of(&job.program));
        let mut missing = [0, 1].map(|n| reads[n].missing(&jobs[n]));
        for (n, missing) in missing.iter_mut().enumerate() {
            let shared = |shared: &Shared| shared.places[n].clone();
            for (constant, _) in sharing.constants.iter().flat_map(shared) {
                missing.constants.remove(&constant);
            }
        }
        let mut fill = Self::default();
        // Registers correspond by number if both sides have the same program and the same names.
        let [a, b] = jobs;
        let same = a.program == b.program && a.uniforms == b.uniforms && a.inputs == b.inputs;
        let constants_have_names = !same && jobs.iter().any(|job| !job.uniforms.is_empty());
        let inputs_have_names = !same && jobs.iter().any(has_named_inputs);
        for n in 0..2 {
            let mut unfilled = ExternalReads::default();
            if constants_have_names {
                unfilled.constants = std::mem::take(&mut missing[n].constants);
            }
            if inputs_have_names {
                unfilled.inputs = std::mem::take(&mut missing[n].inputs);
            }
            if !unfilled.is_empty() {
                fill.unfilled.push((SIDES[n], unfilled));
            }
        }
        for n in 0..2 {
            // This side gets the value that the other provides under that number.
            let other = &jobs[1 - n];
            let absent = missing[n].missing(other);
            let copied = provided(&missing[n], &absent);
            if !copied.is_empty() {
                fill.copied.push((SIDES[1 - n], copied));
            }
            fill.filled = fill.filled.union(&absent);
        }
        fill
    }

    /// Returns whether both jobs provide everything that their programs read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filled.is_empty() && self.copied.is_empty() && self.unfilled.is_empty()
    }

    /// Fills both jobs with the values of a round. Round 0 uses ordinary values; later rounds also use edge cases:
    /// zeros, ones, large and tiny numbers, loops that do not iterate or iterate often.
    pub fn apply(&self, jobs: &mut [Job; 2], seed: u64, round: u64) {
        for (from, registers) in &self.copied {
            let (a, b) = jobs.split_at_mut(1);
            let (source, target) = match from {
                Side::A => (&a[0], &mut b[0]),
                Side::B => (&b[0], &mut a[0]),
            };
            copy(registers, source, target);
        }
        let mut random = Random::new(seed ^ FILL, round);
        for &n in &self.filled.constants {
            let value = [(); 4].map(|()| random.constant(round).to_bits());
            for job in jobs.iter_mut() {
                let open = job.program.state.missing_channels(usize::from(n));
                for (channel, value) in value.into_iter().enumerate() {
                    if open >> channel & 1 != 0 {
                        job.program.state.set_constant(usize::from(n), channel, value);
                    }
                }
            }
        }
        for n in bits(self.filled.int_constants) {
            let value = random.int_constant(round);
            jobs.iter_mut().for_each(|job| job.program.state.fc_int_const[n] = Some(value));
        }
        if self.filled.bool_constants != 0 {
            let value = UsFcBoolConst(random.word() & self.filled.bool_constants);
            jobs.iter_mut().for_each(|job| job.program.state.fc_bool_const = Some(value));
        }
        for n in bits(self.filled.textures.into()) {
            let texture = random.texture();
            jobs.iter_mut().for_each(|job| job.textures[n].clone_from(&texture));
        }
        let inputs: Vec<Input> =
            self.filled.inputs.keys().map(|&temp| random.input(temp)).collect();
        for job in jobs.iter_mut() {
            let given = job.inputs.get_or_insert_default();
            for input in &inputs {
                given.retain(|other| other.temp != input.temp);
                given.push(input.clone());
            }
        }
    }
}

/// Makes the values of fills differ from those of shared names under the same seed.
const FILL: u64 = 0x6669_6c6c;

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |n| set >> n & 1 != 0)
}

/// Returns the registers of `missing` that are not in `absent`.
fn provided(missing: &ExternalReads, absent: &ExternalReads) -> ExternalReads {
    let mut provided = missing.clone();
    provided.constants.retain(|n| !absent.constants.contains(n));
    provided.int_constants &= !absent.int_constants;
    provided.bool_constants &= !absent.bool_constants;
    provided.textures &= !absent.textures;
    provided.inputs.retain(|temp, _| !absent.inputs.contains_key(temp));
    provided
}

fn copy(registers: &ExternalReads, source: &Job, target: &mut Job) {
    for &n in &registers.constants {
        let value = source.program.state.constants[usize::from(n)];
        let open = target.program.state.missing_channels(usize::from(n));
        for (channel, value) in value.into_iter().enumerate() {
            let given = source.program.state.gives_channel(usize::from(n), channel);
            if open >> channel & 1 != 0 && given {
                target.program.state.set_constant(usize::from(n), channel, value);
            }
        }
    }
    for n in bits(registers.int_constants) {
        target.program.state.fc_int_const[n] = source.program.state.fc_int_const[n];
    }
    if registers.bool_constants != 0 {
        target.program.state.fc_bool_const = source.program.state.fc_bool_const;
    }
    for n in bits(registers.textures.into()) {
        target.textures[n].clone_from(&source.textures[n]);
        target.program.state.format[n] = source.program.state.format[n];
    }
    let given = source.inputs.iter().flatten();
    for input in given.filter(|input| registers.inputs.contains_key(&input.temp)) {
        target.inputs.get_or_insert_default().push(input.clone());
    }
}

fn has_named_inputs(job: &Job) -> bool {
    let named = |input: &Input| match &input.data {
        InputData::Planes(components) => components.iter().any(|c| !c.name.is_empty()),
        InputData::Values { .. } => false,
    };
    job.inputs.iter().flatten().any(named)
}

impl Random {
    /// Returns a value for a channel of a constant.
    pub(super) fn constant(&mut self, round: u64) -> f32 {
        const EDGES: [f32; 8] = [0.0, 1.0, -1.0, 0.5, 100.0, 1e-6, 1000.0, -0.0];
        match self.below(8) {
            0 if round > 0 => EDGES[self.below(8) as usize],
            1 | 2 => self.between(0.0, 1.0),
            _ => self.value(),
        }
    }

    /// Returns count, start and step of a loop, mostly with a few iterations.
    pub(super) fn int_constant(&mut self, round: u64) -> UsFcIntConst {
        // Drivers emit loops of 255 iterations that exit by a branch.
        let count = match self.below(8) {
            0 if round > 0 => [0, 1, 64, 200][self.below(4) as usize],
            0..4 => 1 + self.below(8) as u8,
            _ => 255,
        };
        let start = self.below(4) as u8;
        let step: i8 = [1, 1, 1, 0, 2, -1][self.below(6) as usize];
        UsFcIntConst::default()
            .with(UsFcIntConst::KR, count)
            .with(UsFcIntConst::KG, start)
            .with(UsFcIntConst::KB, step)
    }

    /// Returns a texture of noise that differs between channels, with a common sampler state.
    pub(super) fn texture(&mut self) -> Option<Texture> {
        let filter = [Filter::Nearest, Filter::Linear][self.below(2) as usize];
        let spec = TextureSpec {
            size: Some([16, 16, 1]),
            cells: 5,
            mag: filter,
            min: filter,
            seed: self.word().into(),
            ..TextureSpec::new(Source::Noise)
        };
        let no_files = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
        let mut texture = spec.load_with(&no_files, Path::new("")).ok()?;
        // The noise generator returns opaque texels.
        for texel in texture.levels.iter_mut().flat_map(|level| level.bytes.chunks_exact_mut(4)) {
            texel[3] = self.word() as u8;
        }
        Some(texture)
    }

    /// Returns an input of four planes over the picture.
    fn input(&mut self, temp: u8) -> Input {
        let plane = |random: &mut Self| Plane {
            c: random.between(-1.0, 1.0),
            du: random.between(-2.0, 2.0),
            dv: random.between(-2.0, 2.0),
        };
        Input::planes(temp, [(); 4].map(|()| plane(self)))
    }
}
