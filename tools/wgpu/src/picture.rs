//! A draw: the uniform buffer, textures and targets.

use anyhow::{Context as _, Result};
use r500::emit::{HostAddress, HostSampler, Interface, TextureLevel, host_sampler, texels};
use r500::program::Job;
use wgpu::util::DeviceExt as _;

use crate::cache::Pipeline;
use crate::host::{Compiled, Host, view};

/// The format of targets: what the program computes, before any `US_OUT_FMT`.
pub(crate) const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;

/// The value of pixels that are not drawn; no program computes it by chance.
pub(crate) const UNTOUCHED: [f32; 4] = [12_345.678; 4];

/// Colours by target, row 0 first.
pub(crate) struct Picture {
    pub(crate) size: [u32; 2],
    pub(crate) targets: Vec<(u8, Vec<[f32; 4]>)>,
}

/// Draws a job.
///
/// # Errors
/// If an input has no plane, or the device fails.
pub(crate) fn draw(host: &Host, pipeline: &Pipeline, job: &Job) -> Result<Picture> {
    let size = job.size.unwrap_or([64, 64]);
    let uniforms = pipeline.interface.uniform_values(job, size)?;
    let (mut textures, mut samplers) = (Vec::new(), Vec::new());
    for texture in &pipeline.interface.textures {
        textures.push(texels(job, texture.unit)?);
        if let Some(binding) = texture.sampler {
            samplers.push((binding, sampler(host, &host_sampler(job, texture.unit)?)));
        }
    }
    let draw = Draw {
        size,
        format: FORMAT,
        clear: UNTOUCHED,
        uniforms: &uniforms,
        textures: &textures,
        samplers: &samplers,
    };
    let targets = draw.run(host, &pipeline.compiled, &pipeline.interface)?;
    let floats = |bytes: Vec<u8>| {
        let floats: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        floats.as_chunks::<4>().0.to_vec()
    };
    let targets = targets.into_iter().map(|(target, bytes)| (target, floats(bytes))).collect();
    Ok(Picture { size, targets })
}

/// What is drawn.
pub(crate) struct Draw<'a> {
    pub(crate) size: [u32; 2],
    pub(crate) format: wgpu::TextureFormat,
    /// The value of pixels before.
    pub(crate) clear: [f32; 4],
    pub(crate) uniforms: &'a [[f32; 4]],
    /// The levels of each texture of the interface.
    pub(crate) textures: &'a [Vec<TextureLevel>],
    /// The samplers of a fast shader, by binding.
    pub(crate) samplers: &'a [(u32, wgpu::Sampler)],
}

impl Draw<'_> {
    /// Draws, and returns the bytes of the targets, row 0 first.
    pub(crate) fn run(
        &self,
        host: &Host,
        compiled: &Compiled,
        interface: &Interface,
    ) -> Result<Vec<(u8, Vec<u8>)>> {
        let bytes = bytes(self.uniforms);
        let buffer = (!bytes.is_empty()).then(|| {
            host.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: &bytes,
                usage: wgpu::BufferUsages::UNIFORM,
            })
        });
        let mut views = Vec::new();
        for (texture, levels) in interface.textures.iter().zip(self.textures) {
            views.push((texture.binding, upload(host, view(texture.dimensions), levels)?));
        }
        let mut entries: Vec<_> = views
            .iter()
            .map(|(binding, view)| wgpu::BindGroupEntry {
                binding: *binding,
                resource: wgpu::BindingResource::TextureView(view),
            })
            .collect();
        for (binding, sampler) in self.samplers {
            let resource = wgpu::BindingResource::Sampler(sampler);
            entries.push(wgpu::BindGroupEntry { binding: *binding, resource });
        }
        if let (Some(buffer), Some(uniforms)) = (&buffer, &interface.uniforms) {
            let (binding, resource) = (uniforms.binding, buffer.as_entire_binding());
            entries.push(wgpu::BindGroupEntry { binding, resource });
        }
        let group = host.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &compiled.layout,
            entries: &entries,
        });
        let targets: Vec<(u8, wgpu::Texture)> =
            interface.colors.iter().map(|n| (*n, self.target(host))).collect();
        let mut encoder = host.device.create_command_encoder(&Default::default());
        self.record(&mut encoder, compiled, &group, &targets);
        host.queue.submit([encoder.finish()]);
        targets.into_iter().map(|(n, target)| Ok((n, self.read(host, &target)?))).collect()
    }

    fn target(&self, host: &Host) -> wgpu::Texture {
        host.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: extent([self.size[0], self.size[1], 1]),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        compiled: &Compiled,
        group: &wgpu::BindGroup,
        targets: &[(u8, wgpu::Texture)],
    ) {
        let views: Vec<_> = targets
            .iter()
            .map(|(n, target)| (*n, target.create_view(&Default::default())))
            .collect();
        let [r, g, b, a] = self.clear.map(f64::from);
        let last = targets.iter().map(|(n, _)| n + 1).max().unwrap_or(0);
        let attachment = |n: u8| {
            let (_, view) = views.iter().find(|(target, _)| *target == n)?;
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                    store: wgpu::StoreOp::Store,
                },
            })
        };
        let attachments: Vec<_> = (0..last).map(attachment).collect();
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &attachments,
            ..Default::default()
        });
        pass.set_pipeline(&compiled.pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw(0..3, 0..1);
    }

    /// Returns the bytes of a target.
    fn read(&self, host: &Host, target: &wgpu::Texture) -> Result<Vec<u8>> {
        let [width, height] = self.size;
        let texel = self.format.block_copy_size(None).context("a format of colours")?;
        let row = width * texel;
        // Rows of a copy begin at multiples of this.
        let pitch = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = host.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(pitch) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = host.device.create_command_encoder(&Default::default());
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(pitch),
            rows_per_image: None,
        };
        let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(target.as_image_copy(), to, extent([width, height, 1]));
        host.queue.submit([encoder.finish()]);
        let (send, receive) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver waits for it below.
            let _ = send.send(result);
        });
        host.device.poll(wgpu::PollType::wait_indefinitely())?;
        receive.recv()??;
        let mapped = buffer.get_mapped_range(..)?;
        let rows = mapped.chunks_exact(pitch as usize);
        Ok(rows.flat_map(|bytes| &bytes[..row as usize]).copied().collect())
    }
}

