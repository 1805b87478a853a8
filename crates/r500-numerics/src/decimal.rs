//! Floats as text.

use std::fmt;

/// A float as the shortest decimal that reads back as the same float: with an exponent below 1e-4 and from 1e7 on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal(pub f32);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) && value.is_finite() {
            write!(f, "{value:e}")
        } else {
            write!(f, "{value}")
        }
    }
}

/// Floats as `(a, b, c)`, each a [`Decimal`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimals<'a>(pub &'a [f32]);

impl fmt::Display for Decimals<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (n, value) in self.0.iter().enumerate() {
            write!(f, "{}{}", if n == 0 { "" } else { ", " }, Decimal(*value))?;
        }
        f.write_str(")")
    }
}
