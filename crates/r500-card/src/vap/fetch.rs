//! Vertex fetch: from indices and arrays to the input vectors of a vertex program.

use std::sync::atomic::Ordering;

use r500_chip::values::{DataType, Endian, SignedNorm, StreamSwizzle};
use r500_chip::vap::{
    VapCntlStatus, VapIndexOffset, VapProgStreamCntl, VapProgStreamCntlExt, VapPscSgnNormCntl,
    VapVfMaxVtxIndx, VapVfMinVtxIndx, VapVtxSize,
};
use r500_numerics::codec::half;
use r500_pvs::INPUTS;
use r500_stream::{BoundArray, DrawCall, Indices, State};

use super::columns::InputColumns;
use crate::surface::swap_dword;

/// The source and the format of vertices.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    elements: Vec<Element>,
    arrays: Vec<BoundArray>,
    swap: Endian,
    index_offset: u32,
    min_index: u32,
    max_index: u32,
    /// Dwords of a vertex in the packet.
    vertex_dwords: usize,
}

/// An element of a vertex.
#[derive(Clone, Copy, Debug)]
struct Element {
    ty: DataType,
    skip: usize,
    location: usize,
    signed: bool,
    normalize: bool,
    method: SignedNorm,
    swizzle: [StreamSwizzle; 4],
    write: u8,
}

impl Fetch {
    pub(crate) fn new(state: &State) -> Self {
        let registers = &state.registers;
        Self {
            elements: elements(state),
            arrays: state.arrays().to_vec(),
            swap: registers.get::<VapCntlStatus>().vc_swap(),
            index_offset: registers.get::<VapIndexOffset>().index_offset(),
            min_index: registers.get::<VapVfMinVtxIndx>().min_indx(),
            max_index: registers.get::<VapVfMaxVtxIndx>().max_indx(),
            vertex_dwords: registers.get::<VapVtxSize>().dwords_per_vtx().into(),
        }
    }

    /// Returns the input vectors that have an element, ascending.
    pub(crate) fn locations(&self) -> Vec<u8> {
        let mut locations: Vec<u8> = self
            .elements
            .iter()
            .flat_map(|element| {
                let vectors = if element.ty == DataType::FLOAT_8 { 2 } else { 1 };
                (0..vectors).map(|n| ((element.location + n) % INPUTS) as u8)
            })
            .collect();
        locations.sort_unstable();
        locations.dedup();
        locations
    }

    /// Returns the vertex of an index: the offset is added modulo 2^24 (observed: negative offsets), then the sum is
    /// clamped.
    pub(crate) fn limit(&self, index: u32) -> u32 {
        // 25 bits, two's complement.
        let offset = ((self.index_offset << 7) as i32 >> 7) as u32;
        let index = index.wrapping_add(offset) & 0xff_ffff;
        index.min(self.max_index).max(self.min_index.min(self.max_index))
    }

    /// Reads the dwords of vertex `index`: those of all arrays, one after another.
    pub(crate) fn gather(&self, index: u32, dwords: &mut Vec<u32>) {
        dwords.clear();
        for BoundArray { array, binding } in &self.arrays {
            let start = array.offset as usize + index as usize * usize::from(array.stride) * 4;
            // An array without a buffer reads as an empty one.
            let words = binding.as_ref().map_or(&[][..], |bound| bound.buffer.words());
            // As `Buffer::dword` reads: the lowest bits of the address are ignored, and what is outside is 0.
            let inside = words.get(start / 4..).unwrap_or_default();
            let size = usize::from(array.size);
            let read = inside.iter().take(size).map(|word| word.load(Ordering::Relaxed));
            let end = dwords.len() + size;
            match self.swap {
                Endian::NONE => dwords.extend(read),
                swap => dwords.extend(read.map(|value| swap_dword(swap, value))),
            }
            dwords.resize(end, 0);
        }
    }

