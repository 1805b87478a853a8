//! The way back: a draw of a card as a scene that draws the same.
//!
//! Programs, vertices and textures become statements; the buffers of targets become raw buffers with the contents before the draw. Registers
//! are those in which the card's state differs from that of the scene without them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use r500::asm::PrintOptions;
use r500::check::ExternalReads;
use r500::chip::pvs::{Addressing, SrcType};
use r500::chip::rb3d::{
    Rb3dAaresolveCtl, Rb3dAaresolveOffset, Rb3dColoroffset, Rb3dColorpitch, Rb3dDstcacheCtlstat,
};
use r500::chip::values::Endian;
use r500::chip::zb::{
    ZbBwCntl, ZbCntl, ZbDepthoffset, ZbDepthpitch, ZbZcacheCtlstat, ZbZpassAddr, ZbZpassData,
};
use r500::chip::{Mapped, Mapping, RegisterRef, cp, vap};
use r500::isa::state::{
    GaUsVectorData, GaUsVectorIndex, UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig,
    UsFcBoolConst, UsFcCtrl, UsFcIntConst, UsFormat, UsOutFmt, UsPixsize, UsWFmt,
};
use r500::isa::texture::{
    TxBorderColor, TxChromaKey, TxEnable, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2,
    TxInvalTags, TxOffset,
};
use r500::isa::values::OutFormat;
use r500::program::Job;
use r500::pvs::{CONSTANTS, PLANE_BASE, Program, Source};
use r500_card::{Card, DrawInputs};
use r500_stream::{BufferId, CommandProcessor, State, StreamWriter, Submission, text};

use crate::mesh::{Attribute, Mesh};
use crate::parse::{MAX_SCENE, PRIMITIVES};
use crate::{Draw, Memory, RawBuffer, RegisterWrite, Scene, Target, TargetFormat};

/// A scene as text, and the files that it names.
#[derive(Clone, Debug)]
pub struct SceneText {
    /// The text.
    pub text: String,
    /// Names and contents of files next to it.
    pub files: Vec<(String, Vec<u8>)>,
    /// The raw buffers: their names in the scene, and what they are of the draw.
    pub buffers: Vec<(String, BufferId)>,
}

/// Why a draw cannot be written as a scene.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfDrawError {
    /// Vertices that a scene cannot have.
    #[error("primitives of type {0} have no name in a scene")]
    Primitive(u8),
    /// No vertex, or no attribute.
    #[error("the draw has no vertices")]
    Empty,
    /// Longer than a scene may be.
    #[error("the scene would have more than {MAX_SCENE} bytes of text")]
    TooLong,
    /// What a scene cannot compile.
    #[error("{0}")]
    Compile(String),
}

/// Registers that statements of a scene set, or whose writes are events.
const OWN: &[&Mapping] = &[
    // Vertices.
    vap::VapVfCntl::MAPPING,
    vap::VapAltNumVertices::MAPPING,
    vap::VapVtxSize::MAPPING,
    vap::VapIndexOffset::MAPPING,
    vap::VapVfMinVtxIndx::MAPPING,
    vap::VapVfMaxVtxIndx::MAPPING,
    vap::VapProgStreamCntl::MAPPING,
    vap::VapProgStreamCntlExt::MAPPING,
    vap::VapPscSgnNormCntl::MAPPING,
    vap::VapPortData::MAPPING,
    vap::VapPortDataIdx128::MAPPING,
    vap::VapPortIdx::MAPPING,
    // The vertex program.
    vap::VapPvsStateFlushReg::MAPPING,
    vap::VapPvsVectorIndxReg::MAPPING,
    vap::VapPvsVectorDataReg::MAPPING,
    vap::VapPvsVectorDataReg128::MAPPING,
    vap::VapPvsCodeCntl0::MAPPING,
    vap::VapPvsCodeCntl1::MAPPING,
    vap::VapPvsConstCntl::MAPPING,
    vap::VapPvsFlowCntlOpc::MAPPING,
    vap::VapPvsFlowCntlAddrsLw::MAPPING,
    vap::VapPvsFlowCntlAddrsUw::MAPPING,
    vap::VapPvsFlowCntlLoopIndex::MAPPING,
    // The fragment program.
    GaUsVectorIndex::MAPPING,
    GaUsVectorData::MAPPING,
    UsConfig::MAPPING,
    UsPixsize::MAPPING,
    UsFcCtrl::MAPPING,
    UsFcBoolConst::MAPPING,
    UsFcIntConst::MAPPING,
    UsCodeAddr::MAPPING,
    UsCodeRange::MAPPING,
    UsCodeOffset::MAPPING,
    UsOutFmt::MAPPING,
    UsWFmt::MAPPING,
    UsFormat::MAPPING,
    // Textures.
    TxFilter0::MAPPING,
    TxFilter1::MAPPING,
    TxFormat0::MAPPING,
    TxFormat1::MAPPING,
    TxFormat2::MAPPING,
    TxOffset::MAPPING,
    TxBorderColor::MAPPING,
    TxChromaKey::MAPPING,
    TxEnable::MAPPING,
    // Events.
    TxInvalTags::MAPPING,
    Rb3dDstcacheCtlstat::MAPPING,
    ZbZcacheCtlstat::MAPPING,
    ZbZpassData::MAPPING,
    ZbZpassAddr::MAPPING,
    cp::WaitUntil::MAPPING,
];

