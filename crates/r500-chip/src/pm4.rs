//! PM4: the packet headers of a command stream, and the bodies of packets that draw.
//!
//! A stream is a sequence of packets; the header's two highest bits are the type. Type 0 writes registers, type 2 is one
//! dword of padding, type 3 is a command with an opcode. Type 1 (two registers anywhere) is not used on this chip.
//!
//! Evidence for the layouts: the R5xx register documents, `PACKET0`/`PACKET3` of the Linux kernel's command checker, and
//! streams of Mesa's r300 driver.

use r500_isa::{choices, registers};

use crate::vap::VapVfCntl;

#[rustfmt::skip]
choices! {
    /// Opcode of a type-3 packet.
    Opcode {
        NOP            = 0x10 "NOP"             "padding; after a register that holds an address: the index of its relocation times 4";
        LOAD_VBPNTR    = 0x2f "3D_LOAD_VBPNTR"  "vertex arrays: sizes, strides, offsets";
        CLEAR_ZMASK    = 0x32 "3D_CLEAR_ZMASK"  "fill depth mask memory: start, dwords, value";
        INDX_BUFFER    = 0x33 "INDX_BUFFER"     "indices from memory to a port";
        DRAW_VBUF_2    = 0x34 "3D_DRAW_VBUF_2"  "draw from vertex arrays";
        DRAW_IMMD_2    = 0x35 "3D_DRAW_IMMD_2"  "draw vertices that stand in the packet";
        DRAW_INDX_2    = 0x36 "3D_DRAW_INDX_2"  "draw by indices, in the packet or from INDX_BUFFER";
        CLEAR_HIZ      = 0x37 "3D_CLEAR_HIZ"    "fill hierarchical depth memory: start, dwords, value";
        CLEAR_CMASK    = 0x38 "3D_CLEAR_CMASK"  "fill colour mask memory: start, dwords, value";
    }
}

#[rustfmt::skip]
registers! {
    Type0 "PACKET0" "writes registers." {
        BASE_INDEX       base_index       12:0  u16    "first register: byte offset / 4";
        ONE_REG_WR       one_reg_wr       15:15 bool   "all dwords go to the first register";
        COUNT            count            29:16 u16    "dwords of the body, minus 1";
        TYPE             ty               31:30 u8     "0";
    }

    Type3 "PACKET3" "a command." {
        PREDICATE        predicate        0:0   bool   "execute only if the predicate is set";
        IT_OPCODE        it_opcode        15:8  Opcode "command";
        COUNT            count            29:16 u16    "dwords of the body, minus 1";
        TYPE             ty               31:30 u8     "3";
    }

    /// The first dword of a `3D_LOAD_VBPNTR` body.
    VbpntrCount "3D_LOAD_VBPNTR_0" "vertex arrays of the packet." {
        VTX_NUM_ARRAYS   vtx_num_arrays   4:0   u8     "vertex arrays, 0 to 16";
    }

    /// The first dword of an `INDX_BUFFER` body; the byte offset and the number of dwords follow.
    IndxBufferPort "INDX_BUFFER_0" "destination of indices from memory." {
        DST_PORT         dst_port         12:0  u16    "register: byte offset / 4; VAP_PORT_IDX0 for a draw";
        SKIP_COUNT       skip_count       18:16 u8     "dwords to skip at the start";
        ONE_REG_WR       one_reg_wr       31:31 bool   "all dwords go to that register";
    }
}

/// The header of a packet, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Writes registers.
    Type0(Type0),
    /// Type 1, which this chip's streams do not use, with its bits.
    Type1(u32),
    /// Padding, with its bits.
    Type2(u32),
    /// A command.
    Type3(Type3),
}

impl Header {
    /// Decodes a dword.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        match bits >> 30 {
            0 => Self::Type0(Type0(bits)),
            1 => Self::Type1(bits),
            2 => Self::Type2(bits),
            _ => Self::Type3(Type3(bits)),
        }
    }

    /// Returns the dword.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Type0(header) => header.bits(),
            Self::Type1(bits) | Self::Type2(bits) => bits,
            Self::Type3(header) => header.bits(),
        }
    }

    /// Returns the number of dwords that follow the header. A type-1 packet counts as two.
    #[must_use]
    pub fn body_len(self) -> usize {
        match self {
            Self::Type0(header) => usize::from(header.count()) + 1,
            Self::Type1(_) => 2,
            Self::Type2(_) => 0,
            Self::Type3(header) => usize::from(header.count()) + 1,
        }
    }
}

/// Padding of one dword.
pub const FILLER: u32 = 2 << 30;

