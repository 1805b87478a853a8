precision mediump float;
varying vec2 uv;
attribute vec4 place;
varying int k;
sampler2D image;
const float c;
void main() {
    gl_FragColor = place;
}
