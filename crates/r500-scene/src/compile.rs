//! Compilation of a scene to a command stream and buffers.

use r500::chip::pm4::{MAX_BODY, Opcode};
use r500::chip::values::{DataType, PrimType, PrimWalk, StreamSwizzle};
use r500::chip::vap::{
    self, VapCntlStatus, VapOutVtxFmt0, VapOutVtxFmt1, VapProgStreamCntl, VapProgStreamCntlExt,
    VapVfCntl, VapVsmVtxAssm,
};
use r500::chip::{Mapped, pvs};
use r500::isa::state::{
    GaUsVectorData, GaUsVectorIndex, UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig,
    UsFcBoolConst, UsFcCtrl, UsPixsize,
};
use r500::isa::texture::{TxEnable, TxInvalTags};
use r500::isa::values::VectorType;
use r500::program::Job;
use r500::pvs::Source;
use r500::text::expression::{Environment, Value};
use r500_stream::StreamWriter;

use crate::frame::{Buffers, Frame, PreviousFrame, Shown};
use crate::mesh::Attribute;
use crate::state::{self, Surfaces};
use crate::{Draw, Memory, Scene, TargetTexture, texture};

/// Why a scene cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("draw {draw}: {message}")]
pub struct CompileError {
    /// The number of the draw, from 0.
    pub draw: usize,
    /// What is wrong.
    pub message: String,
}

/// Texture coordinates of a vertex.
pub(crate) const MAX_COORDINATES: usize = 8;
/// Instructions of the fragment processor.
const MAX_FRAGMENT: usize = 512;
/// Indices in a draw's packet, two a dword, after its first dword.
const MAX_INDICES: usize = (MAX_BODY - 1) * 2;
/// Vertices of one draw packet.
const MAX_COUNT: usize = 0xffff;

impl Scene {
    /// Compiles the scene for a time in seconds.
    ///
    /// # Errors
    /// [`CompileError`] if a draw has what the card has not, such as a ninth output.
    pub fn compile(&self, time: f64) -> Result<Frame, CompileError> {
        self.compile_after(&PreviousFrame::default(), time)
    }

    /// Compiles the scene for a time in seconds, after the frame that left `previous`.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_after(
        &self,
        previous: &PreviousFrame,
        time: f64,
    ) -> Result<Frame, CompileError> {
        let mut buffers = Buffers::default();
        let last = self.draws.last().and_then(|draw| draw.target);
        let surfaces = self.surfaces(last.is_some(), &mut buffers);
        let previous = self.previous(&surfaces, previous, &mut buffers);
        let raw: Vec<u32> = self
            .buffers
            .iter()
            .map(|raw| buffers.raw(raw.name.clone(), raw.bytes.clone()))
            .collect();
        let memory = Places { surfaces, previous, raw };
        let mut stream = StreamWriter::default();
        for (number, draw) in self.draws.iter().enumerate() {
            let [width, height] = self.size_of(draw);
            let aspect = f64::from(width) / f64::from(height);
            let environment = Environment { time, aspect };
            let mut compiler = Compiler { stream: &mut stream, buffers: &mut buffers, environment };
            compiler
                .draw(draw, &memory, [width, height])
                .map_err(|message| CompileError { draw: number, message })?;
        }
        let picture = match memory.surfaces[0] {
            Some(surfaces) if last.is_some() => Shown::Target(surfaces),
            _ => Shown::Registers(self.size()),
        };
        Ok(buffers.frame(stream, picture))
    }

    /// Adds the buffers of the targets that draws use, and of the picture if it is `shown`.
    fn surfaces(&self, shown: bool, buffers: &mut Buffers) -> Vec<Option<Surfaces>> {
        let mut used = vec![false; self.targets.len()];
        used[0] = shown;
        for draw in &self.draws {
            let textures = draw.textures.iter().map(|texture| texture.target);
            let addresses = draw.registers.iter().filter_map(|write| match write.memory {
                Some(Memory::Target(target)) => Some(target),
                _ => None,
            });
            for target in draw.target.into_iter().chain(textures).chain(addresses) {
                used[target] = true;
            }
        }
        let targets = self.targets.iter().zip(used);
        targets.map(|(target, used)| used.then(|| buffers.surfaces(target))).collect()
    }
}