/// The maximal number of dwords in the body of a packet.
pub const MAX_BODY: usize = 1 << 14;

impl Type0 {
    /// Returns the header that writes `count` consecutive registers from byte offset `address` on; `None` if a packet cannot encode this.
    #[must_use]
    pub fn write(address: u32, count: usize) -> Option<Self> {
        let index = u16::try_from(address / 4).ok().filter(|index| *index < 1 << 13)?;
        let count = u16::try_from(count.checked_sub(1)?).ok().filter(|count| *count < 1 << 14)?;
        let aligned = address.is_multiple_of(4);
        aligned.then(|| Self(0).with(Self::BASE_INDEX, index).with(Self::COUNT, count))
    }

    /// Returns the byte offset of the register that receives dword `index` of the body.
    #[must_use]
    pub fn address(self, index: usize) -> u32 {
        let step = if self.one_reg_wr() { 0 } else { index as u32 };
        (u32::from(self.base_index()) + step) * 4
    }
}

impl Type3 {
    /// Returns the header of a command with a body of `count` dwords; `None` if a packet cannot encode this.
    #[must_use]
    pub fn command(opcode: Opcode, count: usize) -> Option<Self> {
        let count = u16::try_from(count.checked_sub(1)?).ok().filter(|count| *count < 1 << 14)?;
        Some(Self(3 << 30).with(Self::IT_OPCODE, opcode).with(Self::COUNT, count))
    }
}

/// A vertex array as `3D_LOAD_VBPNTR` sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexArray {
    /// Dwords per element.
    pub size: u8,
    /// Distance between elements in dwords.
    pub stride: u8,
    /// Byte offset in the array's buffer.
    pub offset: u32,
}

/// The vertex arrays of a `3D_LOAD_VBPNTR` body.
#[derive(Clone, Copy, Debug)]
pub struct VertexArrays<'a> {
    body: &'a [u32],
    count: usize,
}

impl<'a> VertexArrays<'a> {
    /// Decodes the body of the packet; `None` if it is shorter than its first dword requires.
    #[must_use]
    pub fn new(body: &'a [u32]) -> Option<Self> {
        let count = usize::from(VbpntrCount(*body.first()?).vtx_num_arrays());
        let words = count / 2 * 3 + count % 2 * 2;
        Some(Self { body: body.get(1..=words)?, count })
    }

    /// Returns the number of arrays.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no arrays.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the arrays in order.
    pub fn iter(&self) -> impl Iterator<Item = VertexArray> + use<'a> {
        let body = self.body;
        (0..self.count).map(move |i| {
            let pair = &body[i / 2 * 3..];
            let attr = crate::vap::VapVtxAosAttr(pair[0]);
            let (size, stride) = match i % 2 {
                0 => (attr.vtx_aos_count0(), attr.vtx_aos_stride0()),
                _ => (attr.vtx_aos_count1(), attr.vtx_aos_stride1()),
            };
            VertexArray { size, stride, offset: pair[1 + i % 2] }
        })
    }
}

/// The body of an `INDX_BUFFER` packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexBuffer {
    /// Destination.
    pub port: IndxBufferPort,
    /// Byte offset of the first index in its buffer.
    pub offset: u32,
    /// Dwords to transfer.
    pub dwords: u32,
}

impl IndexBuffer {
    /// Decodes the body of the packet; `None` if it is too short.
    #[must_use]
    pub fn new(body: &[u32]) -> Option<Self> {
        let [port, offset, dwords, ..] = *body else { return None };
        Some(Self { port: IndxBufferPort(port), offset, dwords })
    }
}

/// The body of a draw packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw<'a> {
    /// The draw packet.
    pub opcode: Opcode,
    /// The draw parameters.
    pub vf_cntl: VapVfCntl,
    /// The data after the parameters: vertices of `3D_DRAW_IMMD_2`, indices of `3D_DRAW_INDX_2` (empty if an `INDX_BUFFER` packet has
    /// them).
    pub data: &'a [u32],
}

impl<'a> Draw<'a> {
    /// Decodes the body of a packet; `None` if the opcode is not a draw or the body is empty.
    #[must_use]
    pub fn new(opcode: Opcode, body: &'a [u32]) -> Option<Self> {
        let draws = [Opcode::DRAW_VBUF_2, Opcode::DRAW_IMMD_2, Opcode::DRAW_INDX_2];
        let [vf_cntl, data @ ..] = body else { return None };
        draws.contains(&opcode).then_some(Self { opcode, vf_cntl: VapVfCntl(*vf_cntl), data })
    }
}
