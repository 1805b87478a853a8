//! Cube textures: face selection, coordinates on faces, edges.

use r500_isa::texture::TxFilter0;
use r500_isa::values::{ClampMode, LayerFilter, TexOp, TxFormat};
use r500_program::{Level, Texture};

use super::super::{CubeTies, Gradients};
use super::*;

/// A face, a texel of it (column, row), and a direction to it.
type Hit = (u32, [u32; 2], [f32; 3]);

/// Directions to three corners of each face, from the table of the graphics APIs: seen from the
/// centre, columns run along -Z, +Z, +X, +X, +X, -X and rows along -Y, -Y, +Z, -Z, -Y, -Y.
const CORNERS: [Hit; 18] = [
    (0, [0, 0], [2.0, 1.0, 1.0]),
    (0, [1, 0], [2.0, 1.0, -1.0]),
    (0, [0, 1], [2.0, -1.0, 1.0]),
    (1, [0, 0], [-2.0, 1.0, -1.0]),
    (1, [1, 0], [-2.0, 1.0, 1.0]),
    (1, [0, 1], [-2.0, -1.0, -1.0]),
    (2, [0, 0], [-1.0, 2.0, -1.0]),
    (2, [1, 0], [1.0, 2.0, -1.0]),
    (2, [0, 1], [-1.0, 2.0, 1.0]),
    (3, [0, 0], [-1.0, -2.0, 1.0]),
    (3, [1, 0], [1.0, -2.0, 1.0]),
    (3, [0, 1], [-1.0, -2.0, -1.0]),
    (4, [0, 0], [-1.0, 1.0, 2.0]),
    (4, [1, 0], [1.0, 1.0, 2.0]),
    (4, [0, 1], [-1.0, -1.0, 2.0]),
    (5, [0, 0], [1.0, 1.0, -2.0]),
    (5, [1, 0], [-1.0, 1.0, -2.0]),
    (5, [0, 1], [1.0, -1.0, -2.0]),
];

/// Returns a cube of 2x2 texels a face, numbered 0 to 23 in 256ths.
fn numbered() -> Texture {
    let bytes: Vec<u8> = (0..24).collect();
    in_256ths(cube(texture(TxFormat::X8, [2, 2], &bytes)))
}

/// Fetches in a direction. `at` is not applicable: it is UNSCALED.
fn toward(texture: &Texture, [s, t, r]: [f32; 3]) -> [f32; 4] {
    bind(texture).fetch(&QuadFetch::new(TexOp::LD, [[s, t, r, 1.0]; 4]), &REFERENCE)[0]
}

fn face_of(direction: [f32; 3], readings: &TexReadings) -> u32 {
    let [s, t, r] = direction;
    let quad = QuadFetch::new(TexOp::LD, [[s, t, r, 1.0]; 4]);
    bind(&numbered()).look_up(&quad, readings)[0].face.unwrap()
}

#[test]
fn directions_meet_the_texels_of_the_table() {
    let texture = numbered();
    for (face, [x, y], direction) in CORNERS {
        let number = (4 * face + 2 * y + x) as f32;
        assert_eq!(toward(&texture, direction)[0] * 256.0, number, "{direction:?}");
        // Neither length nor scaling has an effect.
        let far = direction.map(|c| c * 1e20);
        assert_eq!(toward(&texture, far)[0] * 256.0, number, "{far:?}");
        assert_eq!(at(&texture, direction)[0] * 256.0, number, "{direction:?} unscaled");
    }
}

#[test]
fn places_are_quotients_on_a_scale_from_0_to_size() {
    // (1/4, 1/2) of the way from the centre of +Z to its right and lower edge, on a face of 2
    // texels.
    let quad = QuadFetch::new(TexOp::LD, [[1.0, -2.0, 4.0, 1.0]; 4]);
    let [lookup, ..] = bind(&numbered()).look_up(&quad, &REFERENCE);
    assert_eq!(lookup.face, Some(4));
    assert_eq!(lookup.coordinates, [1.25, 1.5, 4.0]);
    // PROJ divides first; a negative Q reverses the direction.
    let quad = QuadFetch::new(TexOp::PROJ, [[1.0, -2.0, 4.0, -2.0]; 4]);
    let [lookup, ..] = bind(&numbered()).look_up(&quad, &REFERENCE);
    assert_eq!(lookup.face, Some(5));
    assert_eq!(lookup.coordinates, [1.25, 0.5, -2.0]);
}

