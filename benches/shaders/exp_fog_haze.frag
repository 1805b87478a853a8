// height fog, phase function and Beer's law: many pows, exps and logs
//@ uniform4f fog 0.9 1.3 0.76 2.2
precision highp float;
uniform vec4 fog;
varying vec2 uv; varying vec4 pos;
float hg(float c, float g) { return (1.0 - g * g) / pow(1.0 + g * g - 2.0 * g * c, 1.5); }
void main() {
    vec3 d = normalize(vec3(pos.xy, 1.2));
    float dist = 1.0 + 8.0 * pow(uv.y, 2.5);
    float amount = fog.x / fog.y * exp(-0.4 * fog.y) * (1.0 - exp(-dist * (d.y + 1.1) * fog.y)) / (d.y + 1.1);
    float c = dot(d, normalize(vec3(0.3, 0.5, 0.8)));
    vec3 scatter = vec3(0.5, 0.6, 0.8) + vec3(1.0, 0.7, 0.4) * hg(c, fog.z * 0.6) * 0.08 + pow(max(c, 0.0), 64.0);
    vec3 ground = exp2(-vec3(1.0, 1.7, 2.9) * (0.2 + uv.x));
    vec3 beer = exp(-vec3(0.3, 0.5, 0.9) * amount);
    vec3 col = ground * beer + scatter * (1.0 - beer);
    col = log(1.0 + col * 2.0) / log(3.0);
    gl_FragColor = vec4(pow(col, vec3(1.0 / fog.w)), amount * 0.3);
}
