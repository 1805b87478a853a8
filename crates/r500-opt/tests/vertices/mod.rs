//! Comparison of vertex programs.
#![allow(dead_code, reason = "each test uses some of it")]

use r500_pvs::{
    CONSTANTS, Equality, GivenConstants, INPUTS, Interpreter, OUTPUTS, Program, prove_equal,
};

/// Values at the edges.
pub(crate) const EDGES: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4020_0000,
    0xc0a6_6666,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x8080_0001,
    0x7f7f_ffff,
    0x4b80_0000,
];

/// Instructions after which a program counts as endless.
const MOST: u64 = 20_000;

pub(crate) enum Verdict {
    Proved,
    /// For all vertices that were tried.
    Equal,
    Different(String),
}

/// A generator of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn value(&mut self, edges: bool) -> f32 {
        let edge = edges || self.below(4) == 0;
        let small = (self.below(1 << 16) as f32 - 32_768.0) / 4_096.0;
        if edge { f32::from_bits(EDGES[self.below(16)]) } else { small }
    }
}

/// Proves programs equal, and compares them for some vertices in any case.
pub(crate) fn verdict(a: &Program, b: &Program, rounds: u64) -> Verdict {
    let mut random = Random(1);
    let bits = |vector: [f32; 4]| {
        vector.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() })
    };
    for round in 0..rounds {
        let edges = round % 2 == 0;
        let constants: Vec<[f32; 4]> =
            (0..CONSTANTS).map(|_| std::array::from_fn(|_| random.value(edges))).collect();
        let interpreters = [a, b].map(|program| Interpreter::new(program, &constants));
        for _ in 0..8 {
            let inputs: [[f32; 4]; INPUTS] =
                std::array::from_fn(|_| std::array::from_fn(|_| random.value(edges)));
            let outputs = interpreters.each_ref().map(|interpreter| {
                let (mut outputs, mut executed) = ([[0.0; 4]; OUTPUTS], 0);
                let ended = interpreter.run(&inputs, &mut outputs, || {
                    executed += 1;
                    if executed > MOST { Err(()) } else { Ok(()) }
                });
                ended.is_ok().then(|| outputs.map(bits))
            });
            let [Some(x), Some(y)] = outputs else { continue };
            if let Some(n) = (0..OUTPUTS).find(|n| x[*n] != y[*n]) {
                return Verdict::Different(format!(
                    "out[{n}] {:x?} {:x?} round {round}",
                    x[n], y[n]
                ));
            }
        }
    }
    let none = GivenConstants::new();
    match prove_equal([(a, &none), (b, &none)]) {
        Equality::Proved => Verdict::Proved,
        Equality::Unproved { .. } | Equality::Unknown { .. } => Verdict::Equal,
    }
}
