//! Redundant channels: in a grey texture red, green and blue are equal; alpha is often constant 1.

/// The source of a channel, the same for all texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelSource {
    /// The bits of this channel: the channel itself, or an earlier one whose source is itself.
    Of(u8),
    /// The same bits in every texel: a finite number other than -0, so that filtering returns that number.
    Constant(u32),
}

impl ChannelSource {
    /// Four distinct channels.
    pub(super) const DISTINCT: [Self; 4] = [Self::Of(0), Self::Of(1), Self::Of(2), Self::Of(3)];

    /// Returns the sources of the channels of texels.
    pub(super) fn of(texels: &[[f32; 4]]) -> [Self; 4] {
        let Some(first) = texels.first().map(|first| first.map(f32::to_bits)) else {
            return Self::DISTINCT;
        };
        // The bits in which channels differ from those of the first texel, and from each other.
        let (mut changes, mut differs) = ([0_u32; 4], [[0_u32; 4]; 3]);
        for block in texels.chunks(1024) {
            for texel in block {
                let texel = texel.map(f32::to_bits);
                for c in 0..4 {
                    changes[c] |= texel[c] ^ first[c];
                    for (d, differs) in differs.iter_mut().enumerate() {
                        differs[c] |= texel[c] ^ texel[d];
                    }
                }
            }
            let distinct = |c: usize| changes[c] != 0 && (0..c).all(|d| differs[d][c] != 0);
            if (0..4).all(distinct) {
                return Self::DISTINCT;
            }
        }
        let alike = |c: usize, d: usize| differs[d][c] == 0;
        let constant = |c: usize| {
            let value = f32::from_bits(first[c]);
            let mixes = value.is_finite() && first[c] != (-0.0_f32).to_bits();
            (mixes && changes[c] == 0).then_some(Self::Constant(first[c]))
        };
        let mut channels = Self::DISTINCT;
        for c in 0..4 {
            let earlier = (0..c).find(|d| channels[*d] == Self::DISTINCT[*d] && alike(c, *d));
            channels[c] = constant(c).unwrap_or(Self::DISTINCT[earlier.unwrap_or(c)]);
        }
        channels
    }
}

#[cfg(test)]
mod tests {
    use super::ChannelSource::{self, Constant, Of};

    #[test]
    fn channels_are_compared_bit_for_bit() {
        let [half, one] = [0.5_f32, 1.0].map(|x| Constant(x.to_bits()));
        let grey = [[0.5, 0.5, 0.5, 1.0], [0.25, 0.25, 0.25, 1.0]];
        assert_eq!(ChannelSource::of(&grey), [Of(0), Of(0), Of(0), one]);
        let partly = [[0.5, 0.5, 0.0, 0.0], [0.25, 0.5, 0.25, 0.0]];
        assert_eq!(ChannelSource::of(&partly), [Of(0), half, Of(2), Constant(0)]);
        // +0 and -0 differ in bits; interpolating between -0 and -0 gives +0.
        let zeros = [[0.0, -0.0, -0.0, f32::NAN], [1.0, 1.0, -0.0, f32::NAN]];
        assert_eq!(ChannelSource::of(&zeros), ChannelSource::DISTINCT);
    }
}
