//! Drawing of a capture's GLSL source by llvmpipe: a triangle over the whole picture, into a render
//! target with 8 bits per channel.
#![allow(unsafe_code)]

use anyhow::{Context as _, Result, bail, ensure};
use glow::{HasContext, PixelPackData, PixelUnpackData};
use r500::picture::Picture;

use crate::capture::{Capture, Uniform, Varying, varyings};
use crate::egl::Mesa;
use crate::texture::{Image, Upload};

/// An OpenGL program with its vertices, textures and render target.
///
/// There may be only one at a time: its context is current until it is dropped.
pub(crate) struct Llvmpipe<'a> {
    gl: &'a glow::Context,
    program: glow::Program,
    vertices: glow::Buffer,
    textures: Vec<glow::Texture>,
    target: Option<Target>,
}

struct Target {
    size: [u32; 2],
    buffer: glow::Renderbuffer,
    frame: glow::Framebuffer,
}

/// Clip coordinates of a triangle that covers the picture.
const TRIANGLE: [[f32; 4]; 3] =
    [[-1.0, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]];

/// How texels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// 8 bits per channel if they represent the texels' values exactly, floats otherwise.
    Smallest,
    /// Floats. llvmpipe filters 8-bit texels with 8-bit arithmetic, so a fetch whose coordinates
    /// were themselves fetched may read another texel.
    Floats,
}

impl<'a> Llvmpipe<'a> {
    /// Compiles and uploads.
    ///
    /// # Errors
    /// The error message of OpenGL.
    pub(crate) fn new(mesa: &'a Mesa, capture: &Capture, storage: Storage) -> Result<Self> {
        let gl = mesa.current(capture.is_desktop())?;
        let varyings = varyings(&capture.source)?;
        // SAFETY: here and below, the context is current, and OpenGL checks its arguments; slices
        // have the lengths that sizes and formats require.
        unsafe {
            let program = link(gl, &vertex_shader(&varyings), &capture.source)?;
            let vertices = gl.create_buffer().map_err(anyhow::Error::msg)?;
            let mut made = Self { gl, program, vertices, textures: Vec::new(), target: None };
            gl.use_program(Some(program));
            made.bind_vertices(capture, &varyings)?;
            for uniform in &capture.uniforms {
                made.set(uniform)?;
            }
            for (name, unit) in &capture.samplers {
                let texture = capture.job.textures.get(*unit).and_then(Option::as_ref);
                let texture = texture.with_context(|| format!("unit {unit} has no texture"))?;
                let us_format = capture.job.program.state.format[*unit];
                Upload::of(texture, us_format)
                    .and_then(|upload| {
                        made.textures.push(texture_of(gl, *unit as u32, &upload, storage)?);
                        made.no_error()
                    })
                    .with_context(|| format!("texture {name}"))?;
                let location = gl.get_uniform_location(program, &plain(name)?);
                gl.uniform_1_i32(location.as_ref(), *unit as i32);
            }
            gl.disable(glow::DITHER);
            made.no_error()?;
            Ok(made)
        }
    }

