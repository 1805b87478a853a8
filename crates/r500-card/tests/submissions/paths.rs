//! The paths for common states leave the bits that the rules of each block leave, in random states.

use arbtest::arbitrary::{Result, Unstructured};
use r500_card::{Card, Statistics};
use r500_stream::{Buffer, BufferId, Relocation, Submission};

use super::stream::*;

/// `COLORFORMAT` and `US_OUT_FMT`: the first ones are common.
const FORMATS: [(u32, u32); 8] = [
    (6, 3 << 8 | 2 << 10 | 1 << 12),
    (6, 1 << 8 | 2 << 10 | 3 << 12),
    // RGB565 and ARGB1555 from 8 and 10 bits, ARGB4444.
    (4, 3 << 8 | 2 << 10 | 1 << 12),
    (3, 1 | 3 << 8 | 2 << 10 | 1 << 12),
    (15, 3 << 8 | 2 << 10 | 1 << 12),
    // ARGB2101010, two components of 16 bits, and of 16 bits as floats.
    (11, 1 | 3 << 8 | 2 << 10 | 1 << 12),
    (6, 4 | 1 << 8 | 2 << 12),
    (6, 17 | 1 << 8 | 2 << 12),
];

/// Registers of a random state of the blocks after the fragment program.
fn state(u: &mut Unstructured<'_>) -> Result<Vec<(u32, u32)>> {
    let mut registers = Vec::new();
    let mut sometimes = |u: &mut Unstructured<'_>, address, mask: u32, set: u32| -> Result<()> {
        if u.ratio(1, 2)? {
            registers.push((address, u.arbitrary::<u32>()? & mask | set));
        }
        Ok(())
    };
    // Blending with the factors of OpenGL and Direct3D, functions, and a condition to discard.
    sometimes(u, 0x4e04, 0x3f3f_77fa | 7 << 3, 1)?;
    sometimes(u, 0x4e08, 0x3f3f_7000, 0)?;
    sometimes(u, 0x4ef8, u32::MAX, 0)?;
    sometimes(u, 0x4efc, u32::MAX, 0)?;
    sometimes(u, 0x4ea0, u32::MAX, 0)?;
    sometimes(u, 0x4ea4, u32::MAX, 0)?;
    sometimes(u, 0x4e0c, 15, 0)?;
    // Depth and stencil: tests, functions and operations, masks; tests before the program.
    sometimes(u, 0x4f00, 0x17, 0)?;
    sometimes(u, 0x4f00, 6, 6)?;
    sometimes(u, 0x4f04, 0x3fff_ffff, 0)?;
    sometimes(u, 0x4f08, 0xff_ffff, 0)?;
    sometimes(u, 0x4f14, 1, 0)?;
    // Alpha test with 8 or 10 bits.
    if u.ratio(1, 4)? {
        registers.push((
            0x4bd4,
            u.arbitrary::<u32>()? & 0x1ff | 1 << 11 | u.arbitrary::<u32>()? & 0x1700,
        ));
        registers.push((0x4be0, u.arbitrary::<u32>()? & 0x3ff));
    }
    // A logic operation, a clear by the colour of depth, an offset of depth: by the rules.
    if u.ratio(1, 16)? {
        registers.push((0x4e18, u.arbitrary::<u32>()? & 0xf00 | 4));
    }
    if u.ratio(1, 16)? {
        registers.extend([(0x4f1c, 1 << 5), (0x4f28, u.arbitrary()?)]);
    }
    if u.ratio(1, 16)? {
        registers
            .push((0x4f60, (u.arbitrary::<u32>()? & 3) << 1 | (u.arbitrary::<u32>()? & 3) << 17));
    }
    Ok(registers)
}

