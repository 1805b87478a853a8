//! Register state: the values that registers and the frame hold, and the location of each value.

use crate::Machine;
use crate::Mem;
use crate::{Class, LirFunction, MemOperand, VReg};

use super::parallel_move::{Location, Move};

const NOWHERE: u32 = u32::MAX;

/// Returns the index of a spill slot as `u32`.
fn number(slot: usize) -> u32 {
    u32::try_from(slot).expect("a frame of few slots")
}

/// The locations of all values, and the values in all locations.
#[derive(Debug)]
pub(super) struct RegState {
    pub(super) machine: Machine,
    now: Saved,
    /// The register of each value, or `NOWHERE`. (`spill_slot` and `mem_operand`: its slot of the frame, its
    /// read-only memory.)
    register: Vec<u32>,
    spill_slot: Vec<u32>,
    mem_operands: Vec<Option<MemOperand>>,
    classes: Vec<Class>,
    /// The preferred register of each value.
    hints: Vec<u32>,
    frame: u32,
}

/// The contents of registers and of the frame.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    registers: [Vec<Option<VReg>>; 2],
    stack: Vec<Option<VReg>>,
}

impl Saved {
    /// Returns the values in registers, then those that are only in the frame.
    pub(super) fn locations(&self) -> Vec<(Location, VReg)> {
        let mut locations = Vec::new();
        for class in [Class::Vector, Class::Mask] {
            for (register, v) in (0..).zip(&self.registers[class as usize]) {
                locations.extend(v.map(|v| (Location::Register(class, register), v)));
            }
        }
        let count = locations.len();
        for (slot, v) in (0..).zip(&self.stack) {
            if let Some(v) = *v
                && !locations[..count].iter().any(|(_, other)| *other == v)
            {
                locations.push((Location::Memory(Mem::Stack(slot)), v));
            }
        }
        locations
    }
}

impl RegState {
    pub(super) fn new(machine: Machine, function: &LirFunction) -> Self {
        let registers = |class| vec![None; machine.registers(class)];
        let count = function.classes.len();
        Self {
            machine,
            now: Saved {
                registers: [registers(Class::Vector), registers(Class::Mask)],
                stack: Vec::new(),
            },
            register: vec![NOWHERE; count],
            spill_slot: vec![NOWHERE; count],
            mem_operands: function.mem_operands.clone(),
            classes: function.classes.clone(),
            hints: vec![NOWHERE; count],
            frame: 0,
        }
    }

    /// Returns the size of the frame, in vectors.
    pub(super) fn frame(&self) -> u32 {
        self.frame
    }

    pub(super) fn class(&self, v: VReg) -> Class {
        self.classes[v.index()]
    }

    pub(super) fn register(&self, v: VReg) -> Option<u8> {
        u8::try_from(self.register[v.index()]).ok()
    }

    /// Returns the memory that holds a value.
    pub(super) fn memory(&self, v: VReg) -> Option<Mem> {
        match self.mem_operands[v.index()] {
            Some(MemOperand::Const(bits)) => Some(Mem::Const(bits)),
            Some(MemOperand::Slot(slot, part)) => Some(Mem::Slot(slot, part)),
            None => Some(self.spill_slot[v.index()])
                .filter(|spill_slot| *spill_slot != NOWHERE)
                .map(Mem::Stack),
        }
    }

    /// Returns the memory that holds each lane of a value separately: a pooled constant may be stored for one
    /// lane only.
    pub(super) fn lanes(&self, v: VReg) -> Option<Mem> {
        match self.mem_operands[v.index()] {
            Some(MemOperand::Slot(slot, part)) => Some(Mem::Slot(slot, part)),
            Some(MemOperand::Const(_)) | None => Some(self.spill_slot[v.index()])
                .filter(|spill_slot| *spill_slot != NOWHERE)
                .map(Mem::Stack),
        }
    }

    /// Returns the location that a value is read from; an arbitrary one for an undefined value.
    pub(super) fn location(&self, v: VReg) -> Location {
        match (self.register(v), self.memory(v)) {
            (Some(register), _) => Location::Register(self.class(v), register),
            (None, Some(mem)) => Location::Memory(mem),
            (None, None) => Location::Memory(Mem::Const(0)),
        }
    }

    /// Returns the values in registers.
    pub(super) fn registers(&self) -> Vec<(Class, u8, VReg)> {
        let of = |class: Class| {
            (0..)
                .zip(&self.now.registers[class as usize])
                .filter_map(move |(register, v)| v.map(|v| (class, register, v)))
        };
        of(Class::Vector).chain(of(Class::Mask)).collect()
    }

    /// Returns the values in the frame.
    pub(super) fn spilled(&self) -> Vec<VReg> {
        self.now.stack.iter().copied().flatten().collect()
    }

    pub(super) fn has_free(&self, class: Class) -> bool {
        self.now.registers[class as usize].contains(&None)
    }