/// Registers with the address or the layout of a target.
const TARGETS: [&Mapping; 5] = [
    Rb3dColoroffset::MAPPING,
    Rb3dColorpitch::MAPPING,
    ZbDepthoffset::MAPPING,
    ZbDepthpitch::MAPPING,
    Rb3dAaresolveOffset::MAPPING,
];

impl Scene {
    /// Returns the scene of a draw. `size` is that of the picture, `title` a comment, `prefix` begins the names of files.
    ///
    /// # Errors
    /// [`OfDrawError`] if the draw is one that a scene cannot have.
    pub fn of_draw(
        draw: &DrawInputs,
        size: [u32; 2],
        title: &str,
        prefix: &str,
    ) -> Result<SceneText, OfDrawError> {
        let primitive = PRIMITIVES.iter().find(|(_, primitive)| *primitive == draw.primitive);
        let Some((primitive_name, _)) = primitive else {
            return Err(OfDrawError::Primitive(draw.primitive.code()));
        };
        if draw.inputs.is_empty() || draw.order.is_empty() {
            return Err(OfDrawError::Empty);
        }
        let raw = RawBuffers::new(draw);
        let vertex = draw.state.vertex_program().map(|program| vertex_source(program, &draw.state));
        let skeleton = Self {
            expected: Vec::new(),
            tolerance: 0.0,
            targets: vec![Target {
                name: String::new(),
                size,
                format: TargetFormat::Bytes,
                clear: [0.0; 4],
                depth: None,
            }],
            buffers: raw.buffers.clone(),
            draws: vec![Draw {
                primitive: draw.primitive,
                target: None,
                mesh: mesh(draw),
                vertex,
                fragment: Box::new(fragment_job(&draw.fragment)),
                vertex_constants: Vec::new(),
                fragment_constants: Vec::new(),
                textures: Vec::new(),
                registers: output_formats(&draw.state).to_vec(),
                places: Vec::new(),
                span: 0..0,
            }],
            moves: false,
        };
        let registers = registers(&skeleton, draw, &raw)?;
        let Draw { mesh, vertex, fragment, .. } = &skeleton.draws[0];

        let mut scene = SceneText { text: String::new(), files: Vec::new(), buffers: Vec::new() };
        scene.title(title);
        scene.line(&format!("SCENE {}x{} ;", size[0], size[1]));
        for (raw, id) in raw.buffers.iter().zip(&raw.ids) {
            scene.buffer(raw, prefix);
            scene.buffers.push((raw.name.clone(), *id));
        }
        scene.line("");
        scene.line(&format!("DRAW {primitive_name} INTO registers {{"));
        scene.mesh(mesh);
        match vertex {
            Some(source) => scene.block("VERTEX PROGRAM", &source.to_string()),
            None => scene.line("    VERTEX PROGRAM none ;"),
        }
        scene.fragment(fragment, prefix);
        scene.line("    -- Registers that differ from those of a scene without them.");
        for write in registers {
            scene.register(write, &raw);
        }
        scene.planes(&draw.state);
        scene.line("}");
        if scene.text.len() > MAX_SCENE {
            return Err(OfDrawError::TooLong);
        }
        Ok(scene)
    }
}

