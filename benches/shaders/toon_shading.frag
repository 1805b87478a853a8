// cel shading of a sphere: three bands by an if ladder, rim, outline
//@ uniform3f lightDir 0.5 0.7 0.6
//@ uniform3f tint 0.9 0.4 0.2
//@ check share 0.01
precision mediump float;
uniform vec3 lightDir, tint;
varying vec4 pos;
void main() {
    vec2 p = pos.xy * 1.2;
    float r2 = dot(p, p);
    vec3 color = vec3(0.85, 0.9, 0.95);
    if (r2 < 1.0) {
        vec3 n = vec3(p, sqrt(1.0 - r2));
        float intensity = dot(n, normalize(lightDir));
        if (intensity > 0.95) color = vec3(1.0);
        else if (intensity > 0.5) color = tint;
        else if (intensity > 0.25) color = tint * 0.6;
        else color = tint * 0.3;
        if (n.z < 0.35) color = vec3(0.05);
        color += pow(1.0 - n.z, 4.0) * 0.2;
    }
    gl_FragColor = vec4(color, 1.0);
}
