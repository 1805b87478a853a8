// height lines of a function, every fifth heavier, with hill shading by dFdx and dFdy
#extension GL_OES_standard_derivatives : enable
//@ uniform1f spacing 9
precision highp float;
uniform float spacing;
varying vec2 uv;
void main() {
    float h = 0.6 * sin(uv.x * 9.0) + 0.5 * cos(uv.y * 7.0) + 0.3 * uv.x * uv.x;
    float v = h * spacing;
    float line = abs(fract(v + 0.5) - 0.5) / fwidth(v);
    float major = abs(fract(v * 0.2 + 0.5) - 0.5) / fwidth(v * 0.2);
    vec3 n = normalize(vec3(-dFdx(h) * 20.0, -dFdy(h) * 20.0, 1.0));
    vec3 col = mix(vec3(0.4, 0.6, 0.3), vec3(0.9, 0.85, 0.7), h * 0.4 + 0.5);
    col *= 0.6 + 0.4 * dot(n, vec3(0.57, 0.57, 0.59));
    col *= mix(0.5, 1.0, min(line, 1.0)) * mix(0.4, 1.0, min(major * 0.5, 1.0));
    gl_FragColor = vec4(col, 1.0);
}
