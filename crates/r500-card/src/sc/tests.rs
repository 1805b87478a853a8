#![allow(clippy::unwrap_used)]

use arbtest::arbitrary::{Result, Unstructured};

use super::*;
use crate::Limits;
use crate::ga::{Corner, Shape};
use crate::reading::{Readings, SubpixelGrid};
use crate::su::Outline;
use crate::vap::Vertex;

struct Blocks {
    grid: Grid,
    sc: Sc,
}

/// A scissor of 64x64, and Mesa's edge rules.
fn blocks(setup: &[(u32, u32)], readings: &Readings) -> Blocks {
    let mut state = State::default();
    let defaults = [
        (0x43e0, 0),
        (0x43e4, 63 | 63 << 13),
        (0x43a8, 0x2da4_9525),
        (0x43d0, 0xffff),
        (0x43e8, 0xff_ffff),
    ];
    for (address, value) in defaults.iter().chain(setup) {
        state.registers.write(*address, *value);
    }
    let grid = Grid::new(&state, readings);
    Blocks { grid, sc: Sc::new(&state, grid) }
}

/// The vertex of all corners.
static VERTEX: Vertex =
    Vertex { position: [0.0; 4], point_size: 0.0, colors: [[0.0; 4]; 4], tex: [[0.0; 4]; 8] };

fn shape(kind: ShapeKind, points: [GridPoint; 3], parallelogram: bool) -> Shape<'static> {
    let corners = points.map(|at| Corner { at, z: 0.0, rhw: 1.0, vertex: &VERTEX });
    Shape { kind, corners, parallelogram, back: None, stipple: None, made_up: None }
}

/// Adds one to the count of each covered sample.
fn scan(blocks: &Blocks, shape: Shape<'_>, counts: &mut [[u8; SAMPLES]; 64 * 64]) {
    let Some(outline) = Outline::new(&shape) else { return };
    let quads = quads(blocks, &outline, false);
    assert_eq!(quads, self::quads(blocks, &outline, true));
    for quad in quads {
        for corner in 0..4 {
            let [x, y] = quad.pixel(corner);
            let count = &mut counts[(y * 64 + x) as usize];
            for (sample, count) in count.iter_mut().enumerate() {
                *count += quad.masks[corner] >> sample & 1;
            }
        }
    }
}

fn quads(blocks: &Blocks, outline: &Outline, rules_only: bool) -> Vec<Quad> {
    let mut quads = Vec::new();
    let mut budget = Budget::new(Limits::default());
    if let Some(mut scan) = blocks.sc.begin(outline, &mut budget).unwrap() {
        while blocks.sc.rows(&mut scan, rules_only, |quad| quads.push(quad)) {}
    }
    quads
}

/// Returns the quads of a shape that is small; `None` if it is not.
fn small_quads(blocks: &Blocks, outline: &Outline) -> Option<Vec<Quad>> {
    let mut quads = Vec::new();
    let mut budget = Budget::new(Limits::default());
    let is_small = blocks.sc.small(outline, &mut budget, |quad| quads.push(quad)).unwrap();
    is_small.then_some(quads)
}

#[test]
fn small_shapes_have_the_quads_of_the_rules() {
    let fine = Readings { subpixel: SubpixelGrid::Fine, ..Readings::REFERENCE };
    for (setup, readings) in [
        (&[][..], Readings::REFERENCE),
        // All edge rules differ.
        (&[(0x43a8, 0x0123_4567 | 0x1f << 25)][..], Readings::REFERENCE),
        (&[(0x4018, 1 << 16)][..], Readings::REFERENCE),
        (&[][..], fine),
    ] {
        let blocks = blocks(setup, &readings);
        let unit = blocks.grid.unit;
        let mut small = 0;
        arbtest::arbtest(|u| {
            let kind = *u.choose(&[
                ShapeKind::Triangle,
                ShapeKind::Point,
                ShapeKind::LineLeftToRight,
                ShapeKind::LineBottomToTop,
            ])?;
            // Corners on grid points, most of them on centres of pixels or their sides; the scissor ends at 63.
            let from = [u.int_in_range(-8..=70)?, u.int_in_range(-8..=70)?];
            let size = *u.choose(&[1, 3, 12, 40])?;
            let mut points = [[0; 2]; 3];
            for point in &mut points {
                for (axis, x) in point.iter_mut().enumerate() {
                    let part = match u.arbitrary()? {
                        true => u.int_in_range(0..=1)? * (unit / 2),
                        false => u.int_in_range(0..=unit)?,
                    };
                    *x = (from[axis] + u.int_in_range(0..=size)?) * unit + part;
                }
            }
            let shape = shape(kind, points, kind != ShapeKind::Triangle);
            let Some(outline) = Outline::new(&shape) else { return Ok(()) };
            let found = small_quads(&blocks, &outline);
            if let Some(found) = &found {
                assert_eq!(*found, quads(&blocks, &outline, true), "{points:?}");
                small += usize::from(!found.is_empty());
            }
            let [least, most] = outline.bounds;
            let is_small = (0..2).all(|axis| most[axis] - least[axis] < 31 * unit);
            assert!(found.is_some() || !is_small, "{points:?}");
            Ok(())
        })
        .budget_ms(400);
        assert!(small > 0, "no shape was small");
    }
}

fn covered(counts: &[[u8; SAMPLES]; 64 * 64]) -> Vec<(usize, usize)> {
    (0..64 * 64).filter(|n| counts[*n][0] != 0).map(|n| (n % 64, n / 64)).collect()
}

