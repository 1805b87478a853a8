// sum of waves with growing frequency and the normal from its gradient
//@ uniform3f par 8 1.7 0.6
precision highp float;
uniform vec3 par;
varying vec2 uv; varying vec4 pos;
void main() {
    float h = 0.0, amp = 0.5, freq = 2.0, angle = 0.3;
    vec2 grad = vec2(0.0);
    for (float i = 0.0; i < 60.0; i += 1.0) {
        if (i >= par.x) break;
        vec2 d = vec2(cos(angle), sin(angle));
        float ph = dot(d, uv * 3.0) * freq + par.y * sqrt(freq);
        float e = exp(sin(ph) - 1.0);
        h += amp * e;
        grad += d * amp * freq * e * cos(ph) * 0.3;
        amp *= par.z;
        freq *= 1.25;
        angle += 1.3;
    }
    vec3 n = normalize(vec3(-grad, 1.0));
    float fres = pow(1.0 - max(n.z * 0.9, 0.0), 3.0);
    vec3 col = mix(vec3(0.0, 0.1, 0.2), vec3(0.6, 0.8, 0.9), fres) + h * vec3(0.1, 0.2, 0.2);
    gl_FragColor = vec4(col, 1.0);
}
