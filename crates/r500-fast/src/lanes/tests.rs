//! Every kernel at every level of this machine against the scalar law, lane by lane.

#![allow(clippy::panic, clippy::type_complexity)]

use std::marker::PhantomData;

use super::arith::{FromC, Ieee, MinusBoth, MinusC, PlusC, ZeroA, ZeroBoth};
use super::select::{Eq, Ge, Lt, Ne};
use super::{Chunk, LANES, Splat, arith, bits, functions, select};
use r500_numerics::{Arith, compare, flush, kernels};
use r500_simd::{Simd, SimdLevel, SimdTask};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const REFERENCE: Arith = Arith::REFERENCE;
const RULE: Arith = REFERENCE.with_zero_rule(true);

/// How much of a result is specified.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Exact {
    /// Every bit.
    Bits,
    /// Every bit, but any NaN is as good as another.
    Number,
    /// As `Number`, but what is denormal may be zero.
    Flushed,
}

/// A kernel and its law.
trait Kernel<const N: usize> {
    const EXACT: Exact;
    fn run<L: SimdLevel>(dst: &mut [Chunk], slots: [&[Chunk]; N]);
    fn law(operands: [f32; N]) -> f32;
}

macro_rules! kernels {
    ($check:ident; $($name:ident[$n:literal] $exact:ident: |$level:ident, $dst:ident, $slots:pat_param| $call:expr, |$operands:pat_param| $law:expr;)*) => {$(
        #[test]
        fn $name() {
            struct It;

            impl Kernel<$n> for It {
                const EXACT: Exact = Exact::$exact;

                #[inline(always)]
                fn run<$level: SimdLevel>($dst: &mut [Chunk], $slots: [&[Chunk]; $n]) {
                    $call
                }

                fn law($operands: [f32; $n]) -> f32 {
                    $law
                }
            }

            $check::<It, $n>();
        }
    )*};
}

/// A mask lane.
fn mask(set: bool) -> f32 {
    f32::from_bits(if set { u32::MAX } else { 0 })
}

/// A bit operation.
fn with_bits<const N: usize>(x: [f32; N], f: impl Fn([u32; N]) -> u32) -> f32 {
    f32::from_bits(f(x.map(f32::to_bits)))
}

/// The law of [`ZeroA`].
fn zero_a(a: f32, b: f32) -> f32 {
    if compare::eq(a, 0.0) { 0.0 } else { REFERENCE.mul(a, b) }
}

// What all lanes share, for tuples that are the same in all lanes.
fn shared(slot: &[Chunk]) -> Splat {
    Splat(slot[0][0])
}

