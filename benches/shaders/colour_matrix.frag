// a 4x5 matrix of uniforms, as in image editors, then contrast
//@ texture image noise 64 64 nearest nearest repeat repeat
//@ uniform4f rowR 0.6 0.3 0.1 0.0
//@ uniform4f rowG -0.2 0.9 0.3 0.1
//@ uniform4f rowB 0.1 -0.4 1.2 0.0
//@ uniform4f rowA 0.2 0.2 0.2 0.3
//@ uniform4f offset 0.05 0.0 -0.03 0.1
precision mediump float;
uniform sampler2D image; uniform vec4 rowR, rowG, rowB, rowA, offset;
varying vec2 uv;
void main() {
    vec4 c = texture2D(image, uv);
    vec4 m = vec4(dot(c, rowR), dot(c, rowG), dot(c, rowB), dot(c, rowA)) + offset;
    gl_FragColor = (m - 0.5) * 1.2 + 0.5;
}
