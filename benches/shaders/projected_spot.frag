// projective texture as a spotlight on a wall with a bump
//@ texture cookie ramp 16 16 linear linear clamp clamp
//@ texture wall smooth 32 32 linear linear repeat repeat
//@ uniform4f spot 0.3 -0.2 0.8 0.35
precision highp float;
uniform sampler2D cookie, wall; uniform vec4 spot;
varying vec2 uv; varying vec4 pos;
void main() {
    vec3 p = vec3(pos.xy, 0.2 * sin(pos.x * 3.0));
    vec4 q = vec4(p.x + spot.x, p.y * 0.9 + spot.y, p.z + 1.0, spot.z + p.z + 0.3 * uv.y);
    q.xy = q.xy * 0.5 + q.w * 0.5;
    vec3 light = texture2DProj(cookie, q).rgb;
    float fall = clamp(1.0 - dot(p.xy - spot.xy, p.xy - spot.xy) * spot.w, 0.0, 1.0);
    if (q.w < 0.85) light *= 0.5;
    gl_FragColor = vec4(texture2D(wall, uv).rgb * (0.25 + light * fall), 1.0);
}
