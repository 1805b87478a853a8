// bright pass with a soft knee over four bilinear taps
//@ texture scene smooth 32 32 linear linear repeat repeat
//@ uniform3f knee 0.55 0.2 0.4
precision mediump float;
uniform sampler2D scene;
uniform vec3 knee; // threshold, knee, 1 / (4 * knee), roughly
varying vec2 uv;
void main() {
    vec2 o = vec2(0.5, -0.5) / 32.0;
    vec3 c = 0.25 * (texture2D(scene, uv + o.xx).rgb + texture2D(scene, uv + o.xy).rgb
                   + texture2D(scene, uv + o.yx).rgb + texture2D(scene, uv + o.yy).rgb);
    float brightness = max(c.r, max(c.g, c.b));
    float soft = clamp(brightness - knee.x + knee.y, 0.0, 2.0 * knee.y);
    soft = soft * soft * knee.z;
    float contribution = max(soft, brightness - knee.x) / max(brightness, 0.001);
    gl_FragColor = vec4(c * contribution, 1.0);
}