kernels! { check;
    mul[2] Number: |L, d, [a, b]| arith::mul::<L::Flush>(d, a, b), |[a, b]| REFERENCE.mul(a, b);
    mul_zero_a[2] Number: |L, d, [a, b]| arith::mul_signed::<L::Flush, ZeroA>(d, a, b, Splat(0.0)), |[a, b]| zero_a(a, b);
    mul_zero_both[2] Number: |L, d, [a, b]| arith::mul_signed::<L::Flush, ZeroBoth>(d, a, b, Splat(0.0)), |[a, b]| RULE.product(a, b);
    mad_signed_plus[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroBoth, MinusC>(d, a, b, c, Splat(0.0)), |[a, b, c]| RULE.mad(a, b, -c);
    mul_negated[2] Number: |L, d, [a, b]| arith::mul_signed::<L::Flush, Ieee>(d, a, b, Splat(-0.0)), |[a, b]| REFERENCE.mul(-a, b);
    mul_negated_zero_a[2] Number: |L, d, [a, b]| arith::mul_signed::<L::Flush, ZeroA>(d, a, b, Splat(-0.0)), |[a, b]| zero_a(-a, b);
    mul_negated_zero_both[2] Number: |L, d, [a, b]| arith::mul_signed::<L::Flush, ZeroBoth>(d, a, b, Splat(-0.0)), |[a, b]| RULE.product(-a, b);

    mad[3] Number: |L, d, [a, b, c]| arith::mad::<L::Flush, PlusC>(d, a, b, c), |[a, b, c]| REFERENCE.mad(a, b, c);
    mad_minus_c[3] Number: |L, d, [a, b, c]| arith::mad::<L::Flush, MinusC>(d, a, b, c), |[a, b, c]| REFERENCE.mad(a, b, -c);
    mad_from_c[3] Number: |L, d, [a, b, c]| arith::mad::<L::Flush, FromC>(d, a, b, c), |[a, b, c]| REFERENCE.sub(c, REFERENCE.mul(a, b));
    mad_minus_both[3] Number: |L, d, [a, b, c]| arith::mad::<L::Flush, MinusBoth>(d, a, b, c), |[a, b, c]| REFERENCE.sub(-REFERENCE.mul(a, b), c);
    mad_zero_a[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroA, PlusC>(d, a, b, c, Splat(0.0)), |[a, b, c]| REFERENCE.add(zero_a(a, b), c);
    mad_zero_both[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroBoth, PlusC>(d, a, b, c, Splat(0.0)), |[a, b, c]| RULE.mad(a, b, c);
    mad_zero_both_from_c[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroBoth, FromC>(d, a, b, c, Splat(0.0)), |[a, b, c]| REFERENCE.sub(c, RULE.product(a, b));
    mad_negated_zero_both[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroBoth, PlusC>(d, a, b, c, Splat(-0.0)), |[a, b, c]| RULE.mad(-a, b, c);
    mad_negated_zero_both_minus_c[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroBoth, MinusC>(d, a, b, c, Splat(-0.0)), |[a, b, c]| RULE.mad(-a, b, -c);
    add[2] Number: |L, d, [a, b]| arith::add::<L::Flush>(d, a, b), |[a, b]| REFERENCE.add(a, b);
    sub[2] Number: |L, d, [a, b]| arith::sub::<L::Flush>(d, a, b), |[a, b]| REFERENCE.sub(a, b);


    rcp[1] Number: |L, d, [a]| arith::rcp::<L::Flush>(d, a), |[a]| REFERENCE.rcp(a);
    rsq[1] Number: |L, d, [a]| arith::rsq::<L::Flush>(d, a), |[a]| REFERENCE.rsq(a);
    frc[1] Number: |L, d, [a]| functions::frc::<L::Flush, L::Rint>(d, a), |[a]| REFERENCE.frc(a);
    clamp01[1] Number: |L, d, [a]| functions::clamp01::<L::Flush>(d, a), |[a]| REFERENCE.clamp01(a);
    ex2[1] Number: |L, d, [a]| functions::ex2::<L::Flush>(d, a), |[a]| kernels::ex2(a);
    ln2[1] Number: |L, d, [a]| functions::ln2::<L::Flush>(d, a), |[a]| kernels::ln2(a);
    sin[1] Number: |L, d, [a]| functions::sin::<L::Flush, L::Rint>(d, a), |[a]| kernels::sin(a);
    cos[1] Number: |L, d, [a]| functions::cos::<L::Flush, L::Rint>(d, a), |[a]| kernels::cos(a);

    lt[2] Bits: |L, d, [a, b]| select::compare::<L::Flush, Lt>(d, a, b), |[a, b]| mask(compare::lt(a, b));
    ge[2] Bits: |L, d, [a, b]| select::compare::<L::Flush, Ge>(d, a, b), |[a, b]| mask(compare::ge(a, b));
    eq[2] Bits: |L, d, [a, b]| select::compare::<L::Flush, Eq>(d, a, b), |[a, b]| mask(compare::eq(a, b));
    ne[2] Bits: |L, d, [a, b]| select::compare::<L::Flush, Ne>(d, a, b), |[a, b]| mask(compare::ne(a, b));
    ge_zero[1] Bits: |L, d, [a]| select::compare::<L::Flush, Ge>(d, a, Splat(0.0)), |[a]| mask(compare::ge(a, 0.0));
    lt_zero[1] Bits: |L, d, [a]| select::compare::<L::Flush, Lt>(d, a, Splat(0.0)), |[a]| mask(compare::lt(a, 0.0));
    eq_zero[1] Bits: |L, d, [a]| select::compare::<L::Flush, Eq>(d, a, Splat(0.0)), |[a]| mask(compare::eq(a, 0.0));
    ne_zero[1] Bits: |L, d, [a]| select::compare::<L::Flush, Ne>(d, a, Splat(0.0)), |[a]| mask(compare::ne(a, 0.0));

    min[2] Flushed: |L, d, [a, b]| select::min::<L::Flush>(d, a, b), |[a, b]| compare::min(a, b);
    max[2] Flushed: |L, d, [a, b]| select::max::<L::Flush>(d, a, b), |[a, b]| compare::max(a, b);
    max_zero[1] Flushed: |L, d, [a]| select::max::<L::Flush>(d, a, Splat(0.0)), |[a]| compare::max(a, 0.0);
    min_raw[2] Bits: |L, d, [a, b]| select::min_raw::<L::Flush>(d, a, b), |[a, b]| compare::min(a, b);
    max_raw[2] Bits: |L, d, [a, b]| select::max_raw::<L::Flush>(d, a, b), |[a, b]| compare::max(a, b);
    max_raw_zero[1] Bits: |L, d, [a]| select::max_raw::<L::Flush>(d, a, Splat(0.0)), |[a]| compare::max(a, 0.0);

    select[3] Bits: |L, d, [m, a, b]| select::select(d, m, a, b), |[m, a, b]| with_bits([m, a, b], |[m, a, b]| a & m | b & !m);
    and[2] Bits: |L, d, [a, b]| select::and(d, a, b), |[a, b]| with_bits([a, b], |[a, b]| a & b);
    or[2] Bits: |L, d, [a, b]| select::or(d, a, b), |[a, b]| with_bits([a, b], |[a, b]| a | b);
    and_not[2] Bits: |L, d, [a, b]| select::and_not(d, a, b), |[a, b]| with_bits([a, b], |[a, b]| a & !b);

    copy[1] Bits: |L, d, [a]| bits::copy(d, a), |[a]| a;
    neg[1] Bits: |L, d, [a]| bits::neg(d, a), |[a]| with_bits([a], |[a]| a ^ 1 << 31);
    abs[1] Bits: |L, d, [a]| bits::abs(d, a), |[a]| with_bits([a], |[a]| a & 0x7fff_ffff);
    neg_abs[1] Bits: |L, d, [a]| bits::neg_abs(d, a), |[a]| with_bits([a], |[a]| a | 1 << 31);
    flush_denormals[1] Bits: |L, d, [a]| bits::flush(d, a), |[a]| flush(a);
}

// What all lanes share is tried a tuple at a time.
kernels! { one_by_one_at_every_level;
    mul_splat[2] Number: |L, d, [a, b]| arith::mul_signed::<L::Flush, ZeroBoth>(d, a, shared(b), Splat(0.0)), |[a, b]| RULE.product(a, b);
    mad_splat_b[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroBoth, PlusC>(d, a, shared(b), c, Splat(0.0)), |[a, b, c]| RULE.mad(a, b, c);
    mad_splat_c[3] Number: |L, d, [a, b, c]| arith::mad::<L::Flush, PlusC>(d, a, b, shared(c)), |[a, b, c]| REFERENCE.mad(a, b, c);
    mad_splat_b_c[3] Number: |L, d, [a, b, c]| arith::mad_signed::<L::Flush, ZeroA, MinusC>(d, a, shared(b), shared(c), Splat(0.0)), |[a, b, c]| REFERENCE.sub(zero_a(a, b), c);
    sub_splat_a[2] Number: |L, d, [a, b]| arith::sub::<L::Flush>(d, shared(a), b), |[a, b]| REFERENCE.sub(a, b);
    lt_splat_b[2] Bits: |L, d, [a, b]| select::compare::<L::Flush, Lt>(d, a, shared(b)), |[a, b]| mask(compare::lt(a, b));
    min_raw_splat_b[2] Bits: |L, d, [a, b]| select::min_raw::<L::Flush>(d, a, shared(b)), |[a, b]| compare::min(a, b);
}

#[test]
fn corners() {
    struct Corners<'a>([&'a mut [Chunk]; 4], &'a [Chunk]);

    impl SimdTask for Corners<'_> {
        type Output = ();

        #[inline(always)]
        fn run<L: SimdLevel>(self, _: L) {
            let Self([d0, d1, d2, d3], a) = self;
            bits::corner::<0>(d0, a);
            bits::corner::<1>(d1, a);
            bits::corner::<2>(d2, a);
            bits::corner::<3>(d3, a);
        }
    }

    // Bits of all kinds: denormals and NaN with payloads among them.
    let bits = |lane: usize| (lane as u32).wrapping_mul(0x9e37_79b1) >> (lane % 5 * 4);
    let from: [Chunk; 5] =
        std::array::from_fn(|i| std::array::from_fn(|lane| f32::from_bits(bits(i * LANES + lane))));
    for simd in Simd::available() {
        let mut to = [[[0.0; LANES]; 5]; 4];
        simd.run(Corners(to.each_mut().map(|slot| &mut slot[..]), &from));
        for (k, slot) in to.iter().enumerate() {
            for (lane, got) in slot.as_flattened().iter().enumerate() {
                assert_eq!(got.to_bits(), bits(lane - lane % 4 + k), "{simd:?} {k} {lane}");
            }
        }
    }
}

struct Run<'a, K, const N: usize> {
    dst: &'a mut [Chunk],
    slots: [&'a [Chunk]; N],
    kernel: PhantomData<K>,
}

impl<K: Kernel<N>, const N: usize> SimdTask for Run<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        K::run::<L>(self.dst, self.slots);
    }
}

/// All tuples at all levels, each by itself.
fn one_by_one_at_every_level<K: Kernel<N>, const N: usize>() {
    for simd in Simd::available() {
        one_by_one::<K, N>(simd.name(), &tuples(), |dst, slots| {
            simd.run(Run::<K, N> { dst, slots, kernel: PhantomData::<K> });
        });
    }
}

/// All tuples at all levels, in batches and each by itself.
fn check<K: Kernel<N>, const N: usize>() {
    let tuples = tuples::<N>();
    for simd in Simd::available() {
        let mut run = |dst: &mut [Chunk], slots: [&[Chunk]; N]| {
            simd.run(Run { dst, slots, kernel: PhantomData::<K> });
        };
        in_batches::<K, N>(simd.name(), &tuples, &mut run);
        one_by_one::<K, N>(simd.name(), &tuples, &mut run);
    }
}

/// Different lanes side by side, in batches of different sizes.
fn in_batches<K: Kernel<N>, const N: usize>(
    level: &str,
    mut tuples: &[[f32; N]],
    mut run: impl FnMut(&mut [Chunk], [&[Chunk]; N]),
) {
    let mut chunks = 1;
    while let Some((batch, rest)) = tuples.split_at_checked(chunks * LANES) {
        let slots: [Vec<Chunk>; N] = std::array::from_fn(|operand| {
            let lane = |i: usize, lane: usize| batch[i * LANES + lane][operand];
            (0..chunks).map(|i| std::array::from_fn(|l| lane(i, l))).collect()
        });
        let mut dst = vec![[0.25; LANES]; chunks];
        run(&mut dst, slots.each_ref().map(|slot| &slot[..]));
        for (tuple, &got) in batch.iter().zip(dst.as_flattened()) {
            compare_with_law::<K, N>(level, *tuple, got);
        }
        tuples = rest;
        chunks = chunks % 37 + 1;
    }
}

/// A batch of one chunk for each tuple: what one lane meets cannot send others to the scalar law.
fn one_by_one<K: Kernel<N>, const N: usize>(
    level: &str,
    tuples: &[[f32; N]],
    mut run: impl FnMut(&mut [Chunk], [&[Chunk]; N]),
) {
    for &tuple in tuples {
        let slots = tuple.map(|x| [[x; LANES]]);
        let mut dst = [[0.25; LANES]];
        run(&mut dst, slots.each_ref().map(|slot| &slot[..]));
        for got in dst[0] {
            compare_with_law::<K, N>(level, tuple, got);
        }
    }
}

fn compare_with_law<K: Kernel<N>, const N: usize>(level: &str, tuple: [f32; N], got: f32) {
    let want = K::law(tuple);
    let same = match K::EXACT {
        Exact::Bits => got.to_bits() == want.to_bits(),
        Exact::Number => got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
        Exact::Flushed => {
            flush(got).to_bits() == flush(want).to_bits() || got.is_nan() && want.is_nan()
        }
    };
    assert!(
        same,
        "{level}: {:08x?} gives {:08x}, not {:08x}",
        tuple.map(f32::to_bits),
        got.to_bits(),
        want.to_bits()
    );
}

/// Numbers at which something changes, each with both signs.
fn edges() -> Vec<f32> {
    let next = |x: f32| [x.next_down(), x, x.next_up()];
    let mut edges = vec![0.0, f32::from_bits(1), f32::from_bits(0x0040_0000), 0.25, 2.0, 3.0];
    edges.extend([f32::INFINITY, f32::NAN, f32::from_bits(0x7f80_0001), 126.0, 128.0]);
    edges.extend([f32::MIN_POSITIVE, 0.5, 1.0].map(next).as_flattened());
    edges.extend([f32::MAX, 2.0_f32.powi(-63), 2.0_f32.powi(100), 2.0_f32.powi(126), 8_388_607.5]);
    let negative: Vec<_> = edges.iter().map(|x| -x).collect();
    edges.extend(negative);
    edges
}

/// Operands: all tuples of edges as far as there are not too many, products near the smallest normal
/// number, random bits.
fn tuples<const N: usize>() -> Vec<[f32; N]> {
    let edges = edges();
    let mut random = Random(SplitMix64::seed_from_u64(0x9e37_79b9_7f4a_7c15));
    let mut tuples = Vec::new();
    if N <= 3 {
        for mut k in 0..edges.len().pow(u32::try_from(N).unwrap_or(0)) {
            tuples.push(std::array::from_fn(|_| {
                let edge = edges[k % edges.len()];
                k /= edges.len();
                edge
            }));
        }
    }
    for _ in 0..100_000 {
        tuples.push(std::array::from_fn(|_| random.any(&edges)));
    }
    // Pairs of factors whose products lie some parts in 2^25 around 2^-126.
    for _ in 0..20_000 {
        let mut tuple: [f32; N] = std::array::from_fn(|_| random.any(&edges));
        for pair in tuple.chunks_exact_mut(2) {
            let a = f32::from_bits(random.bits() & 0x807f_ffff | (40 + random.bits() % 40) << 23);
            let b = (f64::from(f32::MIN_POSITIVE) / f64::from(a)) as f32;
            pair.copy_from_slice(&[
                a,
                f32::from_bits(b.to_bits().wrapping_add(random.bits() % 5).wrapping_sub(2)),
            ]);
        }
        tuples.push(tuple);
    }
    tuples
}

/// Numbers of all kinds.
struct Random(SplitMix64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// An edge, bits of any kind, an exponent near an end, or an ordinary number.
    fn any(&mut self, edges: &[f32]) -> f32 {
        let bits = self.bits();
        match self.bits() % 8 {
            0 => edges[bits as usize % edges.len()],
            1 => f32::from_bits(bits),
            2 => f32::from_bits(bits & 0x81ff_ffff),
            3 => f32::from_bits(bits | 0x7e00_0000),
            4 => f32::from_bits(bits & 0x807f_ffff | (50 + self.bits() % 28) << 23),
            _ => f32::from_bits(bits & 0x807f_ffff | (117 + self.bits() % 20) << 23),
        }
    }
}
