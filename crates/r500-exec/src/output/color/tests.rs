#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::unusual_byte_groupings)] // grouped as the components lie

use super::{LAYOUTS, NumberFormat, bytes_per_pixel, layout, load, store};
use r500_isa::FieldValue;
use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};

const RGBA: [OutSel; 4] = [OutSel::R, OutSel::G, OutSel::B, OutSel::A];
const BGRA: [OutSel; 4] = [OutSel::B, OutSel::G, OutSel::R, OutSel::A];

/// Two colours (red, green, blue, alpha) whose products with 2^n - 1 differ at every width.
const COLOR: [f32; 4] = [1.0, 0.5, 0.25, 0.75];
const SIGNED: [f32; 4] = [-1.0, -0.5, 0.25, -0.75];

fn register(format: OutFormat, order: [OutSel; 4], signs: u8) -> UsOutFmt {
    UsOutFmt(0)
        .with(UsOutFmt::OUT_FMT, format)
        .with(UsOutFmt::C0_SEL, order[0])
        .with(UsOutFmt::C1_SEL, order[1])
        .with(UsOutFmt::C2_SEL, order[2])
        .with(UsOutFmt::C3_SEL, order[3])
        .with(UsOutFmt::OUT_SIGN, signs)
}

/// Returns the bytes of a pixel, which `ROUND_ADJ` must not change.
fn stored(fmt: UsOutFmt, rgba: [f32; 4]) -> Vec<u8> {
    let mut bytes = Vec::new();
    store(fmt, rgba, &mut bytes);
    assert_eq!(bytes.len(), bytes_per_pixel(fmt).unwrap_or(0));
    let mut adjusted = Vec::new();
    store(fmt.with(UsOutFmt::ROUND_ADJ, true), rgba, &mut adjusted);
    assert_eq!(adjusted, bytes);
    bytes
}

fn unsigned(format: OutFormat, order: [OutSel; 4]) -> Vec<u8> {
    stored(register(format, order, 0), COLOR)
}

fn signed(format: OutFormat, order: [OutSel; 4]) -> Vec<u8> {
    stored(register(format, order, 0xf), SIGNED)
}

/// Returns a pixel as an integer, from bytes with the lowest first.
fn pixel(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |pixel, &byte| pixel << 8 | u64::from(byte))
}

#[test]
fn c4_8() {
    // 255/2 = 127.5, a tie: 128 is even. 255/4 = 63.75, 255 * 3/4 = 191.25.
    assert_eq!(unsigned(OutFormat::C4_8, RGBA), [255, 128, 64, 191]);
    assert_eq!(unsigned(OutFormat::C4_8, BGRA), [64, 128, 255, 191]);
    assert_eq!(unsigned(OutFormat::C4_8, [OutSel::G; 4]), [128; 4]);
    // Signed: 127/2 = 63.5 (64 is even), 127/4 = 31.75, 127 * 3/4 = 95.25.
    assert_eq!(signed(OutFormat::C4_8, RGBA), [0x81, 0xc0, 32, 0xa1]);
    // The register that Mesa writes for target A, and a register that was never written: alpha in every component.
    assert_eq!(stored(UsOutFmt(0x3900), COLOR), [255, 128, 64, 191]);
    assert_eq!(stored(UsOutFmt(0), COLOR), [191; 4]);
}

#[test]
fn out_sign_counts_components() {
    // Component 0 is blue here. Unsigned, negative values give 0; signed, 1/4 gives 32.
    let one = |bit: u8| stored(register(OutFormat::C4_8, BGRA, 1 << bit), SIGNED);
    assert_eq!(one(0), [32, 0, 0, 0]);
    assert_eq!(one(1), [64, 0xc0, 0, 0]);
    assert_eq!(one(2), [64, 0, 0x81, 0]);
    assert_eq!(one(3), [64, 0, 0, 0xa1]);
}

#[test]
fn c4_10() {
    // 1023/2 = 511.5 (512 is even), 1023/4 = 255.75, 1023 * 3/4 = 767.25, each in 16 bits.
    let want = [0xff, 0x03, 0x00, 0x02, 0x00, 0x01, 0xff, 0x02];
    assert_eq!(unsigned(OutFormat::C4_10, RGBA), want);
    // Unsigned, regardless of OUT_SIGN.
    assert_eq!(stored(register(OutFormat::C4_10, RGBA, 0xf), COLOR), want);
    assert_eq!(signed(OutFormat::C4_10, RGBA), [0, 0, 0, 0, 0x00, 0x01, 0, 0]);
}

