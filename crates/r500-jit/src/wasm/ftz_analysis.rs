//! Flush-to-zero analysis: proves which values cannot be subnormal, so that WebAssembly computes the reference's bits.
//!
//! WebAssembly keeps subnormals; the reference semantics flush subnormal operands and tiny results to zero. As long as no tiny value
//! occurs, both compute the same. So code [guards](super::guards) values against being tiny. These facts show that most values need no
//! guard.
//!
//! Two magnitudes matter. A sum with an operand that is zero or large enough absorbs a tiny operand. And floats are multiples of powers of
//! two: a sum of multiples of 2^-125 is such a multiple, too, so it is not tiny.

use r500_fast::codegen::{LinearInterpolant, TextureDesc};

use r500_lir::{GatherChannel, LoadTexel, Opcode};

/// Exponents: of the smallest subnormal, of the smallest normal number, and of numbers that absorb tiny operands: next to 2^-100, floats
/// are 2^-124 apart below it, so a number up to 2^-126 is less than half the distance of neighbours.
const DENORMAL: i32 = -149;
const NORMAL: i32 = -126;
const LARGE: i32 = -100;
/// Non-zero multiples of 2^this are larger than any tiny number, 2^-126 included.
const ULP_EXPONENT: i32 = -125;

/// What a guard requires: the value is zero, or at least this large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Size {
    /// Larger than any tiny number.
    Number,
    /// So large that it absorbs tiny operands, and a multiple of what sums may consist of.
    Large,
}

impl Size {
    /// Returns the exponent of the smallest such number.
    pub(super) fn least(self) -> i32 {
        match self {
            Self::Number => ULP_EXPONENT,
            Self::Large => LARGE,
        }
    }
}

/// An exponent that no number has, for zero, infinity and NaN.
const NONE: i32 = 1000;
/// Bits of the fraction.
const FRACTION: i32 = 23;

/// Facts about a value, in all lanes. Bounds of magnitudes hold for finite numbers other than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FpFact {
    /// The bits are the reference's. Otherwise: where the reference has a zero of either sign, the value may be any number of magnitude at
    /// most 2^-126, and is the same everywhere else.
    pub(super) exact: bool,
    /// The magnitude is at least 2^this, if exact.
    pub(super) least: i32,
    /// The value is a multiple of 2^this, if exact.
    pub(super) ulp_exponent: i32,
    /// The magnitude is less than 2^this.
    pub(super) most: i32,
    /// The value is not negative.
    pub(super) positive: bool,
    /// The value derives from a power of two and may well be tiny: guard another value if possible.
    pub(super) may_underflow: bool,
    /// The non-zero constant that the value is.
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

    /// Phis and loop parameters: not tiny, and sums of them are not.
    pub(super) const KEPT: Self =
        Self { least: ULP_EXPONENT, ulp_exponent: ULP_EXPONENT, ..Self::BITS };

    /// Returns the fact of a power: zero, or at least 2^`least`.
    pub(super) fn power(least: i32) -> Self {
        Self { least, positive: true, may_underflow: least <= NORMAL, ..Self::BITS }.tidied()
    }

    /// A texel of most textures. With texels and weights that are multiples of 2^-25, as those of coordinates are, all steps of a linear
    /// filter are large, as `sum` and `product` derive: 2^-72 along S, 2^-97 along T.
    pub(super) const TEXEL: Self =
        Self { least: -TextureDesc::GRID, ulp_exponent: -TextureDesc::GRID, ..Self::BITS };

    /// An interpolated input, which is large.
    pub(super) const INTERPOLANT: Self = Self {
        least: -LinearInterpolant::GRID,
        ulp_exponent: -LinearInterpolant::GRID,
        ..Self::BITS
    };

    /// Returns the fact of a constant.
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

    /// Returns whether the value is exact and not subnormal: valid as an operand of any operation.
    pub(super) fn is_number(self) -> bool {
        self.exact && self.least >= NORMAL
    }

    /// Returns whether the value is zero, or so large that it absorbs tiny operands.
    pub(super) fn is_large(self) -> bool {
        self.exact && self.least >= LARGE
    }

    /// Returns whether the value is valid for phis and parameters, and in sums with such values.
    pub(super) fn is_kept(self) -> bool {
        self.exact && self.ulp_exponent >= ULP_EXPONENT
    }

    /// Returns whether the value is a non-zero constant larger than any tiny number: a comparison with it has the same result for a tiny
    /// number and for zero.
    fn decides(self) -> bool {
        self.constant.is_some() && self.least >= ULP_EXPONENT
    }

    /// Returns the fact after a guard has passed.
    pub(super) fn guarded(self, size: Size) -> Self {
        Self { exact: true, least: self.least.max(size.least()), ..self }.tidied()
    }

    /// Normalises: a multiple of 2^n is at least 2^n, and a number of at least 2^n is a multiple of 2^(n - 23).
    fn tidied(self) -> Self {
        if !self.exact {
            return Self { least: DENORMAL, ulp_exponent: DENORMAL, ..self };
        }
        let least = self.least.max(self.ulp_exponent);
        Self { least, ulp_exponent: self.ulp_exponent.max(least - FRACTION), ..self }
    }

    /// Returns the join of two facts.
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

    /// Returns the fact with another sign.
    fn signed(self, positive: bool) -> Self {
        Self { positive, constant: None, ..self }
    }
}

