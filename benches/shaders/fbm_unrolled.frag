// three octaves from a texture, constant bound: straight code
//@ texture random smooth 32 32 linear linear repeat repeat
//@ uniform1f time 1.9
precision highp float;
uniform sampler2D random; uniform float time;
varying vec2 uv;
void main() {
    float value = 0.0, amplitude = 0.5;
    vec2 st = uv * 0.6 + time * 0.05;
    mat2 rot = mat2(0.8, 0.6, -0.6, 0.8);
    for (int i = 0; i < 4; i++) {
        value += amplitude * texture2D(random, st).x;
        st = rot * st * 1.9 + 0.17;
        amplitude *= 0.5;
    }
    gl_FragColor = vec4(mix(vec3(0.2, 0.4, 0.8), vec3(1.0), smoothstep(0.35, 0.75, value)), value);
}
