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
        let alike = |c: usize, d: usize| texels.iter().all(|x| x[c].to_bits() == x[d].to_bits());
        let constant = |c: usize| {
            let first = texels.first()?[c];
            let mixes = first.is_finite() && first.to_bits() != (-0.0_f32).to_bits();
            let same = |x: &[f32; 4]| x[c].to_bits() == first.to_bits();
            (mixes && texels.iter().all(same)).then_some(Self::Constant(first.to_bits()))
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