    /// Returns a free register, the hinted one if it is free.
    pub(super) fn free(&self, class: Class, hint: Option<u8>) -> Option<u8> {
        let registers = &self.now.registers[class as usize];
        let hinted = hint.filter(|hint| registers.get(usize::from(*hint)) == Some(&None));
        hinted.or_else(|| {
            let place = registers.iter().position(Option::is_none)?;
            u8::try_from(place).ok()
        })
    }

    /// Makes the register of `at` the preferred one of `v`.
    pub(super) fn set_hint(&mut self, v: VReg, at: VReg) {
        self.hints[v.index()] = self.register[at.index()];
    }

    pub(super) fn hint(&self, v: VReg) -> Option<u8> {
        u8::try_from(self.hints[v.index()]).ok()
    }

    pub(super) fn put(&mut self, v: VReg, register: u8) {
        let regs = &mut self.now.registers[self.classes[v.index()] as usize];
        if let Some(place) = regs.get_mut(usize::from(register)) {
            if let Some(old) = place.replace(v) {
                self.register[old.index()] = NOWHERE;
            }
            self.register[v.index()] = u32::from(register);
        }
    }

    pub(super) fn drop_register(&mut self, v: VReg) {
        if let Some(register) = self.register(v) {
            self.now.registers[self.class(v) as usize][usize::from(register)] = None;
            self.register[v.index()] = NOWHERE;
        }
    }

    /// Allocates a spill slot for a value, which the caller stores there.
    pub(super) fn spill_slot(&mut self, v: VReg) -> Mem {
        let slot = self.free_stack();
        self.now.stack[slot] = Some(v);
        let slot = number(slot);
        self.spill_slot[v.index()] = slot;
        Mem::Stack(slot)
    }

    fn free_stack(&mut self) -> usize {
        let stack = &mut self.now.stack;
        let slot = stack.iter().position(Option::is_none).unwrap_or_else(|| {
            stack.push(None);
            stack.len() - 1
        });
        self.frame = self.frame.max(number(slot + 1));
        slot
    }

    /// Returns a free slot of the frame that no move reads or writes.
    pub(super) fn spare_slot(&mut self, moves: &[Move]) -> Mem {
        let named = |slot: usize| {
            let location = Location::Memory(Mem::Stack(number(slot)));
            moves.iter().any(|m| m.to == location || m.from == location)
        };
        let held = |slot: usize| self.now.stack.get(slot).is_some_and(Option::is_some);
        let slot = (0..).find(|slot| !held(*slot) && !named(*slot));
        let slot = number(slot.expect("the frame grows"));
        self.frame = self.frame.max(slot + 1);
        Mem::Stack(slot)
    }

    /// Returns the free registers.
    pub(super) fn frees(&self, class: Class) -> impl Iterator<Item = u8> {
        let registers = (0..).zip(&self.now.registers[class as usize]);
        registers.filter_map(|(register, v)| v.is_none().then_some(register))
    }

    /// Frees a value's spill slot, whose contents are stale.
    pub(super) fn drop_spill_slot(&mut self, v: VReg) {
        if let Some(place) = self.now.stack.get_mut(self.spill_slot[v.index()] as usize) {
            *place = None;
        }
        self.spill_slot[v.index()] = NOWHERE;
    }

    /// Frees a value's register and its spill slot.
    pub(super) fn forget(&mut self, v: VReg) {
        self.drop_register(v);
        self.drop_spill_slot(v);
    }

    /// Gives the location of a value to another one.
    pub(super) fn rename(&mut self, old: VReg, new: VReg) {
        if let Some(register) = self.register(old) {
            self.forget(old);
            self.put(new, register);
        } else if self.spill_slot[old.index()] != NOWHERE {
            let spill_slot = self.spill_slot[old.index()];
            self.forget(old);
            self.spill_slot[new.index()] = spill_slot;
            if let Some(place) = self.now.stack.get_mut(spill_slot as usize) {
                *place = Some(new);
            }
        }
    }

    pub(super) fn save(&self) -> Saved {
        self.now.clone()
    }

    pub(super) fn restore(&mut self, saved: Saved) {
        for v in self.now.registers.iter().flatten().flatten() {
            self.register[v.index()] = NOWHERE;
        }
        for v in self.now.stack.iter().flatten() {
            self.spill_slot[v.index()] = NOWHERE;
        }
        let grown = self.now.stack.len();
        self.now = saved;
        if self.now.stack.len() < grown {
            self.now.stack.resize(grown, None);
        }
        for regs in &self.now.registers {
            for (register, v) in (0..).zip(regs) {
                if let Some(v) = v {
                    self.register[v.index()] = register;
                }
            }
        }
        for (slot, v) in (0..).zip(&self.now.stack) {
            if let Some(v) = v {
                self.spill_slot[v.index()] = slot;
            }
        }
    }
}
