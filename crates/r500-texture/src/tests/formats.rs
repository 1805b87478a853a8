//! Every texel format other than the block formats, packed by hand, and the registers that convert its
//! components.

use r500_isa::texture::{TxFilter0, TxFormat1, TxFormat2};
use r500_isa::values::{ClampMode, TxFormat, TxFormatMsb, TxSel};
use r500_program::Texture;

use super::super::{DepthStencil, GammaBorder, WideBorder};
use super::*;

/// Sets the signs of components, component 0 in bit 0.
fn signed(texture: Texture, mask: u8) -> Texture {
    texture
        .with(TxFormat1::SIGNED_COMP0, mask & 1 != 0)
        .with(TxFormat1::SIGNED_COMP1, mask & 2 != 0)
        .with(TxFormat1::SIGNED_COMP2, mask & 4 != 0)
        .with(TxFormat1::SIGNED_COMP3, mask & 8 != 0)
}

fn gamma(texture: Texture) -> Texture {
    texture.with(TxFormat1::GAMMA, true)
}

/// Sets the selects of red, green, blue and alpha.
fn select(texture: Texture, rgba: [TxSel; 4]) -> Texture {
    texture
        .with(TxFormat1::SEL_RED, rgba[0])
        .with(TxFormat1::SEL_GREEN, rgba[1])
        .with(TxFormat1::SEL_BLUE, rgba[2])
        .with(TxFormat1::SEL_ALPHA, rgba[3])
}

/// Returns a texture of one texel.
fn texel(format: TxFormat, bytes: &[u8]) -> Texture {
    texture(format, [1, 1], bytes)
}

fn texel_msb(format: TxFormatMsb, bytes: &[u8]) -> Texture {
    texture_msb(format, [1, 1], bytes)
}

/// Returns the border colour, by a fetch outside a texture of one texel.
fn border(mut texture: Texture, color: u32) -> [f32; 4] {
    border_by(&mut texture, color, &REFERENCE)
}

fn border_by(texture: &mut Texture, color: u32, readings: &TexReadings) -> [f32; 4] {
    texture.border_color = color;
    texture.set(TxFilter0::CLAMP_S, ClampMode::BORDER);
    at_by(texture, [-1.0, 0.5, 0.5], readings)
}

