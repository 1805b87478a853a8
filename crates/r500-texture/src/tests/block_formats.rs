//! DXT and ATI block formats against values worked out by hand.

use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat1};
use r500_isa::values::{ClampMode, TxFormat, TxFormatMsb};
use r500_program::Texture;

use super::*;

/// Red 31, green 63: the greater number of the two colours.
const YELLOW: [u8; 2] = 0b11111_111111_00000_u16.to_le_bytes();
/// Red 1, green 9, blue 31.
const BLUISH: [u8; 2] = 0b00001_001001_11111_u16.to_le_bytes();

/// Selectors 0, 1, 2, 3 in the first row, 3, 2, 1, 0 in the second, all 0 and all 3 in the others.
const SELECTORS: [u8; 4] = [0b11_10_01_00, 0b00_01_10_11, 0b00_00_00_00, 0b11_11_11_11];

const ROW_1: [f32; 4] = [0.5, 1.5, 2.5, 3.5];

/// Returns four texels of a row.
fn row(texture: &Texture, y: f32) -> [[f32; 4]; 4] {
    ROW_1.map(|x| at(texture, [x, y, 0.0]))
}

fn reversed(mut row: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    row.reverse();
    row
}

/// Returns the four colours of a palette of yellow and bluish: thirds of 31 and 1, of 63 and 9, of
/// 0 and 31.
fn thirds(alpha: f32) -> [[f32; 4]; 4] {
    [
        [1.0, 1.0, 0.0, alpha],
        [1.0 / 31.0, 9.0 / 63.0, 1.0, alpha],
        [63.0 / 93.0, 135.0 / 189.0, 31.0 / 93.0, alpha],
        [33.0 / 93.0, 81.0 / 189.0, 62.0 / 93.0, alpha],
    ]
}

#[test]
fn dxt1_with_the_greater_colour_first_is_opaque() {
    let bytes = [&YELLOW[..], &BLUISH, &SELECTORS].concat();
    let texture = texture(TxFormat::DXT1, [4, 4], &bytes);
    let colors = thirds(1.0);
    assert_eq!(row(&texture, 0.5), colors);
    assert_eq!(row(&texture, 1.5), reversed(colors));
    assert_eq!(row(&texture, 2.5), [colors[0]; 4]);
    assert_eq!(row(&texture, 3.5), [colors[3]; 4]);
}

#[test]
fn dxt1_with_the_lesser_colour_first_has_a_mean_and_transparent_black() {
    let bytes = [&BLUISH[..], &YELLOW, &SELECTORS].concat();
    let texture = texture(TxFormat::DXT1, [4, 4], &bytes);
    let colors = [
        [1.0 / 31.0, 9.0 / 63.0, 1.0, 1.0],
        [1.0, 1.0, 0.0, 1.0],
        [32.0 / 62.0, 72.0 / 126.0, 0.5, 1.0],
        [0.0; 4],
    ];
    assert_eq!(row(&texture, 0.5), colors);
    assert_eq!(row(&texture, 3.5), [[0.0; 4]; 4]);
    // Equal colours: the first is not greater.
    let bytes = [&YELLOW[..], &YELLOW, &SELECTORS].concat();
    let texture = super::texture(TxFormat::DXT1, [4, 4], &bytes);
    let yellow = [1.0, 1.0, 0.0, 1.0];
    assert_eq!(row(&texture, 0.5), [yellow, yellow, yellow, [0.0; 4]]);
}

#[test]
fn dxt3_has_four_bits_of_alpha_and_always_four_colours() {
    // Alpha 0, 1, 2, 3 in the first row, ..., 12 to 15 in the last; the lesser colour first.
    let alpha = [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe];
    let bytes = [&alpha[..], &BLUISH, &YELLOW, &SELECTORS].concat();
    let texture = texture(TxFormat::DXT3, [4, 4], &bytes);
    let [yellow, bluish, near_yellow, near_bluish] = thirds(0.0);
    let with_alpha = |colors: [[f32; 4]; 4], first: u8| {
        let mut out = colors;
        for (i, color) in out.iter_mut().enumerate() {
            color[3] = f32::from(first + i as u8) / 15.0;
        }
        out
    };
    let colors = [bluish, yellow, near_bluish, near_yellow];
    assert_eq!(row(&texture, 0.5), with_alpha(colors, 0));
    assert_eq!(row(&texture, 1.5), with_alpha(reversed(colors), 4));
    assert_eq!(row(&texture, 2.5), with_alpha([bluish; 4], 8));
    assert_eq!(row(&texture, 3.5), with_alpha([near_yellow; 4], 12));
}

