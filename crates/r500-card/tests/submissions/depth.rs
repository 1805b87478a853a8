//! Depth and the counts of occlusion queries.

use super::stream::*;

#[test]
fn depth_decides_which_of_two_clears_is_seen() {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    let (depth, depth_buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    stream.set(&[(0x4f10, 2), (0x4f00, 6), (0x4f04, 7)]);
    stream.words.write(0x4f20, &[0]).relocation(depth).write(0x4f24, &[64]);
    clear(&mut stream, [8, 8], 0.5, RED);
    // Less: only nearer pixels pass, and only 4x4 of them.
    stream.set(&[(0x4f04, 1)]);
    clear(&mut stream, [4, 4], 0.25, GREEN);
    clear(&mut stream, [8, 8], 0.75, GREEN);
    let card = run(stream);
    assert_eq!(pixel(&buffer, 3, 3), 0xff00_ff00);
    assert_eq!(pixel(&buffer, 4, 3), 0xffff_0000);
    // 0.25 and 0.5 of 2^24 - 1, nearest; the stencil is the low byte.
    assert_eq!(pixel(&depth_buffer, 3, 3), 0x40_0000 << 8);
    assert_eq!(pixel(&depth_buffer, 4, 3), 0x80_0000 << 8);
    assert_eq!(card.report().statistics.samples, 64 + 16);
}

#[test]
fn occlusion_counts_are_stored_at_their_address() {
    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    let (query, results) = stream.buffer(64);
    stream.target(0, id, 64 | ARGB8888);
    stream.set(&[(0x4f58, 0)]);
    clear(&mut stream, [5, 7], 0.0, RED);
    stream.words.write(0x4f5c, &[16]).relocation(query);
    run(stream);
    assert_eq!(results.load(16), Some(35));
}

/// Depth from the rasteriser instead of the program.
#[test]
fn w_of_the_rasteriser_is_depth() {
    for (w_cn, expected) in [(1 << 26, 0x40_0000), (0, 0)] {
        let mut stream = base();
        let (id, _) = stream.buffer(64 * 64 * 4);
        let (depth, depth_buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888).set(&[(0x4f10, 2), (0x4f00, 6), (0x4f04, 7)]);
        stream.words.write(0x4f20, &[0]).relocation(depth).write(0x4f24, &[64]);
        // W of the vertex is w; 24 bits of w, from the rasteriser, as depth.
        stream.set(&[(0x20b0, 0x700), (0x46b4, 1 | 1 << 2), (0x4bd8, 1), (0x4320, 1 << 16 | w_cn)]);
        stream.set(&[(0x421c, 24 << 16 | 24)]);
        draw(&mut stream, POINTS, &[([2.0, 2.0, 0.0, 0.25], RED)]);
        run(stream);
        assert_eq!(depth_buffer.load(0), Some(expected << 8));
    }
}

#[test]
fn a_second_depth_unit_counts_nothing() {
    // Selected units: 1, both; unit 0 not selected by SU_REG_DEST, and pipe 1 selected.
    for (register, count) in
        [((0x4be8, 2), 0), ((0x4be8, 3), 16), ((0x42c8, 2), 0), ((0x42c8, 1), 16)]
    {
        let mut stream = base();
        let (id, _) = stream.buffer(64 * 64 * 4);
        let (query, results) = stream.buffer(64);
        stream.target(0, id, 64 | ARGB8888).set(&[(0x4f58, 0)]);
        clear(&mut stream, [4, 4], 0.0, RED);
        stream.set(&[register]);
        stream.words.write(0x4f5c, &[16]).relocation(query);
        results.store(16, 99);
        run(stream);
        assert_eq!(results.load(16), Some(count), "{register:x?}");
    }
}

/// `GB_SELECT.DEPTH_SELECT`: w varies along x from 1/4 to 3/4.
#[test]
fn depth_may_be_w_in_perspective() {
    for (select, expected) in [(1 << 3, 0x60_0000), (0, 0x80_0000)] {
        let mut stream = base();
        let (id, _) = stream.buffer(64 * 64 * 4);
        let (depth, depth_buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888).set(&[(0x4f10, 2), (0x4f00, 6), (0x4f04, 7)]);
        stream.words.write(0x4f20, &[0]).relocation(depth).write(0x4f24, &[64]);
        // W of the vertex is w.
        stream.set(&[(0x20b0, 0x700), (0x401c, select)]);
        let corner = |x: f32, y: f32, z: f32, w: f32| ([x, y, z, w], RED);
        draw(
            &mut stream,
            TRIANGLES,
            &[
                corner(0.5, 0.5, 0.25, 0.25),
                corner(8.5, 0.5, 0.75, 0.75),
                corner(0.5, 8.5, 0.25, 0.25),
            ],
        );
        run(stream);
        // Half way: z is 1/2. 1/w is the mean of 4 and 4/3, so that w is 3/8.
        assert_eq!(depth_buffer.load(4 * 4), Some(expected << 8), "{select}");
    }
}
