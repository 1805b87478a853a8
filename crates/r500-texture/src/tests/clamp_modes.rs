//! Clamp modes, along each axis, with either filter, and a border colour with different components.

use r500_isa::texture::TxFilter0;
use r500_isa::values::{ClampMode, TxFormat};
use r500_program::Texture;

use super::*;

/// Texels a to d in 256ths, and the border colour.
const A: [f32; 4] = [16.0, 8.0, 4.0, 2.0];
const B: [f32; 4] = [32.0, 40.0, 48.0, 56.0];
const C: [f32; 4] = [80.0, 72.0, 64.0, 100.0];
const D: [f32; 4] = [96.0, 128.0, 112.0, 144.0];
const BORDER: [f32; 4] = [240.0, 200.0, 160.0, 180.0];

/// The texels that texel numbers -9 to 12 select on an axis of four texels, a to d; `.` is the
/// border.
///
/// Worked out by hand: wrapping repeats "abcd", mirroring "abcddcba"; mirroring once, i -> -1-i
/// maps -1, -2, -3, -4 to a, b, c, d.
const NUMBERS: [(ClampMode, &str); 6] = [
    //                              -9       -1 0  3 4      12
    (ClampMode::WRAP, "dabcdabcdabcdabcdabcda"),
    (ClampMode::MIRROR, "aabcddcbaabcddcbaabcdd"),
    (ClampMode::CLAMP, "aaaaaaaaaabcdddddddddd"),
    (ClampMode::MIRROR_ONCE, "ddddddcbaabcdddddddddd"),
    (ClampMode::BORDER, ".........abcd........."),
    (ClampMode::MIRROR_ONCE_BORDER, ".....dcbaabcd........."),
];

fn letter(c: u8) -> [f32; 4] {
    match c {
        b'a' => A,
        b'b' => B,
        b'c' => C,
        b'd' => D,
        _ => BORDER,
    }
}

/// Returns a texture with texels a to d along an axis.
fn along(axis: usize, mode: ClampMode) -> Texture {
    let bytes: Vec<u8> = [A, B, C, D].concat().iter().map(|&k| k as u8).collect();
    let one = |size| texture(TxFormat::X8_8_8_8, size, &bytes);
    let (mut texture, field) = match axis {
        0 => (one([4, 1]), TxFilter0::CLAMP_S),
        1 => (one([1, 4]), TxFilter0::CLAMP_T),
        _ => (volume(one([1, 1]), 2), TxFilter0::CLAMP_R),
    };
    texture.set(field, mode);
    texture.border_color = u32::from_le_bytes(BORDER.map(|k| k as u8));
    in_256ths(texture)
}

/// Returns the colour at `x` along an axis, in 256ths.
fn get(texture: &Texture, axis: usize, x: f32) -> [f32; 4] {
    let mut uvw = [0.5; 3];
    uvw[axis] = x;
    at(texture, uvw).map(|c| c * 256.0)
}

fn lerp(a: [f32; 4], b: [f32; 4], weight: f32) -> [f32; 4] {
    [0, 1, 2, 3].map(|c| a[c] * (1.0 - weight) + b[c] * weight)
}

#[test]
fn point_filter_selects_texel_by_coordinate() {
    for axis in 0..3 {
        for (mode, letters) in NUMBERS {
            let texture = along(axis, mode);
            for (number, c) in (-9_i16..).zip(letters.bytes()) {
                // A texel extends from its number to just below the next.
                for within in [0.0, 0.5, 0.75] {
                    let x = f32::from(number) + within;
                    assert_eq!(get(&texture, axis, x), letter(c), "{mode:?} axis {axis} at {x}");
                }
            }
        }
    }
}

#[test]
fn linear_filter_takes_each_of_two_numbers_for_itself() {
    for axis in 0..3 {
        for (mode, letters) in NUMBERS {
            let texture = linear(along(axis, mode));
            for (number, pair) in (-9_i16..).zip(letters.as_bytes().windows(2)) {
                // From the centre of a texel to that of the next.
                for weight in [0.0, 0.25, 0.5, 0.75] {
                    let x = f32::from(number) + 0.5 + weight;
                    let want = lerp(letter(pair[0]), letter(pair[1]), weight);
                    assert_eq!(get(&texture, axis, x), want, "{mode:?} axis {axis} at {x}");
                }
            }
        }
    }
}

