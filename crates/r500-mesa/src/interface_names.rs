//! Names of the inputs of a fragment program, found by the values of attributes that a made vertex shader hands over.

use r500::program::{Input, InputData};

use crate::request::{Report, TAGGED};
use crate::shader::{Made, PREFIX};

/// Channels of a temporary that hold a varying when the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// Its name.
    pub name: String,
    /// The first of its components that is there, 0 for x.
    pub component: u8,
    /// The temporary.
    pub temp: u8,
    /// The first channel.
    pub channel: u8,
    /// The number of channels.
    pub channels: u8,
}

/// Largest difference between a value and what the rasteriser makes of it: a colour has 10 bits at the least.
const TOLERANCE: f32 = 1.0 / 512.0;

/// Returns what the inputs of a program are. `draws` are the inputs in the first draws.
pub(crate) fn varyings(report: &Report, made: &[Made], draws: &[Vec<Input>]) -> Vec<Varying> {
    let [first, second, ..] = draws else { return Vec::new() };
    let mut found: Vec<Varying> = Vec::new();
    for input in first {
        let Some(other) = second.iter().find(|other| other.temp == input.temp) else { continue };
        let held: [Option<(usize, u32)>; 4] = std::array::from_fn(|channel| {
            let values = [constant(input, channel), constant(other, channel)];
            component(report, made, values)
        });
        for (channel, held) in held.iter().enumerate() {
            let Some((varying, component)) = held else { continue };
            let name = &made[*varying].name;
            let name = name.strip_prefix(PREFIX).unwrap_or(name);
            let continues = found.last_mut().filter(|last| {
                last.temp == input.temp
                    && last.name == name
                    && usize::from(last.channel + last.channels) == channel
                    && u32::from(last.component + last.channels) == *component
            });
            match continues {
                Some(last) => last.channels += 1,
                None => found.push(Varying {
                    name: name.to_owned(),
                    component: *component as u8,
                    temp: input.temp,
                    channel: channel as u8,
                    channels: 1,
                }),
            }
        }
    }
    found
}

/// Returns the value that a channel of an input has in all pixels.
fn constant(input: &Input, channel: usize) -> Option<f32> {
    match &input.data {
        InputData::Values { values, .. } => {
            let first = values.first()?[channel];
            let same = values.iter().all(|value| (value[channel] - first).abs() < TOLERANCE);
            same.then_some(first)
        }
        InputData::Planes(_) => None,
    }
}

/// Returns the varying and the component that have these values in the first draws.
fn component(
    report: &Report,
    made: &[Made],
    values: [Option<f32>; TAGGED],
) -> Option<(usize, u32)> {
    let fits = |made: &Made, component: u32| {
        let attribute = report.attributes.iter().find(|attribute| attribute.name == made.attribute);
        let wanted = attribute.and_then(|attribute| attribute.values.first());
        wanted.is_some_and(|wanted| {
            wanted.iter().zip(values).all(|(wanted, value)| {
                let wanted = wanted[(made.first + component) as usize & 3];
                value.is_some_and(|value| (value - wanted).abs() < TOLERANCE)
            })
        })
    };
    let mut all = made.iter().enumerate().flat_map(|(varying, made)| {
        (0..made.components).map(move |component| (varying, made, component))
    });
    all.find(|(_, made, component)| fits(made, *component))
        .map(|(varying, _, component)| (varying, component))
}
