// ordered dithering of a gradient to four levels; the threshold is computed, not looked up
//@ uniform2f grid 64 4
precision highp float;
uniform vec2 grid;
varying vec2 uv; varying vec4 vc;
float bayer2(vec2 a) { a = floor(a); return fract(a.x / 2.0 + a.y * a.y * 0.75); }
#define bayer4(a) (bayer2(0.5 * (a)) * 0.25 + bayer2(a))
#define bayer8(a) (bayer4(0.5 * (a)) * 0.25 + bayer2(a))
void main() {
    vec2 cell = floor(uv * grid.x);
    float threshold = bayer8(cell) + 0.0078;
    vec3 c = vec3(cell.x / grid.x, cell.y / grid.x, fract(uv.x + uv.y));
    float levels = grid.y - 1.0;
    gl_FragColor = vec4(floor(c * levels + threshold) / levels, 1.0);
}