#[test]
fn half_way_to_the_border_is_the_last_texel_to_the_point_filter() {
    for axis in 0..3 {
        let texture = along(axis, ClampMode::CLAMP_HALF);
        for (x, want) in [(-7.0, A), (-0.25, A), (0.0, A), (1.5, B), (3.5, D), (4.0, D), (9.0, D)] {
            assert_eq!(get(&texture, axis, x), want, "at {x}");
        }
        // The absolute value comes first: -1 becomes 1, where b begins. MIRROR_ONCE (mode 3) has
        // texel number -1 there, which is a.
        let texture = along(axis, ClampMode::MIRROR_ONCE_HALF);
        for (x, want) in
            [(-9.0, D), (-4.0, D), (-2.5, C), (-1.0, B), (-0.5, A), (0.5, A), (3.5, D), (6.0, D)]
        {
            assert_eq!(get(&texture, axis, x), want, "at {x}");
        }
        assert_eq!(get(&along(axis, ClampMode::MIRROR_ONCE), axis, -1.0), A);
    }
}

#[test]
fn half_way_to_the_border_the_linear_filter_stops() {
    for axis in 0..3 {
        let clamp = linear(along(axis, ClampMode::CLAMP_HALF));
        let mirror = linear(along(axis, ClampMode::MIRROR_ONCE_HALF));
        // At the edges, 0 and 4, border and texel have equal weights; coordinates are limited to
        // them.
        let (low, high) = (lerp(BORDER, A, 0.5), lerp(D, BORDER, 0.5));
        for x in [-8.0, -0.25, 0.0] {
            assert_eq!(get(&clamp, axis, x), low, "at {x}");
        }
        for x in [4.0, 4.25, 100.0] {
            assert_eq!(get(&clamp, axis, x), high, "at {x}");
            assert_eq!(get(&mirror, axis, x), high, "at {x}");
            assert_eq!(get(&mirror, axis, -x), high, "at -{x}");
        }
        // A quarter of a texel inside, border and a have weights 1/4 and 3/4.
        for (x, want) in [
            (0.0, low),
            (0.25, lerp(BORDER, A, 0.75)),
            (0.5, A),
            (1.25, lerp(A, B, 0.75)),
            (3.5, D),
            (3.75, lerp(D, BORDER, 0.25)),
        ] {
            assert_eq!(get(&clamp, axis, x), want, "at {x}");
            assert_eq!(get(&mirror, axis, x), want, "at {x}");
            assert_eq!(get(&mirror, axis, -x), want, "at -{x}");
        }
    }
}

#[test]
fn outside_on_one_axis_is_outside() {
    let mut texture = along(0, ClampMode::BORDER);
    texture.set(TxFilter0::CLAMP_T, ClampMode::BORDER);
    assert_eq!(at(&texture, [0.5, 0.5, 0.0]).map(|c| c * 256.0), A);
    assert_eq!(at(&texture, [0.5, 1.0, 0.0]).map(|c| c * 256.0), BORDER);
    assert_eq!(at(&texture, [-1.0, 0.5, 0.0]).map(|c| c * 256.0), BORDER);
    // A 2D texture ignores R.
    texture.set(TxFilter0::CLAMP_R, ClampMode::BORDER);
    assert_eq!(at(&texture, [0.5, 0.5, -9.0]).map(|c| c * 256.0), A);
    // Linear on both axes at a corner: a quarter a, three quarters border.
    let corner = at(&linear(texture), [0.0, 0.0, 0.0]).map(|c| c * 256.0);
    assert_eq!(corner, lerp(BORDER, A, 0.25));
}

#[test]
fn sizes_need_not_be_powers_of_two() {
    // Three texels: 3 wraps to the first and mirrors to the last; -4 is the last of the previous
    // period.
    let make =
        |mode| in_256ths(texture(TxFormat::X8, [3, 1], &[1, 2, 3]).with(TxFilter0::CLAMP_S, mode));
    let (wrap, mirror) = (make(ClampMode::WRAP), make(ClampMode::MIRROR));
    for (x, wrapped, mirrored) in
        [(-4.0, 3, 3), (-1.0, 3, 1), (2.0, 3, 3), (3.0, 1, 3), (5.0, 3, 1), (6.0, 1, 1)]
    {
        assert_eq!(at(&wrap, [x, 0.5, 0.0])[0] * 256.0, wrapped as f32, "at {x}");
        assert_eq!(at(&mirror, [x, 0.5, 0.0])[0] * 256.0, mirrored as f32, "at {x}");
    }
}
