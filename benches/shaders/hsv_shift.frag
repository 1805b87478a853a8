// RGB to HSV, hue turned and saturation scaled, and back
//@ texture image smooth 32 32 linear linear repeat repeat
//@ uniform3f shift 0.37 1.3 0.9
precision highp float;
uniform sampler2D image; uniform vec3 shift;
varying vec2 uv;
vec3 rgb2hsv(vec3 c) {
    vec4 K = vec4(0.0, -1.0 / 3.0, 2.0 / 3.0, -1.0);
    vec4 p = mix(vec4(c.bg, K.wz), vec4(c.gb, K.xy), step(c.b, c.g));
    vec4 q = mix(vec4(p.xyw, c.r), vec4(c.r, p.yzx), step(p.x, c.r));
    float d = q.x - min(q.w, q.y);
    float e = 1.0e-6;
    return vec3(abs(q.z + (q.w - q.y) / (6.0 * d + e)), d / (q.x + e), q.x);
}
vec3 hsv2rgb(vec3 c) {
    vec4 K = vec4(1.0, 2.0 / 3.0, 1.0 / 3.0, 3.0);
    vec3 p = abs(fract(c.xxx + K.xyz) * 6.0 - K.www);
    return c.z * mix(K.xxx, clamp(p - K.xxx, 0.0, 1.0), c.y);
}
void main() {
    vec4 t = texture2D(image, uv);
    vec3 hsv = rgb2hsv(t.rgb);
    hsv = vec3(fract(hsv.x + shift.x), clamp(hsv.y * shift.y, 0.0, 1.0), hsv.z * shift.z);
    gl_FragColor = vec4(hsv2rgb(hsv), t.a);
}