#[test]
fn each_sample_of_a_random_mesh_is_covered_once() {
    let fine = Readings { subpixel: SubpixelGrid::Fine, ..Readings::REFERENCE };
    for (setup, readings) in [
        (&[][..], Readings::REFERENCE),
        (&[(0x4018, 1 << 16)][..], Readings::REFERENCE),
        (&[][..], fine),
        // Four samples at Mesa's positions.
        (
            &[(0x4020, 1 | 2 << 1), (0x4010, 0x6628_4a66), (0x4014, 0x0066_6682)][..],
            Readings::REFERENCE,
        ),
    ] {
        let blocks = blocks(setup, &readings);
        arbtest::arbtest(|u| mesh(u, &blocks)).budget_ms(400);
    }
}

/// A grid of 4x4 cells, larger than the scissor, with displaced inner corners and each cell split along a diagonal.
fn mesh(u: &mut Unstructured<'_>, blocks: &Blocks) -> Result<()> {
    const CELLS: usize = 4;
    let cell = 20 * blocks.grid.unit;
    let mut points = [[[0_i64; 2]; CELLS + 1]; CELLS + 1];
    for (row, line) in points.iter_mut().enumerate() {
        for (column, point) in line.iter_mut().enumerate() {
            *point = [column as i64, row as i64].map(|n| n * cell - 6 * blocks.grid.unit);
            // Up to three of 20 pixels keep quadrilaterals convex; multiples of half a pixel hit samples often.
            if (1..CELLS).contains(&row) && (1..CELLS).contains(&column) {
                for x in point {
                    *x += match u.ratio(1, 2)? {
                        true => i64::from(u.int_in_range(-6..=6)?) * blocks.grid.unit / 2,
                        false => u.int_in_range(-3 * blocks.grid.unit..=3 * blocks.grid.unit)?,
                    };
                }
            }
        }
    }
    let mut counts = [[0; SAMPLES]; 64 * 64];
    for row in 0..CELLS {
        for column in 0..CELLS {
            let [a, b] = [points[row][column], points[row][column + 1]];
            let [c, d] = [points[row + 1][column], points[row + 1][column + 1]];
            let turned = u.arbitrary()?;
            for mut triangle in if turned { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] }
            {
                if u.arbitrary()? {
                    triangle.reverse();
                }
                scan(blocks, shape(ShapeKind::Triangle, triangle, false), &mut counts);
            }
        }
    }
    let samples = blocks.sc.samples.count;
    let once = counts.iter().all(|c| c[..samples].iter().all(|n| *n == 1));
    assert!(once, "{points:?}");
    Ok(())
}

#[test]
fn edge_rules_take_the_sides_that_they_name() {
    // A square whose sides run through pixel centres: from (1.5, 1.5) to (3.5, 3.5), as a parallelogram.
    let square = [[18, 18], [42, 18], [18, 42]];
    // Pixels with centres on the left, right, top and bottom side, without corners.
    let sides = [(1, 2), (3, 2), (2, 1), (2, 3)];
    for (rule, expected) in [
        (0, [true, true, true, true]),
        (5, [true, false, true, false]),
        (9, [false, true, true, false]),
        (15, [false, false, false, false]),
        (26, [false, true, true, false]),
        (22, [false, true, false, true]),
        (16, [true, true, true, true]),
    ] {
        let blocks = blocks(&[(0x43a8, rule << 5)], &Readings::REFERENCE);
        let mut counts = [[0; SAMPLES]; 64 * 64];
        scan(&blocks, shape(ShapeKind::Point, square, true), &mut counts);
        let covered = covered(&counts);
        assert_eq!(sides.map(|side| covered.contains(&side)), expected, "rule {rule}");
        assert!(covered.contains(&(2, 2)));
    }
}

#[test]
fn scissor_and_clip_rules_cut_pixels() {
    let all = [[0, 0], [12 * 64, 0], [0, 12 * 64]];
    let count = |setup: &[(u32, u32)]| {
        let blocks = blocks(setup, &Readings::REFERENCE);
        let mut counts = [[0; SAMPLES]; 64 * 64];
        scan(&blocks, shape(ShapeKind::Point, all, true), &mut counts);
        covered(&counts)
    };
    let scissor = count(&[(0x43e0, 3 | 4 << 13), (0x43e4, 5 | 4 << 13)]);
    assert_eq!(scissor, [(3, 4), (4, 4), (5, 4)]);
    // Rectangle 0: columns 0 to 9; rectangle 1: columns 5 to 14; both in row 0. Drawn in exactly one of them.
    let rectangles =
        [(0x43b0, 0), (0x43b4, 9), (0x43b8, 5), (0x43bc, 14), (0x43c0, 60), (0x43c4, 0)];
    let rule = (0x43d0, 1 << 0b0001 | 1 << 0b0010);
    let setup: Vec<_> = rectangles.into_iter().chain([rule, (0x43c8, 60), (0x43cc, 0)]).collect();
    let columns: Vec<_> = count(&setup).into_iter().map(|(x, y)| x + 100 * y).collect();
    assert_eq!(columns, [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
}

#[test]
fn a_screen_door_masks_samples_of_each_pixel() {
    let multisampling = (0x4020, 1 | 2 << 1);
    let positions = [(0x4010, 0x6666_6666), (0x4014, 0x0666_6666)];
    let setup = [multisampling, positions[0], positions[1], (0x43e8, 0b0101)];
    let blocks = blocks(&setup, &Readings::REFERENCE);
    let mut counts = [[0; SAMPLES]; 64 * 64];
    scan(&blocks, shape(ShapeKind::Point, [[0, 0], [48, 0], [0, 48]], true), &mut counts);
    assert_eq!(counts[0], [1, 0, 1, 0, 0, 0]);
    assert_eq!(counts[1], [0; SAMPLES]);
}
