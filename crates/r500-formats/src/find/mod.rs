//! Programs in any bytes: a core file, a ROM, a driver, a texture.
//!
//! [`Finder`] takes bytes piece by piece and returns what looks like a fragment or a vertex program, in either byte order, at offsets that
//! are a multiple of 4, or of less ([`Alignment`]). It reads every byte once and keeps only what it has found.
//!
//! The score of a program is the number of bits that it saves to describe the bytes as a program instead of as ordinary data:
//!
//! - A program is described field by field (`code_length.rs`). Each field has a code whose lengths sum to at most 1 (Kraft), so that among
//!   uniformly random bytes a given offset has a score of at least `n` with a probability of at most 2^-n.
//! - Ordinary data (`background.rs`) takes 32 bits a dword; less for zeros, small numbers, repetitions, text, and for numbers near an
//!   earlier one. Structured data gains nothing by its regularity.
//!
//! What no program does ends a run of instructions: reserved codes, bits that belong to no field, an instruction without an effect, a read of
//! a register that nothing has set. A fragment program ends with an output or the flag `LAST`, a vertex program with a write of an
//! output; it writes the position and reads an input. Two programs without a gap between them, and without that flag, are one.

mod background;
mod code_length;
mod fragment;
mod run;
mod vertex;

use std::sync::LazyLock;

use self::fragment::Fragment;
use self::run::{Language, Runs};
use self::vertex::Vertex;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundKind {
    /// A fragment program: six dwords an instruction.
    Fragment,
    /// A vertex program: four dwords an instruction.
    Vertex,
}

impl FoundKind {
    /// Its name: `fragment` or `vertex`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fragment => "fragment",
            Self::Vertex => "vertex",
        }
    }

    /// Dwords of an instruction.
    #[must_use]
    pub fn instruction_dwords(self) -> usize {
        match self {
            Self::Fragment => Fragment::DWORDS,
            Self::Vertex => Vertex::DWORDS,
        }
    }
}

/// A program that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its first byte.
    pub offset: u64,
    /// What it is.
    pub kind: FoundKind,
    /// Whether its dwords have the highest byte first.
    pub is_big_endian: bool,
    /// Its dwords, as the chip takes them.
    pub dwords: Vec<u32>,
    /// Bits that the description as a program saves.
    pub score: u32,
}

impl Found {
    /// Returns the number of instructions.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.dwords.len() / self.kind.instruction_dwords()
    }

    /// Returns the offset after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + self.dwords.len() as u64 * 4
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The programs, by offset. None overlaps another one: the one with the higher score stays.
    pub programs: Vec<Found>,
    /// Whether there were more programs than [`Finder::MOST`], which are not here.
    pub is_cut: bool,
}

/// Limits and choices of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindOptions {
    /// The least score.
    pub least_score: u32,
    /// The offsets at which programs are searched.
    pub alignment: Alignment,
}

/// Of what the offsets of programs are a multiple. Fewer bytes take longer in proportion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// 4 bytes, as programs are in memory.
    #[default]
    Dword,
    /// 2 bytes.
    Word,
    /// Any offset: archives, packets of networks.
    Byte,
}

impl Alignment {
    /// Returns its bytes: 4, 2 or 1.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Dword => 4,
            Self::Word => 2,
            Self::Byte => 1,
        }
    }
}

impl FindOptions {
    /// The usual least score; the guide has its recall and precision.
    pub const LEAST_SCORE: u32 = 90;
}

impl Default for FindOptions {
    fn default() -> Self {
        Self { least_score: Self::LEAST_SCORE, alignment: Alignment::Dword }
    }
}

/// A search, which takes bytes piece by piece.
///
/// ```
/// use r500_formats::{FindOptions, Finder};
///
/// let mut finder = Finder::new(FindOptions::default());
/// finder.feed(&[0; 1000]);
/// finder.feed(b"text, and numbers");
/// assert!(finder.finish().programs.is_empty());
/// ```
#[derive(Debug)]
pub struct Finder {
    searches: Vec<Search>,
}

/// The search at offsets with one remainder of 4.
#[derive(Debug)]
struct Search {
    /// The remainder.
    first: u64,
    /// Bytes before the first dword that have not come yet.
    skip: usize,
    /// Bytes of a dword that is not complete.
    rest: Vec<u8>,
    orders: [Order; 2],
}

