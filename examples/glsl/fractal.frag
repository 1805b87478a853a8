// The Mandelbrot set as ShaderToy has it: a loop that pixels leave at different times, coloured by the step.
//@ uniform2f center -0.745 0.186
//@ uniform1f zoom 0.9
uniform vec2 center;
uniform float zoom;

void mainImage(out vec4 color, in vec2 place) {
    vec2 c = (2.0 * place - iResolution.xy) / iResolution.y;
    c = center + c * zoom * (0.6 + 0.4 * cos(iTime * 0.4));
    vec2 z = vec2(0.0);
    float steps = 0.0;
    for (int i = 0; i < 100; i++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        if (dot(z, z) > 16.0) break;
        steps += 1.0;
    }
    float smooth_steps = steps - log2(max(log2(dot(z, z)), 0.001));
    vec3 rgb = 0.5 + 0.5 * cos(3.0 + smooth_steps * 0.15 + vec3(0.0, 0.6, 1.0));
    color = vec4(steps < 99.0 ? rgb : vec3(0.0), 1.0);
}

// Level: advanced
