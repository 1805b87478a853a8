// a height field from a texture: growing steps until below it, bisection, normal, shadow march, fog
//@ texture ground smooth 32 32 linear linear repeat repeat
//@ uniform4f par 70 5 6 0.45
//@ check share 0.01
precision highp float;
uniform sampler2D ground; uniform vec4 par;
varying vec4 pos;
float height(vec2 p) { return texture2D(ground, p * 0.21).x * par.w; }
void main() {
    vec3 ro = vec3(0.3, 0.95, -1.0), rd = normalize(vec3(pos.x, pos.y - 0.35, 1.5));
    float t = 0.1, dt = 0.03, hit = 0.0;
    for (int i = 0; i < 128; i++) {
        if (float(i) >= par.x) break;
        vec3 p = ro + rd * t;
        if (p.y < height(p.xz)) { hit = 1.0; break; }
        dt = 0.02 + 0.02 * t;
        t += dt;
        if (t > par.z) break;
    }
    vec3 sky = mix(vec3(0.8, 0.85, 0.9), vec3(0.3, 0.5, 0.85), clamp(rd.y * 2.0 + 0.3, 0.0, 1.0)), col = sky;
    if (hit > 0.5) {
        float lo = t - dt, hi = t;
        for (float i = 0.0; i < 40.0; i += 1.0) {
            if (i >= par.y) break;
            float mid = (lo + hi) * 0.5;
            vec3 p = ro + rd * mid;
            if (p.y < height(p.xz)) hi = mid; else lo = mid;
        }
        vec3 p = ro + rd * hi;
        vec2 e = vec2(0.05, 0.0);
        vec3 n = normalize(vec3(height(p.xz - e.xy) - height(p.xz + e.xy), 0.1, height(p.xz - e.yx) - height(p.xz + e.yx)));
        vec3 l = normalize(vec3(0.7, 0.5, 0.2));
        float shade = 1.0;
        for (float s = 0.05; s < 4.0; s += 0.08) {
            if (s > par.w * 2.0) break;
            float d = p.y + l.y * s - height(p.xz + l.xz * s);
            shade = min(shade, 0.5 + 5.0 * d / s);
            if (shade < 0.0) break;
        }
        col = mix(vec3(0.35, 0.5, 0.2), vec3(0.6, 0.55, 0.5), smoothstep(0.9, 0.6, n.y)) * (0.3 + 0.8 * max(dot(n, l), 0.0) * clamp(shade, 0.0, 1.0));
        col = mix(col, sky, 1.0 - exp(-hi * hi * 0.04));
    }
    gl_FragColor = vec4(col, 1.0);
}
