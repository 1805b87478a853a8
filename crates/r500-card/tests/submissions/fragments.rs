//! Inputs of fragment programs: texels, interpolated values, and the same in a recorded draw.

use r500_card::Card;
use r500_chip::pm4::Opcode;
use r500_chip::tiling::Tiling;
use r500_chip::values::MicroTile;
use r500_stream::Buffer;

use super::stream::*;

/// Draws a tiled texture of 64x32 texels to as many pixels of a buffer with pitch 64, with a value of `TX_FILTER0`.
/// Texels are column, row, 0, 255.
fn textured(filter: u32, corners: [[f32; 6]; 3]) -> (Stream, Buffer) {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    let (texture, texels) = stream.buffer(64 * 32 * 4);
    stream.target(0, id, 64 | ARGB8888);
    let tiling = Tiling { log2_bytes: 2, macro_tiled: true, micro: MicroTile::TILED };
    for y in 0..32 {
        for x in 0..64 {
            texels.store(tiling.offset(64, [x, y]) as usize, x | y << 8 | 0xff << 24);
        }
    }
    stream.words.write(0x4250, &[0]);
    stream.words.write_one(0x4254, &[FETCH, COPY].concat());
    stream.set(&TEXTURE_COORDINATE);
    stream.set(&[
        (0x4630, 1 << 16),
        (0x4634, 1 << 16),
        (0x4104, 1),
        (0x4400, filter),
        (0x4440, 0),
        (0x4480, 63 | 31 << 11),
        // TX_FMT_8_8_8_8; components are blue, green, red, alpha.
        (0x44c0, 12 | 3 << 9 | 2 << 12 | 1 << 15),
        (0x4500, 0),
        (0x4640, 63 | 31 << 11),
    ]);
    stream.words.write(0x4540, &[1 << 2 | 1 << 3]).relocation(texture);
    let mut body = vec![TRIANGLES | 3 << 4 | 3 << 16];
    body.extend(corners.iter().flatten().map(|x| x.to_bits()));
    stream.words.command(Opcode::DRAW_IMMD_2, &body);
    (stream, buffer)
}

/// Clamped along both axes: `TX_FILTER0` without filters.
const CLAMPED: u32 = 2 | 2 << 3;

#[test]
fn a_texture_in_tiles_is_drawn_texel_by_texel() {
    let corner = |x: f32, y: f32| [x * 64.0, y * 32.0, 0.0, 1.0, x, y];
    let nearest = CLAMPED | 1 << 9 | 1 << 11;
    let (stream, buffer) =
        textured(nearest, [corner(0.0, 0.0), corner(2.0, 0.0), corner(0.0, 2.0)]);
    run(stream);
    for y in 0..32 {
        for x in 0..64 {
            let expected = x as u32 | (y as u32) << 8 | 0xff << 24;
            assert_eq!(pixel(&buffer, x, y), expected, "{x},{y}");
        }
    }
}

/// Draws a texture, lets a draw or the CPU write a texel, and draws the texture again, without or with a write of
/// `TX_INVALTAGS` in between.
#[test]
fn draws_of_texels_that_were_written_since_the_cache_was_emptied_are_reported() {
    let corner = |x: f32, y: f32| [x * 64.0, y * 32.0, 0.0, 1.0, x, y];
    let corners = [corner(0.0, 0.0), corner(2.0, 0.0), corner(0.0, 2.0)];
    let body = || {
        let vertices = corners.iter().flatten().map(|x| x.to_bits());
        [TRIANGLES | 3 << 4 | 3 << 16].into_iter().chain(vertices).collect::<Vec<_>>()
    };
    for empty in [false, true] {
        let (mut stream, picture) = textured(CLAMPED | 1 << 9 | 1 << 11, corners);
        // Draw 1 copies the texture onto itself's first pixels: target A is the texture, tiled both ways.
        let pitch = 64 | 1 << 16 | 1 << 18 | ARGB8888;
        stream.words.write(0x4e28, &[0]).relocation(1);
        stream.set(&[(0x4e38, pitch), (0x4104, 0), (0x43e4, 3 | 3 << 13)]);
        stream.words.command(Opcode::DRAW_IMMD_2, &body());
        if empty {
            stream.set(&[(0x4100, 0)]);
        }
        // Draw 2 reads the texture again.
        stream.words.write(0x4e28, &[0]).relocation(0);
        stream.set(&[(0x4e38, 64 | ARGB8888), (0x4104, 1), (0x43e4, 63 | 63 << 13)]);
        stream.words.command(Opcode::DRAW_IMMD_2, &body());
        let card = run(stream);
        let reads: Vec<_> = card.report().stale_texels().iter().map(ToString::to_string).collect();
        let expected = "draw 2 reads texels written since the last TX_INVALTAGS: unit 0, buffer 1, written by draw 1";
        assert_eq!(reads, if empty { vec![] } else { vec![expected.to_owned()] });
        assert_eq!(card.report().statistics.stale_draws, u64::from(!empty));
        // The picture has the current texels: those of a disabled unit in its first pixels.
        assert_ne!(pixel(&picture, 1, 0), 1 | 0xff << 24);
        assert_eq!(pixel(&picture, 4, 0), 4 | 0xff << 24);
    }
    // The CPU writes between two submissions of the same draw.
    for empty in [false, true] {
        let (stream, _) = textured(CLAMPED | 1 << 9 | 1 << 11, corners);
        let mut submission = stream.submission();
        let mut card = Card::new();
        card.submit(&submission).unwrap();
        card.submit(&submission).unwrap();
        assert_eq!(card.report().stale_texels(), []);
        submission.relocations[1].buffer.store(64, 0);
        if empty {
            submission.words.splice(0..0, [0x4100 / 4, 0]);
        }
        card.submit(&submission).unwrap();
        let writers: Vec<_> =
            card.report().stale_texels().iter().map(|s| (s.draw, s.writer)).collect();
        assert_eq!(writers, if empty { vec![] } else { vec![(2, None)] });
    }
}

