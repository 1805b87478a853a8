// a grid of lamps: nested loops of uniform counts, those behind are skipped
//@ texture bumps smooth 32 32 linear linear repeat repeat
//@ uniform3f par 4 3 0.5
precision highp float;
uniform sampler2D bumps; uniform vec3 par;
varying vec2 uv; varying vec4 pos;
void main() {
    vec3 n = normalize(vec3(texture2D(bumps, uv).xy - 0.5, 0.5));
    vec3 sum = vec3(0.05);
    for (float j = 0.0; j < 40.0; j += 1.0) {
        if (j >= par.y) break;
        for (float i = 0.0; i < 40.0; i += 1.0) {
            if (i >= par.x) break;
            vec3 l = vec3(vec2(i + 0.5, j + 0.5) / par.xy * 2.0 - 1.0 - pos.xy, 0.4);
            float d2 = dot(l, l);
            if (d2 > par.z * 4.0) continue;
            float lambert = dot(n, l) * inversesqrt(d2);
            if (lambert <= 0.0) continue;
            sum += lambert * 0.2 / (0.3 + d2) * vec3(1.0, 0.5 + 0.1 * i, 0.3 + 0.2 * j);
        }
    }
    gl_FragColor = vec4(sum, 1.0);
}
