//! Decoding speed: extracts every field of every word of random instructions through its type. The
//! baseline copies the same bytes.
//!
//! `cargo bench -p r500-isa --bench decode`; one thread; figures in `benches/RESULTS.md`.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_isa::Instruction;
use r500_isa::values::InstType;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Instructions per iteration: 24 MiB, more than the private caches of a core hold.
const COUNT: usize = 1 << 20;

/// Returns random dwords with instruction type `ty`, or with random types if it is `None`.
fn instructions(ty: Option<InstType>) -> Vec<Instruction> {
    let mut random = SplitMix64::seed_from_u64(0);
    let mut inst = || {
        let mut words = [0; 6];
        words.fill_with(|| random.next_u32());
        if let Some(ty) = ty {
            words[0] = words[0] & !3 | u32::from(ty.code());
        }
        Instruction(words)
    };
    (0..COUNT).map(|_| inst()).collect()
}

/// Sums the codes, each with its own weight, so that the compiler cannot add two fields in one
/// operation.
#[inline]
fn fold<const N: usize>(codes: [u32; N]) -> u32 {
    let mut sum = 0u32;
    for (i, code) in codes.into_iter().enumerate() {
        sum = sum.wrapping_add(code.wrapping_mul(0x9e37_79b1_u32.wrapping_mul(2 * i as u32 + 1)));
    }
    sum
}

/// Sums all fields of all words of the instruction's type.
#[inline]
fn every_field(inst: Instruction) -> u32 {
    let rest = match inst.ty() {
        InstType::FC => fold(inst.fc_inst().codes()) ^ fold(inst.fc_addr().codes()),
        InstType::TEX => {
            fold(inst.tex_inst().codes())
                ^ fold(inst.tex_addr().codes())
                ^ fold(inst.tex_addr_dxdy().codes())
        }
        _ => {
            fold(inst.rgb_addr().codes())
                ^ fold(inst.alpha_addr().codes()).rotate_left(1)
                ^ fold(inst.rgb_inst().codes())
                ^ fold(inst.alpha_inst().codes())
                ^ fold(inst.rgba_inst().codes())
        }
    };
    fold(inst.cmn().codes()) ^ rest
}

fn checksum(instructions: &[Instruction]) -> u32 {
    instructions.iter().fold(0, |sum: u32, inst| sum.rotate_left(1) ^ every_field(*inst))
}

/// Checks that exactly the bits that fields name contribute to the sum.
fn assert_every_field_counts(instructions: &[Instruction]) {
    for inst in instructions {
        for (word, register) in inst.layout().iter().enumerate() {
            let named = register.map_or(0, |r| r.named_bits());
            // The two lowest bits of word 0 choose the layout.
            for bit in (0..32).filter(|bit| (word, bit >> 1) != (0, 0)) {
                let mut other = *inst;
                other.0[word] ^= 1 << bit;
                let counts = every_field(other) != every_field(*inst);
                assert_eq!(counts, named >> bit & 1 != 0, "word {word} bit {bit} of {inst:?}");
            }
        }
    }
}

fn decode(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, ty) in [
        ("mixed", None),
        ("alu", Some(InstType::ALU)),
        ("fc", Some(InstType::FC)),
        ("tex", Some(InstType::TEX)),
    ] {
        let instructions = instructions(ty);
        assert_every_field_counts(&instructions[..100]);
        group.bench_function(name, |b| b.iter(|| checksum(black_box(&instructions))));
    }

    let instructions = instructions(None);
    let mut copy = vec![Instruction::default(); COUNT];
    group.bench_function("memcpy", |b| {
        b.iter(|| {
            copy.copy_from_slice(black_box(&instructions));
            black_box(&mut copy);
        });
    });
    group.finish();
}

criterion_group!(benches, decode);
criterion_main!(benches);
