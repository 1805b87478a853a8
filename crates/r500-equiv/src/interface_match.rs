//! Interface matching: which inputs and constants of two programs have the same value.
//!
//! A constant channel is one of three things. A *literal* has the value that its file gives; it belongs to that program
//! and is never given to the other. A *uniform* has any value, the same in both programs where its name is the same. A
//! constant of which a file says nothing has any value, too. Constants of bare programs correspond by number, unless
//! something says otherwise: names, the log of a driver, or a literal in the register that the other program reads.
//! What corresponds to nothing is *unmatched*: a verdict may not depend on it.
//!
//! Inputs correspond by the names of their components, and those that remain by register.

use std::collections::{BTreeMap, BTreeSet};

use r500_check::ExternalReads;
use r500_program::{Channel, InputData, Job, Plane};

use crate::{SIDES, Side};

/// The matched and unmatched parts of two interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceMatch {
    /// Shared constants. The places of each side are the channels of one value, in order.
    pub constants: Vec<Shared>,
    /// Shared components of inputs. The places of each side hold the same number.
    pub inputs: Vec<Shared>,
    /// Names that only one side has (or that differ in shape).
    pub alone: Vec<(Side, String)>,
    /// Registers that a program reads, that its file does not give, and that correspond to nothing in the other program.
    pub unmatched: [Unmatched; 2],
    /// Integer and boolean constants and textures that a program reads and neither file gives: any value, the same in both.
    pub missing: ExternalReads,
    /// Textures that only one file gives, and that hold for both programs: that side.
    pub copied: Vec<(Side, ExternalReads)>,
    /// Integer and boolean constants that a program reads and only the other file gives: the side that reads them.
    pub unlent: Vec<(Side, ExternalReads)>,
}

impl InterfaceMatch {
    /// Returns whether one program reads constants that its file does not give while the other reads literals: these may be the values
    /// that the file lacks, so that a difference that depends on them says nothing.
    pub(crate) fn lacks_literals(&self, jobs: &[Job; 2]) -> bool {
        (0..2).any(|n| {
            let other = &jobs[1 - n];
            let is_literal = |&place: &(u8, u8)| {
                let is_shared = |shared: &Shared| shared.places[1 - n].contains(&place);
                other.program.state.gives_channel(place.0.into(), place.1.into())
                    && !self.constants.iter().any(is_shared)
                    && !self.unmatched[1 - n].constants.contains(&place)
            };
            let reads = ExternalReads::of(&other.program);
            let mut read = constant_channels(&reads);
            !self.unmatched[n].constants.is_empty() && read.any(|place| is_literal(&place))
        })
    }
}

/// A constant or an input component that both jobs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Its name, or its register.
    pub name: String,
    /// Its registers in A and in B: numbers of constants or temporaries, and channels (0 red to 3 alpha). A side that does
    /// not read it may have none.
    pub places: [Vec<(u8, u8)>; 2],
}

/// Registers in A and in B: numbers and channels.
type Places = [Vec<(u8, u8)>; 2];

/// Registers without a correspondence: numbers and channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Constants.
    pub constants: BTreeSet<(u8, u8)>,
    /// Temporaries that are read before they are written, and that are not inputs.
    pub temps: BTreeSet<(u8, u8)>,
}

impl Unmatched {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.temps.is_empty()
    }

    /// Returns the registers, to be printed.
    #[must_use]
    pub fn registers(&self) -> ExternalReads {
        let mut reads = ExternalReads::default();
        for &(n, c) in &self.constants {
            reads.constants.insert(n);
            *reads.constant_channels.entry(n).or_default() |= 1 << (c & 3);
        }
        for &(n, c) in &self.temps {
            *reads.inputs.entry(n).or_default() |= 1 << (c & 3);
        }
        reads
    }
}

/// What the constants of two files mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Literals {
    /// Constants without a name are literals with the value that their file gives.
    #[default]
    Bound,
    /// All constants have any value and correspond by number.
    Unbound,
}

/// What a channel of a constant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A literal.
    Value(u32),
    /// A value that has this name in its file: of a whole uniform, and the channel of it.
    Named(String, u8),
    /// The file gives nothing.
    Nameless,
    /// The file says that nothing corresponds to it.
    Unknown,
}

