//! Vertical blank requests and events.

use crate::abi::{GetSequence, QueueSequence, SequenceEvent, VblankEvent, WaitVblank};
use crate::mode_objects::{CRTC, exists};
use crate::{Errno, File};

impl File {
    /// Answers `WAIT_VBLANK`. A requested event can be read when the request returns.
    pub(crate) fn wait_vblank(&self, wait: &mut WaitVblank) -> Result<(), Errno> {
        const RELATIVE: u32 = 1;
        /// Bits 5:1 number the CRTC, and another bit says that it is the second.
        const OTHER_CRTC: u32 = 0x3e | 0x2000_0000;
        const EVENT: u32 = 0x0400_0000;
        const NEXT_ON_MISS: u32 = 0x1000_0000;
        const SIGNAL: u32 = 0x4000_0000;
        /// `DRM_EVENT_VBLANK`
        const VBLANK: u32 = 1;
        if wait.kind & (OTHER_CRTC | SIGNAL) != 0 {
            return Err(Errno::INVAL);
        }
        let now = self.device.vblank.count();
        // Numbers have 32 bits here: past ones are at most half of the range back.
        let ahead = match wait.kind & RELATIVE {
            0 => wait.sequence.wrapping_sub(now as u32) as i32,
            _ => wait.sequence as i32,
        };
        let ahead = match u64::try_from(ahead) {
            Ok(ahead) => ahead,
            Err(_) => u64::from(wait.kind & NEXT_ON_MISS != 0),
        };
        self.device.vblank.wait(now + ahead)?;
        let number = self.device.vblank.count();
        if wait.kind & EVENT != 0 {
            self.send_vblank(VBLANK, wait.data[0], number);
        }
        let time = now_monotonic();
        wait.sequence = number as u32;
        wait.data = [time / 1_000_000_000, time % 1_000_000_000 / 1000];
        Ok(())
    }

    pub(crate) fn get_sequence(&self, sequence: &mut GetSequence) -> Result<(), Errno> {
        exists(sequence.crtc, CRTC)?;
        sequence.active = 1;
        (sequence.sequence, sequence.nanoseconds) = (self.device.vblank.count(), now_monotonic());
        Ok(())
    }

    pub(crate) fn queue_sequence(&self, queue: &mut QueueSequence) -> Result<(), Errno> {
        const RELATIVE: u32 = 1;
        const NEXT_ON_MISS: u32 = 2;
        /// `DRM_EVENT_CRTC_SEQUENCE`
        const CRTC_SEQUENCE: u32 = 3;
        exists(queue.crtc, CRTC)?;
        if queue.flags & !(RELATIVE | NEXT_ON_MISS) != 0 {
            return Err(Errno::INVAL);
        }
        let now = self.device.vblank.count();
        let mut number = match queue.flags & RELATIVE {
            0 => queue.sequence,
            _ => now.saturating_add(queue.sequence),
        };
        if number <= now && queue.flags & NEXT_ON_MISS != 0 {
            number = now + 1;
        }
        self.device.vblank.wait(number)?;
        queue.sequence = self.device.vblank.count();
        self.events.send(&SequenceEvent {
            kind: CRTC_SEQUENCE,
            length: size_of::<SequenceEvent>() as u32,
            user_data: queue.user_data,
            nanoseconds: now_monotonic(),
            sequence: queue.sequence,
        });
        Ok(())
    }

    /// Sends the event of a vertical blank or of a flip.
    pub(crate) fn send_vblank(&self, kind: u32, user_data: u64, number: u64) {
        let time = now_monotonic();
        self.events.send(&VblankEvent {
            kind,
            length: size_of::<VblankEvent>() as u32,
            user_data,
            seconds: (time / 1_000_000_000) as u32,
            microseconds: (time % 1_000_000_000 / 1000) as u32,
            sequence: number as u32,
            crtc: CRTC,
        });
    }
}

/// Returns the time of events, in nanoseconds.
fn now_monotonic() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
