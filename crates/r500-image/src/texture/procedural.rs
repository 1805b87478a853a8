//! Procedural textures, the same on every platform.

use r500_isa::values::CoordType;
use r500_isa::values::TxFormat;
use r500_program::Level;

use super::image::Texels;
use super::texel_format::{Pixels, RGBA};

/// Returns a checkerboard of `cells` x `cells` fields in two colours, the first at the lower left.
pub(super) fn checker(size: [u32; 2], cells: u32, colors: &[[u8; 4]; 2]) -> Texels {
    make(size, |x, y| {
        let field = |i: u32, n: u32| u64::from(i) * u64::from(cells) / u64::from(n.max(1));
        let odd = (field(x, size[0]) + field(y, size[1])) % 2;
        colors[odd as usize]
    })
}

/// Returns a gradient: red increases to the right, green upward, blue opposite to both; opaque.
pub(super) fn gradient(size: [u32; 2]) -> Texels {
    let part = |i: u32, n: u32| (i * 255 / n.max(2).saturating_sub(1)) as u8;
    make(size, |x, y| {
        let (r, g) = (part(x, size[0]), part(y, size[1]));
        [r, g, 255 - r / 2 - g / 2, 255]
    })
}

/// Returns smooth value noise that repeats seamlessly, with `cells` random values along each side and independent
/// channels; opaque.
pub(super) fn noise(size: [u32; 2], cells: u32, seed: u64) -> Texels {
    let cells = cells.max(1);
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    make(size, |x, y| {
        let place = |i: u32, n: u32| f64::from(i) * f64::from(cells) / f64::from(n.max(1));
        let (u, v) = (place(x, size[0]), place(y, size[1]));
        let (fu, fv) = (smooth(u.fract()), smooth(v.fract()));
        let (i, j) = (u as u32, v as u32);
        let at = |di: u32, dj: u32, channel: u32| {
            f64::from(random(seed, [(i + di) % cells, (j + dj) % cells, channel]))
        };
        let value = |channel| {
            let low = at(0, 0, channel) * (1.0 - fu) + at(1, 0, channel) * fu;
            let high = at(0, 1, channel) * (1.0 - fu) + at(1, 1, channel) * fu;
            (low * (1.0 - fv) + high * fv).round() as u8
        };
        [value(0), value(1), value(2), 255]
    })
}

fn make([width, height]: [u32; 2], texel: impl Fn(u32, u32) -> [u8; 4]) -> Texels {
    // Larger sizes are rejected when the texture is bound; nothing large is allocated for them.
    let (w, h) = (width.min(4096), height.min(4096));
    let bytes = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).flat_map(|(x, y)| texel(x, y));
    Texels {
        pixels: Pixels::new(TxFormat::X8_8_8_8, RGBA),
        shape: CoordType::D2,
        size: [width, height, 1],
        levels: vec![Level { width: w, height: h, layers: 1, bytes: bytes.collect() }],
    }
}

/// Returns a hash byte of all arguments (the finaliser of splitmix64, after each).
fn random(seed: u64, key: [u32; 3]) -> u8 {
    let mut state = seed;
    for part in key {
        state = state.wrapping_add(u64::from(part)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
    }
    (state >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checker_alternates() {
        let colors = [[0, 0, 0, 255], [255; 4]];
        let texels = checker([4, 4], 2, &colors);
        let reds: Vec<u8> = texels.levels[0].bytes.iter().step_by(4).copied().collect();
        assert_eq!(reds, [0, 0, 255, 255, 0, 0, 255, 255, 255, 255, 0, 0, 255, 255, 0, 0]);
    }

    #[test]
    fn a_gradient_spans_the_range() {
        let texels = gradient([16, 16]);
        let bytes = &texels.levels[0].bytes;
        assert_eq!(bytes[..4], [0, 0, 255, 255]);
        assert_eq!(bytes[bytes.len() - 4..], [255, 255, 1, 255]);
        assert_eq!(gradient([1, 1]).levels[0].bytes, [0, 0, 255, 255]);
    }

    #[test]
    fn noise_depends_on_its_seed_only() {
        let (a, b) = (noise([32, 32], 8, 1), noise([32, 32], 8, 1));
        assert_eq!(a, b);
        assert_ne!(a, noise([32, 32], 8, 2));
        let reds: Vec<u8> = a.levels[0].bytes.iter().step_by(4).copied().collect();
        assert!(reds.iter().max() > Some(&150) && reds.iter().min() < Some(&100));
    }
}
