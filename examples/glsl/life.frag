// The game of life: each picture is the next generation of the picture before.
//@ texture iChannel0 = previous out[0] nearest wrap
// Level: medium

// Red is 1 where a cell lives; blue is what is left of those that lived.
float alive(vec2 place) {
    return step(0.5, texture2D(iChannel0, place / iResolution.xy).r);
}

void mainImage(out vec4 color, in vec2 place) {
    float around = alive(place + vec2(-1.0, -1.0)) + alive(place + vec2(0.0, -1.0)) + alive(place + vec2(1.0, -1.0))
                 + alive(place + vec2(-1.0, 0.0)) + alive(place + vec2(1.0, 0.0))
                 + alive(place + vec2(-1.0, 1.0)) + alive(place + vec2(0.0, 1.0)) + alive(place + vec2(1.0, 1.0));
    // Three neighbours give birth, two keep alive.
    float lives = step(2.5, around + 0.5 * alive(place)) * step(around, 3.25);
    if (iFrame == 0) {
        lives = step(0.7, fract(sin(dot(floor(place), vec2(12.9898, 78.233))) * 43758.5453));
    }
    float trace = texture2D(iChannel0, place / iResolution.xy).b;
    color = vec4(lives, lives, max(0.96 * trace, lives), 1.0);
}
