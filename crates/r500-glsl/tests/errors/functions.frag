precision mediump float;
varying vec2 uv;
float twice(float x) { return x + x; }
float nothing(float x) { if (x > 0.0) return 1.0; }
float again(float x) { return x > 1.0 ? again(x - 1.0) : x; }
vec3 later(vec3 v);
void main() {
    gl_FragColor = vec4(twice(uv), twice(1.0, 2.0), lerp(0.0, 1.0, uv.x), saturate(uv.x)) + vec4(later(vec3(again(nothing(1.0)))), 1.0);
    return 1.0;
}
