// luminance gradient of eight neighbours
//@ texture image smooth 32 32 linear linear repeat repeat
//@ uniform2f texel 0.03125 0.03125
precision mediump float;
uniform sampler2D image; uniform vec2 texel;
varying vec2 uv;
float lum(vec2 o) { return dot(texture2D(image, uv + o * texel).rgb, vec3(0.299, 0.587, 0.114)); }
void main() {
    float tl = lum(vec2(-1.0, 1.0)), t = lum(vec2(0.0, 1.0)), tr = lum(vec2(1.0, 1.0));
    float l = lum(vec2(-1.0, 0.0)), r = lum(vec2(1.0, 0.0));
    float bl = lum(vec2(-1.0, -1.0)), b = lum(vec2(0.0, -1.0)), br = lum(vec2(1.0, -1.0));
    float gx = tr + 2.0 * r + br - tl - 2.0 * l - bl;
    float gy = tl + 2.0 * t + tr - bl - 2.0 * b - br;
    float g = sqrt(gx * gx + gy * gy);
    gl_FragColor = vec4(vec3(1.0 - g), g);
}
