/* What scenes share. */
#ifndef SCENES_H
#define SCENES_H

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

/* Width and height of every picture, in pixels. Captures for tests are made smaller. */
#ifndef SIZE
#define SIZE 256
#endif

/* A scene: a function that draws into the bound frame buffer of SIZE x SIZE pixels. */
struct scene {
    const char *name;
    void (*draw)(void);
    /* Internal format of the colour buffer (0: GL_RGBA8), of the depth buffer (0: GL_DEPTH24_STENCIL8),
     * and samples a pixel. */
    GLenum color, depth;
    int samples;
};

/* All scenes; the last has no name. */
extern const struct scene scenes[];

/* Draws a scene: its pixels from the bottom row up, or what is wrong. */
const char *draw_scene(const struct scene *scene, unsigned char *rgba);

/* A program of GLSL 1.10 from two sources; attributes: 0 `position`, 1 `color`, 2 `coord`. It is in use
 * when this returns. */
GLuint use_program(const char *vertex, const char *fragment);

/* Draws vertices of 2 (position) + 4 (colour) + 2 (coordinate) floats with the program in use. */
void draw_vertices(GLenum mode, const float *vertices, int count);

/* The same for one rectangle with a colour and coordinates from 0 to 1. */
void draw_rectangle(float x0, float y0, float x1, float y1, const float color[4]);

/* The next number of a fixed sequence, from 0 to 1. */
float next_random(void);

extern const char vertex_plain[], fragment_color[], fragment_texture[];

#endif