/// The guard that an operation needs before its result has a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequiredGuard {
    /// An argument, by its index.
    Argument(usize, Size),
    /// The result, which must be large or zero; then it is exact.
    Result,
}

/// Returns the fact of a result, or the guard that is needed first.
///
/// Where a value is not exact, the reference has a zero. An operation that accepts such an operand either gives its result for zero, or a
/// result that is not exact in the same sense.
pub(super) fn of_result(opcode: Opcode, args: &[FpFact]) -> Result<FpFact, RequiredGuard> {
    let [a, b, c] = [0, 1, 2].map(|n| args.get(n).copied().unwrap_or(FpFact::BITS));
    match opcode {
        Opcode::Add => sum(a, b, a.positive && b.positive),
        Opcode::Sub => sum(a, b, false),
        Opcode::Mul => product([(0, a), (1, b)]),
        // The result is the product, or zero.
        Opcode::MaskedMul => product([(1, b), (2, c)]),
        Opcode::Div => {
            numbers([(0, a), (1, b)])?;
            let least = a.least - b.most;
            let positive = a.positive && b.positive;
            // A tiny quotient of numbers is zero for the reference: it need not be exact.
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
        // The operation changes the sign, or nothing.
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
        // Refused by code emission.
        Opcode::Tabulated(_)
        | Opcode::Lookup(_)
        | Opcode::MulAdd
        | Opcode::NegMulAdd
        | Opcode::ToHalf
        | Opcode::PermuteQuads
        | Opcode::Narrow(_)
        | Opcode::LoadPixels(_)
        | Opcode::StorePixels(_) => Ok(FpFact::BITS),
    }
}

/// All bits except the sign.
const REST: u32 = 0x7fff_ffff;

/// Returns whether the value is a zero of either sign.
fn is_sign(fact: FpFact) -> bool {
    fact.exact && fact.most == -NONE && fact.constant.is_none()
}

fn numbers(args: [(usize, FpFact); 2]) -> Result<(), RequiredGuard> {
    match args.into_iter().find(|(_, fact)| !fact.is_number()) {
        Some((n, _)) => Err(RequiredGuard::Argument(n, Size::Number)),
        None => Ok(()),
    }
}

fn same_bits(args: &[FpFact]) -> Result<(), RequiredGuard> {
    match args.iter().position(|fact| !fact.exact) {
        Some(n) => Err(RequiredGuard::Argument(n, Size::Number)),
        None => Ok(()),
    }
}

fn comparable(a: FpFact, b: FpFact) -> Result<(), RequiredGuard> {
    if a.decides() || b.decides() { Ok(()) } else { numbers([(0, a), (1, b)]) }
}

fn pick(opcode: Opcode, a: FpFact, b: FpFact) -> Result<FpFact, RequiredGuard> {
    let exact = a.is_number() && b.is_number();
    // The maximum of a tiny number and +0 is either of them; the reference gives +0.
    if opcode == Opcode::Max && b == FpFact::of(0) {
        return Ok(FpFact { exact, positive: true, constant: None, ..a }.tidied());
    }
    comparable(a, b)?;
    Ok(FpFact { exact, ..a.or(b) }.tidied())
}

/// Returns the fact of a product. The reference flushes a product that is tiny after rounding with an unbounded exponent. The computed
/// product is then at most 2^-126, to which it may have been rounded, so it satisfies the definition of "not exact".
fn product(args: [(usize, FpFact); 2]) -> Result<FpFact, RequiredGuard> {
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

fn sum(a: FpFact, b: FpFact, positive: bool) -> Result<FpFact, RequiredGuard> {
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
        // Let y be at least 2^n. If x is less than half of that, the sum is at least half of y. Otherwise both are multiples of 2^(n - 24),
        // and so is the sum: it is not tiny, as n is at least -100. If x is tiny, the sum is y, or, if y is zero, x.
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
        // The sum of a fractional part and the like: guard its result, and so x.
        if y.ulp_exponent >= -30 {
            continue;
        }
        return Ok(FpFact { exact: false, ..fact }.tidied());
    }
    if a.is_kept() && b.is_kept() {
        return Ok(FpFact { ulp_exponent: a.ulp_exponent.min(b.ulp_exponent), ..fact }.tidied());
    }
    // Squares and the like: if the sum is at least 2^-100, the larger operand is at least half of that, and absorbed a tiny one; if the sum
    // is zero, both operands are.
    if positive {
        return Err(RequiredGuard::Result);
    }
    Err(RequiredGuard::Argument(worse(a, b), Size::Large))
}

/// Returns which of two arguments to guard: one that needs it, preferably the cheaper one.
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
