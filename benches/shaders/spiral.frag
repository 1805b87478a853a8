// logarithmic spiral with smooth edges
//@ uniform2f par 3 1.2
precision highp float;
uniform vec2 par;
varying vec4 pos;
void main() {
    float r = length(pos.xy) + 0.02;
    float a = atan(pos.y, pos.x);
    float s = sin(log(r) * 6.0 + a * par.x + par.y);
    float v = smoothstep(-0.3, 0.3, s);
    gl_FragColor = vec4(mix(vec3(0.1, 0.0, 0.3), vec3(1.0, 0.8, 0.2), v) * (1.1 - 0.5 * r), 1.0);
}
