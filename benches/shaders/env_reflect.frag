// reflection and refraction of an analytic sky, Fresnel; normals are perturbed twice
//@ uniform3f par 1.33 0.5 4
precision highp float;
uniform vec3 par;
varying vec4 pos; varying vec2 uv;
vec3 env(vec3 d) {
    d = normalize(d);
    vec3 c = mix(vec3(0.5, 0.45, 0.4), vec3(0.3, 0.5, 0.9), smoothstep(-0.3, 0.3, d.y));
    return c + pow(max(dot(d, normalize(vec3(0.5, 0.8, 0.3))), 0.0), 20.0);
}
void main() {
    vec3 v = normalize(vec3(pos.xy * 0.6, 1.0));
    vec3 n = normalize(vec3(sin(uv.x * par.z * 3.0) * par.y, cos(uv.y * par.z * 2.0) * par.y, -1.0));
    n = normalize(n + 0.1 * normalize(vec3(cos(uv.y * 23.0), sin(uv.x * 19.0), 1.0)));
    vec3 r = reflect(v, n), t = refract(v, n, 1.0 / par.x);
    float f = 0.02 + 0.98 * pow(clamp(1.0 + dot(v, n), 0.0, 1.0), 5.0);
    gl_FragColor = vec4(mix(env(t) * vec3(0.7, 0.9, 0.95), env(r), f * 3.0), 1.0);
}
