// bisection on a monotone curve down to a tolerance that differs from pixel to pixel
//@ uniform2f par 30 0.2
precision highp float;
uniform vec2 par;
varying vec2 uv;
float curve(float x) { return x * x * x * 0.6 + x * 0.4 + 0.1 * sin(x * 3.0); }
void main() {
    float target = uv.y, lo = 0.0, hi = 1.0, n = 0.0;
    float tolerance = 0.002 + par.y * uv.x * uv.x;
    for (int i = 0; i < 64; i++) {
        if (hi - lo < tolerance || n >= par.x) break;
        float mid = (lo + hi) * 0.5;
        if (curve(mid) < target) lo = mid; else hi = mid;
        n += 1.0;
    }
    gl_FragColor = vec4(lo, hi, n / 10.0, 1.0);
}
