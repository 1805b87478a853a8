// Plasma: four sine waves and a palette of cosines, as ShaderToy has it.
//@ uniform1f waves 3.0
//@ uniform3f tint 0.0 0.33 0.67
uniform float waves;
uniform vec3 tint;

void mainImage(out vec4 color, in vec2 place) {
    vec2 p = (2.0 * place - iResolution.xy) / iResolution.y;
    float v = sin(p.x * waves + iTime);
    v += sin(p.y * waves * 1.3 - iTime * 0.7);
    v += sin((p.x + p.y) * waves * 0.8 + iTime * 1.1);
    v += sin(length(p) * waves * 2.0 - iTime * 2.0);
    vec3 rgb = 0.5 + 0.5 * cos(6.2832 * (v * 0.2 + tint));
    color = vec4(rgb, 1.0);
}

// Level: easy
