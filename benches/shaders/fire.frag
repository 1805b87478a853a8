// scrolling noise octaves shape a flame, coloured by powers
//@ texture noiseTex smooth 32 32 linear linear repeat repeat
//@ uniform1f time 0.83
precision highp float;
uniform sampler2D noiseTex; uniform float time;
varying vec2 uv;
void main() {
    vec2 p = vec2(uv.x, uv.y * 0.5 - time * 0.3);
    float n = texture2D(noiseTex, p).r * 0.5;
    n += texture2D(noiseTex, p * 2.1 - vec2(0.0, time * 0.2)).g * 0.25;
    n += texture2D(noiseTex, p * 4.3 + vec2(0.13, -time * 0.4)).b * 0.125;
    float x = (uv.x - 0.5) * 2.0 + (n - 0.4) * uv.y;
    float flame = 1.0 - 1.4 * abs(x) - uv.y * 0.9 + n * 0.5;
    flame = clamp(flame, 0.0, 1.0);
    vec3 c = vec3(1.5 * flame, 1.5 * flame * flame * flame, pow(flame, 6.0));
    gl_FragColor = vec4(c, flame * (1.0 - pow(uv.y, 3.0)));
}