#[test]
fn between_faces_the_first_axis_wins() {
    let other = TexReadings { cube_ties: CubeTies::ZThenY, ..REFERENCE };
    for (direction, x_first, z_first) in [
        ([1.0, 1.0, 1.0], 0, 4),
        ([-1.0, -1.0, -1.0], 1, 5),
        ([1.0, -1.0, 0.5], 0, 3),
        ([0.5, 1.0, -1.0], 2, 5),
        ([-1.0, 0.0, 1.0], 1, 4),
        // Not a tie: both readings give the same face.
        ([0.5, -1.0, 0.5], 3, 3),
        // A zero direction, and one of denormals, which count as zeros.
        ([0.0, 0.0, 0.0], 0, 4),
        ([-0.0, 0.0, -0.0], 0, 4),
        ([f32::from_bits(1), f32::from_bits(9), 0.0], 0, 4),
    ] {
        assert_eq!(face_of(direction, &REFERENCE), x_first, "{direction:?}");
        assert_eq!(face_of(direction, &other), z_first, "{direction:?}");
    }
}

#[test]
fn odd_directions_have_a_face_and_a_place() {
    let texture = numbered();
    // 0/0 is NaN, which counts as coordinate 0: the first texel of +X.
    assert_eq!(toward(&texture, [0.0; 3])[0] * 256.0, 0.0);
    // Comparisons with NaN are false, so Z is the default; 1/0 and NaN give the last column, row 0.
    assert_eq!(toward(&texture, [1.0, f32::NAN, 0.0])[0] * 256.0, 17.0);
    assert_eq!(toward(&texture, [f32::NAN; 3])[0] * 256.0, 20.0);
    // Infinity divided by infinity, and 1 divided by infinity.
    let infinite = [f32::INFINITY, f32::INFINITY, 1.0];
    let quad = QuadFetch::new(TexOp::LD, [[infinite[0], infinite[1], infinite[2], 1.0]; 4]);
    let [lookup, ..] = bind(&texture).look_up(&quad, &REFERENCE);
    assert_eq!(lookup.face, Some(0));
    assert_eq!(lookup.coordinates[0], 1.0);
    assert!(lookup.coordinates[1].is_nan());
    assert_eq!(lookup.levels[0].texels[0].at, Some([1, 0, 0]));
}

#[test]
fn filters_stay_on_a_face() {
    // At the edge of +X toward +Z (left): the clamp mode of S decides, no other face is read.
    let texture = linear(numbered());
    let edge = [1.0, 0.5, 1.0];
    // Row: (-0.5 + 1) / 2 * 2 = 1/2, the centre of row 0. Column 0 is clamped to texel 0.
    assert_eq!(toward(&texture, edge)[0] * 256.0, 0.0);
    let mut border = texture.clone().with(TxFilter0::CLAMP_S, ClampMode::BORDER);
    border.border_color = 128;
    assert_eq!(toward(&border, edge)[0] * 256.0, 64.0);
    let wrap = texture.with(TxFilter0::CLAMP_S, ClampMode::WRAP);
    assert_eq!(toward(&wrap, edge)[0] * 256.0, 0.5);
    // VOL_FILTER and CLAMP_R apply to volumes only; a reserved VOL_FILTER is ignored.
    let texture = numbered()
        .with(TxFilter0::VOL_FILTER, LayerFilter::new(3))
        .with(TxFilter0::CLAMP_R, ClampMode::BORDER);
    assert_eq!(toward(&texture, [1.0, 1.0, -2.0])[0] * 256.0, 20.0);
}

/// Returns a cube of 4x4 texels a face with three levels, whose texels are the number of their level in 256ths.
fn leveled() -> Texture {
    let level = |side: u32, number: u8| Level {
        width: side,
        height: side,
        layers: 6,
        bytes: vec![number; (6 * side * side) as usize],
    };
    let mut texture = cube(texture(TxFormat::X8, [4, 4], &[]));
    texture.levels = vec![level(4, 0), level(2, 1), level(1, 2)];
    let texture = in_256ths(with_levels(texture, &[]));
    texture.with(TxFilter0::MIP_FILTER, LayerFilter::POINT)
}

fn lods(quad: &QuadFetch) -> [f32; 4] {
    bind(&leveled()).look_up(quad, &REFERENCE).map(|lookup| lookup.lod)
}

