//! Vector and opmask instructions.

use crate::fault::FaultKind;
use crate::float::{self, Flush};
use crate::memory::Memory;
use crate::op::{Address, MaskOp, Source, VectorInst, VectorOp};
use crate::registers::{Lanes, Machine};

/// All bits of an opmask of 16 lanes.
const ALL: u16 = u16::MAX;

impl Machine {
    /// Returns the 32-bit lanes that an opmask selects, with `element` bytes per mask bit; all
    /// lanes without an opmask.
    fn selected(&self, mask: u8, element: u8) -> u16 {
        if mask == 0 {
            return ALL;
        }
        let bits = self.masks[usize::from(mask)] as u16;
        if element == 4 {
            return bits;
        }
        (0..8).filter(|n| bits >> n & 1 != 0).fold(0, |lanes, n| lanes | 0b11 << (2 * n))
    }

    /// Returns the last operand. Lanes that are not selected are not loaded.
    fn source(
        &self,
        memory: &Memory<'_>,
        source: Source,
        selected: u16,
    ) -> Result<Lanes, FaultKind> {
        match source {
            Source::Register(register) => Ok(self.vectors[usize::from(register)]),
            Source::Memory { address, size, aligned } => {
                let address = self.address(address);
                if aligned && !address.is_multiple_of(u64::from(size)) {
                    return Err(FaultKind::Misaligned { address, alignment: u32::from(size) });
                }
                load_lanes(memory, address, usize::from(size), selected)
            }
            Source::Broadcast { address, element } => {
                if selected == 0 {
                    return Ok([0; 16]);
                }
                let element = usize::from(element);
                let lanes = load_lanes(memory, self.address(address), element, ALL)?;
                Ok(std::array::from_fn(|i| lanes[i % (element / 4)]))
            }
        }
    }

    pub(crate) fn vector(
        &mut self,
        memory: &Memory<'_>,
        inst: &VectorInst,
    ) -> Result<(), FaultKind> {
        let selected = self.selected(inst.mask, inst.element);
        // Masked lanes are not loaded, unless results come from other lanes.
        let loaded = if inst.op.is_lane_wise() { selected } else { ALL };
        let b = self.source(memory, inst.b, loaded)?;
        let a = &self.vectors[usize::from(inst.a)];
        let old = &self.vectors[usize::from(inst.dst)];
        let flush = Flush::of(self.mxcsr);
        let result = match inst.op {
            VectorOp::BlendBySign(by) => {
                let by = &self.vectors[usize::from(by)];
                std::array::from_fn(|i| if by[i] >> 31 != 0 { b[i] } else { a[i] })
            }
            VectorOp::BlendByMask => {
                let chosen = std::array::from_fn(|i| {
                    if selected >> i & 1 != 0 || inst.zeroing { b[i] } else { a[i] }
                });
                // Lanes are masked only with zeroing.
                let selected = if inst.zeroing { selected } else { ALL };
                self.write(inst.dst, merge(&[0; 16], &chosen, selected, inst.zeroing), inst.size);
                return Ok(());
            }
            op => compute(op, flush, a, &b, old),
        };
        let result = merge(old, &result, selected, inst.zeroing);
        self.write(inst.dst, result, inst.size);
        Ok(())
    }

    /// Writes a result of `size` bytes; the bytes above are set to zero.
    fn write(&mut self, dst: u8, mut lanes: Lanes, size: u8) {
        lanes[usize::from(size) / 4..].fill(0);
        self.vectors[usize::from(dst)] = lanes;
    }

    pub(crate) fn store_vector(
        &self,
        memory: &mut Memory<'_>,
        address: Address,
        (src, from, size): (u8, u8, u8),
        aligned: bool,
        mask: u8,
    ) -> Result<(), FaultKind> {
        let address = self.address(address);
        if aligned && !address.is_multiple_of(u64::from(size)) {
            return Err(FaultKind::Misaligned { address, alignment: u32::from(size) });
        }
        let lanes = &self.vectors[usize::from(src)];
        let selected = self.selected(mask, 4);
        if selected == ALL {
            memory.store(address, &to_bytes(lanes)[usize::from(from)..][..usize::from(size)])?;
            return Ok(());
        }
        for (i, lane) in lanes.iter().enumerate().take(usize::from(size) / 4) {
            if selected >> i & 1 != 0 {
                memory.store(address.wrapping_add(4 * i as u64), &lane.to_le_bytes())?;
            }
        }
        Ok(())
    }

    pub(crate) fn compare_to_mask(
        &mut self,
        memory: &Memory<'_>,
        predicate: u8,
        dst: u8,
        (a, b): (u8, Source),
        mask: u8,
    ) -> Result<(), FaultKind> {
        let selected = self.selected(mask, 4);
        let b = self.source(memory, b, selected)?;
        let a = &self.vectors[usize::from(a)];
        let flush = Flush::of(self.mxcsr);
        let holds = (0..16).filter(|&i| flush.compare(predicate, a[i], b[i]));
        let bits = holds.fold(0, |bits, i| bits | 1 << i) & selected;
        self.masks[usize::from(dst)] = u64::from(bits);
        Ok(())
    }