#[test]
fn unsigned_components_from_the_lowest_bit() {
    use TxFormat as F;
    // Binary numbers are grouped by component in the order of the name, the last one lowest.
    #[rustfmt::skip]
    let cases: [(F, &[u8], [f32; 4]); 17] = [
        (F::X8,      &[51],                        [51.0 / 255.0, 0.0, 0.0, 0.0]),
        (F::X16,     &0x3334_u16.to_le_bytes(),    [13108.0 / 65535.0, 0.0, 0.0, 0.0]),
        (F::X4_4,    &[0b0110_1111],               [1.0, 6.0 / 15.0, 0.0, 0.0]),
        (F::X8_8,    &[7, 250],                    [7.0 / 255.0, 250.0 / 255.0, 0.0, 0.0]),
        (F::X16_16,  &[0x01, 0x00, 0x00, 0x80],    [1.0 / 65535.0, 32768.0 / 65535.0, 0.0, 0.0]),
        (F::X3_3_2,  &[0b101_011_10],              [2.0 / 3.0, 3.0 / 7.0, 5.0 / 7.0, 0.0]),
        (F::X5_6_5,  &0b00011_100001_10101_u16.to_le_bytes(),
                                                   [21.0 / 31.0, 33.0 / 63.0, 3.0 / 31.0, 0.0]),
        (F::X6_5_5,  &0b100001_00011_10101_u16.to_le_bytes(),
                                                   [21.0 / 31.0, 3.0 / 31.0, 33.0 / 63.0, 0.0]),
        (F::X11_11_10, &0b10000000001_00000000011_1000000111_u32.to_le_bytes(),
                                             [519.0 / 1023.0, 3.0 / 2047.0, 1025.0 / 2047.0, 0.0]),
        (F::X10_11_11, &0b1000000111_00000000011_10000000001_u32.to_le_bytes(),
                                             [1025.0 / 2047.0, 3.0 / 2047.0, 519.0 / 1023.0, 0.0]),
        (F::X4_4_4_4, &[0x21, 0xf3],               [1.0 / 15.0, 2.0 / 15.0, 3.0 / 15.0, 1.0]),
        (F::X1_5_5_5, &0b1_00001_00010_00100_u16.to_le_bytes(),
                                                   [4.0 / 31.0, 2.0 / 31.0, 1.0 / 31.0, 1.0]),
        (F::X8_8_8_8, &[1, 2, 3, 255],             [1.0 / 255.0, 2.0 / 255.0, 3.0 / 255.0, 1.0]),
        (F::X2_10_10_10, &0b10_0000000001_0000000010_1111111111_u32.to_le_bytes(),
                                                   [1.0, 2.0 / 1023.0, 1.0 / 1023.0, 2.0 / 3.0]),
        (F::X16_16_16_16, &[1, 0, 2, 0, 0, 1, 0xff, 0xff],
                                       [1.0 / 65535.0, 2.0 / 65535.0, 256.0 / 65535.0, 1.0]),
        (F::X16_MPEG, &[0, 1],                     [256.0 / 65535.0, 0.0, 0.0, 0.0]),
        (F::X16_16_MPEG, &[0, 1, 3, 0],            [256.0 / 65535.0, 3.0 / 65535.0, 0.0, 0.0]),
    ];
    for (format, bytes, want) in cases {
        let texture = texel(format, bytes);
        assert_eq!(first(&texture), want, "{format:?}");
        // The border colour is a texel in the register. Formats wider than the register have a test of
        // their own.
        let mut color = [0; 4];
        if let Some(low) = color.get_mut(..bytes.len()) {
            low.copy_from_slice(bytes);
            assert_eq!(border(texture, u32::from_le_bytes(color)), want, "border of {format:?}");
        }
    }
}

#[test]
fn signed_components_are_twos_complement() {
    use TxFormat as F;
    // k / (2^(n-1) - 1), at least -1; a single bit is 0 or -1.
    #[rustfmt::skip]
    let cases: [(F, u8, &[u8], [f32; 4]); 14] = [
        (F::X8,      1, &[0xff],                   [-1.0 / 127.0, 0.0, 0.0, 0.0]),
        (F::X8,      1, &[0x80],                   [-1.0, 0.0, 0.0, 0.0]),
        (F::X8,      1, &[0x81],                   [-1.0, 0.0, 0.0, 0.0]),
        (F::X16,     1, &[0x00, 0xc0],             [-16384.0 / 32767.0, 0.0, 0.0, 0.0]),
        // Each component has its own sign.
        (F::X4_4,    2, &[0b1001_1001],            [9.0 / 15.0, -1.0, 0.0, 0.0]),
        (F::X4_4,    1, &[0b1010_1010],            [-6.0 / 7.0, 10.0 / 15.0, 0.0, 0.0]),
        (F::X8_8,    3, &[1, 254],                 [1.0 / 127.0, -2.0 / 127.0, 0.0, 0.0]),
        (F::X3_3_2,  7, &[0b101_011_11],           [-1.0, 1.0, -1.0, 0.0]),
        (F::X5_6_5,  7, &0b11110_111101_01111_u16.to_le_bytes(),
                                                   [1.0, -3.0 / 31.0, -2.0 / 15.0, 0.0]),
        (F::X1_5_5_5, 8, &0b1_00000_00000_11111_u16.to_le_bytes(), [1.0, 0.0, 0.0, -1.0]),
        (F::X2_10_10_10, 9, &0b11_0000000000_0000000000_1000000001_u32.to_le_bytes(),
                                                   [-1.0, 0.0, 0.0, -1.0]),
        (F::X8_8_8_8, 5, &[0x7f, 0x7f, 0xc0, 0xc0],
                                       [1.0, 127.0 / 255.0, -64.0 / 127.0, 192.0 / 255.0]),
        (F::X16_16_16_16, 15, &[0xff, 0xff, 0, 0x80, 0xff, 0x7f, 1, 0],
                                       [-1.0 / 32767.0, -1.0, 1.0, 1.0 / 32767.0]),
        (F::X11_11_10, 7, &0b10000000001_11111111111_0111111111_u32.to_le_bytes(),
                                       [1.0, -1.0 / 1023.0, -1.0, 0.0]),
    ];
    for (format, mask, bytes, want) in cases {
        assert_eq!(first(&signed(texel(format, bytes), mask)), want, "{format:?} {bytes:x?}");
    }
}

