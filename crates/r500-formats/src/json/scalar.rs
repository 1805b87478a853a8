//! Scalar values of the schema.

use std::fmt;
use std::marker::PhantomData;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use r500_isa::Instruction;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};

use crate::error::number_of;
use crate::excerpt::excerpt;
use crate::hex;

/// A dword: hex digits in a string, or a number.
#[derive(Clone, Copy)]
pub(super) struct Dword(pub(super) u32);

const DWORD: &str = "a dword in hex, such as \"0x1401ff05\" or \"1401ff05\"";

impl<'de> Deserialize<'de> for Dword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DwordVisitor;
        impl Visitor<'_> for DwordVisitor {
            type Value = u32;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(DWORD)
            }
            fn visit_str<E: Error>(self, s: &str) -> Result<u32, E> {
                hex::dword(s).ok_or_else(|| E::invalid_value(Unexpected::Str(&excerpt(s)), &self))
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<u32, E> {
                u32::try_from(n).map_err(|_| E::invalid_value(Unexpected::Unsigned(n), &self))
            }
        }
        deserializer.deserialize_any(DwordVisitor).map(Self)
    }
}

/// A number, rounded to float32: a JSON number, `"nan"`, `"inf"`, `"-inf"`, or `"0x"` and the bits
/// (which is how odd NaNs survive).
#[derive(Clone, Copy)]
pub(super) struct Float(pub(super) f32);

/// A number in double precision, likewise.
#[derive(Clone, Copy)]
pub(super) struct Real(pub(super) f64);

/// A constant's channel as bits: hex bits in a string, or a number to be rounded.
#[derive(Clone, Copy)]
pub(super) struct FloatBits(pub(super) u32);

struct NumberVisitor<T>(PhantomData<T>);

/// The result of [`NumberVisitor`].
trait Number: Sized {
    const EXPECTED: &'static str;
    fn from_f64(value: f64) -> Self;
    /// Integers are converted directly, so that they are rounded once.
    fn from_u64(value: u64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn from_str(text: &str) -> Option<Self>;
}

fn special(text: &str) -> Option<f32> {
    match text {
        "nan" | "NaN" => Some(f32::NAN),
        "inf" | "Infinity" => Some(f32::INFINITY),
        "-inf" | "-Infinity" => Some(f32::NEG_INFINITY),
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // rounding is intended
impl Number for Float {
    const EXPECTED: &'static str = "a number, \"nan\", \"inf\" or \"-inf\"";
    fn from_f64(value: f64) -> Self {
        Self(value as f32)
    }
    fn from_u64(value: u64) -> Self {
        Self(value as f32)
    }
    fn from_i64(value: i64) -> Self {
        Self(value as f32)
    }
    fn from_str(text: &str) -> Option<Self> {
        let bits = || hex::dword(text).filter(|_| text.starts_with("0x")).map(f32::from_bits);
        special(text).or_else(bits).map(Self)
    }
}

#[allow(clippy::cast_precision_loss)]
impl Number for Real {
    const EXPECTED: &'static str = Float::EXPECTED;
    fn from_f64(value: f64) -> Self {
        Self(value)
    }
    fn from_u64(value: u64) -> Self {
        Self(value as f64)
    }
    fn from_i64(value: i64) -> Self {
        Self(value as f64)
    }
    fn from_str(text: &str) -> Option<Self> {
        special(text).map(|f| Self(f.into()))
    }
}

impl Number for FloatBits {
    const EXPECTED: &'static str = "the bits of a float in hex, such as \"3f800000\", or a number";
    fn from_f64(value: f64) -> Self {
        Self(Float::from_f64(value).0.to_bits())
    }
    fn from_u64(value: u64) -> Self {
        Self(Float::from_u64(value).0.to_bits())
    }
    fn from_i64(value: i64) -> Self {
        Self(Float::from_i64(value).0.to_bits())
    }
    fn from_str(text: &str) -> Option<Self> {
        hex::dword(text).or_else(|| special(text).map(f32::to_bits)).map(Self)
    }
}

impl<T: Number> Visitor<'_> for NumberVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(T::from_f64(value))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok(T::from_u64(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(T::from_i64(value))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_str(text).ok_or_else(|| E::invalid_value(Unexpected::Str(&excerpt(text)), &self))
    }
}

macro_rules! numbers {
    ($($ty:ident)*) => {$(
        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(NumberVisitor(PhantomData))
            }
        }
    )*};
}

