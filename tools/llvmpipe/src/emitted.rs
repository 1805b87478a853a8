//! Pictures of emitted shaders: llvmpipe draws the GLSL that r500 writes of a program, and its floats are compared with
//! those of the reference engine.
#![allow(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use glow::{HasContext, PixelPackData, PixelUnpackData};
use naga::back::glsl;
use r500::emit::{
    Arithmetic, Code, Dimensions, Inputs, Interface, Language, Options, ShaderInput, ShaderTexture,
    TextureLevel, emit, texels,
};
use r500::exec::reference::Reference;
use r500::exec::{Bindings, Frame, Options as DrawOptions, Shader, draw};
use r500::program::{Input, InputData, Job};

use crate::egl::Mesa;
use crate::llvmpipe::{Storage, link, texture_of};
use crate::texture::Upload;

/// The value of pixels that are not written; no program computes it by chance.
const UNTOUCHED: f32 = 12_345.678;

/// How far a channel may be from the reference engine's, of 255.
const TOLERANCE: f32 = 2.0;

/// The vertex shader: a triangle over the picture.
pub(crate) const VERTICES: &str = "#version 450\nvoid main() {\n    vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;\n    \
                        gl_Position = vec4(at, 0.0, 1.0);\n}\n";

/// The comparison of one program.
struct Compared {
    name: String,
    /// Written channels of covered pixels.
    channels: usize,
    identical: usize,
    within: usize,
    /// The instructions that the shader names as amplifiers.
    amplifiers: usize,
    /// Whether it has textures.
    fetches: bool,
    /// How long the shader took to write.
    writing: Duration,
    /// Of an exact shader: how long it draws, by the time of the fast one.
    cost: Option<f64>,
    /// The shader that was drawn.
    text: String,
    /// The first channel that differs: pixel, channel, the reference's bits and the shader's.
    first: Option<(usize, usize, u32, u32)>,
}

/// Compares the programs of the corpus and prints a table. Returns whether none differs that must not.
///
/// # Errors
/// If nothing can be drawn.
pub(crate) fn run(
    mesa: &Mesa,
    jobs: Vec<(String, Job)>,
    (arithmetic, language): (Arithmetic, Language),
    dump: Option<&Path>,
) -> Result<bool> {
    let gl = mesa.current(true)?;
    let mut out = std::io::stdout().lock();
    let (mut rows, mut refused, mut failed) = (Vec::new(), 0, 0);
    for (name, job) in jobs {
        match compare(gl, &name, &job, arithmetic, language) {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => refused += 1,
            Err(error) => {
                failed += 1;
                writeln!(out, "{name}: {error:#}")?;
            }
        }
    }
    ensure!(!rows.is_empty(), "no program has a shader");
    let (mut identical, mut within, mut fetching, mut wrong) = (0, 0, 0, failed);
    for row in &rows {
        let Compared { name, channels, .. } = row;
        let all_identical = row.identical == *channels;
        let all_within = row.within == *channels;
        identical += usize::from(all_identical);
        within += usize::from(all_within);
        // What an exact shader names is that the host does not define its quads.
        let bad = row.amplifiers == 0
            && match arithmetic {
                Arithmetic::Exact => !all_identical,
                Arithmetic::Fast => !all_within,
            };
        wrong += usize::from(bad);
        fetching += usize::from(row.fetches);
        if !all_identical && arithmetic == Arithmetic::Exact || !all_within {
            writeln!(
                out,
                "{name}: {} of {channels} channels identical, {} within tolerance, {} amplifiers",
                row.identical, row.within, row.amplifiers
            )?;
            if let Some(folder) = dump {
                std::fs::write(folder.join(format!("{name}.frag")), &row.text)?;
            }
            if let Some((pixel, channel, ours, theirs)) = row.first {
                writeln!(
                    out,
                    "    pixel {pixel}, channel {channel}: {ours:08x} by the reference engine, {theirs:08x}"
                )?;
            }
        }
    }
    writeln!(
        out,
        "{} programs, {fetching} with fetches: {identical} identical, {within} within tolerance; {wrong} wrong; {refused} have no such shader, {failed} failed",
        rows.len()
    )?;
    let mut times: Vec<Duration> = rows.iter().map(|row| row.writing).collect();
    times.sort_unstable();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    writeln!(out, "a shader is written in {median:.2?} (median), {worst:.2?} (worst)")?;
    let mut costs: Vec<f64> = rows.iter().filter_map(|row| row.cost).collect();
    costs.sort_by(f64::total_cmp);
    if let [least, .., most] = costs[..] {
        let median = costs[costs.len() / 2];
        writeln!(
            out,
            "exact shaders take {median:.2} of the time of fast ones (median; {least:.2} to {most:.2})"
        )?;
    }
    Ok(wrong == 0)
}

