//! Assumptions about the bindings of two programs that are compared for all values.
//!
//! For bare programs there are none: a constant has any value, the same in both programs under the same number, and a
//! texture has any number of coordinates. Captures provide more. Compilers store literals (*immediates*) in the same
//! registers as uniforms, and another compiler version assigns other numbers; if uniforms have names, an immediate is
//! its value, and uniforms correspond by name. A texture that both bind as two-dimensional has two coordinates. If
//! neither has levels or filters to select, the level of detail is irrelevant.

use std::collections::{BTreeMap, BTreeSet};

use r500_exec::Bindings;
use r500_ir::{ConstantChannel, Range, SymbolicConstants};
use r500_isa::TEXTURE_UNITS;
use r500_program::Job;

use super::{Random, SIDES, Side};

/// A symbolic value that both programs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Symbol {
    /// The constant of this number.
    Number(u8),
    /// The uniform whose name has this index in the ordered names of both programs.
    Name(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Value(u32),
    Named { name: usize, channel: u8 },
}

/// Assumptions about a texture with arbitrary texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextureKind {
    /// Whether it is two-dimensional.
    pub(super) is_flat: bool,
    /// Whether a fetch is independent of the level of detail, and so of other lanes.
    pub(super) ignores_lod: bool,
}

/// Assumptions about the bindings of two programs, and the bits of their outputs that are compared.
///
/// By default, constants have any value and correspond by number, textures have any number of coordinates, and every
/// bit is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Channels of constants of A and of B that are not their own symbol.
    meanings: [BTreeMap<ConstantChannel, Meaning>; 2],
    names: Vec<String>,
    textures: [TextureKind; TEXTURE_UNITS],
    ignores_zero_signs: bool,
}

impl Known {
    /// Derives the assumptions from two jobs. Named constants have any value and correspond by name. Other constants
    /// that a job provides are immediates with that value; constants that it does not provide have any value and
    /// correspond by number. Textures have any texels, and the dimensions and filters of those that both bind, as far
    /// as these agree.
    ///
    /// A name that a job uses twice is ambiguous, so those constants are immediates too.
    #[must_use]
    pub fn bound(a: &Job, b: &Job) -> Self {
        let names: BTreeSet<&String> =
            [a, b].into_iter().flat_map(|job| &job.uniforms).map(|uniform| &uniform.name).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let meanings = [a, b].map(|job| {
            let mut meanings = BTreeMap::new();
            let state = &job.program.state;
            for (n, value) in (0..=u8::MAX).zip(&state.constants) {
                for (channel, &bits) in (0..4).zip(value) {
                    if state.gives_channel(usize::from(n), usize::from(channel)) {
                        let place = ConstantChannel { constant: n, channel };
                        meanings.insert(place, Meaning::Value(bits));
                    }
                }
            }
            for uniform in &job.uniforms {
                let places = job.uniforms.iter().filter(|other| other.name == uniform.name).count();
                if let (1, Ok(name)) = (places, names.binary_search(&uniform.name)) {
                    for channel in 0..uniform.channels.min(4 - uniform.channel.min(4)) {
                        let constant = uniform.constant;
                        let place =
                            ConstantChannel { constant, channel: uniform.channel + channel };
                        meanings.insert(place, Meaning::Named { name, channel });
                    }
                }
            }
            meanings
        });
        let bindings = [a, b].map(|job| Bindings::new(job, [2, 2]).ok());
        let textures = std::array::from_fn(|unit| {
            let samplers = bindings.each_ref().map(|bindings| bindings.as_ref()?.sampler(unit));
            let [Some(a), Some(b)] = samplers else { return TextureKind::default() };
            TextureKind {
                is_flat: [a, b].into_iter().all(|sampler| sampler.axes() == S_AND_T),
                ignores_lod: [a, b].into_iter().all(|sampler| !sampler.depends_on_lod()),
            }
        });
        Self { meanings, names, textures, ignores_zero_signs: false }
    }

    /// Returns the same assumptions with +0 and -0 equal in outputs.
    #[must_use]
    pub fn without_zero_signs(self) -> Self {
        Self { ignores_zero_signs: true, ..self }
    }

    /// Returns the names of constants with any value.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn ignores_zero_signs(&self) -> bool {
        self.ignores_zero_signs
    }

    /// Returns the assumptions about the texture of each unit.
    pub(super) fn textures(&self) -> [TextureKind; TEXTURE_UNITS] {
        self.textures
    }

    fn meaning(&self, side: Side, place: ConstantChannel) -> Option<Meaning> {
        self.meanings[side as usize].get(&place).copied()
    }

    /// Returns the constants with any value.
    pub(super) fn symbolic(&self, side: Side) -> SymbolicConstants {
        let mut symbolic = SymbolicConstants::none();
        let is_value = |place| matches!(self.meaning(side, place), Some(Meaning::Value(_)));
        for place in ConstantChannel::all().filter(|&place| !is_value(place)) {
            symbolic.insert(place, Range::ANY);
        }
        symbolic
    }

    /// Returns the symbol of a constant with any value.
    pub(super) fn symbol(&self, side: Side, place: ConstantChannel) -> (Symbol, u8) {
        match self.meaning(side, place) {
            Some(Meaning::Named { name, channel }) => (Symbol::Name(name), channel),
            _ => (Symbol::Number(place.constant), place.channel),
        }
    }

    /// Sets the constants of both jobs for a round of a trial: immediates to their values, and names to the same values
    /// in both; in round 0, those of A.
    pub(super) fn apply(&self, jobs: &mut [Job; 2], round: u64) {
        let mut random = Random::new(NAMES, round);
        let mut values: Vec<[u32; 4]> =
            self.names.iter().map(|_| [(); 4].map(|()| random.constant(round).to_bits())).collect();
        if round == 0 {
            for side in SIDES.into_iter().rev() {
                for (place, meaning) in &self.meanings[side as usize] {
                    let state = &jobs[side as usize].program.state;
                    if let Meaning::Named { name, channel } = *meaning
                        && let Some(carried) = state.constants.get(usize::from(place.constant))
                    {
                        values[name][usize::from(channel)] = carried[usize::from(place.channel)];
                    }
                }
            }
        }
        for (job, meanings) in jobs.iter_mut().zip(&self.meanings) {
            for (place, meaning) in meanings {
                let bits = match *meaning {
                    Meaning::Value(bits) => bits,
                    Meaning::Named { name, channel } => values[name][usize::from(channel)],
                };
                let [constant, channel] = [place.constant, place.channel].map(usize::from);
                job.program.state.set_constant(constant, channel, bits);
            }
        }
    }
}

/// The coordinate axes of a two-dimensional texture: the bits of S and T.
const S_AND_T: u8 = 0b011;

/// Makes the values of names differ from those of numbers in the same round.
const NAMES: u64 = 0x6e61_6d65;
