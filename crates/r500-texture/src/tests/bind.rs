//! Binding: accepted and rejected textures, and the error messages.

use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500_isa::values::{ChromaKeyMode, EndianSwap, LayerFilter, TexelFilter, TxFormat, YuvToRgb};
use r500_program::Texture;

use super::super::BindError;
use super::*;

fn plain() -> Texture {
    texture(TxFormat::X8_8_8_8, [4, 2], &[0; 32])
}

fn error(texture: &Texture) -> String {
    Sampler::bind(texture, None).expect_err("must not bind").to_string()
}

/// Errors for modes that are not modelled or reserved name the register and field, the value, and a
/// remedy.
#[test]
fn modes_that_are_not_there() {
    type Change = fn(&mut Texture);
    #[rustfmt::skip]
    let cases: [(Change, &str); 24] = [
        (|t| t.set(TxFilter0::MAG_FILTER, TexelFilter::FILTER4),
            "TX_FILTER0.MAG_FILTER = 0 (programmable four-tap filter), which is not modelled: use 1 (Point) or 2 (Linear)"),
        (|t| t.set(TxFilter0::MIN_FILTER, TexelFilter::FILTER4),
            "TX_FILTER0.MIN_FILTER = 0 (programmable four-tap filter), which is not modelled: use 1 (Point) or 2 (Linear)"),
        (|t| t.set(TxFilter0::MIP_FILTER, LayerFilter::new(3)),
            "TX_FILTER0.MIP_FILTER = 3, which is reserved: use 0 (None), 1 (Point) or 2 (Linear)"),
        (|t| *t = volume(t.clone(), 0).with(TxFilter0::VOL_FILTER, LayerFilter::new(3)),
            "TX_FILTER0.VOL_FILTER = 3, which is reserved: use 0 (None), 1 (Point) or 2 (Linear)"),
        (|t| t.set(TxFilter1::CHROMA_KEY_MODE, ChromaKeyMode::KILL),
            "TX_FILTER1.CHROMA_KEY_MODE = 1 (kill the pixel if a sample matches), which is not modelled"),
        (|t| t.set(TxFilter1::CHROMA_KEY_MODE, ChromaKeyMode::BLEND),
            "TX_FILTER1.CHROMA_KEY_MODE = 2 (a sample that matches counts as 0), which is not modelled"),
        (|t| t.set(TxFilter1::CHROMA_KEY_MODE, ChromaKeyMode::new(3)),
            "TX_FILTER1.CHROMA_KEY_MODE = 3, which is reserved: use 0 (Disable)"),
        (|t| t.set(TxFilter1::MC_ROUND, true),
            "TX_FILTER1.MC_ROUND = 1 (MPEG-4 rounding of bilinear filters), which is not modelled: clear it"),
        (|t| t.set(TxFilter1::MC_COORD_TRUNCATE, true),
            "TX_FILTER1.MC_COORD_TRUNCATE = 1 (cut coordinate fractions to 0 and 1/2), which is not modelled: clear it"),
        (|t| t.set(TxFormat1::YUV_TO_RGB, YuvToRgb::CLAMPED),
            "TX_FORMAT1.YUV_TO_RGB = 1 (convert, with clamp), which is not modelled"),
        (|t| t.set(TxFormat1::YUV_TO_RGB, YuvToRgb::UNLIMITED),
            "TX_FORMAT1.YUV_TO_RGB = 2 (convert, without clamp), which is not modelled"),
        (|t| t.set(TxFormat1::YUV_TO_RGB, YuvToRgb::new(3)),
            "TX_FORMAT1.YUV_TO_RGB = 3, which is reserved"),
        (|t| t.set(TxFormat1::SWAP_YUV, true),
            "TX_FORMAT1.SWAP_YUV = 1"),
        (|t| t.set(TxFormat1::TEX_COORD_TYPE, CoordType::new(3)),
            "TX_FORMAT1.TEX_COORD_TYPE = 3, which is reserved: use 0 (2D), 1 (3D) or 2 (Cube)"),
        (|t| t.set(TxFormat1::TXFORMAT, TxFormat::AVYU444),
            "TX_FORMAT1.TXFORMAT = 19 (AVYU, 8 bits each), which is not modelled: convert"),
        (|t| t.set(TxFormat1::TXFORMAT, TxFormat::VYUY422),
            "TX_FORMAT1.TXFORMAT = 20 (VYUY, two texels a dword), which is not modelled: convert"),
        (|t| t.set(TxFormat1::TXFORMAT, TxFormat::YVYU422),
            "TX_FORMAT1.TXFORMAT = 21 (YVYU, two texels a dword), which is not modelled: convert"),
        (|t| t.set(TxFormat2::TXFORMAT_MSB, true),
            "TX_FORMAT1.TXFORMAT = 12 with TX_FORMAT2.TXFORMAT_MSB set is a reserved format"),
        (|t| t.set(TxOffset::MACRO_TILE, true),
            "TX_OFFSET.MACRO_TILE = 1 (2 KiB pages are tiled), which is not modelled"),
        (|t| t.set(TxOffset::MICRO_TILE, 1),
            "TX_OFFSET.MICRO_TILE = 1 (tiled), which is not modelled"),
        (|t| t.set(TxOffset::MICRO_TILE, 2),
            "TX_OFFSET.MICRO_TILE = 2 (tiled square (16-bit texels)), which is not modelled"),
        (|t| t.set(TxOffset::MICRO_TILE, 3),
            "TX_OFFSET.MICRO_TILE = 3, which is reserved"),
        (|t| t.set(TxFormat0::NUM_LEVELS, 2),
            "TX_FORMAT0.NUM_LEVELS = 2 stands for 3 levels and 1 are given"),
        (|t| t.levels.clear(),
            "TX_FORMAT0.NUM_LEVELS = 0 stands for 1 levels and 0 are given"),
    ];
    for (change, message) in cases {
        let mut texture = plain();
        change(&mut texture);
        let error = error(&texture);
        assert!(error.starts_with(message), "wanted {message}\ngot    {error}");
        assert!(error.contains(": "), "no way out: {error}");
    }
}