fn bytes(vectors: &[[f32; 4]]) -> Vec<u8> {
    vectors.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()
}

fn extent([width, height, depth_or_array_layers]: [u32; 3]) -> wgpu::Extent3d {
    wgpu::Extent3d { width, height, depth_or_array_layers }
}

/// Creates the sampler that a fast shader fetches with.
fn sampler(host: &Host, sampler: &HostSampler) -> wgpu::Sampler {
    let filter = |linear| if linear { wgpu::FilterMode::Linear } else { wgpu::FilterMode::Nearest };
    let address = sampler.address.map(|address| match address {
        HostAddress::Repeat => wgpu::AddressMode::Repeat,
        HostAddress::MirrorRepeat => wgpu::AddressMode::MirrorRepeat,
        HostAddress::ClampToEdge => wgpu::AddressMode::ClampToEdge,
    });
    let HostSampler { magnified_linear, minified_linear, levels_linear, lod, .. } = *sampler;
    // Only linear filters can be anisotropic.
    let is_linear = magnified_linear && minified_linear && levels_linear;
    host.device.create_sampler(&wgpu::SamplerDescriptor {
        address_mode_u: address[0],
        address_mode_v: address[1],
        address_mode_w: address[2],
        mag_filter: filter(magnified_linear),
        min_filter: filter(minified_linear),
        mipmap_filter: match levels_linear {
            true => wgpu::MipmapFilterMode::Linear,
            false => wgpu::MipmapFilterMode::Nearest,
        },
        lod_min_clamp: lod[0],
        lod_max_clamp: lod[1],
        anisotropy_clamp: if is_linear { sampler.max_anisotropy } else { 1 },
        ..Default::default()
    })
}

/// Creates a texture of floats.
fn upload(
    host: &Host,
    dimension: wgpu::TextureViewDimension,
    levels: &[TextureLevel],
) -> Result<wgpu::TextureView> {
    let finest = levels.first().context("a texture has a level")?;
    let is_volume = dimension == wgpu::TextureViewDimension::D3;
    let texture = host.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: extent(finest.size),
        mip_level_count: u32::try_from(levels.len())?,
        sample_count: 1,
        dimension: if is_volume { wgpu::TextureDimension::D3 } else { wgpu::TextureDimension::D2 },
        format: FORMAT,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (mip_level, TextureLevel { size, texels }) in (0_u32..).zip(levels) {
        let [width, height, _] = *size;
        let to = wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() };
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(width * 16),
            rows_per_image: Some(height),
        };
        host.queue.write_texture(to, &bytes(texels), layout, extent(*size));
    }
    let dimension = Some(dimension);
    Ok(texture.create_view(&wgpu::TextureViewDescriptor { dimension, ..Default::default() }))
}
