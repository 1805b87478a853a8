precision mediump float;
varying vec2 uv;
void main() {
    vec3 a = vec3(1.0, 2.0);
    vec2 b = vec2(a, 1.0);
    mat2 m = mat2(1.0, 2.0, 3.0);
    float c[2];
    c[2] = 1.0;
    gl_FragColor = vec4(a, b, c);
}
