// Worley noise: nested loops of uniform reach, feature points from a texture
//@ texture random noise 16 16 nearest nearest repeat repeat
//@ uniform2f par 1 6
//@ check share 0.01
precision highp float;
uniform sampler2D random; uniform vec2 par;
varying vec2 uv;
void main() {
    vec2 p = uv * par.y, n = floor(p), f = p - n;
    float best = 8.0;
    vec2 which = vec2(0.0);
    for (float j = -1.0; j < 40.0; j += 1.0) {
        if (j > par.x) break;
        for (float i = -1.0; i < 40.0; i += 1.0) {
            if (i > par.x) break;
            vec2 g = vec2(i, j);
            vec2 o = texture2D(random, (n + g + 0.5) * 0.0625).xy;
            vec2 d = g + o - f;
            float l = dot(d, d);
            if (l < best) { best = l; which = o; }
        }
    }
    float c = sqrt(best);
    gl_FragColor = vec4(mix(vec3(which, 0.5), vec3(1.0), smoothstep(0.05, 0.04, c)) * (1.0 - 0.6 * c), 1.0);
}
