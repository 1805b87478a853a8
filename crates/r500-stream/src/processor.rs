//! Command processor: executes a stream's packets on shadow state, and reports their effects on the rest of the chip.
//!
//! ```
//! use r500_stream::{CommandProcessor, Effect, State, Submission};
//!
//! // Cull back faces; draw a triangle from vertex arrays.
//! let submission = Submission { words: vec![0x10ae, 2, 0xc000_3400, 0x3_0024], ..Submission::default() };
//! let mut state = State::default();
//! let mut cp = CommandProcessor::new(&mut state, &submission);
//! let Some(Ok(Effect::Draw(draw))) = cp.next_effect() else { panic!() };
//! assert_eq!(draw.vf_cntl.num_vertices(), 3);
//! assert!(cp.state().registers.get::<r500_chip::su::SuCullMode>().cull_back());
//! ```

use std::borrow::Cow;
use std::collections::VecDeque;

use r500_chip::cp::WaitUntil;
use r500_chip::pm4::{Draw, Header, IndexBuffer, Opcode, VertexArray, VertexArrays};
use r500_chip::rb3d::{Rb3dAaresolveOffset, Rb3dColoroffset, Rb3dColorpitch, Rb3dDstcacheCtlstat};
use r500_chip::values::{MicroTile, PrimWalk};
use r500_chip::vap::{
    VapAltNumVertices, VapPvsStateFlushReg, VapPvsVectorDataReg, VapPvsVectorDataReg128,
    VapPvsVectorIndxReg, VapVfCntl, VapVtxSize,
};
use r500_chip::zb::{ZbDepthoffset, ZbDepthpitch, ZbZcacheCtlstat, ZbZpassAddr, ZbZpassData};
use r500_chip::{Mapped, Mapping, RegisterRef, at};
use r500_isa::state::{GaUsVectorData, GaUsVectorIndex};
use r500_isa::texture::{TxInvalTags, TxOffset};

use crate::error::{RelocationTarget, StreamError, StreamErrorKind};
use crate::memories::{PvsMemory, UsMemory};
use crate::packet::{Packet, Packets, packets};
use crate::port_draw::PortDraw;
use crate::registers::{RegisterFile, member_at};
use crate::{Buffer, BufferId, Relocation, Submission, Tiling};

/// The chip state that streams set: registers, program memories, bound buffers.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The register file.
    pub registers: RegisterFile,
    /// Programs and constants of the fragment processor.
    pub us: UsMemory,
    /// Programs and constants of the vertex processor.
    pub pvs: PvsMemory,
    bindings: Vec<(u32, Binding)>,
    arrays: Vec<BoundArray>,
}

/// A buffer bound to a register by a relocation.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The buffer.
    pub buffer: Buffer,
    /// Its tiling when it was bound.
    pub tiling: Tiling,
}

/// A vertex array with its buffer.
#[derive(Clone, Debug)]
pub struct BoundArray {
    /// Size, stride and offset.
    pub array: VertexArray,
    /// The buffer; `None` before its relocation.
    pub binding: Option<Binding>,
}

impl State {
    /// Returns the buffer of an address register; for a set, the first. The register's value is an offset in the
    /// buffer.
    #[must_use]
    pub fn binding<R: Mapped>(&self) -> Option<&Binding> {
        self.member_binding::<R>(0)
    }

    /// Returns the buffer of member `index` of a register set whose members hold addresses.
    ///
    /// # Panics
    ///
    /// If the set has no such member.
    #[must_use]
    pub fn member_binding<R: Mapped>(&self, index: u32) -> Option<&Binding> {
        self.binding_at(R::MAPPING.address_of(index))
    }

    /// Returns the buffer of the address register at a byte offset.
    pub(crate) fn binding_at(&self, address: u32) -> Option<&Binding> {
        self.bindings.iter().find(|(bound, _)| *bound == address).map(|(_, binding)| binding)
    }

