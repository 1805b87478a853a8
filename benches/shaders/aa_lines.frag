// thin lines from line equations, rings and stripes, anti-aliased by derivatives
#extension GL_OES_standard_derivatives : enable
//@ uniform1f width 0.02
precision highp float;
uniform float width;
varying vec2 uv; varying vec4 pos;
float stroke(float d) {
    float w = fwidth(d) * 0.75;
    return 1.0 - smoothstep(width - w, width + w, abs(d));
}
float line(vec2 p, vec2 a, vec2 b) {
    vec2 n = normalize(vec2(a.y - b.y, b.x - a.x));
    return dot(p - a, n);
}
void main() {
    vec3 col = vec3(1.0);
    col = mix(col, vec3(0.8, 0.1, 0.1), stroke(line(uv, vec2(0.1, 0.15), vec2(0.85, 0.35))));
    col = mix(col, vec3(0.1, 0.5, 0.2), stroke(line(uv, vec2(0.2, 0.9), vec2(0.75, 0.05))));
    col = mix(col, vec3(0.1, 0.2, 0.8), stroke(line(uv, vec2(0.15, 0.6), vec2(0.9, 0.8))));
    float parabola = pos.x * pos.x * 1.5 - pos.y * pos.y * 0.8 - 0.3;
    col = mix(col, vec3(0.3), stroke(parabola));
    float stripes = uv.x * 7.0 + uv.y * 5.0, s = abs(fract(stripes) - 0.5), w = fwidth(stripes);
    col *= 0.85 + 0.15 * smoothstep(0.25 - w, 0.25 + w, s);
    gl_FragColor = vec4(col, 1.0);
}
