// a decal with holes: discard under nested conditions, textures in the arms
//@ texture mask noise 16 16 nearest nearest repeat repeat
//@ texture paint smooth 32 32 linear linear repeat repeat
//@ uniform3f cut 0.3 0.6 0.35
//@ check share 0.01
precision highp float;
uniform sampler2D mask, paint; uniform vec3 cut;
varying vec2 uv; varying vec4 pos;
void main() {
    vec4 m = texture2D(mask, uv);
    vec4 c = texture2D(paint, uv + m.xy * 0.05);
    float r = length(pos.xy);
    if (m.x < cut.x) {
        if (r > cut.y) {
            if (m.y < 0.5) discard;
            c.rgb = c.bgr * (0.5 + 0.5 * sin(r * 9.0));
        } else {
            c = mix(c, texture2D(paint, uv.yx * 2.0), m.z);
        }
    } else if (m.w < cut.z) {
        if (m.z > 0.4) {
            c.rgb = sqrt(c.rgb);
            if (r < 0.5) c.rgb = 1.0 - c.rgb;
        } else if (r > 0.9) discard;
    }
    gl_FragColor = c;
}
