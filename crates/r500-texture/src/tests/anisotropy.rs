//! Anisotropic filters: the number of probes, their level of detail, their positions and their mean.

use r500_isa::texture::{TxFilter0, TxFilter1};
use r500_isa::values::{LayerFilter, TexOp, TexelFilter, TxFormat};
use r500_program::{Level, Texture};

use super::super::{AnisotropicFilter, Gradients, Lookup};
use super::*;

/// Returns a texture of 32x8 texels, each the number of its column in 256ths, with an anisotropic filter of up to 16
/// probes and, in the other levels, texels of 100 and more: 100 plus the level.
fn columns() -> Texture {
    let bytes: Vec<u8> = (0..32 * 8_u32).map(|i| (i % 32) as u8).collect();
    let mut texture = texture(TxFormat::X8, [32, 8], &bytes);
    for level in 1..6 {
        let (width, height) = (32 >> level, (8_u32 >> level).max(1));
        let bytes = vec![100 + level as u8; (width * height) as usize];
        texture.levels.push(Level { width, height, layers: 1, bytes });
    }
    let texture = in_256ths(with_levels(texture, &[]));
    filters(texture, 3, 3)
        .with(TxFilter0::MAX_ANISO, 4)
        .with(TxFilter0::MIP_FILTER, LayerFilter::POINT)
}

fn filters(texture: Texture, mag: u8, min: u8) -> Texture {
    texture
        .with(TxFilter0::MAG_FILTER, TexelFilter::new(mag))
        .with(TxFilter0::MIN_FILTER, TexelFilter::new(min))
}

/// Returns a fetch at (16, 4), in texels of level 0, with steps to the right and down.
fn steps(op: TexOp, dx: [f32; 2], dy: [f32; 2], q: f32) -> QuadFetch {
    let at = |x: f32, y: f32| [16.0 + x * dx[0] + y * dy[0], 4.0 + x * dx[1] + y * dy[1], 0.0, q];
    let strq = [at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0)];
    QuadFetch { unscaled: true, ..QuadFetch::new(op, strq) }
}

fn look_up(texture: &Texture, dx: [f32; 2], dy: [f32; 2]) -> Lookup {
    let [first, ..] = bind(texture).look_up(&steps(TexOp::LD, dx, dy, 1.0), &REFERENCE);
    first
}

/// Returns the coordinates of the probes along an axis, in texels of their level.
fn positions(lookup: &Lookup, axis: usize) -> Vec<f32> {
    lookup.levels.iter().map(|level| level.coordinates[axis]).collect()
}

/// Footprints, the number of their probes and the level of detail.
#[test]
fn the_ratio_of_the_axes_is_the_number_of_probes() {
    let log2 = |x: f32| f64::from(x).log2() as f32;
    for (dx, dy, probes, lod) in [
        // As wide as long: the linear filter.
        ([1.0, 0.0], [0.0, 1.0], 1, 0.0),
        ([4.0, 0.0], [0.0, 4.0], 1, 2.0),
        ([2.0, 2.0], [-2.0, 2.0], 1, 1.5),
        // Nearest to one: still the linear filter, of the longer step.
        ([1.25, 0.0], [0.0, 1.0], 1, log2(1.25)),
        // Several: the level of detail of the shorter axis.
        ([2.0, 0.0], [0.0, 1.0], 2, 0.0),
        ([4.0, 0.0], [0.0, 1.0], 4, 0.0),
        ([0.0, 2.0], [-8.0, 0.0], 4, 1.0),
        ([13.0, 0.0], [0.0, 1.0], 13, 0.0),
        // The ratio 4.25: the longer step is (4, 1), the area 4, so that the shorter axis is 4/sqrt(17).
        ([4.0, 0.0], [4.0, 1.0], 4, 2.0 - log2(17.0) / 2.0),
        // More than 16: the part of each of 16 probes.
        ([32.0, 0.0], [0.0, 1.0], 16, 1.0),
        ([64.0, 0.0], [0.0, 0.0], 16, 2.0),
        // The shorter axis is less than a texel: a probe for each texel of the longer one.
        ([8.0, 0.0], [0.0, 0.5], 8, -1.0),
        ([8.0, 0.0], [0.0, 0.0], 8, -1.0),
        ([1.25, 0.0], [0.0, 0.125], 1, log2(1.25)),
        ([0.25, 0.0], [0.0, 0.0625], 1, -2.0),
        ([0.0, 0.0], [0.0, 0.0], 1, f32::NEG_INFINITY),
    ] {
        let lookup = look_up(&columns(), dx, dy);
        assert_eq!(lookup.probes, probes, "{dx:?} {dy:?}");
        let near = lookup.lod == lod || (lookup.lod - lod).abs() < 1e-6;
        assert!(near, "{dx:?} {dy:?}: {}", lookup.lod);
        assert_eq!(lookup.levels.len() as u32, probes);
    }
}

