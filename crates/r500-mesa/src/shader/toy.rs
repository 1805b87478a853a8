//! ShaderToy's `mainImage`: a `main` around it, and its inputs as the built-in uniforms of r500.
//!
//! | ShaderToy | here |
//! | --- | --- |
//! | `iTime`, `iGlobalTime` | `time` |
//! | `iResolution` | width and height of `resolution`, and 1 |
//! | `iMouse` | `mouse` in pixels; z and w are its place while a button is pressed, else negative |
//! | `iFrame` | `frame` |
//! | `iChannel0` to `iChannel3` | samplers of these names |
//! | `fragCoord` | the place in the picture: texture coordinates times `resolution` |
//!
//! Others (`iDate`, `iTimeDelta`, `iChannelTime`, `iChannelResolution`, `iSampleRate`) have no source here; a shader with them does not
//! compile, which the driver says.

use super::interface;

/// Prefix of the names that [`with_main`] declares; a shader has none of them.
pub(crate) const PREFIX: &str = "r500_";

/// Returns whether a text defines `mainImage` and no `main`.
pub(super) fn is_toy(text: &str) -> bool {
    let clean = interface::without_comments(text);
    interface::defines(&clean, "mainImage") && !interface::defines(&clean, "main")
}

/// Returns a complete fragment shader for OpenGL ES 2. Lines keep their numbers.
pub(super) fn with_main(text: &str) -> String {
    let clean = interface::without_comments(text);
    let mut head = String::from(
        "precision highp float; precision highp int;\n\
         varying vec2 r500_uv;\n\
         uniform float r500_time, r500_frame; uniform vec4 r500_resolution, r500_mouse;\n",
    );
    if ["dFdx", "dFdy", "fwidth"].iter().any(|name| interface::mentions(&clean, name)) {
        head.insert_str(0, "#extension GL_OES_standard_derivatives : enable\n");
    }
    for channel in ["iChannel0", "iChannel1", "iChannel2", "iChannel3"] {
        if interface::mentions(&clean, channel) {
            head += &format!("uniform sampler2D {channel};\n");
        }
    }
    head += "#define iTime r500_time\n#define iGlobalTime r500_time\n#define iFrame int(r500_frame)\n\
             #define iResolution vec3(r500_resolution.xy, 1.0)\n\
             #define iMouse vec4(r500_mouse.xy * r500_resolution.xy, \
             (r500_mouse.z > 0.0 ? 1.0 : -1.0) * r500_mouse.xy * r500_resolution.xy)\n\
             #define texture texture2D\n#line 1\n";
    let body = interface::without_version(text);
    format!(
        "{head}{body}\nvoid main() {{ vec4 r500_color = vec4(0.0, 0.0, 0.0, 1.0); mainImage(r500_color, r500_uv * r500_resolution.xy); \
         gl_FragColor = r500_color; }}\n"
    )
}
