precision mediump float;
varying vec2 uv;
void mian() {
    gl_FragColor = vec4(uv, 0.0, 1.0);
}