/// Returns a random draw: triangles of any size, with the same or other colours and depths at their corners, or a point.
fn vertices(u: &mut Unstructured<'_>) -> Result<(u32, Vec<Vertex>)> {
    let unit = |u: &mut Unstructured<'_>| Ok(f32::from(u.arbitrary::<u8>()?) / 255.0);
    let flat = u.ratio(1, 3)?;
    let mut first = None;
    let mut vertex = |u: &mut Unstructured<'_>| {
        let place = [(); 2].map(|()| u.int_in_range(-160..=800));
        let [x, y] = place.map(|x: Result<i32>| x.map(|x| x as f32 / 12.0));
        let (z, w) = (unit(u)?, 0.25 + unit(u)?);
        let color = [unit(u)?, unit(u)?, unit(u)?, unit(u)?];
        let (z, w, color) = match first {
            Some(first) if flat => first,
            _ => (z, w, color),
        };
        first.get_or_insert((z, w, color));
        Ok(([x?, y?, z, w], color))
    };
    if u.ratio(1, 4)? {
        return Ok((POINTS, vec![vertex(u)?]));
    }
    let count = 3 * u.int_in_range(1..=6)?;
    Ok((TRIANGLES, (0..count).map(|_| vertex(u)).collect::<Result<_>>()?))
}

/// Executes a submission on buffers with some contents. Returns their contents after it.
fn execute(submission: &Submission, seed: u32, rules_only: bool) -> (Vec<Vec<u8>>, Statistics) {
    let relocations = (0..).zip(&submission.relocations).map(|(id, relocation)| {
        let buffer = Buffer::zeroed(BufferId(id), relocation.buffer.size());
        let mut random = seed ^ id;
        for at in (0..buffer.size()).step_by(4) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            buffer.store(at, random ^ random >> 15);
        }
        Relocation { buffer, ..relocation.clone() }
    });
    let relocations: Vec<Relocation> = relocations.collect();
    let buffers: Vec<Buffer> = relocations.iter().map(|r| r.buffer.clone()).collect();
    let mut card = Card::new();
    card.set_rules_only(rules_only);
    card.submit(&Submission { relocations, ..submission.clone() }).unwrap();
    (buffers.iter().map(Buffer::to_vec).collect(), card.report().statistics)
}

#[test]
fn random_states_leave_the_same_bits_by_paths_and_by_rules() {
    let budget_ms = std::env::var("ARBTEST_BUDGET_MS").ok().and_then(|text| text.parse().ok());
    let budget_ms = budget_ms.unwrap_or(2000);
    let (mut draws, mut by_lanes) = (0_u64, 0_u64);
    let mut property = |u: &mut Unstructured<'_>| {
        let mut stream = base();
        let (color, _) = stream.buffer(64 * 64 * 4);
        // Sometimes the last rows are outside of the buffer.
        let (depth, _) = stream.buffer(if u.ratio(1, 8)? { 64 * 40 * 4 } else { 64 * 64 * 4 });
        let (format, out_fmt) = *u.choose(&FORMATS)?;
        let tiles = (u.arbitrary::<u32>()? & 1) << 16 | (u.arbitrary::<u32>()? & 1) << 17;
        stream.target(0, color, 64 | tiles | format << 21).set(&[(0x46a4, out_fmt)]);
        let tiles = (u.arbitrary::<u32>()? & 1) << 16 | (u.arbitrary::<u32>()? & 1) << 17;
        stream.set(&[(0x4f10, *u.choose(&[2, 2, 0])?)]);
        stream.words.write(0x4f20, &[0]).relocation(depth).write(0x4f24, &[64 | tiles]);
        // The scissor may begin and end in the middle of a quad.
        let mut margin = || u.int_in_range(0..=9_u32);
        let (x, y, right) = (margin()?, margin()?, margin()?);
        stream.set(&[(0x43e0, x | y << 13), (0x43e4, 63 - right | (63 - y) << 13)]);
        stream.set(&[(0x421c, 100 << 16 | 77)]);
        for _ in 0..u.int_in_range(1..=3)? {
            stream.set(&state(u)?);
            let (primitive, vertices) = vertices(u)?;
            draw(&mut stream, primitive, &vertices);
        }
        let (submission, seed) = (stream.submission(), u.arbitrary()?);
        let (rules, by_rules) = execute(&submission, seed, true);
        let (paths, by_paths) = execute(&submission, seed, false);
        assert_eq!(by_rules.quads_by_lanes, 0);
        assert_eq!(by_rules, Statistics { quads_by_lanes: 0, ..by_paths });
        assert_eq!(rules, paths);
        draws += 1;
        by_lanes += u64::from(by_paths.quads_by_lanes != 0);
        Ok(())
    };
    arbtest::arbtest(&mut property).budget_ms(budget_ms);
    assert!(by_lanes * 3 > draws, "{by_lanes} of {draws} draws by lanes");
}