#[test]
fn c4_10_gamma() {
    // sRGB of 1/2 is 0.735357, times 1023 752.27; of 1/4 0.537099, 549.45. Alpha is linear: 767.25.
    let codes = |bytes: Vec<u8>| -> Vec<u16> {
        bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
    };
    assert_eq!(codes(unsigned(OutFormat::C4_10_GAMMA, RGBA)), [1023, 752, 549, 767]);
    // Alpha is the component with C0_SEL = alpha, not the fourth one.
    let fmt = register(OutFormat::C4_10_GAMMA, [OutSel::A, OutSel::R, OutSel::G, OutSel::B], 0);
    assert_eq!(codes(stored(fmt, [0.5; 4])), [512, 752, 752, 752]);
    // The linear part of the curve: 0.001 * 12.92 * 1023 = 13.22.
    let fmt = register(OutFormat::C4_10_GAMMA, RGBA, 0xf);
    assert_eq!(codes(stored(fmt, [0.001, -1.0, f32::NAN, f32::NAN])), [13, 0, 0, 0]);
    assert_eq!(codes(stored(fmt, [2.0, f32::INFINITY, 1.0, 2.0])), [1023; 4]);
}

#[test]
fn sixteen_bits() {
    // 65535/2 = 32767.5 (32768 is even), 65535/4 = 16383.75, 65535 * 3/4 = 49151.25.
    let wide = [0xff, 0xff, 0x00, 0x80, 0x00, 0x40, 0xff, 0xbf];
    assert_eq!(unsigned(OutFormat::C_16, RGBA), wide[..2]);
    assert_eq!(unsigned(OutFormat::C2_16, RGBA), wide[..4]);
    assert_eq!(unsigned(OutFormat::C4_16, RGBA), wide);
    assert_eq!(unsigned(OutFormat::C_16, [OutSel::A; 4]), [0xff, 0xbf]);
    assert_eq!(unsigned(OutFormat::C2_16, BGRA), [0x00, 0x40, 0x00, 0x80]);
    // Signed: 32767/2 = 16383.5 (16384 is even, 0xc000 negative), 32767/4 = 8191.75, 32767 * 3/4 =
    // 24575.25 (0xa001 negative).
    let wide = [0x01, 0x80, 0x00, 0xc0, 0x00, 0x20, 0x01, 0xa0];
    assert_eq!(signed(OutFormat::C_16, RGBA), wide[..2]);
    assert_eq!(signed(OutFormat::C2_16, RGBA), wide[..4]);
    assert_eq!(signed(OutFormat::C4_16, RGBA), wide);
}

#[test]
fn mpeg_formats_are_signed_by_default() {
    for signs in [0, 0xf] {
        let mpeg = |format| stored(register(format, RGBA, signs), SIGNED);
        assert_eq!(mpeg(OutFormat::C_16_MPEG), [0x01, 0x80]);
        assert_eq!(mpeg(OutFormat::C2_16_MPEG), [0x01, 0x80, 0x00, 0xc0]);
    }
}

#[test]
fn c2_4() {
    // Blue: 15/4 = 3.75, low four bits. Alpha: 15 * 3/4 = 11.25.
    let order = [OutSel::B, OutSel::A, OutSel::R, OutSel::R];
    assert_eq!(unsigned(OutFormat::C2_4, order), [0xb4]);
    assert_eq!(signed(OutFormat::C2_4, order), [0x04]);
}

#[test]
fn c_3_3_2() {
    // Blue in the two lowest bits: 3/4 = 0.75. Green 7/2 = 3.5 (4 is even), red 7.
    assert_eq!(unsigned(OutFormat::C_3_3_2, BGRA), [0b111_100_01]);
    assert_eq!(signed(OutFormat::C_3_3_2, BGRA), [0b000_000_01]);
}

#[test]
fn c_6_5_6_is_5_6_5() {
    // Blue 31/4 = 7.75, green 63/2 = 31.5 (32 is even), red 31.
    assert_eq!(pixel(&unsigned(OutFormat::C_6_5_6, BGRA)), 0b11111_100000_01000);
    // Signed: blue 15/4 = 3.75, green -31/2 = -15.5 (-16, 48 in six bits), red -15 (17 in five).
    assert_eq!(pixel(&signed(OutFormat::C_6_5_6, BGRA)), 0b10001_110000_00100);
}

#[test]
fn c_11_11_10() {
    // Red in the ten lowest bits: 1023. Green 2047/2 = 1023.5 (1024 is even), blue 2047/4 = 511.75.
    let want = 1023 | 1024 << 10 | 512 << 21;
    assert_eq!(pixel(&unsigned(OutFormat::C_11_11_10, RGBA)), want);
    // Signed: -511, -1023/2 = -511.5 (-512), 1023/4 = 255.75.
    let want = (1024 - 511) | (2048 - 512) << 10 | 256 << 21;
    assert_eq!(pixel(&signed(OutFormat::C_11_11_10, RGBA)), want);
}

