//! Assumptions about the bindings of two programs that are compared for all values.
//!
//! For bare programs there are none: a constant has any value, the same in both programs under the same number, and a
//! texture has any number of coordinates. Captures provide more. Compilers store literals (*immediates*) in the same
//! registers as uniforms, and another compiler version assigns other numbers; an immediate is its value, and uniforms
//! correspond as [`InterfaceMatch`] says. A texture that both bind as two-dimensional has two coordinates. If neither has
//! levels or filters to select, the level of detail is irrelevant. Textures that both bind must have the same state.

use std::collections::BTreeMap;

use r500_check::ExternalReads;
use r500_exec::Bindings;
use r500_ir::{ConstantChannel, Range};
use r500_isa::TEXTURE_UNITS;
use r500_lift::SymbolicConstants;
use r500_program::{InputData, Job};

use crate::interface_match::{Meaning as Given, constant_channels, meanings};
use crate::{InterfaceMatch, Literals, SIDES, Side};

/// A symbolic value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Symbol {
    /// The constant of this number, in both programs.
    Number(u8),
    /// The shared constant with this index.
    Shared(usize),
    /// The constant of this number of one program, which corresponds to nothing.
    Own(Side, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Value(u32),
    Symbol(Symbol, u8),
}

/// The initial value of a channel of a temporary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InputValue {
    /// A number that the file gives for all pixels.
    Number(f32),
    /// Any value, the same for the same index.
    Any(usize),
}

impl InputValue {
    /// Returns whether two channels have the same value.
    pub(crate) fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }
}

/// Assumptions about a texture with arbitrary texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextureKind {
    /// Whether it is two-dimensional.
    pub(crate) is_flat: bool,
    /// Whether a fetch is independent of the level of detail, and so of other lanes.
    pub(crate) ignores_lod: bool,
    /// Whether the programs bind different textures.
    pub(crate) differs: bool,
    /// Whether both programs bind a texture.
    pub(crate) is_bound: bool,
}

/// Assumptions about the bindings of two programs, and the bits of their outputs that are compared.
///
/// By default, constants have any value and correspond by number, textures have any number of coordinates, and every
/// bit is compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Channels of constants of A and of B that are not their own symbol.
    meanings: [BTreeMap<ConstantChannel, Meaning>; 2],
    /// How the interfaces correspond; `None` by register.
    interface: Option<Box<InterfaceMatch>>,
    /// Initial values of channels of temporaries, for each side; all others correspond by register if this is empty.
    inputs: [BTreeMap<(u8, u8), InputValue>; 2],
    names: Vec<String>,
    textures: [TextureKind; TEXTURE_UNITS],
    ignores_zero_signs: bool,
    /// Whether some pixel of both pictures may be uncovered while its neighbours are covered.
    is_partly_covered: bool,
}

impl Known {
    /// Derives the assumptions from two jobs. Named constants have any value and correspond by name. Other constants
    /// that a job provides are literals with that value; a constant that it does not provide has any value, and corresponds
    /// by number unless something says otherwise. Inputs that are the same number everywhere in both are these numbers.
    /// Textures have any texels, and the dimensions and filters of those that both bind, as far as these agree.
    ///
    /// A name that a job uses twice is ambiguous, so those constants are literals too.
    #[must_use]
    pub fn bound(a: &Job, b: &Job) -> Self {
        Self::of(a, b, InterfaceMatch::of(a, b), Literals::Bound)
    }

    /// Derives the assumptions from two jobs, with all constants of any value, by number.
    #[must_use]
    pub fn unbound(a: &Job, b: &Job) -> Self {
        Self::of(a, b, InterfaceMatch::with(a, b, Literals::Unbound), Literals::Unbound)
    }

