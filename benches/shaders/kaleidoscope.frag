// folding in polar coordinates, with atan
//@ texture image smooth 32 32 linear linear repeat repeat
//@ uniform2f par 6 0.5
precision highp float;
uniform sampler2D image; uniform vec2 par;
varying vec4 pos;
void main() {
    vec2 p = pos.xy;
    float r = length(p), a = atan(p.y, p.x) + par.y;
    float sector = 6.2831853 / par.x;
    a = mod(a, sector);
    a = abs(a - sector * 0.5);
    vec2 q = r * vec2(cos(a), sin(a));
    gl_FragColor = texture2D(image, q * 0.7 + 0.25) * (1.2 - 0.5 * r);
}