/// Draws a program by both; `None` if it has no shader of this kind.
fn compare(
    gl: &glow::Context,
    name: &str,
    job: &Job,
    arithmetic: Arithmetic,
    language: Language,
) -> Result<Option<Compared>> {
    // A picture without planes has a value for each pixel, which the shader then takes from a texture.
    let inputs = job.inputs_or_default();
    let has_values = inputs.iter().any(|input| matches!(input.data, InputData::Values { .. }));
    let from = if has_values { Inputs::Varyings } else { Inputs::Planes };
    let options = Options { arithmetic, inputs: from, ..Options::new(language) };
    let start = Instant::now();
    let Ok(emitted) = emit(job, &options) else { return Ok(None) };
    let writing = start.elapsed();
    let fast = match arithmetic {
        Arithmetic::Exact if language == Language::Glsl450 => {
            emit(job, &Options { arithmetic: Arithmetic::Fast, ..options }).ok()
        }
        _ => None,
    };
    // A sampler without a texture.
    let bound = |texture: &ShaderTexture| {
        job.textures.get(usize::from(texture.unit)).is_some_and(Option::is_some)
    };
    if !emitted.interface.textures.iter().all(bound) {
        return Ok(None);
    }
    // The varyings of a translated shader have other names.
    if has_values && language != Language::Glsl450 {
        return Ok(None);
    }
    let text = match (&emitted.code, language) {
        (Code::Text(text), Language::Glsl450) => text.clone(),
        (code, _) => translated(code)?,
    };
    let (text, values) = with_values(&text, &emitted.interface, &inputs)?;
    let size = job.size.unwrap_or([64, 64]);
    let uniforms = emitted.interface.uniform_values(job, size)?;

    let shader = Shader::new(&job.program)?;
    let bindings = Bindings::new(job, size)?;
    let frame = draw(&Reference, &shader, &bindings, &DrawOptions::default())?;
    let amplifiers = emitted.interface.amplifiers.len();
    let mut compared = Compared {
        name: name.into(),
        channels: 0,
        identical: 0,
        within: 0,
        amplifiers,
        fetches: !emitted.interface.textures.is_empty(),
        writing,
        cost: None,
        text: text.clone(),
        first: None,
    };
    for target in &emitted.interface.colors {
        let target = usize::from(*target);
        let textures = &emitted.interface.textures;
        let (text, uniforms, values) = (&text, &uniforms, &values);
        let scene = Scene { job, textures, text, uniforms, values, size, target };
        // SAFETY: the context is current, and OpenGL checks its arguments; slices have the lengths that sizes and
        // formats require.
        let theirs = unsafe { picture(gl, &scene) }?;
        compared.count(&frame, job.coverage.as_deref(), target, &theirs.floats)?;
        if let Some(fast) = &fast
            && let Code::Text(text) = &fast.code
            && compared.cost.is_none()
        {
            let (text, values) = with_values(text, &fast.interface, &inputs)?;
            let uniforms = fast.interface.uniform_values(job, size)?;
            let textures = &fast.interface.textures;
            let (text, uniforms, values) = (&text, &uniforms, &values);
            let scene = Scene { job, textures, text, uniforms, values, size, target };
            // SAFETY: as above.
            let fast = unsafe { picture(gl, &scene) }?;
            compared.cost = Some(theirs.seconds / fast.seconds);
        }
    }
    Ok(Some(compared))
}

