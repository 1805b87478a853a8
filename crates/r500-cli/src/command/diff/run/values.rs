//! The values of inputs and constants at a pixel that differs.

use r500::equivalence::InterfaceMatch;
use r500::exec::Bindings;
use r500::program::{InputData, Job};
use serde_json::{Value, json};

use crate::command::float_format;

/// Names and values.
pub(in crate::command::diff) struct Values(Vec<(String, f32)>);

/// Greatest number of values in a text.
const MOST: usize = 24;

impl Values {
    /// Returns the values of what two jobs share, at a pixel.
    pub(super) fn of(jobs: &[Job; 2], [x, y]: [u32; 2], interface: &InterfaceMatch) -> Self {
        let mut values = Vec::new();
        for shared in &interface.inputs {
            let found = jobs.iter().zip(&shared.places).find_map(|(job, places)| {
                let &(temp, channel) = places.first()?;
                Some(input(job, temp, [x, y])?[usize::from(channel & 3)])
            });
            values.extend(found.map(|value| (shared.name.clone(), value)));
        }
        for shared in &interface.constants {
            let place = jobs.iter().zip(&shared.places).find(|(_, places)| !places.is_empty());
            let Some((job, places)) = place else { continue };
            for (n, &(constant, channel)) in places.iter().enumerate() {
                let constants = &job.program.state.constants;
                let Some(bits) = constants.get(usize::from(constant)) else { continue };
                let name = match places.len() {
                    1 => shared.name.clone(),
                    _ => format!("{}.{}", shared.name, char::from(b"rgba"[n & 3])),
                };
                values.push((name, f32::from_bits(bits[usize::from(channel & 3)])));
            }
        }
        Self(values)
    }

    /// Returns the values as a line; empty without values.
    pub(super) fn text(&self) -> String {
        let value =
            |(name, value): &(String, f32)| format!("{name} = {}", float_format::text(*value));
        let mut texts: Vec<String> = self.0.iter().take(MOST).map(value).collect();
        if self.0.len() > MOST {
            texts.push(format!("and {} more", self.0.len() - MOST));
        }
        texts.join(", ")
    }

    pub(super) fn json(&self) -> Value {
        let value = |(name, value): &(String, f32)| {
            json!({
                "name": name,
                "value": float_format::json(*value),
                "bits": float_format::bits(*value),
            })
        };
        self.0.iter().map(value).collect()
    }
}

fn input(job: &Job, temp: u8, [x, y]: [u32; 2]) -> Option<[f32; 4]> {
    let input = job.inputs.iter().flatten().find(|input| input.temp == temp)?;
    if let InputData::Values { width, values } = &input.data {
        return values.get(y as usize * *width as usize + x as usize).copied();
    }
    let plain = Job { textures: Default::default(), ..job.clone() };
    let size = job.size.unwrap_or([256, 256]);
    Some(Bindings::new(&plain, size).ok()?.input(input, x, y))
}
