//! What is known of a number without computing it, as far as denormals go.
//!
//! WebAssembly keeps denormals, the law has none: it takes a denormal operand for zero and makes zero
//! of a tiny result. As long as nothing tiny turns up, both compute the same, so code
//! [watches](super::watch) for tiny values. Most need no watching, for reasons that these facts carry.
//!
//! Two sizes matter. A sum with something that is zero or large enough swallows what is tiny; and
//! floats are multiples of powers of two, so that a sum of multiples of 2^-125 is one too: not tiny.

use r500_fast::codegen::{LinearInterpolant, TextureDesc};

use crate::lir::{GatherChannel, LoadTexel, Opcode};

/// Sizes as exponents: of the smallest denormal, of the smallest normal number, and of a number next to
/// which the tiny ones, up to 2^-126, are less than half of what tells neighbours apart: of 2^-100 that
/// is 2^-125 (the smaller neighbours, half as far apart, are counted).
const DENORMAL: i32 = -149;
const NORMAL: i32 = -126;
const LARGE: i32 = -100;
/// Multiples of this that are not zero are larger than anything tiny, 2^-126 included.
const ULP_EXPONENT: i32 = -125;

/// What a value is watched for: zero, or at least so large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Size {
    /// Larger than anything tiny.
    Number,
    /// So large that it swallows what is tiny, and multiples of what sums may be of.
    Large,
}

impl Size {
    /// The exponent of the least such number.
    pub(super) fn least(self) -> i32 {
        match self {
            Self::Number => ULP_EXPONENT,
            Self::Large => LARGE,
        }
    }
}

/// A size that no number has: what is known of zero, infinity and NaN.
const NONE: i32 = 1000;
/// Bits of a fraction.
const FRACTION: i32 = 23;

/// Facts about a value, in every pixel. What they say of sizes is said of numbers other than zero that are
/// not infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FpFact {
    /// The bits are the law's. If not: where the law has a zero of either sign, there may be something of
    /// at most 2^-126 in size instead; and nothing else is different.
    pub(super) exact: bool,
    /// It is at least 2^this in size, if exact.
    pub(super) least: i32,
    /// It is a multiple of 2^this, if exact.
    pub(super) ulp_exponent: i32,
    /// It is less than 2^this in size.
    pub(super) most: i32,
    /// It is not below zero.
    pub(super) positive: bool,
    /// It comes from a power, and so may well be tiny: rather watch another one.
    pub(super) may_underflow: bool,
    /// The one nonzero constant that it is everywhere.
    pub(super) constant: Option<u32>,
}

impl FpFact {
    /// Any bits.
    pub(super) const BITS: Self = Self {
        exact: true,
        least: DENORMAL,
        ulp_exponent: DENORMAL,
        most: 128,
        positive: false,
        may_underflow: false,
        constant: None,
    };

    /// What branches and passes hand on: not tiny, and sums of it are not.
    pub(super) const KEPT: Self =
        Self { least: ULP_EXPONENT, ulp_exponent: ULP_EXPONENT, ..Self::BITS };

    /// A power: zero, or at least 2^this.
    pub(super) fn power(least: i32) -> Self {
        Self { least, positive: true, may_underflow: least <= NORMAL, ..Self::BITS }.tidied()
    }

    /// A texel of most textures. With these and shares of 2^-25, as those of a coordinate are, a linear
    /// filter is large all the way, as `sum` and `product` find: 2^-72 along S, 2^-97 along T.
    pub(super) const TEXEL: Self =
        Self { least: -TextureDesc::GRID, ulp_exponent: -TextureDesc::GRID, ..Self::BITS };

    /// An interpolated input, which is large.
    pub(super) const INTERPOLANT: Self = Self {
        least: -LinearInterpolant::GRID,
        ulp_exponent: -LinearInterpolant::GRID,
        ..Self::BITS
    };

