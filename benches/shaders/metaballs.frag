// inverse-square fields of a uniform number of blobs, threshold with branches
//@ uniform2f par 6 0.9
precision highp float;
uniform vec2 par;
varying vec4 pos;
void main() {
    float field = 0.0;
    vec3 tint = vec3(0.0);
    for (int i = 0; i < 50; i++) {
        float k = float(i);
        if (k >= par.x) break;
        vec2 c = vec2(sin(k * 1.7 + par.y), cos(k * 2.3 + par.y * 1.3)) * 0.6;
        vec2 d = pos.xy - c;
        float w = 0.03 / (dot(d, d) + 0.005);
        field += w;
        tint += w * (0.5 + 0.5 * cos(k + vec3(0.0, 2.0, 4.0)));
    }
    tint /= field;
    if (field > 1.0) gl_FragColor = vec4(tint, 1.0);
    else if (field > 0.85) gl_FragColor = vec4(tint * 0.3, 1.0);
    else gl_FragColor = vec4(vec3(0.1) + field * 0.2, 1.0);
}