/// Translates WGSL or SPIR-V to GLSL, with the bindings that GLSL has: a sampler is bound with its texture.
pub(crate) fn translated(code: &Code) -> Result<String> {
    let module = match code {
        Code::Text(text) => naga::front::wgsl::parse_str(text)?,
        Code::Words(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            naga::front::spv::parse_u8_slice(&bytes, &naga::front::spv::Options::default())?
        }
    };
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::all(),
    );
    let info = validator.validate(&module)?;
    let mut options =
        glsl::Options { version: glsl::Version::Desktop(450), ..glsl::Options::default() };
    options.writer_flags = glsl::WriterFlags::empty();
    let place = |binding| naga::ResourceBinding { group: 0, binding };
    options.binding_map.insert(place(0), 0);
    for unit in 0..16_u8 {
        options.binding_map.insert(place(1 + 2 * u32::from(unit)), 1 + unit);
    }
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Fragment,
        entry_point: "main".into(),
        multiview: None,
    };
    let mut text = String::new();
    let policies = naga::proc::BoundsCheckPolicies::default();
    glsl::Writer::new(&mut text, &module, &info, &options, &pipeline, policies)?.write()?;
    Ok(text)
}

/// The values of an input, by pixel.
struct Values {
    location: u32,
    size: [u32; 2],
    texels: Vec<[f32; 4]>,
}

/// The first binding of values: no program has more units.
const VALUES: u32 = 17;

/// Returns a shader that takes its varyings from textures, and their texels.
fn with_values(
    text: &str,
    interface: &Interface,
    inputs: &[Input],
) -> Result<(String, Vec<Values>)> {
    let (mut text, mut all) = (text.to_owned(), Vec::new());
    for input in &interface.inputs {
        let ShaderInput { name, location, temp } = input;
        let own = inputs.iter().find(|input| input.temp == *temp).context("an input of the job")?;
        let InputData::Values { width, values } = &own.data else {
            bail!("planes and values in one picture")
        };
        let declared = format!("layout(location = {location}) in vec4 {name};");
        ensure!(text.contains(&declared), "{declared} is not in the shader");
        let size = [*width, u32::try_from(values.len())?.checked_div(*width).unwrap_or(0)];
        let fetched = format!(
            "layout(binding = {}) uniform sampler2D values{location};\n\
             #define {name} texelFetch(values{location}, min(ivec2(gl_FragCoord.xy), ivec2({}, {})), 0)",
            VALUES + location,
            size[0].saturating_sub(1),
            size[1].saturating_sub(1),
        );
        text = text.replace(&declared, &fetched);
        all.push(Values { location: *location, size, texels: values.clone() });
    }
    Ok((text, all))
}

impl Compared {
    /// Compares a target, in the pixels that the job covers.
    fn count(
        &mut self,
        frame: &Frame,
        covered: Option<&[bool]>,
        target: usize,
        theirs: &[[f32; 4]],
    ) -> Result<()> {
        let ours = frame.target(target).context("the target is written")?;
        ensure!(ours.len() == theirs.len(), "pictures of one size");
        let pixels = ours.iter().zip(theirs).zip(frame.coverage()).enumerate();
        for (pixel, ((ours, theirs), stays)) in pixels {
            if covered.is_some_and(|covered| covered.get(pixel) == Some(&false)) {
                continue;
            }
            let expected = if *stays { *ours } else { [UNTOUCHED; 4] };
            for (channel, (a, b)) in expected.iter().zip(theirs).enumerate() {
                self.channels += 1;
                let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                self.identical += usize::from(same);
                if !same && self.first.is_none() {
                    self.first = Some((pixel, channel, a.to_bits(), b.to_bits()));
                }
                let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round();
                let close = if *stays { (byte(*a) - byte(*b)).abs() <= TOLERANCE } else { a == b };
                self.within += usize::from(close || a.is_nan() && b.is_nan());
            }
        }
        Ok(())
    }
}

