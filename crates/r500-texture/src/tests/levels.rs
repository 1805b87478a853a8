//! Level of detail, magnification and mip filters.

use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0};
use r500_isa::values::{ClampMode, LayerFilter, TexOp, TexelFilter, TriPerf, TxFormat};
use r500_program::Texture;

use super::super::{Gradients, LodBias, LodFraction, Magnification};
use super::*;

/// Returns 8x8 texels and three smaller levels. Red is the level's number in 256ths; green is 128 in the
/// left half and 0 in the right half of each level except the last.
fn pyramid(mip: LayerFilter) -> Texture {
    let level = |k: u8, size: usize| -> Vec<u8> {
        let green = move |i: usize| if i % size < size.div_ceil(2) { 128 } else { 0 };
        (0..size * size).flat_map(|i| [k, green(i), 0, 0]).collect()
    };
    let texture = texture(TxFormat::X8_8_8_8, [8, 8], &level(0, 8));
    let (one, two, three) = (level(1, 4), level(2, 2), level(3, 1));
    let texture = with_levels(texture, &[([4, 4], &one), ([2, 2], &two), ([1, 1], &three)]);
    in_256ths(texture).with(TxFilter0::MIP_FILTER, mip)
}

/// Returns the level, or the interpolation of two levels, at a level of detail.
fn level_of(texture: &Texture, lod: f32) -> f32 {
    at_lod(texture, lod)[0] * 256.0
}

fn bias(texture: Texture, code: i16) -> Texture {
    texture.with(TxFilter1::LOD_BIAS, (code & 0x3ff) as u16)
}

fn finest(texture: Texture, level: u8) -> Texture {
    texture.with(TxFilter0::MAX_MIP_LEVEL, level)
}

/// Returns a quad that samples texels `step` apart to the right and `down` apart downward.
fn stepping(op: TexOp, step: [f32; 3], down: [f32; 3], q: f32) -> QuadFetch {
    let place = |x: f32, y: f32| {
        let axis = |i: usize| 0.5 + x * step[i] + y * down[i];
        [axis(0), axis(1), axis(2), q]
    };
    let strq = [place(0.0, 0.0), place(1.0, 0.0), place(0.0, 1.0), place(1.0, 1.0)];
    QuadFetch { unscaled: true, ..QuadFetch::new(op, strq) }
}

fn lods(texture: &Texture, quad: &QuadFetch) -> [f32; 4] {
    bind(texture).look_up(quad, &REFERENCE).map(|lookup| lookup.lod)
}

#[test]
fn point_takes_the_nearest_level() {
    let texture = pyramid(LayerFilter::POINT);
    for (lod, level) in [
        (f32::NEG_INFINITY, 0.0),
        (-1.0, 0.0),
        (0.0, 0.0),
        (0.25, 0.0),
        // Cut to 7/16, so the sum with 1/2 does not round up to 1.
        (0.5 - 1.0 / 33_554_432.0, 0.0),
        (0.5, 1.0),
        (1.0, 1.0),
        (1.499, 1.0),
        (1.5, 2.0),
        (2.5, 3.0),
        (3.0, 3.0),
        (3.5, 3.0),
        (1e30, 3.0),
        (f32::INFINITY, 3.0),
        (f32::NAN, 0.0),
    ] {
        assert_eq!(level_of(&texture, lod), level, "at {lod}");
    }
}

#[test]
fn linear_mixes_two_levels() {
    let texture = pyramid(LayerFilter::LINEAR);
    for lod in [-3.0, 0.0, 0.25, 0.5, 1.0, 1.75, 2.5, 2.875, 3.0, 3.5, f32::INFINITY, f32::NAN] {
        // Red increases by one a level, so the result is the level of detail within 0..3.
        let want = if lod > 0.0 { lod.min(3.0) } else { 0.0 };
        assert_eq!(level_of(&texture, lod), want, "at {lod}");
    }
}