/// Mesa's code of an anisotropic filter, with the ratio 16 to 1 in bits 23:21. From pixel to pixel are 16 texels to the
/// right and one down: 16 probes. Those of pixel 3, around u = 64, read columns 56 to 63 and then eight times 63:
/// (8 * 59.5 + 8 * 63) / 16 = 61.25, where the linear filter reads 63.
#[test]
fn an_anisotropic_filter_takes_the_mean_along_the_longer_step() {
    let corner = |x: f32, y: f32| [x * 64.0, y * 32.0, 0.0, 1.0, x * 16.0 + 0.125, y];
    let corners = [corner(0.0, 0.0), corner(2.0, 0.0), corner(0.0, 2.0)];
    let columns = |buffer: &Buffer| [1, 3, 4].map(|x| pixel(buffer, x, 0) & 0xff);
    let (stream, linear) = textured(CLAMPED | 2 << 9 | 2 << 11, corners);
    run(stream);
    assert_eq!(columns(&linear)[1..], [63, 63]);
    let anisotropic = CLAMPED | 3 << 9 | 3 << 11 | 4 << 21;
    let (stream, buffer) = textured(anisotropic, corners);
    let mut card = Card::new();
    card.submit(&stream.submission()).unwrap();
    assert_eq!(card.report().notes().count(), 0);
    assert_eq!(columns(&buffer)[1..], [61, 63]);
    let mut card = Card::new();
    let (stream, buffer) = textured(anisotropic, corners);
    card.set_reading("anisotropic-filter", "linear").unwrap();
    card.submit(&stream.submission()).unwrap();
    assert_eq!(columns(&buffer), columns(&linear));
}

#[test]
fn perspective_ends_where_w_is_one() {
    // Red from 0 at w = 1 to 1 at w = 3: 1/4 in the middle in perspective, 1/2 in window coordinates.
    for (select, red) in [(0, 64), (1 << 4, 128)] {
        let mut stream = base();
        let (id, buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888).set(&[(0x401c, select), (0x20b0, 0x700)]);
        let vertex = |x: f32, y: f32, w: f32, red: f32| ([x, y, 0.0, w], [red, 0.0, 0.0, 1.0]);
        let corners =
            [vertex(0.5, 0.5, 1.0, 0.0), vertex(32.5, 0.5, 3.0, 1.0), vertex(0.5, 32.5, 1.0, 0.0)];
        draw(&mut stream, TRIANGLES, &corners);
        run(stream);
        assert_eq!(pixel(&buffer, 16, 0).to_le_bytes()[2], red);
    }
}

/// A draw as a job, on the reference engine: each pixel has the colour that the card stored in the buffer.
#[test]
fn a_recorded_draw_shades_what_the_card_draws() {
    use r500_exec::reference::Reference;
    use r500_exec::{Bindings, Options, Shader};

    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    clear(&mut stream, [64, 64], 0.0, GREEN);
    // Two triangles with a common edge, then one that overlaps both.
    let corner = |x: f32, y: f32, r: f32, b: f32| ([x, y, 0.0, 1.0], [r, 0.25, b, 1.0]);
    let [a, b, c, d] = [
        corner(10.0, 6.0, 0.0, 0.0),
        corner(40.0, 6.0, 1.0, 0.0),
        corner(10.0, 31.0, 0.0, 1.0),
        corner(40.0, 31.0, 1.0, 1.0),
    ];
    draw(&mut stream, TRIANGLES, &[a, b, c, c, b, d]);
    let mut card = Card::new();
    card.record(1);
    let submission = stream.submission();
    card.submit(&submission).unwrap();
    let recorded = card.take_recorded().unwrap();
    assert_eq!((recorded.origin, recorded.size), ([10, 6], [30, 26]));
    assert_eq!(recorded.layers, 2, "squares on the common edge belong to both");
    assert!(card.take_recorded().is_none());

    let shader = Shader::new(&recorded.job.program).unwrap();
    let size = recorded.job.size.unwrap();
    assert_eq!(size, [30, 52]);
    let bindings = Bindings::new(&recorded.job, size).unwrap();
    let frame = r500_exec::draw(&Reference, &shader, &bindings, &Options::default()).unwrap();
    let colors = frame.target(0).unwrap();
    let mut pixels = 0;
    for y in 0..64 {
        for x in 0..64 {
            let places = recorded.places([x, y]);
            let stored = buffer.load((y * 64 + x) as usize * 4).unwrap().to_le_bytes();
            let Some(&[px, py]) = places.last() else {
                assert_eq!(stored, [0, 255, 0, 255], "{x}, {y}: only the clear");
                continue;
            };
            assert_eq!(places.len(), 1, "a mesh covers each pixel once");
            let [r, g, b, a] = colors[(py * size[0] + px) as usize];
            let bytes = [b, g, r, a].map(|v| (f64::from(v) * 255.0).round() as u8);
            assert_eq!(stored, bytes, "{x}, {y}");
            pixels += 1;
        }
    }
    assert_eq!(pixels, 30 * 25);
}
