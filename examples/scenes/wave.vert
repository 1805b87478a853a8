// A surface that swings, with its normal.
attribute vec2 place;
uniform mat4 transform;
uniform float time;
varying vec3 normal;
varying float height;

void main() {
    float phase = 4.0 * length(place) - 3.0 * time;
    height = 0.2 * sin(phase);
    vec2 slope = 0.8 * cos(phase) * place / max(length(place), 0.001);
    normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    gl_Position = transform * vec4(place.x, height, place.y, 1.0);
}
