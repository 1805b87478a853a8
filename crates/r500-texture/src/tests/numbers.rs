//! Special numbers: NaN, infinities, huge and tiny coordinates, rounding of interpolations.

use r500_isa::state::UsFormat;
use r500_isa::texture::TxFilter0;
use r500_isa::values::{ClampMode, LayerFilter, TexOp, TxFormat};
use r500_program::Texture;

use super::super::{Gradients, Weights};
use super::*;
use r500_numerics::{Arith, Denormals};

const DENORMAL: f32 = f32::from_bits(0x007f_ffff);

/// Returns a row of texels 1, 2, 3, ... in 256ths.
fn row(n: u8, mode: ClampMode) -> Texture {
    let bytes: Vec<u8> = (1..=n).collect();
    in_256ths(texture(TxFormat::X8, [n.into(), 1], &bytes)).with(TxFilter0::CLAMP_S, mode)
}

fn red(texture: &Texture, u: f32) -> f32 {
    at(texture, [u, 0.5, 0.0])[0] * 256.0
}

/// Returns one row of floats.
fn floats(values: &[f32]) -> Texture {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    texture(TxFormat::F32, [values.len() as u32, 1], &bytes)
}

#[test]
fn nan_is_coordinate_zero() {
    for mode in (0..8).map(ClampMode::new) {
        let texture = row(4, mode);
        assert_eq!(red(&texture, f32::NAN), 1.0, "{mode:?}");
        assert_eq!(red(&linear(texture.clone()), f32::NAN), red(&linear(texture), 0.0));
    }
    // 0/0 in a projection.
    let quad = QuadFetch::new(TexOp::PROJ, [[0.0; 4]; 4]);
    assert_eq!(bind(&row(4, ClampMode::CLAMP)).fetch(&quad, &REFERENCE)[0][0] * 256.0, 1.0);
}

#[test]
fn infinities_and_huge_coordinates_stop_at_two_to_the_thirty() {
    // 2^30 is a multiple of 4 and of 8.
    let wrap = row(4, ClampMode::WRAP);
    let mirror = row(4, ClampMode::MIRROR);
    // 2^30 = 4^15 is 1 modulo 3, and its negative is 2.
    let three = row(3, ClampMode::WRAP);
    for far in [1_073_741_824.0, 1.1e9, 1e30, f32::MAX, f32::INFINITY] {
        assert_eq!((red(&wrap, far), red(&wrap, -far)), (1.0, 1.0), "{far}");
        assert_eq!((red(&mirror, far), red(&mirror, -far)), (1.0, 1.0), "{far}");
        assert_eq!((red(&three, far), red(&three, -far)), (2.0, 3.0), "{far}");
        // At this magnitude the half that the linear filter subtracts is lost: the neighbour has
        // weight 0.
        assert_eq!(red(&linear(wrap.clone()), far), 1.0);
        let clamp = row(4, ClampMode::CLAMP);
        assert_eq!((red(&clamp, far), red(&clamp, -far)), (4.0, 1.0), "{far}");
        for mode in [ClampMode::MIRROR_ONCE, ClampMode::MIRROR_ONCE_HALF] {
            assert_eq!(red(&row(4, mode), -far), 4.0, "{far}");
        }
        for mode in [ClampMode::BORDER, ClampMode::MIRROR_ONCE_BORDER] {
            assert_eq!((red(&row(4, mode), far), red(&row(4, mode), -far)), (0.0, 0.0), "{far}");
        }
    }
    // 2^24 + 1 is not a float and 2^24 + 2 is texel 2 of four.
    assert_eq!(red(&wrap, 16_777_218.0), 3.0);
    // S times the width may overflow.
    let quad = QuadFetch::new(TexOp::LD, [[f32::MAX, 0.5, 0.0, 1.0]; 4]);
    assert_eq!(bind(&three).fetch(&quad, &REFERENCE)[0][0] * 256.0, 2.0);
}

