// a colour ramp of five stops by chained smoothsteps, and one by a texture
//@ texture ramp ramp 16 16 linear linear clamp clamp
//@ uniform4f stops 0.2 0.45 0.7 0.9
precision mediump float;
uniform sampler2D ramp; uniform vec4 stops;
varying vec2 uv; varying vec4 vc;
void main() {
    float t = uv.x + 0.1 * sin(uv.y * 12.0);
    vec3 c = vec3(0.05, 0.0, 0.2);
    c = mix(c, vec3(0.5, 0.1, 0.4), smoothstep(0.0, stops.x, t));
    c = mix(c, vec3(0.9, 0.3, 0.2), smoothstep(stops.x, stops.y, t));
    c = mix(c, vec3(1.0, 0.7, 0.3), smoothstep(stops.y, stops.z, t));
    c = mix(c, vec3(1.0, 1.0, 0.9), smoothstep(stops.z, stops.w, t));
    vec3 looked = texture2D(ramp, vec2(t, 0.5)).rgb;
    gl_FragColor = vec4(uv.y > 0.5 ? c : mix(c, looked, 0.7), 1.0);
}
