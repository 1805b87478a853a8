//! Statistics of streams.

use std::collections::BTreeMap;

use r500_chip::at;
use r500_chip::pm4::{Header, Opcode};
use r500_chip::values::PrimType;

use crate::packet::packets;
use crate::{CommandProcessor, Effect, State, StreamError, Submission};

/// Counts over submissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Submissions.
    pub submissions: u64,
    /// Dwords of their streams.
    pub dwords: u64,
    /// Packets that write registers.
    pub register_packets: u64,
    /// Dwords of padding.
    pub fillers: u64,
    /// Commands, by opcode.
    pub commands: BTreeMap<u8, u64>,
    /// Register writes, by byte offset.
    pub writes: BTreeMap<u32, u64>,
    /// Draws, by primitive type.
    pub draws: BTreeMap<PrimType, Draws>,
    /// Number of truncated submissions, and of packets in error.
    pub errors: u64,
}

/// Counts of draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draws {
    /// Draws.
    pub draws: u64,
    /// Vertices, or indices.
    pub vertices: u64,
    /// Points, lines, triangles, quads or polygons.
    pub primitives: u64,
}

impl Statistics {
    /// Executes a submission on `state` and counts its packets. Returns its errors.
    pub fn add(&mut self, state: &mut State, submission: &Submission) -> Vec<StreamError> {
        self.submissions += 1;
        self.dwords += submission.words.len() as u64;
        for packet in packets(&submission.words).flatten() {
            match packet.header {
                Header::Type0(_) => self.register_packets += 1,
                Header::Type2(_) => self.fillers += 1,
                Header::Type3(header) => {
                    *self.commands.entry(header.it_opcode().code()).or_default() += 1;
                }
                Header::Type1(_) => {}
            }
            for (address, _) in packet.writes() {
                *self.writes.entry(address).or_default() += 1;
            }
        }
        let mut errors = Vec::new();
        let mut cp = CommandProcessor::new(state, submission);
        while let Some(effect) = cp.next_effect() {
            match effect {
                Ok(Effect::Draw(draw)) => {
                    let vertices = cp.state().vertex_count(draw.vf_cntl);
                    let prim_type = draw.vf_cntl.prim_type();
                    let draws = self.draws.entry(prim_type).or_default();
                    draws.draws += 1;
                    draws.vertices += u64::from(vertices);
                    draws.primitives += u64::from(prim_type.primitives(vertices));
                }
                Ok(_) => {}
                Err(error) => errors.push(error),
            }
        }
        self.errors += errors.len() as u64;
        errors
    }

    /// Returns the sums over all primitive types.
    #[must_use]
    pub fn total(&self) -> Draws {
        self.draws.values().fold(Draws::default(), |sum, draws| Draws {
            draws: sum.draws + draws.draws,
            vertices: sum.vertices + draws.vertices,
            primitives: sum.primitives + draws.primitives,
        })
    }

    /// Returns the writes of unknown registers: byte offset and count.
    pub fn unknown_registers(&self) -> impl Iterator<Item = (u32, u64)> {
        let writes = self.writes.iter().filter(|(address, _)| at(**address).is_none());
        writes.map(|(address, count)| (*address, *count))
    }

    /// Returns the unknown commands: opcode and count.
    pub fn unknown_commands(&self) -> impl Iterator<Item = (u8, u64)> {
        let commands = self.commands.iter().filter(|(opcode, _)| !Opcode::new(**opcode).is_named());
        commands.map(|(opcode, count)| (*opcode, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_packets() {
        let text = "
            SC_SCISSOR0 = 0
            + SC_SCISSOR1 = 0
            @0x1234 = 1
            VAP_ALT_NUM_VERTICES = 70000
            3D_DRAW_VBUF_2 { PRIM_TYPE 6 }
            fill 3
            command 0x77 1
        ";
        // Fields of a command's body are not part of the notation.
        assert!(crate::text::parse(text).is_err());
        // Triangle strip of the alternative count; two quads of 9 vertices; a line loop.
        let text = text
            .replace("{ PRIM_TYPE 6 }", "0x4026\n3D_DRAW_VBUF_2 0x9002d\n3D_DRAW_VBUF_2 0x3002c");
        let words = crate::text::parse(&text).unwrap_or_default();
        let submission = Submission { words, ..Submission::default() };
        let (mut statistics, mut state) = (Statistics::default(), State::default());
        let errors = statistics.add(&mut state, &submission);
        assert_eq!(errors.len(), 1, "the unknown command");
        assert_eq!((statistics.submissions, statistics.dwords), (1, 18));
        assert_eq!((statistics.register_packets, statistics.fillers), (3, 3));
        assert_eq!(statistics.writes.len(), 4);
        assert!(statistics.unknown_registers().eq([(0x1234, 1)]));
        assert!(statistics.unknown_commands().eq([(0x77, 1)]));
        let strip = statistics.draws[&PrimType::TRIANGLE_STRIP];
        assert_eq!(strip, Draws { draws: 1, vertices: 70_000, primitives: 69_998 });
        assert_eq!(statistics.draws[&PrimType::QUADS].primitives, 2);
        assert_eq!(statistics.total(), Draws { draws: 3, vertices: 70_012, primitives: 70_003 });
    }
}
