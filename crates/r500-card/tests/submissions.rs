//! Whole submissions, written by hand: from command streams to bytes in buffers.
#![allow(clippy::unwrap_used, clippy::panic, clippy::precedence)]

use r500_card::{Card, CardError, Limits, Note, Readings};
use r500_chip::pm4::Opcode;
use r500_chip::tiling::Tiling;
use r500_chip::values::MicroTile;
use r500_stream::{Buffer, BufferId, Relocation, StreamWriter, Submission};

/// `OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
/// out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a`
const COPY: [u32; 6] =
    [0x0007_8105, 0x0802_0000, 0x0802_0000, 0x0044_0220, 0x0060_c003, 0x0000_0005];

/// `TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgbb`
const FETCH: [u32; 6] = [0x0000_7807, 0x0240_0000, 0xe400_a400, 0, 0, 0];

/// A stream with a buffer list.
#[derive(Default)]
struct Stream {
    words: StreamWriter,
    buffers: Vec<Buffer>,
}

impl Stream {
    fn buffer(&mut self, size: usize) -> (u32, Buffer) {
        let id = self.buffers.len() as u32;
        let buffer = Buffer::zeroed(BufferId(id), size);
        self.buffers.push(buffer.clone());
        (id, buffer)
    }

    fn set(&mut self, registers: &[(u32, u32)]) -> &mut Self {
        for (address, value) in registers {
            self.words.write(*address, &[*value]);
        }
        self
    }

    fn floats(&mut self, registers: &[(u32, f32)]) -> &mut Self {
        for (address, value) in registers {
            self.words.write(*address, &[value.to_bits()]);
        }
        self
    }

    /// Target `n`: offset 0 of a buffer.
    fn target(&mut self, n: u32, buffer: u32, pitch: u32) -> &mut Self {
        self.words.write(0x4e28 + 4 * n, &[0]).relocation(buffer);
        self.words.write(0x4e38 + 4 * n, &[pitch]);
        self
    }

    fn submission(self) -> Submission {
        let relocations = self.buffers.into_iter().map(|buffer| Relocation {
            buffer,
            read_domains: 4,
            write_domain: 4,
            flags: 0,
            tiling: Default::default(),
        });
        Submission {
            words: self.words.into_words(),
            flags: Submission::KEEP_TILING_FLAGS,
            relocations: relocations.collect(),
        }
    }
}

const ARGB8888: u32 = 6 << 21;

/// State that every test starts from: no vertex program, window coordinates, position and one colour of four floats,
/// the program that copies colour 0, edge rules as Mesa writes them, scissor 64x64.
fn base() -> Stream {
    let mut stream = Stream::default();
    let float4 = |location: u32, last: u32| 3 | location << 8 | last << 13;
    let xyzw = 0xf688;
    stream.set(&[
        (0x2140, 1 << 8),
        (0x20b0, 0x300),
        (0x221c, 1 << 16),
        (0x2150, float4(0, 0) | float4(2, 1) << 16),
        (0x21e0, xyzw | xyzw << 16),
        (0x20b4, 8),
        (0x2090, 1 | 1 << 1),
        (0x2094, 0),
        // Gouraud, provoking vertex last.
        (0x4278, 0x3_aaaa),
        (0x43a8, 0x2da4_9525),
        (0x43e0, 0),
        (0x43e4, 63 | 63 << 13),
        // One colour to temporary 0.
        (0x4300, 1 << 7),
        (0x4304, 0),
        (0x4074, 0),
        (0x4320, 1 << 16),
        // The program.
        (0x4630, 0),
        (0x4634, 0),
        (0x4638, 0),
        (0x4604, 1),
        (0x4250, 0),
        // B, G, R, A.
        (0x46a4, 3 << 8 | 2 << 10 | 1 << 12),
        (0x46a8, 15),
        (0x46ac, 15),
        (0x46b0, 15),
        (0x4e0c, 0xf),
    ]);
    stream.words.write_one(0x4254, &COPY);
    stream.floats(&[(0x42c0, 16_777_215.0)]);
    stream
}

/// A vertex: position and colour.
type Vertex = ([f32; 4], [f32; 4]);

fn draw(stream: &mut Stream, primitive: u32, vertices: &[Vertex]) {
    let mut body = vec![primitive | 3 << 4 | (vertices.len() as u32) << 16];
    body.extend(vertices.iter().flat_map(|(p, c)| [*p, *c]).flatten().map(f32::to_bits));
    stream.words.command(Opcode::DRAW_IMMD_2, &body);
}

const POINTS: u32 = 1;
const LINES: u32 = 2;
const TRIANGLES: u32 = 4;

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