/// The buffers of targets, depth and resolve, with names.
struct RawBuffers {
    buffers: Vec<RawBuffer>,
    ids: Vec<BufferId>,
    /// The address registers in use, and the buffer of each by its place in `buffers`.
    addresses: Vec<(u32, usize)>,
}

impl RawBuffers {
    fn new(draw: &DrawInputs) -> Self {
        let mut raw = Self { buffers: Vec::new(), ids: Vec::new(), addresses: Vec::new() };
        let state = &draw.state;
        for (n, name) in ["color", "color_b", "color_c", "color_d"].into_iter().enumerate() {
            let used = state.registers.member::<UsOutFmt>(n as u32).out_fmt() != OutFormat::UNUSED;
            if used && let Some(bound) = state.member_binding::<Rb3dColoroffset>(n as u32) {
                let [address, pitch] = [Rb3dColoroffset::MAPPING, Rb3dColorpitch::MAPPING]
                    .map(|m| m.address_of(n as u32));
                raw.add(draw, name, bound.buffer.id(), &[address, pitch]);
            }
        }
        let depth: ZbCntl = state.registers.get();
        // A clear of colours by the depth unit goes to the address of depth.
        let clears = state.registers.get::<ZbBwCntl>().zb_cb_clear();
        if (depth.z_enable() || depth.stencil_enable() || depth.zwriteenable() || clears)
            && let Some(bound) = state.binding::<ZbDepthoffset>()
        {
            let registers = [ZbDepthoffset::MAPPING.address, ZbDepthpitch::MAPPING.address];
            raw.add(draw, "depth", bound.buffer.id(), &registers);
        }
        if state.registers.get::<Rb3dAaresolveCtl>().aaresolve_mode()
            && let Some(bound) = state.binding::<Rb3dAaresolveOffset>()
        {
            raw.add(draw, "resolve", bound.buffer.id(), &[Rb3dAaresolveOffset::MAPPING.address]);
        }
        raw
    }

    #[expect(clippy::expect_used, reason = "the card keeps each buffer that it binds as a target")]
    fn add(&mut self, draw: &DrawInputs, name: &str, id: BufferId, registers: &[u32]) {
        let place = self.ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            let bytes = draw.buffers.get(&id).expect("the draw has the contents of its targets");
            self.buffers.push(RawBuffer { name: name.to_owned(), bytes: bytes.clone() });
            self.ids.push(id);
            self.ids.len() - 1
        });
        self.addresses.extend(registers.iter().map(|address| (*address, place)));
    }

    fn of_register(&self, address: u32) -> Option<usize> {
        self.addresses.iter().find(|(known, _)| *known == address).map(|(_, place)| *place)
    }
}

/// Returns the registers that say what the outputs of vertices are. A scene has them, or takes outputs for coordinates.
fn output_formats(state: &State) -> [RegisterWrite; 2] {
    let formats = [vap::VapOutVtxFmt0::MAPPING, vap::VapOutVtxFmt1::MAPPING];
    formats.map(|mapping| RegisterWrite {
        address: mapping.address,
        value: state.registers.read(mapping.address),
        memory: None,
    })
}

/// Returns the writes that give the state of a scene without registers that of the draw.
fn registers(
    skeleton: &Scene,
    draw: &DrawInputs,
    raw: &RawBuffers,
) -> Result<Vec<RegisterWrite>, OfDrawError> {
    let frame = skeleton.compile(0.0).map_err(|error| OfDrawError::Compile(error.message))?;
    let mut state = Card::new().state().clone();
    run(&mut state, &frame.submission);
    let (own, wanted) = (&state.registers, &draw.state.registers);
    let mut addresses: Vec<u32> =
        own.written().chain(wanted.written()).map(|(address, _)| address).collect();
    addresses.extend(raw.addresses.iter().map(|(address, _)| *address));
    let formats = output_formats(&draw.state).map(|write| write.address);
    addresses.extend(formats);
    addresses.sort_unstable();
    addresses.dedup();
    let mut writes = Vec::new();
    for address in addresses {
        let Some(place) = r500::chip::at(address) else { continue };
        if OWN.contains(&place.mapping) {
            continue;
        }
        let memory = raw.of_register(address);
        if TARGETS.contains(&place.mapping) && memory.is_none() {
            // Of a target that the draw does not use.
            continue;
        }
        let value = without_swap(place, wanted.read(address));
        if memory.is_some()
            || formats.contains(&address)
            || value != without_swap(place, own.read(address))
        {
            let memory = memory.map(Memory::Raw);
            writes.push(RegisterWrite { address, value, memory });
        }
    }
    Ok(writes)
}

