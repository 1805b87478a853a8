//! Vertex sources.

use r500_chip::pm4::Opcode;

use super::stream::*;

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
        "out[0].xyzw = VE_ADD input[0].xyzw input[0].0000",
        "out[1].xyzw = VE_MUL input[1].xyzw const[0].xyzw",
    ];
    let program: Vec<u32> =
        program.iter().flat_map(|line| line.parse::<r500_pvs::Instruction>().unwrap().0).collect();
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
    // Near the corners: half red at the upper left, half green at the upper right, half blue at the lower left.
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

/// Draws with more vertices than are in memory at a time: a triangle whose vertices are in two pieces of 2^16, and a fan, whose
/// triangles use vertex 0.
#[test]
fn primitives_cross_the_pieces_of_a_large_draw() {
    const TRIANGLE_FAN: u32 = 5;
    const TRIANGLE_STRIP: u32 = 6;
    let [origin, right, below, corner] = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0], [64.0, 64.0]];
    let strip = (TRIANGLE_STRIP, 65_537, vec![(65_535, right), (65_536, below)], origin);
    // All but the first and the last vertex are at the lower left: one triangle has an area.
    let fan = (TRIANGLE_FAN, 140_000, vec![(0, origin), (139_999, corner)], below);
    for (primitive, count, others, most) in [strip, fan] {
        let mut stream = base();
        let (id, buffer) = stream.buffer(64 * 64 * 4);
        let (vertices, memory) = stream.buffer(count * 32);
        stream.target(0, id, 64 | ARGB8888);
        for n in 0..count {
            let other = others.iter().find(|(at, _)| *at == n);
            let [x, y] = other.map_or(most, |(_, position)| *position);
            for (dword, value) in [x, y, 0.5, 1.0].into_iter().chain(RED).enumerate() {
                memory.store(n * 32 + dword * 4, f32::to_bits(value));
            }
        }
        stream.set(&[(0x2134, 0xff_ffff), (0x2088, count as u32)]);
        stream.words.command(Opcode::LOAD_VBPNTR, &[1, 8 | 8 << 8, 0]).relocation(vertices);
        stream.words.command(Opcode::DRAW_VBUF_2, &[primitive | 2 << 4 | 1 << 14]);
        let card = run(stream);
        assert_eq!(card.report().statistics.vertices, count as u64);
        let drawn = (0..64 * 64).filter(|at| buffer.load(at * 4) == Some(0xffff_0000)).count();
        // Half of the square, with or without its diagonal.
        assert!((2016..=2080).contains(&drawn), "primitive {primitive}: {drawn} pixels");
    }
}