numbers! { Float Real FloatBits }

/// A number from 0 to `N - 1`.
#[derive(Clone, Copy)]
pub(super) struct Index<const N: u64>(pub(super) u8);

impl<'de, const N: u64> Deserialize<'de> for Index<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let n = u64::deserialize(deserializer)?;
        match u8::try_from(n) {
            Ok(index) if n < N => Ok(Self(index)),
            _ => Err(D::Error::custom(format!("{n} is out of range: 0 to {}", N - 1))),
        }
    }
}

/// Yes or no: `true` and `false`, or 1 and 0.
#[derive(Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = bool;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0 or 1")
            }
            fn visit_bool<E: Error>(self, flag: bool) -> Result<bool, E> {
                Ok(flag)
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<bool, E> {
                zero_or_one(n).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(n), &self))
            }
        }
        deserializer.deserialize_any(FlagVisitor).map(Self)
    }
}

fn zero_or_one(n: u64) -> Option<bool> {
    (n <= 1).then_some(n == 1)
}

/// Bytes in base64, padded or not.
pub(super) struct Base64(pub(super) Vec<u8>);

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Bytes as base64 text.
pub(super) fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Base64Visitor;
        impl Visitor<'_> for Base64Visitor {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes in base64")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
                use base64::DecodeError::{
                    InvalidByte, InvalidLastSymbol, InvalidLength, InvalidPadding,
                };
                BASE64.decode(text).map_err(|e| match e {
                    InvalidByte(at, byte) => {
                        E::custom(format!("no base64: byte 0x{byte:02x} stands at {at}"))
                    }
                    InvalidLength(_) | InvalidLastSymbol(..) => {
                        E::custom(format!("no base64: it is cut off after {} digits", text.len()))
                    }
                    InvalidPadding => E::custom("no base64: the padding is wrong"),
                })
            }
        }
        deserializer.deserialize_str(Base64Visitor).map(Self)
    }
}

/// A list of at most `N` items.
pub(super) struct Few<T, const N: usize>(pub(super) Vec<T>);

impl<T, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Few<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FewVisitor<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for FewVisitor<T, N> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {N}")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let mut few = Vec::new();
                while let Some(item) = items.next_element()? {
                    if few.len() == N {
                        return Err(A::Error::custom(format!("more than {N} of them")));
                    }
                    few.push(item);
                }
                Ok(few)
            }
        }
        deserializer.deserialize_seq(FewVisitor::<T, N>(PhantomData)).map(Self)
    }
}

/// Registers of a set by their number: `{ "0": "000000ff" }`; null is a register that is not given.
pub(super) struct Indexed<const N: usize>(pub(super) [Option<u32>; N]);

impl<'de, const N: usize> Deserialize<'de> for Indexed<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IndexedVisitor<const N: usize>;
        impl<'de, const N: usize> Visitor<'de> for IndexedVisitor<N> {
            type Value = [Option<u32>; N];

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "dwords by their number, \"0\" to \"{}\"", N - 1)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut registers = [None; N];
                while let Some(key) = entries.next_key::<String>()? {
                    let index = key.parse().ok().and_then(|n: usize| registers.get_mut(n));
                    let Some(register) = index else {
                        return Err(A::Error::custom(format!(
                            "`{}` is not a number from 0 to {}",
                            excerpt(&key),
                            N - 1
                        )));
                    };
                    *register = entries.next_value::<Option<Dword>>()?.map(|d| d.0);
                }
                Ok(registers)
            }
        }
        deserializer.deserialize_map(IndexedVisitor::<N>).map(Self)
    }
}

