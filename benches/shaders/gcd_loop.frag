// Euclid's algorithm: how many steps, and whether the cell is coprime
//@ uniform1f cells 24
precision highp float;
uniform float cells;
varying vec2 uv;
void main() {
    vec2 c = floor(uv * cells + 0.001) + 1.0;
    float a = c.x, b = c.y, steps = 0.0;
    for (int i = 0; i < 50; i++) {
        if (b < 0.5) break;
        float r = a - b * floor((a + 0.5) / b);
        a = b;
        b = r;
        steps += 1.0;
    }
    vec3 col = a < 1.5 ? vec3(0.95, 0.85, 0.3) : vec3(0.1, 0.2, 0.4) + 0.05 * a;
    gl_FragColor = vec4(col * (1.0 - steps * 0.08), 1.0);
}
