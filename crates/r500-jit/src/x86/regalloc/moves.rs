//! Parallel moves: a sequence of single moves with the effect of all of them at once.
//!
//! Registers of different classes are different places, but both classes share the slots of the frame: so the
//! moves of both are put in order together.

use crate::op::Class;
use crate::x86::inst::{Inst, Mem};

/// The source or destination of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Register(Class, u8),
    Memory(Mem),
}

/// One of the moves: a value of this class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) class: Class,
    pub(super) to: Spot,
    pub(super) from: Spot,
}

/// Appends single moves so that each destination receives what its source held before all of them. No two
/// moves have the same destination. `spare` finds a place for a value of a class that no move names; what it
/// held is lost.
pub(super) fn resolve(
    mut moves: Vec<Move>,
    mut spare: impl FnMut(Class) -> Spot,
    out: &mut Vec<Inst>,
) {
    moves.retain(|m| m.to != m.from);
    while !moves.is_empty() {
        // A destination that is not the source of a move that is still to come may be overwritten.
        let free = moves.iter().position(|m| !moves.iter().any(|other| other.from == m.to));
        if let Some(at) = free {
            let m = moves.swap_remove(at);
            out.push(single(m.class, m.to, m.from));
            continue;
        }
        // Cycles are left: the value of one place goes to a spare one. Its class is that of the move that
        // reads it, which need not be that of the move that overwrites it.
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

fn single(class: Class, to: Spot, from: Spot) -> Inst {
    let register = |(of, register): (Class, u8)| {
        debug_assert_eq!(of, class, "a value is in a register of its class");
        register
    };
    match (to, from) {
        (Spot::Register(a, dst), Spot::Register(b, from)) => {
            Inst::Move { class, dst: register((a, dst)), from: register((b, from)) }
        }
        (Spot::Register(a, dst), Spot::Memory(from)) => {
            Inst::Load { class, dst: register((a, dst)), from }
        }
        (Spot::Memory(to), Spot::Register(b, from)) => {
            Inst::Store { class, to, from: register((b, from)) }
        }
        (Spot::Memory(to), Spot::Memory(from)) => Inst::Carry { class, to, from },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: Class = Class::Vector;
    const MASK: Class = Class::Mask;

    fn slot(number: u32) -> Spot {
        Spot::Memory(Mem::Stack(number))
    }

    fn vector(register: u8) -> Spot {
        Spot::Register(VECTOR, register)
    }

    fn mask(register: u8) -> Spot {
        Spot::Register(MASK, register)
    }

    fn spare(class: Class) -> Spot {
        if class == VECTOR { vector(30) } else { slot(99) }
    }

    /// What each place holds: the place that the value was in at first, and as a value of which class.
    #[derive(Default)]
    struct Machine(Vec<(Spot, (Spot, Class))>);

    impl Machine {
        fn read(&self, spot: Spot, class: Class) -> Spot {
            let held = self.0.iter().find(|(at, _)| *at == spot);
            let &(_, (value, as_class)) = held.unwrap_or(&(spot, (spot, class)));
            assert_eq!(as_class, class, "{spot:?} holds {value:?}");
            value
        }

        fn copy(&mut self, to: Spot, from: Spot, class: Class) {
            let value = self.read(from, class);
            self.0.retain(|(at, _)| *at != to);
            self.0.push((to, (value, class)));
        }

        fn run(&mut self, insts: &[Inst]) {
            for inst in insts {
                match *inst {
                    Inst::Move { class, dst, from } => {
                        self.copy(Spot::Register(class, dst), Spot::Register(class, from), class);
                    }
                    Inst::Load { class, dst, from } => {
                        self.copy(Spot::Register(class, dst), Spot::Memory(from), class);
                    }
                    Inst::Store { class, to, from } => {
                        self.copy(Spot::Memory(to), Spot::Register(class, from), class);
                    }
                    Inst::Carry { class, to, from } => {
                        self.copy(Spot::Memory(to), Spot::Memory(from), class);
                    }
                    _ => unreachable!(),
                }
            }
        }
    }

    fn check(moves: &[(Class, Spot, Spot)]) {
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
        // A cycle of three, a chain that ends in it, one place to two others.
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
        // Taken for one another, these would be a cycle.
        let moves = [(VECTOR, vector(0), vector(1)), (MASK, mask(1), mask(0))];
        check(&moves);
        let mut insts = Vec::new();
        let moves = moves.map(|(class, to, from)| Move { class, to, from });
        resolve(moves.to_vec(), |_| unreachable!(), &mut insts);
        assert_eq!(insts.len(), 2);
    }

    #[test]
    fn a_cycle_through_slots_is_broken_in_the_class_that_is_read() {
        // A vector takes the slot of a mask and a mask that of a vector: either may be saved first.
        let moves =
            [(VECTOR, slot(0), vector(1)), (MASK, slot(1), slot(0)), (VECTOR, vector(1), slot(1))];
        for first in 0..3 {
            let mut moves = moves;
            moves.rotate_left(first);
            check(&moves);
        }
    }
}
