//! The checker of Linux's radeon driver: which submissions the kernel accepts.
//!
//! Before the kernel gives a stream to the card it follows packets and registers, and answers `EINVAL` if the stream writes a register that
//! programs may not write, lacks a relocation, has a packet that it does not know or that ends after the stream, or draws with
//! textures, targets or vertex arrays that are larger than their buffers. Each submission is checked for itself: what earlier
//! ones set does not count.
//!
//! | module | content |
//! | --- | --- |
//! | this one | packets, relocations, commands |
//! | `registers` | which registers a program may write, and what the kernel follows of them |
//! | `track` | what is known when a draw begins, and the sizes that it needs |
//! | `rejection` | why a submission is refused |
//!
//! Evidence: kernel, the functions of `radeon_cs.c`, `r100.c` and `r300.c` in `drivers/gpu/drm/radeon`, and the list of registers in
//! `reg_srcs/rv515`, which all four chips use. Sizes are computed as there, also where that is more than the chip needs.

mod registers;
mod rejection;
mod track;

pub use rejection::{Needed, Reason, Rejection};

use r500_chip::pm4::{Header, IndxBufferPort, MAX_BODY, Opcode, Type0, Type3};
use r500_chip::values::PrimWalk;
use r500_chip::vap::VapVfCntl;

use crate::{Buffer, Chip, Relocation, Submission};

use self::registers::{Access, access};
use self::track::Track;

/// Whether a program owns a memory that only one program at a time may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Owned {
    /// It does.
    Yes,
    /// It does not.
    #[default]
    No,
    /// It is not known: what needs it is [noted](Accepted::needs).
    Unknown,
}

/// What a check depends on besides the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights {
    /// Whether the submission is without its buffers, as dwords are: relocations must be where they belong, and sizes are
    /// [noted](Accepted::needs) as unchecked.
    pub without_buffers: bool,
    /// The chip.
    pub chip: Chip,
    /// The memory that compresses depth (`RADEON_INFO_WANT_HYPERZ`).
    pub hyperz: Owned,
    /// The memory that compresses colour (`RADEON_INFO_WANT_CMASK`).
    pub cmask: Owned,
}

/// A submission that the kernel accepts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Accepted {
    /// What the program must own, where that is not known: with the first dword that needs it.
    pub needs: Vec<(usize, Needed)>,
}

/// Checks a submission.
///
/// # Errors
/// The first [`Rejection`]: the kernel looks no further.
pub fn check(submission: &Submission, rights: Rights) -> Result<Accepted, Rejection> {
    let mut checker = Checker {
        submission,
        rights,
        track: Track::new(!rights.without_buffers),
        next: 0,
        accepted: Accepted::default(),
    };
    // A stream without a packet is an error, too: the kernel parses before it looks whether it is at the end.
    loop {
        let packet = checker.parse(checker.next)?;
        checker.next += packet.dwords();
        match packet.header {
            Header::Type0(header) => checker.writes(&packet, header)?,
            Header::Type3(header) => checker.command(&packet, header)?,
            Header::Type1(_) | Header::Type2(_) => {}
        }
        if checker.next >= submission.words.len() {
            return Ok(checker.accepted);
        }
    }
}

struct Checker<'a> {
    submission: &'a Submission,
    rights: Rights,
    track: Track<'a>,
    /// The index of the next packet: after this one, or after its relocations.
    next: usize,
    accepted: Accepted,
}

/// A packet whose dwords are all there.
struct Packet<'a> {
    at: usize,
    header: Header,
    body: &'a [u32],
}

impl Packet<'_> {
    fn dwords(&self) -> usize {
        1 + self.body.len()
    }

    /// Returns whether it is padding, which a relocation is, too.
    fn is_nop(&self) -> bool {
        matches!(self.header, Header::Type3(header) if header.it_opcode() == Opcode::NOP)
    }

    fn rejection(&self, dword: usize, reason: Reason) -> Rejection {
        Rejection { at: self.at + dword, reason }
    }

    /// Returns a dword of the body.
    fn dword(&self, n: usize) -> Result<u32, Rejection> {
        let short = || self.rejection(0, Reason::Short { dwords: self.body.len() });
        self.body.get(n).copied().ok_or_else(short)
    }
}