#[test]
fn denormal_coordinates_are_zeros() {
    // The last texel is below zero, but a denormal counts as zero.
    let texture = row(4, ClampMode::WRAP);
    assert_eq!(red(&texture, -f32::MIN_POSITIVE), 4.0);
    assert_eq!(red(&texture, -DENORMAL), 1.0);
    assert_eq!(red(&texture, -0.0), 1.0);
    let keep = Arith { denormals: Denormals::Keep, ..Arith::REFERENCE };
    let keep = TexReadings { arith: keep, ..REFERENCE };
    assert_eq!(at_by(&texture, [-DENORMAL, 0.5, 0.0], &keep)[0] * 256.0, 4.0);
    // A quotient and a product can be subnormal, too.
    let quad = QuadFetch::new(TexOp::PROJ, [[-1e-30, 0.5, 0.0, 1e10]; 4]);
    assert_eq!(bind(&texture).fetch(&quad, &REFERENCE)[0][0] * 256.0, 1.0);
    // A denormal Q is zero: S/Q is infinite.
    let quad = QuadFetch::new(TexOp::PROJ, [[1.0, 0.5, 0.0, DENORMAL]; 4]);
    assert_eq!(bind(&row(4, ClampMode::CLAMP)).fetch(&quad, &REFERENCE)[0][0] * 256.0, 4.0);
    // Steps whose squares are subnormal count as no step: the logarithm of 0.
    let step = |s: f32| [[0.0; 4], [s, 0.0, 0.0, 0.0], [0.0; 4], [s, 0.0, 0.0, 0.0]];
    let quad = QuadFetch { unscaled: true, ..QuadFetch::new(TexOp::LD, step(1e-20)) };
    assert_eq!(bind(&texture).look_up(&quad, &REFERENCE)[0].lod, f32::NEG_INFINITY);
}

#[test]
fn nan_and_infinite_steps_have_a_level_of_detail() {
    let texture = row(4, ClampMode::CLAMP);
    let lod = |right: f32, below: f32| {
        let strq = [[0.0; 4], [right, 0.0, 0.0, 0.0], [below, 0.0, 0.0, 0.0], [0.0; 4]];
        let quad = QuadFetch { unscaled: true, ..QuadFetch::new(TexOp::LD, strq) };
        bind(&texture).look_up(&quad, &REFERENCE)[0].lod
    };
    assert_eq!(lod(f32::INFINITY, 0.0), f32::INFINITY);
    // Squares overflow before the logarithm.
    assert_eq!(lod(1e20, 0.0), f32::INFINITY);
    // x >= y ? x : y selects y if x or y is NaN.
    assert_eq!(lod(f32::NAN, 2.0), 1.0);
    assert_eq!(lod(2.0, f32::NAN), 0.0);
}

#[test]
fn texels_pass_untouched_and_mixtures_flush() {
    let texture = floats(&[DENORMAL, DENORMAL, f32::NAN, -0.0]);
    assert_eq!(red_bits(&texture, 0.5), DENORMAL.to_bits());
    assert_eq!(red_bits(&texture, 2.5), f32::NAN.to_bits());
    assert_eq!(red_bits(&texture, 3.5), (-0.0_f32).to_bits());
    assert_eq!(red_bits(&linear(texture), 1.0), 0);
    // Interpolation uses both neighbours, even if the second has weight 0.
    let texture = linear(floats(&[1.0, f32::INFINITY]));
    assert!(at(&texture, [0.5, 0.5, 0.0])[0].is_nan());
}

fn red_bits(texture: &Texture, u: f32) -> u32 {
    at(texture, [u, 0.5, 0.0])[0].to_bits()
}

#[test]
fn mixtures_round_at_each_step() {
    // 1 + (2^24 + 2 - 1) * weight: the difference 2^24 + 1 is a tie and rounds to even, 2^24. Half
    // of it plus 1 is 2^23 + 1; rounding once would give 2^23 + 1.5, a tie that rounds to 2^23 + 2.
    let texture = linear(floats(&[1.0, 16_777_218.0]));
    assert_eq!(at(&texture, [1.0, 0.5, 0.0])[0], 8_388_609.0);
}

