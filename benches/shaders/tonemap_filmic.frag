// exposure, filmic curve (Narkowicz), gamma
//@ texture hdr ramp 16 16 linear linear clamp clamp
//@ uniform1f exposure 1.8
precision highp float;
uniform sampler2D hdr; uniform float exposure;
varying vec2 uv;
vec3 aces(vec3 x) {
    return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}
void main() {
    vec3 c = texture2D(hdr, uv).rgb;
    c = c * c * 4.0 * exp2(exposure * (uv.x - 0.5));
    float l = dot(c, vec3(0.2126, 0.7152, 0.0722));
    c = mix(vec3(l), aces(c), 0.85);
    gl_FragColor = vec4(pow(c, vec3(1.0 / 2.2)), 1.0);
}
