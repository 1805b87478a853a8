//! Formatting of floats, as text and JSON.

use std::fmt::Write;

use r500::exec::numerics::{Decimal, Decimals};
use serde_json::Value;

/// Returns a float in JSON: the shortest decimal that reads back as the same float, or "nan",
/// "inf", "-inf".
pub(super) fn json(value: f32) -> Value {
    if value.is_nan() {
        return Value::from("nan");
    }
    if value.is_infinite() {
        return Value::from(if value > 0.0 { "inf" } else { "-inf" });
    }
    // Converts via the decimal: the double nearest to 0.1f32 would print as 0.10000000149011612.
    value.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// Returns several floats in JSON.
pub(super) fn json_all(values: &[f32]) -> Value {
    values.iter().copied().map(json).collect()
}

/// Returns a float as text: the shortest decimal that reads back as the same float.
pub(super) fn text(value: f32) -> String {
    Decimal(value).to_string()
}

/// Appends the result of [`text`].
pub(super) fn push(text: &mut String, value: f32) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{}", Decimal(value));
}

/// Returns a float's bits.
pub(super) fn bits(value: f32) -> String {
    format!("0x{:08x}", value.to_bits())
}

/// Returns `(a, b, c)`.
pub(super) fn vector(values: &[f32]) -> String {
    Decimals(values).to_string()
}

/// Returns the letters of a channel mask, red in bit 0.
pub(super) fn letters(mask: u8) -> String {
    "rgba".chars().enumerate().filter(|(i, _)| mask >> i & 1 != 0).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_value() {
        assert_eq!(json(0.1).to_string(), "0.1");
        assert_eq!(json(-0.0).to_string(), "-0.0");
        assert_eq!(json(f32::NAN), "nan");
        assert_eq!(json(f32::NEG_INFINITY), "-inf");
        assert_eq!(text(1e-10), "1e-10");
        assert_eq!(text(0.5), "0.5");
        assert_eq!(letters(0b1011), "rga");
    }
}
