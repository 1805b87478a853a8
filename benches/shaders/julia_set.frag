// z^2 + c, smooth colouring, iteration limit by uniform
//@ uniform3f c -0.4 0.6 40
//@ check share 0.01
precision highp float;
uniform vec3 c;
varying vec4 pos;
void main() {
    vec2 z = pos.xy * 1.4;
    float n = 0.0;
    for (int i = 0; i < 200; i++) {
        if (n >= c.z) break;
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c.xy;
        if (dot(z, z) > 16.0) break;
        n += 1.0;
    }
    float t = n - log2(max(log2(max(dot(z, z), 1.01)) * 0.5, 0.001));
    vec3 col = 0.5 + 0.5 * cos(0.15 * t + vec3(0.0, 0.6, 1.0));
    gl_FragColor = vec4(n >= c.z ? vec3(0.0) : col, 1.0);
}
