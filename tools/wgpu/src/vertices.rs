//! Vertex programs on the device, compared with the interpreter: each as a function in a fragment shader, which runs it for a vertex in each pixel.
//!
//! Not in a compute shader: lavapipe flushes denormals in the stages of drawing only.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufReader, Read as _, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use r500::emit::{
    Arithmetic, Code, Form, Language, VertexInterface, VertexOptions, VertexShader, emit_vertex,
};
use r500::formats::{Limits, LogEntries, LogEntry};
use r500::pvs::{CONSTANTS, INPUTS, Interpreter, OUTPUTS, Program};
use r500_gen::{Choices as _, Rng, vertex_programs};
use wgpu::util::DeviceExt as _;

use crate::host::Host;

/// Vertices of each program.
const VERTICES: usize = 64;

/// The format of a target that is not read.
const TARGET: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The maximum number of instructions that a vertex executes.
const MOST: u64 = 1 << 16;

/// Values at the edges of arithmetic: zeros, ones, denormals, infinities, NaN, the largest numbers.
const EDGES: [u32; 14] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4040_0000,
    0xc0a6_6666,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f7f_ffff,
];

/// Programs to run.
pub(crate) struct Programs {
    /// Logs of a driver, also compressed ones.
    pub(crate) logs: Vec<PathBuf>,
    /// The number of generated programs, and the first seed.
    pub(crate) generated: u64,
    pub(crate) seed: u64,
}

/// Runs programs. Returns whether no output differs.
///
/// # Errors
/// If a log cannot be read, or the device fails.
pub(crate) fn run(host: &Host, programs: &Programs, out: &mut impl Write) -> Result<bool> {
    let mut comparison = Comparison::default();
    for path in &programs.logs {
        for (n, program) in log(path)?.into_iter().enumerate() {
            let name = format!("{} {n}", path.display());
            comparison.program(host, &name, &program, &mut Rng::new(n as u64), out)?;
        }
    }
    for seed in programs.seed..programs.seed + programs.generated {
        let mut rng = Rng::new(seed);
        let program = match seed % 2 {
            0 => vertex_programs::program(&mut rng, 24, false),
            _ => vertex_programs::wild(&mut rng, 14),
        };
        let program = vertex_programs::with_inputs(&program);
        comparison.program(host, &format!("seed {seed}"), &program, &mut rng, out)?;
    }
    let Comparison { equal, different, endless, refused, components } = comparison;
    writeln!(
        out,
        "{} vertex programs, {VERTICES} vertices each, {components} components: {equal} identical, {different} different; {endless} endless; refused: {refused:?}",
        equal + different
    )?;
    ensure!(equal + different > 0, "no program was run");
    Ok(different == 0)
}

fn log(path: &PathBuf) -> Result<Vec<Program>> {
    let name = || path.display().to_string();
    let file = std::fs::File::open(path).with_context(name)?;
    let mut text = Vec::new();
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => flate2::read::GzDecoder::new(file).read_to_end(&mut text),
        false => BufReader::new(file).read_to_end(&mut text),
    }
    .with_context(name)?;
    let mut programs = Vec::new();
    for entry in LogEntries::new(&text[..], &Limits::default()) {
        if let LogEntry::Vertex(program) = entry? {
            programs.push(program.program().context("a program without flow control that fits")?);
        }
    }
    Ok(programs)
}

#[derive(Default)]
struct Comparison {
    equal: u64,
    different: u64,
    endless: u64,
    components: u64,
    refused: BTreeMap<String, u64>,
}

impl Comparison {
    fn program(
        &mut self,
        host: &Host,
        name: &str,
        program: &Program,
        rng: &mut Rng,
        out: &mut impl Write,
    ) -> Result<()> {
        let options = VertexOptions {
            arithmetic: Arithmetic::Exact,
            form: Form::Function,
            ..VertexOptions::new(Language::Wgsl)
        };
        let shader = match emit_vertex(program, &options) {
            Ok(shader) => shader,
            Err(error) => {
                *self.refused.entry(error.to_string()).or_default() += 1;
                return Ok(());
            }
        };
        let constants: Vec<[f32; 4]> = (0..CONSTANTS).map(|_| vector(rng)).collect();
        let vertices: Vec<[[f32; 4]; INPUTS]> =
            (0..VERTICES).map(|_| std::array::from_fn(|_| vector(rng))).collect();
        let Some(wanted) = interpreted(program, &constants, &vertices) else {
            self.endless += 1;
            return Ok(());
        };
        let found =
            on_device(host, &shader, &constants, &vertices).with_context(|| name.to_owned())?;
        let registers = shader.interface.outputs.iter().map(|output| usize::from(output.register));
        let registers: Vec<usize> = registers.collect();
        let mut first = None;
        for (vertex, outputs) in wanted.iter().enumerate() {
            for (n, &register) in registers.iter().enumerate() {
                let [ours, theirs] =
                    [outputs[register], found[vertex * registers.len() + n]].map(bits);
                self.components += 4;
                if ours != theirs {
                    first.get_or_insert((vertex, register, ours, theirs));
                }
            }
        }
        match first {
            None => self.equal += 1,
            Some((vertex, register, ours, theirs)) => {
                self.different += 1;
                writeln!(
                    out,
                    "{name}: vertex {vertex}, out[{register}] is {theirs:08x?} instead of {ours:08x?}"
                )?;
            }
        }
        Ok(())
    }
}

/// Returns the bits of a vector, with one payload for all NaN.
fn bits(vector: [f32; 4]) -> [u32; 4] {
    vector.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() })
}

