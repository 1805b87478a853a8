// rows of bricks, every other shifted; mortar by step
//@ texture grain noise 64 64 nearest nearest repeat repeat
//@ uniform4f brick 0.25 0.125 0.9 0.8
precision mediump float;
uniform sampler2D grain; uniform vec4 brick;
varying vec2 uv;
void main() {
    vec2 p = (uv + 0.003) / brick.xy;
    if (fract(p.y * 0.5) > 0.5) p.x += 0.5;
    vec2 cell = floor(p);
    vec2 use = step(fract(p), brick.zw);
    float isBrick = use.x * use.y;
    float shade = 0.8 + 0.2 * fract(cell.x * 0.37 + cell.y * 0.61);
    vec3 c = mix(vec3(0.75, 0.73, 0.7), vec3(0.65, 0.22, 0.16) * shade, isBrick);
    gl_FragColor = vec4(c + (texture2D(grain, uv).r - 0.5) * 0.15, 1.0);
}
