// a flow texture moves two phases of another, which are blended
//@ texture flow smooth 32 32 linear linear repeat repeat
//@ texture water noise 16 16 linear linear repeat repeat
//@ uniform1f time 0.63
precision highp float;
uniform sampler2D flow, water; uniform float time;
varying vec2 uv;
void main() {
    vec2 dir = texture2D(flow, uv).rg * 2.0 - 1.0;
    float p0 = fract(time), p1 = fract(time + 0.5);
    vec4 a = texture2D(water, uv - dir * p0 * 0.1);
    vec4 b = texture2D(water, uv - dir * p1 * 0.1 + 0.37);
    float blend = abs(p0 - 0.5) * 2.0;
    vec4 c = mix(a, b, blend);
    vec4 detail = texture2D(flow, c.xy * 0.1 + uv);
    gl_FragColor = c * 0.8 + detail.zwxy * 0.2;
}
