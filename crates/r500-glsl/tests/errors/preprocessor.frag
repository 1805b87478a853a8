#define TWICE(x) ((x) + (x))
#ifdef GL_ES
precision mediump float;
#endif
#if NOT_DEFINED + 
#endif
#inclued "a.glsl"
#include "b.glsl"
#error no good
void main() {
    gl_FragColor = vec4(TWICE(0.1, 0.2));
}
#if 1