impl InterfaceMatch {
    /// Matches two jobs. Constants without a name are [literals](Literals::Bound).
    #[must_use]
    pub fn of(a: &Job, b: &Job) -> Self {
        Self::with(a, b, Literals::Bound)
    }

    /// Matches two jobs.
    #[must_use]
    pub fn with(a: &Job, b: &Job, literals: Literals) -> Self {
        let jobs = [a, b];
        let reads = jobs.map(|job| ExternalReads::of(&job.program));
        let mut sharing = Self::default();
        match literals {
            Literals::Bound => sharing.match_constants(jobs, &reads),
            Literals::Unbound => sharing.by_number(&reads),
        }
        sharing.match_inputs(jobs, &reads);
        sharing.match_rest(jobs, &reads);
        sharing
    }

    fn by_number(&mut self, reads: &[ExternalReads; 2]) {
        let mut places: BTreeMap<(u8, u8), Places> = BTreeMap::new();
        for (n, reads) in reads.iter().enumerate() {
            for place in constant_channels(reads) {
                places.entry(place).or_default()[n].push(place);
            }
        }
        for (place, places) in places {
            self.constants.push(Shared { name: constant_name(place), places });
        }
    }

    fn match_constants(&mut self, jobs: [&Job; 2], reads: &[ExternalReads; 2]) {
        let meanings = jobs.map(meanings);
        let read = [0, 1].map(|n| constant_channels(&reads[n]).collect::<BTreeSet<(u8, u8)>>());
        let meaning = |n: usize, place: &(u8, u8)| {
            meanings[n].get(place).cloned().unwrap_or(Meaning::Nameless)
        };
        // By name, channel by channel.
        let mut names: BTreeMap<(&str, u8), Places> = BTreeMap::new();
        for (n, meanings) in meanings.iter().enumerate() {
            for (place, meaning) in meanings {
                if let Meaning::Named(name, channel) = meaning {
                    names.entry((name, *channel)).or_default()[n].push(*place);
                }
            }
        }
        let mut groups: BTreeMap<&str, Vec<(u8, Places)>> = BTreeMap::new();
        for ((name, channel), places) in names {
            groups.entry(name).or_default().push((channel, places));
        }
        for (name, channels) in groups {
            let has = |n: usize| channels.iter().any(|(_, places)| !places[n].is_empty());
            let reads = |n: usize| {
                let mut places = channels.iter().flat_map(|(_, places)| &places[n]);
                places.any(|place| read[n].contains(place))
            };
            match [has(0), has(1)] {
                [true, true] => {
                    let is_simple =
                        channels.iter().all(|(_, places)| places.iter().all(|p| p.len() == 1));
                    if is_simple {
                        let places = [0, 1].map(|n| {
                            channels.iter().flat_map(|(_, places)| places[n].clone()).collect()
                        });
                        self.constants.push(Shared { name: name.to_owned(), places });
                    } else {
                        for (channel, places) in channels {
                            let letter = char::from(b"rgba"[usize::from(channel & 3)]);
                            let name = format!("{name}.{letter}");
                            self.constants.push(Shared { name, places });
                        }
                    }
                }
                [a, _] => {
                    let n = usize::from(!a);
                    self.alone.push((SIDES[n], name.to_owned()));
                    // A name without a value that only one program reads.
                    let given = |&(constant, channel): &(u8, u8)| {
                        jobs[n].program.state.gives_channel(constant.into(), channel.into())
                    };
                    if reads(n) {
                        let places = channels.iter().flat_map(|(_, places)| places[n].clone());
                        let open = places.filter(|place| read[n].contains(place) && !given(place));
                        self.unmatched[n].constants.extend(open);
                    }
                }
            }
        }
        // By number, where nothing says that numbers mean nothing.
        let nameless = [0, 1].map(|n| {
            let nameless = read[n].iter().filter(|place| meaning(n, place) == Meaning::Nameless);
            nameless.copied().collect::<BTreeSet<(u8, u8)>>()
        });
        let is_named = |job: &Job| !job.uniforms.is_empty() || job.compilation.is_some();
        // A constant that one file lacks may be a literal of the other, under another number.
        let conflicts = |n: usize| {
            let is_literal = |place| matches!(meaning(1 - n, place), Meaning::Value(_));
            nameless[n].iter().any(|place| !nameless[1 - n].contains(place))
                && read[1 - n].iter().any(is_literal)
        };
        let [a, b] = jobs;
        let is_same = a.program == b.program && a.uniforms == b.uniforms;
        if is_same || !(is_named(a) || is_named(b) || conflicts(0) || conflicts(1)) {
            let places: BTreeSet<(u8, u8)> = nameless[0].union(&nameless[1]).copied().collect();
            for place in places {
                let at = |n: usize| nameless[n].contains(&place).then_some(place);
                let places = [0, 1].map(|n| at(n).into_iter().collect());
                self.constants.push(Shared { name: constant_name(place), places });
            }
        } else {
            for (n, nameless) in nameless.into_iter().enumerate() {
                self.unmatched[n].constants.extend(nameless);
            }
        }
        for (n, read) in read.iter().enumerate() {
            let unknown = read.iter().filter(|place| meaning(n, place) == Meaning::Unknown);
            self.unmatched[n].constants.extend(unknown.copied());
        }
        self.constants.sort_by(|a, b| a.name.cmp(&b.name));
        self.match_unknown(jobs);
    }