/// What is drawn.
struct Scene<'a> {
    job: &'a Job,
    textures: &'a [ShaderTexture],
    text: &'a str,
    uniforms: &'a [[f32; 4]],
    values: &'a [Values],
    size: [u32; 2],
    target: usize,
}

/// What a shader drew.
struct Drawn {
    /// A target's floats.
    floats: Vec<[f32; 4]>,
    /// The shortest time of a picture of [`TIMED`] pixels.
    seconds: f64,
}

/// Width and height of pictures that are timed.
const TIMED: i32 = 256;
/// How many pictures are timed.
const PICTURES: usize = 5;

/// Draws with a shader.
///
/// # Safety
/// The context must be current.
unsafe fn picture(gl: &glow::Context, scene: &Scene<'_>) -> Result<Drawn> {
    let Scene { job, textures: units, text, uniforms, values, size: [width, height], target } =
        *scene;
    let (w, h) = (width as i32, height as i32);
    let bytes: Vec<u8> = uniforms.iter().flatten().flat_map(|x| x.to_ne_bytes()).collect();
    let mut pixels = vec![0; width as usize * height as usize * 16];
    let mut seconds = f64::INFINITY;
    // SAFETY: the contract of this function.
    unsafe {
        let program = link(gl, VERTICES, text)?;
        gl.use_program(Some(program));
        let array = gl.create_vertex_array().map_err(anyhow::Error::msg)?;
        gl.bind_vertex_array(Some(array));
        let buffer = gl.create_buffer().map_err(anyhow::Error::msg)?;
        gl.bind_buffer(glow::UNIFORM_BUFFER, Some(buffer));
        gl.buffer_data_u8_slice(glow::UNIFORM_BUFFER, &bytes, glow::STATIC_DRAW);
        gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(buffer));
        let mut textures = Vec::new();
        for ShaderTexture { unit, dimensions, texels: exact, .. } in units {
            // The shader's binding of a texture is its unit after that of the uniforms.
            let binding = u32::from(*unit) + 1;
            if exact.is_some() {
                textures.push(loaded(gl, binding, *dimensions, &texels(job, *unit)?)?);
                continue;
            }
            let unit = usize::from(*unit);
            let texture = job.textures[unit].as_ref().context("checked before")?;
            let upload = Upload::of(texture, job.program.state.format[unit])?;
            textures.push(texture_of(gl, binding, &upload, Storage::Floats)?);
        }
        for Values { location, size: [w, h], texels } in values {
            let bytes: Vec<u8> = texels.iter().flatten().flat_map(|x| x.to_ne_bytes()).collect();
            let texture = gl.create_texture().map_err(anyhow::Error::msg)?;
            textures.push(texture);
            gl.active_texture(glow::TEXTURE0 + VALUES + location);
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            let (w, h, format) = (*w as i32, *h as i32, glow::RGBA32F as i32);
            let data = PixelUnpackData::Slice(Some(&bytes));
            gl.tex_image_2d(glow::TEXTURE_2D, 0, format, w, h, 0, glow::RGBA, glow::FLOAT, data);
            for filter in [glow::TEXTURE_MIN_FILTER, glow::TEXTURE_MAG_FILTER] {
                gl.tex_parameter_i32(glow::TEXTURE_2D, filter, glow::NEAREST as i32);
            }
        }
        let store = gl.create_renderbuffer().map_err(anyhow::Error::msg)?;
        let frame = gl.create_framebuffer().map_err(anyhow::Error::msg)?;
        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(store));
        gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA32F, w, h);
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
        let attachment = glow::COLOR_ATTACHMENT0 + target as u32;
        gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, attachment, glow::RENDERBUFFER, Some(store));
        let buffers: Vec<u32> =
            (0..=target).map(|n| if n == target { attachment } else { glow::NONE }).collect();
        gl.draw_buffers(&buffers);
        gl.read_buffer(attachment);
        ensure!(
            gl.check_framebuffer_status(glow::FRAMEBUFFER) == glow::FRAMEBUFFER_COMPLETE,
            "no render target of floats"
        );
        gl.viewport(0, 0, w, h);
        gl.clear_buffer_f32_slice(glow::COLOR, target as u32, &[UNTOUCHED; 4]);
        gl.draw_arrays(glow::TRIANGLES, 0, 3);
        let pack = PixelPackData::Slice(Some(pixels.as_mut_slice()));
        gl.read_pixels(0, 0, w, h, glow::RGBA, glow::FLOAT, pack);
        gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA32F, TIMED, TIMED);
        gl.viewport(0, 0, TIMED, TIMED);
        for _ in 0..PICTURES {
            let start = Instant::now();
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.finish();
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        gl.delete_framebuffer(frame);
        gl.delete_renderbuffer(store);
        textures.iter().for_each(|texture| gl.delete_texture(*texture));
        gl.delete_buffer(buffer);
        gl.delete_vertex_array(array);
        gl.use_program(None);
        gl.delete_program(program);
        ensure!(gl.get_error() == glow::NO_ERROR, "an OpenGL error");
    }
    let floats = pixels.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
    let floats: Vec<f32> = floats.collect();
    Ok(Drawn { floats: floats.as_chunks::<4>().0.to_vec(), seconds })
}