    /// Derives the assumptions from two jobs whose interfaces correspond as given.
    #[must_use]
    pub fn of(a: &Job, b: &Job, interface: InterfaceMatch, literals: Literals) -> Self {
        let jobs = [a, b];
        let mut known = Self::default();
        for (n, job) in jobs.into_iter().enumerate() {
            let given = match literals {
                Literals::Bound => meanings(job),
                Literals::Unbound => BTreeMap::new(),
            };
            for source in ConstantChannel::all() {
                let meaning = match given.get(&(source.constant, source.channel)) {
                    Some(Given::Value(bits)) => Meaning::Value(*bits),
                    _ => Meaning::Symbol(Symbol::Own(SIDES[n], source.constant), source.channel),
                };
                known.meanings[n].insert(source, meaning);
            }
            for (index, shared) in interface.constants.iter().enumerate() {
                for (&(constant, channel), c) in shared.places[n].iter().zip(0u8..) {
                    let source = ConstantChannel { constant, channel };
                    known.meanings[n].insert(source, Meaning::Symbol(Symbol::Shared(index), c));
                }
            }
        }
        known.names = interface.constants.iter().map(|shared| shared.name.clone()).collect();
        known.inputs = inputs(jobs, &interface);
        known.textures = textures(jobs);
        let is_partly = |job: &Job| job.coverage.as_ref().is_some_and(|mask| mask.contains(&false));
        known.is_partly_covered = jobs.into_iter().any(is_partly);
        known.interface = Some(Box::new(interface));
        known
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

    /// Returns how the interfaces correspond; `None` by register.
    #[must_use]
    pub fn interface(&self) -> Option<&InterfaceMatch> {
        self.interface.as_deref()
    }

    /// Returns the channels of temporaries of a program that start as the same number in all pixels.
    #[must_use]
    pub fn fixed_inputs(&self, side: Side) -> BTreeMap<(u8, u8), f32> {
        let number = |(place, value): (&(u8, u8), &InputValue)| match value {
            InputValue::Number(value) => Some((*place, *value)),
            InputValue::Any(_) => None,
        };
        self.inputs[side as usize].iter().filter_map(number).collect()
    }

    /// Returns whether a program reads a constant that is a literal.
    #[must_use]
    pub fn reads_literal(&self, side: Side, reads: &ExternalReads) -> bool {
        constant_channels(reads)
            .map(|(constant, channel)| ConstantChannel { constant, channel })
            .any(|place| self.literal(side, place).is_some())
    }

    /// Returns the units with a texture in both jobs, bit n for unit n. A proof holds for textures with their state.
    #[must_use]
    pub fn bound_textures(&self) -> u16 {
        let bound = |(unit, kind): (usize, &TextureKind)| u16::from(kind.is_bound) << unit;
        self.textures.iter().enumerate().map(bound).fold(0, |units, unit| units | unit)
    }

    pub(crate) fn ignores_zero_signs(&self) -> bool {
        self.ignores_zero_signs
    }

    /// Returns whether a job has pixels that are not covered.
    pub(crate) fn is_partly_covered(&self) -> bool {
        self.is_partly_covered
    }

    /// Returns the assumptions about the texture of each unit.
    pub(crate) fn textures(&self) -> [TextureKind; TEXTURE_UNITS] {
        self.textures
    }

    /// Returns the initial value of a channel of a temporary.
    pub(crate) fn input(&self, side: Side, temp: u8, channel: u8) -> InputValue {
        let known = self.inputs[side as usize].get(&(temp, channel));
        known.copied().unwrap_or(InputValue::Any(usize::from(temp) * 4 + usize::from(channel)))
    }

    fn meaning(&self, side: Side, place: ConstantChannel) -> Option<Meaning> {
        self.meanings[side as usize].get(&place).copied()
    }

    /// Returns the value of a channel of a constant that is a literal.
    pub(crate) fn literal(&self, side: Side, place: ConstantChannel) -> Option<u32> {
        match self.meaning(side, place)? {
            Meaning::Value(bits) => Some(bits),
            Meaning::Symbol(..) => None,
        }
    }

    /// Returns the constants with any value.
    pub(crate) fn symbolic(&self, side: Side) -> SymbolicConstants {
        let mut symbolic = SymbolicConstants::none();
        for place in ConstantChannel::all().filter(|&place| self.literal(side, place).is_none()) {
            symbolic.insert(place, Range::ANY);
        }
        symbolic
    }

    /// Returns the symbol of a constant with any value.
    pub(crate) fn symbol(&self, side: Side, place: ConstantChannel) -> (Symbol, u8) {
        match self.meaning(side, place) {
            Some(Meaning::Symbol(symbol, channel)) => (symbol, channel),
            _ => (Symbol::Number(place.constant), place.channel),
        }
    }
}

/// Returns the initial values of all channels of temporaries.
fn inputs(jobs: [&Job; 2], interface: &InterfaceMatch) -> [BTreeMap<(u8, u8), InputValue>; 2] {
    let channels = || (0..128u8).flat_map(|temp| (0..4u8).map(move |c| (temp, c)));
    // A channel that corresponds to nothing has a value of its own.
    let mut inputs = [0, 1].map(|n: usize| {
        let own = |(temp, c): (u8, u8)| {
            let index = (n + 1) * 512 + usize::from(temp) * 4 + usize::from(c);
            ((temp, c), InputValue::Any(index))
        };
        channels().map(own).collect::<BTreeMap<_, _>>()
    });
    for (index, shared) in interface.inputs.iter().enumerate() {
        for (inputs, places) in inputs.iter_mut().zip(&shared.places) {
            for place in places {
                inputs.insert(*place, InputValue::Any(index));
            }
        }
    }
    for (n, job) in jobs.into_iter().enumerate() {
        for input in job.inputs.iter().flatten() {
            let InputData::Planes(components) = &input.data else { continue };
            for (component, c) in components.iter().zip(0u8..) {
                let plane = component.plane;
                let is_shared =
                    interface.inputs.iter().any(|s| s.places[n].contains(&(input.temp, c)));
                if plane.du == 0.0 && plane.dv == 0.0 && !is_shared {
                    inputs[n].insert((input.temp, c), InputValue::Number(plane.c));
                }
            }
        }
    }
    inputs
}

/// Returns the assumptions about the textures of two jobs.
fn textures(jobs: [&Job; 2]) -> [TextureKind; TEXTURE_UNITS] {
    let bindings = jobs.map(|job| Bindings::new(job, [2, 2]).ok());
    std::array::from_fn(|unit| {
        let samplers = bindings.each_ref().map(|bindings| bindings.as_ref()?.sampler(unit));
        let [a, b] = jobs;
        let [Some(one), Some(other)] = samplers else {
            // A unit that only one program binds has any texture.
            let differs = a.textures[unit].is_some()
                && b.textures[unit].is_some()
                && a.textures[unit] != b.textures[unit];
            return TextureKind { differs, ..TextureKind::default() };
        };
        TextureKind {
            is_bound: true,
            is_flat: [one, other].into_iter().all(|sampler| sampler.axes() == S_AND_T),
            ignores_lod: [one, other].into_iter().all(|sampler| !sampler.depends_on_lod()),
            differs: a.textures[unit] != b.textures[unit]
                || a.program.state.format[unit] != b.program.state.format[unit],
        }
    })
}

/// The coordinate axes of a two-dimensional texture: the bits of S and T.
pub(crate) const S_AND_T: u8 = 0b011;
/// All coordinate axes.
pub(crate) const ALL_AXES: u8 = 0b111;
