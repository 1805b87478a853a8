precision mediump float;
varying vec2 uv;
uniform int n;
void main() {
    float s = 0.0;
    for (int i = 0; i < n; i++) s += 0.1;
    gl_FragColor = vec4(s);
}
