//! Event devices, what they have, and events.

use bytemuck::{Pod, Zeroable};

/// `EV_SYN`
pub(super) const SYN: u16 = 0;
/// `EV_KEY`
pub(super) const KEY: u16 = 1;
/// `EV_REL`
pub(super) const REL: u16 = 2;
/// `EV_LED`
const LED: u16 = 0x11;
/// `EV_REP`
const REP: u16 = 0x14;

/// `REL_X`, `REL_Y`
const MOVES: [u16; 2] = [0, 1];
/// `REL_HWHEEL`, `REL_WHEEL`
const WHEELS: [u16; 2] = [6, 8];
/// `BTN_LEFT` to `BTN_TASK`
const BUTTONS: std::ops::RangeInclusive<u16> = 0x110..=0x117;
/// `KEY_ESC` to `KEY_MICMUTE`
const KEYS: std::ops::RangeInclusive<u16> = 1..=248;

/// An event device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputDevice {
    /// The keyboard, `event0`.
    Keyboard,
    /// The mouse, `event1`.
    Mouse,
}

impl InputDevice {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 2] = [Self::Keyboard, Self::Mouse];

    /// The name that programs see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keyboard => "r500 keyboard",
            Self::Mouse => "r500 mouse",
        }
    }

    /// Returns the codes that the device has of a type of events; those of type 0 are the types that it has.
    pub fn codes(self, kind: u16) -> Vec<u16> {
        match (self, kind) {
            (Self::Keyboard, SYN) => vec![SYN, KEY, LED, REP],
            (Self::Keyboard, KEY) => KEYS.collect(),
            // LED_NUML, LED_CAPSL, LED_SCROLLL
            (Self::Keyboard, LED) => vec![0, 1, 2],
            // REP_DELAY, REP_PERIOD
            (Self::Keyboard, REP) => vec![0, 1],
            (Self::Mouse, SYN) => vec![SYN, KEY, REL],
            (Self::Mouse, KEY) => BUTTONS.collect(),
            (Self::Mouse, REL) => MOVES.into_iter().chain(WHEELS).collect(),
            _ => Vec::new(),
        }
    }
}

/// An event without its time: type, code and value of the kernel's header `input-event-codes.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputEvent {
    /// The type.
    pub kind: u16,
    /// The code.
    pub code: u16,
    /// The value.
    pub value: i32,
}

impl InputEvent {
    /// A key or a button: 0 is released, 1 is pressed, 2 repeats.
    pub const fn key(code: u16, value: i32) -> Self {
        Self { kind: KEY, code, value }
    }

    /// A movement of the mouse in pixels, to the right and down. What does not move has no event.
    pub fn movement(by: [i32; 2]) -> impl Iterator<Item = Self> {
        Self::relative(MOVES, by)
    }

    /// A turn of the wheel in steps, to the right and up.
    pub fn wheel(by: [i32; 2]) -> impl Iterator<Item = Self> {
        Self::relative(WHEELS, by)
    }

    fn relative(codes: [u16; 2], by: [i32; 2]) -> impl Iterator<Item = Self> {
        let events = codes.into_iter().zip(by);
        events.filter(|(_, value)| *value != 0).map(|(code, value)| Self { kind: REL, code, value })
    }

    /// The event that ends those of one moment (`SYN_REPORT`).
    pub(super) const REPORT: Self = Self { kind: SYN, code: 0, value: 0 };
}

/// `input_event` of 64-bit systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RawEvent {
    seconds: i64,
    microseconds: i64,
    kind: u16,
    code: u16,
    value: i32,
}

/// Size of an event in bytes.
pub(super) const EVENT_BYTES: usize = size_of::<RawEvent>();

impl RawEvent {
    /// Returns an event with a time in nanoseconds.
    pub(super) fn new(InputEvent { kind, code, value }: InputEvent, time: u64) -> Self {
        Self {
            seconds: (time / 1_000_000_000) as i64,
            microseconds: (time % 1_000_000_000 / 1000) as i64,
            kind,
            code,
            value,
        }
    }

    /// Returns the event without its time.
    pub(super) fn event(self) -> InputEvent {
        InputEvent { kind: self.kind, code: self.code, value: self.value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layout of `struct input_event` in linux/input.h with a time of two 64-bit longs.
    #[test]
    fn events_have_the_kernels_layout() {
        let raw = RawEvent::new(InputEvent::key(30, 1), 5_000_007_000);
        let mut bytes = [0_u8; 24];
        bytes[0] = 5;
        bytes[8] = 7;
        bytes[16] = 1;
        bytes[18] = 30;
        bytes[20] = 1;
        assert_eq!(bytemuck::bytes_of(&raw), bytes);
        let back = InputEvent::movement([0, -2]).map(|event| RawEvent::new(event, 0));
        let bytes: Vec<Vec<u8>> = back.map(|raw| bytemuck::bytes_of(&raw)[16..].to_vec()).collect();
        assert_eq!(bytes, [[2, 0, 1, 0, 0xfe, 0xff, 0xff, 0xff]]);
    }

    #[test]
    fn wheels_have_codes_of_their_own() {
        let events: Vec<_> = InputEvent::wheel([1, -1]).collect();
        assert_eq!(
            events,
            [InputEvent { kind: 2, code: 6, value: 1 }, InputEvent { kind: 2, code: 8, value: -1 }]
        );
    }
}
