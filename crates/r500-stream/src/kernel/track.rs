//! What the kernel knows when a draw begins, and the sizes that it needs.
//!
//! Before a register is written it has a value that no buffer is large enough for, so that a submission must set all that it uses.

use r500_chip::Mapped;
use r500_chip::rb3d::{
    Rb3dAaresolveCtl, Rb3dAaresolveOffset, Rb3dAaresolvePitch, Rb3dBlendcntl, Rb3dCctl,
    Rb3dColorChannelMask, Rb3dColoroffset, Rb3dColorpitch,
};
use r500_chip::sc::ScScissor1;
use r500_chip::values::{ColorFormat, DepthFormat, PrimWalk};
use r500_chip::vap::{VapAltNumVertices, VapVfCntl, VapVfMaxVtxIndx, VapVtxSize};
use r500_chip::zb::{ZbBwCntl, ZbCntl, ZbDepthoffset, ZbDepthpitch, ZbFormat};
use r500_isa::texture::{TxEnable, TxFilter0, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500_isa::values::{ClampMode, CoordType, TxFormat};
use r500_isa::{TARGETS, TEXTURE_UNITS};

use super::registers::member;
use super::rejection::{Needed, Reason, Use};
use crate::Buffer;

/// A buffer with rows.
#[derive(Clone, Copy)]
struct Surface<'a> {
    buffer: Option<&'a Buffer>,
    /// Pixels of a row.
    pitch: u32,
    /// Bytes of a pixel.
    bytes: u32,
    offset: u32,
}

impl Surface<'_> {
    const fn new(bytes: u32) -> Self {
        Self { buffer: None, pitch: 8192, bytes, offset: 0 }
    }

    /// Checks that the buffer has the rows of the scissor.
    fn check(&self, used: Use, bytes: u32, rows: u32) -> Result<(), Reason> {
        let buffer = self.buffer.ok_or(Reason::Unbound(used))?;
        let needs =
            u64::from(self.pitch) * u64::from(bytes) * u64::from(rows) + u64::from(self.offset);
        fits(used, needs, buffer, || {
            format!(
                "{rows} rows up to SC_SCISSOR1 of {} pixels of {bytes} bytes, from {}",
                self.pitch, self.offset
            )
        })
    }
}

fn fits(used: Use, needs: u64, buffer: &Buffer, how: impl Fn() -> String) -> Result<(), Reason> {
    let has = buffer.size();
    if needs > has as u64 {
        return Err(Reason::TooSmall { used, needs, has, how: how() });
    }
    Ok(())
}

/// How texels are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocks {
    /// One by one.
    None,
    /// 4x4 in 8 bytes.
    Eight,
    /// 4x4 in 16 bytes.
    Sixteen,
}

#[derive(Clone, Copy)]
struct Texture<'a> {
    buffer: Option<&'a Buffer>,
    is_enabled: bool,
    pitch: u32,
    use_pitch: bool,
    width: u32,
    height: u32,
    /// The highest bits of width and height.
    high: [u32; 2],
    /// The last level.
    last_level: u32,
    bytes: u32,
    coordinates: CoordType,
    /// The logarithm of the depth.
    depth: u32,
    /// Whether sizes of levels are powers of two.
    rounds: [bool; 2],
    blocks: Blocks,
}

