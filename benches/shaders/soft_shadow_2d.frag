// light through circles: a ray from the pixel to the lamp gathers the nearest miss
//@ uniform4f lamp 0.2 0.8 12 40
//@ check share 0.01
precision highp float;
uniform vec4 lamp;
varying vec2 uv;
float map(vec2 p) {
    float a = length(p - vec2(0.5, 0.45)) - 0.11;
    float b = length(p - vec2(0.75, 0.7)) - 0.08;
    vec2 q = abs(p - vec2(0.3, 0.2)) - vec2(0.1, 0.05);
    return min(min(a, b), length(max(q, 0.0)));
}
void main() {
    vec2 to = lamp.xy - uv;
    float far = length(to), t = 0.02, shade = 1.0;
    vec2 dir = to / far;
    for (float i = 0.0; i < 80.0; i += 1.0) {
        if (i >= lamp.w) break;
        float d = map(uv + dir * t);
        if (d < 0.001) { shade = 0.0; break; }
        shade = min(shade, lamp.z * d / t);
        t += max(d, 0.01);
        if (t >= far) break;
    }
    float light = shade * clamp(1.2 - far, 0.0, 1.0);
    float inside = smoothstep(0.005, 0.0, map(uv));
    gl_FragColor = vec4(mix(vec3(light, light * 0.9, light * 0.7), vec3(0.3, 0.5, 0.8), inside), 1.0);
}