#[test]
fn every_format_binds_or_is_refused_by_name() {
    // The documented formats without YUV (19 to 21) and with DXT (15 to 17); seven formats with
    // `TXFORMAT_MSB`.
    for msb in [false, true] {
        for code in 0..32 {
            let texture =
                texture(TxFormat::new(code), [4, 4], &[]).with(TxFormat2::TXFORMAT_MSB, msb);
            let known = if msb { code < 7 } else { !(19..=21).contains(&code) };
            match Sampler::bind(&texture, None).expect_err("no bytes are given") {
                BindError::LevelBytes { .. } => assert!(known, "{code} {msb}"),
                BindError::NotModelled { setting, .. } => {
                    assert_eq!((setting.field, setting.code), ("TXFORMAT", code.into()));
                    assert!(!known && !msb);
                }
                error => {
                    assert_eq!(error, BindError::ReservedFormat { code });
                    assert!(!known && msb);
                }
            }
        }
    }
}

/// The bytes of a level of each format, computed by hand from the bits of a texel or block; rows are
/// whole bytes.
#[test]
fn levels_have_the_bytes_that_their_format_needs() {
    use TxFormat as F;
    for (format, bytes) in [
        (F::X8, 15),
        (F::X16, 30),
        (F::X4_4, 15),
        (F::X16_16, 60),
        (F::X16_16_16_16, 120),
        (F::F32_32_32_32, 240),
        // 5x3 texels are 2x1 blocks.
        (F::DXT1, 16),
        (F::DXT3, 32),
        (F::DXT5, 32),
        (F::ATI2N, 32),
        (F::W24_FP, 60),
    ] {
        for given in [0, bytes - 1, bytes, bytes + 1] {
            let result = Sampler::bind(&texture(format, [5, 3], &vec![0; given]), None);
            assert_eq!(result.is_ok(), given == bytes, "{format:?} {given}");
        }
    }
    for (format, bytes) in [(TxFormatMsb::X1, 3), (TxFormatMsb::X10, 30), (TxFormatMsb::ATI1N, 16)]
    {
        for given in [bytes - 1, bytes, bytes + 1] {
            let result = Sampler::bind(&texture_msb(format, [5, 3], &vec![0; given]), None);
            assert_eq!(result.is_ok(), given == bytes, "{format:?} {given}");
        }
    }
    let short = texture(TxFormat::X8_8_8_8, [4, 2], &[0; 31]);
    assert_eq!(
        error(&short),
        "level 0 has 31 bytes, its size and format (TX_FORMAT1.TXFORMAT) need 32, 16 a row \
         (TX_FORMAT2.TXPITCH where TX_FORMAT0.TXPITCH_EN is set): correct the bytes or the registers"
    );
}

