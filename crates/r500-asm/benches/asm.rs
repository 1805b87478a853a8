//! Assembler and disassembler throughput in bytes of text per second, with copying the text as the
//! baseline.
//!
//! `cargo bench -p r500-asm`. The program is what the captures of the corpus hold, repeated: first
//! without flow control (its addresses have nine bits) a hundred thousand instructions and, to see
//! that cost grows no faster than text, ten times fewer and ten times more; then every capture as
//! it is.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use r500_asm::{Options, assemble, print_code};
use r500_isa::Instruction;
use r500_isa::values::InstType;

fn captures() -> Vec<Vec<Instruction>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let instruction = |row: &serde_json::Value| {
        let mut words = [0; 6];
        for (word, text) in words.iter_mut().zip(row.as_array().unwrap()) {
            *word = u32::from_str_radix(text.as_str().unwrap(), 16).unwrap();
        }
        Instruction(words)
    };
    paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            json["program"].as_array().unwrap().iter().map(instruction).collect()
        })
        .collect()
}

fn bench(c: &mut Criterion) {
    let programs = captures();
    let straight: Vec<Instruction> =
        programs.iter().flatten().copied().filter(|i| i.ty() != InstType::FC).collect();
    let mut group = c.benchmark_group("asm");
    group.sample_size(20);
    for count in [10_000, 100_000, 1_000_000] {
        let code: Vec<_> = straight.iter().copied().cycle().take(count).collect();
        let text = print_code(&code, 0);
        assert!(assemble(text.as_bytes(), Options::default()).job.program.code == code);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("memcpy", count), &text, |b, text| {
            b.iter(|| black_box(text.as_bytes()).to_vec());
        });
        group.bench_with_input(BenchmarkId::new("disassemble", count), &code, |b, code| {
            b.iter(|| print_code(black_box(code), 0));
        });
        group.bench_with_input(BenchmarkId::new("assemble", count), &text, |b, text| {
            b.iter(|| assemble(black_box(text.as_bytes()), Options::default()));
        });
    }
    let texts: Vec<String> = programs.iter().map(|code| print_code(code, 0)).collect();
    group.throughput(Throughput::Bytes(texts.iter().map(|t| t.len() as u64).sum()));
    group.bench_function("disassemble/captures", |b| {
        b.iter(|| programs.iter().map(|code| print_code(code, 0).len()).sum::<usize>());
    });
    group.bench_function("assemble/captures", |b| {
        b.iter(|| {
            texts
                .iter()
                .map(|t| assemble(t.as_bytes(), Options::default()).job.program.code.len())
                .sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