    /// Resizes the picture and clears it to 0.
    ///
    /// # Errors
    /// If there is no such render target.
    pub(crate) fn resize(&mut self, [width, height]: [u32; 2]) -> Result<()> {
        self.drop_target();
        let gl = self.gl;
        // SAFETY: as in `new`.
        unsafe {
            let buffer = gl.create_renderbuffer().map_err(anyhow::Error::msg)?;
            let frame = gl.create_framebuffer().map_err(anyhow::Error::msg)?;
            self.target = Some(Target { size: [width, height], buffer, frame });
            gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
            let (w, h) = (width as i32, height as i32);
            gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, w, h);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            gl.framebuffer_renderbuffer(
                glow::FRAMEBUFFER,
                glow::COLOR_ATTACHMENT0,
                glow::RENDERBUFFER,
                Some(buffer),
            );
            let status = gl.check_framebuffer_status(glow::FRAMEBUFFER);
            ensure!(status == glow::FRAMEBUFFER_COMPLETE, "no render target of {width}x{height}");
            gl.viewport(0, 0, w, h);
            gl.clear_color(0.0, 0.0, 0.0, 0.0);
            gl.clear(glow::COLOR_BUFFER_BIT);
            gl.finish();
        }
        self.no_error()
    }

    /// Draws a frame and waits for it. Without the wait, a frame that covers the previous one
    /// replaces it, and only the last one is drawn.
    pub(crate) fn draw(&mut self) {
        // SAFETY: as in `new`.
        unsafe {
            self.gl.draw_arrays(glow::TRIANGLES, 0, 3);
            self.gl.finish();
        }
    }

    /// Returns the picture.
    ///
    /// # Errors
    /// If nothing can be read.
    pub(crate) fn picture(&self) -> Result<Picture> {
        let [width, height] = self.target.as_ref().map_or([0, 0], |target| target.size);
        let row = width as usize * 4;
        let mut bytes = vec![0; row * height as usize];
        // SAFETY: as in `new`.
        unsafe {
            let (w, h) = (width as i32, height as i32);
            let pixels = PixelPackData::Slice(Some(bytes.as_mut_slice()));
            self.gl.read_pixels(0, 0, w, h, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
        }
        self.no_error()?;
        // Rows start at the bottom, those of a picture at the top.
        let rows = bytes.chunks_exact(row.max(4)).rev();
        let pixels = rows.flat_map(|row| row.as_chunks::<4>().0.iter().copied()).collect();
        Ok(Picture { width, height, pixels })
    }

    fn no_error(&self) -> Result<()> {
        // SAFETY: as in `new`.
        match unsafe { self.gl.get_error() } {
            glow::NO_ERROR => Ok(()),
            code => bail!("OpenGL error {code:#06x}"),
        }
    }

    /// Uploads the vertices: for each the position, then the varyings with four components.
    unsafe fn bind_vertices(&mut self, capture: &Capture, varyings: &[Varying]) -> Result<()> {
        let gl = self.gl;
        let mut attributes = vec![("r500_position".to_owned(), TRIANGLE)];
        for varying in varyings {
            attributes.push((attribute(&varying.name), capture.at_vertices(varying)));
        }
        let bytes: Vec<u8> = (0..3)
            .flat_map(|vertex| attributes.iter().flat_map(move |(_, values)| values[vertex]))
            .flat_map(f32::to_ne_bytes)
            .collect();
        let stride = attributes.len() as i32 * 16;
        // SAFETY: as in `new`.
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.vertices));
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, &bytes, glow::STATIC_DRAW);
            let most = gl.get_parameter_i32(glow::MAX_VERTEX_ATTRIBS) as u32;
            (0..most).for_each(|index| gl.disable_vertex_attrib_array(index));
            for (i, (name, _)) in attributes.iter().enumerate() {
                // An unused varying has no location.
                if let Some(index) = gl.get_attrib_location(self.program, name) {
                    let offset = i as i32 * 16;
                    gl.vertex_attrib_pointer_f32(index, 4, glow::FLOAT, false, stride, offset);
                    gl.enable_vertex_attrib_array(index);
                }
            }
        }
        self.no_error()
    }

    unsafe fn set(&self, uniform: &Uniform) -> Result<()> {
        let Uniform { name, kind, value } = uniform;
        // SAFETY: as in `new`.
        unsafe {
            let gl = self.gl;
            let at = gl.get_uniform_location(self.program, &plain(name)?);
            let at = at.as_ref();
            match (kind.as_str(), value[..].as_ref()) {
                ("1f", &[x]) => gl.uniform_1_f32(at, x),
                ("2f", &[x, y]) => gl.uniform_2_f32(at, x, y),
                ("3f", &[x, y, z]) => gl.uniform_3_f32(at, x, y, z),
                ("4f", &[x, y, z, w]) => gl.uniform_4_f32(at, x, y, z, w),
                ("1i", &[x]) => gl.uniform_1_i32(at, x as i32),
                ("2i", &[x, y]) => gl.uniform_2_i32(at, x as i32, y as i32),
                ("3i", &[x, y, z]) => gl.uniform_3_i32(at, x as i32, y as i32, z as i32),
                ("4i", &[x, y, z, w]) => {
                    gl.uniform_4_i32(at, x as i32, y as i32, z as i32, w as i32);
                }
                _ => bail!("uniform {name}: type `{kind}` with {} values", value.len()),
            }
        }
        self.no_error().with_context(|| format!("uniform {name}"))
    }

    fn drop_target(&mut self) {
        if let Some(Target { buffer, frame, .. }) = self.target.take() {
            // SAFETY: as in `new`.
            unsafe {
                self.gl.delete_framebuffer(frame);
                self.gl.delete_renderbuffer(buffer);
            }
        }
    }
}