    /// In a copy of a program, no register can have moved.
    fn match_unknown(&mut self, [a, b]: [&Job; 2]) {
        if a.program != b.program || a.uniforms != b.uniforms || a.compilation != b.compilation {
            return;
        }
        for place in std::mem::take(&mut self.unmatched[0].constants) {
            self.unmatched[1].constants.remove(&place);
            let places = [vec![place], vec![place]];
            self.constants.push(Shared { name: constant_name(place), places });
        }
    }

    fn match_inputs(&mut self, jobs: [&Job; 2], reads: &[ExternalReads; 2]) {
        let components = [0, 1].map(|n| components(jobs[n], &reads[n]));
        let mut names: BTreeMap<&str, Places> = BTreeMap::new();
        for (n, components) in components.iter().enumerate() {
            for (place, component) in components {
                if let Some(name) = &component.name {
                    names.entry(name).or_default()[n].push(*place);
                }
            }
        }
        let mut rest = components.each_ref().map(|components| components.clone());
        for (name, places) in names {
            if places.iter().all(|places| !places.is_empty()) {
                for n in 0..2 {
                    places[n].iter().for_each(|place| drop(rest[n].remove(place)));
                }
                self.inputs.push(Shared { name: name.to_owned(), places });
            }
        }
        let is_bare = jobs.map(|job| job.inputs.is_none());
        self.match_planes(&mut rest, true);
        let varying = [0, 1].map(|n| {
            let varying = rest[n].iter().filter(|(_, component)| component.varies);
            varying.map(|(place, _)| *place).collect::<BTreeSet<(u8, u8)>>()
        });
        // The rest by register, if they are in the same registers.
        let same_registers = match is_bare {
            [true, true] => true,
            [true, false] => varying[0].iter().all(|place| rest[1].contains_key(place)),
            [false, true] => varying[1].iter().all(|place| rest[0].contains_key(place)),
            [false, false] => varying[0] == varying[1],
        };
        if same_registers {
            let all: BTreeSet<(u8, u8)> = varying[0].union(&varying[1]).copied().collect();
            for place in all {
                let found = [0, 1].map(|n| rest[n].remove(&place));
                // Of a file with names and one without, other planes are other inputs.
                let is_same = match &found {
                    [Some(a), Some(b)] => {
                        a.is_named == b.is_named || a.plane == b.plane || is_bare != [false; 2]
                    }
                    _ => false,
                };
                if is_same {
                    self.inputs.push(Shared {
                        name: temp_name(place),
                        places: [vec![place], vec![place]],
                    });
                } else if is_bare == [true; 2] {
                    // Only one program reads it.
                    let places = found.map(|found| found.map(|_| place).into_iter().collect());
                    self.inputs.push(Shared { name: temp_name(place), places });
                } else {
                    for (rest, found) in rest.iter_mut().zip(found) {
                        rest.extend(found.map(|found| (place, found)));
                    }
                }
            }
        } else {
            self.match_planes(&mut rest, false);
        }
        for (n, rest) in rest.iter().enumerate() {
            for (place, component) in rest {
                if is_bare[n] {
                    self.unmatched[n].temps.insert(*place);
                } else if component.varies {
                    let name = component.name.clone().unwrap_or_else(|| temp_name(*place));
                    self.alone.push((SIDES[n], name));
                }
            }
        }
        // What is read and not an input is undefined.
        for n in (0..2).filter(|&n| !is_bare[n]) {
            for place in temp_channels(&reads[n]) {
                if !components[n].contains_key(&place) {
                    self.unmatched[n].temps.insert(place);
                }
            }
        }
        let [a, b] = jobs;
        if a.program == b.program && a.inputs == b.inputs {
            // A copy of a program reads the same registers.
            for place in std::mem::take(&mut self.unmatched[0].temps) {
                self.unmatched[1].temps.remove(&place);
                self.inputs
                    .push(Shared { name: temp_name(place), places: [vec![place], vec![place]] });
            }
        }
    }