#[test]
fn probes_lie_at_the_centres_of_equal_parts_of_the_longer_step() {
    let lookup = look_up(&columns(), [4.0, 0.0], [0.0, 1.0]);
    assert_eq!(positions(&lookup, 0), [14.5, 15.5, 16.5, 17.5]);
    assert_eq!(positions(&lookup, 1), [4.0; 4]);
    // Each at the centre of a texel: 14 to 17.
    assert_eq!(lookup.color[0] * 256.0, 15.5);
    // Down.
    let lookup = look_up(&columns(), [0.0, 0.5], [0.0, 2.0]);
    assert_eq!((positions(&lookup, 0), positions(&lookup, 1)), (vec![16.0; 2], vec![3.5, 4.5]));
    // At an angle: (4, 2) has the length sqrt(20), its area with (1, -2) is 10: 2 probes, at (15, 3.5) and
    // (17, 4.5). The shorter axis of sqrt(5) texels selects level 1, where coordinates are half of that.
    let lookup = look_up(&columns(), [1.0, -2.0], [4.0, 2.0]);
    assert_eq!(positions(&lookup, 0), [7.5, 8.5]);
    assert_eq!(positions(&lookup, 1), [1.75, 2.25]);
    // In level 1, 16 probes 2 texels apart are 1 apart.
    let lookup = look_up(&columns(), [32.0, 0.0], [0.0, 1.0]);
    assert!(lookup.levels.iter().all(|level| level.level == 1));
    let expected: Vec<f32> = (0..16).map(|i| 0.5 + i as f32).collect();
    assert_eq!(positions(&lookup, 0), expected);
    assert_eq!(lookup.color[0] * 256.0, 101.0);
}

/// The mean differs from the linear filter where texels do not lie on a line: at the edge, where 16 probes read
/// columns 24 to 31 and then 31 eight times.
#[test]
fn the_colour_is_the_mean_of_the_probes() {
    let quad = |texture: &Texture, readings: &TexReadings| {
        let at = |u: f32, v: f32| [u, v, 0.0, 1.0];
        let strq = [at(32.0, 4.0), at(48.0, 4.0), at(32.0, 5.0), at(48.0, 5.0)];
        let quad = QuadFetch { unscaled: true, ..QuadFetch::new(TexOp::LD, strq) };
        bind(texture).fetch(&quad, readings)[0][0] * 256.0
    };
    let finest = columns().with(TxFilter0::MIP_FILTER, LayerFilter::NONE);
    let mean = (f64::from(24 + 31) * 4.0 + 31.0 * 8.0) / 16.0;
    assert!((f64::from(quad(&finest, &REFERENCE)) - mean).abs() < 1e-4);
    let linear = TexReadings { anisotropic_filter: AnisotropicFilter::Linear, ..REFERENCE };
    assert_eq!(quad(&finest, &linear), 31.0);
    // A single colour stays what it is, whatever the number of probes.
    let bytes = vec![25; 32 * 8];
    let plain = texture(TxFormat::X8, [32, 8], &bytes);
    let plain = filters(plain, 3, 3).with(TxFilter0::MAX_ANISO, 4);
    for width in 1..=32 {
        let lookup = look_up(&plain, [width as f32, 0.0], [0.0, 1.0]);
        assert_eq!(lookup.color[0], 25.0 / 255.0, "{width}");
    }
}

#[test]
fn registers_limit_the_number_of_probes() {
    let probes = |texture: &Texture| {
        let lookup = look_up(texture, [32.0, 0.0], [0.0, 1.0]);
        (lookup.probes, lookup.lod)
    };
    for (code, most, lod) in [(0, 1, 5.0), (1, 2, 4.0), (2, 4, 3.0), (3, 8, 2.0), (4, 16, 1.0)] {
        assert_eq!(probes(&columns().with(TxFilter0::MAX_ANISO, code)), (most, lod), "{code}");
    }
    // Codes above 4 are not known: 16.
    assert_eq!(probes(&columns().with(TxFilter0::MAX_ANISO, 7)).0, 16);
    // The driver's codes for ratios of 2, 4, 8, 16.
    for (code, most) in [(0, 1), (4, 2), (12, 4), (29, 8), (63, 16)] {
        let fine =
            columns().with(TxFilter1::MAX_ANISO, code).with(TxFilter1::ANISO_HIGH_QUALITY, true);
        assert_eq!(probes(&fine).0, most, "{code}");
        assert_eq!(probes(&fine.with(TxFilter1::ANISO_HIGH_QUALITY, false)).0, 16);
    }
}

