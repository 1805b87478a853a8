//! What the channels of a texture have in common: grey has one three times, and alpha is often 1.

/// What a channel holds, in all texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelSource {
    /// The bits of this channel: of itself, or of an earlier one that says the same of itself.
    Of(u8),
    /// The same bits everywhere: of a finite number, not -0, so that any bilerp is that number, too.
    Constant(u32),
}

impl ChannelSource {
    /// Nothing in common.
    pub(super) const DISTINCT: [Self; 4] = [Self::Of(0), Self::Of(1), Self::Of(2), Self::Of(3)];

    /// Those of texels.
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
        // Zeros of either sign are other bits; a bilerp of -0 with itself is +0.
        let zeros = [[0.0, -0.0, -0.0, f32::NAN], [1.0, 1.0, -0.0, f32::NAN]];
        assert_eq!(ChannelSource::of(&zeros), ChannelSource::DISTINCT);
    }
}