    /// The same bits everywhere.
    pub(super) fn of(bits: u32) -> Self {
        let (exponent, fraction) = ((bits >> 23 & 0xff).cast_signed(), bits & 0x7f_ffff);
        let positive = bits >> 31 == 0;
        let fact = Self { positive, constant: (bits << 1 != 0).then_some(bits), ..Self::BITS };
        match exponent {
            0 if fraction != 0 => fact,
            0 => Self { least: NONE, ulp_exponent: NONE, most: -NONE, ..fact },
            255 => Self { least: NONE, ulp_exponent: NONE, ..fact },
            _ => {
                let size = exponent - 127;
                let zeros = (fraction | 1 << FRACTION).trailing_zeros().cast_signed();
                Self { least: size, ulp_exponent: size - FRACTION + zeros, most: size + 1, ..fact }
            }
        }
    }

    /// Bits of the reference semantics that are not a denormal: good for any operation.
    pub(super) fn is_number(self) -> bool {
        self.exact && self.least >= NORMAL
    }

    /// Zero, or so large that it swallows what is tiny.
    pub(super) fn is_large(self) -> bool {
        self.exact && self.least >= LARGE
    }

    /// Good for branches and passes, and for sums with its like.
    pub(super) fn is_kept(self) -> bool {
        self.exact && self.ulp_exponent >= ULP_EXPONENT
    }

    /// A number that is not zero anywhere and larger than anything tiny: comparing with it does not tell
    /// what is tiny from zero.
    fn decides(self) -> bool {
        self.constant.is_some() && self.least >= ULP_EXPONENT
    }

    /// After it was found to be of a size.
    pub(super) fn watched(self, size: Size) -> Self {
        Self { exact: true, least: self.least.max(size.least()), ..self }.tidied()
    }

    /// A multiple is at least as large, and what is large a multiple.
    fn tidied(self) -> Self {
        if !self.exact {
            return Self { least: DENORMAL, ulp_exponent: DENORMAL, ..self };
        }
        let least = self.least.max(self.ulp_exponent);
        Self { least, ulp_exponent: self.ulp_exponent.max(least - FRACTION), ..self }
    }

    /// One or the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            exact: self.exact && other.exact,
            least: self.least.min(other.least),
            ulp_exponent: self.ulp_exponent.min(other.ulp_exponent),
            most: self.most.max(other.most),
            positive: self.positive && other.positive,
            may_underflow: self.may_underflow || other.may_underflow,
            constant: None,
        }
        .tidied()
    }

    /// With another sign.
    fn signed(self, positive: bool) -> Self {
        Self { positive, constant: None, ..self }
    }
}

/// What has to be watched before more can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// An argument, by its number.
    Argument(usize, Size),
    /// The result, for being large; everything is fine then.
    Result,
}

