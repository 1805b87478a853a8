//! One picture of two programs with the values that correspond.
//!
//! Both programs are drawn with what their files carry. What a file leaves open has a value by the rule of [`InterfaceMatch`]: uniforms
//! correspond by name or by what a log says, bare registers by number; a literal is never given to the other program. What corresponds to
//! nothing has a value of its own in each program, so that a verdict that depends on it shows.

use std::path::Path;

use r500_check::ExternalReads;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Input, InputData, Job, Plane, Texture};

use crate::search::CONFIRMING;
use crate::{InterfaceMatch, Random, Side};
use r500_image::texture::{Filter, Source, TextureSpec};

/// Values for what two jobs leave open.
#[derive(Clone, Debug)]
pub struct Fill<'a> {
    interface: &'a InterfaceMatch,
    seed: u64,
}

/// Which values registers have that correspond to nothing in the other program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnmatchedValues {
    /// Others in each program.
    Apart,
    /// This number in all of them.
    Alike(f32),
}

impl UnmatchedValues {
    /// Equal values with which a difference is confirmed: one that disappears depends on what corresponds to nothing.
    pub const CONFIRMING: [Self; 3] = {
        let [a, b, c] = CONFIRMING;
        [Self::Alike(a), Self::Alike(b), Self::Alike(c)]
    };
}

impl<'a> Fill<'a> {
    /// Returns the values of a seed for an interface.
    #[must_use]
    pub fn new(interface: &'a InterfaceMatch, seed: u64) -> Self {
        Self { interface, seed }
    }

    /// Returns whether registers have values that no file carries.
    #[must_use]
    pub fn makes_up_values(&self, jobs: &[Job; 2]) -> bool {
        let is_open = |places: &[Vec<(u8, u8)>; 2]| {
            let given = |n: usize| places[n].iter().any(|place| gives(&jobs[n], *place));
            !given(0) && !given(1)
        };
        !self.interface.missing.is_empty()
            || self.interface.constants.iter().any(|shared| is_open(&shared.places))
    }

    /// Returns whether a difference says something only if it is the same for all [`UnmatchedValues`]: the file of one program lacks
    /// constants, which may be the literals of the other.
    #[must_use]
    pub fn lacks_literals(&self, jobs: &[Job; 2]) -> bool {
        self.interface.lacks_literals(jobs)
    }

    /// Sets what the jobs leave open.
    pub fn apply(&self, jobs: &mut [Job; 2], unmatched: UnmatchedValues) {
        let mut random = Random::new(self.seed ^ FILL, 0);
        // A constant of which one channel is set is given.
        let carried = jobs.clone();
        for (from, registers) in &self.interface.copied {
            let [a, b] = jobs;
            match from {
                Side::A => copy_textures(registers, a, b),
                Side::B => copy_textures(registers, b, a),
            }
        }
        for shared in &self.interface.constants {
            for channel in 0..shared.places.iter().map(Vec::len).max().unwrap_or(0) {
                let places = shared.places.each_ref().map(|places| places.get(channel).copied());
                let value = random.constant(0).to_bits();
                // A uniform whose value only one file gives.
                let given = carried.iter().zip(places).find_map(|(job, place)| {
                    let (n, c) = place.filter(|place| gives(job, *place))?;
                    Some(job.program.state.constants[usize::from(n)][usize::from(c & 3)])
                });
                for ((job, carried), place) in jobs.iter_mut().zip(&carried).zip(places) {
                    if let Some(place) = place.filter(|place| !gives(carried, *place)) {
                        set(job, place, given.unwrap_or(value));
                    }
                }
            }
        }
        self.apply_resources(jobs, &mut random);
        for (job, registers) in jobs.iter_mut().zip(&self.interface.unmatched) {
            for &place in &registers.constants {
                let value = match unmatched {
                    UnmatchedValues::Apart => random.constant(0),
                    UnmatchedValues::Alike(value) => value,
                };
                set(job, place, value.to_bits());
            }
            for &place in &registers.temps {
                let plane = match unmatched {
                    UnmatchedValues::Apart => random.plane(),
                    UnmatchedValues::Alike(c) => Plane { c, du: 0.0, dv: 0.0 },
                };
                add_plane(job, place, plane);
            }
        }
        for shared in &self.interface.inputs {
            let plane = random.plane();
            for ((job, carried), places) in jobs.iter_mut().zip(&carried).zip(&shared.places) {
                let has = |temp: u8| carried.inputs.iter().flatten().any(|i| i.temp == temp);
                for &place in places.iter().filter(|(temp, _)| !has(*temp)) {
                    add_plane(job, place, plane);
                }
            }
        }
    }

