#![allow(clippy::unwrap_used)]

use r500_chip::values::{ColorFormat, Endian};
use r500_stream::{Buffer, BufferId, CommandProcessor, Relocation, StreamWriter, Submission};

use super::*;

/// Returns the block with one target of 8 bits in the order B, G, R, A, 8 pixels wide, after register writes.
fn rb3d(setup: &[(u32, u32)]) -> (Rb3d, Buffer) {
    let buffer = Buffer::zeroed(BufferId(0), 256);
    let mut stream = StreamWriter::default();
    stream.write(0x4e28, &[0]).relocation(0).write(0x4e38, &[8 | 6 << 21]);
    // C4_8: C0 is blue, C1 green, C2 red, C3 alpha.
    stream.write(0x46a4, &[3 << 8 | 2 << 10 | 1 << 12]).write(0x4e0c, &[0xf]);
    for (address, value) in setup {
        stream.write(*address, &[*value]);
    }
    let relocation = Relocation {
        buffer: buffer.clone(),
        read_domains: 0,
        write_domain: 4,
        flags: 0,
        tiling: Default::default(),
    };
    let words = stream.into_words();
    let submission =
        Submission { words, flags: Submission::KEEP_TILING_FLAGS, relocations: vec![relocation] };
    let mut state = State::default();
    let mut cp = CommandProcessor::new(&mut state, &submission);
    while let Some(effect) = cp.next_effect() {
        assert!(effect.is_ok(), "{effect:?}");
    }
    let written = [true, false, false, false];
    let rb3d = Rb3d::new(&state, written, 1, &Readings::REFERENCE, &mut Report::default());
    assert_eq!(rb3d.targets[0].surface.endian, Endian::NONE);
    (rb3d, buffer)
}

/// Draws a colour (red, green, blue, alpha) over a stored pixel and returns the new one.
fn draw(setup: &[(u32, u32)], stored: u32, color: [f32; 4]) -> u32 {
    let (rb3d, buffer) = rb3d(setup);
    buffer.store(8, stored);
    rb3d.write([2, 0], 1, &[color, [0.0; 4], [0.0; 4], [0.0; 4]]);
    buffer.load(8).unwrap_or(0)
}

fn bytes(bgra: [u8; 4]) -> [f32; 4] {
    let [b, g, r, a] = bgra.map(|x| f32::from(x) / 255.0);
    [r, g, b, a]
}

const BLEND: u32 = 0x4e04;

fn equation(function: u32, source: u32, destination: u32) -> (u32, u32) {
    (BLEND, 1 | function << 12 | source << 16 | destination << 24)
}

#[test]
fn components_lie_where_the_selects_put_them() {
    assert_eq!(draw(&[], 0, bytes([1, 2, 3, 4])), 0x0403_0201);
    // R in C0, A in C1, B in C2, G in C3.
    assert_eq!(draw(&[(0x46a4, 1 << 8 | 3 << 12 | 2 << 14)], 0, bytes([1, 2, 3, 4])), 0x0201_0403);
}

#[test]
fn masks_keep_components() {
    assert_eq!(draw(&[(0x4e0c, 0b0101)], 0x1111_1111, bytes([1, 2, 3, 4])), 0x1103_1101);
}

#[test]
fn masks_of_two_components_are_those_of_red_and_green() {
    // As Mesa masks targets of two components: red is bits 1 and 2, green (or alpha of luminance and alpha) bits 0 and 3.
    for (color_format, out_fmt, half) in [
        // C2_16, C2_16_FP and C2_32_FP.
        (ColorFormat::ARGB8888, 4, 16),
        (ColorFormat::ARGB8888, 17, 16),
        (ColorFormat::ARGB16161616, 20, 32),
    ] {
        let format = PixelFormat::new(color_format, UsOutFmt(out_fmt), true).unwrap();
        let low = (1_u128 << half) - 1;
        assert_eq!(format.write_mask(0b0110), low, "{out_fmt}: the first component");
        assert_eq!(format.write_mask(0b1001), low << half, "{out_fmt}: the second component");
        assert_eq!(format.write_mask(0b1111), format.all_bits(), "{out_fmt}");
    }
    // UV88: C2, which is red, then C0, green.
    let format = PixelFormat::new(ColorFormat::UV88, UsOutFmt(0), true).unwrap();
    assert_eq!([0b0110, 0b1001].map(|mask| format.write_mask(mask)), [0xff, 0xff00]);
}

