// A point that leaves a trail: what was drawn before fades and grows.
//@ texture iChannel0 = previous out[0] linear clamp
// Level: easy

void mainImage(out vec4 color, in vec2 place) {
    vec2 uv = place / iResolution.xy;
    vec2 point = 0.5 + vec2(0.35 * cos(1.7 * iTime), 0.35 * sin(2.3 * iTime));
    // A little nearer to the middle: the picture before is drawn larger.
    vec3 before = 0.97 * texture2D(iChannel0, mix(uv, vec2(0.5), 0.01)).rgb;
    float d = length((uv - point) * vec2(iResolution.x / iResolution.y, 1.0));
    vec3 light = 0.5 + 0.5 * cos(iTime + vec3(0.0, 2.1, 4.2));
    color = vec4(max(before, light * smoothstep(0.05, 0.02, d)), 1.0);
}
