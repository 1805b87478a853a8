//! Nanoseconds a pixel, for batches and for quads: not a test but a table.
//!
//! `R500_ONLY=trilinear` picks states by name:
//!
//! `cargo test -p r500-texture --lib tests::speed -- --ignored --nocapture` (this crate is optimised in tests too)
#![allow(unsafe_code, reason = "calls of functions that are compiled for AVX2 and AVX-512")]
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use r500_isa::values::LayerFilter;

use super::super::batch::BatchFetch;
use super::*;
use r500_simd::Chunk;

/// Two rows of a picture as wide as this.
const WIDTH: usize = 1024;
const CHUNKS: usize = 2 * WIDTH / 16;

/// What is fetched: coordinates are `scale` times the place in the picture plus `offset`.
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

/// S, T, R, Q of the pixels of two rows.
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fetch_avx2(sampler: &Sampler, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
    sampler.fetch_batch(fetch, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2")]
fn fetch_avx512(sampler: &Sampler, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
    sampler.fetch_batch(fetch, out);
}

#[inline(never)]
fn fetch_plain(sampler: &Sampler, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
    sampler.fetch_batch(fetch, out);
}

/// Fetches chunk by chunk, as machine code would call a fetch that it cannot express: each call saves the vector
/// registers of AVX-512 (32 of 64 bytes, 8 of masks) and restores them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fetch_by_calls(sampler: &Sampler, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
    let (mut registers, mut saved) = ([0_u64; 264], [0_u64; 264]);
    let [r, g, b, a] = out;
    for k in 0..fetch.strq[0].len() {
        let call = BatchFetch {
            op: fetch.op,
            unscaled: fetch.unscaled,
            strq: fetch.strq.map(|x| &x[k..=k]),
            dx: [&[]; 4],
            dy: [&[]; 4],
            active: fetch.active.map(|active| &active[k..=k]),
            wanted: fetch.wanted,
        };
        saved.copy_from_slice(black_box(&registers));
        let out = [&mut r[k..=k], &mut g[k..=k], &mut b[k..=k], &mut a[k..=k]];
        fetch_avx2(black_box(sampler), black_box(&call), out);
        registers.copy_from_slice(black_box(&saved));
    }
}

/// The shortest of many runs, in nanoseconds a pixel.
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
    println!(
        "{:28} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "quads", "SSE2", "AVX2", "AVX-512", "calls"
    );
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
        };
        let mut batch = |fetch_batch: fn(&Sampler, &BatchFetch<'_>, [&mut [Chunk]; 4])| {
            time(|| {
                let [r, g, b, a] = &mut out;
                fetch_batch(black_box(&sampler), black_box(&fetch), [r, g, b, a]);
                black_box(&mut out);
            })
        };
        let plain = batch(fetch_plain);
        #[cfg(target_arch = "x86_64")]
        let (avx2, calls) = if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the functions were compiled for.
            let batched = batch(|sampler, fetch, out| unsafe { fetch_avx2(sampler, fetch, out) });
            // SAFETY: likewise.
            let calls = batch(|sampler, fetch, out| unsafe { fetch_by_calls(sampler, fetch, out) });
            (batched, calls)
        } else {
            (f64::NAN, f64::NAN)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let (avx2, calls) = (f64::NAN, f64::NAN);
        #[cfg(target_arch = "x86_64")]
        let avx512 = if r500_simd::Simd::Avx512.is_available() {
            // SAFETY: the processor has what the function was compiled for.
            batch(|sampler, fetch, out| unsafe { fetch_avx512(sampler, fetch, out) })
        } else {
            f64::NAN
        };
        #[cfg(not(target_arch = "x86_64"))]
        let avx512 = f64::NAN;
        let quads = time(|| {
            for k in 0..CHUNKS {
                for first in [0, 4, 8, 12] {
                    let strq = [0, 1, 2, 3].map(|i| strq.each_ref().map(|c| c[k][first + i]));
                    black_box(sampler.fetch(black_box(&QuadFetch::new(op, strq)), &REFERENCE));
                }
            }
        });
        println!("{name:28} {quads:8.2} {plain:8.2} {avx2:8.2} {avx512:8.2} {calls:8.2}");
    }
}
