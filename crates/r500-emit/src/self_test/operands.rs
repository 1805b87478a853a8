//! The operands of the self-test's cases.

/// The number of cases of an operation.
pub(super) const CASES: usize = 64;

/// The bits of three operands.
pub(super) type Case = [u32; 3];

/// Which operands an operation gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Special numbers, then any bits.
    Any,
    /// Products with sums in which a fused operation differs, then [`Kind::Any`].
    Sums,
    /// Special numbers, then numbers of moderate size.
    Moderate,
}

/// Numbers at which hosts differ: zeros, denormals, the smallest and the largest normal number, infinities, NaN, ties of roundings.
const SPECIAL: [u32; 20] = [
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0x4b40_0000,
    0x3eaa_aaab,
];

/// A generator of numbers: the same ones on every machine.
struct Numbers(u32);

impl Numbers {
    /// Xorshift of 32 bits.
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Returns a number from 2^-4 to 2^4 of either sign.
    fn moderate(&mut self) -> u32 {
        let bits = self.next();
        (bits & 0x807f_ffff) | (123 + (bits >> 23 & 7)) << 23
    }
}

/// Returns the cases of an operation.
pub(super) fn cases(kind: Kind) -> impl Iterator<Item = Case> {
    let mut numbers = Numbers(0x2545_f491);
    (0..CASES).map(move |n| match kind {
        Kind::Sums if n >= CASES / 2 => {
            let (a, b) = (numbers.moderate(), numbers.moderate());
            // The product, so that the sum is the error of its rounding: 0 unless it is fused.
            let product = f32::from_bits(a) * f32::from_bits(b);
            [a, b, (-product).to_bits()]
        }
        // Pairs of special numbers: the second ones in another order.
        _ if n < 2 * SPECIAL.len() => {
            let second = 7 * n + n / SPECIAL.len();
            let third = 3 * n + 1;
            [n, second, third].map(|n| SPECIAL[n % SPECIAL.len()])
        }
        Kind::Moderate => std::array::from_fn(|_| numbers.moderate()),
        _ => std::array::from_fn(|_| numbers.next()),
    })
}