impl Drop for Llvmpipe<'_> {
    fn drop(&mut self) {
        self.drop_target();
        // SAFETY: as in `new`.
        unsafe {
            self.textures.iter().for_each(|&texture| self.gl.delete_texture(texture));
            self.gl.delete_buffer(self.vertices);
            self.gl.use_program(None);
            self.gl.delete_program(self.program);
        }
    }
}

/// Returns the vertex shader that passes position and varyings through.
fn vertex_shader(varyings: &[Varying]) -> String {
    let mut declared = "attribute vec4 r500_position;\n".to_owned();
    let mut passed = "gl_Position = r500_position;".to_owned();
    for Varying { name, components } in varyings {
        let (kind, part) = match components {
            1 => ("float", ".x"),
            2 => ("vec2", ".xy"),
            3 => ("vec3", ".xyz"),
            _ => ("vec4", ""),
        };
        let from = attribute(name);
        declared.push_str(&format!("attribute vec4 {from};\nvarying {kind} {name};\n"));
        passed.push_str(&format!(" {name} = {from}{part};"));
    }
    format!("{declared}void main() {{ {passed} }}\n")
}

fn attribute(varying: &str) -> String {
    format!("r500_{varying}_at_vertex")
}

/// Returns a name without the zero byte that C's strings cannot hold.
fn plain(name: &str) -> Result<String> {
    ensure!(!name.contains('\0'), "a name with a zero byte");
    Ok(name.to_owned())
}

/// Binds a new texture to a unit.
///
/// # Safety
/// The context must be current.
pub(crate) unsafe fn texture_of(
    gl: &glow::Context,
    unit: u32,
    upload: &Upload,
    storage: Storage,
) -> Result<glow::Texture> {
    let Upload { target, images, parameters, border } = upload;
    let bytes = storage == Storage::Smallest && upload.fits_bytes();
    let (format, kind) = match bytes {
        true => (glow::RGBA8, glow::UNSIGNED_BYTE),
        false => (glow::RGBA32F, glow::FLOAT),
    };
    let (format, rgba) = (format as i32, glow::RGBA);
    // SAFETY: the contract of this function; slices have the lengths that sizes and formats require.
    unsafe {
        let name = gl.create_texture().map_err(anyhow::Error::msg)?;
        gl.active_texture(glow::TEXTURE0 + unit);
        gl.bind_texture(*target, Some(name));
        for image in images {
            let Image { target, level, size: [w, h, d], .. } = *image;
            let data = if bytes { image.bytes() } else { image.floats() };
            let data = PixelUnpackData::Slice(Some(&data));
            match target {
                glow::TEXTURE_3D => {
                    gl.tex_image_3d(target, level, format, w, h, d, 0, rgba, kind, data);
                }
                _ => gl.tex_image_2d(target, level, format, w, h, 0, rgba, kind, data),
            }
        }
        for &(parameter, value) in parameters {
            gl.tex_parameter_i32(*target, parameter, value as i32);
        }
        gl.tex_parameter_f32_slice(*target, glow::TEXTURE_BORDER_COLOR, border);
        Ok(name)
    }
}

/// Compiles and links a program.
///
/// # Safety
/// The context must be current.
pub(crate) unsafe fn link(
    gl: &glow::Context,
    vertex: &str,
    fragment: &str,
) -> Result<glow::Program> {
    // SAFETY: the contract of this function.
    unsafe {
        let program = gl.create_program().map_err(anyhow::Error::msg)?;
        for (kind, source) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind).map_err(anyhow::Error::msg)?;
            gl.shader_source(shader, source);
            gl.compile_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                bail!("{}", gl.get_shader_info_log(shader).trim());
            }
            gl.attach_shader(program, shader);
            // The shader is deleted together with the program.
            gl.delete_shader(shader);
        }
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            bail!("{}", gl.get_program_info_log(program).trim());
        }
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varyings_pass_through() {
        let varyings = [("uv", 2), ("f", 1)];
        let varyings = varyings.map(|(name, components)| Varying { name: name.into(), components });
        let shader = vertex_shader(&varyings);
        assert!(shader.contains("varying vec2 uv;\n") && shader.contains("varying float f;\n"));
        assert!(shader.contains(" uv = r500_uv_at_vertex.xy; f = r500_f_at_vertex.x; "));
    }
}