fn vector(rng: &mut Rng) -> [f32; 4] {
    std::array::from_fn(|_| {
        f32::from_bits(match rng.below(8) {
            0 => rng.bits(),
            1 | 2 => (rng.below(40) as f32 * 0.375 - 4.0).to_bits(),
            _ => EDGES[rng.below(EDGES.len() as u32) as usize],
        })
    })
}

/// Returns the outputs of the interpreter; `None` if a vertex is endless.
fn interpreted(
    program: &Program,
    constants: &[[f32; 4]],
    vertices: &[[[f32; 4]; INPUTS]],
) -> Option<Vec<[[f32; 4]; OUTPUTS]>> {
    let interpreter = Interpreter::new(program, constants);
    let run = |inputs: &[[f32; 4]; INPUTS]| {
        let (mut outputs, mut executed) = ([[0.0; 4]; OUTPUTS], 0);
        let ended = interpreter.run(inputs, &mut outputs, || {
            executed += 1;
            if executed > MOST { Err(()) } else { Ok(()) }
        });
        ended.is_ok().then_some(outputs)
    };
    vertices.iter().map(run).collect()
}

/// Returns a fragment shader that calls the function for the vertex of each pixel.
fn around(text: &str, interface: &VertexInterface) -> String {
    let (inputs, outputs) = (interface.inputs.len(), interface.outputs.len());
    let arguments: Vec<String> =
        (0..inputs).map(|n| format!("attributes[vertex * {inputs}u + {n}u]")).collect();
    let mut code = format!(
        "{text}
@group(0) @binding(1) var<storage, read> attributes: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> results: array<vec4<f32>>;

@fragment
fn run(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {{
    let vertex = u32(pixel.x);
    // So that the buffer is used by programs without inputs.
    if (vertex >= arrayLength(&attributes)) {{ return vec4<f32>(1.0); }}
    let outputs = {}({});
",
        interface.entry_point,
        arguments.join(", ")
    );
    for (n, output) in interface.outputs.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ =
            writeln!(code, "    results[vertex * {outputs}u + {n}u] = outputs.{};", output.name);
    }
    code.push_str("    return vec4<f32>(0.0);\n}\n");
    code
}

/// Returns the outputs of each vertex, one after the other.
fn on_device(
    host: &Host,
    shader: &VertexShader,
    constants: &[[f32; 4]],
    vertices: &[[[f32; 4]; INPUTS]],
) -> Result<Vec<[f32; 4]>> {
    let Code::Text(text) = &shader.code else { bail!("WGSL is text") };
    let interface = &shader.interface;
    let scope = host.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let module = host.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(Cow::Owned(around(text, interface))),
    });
    // Of its own, because programs do not use all of it.
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let mut kinds = vec![
        entry(1, wgpu::BufferBindingType::Storage { read_only: true }),
        entry(2, wgpu::BufferBindingType::Storage { read_only: false }),
    ];
    let uniform = interface.uniforms.as_ref();
    kinds.extend(uniform.map(|it| entry(it.binding, wgpu::BufferBindingType::Uniform)));
    let layout = host.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &kinds,
    });
    let pipeline_layout = host.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        bind_group_layouts: &[Some(&layout)],
        ..Default::default()
    });
    let pipeline = host.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        vertex: host.triangle(),
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("run"),
            compilation_options: Default::default(),
            targets: &[Some(TARGET.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    if let Some(error) = pollster::block_on(scope.pop()) {
        bail!("{error}");
    }
    let buffer = |vectors: &[[f32; 4]], usage| {
        let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let contents = &bytes;
        let descriptor = wgpu::util::BufferInitDescriptor { label: None, contents, usage };
        host.device.create_buffer_init(&descriptor)
    };
    let mut attributes: Vec<[f32; 4]> = Vec::new();
    for inputs in vertices {
        attributes.extend(interface.inputs.iter().map(|input| inputs[usize::from(input.temp)]));
    }
    // A program without inputs still has a vertex at each place.
    attributes.resize(attributes.len().max(vertices.len()), [0.0; 4]);
    let storage = wgpu::BufferUsages::STORAGE;
    let attributes = buffer(&attributes, storage);
    let length = vertices.len() * interface.outputs.len();
    let results = buffer(&vec![[0.0; 4]; length], storage | wgpu::BufferUsages::COPY_SRC);
    let uniforms = interface.uniforms.as_ref().map(|uniforms| {
        (
            uniforms.binding,
            buffer(&interface.uniform_values(constants), wgpu::BufferUsages::UNIFORM),
        )
    });
    let mut entries = vec![
        wgpu::BindGroupEntry { binding: 1, resource: attributes.as_entire_binding() },
        wgpu::BindGroupEntry { binding: 2, resource: results.as_entire_binding() },
    ];
    if let Some((binding, buffer)) = &uniforms {
        let resource = buffer.as_entire_binding();
        entries.push(wgpu::BindGroupEntry { binding: *binding, resource });
    }
    let group = host.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &entries,
    });
    let read = host.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: results.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = host.device.create_command_encoder(&Default::default());
    let target = host.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: VERTICES as u32, height: 1, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TARGET,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    let view = target.create_view(&Default::default());
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: Default::default(),
            })],
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }
    encoder.copy_buffer_to_buffer(&results, 0, &read, 0, results.size());
    host.queue.submit([encoder.finish()]);
    let (send, receive) = std::sync::mpsc::channel();
    read.map_async(wgpu::MapMode::Read, .., move |result| {
        // The receiver waits for it below.
        let _ = send.send(result);
    });
    host.device.poll(wgpu::PollType::wait_indefinitely())?;
    receive.recv()??;
    let mapped = read.get_mapped_range(..)?;
    let words = mapped.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let floats: Vec<f32> = words.collect();
    Ok(floats.as_chunks::<4>().0.to_vec())
}