#[test]
fn floats_are_as_they_are() {
    use TxFormat as F;
    // float16: 0x3c00 is 1, 0xc100 is -2.5, 0x0001 is 2^-24, 0x7c00 infinity.
    let half = [0x00, 0x3c, 0x00, 0xc1, 0x01, 0x00, 0x00, 0x7c];
    let tiny = 1.0 / 16_777_216.0;
    assert_eq!(first(&texel(F::F16, &half[..2])), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(first(&texel(F::F16_16, &half[..4])), [1.0, -2.5, 0.0, 0.0]);
    assert_eq!(first(&texel(F::F16_16_16_16, &half)), [1.0, -2.5, tiny, f32::INFINITY]);
    let floats = [1.5_f32, -0.0, f32::from_bits(1), f32::NEG_INFINITY];
    let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    let bits = |color: [f32; 4]| color.map(f32::to_bits);
    assert_eq!(first(&texel(F::F32, &bytes[..4])), [1.5, 0.0, 0.0, 0.0]);
    assert_eq!(bits(first(&texel(F::F32_32, &bytes[..8]))), bits([1.5, -0.0, 0.0, 0.0]));
    // Denormals and the sign of a zero are kept: no arithmetic is applied.
    assert_eq!(bits(first(&texel(F::F32_32_32_32, &bytes))), bits(floats));
    // Signs have no effect on floats, nor has the divisor.
    let texture = in_256ths(signed(texel(F::F16_16, &half[..4]), 15));
    assert_eq!(first(&texture), [1.0, -2.5, 0.0, 0.0]);
    // 24-bit float: 0xe00000 is 1/2. The bits above it are not read.
    assert_eq!(first(&texel(F::W24_FP, &[0, 0, 0xe0, 0x77])), [0.5, 0.0, 0.0, 0.0]);
}

#[test]
fn luminance_is_in_every_channel_whatever_is_selected() {
    let texture = signed(texel(TxFormat::Y8, &[204]), 15);
    let texture = select(texture, [TxSel::ZERO, TxSel::ONE, TxSel::C3, TxSel::C2]);
    assert_eq!(first(&texture), [0.8; 4]);
    assert_eq!(border(texture, 0xffff_ff33), [0.2; 4]);
}

#[test]
fn single_bits_from_either_end_of_a_byte() {
    // A row of eleven texels takes two bytes; the second row starts at a byte.
    let bytes = [0b0000_0001, 0b0000_0100, 0b1000_0000, 0b0000_0000];
    let lowest = texture_msb(TxFormatMsb::X1, [11, 2], &bytes);
    let highest = texture_msb(TxFormatMsb::X1_REVERSE, [11, 2], &bytes);
    let set = |texture: &Texture| {
        let places = (0..22).map(|i| (i % 11, i / 11));
        let set = places.filter(|&(x, y)| {
            let red = at(texture, [x as f32 + 0.5, y as f32 + 0.5, 0.0])[0];
            assert!(red == 0.0 || red == 1.0);
            red == 1.0
        });
        set.collect::<Vec<_>>()
    };
    assert_eq!(set(&lowest), [(0, 0), (10, 0), (7, 1)]);
    // Bit 2 of the second byte is the sixth from the top: column 13, outside the level.
    assert_eq!(set(&highest), [(7, 0), (0, 1)]);
    // A set bit is -1 if signed. The border colour is the lowest bit of its register.
    assert_eq!(first(&signed(texel_msb(TxFormatMsb::X1, &[1]), 1)), [-1.0, 0.0, 0.0, 0.0]);
    assert_eq!(border(lowest, 0b01)[0], 1.0);
    assert_eq!(border(highest, 0b10)[0], 0.0);
}

#[test]
fn ten_bits_lie_lowest_in_sixteen() {
    use TxFormatMsb as F;
    // 0x0201 is 513; the six bits above are ignored.
    let bytes = [0x01, 0x02, 0xff, 0xff, 0x00, 0xfc, 0x03, 0x00];
    let want = [513.0 / 1023.0, 1.0, 0.0, 3.0 / 1023.0];
    assert_eq!(first(&texel_msb(F::X10, &bytes[..2])), [want[0], 0.0, 0.0, 0.0]);
    assert_eq!(first(&texel_msb(F::X10_10, &bytes[..4])), [want[0], 1.0, 0.0, 0.0]);
    assert_eq!(first(&texel_msb(F::X10_10_10_10, &bytes)), want);
    // Signed: 0x201 is -511.
    assert_eq!(first(&signed(texel_msb(F::X10, &bytes[..2]), 1))[0], -1.0);
}

#[test]
fn depth_lies_above_stencil() {
    let texture = texel_msb(TxFormatMsb::X24_8, &[0x33, 0x01, 0x00, 0x80]);
    let (stencil, depth) = (0.2, 8_388_609.0 / 16_777_215.0);
    // Component 0 is depth: drivers select it so, and conformance tests pass on cards only with it.
    assert_eq!(first(&texture), [depth, stencil, 0.0, 0.0]);
    let lowest_first = TexReadings { depth_stencil: DepthStencil::LowestFirst, ..REFERENCE };
    assert_eq!(at_by(&texture, [0.5; 3], &lowest_first), [stencil, depth, 0.0, 0.0]);
}

#[test]
fn selects_pick_components_or_constants() {
    let rgba = texel(TxFormat::X8_8_8_8, &[51, 102, 153, 204]);
    assert_eq!(first(&rgba), [0.2, 0.4, 0.6, 0.8]);
    let pick = |rgba_of: [u8; 4]| first(&select(rgba.clone(), rgba_of.map(TxSel::new)));
    assert_eq!(pick([2, 1, 0, 3]), [0.6, 0.4, 0.2, 0.8]);
    assert_eq!(pick([3, 3, 5, 4]), [0.8, 0.8, 1.0, 0.0]);
    // Reserved selects are 0.
    assert_eq!(pick([6, 7, 1, 5]), [0.0, 0.0, 0.4, 1.0]);
    // A component that the format does not have is 0.
    let two = select(texel(TxFormat::X8_8, &[51, 102]), [1, 2, 3, 0].map(TxSel::new));
    assert_eq!(first(&two), [0.4, 0.0, 0.0, 0.2]);
}

#[test]
fn a_divisor_of_256_is_for_eight_bits_only() {
    let bytes = [255, 128, 0, 64];
    let texture = in_256ths(signed(texel(TxFormat::X8_8_8_8, &bytes), 0b1010));
    // Signed in 128ths, where -128 is exactly -1.
    assert_eq!(first(&texture), [255.0 / 256.0, -1.0, 0.0, 0.5]);
    let half = in_256ths(texel(TxFormat::X4_4, &[0xf1]));
    assert_eq!(first(&half), [1.0 / 15.0, 1.0, 0.0, 0.0]);
    assert_eq!(first(&in_256ths(texel(TxFormat::Y8, &[64]))), [0.25; 4]);
}

/// The values of the curve were computed independently with fifty digits.
#[test]
fn gamma_is_removed_from_colours_of_eight_bits_or_fewer() {
    // Below and above the corner of the curve at 0.04045, between 10/255 and 11/255. Alpha is
    // unchanged.
    let texture = gamma(texel(TxFormat::X8_8_8_8, &[10, 11, 188, 128]));
    assert_eq!(first(&texture), [0.003_035_27, 0.003_346_535_8, 0.502_886_5, 128.0 / 255.0]);
    // Gamma depends on the channel, not on the component.
    let texture = select(texture, [3, 3, 5, 2].map(TxSel::new));
    assert_eq!(first(&texture), [0.215_860_5, 0.215_860_5, 1.0, 188.0 / 255.0]);

    // Signed components: positive values only.
    let texture = gamma(signed(texel(TxFormat::X8_8, &[64, 0xc0]), 3));
    assert_eq!(first(&texture), [0.217_703_28, -64.0 / 127.0, 0.0, 0.0]);
    // With the divisor 256 the fraction is different.
    let texture = in_256ths(gamma(texel(TxFormat::X8, &[128])));
    assert_eq!(first(&texture)[0], 0.214_041_14);
    // Components of fewer than eight bits have gamma, of more do not.
    assert_eq!(first(&gamma(texel(TxFormat::X4_4, &[0xf8])))[..2], [0.246_201_32, 1.0]);
    assert_eq!(first(&gamma(texel(TxFormat::X5_6_5, &[16, 0])))[0], 0.229_274_76);
    assert_eq!(first(&gamma(texel(TxFormat::X16, &[0, 128])))[0], 32768.0 / 65535.0);
    assert_eq!(first(&gamma(texel(TxFormat::F16, &[0, 0x38])))[0], 0.5);
    // Luminance: colours have gamma, alpha does not.
    let [red, green, blue, alpha] = first(&gamma(texel(TxFormat::Y8, &[128])));
    assert_eq!(([red, green, blue], alpha), ([0.215_860_5; 3], 128.0 / 255.0));
}

/// The border is a texel of the register, its red in the component that `SEL_RED` names: without the conversion of
/// texels, or with it by the reading. 188/255 is 1/2 in gamma, to the nearest code.
#[test]
fn a_border_keeps_its_gamma() {
    let converted = TexReadings { gamma_border: GammaBorder::Converted, ..REFERENCE };
    let code = |k: f32| k / 255.0;
    let mut four = gamma(texel(TxFormat::X8_8_8_8, &[0; 4]));
    let color = u32::from_le_bytes([188, 11, 255, 128]);
    assert_eq!(border(four.clone(), color), [code(188.0), code(11.0), 1.0, code(128.0)]);
    assert_eq!(
        border_by(&mut four, color, &converted),
        [0.502_886_5, 0.003_346_535_8, 1.0, code(128.0)]
    );
    // Through the selects, in a format of one component, and in blocks, whose border has four of eight bits.
    let mut selected = select(gamma(texel(TxFormat::X8_8, &[0; 2])), [1, 0, 5, 4].map(TxSel::new));
    assert_eq!(border(selected.clone(), 0x0bbc), [code(11.0), code(188.0), 1.0, 0.0]);
    assert_eq!(
        border_by(&mut selected, 0x0bbc, &converted),
        [0.003_346_535_8, 0.502_886_5, 1.0, 0.0]
    );
    let mut luminance = gamma(texel(TxFormat::Y8, &[0]));
    assert_eq!(border(luminance.clone(), 188), [code(188.0); 4]);
    assert_eq!(border_by(&mut luminance, 188, &converted)[..3], [0.502_886_5; 3]);
    let mut blocks = gamma(texture(TxFormat::DXT1, [4, 4], &[0; 8]));
    assert_eq!(border(blocks.clone(), color), [code(188.0), code(11.0), 1.0, code(128.0)]);
    assert_eq!(border_by(&mut blocks, color, &converted)[0], 0.502_886_5);
    // A linear filter at the edge takes half of each: of a texel, which is converted, and of the border.
    let mut edge = linear(gamma(texture(TxFormat::X8, [1, 1], &[188])));
    edge.set(TxFilter0::CLAMP_S, ClampMode::BORDER);
    edge.border_color = 188;
    let half = 0.5 * (0.502_886_5 + code(188.0));
    assert!((at(&edge, [1.0, 0.5, 0.0])[0] - half).abs() < 1e-7);
}

#[test]
fn gamma_is_removed_before_filtering() {
    // The mean of 0 and 1 is 1/2; the curve at 1/2 would be 0.214.
    let texture = linear(gamma(texture(TxFormat::X8, [2, 1], &[0, 255])));
    assert_eq!(at(&texture, [1.0, 0.5, 0.0])[0], 0.5);
}

#[test]
fn border_of_wide_formats_has_eight_bits() {
    use TxFormat as F;
    let color = 0xff66_33cc;
    let eight = [0.8, 0.2, 0.4, 1.0];
    let dword = TexReadings { wide_border: WideBorder::LowestDword, ..REFERENCE };
    let mut wide = texel(F::X16_16_16_16, &[0; 8]);
    assert_eq!(border(wide.clone(), color), eight);
    // The other reading: components 0x33cc, 0xff66, 0, 0.
    let low = [13260.0 / 65535.0, 65382.0 / 65535.0, 0.0, 0.0];
    assert_eq!(border_by(&mut wide, color, &dword), low);
    // Signed as the texture: 0xcc repeated is 0xcccc, -13,108.
    assert_eq!(border(signed(wide, 1), color)[0], -13_108.0 / 32_767.0);

    for (format, bytes) in [(F::F16_16_16_16, 8), (F::F32_32, 8), (F::F32_32_32_32, 16)] {
        let texture = texel(format, &vec![0; bytes]);
        assert_eq!(border(texture.clone(), color), eight, "{format:?}");
        // Gamma does not apply to these formats.
        assert_eq!(border(gamma(texture), color), eight, "{format:?}");
    }
    let mut floats = texel(F::F32_32, &[0; 8]);
    assert_eq!(border_by(&mut floats, 0x3f80_0000, &dword), [1.0, 0.0, 0.0, 0.0]);
    // 32 bits hold one float or two halves.
    assert_eq!(border(texel(F::F32, &[0; 4]), 0x3f80_0000), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(border(texel(F::F16_16, &[0; 4]), 0x3c00_c100), [-2.5, 1.0, 0.0, 0.0]);
}

#[test]
fn bytes_are_swapped_within_units() {
    use r500_isa::texture::TxOffset;
    use r500_isa::values::EndianSwap;
    // The texel 44 33 22 11, in memory 11 22 33 44, and so on.
    let want = [0x44, 0x33, 0x22, 0x11].map(|k| f32::from(k as u8) / 255.0);
    for (swap, bytes) in [
        (EndianSwap::NONE, [0x44, 0x33, 0x22, 0x11]),
        (EndianSwap::W16, [0x33, 0x44, 0x11, 0x22]),
        (EndianSwap::W32, [0x11, 0x22, 0x33, 0x44]),
        (EndianSwap::HALF, [0x22, 0x11, 0x44, 0x33]),
    ] {
        let texture = texel(TxFormat::X8_8_8_8, &bytes).with(TxOffset::ENDIAN_SWAP, swap);
        assert_eq!(first(&texture), want, "{swap:?}");
    }
}

#[test]
fn the_sixth_bit_makes_another_format() {
    // TX_FMT_8 and TX_FMT_1 share a code.
    let texture = texel(TxFormat::X8, &[0xfe]);
    assert_eq!(first(&texture)[0], 254.0 / 255.0);
    assert_eq!(first(&texture.with(TxFormat2::TXFORMAT_MSB, true))[0], 0.0);
}
