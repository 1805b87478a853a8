precision mediump float;
varying vec2 uv;
uniform float radius;
struct Light { vec3 colour; };
uniform Light lamp;
void main() {
    flaot x = raduis;
    gl_FragColour = vec4(smoothstp(0.0, 1.0, uv.x), lamp.color);
}
