//! Fog: functions, sources of the fog value, readings.

use r500_card::{Card, Readings};
use r500_chip::pm4::Opcode;

use super::stream::*;

const LINEAR: u32 = 1;
const EXP: u32 = 1 | 1 << 1;
const EXP2: u32 = 1 | 2 << 1;
const CONSTANT: u32 = 1 | 3 << 1;

/// `GB_SELECT.FOG_SELECT`.
const COLOR_0_ALPHA: u32 = 0;
const W: u32 = 4;
const Z: u32 = 5;

/// Natural logarithm of 5.
const LN_5: f32 = 1.609_438;

/// Fog state of a pixel: function, source, scale and offset of the fog value, constant factor.
struct Setup {
    function: u32,
    source: u32,
    scale: f32,
    offset: f32,
    constant: u32,
}

const SETUP: Setup = Setup { function: LINEAR, source: Z, scale: 1.0, offset: 0.0, constant: 0 };

/// Draws a pixel at z 0.5 and w 0.25 in green fog. Returns the stored blue, green, red, alpha.
fn fogged(setup: &Setup, color: [f32; 4], readings: &[(&str, &str)]) -> [u8; 4] {
    let mut stream = base();
    let (id, buffer) = stream.buffer(64 * 64 * 4);
    stream.target(0, id, 64 | ARGB8888);
    stream.set(&[
        // W of the vertex is w.
        (0x20b0, 0x700),
        (0x401c, setup.source),
        (0x4bc0, setup.function),
        (0x4bc4, setup.constant),
        (0x4bc8, 0),
        (0x4bcc, 1023),
        (0x4bd0, 0),
        (0x421c, 6 << 16 | 6),
    ]);
    stream.floats(&[(0x4294, setup.scale), (0x4298, setup.offset)]);
    draw(&mut stream, POINTS, &[([0.5, 0.5, 0.5, 0.25], color)]);
    let mut card = Card::new();
    let mut chosen = Readings::default();
    readings.iter().for_each(|(name, value)| chosen.set(name, value).unwrap());
    card.set_readings(chosen);
    card.submit(&stream.submission()).unwrap();
    assert_eq!(card.report().notes().count(), 0);
    pixel(&buffer, 0, 0).to_le_bytes()
}

#[test]
fn functions_turn_the_fog_value_into_the_weight_of_the_colour() {
    // One third by the constant: 341 / 1023. 0.5 * 0.5 + 0.35 = 0.6. e^-ln 5 = 0.2, and e^-(sqrt(ln 5))^2.
    for (setup, green, red) in [
        (Setup { function: CONSTANT, constant: 341, ..SETUP }, 170, 85),
        (Setup { function: CONSTANT, constant: 1023, ..SETUP }, 0, 255),
        (Setup { scale: 0.5, offset: 0.35, ..SETUP }, 102, 153),
        (Setup { function: EXP, scale: 2.0 * LN_5, ..SETUP }, 204, 51),
        (Setup { function: EXP2, scale: 2.0 * 1.268_636_3, ..SETUP }, 204, 51),
        // Out of range: colour only, fog only.
        (Setup { scale: 9.0, ..SETUP }, 0, 255),
        (Setup { offset: -9.0, ..SETUP }, 255, 0),
        (Setup { function: 0, ..SETUP }, 0, 255),
    ] {
        let Setup { function, scale, offset, .. } = setup;
        let stored = fogged(&setup, RED, &[]);
        assert_eq!(stored, [0, green, red, 255], "{function} {scale} {offset}");
    }
}

#[test]
fn the_fog_value_is_an_alpha_or_w_or_z() {
    let color = [1.0, 0.0, 0.0, 0.6];
    for (source, green, red) in [(COLOR_0_ALPHA, 102, 153), (W, 191, 64), (Z, 128, 128)] {
        let [_, g, r, alpha] = fogged(&Setup { source, ..SETUP }, color, &[]);
        // 191.25, 63.75, and 127.5, which rounds to even.
        assert_eq!([g, r], [green, red], "{source}");
        assert_eq!(alpha, 153, "alpha has no fog");
    }
}

#[test]
fn fog_readings_change_weight_and_base() {
    let linear = Setup { scale: 0.4, ..SETUP };
    assert_eq!(fogged(&linear, RED, &[]), [0, 204, 51, 255]);
    assert_eq!(fogged(&linear, RED, &[("fog-factor", "fog")]), [0, 51, 204, 255]);
    // 2^-log2 5 = 0.2.
    let exponential = Setup { function: EXP, scale: 2.0 * 2.321_928, ..SETUP };
    assert_eq!(fogged(&exponential, RED, &[("fog-exponential", "2")]), [0, 204, 51, 255]);
}

/// `GB_SELECT.FOG_STUFF_ENABLE`: T of coordinate 0 is the fog value.
#[test]
fn the_fog_value_may_be_a_texture_coordinate() {
    for (stuffed, green) in [(1 << 5 | 1 << 10, 102), (0, 255)] {
        let mut stream = base();
        let (id, buffer) = stream.buffer(64 * 64 * 4);
        stream.target(0, id, 64 | ARGB8888);
        stream.set(&TEXTURE_COORDINATE);
        stream.set(&[(0x401c, Z | stuffed), (0x421c, 6 << 16 | 6)]);
        stream.floats(&[(0x4294, 0.8)]);
        let mut body = vec![POINTS | 3 << 4 | 1 << 16];
        body.extend([0.5_f32, 0.5, 0.5, 1.0, 0.2, 1.0].map(f32::to_bits));
        stream.words.command(Opcode::DRAW_IMMD_2, &body);
        run(stream);
        // 0.2, and 0.8 * 0.5 or 1.
        assert_eq!(pixel(&buffer, 0, 0).to_le_bytes(), [0, green, 51, 255], "{stuffed}");
    }
}
