//! Interface matching: inputs and constants with the same name in two jobs.

use std::collections::{BTreeMap, BTreeSet};

use r500_exec::Bindings;
use r500_program::{Input, InputData, Job, Plane};

use super::{Pair, Random, Side};

/// The matched and unmatched parts of two interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceMatch {
    /// Shared constants.
    pub constants: Vec<Shared>,
    /// Shared components of inputs.
    pub inputs: Vec<Shared>,
    /// Names that only one side has (or that differ in shape), and unnamed inputs.
    pub alone: Vec<(Side, String)>,
}

/// A constant or an input component that both jobs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Its registers in A and in B: numbers of constants or temporaries, and channels (0 red to 3 alpha). An input may
    /// be in several registers.
    pub places: [Vec<(u8, u8)>; 2],
}

impl InterfaceMatch {
    /// Matches two jobs by name: named constants of the same width, and named components of inputs. An unnamed
    /// component that is exactly `u` or `v` is named so; a component that is the same number everywhere is not an input
    /// and needs no name.
    #[must_use]
    pub fn of(a: &Job, b: &Job) -> Self {
        let mut sharing = Self::default();
        let constants = [named_constants(a), named_constants(b)];
        for (name, place) in &constants[0] {
            match constants[1].get(name) {
                Some(other) if other.len() == place.len() => sharing
                    .constants
                    .push(Shared { name: name.clone(), places: [place.clone(), other.clone()] }),
                _ => sharing.alone.push((Side::A, name.clone())),
            }
        }
        let inputs = [named_components(a), named_components(b)];
        for (name, places) in &inputs[0] {
            match inputs[1].get(name) {
                Some(other) => sharing
                    .inputs
                    .push(Shared { name: name.clone(), places: [places.clone(), other.clone()] }),
                None => sharing.alone.push((Side::A, name.clone())),
            }
        }
        let shared = |shared: &[Shared], name: &str| shared.iter().any(|other| other.name == name);
        for name in constants[1].keys().filter(|name| !shared(&sharing.constants, name)) {
            sharing.alone.push((Side::B, name.clone()));
        }
        for name in inputs[1].keys().filter(|name| !shared(&sharing.inputs, name)) {
            sharing.alone.push((Side::B, name.clone()));
        }
        for (side, job) in [(Side::A, a), (Side::B, b)] {
            let nameless = nameless(job).into_iter().map(|name| (side, name));
            sharing.alone.extend(nameless);
        }
        sharing
    }

    /// Returns whether nothing is matched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.inputs.is_empty()
    }

    /// Returns both jobs of a pair with the same random values for the matched resources; all others stay as they are.
    /// Inputs become random planes in even rounds, and independent values for every pixel in odd ones.
    #[must_use]
    pub fn randomise(&self, pair: &Pair, seed: u64, round: u64) -> [Job; 2] {
        let mut random = Random::new(seed, round);
        let mut jobs = pair.jobs.clone();
        for shared in &self.constants {
            let count = shared.places[0].len();
            let values: Vec<f32> = (0..count).map(|_| random.value()).collect();
            for (job, places) in jobs.iter_mut().zip(&shared.places) {
                for (&(constant, channel), value) in places.iter().zip(&values) {
                    let state = &mut job.program.state;
                    state.set_constant(
                        usize::from(constant),
                        usize::from(channel),
                        value.to_bits(),
                    );
                }
            }
        }
        if round.is_multiple_of(2) {
            for shared in &self.inputs {
                let plane = Plane {
                    c: random.between(-2.0, 2.0),
                    du: random.between(-4.0, 4.0),
                    dv: random.between(-4.0, 4.0),
                };
                for (job, places) in jobs.iter_mut().zip(&shared.places) {
                    for_components(job, places, |component| *component = plane);
                }
            }
        } else {
            let [width, height] = pair.size();
            let pixels = width as usize * height as usize;
            for (n, job) in jobs.iter_mut().enumerate() {
                if !self.inputs.iter().all(|shared| shared.places[n].is_empty()) {
                    into_values(job, pair, n);
                }
            }
            for shared in &self.inputs {
                let values: Vec<f32> = (0..pixels).map(|_| random.value()).collect();
                for (job, places) in jobs.iter_mut().zip(&shared.places) {
                    scatter(job, places, &values);
                }
            }
        }
        jobs
    }
}

