//! Abstract machine state: which values each place holds.

use std::collections::BTreeMap;

use crate::lir::{Class, LoopParam, VReg};
use crate::mach_inst::{Mem, Place};

/// A place that holds values: a register of a class, a slot of the frame or of the batch, a constant.
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

/// What a place holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// As what it was written.
    pub(super) class: Class,
    /// The values that it is equal to, ascending.
    pub(super) values: Vec<VReg>,
}

/// What all places hold that were written. A value that no place holds is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State(pub(super) BTreeMap<Location, Held>);

impl State {
    pub(super) fn holds(&self, at: Location, v: VReg) -> bool {
        self.0.get(&at).is_some_and(|held| held.values.binary_search(&v).is_ok())
    }

    /// Where a value is, for messages.
    pub(super) fn places_of(&self, v: VReg) -> Vec<Location> {
        self.0.keys().copied().filter(|at| self.holds(*at, v)).collect()
    }

    /// All places that hold `from` also hold `to`.
    pub(super) fn alias(&mut self, to: VReg, from: VReg) {
        for held in self.0.values_mut() {
            if held.values.binary_search(&from).is_ok() {
                add(&mut held.values, to);
            }
        }
    }

    /// What holds on this way and on another. Whether that is less.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut less = false;
        self.0.retain(|at, held| {
            // A place that is written as different classes may be read as neither.
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

/// What places hold in the next iteration: variables are what they are given, all at once.
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

/// All places that hold a value in `other` hold it here.
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

impl Place {
    /// Where an instruction reads that takes registers of a class.
    pub(super) fn located(self, class: Class) -> Location {
        match self {
            Self::Register(register) => Location::register(class, register),
            Self::Memory(mem) => mem.into(),
        }
    }
}