impl<'a> Checker<'a> {
    fn parse(&self, at: usize) -> Result<Packet<'a>, Rejection> {
        let words = self.submission.words.as_slice();
        let rejection = |reason| Rejection { at, reason };
        let first = words.get(at).ok_or(rejection(Reason::NoPacket { dwords: words.len() }))?;
        let header = Header::new(*first);
        if let Header::Type1(_) = header {
            return Err(rejection(Reason::PacketType { header: *first }));
        }
        let needs = header.body_len().min(MAX_BODY);
        let body = words.get(at + 1..).and_then(|rest| rest.get(..needs));
        let body = body.ok_or(rejection(Reason::PacketEnd {
            header: *first,
            needs,
            has: words.len() - at - 1,
        }))?;
        Ok(Packet { at, header, body })
    }

    /// Takes the relocation of a register or a command: the next packet. Without buffers there is none.
    fn relocation(&mut self) -> Result<Option<&'a Relocation>, Rejection> {
        let list = self.submission.relocations.as_slice();
        if list.is_empty() && !self.rights.without_buffers {
            return Err(Rejection { at: self.next, reason: Reason::NoRelocationList });
        }
        let packet = self.parse(self.next)?;
        self.next += packet.dwords();
        if !packet.is_nop() {
            return Err(packet.rejection(0, Reason::NoRelocation));
        }
        let dword = packet.dword(0)?;
        if self.rights.without_buffers {
            self.note(packet.at, Needed::Buffers);
            return Ok(None);
        }
        let missing = Reason::RelocationIndex { dword, entries: list.len() };
        let entry = self.submission.relocation(dword);
        entry.map(Some).ok_or_else(|| packet.rejection(1, missing))
    }

    /// Takes a relocation, and names what it is missing for.
    fn relocation_for(
        &mut self,
        at: usize,
        what: &'static str,
    ) -> Result<Option<&'a Buffer>, Rejection> {
        let relocation = self.relocation();
        let relocation = relocation.map_err(|rejection| rejection.for_address(at, what))?;
        Ok(relocation.map(|relocation| &relocation.buffer))
    }

    /// Checks a packet that writes registers.
    fn writes(&mut self, packet: &Packet<'a>, header: Type0) -> Result<(), Rejection> {
        let last = header.address(packet.body.len().saturating_sub(1));
        if last > registers::LAST {
            return Err(packet.rejection(0, Reason::Register { address: last }));
        }
        for (n, value) in packet.body.iter().enumerate() {
            let address = header.address(n);
            match access(address) {
                // All dwords go to one register, which is free.
                Access::Free if header.one_reg_wr() => break,
                Access::Free => {}
                access => self.write(packet, n, address, *value, access)?,
            }
        }
        Ok(())
    }

    /// Follows a write of a register that is not free.
    fn write(
        &mut self,
        packet: &Packet<'a>,
        n: usize,
        address: u32,
        value: u32,
        access: Access,
    ) -> Result<(), Rejection> {
        let at = packet.at + 1 + n;
        let rejection = |reason| Rejection { at, reason };
        match access {
            Access::Free => Ok(()),
            Access::Forbidden => Err(rejection(Reason::Register { address })),
            Access::Rv530 if self.rights.chip == Chip::Rv530 => Ok(()),
            Access::Rv530 => Err(rejection(Reason::Register { address })),
            Access::Unchecked(needed) => {
                self.note(at, needed);
                Ok(())
            }
            Access::HyperZ(bits) if value & bits != 0 => self.owns(at, Needed::HyperZ),
            Access::HyperZ(_) => Ok(()),
            Access::Address(what) => {
                let buffer = self.relocation_for(at, what)?;
                self.track.bind(address, value, buffer);
                Ok(())
            }
            Access::Pitch if self.submission.keeps_tiling() => self.follow(at, address, value),
            // Dwords do not say which; a relocation that follows belongs to the pitch.
            Access::Pitch if self.rights.without_buffers => {
                if self.parse(self.next).is_ok_and(|next| next.is_nop()) {
                    self.relocation()?;
                }
                self.follow(at, address, value)
            }
            Access::Pitch => {
                self.relocation_for(at, "a pitch whose tiling is that of the buffer")?;
                self.follow(at, address, value)
            }
            Access::Followed => self.follow(at, address, value),
        }
    }

    fn follow(&mut self, at: usize, address: u32, value: u32) -> Result<(), Rejection> {
        let owns = self.track.follow(address, value).map_err(|reason| Rejection { at, reason })?;
        owns.map_or(Ok(()), |needed| self.owns(at, needed))
    }

    /// Requires that the program owns something.
    fn owns(&mut self, at: usize, needed: Needed) -> Result<(), Rejection> {
        let owned = match needed {
            Needed::HyperZ => self.rights.hyperz,
            Needed::Cmask => self.rights.cmask,
            Needed::ScreenLine | Needed::Buffers => Owned::Unknown,
        };
        match owned {
            Owned::Yes => Ok(()),
            Owned::No => Err(Rejection { at, reason: Reason::Owner(needed) }),
            Owned::Unknown => {
                self.note(at, needed);
                Ok(())
            }
        }
    }

    fn note(&mut self, at: usize, needed: Needed) {
        if !self.accepted.needs.iter().any(|(_, other)| *other == needed) {
            self.accepted.needs.push((at, needed));
        }
    }

    fn command(&mut self, packet: &Packet<'a>, header: Type3) -> Result<(), Rejection> {
        let draw = |checker: &mut Self, n: usize, immediate: Option<usize>| {
            let control = VapVfCntl(packet.dword(n)?);
            if immediate.is_some() && control.prim_walk() != PrimWalk::VERTEX_DATA {
                return Err(packet.rejection(1 + n, Reason::ImmediateWalk));
            }
            checker.track.set_draw(control, immediate);
            checker.track.check().map_err(|reason| packet.rejection(0, reason))
        };
        match header.it_opcode() {
            Opcode::NOP => Ok(()),
            Opcode::LOAD_VBPNTR => self.arrays(packet),
            Opcode::INDX_BUFFER => self.indices(packet),
            Opcode::DRAW_IMMD_2 => draw(self, 0, Some(packet.body.len() - 1)),
            Opcode::DRAW_VBUF_2 | Opcode::DRAW_INDX_2 => draw(self, 0, None),
            // The older draws have the vertex format in front, which R300 does not use.
            OLD_DRAW_IMMD => draw(self, 1, Some(packet.body.len().saturating_sub(2))),
            OLD_DRAW_VBUF | OLD_DRAW_INDX => draw(self, 1, None),
            Opcode::CLEAR_HIZ | Opcode::CLEAR_ZMASK => self.owns(packet.at, Needed::HyperZ),
            Opcode::CLEAR_CMASK => self.owns(packet.at, Needed::Cmask),
            other => Err(packet.rejection(0, Reason::Command { opcode: other.code() })),
        }
    }

    fn arrays(&mut self, packet: &Packet<'a>) -> Result<(), Rejection> {
        const MOST: u32 = 16;
        let count = packet.dword(0)? & 0x1f;
        if count > MOST {
            return Err(packet.rejection(1, Reason::VertexArrays { count }));
        }
        self.track.set_arrays(count as usize);
        for n in 0..count as usize {
            // Two arrays have one dword with their sizes, and a dword with an address each.
            let sizes = packet.dword(1 + n / 2 * 3)?;
            packet.dword(2 + n / 2 * 3 + n % 2)?;
            let buffer = self.relocation_for(packet.at, "a vertex array")?;
            self.track.set_array(n, sizes >> (n % 2 * 16 + 8) & 0x7f, buffer);
        }
        Ok(())
    }

    fn indices(&mut self, packet: &Packet<'a>) -> Result<(), Rejection> {
        let _ = IndxBufferPort(packet.dword(0)?);
        let buffer = self.relocation_for(packet.at, "indices")?;
        // As the kernel does: dwords against bytes.
        let dwords = u64::from(packet.dword(2)?) + 1;
        match buffer.map(Buffer::size) {
            Some(has) if dwords > has as u64 => {
                Err(packet.rejection(3, Reason::Indices { needs: dwords, has }))
            }
            _ => Ok(()),
        }
    }
}

/// `3D_DRAW_VBUF`, `3D_DRAW_IMMD` and `3D_DRAW_INDX` of older chips, which the kernel still takes.
const OLD_DRAW_VBUF: Opcode = Opcode::new(0x28);
const OLD_DRAW_IMMD: Opcode = Opcode::new(0x29);
const OLD_DRAW_INDX: Opcode = Opcode::new(0x2a);

#[cfg(test)]
mod tests;