/// Mesa's driver adds 1/32 to every bias; at a level's exact size a card reads nothing of the next level.
#[test]
fn a_bias_of_one_half_step_rounds_to_the_nearest_step() {
    let texture = bias(pyramid(LayerFilter::LINEAR), 1);
    for (lod, want) in [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (0.031, 0.0), (0.0313, 0.0625)] {
        assert_eq!(level_of(&texture, lod), want, "at {lod}");
    }
    let by = |lod_fraction: LodFraction, lod: f32| {
        let readings = TexReadings { lod_fraction, ..REFERENCE };
        let quad = QuadFetch::new(TexOp::LOD, [[0.5, 0.5, 0.5, lod]; 4]);
        bind(&texture).fetch(&quad, &readings)[0][0] * 256.0
    };
    assert_eq!(by(LodFraction::FiveBits, 1.0), 1.03125);
    assert_eq!(by(LodFraction::FiveBits, 1.0 + 1.0 / 64.0), 1.03125);
    assert_eq!(by(LodFraction::Exact, 1.0 + 1.0 / 64.0), 1.046_875);
    assert_eq!(by(LodFraction::FourBits, 1.0 + 1.0 / 64.0), 1.0);
}

#[test]
fn none_takes_the_finest_level() {
    for lod in [-1.0, 0.0, 0.5, 2.0, 9.0] {
        assert_eq!(level_of(&pyramid(LayerFilter::NONE), lod), 0.0);
        assert_eq!(level_of(&finest(pyramid(LayerFilter::NONE), 2), lod), 2.0);
    }
}

#[test]
fn finest_and_coarsest_level_limit() {
    let texture = finest(pyramid(LayerFilter::LINEAR), 2);
    for (lod, want) in [(-1.0, 2.0), (0.5, 2.0), (2.0, 2.0), (2.5, 2.5), (7.0, 3.0)] {
        assert_eq!(level_of(&texture, lod), want, "at {lod}");
    }
    // MAX_MIP_LEVEL beyond the last level selects the last level.
    for level in [3, 4, 15] {
        for mip in [LayerFilter::NONE, LayerFilter::POINT, LayerFilter::LINEAR] {
            let texture = finest(pyramid(mip), level);
            assert!([-1.0, 0.5, 3.0, 9.0].iter().all(|&lod| level_of(&texture, lod) == 3.0));
        }
    }
    // NUM_LEVELS limits the levels, even if more are given.
    let texture = pyramid(LayerFilter::POINT).with(TxFormat0::NUM_LEVELS, 1);
    assert_eq!(level_of(&texture, 3.0), 1.0);
    assert_eq!(bind(&texture).levels(), 2);
}

#[test]
fn tri_perf_is_a_steeper_line() {
    let with = |code| pyramid(LayerFilter::LINEAR).with(TxFilter1::TRI_PERF, code);
    // 4/3 f - 1/6, with the ends at 1/8 and 7/8; 2 f - 1/2; 4 f - 3/2. All of them map 1/2 to 1/2.
    for (code, line) in [
        (TriPerf::ONE_EIGHTH, [(0.0, 0.0), (0.125, 0.0), (0.5, 0.5), (0.875, 1.0), (0.9375, 1.0)]),
        (TriPerf::ONE_QUARTER, [(0.125, 0.0), (0.25, 0.0), (0.375, 0.25), (0.5, 0.5), (0.75, 1.0)]),
        (
            TriPerf::THREE_8THS,
            [(0.375, 0.0), (0.4375, 0.25), (0.5, 0.5), (0.625, 1.0), (0.75, 1.0)],
        ),
    ] {
        let texture = with(code);
        for (f, want) in line {
            assert_eq!(level_of(&texture, 1.0 + f), 1.0 + want, "{code:?} at {f}");
        }
    }
    // At 1/4, the result 1/6 comes from the nearest floats of 4/3 and 1/6: 0.33333334 - 0.16666667.
    // Levels of 0 and 1 (in 256ths) show the weight itself.
    assert_eq!(level_of(&with(TriPerf::ONE_EIGHTH), 0.25), 0.333_333_34 - 0.166_666_67);
    // TRI_PERF does not apply to MIP_FILTER point.
    let point = with(TriPerf::THREE_8THS).with(TxFilter0::MIP_FILTER, LayerFilter::POINT);
    assert_eq!(level_of(&point, 1.75), 2.0);
}

