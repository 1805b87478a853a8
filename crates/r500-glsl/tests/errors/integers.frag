precision mediump float;
varying vec2 uv;
void main() {
    float x = 1;
    int n = 2;
    gl_FragColor = vec4(uv.x * 2, x * n, pow(uv.x, 2), clamp(x, 0, 1));
}
