// a torus and a sphere, marched until near, far or out of steps
//@ uniform3f par 48 0.6 0.8
//@ check share 0.01
precision highp float;
uniform vec3 par;
varying vec4 pos;
float scene(vec3 p) {
    float torus = length(vec2(length(p.xz) - 0.9, p.y)) - 0.25;
    float ball = length(p - vec3(0.0, 0.2, 0.0)) - 0.45;
    return min(torus, ball);
}
void main() {
    vec3 ro = vec3(0.0, 1.3, -2.6), fw = normalize(-ro);
    vec3 rt = normalize(cross(vec3(0.0, 1.0, 0.0), fw)), up = cross(fw, rt);
    vec3 rd = normalize(fw * 1.5 + rt * pos.x + up * pos.y);
    float t = 0.0, steps = 0.0;
    vec3 p = ro;
    for (int i = 0; i < 100; i++) {
        if (steps >= par.x) break;
        p = ro + rd * t;
        float d = scene(p);
        if (d < 0.003) break;
        t += d;
        if (t > 6.0) break;
        steps += 1.0;
    }
    if (t > 6.0 || steps >= par.x) {
        gl_FragColor = vec4(vec3(0.3, 0.4, 0.6) + 0.2 * rd.y, 1.0);
        return;
    }
    vec2 e = vec2(0.01, 0.0);
    float d = scene(p);
    vec3 n = normalize(vec3(scene(p + e.xyy), scene(p + e.yxy), scene(p + e.yyx)) - d);
    float diff = max(dot(n, normalize(vec3(par.yz, -0.5))), 0.0);
    gl_FragColor = vec4(vec3(0.8, 0.5, 0.3) * (0.2 + diff), 1.0);
}
