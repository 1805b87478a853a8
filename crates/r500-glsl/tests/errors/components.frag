precision mediump float;
varying vec2 uv;
uniform sampler2D image;
void main() {
    vec3 c = texture2D(image, uv);
    vec2 d = c.xw + c.rgb;
    gl_FragColor = vec4(c, d);
}
