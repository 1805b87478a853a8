//! Requests of event devices (`EVIOC…` of the kernel's header `input.h`).

use std::os::fd::BorrowedFd;

use super::event::InputDevice;
use super::link::choose_clock;
use crate::{Errno, Program};

/// Answers a request to a device that a program opened. Returns the result of `ioctl`: for texts and sets of bits, their size.
pub fn input_ioctl(
    socket: BorrowedFd<'_>,
    device: InputDevice,
    program: &Program,
    request: u32,
    argument: u64,
) -> Result<i32, Errno> {
    const VERSION: u32 = 0x01;
    const ID: u32 = 0x02;
    const REPEAT: u32 = 0x03;
    const NAME: u32 = 0x06;
    const PHYSICAL: u32 = 0x07;
    const UNIQUE: u32 = 0x08;
    const PROPERTIES: u32 = 0x09;
    /// Keys that are down, lamps, sounds, switches.
    const STATES: std::ops::RangeInclusive<u32> = 0x18..=0x1b;
    /// The codes of a type of events.
    const BITS: std::ops::RangeInclusive<u32> = 0x20..=0x3f;
    const EFFECTS: u32 = 0x84;
    const GRAB: u32 = 0x90;
    const REVOKE: u32 = 0x91;
    const SET_CLOCK: u32 = 0xa0;
    /// `EV_VERSION`
    const EV_VERSION: u32 = 0x01_0001;
    /// `BUS_VIRTUAL`
    const VIRTUAL: u16 = 6;
    /// Milliseconds before the first repetition, and between two.
    const REPEATS: [u32; 2] = [250, 33];
    /// A request's direction: the program writes.
    const WRITES: u32 = 1;
    if request >> 8 & 0xff != u32::from(b'E') {
        return Err(Errno(libc::ENOTTY));
    }
    let (number, size) = (request & 0xff, (request >> 16 & 0x3fff) as usize);
    let give = |bytes: &[u8]| {
        let length = size.min(bytes.len());
        program.write_array(argument, &bytes[..length])?;
        Ok(length as i32)
    };
    match number {
        VERSION => give(&EV_VERSION.to_ne_bytes()).map(|_| 0),
        ID => give(bytemuck::cast_slice(&[VIRTUAL, 0x1002, device as u16 + 1, 1])).map(|_| 0),
        REPEAT if request >> 30 == WRITES => Ok(0),
        REPEAT => give(bytemuck::cast_slice(&REPEATS)).map(|_| 0),
        NAME => give(&[device.name().as_bytes(), &[0]].concat()),
        PHYSICAL | UNIQUE => Err(Errno::NOENT),
        PROPERTIES => give(&bits(&[], 0x1f)),
        // Keys that were down before the device was opened are not known here.
        number if STATES.contains(&number) => give(&bits(&[], 0x2ff)),
        number if BITS.contains(&number) => {
            let kind = (number - BITS.start()) as u16;
            give(&bits(&device.codes(kind), last_code(kind)))
        }
        EFFECTS => give(&0_u32.to_ne_bytes()).map(|_| 0),
        GRAB => Ok(0),
        REVOKE => {
            rustix::net::shutdown(socket, rustix::net::Shutdown::Both)?;
            Ok(0)
        }
        SET_CLOCK => {
            let id = program.read_array::<i32>(argument, 1, 1)?;
            choose_clock(socket, id.first().copied().unwrap_or(-1)).map(|()| 0)
        }
        _ => Err(Errno::INVAL),
    }
}

/// Returns the last code that the kernel has of a type of events.
fn last_code(kind: u16) -> u16 {
    match kind {
        0x00 | 0x15 => 0x1f,
        0x01 => 0x2ff,
        0x03 => 0x3f,
        0x12 | 0x14 => 0x07,
        0x11 | 0x05 => 0x10,
        0x17 => 0x7f,
        _ => 0x0f,
    }
}

/// Returns a set of bits, in whole longs as the kernel has it.
fn bits(codes: &[u16], last: u16) -> Vec<u8> {
    let mut set = [0_u8; 0x300 / 8];
    for code in codes {
        set[usize::from(code / 8)] |= 1 << (code % 8);
    }
    set[..(usize::from(last) / 64 + 1) * 8].to_vec()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn sets_are_whole_longs() {
        assert_eq!(bits(&[0, 1, 17, 20], 0x1f), [3, 0, 0x12, 0, 0, 0, 0, 0]);
        assert_eq!(bits(&[], 0x2ff).len(), 96);
        for device in InputDevice::ALL {
            for kind in 0..0x20 {
                let last = device.codes(kind).into_iter().max();
                assert!(last.is_none_or(|last| last <= last_code(kind)), "{device:?} {kind}");
            }
        }
    }
}
