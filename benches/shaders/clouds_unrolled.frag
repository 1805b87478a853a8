// value noise with three octaves and a light towards the sun: no texture, no loop left
//@ uniform2f drift 0.4 0.15
precision highp float;
uniform vec2 drift;
varying vec2 uv;
float hash(vec2 p) { p = fract(p * vec2(0.1531, 0.2173)); return fract((p.x + p.y) * (p.x + 3.17) * 2.3 + p.y * 5.1); }
float noise(vec2 x) {
    vec2 i = floor(x), f = fract(x);
    f *= f * (3.0 - 2.0 * f);
    float a = hash(i), b = hash(i + vec2(1.0, 0.0)), c = hash(i + vec2(0.0, 1.0)), d = hash(i + vec2(1.0, 1.0));
    return a + (b - a) * f.x + (c - a) * f.y + (a - b - c + d) * f.x * f.y;
}
float density(vec2 p) {
    float s = 0.0, a = 0.55;
    for (int i = 0; i < 3; i++) { s += a * noise(p); p = p * 2.03 + vec2(1.7, 9.2); a *= 0.5; }
    return smoothstep(0.35, 0.8, s);
}
void main() {
    vec2 p = uv * vec2(4.0, 5.0) + drift + 0.03;
    float d = density(p);
    float lit = clamp(d - noise(p * 2.0 + vec2(0.25, 0.35)) * 0.6 + 0.5, 0.0, 1.0);
    vec3 sky = mix(vec3(0.75, 0.85, 0.95), vec3(0.2, 0.45, 0.8), uv.y);
    gl_FragColor = vec4(mix(sky, mix(vec3(0.55, 0.58, 0.65), vec3(1.0, 0.98, 0.95), lit), d), d);
}
