// rings of three drops refract the picture below
//@ texture ground checker 64 64 linear linear clamp clamp
//@ uniform1f time 2.3
precision highp float;
uniform sampler2D ground; uniform float time;
varying vec2 uv;
vec2 drop(vec2 c, float phase) {
    vec2 d = uv - c;
    float r = length(d) + 0.0001;
    float w = sin(r * 40.0 - time * 4.0 + phase) * exp(-r * 5.0);
    return d / r * w;
}
void main() {
    vec2 offset = drop(vec2(0.3, 0.4), 0.0) + drop(vec2(0.7, 0.6), 1.7) + drop(vec2(0.55, 0.15), 3.1);
    vec4 c = texture2D(ground, uv + offset * 0.02);
    float glint = max(0.0, offset.x + offset.y);
    gl_FragColor = c * vec4(0.6, 0.8, 0.95, 1.0) + vec4(glint * glint * 0.5);
}