#[test]
fn levels_have_the_size_that_follows() {
    let mut texture = with_levels(plain(), &[([2, 1], &[0; 8]), ([1, 1], &[0; 4])]);
    assert!(Sampler::bind(&texture, None).is_ok());
    texture.levels[1].height = 2;
    assert_eq!(
        error(&texture),
        "level 1 is given as 2x2x1, by TX_FORMAT0 and TX_FORMAT2 it has 2x1x1 texels \
         (width, height, layers or faces): correct either"
    );
    // A level past NUM_LEVELS is not read.
    texture.set(TxFormat0::NUM_LEVELS, 0);
    assert!(Sampler::bind(&texture, None).is_ok());

    let five = cube(plain());
    assert!(Sampler::bind(&five, None).is_err_and(|e| matches!(e, BindError::LevelBytes { .. })));
    let mut five = five;
    five.levels[0].layers = 5;
    assert!(
        error(&five)
            .starts_with("level 0 is given as 4x2x5, by TX_FORMAT0 and TX_FORMAT2 it has 4x2x6")
    );
}

#[test]
fn sizes_have_twelve_bits() {
    let make = |width: u32, height: u32| {
        let bytes = vec![0; (width * height) as usize];
        let texture = texture(TxFormat::X8, [width, height], &bytes)
            .with(TxFormat0::TXWIDTH, ((width - 1) & 0x7ff) as u16)
            .with(TxFormat0::TXHEIGHT, ((height - 1) & 0x7ff) as u16)
            .with(TxFormat2::TXWIDTH_11, width > 2048)
            .with(TxFormat2::TXHEIGHT_11, height > 2048);
        bind(&texture).level_size(0)
    };
    assert_eq!(make(4096, 1), [4096, 1, 1]);
    assert_eq!(make(2, 2049), [2, 2049, 1]);
    assert_eq!(make(2048, 1), [2048, 1, 1]);
}

#[test]
fn rows_lie_a_pitch_apart() {
    // Rows of 2 texels, with a pitch of 3 texels.
    let mut texture = texture(TxFormat::X8, [2, 2], &[1, 2, 99, 3, 4, 99]);
    texture.set(TxFormat2::TXPITCH, 2);
    // Without TXPITCH_EN the pitch is ignored.
    assert!(error(&texture).starts_with("level 0 has 6 bytes"));
    texture.set(TxFormat0::TXPITCH_EN, true);
    let mut texture = in_256ths(texture);
    let all = |texture: &Texture| {
        [[0.5, 0.5], [1.5, 0.5], [0.5, 1.5], [1.5, 1.5]]
            .map(|[u, v]| at(texture, [u, v, 0.0])[0] * 256.0)
    };
    assert_eq!(all(&texture), [1.0, 2.0, 3.0, 4.0]);
    // The last row may end with its last texel.
    texture.levels[0].bytes.pop();
    assert_eq!(all(&texture), [1.0, 2.0, 3.0, 4.0]);
    // Rows without padding are recognised by the length of the level.
    texture.levels[0].bytes = vec![1, 2, 3, 4];
    assert_eq!(all(&texture), [1.0, 2.0, 3.0, 4.0]);
    texture.levels[0].bytes.pop();
    assert!(error(&texture).starts_with("level 0 has 3 bytes"));

    // The pitch halves as the width does: 6 texels, then 3; it is never below the width.
    let texture = super::texture(TxFormat::X8, [4, 2], &[0; 12]);
    let mut texture = with_levels(texture, &[([2, 1], &[7, 8, 99]), ([1, 1], &[9])]);
    texture.set(TxFormat0::TXPITCH_EN, true);
    texture.set(TxFormat2::TXPITCH, 5);
    assert!(Sampler::bind(&texture, None).is_ok());
    texture.set(TxFormat2::TXPITCH, 0);
    texture.levels[0].bytes = vec![0; 8];
    texture.levels[1].bytes.pop();
    assert!(Sampler::bind(&texture, None).is_ok());

    // Blocks: a pitch of 8 texels is 2 blocks; 4x5 texels have 1 block a row, 2 rows.
    let mut texture = super::texture(TxFormat::DXT1, [4, 5], &[0; 32]);
    texture.set(TxFormat0::TXPITCH_EN, true);
    texture.set(TxFormat2::TXPITCH, 7);
    texture.levels[0].bytes[16..18].copy_from_slice(&[0, 0xf8]);
    let texture = texture;
    assert_eq!(at(&texture, [0.5, 0.5, 0.0])[0], 0.0);
    assert_eq!(at(&texture, [0.5, 4.5, 0.0])[0], 1.0);
}

