// tangent-space normal from a height map, diffuse and Blinn specular
//@ texture height smooth 32 32 linear linear repeat repeat
//@ uniform3f light 0.6 0.8 0.9
//@ uniform1f depth 1.7
precision highp float;
uniform sampler2D height; uniform vec3 light; uniform float depth;
varying vec2 uv; varying vec4 pos;
void main() {
    const float e = 1.0 / 32.0;
    float h = texture2D(height, uv).r;
    float hx = texture2D(height, uv + vec2(e, 0.0)).r;
    float hy = texture2D(height, uv + vec2(0.0, e)).r;
    vec3 n = normalize(vec3((h - hx) * depth, (h - hy) * depth, 0.4));
    vec3 l = normalize(light - vec3(pos.xy, 0.0));
    vec3 v = vec3(0.0, 0.0, 1.0);
    vec3 hv = normalize(l + v);
    float diff = max(dot(n, l), 0.0);
    float spec = pow(max(dot(n, hv), 0.0), 24.0);
    vec3 base = mix(vec3(0.45, 0.3, 0.2), vec3(0.75, 0.65, 0.5), h);
    gl_FragColor = vec4(base * (0.15 + diff) + spec * 0.5, 1.0);
}
