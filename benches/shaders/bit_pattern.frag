// exclusive or of the coordinates, bit by bit with mod and floor
//@ uniform1f bits 6
precision highp float;
uniform float bits;
varying vec2 uv;
void main() {
    vec2 c = floor(uv * 64.0 + 0.001);
    float x = 0.0, a = 0.0, w = 1.0;
    for (float i = 0.0; i < 40.0; i += 1.0) {
        if (i >= bits) break;
        vec2 bit = mod(c, 2.0);
        c = floor(c * 0.5);
        x += abs(bit.x - bit.y) * w;
        a += bit.x * bit.y * w;
        w *= 2.0;
    }
    gl_FragColor = vec4(x / 63.0, a / 63.0, mod(x, 8.0) / 7.0, 1.0);
}