#[test]
fn magnification_ends_at_zero() {
    // Magnified, the centre is the mean of green 128 and 0; minified, the texel to the right of it.
    let texture = pyramid(LayerFilter::POINT).with(TxFilter0::MAG_FILTER, TexelFilter::LINEAR);
    let green = |texture: &Texture, lod: f32| at_lod(texture, lod)[1] * 256.0;
    // At level of detail 0 or less, the mean of both halves; else the right half.
    for lod in [-2.0, -0.0, 0.0, f32::from_bits(1), f32::MIN_POSITIVE, 0.0624, f32::NAN] {
        assert_eq!(green(&texture, lod), 64.0, "at {lod}");
    }
    for lod in [0.0625, 0.25, 0.5] {
        assert_eq!(green(&texture, lod), 0.0, "at {lod}");
    }
    // Below MAX_MIP_LEVEL, but not magnified.
    assert_eq!(green(&finest(texture.clone(), 1), 0.25), 0.0);
    // The bias is added first: 16/32.
    assert_eq!(green(&bias(texture.clone(), 16), -0.5), 64.0);
    assert_eq!(green(&bias(texture.clone(), 16), -0.25), 0.0);
    assert_eq!(green(&bias(texture.clone(), -16), 0.5), 64.0);

    let by = |magnification, code: i16, lod: f32| {
        let readings = TexReadings { magnification, ..REFERENCE };
        let quad = QuadFetch::new(TexOp::LOD, [[0.5, 0.5, 0.5, lod]; 4]);
        bind(&bias(texture.clone(), code)).fetch(&quad, &readings)[0][1] * 256.0
    };
    assert_eq!(by(Magnification::Half, 0, 0.5), 64.0);
    assert_eq!(by(Magnification::Half, 0, 0.5625), 0.0);
    assert_eq!(by(Magnification::Unbiased, 16, 0.0), 64.0);
    assert_eq!(by(Magnification::Unbiased, -16, 0.25), 0.0);
}

#[test]
fn the_longer_step_decides() {
    let texture = pyramid(LayerFilter::POINT);
    let zero = [0.0; 3];
    for (step, down, lod) in [
        // log2 of the length: 4, 1/2, sqrt 2, 5 (3 and 4).
        ([4.0, 0.0, 0.0], zero, 2.0),
        (zero, [0.0, -4.0, 0.0], 2.0),
        ([0.5, 0.0, 0.0], zero, -1.0),
        ([1.0, -1.0, 0.0], zero, 0.5),
        ([1.0, 1.0, 0.0], [2.0, 0.0, 0.0], 1.0),
        ([8.0, 0.0, 0.0], [2.0, 2.0, 0.0], 3.0),
        // The sum of both directions would be longer.
        ([2.0, 0.0, 0.0], [0.0, 2.0, 0.0], 1.0),
        // A 2D texture ignores R.
        ([2.0, 0.0, 64.0], [0.0, 0.0, f32::NAN], 1.0),
        (zero, zero, f32::NEG_INFINITY),
    ] {
        let got = lods(&texture, &stepping(TexOp::LD, step, down, 1.0));
        assert_eq!(got, [lod; 4], "{step:?} {down:?}");
    }
    // The length of (3, 4) is 5: log2 25 = 4.643856, to within 1.6 ulp, and halved.
    let [lod, ..] = lods(&texture, &stepping(TexOp::LD, [3.0, 4.0, 0.0], zero, 1.0));
    assert!((lod - 2.321_928).abs() < 5e-7, "{lod}");
}

#[test]
fn only_three_corners_make_the_steps() {
    let texture = pyramid(LayerFilter::POINT);
    let mut quad = stepping(TexOp::LD, [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], 1.0);
    quad.strq[3] = [500.0, f32::NAN, 0.0, 0.0];
    assert_eq!(lods(&texture, &quad), [1.0; 4]);
}

#[test]
fn steps_are_scaled_as_coordinates_are() {
    let texture = pyramid(LayerFilter::POINT);
    let mut quad = stepping(TexOp::LD, [0.25, 0.0, 0.0], [0.0; 3], 1.0);
    assert_eq!(lods(&texture, &quad), [-2.0; 4]);
    quad.unscaled = false;
    assert_eq!(lods(&texture, &quad), [1.0; 4]);
}

