// 5x5 binomial blur; the loops have constant bounds, so Mesa unrolls them
//@ texture image noise 32 32 nearest nearest repeat repeat
precision mediump float;
uniform sampler2D image;
varying vec2 uv;
float weight(int i) {
    if (i == 0) return 6.0;
    if (i == 1 || i == -1) return 4.0;
    return 1.0;
}
void main() {
    vec3 sum = vec3(0.0);
    for (int y = -2; y <= 2; y++)
        for (int x = -2; x <= 2; x++)
            sum += texture2D(image, uv + vec2(float(x), float(y)) * 0.03125).rgb * weight(x) * weight(y);
    gl_FragColor = vec4(sum / 256.0, 1.0);
}
