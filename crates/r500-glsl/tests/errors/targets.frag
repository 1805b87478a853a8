precision mediump float;
varying vec2 uv;
const float k = 2.0;
uniform vec4 tint;
void main() {
    uv.x = 1.0;
    k += 1.0;
    tint = vec4(0.0);
    vec4 c;
    c.xx = uv;
    uv.x + 1.0 = 2.0;
    gl_FragColor = c;
}