#[test]
fn proj_divides_before_steps_are_taken() {
    let texture = pyramid(LayerFilter::POINT);
    let mut quad = stepping(TexOp::PROJ, [8.0, 0.0, 0.0], [0.0, 2.0, 0.0], 2.0);
    assert_eq!(lods(&texture, &quad), [2.0; 4]);
    // Q of a single pixel: the right one is at (8.5 / 8.5), half a unit from 0.5 / 1.
    quad.strq = [[0.5, 0.5, 0.0, 1.0], [8.5, 4.25, 0.0, 8.5], [0.5, 0.5, 0.0, 1.0], [0.0; 4]];
    assert_eq!(lods(&texture, &quad), [-1.0; 4]);
    // LD ignores Q.
    quad.op = TexOp::LD;
    assert!(lods(&texture, &quad)[0] > 3.0);
}

#[test]
fn q_is_added_or_taken() {
    let texture = pyramid(LayerFilter::POINT);
    let mut quad = stepping(TexOp::LODBIAS, [2.0, 0.0, 0.0], [0.0; 3], 0.0);
    for (pixel, q) in [0.5, -0.25, 100.0, f32::NAN].into_iter().enumerate() {
        quad.strq[pixel][3] = q;
    }
    assert_eq!(lods(&texture, &quad), [1.5, 0.75, 101.0, 0.0]);
    quad.op = TexOp::LOD;
    assert_eq!(lods(&texture, &quad), [0.5, -0.25, 100.0, 0.0]);
}

#[test]
fn dxdy_takes_gradients_of_each_pixel() {
    let texture = pyramid(LayerFilter::POINT);
    let mut quad = stepping(TexOp::DXDY, [500.0, 0.0, 0.0], [0.0; 3], 1.0);
    quad.gradients = [2.0, 4.0, 0.5, 0.0].map(|length| Gradients {
        dx: [0.0, length, 77.0, 77.0],
        dy: [length / 2.0, 0.0, 77.0, 77.0],
    });
    assert_eq!(lods(&texture, &quad), [1.0, 2.0, -1.0, f32::NEG_INFINITY]);
    // Scaled by 8, as coordinates are.
    quad.unscaled = false;
    assert_eq!(lods(&texture, &quad), [4.0, 5.0, 2.0, f32::NEG_INFINITY]);
}

#[test]
fn unit_lod_bias_has_five_fraction_bits() {
    let quad = |op| {
        let mut quad = stepping(op, [2.0, 0.0, 0.0], [0.0; 3], 1.0);
        quad.gradients = [Gradients { dx: [2.0, 0.0, 0.0, 0.0], dy: [0.0; 4] }; 4];
        quad
    };
    for (code, levels) in [(1, 0.03125), (-1, -0.03125), (511, 15.96875), (-512, -16.0), (40, 1.25)]
    {
        let texture = bias(pyramid(LayerFilter::POINT), code);
        for op in [TexOp::LD, TexOp::DXDY, TexOp::LOD] {
            assert_eq!(lods(&texture, &quad(op))[0], 1.0 + levels, "{op:?} {code}");
        }
        assert_eq!(lods(&texture, &quad(TexOp::LODBIAS))[0], 2.0 + levels);
    }
    let texture = bias(pyramid(LayerFilter::POINT), 32);
    for (lod_bias, want) in [
        (LodBias::Always, [2.0, 2.0, 2.0]),
        (LodBias::NotLod, [2.0, 1.0, 2.0]),
        (LodBias::Implicit, [2.0, 1.0, 1.0]),
    ] {
        let readings = TexReadings { lod_bias, ..REFERENCE };
        let got = [TexOp::LD, TexOp::LOD, TexOp::DXDY]
            .map(|op| bind(&texture).look_up(&quad(op), &readings)[0].lod);
        assert_eq!(got, want, "{lod_bias:?}");
    }
}

#[test]
fn coordinates_halve_from_level_to_level() {
    // Texel 6 of 8 is texel 3 of 4 and texel 1 of 2.
    let texture = pyramid(LayerFilter::POINT);
    let quad =
        |lod| QuadFetch { unscaled: true, ..QuadFetch::new(TexOp::LOD, [[6.5, 2.5, 0.0, lod]; 4]) };
    let sampler = bind(&texture);
    for (lod, texel, coordinates) in [
        (0.0, [6, 2, 0], [6.5, 2.5]),
        (1.0, [3, 1, 0], [3.25, 1.25]),
        (2.0, [1, 0, 0], [1.625, 0.625]),
    ] {
        let [lookup, ..] = sampler.look_up(&quad(lod), &REFERENCE);
        let level = &lookup.levels[0];
        assert_eq!(level.texels[0].at, Some(texel));
        assert_eq!(level.coordinates[..2], coordinates);
        assert_eq!(lookup.coordinates[..2], [6.5, 2.5]);
    }
}

