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
    /* An extension without which the scene is left out (NULL: none). */
    const char *needs;
};

/* The scenes by subject; after the last of a subject is one without a name. */
extern const struct scene shapes_scenes[], tests_scenes[], blending_scenes[], textures_scenes[], targets_scenes[],
    functions_scenes[];

/* Scenes that are drawn in several frame buffers. */
void scene_triangle(void), scene_triangles(void), scene_depth(void), scene_blend(void);

/* Whether the driver has the extension that a scene needs. */
int can_draw(const struct scene *scene);

/* Draws a scene: its pixels from the bottom row up, or what is wrong. */
const char *draw_scene(const struct scene *scene, unsigned char *rgba);

/* A program of GLSL 1.10 from two sources; attributes: 0 `position`, 1 `color`, 2 `coord`. It is in use
 * when this returns. */
GLuint use_program(const char *vertex, const char *fragment);

/* Draws vertices of 2 (position) + 4 (colour) + 2 (coordinate) floats with the program in use. */
void draw_vertices(GLenum mode, const float *vertices, int count);

/* The same for one rectangle with a colour and coordinates from 0 to 1. */
void draw_rectangle(float x0, float y0, float x1, float y1, const float color[4]);

/* Three vertices for `draw_vertices`, anticlockwise. */
extern const float triangle[3][8];
extern const float white[4], red[4], green[4], half_blue[4], amber[4];

void draw_random_triangles(int count);

/* A rectangle from corner to corner, at a depth that goes from z0 at the left to z1 at the right. */
void draw_at_depth(float x0, float y0, float x1, float y1, float z0, float z1, const float color[4]);

/* Takes the program that draws colours of vertices. */
void use_color(void);

/* A texture of size x size texels (up to 64) in RGBA8, bound to its target. */
GLuint new_texture(GLenum target, int size, GLenum filter);

/* The next number of a fixed sequence, from 0 to 1. */
float next_random(void);

extern const char vertex_plain[], fragment_color[], fragment_texture[];

#endif