/// Returns a register without the byte order of vertices in memory: those of a scene are floats in the usual order.
fn without_swap(place: RegisterRef, value: u32) -> u32 {
    match place.mapping == vap::VapCntlStatus::MAPPING {
        true => vap::VapCntlStatus(value).with(vap::VapCntlStatus::VC_SWAP, Endian::NONE).bits(),
        false => value,
    }
}

/// Executes a stream on registers alone.
fn run(state: &mut State, submission: &Submission) {
    let mut cp = CommandProcessor::new(state, submission);
    while cp.next_effect().is_some() {}
}

/// Returns a vertex program with the constants that its instructions name.
fn vertex_source(program: Program, state: &State) -> Source {
    let memory = state.pvs.constants();
    let base = usize::from(program.controls().constants.pvs_const_base_offset());
    let mut constants = BTreeMap::new();
    let mut keep = |n: usize, also_zero: bool| {
        let bits = memory.get(base + n).copied().unwrap_or_default();
        if also_zero || bits != [0; 4] {
            constants.insert(n as u8, bits);
        }
    };
    let sources = program.instructions().1.iter().flat_map(|inst| inst.read_sources());
    for source in sources.flatten().filter(|source| source.reg_type() == SrcType::CONSTANT) {
        match source.addressing() {
            Addressing::Absolute => keep(source.offset().into(), true),
            _ => (0..CONSTANTS).for_each(|n| keep(n, false)),
        }
    }
    Source { constants, ..Source::from(program) }
}

/// Returns a fragment program with the constants and textures that it reads.
fn fragment_job(job: &Job) -> Job {
    let mut job = Job { name: String::new(), origin: String::new(), ..job.clone() };
    let reads = ExternalReads::of(&job.program);
    for (unit, texture) in job.textures.iter_mut().enumerate() {
        if reads.textures >> unit & 1 == 0 {
            *texture = None;
        }
    }
    let state = &mut job.program.state;
    let end = reads.constants.last().map_or(0, |last| usize::from(*last) + 1);
    state.constants.truncate(end);
    let absent: Vec<usize> =
        (0..state.constants.len()).filter(|n| !reads.constants.contains(&(*n as u8))).collect();
    for n in &absent {
        state.constants[*n] = [0; 4];
    }
    state.absent_constants = absent;
    state.absent_channels.clear();
    for (n, constant) in state.fc_int_const.iter_mut().enumerate() {
        if reads.int_constants >> n & 1 == 0 {
            *constant = None;
        }
    }
    for (n, format) in state.format.iter_mut().enumerate() {
        if reads.textures >> n & 1 == 0 {
            *format = None;
        }
    }
    job
}

/// Returns the vertices without components that all vertices have as an attribute has them by default.
fn mesh(draw: &DrawInputs) -> Mesh {
    let default = [0.0_f32, 0.0, 0.0, 1.0].map(f32::to_bits);
    let stride = draw.inputs.len();
    let needed = |n: usize| {
        let values = || draw.vertices.iter().skip(n).step_by(stride);
        let component = |c: &usize| values().any(|value| value[*c].to_bits() != default[*c]);
        (1..4).rev().find(component).map_or(1, |last| last as u8 + 1)
    };
    let attributes: Vec<Attribute> = draw
        .inputs
        .iter()
        .enumerate()
        .map(|(n, input)| Attribute { input: *input, components: needed(n) })
        .collect();
    let values = draw.vertices.iter().enumerate().flat_map(|(n, value)| {
        let components = attributes[n % stride].components;
        value.iter().copied().take(components.into())
    });
    let values = values.collect();
    let in_order = draw.order.iter().copied().eq(0..(draw.vertices.len() / stride) as u32);
    let indices = (!in_order).then(|| draw.order.clone());
    Mesh { attributes, names: Vec::new(), values, indices }
}

