//! Volume textures.

use r500_isa::texture::TxFilter0;
use r500_isa::values::{ClampMode, LayerFilter, TexOp, TxFormat};
use r500_program::{Level, Texture};

use super::*;

/// Returns 2x2x2 texels whose values encode their position: column 1, row 2, layer 4, times 16.
fn small() -> Texture {
    let bytes: Vec<u8> = (0..8).map(|i| 16 * i).collect();
    in_256ths(volume(texture(TxFormat::X8, [2, 2], &bytes), 1))
}

fn red(texture: &Texture, uvw: [f32; 3]) -> f32 {
    at(texture, uvw)[0] * 256.0
}

fn vol_filter(texture: Texture, filter: LayerFilter) -> Texture {
    texture.with(TxFilter0::VOL_FILTER, filter)
}

#[test]
fn point_filter_takes_one_of_eight() {
    let texture = small();
    for i in 0..8_u8 {
        let place = [i & 1, i >> 1 & 1, i >> 2].map(|k| f32::from(k) + 0.5);
        assert_eq!(red(&texture, place), f32::from(16 * i));
    }
}

#[test]
fn linear_filter_mixes_eight() {
    let texture = linear(small());
    // The texture is linear in each axis: 16 x + 32 y + 64 z of the distance from the first texel.
    for place in [[1.0, 1.0, 1.0], [0.5, 1.25, 0.75], [1.5, 0.5, 1.0], [0.75, 1.5, 1.25]] {
        let [x, y, z] = place.map(|c| c - 0.5);
        assert_eq!(red(&texture, place), 16.0 * x + 32.0 * y + 64.0 * z, "{place:?}");
    }
    let quad = QuadFetch { unscaled: true, ..QuadFetch::new(TexOp::LD, [[1.0; 4]; 4]) };
    let [lookup, ..] = bind(&texture).look_up(&quad, &REFERENCE);
    assert_eq!(lookup.levels[0].weights, [0.5; 3]);
    let places: Vec<_> = lookup.levels[0].texels.iter().map(|t| t.at.unwrap()).collect();
    assert_eq!(places[..4], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
    assert_eq!(places[4..], [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]);
}

#[test]
fn vol_filter_decides_along_r() {
    let place = [1.0, 1.0, 1.0];
    // The linear filter within a layer gives 24; layers are 64 apart.
    let texture = linear(small());
    assert_eq!(red(&vol_filter(texture.clone(), LayerFilter::NONE), place), 56.0);
    assert_eq!(red(&vol_filter(texture.clone(), LayerFilter::POINT), place), 88.0);
    assert_eq!(red(&vol_filter(texture, LayerFilter::LINEAR), place), 56.0);
    // The point filter within a layer gives 48.
    assert_eq!(red(&vol_filter(small(), LayerFilter::NONE), place), 112.0);
    assert_eq!(red(&vol_filter(small(), LayerFilter::POINT), place), 112.0);
    assert_eq!(red(&vol_filter(small(), LayerFilter::LINEAR), place), 80.0);
    // VOL_FILTER has no effect on a 2D texture.
    let flat = vol_filter(texture_of_one(), LayerFilter::LINEAR);
    assert_eq!(red(&flat, [0.5, 0.5, 0.9]), 32.0);
}

fn texture_of_one() -> Texture {
    in_256ths(texture(TxFormat::X8, [1, 1], &[32]))
}

#[test]
fn r_is_scaled_by_depth_and_clamped_by_its_own_mode() {
    // Four layers of one texel: R = 5/8 is in the third, 9/8 is past the end.
    let mut texture = in_256ths(volume(texture(TxFormat::X8, [1, 1], &[10, 20, 30, 40]), 2));
    let get = |texture: &Texture, r: f32| {
        bind(texture).fetch(&QuadFetch::new(TexOp::LD, [[0.5, 0.5, r, 1.0]; 4]), &REFERENCE)[0][0]
            * 256.0
    };
    assert_eq!(get(&texture, 0.625), 30.0);
    assert_eq!(get(&texture, 1.125), 40.0);
    texture.set(TxFilter0::CLAMP_R, ClampMode::WRAP);
    assert_eq!(get(&texture, 1.125), 10.0);
    assert_eq!(get(&texture, -0.125), 40.0);
}

#[test]
fn depth_halves_and_counts_in_the_level_of_detail() {
    let mut texture = small();
    texture.levels.push(Level { width: 1, height: 1, layers: 1, bytes: vec![200] });
    let texture = with_levels(texture, &[]).with(TxFilter0::MIP_FILTER, LayerFilter::POINT);
    // A step of two layers per pixel is level of detail 1; smaller steps are 0.
    let quad = |step: f32| QuadFetch {
        unscaled: true,
        ..QuadFetch::new(TexOp::LD, [0.0, step, 0.0, step].map(|r| [0.5, 0.5, 0.5 + r, 1.0]))
    };
    let sampler = bind(&texture);
    let [lookup, ..] = sampler.look_up(&quad(2.0), &REFERENCE);
    assert_eq!((lookup.lod, lookup.color[0] * 256.0), (1.0, 200.0));
    let [lookup, ..] = sampler.look_up(&quad(1.0), &REFERENCE);
    assert_eq!((lookup.lod, lookup.color[0] * 256.0), (0.0, 0.0));
}
