//! Test streams: the common initial state, draws, clears, and reading of pixels.

use r500_card::Card;
use r500_chip::pm4::Opcode;
use r500_stream::{Buffer, BufferId, Relocation, StreamWriter, Submission};

/// `OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
/// out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a`
pub(super) const COPY: [u32; 6] =
    [0x0007_8105, 0x0802_0000, 0x0802_0000, 0x0044_0220, 0x0060_c003, 0x0000_0005];

/// `TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgbb`
pub(super) const FETCH: [u32; 6] = [0x0000_7807, 0x0240_0000, 0xe400_a400, 0, 0, 0];

/// A stream with a buffer list.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) words: StreamWriter,
    pub(super) buffers: Vec<Buffer>,
}

impl Stream {
    pub(super) fn buffer(&mut self, size: usize) -> (u32, Buffer) {
        let id = self.buffers.len() as u32;
        let buffer = Buffer::zeroed(BufferId(id), size);
        self.buffers.push(buffer.clone());
        (id, buffer)
    }

    pub(super) fn set(&mut self, registers: &[(u32, u32)]) -> &mut Self {
        for (address, value) in registers {
            self.words.write(*address, &[*value]);
        }
        self
    }

    pub(super) fn floats(&mut self, registers: &[(u32, f32)]) -> &mut Self {
        for (address, value) in registers {
            self.words.write(*address, &[value.to_bits()]);
        }
        self
    }

    /// Binds target `n` at offset 0 of a buffer.
    pub(super) fn target(&mut self, n: u32, buffer: u32, pitch: u32) -> &mut Self {
        self.words.write(0x4e28 + 4 * n, &[0]).relocation(buffer);
        self.words.write(0x4e38 + 4 * n, &[pitch]);
        self
    }

    pub(super) fn submission(self) -> Submission {
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

pub(super) const ARGB8888: u32 = 6 << 21;

/// Returns a stream with the initial state of every test: no vertex program, window coordinates, position and one
/// colour of four floats, the program that copies colour 0, Mesa's edge rules, scissor 64x64.
pub(super) fn base() -> Stream {
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
pub(super) type Vertex = ([f32; 4], [f32; 4]);

pub(super) fn draw(stream: &mut Stream, primitive: u32, vertices: &[Vertex]) {
    let mut body = vec![primitive | 3 << 4 | (vertices.len() as u32) << 16];
    body.extend(vertices.iter().flat_map(|(p, c)| [*p, *c]).flatten().map(f32::to_bits));
    stream.words.command(Opcode::DRAW_IMMD_2, &body);
}

pub(super) const POINTS: u32 = 1;
pub(super) const LINES: u32 = 2;
pub(super) const TRIANGLES: u32 = 4;

pub(super) const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
pub(super) const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

pub(super) fn run(stream: Stream) -> Card {
    let mut card = Card::new();
    card.submit(&stream.submission()).unwrap();
    let notes: Vec<_> = card.report().notes().collect();
    assert!(notes.is_empty(), "{notes:?}");
    card
}

/// Fills `width` times `height` pixels with a point of that size.
pub(super) fn clear(stream: &mut Stream, [width, height]: [u32; 2], z: f32, color: [f32; 4]) {
    stream.set(&[(0x421c, (width * 6) << 16 | height * 6)]);
    draw(stream, POINTS, &[([width as f32 / 2.0, height as f32 / 2.0, z, 1.0], color)]);
}

pub(super) fn pixel(buffer: &Buffer, x: usize, y: usize) -> u32 {
    buffer.load((y * 64 + x) * 4).unwrap()
}

/// One texture coordinate of two components instead of a colour: S, T, 0, 1 in temporary 0.
pub(super) const TEXTURE_COORDINATE: [(u32, u32); 7] = [
    (0x2150, 3 | (1 | 6 << 8 | 1 << 13) << 16),
    (0x2090, 1),
    (0x2094, 2),
    (0x20b4, 6),
    (0x4300, 2),
    (0x4074, 1 << 6 | 62 << 12 | 63 << 18),
    (0x4320, 1 << 4),
];