impl SceneText {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        for line in title.lines() {
            self.line(&format!("-- {line}"));
        }
    }

    fn buffer(&mut self, raw: &RawBuffer, prefix: &str) {
        let RawBuffer { name, bytes } = raw;
        let (words, rest) = bytes.as_chunks::<4>();
        let first = words.first().copied().unwrap_or_default();
        if rest.is_empty() && words.iter().all(|word| *word == first) {
            let fill = u32::from_le_bytes(first);
            self.line(&format!("BUFFER {name} {} = {fill:#010x} ;", bytes.len()));
        } else {
            let file = format!("{prefix}.{name}.bin");
            self.line(&format!("BUFFER {name} \"{file}\" ;"));
            self.files.push((file, bytes.clone()));
        }
    }

    fn mesh(&mut self, mesh: &Mesh) {
        let attributes: Vec<String> = mesh
            .attributes
            .iter()
            .map(|Attribute { input, components }| format!("input[{input}] {components}"))
            .collect();
        self.line(&format!("    VERTICES {} {{", attributes.join(", ")));
        for vertex in mesh.values.chunks(mesh.stride()) {
            let values: Vec<String> = vertex.iter().map(|value| float(*value)).collect();
            self.line(&format!("        {}", values.join(" ")));
        }
        self.line("    }");
        if let Some(indices) = &mesh.indices {
            self.line("    INDICES {");
            for row in indices.chunks(12) {
                let row: Vec<String> = row.iter().map(u32::to_string).collect();
                self.line(&format!("        {}", row.join(" ")));
            }
            self.line("    }");
        }
    }

    /// Writes a program between braces.
    fn block(&mut self, head: &str, text: &str) {
        self.line(&format!("    {head} {{"));
        for line in text.lines() {
            self.line(format!("        {line}").trim_end());
        }
        self.line("    }");
    }

    fn fragment(&mut self, job: &Job, prefix: &str) {
        let options =
            PrintOptions { file_prefix: format!("{prefix}.texture"), ..PrintOptions::default() };
        let printed = r500::asm::print(job, &options);
        self.block("FRAGMENT PROGRAM", &printed.text);
        self.files.extend(printed.files.into_iter().map(|file| (file.name, file.bytes)));
    }

    fn register(&mut self, write: RegisterWrite, raw: &RawBuffers) {
        let line = register(write);
        match write.memory {
            Some(Memory::Raw(n)) => {
                let name = &raw.buffers[n].name;
                self.line(&format!("    {line} IN {name} ;"));
            }
            _ => self.line(&format!("    {line} ;")),
        }
    }

    /// Writes the user clip planes, which are in the memory of vertex programs.
    fn planes(&mut self, state: &State) {
        let planes = state.pvs.planes();
        if planes.iter().all(|plane| *plane == [0; 4]) {
            return;
        }
        self.line("    -- Clip planes.");
        self.line(&format!("    VAP_PVS_VECTOR_INDX_REG = {PLANE_BASE} ;"));
        for bits in planes.as_flattened() {
            self.line(&format!("    VAP_PVS_VECTOR_DATA_REG = {bits:#010x} ;"));
        }
    }
}

/// Returns a register and its value: by fields, as a float, or else in hexadecimal.
fn register(write: RegisterWrite) -> String {
    let mut stream = StreamWriter::default();
    stream.write(write.address, &[write.value]);
    let words = stream.into_words();
    let line = text::print(&words);
    let (plain, meaning) = line.trim().split_once('#').unwrap_or((line.trim(), ""));
    let (plain, meaning) = (plain.trim(), meaning.trim());
    let name = plain.split(" = ").next().unwrap_or(plain);
    if write.value == 0 {
        return format!("{name} = 0");
    }
    let forms = [
        format!("{name} = {{ {meaning} }}"),
        format!("{name} = {meaning}"),
        format!("{name} = {meaning}.0"),
    ];
    let same = |form: &String| text::parse(form).is_ok_and(|parsed| parsed == words);
    match forms.into_iter().find(same) {
        Some(form) => form,
        None => plain.to_owned(),
    }
}

/// Returns the shortest decimal that reads back as the same float, or its bits.
fn float(value: f32) -> String {
    if !value.is_finite() {
        return format!("{:#010x}", value.to_bits());
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match value.abs() {
        0.0 | 1e-4..1e7 => write!(text, "{value}"),
        _ => write!(text, "{value:e}"),
    };
    text
}