impl Texture<'_> {
    const fn new() -> Self {
        Self {
            buffer: None,
            is_enabled: false,
            pitch: 16536,
            use_pitch: false,
            width: 16536,
            height: 16536,
            high: [1 << 11; 2],
            last_level: 12,
            bytes: 64,
            coordinates: CoordType::D3,
            depth: 16,
            rounds: [true; 2],
            blocks: Blocks::None,
        }
    }

    fn set_size(&mut self, size: TxFormat0) {
        self.width = u32::from(size.txwidth()) + 1;
        self.height = u32::from(size.txheight()) + 1;
        self.depth = size.txdepth().into();
        self.last_level = size.num_levels().into();
        self.use_pitch = size.txpitch_en();
    }

    /// Sets the format by its five bits, as the kernel does: those of formats with a sixth bit are others.
    fn set_format(&mut self, format: TxFormat1) -> Result<(), Reason> {
        self.coordinates = format.tex_coord_type();
        let format = format.txformat();
        (self.bytes, self.blocks) = match format {
            TxFormat::X8 | TxFormat::X4_4 | TxFormat::X3_3_2 => (1, Blocks::None),
            TxFormat::X16
            | TxFormat::F16
            | TxFormat::X8_8
            | TxFormat::X5_6_5
            | TxFormat::X6_5_5
            | TxFormat::X4_4_4_4
            | TxFormat::X1_5_5_5
            | TxFormat::Y8
            | TxFormat::VYUY422
            | TxFormat::YVYU422 => (2, Blocks::None),
            TxFormat::X16_16
            | TxFormat::F16_16
            | TxFormat::X11_11_10
            | TxFormat::X10_11_11
            | TxFormat::X8_8_8_8
            | TxFormat::X2_10_10_10
            | TxFormat::X16_16_MPEG
            | TxFormat::F32
            | TxFormat::W24_FP => (4, Blocks::None),
            TxFormat::X16_16_16_16 | TxFormat::F16_16_16_16 | TxFormat::F32_32 => (8, Blocks::None),
            TxFormat::F32_32_32_32 => (16, Blocks::None),
            TxFormat::DXT1 => (1, Blocks::Eight),
            TxFormat::DXT3 | TxFormat::DXT5 | TxFormat::ATI2N => (1, Blocks::Sixteen),
            _ => return Err(Reason::TextureFormat { code: format.code().into() }),
        };
        Ok(())
    }

    fn set_pitch(&mut self, pitch: TxFormat2) {
        self.pitch = u32::from(pitch.txpitch()) + 1;
        self.high = [pitch.txwidth_11(), pitch.txheight_11()].map(|bit| u32::from(bit) << 11);
        // Of the formats with a sixth bit the kernel knows ATI1N, and takes all for it.
        if pitch.txformat_msb() {
            self.blocks = Blocks::Eight;
        }
    }

    fn set_addressing(&mut self, filter: TxFilter0) {
        let ends =
            |mode| matches!(mode, ClampMode::CLAMP | ClampMode::CLAMP_HALF | ClampMode::BORDER);
        for (rounds, mode) in self.rounds.iter_mut().zip([filter.clamp_s(), filter.clamp_t()]) {
            *rounds &= !ends(mode);
        }
    }

    fn check(&self, unit: usize) -> Result<(), Reason> {
        let buffer = self.buffer.ok_or(Reason::Unbound(Use::Texture(unit)))?;
        let rounded = |size: u32, rounds: bool| match rounds {
            // Sizes have 15 bits at the most.
            true => size.next_power_of_two(),
            false => size,
        };
        let (width, height) = (self.width | self.high[0], self.height | self.high[1]);
        let mut texels = 0_u64;
        for level in 0..=self.last_level {
            let w = match self.use_pitch {
                true => self.pitch >> level,
                false => rounded(width >> level, self.rounds[0]),
            };
            let h = rounded(height >> level, self.rounds[1]);
            let d = if self.coordinates == CoordType::D3 {
                (1 << self.depth >> level).max(1)
            } else {
                1
            };
            // In 32 bits, as the kernel multiplies.
            texels += u64::from(match self.blocks {
                Blocks::None => w.wrapping_mul(h).wrapping_mul(d),
                Blocks::Eight => compressed(w, h, 8, 4).wrapping_mul(d),
                Blocks::Sixteen => compressed(w, h, 16, 2).wrapping_mul(d),
            });
        }
        let faces = match self.coordinates {
            CoordType::D2 | CoordType::D3 => 1,
            CoordType::CUBE => 6,
            _ => return Err(Reason::TextureCoordinates { unit }),
        };
        let needs = texels * u64::from(self.bytes) * faces;
        fits(Use::Texture(unit), needs, buffer, || {
            let levels = self.last_level + 1;
            let width = if self.use_pitch { self.pitch } else { width };
            format!(
                "{width}x{height}, {levels} levels, {} bytes a texel, {faces} faces",
                self.bytes
            )
        })
    }
}