/// The search in one byte order.
#[derive(Debug)]
struct Order {
    is_big_endian: bool,
    /// The dwords that are searched, and the number of the first of them.
    words: Vec<u32>,
    base: u64,
    fragments: Runs<Fragment>,
    vertices: Runs<Vertex>,
}

impl Finder {
    /// Programs that are kept at most.
    pub const MOST: usize = 1 << 16;

    /// Begins a search.
    #[must_use]
    pub fn new(options: FindOptions) -> Self {
        let firsts = (0..4).step_by(options.alignment.bytes());
        Self { searches: firsts.map(|first| Search::new(first, options.least_score)).collect() }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        for search in &mut self.searches {
            search.feed(bytes);
        }
    }

    /// Ends the search.
    #[must_use]
    pub fn finish(self) -> Findings {
        let mut all = Vec::new();
        let mut is_cut = false;
        let orders = self.searches.into_iter().flat_map(|search| {
            let first = search.first;
            search.orders.into_iter().map(move |order| (first, order))
        });
        for (remainder, order) in orders {
            let Order { is_big_endian, fragments, vertices, .. } = order;
            let found = |kind| {
                move |(first, dwords, score): (u64, Vec<u32>, u32)| Found {
                    offset: remainder + first * 4,
                    kind,
                    is_big_endian,
                    dwords,
                    score,
                }
            };
            let (list, cut) = fragments.finish();
            all.extend(list.into_iter().map(found(FoundKind::Fragment)));
            is_cut |= cut;
            let (list, cut) = vertices.finish();
            all.extend(list.into_iter().map(found(FoundKind::Vertex)));
            is_cut |= cut;
        }
        let mut programs = without_overlaps(all);
        is_cut |= programs.len() > Self::MOST;
        programs.truncate(Self::MOST);
        Findings { programs, is_cut }
    }
}

impl Search {
    /// Bytes of a window.
    const WINDOW: usize = 1 << 14;

    fn new(first: usize, least_score: u32) -> Self {
        let order = |is_big_endian| Order {
            is_big_endian,
            words: Vec::new(),
            base: 0,
            fragments: Runs::new(least_score),
            vertices: Runs::new(least_score),
        };
        let orders = [order(false), order(true)];
        Self { first: first as u64, skip: first, rest: Vec::new(), orders }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        let bytes = &bytes[skipped..];
        let needed = (4 - self.rest.len()) % 4;
        let (first, bytes) = bytes.split_at(needed.min(bytes.len()));
        self.rest.extend_from_slice(first);
        if let Some(word) = self.rest.first_chunk::<4>().copied() {
            self.words(&[word]);
            self.rest.clear();
        }
        let (words, rest) = bytes.as_chunks::<4>();
        words.chunks(Self::WINDOW / 4).for_each(|words| self.words(words));
        self.rest.extend_from_slice(rest);
    }

    fn words(&mut self, bytes: &[[u8; 4]]) {
        for order in &mut self.orders {
            let value = match order.is_big_endian {
                false => |bytes: &[u8; 4]| u32::from_le_bytes(*bytes),
                true => |bytes: &[u8; 4]| u32::from_be_bytes(*bytes),
            };
            order.words.extend(bytes.iter().map(value));
            let needed = order.fragments.window(&order.words, order.base);
            let needed = needed.min(order.vertices.window(&order.words, order.base));
            order.words.drain(..(needed - order.base) as usize);
            order.base = needed;
        }
    }
}

/// Returns those that overlap none with a higher score, by offset.
fn without_overlaps(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|found| (std::cmp::Reverse(found.score), found.offset));
    let mut kept = std::collections::BTreeMap::<u64, Found>::new();
    for found in all {
        let before = kept.range(..found.end()).next_back();
        if before.is_none_or(|(_, other)| other.end() <= found.offset) {
            kept.insert(found.offset, found);
        }
    }
    kept.into_values().collect()
}

/// The code lengths of all words, computed once.
static MODEL: LazyLock<code_length::Model> = LazyLock::new(code_length::Model::new);

#[cfg(test)]
mod tests;
