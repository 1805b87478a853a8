// layers of stars: a loop of uniform count, cells with hashed centres
//@ texture random noise 32 32 nearest nearest repeat repeat
//@ uniform2f par 5 0.37
precision highp float;
uniform sampler2D random; uniform vec2 par;
varying vec4 pos;
void main() {
    vec3 col = vec3(0.02, 0.02, 0.06);
    for (int i = 0; i < 50; i++) {
        float layer = float(i);
        if (layer >= par.x) break;
        float depth = fract(layer / par.x + par.y);
        float scale = mix(9.0, 1.5, depth);
        vec2 p = pos.xy * scale + layer * 7.31;
        vec2 id = floor(p), f = fract(p) - 0.5;
        vec4 h = texture2D(random, (id + 0.5) / 32.0);
        vec2 d = f - (h.xy - 0.5) * 0.6;
        float glow = 0.03 * h.z / (dot(d, d) + 0.01);
        col += (glow - 0.02) * depth * mix(vec3(0.6, 0.7, 1.0), vec3(1.0, 0.8, 0.6), h.w);
    }
    gl_FragColor = vec4(col, 1.0);
}
