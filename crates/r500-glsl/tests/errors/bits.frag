precision mediump float;
varying vec2 uv;
void main() {
    int k = int(uv.x * 8.0) & 3;
    gl_FragColor = vec4(float(k));
}