fn run(stream: Stream) -> Card {
    let mut card = Card::new();
    card.submit(&stream.submission()).unwrap();
    let notes: Vec<_> = card.report().notes().collect();
    assert!(notes.is_empty(), "{notes:?}");
    card
}

/// Fills `width` times `height` pixels: a point as large as that.
fn clear(stream: &mut Stream, [width, height]: [u32; 2], z: f32, color: [f32; 4]) {
    stream.set(&[(0x421c, (width * 6) << 16 | height * 6)]);
    draw(stream, POINTS, &[([width as f32 / 2.0, height as f32 / 2.0, z, 1.0], color)]);
}

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

fn pixel(buffer: &Buffer, x: usize, y: usize) -> u32 {
    buffer.load((y * 64 + x) * 4).unwrap()
}

#[test]
fn a_triangle_interpolates_colours_and_covers_by_the_top_left_rule() {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    // Half of a square of 16 pixels; the diagonal goes through pixel centres and is a right edge: out.
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
fn depth_decides_which_of_two_clears_is_seen() {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    let (depth, depth_buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    stream.set(&[(0x4f10, 2), (0x4f00, 6), (0x4f04, 7)]);
    stream.words.write(0x4f20, &[0]).relocation(depth).write(0x4f24, &[64]);
    clear(&mut stream, [8, 8], 0.5, RED);
    // Less: nearer pixels only, and only 4x4 of them.
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

#[test]
fn vertices_come_from_arrays_by_index_through_a_program() {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    let (vertices, memory) = stream.buffer(256);
    let (indices, index_memory) = stream.buffer(16);
    stream.target(0, id, 64 | ARGB8888);
    // Position of two floats, colour of four bytes.
    let corners = [
        ([-1.0_f32, 1.0], 0xffff_0000_u32),
        ([1.0, 1.0], 0xff00_ff00),
        ([-1.0, -1.0], 0xff00_00ff),
    ];
    for (n, (position, color)) in corners.into_iter().enumerate() {
        let at = 32 + n * 12;
        memory.store(at, position[0].to_bits());
        memory.store(at + 4, position[1].to_bits());
        memory.store(at + 8, color);
    }
    index_memory.store(8, 1 << 16);
    index_memory.store(12, 2);
    let program = [
        "VE_ADD out[0].xyzw, input[0].xyzw, input[0].0000",
        "VE_MULTIPLY out[1].xyzw, input[1].xyzw, const[0].xyzw",
    ];
    let program: Vec<u32> = program
        .iter()
        .flat_map(|line| line.parse::<r500_chip::pvs::Instruction>().unwrap().0)
        .collect();
    stream.words.write(0x2200, &[0]).write_one(0x2208, &program).write(0x2200, &[1024]);
    stream.words.write_one(0x2208, &[0.5_f32, 1.0, 1.0, 1.0].map(f32::to_bits));
    stream.set(&[
        (0x2140, 0),
        (0x22d0, 1 << 20),
        // FLOAT_2 to input 0; BYTE, normalised, to input 1, the last.
        (0x2150, 1 | (4 | 1 << 8 | 1 << 13 | 1 << 15) << 16),
        // x, y, 0, 1 and B, G, R, A.
        (0x21e0, (1 << 3 | 4 << 6 | 5 << 9 | 0xf << 12) | (2 | 1 << 3 | 3 << 9 | 0xf << 12) << 16),
        (0x221c, 0),
        // The viewport: 16x16, y upward.
        (0x20b0, 0x43f),
        (0x2134, 0xff_ffff),
    ]);
    stream.floats(&[
        (0x2098, 8.0),
        (0x209c, 8.0),
        (0x20a0, -8.0),
        (0x20a4, 8.0),
        (0x20a8, 0.5),
        (0x20ac, 0.5),
    ]);
    stream.words.command(Opcode::LOAD_VBPNTR, &[1, 3 | 3 << 8, 32]).relocation(vertices);
    stream.words.command(Opcode::DRAW_INDX_2, &[TRIANGLES | 1 << 4 | 3 << 16]);
    stream.words.command(Opcode::INDX_BUFFER, &[1 << 31 | 0x2040 / 4, 8, 2]).relocation(indices);
    run(stream);
    // Near the corners: half red at the upper left, green at the upper right, blue at the lower left.
    let bytes = |x, y| pixel(&buffer, x, y).to_le_bytes();
    let [_, _, red, alpha] = bytes(0, 0);
    assert!((116..=127).contains(&red) && alpha == 255, "{:?}", bytes(0, 0));
    let [_, green, ..] = bytes(14, 0);
    assert!(green > 230);
    let [blue, ..] = bytes(0, 14);
    assert!(blue > 230);
    assert_eq!(pixel(&buffer, 15, 15), 0);
}

#[test]
fn a_texture_in_tiles_is_drawn_texel_by_texel() {
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
    stream.set(&[
        (0x4630, 1 << 16),
        (0x4634, 1 << 16),
        // One texture coordinate of two components instead of a colour.
        (0x2150, 3 | (1 | 6 << 8 | 1 << 13) << 16),
        (0x2090, 1),
        (0x2094, 2),
        (0x20b4, 6),
        (0x4300, 2),
        (0x4074, 1 << 6 | 62 << 12 | 63 << 18),
        (0x4320, 1 << 4),
        (0x4104, 1),
        // Nearest, clamped.
        (0x4400, 2 | 2 << 3 | 1 << 9 | 1 << 11),
        (0x4440, 0),
        (0x4480, 63 | 31 << 11),
        // TX_FMT_8_8_8_8; components are blue, green, red, alpha.
        (0x44c0, 12 | 3 << 9 | 2 << 12 | 1 << 15),
        (0x4500, 0),
        (0x4640, 63 | 31 << 11),
    ]);
    stream.words.write(0x4540, &[1 << 2 | 1 << 3]).relocation(texture);
    let corner = |x: f32, y: f32| [x * 64.0, y * 32.0, 0.0, 1.0, x, y];
    let mut body = vec![TRIANGLES | 3 << 4 | 3 << 16];
    let corners = [corner(0.0, 0.0), corner(2.0, 0.0), corner(0.0, 2.0)];
    body.extend(corners.iter().flatten().map(|x| x.to_bits()));
    stream.words.command(Opcode::DRAW_IMMD_2, &body);
    run(stream);
    for y in 0..32 {
        for x in 0..64 {
            let expected = x as u32 | (y as u32) << 8 | 0xff << 24;
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
fn perspective_ends_where_w_is_one() {
    // Red from 0 at w = 1 to 1 at w = 3, in window coordinates: in the middle 1/4 in perspective, 1/2 without.
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

#[test]
fn vertices_come_through_port_registers() {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888).set(&[(0x421c, 24 << 16 | 24)]);
    let mut floats = vec![2.0, 2.0, 0.0, 1.0];
    floats.extend(RED);
    let dwords: Vec<u32> = floats.into_iter().map(f32::to_bits).collect();
    stream.words.write(0x2084, &[POINTS | 3 << 4 | 1 << 16]).write(0x2000, &dwords);
    run(stream);
    assert_eq!(pixel(&buffer, 3, 3), 0xffff_0000);
    assert_eq!((0..64 * 64).filter(|n| buffer.load(n * 4) != Some(0)).count(), 16);
}

/// Depth that the rasteriser sends in place of the program's.
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
    // Selected units: 1, both, none named by SU_REG_DEST but pipe 1.
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

/// A program may write its buffers while the card reads them: each read takes what is there, none leaves the buffer.
#[test]
fn memory_that_changes_while_it_is_read_is_harmless() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    let (vertices, vertex_memory) = stream.buffer(4096);
    let (indices, index_memory) = stream.buffer(256);
    let (texture, texels) = stream.buffer(64 * 32 * 4);
    stream.target(0, id, 64 | ARGB8888);
    stream.words.write(0x4250, &[0]).write_one(0x4254, &[FETCH, COPY].concat());
    stream.set(&[
        (0x4630, 1 << 16),
        (0x4634, 1 << 16),
        (0x2134, 0xff_ffff),
        (0x4104, 1),
        (0x4480, 63 | 31 << 11),
        (0x44c0, 12 | 3 << 9 | 2 << 12 | 1 << 15),
    ]);
    stream.words.write(0x4540, &[1 << 2 | 1 << 3]).relocation(texture);
    stream.words.command(Opcode::LOAD_VBPNTR, &[1, 8 | 8 << 8, 0]).relocation(vertices);
    for _ in 0..20 {
        stream.words.command(Opcode::DRAW_INDX_2, &[TRIANGLES | 1 << 4 | 96 << 16]);
        stream
            .words
            .command(Opcode::INDX_BUFFER, &[1 << 31 | 0x2040 / 4, 0, 48])
            .relocation(indices);
    }
    let submission = stream.submission();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = 1_u32;
            while !done.load(Ordering::Relaxed) {
                for memory in [&vertex_memory, &index_memory, &texels] {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    // Positions of all magnitudes, indices in and out of range, any texels.
                    memory.store((random >> 8) as usize % memory.size(), random);
                }
            }
        });
        let mut card = Card::new();
        for _ in 0..20 {
            card.submit(&submission).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(card.report().statistics.draws, 400);
    });
}

/// What takes longest within the limits, and what exceeds them: each kind of work ends a submission.
#[test]
fn every_kind_of_work_is_bounded() {
    let endless = |setup: &dyn Fn(&mut Stream), limits: Limits| {
        let mut stream = base();
        let (id, _) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888);
        setup(&mut stream);
        clear(&mut stream, [64, 64], 0.0, RED);
        let mut card = Card::new();
        card.set_limits(limits);
        card.submit(&stream.submission()).map_err(|error| error.to_string())
    };
    let nothing = |_: &mut Stream| {};
    let most = Limits::default();
    for (limits, message) in [
        (Limits { draws: 0, ..most }, "more than 0 draws"),
        (Limits { vertices: 0, ..most }, "more than 0 vertices"),
        (Limits { pixels: 4095, ..most }, "cover more than 4095 pixels"),
        (Limits { quads: 1023, ..most }, "shade more than 1023 squares"),
        (Limits { fragment_instructions: 255, ..most }, "executed 255 instructions"),
    ] {
        let error = endless(&nothing, limits).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let texture = |stream: &mut Stream| {
        let (texture, _) = stream.buffer(4096);
        stream.set(&[(0x4104, 1), (0x4480, 63 | 31 << 11), (0x44c0, 12)]);
        stream.words.write(0x4540, &[0]).relocation(texture);
    };
    let limits = Limits { texture_bytes: 8191, ..most };
    assert!(endless(&texture, limits).unwrap_err().contains("more than 8191 bytes of textures"));
    assert_eq!(endless(&texture, Limits { texture_bytes: 8192, ..most }), Ok(()));
    // A loop of a vertex program: 255 times around, 255 times around it.
    let vertex = |stream: &mut Stream| {
        let inst: r500_chip::pvs::Instruction =
            "VE_ADD temp[0].xyzw, temp[0].1111, temp[0].1111".parse().unwrap();
        let words = [inst.0; 4].concat();
        stream.words.write(0x2200, &[0]).write_one(0x2208, &words);
        stream.set(&[
            (0x2140, 0),
            (0x22d0, 3 << 20),
            (0x22dc, 2 | 2 << 2),
            (0x2500, 0xff << 16),
            (0x2504, 2 | 1 << 16),
            (0x2508, 0xff << 16),
            (0x250c, 2 | 1 << 16),
        ]);
    };
    let error = endless(&vertex, Limits { vertex_instructions: 50_000, ..most }).unwrap_err();
    assert!(error.contains("vertex programs have executed 50000 instructions"), "{error}");
}

#[test]
fn what_is_not_implemented_is_noted() {
    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888).set(&[(0x4bc0, 1)]);
    clear(&mut stream, [4, 4], 0.0, RED);
    clear(&mut stream, [4, 4], 0.0, RED);
    let mut card = Card::new();
    card.submit(&stream.submission()).unwrap();
    let notes: Vec<_> = card.report().notes().collect();
    let [(Note::Register { name, value: 1, .. }, 2)] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!(name, "FG_FOG_BLEND");
}

#[test]
fn limits_end_a_submission() {
    let mut stream = base();
    let (id, _) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    clear(&mut stream, [64, 64], 0.0, RED);
    let submission = stream.submission();
    let mut card = Card::new();
    card.set_limits(Limits { pixels: 1000, ..Limits::default() });
    assert_eq!(card.submit(&submission), Err(CardError::Pixels { limit: 1000 }));
    card.set_limits(Limits { vertices: 0, ..Limits::default() });
    assert_eq!(card.submit(&submission), Err(CardError::Vertices { limit: 0 }));
}

#[test]
fn any_words_are_executed_without_panic() {
    arbtest::arbtest(|u| {
        let mut stream = base();
        let (id, _) = stream.buffer(4096);
        stream.target(0, id, 64 | ARGB8888);
        clear(&mut stream, [4, 4], 0.0, RED);
        let mut submission = stream.submission();
        for _ in 0..u.int_in_range(0..=20)? {
            let at = u.choose_index(submission.words.len())?;
            submission.words[at] ^= 1 << u.int_in_range(0..=31)?;
        }
        let mut card = Card::new();
        card.set_limits(Limits {
            vertices: 100,
            vertex_instructions: 1000,
            pixels: 10_000,
            group_instructions: 1000,
            texture_bytes: 1 << 20,
            ..Limits::default()
        });
        let _ = card.submit(&submission);
        Ok(())
    });
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

/// A draw as a job, on the reference engine: each place of the picture has the colour that the card put into the buffer.
#[test]
fn a_recorded_draw_shades_what_the_card_draws() {
    use r500_exec::reference::Reference;
    use r500_exec::{Bindings, Options, Shader};

    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    clear(&mut stream, [64, 64], 0.0, GREEN);
    // Two triangles with a common edge, then one that lies over both.
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
