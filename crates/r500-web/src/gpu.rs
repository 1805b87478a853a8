//! Shaders for the browser's GPU: the loaded program in WGSL, what is bound to it, and the test of the device.
//!
//! A fast shader fetches with samplers of the device, an exact one loads texels. Programs that no shader draws as the workers do are refused with the
//! reason, which the page shows.

use r500::emit::{
    self, Amplifier, Arithmetic, Code, Dimensions, HostAddress, HostSampler, Inputs, Interface,
    Language, Options, SelfTest, ShaderTexture, TextureLevel,
};
use r500::program::Job;
use serde::Serialize;

use crate::bytes::Bytes;

/// A program as a shader.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GpuShader {
    /// The text in WGSL, whose fragment shader is `main`.
    code: String,
    /// The size of the uniform buffer in bytes, which is at binding 0; none if there is no buffer.
    uniforms: Option<u32>,
    /// The targets that are written.
    colors: Vec<u8>,
    /// Whether the depth is written.
    depth: bool,
    textures: Vec<GpuTexture>,
    /// The instructions that make small errors of a fast shader visible, and why.
    amplifiers: Vec<String>,
    /// The maximum number of instructions that a pixel executes.
    instructions: u64,
}

/// A texture of a shader.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GpuTexture {
    binding: u32,
    /// The dimension of the view: `2d`, `3d`, `cube`, `2d-array`.
    view: &'static str,
    levels: Vec<GpuLevel>,
    /// The binding of its sampler; none in exact shaders.
    sampler_binding: Option<u32>,
    sampler: Option<GpuSampler>,
}

/// A level of a texture.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GpuLevel {
    /// Width, height and layers.
    size: [u32; 3],
    /// Four floats a texel.
    texels: Bytes,
}

/// A sampler, in the words of WebGPU.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GpuSampler {
    /// Along U, V, W.
    #[cfg_attr(test, ts(type = "[GPUAddressMode, GPUAddressMode, GPUAddressMode]"))]
    address: [&'static str; 3],
    #[cfg_attr(test, ts(type = "GPUFilterMode"))]
    mag: &'static str,
    #[cfg_attr(test, ts(type = "GPUFilterMode"))]
    min: &'static str,
    #[cfg_attr(test, ts(type = "GPUMipmapFilterMode"))]
    mip: &'static str,
    /// The least and the greatest level of detail.
    lod: [f32; 2],
    anisotropy: u16,
}

/// The shader that tests whether a device draws exact shaders exactly.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GpuTest {
    shader: GpuShader,
    /// Width and height of its picture, with 8 bits a channel.
    size: [u32; 2],
    /// The uniform buffer.
    values: Bytes,
}

/// Keeps bytes until the next request.
pub(crate) type Keep<'a> = &'a mut dyn FnMut(Vec<u8>) -> Bytes;

fn arithmetic(exact: bool) -> Arithmetic {
    if exact { Arithmetic::Exact } else { Arithmetic::Fast }
}

/// Returns the shader of a job, and its interface for [`uniforms`].
///
/// # Errors
/// The reason why no shader draws the program as the workers do.
pub(crate) fn shader(
    job: &Job,
    exact: bool,
    keep: Keep<'_>,
) -> Result<(GpuShader, Interface), String> {
    if job.coverage.is_some() {
        return Err("some of its pixels are not covered".to_owned());
    }
    let options = Options {
        arithmetic: arithmetic(exact),
        inputs: Inputs::Planes,
        ..Options::new(Language::Wgsl)
    };
    let shader = emit::emit(job, &options).map_err(|error| error.to_string())?;
    let interface = shader.interface;
    if let Some(left_out) = interface.left_out.first() {
        return Err(format!("no GPU has {left_out}"));
    }
    if exact && let Some(Amplifier { address, reason }) = interface.amplifiers.first() {
        return Err(format!("address {address}: {reason}"));
    }
    let textures = interface.textures.iter().map(|texture| bound(job, texture, exact, &mut *keep));
    let textures = textures.collect::<Result<_, String>>()?;
    Ok((described(shader.code, &interface, textures, shader.max_instructions), interface))
}