    pub(crate) fn mask_op(&mut self, op: MaskOp, dst: u8, a: u8, b: u8) {
        let (a, b) = (self.masks[usize::from(a)], self.masks[usize::from(b)]);
        let bits = match op {
            MaskOp::And => a & b,
            MaskOp::Or => a | b,
            MaskOp::Xor => a ^ b,
            MaskOp::Xnor => !(a ^ b),
            MaskOp::AndNot => !a & b,
        };
        self.masks[usize::from(dst)] = bits & u64::from(ALL);
    }

    /// Returns the sign bits of a vector's lanes.
    pub(crate) fn signs(&self, src: u8, size: u8) -> u64 {
        let lanes = self.vectors[usize::from(src)].iter().take(usize::from(size) / 4);
        lanes.enumerate().fold(0, |bits, (i, lane)| bits | u64::from(lane >> 31) << i)
    }

    pub(crate) fn mask_to_vector(&mut self, dst: u8, src: u8, size: u8) {
        let bits = self.masks[usize::from(src)];
        let lanes = std::array::from_fn(|i| if bits >> i & 1 != 0 { u32::MAX } else { 0 });
        self.write(dst, lanes, size);
    }
}

impl VectorOp {
    /// Returns whether a lane of the result depends on the same lane of the operands only.
    fn is_lane_wise(self) -> bool {
        !matches!(
            self,
            Self::Unpack { .. }
                | Self::Permute128(_)
                | Self::Permute2
                | Self::PermuteAll(_)
                | Self::PermuteWithin(_)
                | Self::PermuteQuarters(_)
                | Self::Insert128(_)
                | Self::Insert256(_)
                | Self::Extract { .. }
                | Self::ToHalf
                | Self::ZeroExtend16
                | Self::Narrow(_)
                | Self::PackUnsigned(_)
        )
    }
}

/// Merges a result: lanes that are not selected keep their values, or become zero.
fn merge(old: &Lanes, new: &Lanes, selected: u16, zeroing: bool) -> Lanes {
    if selected == ALL {
        return *new;
    }
    std::array::from_fn(|i| match (selected >> i & 1 != 0, zeroing) {
        (true, _) => new[i],
        (false, true) => 0,
        (false, false) => old[i],
    })
}

fn load_lanes(
    memory: &Memory<'_>,
    address: u64,
    size: usize,
    selected: u16,
) -> Result<Lanes, FaultKind> {
    let mut bytes = [0; 64];
    if selected == ALL {
        memory.load(address, &mut bytes[..size])?;
    } else {
        for (i, lane) in bytes[..size].chunks_exact_mut(4).enumerate() {
            if selected >> i & 1 != 0 {
                memory.load(address.wrapping_add(4 * i as u64), lane)?;
            }
        }
    }
    let (lanes, _) = bytes.as_chunks::<4>();
    Ok(std::array::from_fn(|i| u32::from_le_bytes(lanes[i])))
}

fn to_bytes(lanes: &Lanes) -> [u8; 64] {
    std::array::from_fn(|i| lanes[i / 4].to_le_bytes()[i % 4])
}

/// Packs 16-bit elements.
fn from_halves(half: impl Fn(usize) -> u16) -> Lanes {
    let word = |i: usize| u32::from(half(2 * i)) | u32::from(half(2 * i + 1)) << 16;
    std::array::from_fn(|i| if i < 8 { word(i) } else { 0 })
}