/// Returns the bytes of a level in blocks of 4x4.
fn compressed(width: u32, height: u32, bytes: u32, fewest: u32) -> u32 {
    width.div_ceil(4).max(fewest).wrapping_mul(height.div_ceil(4)).wrapping_mul(bytes)
}

/// Vertex arrays that count before any are set.
const ARRAYS: usize = 11;
const MOST_ARRAYS: usize = 16;

/// Returns whether an address is that of a register that is one of a kind.
fn is<R: Mapped>(address: u32) -> bool {
    member::<R>(address).is_some()
}

pub(super) struct Track<'a> {
    sizes: bool,
    targets: [Surface<'a>; TARGETS],
    target_count: usize,
    depth: Surface<'a>,
    resolve: Surface<'a>,
    resolves: bool,
    tests_depth: bool,
    /// The rows of targets: up to the lower edge of the scissor.
    rows: u32,
    clears: bool,
    reads_targets: bool,
    channels: u32,
    textures: [Texture<'a>; TEXTURE_UNITS],
    arrays: [(u32, Option<&'a Buffer>); MOST_ARRAYS],
    array_count: usize,
    vertex_size: u32,
    last_index: u32,
    other_vertices: u32,
    control: VapVfCntl,
    /// Dwords of the vertices in the packet.
    immediate: u64,
    /// What has changed since the last draw, which checks it: targets, depth, textures, resolve.
    dirty: [bool; 4],
}

const TARGET: usize = 0;
const DEPTH: usize = 1;
const TEXTURES: usize = 2;
const RESOLVE: usize = 3;

impl<'a> Track<'a> {
    /// Returns what is known at the beginning of a submission. `sizes`: whether buffers and their sizes are known.
    pub(super) fn new(sizes: bool) -> Self {
        Self {
            sizes,
            targets: [Surface::new(16); TARGETS],
            target_count: TARGETS,
            depth: Surface::new(4),
            resolve: Surface::new(0),
            resolves: false,
            tests_depth: true,
            rows: 4096,
            clears: false,
            reads_targets: false,
            channels: 0,
            textures: [Texture::new(); TEXTURE_UNITS],
            arrays: [(0x7f, None); MOST_ARRAYS],
            array_count: ARRAYS,
            vertex_size: 0x7f,
            last_index: 0x00ff_ffff,
            other_vertices: 0,
            control: VapVfCntl(0),
            immediate: u64::from(u32::MAX),
            dirty: [true; 4],
        }
    }

    /// Follows a register with an address, whose relocation is this buffer.
    pub(super) fn bind(&mut self, address: u32, value: u32, buffer: Option<&'a Buffer>) {
        if let Some(n) = member::<Rb3dColoroffset>(address) {
            (self.targets[n].buffer, self.targets[n].offset) = (buffer, value);
            self.dirty[TARGET] = true;
        } else if let Some(n) = member::<TxOffset>(address) {
            self.textures[n].buffer = buffer;
            self.dirty[TEXTURES] = true;
        } else if is::<ZbDepthoffset>(address) {
            (self.depth.buffer, self.depth.offset) = (buffer, value);
            self.dirty[DEPTH] = true;
        } else if is::<Rb3dAaresolveOffset>(address) {
            (self.resolve.buffer, self.resolve.offset) = (buffer, value);
            self.dirty[RESOLVE] = true;
        }
    }

    /// Follows another register. Returns what the program must own for the value.
    pub(super) fn follow(&mut self, address: u32, value: u32) -> Result<Option<Needed>, Reason> {
        if let Some(n) = member::<Rb3dColorpitch>(address) {
            self.dirty[TARGET] = true;
            self.target(n, Rb3dColorpitch(value))?;
        } else if let Some(n) = member::<TxFormat0>(address) {
            self.dirty[TEXTURES] = true;
            self.textures[n].set_size(TxFormat0(value));
        } else if let Some(n) = member::<TxFormat1>(address) {
            self.dirty[TEXTURES] = true;
            self.textures[n].set_format(TxFormat1(value))?;
        } else if let Some(n) = member::<TxFormat2>(address) {
            self.dirty[TEXTURES] = true;
            self.textures[n].set_pitch(TxFormat2(value));
        } else if let Some(n) = member::<TxFilter0>(address) {
            self.dirty[TEXTURES] = true;
            self.textures[n].set_addressing(TxFilter0(value));
        } else if is::<TxEnable>(address) {
            for (unit, texture) in (0..).zip(&mut self.textures) {
                texture.is_enabled = value >> unit & 1 != 0;
            }
            self.dirty[TEXTURES] = true;
        } else if is::<VapVfCntl>(address) {
            self.control = VapVfCntl(value);
        } else if is::<VapVtxSize>(address) {
            self.vertex_size = VapVtxSize(value).dwords_per_vtx().into();
        } else if is::<VapVfMaxVtxIndx>(address) {
            self.last_index = VapVfMaxVtxIndx(value).max_indx();
        } else if is::<VapAltNumVertices>(address) {
            self.other_vertices = VapAltNumVertices(value).num_vertices();
        } else if is::<ScScissor1>(address) {
            self.rows = u32::from(ScScissor1(value).ys1()) + 1;
            (self.dirty[TARGET], self.dirty[DEPTH]) = (true, true);
        } else if is::<Rb3dBlendcntl>(address) {
            self.reads_targets = Rb3dBlendcntl(value).read_enable();
            self.dirty[TARGET] = true;
        } else if is::<Rb3dColorChannelMask>(address) {
            self.channels = value;
            self.dirty[TARGET] = true;
        } else if is::<Rb3dAaresolvePitch>(address) {
            self.resolve.pitch = u32::from(Rb3dAaresolvePitch(value).aaresolve_pitch()) * 2;
            self.dirty[RESOLVE] = true;
        } else if is::<Rb3dAaresolveCtl>(address) {
            self.resolves = Rb3dAaresolveCtl(value).aaresolve_mode();
            self.dirty[RESOLVE] = true;
        } else if is::<ZbCntl>(address) {
            self.tests_depth = ZbCntl(value).z_enable();
            self.dirty[DEPTH] = true;
        } else if is::<ZbFormat>(address) {
            let format = ZbFormat(value).depthformat();
            self.depth.bytes = match format {
                DepthFormat::Z16 | DepthFormat::Z16_13E3 => 2,
                DepthFormat::Z24S8 => 4,
                _ => return Err(Reason::DepthFormat { code: format.code().into() }),
            };
            self.dirty[DEPTH] = true;
        } else if is::<ZbDepthpitch>(address) {
            self.depth.pitch = u32::from(ZbDepthpitch(value).depthpitch()) * 4;
            self.dirty[DEPTH] = true;
        } else if is::<Rb3dCctl>(address) {
            let control = Rb3dCctl(value);
            self.target_count = usize::from(control.num_multiwrites().code()) + 1;
            self.dirty[TARGET] = true;
            return Ok(control.cmask_enable().then_some(Needed::Cmask));
        } else if is::<ZbBwCntl>(address) {
            let control = ZbBwCntl(value);
            self.clears = control.zb_cb_clear();
            (self.dirty[TARGET], self.dirty[DEPTH]) = (true, true);
            let compresses = control.hiz_enable()
                || control.fast_fill()
                || control.rd_comp_enable()
                || control.wr_comp_enable();
            return Ok(compresses.then_some(Needed::HyperZ));
        } else {
            debug_assert!(false, "{address:#06x} is followed, and has no rule");
        }
        Ok(None)
    }

    fn target(&mut self, n: usize, pitch: Rb3dColorpitch) -> Result<(), Reason> {
        let format = pitch.colorformat();
        self.targets[n].pitch = u32::from(pitch.colorpitch()) * 2;
        self.targets[n].bytes = match format {
            ColorFormat::I8 | ColorFormat::YUV422_VYUY | ColorFormat::YUV422_YVYU => 1,
            ColorFormat::ARGB1555
            | ColorFormat::RGB565
            | ColorFormat::UV88
            | ColorFormat::ARGB4444 => 2,
            ColorFormat::ARGB2101010 | ColorFormat::ARGB8888 => 4,
            ColorFormat::ARGB16161616 => 8,
            ColorFormat::ARGB32323232 => 16,
            _ => return Err(Reason::ColorFormat { code: format.code().into() }),
        };
        Ok(())
    }

    pub(super) fn set_arrays(&mut self, count: usize) {
        self.array_count = count;
    }

    pub(super) fn set_array(&mut self, n: usize, dwords: u32, buffer: Option<&'a Buffer>) {
        self.arrays[n] = (dwords, buffer);
    }

    /// Sets the control word of a draw, and the dwords of its vertices if these are in the packet.
    pub(super) fn set_draw(&mut self, control: VapVfCntl, immediate: Option<usize>) {
        self.control = control;
        if let Some(dwords) = immediate {
            self.immediate = dwords as u64;
        }
    }

    /// Checks a draw.
    pub(super) fn check(&mut self) -> Result<(), Reason> {
        if !self.sizes {
            return self.check_walk();
        }
        let [target, depth, textures, resolve] = self.dirty;
        let writes = self.clears || self.channels != 0 || self.reads_targets;
        if target && writes {
            for (n, surface) in self.targets.iter().enumerate().take(self.target_count) {
                surface.check(Use::Target(n), surface.bytes, self.rows)?;
            }
        }
        if depth && self.tests_depth {
            self.depth.check(Use::Depth, self.depth.bytes, self.rows)?;
        }
        if resolve && self.resolves {
            self.resolve.check(Use::Resolve, self.targets[0].bytes, self.rows)?;
        }
        self.check_vertices()?;
        if textures {
            for (unit, texture) in
                self.textures.iter().enumerate().filter(|(_, texture)| texture.is_enabled)
            {
                texture.check(unit)?;
            }
        }
        self.dirty = [false; 4];
        Ok(())
    }

    /// Checks what does not depend on buffers.
    fn check_walk(&self) -> Result<(), Reason> {
        match self.control.prim_walk() {
            PrimWalk::INDEXES | PrimWalk::VERTEX_LIST => Ok(()),
            _ => self.check_vertices(),
        }
    }

    fn check_vertices(&self) -> Result<(), Reason> {
        let vertices = match self.control.use_alt_num_verts() {
            true => self.other_vertices,
            false => self.control.num_vertices().into(),
        };
        let count = match self.control.prim_walk() {
            PrimWalk::INDEXES => self.last_index,
            PrimWalk::VERTEX_LIST => vertices.wrapping_sub(1),
            PrimWalk::VERTEX_DATA => {
                return match u64::from(self.vertex_size.wrapping_mul(vertices)) == self.immediate {
                    true => Ok(()),
                    false => Err(Reason::Immediate {
                        has: self.immediate,
                        vertices,
                        size: self.vertex_size,
                    }),
                };
            }
            other => return Err(Reason::Walk { code: other.code().into() }),
        };
        for (n, (dwords, buffer)) in self.arrays.iter().enumerate().take(self.array_count) {
            let buffer = buffer.ok_or(Reason::Unbound(Use::VertexArray(n)))?;
            let needs = u64::from(dwords.wrapping_mul(count)) * 4;
            fits(Use::VertexArray(n), needs, buffer, || {
                format!("{count} vertices of {dwords} dwords")
            })?;
        }
        Ok(())
    }
}
