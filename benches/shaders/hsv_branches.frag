// the text-book conversion, with branches on the greatest channel and on the sextant
//@ texture image smooth 32 32 linear linear repeat repeat
//@ uniform1f turn 0.21
//@ check share 0.01
precision highp float;
uniform sampler2D image; uniform float turn;
varying vec2 uv; varying vec4 vc;
void main() {
    vec3 c = texture2D(image, uv * 1.3).rgb;
    float hi = max(c.r, max(c.g, c.b)), lo = min(c.r, min(c.g, c.b)), d = hi - lo;
    float h = 0.0, s = 0.0;
    if (d > 0.001) {
        s = d / hi;
        if (hi == c.r) { h = (c.g - c.b) / d; if (h < 0.0) h += 6.0; }
        else if (hi == c.g) h = 2.0 + (c.b - c.r) / d;
        else h = 4.0 + (c.r - c.g) / d;
    }
    h = mod(h + turn * 6.0, 6.0);
    float i = floor(h), f = h - i;
    float p = hi * (1.0 - s), q = hi * (1.0 - s * f), t = hi * (1.0 - s * (1.0 - f));
    vec3 rgb;
    if (i < 0.5) rgb = vec3(hi, t, p);
    else if (i < 1.5) rgb = vec3(q, hi, p);
    else if (i < 2.5) rgb = vec3(p, hi, t);
    else if (i < 3.5) rgb = vec3(p, q, hi);
    else if (i < 4.5) rgb = vec3(t, p, hi);
    else rgb = vec3(hi, p, q);
    gl_FragColor = vec4(rgb, 1.0);
}