    /// Matches components that are the same plane, if one side does not name them: captures of different drivers pack the same
    /// interpolants into other registers. `unique` leaves out planes that several components of a side have.
    fn match_planes(&mut self, rest: &mut [BTreeMap<(u8, u8), Component>; 2], unique: bool) {
        let mut planes: BTreeMap<[u32; 3], Places> = BTreeMap::new();
        for (n, rest) in rest.iter().enumerate() {
            for (place, component) in rest.iter().filter(|(_, component)| component.varies) {
                if let Some(plane) = component.plane {
                    planes.entry(plane).or_default()[n].push(*place);
                }
            }
        }
        for places in planes.into_values() {
            let is_nameless = |n: usize| places[n].iter().all(|place| !rest[n][place].is_named);
            let fits =
                |places: &Vec<(u8, u8)>| !places.is_empty() && (!unique || places.len() == 1);
            if places.iter().all(fits) && (is_nameless(0) || is_nameless(1)) {
                let mut names = Vec::new();
                for (rest, places) in rest.iter_mut().zip(&places) {
                    for place in places {
                        let found = rest.remove(place).filter(|component| component.is_named);
                        names.extend(found.and_then(|component| component.name));
                    }
                }
                let name = names.into_iter().next();
                let name = name.unwrap_or_else(|| temp_name(places[0][0]));
                self.inputs.push(Shared { name, places });
            }
        }
    }

    fn match_rest(&mut self, jobs: [&Job; 2], reads: &[ExternalReads; 2]) {
        for n in 0..2 {
            let missing = reads[n].missing(jobs[n]);
            let absent = missing.missing(jobs[1 - n]);
            let mut both = ExternalReads {
                int_constants: absent.int_constants,
                bool_constants: absent.bool_constants,
                textures: absent.textures,
                ..ExternalReads::default()
            };
            both = self.missing.union(&both);
            self.missing = both;
            let textures = missing.textures & !absent.textures;
            if textures != 0 {
                let registers = ExternalReads { textures, ..ExternalReads::default() };
                self.copied.push((SIDES[1 - n], registers));
            }
            let unlent = ExternalReads {
                int_constants: missing.int_constants & !absent.int_constants,
                bool_constants: missing.bool_constants & !absent.bool_constants,
                ..ExternalReads::default()
            };
            if !unlent.is_empty() {
                self.unlent.push((SIDES[n], unlent));
            }
        }
    }

    /// Returns whether nothing is matched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.inputs.is_empty()
    }

    /// Declares that a constant of A and one of B have the same value.
    pub fn share(&mut self, shared: Shared) {
        for other in &mut self.constants {
            for n in 0..2 {
                other.places[n].retain(|place| !shared.places[n].contains(place));
            }
        }
        self.constants.retain(|shared| shared.places.iter().any(|places| !places.is_empty()));
        for n in 0..2 {
            self.unmatched[n].constants.retain(|place| !shared.places[n].contains(place));
        }
        self.constants.push(shared);
    }
}

fn temp_name((n, c): (u8, u8)) -> String {
    format!("temp[{n}].{}", char::from(b"rgba"[usize::from(c & 3)]))
}

