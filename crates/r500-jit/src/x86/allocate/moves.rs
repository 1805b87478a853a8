//! Moves all at once: what one of them overwrites another may have to read.

use crate::op::Class;
use crate::x86::inst::{Inst, Mem};

/// Where a value is, or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Register(u8),
    Memory(Mem),
}

/// One of the moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) class: Class,
    pub(super) to: Spot,
    pub(super) from: Spot,
}

/// Makes moves of one class one after the other so that each reads what was there before all of them.
/// `spare` is a place that none of them names.
pub(super) fn all_at_once(mut moves: Vec<Move>, spare: Spot, out: &mut Vec<Inst>) {
    moves.retain(|m| m.to != m.from);
    while !moves.is_empty() {
        let free = moves.iter().position(|m| !moves.iter().any(|other| other.from == m.to));
        match free {
            Some(at) => {
                let m = moves.swap_remove(at);
                out.push(inst(m.class, m.to, m.from));
            }
            // They go in circles: one place is set aside.
            None => {
                let Move { class, to, .. } = moves[0];
                out.push(inst(class, spare, to));
                for m in &mut moves {
                    if m.from == to {
                        m.from = spare;
                    }
                }
            }
        }
    }
}

fn inst(class: Class, to: Spot, from: Spot) -> Inst {
    match (to, from) {
        (Spot::Register(dst), Spot::Register(from)) => Inst::Move { class, dst, from },
        (Spot::Register(dst), Spot::Memory(from)) => Inst::Load { class, dst, from },
        (Spot::Memory(to), Spot::Register(from)) => Inst::Store { class, to, from },
        (Spot::Memory(to), Spot::Memory(from)) => Inst::Carry { class, to, from },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const SPARE: Spot = Spot::Memory(Mem::Stack(99));

    /// What the places of `inst` hold afterwards, if each held its own number.
    fn run(insts: &[Inst]) -> HashMap<u8, u8> {
        let mut now: HashMap<u8, u8> = (0..32).map(|place| (place, place)).collect();
        let mut spare = 255;
        for inst in insts {
            match *inst {
                Inst::Move { dst, from, .. } => {
                    let held = now[&from];
                    now.insert(dst, held);
                }
                Inst::Store { from, .. } => spare = now[&from],
                Inst::Load { dst, .. } => _ = now.insert(dst, spare),
                _ => unreachable!(),
            }
        }
        now
    }

    #[test]
    fn circles_chains_and_forks() {
        // A circle of three, a chain that ends in it, one place to two others.
        let pairs = [(0, 1), (1, 2), (2, 0), (3, 0), (4, 5), (6, 5), (5, 4)];
        let moves = pairs.map(|(to, from)| Move {
            class: Class::Vector,
            to: Spot::Register(to),
            from: Spot::Register(from),
        });
        let mut insts = Vec::new();
        all_at_once(moves.to_vec(), SPARE, &mut insts);
        let after = run(&insts);
        for (to, from) in pairs {
            assert_eq!(after[&to], from, "place {to}");
        }
        assert_eq!(after[&7], 7);
    }
}
