precision mediump float;
varying vec2 uv;
void main() {
    vec3 c = vec3(uv, 1.0)
    gl_FragColor = vec4(c, 1.0);
}
