//! Location lists: the registers that hold components of variables before an instruction.

use std::collections::HashMap;
use std::fmt;

use r500_exec::Bindings;
use r500_exec::reference::Lane;
use r500_glsl::tree::VariableId;
use r500_pvs::VertexState;

use crate::comparison;
use crate::points::PointId;

/// A kind of register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bank {
    /// A temporary.
    Temp,
    /// An alternate temporary, of vertices.
    AltTemp,
    /// An output.
    Out,
    /// An input, of vertices.
    Input,
    /// A constant.
    Const,
}

/// A channel of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The kind of register.
    pub bank: Bank,
    /// Its number.
    pub number: u8,
    /// The channel.
    pub channel: u8,
    /// Whether the register holds the value with the other sign.
    pub negated: bool,
}

impl Place {
    /// Returns the value of a component whose register holds a number.
    fn value(self, held: f32) -> f32 {
        if self.negated { -held } else { held }
    }

    /// Returns the value of a component that a register of a pixel holds; NaN if there is no such register.
    #[must_use]
    pub fn of_pixel(self, lane: &Lane, bindings: &Bindings) -> f32 {
        let (number, channel) = (usize::from(self.number), usize::from(self.channel & 3));
        let held = match self.bank {
            Bank::Temp => lane.temps.get(number).copied(),
            Bank::Out => lane.color.get(number).copied(),
            Bank::Const => bindings.constant(number),
            Bank::AltTemp | Bank::Input => None,
        };
        self.value(held.map_or(f32::NAN, |vector| vector[channel]))
    }

    /// Returns the value of a component that a register of a vertex holds; `constant` returns a constant.
    #[must_use]
    pub fn of_vertex(self, state: &VertexState, constant: &dyn Fn(u8) -> [f32; 4]) -> f32 {
        let (number, channel) = (usize::from(self.number), usize::from(self.channel & 3));
        let held = match self.bank {
            Bank::Temp => state.temporaries().get(number).copied(),
            Bank::AltTemp => state.alternates().get(number).copied(),
            Bank::Out => state.outputs().get(number).copied(),
            Bank::Input => state.inputs().get(number).copied(),
            Bank::Const => Some(constant(self.number)),
        };
        self.value(held.map_or(f32::NAN, |vector| vector[channel]))
    }

    /// Returns the register without its channel: `temp[3]`.
    #[must_use]
    pub fn register(self) -> String {
        let name = match self.bank {
            Bank::Temp => "temp",
            Bank::AltTemp => "alt_temp",
            Bank::Out => "out",
            Bank::Input => "input",
            Bank::Const => "const",
        };
        format!("{}{name}[{}]", if self.negated { "-" } else { "" }, self.number)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.register(), ["x", "y", "z", "w"][usize::from(self.channel & 3)])
    }
}

/// Returns whether a register holds a value; zeros of both signs are the same.
pub(super) fn same(held: f32, value: f32) -> bool {
    comparison::same(held, value)
}

/// An instruction and the point that is shown at it.
type Key = (u32, PointId);

/// The registers of the components of variables before instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Locations {
    of: HashMap<Key, HashMap<(VariableId, usize), Candidates>>,
}

/// Registers that held a component in all runs so far.
#[derive(Clone, Debug)]
struct Candidates {
    places: Vec<Place>,
    first: f32,
    /// Whether the component had several values: one value may be in a register by chance.
    varies: bool,
}

impl Locations {
    /// Returns the registers of a component before an instruction.
    pub(super) fn places(&self, key: Key, variable: VariableId, component: usize) -> &[Place] {
        let found = self.of.get(&key).and_then(|variables| variables.get(&(variable, component)));
        found.filter(|found| found.varies).map_or(&[], |found| &found.places)
    }

    /// Notes the value of a component in a run. `register` returns what a register holds, `all` all registers.
    pub(super) fn note(
        &mut self,
        key: Key,
        (variable, component): (VariableId, usize),
        value: f32,
        register: &dyn Fn(Place) -> f32,
        all: &[Place],
    ) {
        let holds = |place: &Place| same(register(*place), value);
        let variables = self.of.entry(key).or_default();
        match variables.get_mut(&(variable, component)) {
            Some(found) => {
                found.places.retain(holds);
                found.varies |= !same(found.first, value);
            }
            None => {
                let places = all.iter().copied().filter(holds).collect();
                let found = Candidates { places, first: value, varies: false };
                variables.insert((variable, component), found);
            }
        }
    }
}

/// Chooses a register for each component of a vector: one for all, if there is one, and channels in order.
pub(super) fn chosen(all: &[Vec<Place>]) -> Vec<Option<Place>> {
    let rank = |place: &Place| {
        let register = (place.bank, place.number, place.negated);
        let holding = all.iter().filter(|places| {
            places.iter().any(|other| (other.bank, other.number, other.negated) == register)
        });
        let lost = all.len() - holding.count();
        (lost, place.negated, place.bank, place.number)
    };
    let choose = |(n, places): (usize, &Vec<Place>)| {
        let off = |place: &Place| usize::from(place.channel) != n && all.len() > 1;
        places.iter().copied().min_by_key(|place| (rank(place), off(place), place.channel))
    };
    all.iter().enumerate().map(choose).collect()
}
