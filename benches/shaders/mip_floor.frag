// perspective floor with a mip-mapped texture, its bias, and fog
//@ texture ground smooth 64 64 trilinear linear repeat repeat mips
//@ uniform2f cam 0.6 0.5
//@ check share 0.01
precision highp float;
uniform sampler2D ground; uniform vec2 cam;
varying vec4 pos;
void main() {
    float z = cam.x / (1.15 - pos.y * 0.5 + 0.05);
    vec2 p = vec2(pos.x * z, z + cam.y);
    vec4 c = texture2D(ground, p * 0.8);
    vec4 soft = texture2D(ground, p * 0.8, 1.5);
    float fog = 1.0 - exp(-z * 0.7);
    gl_FragColor = vec4(mix(mix(c, soft, 0.3).rgb, vec3(0.6, 0.7, 0.8), fog), 1.0);
}
