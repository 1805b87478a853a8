// A sphere over a floor by ray marching: distances, a normal by differences, light and fog.
precision highp float;
uniform float time;
uniform vec2 resolution;
uniform float radius;
uniform vec3 light_color;
varying vec2 uv;
//@ uniform1f radius 1.0
//@ uniform3f light_color 1.0 0.8 0.55

float scene(vec3 p) {
    float sphere = length(p - vec3(0.0, 0.25 * sin(time * 2.0), 0.0)) - radius;
    float plane = p.y + 1.0;
    return min(sphere, plane);
}

vec3 normal(vec3 p) {
    vec2 e = vec2(0.002, 0.0);
    float d = scene(p);
    return normalize(vec3(scene(p + e.xyy), scene(p + e.yxy), scene(p + e.yyx)) - d);
}

void main() {
    vec2 p = 2.0 * uv - 1.0;
    vec3 eye = vec3(0.0, 0.4, -3.2);
    vec3 ray = normalize(vec3(p.x, p.y - 0.1, 1.6));
    float t = 0.0;
    for (int i = 0; i < 40; i++) {
        float d = scene(eye + t * ray);
        if (d < 0.002 || t > 12.0) break;
        t += d;
    }
    vec3 at = eye + t * ray;
    vec3 n = normal(at);
    vec3 to_light = normalize(vec3(cos(time), 1.4, sin(time) - 1.2));
    float diffuse = max(dot(n, to_light), 0.0);
    float shine = pow(max(dot(reflect(ray, n), to_light), 0.0), 24.0);
    float checker = mod(floor(at.x) + floor(at.z), 2.0);
    vec3 base = at.y > -0.99 ? vec3(0.75, 0.3, 0.25) : vec3(0.3 + 0.3 * checker);
    vec3 lit = base * (0.15 + diffuse * light_color) + shine * light_color;
    vec3 sky = mix(vec3(0.55, 0.7, 0.9), vec3(0.15, 0.3, 0.6), max(ray.y, 0.0));
    gl_FragColor = vec4(mix(lit, sky, clamp(t / 12.0, 0.0, 1.0)), 1.0);
}

// Level: medium
