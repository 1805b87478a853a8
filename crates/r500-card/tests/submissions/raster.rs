//! Rasterisation: points, lines and triangles, samples, colour targets in every layout.

use r500_card::{Card, Readings};
use r500_chip::tiling::Tiling;
use r500_chip::values::MicroTile;

use super::stream::*;

#[test]
fn a_point_as_large_as_the_target_clears_it_in_every_layout() {
    for (macro_tiled, micro) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        let mut stream = base();
        let (id, buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | u32::from(macro_tiled) << 16 | micro << 17 | ARGB8888);
        clear(&mut stream, [40, 30], 0.0, [0.2, 0.4, 0.6, 0.8]);
        run(stream);
        let tiling = Tiling { log2_bytes: 2, macro_tiled, micro: MicroTile::new(micro as u8) };
        for y in 0..64 {
            for x in 0..64 {
                let pixel = buffer.load(tiling.offset(64, [x, y]) as usize);
                // Bytes: blue 153, green 102, red 51, alpha 204.
                let expected = if x < 40 && y < 30 { 0xcc33_6699 } else { 0 };
                assert_eq!(pixel, Some(expected), "{x},{y}");
            }
        }
    }
}

#[test]
fn a_triangle_interpolates_colours_and_covers_by_the_top_left_rule() {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    // Half of a square of 16 pixels; the diagonal crosses pixel centres and is a right edge: excluded.
    let corner = |x: f32, y: f32, red: f32| ([x, y, 0.0, 1.0], [red, 0.0, 0.0, 1.0]);
    draw(
        &mut stream,
        TRIANGLES,
        &[corner(0.5, 0.5, 0.0), corner(16.5, 0.5, 1.0), corner(0.5, 16.5, 0.0)],
    );
    run(stream);
    for y in 0..20 {
        for x in 0..20 {
            let red = (x as f32 / 16.0 * 255.0).round_ties_even() as u32;
            let expected = if x + y < 16 { 0xff00_0000 | red << 16 } else { 0 };
            assert_eq!(pixel(&buffer, x, y), expected, "{x},{y}");
        }
    }
}

#[test]
fn lines_cover_their_first_pixel_and_not_their_last() {
    for (from, to) in [((2.5, 3.5), (9.5, 3.5)), ((9.5, 3.5), (2.5, 3.5)), ((3.5, 2.5), (3.5, 9.5))]
    {
        let mut stream = base();
        let (id, buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888).set(&[(0x4234, 6)]);
        draw(
            &mut stream,
            LINES,
            &[([from.0, from.1, 0.0, 1.0], RED), ([to.0, to.1, 0.0, 1.0], RED)],
        );
        run(stream);
        let drawn = |(x, y): (f32, f32)| pixel(&buffer, x as usize, y as usize) != 0;
        assert!(drawn(from) && !drawn(to), "{from:?} {to:?}");
        assert_eq!((0..64 * 64).filter(|n| buffer.load(n * 4) != Some(0)).count(), 7);
    }
}

#[test]
fn four_samples_resolve_to_their_mean() {
    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4 * 4);
    let (resolved, buffer) = stream.buffer(64 * 64 * 4);
    let tiled = 1 << 16 | 1 << 17;
    stream.target(0, id, 64 | tiled | ARGB8888);
    // Samples at 2, 5, 7, 10 twelfths, on a diagonal; four of them.
    stream.set(&[(0x4020, 1 | 2 << 1), (0x4010, 0x0077_5522), (0x4014, 0xaa)]);
    // A rectangle up to half of pixel 4: samples 0 and 1 of it.
    stream.set(&[(0x421c, (9 * 3) << 16 | 8 * 6)]);
    draw(&mut stream, POINTS, &[([2.25, 4.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0])]);
    stream.words.write(0x4e80, &[0]).relocation(resolved);
    stream.target(0, id, 64 | ARGB8888).set(&[(0x4e84, 64), (0x4e88, 1 | 1 << 2)]);
    clear(&mut stream, [16, 16], 0.0, [0.0; 4]);
    run(stream);
    assert_eq!(pixel(&buffer, 3, 3), 0xffff_ffff);
    assert_eq!(pixel(&buffer, 4, 3), 0x8080_8080);
    assert_eq!(pixel(&buffer, 5, 3), 0);
}

#[test]
fn window_positions_have_an_offset() {
    // 24 and -12 twelfths of a pixel: two columns to the right, a row up.
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888).set(&[(0x4290, 24 | 0xfff4 << 16), (0x421c, 6 << 16 | 6)]);
    draw(&mut stream, POINTS, &[([10.5, 10.5, 0.0, 1.0], RED)]);
    run(stream);
    assert_eq!(pixel(&buffer, 12, 9), 0xffff_0000);
    assert_eq!((0..64 * 64).filter(|n| buffer.load(n * 4) != Some(0)).count(), 1);
}

#[test]
fn readings_change_the_grid() {
    // A vertex 1/100 of a pixel right of a pixel's centre: on the centre with a grid of 1/12, right of it with 1/256.
    let covered = |grid: &str| {
        let mut stream = base();
        let (id, buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888);
        let vertex = |x: f32, y: f32| ([x, y, 0.0, 1.0], RED);
        draw(&mut stream, TRIANGLES, &[vertex(2.51, 0.0), vertex(9.0, 0.0), vertex(2.51, 9.0)]);
        let mut card = Card::new();
        let mut readings = Readings::default();
        readings.set("subpixel", grid).unwrap();
        card.set_readings(readings);
        card.submit(&stream.submission()).unwrap();
        pixel(&buffer, 2, 2) != 0
    };
    assert!(covered("register"));
    assert!(!covered("256"));
}
