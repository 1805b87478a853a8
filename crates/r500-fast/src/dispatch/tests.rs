//! Compares every kernel, by opcode and operand kinds, at every level of this machine with constant evaluation, lane by lane.

#![allow(clippy::expect_used, clippy::panic)]

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;
use r500_lanes::LANES;
use r500_simd::{Simd, SimdTask};

/// The slot that kernels write; their operands are in the slots before it, materialised constants in those after it.
const DST: u32 = 3;

/// The specified bits of a result.
#[derive(Clone, Copy)]
pub(super) enum Exact {
    /// All bits.
    Bits,
    /// All bits, except those of NaN.
    Number,
    /// As `Number`, but a denormal may be flushed.
    Flushed,
}

pub(super) fn exact(opcode: Opcode) -> Exact {
    match opcode {
        Opcode::Min(DenormalMode::Excluded) | Opcode::Max(DenormalMode::Excluded) => Exact::Flushed,
        Opcode::Mul(_)
        | Opcode::Mad(..)
        | Opcode::Add
        | Opcode::Sub
        | Opcode::Clamp01
        | Opcode::Frc
        | Opcode::Rcp
        | Opcode::Rsq
        | Opcode::Ex2
        | Opcode::Ln2
        | Opcode::Sin
        | Opcode::Cos => Exact::Number,
        _ => Exact::Bits,
    }
}

/// Evaluates an operation on single lanes by the reference semantics.
pub(super) fn reference(opcode: Opcode, [a, b, c]: [u32; 3]) -> u32 {
    match opcode {
        Opcode::Select => a & b | !a & c,
        Opcode::And => a & b,
        Opcode::Or => a | b,
        Opcode::AndNot => a & !b,
        opcode => r500_ir::evaluate(opcode, [a, b, c]).expect("an operation on single lanes"),
    }
}

/// Runs the kernel of an operation over all chunks.
struct Run<'m> {
    memory: &'m mut RegFile,
    opcode: Opcode,
    args: [Arg; 3],
}

impl SimdTask for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) {
        let Self { memory, opcode, args } = self;
        let mut slot = DST;
        let (kernel, call) = select_kernel(level, opcode, DST, args, &mut |x| {
            slot += 1;
            memory.get_mut(slot).fill([x; LANES]);
            Arg::Slot(slot)
        });
        kernel.call(memory, &[call]);
    }
}

/// Compares the results of an operation on some tuples with the reference. `constants` has a bit for each operand that is constant, equal
/// to that of the first tuple.
fn compare(simd: Simd, opcode: Opcode, tuples: &[[f32; 3]], constants: u8) {
    let chunks = tuples.len().div_ceil(LANES);
    let mut memory = RegFile::new(DST + 4, chunks);
    let args = [0, 1, 2].map(|operand| {
        let slot = memory.get_mut(operand as u32).as_flattened_mut();
        for (lane, tuple) in slot.iter_mut().zip(tuples.iter().cycle()) {
            *lane = tuple[operand];
        }
        match constants >> operand & 1 {
            0 => Arg::Slot(operand as u32),
            _ => Arg::Const(tuples[0][operand]),
        }
    });
    memory.get_mut(DST).fill([0.25; LANES]);
    simd.run(Run { memory: &mut memory, opcode, args });
    for (got, tuple) in memory.get(DST).as_flattened().iter().zip(tuples.iter().cycle()) {
        let wanted = f32::from_bits(reference(opcode, tuple.map(f32::to_bits)));
        let bits = |x: f32| match exact(opcode) {
            Exact::Bits => x.to_bits(),
            Exact::Number => r500_numerics::canonical_nan(x).to_bits(),
            Exact::Flushed => r500_numerics::canonical_nan(r500_numerics::flush(x)).to_bits(),
        };
        assert!(
            bits(*got) == bits(wanted),
            "{}, {opcode:?}, constants {constants:03b}: {:08x?} gives {:08x}, not {:08x}",
            simd.name(),
            tuple.map(f32::to_bits),
            got.to_bits(),
            wanted.to_bits()
        );
    }
}

/// Checks operations at all levels: on many adjacent tuples in batches of different sizes, on a chunk of each tuple (a lane that needs
/// recomputation must not hide others), and with constants.
fn check(opcodes: impl IntoIterator<Item = Opcode>) {
    for opcode in opcodes {
        let tuples = tuples(opcode.arity());
        let forms: &[u8] = match opcode.arity() {
            1 => &[0b1],
            2 => &[0b01, 0b10, 0b11],
            _ => &[0b001, 0b010, 0b100, 0b110],
        };
        for simd in Simd::available() {
            let (mut rest, mut chunks) = (&tuples[..], 1);
            while let Some((batch, after)) = rest.split_at_checked(chunks * LANES) {
                compare(simd, opcode, batch, 0);
                (rest, chunks) = (after, chunks % 37 + 1);
            }
            for (tuple, form) in tuples.iter().step_by(2).zip(forms.iter().cycle()) {
                compare(simd, opcode, &[*tuple], 0);
                compare(simd, opcode, &[*tuple], *form);
            }
        }
    }
}

/// Returns all flags of products.
fn products() -> impl Iterator<Item = MulFlags> {
    (0..8).map(|n| MulFlags { negate: n & 1 != 0, zero_a: n & 2 != 0, zero_b: n & 4 != 0 })
}

#[test]
fn products_and_sums() {
    check(products().map(Opcode::Mul).chain([Opcode::Add, Opcode::Sub]));
}

#[test]
fn multiply_adds() {
    let signs = [AddSign::Plus, AddSign::Minus];
    check(products().flat_map(|flags| signs.map(|sign| Opcode::Mad(flags, sign))));
}

