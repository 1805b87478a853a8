// box filter of uniform width: nested loops that remain loops
//@ texture image noise 32 32 nearest nearest repeat repeat
//@ uniform1f radius 2
precision highp float;
uniform sampler2D image; uniform float radius;
varying vec2 uv;
void main() {
    vec4 sum = vec4(0.0);
    float n = 0.0;
    for (float y = -20.0; y <= 20.0; y += 1.0) {
        if (y + 20.0 > radius * 2.0) break;
        for (float x = -20.0; x <= 20.0; x += 1.0) {
            if (x + 20.0 > radius * 2.0) break;
            sum += texture2D(image, uv + (vec2(x, y) + 20.0 - radius) * 0.03125);
            n += 1.0;
        }
    }
    gl_FragColor = sum / n;
}
