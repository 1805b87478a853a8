precision mediump float;
varying vec2 uv;
void main() {
    float a = (uv.x + 1.0;
    gl_FragColor = vec4(a));
    if (a > 0.5 {
        gl_FragColor = vec4(0.0);
    } else {
        gl_FragColor = vec4(1.0);
    }