    /// Returns vertex `n` of a packet with embedded vertices.
    pub(crate) fn embedded<'a>(&self, n: u32, vertices: &'a [u32]) -> &'a [u32] {
        let start = (n as usize).saturating_mul(self.vertex_dwords);
        let end = start.saturating_add(self.vertex_dwords).min(vertices.len());
        vertices.get(start..end).unwrap_or_default()
    }

    /// Decodes the dwords of a vertex to input vectors. Vectors without an element are (0, 0, 0, 1) (open).
    pub(crate) fn inputs(&self, dwords: &[u32]) -> [[f32; 4]; INPUTS] {
        let mut inputs = [[0.0, 0.0, 0.0, 1.0]; INPUTS];
        self.decode(dwords, |vector, channel, value| inputs[vector][channel] = value);
        inputs
    }

    /// Decodes the dwords of vertex `n` of a batch.
    pub(crate) fn store(&self, dwords: &[u32], n: usize, inputs: &mut InputColumns) {
        self.decode(dwords, |vector, channel, value| inputs.set(vector, channel, n, value));
    }

    /// Decodes the dwords of a vertex, and passes the components that elements write: vector, component, value.
    fn decode(&self, dwords: &[u32], mut write: impl FnMut(usize, usize, f32)) {
        let mut at = 0;
        for element in &self.elements {
            let (vectors, used) = element.decode(dwords.get(at..).unwrap_or_default());
            for (n, vector) in vectors.into_iter().flatten().enumerate() {
                let location = (element.location + n) % INPUTS;
                for (channel, select) in element.swizzle.into_iter().enumerate() {
                    if element.write >> channel & 1 != 0 {
                        let value = match select {
                            StreamSwizzle::ZERO => 0.0,
                            StreamSwizzle::ONE => 1.0,
                            select => vector[usize::from(select.code() & 3)],
                        };
                        write(location, channel, value);
                    }
                }
            }
            at += used + element.skip;
        }
    }
}

fn elements(state: &State) -> Vec<Element> {
    let methods = state.registers.get::<VapPscSgnNormCntl>().bits();
    let mut elements = Vec::new();
    for n in 0..16_u32 {
        // The fields of odd elements are 16 bits above those of even ones.
        let shift = n % 2 * 16;
        let cntl = state.registers.member::<VapProgStreamCntl>(n / 2).bits() >> shift;
        let ext = state.registers.member::<VapProgStreamCntlExt>(n / 2).bits() >> shift;
        let (cntl, ext) = (VapProgStreamCntl(cntl & 0xffff), VapProgStreamCntlExt(ext & 0xffff));
        elements.push(Element {
            ty: cntl.data_type_0(),
            skip: cntl.skip_dwords_0().into(),
            location: cntl.dst_vec_loc_0().into(),
            signed: cntl.signed_0(),
            normalize: cntl.normalize_0(),
            method: SignedNorm::new((methods >> (2 * n) & 3) as u8),
            swizzle: [
                ext.swizzle_select_x_0(),
                ext.swizzle_select_y_0(),
                ext.swizzle_select_z_0(),
                ext.swizzle_select_w_0(),
            ],
            write: ext.write_ena_0(),
        });
        if cntl.last_vec_0() {
            break;
        }
    }
    elements
}

/// Values of missing components.
const MISSING: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

impl Element {
    /// Returns one or two vectors, and the number of dwords that they took. Dwords beyond the vertex are 0.
    fn decode(&self, dwords: &[u32]) -> ([Option<[f32; 4]>; 2], usize) {
        let dword = |n: usize| dword_or_zero(dwords, n);
        let float = |n: usize| f32::from_bits(dword(n));
        let mut vector = MISSING;
        let mut second = None;
        let used = match self.ty {
            DataType::FLOAT_1 | DataType::FLOAT_2 | DataType::FLOAT_3 | DataType::FLOAT_4 => {
                let count = usize::from(self.ty.code()) + 1;
                (0..count).for_each(|n| vector[n] = float(n));
                count
            }
            DataType::FLOAT_8 => {
                vector = [0, 1, 2, 3].map(float);
                second = Some([4, 5, 6, 7].map(float));
                8
            }
            DataType::BYTE => {
                vector = [0, 8, 16, 24].map(|lo| self.integer(dword(0), lo, 8));
                1
            }
            DataType::D3DCOLOR => {
                vector = [16, 8, 0, 24].map(|lo| self.integer(dword(0), lo, 8));
                1
            }
            DataType::SHORT_2 => {
                vector[..2].copy_from_slice(&[0, 16].map(|lo| self.integer(dword(0), lo, 16)));
                1
            }
            DataType::SHORT_4 => {
                vector = [(0, 0), (0, 16), (1, 0), (1, 16)]
                    .map(|(n, lo)| self.integer(dword(n), lo, 16));
                2
            }
            DataType::VECTOR_3_TTT => {
                vector[..3].copy_from_slice(&[0, 10, 20].map(|lo| self.integer(dword(0), lo, 10)));
                1
            }
            DataType::VECTOR_3_EET => {
                let parts = [(0, 11), (11, 11), (22, 10)];
                vector[..3].copy_from_slice(&parts.map(|(lo, n)| self.integer(dword(0), lo, n)));
                1
            }
            DataType::FLT16_2 => {
                vector[..2].copy_from_slice(&[0, 16].map(|lo| half16(dword(0), lo)));
                1
            }
            DataType::FLT16_4 => {
                vector = [(0, 0), (0, 16), (1, 0), (1, 16)].map(|(n, lo)| half16(dword(n), lo));
                2
            }
            // Reserved: as one float (open).
            _ => {
                vector[0] = float(0);
                1
            }
        };
        ([Some(vector), second], used)
    }

