//! Whether the device computes exact shaders exactly.

use anyhow::Result;
use r500::emit::{SelfTestFailure, self_test};

use crate::host::Host;
use crate::picture::Draw;

/// Returns the operations that the device computes in another way.
///
/// # Errors
/// If the device does not draw.
pub(crate) fn run(host: &Host) -> Result<Vec<SelfTestFailure>> {
    let test = self_test(host.language)?;
    let format = wgpu::TextureFormat::Rgba8Unorm;
    let compiled = host.compile(&test.shader.code, &test.shader.interface, format)?;
    let textures = [vec![test.texels.clone()]];
    let draw = Draw {
        size: test.size,
        format,
        clear: [0.0; 4],
        uniforms: &test.shader.uniforms,
        textures: &textures,
        samplers: &[],
    };
    let mut pixels = Vec::new();
    for (_, bytes) in draw.run(host, &compiled, &test.shader.interface)? {
        pixels.extend_from_slice(bytes.as_chunks::<4>().0);
    }
    Ok(test.compare(&pixels)?)
}