#[test]
fn c_10_11_11() {
    // Red and green in eleven bits each, blue in the ten highest: 1023/4 = 255.75.
    let want = 2047 | 1024 << 11 | 256 << 22;
    assert_eq!(pixel(&unsigned(OutFormat::C_10_11_11, RGBA)), want);
    // Signed: -1023, -511.5 (-512), 511/4 = 127.75.
    let want = (2048 - 1023) | (2048 - 512) << 11 | 128 << 22;
    assert_eq!(pixel(&signed(OutFormat::C_10_11_11, RGBA)), want);
}

#[test]
fn c_2_10_10_10() {
    // Alpha in the two highest bits: 3 * 3/4 = 2.25.
    let want = 1023 | 512 << 10 | 256 << 20 | 2 << 30;
    assert_eq!(pixel(&unsigned(OutFormat::C_2_10_10_10, RGBA)), want);
    // Signed: -511, -255.5 (-256), 127.75; alpha -0.75, so -1, which is 3 in two bits.
    let want = (1024 - 511) | (1024 - 256) << 10 | 128 << 20 | 3 << 30;
    assert_eq!(pixel(&signed(OutFormat::C_2_10_10_10, RGBA)), want);
}

#[test]
fn float16() {
    // 1 is 2^0: exponent code 15, 0x3c00. Each lower power of two subtracts 0x400; 3/4 = 1.5 * 2^-1.
    let wide = [0x00, 0x3c, 0x00, 0x38, 0x00, 0x34, 0x00, 0x3a];
    for signs in [0, 0xf] {
        let halfs = |format| stored(register(format, RGBA, signs), COLOR);
        assert_eq!(halfs(OutFormat::C_16_FP), wide[..2]);
        assert_eq!(halfs(OutFormat::C2_16_FP), wide[..4]);
        assert_eq!(halfs(OutFormat::C4_16_FP), wide);
    }
    // Values are not limited to 0..1; the codec defines the ends of the range.
    let fmt = register(OutFormat::C4_16_FP, RGBA, 0);
    let bytes = stored(fmt, [65519.996, 65520.0, -0.0, 2_f32.powi(-24)]);
    assert_eq!(bytes, [0xff, 0x7b, 0x00, 0x7c, 0x00, 0x80, 0x01, 0x00]);
    let bytes = stored(fmt, [f32::from_bits(0xffc0_0123), f32::NEG_INFINITY, -2.0, 1e-30]);
    assert_eq!(bytes, [0x00, 0x7e, 0x00, 0xfc, 0x00, 0xc0, 0x00, 0x00]);
}

#[test]
fn float32() {
    let wide = [0x3f80_0000_u32, 0x3f00_0000, 0x3e80_0000, 0x3f40_0000].map(u32::to_le_bytes);
    let wide = wide.concat();
    assert_eq!(unsigned(OutFormat::C_32_FP, RGBA), wide[..4]);
    assert_eq!(unsigned(OutFormat::C2_32_FP, RGBA), wide[..8]);
    assert_eq!(unsigned(OutFormat::C4_32_FP, RGBA), wide);
    // Bits are unchanged, denormals and -0 included, except for NaN.
    let bits = [0x8000_0000, 0x0000_0001, 0xff80_0000, 0xffc1_2345];
    let bytes = stored(register(OutFormat::C4_32_FP, RGBA, 0xf), bits.map(f32::from_bits));
    let want = [0x8000_0000, 0x0000_0001, 0xff80_0000, 0x7fc0_0000_u32].map(u32::to_le_bytes);
    assert_eq!(bytes, want.concat());
}

#[test]
fn fixed_point_is_limited() {
    let fmt = register(OutFormat::C4_8, RGBA, 0b1100);
    assert_eq!(stored(fmt, [f32::NAN, -0.0, f32::NAN, -0.0]), [0; 4]);
    let inf = f32::INFINITY;
    assert_eq!(stored(fmt, [inf, -inf, inf, -inf]), [255, 0, 127, 0x81]);
    assert_eq!(stored(fmt, [1.5, -1.5, 1.5, -1.5]), [255, 0, 127, 0x81]);
}

