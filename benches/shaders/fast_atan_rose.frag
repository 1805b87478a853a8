// a rose curve with a polynomial atan2, no built-in
//@ uniform2f par 5 0.7
precision highp float;
uniform vec2 par;
varying vec4 pos;
float fastAtan2(float y, float x) {
    float ax = abs(x), ay = abs(y);
    float a = min(ax, ay) / max(max(ax, ay), 1e-5), s = a * a;
    float r = ((-0.0464964749 * s + 0.15931422) * s - 0.327622764) * s * a + a;
    if (ay > ax) r = 1.57079637 - r;
    if (x < 0.0) r = 3.14159274 - r;
    return y < 0.0 ? -r : r;
}
void main() {
    float a = fastAtan2(pos.y, pos.x), r = length(pos.xy);
    float rose = 0.35 + 0.45 * cos(a * par.x + par.y);
    float petal = smoothstep(0.0, 0.08, rose - r);
    gl_FragColor = vec4(mix(vec3(0.95, 0.93, 0.88), vec3(0.8, 0.1 + r * 0.6, 0.3), petal), a * 0.15 + 0.5);
}