#[test]
fn layers_follow_each_other_with_their_rows() {
    // Two layers of two rows, with a pitch of 3; the last row is short.
    let bytes = [1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8];
    let mut texture = in_256ths(volume(texture(TxFormat::X8, [2, 2], &bytes), 1));
    texture.set(TxFormat0::TXPITCH_EN, true);
    texture.set(TxFormat2::TXPITCH, 2);
    assert_eq!(at(&texture, [1.5, 0.5, 1.5])[0] * 256.0, 6.0);
    assert_eq!(at(&texture, [1.5, 1.5, 1.5])[0] * 256.0, 8.0);
    assert_eq!(at(&texture, [0.5, 1.5, 0.5])[0] * 256.0, 3.0);
}

#[test]
fn swapped_bytes_come_in_whole_units() {
    for (swap, unit) in [(EndianSwap::W16, 2), (EndianSwap::W32, 4), (EndianSwap::HALF, 4)] {
        for length in [1_usize, 2, 4, 6] {
            let texture = texture(TxFormat::X8, [length as u32, 1], &vec![0; length]);
            let result = Sampler::bind(&texture.with(TxOffset::ENDIAN_SWAP, swap), None);
            assert_eq!(result.is_ok(), length.is_multiple_of(unit), "{swap:?} {length}");
        }
    }
    let texture = texture(TxFormat::X8, [1, 1], &[0]);
    assert_eq!(
        error(&texture.with(TxOffset::ENDIAN_SWAP, EndianSwap::W32)),
        "level 0 has 1 bytes, and TX_OFFSET.ENDIAN_SWAP = 2 (swap bytes in 32 bits) swaps within \
         units of 4: give whole units or clear ENDIAN_SWAP"
    );
}

#[test]
fn registers_that_mean_nothing_here_are_not_looked_at() {
    let mut texture = plain();
    texture.set(TxFilter0::ID, 15);
    texture.set(TxFilter1::MACRO_SWITCH, true);
    texture.set(TxFormat0::PROJECTED, true);
    texture.set(TxFormat0::TXDEPTH, 15);
    texture.set(TxFormat1::CACHE, 31);
    texture.set(TxFormat2::SEL_FILTER4, 3);
    texture.set(TxOffset::TXOFFSET, u32::MAX >> 5);
    texture.chroma_key = r500_isa::texture::TxChromaKey(u32::MAX);
    assert_eq!(bind(&texture).level_size(0), [4, 2, 1]);
}

#[test]
fn a_sampler_tells_about_itself() {
    let texture = with_levels(plain(), &[([2, 1], &[51; 8])]);
    let sampler = bind(&texture);
    assert_eq!((sampler.levels(), sampler.axes()), (2, 0b011));
    assert_eq!((sampler.level_size(1), sampler.level_size(2)), ([2, 1, 1], [0; 3]));
    assert_eq!(sampler.texel(1, [1, 0, 0], &REFERENCE), [0.2; 4]);
    // Coordinates outside a level return the border colour.
    let mut bordered = texture;
    bordered.border_color = 255;
    let sampler = bind(&bordered);
    for (level, at) in
        [(0, [4, 0, 0]), (0, [0, 2, 0]), (0, [0, 0, 1]), (2, [0; 3]), (99, [u32::MAX; 3])]
    {
        assert_eq!(sampler.texel(level, at, &REFERENCE), [1.0, 0.0, 0.0, 0.0], "{level} {at:?}");
    }
    assert_eq!(bind(&volume(plain(), 0)).axes(), 0b111);
}
