// steep parallax mapping: a march of uniform layer count, then interpolation
//@ texture height smooth 32 32 linear linear repeat repeat
//@ texture albedo checker 64 64 linear linear clamp clamp
//@ uniform2f layers 24 0.12
//@ check share 0.01
precision highp float;
uniform sampler2D height, albedo; uniform vec2 layers;
varying vec2 uv; varying vec4 pos;
void main() {
    vec3 view = normalize(vec3(pos.xy * 0.7 + 0.3, 1.2));
    vec2 dir = view.xy / view.z * layers.y / layers.x;
    float step_ = 1.0 / layers.x, depth = 0.0;
    vec2 p = uv;
    float h = 1.0 - texture2D(height, p).r, before = h;
    for (int i = 0; i < 64; i++) {
        if (depth >= h) break;
        before = h - depth;
        p -= dir;
        depth += step_;
        h = 1.0 - texture2D(height, p).r;
    }
    float after = depth - h;
    float w = after / max(after + before, 0.0001);
    p = mix(p, p + dir, w);
    vec4 c = texture2D(albedo, p * 0.8 + 0.1);
    gl_FragColor = vec4(c.rgb * (1.0 - depth * 0.6), 1.0);
}