    /// Returns the number of vertices (indices, for an indexed draw) of a draw.
    #[must_use]
    pub fn vertex_count(&self, vf_cntl: VapVfCntl) -> u32 {
        if vf_cntl.use_alt_num_verts() {
            self.registers.get::<VapAltNumVertices>().num_vertices()
        } else {
            vf_cntl.num_vertices().into()
        }
    }

    /// Returns the vertex arrays of the last `3D_LOAD_VBPNTR`.
    #[must_use]
    pub fn arrays(&self) -> &[BoundArray] {
        &self.arrays
    }

    /// Returns a buffer that a register is bound to, by its identity.
    #[must_use]
    pub fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.bindings.iter().map(|(_, binding)| &binding.buffer).find(|buffer| buffer.id() == id)
    }

    fn bind(&mut self, address: u32, binding: Binding) {
        match self.bindings.iter_mut().find(|(bound, _)| *bound == address) {
            Some((_, bound)) => *bound = binding,
            None => self.bindings.push((address, binding)),
        }
    }

    fn write(&mut self, address: u32, value: u32) {
        self.registers.write(address, value);
        let is = |mapping: &Mapping| mapping.address == address;
        if is(GaUsVectorIndex::MAPPING) {
            self.us.set_index(GaUsVectorIndex(value));
        } else if is(GaUsVectorData::MAPPING) {
            self.us.push(value);
        } else if is(VapPvsVectorIndxReg::MAPPING) {
            self.pvs.set_index(usize::from(VapPvsVectorIndxReg(value).octword_offset()));
        } else if is(VapPvsVectorDataReg::MAPPING) || is(VapPvsVectorDataReg128::MAPPING) {
            self.pvs.push(value);
        }
    }
}

/// An effect of a packet, besides changing [`State`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Effect<'a> {
    /// A draw with the current state.
    Draw(DrawCall<'a>),
    /// A write of a register with a side effect (flush, wait, occlusion count); its buffer, if it is an address
    /// register, is already bound.
    Trigger {
        /// Index of the packet in the stream.
        at: usize,
        /// The register.
        register: RegisterRef,
        /// The written value.
        value: u32,
    },
    /// A clear of hierarchical depth, depth or colour mask memory.
    Clear {
        /// Index of the packet in the stream.
        at: usize,
        /// Which memory.
        opcode: Opcode,
        /// Start, dwords, value.
        body: &'a [u32],
    },
}

/// A draw.
#[derive(Clone, Debug)]
pub struct DrawCall<'a> {
    /// Index of the draw packet in the stream.
    pub at: usize,
    /// Primitive type, vertex count and source of vertices.
    pub vf_cntl: VapVfCntl,
    /// Vertices in the packet or written to `VAP_PORT_DATA`, for [`PrimWalk::VERTEX_DATA`].
    pub vertices: Cow<'a, [u32]>,
    /// Indices.
    pub indices: Indices<'a>,
}

impl DrawCall<'_> {
    /// Returns a draw with vertices or indices from port registers.
    fn through_ports(draw: PortDraw) -> Self {
        let (at, vf_cntl) = (draw.at, draw.vf_cntl);
        let words = draw.into_words().into();
        let (vertices, indices) = match vf_cntl.prim_walk() {
            PrimWalk::INDEXES => (Cow::default(), Indices::Inline(words)),
            _ => (words, Indices::None),
        };
        Self { at, vf_cntl, vertices, indices }
    }
}

/// The source of a draw's indices.
#[derive(Clone, Debug)]
pub enum Indices<'a> {
    /// There are none.
    None,
    /// In the packet, or written to `VAP_PORT_IDX`.
    Inline(Cow<'a, [u32]>),
    /// In a buffer.
    Buffer {
        /// The buffer.
        binding: Binding,
        /// Byte offset of the first.
        offset: u32,
        /// Dwords.
        dwords: u32,
    },
}

