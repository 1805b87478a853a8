// ray against a plane and a sphere, checker, reflection of the sky, fog
//@ uniform3f eye 0.3 0.9 -2.4
precision highp float;
uniform vec3 eye;
varying vec4 pos;
struct Ray { vec3 o, d; };
float plane(Ray r, float y) { return (y - r.o.y) / r.d.y; }
float sphere(Ray r, vec3 c, float radius) {
    vec3 oc = r.o - c;
    float b = dot(oc, r.d), k = dot(oc, oc) - radius * radius, h = b * b - k;
    return h < 0.0 ? -1.0 : -b - sqrt(h);
}
vec3 sky(vec3 d) { return mix(vec3(0.8, 0.85, 0.9), vec3(0.2, 0.4, 0.8), clamp(d.y * 1.5, 0.0, 1.0)); }
void main() {
    Ray ray = Ray(eye, normalize(vec3(pos.xy, 1.4)));
    vec3 col = sky(ray.d);
    float ts = sphere(ray, vec3(0.0, 0.6, 1.0), 0.6), tp = plane(ray, 0.0);
    if (ts > 0.0) {
        vec3 p = ray.o + ray.d * ts, n = normalize(p - vec3(0.0, 0.6, 1.0));
        vec3 r = reflect(ray.d, n);
        col = sky(r) * (0.5 + 0.5 * pow(1.0 + dot(ray.d, n), 3.0)) + 0.1;
    } else if (tp > 0.0) {
        vec3 p = ray.o + ray.d * tp;
        float c = mod(floor(p.x * 1.3 + 0.01) + floor(p.z * 1.3 + 0.01), 2.0);
        col = mix(mix(vec3(0.2), vec3(0.9), c), col, 1.0 - exp(-tp * 0.12));
    }
    gl_FragColor = vec4(col, 1.0);
}
