// channels sampled at different radii
//@ texture image noise 16 16 linear linear repeat repeat
//@ uniform1f strength 0.06
precision mediump float;
uniform sampler2D image; uniform float strength;
varying vec2 uv;
void main() {
    vec2 d = uv - 0.5;
    float k = dot(d, d) * strength;
    float r = texture2D(image, uv - d * k).r;
    float g = texture2D(image, uv).g;
    float b = texture2D(image, uv + d * k * 1.5).b;
    gl_FragColor = vec4(r, g, b, 1.0);
}
