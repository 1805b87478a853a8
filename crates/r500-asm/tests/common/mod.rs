//! Shared test utilities: random numbers and the corpus.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use r500_isa::Instruction;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random dwords and numbers.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    pub(crate) fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }

    /// Returns six uniform dwords.
    pub(crate) fn uniform(&mut self) -> Instruction {
        Instruction([0; 6].map(|_| self.word()))
    }

    /// Returns dwords similar to those of programs: few bits set, and mostly no unnamed ones.
    pub(crate) fn near_valid(&mut self) -> Instruction {
        let mut inst = Instruction([0; 6]);
        inst.0[0] = self.word() & self.word() & self.word();
        let layout = inst.layout();
        for (n, register) in layout.iter().enumerate().skip(1) {
            let mut word = self.word();
            if self.below(2) == 0 {
                word &= self.word();
            }
            if self.below(16) != 0 {
                word &= register.map_or(0, r500_isa::Register::named_bits);
            }
            if self.below(4) == 0 {
                word = 0;
            }
            inst.0[n] = word;
        }
        if layout[5].is_some() {
            for n in 1..3 {
                if self.below(2) == 0 {
                    inst.0[n] = 0x0802_0080;
                }
            }
        }
        inst
    }

    /// Returns a flow-control instruction of a common kind, so that blocks nest.
    pub(crate) fn flow(&mut self) -> Instruction {
        const USUAL: [u32; 14] = [
            0x0200_0f00,
            0x0a00_0f00,
            0x0401_0010,
            0x0101_0020,
            0x21,
            0x01,
            0xff22,
            0x03,
            0x23,
            0xff24,
            0x0401_ff05,
            0x0401_ff06,
            0x0401_ff07,
            0xff00,
        ];
        let mut fc = USUAL[self.below(14) as usize];
        if self.below(8) == 0 {
            fc ^= 1 << self.below(32);
        }
        let addr = self.below(24) << 16 | (self.below(8) / 7) << 8;
        Instruction([0x402, 0, fc, addr, 0, 0])
    }
}

pub(crate) fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

fn dwords(value: &serde_json::Value) -> Vec<u32> {
    let word = |v: &serde_json::Value| u32::from_str_radix(v.as_str().unwrap(), 16).unwrap();
    value
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|v| match v.as_array() {
            Some(row) => row.iter().map(word).collect::<Vec<_>>(),
            None => vec![word(v)],
        })
        .collect()
}

fn instructions(words: &[u32]) -> Vec<Instruction> {
    words.chunks(6).map(|c| Instruction(c.try_into().unwrap())).collect()
}

/// Returns every program of the corpus by name.
pub(crate) fn programs() -> Vec<(String, Vec<Instruction>)> {
    let mut all = Vec::new();
    for folder in ["cases", "mesa"] {
        for entry in std::fs::read_dir(corpus().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "json") {
                let text = std::fs::read_to_string(&path).unwrap();
                let json: serde_json::Value = serde_json::from_str(&text).unwrap();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                all.push((name, instructions(&dwords(&json["program"]))));
            }
        }
    }
    let text = std::fs::read_to_string(corpus().join("piglit/programs.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (name, words) in json.as_object().unwrap() {
        all.push((name.clone(), instructions(&dwords(words))));
    }
    assert!(all.len() > 600, "the corpus is incomplete");
    all
}
