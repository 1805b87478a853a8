//! Vertex fetch: from indices and arrays to the input vectors of a vertex program.

use std::sync::atomic::{AtomicU32, Ordering};

use r500_chip::pm4::VertexArray;
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
    /// Where each element is; `None` if one is not in a single array.
    places: Option<Vec<Place>>,
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

/// An array, and the first dword of an element in its vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    array: usize,
    dword: usize,
}

impl Fetch {
    pub(crate) fn new(state: &State) -> Self {
        let registers = &state.registers;
        let (elements, arrays) = (elements(state), state.arrays().to_vec());
        Self {
            places: places(&elements, &arrays),
            elements,
            arrays,
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
        for bound in &self.arrays {
            let inside = words(bound).get(first_word(&bound.array, index)..).unwrap_or_default();
            let size = usize::from(bound.array.size);
            let read = inside.iter().take(size).map(|word| word.load(Ordering::Relaxed));
            let end = dwords.len() + size;
            match self.swap {
                Endian::NONE => dwords.extend(read),
                swap => dwords.extend(read.map(|value| swap_dword(swap, value))),
            }
            dwords.resize(end, 0);
        }
    }

    /// Reads the vertices of some indices from arrays, and decodes them to the first vertices of a batch.
    pub(crate) fn load(&self, indices: &[u32], inputs: &mut InputColumns, dwords: &mut Vec<u32>) {
        let Some(places) = &self.places else {
            for (n, index) in indices.iter().enumerate() {
                self.gather(*index, dwords);
                self.store(dwords, n, inputs);
            }
            return;
        };
        for (element, place) in self.elements.iter().zip(places) {
            let bound = &self.arrays[place.array];
            let words = words(bound);
            let first = |index| first_word(&bound.array, index) + place.dword;
            let word = |n: usize| words.get(n).map_or(0, |word| word.load(Ordering::Relaxed));
            match element.floats() {
                Some(count) if self.swap == Endian::NONE => {
                    for channel in 0..4 {
                        if element.write >> channel & 1 == 0 {
                            continue;
                        }
                        let column = inputs.written_mut(element.location % INPUTS, channel);
                        let column = column.iter_mut().zip(indices);
                        match element.source(channel) {
                            ChannelSource::Component(component) if component < count => {
                                for (value, index) in column {
                                    *value = f32::from_bits(word(first(*index) + component));
                                }
                            }
                            ChannelSource::Component(component) => {
                                column.for_each(|(value, _)| *value = MISSING[component]);
                            }
                            ChannelSource::Constant(constant) => {
                                column.for_each(|(value, _)| *value = constant);
                            }
                        }
                    }
                }
                _ => {
                    for (n, index) in indices.iter().enumerate() {
                        let first = first(*index);
                        let mut dwords = [0; MOST_DWORDS];
                        for (n, dword) in dwords[..element.dwords()].iter_mut().enumerate() {
                            *dword = swap_dword(self.swap, word(first + n));
                        }
                        element.write(&dwords, |vector, channel, value| {
                            inputs.set(vector, channel, n, value);
                        });
                    }
                }
            }
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
            element.write(dwords.get(at..).unwrap_or_default(), &mut write);
            at += element.dwords() + element.skip;
        }
    }
}

/// Returns the dwords of an array's buffer; an array without a buffer reads as an empty one.
fn words(bound: &BoundArray) -> &[AtomicU32] {
    bound.binding.as_ref().map_or(&[], |binding| binding.buffer.words())
}

/// Returns the first dword of a vertex in the buffer of an array. As `Buffer::dword` reads: the lowest bits of the address are ignored; readers
/// take what is outside as 0.
fn first_word(array: &VertexArray, index: u32) -> usize {
    (array.offset as usize + index as usize * usize::from(array.stride) * 4) / 4
}

/// Returns the place of each element in the arrays; `None` if one is not in a single array.
fn places(elements: &[Element], arrays: &[BoundArray]) -> Option<Vec<Place>> {
    let mut at = 0;
    let place = |element: &Element| {
        let mut begin = 0;
        let range = at..at + element.dwords();
        at = range.end + element.skip;
        arrays.iter().enumerate().find_map(|(number, BoundArray { array, .. })| {
            let dword = range.start.checked_sub(begin)?;
            begin += usize::from(array.size);
            (range.end <= begin).then_some(Place { array: number, dword })
        })
    };
    elements.iter().map(place).collect()
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

/// What a channel of an input takes.
#[derive(Clone, Copy, Debug)]
enum ChannelSource {
    /// A component of the element.
    Component(usize),
    Constant(f32),
}

/// Values of missing components.
const MISSING: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Greatest number of dwords of an element.
const MOST_DWORDS: usize = 8;

impl Element {
    /// Returns the number of components, if they are one vector of floats.
    fn floats(&self) -> Option<usize> {
        match self.ty {
            DataType::FLOAT_1 | DataType::FLOAT_2 | DataType::FLOAT_3 | DataType::FLOAT_4 => {
                Some(usize::from(self.ty.code()) + 1)
            }
            _ => None,
        }
    }

    /// Returns the number of dwords of a vertex.
    fn dwords(&self) -> usize {
        match self.ty {
            DataType::FLOAT_8 => 8,
            DataType::SHORT_4 | DataType::FLT16_4 => 2,
            _ => self.floats().unwrap_or(1),
        }
    }

    fn source(&self, channel: usize) -> ChannelSource {
        match self.swizzle[channel] {
            StreamSwizzle::ZERO => ChannelSource::Constant(0.0),
            StreamSwizzle::ONE => ChannelSource::Constant(1.0),
            select => ChannelSource::Component(usize::from(select.code() & 3)),
        }
    }

    /// Decodes the dwords of a vertex from this element on, and passes the components that it writes: vector, component, value.
    fn write(&self, dwords: &[u32], mut write: impl FnMut(usize, usize, f32)) {
        for (n, vector) in self.decode(dwords).into_iter().flatten().enumerate() {
            let location = (self.location + n) % INPUTS;
            for channel in (0..4).filter(|channel| self.write >> channel & 1 != 0) {
                let value = match self.source(channel) {
                    ChannelSource::Component(component) => vector[component],
                    ChannelSource::Constant(constant) => constant,
                };
                write(location, channel, value);
            }
        }
    }

    /// Returns one or two vectors. Dwords beyond the vertex are 0.
    fn decode(&self, dwords: &[u32]) -> [Option<[f32; 4]>; 2] {
        let dword = |n: usize| dword_or_zero(dwords, n);
        let float = |n: usize| f32::from_bits(dword(n));
        let mut vector = MISSING;
        let mut second = None;
        match self.ty {
            DataType::FLOAT_8 => {
                vector = [0, 1, 2, 3].map(float);
                second = Some([4, 5, 6, 7].map(float));
            }
            DataType::BYTE => vector = [0, 8, 16, 24].map(|lo| self.integer(dword(0), lo, 8)),
            DataType::D3DCOLOR => vector = [16, 8, 0, 24].map(|lo| self.integer(dword(0), lo, 8)),
            DataType::SHORT_2 => {
                vector[..2].copy_from_slice(&[0, 16].map(|lo| self.integer(dword(0), lo, 16)));
            }
            DataType::SHORT_4 => {
                vector = [(0, 0), (0, 16), (1, 0), (1, 16)]
                    .map(|(n, lo)| self.integer(dword(n), lo, 16));
            }
            DataType::VECTOR_3_TTT => {
                vector[..3].copy_from_slice(&[0, 10, 20].map(|lo| self.integer(dword(0), lo, 10)));
            }
            DataType::VECTOR_3_EET => {
                let parts = [(0, 11), (11, 11), (22, 10)];
                vector[..3].copy_from_slice(&parts.map(|(lo, n)| self.integer(dword(0), lo, n)));
            }
            DataType::FLT16_2 => {
                vector[..2].copy_from_slice(&[0, 16].map(|lo| half16(dword(0), lo)));
            }
            DataType::FLT16_4 => {
                vector = [(0, 0), (0, 16), (1, 0), (1, 16)].map(|(n, lo)| half16(dword(n), lo));
            }
            // Reserved: as one float (open).
            _ => (0..self.floats().unwrap_or(1)).for_each(|n| vector[n] = float(n)),
        }
        [Some(vector), second]
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
    use std::sync::Arc;

    use arbtest::arbitrary::{Result, Unstructured};
    use r500_stream::{Binding, Buffer, BufferId, Tiling};

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
        element(ty, signed, normalize, SignedNorm::NO_ZERO).decode(dwords)[0].unwrap_or_default()
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
            let bytes = element(DataType::BYTE, true, true, method).decode(&[0x7f_00_80])[0];
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

    /// Returns a fetch of some elements from some arrays of a buffer.
    fn random_fetch(u: &mut Unstructured<'_>) -> Result<Fetch> {
        let mut fetch = Fetch::new(&State::default());
        fetch.elements.clear();
        for _ in 0..u.int_in_range(1..=4)? {
            let mut random = element(
                DataType::new(u.int_in_range(0..=15)?),
                u.arbitrary()?,
                u.arbitrary()?,
                SignedNorm::ZERO,
            );
            random.skip = u.int_in_range(0..=1)?;
            random.location = u.int_in_range(0..=15)?;
            random.write = u.int_in_range(0..=15)?;
            for select in &mut random.swizzle {
                *select = StreamSwizzle::new(u.int_in_range(0..=7)?);
            }
            fetch.elements.push(random);
        }
        let words: Vec<AtomicU32> = (0..64).map(|n: u32| (n * 0x0103_0507).into()).collect();
        let buffer = Buffer::new(BufferId(1), Arc::new(words));
        fetch.arrays.clear();
        for _ in 0..u.int_in_range(1..=3)? {
            let array = VertexArray {
                size: u.int_in_range(0..=9)?,
                stride: u.int_in_range(0..=12)?,
                offset: u.int_in_range(0..=70)?,
            };
            let bound = Binding { buffer: buffer.clone(), tiling: Tiling::default() };
            let binding = u.ratio(7, 8)?.then_some(bound);
            fetch.arrays.push(BoundArray { array, binding });
        }
        fetch.swap = Endian::new(u.int_in_range(0..=3)?);
        fetch.places = places(&fetch.elements, &fetch.arrays);
        Ok(fetch)
    }

    #[test]
    fn vertices_that_are_read_together_are_those_that_are_read_one_by_one() {
        let (mut together, mut one_by_one) = (0, 0);
        arbtest::arbtest(|u| {
            let fetch = random_fetch(u)?;
            let indices: Vec<u32> =
                (0..8).map(|_| u.int_in_range(0..=40)).collect::<Result<_>>()?;
            let mut columns = [InputColumns::default(), InputColumns::default()];
            columns.iter_mut().for_each(|columns| columns.begin(8, fetch.locations()));
            let [all, each] = &mut columns;
            let mut dwords = Vec::new();
            fetch.load(&indices, all, &mut dwords);
            for (n, index) in indices.iter().enumerate() {
                fetch.gather(*index, &mut dwords);
                fetch.store(&dwords, n, each);
                for vector in 0..INPUTS {
                    let bits = |of: &InputColumns| of.vector(vector, n).map(f32::to_bits);
                    assert_eq!(bits(all), bits(each), "vertex {n}, input {vector} of {fetch:?}");
                }
            }
            *(if fetch.places.is_some() { &mut together } else { &mut one_by_one }) += 1;
            Ok(())
        })
        .budget_ms(500);
        assert!(together > 0 && one_by_one > 0, "{together} and {one_by_one}");
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
