//! Fixed points of loops: iterations that change nothing end a loop.
//!
//! Precondition: an iteration begins and ends with the same registers, predicate and addresses, and its instructions do not
//! use a loop index that changes. Rewrite: the loop's remaining iterations are skipped. This is exact, because flow control
//! depends on no register: each later iteration executes the same instructions on the same values. Compilers make such
//! loops: a `while` loop runs its 255 iterations under a predicate that the loop's condition clears.

use r500_chip::pvs::{Addressing, DstType, OUTPUTS};

use super::{ALT_TEMPORARIES, DecodedOp, Registers, TEMPORARIES};

/// The registers that a program can change, and whether it uses the loop index.
#[derive(Clone, Debug, Default)]
pub(super) struct Changeable {
    temporaries: Vec<usize>,
    alternates: Vec<usize>,
    outputs: Vec<usize>,
    pub(super) loop_index: bool,
}

impl Changeable {
    pub(super) fn new(ops: &[DecodedOp]) -> Self {
        let mut changeable = Self::default();
        for op in ops {
            let (registers, size) = match op.dst.ty {
                DstType::A0 | DstType::INPUT => (None, 0),
                DstType::OUT | DstType::OUT_REPL_X => (Some(&mut changeable.outputs), OUTPUTS),
                DstType::ALT_TEMPORARY => (Some(&mut changeable.alternates), ALT_TEMPORARIES),
                _ => (Some(&mut changeable.temporaries), TEMPORARIES),
            };
            if let Some(registers) = registers {
                match op.dst.addressing {
                    Addressing::Absolute => registers.push(op.dst.offset.into()),
                    _ => registers.extend(0..size),
                }
            }
            if let Some(dual) = op.dual {
                changeable.alternates.push(dual.register.into());
            }
            let dual = op.dual.map(|dual| dual.source);
            let sources = op.sources.iter().chain(&dual).map(|source| source.addressing);
            changeable.loop_index |=
                sources.chain([op.dst.addressing]).any(|mode| mode == Addressing::LoopIndex);
        }
        for registers in
            [&mut changeable.temporaries, &mut changeable.alternates, &mut changeable.outputs]
        {
            registers.sort_unstable();
            registers.dedup();
        }
        changeable
    }
}

impl Changeable {
    /// Returns the numbers of temporaries, alternate temporaries and outputs that a program can change.
    pub(super) fn registers(&self) -> [&[usize]; 3] {
        [&self.temporaries, &self.alternates, &self.outputs]
    }

    /// Calls `visit` for each register that a program can change. `memories` are temporaries, alternate temporaries and outputs.
    pub(super) fn each<R>(&self, memories: [&[R]; 3], mut visit: impl FnMut(&R)) {
        for (memory, registers) in memories.into_iter().zip(self.registers()) {
            registers.iter().filter_map(|n| memory.get(*n)).for_each(&mut visit);
        }
    }
}

impl Registers {
    /// Stores the bits of all that a program can change.
    pub(super) fn snapshot(&self, changeable: &Changeable, bits: &mut Vec<u32>) {
        bits.clear();
        bits.push(self.predicate.into());
        bits.extend(self.address.map(i32::cast_unsigned));
        changeable.each([&self.temporaries, &self.alternates, &self.outputs], |vector| {
            bits.extend(vector.map(f32::to_bits));
        });
    }
}

/// What the current iteration of a loop began with.
#[derive(Clone, Debug, Default)]
pub(super) struct Iteration {
    began: Option<Vec<u32>>,
    spare: Vec<u32>,
}

impl Iteration {
    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let began = self.began.as_ref().map_or(0, Vec::len);
        size_of::<Self>() + 4 * (began + self.spare.len())
    }

    /// Enters the loop.
    pub(super) fn enter(&mut self) {
        if let Some(bits) = self.began.take() {
            self.spare = bits;
        }
    }

    /// Ends an iteration. Returns whether it changed nothing; the first iteration is not compared.
    pub(super) fn end(&mut self, snapshot: impl Fn(&mut Vec<u32>)) -> bool {
        snapshot(&mut self.spare);
        if self.began.as_ref() == Some(&self.spare) {
            return true;
        }
        let began = std::mem::take(&mut self.spare);
        self.spare = self.began.replace(began).unwrap_or_default();
        false
    }
}