#[test]
fn discarded_sources_leave_the_pixel() {
    // Blending replaces the destination; thresholds: at most 10, at least 250 in each component.
    let thresholds = [(0x4ea0, 0x0a0a_0a0a), (0x4ea4, 0xfafa_fafa)];
    let stored = 0x1122_3344;
    for (code, source, discarded) in [
        (0, [0, 0, 0, 0], false),
        (1, [99, 99, 99, 10], true),
        (1, [0, 0, 0, 11], false),
        (2, [10, 9, 8, 255], true),
        (2, [10, 11, 8, 0], false),
        (3, [10, 10, 10, 10], true),
        (3, [10, 10, 10, 11], false),
        (4, [0, 0, 0, 250], true),
        (5, [250, 251, 255, 0], true),
        (5, [250, 249, 255, 255], false),
        (6, [255, 255, 255, 250], true),
        (6, [255, 255, 255, 249], false),
    ] {
        let (address, blend) = equation(0, 33, 32);
        let setup = [(address, blend | code << 3), thresholds[0], thresholds[1]];
        let expected = if discarded { stored } else { u32::from_le_bytes(source) };
        assert_eq!(draw(&setup, stored, bytes(source)), expected, "{code} {source:?}");
        // Without blending, nothing is discarded.
        let setup = [(address, (blend | code << 3) & !1), thresholds[0], thresholds[1]];
        assert_eq!(draw(&setup, stored, bytes(source)), u32::from_le_bytes(source));
    }
}

#[test]
fn one_and_zero_are_identities_of_blending() {
    arbtest::arbtest(|u| {
        let (stored, source): (u32, [u8; 4]) = (u.arbitrary()?, u.arbitrary()?);
        let color = bytes(source);
        let [zero, one] = [32, 33];
        assert_eq!(draw(&[equation(0, one, zero)], stored, color), u32::from_le_bytes(source));
        assert_eq!(draw(&[equation(0, zero, one)], stored, color), stored);
        assert_eq!(draw(&[equation(0, zero, zero)], stored, color), 0);
        // Source alpha and one minus it: between source and destination, and both at its ends.
        let mixed = draw(&[equation(0, 38, 39)], stored, color).to_le_bytes();
        for (c, mixed) in mixed.into_iter().enumerate() {
            let (s, d, a) = (source[c], stored.to_le_bytes()[c], f64::from(source[3]));
            assert!((s.min(d)..=s.max(d)).contains(&mixed));
            let exact = (f64::from(s) * a + f64::from(d) * (255.0 - a)) / 255.0;
            assert_eq!(f64::from(mixed), exact.round());
        }
        Ok(())
    });
}

#[test]
fn functions_combine_the_products() {
    let (one, s, d) = (33, bytes([200, 10, 100, 50]), 0x4028_64c8);
    let blend = |function| draw(&[equation(function, one, one)], d, s).to_le_bytes();
    // Destination: 200, 100, 40, 64.
    assert_eq!(blend(0), [255, 110, 140, 114]);
    assert_eq!(blend(2), [0, 0, 60, 0]);
    assert_eq!(blend(6), [0, 90, 0, 14]);
    assert_eq!(blend(4), [200, 10, 40, 50]);
    assert_eq!(blend(5), [200, 100, 100, 64]);
}

#[test]
fn alpha_has_an_equation_of_its_own_if_separate() {
    let [zero, one] = [32, 33];
    let color = (BLEND, equation(0, one, zero).1 | 2);
    let setup = [color, (0x4e08, zero << 16 | one << 24)];
    assert_eq!(draw(&setup, 0x7700_0000, bytes([1, 2, 3, 4])), 0x7703_0201);
}

#[test]
fn saturate_takes_the_lesser_of_two_alphas() {
    // min(100, 255 - 215 = 40) / 255 of 255; alpha: factor 1.
    let stored = draw(&[equation(0, 42, 32)], 215 << 24, bytes([255, 255, 255, 100]));
    assert_eq!(stored.to_le_bytes(), [40, 40, 40, 100]);
}

#[test]
fn constants_have_ten_bits() {
    // Red 1023, alpha 512; blue 0, green 256.
    let setup = [equation(0, 43, 32), (0x4ef8, 1023 | 512 << 16), (0x4efc, 256 << 16)];
    let stored = draw(&setup, 0, [1.0; 4]).to_le_bytes();
    let part = |code: f64| (code / 1023.0 * 255.0).round() as u8;
    assert_eq!(stored, [0, part(256.0), 255, part(512.0)]);
}

