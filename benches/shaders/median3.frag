// median of five neighbours by min and max, as a denoiser
//@ texture image noise 64 64 nearest nearest repeat repeat
precision mediump float;
uniform sampler2D image;
varying vec2 uv;
#define S2(a, b) t = a; a = min(a, b); b = max(t, b)
void main() {
    const float e = 1.0 / 64.0;
    vec3 a = texture2D(image, uv).rgb, b = texture2D(image, uv + vec2(e, 0.0)).rgb;
    vec3 c = texture2D(image, uv - vec2(e, 0.0)).rgb, d = texture2D(image, uv + vec2(0.0, e)).rgb;
    vec3 f = texture2D(image, uv - vec2(0.0, e)).rgb, t;
    S2(a, b); S2(d, f); S2(a, d); S2(b, f); S2(b, c); S2(c, d); S2(b, c);
    gl_FragColor = vec4(c, 1.0);
}