fn constant_name((n, c): (u8, u8)) -> String {
    format!("const[{n}].{}", char::from(b"rgba"[usize::from(c & 3)]))
}

/// Returns the channels of constants that a program reads.
pub(crate) fn constant_channels(reads: &ExternalReads) -> impl Iterator<Item = (u8, u8)> + '_ {
    reads.constants.iter().flat_map(|&n| {
        let mask = reads.constant_channels.get(&n).copied().unwrap_or(0b1111);
        (0..4u8).filter(move |c| mask >> c & 1 != 0).map(move |c| (n, c))
    })
}

/// Returns the channels of temporaries that a program reads before it writes them.
pub(crate) fn temp_channels(reads: &ExternalReads) -> impl Iterator<Item = (u8, u8)> + '_ {
    reads
        .inputs
        .iter()
        .flat_map(|(&n, &mask)| (0..4u8).filter(move |c| mask >> c & 1 != 0).map(move |c| (n, c)))
}

/// Returns what a file says of the channels of its constants; of others it says nothing.
pub(crate) fn meanings(job: &Job) -> BTreeMap<(u8, u8), Meaning> {
    let mut meanings = BTreeMap::new();
    let state = &job.program.state;
    for (n, value) in (0..=u8::MAX).zip(&state.constants) {
        for (c, &bits) in (0u8..4).zip(value) {
            if state.gives_channel(n.into(), c.into()) {
                meanings.insert((n, c), Meaning::Value(bits));
            }
        }
    }
    if let Some(compilation) = &job.compilation {
        for n in 0..=u8::MAX {
            for c in 0..4u8 {
                let meaning = match compilation.channel(n.into(), c.into()) {
                    Channel::Literal { .. } => continue,
                    Channel::Uniform { buffer, index, channel } => {
                        Meaning::Named(format!("CONST[{buffer}][{index}]"), channel)
                    }
                    Channel::State(state) => Meaning::Named(format!("{state:?}"), c),
                    // Two that the log rounds to 0 need not be equal.
                    _ => Meaning::Unknown,
                };
                meanings.insert((n, c), meaning);
            }
        }
        return meanings;
    }
    for uniform in job.uniforms.iter().filter(|uniform| !uniform.name.is_empty()) {
        // A name that is used twice is ambiguous: these are literals.
        let places = job.uniforms.iter().filter(|other| other.name == uniform.name).count();
        if places == 1 {
            let last = uniform.channel.saturating_add(uniform.channels).min(4);
            for (k, c) in (uniform.channel..last).enumerate() {
                let k = u8::try_from(k).unwrap_or(3);
                meanings.insert((uniform.constant, c), Meaning::Named(uniform.name.clone(), k));
            }
        }
    }
    meanings
}

/// A component of an input.
#[derive(Clone, Debug)]
struct Component {
    /// Its name, or `u` or `v` if it is that plane.
    name: Option<String>,
    /// Whether the file gives the name.
    is_named: bool,
    /// The bits of its plane.
    plane: Option<[u32; 3]>,
    /// Whether it is more than a number that the rasteriser sets.
    varies: bool,
}

/// Returns the components of the inputs of a job. Without a list of inputs, these are the temporaries that its program
/// reads before it writes them.
fn components(job: &Job, reads: &ExternalReads) -> BTreeMap<(u8, u8), Component> {
    let mut found = BTreeMap::new();
    let Some(inputs) = &job.inputs else {
        let bare = Component { name: None, is_named: false, plane: None, varies: true };
        return temp_channels(reads).map(|place| (place, bare.clone())).collect();
    };
    for input in inputs {
        for channel in 0..4u8 {
            let component = match &input.data {
                InputData::Planes(components) => {
                    let component = &components[usize::from(channel)];
                    let name = name_of(&component.name, component.plane);
                    let Plane { c, du, dv } = component.plane;
                    let varies = name.is_some() || du != 0.0 || dv != 0.0;
                    let is_named = !component.name.is_empty();
                    let plane = Some([c, du, dv].map(f32::to_bits));
                    Component { name, is_named, plane, varies }
                }
                InputData::Values { .. } => {
                    Component { name: None, is_named: false, plane: None, varies: true }
                }
            };
            found.insert((input.temp, channel), component);
        }
    }
    found
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
