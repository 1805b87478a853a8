// cube root by Newton's method until it does not change
//@ uniform1f eps 0.0005
precision highp float;
uniform float eps;
varying vec2 uv;
float cbrt(float a) {
    float x = 1.0 + a * 0.3;
    for (int i = 0; i < 40; i++) {
        float next = (2.0 * x + a / (x * x)) / 3.0;
        float d = abs(next - x);
        x = next;
        if (d < eps) break;
    }
    return x;
}
void main() {
    float a = cbrt(uv.x * 8.0), b = cbrt(uv.y * 2.0 + uv.x);
    gl_FragColor = vec4(a * 0.5, b * 0.6, abs(a - b), 1.0);
}
