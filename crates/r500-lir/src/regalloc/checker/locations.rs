//! Abstract machine state: the values that each location holds.

use std::collections::BTreeMap;

use crate::{Class, LoopParam, VReg};
use crate::{Mem, RegMem};

/// A location: a register of a class, a slot of the frame or of the batch, a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Location {
    Register(u8, u8),
    Stack(u32),
    Slot(u32, u32),
    Const(u32),
}

impl Location {
    pub(super) fn register(class: Class, register: u8) -> Self {
        Self::Register(class as u8, register)
    }
}

/// The contents of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The class that it was written as.
    pub(super) class: Class,
    /// The values that it is equal to, ascending.
    pub(super) values: Vec<VReg>,
}

/// The contents of all written locations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State(pub(super) BTreeMap<Location, Held>);

impl State {
    pub(super) fn holds(&self, at: Location, v: VReg) -> bool {
        self.0.get(&at).is_some_and(|held| held.values.binary_search(&v).is_ok())
    }

    /// Returns the locations of a value, for messages.
    pub(super) fn places_of(&self, v: VReg) -> Vec<Location> {
        self.0.keys().copied().filter(|at| self.holds(*at, v)).collect()
    }

    /// Adds `to` to all locations that hold `from`.
    pub(super) fn alias(&mut self, to: VReg, from: VReg) {
        for held in self.0.values_mut() {
            if held.values.binary_search(&from).is_ok() {
                add(&mut held.values, to);
            }
        }
    }

    /// Intersects this state with that of another path. Returns whether this state shrank.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut less = false;
        self.0.retain(|at, held| {
            // A location that is written as different classes may be read as neither.
            let others = other.0.get(at).filter(|others| others.class == held.class);
            let Some(others) = others else {
                less = true;
                return false;
            };
            let count = held.values.len();
            held.values.retain(|v| others.values.binary_search(v).is_ok());
            less |= held.values.len() < count;
            true
        });
        less
    }
}

pub(super) fn add(values: &mut Vec<VReg>, v: VReg) {
    if let Err(at) = values.binary_search(&v) {
        values.insert(at, v);
    }
}

/// Advances the state to the next iteration: all parameters take their next values at the same time.
pub(super) fn carry(state: &mut State, param: &[LoopParam]) {
    for held in state.0.values_mut() {
        let had = held.values.clone();
        held.values.retain(|v| !param.iter().any(|c| c.var == *v));
        for c in param {
            if had.binary_search(&c.next).is_ok() {
                add(&mut held.values, c.var);
            }
        }
    }
}

/// Adds a value to all locations that hold it in `other`.
pub(super) fn follow(state: &mut State, other: &State, v: VReg) {
    for (at, held) in &other.0 {
        if held.values.binary_search(&v).is_err() {
            continue;
        }
        let class = held.class;
        let here = state.0.entry(*at).or_insert(Held { class, values: Vec::new() });
        if here.class == class {
            add(&mut here.values, v);
        } else {
            *here = Held { class, values: vec![v] };
        }
    }
}

impl From<Mem> for Location {
    fn from(mem: Mem) -> Self {
        match mem {
            Mem::Const(bits) => Self::Const(bits),
            Mem::Stack(slot) => Self::Stack(slot),
            Mem::Slot(slot, part) => Self::Slot(slot, part),
        }
    }
}

impl RegMem {
    /// Returns the location that an instruction accesses for an operand of a class.
    pub(super) fn located(self, class: Class) -> Location {
        match self {
            Self::Register(register) => Location::register(class, register),
            Self::Memory(mem) => mem.into(),
        }
    }
}