fn described(
    code: Code,
    interface: &Interface,
    textures: Vec<GpuTexture>,
    instructions: u64,
) -> GpuShader {
    let code = match code {
        Code::Text(text) => text,
        Code::Words(_) => unreachable!("WGSL is text"),
    };
    let amplifiers = interface.amplifiers.iter();
    GpuShader {
        code,
        uniforms: interface.uniforms.as_ref().map(|uniforms| uniforms.bytes),
        colors: interface.colors.clone(),
        depth: interface.depth,
        textures,
        amplifiers: amplifiers
            .map(|amplifier| format!("address {}: {}", amplifier.address, amplifier.reason))
            .collect(),
        instructions,
    }
}

fn bound(
    job: &Job,
    texture: &ShaderTexture,
    exact: bool,
    keep: Keep<'_>,
) -> Result<GpuTexture, String> {
    let named = |error: &dyn std::fmt::Display| format!("texture {}: {error}", texture.unit);
    let sampler = match exact {
        true => None,
        false => Some(emit::host_sampler(job, texture.unit).map_err(|error| named(&error))?),
    };
    let levels = emit::texels(job, texture.unit).map_err(|error| named(&error))?;
    Ok(of_levels(texture, &levels, sampler.map(in_words), keep))
}

fn of_levels(
    texture: &ShaderTexture,
    levels: &[TextureLevel],
    sampler: Option<GpuSampler>,
    keep: Keep<'_>,
) -> GpuTexture {
    let mut level =
        |level: &TextureLevel| GpuLevel { size: level.size, texels: keep(bytes(&level.texels)) };
    GpuTexture {
        binding: texture.binding,
        view: match texture.dimensions {
            Dimensions::Two => "2d",
            Dimensions::Three => "3d",
            Dimensions::Cube => "cube",
            Dimensions::Faces => "2d-array",
        },
        levels: levels.iter().map(&mut level).collect(),
        sampler_binding: texture.sampler,
        sampler,
    }
}

fn in_words(sampler: HostSampler) -> GpuSampler {
    let filter = |linear| if linear { "linear" } else { "nearest" };
    GpuSampler {
        address: sampler.address.map(|address| match address {
            HostAddress::Repeat => "repeat",
            HostAddress::MirrorRepeat => "mirror-repeat",
            HostAddress::ClampToEdge => "clamp-to-edge",
        }),
        mag: filter(sampler.magnified_linear),
        min: filter(sampler.minified_linear),
        mip: filter(sampler.levels_linear),
        lod: sampler.lod,
        anisotropy: sampler.max_anisotropy,
    }
}

/// Returns the uniform buffer of a shader, for a job with other constants and a picture of a size.
///
/// # Errors
/// If an input has no plane.
pub(crate) fn uniforms(
    interface: &Interface,
    job: &Job,
    constants: &[[f32; 4]],
    size: [u32; 2],
) -> Result<Vec<u8>, String> {
    let values = interface.uniform_values_of(job, constants, size);
    Ok(bytes(&values.map_err(|error| error.to_string())?))
}

/// Returns the test of a device.
///
/// # Errors
/// None: WGSL has a test.
pub(crate) fn test(keep: Keep<'_>) -> Result<GpuTest, String> {
    let SelfTest { shader, size, texels, .. } = self_test()?;
    let textures = shader.interface.textures.iter();
    let textures = textures
        .map(|texture| of_levels(texture, std::slice::from_ref(&texels), None, &mut *keep))
        .collect();
    let values = keep(bytes(&shader.uniforms));
    Ok(GpuTest { shader: described(shader.code, &shader.interface, textures, 0), size, values })
}

/// Returns the rules that a device breaks, which drew these bytes for the test: none if its exact shaders are exact.
///
/// # Errors
/// If these are not as many pixels as the test has.
pub(crate) fn failures(pixels: &[u8]) -> Result<Vec<String>, String> {
    let failures =
        self_test()?.compare(pixels.as_chunks::<4>().0).map_err(|error| error.to_string())?;
    Ok(failures.iter().map(ToString::to_string).collect())
}

fn self_test() -> Result<SelfTest, String> {
    emit::self_test(Language::Wgsl).map_err(|error| error.to_string())
}

fn bytes(vectors: &[[f32; 4]]) -> Vec<u8> {
    vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
}
