//! Packet reader and writer: PM4 dwords as a sequence of packets.

use r500_chip::pm4::{Draw, FILLER, Header, MAX_BODY, Opcode, Type0, Type3};

/// A packet of a stream: its header and the dwords that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Index of the header in the stream.
    pub at: usize,
    /// The header.
    pub header: Header,
    /// The body, [`Header::body_len`] dwords.
    pub body: &'a [u32],
}

/// A stream that ends inside a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dword {at}: the packet {header:#010x} needs {needs} dwords, {has} follow")]
pub struct Truncated {
    /// Index of the header in the stream.
    pub at: usize,
    /// The header's bits.
    pub header: u32,
    /// Dwords of the body.
    pub needs: usize,
    /// Dwords to the end of the stream.
    pub has: usize,
}

/// Iterator over the packets of a stream; ends after an error.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    words: &'a [u32],
    at: usize,
}

/// Returns the packets of a stream.
#[must_use]
pub fn packets(words: &[u32]) -> Packets<'_> {
    Packets { words, at: 0 }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Packet<'a>, Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        let (first, rest) = self.words.get(self.at..)?.split_first()?;
        let header = Header::new(*first);
        let at = self.at;
        let needs = header.body_len();
        let Some(body) = rest.get(..needs) else {
            self.at = self.words.len();
            return Some(Err(Truncated { at, header: *first, needs, has: rest.len() }));
        };
        self.at += 1 + needs;
        Some(Ok(Packet { at, header, body }))
    }
}

impl<'a> Packet<'a> {
    /// Returns the opcode of a command.
    #[must_use]
    pub fn opcode(&self) -> Option<Opcode> {
        match self.header {
            Header::Type3(header) => Some(header.it_opcode()),
            _ => None,
        }
    }

    /// Returns the draw that the packet starts, if it is a draw packet.
    #[must_use]
    pub fn draw(&self) -> Option<Draw<'a>> {
        Draw::new(self.opcode()?, self.body)
    }

    /// Returns the register writes of a type-0 packet: byte offset and value.
    pub fn writes(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let (header, body) = match self.header {
            Header::Type0(header) => (header, self.body),
            _ => (Type0(0), &[][..]),
        };
        body.iter().enumerate().map(move |(i, value)| (header.address(i), *value))
    }
}

/// Writer of streams.
///
/// ```
/// use r500_chip::su::SuCullMode;
/// use r500_stream::StreamWriter;
///
/// let mut stream = StreamWriter::default();
/// stream.set(SuCullMode(2));
/// assert_eq!(stream.into_words(), [0x0000_10ae, 2]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamWriter {
    words: Vec<u32>,
}

impl StreamWriter {
    /// Writes one register; for a set, the first.
    pub fn set<R: r500_chip::Mapped>(&mut self, register: R) -> &mut Self {
        self.set_member(0, register)
    }

    /// Writes member `index` of a register set.
    ///
    /// # Panics
    ///
    /// If the set has no such member, or type-0 packets do not reach it.
    pub fn set_member<R: r500_chip::Mapped>(&mut self, index: u32, register: R) -> &mut Self {
        self.write(R::MAPPING.address_of(index), &[register.bits()])
    }

    /// Writes consecutive registers from byte offset `address`.
    ///
    /// # Panics
    ///
    /// If type-0 packets cannot express it: see [`Type0::write`].
    #[allow(clippy::expect_used)]
    pub fn write(&mut self, address: u32, values: &[u32]) -> &mut Self {
        let header = Type0::write(address, values.len()).expect("registers within reach");
        self.packet(header.bits(), values)
    }

    /// Writes dwords to one register, in as many packets as necessary.
    ///
    /// # Panics
    ///
    /// If type-0 packets do not reach `address`.
    #[allow(clippy::expect_used)]
    pub fn write_one(&mut self, address: u32, values: &[u32]) -> &mut Self {
        for values in values.chunks(MAX_BODY) {
            let header = Type0::write(address, values.len()).expect("a register within reach");
            self.packet(header.with(Type0::ONE_REG_WR, true).bits(), values);
        }
        self
    }

    /// Adds a command.
    ///
    /// # Panics
    ///
    /// If the body is empty or longer than [`MAX_BODY`].
    #[allow(clippy::expect_used)]
    pub fn command(&mut self, opcode: Opcode, body: &[u32]) -> &mut Self {
        let header = Type3::command(opcode, body.len()).expect("a body of 1 to 16,384 dwords");
        self.packet(header.bits(), body)
    }

    /// Adds the relocation NOP that names entry `index` of the submission's list.
    pub fn relocation(&mut self, index: u32) -> &mut Self {
        self.command(Opcode::NOP, &[index * 4])
    }

    /// Adds all packets of another stream.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.words.extend_from_slice(&other.words);
        self
    }

    /// Pads to a multiple of `count` dwords.
    pub fn align(&mut self, count: usize) -> &mut Self {
        self.words.resize(self.words.len().next_multiple_of(count), FILLER);
        self
    }

    /// Returns the stream.
    #[must_use]
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    fn packet(&mut self, header: u32, body: &[u32]) -> &mut Self {
        self.words.push(header);
        self.words.extend_from_slice(body);
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn packets_partition_any_words() {
        arbtest::arbtest(|u| {
            let words: Vec<u32> = u.arbitrary()?;
            let mut at = 0;
            for packet in packets(&words) {
                match packet {
                    Ok(packet) => {
                        assert_eq!(packet.at, at);
                        assert_eq!(packet.header.bits(), words[at]);
                        assert_eq!(packet.body, &words[at + 1..at + 1 + packet.body.len()]);
                        at += 1 + packet.body.len();
                    }
                    Err(error) => {
                        assert_eq!((error.at, error.header), (at, words[at]));
                        assert_eq!(error.has, words.len() - at - 1);
                        assert!(error.needs > error.has);
                        at = words.len();
                    }
                }
            }
            assert_eq!(at, words.len());
            Ok(())
        });
    }

    #[test]
    fn written_packets_read_back() {
        let mut stream = StreamWriter::default();
        stream.write(0x2090, &[1, 2]).write_one(0x2208, &[3, 4, 5]).relocation(2).align(8);
        let words = stream.into_words();
        let expected = [0x0001_0824, 1, 2, 0x0002_8882, 3, 4, 5, 0xc000_1000, 8];
        assert_eq!(words[..9], expected);
        assert_eq!(words[9..], [0x8000_0000; 7]);
        let read: Vec<Packet<'_>> = packets(&words).map(Result::unwrap).collect();
        assert_eq!(read.len(), 10);
        assert!(read[0].writes().eq([(0x2090, 1), (0x2094, 2)]));
        assert!(read[1].writes().eq([(0x2208, 3), (0x2208, 4), (0x2208, 5)]));
        assert_eq!(read[2].opcode(), Some(Opcode::NOP));
        assert_eq!(read[2].writes().count(), 0);
    }
}