/// More quads than one thread gets, in several orders: each pixel has the last of them.
#[test]
fn large_primitives_are_drawn_in_order_on_several_threads() {
    let mut stream = base();
    let (id, _) = stream.buffer(512 * 512 * 4);
    stream.target(0, id, 512 | ARGB8888).set(&[(0x43e4, 511 | 511 << 13)]);
    // Sums, then by alpha of the source: the order matters.
    stream.set(&[(0x4e04, 1 | 33 << 16 | 33 << 24), (0x4e08, 33 << 16 | 33 << 24)]);
    let corner = |x: f32, y: f32, red: f32| ([x, y, 0.0, 1.0], [red, 0.25, 0.5, 1.0]);
    for n in 0..4 {
        let shift = n as f32 * 7.0;
        let triangle =
            [corner(shift, 0.0, 0.0), corner(512.0, shift, 1.0), corner(0.0, 512.0, 0.5)];
        draw(&mut stream, TRIANGLES, &triangle);
        if n == 1 {
            stream.set(&[(0x4e04, 1 | 38 << 16 | 39 << 24), (0x4e08, 38 << 16 | 39 << 24)]);
        }
    }
    let submission = stream.submission();
    let (rules, _) = execute(&submission, 5, true);
    let (paths, statistics) = execute(&submission, 5, false);
    assert!(statistics.quads_by_lanes > 100_000, "{statistics:?}");
    assert!(rules == paths);
}

/// Pixels that share bytes, in one surface with short rows or in two surfaces, are written one after the other; a surface of which nothing is
/// written shares none.
#[test]
fn surfaces_that_share_bytes_are_written_in_order() {
    let cases = [
        (false, true, 15),
        (true, false, 15),
        (false, false, 15),
        (false, true, 0),
        (true, false, 0),
    ];
    for (short, shared, channels) in cases {
        let mut stream = base();
        let (color, _) = stream.buffer(512 * 512 * 4);
        let (other, _) = stream.buffer(512 * 512 * 4);
        let pitch = if short { 128 } else { 512 };
        stream.target(0, color, pitch | ARGB8888).set(&[(0x43e4, 511 | 511 << 13)]);
        stream.set(&[(0x4f10, 2), (0x4f00, 6), (0x4f04, 3), (0x4e0c, channels)]);
        let depth = if shared { color } else { other };
        stream.words.write(0x4f20, &[0]).relocation(depth).write(0x4f24, &[512]);
        let corner = |x: f32, y: f32, z: f32| ([x, y, z, 1.0], [z, 1.0 - z, 0.5, 1.0]);
        for n in 0..3 {
            let z = n as f32 / 4.0;
            let triangle =
                [corner(0.0, 0.0, z), corner(512.0, 3.0, 1.0 - z), corner(9.0, 512.0, z)];
            draw(&mut stream, TRIANGLES, &triangle);
        }
        let submission = stream.submission();
        let (rules, _) = execute(&submission, 7, true);
        for _ in 0..3 {
            let (paths, statistics) = execute(&submission, 7, false);
            let in_order = (short || shared) && channels != 0;
            assert_eq!(statistics.quads_by_lanes == 0, in_order);
            assert!(rules == paths, "{short} {shared} {channels}");
        }
    }
}