#[test]
fn s_is_mixed_before_t() {
    // Row 0 has 0 and 2^25, row 1 has 2 and 2; both weights are 1/2. S first: the rows give 2^24 and
    // 2; along T, 2^24 + (2 - 2^24) / 2, where the difference is exact: 2^23 + 1. T first: column 0
    // gives 1, column 1 gives 2^25 + (2 - 2^25) / 2, where the difference 2^25 - 2 is a float and
    // half of it is 2^24 - 1: 2^24 + 1, which rounds to 2^24; then along S:
    // 1 + (2^24 - 1) / 2 = 2^23 + 1/2, a tie that rounds to 2^23.
    let bytes: Vec<u8> =
        [0.0_f32, 33_554_432.0, 2.0, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let texture = linear(texture(TxFormat::F32, [2, 2], &bytes));
    assert_eq!(at(&texture, [1.0, 1.0, 0.0])[0], 8_388_609.0);
}

#[test]
fn weights_are_exact_or_of_eight_bits() {
    let texture = linear(floats(&[0.0, 1.0]));
    let eight = TexReadings { weights: Weights::EightBits, ..REFERENCE };
    // 1/2 + 3/1024 of the way from the first texel to the second.
    let u = 1.0 + 3.0 / 1024.0;
    assert_eq!(at(&texture, [u, 0.5, 0.0])[0], 0.5 + 3.0 / 1024.0);
    assert_eq!(at_by(&texture, [u, 0.5, 0.0], &eight)[0], 0.5);
    assert_eq!(at_by(&texture, [1.0 + 5.0 / 1024.0, 0.5, 0.0], &eight)[0], 0.5 + 1.0 / 256.0);
}

#[test]
fn us_format_scales_and_the_texture_wraps() {
    let bytes: Vec<u8> = (1..=16).collect();
    let texture =
        in_256ths(texture(TxFormat::X8, [4, 4], &bytes)).with(TxFilter0::CLAMP_S, ClampMode::WRAP);
    let get = |format: Option<UsFormat>, s: f32, t: f32| {
        let quad = QuadFetch::new(TexOp::LD, [[s, t, 0.5, 1.0]; 4]);
        Sampler::bind(&texture, format).unwrap().fetch(&quad, &REFERENCE)[0][0] * 256.0
    };
    // 3/8 of 4 is texel 1; 3/8 of 8 is texel 3.
    assert_eq!(get(None, 0.375, 0.0), 2.0);
    let format = UsFormat::default().with(UsFormat::TXWIDTH, 7).with(UsFormat::TXHEIGHT, 1);
    assert_eq!(get(Some(format), 0.375, 0.0), 4.0);
    // 3/4 of 8 is 6, which wraps to 2; 3/4 of a height of 2 is row 1.
    assert_eq!(get(Some(format), 0.75, 0.75), 7.0);
    // A register of zeros means a size of one texel.
    assert_eq!(get(Some(UsFormat::default()), 1.0, 2.0), 10.0);
}

#[test]
fn us_format_tells_large_sizes_and_depths() {
    let texture = volume(texture(TxFormat::X8, [1, 1], &[0; 2]), 1);
    let scaled = |depth: u8| {
        let format = UsFormat::default()
            .with(UsFormat::TXWIDTH, 9)
            .with(UsFormat::TXHEIGHT, 4)
            .with(UsFormat::TXDEPTH, depth);
        let quad = QuadFetch::new(TexOp::LD, [[1.0; 4]; 4]);
        Sampler::bind(&texture, Some(format)).unwrap().look_up(&quad, &REFERENCE)[0].coordinates
    };
    assert_eq!(scaled(0), [10.0, 5.0, 1.0]);
    assert_eq!(scaled(3), [10.0, 5.0, 8.0]);
    assert_eq!(scaled(12), [10.0, 5.0, 4096.0]);
    assert_eq!(scaled(13), [2058.0, 5.0, 1.0]);
    assert_eq!(scaled(14), [10.0, 2053.0, 1.0]);
    assert_eq!(scaled(15), [2058.0, 2053.0, 1.0]);
}

#[test]
fn signs_of_zeros_and_denormals_in_coordinates_do_not_show_in_two_dimensions() {
    let bytes: Vec<u8> = (1..=16).collect();
    let levels = with_levels(
        texture(TxFormat::X8, [4, 4], &bytes).with(TxFilter0::MIP_FILTER, LayerFilter::LINEAR),
        &[([2, 2], &[20, 40, 60, 80]), ([1, 1], &[100])],
    );
    let zeros = floats(&[-0.0, 1.0, -1.0, 0.0]);
    for mode in (0..8).map(ClampMode::new) {
        let with_mode = |texture: &Texture| {
            texture.clone().with(TxFilter0::CLAMP_S, mode).with(TxFilter0::CLAMP_T, mode)
        };
        for texture in [&levels, &zeros].map(with_mode) {
            for texture in [texture.clone(), linear(texture)] {
                for op in [TexOp::LD, TexOp::PROJ, TexOp::LODBIAS, TexOp::LOD, TexOp::DXDY] {
                    let fetched = |zero: f32| {
                        let gradient =
                            Gradients { dx: [zero, 0.3, zero, 0.0], dy: [zero, zero, 0.0, 0.0] };
                        let quad = QuadFetch {
                            gradients: [gradient; 4],
                            ..QuadFetch::new(
                                op,
                                [
                                    [zero, zero, zero, 0.75],
                                    [0.25, zero, 0.0, 0.0],
                                    [zero, -0.25, zero, -1.0],
                                    [-0.75, 1.25, zero, 1.5],
                                ],
                            )
                        };
                        bind(&texture).fetch(&quad, &REFERENCE).map(|color| color.map(f32::to_bits))
                    };
                    for zero in [-0.0, DENORMAL, -DENORMAL] {
                        assert_eq!(fetched(zero), fetched(0.0), "{mode:?} {op:?} {zero}");
                    }
                }
            }
        }
    }
}
