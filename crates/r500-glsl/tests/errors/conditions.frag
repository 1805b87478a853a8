precision mediump float;
varying vec2 uv;
void main() {
    vec3 a = vec3(uv, 0.0);
    if (uv.x) a = a + 1.0;
    if (a < vec3(0.5)) a = vec3(0.0);
    if (uv.x > 0.5 && 1) discard;
    bool b = !a.x;
    break;
    gl_FragColor = vec4(a, 1.0);
}
