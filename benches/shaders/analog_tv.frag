// barrel distortion, scan lines, colour bleeding, noise band; black outside
//@ texture picture smooth 32 32 linear linear repeat repeat
//@ texture static_ noise 64 64 nearest nearest repeat repeat
//@ uniform2f par 0.37 0.18
precision highp float;
uniform sampler2D picture, static_; uniform vec2 par;
varying vec2 uv; varying vec4 pos;
void main() {
    vec2 p = pos.xy;
    p *= 1.0 + dot(p, p) * par.y * 0.3;
    if (abs(p.x) > 1.0 || abs(p.y) > 1.0) {
        gl_FragColor = vec4(0.0, 0.0, 0.0, 1.0);
        return;
    }
    vec2 q = p * 0.5 + 0.5;
    q.x += sin(q.y * 30.0 + par.x * 10.0) * 0.003;
    float r = texture2D(picture, q + vec2(0.006, 0.0)).r;
    float g = texture2D(picture, q).g;
    float b = texture2D(picture, q - vec2(0.006, 0.0)).b;
    vec3 c = vec3(r, g, b);
    c *= 0.85 + 0.15 * sin(q.y * 200.0);
    float band = smoothstep(0.1, 0.0, abs(fract(q.y - par.x) - 0.5));
    c += band * (texture2D(static_, uv + par.x).rgb - 0.5) * 0.5;
    gl_FragColor = vec4(c * (1.2 - 0.4 * dot(p, p)), 1.0);
}
