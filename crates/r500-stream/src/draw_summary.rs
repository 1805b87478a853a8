//! Draw summaries: one line for a draw, from its registers.

use std::fmt;

use r500_chip::rb3d::{Rb3dColoroffset, Rb3dColorpitch};
use r500_chip::values::{ColorFormat, PrimType, PrimWalk};
use r500_chip::vap::{VapCntlStatus, VapPvsCodeCntl0};
use r500_chip::zb::{ZbCntl, ZbDepthoffset};
use r500_isa::state::{UsCodeAddr, UsCodeOffset, UsOutFmt};
use r500_isa::texture::{TxEnable, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500_isa::values::{CoordType, OutFormat, TxFormat, TxFormatMsb};
use r500_isa::{TARGETS, TEXTURE_UNITS};

use crate::{BufferId, DrawCall, State, counted};

/// A summary of a draw's registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawSummary {
    /// Primitive type.
    pub prim_type: PrimType,
    /// Source of vertices.
    pub prim_walk: PrimWalk,
    /// Vertices, or indices.
    pub vertices: u32,
    /// First and last instruction of the vertex program; `None` if there is none.
    pub vertex_program: Option<[u16; 2]>,
    /// First and last instruction of the fragment program.
    pub fragment_program: [u16; 2],
    /// Textures of enabled units.
    pub textures: Vec<TextureSummary>,
    /// Render targets in use.
    pub targets: Vec<TargetSummary>,
    /// The depth buffer, if depth or stencil are tested.
    pub depth: Option<BufferId>,
}

/// A bound texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureSummary {
    /// The unit.
    pub unit: usize,
    /// Width, height, depth.
    pub size: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Name of the format; empty if it is reserved.
    pub format: &'static str,
    /// The buffer; `None` before a relocation.
    pub buffer: Option<BufferId>,
}

/// A render target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSummary {
    /// 0 to 3: A to D.
    pub target: usize,
    /// The buffer; `None` before a relocation.
    pub buffer: Option<BufferId>,
    /// Byte offset in the buffer.
    pub offset: u32,
    /// Pixels from row to row.
    pub pitch: u32,
    /// Format in memory.
    pub format: ColorFormat,
}

impl DrawSummary {
    /// Returns the summary of a draw in this state.
    #[must_use]
    pub fn new(state: &State, draw: &DrawCall<'_>) -> Self {
        let registers = &state.registers;
        let vertex = registers.get::<VapPvsCodeCntl0>();
        let bypass = registers.get::<VapCntlStatus>().pvs_bypass();
        let code = registers.get::<UsCodeAddr>();
        let offset = registers.get::<UsCodeOffset>().offset_addr();
        let enabled = registers.get::<TxEnable>().bits();
        let units = (0..TEXTURE_UNITS).filter(|unit| enabled >> unit & 1 != 0);
        let depth = registers.get::<ZbCntl>();
        let tests = depth.z_enable() || depth.stencil_enable();
        let bound = |binding: Option<&crate::Binding>| binding.map(|binding| binding.buffer.id());
        Self {
            prim_type: draw.vf_cntl.prim_type(),
            prim_walk: draw.vf_cntl.prim_walk(),
            vertices: state.vertex_count(draw.vf_cntl),
            vertex_program: (!bypass).then(|| [vertex.pvs_first_inst(), vertex.pvs_last_inst()]),
            fragment_program: code.absolute(offset),
            textures: units.map(|unit| TextureSummary::new(state, unit)).collect(),
            targets: (0..TARGETS)
                .filter(|target| {
                    let format = registers.member::<UsOutFmt>(*target as u32).out_fmt();
                    format != OutFormat::UNUSED
                })
                .map(|target| TargetSummary::new(state, target))
                .collect(),
            depth: if tests { bound(state.binding::<ZbDepthoffset>()) } else { None },
        }
    }
}

impl TextureSummary {
    fn new(state: &State, unit: usize) -> Self {
        let n = unit as u32;
        let registers = &state.registers;
        let format0: TxFormat0 = registers.member(n);
        let format1: TxFormat1 = registers.member(n);
        let format2: TxFormat2 = registers.member(n);
        let axis = |low: u16, high: bool| (u32::from(low) | u32::from(high) << 11) + 1;
        let volume = format1.tex_coord_type() == CoordType::D3;
        let code = format1.txformat().code();
        let format = match format2.txformat_msb() {
            true => TxFormatMsb::new(code).describe(),
            false => TxFormat::new(code).describe(),
        };
        Self {
            unit,
            size: [
                axis(format0.txwidth(), format2.txwidth_11()),
                axis(format0.txheight(), format2.txheight_11()),
                if volume { 1 << format0.txdepth() } else { 1 },
            ],
            levels: u32::from(format0.num_levels()) + 1,
            format: format.map_or("", |value| value.name),
            buffer: state.member_binding::<TxOffset>(n).map(|binding| binding.buffer.id()),
        }
    }
}