/// Instructions: a list of lists of six dwords, or of dwords.
pub(super) struct Code(pub(super) Vec<Instruction>);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CodeVisitor;
        impl<'de> Visitor<'de> for CodeVisitor {
            type Value = Vec<Instruction>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of instructions, six dwords each")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut words = Vec::new();
                while items.next_element_seed(CodeItem { words: &mut words })?.is_some() {}
                let (code, rest) = words.as_chunks::<6>();
                if rest.is_empty() {
                    return Ok(code.iter().copied().map(Instruction).collect());
                }
                Err(A::Error::custom(format!(
                    "instruction {} is cut off: {} of its 6",
                    code.len(),
                    number_of(rest.len(), "dword", "dwords")
                )))
            }
        }
        deserializer.deserialize_seq(CodeVisitor).map(Self)
    }
}

/// A dword of a flat list, or an instruction.
struct CodeItem<'a> {
    words: &'a mut Vec<u32>,
}

impl<'de> DeserializeSeed<'de> for CodeItem<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CodeItem<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an instruction of six dwords, or {DWORD}")
    }
    fn visit_str<E: Error>(self, s: &str) -> Result<(), E> {
        match hex::dword(s) {
            Some(word) => self.words.push(word),
            None => return Err(E::invalid_value(Unexpected::Str(&excerpt(s)), &self)),
        }
        Ok(())
    }
    fn visit_u64<E: Error>(self, n: u64) -> Result<(), E> {
        match u32::try_from(n) {
            Ok(word) => self.words.push(word),
            Err(_) => return Err(E::invalid_value(Unexpected::Unsigned(n), &self)),
        }
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let start = self.words.len();
        while let Some(Dword(word)) = items.next_element()? {
            self.words.push(word);
        }
        match self.words.len() - start {
            6 => Ok(()),
            n => Err(A::Error::custom(format!(
                "{}; an instruction has 6",
                number_of(n, "dword", "dwords")
            ))),
        }
    }
}

/// Covered pixels: a list of rows, or of pixels.
pub(super) struct Coverage {
    pub(super) flags: Vec<bool>,
    /// Pixels in a row, if it is a list of rows.
    pub(super) row: Option<usize>,
}

impl<'de> Deserialize<'de> for Coverage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CoverageVisitor;
        impl<'de> Visitor<'de> for CoverageVisitor {
            type Value = Coverage;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("rows of pixels, 1 where one is covered")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Coverage, A::Error> {
                let mut flags = Vec::new();
                let mut row = None;
                let mut item =
                    || items.next_element_seed(CoverageItem { flags: &mut flags, row: &mut row });
                while item()?.is_some() {}
                Ok(Coverage { flags, row })
            }
        }
        deserializer.deserialize_seq(CoverageVisitor)
    }
}

/// A pixel, or a row of them, which must be as long as those before.
struct CoverageItem<'a> {
    flags: &'a mut Vec<bool>,
    row: &'a mut Option<usize>,
}

impl<'de> DeserializeSeed<'de> for CoverageItem<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CoverageItem<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0 or 1, or a row of them")
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.flags.push(flag);
        Ok(())
    }
    fn visit_u64<E: Error>(self, n: u64) -> Result<(), E> {
        let flag =
            zero_or_one(n).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(n), &self))?;
        self.visit_bool(flag)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let start = self.flags.len();
        while let Some(Flag(flag)) = items.next_element()? {
            self.flags.push(flag);
        }
        let have = self.flags.len() - start;
        match *self.row.get_or_insert(have) {
            0 => Err(A::Error::custom("a row without pixels")),
            row if row == have => Ok(()),
            row => Err(A::Error::custom(format!(
                "{}; the rows before have {row}",
                number_of(have, "pixel", "pixels")
            ))),
        }
    }
}