/// Executes the packets of a submission on a [`State`].
#[derive(Debug)]
pub struct CommandProcessor<'a, 's> {
    state: &'s mut State,
    submission: &'a Submission,
    packets: Packets<'a>,
    effects: VecDeque<Result<Effect<'a>, StreamError>>,
    /// Addresses that need relocations, in order, and the packet that they come from.
    pending: VecDeque<RelocationTarget>,
    pending_at: usize,
    /// A draw that needs `INDX_BUFFER`.
    deferred: Option<DrawCall<'a>>,
    index_buffer: Option<IndexBuffer>,
    /// A draw that needs data from port registers.
    port_draw: Option<PortDraw>,
}

/// Registers whose writes have side effects.
const TRIGGERS: [&Mapping; 7] = [
    WaitUntil::MAPPING,
    VapPvsStateFlushReg::MAPPING,
    TxInvalTags::MAPPING,
    Rb3dDstcacheCtlstat::MAPPING,
    ZbZcacheCtlstat::MAPPING,
    ZbZpassData::MAPPING,
    ZbZpassAddr::MAPPING,
];

/// Address registers.
const ADDRESSES: [&Mapping; 5] = [
    Rb3dColoroffset::MAPPING,
    Rb3dAaresolveOffset::MAPPING,
    ZbDepthoffset::MAPPING,
    TxOffset::MAPPING,
    ZbZpassAddr::MAPPING,
];

/// Registers that take tile bits of a relocation's buffer, unless the submission keeps its own.
const PITCHES: [&Mapping; 2] = [Rb3dColorpitch::MAPPING, ZbDepthpitch::MAPPING];

/// Whether a register has to do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUse {
    /// It holds an address, which is nothing without a relocation.
    Needed,
    /// It describes a buffer: a relocation gives it tile bits.
    Optional,
    /// It has nothing to do with one.
    None,
}

/// Returns whether the register at an address takes a relocation.
#[must_use]
pub fn takes_buffer(address: u32) -> BufferUse {
    match at(address) {
        Some(place) if ADDRESSES.contains(&place.mapping) => BufferUse::Needed,
        Some(place) if PITCHES.contains(&place.mapping) => BufferUse::Optional,
        _ => BufferUse::None,
    }
}

impl<'a, 's> CommandProcessor<'a, 's> {
    /// Returns a processor at the first packet.
    #[must_use]
    pub fn new(state: &'s mut State, submission: &'a Submission) -> Self {
        Self {
            state,
            submission,
            packets: packets(&submission.words),
            effects: VecDeque::new(),
            pending: VecDeque::new(),
            pending_at: 0,
            deferred: None,
            index_buffer: None,
            port_draw: None,
        }
    }

    /// Returns the state after the packets up to the last effect.
    #[must_use]
    pub fn state(&self) -> &State {
        self.state
    }

