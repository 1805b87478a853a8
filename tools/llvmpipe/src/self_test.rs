//! The self-test of exact shaders on llvmpipe.
#![allow(unsafe_code)]

use anyhow::{Result, ensure};
use glow::{HasContext, PixelPackData};
use r500::emit::{Code, Dimensions, Language, SelfTest, SelfTestFailure, self_test};

use crate::egl::Mesa;
use crate::emitted::{VERTICES, loaded, translated};
use crate::llvmpipe::link;

/// Returns the operations that llvmpipe computes in another way than exact shaders need.
///
/// # Errors
/// If nothing can be drawn.
pub(crate) fn run(mesa: &Mesa, language: Language) -> Result<Vec<SelfTestFailure>> {
    let gl = mesa.current(true)?;
    let test = self_test(language)?;
    let text = match (&test.shader.code, language) {
        (Code::Text(text), Language::Glsl450) => text.clone(),
        (code, _) => translated(code)?,
    };
    // SAFETY: the context is current, and OpenGL checks its arguments.
    let pixels = unsafe { draw(gl, &test, &text) }?;
    Ok(test.compare(&pixels)?)
}

/// Draws the self-test.
///
/// # Safety
/// The context must be current.
unsafe fn draw(gl: &glow::Context, test: &SelfTest, text: &str) -> Result<Vec<[u8; 4]>> {
    let [width, height] = test.size;
    let (w, h) = (width as i32, height as i32);
    let bytes: Vec<u8> =
        test.shader.uniforms.iter().flatten().flat_map(|x| x.to_ne_bytes()).collect();
    let mut pixels = vec![0; width as usize * height as usize * 4];
    // SAFETY: the contract of this function; slices have the lengths that sizes and formats require.
    unsafe {
        let program = link(gl, VERTICES, text)?;
        gl.use_program(Some(program));
        let array = gl.create_vertex_array().map_err(anyhow::Error::msg)?;
        gl.bind_vertex_array(Some(array));
        let buffer = gl.create_buffer().map_err(anyhow::Error::msg)?;
        gl.bind_buffer(glow::UNIFORM_BUFFER, Some(buffer));
        gl.buffer_data_u8_slice(glow::UNIFORM_BUFFER, &bytes, glow::STATIC_DRAW);
        gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(buffer));
        let texture = loaded(gl, 1, Dimensions::Two, std::slice::from_ref(&test.texels))?;
        let store = gl.create_renderbuffer().map_err(anyhow::Error::msg)?;
        let frame = gl.create_framebuffer().map_err(anyhow::Error::msg)?;
        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(store));
        gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, w, h);
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
        let attachment = glow::COLOR_ATTACHMENT0;
        gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, attachment, glow::RENDERBUFFER, Some(store));
        gl.draw_buffers(&[attachment]);
        gl.read_buffer(attachment);
        gl.disable(glow::DITHER);
        gl.viewport(0, 0, w, h);
        gl.draw_arrays(glow::TRIANGLES, 0, 3);
        let pack = PixelPackData::Slice(Some(pixels.as_mut_slice()));
        gl.read_pixels(0, 0, w, h, glow::RGBA, glow::UNSIGNED_BYTE, pack);
        gl.delete_framebuffer(frame);
        gl.delete_renderbuffer(store);
        gl.delete_texture(texture);
        gl.delete_buffer(buffer);
        gl.delete_vertex_array(array);
        gl.use_program(None);
        gl.delete_program(program);
        ensure!(gl.get_error() == glow::NO_ERROR, "an OpenGL error");
    }
    Ok(pixels.as_chunks::<4>().0.to_vec())
}
