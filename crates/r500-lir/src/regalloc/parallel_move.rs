//! Parallel moves: sequentialisation of moves that take effect at the same time.
//!
//! The register classes do not overlap, but both use the slots of the frame. So the moves of both classes are ordered together.

use crate::Class;
use crate::{MachInst, Mem};

/// The source or destination of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Register(Class, u8),
    Memory(Mem),
}

/// A move of a value of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) class: Class,
    pub(super) to: Location,
    pub(super) from: Location,
}

/// Appends single moves so that each destination receives the value that its source had before all of them. All destinations are distinct.
/// `spare` returns a location for a value of a class that no move reads or writes; its contents are lost.
pub(super) fn resolve(
    mut moves: Vec<Move>,
    mut spare: impl FnMut(Class) -> Location,
    out: &mut Vec<MachInst>,
) {
    moves.retain(|m| m.to != m.from);
    while !moves.is_empty() {
        // A destination that no remaining move reads may be overwritten.
        let free = moves.iter().position(|m| !moves.iter().any(|other| other.from == m.to));
        if let Some(at) = free {
            let m = moves.swap_remove(at);
            out.push(single(m.class, m.to, m.from));
            continue;
        }
        // Only cycles remain: break one by saving a location to a spare one. The class is that of the move that reads the location; the
        // move that overwrites it may have another one.
        let place = moves[0].to;
        let reads = |m: &Move| m.from == place;
        let class = moves.iter().find(|m| reads(m)).map(|m| m.class);
        let class = class.expect("each destination in a cycle is the source of a move");
        debug_assert!(
            moves.iter().filter(|m| reads(m)).all(|m| m.class == class),
            "{place:?} holds a value of one class: {moves:?}"
        );
        let spare = spare(class);
        out.push(single(class, spare, place));
        for m in moves.iter_mut().filter(|m| m.from == place) {
            m.from = spare;
        }
    }
}

fn single(class: Class, to: Location, from: Location) -> MachInst {
    let register = |(of, register): (Class, u8)| {
        debug_assert_eq!(of, class, "a value is in a register of its class");
        register
    };
    match (to, from) {
        (Location::Register(a, dst), Location::Register(b, from)) => {
            MachInst::Move { class, dst: register((a, dst)), from: register((b, from)) }
        }
        (Location::Register(a, dst), Location::Memory(from)) => {
            MachInst::Load { class, dst: register((a, dst)), from }
        }
        (Location::Memory(to), Location::Register(b, from)) => {
            MachInst::Store { class, to, from: register((b, from)) }
        }
        (Location::Memory(to), Location::Memory(from)) => MachInst::MemMove { class, to, from },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: Class = Class::Vector;
    const MASK: Class = Class::Mask;

    fn slot(number: u32) -> Location {
        Location::Memory(Mem::Stack(number))
    }

    fn vector(register: u8) -> Location {
        Location::Register(VECTOR, register)
    }

    fn mask(register: u8) -> Location {
        Location::Register(MASK, register)
    }

    fn spare(class: Class) -> Location {
        if class == VECTOR { vector(30) } else { slot(99) }
    }

    /// For each location, the initial location of the value that it holds, and the class that it was written as.
    #[derive(Default)]
    struct Machine(Vec<(Location, (Location, Class))>);

    impl Machine {
        fn read(&self, location: Location, class: Class) -> Location {
            let held = self.0.iter().find(|(at, _)| *at == location);
            let &(_, (value, as_class)) = held.unwrap_or(&(location, (location, class)));
            assert_eq!(as_class, class, "{location:?} holds {value:?}");
            value
        }

        fn copy(&mut self, to: Location, from: Location, class: Class) {
            let value = self.read(from, class);
            self.0.retain(|(at, _)| *at != to);
            self.0.push((to, (value, class)));
        }

        fn run(&mut self, insts: &[MachInst]) {
            for inst in insts {
                match *inst {
                    MachInst::Move { class, dst, from } => {
                        self.copy(
                            Location::Register(class, dst),
                            Location::Register(class, from),
                            class,
                        );
                    }
                    MachInst::Load { class, dst, from } => {
                        self.copy(Location::Register(class, dst), Location::Memory(from), class);
                    }
                    MachInst::Store { class, to, from } => {
                        self.copy(Location::Memory(to), Location::Register(class, from), class);
                    }
                    MachInst::MemMove { class, to, from } => {
                        self.copy(Location::Memory(to), Location::Memory(from), class);
                    }
                    _ => unreachable!(),
                }
            }
        }
    }

    fn check(moves: &[(Class, Location, Location)]) {
        let list = moves.iter().map(|&(class, to, from)| Move { class, to, from }).collect();
        let mut insts = Vec::new();
        resolve(list, spare, &mut insts);
        let mut machine = Machine::default();
        machine.run(&insts);
        for &(class, to, from) in moves {
            assert_eq!(machine.read(to, class), from, "{to:?}: {insts:?}");
        }
    }

    #[test]
    fn cycles_chains_and_forks() {
        // A cycle of three, a chain that ends in it, and a location with two destinations.
        let pairs = [(0, 1), (1, 2), (2, 0), (3, 0), (4, 5), (6, 5), (5, 4)];
        check(&pairs.map(|(to, from)| (VECTOR, vector(to), vector(from))));
    }

    #[test]
    fn a_vector_overwrites_a_slot_after_its_mask_is_read() {
        check(&[(VECTOR, slot(0), vector(3)), (MASK, mask(3), slot(0))]);
        check(&[(MASK, slot(0), mask(3)), (VECTOR, vector(3), slot(0))]);
    }

    #[test]
    fn registers_of_different_classes_are_different_places() {
        // If the classes were confused, these would be a cycle.
        let moves = [(VECTOR, vector(0), vector(1)), (MASK, mask(1), mask(0))];
        check(&moves);
        let mut insts = Vec::new();
        let moves = moves.map(|(class, to, from)| Move { class, to, from });
        resolve(moves.to_vec(), |_| unreachable!(), &mut insts);
        assert_eq!(insts.len(), 2);
    }

    #[test]
    fn a_cycle_through_slots_is_broken_in_the_class_that_is_read() {
        // A vector overwrites the slot of a mask and a mask that of a vector: either may be saved first.
        let moves =
            [(VECTOR, slot(0), vector(1)), (MASK, slot(1), slot(0)), (VECTOR, vector(1), slot(1))];
        for first in 0..3 {
            let mut moves = moves;
            moves.rotate_left(first);
            check(&moves);
        }
    }
}
