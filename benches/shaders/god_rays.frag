// radial blur towards the sun, a loop of uniform samples with decay
//@ texture scene checker 64 64 linear linear clamp clamp
//@ uniform4f sun 0.6 0.7 24 0.93
precision highp float;
uniform sampler2D scene; uniform vec4 sun;
varying vec2 uv;
void main() {
    vec2 step_ = (uv - sun.xy) / sun.z * 0.6, p = uv;
    float decay = 1.0;
    vec3 c = texture2D(scene, uv).rgb * 0.4;
    for (int i = 0; i < 128; i++) {
        if (float(i) >= sun.z) break;
        p -= step_;
        c += texture2D(scene, p).rgb * decay * 0.06;
        decay *= sun.w;
    }
    gl_FragColor = vec4(c, 1.0);
}
