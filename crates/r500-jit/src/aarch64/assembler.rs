//! Assembler: instruction words with labels, followed by a constant pool.

use std::collections::HashMap;

use super::encode::{self, Condition, V, X};

/// A branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLabel(usize);

/// The kind of a branch to a label.
#[derive(Clone, Copy, Debug)]
enum Branch {
    Always,
    Call,
    If(Condition),
    IfZero(X),
}

/// The code exceeds the reach of branches, 2^18 instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// The reach of conditional branches and address instructions, in instructions, in either direction.
const REACH: usize = 1 << 18;

/// Instruction words with pending fix-ups.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    words: Vec<u32>,
    /// The position of each label; `None` before it is bound.
    places: Vec<Option<usize>>,
    branches: Vec<(usize, Branch, CodeLabel)>,
    /// Instructions that take the address of the pool, and their registers.
    addresses: Vec<(usize, X)>,
    /// The pool index of each constant, in vectors.
    constants: HashMap<u32, u32>,
    pool: Vec<u32>,
}

impl Assembler {
    pub(super) fn put(&mut self, word: u32) {
        self.words.push(word);
    }

    /// Returns the number of instructions so far.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn label(&mut self) -> CodeLabel {
        self.places.push(None);
        CodeLabel(self.places.len() - 1)
    }

    /// Binds a label to the current position.
    pub(super) fn bind(&mut self, label: CodeLabel) {
        let before = self.places[label.0].replace(self.words.len());
        debug_assert_eq!(before, None, "a label is in one place");
    }

    pub(super) fn b(&mut self, to: CodeLabel) {
        self.branch(Branch::Always, to);
    }

    pub(super) fn bl(&mut self, to: CodeLabel) {
        self.branch(Branch::Call, to);
    }

    pub(super) fn b_if(&mut self, condition: Condition, to: CodeLabel) {
        self.branch(Branch::If(condition), to);
    }

    pub(super) fn cbz(&mut self, x: X, to: CodeLabel) {
        self.branch(Branch::IfZero(x), to);
    }

    fn branch(&mut self, branch: Branch, to: CodeLabel) {
        self.branches.push((self.words.len(), branch, to));
        self.words.push(0);
    }

    /// Loads the address of the pool.
    pub(super) fn pool_address(&mut self, d: X) {
        self.addresses.push((self.words.len(), d));
        self.words.push(0);
    }

    /// Loads a 32-bit number into a general register.
    pub(super) fn number(&mut self, d: X, number: u32) {
        let [low, high] = [number as u16, (number >> 16) as u16];
        match (low, high) {
            (low, 0) => self.put(encode::movz(d, low, 0)),
            (0, high) => self.put(encode::movz(d, high, 1)),
            (low, high) => {
                self.put(encode::movz(d, low, 0));
                self.put(encode::movk(d, high, 1));
            }
        }
    }

    /// Returns the byte offset of a constant in the pool, which has one vector for each constant.
    fn constant(&mut self, bits: u32) -> u32 {
        let next = self.pool.len() as u32;
        let pool = &mut self.pool;
        16 * *self.constants.entry(bits).or_insert_with(|| {
            pool.push(bits);
            next
        })
    }

    /// Broadcasts 32 bits to all lanes, by an immediate or from the pool at the address in `pool`.
    pub(super) fn vector_of(&mut self, d: V, bits: u32, pool: X, scratch: X) {
        if let Some(word) = encode::vector_of(d, bits) {
            return self.put(word);
        }
        let offset = self.constant(bits);
        let (base, offset) = self.reach_q(pool, offset, scratch);
        self.put(encode::ldr_q(d, base, offset));
    }

    /// Returns a base and an offset that vector loads and stores can encode, for any byte offset.
    pub(super) fn reach_q(&mut self, base: X, offset: u32, scratch: X) -> (X, u32) {
        if offset.is_multiple_of(16) && offset / 16 < 1 << 12 {
            return (base, offset);
        }
        self.number(scratch, offset);
        let [far, near] = [scratch, base];
        self.put(encode::add_x(scratch, near, far, 0));
        (scratch, 0)
    }

    /// Resolves branches. Returns the bytes and the offset of the pool.
    ///
    /// # Errors
    /// If the code is too long.
    pub(super) fn finish(mut self) -> Result<(Vec<u8>, usize), TooLong> {
        // The pool is aligned to a cache line.
        let pool = self.words.len().next_multiple_of(16);
        if pool >= REACH {
            return Err(TooLong);
        }
        let distance = |from: usize, to: usize| to as i32 - from as i32;
        for (at, branch, label) in std::mem::take(&mut self.branches) {
            let to = self.places[label.0].expect("all labels are bound");
            let to = distance(at, to);
            self.words[at] = match branch {
                Branch::Always => encode::b(to),
                Branch::Call => encode::bl(to),
                Branch::If(condition) => encode::b_if(condition, to),
                Branch::IfZero(x) => encode::cbz(x, to),
            };
        }
        for (at, d) in std::mem::take(&mut self.addresses) {
            self.words[at] = encode::adr(d, 4 * distance(at, pool));
        }
        self.words.resize(pool, encode::BRK);
        let vectors = self.pool.iter().flat_map(|bits| [*bits; 4]);
        let words = self.words.iter().copied().chain(vectors);
        Ok((words.flat_map(u32::to_le_bytes).collect(), 4 * pool))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    #[test]
    fn labels_are_found_both_ways_and_the_pool_after_the_code() {
        let mut a = Assembler::default();
        let [back, forth] = [(); 2].map(|()| a.label());
        a.pool_address(X(23));
        a.bind(back);
        a.cbz(X(17), forth);
        a.vector_of(V(3), f32::to_bits(0.1), X(23), X(16));
        a.vector_of(V(4), f32::to_bits(0.3), X(23), X(16));
        a.vector_of(V(5), f32::to_bits(0.1), X(23), X(16));
        a.vector_of(V(6), 0, X(23), X(16));
        a.b(back);
        a.bind(forth);
        a.put(encode::RET);
        let (bytes, pool) = a.finish().unwrap();
        assert_eq!(pool, 64);
        let wanted = [
            encode::adr(X(23), 64),
            encode::cbz(X(17), 6),
            encode::ldr_q(V(3), X(23), 0),
            encode::ldr_q(V(4), X(23), 16),
            encode::ldr_q(V(5), X(23), 0),
            encode::movi(V(6), 0, 0),
            encode::b(-5),
            encode::RET,
        ];
        let words = words(&bytes);
        assert_eq!(words[..8], wanted);
        assert_eq!(words[8..16], [encode::BRK; 8]);
        let constants = [0.1_f32, 0.3].map(f32::to_bits);
        assert_eq!(words[16..], [[constants[0]; 4], [constants[1]; 4]].concat());
    }

    #[test]
    fn what_branches_do_not_reach_is_refused() {
        let mut a = Assembler::default();
        (0..REACH - 32).for_each(|_| a.put(encode::RET));
        assert!(a.finish().is_ok());
        let mut a = Assembler::default();
        (0..REACH).for_each(|_| a.put(encode::RET));
        assert_eq!(a.finish(), Err(TooLong));
    }
}
