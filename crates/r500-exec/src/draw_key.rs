//! The cache key of a prepared draw: all data that compiled code may depend on.

use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::{INT_CONSTANTS, TEXTURE_UNITS};
use r500_program::{InputData, Plane};

use crate::shader::ProgramKey;
use crate::texture::Sampler;
use crate::{Bindings, Draw, Readings};

/// The data of a draw that an engine may have compiled into its code. Code is valid for every draw with an equal key.
///
/// Not part of the key: the pixels of coverage, the values of inputs that are given pixel by pixel, the area, limits.
#[derive(Clone, Debug)]
pub struct DrawKey {
    program: ProgramKey,
    readings: Readings,
    flags: [bool; 2],
    group: [u32; 2],
    bindings: BindingsKey,
    constants: Vec<[u32; 4]>,
}

#[derive(Clone, Debug)]
struct BindingsKey {
    size: [u32; 2],
    ints: [Option<UsFcIntConst>; INT_CONSTANTS],
    bools: Option<UsFcBoolConst>,
    samplers: [Option<Sampler>; TEXTURE_UNITS],
    inputs: Vec<(u8, InputKey)>,
    covers_all: bool,
}

/// The form of an input.
#[derive(Clone, Debug, PartialEq)]
enum InputKey {
    /// The planes as bits: code may depend on the ranges of their values.
    Planes([[u32; 3]; 4]),
    Values,
}

impl InputKey {
    fn of(data: &InputData) -> Self {
        match data {
            InputData::Planes(components) => Self::Planes(components.each_ref().map(|component| {
                let Plane { c, du, dv } = component.plane;
                [c, du, dv].map(f32::to_bits)
            })),
            InputData::Values { .. } => Self::Values,
        }
    }
}

impl DrawKey {
    /// Returns the key of a draw.
    #[must_use]
    pub fn of(draw: &Draw<'_>) -> Self {
        let Draw { shader, bindings, options, .. } = *draw;
        let inputs = bindings.inputs().iter();
        Self {
            program: shader.key().clone(),
            readings: options.readings,
            flags: [options.poison, options.warnings],
            group: options.group,
            bindings: BindingsKey {
                size: bindings.size(),
                ints: std::array::from_fn(|n| bindings.int_constant(n)),
                bools: bindings.bool_constants(),
                samplers: std::array::from_fn(|unit| bindings.sampler(unit).cloned()),
                inputs: inputs.map(|input| (input.temp, InputKey::of(&input.data))).collect(),
                covers_all: bindings.covers_all(),
            },
            constants: bindings.constants().iter().map(|value| value.map(f32::to_bits)).collect(),
        }
    }

    /// Returns whether a draw has this key.
    #[must_use]
    pub fn matches(&self, draw: &Draw<'_>) -> bool {
        self.matches_but_constants(draw) && self.changed_constants(draw).next().is_none()
    }

    /// Returns the float constants whose values in a draw differ, with the values of the key and of the draw. A constant that
    /// is not bound counts as 0, as which it is read.
    pub fn changed_constants(
        &self,
        draw: &Draw<'_>,
    ) -> impl Iterator<Item = (usize, [f32; 4], [f32; 4])> {
        let constants = draw.bindings.constants();
        (0..self.constants.len().max(constants.len())).filter_map(move |n| {
            let own = self.constants.get(n).copied().unwrap_or_default();
            let other = constants.get(n).copied().unwrap_or_default();
            (own != other.map(f32::to_bits)).then(|| (n, own.map(f32::from_bits), other))
        })
    }

    /// Replaces the float constants by those of a draw.
    pub fn set_constants(&mut self, draw: &Draw<'_>) {
        self.constants.clear();
        self.constants
            .extend(draw.bindings.constants().iter().map(|value| value.map(f32::to_bits)));
    }

    /// Returns whether a draw has this key, except for the values of float constants.
    #[must_use]
    pub fn matches_but_constants(&self, draw: &Draw<'_>) -> bool {
        let Draw { shader, bindings, options, .. } = *draw;
        self.program == *shader.key()
            && self.readings == options.readings
            && self.flags == [options.poison, options.warnings]
            && self.group == options.group
            && self.bindings.matches(bindings)
    }
}

impl BindingsKey {
    fn matches(&self, bindings: &Bindings) -> bool {
        let same_sampler =
            |(unit, own): (usize, &Option<Sampler>)| match (own, bindings.sampler(unit)) {
                (Some(own), Some(other)) => own.is_same(other),
                (own, other) => own.is_none() && other.is_none(),
            };
        let inputs = bindings.inputs();
        self.size == bindings.size()
            && self.ints.iter().enumerate().all(|(n, own)| *own == bindings.int_constant(n))
            && self.bools == bindings.bool_constants()
            && self.covers_all == bindings.covers_all()
            && self.samplers.iter().enumerate().all(same_sampler)
            && self.inputs.len() == inputs.len()
            && self.inputs.iter().zip(inputs).all(|((temp, key), input)| {
                *temp == input.temp && *key == InputKey::of(&input.data)
            })
    }
}
