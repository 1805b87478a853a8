//! The input of a lift: a program and the facts about what it reads.

use r500_exec::numerics;
use r500_exec::{BindingKinds, Draw, Readings, Shader};
use r500_ir::Range;
use r500_isa::INT_CONSTANTS;
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Executable, InputData};

use crate::{LiftError, UnsupportedOption};

/// A program, and the facts about a run on which its translation depends. A [`Draw`] is one producer ([`LiftInput::of_draw`]); a producer
/// without a draw gives the facts that it knows.
#[derive(Clone, Debug)]
pub struct LiftInput<'a> {
    /// The program.
    pub shader: &'a Shader,
    /// The float constants by number; those that are not [symbolic](crate::SymbolicConstants) are folded. Constants beyond the end are 0,
    /// as in the reference engine.
    pub constants: &'a [[f32; 4]],
    /// The integer constants; `None` if the value is unknown. A program whose loops read an unknown constant is not lifted.
    pub int_constants: [Option<UsFcIntConst>; INT_CONSTANTS],
    /// The boolean constants; `None` if their values are unknown. A program that branches on unknown constants is not lifted.
    pub bool_constants: Option<UsFcBoolConst>,
    /// The inputs, in the order of [`Opcode::Input`](r500_ir::Opcode::Input).
    pub inputs: Vec<InputKind>,
    /// The kinds of samplers and of groups of pixels.
    pub kinds: BindingKinds,
    /// Whether undefined registers have the [poison](r500_exec::reference::POISON) pattern instead of 0.
    pub poison: bool,
    /// The readings.
    pub readings: Readings,
}

/// The kind of an input: a temporary whose initial value differs between pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputKind {
    /// The temporary.
    pub temp: u8,
    /// The ranges of its channels. A range of a single number makes the channel a constant.
    pub channels: [Range; 4],
}

impl InputKind {
    /// Returns an input of which nothing is known.
    #[must_use]
    pub fn any(temp: u8) -> Self {
        Self { temp, channels: [Range::ANY; 4] }
    }

    /// Returns the value of a channel that is a single number.
    pub(crate) fn constant(&self, channel: usize) -> Option<f32> {
        let range = self.channels[channel];
        (range.lo.to_bits() == range.hi.to_bits() && !range.nan).then_some(range.lo)
    }

    /// Returns whether code for this kind is valid for another kind of the same temporary.
    pub(crate) fn allows(&self, other: &Self) -> bool {
        (0..4).all(|c| match self.constant(c) {
            Some(own) => other.constant(c).is_some_and(|x| x.to_bits() == own.to_bits()),
            None => self.channels[c].contains(other.channels[c]),
        })
    }

    /// Widens the channels whose values differ from those of another kind, to all values of the same signs and classes.
    pub(crate) fn widen(&mut self, last: &Self) {
        for c in 0..4 {
            let (constant, before) = (self.constant(c), last.constant(c));
            if constant.is_some() && constant.map(f32::to_bits) == before.map(f32::to_bits) {
                continue;
            }
            let (own, last) = (self.channels[c], last.channels[c]);
            self.channels[c] = match before {
                None if last.contains(own) => last,
                _ => own.join(last).widen_finite(),
            };
            // The join of +0 and -0 has equal bounds, but two values.
            if self.constant(c).is_some() {
                self.channels[c] = Range::ANY;
            }
        }
    }
}

impl<'a> LiftInput<'a> {
    /// Returns the input for a draw.
    ///
    /// # Errors
    /// [`LiftError::Options`] if the options need the reference engine.
    pub fn of_draw(draw: &Draw<'a>) -> Result<Self, LiftError> {
        let Draw { shader, bindings, options, .. } = *draw;
        if options.warnings {
            return Err(LiftError::Options(UnsupportedOption::Warnings));
        }
        let inputs = bindings.inputs().iter();
        Ok(Self {
            shader,
            constants: bindings.constants(),
            // Unbound constants are 0, as in the reference engine.
            int_constants: std::array::from_fn(|n| {
                Some(bindings.int_constant(n).unwrap_or_default())
            }),
            bool_constants: Some(bindings.bool_constants().unwrap_or_default()),
            inputs: inputs
                .map(|input| InputKind { temp: input.temp, channels: ranges(&input.data) })
                .collect(),
            kinds: BindingKinds::of(draw),
            poison: options.poison,
            readings: options.readings,
        })
    }

    /// Returns the program as far as flow control and register addresses depend on it.
    pub(crate) fn executable(&self) -> Executable<'a> {
        self.shader.executable(self.int_constants, self.bool_constants)
    }
}

/// The minimum and maximum centre of a pixel, as a fraction of an axis: 0.5 of at most 2^32 pixels, and, in a picture of one pixel, the
/// last pixel of a group of four.
const CENTRES: [f32; 2] = [1.0 / (1_u64 << 34) as f32, 4.0];

/// Returns the ranges of an input's channels; a single number for a constant channel.
fn ranges(data: &InputData) -> [Range; 4] {
    match data {
        InputData::Values { .. } => [Range::ANY; 4],
        InputData::Planes(components) => components.each_ref().map(|component| {
            let plane = component.plane;
            if plane.du == 0.0 && plane.dv == 0.0 {
                return Range::of(numerics::plane(plane.c, plane.du, plane.dv, 0.5, 0.5));
            }
            // Each rounded step of the sum is monotonic, so minimum and maximum are at corners.
            let at = |u, v| numerics::plane(plane.c, plane.du, plane.dv, u, v);
            let corners = CENTRES.map(|u| CENTRES.map(|v| at(u, v)));
            let all = || corners.into_iter().flatten();
            if !all().all(f32::is_finite) {
                return Range::ANY;
            }
            Range::between(
                all().fold(f32::INFINITY, f32::min),
                all().fold(-f32::INFINITY, f32::max),
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use r500_program::{Component, Plane};

    use super::*;

    /// Sums and products of these include zeros of either sign.
    const NUMBERS: [f32; 8] = [0.0, -0.0, 1.0, -1.0, -0.625, 1.0e-40, -3.0e38, 1.0e-30];

    #[test]
    fn planes_of_pixels_of_any_picture_lie_in_their_ranges() {
        let axes = [(0, 1), (3, 1), (0, 3), (3, 5), (20, 32), (4095, 4096), (0, u32::MAX)];
        let centres = axes.map(|(pixel, size)| numerics::centre(pixel, size));
        let all = || NUMBERS.into_iter();
        for (c, du, dv) in
            all().flat_map(|c| all().flat_map(move |du| all().map(move |dv| (c, du, dv))))
        {
            let component = Component { plane: Plane { c, du, dv }, ..Component::default() };
            let planes = std::array::from_fn(|_| component.clone());
            let [range, ..] = ranges(&InputData::Planes(planes));
            for (u, v) in centres.iter().flat_map(|u| centres.iter().map(move |v| (*u, *v))) {
                let x = numerics::plane(c, du, dv, u, v);
                assert!(
                    range.contains(Range::of(x)),
                    "{x:e}, {range:?}: {c:e} + {du:e} u + {dv:e} v"
                );
            }
        }
    }
}