#[test]
fn unused_and_reserved_formats_store_nothing() {
    let nothing: Vec<u8> = (0..32).filter(|&n| layout(OutFormat::new(n)).is_none()).collect();
    assert_eq!(nothing, [14, 15, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
    for code in nothing {
        let fmt = register(OutFormat::new(code), RGBA, 0);
        assert_eq!(bytes_per_pixel(fmt), None);
        assert_eq!(stored(fmt, COLOR), [0_u8; 0]);
        assert_eq!(load(fmt, &[0; 16]), None);
    }
}

/// The documented names give the number and width of components: `C4_8` has four of eight bits, `C_3_3_2` has
/// component 0 last.
#[test]
fn layouts_are_what_their_names_say() {
    for value in OutFormat::VALUES {
        let format = OutFormat::new(value.code as u8);
        if format == OutFormat::UNUSED {
            continue;
        }
        let layout = layout(format).expect("named formats store something");
        // The one name that cannot be right: 17 bits.
        let name = if format == OutFormat::C_6_5_6 { "C_5_6_5" } else { value.name };
        let (head, tail) = name.split_once('_').unwrap();
        let mut widths: Vec<u32> = tail.split('_').rev().filter_map(|w| w.parse().ok()).collect();
        if let Ok(count) = head[1..].parse() {
            widths = vec![widths[0]; count];
        }
        let bits: Vec<u32> = layout.components.iter().map(|&(_, bits)| bits).collect();
        assert_eq!(bits, widths, "{name}");
        assert_eq!(layout.number == NumberFormat::Float, name.ends_with("FP"));
        assert_eq!(layout.number == NumberFormat::Gamma, name.ends_with("GAMMA"));

        // No two components share a bit, and the pixel has no unnecessary byte.
        let mut end = 0;
        for &(lo, bits) in layout.components {
            assert!(lo >= end, "{name}");
            end = lo + bits;
        }
        assert_eq!(layout.bytes, (end as usize).div_ceil(8).next_power_of_two(), "{name}");
    }
}

#[test]
fn loading_shows_what_is_missing() {
    let load = |format, order, bytes: &[u8]| load(register(format, order, 0), bytes).unwrap();
    // One component: the other colours are 0, alpha 1.
    assert_eq!(load(OutFormat::C_16_FP, RGBA, &[0x00, 0x38]), [0.5, 0.0, 0.0, 1.0]);
    assert_eq!(load(OutFormat::C_16_FP, [OutSel::A; 4], &[0x00, 0x38]), [0.0, 0.0, 0.0, 0.5]);
    // Two components of the same channel: component 0 is used.
    assert_eq!(load(OutFormat::C2_4, [OutSel::G; 4], &[0x0f]), [0.0, 1.0, 0.0, 1.0]);
    // A pixel at the start of longer bytes, and too few bytes.
    assert_eq!(load(OutFormat::C4_8, BGRA, &[255, 0, 51, 0, 9, 9]), [0.2, 0.0, 1.0, 0.0]);
    assert_eq!(super::load(UsOutFmt(0), &[1, 2, 3]), None);
    assert_eq!(super::load(UsOutFmt(0), &[]), None);
}

/// Random bytes, in any order of channels, signed or not: the loaded colour, stored and loaded again, is the same,
/// and the bytes are equal except where a colour has several codes (codes below -1, NaN, bits outside all
/// components).
#[test]
fn storing_undoes_loading() {
    let mut seed = 1_u64;
    let mut random = move || {
        // Knuth's MMIX generator; the upper half is sufficiently random.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    for layout in &LAYOUTS {
        let bits = layout
            .components
            .iter()
            .fold(0_u128, |all, &(lo, bits)| all | u128::from(u32::MAX >> (32 - bits)) << lo);
        for _ in 0..4_000 {
            // A random order of the four channels.
            let mut order = RGBA;
            for i in (1..4).rev() {
                order.swap(i, random() as usize % (i + 1));
            }
            let fmt = register(layout.format, order, random() as u8 & 0xf);
            let mut bytes: Vec<u8> = (0..layout.bytes).map(|_| random() as u8).collect();
            // Extreme codes are rare among random ones.
            if random() % 8 == 0 {
                bytes.fill(if random() % 2 == 0 { 0 } else { 0xff });
            }

            let shown = load(fmt, &bytes).unwrap();
            let again = stored(fmt, shown);
            let context = || format!("{fmt:?} {bytes:02x?} {shown:?} {again:02x?}");
            let shown_again = load(fmt, &again).unwrap();
            assert_eq!(shown_again.map(f32::to_bits), shown.map(f32::to_bits), "{}", context());

            let canonical = shown.iter().all(|x| x.is_finite() && *x > -1.0);
            if canonical || matches!(layout.number, NumberFormat::Unsigned | NumberFormat::Gamma) {
                let mut masked = [0; 16];
                masked[..layout.bytes].copy_from_slice(&bytes);
                let masked = (u128::from_le_bytes(masked) & bits).to_le_bytes();
                assert_eq!(again, masked[..layout.bytes], "{}", context());
            }
        }
    }
}