#[test]
fn border_fix_stops_halving_a_single_texel() {
    // Levels of 4x1, 2x1 and 1x1 texels, all 128; the border is 0 and applies along T.
    let make = |fix| {
        let texture = texture(TxFormat::X8, [4, 1], &[128; 4]);
        let texture = with_levels(texture, &[([2, 1], &[128; 2]), ([1, 1], &[128])])
            .with(TxFilter0::MIP_FILTER, LayerFilter::POINT)
            .with(TxFilter0::CLAMP_T, ClampMode::BORDER)
            .with(TxFilter1::BORDER_FIX, fix);
        linear(in_256ths(texture))
    };
    // T = 1/2 is the centre of the row. At level 2 it is scaled to 1/8, where the border has weight 3/8;
    // with BORDER_FIX it stays the centre. S is 1/2 of one texel either way.
    assert_eq!(level_of(&make(false), 2.0), 80.0);
    assert_eq!(level_of(&make(true), 2.0), 128.0);
    assert_eq!(level_of(&make(false), 1.0), 96.0);
    // After the level of one texel, scaling of S stops, too: levels 3 and 4 of 1x1.
    let five = |fix| {
        with_levels(make(fix), &[([1, 1], &[128]), ([1, 1], &[128])])
            .with(TxFilter0::CLAMP_S, ClampMode::BORDER)
    };
    let quad = QuadFetch::new(TexOp::LOD, [[0.5, 0.5, 0.0, 4.0]; 4]);
    for (fix, place) in [(true, [0.5, 0.5]), (false, [0.125, 0.031_25])] {
        let [lookup, ..] = bind(&five(fix)).look_up(&quad, &REFERENCE);
        assert_eq!(lookup.levels[0].coordinates[..2], place);
    }
}

#[test]
fn two_levels_are_mixed_even_with_no_share() {
    // The second level is infinite: inf * 0 is NaN, by the formula.
    let texel = |x: f32| x.to_le_bytes();
    let texture = texture(TxFormat::F32, [2, 1], &[texel(1.0), texel(1.0)].concat());
    let texture = with_levels(texture, &[([1, 1], &texel(f32::INFINITY))])
        .with(TxFilter0::MIP_FILTER, LayerFilter::LINEAR);
    // Magnified, one level only.
    assert_eq!(at_lod(&texture, 0.0)[0], 1.0);
    assert_eq!(at_lod(&texture, 0.25)[0], f32::INFINITY);
    // The last level is blended with itself: inf - inf.
    assert!(at_lod(&texture, 1.0)[0].is_nan());
    let mut finest_is_one = texture.clone();
    finest_is_one.levels[1].bytes = texel(5.0).to_vec();
    assert_eq!(at_lod(&finest_is_one, 1.0)[0], 5.0);
}

#[test]
fn a_lookup_tells_what_was_mixed() {
    let texture = linear(pyramid(LayerFilter::LINEAR));
    let quad = QuadFetch::new(TexOp::LOD, [[0.5, 0.5, 0.0, 1.25]; 4]);
    let [lookup, ..] = bind(&texture).look_up(&quad, &REFERENCE);
    assert_eq!(lookup.lod, 1.25);
    assert!(!lookup.magnified);
    assert_eq!(lookup.face, None);
    assert_eq!(lookup.level_weight, 0.25);
    assert_eq!(lookup.levels.iter().map(|l| l.level).collect::<Vec<_>>(), [1, 2]);
    // The centre of 4x4 is midway between texels 1 and 2.
    let level = &lookup.levels[0];
    assert_eq!(level.coordinates[..2], [2.0, 2.0]);
    assert_eq!(level.weights, [0.5, 0.5, 0.0]);
    let places: Vec<_> = level.texels.iter().map(|t| t.at.unwrap()).collect();
    assert_eq!(places, [[1, 1, 0], [2, 1, 0], [1, 2, 0], [2, 2, 0]]);
    assert_eq!(level.texels[0].color[1], 0.5);
    assert_eq!(level.texels[1].color[1], 0.0);
    // Green is 1/4 in both levels, red 1 and 2.
    assert_eq!(lookup.color, [1.25 / 256.0, 0.25, 0.0, 0.0]);
}
