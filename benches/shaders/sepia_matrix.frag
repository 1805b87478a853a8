// sepia by a colour matrix, blended by a uniform
//@ texture image smooth 32 32 linear linear repeat repeat
//@ uniform1f amount 0.8
precision lowp float;
uniform sampler2D image; uniform float amount;
varying mediump vec2 uv;
void main() {
    vec4 c = texture2D(image, uv);
    mat3 sepia = mat3(0.393, 0.349, 0.272, 0.769, 0.686, 0.534, 0.189, 0.168, 0.131);
    gl_FragColor = vec4(mix(c.rgb, clamp(sepia * c.rgb, 0.0, 1.0), amount), c.a);
}