/// Returns constants by name: number and channel of each of their channels.
fn named_constants(job: &Job) -> BTreeMap<String, Vec<(u8, u8)>> {
    let named = job.uniforms.iter().filter(|uniform| !uniform.name.is_empty());
    let place = |uniform: &r500_program::Uniform| {
        let channels = uniform.channel..uniform.channel.saturating_add(uniform.channels).min(4);
        channels.map(|channel| (uniform.constant, channel)).collect()
    };
    named.map(|uniform| (uniform.name.clone(), place(uniform))).collect()
}

/// Returns components of inputs by name, with all registers of each.
fn named_components(job: &Job) -> BTreeMap<String, Vec<(u8, u8)>> {
    let mut named: BTreeMap<String, Vec<(u8, u8)>> = BTreeMap::new();
    for input in job.inputs_or_default() {
        let InputData::Planes(components) = &input.data else { continue };
        for (component, channel) in components.iter().zip(0u8..) {
            if let Some(name) = name_of(&component.name, component.plane) {
                named.entry(name).or_default().push((input.temp, channel));
            }
        }
    }
    named
}

/// Returns the name of a component; `None` if it is a number or has no name.
fn name_of(name: &str, plane: Plane) -> Option<String> {
    // Captures use the number as the name of a component that the rasteriser sets to it.
    let number = name.parse::<f32>().is_ok();
    if !name.is_empty() && !number {
        return Some(name.to_owned());
    }
    let is = |du: f32, dv: f32| plane == Plane { c: 0.0, du, dv };
    match () {
        () if is(1.0, 0.0) => Some("u".to_owned()),
        () if is(0.0, 1.0) => Some("v".to_owned()),
        () => None,
    }
}

/// Returns the inputs that vary and have no name.
fn nameless(job: &Job) -> Vec<String> {
    let mut nameless = BTreeSet::new();
    for input in job.inputs_or_default() {
        let varies = match &input.data {
            InputData::Planes(components) => components.iter().any(|component| {
                let Plane { du, dv, .. } = component.plane;
                (du != 0.0 || dv != 0.0) && name_of(&component.name, component.plane).is_none()
            }),
            InputData::Values { .. } => true,
        };
        if varies {
            nameless.insert(format!("temp[{}]", input.temp));
        }
    }
    nameless.into_iter().collect()
}

fn for_components(job: &mut Job, places: &[(u8, u8)], set: impl Fn(&mut Plane)) {
    let inputs = job.inputs.get_or_insert_with(|| vec![Input::uv()]);
    for &(temp, channel) in places {
        for input in inputs.iter_mut().filter(|input| input.temp == temp) {
            if let InputData::Planes(components) = &mut input.data {
                set(&mut components[usize::from(channel & 3)].plane);
            }
        }
    }
}

/// Replaces planes by their values at every pixel.
fn into_values(job: &mut Job, pair: &Pair, n: usize) {
    let Ok(bindings) = Bindings::new(&pair.jobs[n], pair.size()) else { return };
    let [width, height] = pair.size();
    let inputs = job.inputs.get_or_insert_with(|| vec![Input::uv()]);
    for input in inputs {
        if matches!(input.data, InputData::Values { .. }) {
            continue;
        }
        let mut values = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height {
            values.extend((0..width).map(|x| bindings.input(input, x, y)));
        }
        input.data = InputData::Values { width, values };
    }
}

fn scatter(job: &mut Job, places: &[(u8, u8)], values: &[f32]) {
    let inputs = job.inputs.get_or_insert_with(|| vec![Input::uv()]);
    for &(temp, channel) in places {
        for input in inputs.iter_mut().filter(|input| input.temp == temp) {
            if let InputData::Values { values: pixels, .. } = &mut input.data {
                for (pixel, value) in pixels.iter_mut().zip(values) {
                    pixel[usize::from(channel & 3)] = *value;
                }
            }
        }
    }
}
