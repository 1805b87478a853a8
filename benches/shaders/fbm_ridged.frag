// ridged multifractal of gradient noise, octaves by uniform
//@ uniform3f par 4 2.07 0.55
precision highp float;
uniform vec3 par;
varying vec2 uv;
vec2 grad(vec2 i) {
    float a = fract(dot(i, vec2(0.1731, 0.3127)) * 7.13) * 6.2831853;
    return vec2(cos(a), sin(a));
}
float gnoise(vec2 p) {
    vec2 i = floor(p), f = fract(p), u = f * f * (3.0 - 2.0 * f);
    float a = dot(grad(i), f), b = dot(grad(i + vec2(1.0, 0.0)), f - vec2(1.0, 0.0));
    float c = dot(grad(i + vec2(0.0, 1.0)), f - vec2(0.0, 1.0)), d = dot(grad(i + 1.0), f - 1.0);
    return mix(mix(a, b, u.x), mix(c, d, u.x), u.y);
}
void main() {
    vec2 p = uv * 3.0 + 0.07;
    float sum = 0.0, amp = 0.6, prev = 1.0;
    for (float i = 0.0; i < 50.0; i += 1.0) {
        if (i >= par.x) break;
        float n = 1.0 - abs(gnoise(p));
        n *= n;
        sum += n * amp * prev;
        prev = n;
        p *= par.y;
        amp *= par.z;
    }
    gl_FragColor = vec4(mix(vec3(0.1, 0.15, 0.3), vec3(0.95, 0.9, 0.8), sum * 0.8), 1.0);
}
