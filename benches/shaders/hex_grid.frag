// distance to the edges of hexagons, with the cell's colour
//@ uniform1f scale 5
precision highp float;
uniform float scale;
varying vec2 uv;
float hexDist(vec2 p) { p = abs(p); return max(dot(p, normalize(vec2(1.0, 1.73))), p.x); }
void main() {
    vec2 p = uv * scale + 0.013, r = vec2(1.0, 1.73), h = r * 0.5;
    vec2 a = mod(p, r) - h, b = mod(p - h, r) - h;
    vec2 g = dot(a, a) < dot(b, b) ? a : b;
    vec2 id = p - g;
    float edge = smoothstep(0.43, 0.48, hexDist(g));
    vec3 cell = 0.5 + 0.5 * sin(id.xyx * vec3(1.3, 0.9, 0.7));
    gl_FragColor = vec4(mix(cell, vec3(0.05), edge), 1.0);
}
