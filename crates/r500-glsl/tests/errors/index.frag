precision mediump float;
varying vec2 uv;
uniform vec4 list[8];
void main() {
    gl_FragColor = list[int(uv.x * 8.0)];
}
