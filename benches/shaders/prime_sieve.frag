// trial division of the cell's number, with continue
//@ uniform2f par 16 30
precision highp float;
uniform vec2 par;
varying vec2 uv;
void main() {
    vec2 c = floor(uv * par.x + 0.001);
    float n = c.y * par.x + c.x + 2.0, factors = 0.0, smallest = 0.0;
    for (float i = 2.0; i < 100.0; i += 1.0) {
        if (i > par.y) break;
        if (i * i > n) break;
        float q = floor((n + 0.5) / i);
        if (abs(q * i - n) > 0.25) continue;
        factors += 1.0;
        if (smallest > 0.5) continue;
        smallest = i;
    }
    vec3 col = factors < 0.5 ? vec3(1.0, 0.9, 0.5) : vec3(0.1 + factors * 0.2, smallest * 0.05, 0.4);
    gl_FragColor = vec4(col, 1.0);
}