    /// Executes packets up to the next effect or error; `None` at the end of the stream.
    pub fn next_effect(&mut self) -> Option<Result<Effect<'a>, StreamError>> {
        loop {
            if let Some(effect) = self.effects.pop_front() {
                return Some(effect);
            }
            match self.packets.next() {
                Some(Ok(packet)) => self.packet(packet),
                Some(Err(error)) => self.effects.push_back(Err(error.into())),
                None => {
                    self.abandon();
                    self.abandon_port_draw();
                    return self.effects.pop_front();
                }
            }
        }
    }

    fn error(&mut self, at: usize, kind: StreamErrorKind) {
        self.effects.push_back(Err(StreamError { at, kind }));
    }

    fn packet(&mut self, packet: Packet<'a>) {
        match packet.header {
            Header::Type2(_) => {}
            Header::Type1(bits) => self.error(packet.at, StreamErrorKind::Type1(bits)),
            Header::Type0(_) => {
                self.abandon();
                self.registers(packet);
            }
            Header::Type3(header) => match header.it_opcode() {
                Opcode::NOP => self.relocate(packet),
                Opcode::INDX_BUFFER => self.indices(packet),
                opcode => {
                    self.abandon();
                    self.command(opcode, packet);
                }
            },
        }
    }

    /// Reports incomplete draws and addresses without relocations.
    fn abandon(&mut self) {
        for target in std::mem::take(&mut self.pending) {
            self.error(self.pending_at, StreamErrorKind::NoRelocation(target));
        }
        self.index_buffer = None;
        if let Some(draw) = self.deferred.take() {
            self.error(draw.at, StreamErrorKind::NoIndices);
        }
    }

    /// Reports a draw with missing vertices or indices.
    fn abandon_port_draw(&mut self) {
        if let Some(draw) = self.port_draw.take() {
            let kind = StreamErrorKind::ShortPortDraw { needs: draw.needs, has: draw.has() };
            self.error(draw.at, kind);
        }
    }

    fn registers(&mut self, packet: Packet<'a>) {
        self.pending_at = packet.at;
        for (address, value) in packet.writes() {
            self.state.write(address, value);
            let Some(register) = at(address) else { continue };
            let mapping = register.mapping;
            if mapping == VapVfCntl::MAPPING {
                self.abandon_port_draw();
                let (state, vf_cntl) = (&self.state, VapVfCntl(value));
                let count = state.vertex_count(vf_cntl);
                let size = state.registers.get::<VapVtxSize>().dwords_per_vtx();
                self.port_draw = Some(PortDraw::new(packet.at, vf_cntl, count, size));
            } else if let Some(draw) = &mut self.port_draw {
                draw.write(mapping, value);
            }
            if let Some(draw) = self.port_draw.take_if(|draw| draw.is_complete()) {
                self.effects.push_back(Ok(Effect::Draw(DrawCall::through_ports(draw))));
            }
            let relocated = ADDRESSES.contains(&mapping)
                || PITCHES.contains(&mapping) && !self.submission.keeps_tiling();
            if relocated {
                self.pending.push_back(RelocationTarget::Register(register));
            } else if TRIGGERS.contains(&mapping) {
                self.effects.push_back(Ok(Effect::Trigger { at: packet.at, register, value }));
            }
        }
    }

    fn command(&mut self, opcode: Opcode, packet: Packet<'a>) {
        let at = packet.at;
        self.abandon_port_draw();
        if let Some(draw) = Draw::new(opcode, packet.body) {
            self.state.registers.write(VapVfCntl::MAPPING.address, draw.vf_cntl.bits());
            self.draw(at, draw);
            return;
        }
        match opcode {
            Opcode::LOAD_VBPNTR => match VertexArrays::new(packet.body) {
                Some(arrays) => {
                    let arrays = arrays.iter().map(|array| BoundArray { array, binding: None });
                    self.state.arrays = arrays.collect();
                    let targets = 0..self.state.arrays.len();
                    self.pending.extend(targets.map(RelocationTarget::VertexArray));
                    self.pending_at = at;
                }
                None => self.error(at, StreamErrorKind::ShortBody(opcode)),
            },
            Opcode::CLEAR_ZMASK | Opcode::CLEAR_HIZ | Opcode::CLEAR_CMASK => {
                let body = packet.body;
                self.effects.push_back(Ok(Effect::Clear { at, opcode, body }));
            }
            _ => self.error(at, StreamErrorKind::UnknownCommand(opcode)),
        }
    }

    fn draw(&mut self, at: usize, draw: Draw<'a>) {
        let vf_cntl = draw.vf_cntl;
        let call = |vertices: &'a [u32], indices| {
            let vertices = Cow::Borrowed(vertices);
            DrawCall { at, vf_cntl, vertices, indices }
        };
        let call = match draw.opcode {
            Opcode::DRAW_IMMD_2 if vf_cntl.prim_walk() == PrimWalk::INDEXES => {
                call(&[], Indices::Inline(draw.data.into()))
            }
            Opcode::DRAW_IMMD_2 => call(draw.data, Indices::None),
            Opcode::DRAW_INDX_2 if draw.data.is_empty() => {
                self.deferred = Some(call(&[], Indices::None));
                return;
            }
            Opcode::DRAW_INDX_2 => call(&[], Indices::Inline(draw.data.into())),
            _ => call(&[], Indices::None),
        };
        self.effects.push_back(Ok(Effect::Draw(call)));
    }

    fn indices(&mut self, packet: Packet<'a>) {
        let Some(buffer) = IndexBuffer::new(packet.body) else {
            self.abandon();
            return self.error(packet.at, StreamErrorKind::ShortBody(Opcode::INDX_BUFFER));
        };
        if self.deferred.is_none() {
            self.abandon();
            return self.error(packet.at, StreamErrorKind::StrayIndices);
        }
        self.index_buffer = Some(buffer);
        self.pending = VecDeque::from([RelocationTarget::Indices]);
        self.pending_at = packet.at;
    }

    fn relocate(&mut self, packet: Packet<'a>) {
        // A NOP without a pending address is padding.
        let Some(target) = self.pending.pop_front() else { return };
        let dword = packet.body.first().copied().unwrap_or_default();
        let Some(relocation) = self.submission.relocation(dword) else {
            let entries = self.submission.relocations.len();
            let kind = StreamErrorKind::NoSuchRelocation { index: dword / 4, entries };
            return self.error(packet.at, kind);
        };
        let binding = Binding { buffer: relocation.buffer.clone(), tiling: relocation.tiling };
        match target {
            RelocationTarget::VertexArray(index) => {
                self.state.arrays[index].binding = Some(binding);
            }
            RelocationTarget::Indices => {
                if let (Some(draw), Some(buffer)) = (self.deferred.take(), self.index_buffer.take())
                {
                    let IndexBuffer { offset, dwords, .. } = buffer;
                    let indices = Indices::Buffer { binding, offset, dwords };
                    self.effects.push_back(Ok(Effect::Draw(DrawCall { indices, ..draw })));
                }
            }
            RelocationTarget::Register(register) => {
                let address = register.address();
                if !self.submission.keeps_tiling() {
                    let value = self.state.registers.read(address);
                    self.state.registers.write(address, with_tiling(address, value, relocation));
                }
                if !PITCHES.contains(&register.mapping) {
                    self.state.bind(address, binding);
                }
                if TRIGGERS.contains(&register.mapping) {
                    let value = self.state.registers.read(address);
                    let at = self.pending_at;
                    self.effects.push_back(Ok(Effect::Trigger { at, register, value }));
                }
            }
        }
    }
}