#[test]
fn each_filter_is_anisotropic_or_not() {
    let probes = |mag: u8, min: u8, dx: [f32; 2], dy: [f32; 2]| {
        look_up(&filters(columns(), mag, min), dx, dy).probes
    };
    let (minified, magnified) = (([32.0, 0.0], [0.0, 2.0]), ([8.0, 0.0], [0.0, 0.5]));
    assert_eq!([minified, magnified].map(|(dx, dy)| probes(3, 3, dx, dy)), [16, 8]);
    assert_eq!([minified, magnified].map(|(dx, dy)| probes(2, 3, dx, dy)), [16, 1]);
    assert_eq!([minified, magnified].map(|(dx, dy)| probes(3, 2, dx, dy)), [1, 1]);
    // A volume has none.
    let mut volume = volume(texture(TxFormat::X8, [32, 8], &[0; 512]), 1);
    volume = filters(volume, 3, 3).with(TxFilter0::MAX_ANISO, 4);
    assert_eq!(look_up(&volume, [32.0, 0.0], [0.0, 2.0]).probes, 1);
    assert!(!bind(&volume).depends_on_lod());
    // Even with a single level, the neighbours of a pixel matter.
    let single = columns().with(TxFilter0::MIP_FILTER, LayerFilter::NONE);
    assert!(bind(&single).depends_on_lod());
    assert!(!bind(&filters(single, 2, 2)).depends_on_lod());
}

#[test]
fn instructions_give_the_level_or_the_steps() {
    let look_up = |quad: &QuadFetch| {
        bind(&columns()).look_up(quad, &REFERENCE).map(|lookup| (lookup.probes, lookup.lod))
    };
    let (dx, dy) = ([32.0, 0.0], [0.0, 2.0]);
    // The shorter axis is 2 texels: level 1.
    assert_eq!(look_up(&steps(TexOp::LD, dx, dy, 3.0)), [(16, 1.0); 4]);
    assert_eq!(look_up(&steps(TexOp::LODBIAS, dx, dy, 3.0)), [(16, 4.0); 4]);
    assert_eq!(look_up(&steps(TexOp::LOD, dx, dy, 3.0)), [(1, 3.0); 4]);
    let mut quad = steps(TexOp::DXDY, [0.0; 2], [0.0; 2], 1.0);
    quad.gradients[3] = Gradients { dx: [0.0, 2.0, 0.0, 0.0], dy: [8.0, 0.0, 0.0, 0.0] };
    let none = (1, f32::NEG_INFINITY);
    assert_eq!(look_up(&quad), [none, none, none, (4, 1.0)]);
}

#[test]
fn readings_round_the_number_up_or_make_it_one() {
    let probes = |filter: AnisotropicFilter, dx: [f32; 2]| {
        let readings = TexReadings { anisotropic_filter: filter, ..REFERENCE };
        let quad = steps(TexOp::LD, dx, [0.0, 1.0], 1.0);
        bind(&columns()).look_up(&quad, &readings)[0].probes
    };
    for (width, nearest, up) in
        [(1.0, 1, 1), (1.125, 1, 2), (2.0, 2, 2), (2.5, 3, 3), (3.25, 3, 4), (99.0, 16, 16)]
    {
        let dx = [width, 0.0];
        assert_eq!(probes(AnisotropicFilter::Nearest, dx), nearest, "{width}");
        assert_eq!(probes(AnisotropicFilter::Up, dx), up, "{width}");
        assert_eq!(probes(AnisotropicFilter::Linear, dx), 1, "{width}");
    }
}

/// On +Z, 8 texels a face: the columns are 4 texels apart, from S = -1/2 to 1/2, the rows 1 texel.
#[test]
fn probes_of_a_cube_lie_on_the_face_of_the_pixel() {
    let bytes: Vec<u8> = (0..6 * 64).map(|i| (i % 8) as u8).collect();
    let cube = in_256ths(filters(cube(texture(TxFormat::X8, [8, 8], &bytes)), 3, 3));
    let cube = cube.with(TxFilter0::MAX_ANISO, 4);
    let at = |s: f32, t: f32| [s, t, 1.0, 1.0];
    let strq = [at(-0.5, 0.0), at(0.5, 0.0), at(-0.5, -0.25), at(0.5, -0.25)];
    let lookups = bind(&cube).look_up(&QuadFetch::new(TexOp::LD, strq), &REFERENCE);
    assert!(lookups.iter().all(|lookup| (lookup.probes, lookup.face) == (4, Some(4))));
    assert_eq!(positions(&lookups[0], 0), [0.5, 1.5, 2.5, 3.5]);
    assert_eq!(positions(&lookups[1], 0), [4.5, 5.5, 6.5, 7.5]);
    assert_eq!(lookups.map(|lookup| lookup.color[0] * 256.0), [1.5, 5.5, 1.5, 5.5]);
}
