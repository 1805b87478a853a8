// steps of a walk through cells until a wall: divergent, texture-dependent trip counts
//@ texture walls noise 16 16 nearest nearest repeat repeat
//@ uniform3f par 60 0.88 0.0
//@ check share 0.01
precision highp float;
uniform sampler2D walls; uniform vec3 par;
varying vec4 pos;
void main() {
    vec2 o = vec2(5.37, 7.21), d = normalize(vec2(pos.x, 1.2));
    vec2 cell = floor(o), inv = 1.0 / abs(d + vec2(1e-4)), sgn = sign(d);
    vec2 side = (sgn * (cell - o) + sgn * 0.5 + 0.5) * inv;
    float dist = 0.0, n = 0.0;
    for (int i = 0; i < 120; i++) {
        if (n >= par.x) break;
        vec2 mask = step(side, side.yx);
        dist = dot(mask, side);
        side += mask * inv;
        cell += mask * sgn;
        n += 1.0;
        if (texture2D(walls, (cell + 0.5) / 16.0).r > par.y) break;
    }
    float horizontal = step(abs(side.x - inv.x - dist), 0.0005);
    float height = 1.0 / max(dist * d.y, 0.05);
    vec3 col = pos.y > 0.0 ? vec3(0.3, 0.4, 0.6) : vec3(0.25, 0.2, 0.15);
    if (abs(pos.y) < height) col = vec3(0.8, 0.5, 0.3) * (0.6 + 0.4 * horizontal) / (1.0 + dist * 0.2);
    gl_FragColor = vec4(col, n / 20.0);
}
