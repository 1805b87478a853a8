// A wall: a texture that is read twice, for its color and for its relief, and a light that moves.
precision mediump float;
//@ texture bricks = noise(64, 64, 3) linear wrap
uniform sampler2D bricks;
uniform float time;
uniform float relief;
uniform vec3 mortar_color;
varying vec2 uv;
//@ uniform1f relief 1.5
//@ uniform3f mortar_color 0.55 0.52 0.48

void main() {
    vec2 p = uv * vec2(6.0, 12.0);
    float row = floor(p.y);
    p.x += 0.5 * mod(row, 2.0);
    vec2 cell = fract(p);
    vec2 edge = smoothstep(0.0, 0.08, cell) * smoothstep(0.0, 0.08, 1.0 - cell);
    float is_brick = edge.x * edge.y;
    float grain = texture2D(bricks, uv * 4.0).r;
    float next = texture2D(bricks, uv * 4.0 + vec2(0.015, 0.015)).r;
    float shade = 0.75 + 0.25 * fract(sin(dot(floor(p), vec2(12.9, 78.2))) * 43758.5);
    vec3 brick = vec3(0.62, 0.25, 0.18) * shade * (0.8 + 0.4 * grain);
    vec3 base = mix(mortar_color * (0.7 + 0.3 * grain), brick, is_brick);
    vec2 lamp = 0.5 + 0.35 * vec2(cos(time), sin(time * 0.7));
    float near = 1.0 / (1.0 + 6.0 * dot(uv - lamp, uv - lamp));
    gl_FragColor = vec4(base * near * (1.0 + relief * (grain - next)) * 1.4, 1.0);
}

// Level: medium