/// Uploads the texels that an exact shader loads.
///
/// # Safety
/// The context must be current.
pub(crate) unsafe fn loaded(
    gl: &glow::Context,
    binding: u32,
    dimensions: Dimensions,
    levels: &[TextureLevel],
) -> Result<glow::Texture> {
    let target = match dimensions {
        Dimensions::Three => glow::TEXTURE_3D,
        Dimensions::Faces => glow::TEXTURE_2D_ARRAY,
        Dimensions::Two => glow::TEXTURE_2D,
        Dimensions::Cube => bail!("no texels are loaded from a cube"),
    };
    // SAFETY: the contract of this function; slices have the lengths that sizes and formats require.
    unsafe {
        let texture = gl.create_texture().map_err(anyhow::Error::msg)?;
        gl.active_texture(glow::TEXTURE0 + binding);
        gl.bind_texture(target, Some(texture));
        for (level, TextureLevel { size, texels }) in levels.iter().enumerate() {
            let bytes: Vec<u8> = texels.iter().flatten().flat_map(|x| x.to_ne_bytes()).collect();
            let ([w, h, d], level) = (size.map(|n| n as i32), level as i32);
            let (format, rgba, kind) = (glow::RGBA32F as i32, glow::RGBA, glow::FLOAT);
            let data = PixelUnpackData::Slice(Some(&bytes));
            match target {
                glow::TEXTURE_2D => {
                    gl.tex_image_2d(target, level, format, w, h, 0, rgba, kind, data);
                }
                _ => gl.tex_image_3d(target, level, format, w, h, d, 0, rgba, kind, data),
            }
        }
        let filters = [
            (glow::TEXTURE_MIN_FILTER, glow::NEAREST_MIPMAP_NEAREST),
            (glow::TEXTURE_MAG_FILTER, glow::NEAREST),
            (glow::TEXTURE_MAX_LEVEL, levels.len() as u32 - 1),
        ];
        for (parameter, value) in filters {
            gl.tex_parameter_i32(target, parameter, value as i32);
        }
        Ok(texture)
    }
}
