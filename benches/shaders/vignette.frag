// the shortest of them
//@ texture image smooth 32 32 linear linear clamp repeat
precision mediump float;
uniform sampler2D image;
varying vec2 uv; varying vec4 pos;
void main() {
    gl_FragColor = texture2D(image, uv) * smoothstep(1.5, 0.4, length(pos.xy));
}