/// Returns a block of an interpolated component: codes 0 to 7 in the first eight texels, then in
/// reverse order. Three bits each, lowest first: 000 001 010 011 100 101 110 111 from the right is
/// 0xfac688.
fn interpolated(first: u8, second: u8) -> [u8; 8] {
    [first, second, 0x88, 0xc6, 0xfa, 0x77, 0x39, 0x05]
}

/// Returns the eight texels of the first two rows of a channel; checks that the other two rows have
/// them in reverse.
fn two_rows(texture: &Texture, channel: usize) -> [f32; 8] {
    let texels: Vec<f32> = (0..16_u16)
        .map(|i| at(texture, [f32::from(i % 4) + 0.5, f32::from(i / 4) + 0.5, 0.0])[channel])
        .collect();
    let reversed: Vec<f32> = texels[8..].iter().rev().copied().collect();
    assert_eq!(texels[..8], reversed);
    texels[..8].try_into().unwrap()
}

/// 210 and 70: a seventh of 140 is 20, so the interpolated values are integers: 190, 170, 150, 130,
/// 110, 90.
const DESCENDING: [u8; 8] = [210, 70, 190, 170, 150, 130, 110, 90];
/// 70 and 210: a fifth of 140 is 28: 98, 126, 154, 182; then the ends of the range.
const ASCENDING: [u8; 8] = [70, 210, 98, 126, 154, 182, 0, 255];

#[test]
fn dxt5_interpolates_alpha() {
    let colors = [&BLUISH[..], &YELLOW, &SELECTORS].concat();
    for (alpha, want) in [(interpolated(210, 70), DESCENDING), (interpolated(70, 210), ASCENDING)] {
        let texture = texture(TxFormat::DXT5, [4, 4], &[&alpha[..], &colors].concat());
        assert_eq!(two_rows(&texture, 3), want.map(|k| f32::from(k) / 255.0));
        // Four colours, although the lesser number is first.
        let [yellow, bluish, near_yellow, near_bluish] = thirds(0.0).map(|c| [c[0], c[1], c[2]]);
        let row = row(&texture, 0.5).map(|c| [c[0], c[1], c[2]]);
        assert_eq!(row, [bluish, yellow, near_bluish, near_yellow]);
    }
}

#[test]
fn ati1n_is_one_component() {
    for (bytes, want) in [(interpolated(210, 70), DESCENDING), (interpolated(70, 210), ASCENDING)] {
        let texture = texture_msb(TxFormatMsb::ATI1N, [4, 4], &bytes);
        assert_eq!(two_rows(&texture, 0), want.map(|k| f32::from(k) / 255.0));
        assert_eq!(at(&texture, [0.5; 3])[1..], [0.0; 3]);
    }
    // Interpolated values that are not integers are exact, too: (6 * 10 + 3) / 7 of 255.
    let texture = texture_msb(TxFormatMsb::ATI1N, [4, 4], &interpolated(10, 3));
    assert_eq!(two_rows(&texture, 0)[2], 63.0 / 1785.0);
}

#[test]
fn ati1n_signed_compares_and_mixes_with_signs() {
    let signed = |first: i8, second: i8| {
        let bytes = interpolated(first as u8, second as u8);
        let texture = texture_msb(TxFormatMsb::ATI1N, [4, 4], &bytes);
        two_rows(&texture.with(TxFormat1::SIGNED_COMP0, true), 0)
    };
    // 84 > -56 (as unsigned bytes it would be less): a seventh of 140 is 20.
    let want = [84, -56, 64, 44, 24, 4, -16, -36].map(|k| k as f32 / 127.0);
    assert_eq!(signed(84, -56), want);
    // -56 < 84: a fifth is 28; then -1 and 1.
    let want = [-56, 84, -28, 0, 28, 56, -127, 127].map(|k| k as f32 / 127.0);
    assert_eq!(signed(-56, 84), want);
    // -128 means -127, but compares as less than it.
    assert_eq!(signed(-128, -127), [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0]);
    assert_eq!(signed(-127, -128), [-1.0; 8]);
}