/// The fact about a result; or what to watch first.
///
/// Of values that are not exact the law has zeros. What makes use of one here either gives what it gives
/// for zero, or something that is not exact in the same sense.
pub(super) fn of_result(opcode: Opcode, args: &[FpFact]) -> Result<FpFact, Watch> {
    let [a, b, c] = [0, 1, 2].map(|n| args.get(n).copied().unwrap_or(FpFact::BITS));
    match opcode {
        Opcode::Add => sum(a, b, a.positive && b.positive),
        Opcode::Sub => sum(a, b, false),
        Opcode::Mul => product([(0, a), (1, b)]),
        // What is kept is the product, or zero.
        Opcode::MaskedMul => product([(1, b), (2, c)]),
        Opcode::Div => {
            numbers([(0, a), (1, b)])?;
            let least = a.least - b.most;
            let positive = a.positive && b.positive;
            // A quotient that is tiny by itself is zero for the law: it may stay.
            Ok(FpFact { exact: least >= NORMAL, least, positive, ..FpFact::BITS }.tidied())
        }
        Opcode::Min | Opcode::Max => pick(opcode, a, b),
        Opcode::Sqrt => {
            numbers([(0, a), (0, a)])?;
            let least = a.least.div_euclid(2);
            Ok(FpFact { least, most: 64, positive: true, ..FpFact::BITS }.tidied())
        }
        Opcode::Round(_) => {
            numbers([(0, a), (0, a)])?;
            Ok(FpFact { ulp_exponent: 0, positive: a.positive, ..FpFact::BITS }.tidied())
        }
        Opcode::ToFloat => {
            same_bits(&[a])?;
            Ok(FpFact { ulp_exponent: 0, most: 32, ..FpFact::BITS }.tidied())
        }
        Opcode::Cmp(_) => {
            comparable(a, b)?;
            Ok(FpFact::KEPT)
        }
        Opcode::Copy | Opcode::QuadBroadcast(_) => Ok(a),
        Opcode::MaskedMove => Ok(b.or(FpFact::of(0))),
        Opcode::Blend => Ok(b.or(c)),
        Opcode::And => match (a.constant, b.constant) {
            (Some(REST), _) => Ok(b.signed(true)),
            (_, Some(REST)) => Ok(a.signed(true)),
            _ => {
                same_bits(&[a, b])?;
                let sign = is_sign(a) || is_sign(b);
                Ok(if sign { FpFact::of(0).signed(false) } else { FpFact::BITS })
            }
        },
        // With a sign, or with nothing.
        Opcode::Or | Opcode::Xor if is_sign(b) => Ok(a.signed(false)),
        Opcode::Or | Opcode::Xor if is_sign(a) => Ok(b.signed(false)),
        Opcode::Or | Opcode::Xor | Opcode::AndNot | Opcode::IntAdd | Opcode::IntSub => {
            same_bits(&[a, b])?;
            Ok(FpFact::BITS)
        }
        Opcode::Shl(_)
        | Opcode::Sar(_)
        | Opcode::Truncate(_)
        | Opcode::FloorToInt
        | Opcode::Remainder => {
            same_bits(&[a])?;
            Ok(FpFact::BITS)
        }
        Opcode::LoadTexel(LoadTexel { tiny, .. })
        | Opcode::GatherChannel(GatherChannel { tiny, .. }) => {
            same_bits(&[a])?;
            Ok(if tiny { FpFact::BITS } else { FpFact::TEXEL })
        }
        Opcode::IntMin
        | Opcode::IntMul
        | Opcode::FixUp
        | Opcode::Scale
        | Opcode::UnpackLo32
        | Opcode::UnpackHi32
        | Opcode::UnpackLo64
        | Opcode::UnpackHi64
        | Opcode::Permute128Lo
        | Opcode::Permute128Hi
        | Opcode::Permute2Lo
        | Opcode::Permute2Hi => {
            same_bits(&[a, b])?;
            Ok(FpFact::BITS)
        }
        Opcode::Store(..) | Opcode::StoreCoverage(_) => {
            same_bits(&[a])?;
            Ok(a)
        }
        Opcode::StoreColor(_) => {
            same_bits(&[a, b])?;
            Ok(a)
        }
        Opcode::Interpolant(_) => Ok(FpFact::INTERPOLANT),
        Opcode::MaskAnd
        | Opcode::MaskOr
        | Opcode::MaskAndNot
        | Opcode::MaskAll
        | Opcode::MaskNone
        | Opcode::ToMask
        | Opcode::FromMask
        | Opcode::LoadCoverage(_)
        | Opcode::CountFuel(_) => Ok(FpFact::KEPT),
        // Refused by the emitter.
        Opcode::Tabulated(_)
        | Opcode::Lookup(_)
        | Opcode::MulAdd
        | Opcode::ToHalf
        | Opcode::PermuteQuads
        | Opcode::Narrow(_)
        | Opcode::LoadPixels(_)
        | Opcode::StorePixels(_) => Ok(FpFact::BITS),
    }
}

/// All but the sign.
const REST: u32 = 0x7fff_ffff;

/// Whether it is a zero of either sign.
fn is_sign(fact: FpFact) -> bool {
    fact.exact && fact.most == -NONE && fact.constant.is_none()
}

fn numbers(args: [(usize, FpFact); 2]) -> Result<(), Watch> {
    match args.into_iter().find(|(_, fact)| !fact.is_number()) {
        Some((n, _)) => Err(Watch::Argument(n, Size::Number)),
        None => Ok(()),
    }
}

fn same_bits(args: &[FpFact]) -> Result<(), Watch> {
    match args.iter().position(|fact| !fact.exact) {
        Some(n) => Err(Watch::Argument(n, Size::Number)),
        None => Ok(()),
    }
}