    /// Decodes the integer in `bits` bits from bit `lo`.
    fn integer(&self, dword: u32, lo: u32, bits: u32) -> f32 {
        let code = dword >> lo & (u32::MAX >> (32 - bits));
        let max = ((1_u32 << bits) - 1) as f32;
        if !self.signed {
            return if self.normalize { code as f32 / max } else { code as f32 };
        }
        let value = ((code << (32 - bits)) as i32 >> (32 - bits)) as f32;
        let half = ((1_u32 << (bits - 1)) - 1) as f32;
        match (self.normalize, self.method) {
            (false, _) => value,
            (true, SignedNorm::ZERO) => value / half,
            (true, SignedNorm::ZERO_CLAMP_MINUS_ONE) => (value / half).max(-1.0),
            (true, _) => (2.0 * value + 1.0) / max,
        }
    }
}

/// Returns a dword of a packet or vertex; 0 beyond its end, as for memory outside of a buffer.
fn dword_or_zero(words: &[u32], n: usize) -> u32 {
    words.get(n).copied().unwrap_or(0)
}

fn half16(dword: u32, lo: u32) -> f32 {
    half::to_f32((dword >> lo) as u16)
}

/// The index list of a draw.
pub(crate) struct IndexList<'a> {
    indices: &'a Indices<'a>,
    wide: bool,
}

impl<'a> IndexList<'a> {
    pub(crate) fn new(draw: &'a DrawCall<'a>) -> Self {
        Self { indices: &draw.indices, wide: draw.vf_cntl.index_size() }
    }

    /// Returns index `n`; 0 beyond the end. Two 16-bit indices share a dword, the first in the lower half.
    pub(crate) fn get(&self, n: u32) -> u32 {
        let (dword, shift) = if self.wide { (n, 0) } else { (n / 2, n % 2 * 16) };
        let value = match self.indices {
            Indices::None => 0,
            Indices::Inline(words) => dword_or_zero(words, dword as usize),
            Indices::Buffer { binding, offset, dwords } if dword < *dwords => {
                binding.buffer.dword(*offset as usize + dword as usize * 4)
            }
            Indices::Buffer { .. } => 0,
        };
        if self.wide { value } else { value >> shift & 0xffff }
    }
}

/// The post-transform cache: the place of the vertex that last had an index, for as many indices as there are entries. Programs have no side
/// effects, so reuse is not observable.
#[derive(Debug, Default)]
pub(crate) struct Processed {
    /// Indices with places, at the index modulo their number, a power of two.
    entries: Vec<Option<(u32, usize)>>,
}

/// Limit of the entries of a post-transform cache.
const MOST: usize = 4096;

impl Processed {
    /// Empties the cache, for some number of vertices.
    pub(crate) fn clear(&mut self, vertices: usize) {
        self.entries.clear();
        self.entries.resize(vertices.clamp(1, MOST).next_power_of_two(), None);
    }

    pub(crate) fn get(&self, index: u32) -> Option<usize> {
        let (of, place) =
            (*self.entries.get(index as usize & self.entries.len().wrapping_sub(1))?)?;
        (of == index).then_some(place)
    }

