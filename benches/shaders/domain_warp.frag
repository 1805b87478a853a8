// fbm of fbm: the same loop three times over
//@ texture random smooth 32 32 linear linear repeat repeat
//@ uniform2f par 4 0.4
precision highp float;
uniform sampler2D random; uniform vec2 par;
varying vec2 uv;
float fbm(vec2 p) {
    float s = 0.0, a = 0.5;
    for (int i = 0; i < 60; i++) {
        if (float(i) >= par.x) break;
        s += a * texture2D(random, p).z;
        p = p.yx * 1.7 + 0.31;
        a *= 0.5;
    }
    return s;
}
void main() {
    vec2 p = uv * 0.5;
    vec2 q = vec2(fbm(p), fbm(p + vec2(0.52, 0.13)));
    float f = fbm(p + par.y * q);
    vec3 c = mix(vec3(0.1, 0.6, 0.67), vec3(0.67, 0.67, 0.5), clamp(f * f * 2.0, 0.0, 1.0));
    gl_FragColor = vec4(mix(c, vec3(0.0, 0.0, 0.16), clamp(length(q) - 0.3, 0.0, 1.0)) * (0.4 + f), 1.0);
}