#[test]
fn logic_operations_are_the_codes_that_drivers_write() {
    // The ROP codes of Mesa's r300 driver for the operations of OpenGL, from GL_CLEAR to GL_SET; piglit's test of all
    // of them passes on an RV530.
    const CODES: [u8; 16] = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];
    let operations: [fn(u128, u128) -> u128; 16] = [
        |_, _| 0,
        |s, d| s & d,
        |s, d| s & !d,
        |s, _| s,
        |s, d| !s & d,
        |_, d| d,
        |s, d| s ^ d,
        |s, d| s | d,
        |s, d| !(s | d),
        |s, d| !(s ^ d),
        |_, d| !d,
        |s, d| s | !d,
        |s, _| !s,
        |s, d| !s | d,
        |s, d| !(s & d),
        |_, _| u128::MAX,
    ];
    let [source, stored] = [0x0123_4567_89ab_cdef_u128 << 60 | 0b0011, 0xfedc_ba98 << 70 | 0b0101];
    for (code, operation) in CODES.into_iter().zip(operations) {
        assert_eq!(logic(code, source, stored), operation(source, stored), "{code}");
    }
    let xor = (0x4e18, 1 << 2 | 6 << 8);
    assert_eq!(draw(&[xor], 0xffff_0000, bytes([0xff, 0, 0xff, 0])), 0xff00_00ff);
}

#[test]
fn formats_of_fewer_bits_are_rounded_and_decode_again() {
    for (format, out) in [(3, 0), (4, 0), (5, 1), (6, 0), (9, 0), (13, 0), (15, 0), (10, 5)] {
        let out_fmt = UsOutFmt(out | 3 << 8 | 2 << 10 | 1 << 12);
        let format = ColorFormat::new(format);
        let Some(format) = PixelFormat::new(format, out_fmt, true) else {
            unreachable!("a format that is modelled")
        };
        arbtest::arbtest(|u| {
            let pixel = u.arbitrary::<u128>()? & format.all_bits();
            assert_eq!(format.encode(format.decode(pixel)), pixel);
            Ok(())
        })
        .budget_ms(20);
    }
}

#[test]
fn two_components_of_16_bits_have_crossed_masks() {
    let out_fmt = UsOutFmt(4 | 1 << 8 | 2 << 10);
    let format = PixelFormat::new(ColorFormat::ARGB8888, out_fmt, true);
    let masks = [0b0001, 0b0100].map(|mask| format.as_ref().map(|f| f.write_mask(mask)));
    assert_eq!(masks, [Some(0xffff_0000), Some(0x0000_ffff)]);
}

#[test]
fn components_of_fewer_bits_are_cut_off_or_rounded() {
    // 8 bits are sent. 143: cut to 5 bits 17; nearest 143 / 255 * 31 = 17.4.
    let out_fmt = UsOutFmt(3 << 8 | 2 << 10 | 1 << 12);
    let encode = |nearest, byte: u8| {
        let format = PixelFormat::new(ColorFormat::RGB565, out_fmt, nearest);
        format.map(|format| format.encode([f32::from(byte) / 255.0, 0.0, 0.0, 0.0]))
    };
    assert_eq!([encode(false, 0x8f), encode(true, 0x8f)], [Some(0x11), Some(0x11)]);
    // 7: cut 0; nearest 0.85.
    assert_eq!([encode(false, 7), encode(true, 7)], [Some(0), Some(1)]);
}

/// Of a target of one component of 8 bits, blending takes the constant's green, and the stored value as the alpha of alpha textures:
/// the factors of piglit's fbo-blending-formats, which the RV530 passes.
#[test]
fn an_intensity_is_blended_with_green_and_is_the_alpha_of_alpha_textures() {
    let [dst_alpha, inverse] = [40, 41];
    let blended = |select: u32, factors: (u32, u32)| {
        let setup = [
            (0x4e38, 8 | 9 << 21),
            (0x46a4, select << 12),
            equation(0, factors.0, factors.1),
            // Red 0.2, alpha 0.88; blue 0.4, green 0.6.
            (0x4ef8, 204 | 900 << 16),
            (0x4efc, 409 | 614 << 16),
        ];
        let (rb3d, buffer) = rb3d(&setup);
        buffer.store(0, 204 << 16);
        rb3d.write([2, 0], 1, &[[0.4, 0.1, 0.2, 0.4], [0.0; 4], [0.0; 4], [0.0; 4]]);
        buffer.load(0).unwrap().to_le_bytes()
    };
    let code = |x: f64| (x * 255.0).round() as u8;
    let [alpha, red] = [0, 1];
    // 0.4 * 0.6 + 0.8 * 0.4.
    assert_eq!(blended(alpha, (43, 44)), [0, 0, code(0.56), 0]);
    assert_eq!(blended(red, (43, 44)), [0, 0, code(0.56), 0]);
    // 0.4 * 0.8 + 0.8 * 0.2; a target of red has alpha 1.
    assert_eq!(blended(alpha, (dst_alpha, inverse)), [0, 0, code(0.48), 0]);
    assert_eq!(blended(red, (dst_alpha, inverse)), [0, 0, code(0.4), 0]);
}