impl Scene {
    /// Adds the buffers of what the frame before left of targets.
    fn previous(
        &self,
        surfaces: &[Option<Surfaces>],
        previous: &PreviousFrame,
        buffers: &mut Buffers,
    ) -> Vec<Option<Surfaces>> {
        let mut used = vec![false; self.targets.len()];
        for texture in self.draws.iter().flat_map(|draw| &draw.textures) {
            used[texture.target] |= texture.is_previous;
        }
        let targets = surfaces.iter().zip(used).enumerate();
        targets
            .map(|(n, (surfaces, used))| {
                surfaces.filter(|_| used).map(|surfaces| buffers.previous(n, surfaces, previous))
            })
            .collect()
    }
}

/// Where the memory of a scene is in the relocation list.
struct Places {
    surfaces: Vec<Option<Surfaces>>,
    /// What the frame before left.
    previous: Vec<Option<Surfaces>>,
    raw: Vec<u32>,
}

impl Places {
    #[expect(clippy::expect_used, reason = "`Scene::surfaces` adds each target that a draw names")]
    fn target(&self, n: usize) -> Surfaces {
        self.surfaces[n].expect("targets that draws use have buffers")
    }

    #[expect(
        clippy::expect_used,
        reason = "`Scene::previous` adds each target that a draw reads so"
    )]
    fn previous(&self, n: usize) -> Surfaces {
        self.previous[n].expect("what draws read of the frame before has buffers")
    }

    fn relocation(&self, memory: Memory) -> u32 {
        match memory {
            Memory::Target(n) => self.target(n).color,
            Memory::Raw(n) => self.raw[n],
        }
    }
}

struct Compiler<'a> {
    stream: &'a mut StreamWriter,
    buffers: &'a mut Buffers,
    environment: Environment,
}

