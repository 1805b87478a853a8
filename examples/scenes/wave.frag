precision mediump float;
varying vec3 normal;
varying float height;

void main() {
    float light = max(dot(normalize(normal), normalize(vec3(0.4, 1.0, 0.3))), 0.0);
    gl_FragColor = vec4(mix(vec3(0.1, 0.2, 0.5), vec3(0.6, 0.9, 1.0), 2.0 * height + 0.5) * light, 1.0);
}