#[test]
fn comparisons_and_masks() {
    use Opcode::*;
    let modes = [DenormalMode::Kept, DenormalMode::Excluded];
    check(modes.into_iter().flat_map(|mode| [Min(mode), Max(mode)]));
    check([Lt, Ge, Eq, Ne, And, Or, AndNot, Select]);
}

#[test]
fn functions_of_one_operand() {
    use Opcode::*;
    check([Neg, Abs, NegAbs, Flush, Clamp01, Frc, Rcp, Rsq, Ex2, Ln2, Sin, Cos]);
}

#[test]
fn quad_broadcasts() {
    // Arbitrary bits, including denormals and NaN with payloads.
    let bits = |lane: usize| (lane as u32).wrapping_mul(0x9e37_79b1) >> (lane % 5 * 4);
    for (simd, corner) in Simd::available().flat_map(|simd| [0, 1, 2].map(|n| (simd, n))) {
        let mut memory = RegFile::new(DST + 1, 5);
        let from = memory.get_mut(0).as_flattened_mut().iter_mut().enumerate();
        from.for_each(|(lane, x)| *x = f32::from_bits(bits(lane)));
        let (opcode, args) = (Opcode::QuadBroadcast(corner), [Arg::Slot(0); 3]);
        simd.run(Run { memory: &mut memory, opcode, args });
        for (lane, got) in memory.get(DST).as_flattened().iter().enumerate() {
            let wanted = bits(lane - lane % 4 + usize::from(corner));
            assert_eq!(got.to_bits(), wanted, "{simd:?} {corner} {lane}");
        }
    }
}

/// Runs a copy of slot 0, and then a masked move with the mask of slot 1.
struct Moves<'m> {
    memory: &'m mut RegFile,
    from: Arg,
}

impl SimdTask for Moves<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) {
        let Self { memory, from } = self;
        let (kernel, call) = copy(level, DST, Arg::Slot(0));
        kernel.call(memory, &[call]);
        let materialize = &mut |_| unreachable!("the mask is a slot");
        let (kernel, call) = masked_move(level, DST, Arg::Slot(1), from, materialize);
        kernel.call(memory, &[call]);
    }
}

#[test]
fn masked_moves_change_the_lanes_of_their_mask() {
    let (old, mask, new) = (f32::from_bits(7), [0.0, f32::from_bits(!0)], f32::NAN);
    for (simd, from) in Simd::available().flat_map(|s| [(s, Arg::Slot(2)), (s, Arg::Const(new))]) {
        let mut memory = RegFile::new(DST + 1, 3);
        memory.get_mut(0).fill([old; LANES]);
        memory.get_mut(2).fill([new; LANES]);
        let masks = memory.get_mut(1).as_flattened_mut().iter_mut().enumerate();
        masks.for_each(|(lane, x)| *x = mask[lane % 3 % 2]);
        simd.run(Moves { memory: &mut memory, from });
        for (lane, got) in memory.get(DST).as_flattened().iter().enumerate() {
            let wanted = if lane % 3 == 1 { new } else { old };
            assert_eq!(got.to_bits(), wanted.to_bits(), "{simd:?} {from:?} {lane}");
        }
    }
}

/// Returns numbers at which results change, with both signs.
pub(super) fn edges() -> Vec<f32> {
    let next = |x: f32| [x.next_down(), x, x.next_up()];
    let mut edges = vec![0.0, f32::from_bits(1), f32::from_bits(0x0040_0000), 0.25, 2.0, 3.0];
    edges.extend([f32::INFINITY, f32::NAN, f32::from_bits(0x7f80_0001), 126.0, 128.0]);
    edges.extend([f32::MIN_POSITIVE, 0.5, 1.0].map(next).as_flattened());
    edges.extend([f32::MAX, 2.0_f32.powi(-63), 2.0_f32.powi(100), 2.0_f32.powi(126), 8_388_607.5]);
    let negative: Vec<_> = edges.iter().map(|x| -x).collect();
    edges.extend(negative);
    edges
}

/// Returns operands of operations: all tuples of edges, random numbers, and products near the smallest normal number.
fn tuples(arity: usize) -> Vec<[f32; 3]> {
    let edges = edges();
    let mut random = SplitMix64::seed_from_u64(0x9e37_79b9_7f4a_7c15);
    let mut any = || {
        let [bits, kind, exponent] = [(); 3].map(|()| random.next_u32());
        match kind % 8 {
            0 => edges[bits as usize % edges.len()],
            1 => f32::from_bits(bits),
            2 => f32::from_bits(bits & 0x81ff_ffff),
            3 => f32::from_bits(bits | 0x7e00_0000),
            4 => f32::from_bits(bits & 0x807f_ffff | (50 + exponent % 28) << 23),
            _ => f32::from_bits(bits & 0x807f_ffff | (117 + exponent % 20) << 23),
        }
    };
    let mut tuples = Vec::new();
    for mut k in 0..edges.len().pow(arity as u32) {
        tuples.push([(); 3].map(|()| {
            let edge = edges[k % edges.len()];
            k /= edges.len();
            edge
        }));
    }
    tuples.extend((0..60_000).map(|_| [any(), any(), any()]));
    // Pairs of factors with products a few units of 2^-25 (relatively) from 2^-126.
    for n in 0..20_000_u32 {
        let a = f32::from_bits(any().to_bits() & 0x807f_ffff | (40 + n % 40) << 23);
        let b = (f64::from(f32::MIN_POSITIVE) / f64::from(a)) as f32;
        let b = f32::from_bits((b.to_bits() + n % 5).wrapping_sub(2));
        tuples.push([a, b, any()]);
    }
    tuples
}
