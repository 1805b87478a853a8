// 3x3 sharpening with a uniform amount, nearest texels
//@ texture image noise 64 64 nearest nearest clamp clamp
//@ uniform1f amount 0.35
precision mediump float;
uniform sampler2D image; uniform float amount;
varying vec2 uv;
#define T(x, y) texture2D(image, uv + vec2(x, y) / 64.0)
void main() {
    vec4 sum = T(0.0, 0.0) * (1.0 + 8.0 * amount);
    sum -= (T(-1.0, -1.0) + T(0.0, -1.0) + T(1.0, -1.0)) * amount;
    sum -= (T(-1.0, 0.0) + T(1.0, 0.0)) * amount;
    sum -= (T(-1.0, 1.0) + T(0.0, 1.0) + T(1.0, 1.0)) * amount;
    gl_FragColor = clamp(sum * 0.25 + 0.4, 0.0, 1.0);
}