    /// Sets integer and boolean constants and textures that neither file gives: the same in both programs.
    fn apply_resources(&self, jobs: &mut [Job; 2], random: &mut Random) {
        let missing = &self.interface.missing;
        for n in bits(missing.int_constants) {
            let value = random.int_constant(0);
            jobs.iter_mut().for_each(|job| job.program.state.fc_int_const[n] = Some(value));
        }
        if missing.bool_constants != 0 {
            let value = UsFcBoolConst(random.word() & missing.bool_constants);
            jobs.iter_mut().for_each(|job| job.program.state.fc_bool_const = Some(value));
        }
        for n in bits(missing.textures.into()) {
            let texture = random.texture();
            jobs.iter_mut().for_each(|job| job.textures[n].clone_from(&texture));
        }
    }
}

/// Makes the values of fills differ from those of a search under the same seed.
const FILL: u64 = 0x6669_6c6c;

fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |n| set >> n & 1 != 0)
}

/// Returns whether a job has a value for a channel of a constant.
fn gives(job: &Job, (n, channel): (u8, u8)) -> bool {
    job.program.state.gives_channel(n.into(), channel.into())
}

fn set(job: &mut Job, (n, channel): (u8, u8), bits: u32) {
    job.program.state.set_constant(n.into(), channel.into(), bits);
}

/// Sets a channel of an input that no file carries.
fn add_plane(job: &mut Job, (temp, channel): (u8, u8), plane: Plane) {
    let inputs = job.inputs.get_or_insert_default();
    let at = inputs.iter().position(|input| input.temp == temp).unwrap_or_else(|| {
        inputs.push(Input::planes(temp, [Plane { c: 0.0, du: 0.0, dv: 0.0 }; 4]));
        inputs.len() - 1
    });
    if let InputData::Planes(components) = &mut inputs[at].data {
        components[usize::from(channel & 3)].plane = plane;
    }
}

fn copy_textures(registers: &ExternalReads, source: &Job, target: &mut Job) {
    for n in bits(registers.textures.into()) {
        target.textures[n].clone_from(&source.textures[n]);
        target.program.state.format[n] = source.program.state.format[n];
    }
}

impl Random {
    /// Returns a value for a channel of a constant.
    pub(crate) fn constant(&mut self, round: u64) -> f32 {
        const EDGES: [f32; 8] = [0.0, 1.0, -1.0, 0.5, 100.0, 1e-6, 1000.0, -0.0];
        match self.below(8) {
            0 if round > 0 => EDGES[self.below(8) as usize],
            1 | 2 => self.between(0.0, 1.0),
            _ => self.value(),
        }
    }

    /// Returns count, start and step of a loop, mostly with a few iterations.
    pub(crate) fn int_constant(&mut self, round: u64) -> UsFcIntConst {
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
    pub(crate) fn texture(&mut self) -> Option<Texture> {
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

    /// Returns a plane over the picture.
    fn plane(&mut self) -> Plane {
        Plane {
            c: self.between(-1.0, 1.0),
            du: self.between(-2.0, 2.0),
            dv: self.between(-2.0, 2.0),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn job(source: &str) -> Job {
        let limits = r500_formats::Limits::default();
        r500::reader::read(source.as_bytes(), Some("a.r5"), None, &limits).unwrap().remove(0)
    }

    fn filled(sources: [&str; 2], unmatched: UnmatchedValues) -> [Job; 2] {
        let mut jobs = sources.map(job);
        let interface = InterfaceMatch::of(&jobs[0], &jobs[1]);
        Fill::new(&interface, 0).apply(&mut jobs, unmatched);
        jobs
    }

    const READS: &str = "OUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";

    #[test]
    fn a_literal_is_not_given_to_the_other_program() {
        let literal = format!("const[0] = (0.25, 0.5, 0.75, 1) ;\n{READS}");
        let [a, b] = filled([&literal, READS], UnmatchedValues::Apart);
        assert_eq!(a.program.state.constants[0][0], 0.25_f32.to_bits());
        for channel in 0..3 {
            let [a, b] = [&a, &b].map(|job| job.program.state.constants[0][channel]);
            assert_ne!(a, b, "channel {channel}");
        }
        let [_, b] = filled([&literal, READS], UnmatchedValues::Alike(0.375));
        assert_eq!(b.program.state.constants[0][..3], [0.375_f32.to_bits(); 3]);
    }

    #[test]
    fn bare_constants_and_temporaries_are_the_same_in_both() {
        let other = "OUT LAST src0.rgb = const[0], src1.rgb = temp[5] : out[0].rgb = MAX src0.rgb src1.rgb ;";
        let [a, b] = filled([READS, other], UnmatchedValues::Apart);
        let [in_a, in_b] = [&a, &b].map(|job| job.program.state.constants[0]);
        assert_eq!(in_a, in_b);
        assert!(in_a[..3].iter().all(|bits| *bits != 0), "{in_a:?}");
        let temp5 = |job: &Job| job.inputs.iter().flatten().any(|input| input.temp == 5);
        assert!(temp5(&b) && !temp5(&a));
    }
}
