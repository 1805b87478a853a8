//! Benchmark, not a test: nanoseconds per pixel, for batches and for quads.
//!
//! `R500_ONLY=trilinear` selects states by name:
//!
//! `cargo test -p r500-texture --lib tests::speed -- --ignored --nocapture` (this crate is optimised in tests too)
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use r500_isa::values::LayerFilter;

use super::super::batch::BatchFetch;
use super::batch::FetchBatch;
use super::*;
use r500_simd::{Chunk, Simd};

/// Width of the picture, of which two rows are fetched.
const WIDTH: usize = 1024;
const CHUNKS: usize = 2 * WIDTH / 16;

/// The state of a benchmark: coordinates are `scale` times the position in the picture plus an offset.
struct State {
    name: &'static str,
    texture: Texture,
    op: TexOp,
    scale: f32,
    active: bool,
}

fn states() -> Vec<State> {
    let noise = |n: u32| (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
    let rgba = |side: u32| {
        let bytes: Vec<u8> = noise(side * side * 4).collect();
        texture(TxFormat::X8_8_8_8, [side, side], &bytes)
    };
    let wrap = |texture: Texture, mode: ClampMode| {
        texture.with(TxFilter0::CLAMP_S, mode).with(TxFilter0::CLAMP_T, mode)
    };
    let mipped = |mut texture: Texture, filter: LayerFilter| {
        let mut side = texture.levels[0].width;
        while side > 1 {
            side /= 2;
            let bytes = noise(side * side * 4).collect();
            texture.levels.push(Level { width: side, height: side, layers: 1, bytes });
        }
        let last = texture.levels.len() as u8 - 1;
        texture.with(TxFormat0::NUM_LEVELS, last).with(TxFilter0::MIP_FILTER, filter)
    };
    let floats = |byte| texture(TxFormat::F32_32_32_32, [64, 64], &vec![byte; 64 * 64 * 16]);
    let s = |name, texture, op, scale| State { name, texture, op, scale, active: false };
    let (ld, wrapped) = (TexOp::LD, ClampMode::WRAP);
    let filtered = |side| wrap(linear(rgba(side)), wrapped);
    vec![
        s("nearest, repeat", wrap(rgba(64), wrapped), ld, 1.0),
        s("nearest, clamp", rgba(64), ld, 1.0),
        s("linear, repeat", filtered(64), ld, 1.0),
        s("linear, clamp", linear(rgba(64)), ld, 1.0),
        s("linear, mirror", wrap(linear(rgba(64)), ClampMode::MIRROR), ld, 1.0),
        s("linear, border", wrap(linear(rgba(64)), ClampMode::BORDER), ld, 1.0),
        s("linear, repeat, 61x61", filtered(61), ld, 1.0),
        s("linear, repeat, 1024x1024", filtered(1024), ld, 1.0),
        s("linear, repeat, 2048x2048", filtered(2048), ld, 1.0),
        State { active: true, ..s("linear, one pixel in 16", filtered(64), ld, 1.0) },
        s("linear, projected", filtered(64), TexOp::PROJ, 1.0),
        s("linear, float32", wrap(linear(floats(0x3e)), wrapped), ld, 1.0),
        s("linear, tiny float32", wrap(linear(floats(0x2e)), wrapped), ld, 1.0),
        s("mip nearest, minified", mipped(filtered(64), LayerFilter::POINT), ld, 40.0),
        s("trilinear, magnified", mipped(filtered(64), LayerFilter::LINEAR), ld, 1.0),
        s("trilinear, minified", mipped(filtered(64), LayerFilter::LINEAR), ld, 40.0),
        s(
            "trilinear, levels vary",
            mipped(filtered(64), LayerFilter::LINEAR),
            TexOp::LODBIAS,
            40.0,
        ),
        s("cube, linear", linear(six(rgba(32))), ld, 1.0),
        s("volume, linear", eight(linear(rgba(32))), ld, 1.0),
    ]
}

fn six(texture: Texture) -> Texture {
    let mut texture = cube(texture);
    texture.levels[0].bytes = texture.levels[0].bytes.repeat(6);
    texture
}

fn eight(texture: Texture) -> Texture {
    let mut texture = volume(texture, 3);
    texture.levels[0].bytes = texture.levels[0].bytes.repeat(8);
    texture
}

/// Returns S, T, R, Q of the pixels of two rows.
fn coordinates(scale: f32) -> [Vec<Chunk>; 4] {
    let mut strq = [const { Vec::new() }; 4];
    for chunk in 0..CHUNKS {
        let pixel = |lane: usize| {
            let quad = chunk * 4 + lane / 4;
            (quad * 2 + lane % 2, lane / 2 % 2)
        };
        let lanes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(pixel);
        let width = WIDTH as f32;
        strq[0].push(lanes.map(|(x, _)| (x as f32 + 0.5) / width * scale - 0.2));
        strq[1].push(lanes.map(|(x, y)| (y as f32 + 300.5 + x as f32 * 0.2) / width * scale));
        strq[2].push(lanes.map(|(x, _)| 0.3 + x as f32 / width * 0.1));
        strq[3].push(lanes.map(|(x, _)| 1.0 + x as f32 / width));
    }
    strq
}

/// Returns the shortest of many runs, in nanoseconds per pixel.
fn time(mut run: impl FnMut()) -> f64 {
    let started = Instant::now();
    let mut best = f64::INFINITY;
    while started.elapsed().as_millis() < 60 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best / (2 * WIDTH) as f64
}

#[test]
#[ignore = "a measurement"]
fn nanoseconds_a_pixel() {
    println!("{:28} {:>8} by level: {:?}", "", "quads", Simd::available().collect::<Vec<_>>());
    let only = std::env::var("R500_ONLY").unwrap_or_default();
    for State { name, texture, op, scale, active } in states() {
        if !name.contains(&only) {
            continue;
        }
        let sampler = bind(&texture);
        let strq = coordinates(scale);
        let mut out = [(); 4].map(|()| vec![[0.0; 16]; CHUNKS]);
        let mut mask = [0.0; 16];
        mask[5] = f32::from_bits(u32::MAX);
        let masks = vec![mask; CHUNKS];
        let fetch = BatchFetch {
            op,
            unscaled: false,
            strq: strq.each_ref().map(Vec::as_slice),
            dx: [&[]; 4],
            dy: [&[]; 4],
            active: active.then_some(&masks),
            wanted: 0b1111,
            ranges: &[(0, CHUNKS)],
            readings: &REFERENCE,
        };
        let levels: Vec<_> = Simd::available()
            .map(|simd| {
                time(|| {
                    let (sampler, fetch) = (black_box(&sampler), black_box(&fetch));
                    simd.run_plain(FetchBatch { sampler, fetch, out: black_box(&mut out) });
                })
            })
            .collect();
        let quads = time(|| {
            for k in 0..CHUNKS {
                for first in [0, 4, 8, 12] {
                    let strq = [0, 1, 2, 3].map(|i| strq.each_ref().map(|c| c[k][first + i]));
                    black_box(sampler.fetch(black_box(&QuadFetch::new(op, strq)), &REFERENCE));
                }
            }
        });
        println!("{name:28} {quads:8.2} {levels:8.2?}");
    }
}