    pub(crate) fn insert(&mut self, index: u32, vertex: usize) {
        let mask = self.entries.len().wrapping_sub(1);
        if let Some(entry) = self.entries.get_mut(index as usize & mask) {
            *entry = Some((index, vertex));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(ty: DataType, signed: bool, normalize: bool, method: SignedNorm) -> Element {
        Element {
            ty,
            skip: 0,
            location: 0,
            signed,
            normalize,
            method,
            swizzle: [StreamSwizzle::X, StreamSwizzle::Y, StreamSwizzle::Z, StreamSwizzle::W],
            write: 15,
        }
    }

    fn decode(ty: DataType, signed: bool, normalize: bool, dwords: &[u32]) -> [f32; 4] {
        element(ty, signed, normalize, SignedNorm::NO_ZERO).decode(dwords).0[0].unwrap_or_default()
    }

    #[test]
    fn integers_count_from_the_lowest_bits() {
        use DataType as T;
        assert_eq!(decode(T::BYTE, false, false, &[0x0403_02ff]), [255.0, 2.0, 3.0, 4.0]);
        assert_eq!(decode(T::D3DCOLOR, false, false, &[0x0403_02ff]), [3.0, 2.0, 255.0, 4.0]);
        assert_eq!(decode(T::BYTE, true, false, &[0xff]), [-1.0, 0.0, 0.0, 0.0]);
        assert_eq!(decode(T::SHORT_2, true, false, &[0x8000_7fff]), [32767.0, -32768.0, 0.0, 1.0]);
        assert_eq!(decode(T::SHORT_4, false, false, &[0x2_0001, 0x4_0003]), [1.0, 2.0, 3.0, 4.0]);
        let ttt = 1 | 2 << 10 | 1023 << 20;
        assert_eq!(decode(T::VECTOR_3_TTT, false, false, &[ttt]), [1.0, 2.0, 1023.0, 1.0]);
        let eet = 2047 | 1 << 11 | 512 << 22;
        assert_eq!(decode(T::VECTOR_3_EET, true, false, &[eet]), [-1.0, 1.0, -512.0, 1.0]);
    }

    #[test]
    fn normalised_integers_have_the_documented_ends() {
        assert_eq!(decode(DataType::BYTE, false, true, &[0x0000_ff00])[..2], [0.0, 1.0]);
        for (method, ends) in [
            (SignedNorm::ZERO, [-128.0 / 127.0, 0.0, 1.0]),
            (SignedNorm::ZERO_CLAMP_MINUS_ONE, [-1.0, 0.0, 1.0]),
            (SignedNorm::NO_ZERO, [-1.0, 1.0 / 255.0, 1.0]),
        ] {
            let bytes = element(DataType::BYTE, true, true, method).decode(&[0x7f_00_80]).0[0];
            assert_eq!(bytes.unwrap_or_default()[..3], ends);
        }
    }

    #[test]
    fn floats_fill_what_they_have() {
        let two = [1.5_f32.to_bits(), (-2.0_f32).to_bits()];
        assert_eq!(decode(DataType::FLOAT_2, false, false, &two), [1.5, -2.0, 0.0, 1.0]);
        // 1.0 and -2.0 as float16.
        assert_eq!(decode(DataType::FLT16_2, false, false, &[0xc000_3c00]), [1.0, -2.0, 0.0, 1.0]);
    }

    #[test]
    fn negative_offsets_wrap_at_24_bits() {
        let mut state = State::default();
        state.registers.write(0x2134, 0xff_ffff);
        // -3 in 25 bits.
        state.registers.write(0x208c, 0x1ff_fffd);
        let fetch = Fetch::new(&state);
        assert_eq!(fetch.limit(5), 2);
        assert_eq!(fetch.limit(1), 0xff_fffe);
        state.registers.write(0x2134, 100);
        state.registers.write(0x2138, 4);
        let fetch = Fetch::new(&state);
        assert_eq!(fetch.limit(5), 4);
        assert_eq!(fetch.limit(1), 100);
    }

    #[test]
    fn elements_follow_one_another_and_are_swizzled() {
        let mut state = State::default();
        // FLOAT_1 to vector 3, one dword skipped; BYTE normalised to vector 5, the last.
        let first = 3 << 8 | 1 << 4;
        let second = 4 | 5 << 8 | 1 << 13 | 1 << 15;
        state.registers.write(0x2150, first | second << 16);
        // The float's X to all but W, which is 1; bytes in reverse, X not written.
        let first = 5 << 9 | 0xf << 12;
        let second = 3 | 2 << 3 | 1 << 6 | 0xe << 12;
        state.registers.write(0x21e0, first | second << 16);
        let inputs = Fetch::new(&state).inputs(&[2.5_f32.to_bits(), 99, 0x00ff_0000]);
        assert_eq!(inputs[3], [2.5, 2.5, 2.5, 1.0]);
        assert_eq!(inputs[5], [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(inputs[0], [0.0, 0.0, 0.0, 1.0]);
    }
}
