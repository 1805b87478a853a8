// Cook-Torrance (GGX, Smith, Schlick) on a sphere, three lights in an unrolled loop
//@ uniform4f mat 0.35 0.6 0.9 0.55
precision highp float;
uniform vec4 mat; // roughness, metalness, exposure, height of the lights
varying vec4 pos;
vec3 shade(vec3 n, vec3 v, vec3 l, vec3 albedo, vec3 f0) {
    vec3 h = normalize(v + l);
    float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 0.001), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);
    float a = mat.x * mat.x, a2 = a * a, k = (mat.x + 1.0) * (mat.x + 1.0) / 8.0;
    float q = nh * nh * (a2 - 1.0) + 1.0;
    float d = a2 / (3.14159265 * q * q);
    float g = nl / (nl * (1.0 - k) + k) * nv / (nv * (1.0 - k) + k);
    vec3 f = f0 + (1.0 - f0) * pow(1.0 - vh, 5.0);
    vec3 spec = d * g * f / (4.0 * nl * nv + 0.001);
    return ((1.0 - f) * (1.0 - mat.y) * albedo / 3.14159265 + spec) * nl;
}
void main() {
    vec2 p = pos.xy * 1.1;
    float r2 = dot(p, p);
    if (r2 > 1.0) { gl_FragColor = vec4(0.05, 0.05, 0.07, 1.0); return; }
    vec3 n = vec3(p, sqrt(1.0 - r2)), v = normalize(vec3(-p * 0.3, 1.0));
    vec3 albedo = mix(vec3(0.9, 0.3, 0.2), vec3(0.9, 0.8, 0.4), smoothstep(-0.1, 0.1, sin(p.y * 6.0)));
    vec3 f0 = mix(vec3(0.04), albedo, mat.y), sum = albedo * 0.05;
    for (int i = 0; i < 3; i++) {
        float k = float(i) * 2.1;
        vec3 l = normalize(vec3(cos(k), sin(k), mat.w + 0.2));
        sum += shade(n, v, l, albedo, f0) * (2.5 - 0.5 * float(i));
    }
    gl_FragColor = vec4(pow(1.0 - exp(-sum * mat.z), vec3(0.4545)), 1.0);
}