/// The left pixels hit +Z, the right ones +X. In the plane of +Z the upper ones are at u = (0.75 + 1) / 2 * 4 = 3.5
/// and 4.5, the left ones at v = 1.5 and 2.5: one texel from pixel to pixel. In the plane of +X they are at
/// u = (1 - 1/0.75) * 2 = -2/3 and (1 - 1/1.25) * 2 = 2/5, and at v = 4/3 and 8/5 above, 8/3 below at the left: the
/// step to the right has the square (16/15)^2 + (4/15)^2 = 1.21, the one down (4/3)^2. Differences of coordinates of
/// different faces would have 3.1 texels, which are of level 2.
#[test]
fn each_pixel_takes_the_steps_on_its_own_face() {
    let strq =
        [[0.75, 0.25], [1.25, 0.25], [0.75, -0.25], [1.25, -0.25]].map(|[s, t]| [s, t, 1.0, 1.0]);
    let quad = QuadFetch::new(TexOp::LD, strq);
    let lookups = bind(&leveled()).look_up(&quad, &REFERENCE);
    assert_eq!(lookups.each_ref().map(|lookup| lookup.face), [4, 0, 4, 0].map(Some));
    let [left, right, lower_left, lower_right] = lods(&quad);
    assert_eq!([left, lower_left], [0.0; 2]);
    assert!((right - (4.0_f32 / 3.0).log2()).abs() < 1e-6, "{right}");
    assert_eq!(lower_right, right);
    assert_eq!(lookups.map(|lookup| lookup.color[0]), [0.0; 4]);
    // LODBIAS adds to each.
    let strq = strq.map(|[s, t, r, _]| [s, t, r, 2.0]);
    assert_eq!(lods(&QuadFetch::new(TexOp::LODBIAS, strq)), [2.0, right + 2.0, 2.0, right + 2.0]);
}

#[test]
fn the_length_of_a_direction_has_no_effect_on_the_level() {
    // A step of a texel along S, one of 1/2 along R, the axis.
    for length in [1.0, 64.0, 1e10] {
        let place = |s: f32, r: f32| [s * length, 0.0, r * length, 1.0];
        let quad = QuadFetch::new(
            TexOp::LD,
            [place(0.0, 1.0), place(0.75, 1.5), place(0.0, 1.0), place(0.75, 1.5)],
        );
        // Both points are in the plane of +Z: 2 and (0.75 / 1.5 + 1) * 2 = 3.
        assert_eq!(lods(&quad), [0.0; 4], "{length}");
    }
}

#[test]
fn a_neighbour_behind_the_face_selects_the_coarsest_level() {
    let quad = |other: [f32; 3]| {
        let [s, t, r] = other;
        let here = [1.0, 0.0, 0.0, 1.0];
        QuadFetch::new(TexOp::LD, [here, [s, t, r, 1.0], here, here])
    };
    for other in [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3], [f32::NAN; 3], [-0.0, 0.0, -2.0]] {
        let lookups = bind(&leveled()).look_up(&quad(other), &REFERENCE);
        let seen = lookups.map(|lookup| (lookup.lod, lookup.color[0] * 256.0));
        assert_eq!(seen, [(f32::INFINITY, 2.0); 4], "{other:?}");
    }
}

#[test]
fn gradients_lead_to_neighbours_on_the_face() {
    // On +Z at S = 1/4, 4 texels a face: along S by 1 is 2 texels; along R by 1 goes from 2.5 to
    // (1/8 + 1) * 2 = 2.25; by -1 the direction has left the plane.
    let lod = |dx: [f32; 3], dy: [f32; 3]| {
        let gradient = |[s, t, r]: [f32; 3]| [s, t, r, 9.0];
        let mut quad = QuadFetch::new(TexOp::DXDY, [[0.25, 0.0, 1.0, 1.0]; 4]);
        quad.gradients[2] = Gradients { dx: gradient(dx), dy: gradient(dy) };
        lods(&quad)[2]
    };
    assert_eq!(lod([1.0, 0.0, 0.0], [0.0; 3]), 1.0);
    assert_eq!(lod([0.0; 3], [0.0, -2.0, 0.0]), 2.0);
    assert_eq!(lod([0.0, 0.0, 1.0], [0.0; 3]), -2.0);
    assert_eq!(lod([0.0, 0.0, -1.0], [0.0; 3]), f32::INFINITY);
}

#[test]
fn faces_have_levels() {
    let bytes: Vec<u8> = (0..24).collect();
    let mut texture = with_levels(cube(texture(TxFormat::X8, [2, 2], &bytes)), &[]);
    let coarse = (100..106).collect();
    texture.levels.push(Level { width: 1, height: 1, layers: 6, bytes: coarse });
    let texture = in_256ths(with_levels(texture, &[]));
    let texture = texture.with(TxFilter0::MIP_FILTER, LayerFilter::POINT);
    // Half a face to the right is one texel, 3/4 of a face down 1.5; R is constant: log2 1.5.
    let place = |s: f32, t: f32| [s, t, 1.0, 1.0];
    let strq = [place(-0.5, 0.75), place(0.5, 0.75), place(-0.5, -0.75), place(0.5, -0.75)];
    let [lookup, ..] = bind(&texture).look_up(&QuadFetch::new(TexOp::LD, strq), &REFERENCE);
    assert!((lookup.lod - 0.584_962_5).abs() < 1e-6, "{}", lookup.lod);
    assert_eq!(lookup.color[0] * 256.0, 104.0);
}
