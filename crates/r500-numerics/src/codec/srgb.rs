//! The sRGB transfer function, for `TX_FORMAT1.GAMMA` and the target format `C4_10_GAMMA`.
//!
//! The power functions of mathematics libraries differ in the last bit from platform to platform.
//! Both exponents are fractions, 2.4 = 12/5 and 1/2.4 = 5/12, so a root by Newton's method and a few
//! products compute the curve with operations that IEEE 754 defines to the bit.

/// Returns the linear value of an 8-bit component: [`decode`] of k / 255, rounded to float32.
#[inline]
#[must_use]
pub fn to_linear8(code: u8) -> f32 {
    LINEAR8[usize::from(code)]
}

/// Converts sRGB to linear light: `y <= 0.04045 ? y / 12.92 : ((y + 0.055) / 1.055)^2.4`.
///
/// `y` is limited to 0..1, NaN counts as 0. The error is within a few units in the last place of a
/// double.
#[must_use]
pub const fn decode(y: f64) -> f64 {
    let y = limit(y);
    if y <= 0.04045 {
        y / 12.92
    } else {
        let t = (y + 0.055) / 1.055;
        let fifth = root(t, 5);
        t * t * fifth * fifth
    }
}

/// Converts linear light to sRGB, the inverse of [`decode`]:
/// `x <= 0.0031308 ? 12.92 * x : 1.055 * x^(1/2.4) - 0.055`. Range and accuracy as there.
#[must_use]
pub const fn encode(x: f64) -> f64 {
    let x = limit(x);
    if x <= 0.0031308 {
        12.92 * x
    } else {
        let twelfth = root(x, 12);
        1.055 * (twelfth * twelfth * twelfth * twelfth * twelfth) - 0.055
    }
}

/// All results of [`to_linear8`].
static LINEAR8: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut k = 0;
    while k < table.len() {
        table[k] = decode(k as f64 / 255.0) as f32;
        k += 1;
    }
    table
};

const fn limit(x: f64) -> f64 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

/// Returns the n-th root of x in 0..1 (0 excluded), n > 1.
///
/// Newton's method, started above the root, decreases towards it until rounding stops it.
const fn root(x: f64, n: u32) -> f64 {
    let mut y = 1.0;
    loop {
        let mut power = 1.0;
        let mut i = 1;
        while i < n {
            power *= y;
            i += 1;
        }
        // power is y^(n-1): next = y - (y^n - x) / (n * y^(n-1)).
        let next = y - (y - x / power) / n as f64;
        if next < y {
            y = next;
        } else {
            return y;
        }
    }
}

#[cfg(test)]
mod tests;
