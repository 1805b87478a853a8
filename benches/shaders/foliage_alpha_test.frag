// leaves with an alpha test, wind, two-sided light
//@ texture leaf noise 16 16 linear linear repeat repeat
//@ uniform2f wind 0.7 0.5
//@ check share 0.01
precision mediump float;
uniform sampler2D leaf; uniform vec2 wind;
varying vec2 uv; varying vec4 pos;
void main() {
    vec2 p = uv;
    p.x += sin(uv.y * 9.0 + wind.x) * 0.02 * uv.y;
    vec4 c = texture2D(leaf, p);
    if (c.a < wind.y) discard;
    vec3 n = normalize(vec3(c.rg - 0.5, 0.6));
    float light = abs(dot(n, normalize(vec3(0.4, 0.8, 0.3))));
    gl_FragColor = vec4(vec3(0.25, 0.6, 0.15) * (0.4 + 0.6 * light) + c.b * 0.1, 1.0);
}