fn comparable(a: FpFact, b: FpFact) -> Result<(), Watch> {
    if a.decides() || b.decides() { Ok(()) } else { numbers([(0, a), (1, b)]) }
}

fn pick(opcode: Opcode, a: FpFact, b: FpFact) -> Result<FpFact, Watch> {
    let exact = a.is_number() && b.is_number();
    // The larger one of something tiny and +0 is either; the law has +0.
    if opcode == Opcode::Max && b == FpFact::of(0) {
        return Ok(FpFact { exact, positive: true, constant: None, ..a }.tidied());
    }
    comparable(a, b)?;
    Ok(FpFact { exact, ..a.or(b) }.tidied())
}

/// A product is tiny for the law if it is after rounding with an exponent of any size: then what is
/// computed is at most 2^-126, to which it may have been rounded. So it is not exact, and may stay.
fn product(args: [(usize, FpFact); 2]) -> Result<FpFact, Watch> {
    numbers(args)?;
    let [(_, a), (_, b)] = args;
    let least = a.least.saturating_add(b.least).min(NONE);
    let most = a.most.saturating_add(b.most).clamp(-NONE + 1, 128);
    let ulp_exponent = a.ulp_exponent.saturating_add(b.ulp_exponent).clamp(DENORMAL, NONE);
    let (positive, may_underflow) = (a.positive && b.positive, a.may_underflow || b.may_underflow);
    let exact = least >= NORMAL;
    Ok(FpFact { exact, least, ulp_exponent, most, positive, may_underflow, constant: None }
        .tidied())
}

fn sum(a: FpFact, b: FpFact, positive: bool) -> Result<FpFact, Watch> {
    let most = a.most.max(b.most).saturating_add(1).clamp(-NONE + 1, 128);
    let fact = FpFact {
        most,
        positive,
        may_underflow: a.may_underflow && b.may_underflow,
        ..FpFact::BITS
    };
    for (x, y) in [(a, b), (b, a)] {
        if !y.is_large() {
            continue;
        }
        // Say y is at least 2^n. If x is less than half of that, so much at least is left. If it is
        // more, both are multiples of 2^(n - 24), and so is the sum: not tiny, as n is -100 or more. If
        // x is tiny, the sum is y, or if y is zero, x.
        let rest = y.least.min(NONE) - FRACTION - 1;
        if y.constant.is_some() {
            let ulp_exponent =
                rest.max(if x.exact { x.ulp_exponent.min(y.ulp_exponent) } else { DENORMAL });
            return Ok(FpFact { least: rest, ulp_exponent, ..fact }.tidied());
        }
        if x.is_number() {
            let (least, ulp_exponent) = (x.least.min(rest), x.ulp_exponent.min(y.ulp_exponent));
            return Ok(FpFact { least, ulp_exponent, ..fact }.tidied());
        }
        // A fraction and its like: its result is guarded, and so is x.
        if y.ulp_exponent >= -30 {
            continue;
        }
        return Ok(FpFact { exact: false, ..fact }.tidied());
    }
    if a.is_kept() && b.is_kept() {
        return Ok(FpFact { ulp_exponent: a.ulp_exponent.min(b.ulp_exponent), ..fact }.tidied());
    }
    // Squares and such: if the sum is at least 2^-100, the larger one is at least half of that, and
    // what is tiny of the other was swallowed; if the sum is zero, so are both.
    if positive {
        return Err(Watch::Result);
    }
    Err(Watch::Argument(worse(a, b), Size::Large))
}

/// Which one of two to watch: one that it is needed for, and rather what is cheap.
fn worse(a: FpFact, b: FpFact) -> usize {
    match (a.is_large(), b.is_large()) {
        (true, _) => 1,
        (_, true) => 0,
        _ => match (a.is_kept(), b.is_kept()) {
            (true, false) => 1,
            (false, true) => 0,
            _ if a.may_underflow != b.may_underflow => usize::from(a.may_underflow),
            _ => usize::from(b.positive && !a.positive),
        },
    }
}
