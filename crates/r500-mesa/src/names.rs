//! Names of what a draw has: found by the numbers that the client gave to components.

use r500::program::Uniform as Named;
use r500_card::DrawInputs;

use crate::request::{Attribute, Component, Report, TAGGED};
use crate::shader::PREFIX;

/// The value of a channel of a constant in each draw.
type Values<'a> = &'a dyn Fn(usize, usize, usize) -> Option<u32>;

/// Returns the channels of `count` constants that hold uniforms. `value` gives the bits of a channel in a draw.
pub(crate) fn uniforms(report: &Report, count: usize, value: Values<'_>) -> Vec<Named> {
    let mut names = Vec::new();
    for constant in 0..count {
        let held: [Option<(usize, usize)>; 4] =
            std::array::from_fn(|channel| held(report, &|draw| value(draw, constant, channel)));
        let mut channel = 0;
        while channel < 4 {
            let Some((uniform, component)) = held[channel] else {
                channel += 1;
                continue;
            };
            let vector = &report.uniforms[uniform];
            let size = vector.components.len();
            let whole = component == 0
                && (0..size).all(|n| held.get(channel + n) == Some(&Some((uniform, n))));
            let plain = vector.name.strip_prefix(PREFIX).unwrap_or(&vector.name);
            let (name, channels) = match whole {
                true => (plain.to_owned(), size),
                false => (format!("{plain}.{}", letter(component)), 1),
            };
            names.push(Named {
                name,
                constant: u8::try_from(constant).unwrap_or(u8::MAX),
                channel: channel as u8,
                channels: channels as u8,
            });
            channel += channels;
        }
    }
    names
}

fn letter(component: usize) -> char {
    ['x', 'y', 'z', 'w'][component & 3]
}

/// Returns the uniform and the component that a channel holds: the one with its numbers in every draw.
fn held(report: &Report, value: &dyn Fn(usize) -> Option<u32>) -> Option<(usize, usize)> {
    let first = value(0)?;
    // Most channels hold literals.
    let changes = (1..report.draws).any(|draw| value(draw) != Some(first));
    if !changes {
        return None;
    }
    let holds = |component: &Component| match component {
        Component::Numbers(numbers) => (0..report.draws)
            .all(|draw| value(draw) == Some(numbers[draw.min(TAGGED - 1)].to_bits())),
        Component::TrueIn(wanted) => (0..report.draws)
            .all(|draw| value(draw) == Some(f32::from(u8::from(draw == *wanted)).to_bits())),
    };
    let mut all = report.uniforms.iter().enumerate().flat_map(|(uniform, vector)| {
        vector.components.iter().enumerate().map(move |(n, component)| ((uniform, n), component))
    });
    all.find(|(_, component)| holds(component)).map(|(place, _)| place)
}

/// An input of a vertex program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The number of the input.
    pub input: u8,
    /// The attribute, with `[n]` for a vector of several.
    pub name: String,
}

/// Returns the inputs that arrays and constant attributes give to the vertex program, by their values in the draws.
pub(crate) fn inputs(report: &Report, draws: &[DrawInputs]) -> Vec<Input> {
    let [first, second, ..] = draws else { return Vec::new() };
    let mut names = Vec::new();
    for (place, input) in first.inputs.iter().enumerate() {
        let values = [first, second].map(|draw| vertex(draw, place));
        let name = report.attributes.iter().find_map(|attribute| named(attribute, values));
        names.extend(name.map(|name| Input { input: *input, name }));
    }
    names
}

/// Returns an input of the second vertex of a draw.
fn vertex(draw: &DrawInputs, place: usize) -> Option<[f32; 4]> {
    draw.vertices.get(draw.inputs.len() + place).copied()
}

/// The second corner of the triangle, which is what the first attribute has.
const CORNER: [f32; 4] = [3.0, -1.0, 0.0, 1.0];

fn named(attribute: &Attribute, values: [Option<[f32; 4]>; TAGGED]) -> Option<String> {
    let place = attribute.values.iter().zip(0_u32..).find(|(wanted, n)| {
        let is_first = attribute.location.is_none_or(|location| location + n == 0);
        let corner = is_first && values == [Some(CORNER); TAGGED];
        corner || wanted.iter().zip(values).all(|(wanted, value)| value == Some(*wanted))
    });
    let (_, n) = place?;
    Some(match attribute.values.len() {
        1 => attribute.name.clone(),
        _ => format!("{}[{n}]", attribute.name),
    })
}
