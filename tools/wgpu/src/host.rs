//! The device, and its compilation of shaders.
#![allow(unsafe_code)]

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail};
use r500::emit::{Code, Dimensions, Interface, Language};

/// A triangle over the picture.
const VERTICES: &str = "
@vertex
fn main(@builtin(vertex_index) n: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(n & 1u) * 4.0 - 1.0, f32(n >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
";

/// What wgpu must know of SPIR-V that it does not read.
const ENTRY_POINTS: [wgpu::PassthroughShaderEntryPoint<'_>; 1] =
    [wgpu::PassthroughShaderEntryPoint { name: Cow::Borrowed("main"), workgroup_size: (0, 0, 0) }];

/// A device that draws.
pub(crate) struct Host {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) language: Language,
    vertices: wgpu::ShaderModule,
    name: String,
}

/// A compiled shader.
pub(crate) struct Compiled {
    pub(crate) pipeline: wgpu::RenderPipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
}

impl Host {
    /// Opens the first device.
    ///
    /// # Errors
    /// If there is none, or it does not take the language.
    pub(crate) fn new(backends: wgpu::Backends, language: Language) -> Result<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = backends;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).context(
            "no GPU: install a Vulkan driver (Debian: mesa-vulkan-drivers, whose lavapipe needs no GPU) or one of OpenGL ES 3.1",
        )?;
        let info = adapter.get_info();
        let passthrough = wgpu::Features::PASSTHROUGH_SHADERS;
        // Fast shaders filter textures of floats.
        let filters = adapter.features() & wgpu::Features::FLOAT32_FILTERABLE;
        let required_features = filters
            | match language {
                Language::Spirv if adapter.features().contains(passthrough) => passthrough,
                Language::Spirv => bail!("{} takes no SPIR-V; leave out --language", info.name),
                _ => wgpu::Features::empty(),
            };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_features,
                required_limits: adapter.limits(),
                ..Default::default()
            }))?;
        let vertices = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("vertices"),
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(VERTICES)),
        });
        let name = format!("{} by {:?} ({})", info.name, info.backend, info.driver_info);
        Ok(Self { device, queue, language, vertices, name })
    }

    /// Returns the name of the device and its driver.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the vertices of a triangle over the picture.
    pub(crate) fn triangle(&self) -> wgpu::VertexState<'_> {
        wgpu::VertexState {
            module: &self.vertices,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            buffers: &[],
        }
    }

    /// Compiles a shader for targets of a format.
    ///
    /// # Errors
    /// What the device says about it.
    pub(crate) fn compile(
        &self,
        code: &Code,
        interface: &Interface,
        format: wgpu::TextureFormat,
    ) -> Result<Compiled> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let entries = entries(interface);
        let fragments = match code {
            Code::Text(text) => self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("program"),
                source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(text)),
            }),
            // wgpu's own translation of SPIR-V drops `NoContraction`, so the words go to the driver as they are.
            // SAFETY: r500 writes valid SPIR-V, with the bindings of the layout below.
            Code::Words(words) => unsafe {
                self.device.create_shader_module_passthrough(
                    wgpu::ShaderModuleDescriptorPassthrough {
                        label: Some("program"),
                        entry_points: Cow::Borrowed(&ENTRY_POINTS),
                        spirv: Some(Cow::Owned(numbered(words, &entries))),
                        ..Default::default()
                    },
                )
            },
        };
        let layout = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let written = |n: u8| {
            interface.colors.contains(&n).then_some(wgpu::ColorTargetState {
                format,
                blend: None,
                write_mask: wgpu::ColorWrites::ALL,
            })
        };
        let last = interface.colors.iter().max().map_or(0, |n| n + 1);
        let targets: Vec<_> = (0..last).map(written).collect();
        let pipeline = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            vertex: self.triangle(),
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &fragments,
                entry_point: Some(interface.entry_point),
                compilation_options: Default::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        });
        match pollster::block_on(scope.pop()) {
            Some(error) => bail!("{error}"),
            None => Ok(Compiled { pipeline, layout }),
        }
    }
}

/// Returns the bindings of a shader, as `--interface json` lists them.
fn entries(interface: &Interface) -> Vec<wgpu::BindGroupLayoutEntry> {
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    };
    let mut entries = Vec::new();
    if let Some(uniforms) = &interface.uniforms {
        let ty = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        entries.push(entry(uniforms.binding, ty));
    }
    for texture in &interface.textures {
        let ty = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: texture.sampler.is_some() },
            view_dimension: view(texture.dimensions),
            multisampled: false,
        };
        entries.push(entry(texture.binding, ty));
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        entries.extend(texture.sampler.map(|binding| entry(binding, sampler)));
    }
    entries
}

/// Returns SPIR-V with the bindings that wgpu 30 has on Vulkan: it numbers those of a layout from 0 on, without gaps.
fn numbered(words: &[u32], entries: &[wgpu::BindGroupLayoutEntry]) -> Vec<u32> {
    const HEADER: usize = 5;
    const DECORATE: u32 = 71;
    const BINDING: u32 = 33;
    let mut words = words.to_vec();
    let mut at = HEADER;
    while let Some(&[first, _, decoration, binding]) = words.get(at..at + 4) {
        if (first & 0xffff, decoration) == (DECORATE, BINDING)
            && let Some(place) = entries.iter().position(|entry| entry.binding == binding)
        {
            words[at + 3] = place as u32;
        }
        // Every instruction has at least its first word.
        at += (first >> 16).max(1) as usize;
    }
    words
}

/// Returns how a shader sees a texture.
pub(crate) fn view(dimensions: Dimensions) -> wgpu::TextureViewDimension {
    match dimensions {
        Dimensions::Two => wgpu::TextureViewDimension::D2,
        Dimensions::Three => wgpu::TextureViewDimension::D3,
        Dimensions::Faces => wgpu::TextureViewDimension::D2Array,
        Dimensions::Cube => wgpu::TextureViewDimension::Cube,
    }
}