#[test]
fn ati2n_is_two_components() {
    let bytes = [interpolated(210, 70), interpolated(70, 210)].concat();
    let mut texture = texture(TxFormat::ATI2N, [4, 4], &bytes);
    assert_eq!(two_rows(&texture, 0), DESCENDING.map(|k| f32::from(k) / 255.0));
    assert_eq!(two_rows(&texture, 1), ASCENDING.map(|k| f32::from(k) / 255.0));
    assert_eq!(at(&texture, [0.5; 3])[2..], [0.0; 2]);
    // Each component has its own sign: as signed, 70 and 210 are 70 and -46, of which the first is
    // the greater.
    texture.set(TxFormat1::SIGNED_COMP1, true);
    assert_eq!(two_rows(&texture, 0), DESCENDING.map(|k| f32::from(k) / 255.0));
    assert_eq!(two_rows(&texture, 1)[..3], [70.0 / 127.0, -46.0 / 127.0, 374.0 / 889.0]);
}

#[test]
fn blocks_lie_row_by_row_and_may_overhang() {
    // 5x5 texels are 2x2 blocks. Each block is of one colour: red k/31.
    let block = |k: u16| [(k << 11).to_le_bytes(), [0, 0], [0, 0], [0, 0]].concat();
    let bytes = [block(1), block(2), block(3), block(4)].concat();
    let texture = texture(TxFormat::DXT1, [5, 5], &bytes);
    for ([x, y], k) in [
        ([0.5, 0.5], 1.0),
        ([3.5, 3.5], 1.0),
        ([4.5, 0.5], 2.0),
        ([4.5, 3.5], 2.0),
        ([0.5, 4.5], 3.0),
        ([4.5, 4.5], 4.0),
        // Outside the level is the border, although the block has texels there.
        ([5.5, 0.5], 2.0),
    ] {
        assert_eq!(at(&texture, [x, y, 0.0])[0], k / 31.0, "at {x}, {y}");
    }
}

#[test]
fn red_and_blue_change_places_by_a_bit_of_filter1() {
    let bytes = [&YELLOW[..], &BLUISH, &SELECTORS].concat();
    let mut texture = texture(TxFormat::DXT1, [4, 4], &bytes);
    texture.filter1 = TxFilter1(1 << 21);
    let swapped = thirds(1.0).map(|[r, g, b, a]| [b, g, r, a]);
    assert_eq!(row(&texture, 0.5), swapped);
    // DXTC_SWIZZLE_ENABLE affects DXT only.
    let mut texture = super::texture(TxFormat::X8_8_8_8, [1, 1], &[255, 0, 51, 0]);
    texture.filter1 = TxFilter1(1 << 21);
    assert_eq!(first(&texture), [1.0, 0.0, 0.2, 0.0]);
}

#[test]
fn border_of_blocks_has_eight_bits() {
    let mut texture = texture(TxFormat::DXT5, [4, 4], &[0; 16]);
    texture.set(TxFilter0::CLAMP_S, ClampMode::BORDER);
    texture.border_color = 0xff66_33cc;
    assert_eq!(at(&texture, [-1.0, 0.5, 0.0]), [0.8, 0.2, 0.4, 1.0]);
}

/// sRGB values of 2/3, 1/3 and 32/63, computed independently with fifty digits.
#[test]
fn gamma_starts_from_the_exact_mixture() {
    let white_black = [0xff, 0xff, 0, 0, 0b11_10_01_00, 0, 0, 0];
    let mut texture = texture(TxFormat::DXT1, [4, 4], &white_black);
    texture.set(TxFormat1::GAMMA, true);
    let grey = |x: f32| [x, x, x, 1.0];
    assert_eq!(row(&texture, 0.5), [1.0, 0.0, 0.401_977_78, 0.090_841_71].map(grey));
    texture.levels[0].bytes[..2].copy_from_slice(&(32_u16 << 5).to_le_bytes());
    assert_eq!(at(&texture, [0.5; 3]), [0.0, 0.221_460_71, 0.0, 1.0]);
}