impl Compiler<'_> {
    fn draw(&mut self, draw: &Draw, memory: &Places, size: [u32; 2]) -> Result<(), String> {
        state::defaults(self.stream);
        if let Some(target) = draw.target {
            state::target(self.stream, memory.target(target));
        }
        state::viewport(self.stream, size);
        let coordinates = match &draw.vertex {
            Some(source) => self.vertex_program(source, draw)?,
            None => {
                let bypass = VapCntlStatus(0).with(VapCntlStatus::PVS_BYPASS, true);
                self.stream.set(bypass).set(position_only());
                0
            }
        };
        state::interpolants(self.stream, coordinates);
        self.fragment_program(&draw.fragment, draw)?;
        self.textures(draw, memory)?;
        self.attributes(&draw.mesh.attributes);
        for write in &draw.registers {
            self.stream.write(write.address, &[write.value]);
            if let Some(place) = write.memory {
                self.stream.relocation(memory.relocation(place));
            }
        }
        self.vertices(draw)?;
        state::flush(self.stream);
        Ok(())
    }

    /// Uploads the vertex program and its constants. Returns the number of texture coordinates, outputs 1 and up.
    fn vertex_program(&mut self, source: &Source, draw: &Draw) -> Result<usize, String> {
        let program = &source.program;
        let controls = program.controls();
        let outputs = program.written_outputs();
        if outputs.first() != Some(&0) {
            return Err("the vertex program does not write the position, out[0]".to_owned());
        }
        let described = draw.coordinates().is_none();
        let coordinates = if described { 0 } else { outputs.len() - 1 };
        if !described && (outputs.last() != Some(&coordinates) || coordinates > MAX_COORDINATES) {
            return Err(format!(
                "the vertex program writes {}: outputs are out[0], the position, and out[1] up to out[{MAX_COORDINATES}] without a gap, unless VAP_OUT_VTX_FMT_0 and VAP_OUT_VTX_FMT_1 say otherwise",
                outputs.iter().map(|n| format!("out[{n}]")).collect::<Vec<_>>().join(", ")
            ));
        }
        let (base, code) = program.instructions();
        let dwords: Vec<u32> = code.iter().flat_map(|inst| inst.0).collect();
        let mut formats = VapOutVtxFmt1(0);
        for field in [
            VapOutVtxFmt1::TEX_0_COMP_CNT,
            VapOutVtxFmt1::TEX_1_COMP_CNT,
            VapOutVtxFmt1::TEX_2_COMP_CNT,
            VapOutVtxFmt1::TEX_3_COMP_CNT,
            VapOutVtxFmt1::TEX_4_COMP_CNT,
            VapOutVtxFmt1::TEX_5_COMP_CNT,
            VapOutVtxFmt1::TEX_6_COMP_CNT,
            VapOutVtxFmt1::TEX_7_COMP_CNT,
        ]
        .into_iter()
        .take(coordinates)
        {
            formats = formats.with(field, 4);
        }
        // The position, and coordinates from TC0 on.
        let first = VapVsmVtxAssm(0).with(VapVsmVtxAssm::TC0, true).bits();
        let coordinate_bits = ((1 << coordinates) - 1) * first;
        let assembly = VapVsmVtxAssm(coordinate_bits).with(VapVsmVtxAssm::POS, true);
        self.stream
            .set(controls.range)
            .set(controls.inputs)
            .set(controls.constants)
            .set(position_only())
            .set(formats)
            .set(assembly);
        let mut ops = 0;
        for flow in &controls.flow {
            let n = u32::from(flow.number);
            ops |= u32::from(flow.op.code()) << (2 * n);
            self.stream.set_member(n, flow.low).set_member(n, flow.high).set_member(n, flow.index);
        }
        self.stream.set(vap::VapPvsFlowCntlOpc(ops));
        let mut constants: std::collections::BTreeMap<usize, [u32; 4]> =
            source.constants.iter().map(|(n, bits)| (usize::from(*n), *bits)).collect();
        for (number, value) in self.constants(&draw.vertex_constants)? {
            constants.insert(number, value);
        }
        let memory = program.constant_memory(&constants);
        let constants: Vec<u32> = memory.as_flattened().iter().map(|x| x.to_bits()).collect();
        let data = vap::VapPvsVectorDataReg128::MAPPING.address;
        for (start, dwords) in [(base, dwords), (pvs::CONSTANT_BASE, constants)] {
            if !dwords.is_empty() {
                self.stream.set(vap::VapPvsVectorIndxReg(start as u32)).write_one(data, &dwords);
            }
        }
        Ok(coordinates)
    }

    /// Uploads the fragment program and its constants.
    fn fragment_program(&mut self, job: &Job, draw: &Draw) -> Result<(), String> {
        let program = &job.program;
        let state = &program.state;
        let code = &program.code;
        if code.is_empty() || code.len() > MAX_FRAGMENT {
            let count = code.len();
            return Err(format!(
                "the fragment program has {count} instructions: 1 to {MAX_FRAGMENT} are possible"
            ));
        }
        let last = (code.len() - 1) as u16;
        let dwords: Vec<u32> = code.iter().flat_map(|inst| inst.0).collect();
        let offset = state.code_offset.unwrap_or(UsCodeOffset(0));
        let zero = UsConfig(0).with(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO, true);
        let range = UsCodeRange(0)
            .with(UsCodeRange::CODE_ADDR, offset.offset_addr())
            .with(UsCodeRange::CODE_SIZE, last);
        let all = UsPixsize(0).with(UsPixsize::PIX_SIZE, 127);
        self.stream
            .set(state.config.unwrap_or(zero))
            .set(state.pixsize.unwrap_or(all))
            .set(state.fc_ctrl.unwrap_or(UsFcCtrl(0)))
            .set(state.fc_bool_const.unwrap_or(UsFcBoolConst(0)))
            .set(state.code_range.unwrap_or(range))
            .set(offset)
            .set(state.code_addr.unwrap_or(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, last)))
            .set(state.w_fmt.unwrap_or_default());
        for (constant, n) in state.fc_int_const.iter().zip(0..) {
            if let Some(constant) = constant {
                self.stream.set_member(n, *constant);
            }
        }
        for (format, n) in state.format.iter().zip(0..) {
            self.stream.set_member(n, format.unwrap_or_default());
        }
        if draw.target.is_none() {
            for (format, n) in state.out_fmt.iter().zip(0..) {
                if let Some(format) = format {
                    self.stream.set_member(n, *format);
                }
            }
        }
        let mut constants = state.constants.clone();
        for (number, value) in self.constants(&draw.fragment_constants)? {
            constants.resize(constants.len().max(number + 1), [0; 4]);
            constants[number] = value;
        }
        let data = GaUsVectorData::MAPPING.address;
        let index = |kind, at| {
            GaUsVectorIndex(0).with(GaUsVectorIndex::TYPE, kind).with(GaUsVectorIndex::INDEX, at)
        };
        self.stream.set(index(VectorType::INST, offset.offset_addr())).write_one(data, &dwords);
        if !constants.is_empty() {
            self.stream.set(index(VectorType::CONST, 0)).write_one(data, constants.as_flattened());
        }
        Ok(())
    }

    /// Returns the constants that the scene assigns, by number.
    fn constants(
        &self,
        assignments: &[crate::Assignment],
    ) -> Result<Vec<(usize, [u32; 4])>, String> {
        let bits = |values: [f64; 4]| values.map(|x| (x as f32).to_bits());
        let mut constants = Vec::new();
        for assignment in assignments {
            let first = assignment.first;
            match (assignment.value.value(self.environment)?, assignment.column) {
                (Value::Matrix(rows), Some(column)) => {
                    constants.push((first, bits(rows.map(|row| row[column]))));
                }
                (Value::Number(x), _) => constants.push((first, bits([x; 4]))),
                (Value::Vector(vector), _) => constants.push((first, bits(vector))),
                (Value::Matrix(rows), None) => {
                    constants.extend((first..).zip(rows.map(bits)));
                }
            }
        }
        Ok(constants)
    }

    /// Binds the textures of the fragment program, and targets.
    fn textures(&mut self, draw: &Draw, memory: &Places) -> Result<(), String> {
        let mut enabled = 0u32;
        for (unit, texture) in draw.fragment.textures.iter().enumerate() {
            let Some(texture) = texture else { continue };
            let bytes =
                texture::memory(texture).map_err(|error| format!("texture {unit}: {error}"))?;
            let relocation = self.buffers.add(bytes);
            texture::bind(self.stream, unit as u32, texture, relocation);
            enabled |= 1 << unit;
        }
        for &TargetTexture { unit, target, is_previous } in &draw.textures {
            if Some(target) == draw.target && !is_previous {
                return Err(format!(
                    "texture {unit} is the target of the same draw; `previous` is what the frame before left of it"
                ));
            }
            let surfaces =
                if is_previous { memory.previous(target) } else { memory.target(target) };
            let Surfaces { color, size, format, pitch, .. } = surfaces;
            let unit = u32::from(unit);
            texture::bind(self.stream, unit, &texture::of_target(size, pitch, format), color);
            enabled |= 1 << unit;
        }
        self.stream.set(TxInvalTags(0)).set(TxEnable(enabled));
        Ok(())
    }

    /// Describes the attributes of a vertex: floats; missing components are 0, 0, 1.
    fn attributes(&mut self, attributes: &[Attribute]) {
        use VapProgStreamCntl as Cntl;
        use VapProgStreamCntlExt as Ext;
        let types = [DataType::FLOAT_1, DataType::FLOAT_2, DataType::FLOAT_3, DataType::FLOAT_4];
        let ty = |attribute: Attribute| types[usize::from(attribute.components) - 1];
        let select = |attribute: Attribute, n: u8| match n {
            _ if n < attribute.components => StreamSwizzle::new(n),
            3 => StreamSwizzle::ONE,
            _ => StreamSwizzle::ZERO,
        };
        for (n, pair) in attributes.chunks(2).enumerate() {
            let mut cntl = Cntl(0)
                .with(Cntl::DATA_TYPE_0, ty(pair[0]))
                .with(Cntl::DST_VEC_LOC_0, pair[0].input)
                .with(Cntl::LAST_VEC_0, n * 2 + 1 == attributes.len());
            let mut ext = Ext(0)
                .with(Ext::SWIZZLE_SELECT_X_0, select(pair[0], 0))
                .with(Ext::SWIZZLE_SELECT_Y_0, select(pair[0], 1))
                .with(Ext::SWIZZLE_SELECT_Z_0, select(pair[0], 2))
                .with(Ext::SWIZZLE_SELECT_W_0, select(pair[0], 3))
                .with(Ext::WRITE_ENA_0, 0xf);
            if let Some(&second) = pair.get(1) {
                cntl = cntl
                    .with(Cntl::DATA_TYPE_1, ty(second))
                    .with(Cntl::DST_VEC_LOC_1, second.input)
                    .with(Cntl::LAST_VEC_1, n * 2 + 2 == attributes.len());
                ext = ext
                    .with(Ext::SWIZZLE_SELECT_X_1, select(second, 0))
                    .with(Ext::SWIZZLE_SELECT_Y_1, select(second, 1))
                    .with(Ext::SWIZZLE_SELECT_Z_1, select(second, 2))
                    .with(Ext::SWIZZLE_SELECT_W_1, select(second, 3))
                    .with(Ext::WRITE_ENA_1, 0xf);
            }
            self.stream.set_member(n as u32, cntl).set_member(n as u32, ext);
        }
    }

    /// Draws the mesh.
    fn vertices(&mut self, draw: &Draw) -> Result<(), String> {
        let mesh = &draw.mesh;
        let stride = mesh.stride();
        // Too many indices for a packet, or vertices for an index of 16 bits, become vertices in their order.
        let indices = mesh.indices.as_deref();
        let indexed =
            indices.filter(|indices| indices.len() <= MAX_INDICES && mesh.vertices() <= 1 << 16);
        let expanded: Vec<f32> = match indices {
            Some(order) if indexed.is_none() => order
                .iter()
                .flat_map(|n| &mesh.values[*n as usize * stride..(*n as usize + 1) * stride])
                .copied()
                .collect(),
            _ => mesh.values.clone(),
        };
        let bytes = expanded.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect();
        let relocation = self.buffers.add(bytes);
        // One array: as many dwords a vertex as from vertex to vertex.
        let sizes = (stride | stride << 8) as u32;
        let array = |stream: &mut StreamWriter, offset: usize| {
            stream.command(Opcode::LOAD_VBPNTR, &[1, sizes, offset as u32]).relocation(relocation);
        };
        if let Some(order) = indexed {
            array(self.stream, 0);
            let mut body = vec![cntl(draw.primitive, PrimWalk::INDEXES, order.len())];
            body.extend(
                order
                    .chunks(2)
                    .map(|pair| pair[0] | pair.get(1).copied().unwrap_or_default() << 16),
            );
            self.stream.command(Opcode::DRAW_INDX_2, &body);
            return Ok(());
        }
        let count = expanded.len() / stride;
        let step = piece(draw.primitive, count)?;
        for first in (0..count).step_by(step) {
            array(self.stream, first * stride * 4);
            let walk = cntl(draw.primitive, PrimWalk::VERTEX_LIST, step.min(count - first));
            self.stream.command(Opcode::DRAW_VBUF_2, &[walk]);
        }
        Ok(())
    }
}

fn position_only() -> VapOutVtxFmt0 {
    VapOutVtxFmt0(0).with(VapOutVtxFmt0::VTX_POS_PRESENT, true)
}

/// Returns how many vertices a packet draws, so that no primitive is in two.
fn piece(primitive: PrimType, count: usize) -> Result<usize, String> {
    let unit = match primitive {
        _ if count <= MAX_COUNT => return Ok(MAX_COUNT),
        PrimType::POINTS => 1,
        PrimType::LINES => 2,
        PrimType::TRIANGLES => 3,
        PrimType::QUADS => 4,
        _ => {
            return Err(format!(
                "{count} vertices: strips, fans, loops and polygons have at most {MAX_COUNT}; use lists"
            ));
        }
    };
    Ok(MAX_COUNT / unit * unit)
}

/// Returns the first dword of a draw packet.
fn cntl(primitive: PrimType, walk: PrimWalk, count: usize) -> u32 {
    VapVfCntl(0)
        .with(VapVfCntl::PRIM_TYPE, primitive)
        .with(VapVfCntl::PRIM_WALK, walk)
        .with(VapVfCntl::NUM_VERTICES, count as u16)
        .bits()
}