/// Returns a register's value with the tile bits of the relocation's buffer, as the kernel sets them for submissions
/// without `KEEP_TILING_FLAGS`: the bits of a pitch are replaced, those of a texture are added.
fn with_tiling(address: u32, value: u32, relocation: &Relocation) -> u32 {
    let flags = relocation.tiling.flags;
    let is_macro = flags & Tiling::MACRO != 0;
    let micro = if flags & Tiling::MICRO != 0 {
        MicroTile::TILED
    } else if flags & Tiling::MICRO_SQUARE != 0 {
        MicroTile::SQUARE
    } else {
        MicroTile::LINEAR
    };
    if member_at(Rb3dColorpitch::MAPPING, address).is_some() {
        Rb3dColorpitch(value)
            .with(Rb3dColorpitch::COLORTILE, is_macro)
            .with(Rb3dColorpitch::COLORMICROTILE, micro)
            .bits()
    } else if address == ZbDepthpitch::MAPPING.address {
        ZbDepthpitch(value)
            .with(ZbDepthpitch::DEPTHMACROTILE, is_macro)
            .with(ZbDepthpitch::DEPTHMICROTILE, micro)
            .bits()
    } else if member_at(TxOffset::MAPPING, address).is_some() {
        let bits = TxOffset(0)
            .with(TxOffset::MACRO_TILE, is_macro)
            .with(TxOffset::MICRO_TILE, micro.code());
        value | bits.bits()
    } else {
        value
    }
}
