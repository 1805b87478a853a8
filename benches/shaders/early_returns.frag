// a material function that returns from many places, some after a texture read
//@ texture ta noise 32 32 nearest nearest repeat repeat
//@ texture tb smooth 32 32 linear linear repeat repeat
//@ check share 0.01
precision highp float;
uniform sampler2D ta, tb;
varying vec2 uv; varying vec4 pos;
vec3 material(vec2 p, float kind) {
    if (kind < 0.2) return vec3(0.2, 0.3, 0.5);
    vec4 a = texture2D(ta, p);
    if (a.w < 0.25) return a.rgb;
    if (kind < 0.5) {
        vec3 b = texture2D(tb, p * 2.0).rgb;
        if (b.g > 0.6) return b * a.rgb;
        return pow(b, vec3(1.5));
    }
    if (a.x > a.y) {
        if (a.y > a.z) return a.zyx;
        return normalize(a.xyz + 0.1);
    }
    return vec3(fract(a.x * 3.0), a.y, kind);
}
void main() {
    float kind = fract(pos.x * 1.5 + sin(pos.y * 3.0) * 0.5);
    gl_FragColor = vec4(material(uv, kind), 1.0);
}