impl TargetSummary {
    fn new(state: &State, target: usize) -> Self {
        let n = target as u32;
        let pitch: Rb3dColorpitch = state.registers.member(n);
        let offset: Rb3dColoroffset = state.registers.member(n);
        Self {
            target,
            buffer: state.member_binding::<Rb3dColoroffset>(n).map(|binding| binding.buffer.id()),
            offset: offset.bits() & !31,
            pitch: u32::from(pitch.colorpitch()) * 2,
            format: pitch.colorformat(),
        }
    }
}

impl fmt::Display for DrawSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.prim_type.describe().map_or("reserved primitive", |value| value.meaning);
        let noun = if self.prim_walk == PrimWalk::INDEXES { "index" } else { "vertex" };
        write!(f, "{name}, {}; ", counted(self.vertices, noun))?;
        match self.vertex_program {
            Some([first, last]) => write!(f, "vertex program {first} to {last}")?,
            None => f.write_str("no vertex program")?,
        }
        let [first, last] = self.fragment_program;
        write!(f, ", fragment program {first} to {last}")?;
        for texture in &self.textures {
            let TextureSummary { unit, size: [width, height, depth], levels, format, .. } = texture;
            write!(f, "; tex[{unit}] {width}x{height}")?;
            if *depth > 1 {
                write!(f, "x{depth}")?;
            }
            write!(f, " {}", if format.is_empty() { "reserved format" } else { format })?;
            if *levels > 1 {
                write!(f, ", {levels} levels")?;
            }
        }
        for target in &self.targets {
            let letter = ["A", "B", "C", "D"].get(target.target).unwrap_or(&"?");
            let format = target.format.describe().map_or("reserved format", |value| value.name);
            write!(f, "; target {letter} ")?;
            match target.buffer {
                Some(buffer) => write!(f, "buffer {}+{:#x} {format}", buffer.0, target.offset)?,
                None => write!(f, "without a buffer {format}")?,
            }
        }
        match self.depth {
            Some(buffer) => write!(f, "; depth buffer {}", buffer.0),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Buffer, CommandProcessor, Effect, Relocation, Submission, Tiling, text};

    #[test]
    fn a_draw_is_described_by_its_registers() {
        let words = text::parse(
            "US_CODE_OFFSET = 4
            US_CODE_ADDR = { START_ADDR 1, END_ADDR 3 }
            VAP_PVS_CODE_CNTL_0 = { PVS_FIRST_INST 2, PVS_LAST_INST 9 }
            US_OUT_FMT_0 = 0
            + US_OUT_FMT_1 = { OUT_FMT 15 }
            + US_OUT_FMT_2 = { OUT_FMT 15 }
            + US_OUT_FMT_3 = { OUT_FMT 15 }
            RB3D_COLOROFFSET0 = 0x40
            NOP 0
            RB3D_COLORPITCH0 = { COLORFORMAT RGB565, COLORPITCH 32 }
            TX_ENABLE = { TEX_2_ENABLE }
            TX_FORMAT0_2 = { TXWIDTH 63, TXHEIGHT 31, NUM_LEVELS 6 }
            TX_FORMAT1_2 = { TXFORMAT TX_FMT_8_8_8_8 }
            ZB_CNTL = { Z_ENABLE }
            ZB_DEPTHOFFSET = 0
            NOP 0
            3D_DRAW_INDX_2 0x00060014 0 0 0",
        );
        let relocation = Relocation {
            buffer: Buffer::zeroed(BufferId(7), 64),
            read_domains: 0,
            write_domain: 4,
            flags: 0,
            tiling: Tiling::default(),
        };
        let submission =
            Submission { words: words.unwrap(), flags: 1, relocations: vec![relocation] };
        let mut state = State::default();
        let mut cp = CommandProcessor::new(&mut state, &submission);
        let Some(Ok(Effect::Draw(draw))) = cp.next_effect() else { unreachable!() };
        let summary = DrawSummary::new(cp.state(), &draw);
        assert_eq!(
            summary.to_string(),
            "triangle list, 6 indices; vertex program 2 to 9, fragment program 5 to 7; \
             tex[2] 64x32 TX_FMT_8_8_8_8, 7 levels; target A buffer 7+0x40 RGB565; depth buffer 7"
        );
        assert_eq!(summary.targets[0].pitch, 64);
        assert!(cp.next_effect().is_none());
    }
}
