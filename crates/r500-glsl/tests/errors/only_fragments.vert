attribute vec4 place;
attribute bool shown;
attribute vec2 corner = vec2(1.0);
uniform sampler2D heights;
varying vec2 uv;

void main() {
    place.x = 1.0;
    uv = place.xy;
    if (uv.x < 0.0) discard;
    float height = texture2D(heights, uv).r;
    float step = dFdx(height);
    gl_Positon = place;
    gl_FragColor = vec4(1.0);
    gl_Position = ftransform() + vec4(step);
}
