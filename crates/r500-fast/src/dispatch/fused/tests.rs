//! Compares every entry of the table, at every level that has it, with the reference semantics of its two operations in sequence.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::super::tests::{Exact, edges, exact, reference};
use super::*;
use r500_ir::Value;
use r500_lanes::LANES;
use r500_simd::{Simd, SimdTask};

/// The slot that kernels write; their operands are in the slots before it.
const DST: u32 = 5;
const CHUNKS: usize = 40;

/// Runs the fused kernel of two operations, if there is one.
struct Run<'m> {
    memory: &'m mut RegFile,
    first: Inst,
    second: Inst,
    result: Operand,
}

impl SimdTask for Run<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> bool {
        let Self { memory, first, second, result } = self;
        let Some((kernel, operands)) = select_fused(level, &first, &second, result) else {
            return false;
        };
        let mut args = [Arg::Const(0.0); 5];
        for (arg, operand) in args.iter_mut().zip(operands) {
            *arg = match operand {
                Operand::Const(bits) => Arg::Const(f32::from_bits(bits)),
                Operand::Value(value) => Arg::Slot(value.0),
            };
        }
        kernel.call(memory, &[KernelArgs::fused(DST, args)]);
        true
    }
}

fn opcodes() -> Vec<Opcode> {
    use Opcode::*;
    let mut opcodes = vec![Mad(MulFlags::default(), AddSign::Minus)];
    for (zero_a, zero_b) in [(false, false), (true, false), (false, true), (true, true)] {
        let product = MulFlags { negate: false, zero_a, zero_b };
        opcodes.extend([Mul(product), Mad(product, AddSign::Plus)]);
    }
    opcodes.extend([Add, Sub, Frc, Clamp01, Abs, Rcp, Rsq, Ex2, Ln2, Sin, Cos, Ge, Lt]);
    opcodes.extend([Min(DenormalMode::Excluded), Max(DenormalMode::Excluded), Select, AndNot]);
    opcodes
}

/// Returns whether an operand is a mask.
fn is_mask(opcode: Opcode, operand: usize) -> bool {
    matches!((opcode, operand), (Opcode::Select, 0) | (Opcode::AndNot, _))
}

#[test]
fn two_operations_in_one_are_those_two() {
    let edges = edges();
    let mut random = SplitMix64::seed_from_u64(7);
    let mut any = |mask: bool| {
        let [bits, kind] = [(); 2].map(|()| random.next_u32());
        match kind % 4 {
            _ if mask => f32::from_bits(if bits & 1 != 0 { !0 } else { 0 }),
            0 => edges[bits as usize % edges.len()],
            1 => f32::from_bits(bits),
            _ => f32::from_bits(bits & 0x807f_ffff | (117 + kind / 4 % 20) << 23),
        }
    };
    // The result as an operand, to identify its position.
    let between = Operand::Value(Value(77));
    let mut rows = 0;
    for first in opcodes() {
        for second in opcodes() {
            for at in 0..second.arity() {
                let (n, others) = (first.arity(), second.arity() - 1);
                for constants in 0..1_u32 << (n + others) {
                    let place = |operand: usize| {
                        if operand < n {
                            is_mask(first, operand)
                        } else {
                            let other = operand - n;
                            is_mask(second, other + usize::from(other >= at))
                        }
                    };
                    for round in 0..4 {
                        let mut memory = RegFile::new(DST + 1, CHUNKS);
                        let mut operands = [between; 5];
                        for (slot, operand) in operands.iter_mut().enumerate().take(n + others) {
                            let constant = any(place(slot));
                            *operand = Operand::Value(Value(slot as u32));
                            let of_slot = memory.get_mut(slot as u32).as_flattened_mut();
                            of_slot.iter_mut().for_each(|lane| *lane = any(place(slot)));
                            if constants >> slot & 1 != 0 {
                                *operand = Operand::float(constant);
                                of_slot.fill(constant);
                            }
                        }
                        let mut args = [Operand::Const(0); 3];
                        args[..n].copy_from_slice(&operands[..n]);
                        let first = Inst { opcode: first, args };
                        let mut args = [Operand::Const(0); 3];
                        let mut rest = operands[n..].iter();
                        for (i, arg) in args.iter_mut().enumerate().take(others + 1) {
                            *arg = if i == at { between } else { *rest.next().expect("others") };
                        }
                        let second = Inst { opcode: second, args };
                        let levels = Simd::available();
                        let found = levels.filter(|simd| {
                            let run = Run { memory: &mut memory, first, second, result: between };
                            let found = simd.run(run);
                            if found {
                                compare(*simd, &memory, &first, &second);
                            }
                            found
                        });
                        if found.count() == 0 {
                            break;
                        }
                        rows += usize::from(round == 0);
                    }
                }
            }
        }
    }
    // Levels with the table do not exist on every machine.
    assert!(rows >= 110 || !Simd::Avx2.is_available(), "{rows}");
}

/// Compares the results of a kernel with the two operations, lane by lane.
fn compare(simd: Simd, memory: &RegFile, first: &Inst, second: &Inst) {
    for lane in 0..CHUNKS * LANES {
        let bits_of = |operand: Operand, between: u32| match operand {
            Operand::Const(bits) => bits,
            Operand::Value(Value(77)) => between,
            Operand::Value(value) => memory.get(value.0).as_flattened()[lane].to_bits(),
        };
        let between = reference(first.opcode, first.args.map(|arg| bits_of(arg, 0)));
        let args = second.args.map(|arg| bits_of(arg, between));
        let wanted = f32::from_bits(reference(second.opcode, args));
        let got = memory.get(DST).as_flattened()[lane];
        let bits = |x: f32| match (exact(first.opcode), exact(second.opcode)) {
            (Exact::Bits, Exact::Bits) => x.to_bits(),
            (Exact::Flushed, _) | (_, Exact::Flushed) => {
                r500_numerics::canonical_nan(r500_numerics::flush(x)).to_bits()
            }
            _ if is_mask(second.opcode, 1) => x.to_bits(),
            _ => r500_numerics::canonical_nan(x).to_bits(),
        };
        assert_eq!(
            bits(got),
            bits(wanted),
            "{simd:?} {first:?} {second:?} of {:08x?}, {between:08x}",
            args,
        );
    }
}
