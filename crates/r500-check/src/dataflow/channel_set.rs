//! Bit sets of register channels: temporaries, predicate bits, the ALU result, outputs and depth.

use std::fmt;

use r500_isa::{TARGETS, TEMPORARIES};

/// One bit of state that an instruction may read or write: a channel of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelId {
    /// A channel (0 red to 3 alpha) of a temporary (0 to 127).
    Temp(u8, u8),
    /// A predicate bit: 0 R, 1 G, 2 B, 3 A.
    Predicate(u8),
    /// The ALU result.
    AluResult,
    /// A channel (0 red to 3 alpha) of a render target (0 A to 3 D).
    Output(u8, u8),
    /// The depth output.
    Depth,
}

const PREDICATES: usize = TEMPORARIES * 4;
const ALU_RESULT: usize = PREDICATES + 4;
const OUTPUTS: usize = ALU_RESULT + 1;
const DEPTH: usize = OUTPUTS + TARGETS * 4;
const WORDS: usize = DEPTH / 64 + 1;

impl ChannelId {
    /// Returns the bit index in a [`ChannelSet`].
    fn index(self) -> usize {
        match self {
            Self::Temp(temp, channel) => usize::from(temp & 0x7f) * 4 + usize::from(channel & 3),
            Self::Predicate(bit) => PREDICATES + usize::from(bit & 3),
            Self::AluResult => ALU_RESULT,
            Self::Output(target, channel) => {
                OUTPUTS + usize::from(target & 3) * 4 + usize::from(channel & 3)
            }
            Self::Depth => DEPTH,
        }
    }

    /// Returns the channel with a bit index.
    #[allow(clippy::cast_possible_truncation)] // indices are below 1024
    fn at(index: usize) -> Self {
        let pair = |n: usize| ((n / 4) as u8, (n % 4) as u8);
        match index {
            0..PREDICATES => {
                let (temp, channel) = pair(index);
                Self::Temp(temp, channel)
            }
            PREDICATES..ALU_RESULT => Self::Predicate((index - PREDICATES) as u8),
            ALU_RESULT => Self::AluResult,
            OUTPUTS..DEPTH => {
                let (target, channel) = pair(index - OUTPUTS);
                Self::Output(target, channel)
            }
            _ => Self::Depth,
        }
    }
}

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |channel: u8| char::from(b"rgba"[usize::from(channel & 3)]);
        match *self {
            Self::Temp(temp, channel) => write!(f, "temp[{temp}].{}", letter(channel)),
            Self::Predicate(bit) => write!(f, "predicate {}", letter(bit)),
            Self::AluResult => f.write_str("ALU result"),
            Self::Output(target, channel) => write!(f, "out[{target}].{}", letter(channel)),
            Self::Depth => f.write_str("depth"),
        }
    }
}

/// A set of channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChannelSet([u64; WORDS]);

impl ChannelSet {
    /// The empty set.
    pub const EMPTY: Self = Self([0; WORDS]);
    /// The set of all channels.
    pub const ALL: Self = Self([u64::MAX; WORDS]);

    /// Returns all outputs and depth: the results of a program.
    #[must_use]
    pub fn outputs() -> Self {
        let mut set = Self::EMPTY;
        for index in OUTPUTS..=DEPTH {
            set.0[index / 64] |= 1 << (index % 64);
        }
        set
    }

    /// Adds a channel.
    pub fn insert(&mut self, channel: ChannelId) {
        let index = channel.index();
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// Adds channels of a temporary, red in bit 0.
    #[inline]
    pub fn insert_temp(&mut self, temp: u8, mask: u8) {
        let index = usize::from(temp & 0x7f) * 4;
        self.0[index / 64] |= u64::from(mask & 15) << (index % 64);
    }

    /// Returns the channels of a temporary that are in the set, red in bit 0.
    #[inline]
    #[must_use]
    pub fn temp(&self, temp: u8) -> u8 {
        let index = usize::from(temp & 0x7f) * 4;
        (self.0[index / 64] >> (index % 64)) as u8 & 15
    }

    /// Returns the predicate bits that are in the set, R in bit 0.
    #[must_use]
    pub fn predicates(&self) -> u8 {
        (self.0[PREDICATES / 64] >> (PREDICATES % 64)) as u8 & 15
    }

    /// Returns whether a channel is in the set.
    #[must_use]
    pub fn contains(&self, channel: ChannelId) -> bool {
        let index = channel.index();
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Adds another set. Returns whether this set changed.
    #[inline]
    pub fn union(&mut self, other: &Self) -> bool {
        let mut grown = 0;
        for (word, more) in self.0.iter_mut().zip(other.0) {
            grown |= more & !*word;
            *word |= more;
        }
        grown != 0
    }

    /// Intersects with another set. Returns whether this set changed.
    #[inline]
    pub fn intersect(&mut self, other: &Self) -> bool {
        let mut lost = 0;
        for (word, kept) in self.0.iter_mut().zip(other.0) {
            lost |= *word & !kept;
            *word &= kept;
        }
        lost != 0
    }

    /// Removes the channels of another set.
    #[inline]
    pub fn subtract(&mut self, other: &Self) {
        for (word, gone) in self.0.iter_mut().zip(other.0) {
            *word &= !gone;
        }
    }

    /// Returns the difference of this set and another.
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        self.subtract(other);
        self
    }

    /// Returns whether the sets intersect.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    /// Returns the channels, temporaries first.
    pub fn iter(&self) -> impl Iterator<Item = ChannelId> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64 && i * 64 + bit <= DEPTH).then(|| ChannelId::at(i * 64 + bit))
            })
        })
    }
}

impl FromIterator<ChannelId> for ChannelSet {
    fn from_iter<I: IntoIterator<Item = ChannelId>>(channels: I) -> Self {
        let mut set = Self::EMPTY;
        channels.into_iter().for_each(|channel| set.insert(channel));
        set
    }
}

impl fmt::Debug for ChannelSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|c| c.to_string())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_has_a_unique_index() {
        let mut all: Vec<ChannelId> =
            (0..128).flat_map(|t| (0..4).map(move |c| ChannelId::Temp(t, c))).collect();
        all.extend((0..4).map(ChannelId::Predicate));
        all.push(ChannelId::AluResult);
        all.extend((0..4).flat_map(|t| (0..4).map(move |c| ChannelId::Output(t, c))));
        all.push(ChannelId::Depth);
        for (i, &channel) in all.iter().enumerate() {
            assert_eq!(channel.index(), i);
            assert_eq!(ChannelId::at(i), channel);
        }
        let set: ChannelSet = all.iter().copied().collect();
        assert!(set.iter().eq(all.iter().copied()));
    }

    #[test]
    fn insert_temp_sets_only_its_channels() {
        let mut set = ChannelSet::EMPTY;
        set.insert_temp(127, 0b1010);
        assert_eq!((set.temp(127), set.temp(126), set.predicates()), (0b1010, 0, 0));
        assert!(set.contains(ChannelId::Temp(127, 3)) && !set.contains(ChannelId::Temp(127, 0)));
        assert!(!set.union(&set.clone()) && set.intersect(&ChannelSet::EMPTY) && set.is_empty());
    }
}
