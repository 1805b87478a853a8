// Newton iteration for z^3 = 1 with a break on convergence
//@ uniform2f par 30 0.001
//@ check share 0.01
precision highp float;
uniform vec2 par;
varying vec4 pos;
void main() {
    vec2 z = pos.xy * 1.6 + vec2(0.011, 0.007);
    float n = 0.0;
    for (float i = 0.0; i < 100.0; i += 1.0) {
        if (i >= par.x) break;
        vec2 z2 = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y);
        vec2 z3 = vec2(z2.x * z.x - z2.y * z.y, z2.x * z.y + z2.y * z.x) - vec2(1.0, 0.0);
        vec2 den = z2 * 3.0;
        vec2 step_ = vec2(dot(z3, den), z3.y * den.x - z3.x * den.y) / dot(den, den);
        z -= step_;
        if (dot(step_, step_) < par.y) break;
        n = i;
    }
    vec3 root = vec3(0.2, 0.3, 0.8);
    if (z.x > 0.5) root = vec3(0.9, 0.3, 0.2);
    else if (z.y > 0.0) root = vec3(0.2, 0.8, 0.3);
    gl_FragColor = vec4(root * (1.0 - n * 0.05), 1.0);
}