/// Computes the result of an operation from its operands and, for some operations, the old
/// destination.
fn compute(op: VectorOp, flush: Flush, a: &Lanes, b: &Lanes, old: &Lanes) -> Lanes {
    let each = |f: &dyn Fn(u32, u32) -> u32| std::array::from_fn(|i| f(a[i], b[i]));
    let one = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|i| f(b[i]));
    match op {
        VectorOp::Arith(op) => flush.arith_lanes(op, a, b),
        VectorOp::And => each(&|a, b| a & b),
        VectorOp::Or => each(&|a, b| a | b),
        VectorOp::Xor => each(&|a, b| a ^ b),
        VectorOp::AndNot => each(&|a, b| !a & b),
        VectorOp::AddInt => each(&u32::wrapping_add),
        VectorOp::SubInt => each(&u32::wrapping_sub),
        VectorOp::MinUnsigned => each(&u32::min),
        VectorOp::MulLow => each(&u32::wrapping_mul),
        VectorOp::Unpack { high, wide } => {
            let half = if high { 2 } else { 0 };
            std::array::from_fn(|i| {
                let (block, at) = (i / 4 * 4 + half, i % 4);
                match wide {
                    true => [a, b][at / 2][block + at % 2],
                    false => [a, b][at % 2][block + at / 2],
                }
            })
        }
        VectorOp::Permute128(which) => std::array::from_fn(|i| {
            let which = if i < 4 { which } else { which >> 4 };
            let from = if which & 2 != 0 { b } else { a };
            if which & 8 != 0 { 0 } else { from[usize::from(which & 1) * 4 + i % 4] }
        }),
        VectorOp::Permute2 => std::array::from_fn(|i| {
            let which = old[i / 2 * 2] as usize;
            let from = if which & 8 != 0 { b } else { a };
            from[which % 8 * 2 + i % 2]
        }),
        VectorOp::PermuteAll(lanes) => {
            std::array::from_fn(|i| b[a[i] as usize % usize::from(lanes)])
        }
        VectorOp::PermuteWithin(which) => {
            std::array::from_fn(|i| b[i / 4 * 4 + usize::from(which >> (i % 4 * 2) & 3)])
        }
        VectorOp::Insert128(which) => {
            std::array::from_fn(|i| if i / 4 == usize::from(which) { b[i % 4] } else { a[i] })
        }
        VectorOp::Insert256(which) => {
            std::array::from_fn(|i| if i / 8 == usize::from(which) { b[i % 8] } else { a[i] })
        }
        VectorOp::Extract { bytes, which } => {
            let lanes = usize::from(bytes) / 4;
            std::array::from_fn(|i| b[usize::from(which) * lanes + i % lanes])
        }
        VectorOp::PermuteQuarters(which) => std::array::from_fn(|i| {
            let from = usize::from(which >> (i % 8 / 2 * 2) & 3);
            b[i / 8 * 8 + 2 * from + i % 2]
        }),
        VectorOp::MulAdd132 { negate } => {
            std::array::from_fn(|i| flush.mul_add(negate, [old[i], b[i], a[i]]))
        }
        VectorOp::MulAdd231 { negate } => {
            std::array::from_fn(|i| flush.mul_add(negate, [a[i], b[i], old[i]]))
        }
        VectorOp::ToHalf => from_halves(|i| float::to_half(b[i])),
        VectorOp::ZeroExtend16 => std::array::from_fn(|i| b[i / 2] >> (i % 2 * 16) & 0xffff),
        VectorOp::Narrow(2) => from_halves(|i| b[i] as u16),
        VectorOp::Narrow(_) => std::array::from_fn(|i| match b.get(4 * i..4 * i + 4) {
            Some(lanes) => u32::from_le_bytes(std::array::from_fn(|n| lanes[n] as u8)),
            None => 0,
        }),
        VectorOp::PackUnsigned(4) => {
            let limited = |x: u32| x.cast_signed().clamp(0, 0xffff) as u32;
            std::array::from_fn(|i| {
                let (from, first) = ([a, b][i % 4 / 2], i / 4 * 4 + i % 2 * 2);
                limited(from[first]) | limited(from[first + 1]) << 16
            })
        }
        VectorOp::PackUnsigned(_) => {
            let limited = |x: u32| u32::from((x as u16).cast_signed().clamp(0, 0xff) as u8);
            let both = |x: u32| limited(x) | limited(x >> 16) << 8;
            std::array::from_fn(|i| {
                let (from, first) = ([a, b][i % 4 / 2], i / 4 * 4 + i % 2 * 2);
                both(from[first]) | both(from[first + 1]) << 16
            })
        }
        VectorOp::Move | VectorOp::BlendBySign(_) | VectorOp::BlendByMask => *b,
        VectorOp::Truncate => one(&float::truncate),
        VectorOp::FixUp => std::array::from_fn(|i| flush.fix_up(old[i], a[i], b[i])),
        VectorOp::FloorToInt => one(&|b| flush.floor_to_int(b)),
        VectorOp::Remainder => one(&|b| flush.remainder(b)),
        VectorOp::Scale => each(&|a, b| flush.scale(a, b)),
        VectorOp::ToFloat => one(&float::to_float),
        VectorOp::Sqrt => one(&|b| flush.sqrt(b)),
        VectorOp::Round(mode) => one(&|b| flush.round_to_integral(mode, b)),
        VectorOp::ShiftLeft(bits) => one(&|b| b.checked_shl(u32::from(bits)).unwrap_or_default()),
        VectorOp::ShiftRightArithmetic(bits) => {
            one(&|b| (b.cast_signed() >> bits.min(31)).cast_unsigned())
        }
        VectorOp::EqualInt => each(&|a, b| if a == b { u32::MAX } else { 0 }),
        VectorOp::CompareToVector(predicate) => {
            each(&|a, b| if flush.compare(predicate, a, b) { u32::MAX } else { 0 })
        }
    }
}
