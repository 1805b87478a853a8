/* Shared declarations of the scenes. */
#ifndef SCENES_H
#define SCENES_H

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

/* Width and height of every picture, in pixels. Captures for tests use a smaller size. */
#ifndef SIZE
#define SIZE 256
#endif

/* A scene: a function that draws into the bound frame buffer of SIZE x SIZE pixels. */
struct scene {
    const char *name;
    void (*draw)(void);
    /* Internal format of the colour buffer (0: GL_RGBA8), of the depth buffer (0:
     * GL_DEPTH24_STENCIL8), and samples per pixel. */
    GLenum color, depth;
    int samples;
    /* An extension that the scene needs (NULL: none); without it, the scene is skipped. */
    const char *needs;
};

/* The scenes by subject; each list ends with a scene without a name. */
extern const struct scene shapes_scenes[], tests_scenes[], blending_scenes[], textures_scenes[], targets_scenes[],
    functions_scenes[];

/* Scenes that are drawn in several frame buffers. */
void scene_triangle(void), scene_triangles(void), scene_depth(void), scene_blend(void);

/* Returns whether the driver has the extension that a scene needs. */
int can_draw(const struct scene *scene);

/* Draws a scene and stores its pixels from the bottom row up. Returns NULL, or an error message. */
const char *draw_scene(const struct scene *scene, unsigned char *rgba);

/* Compiles a program of GLSL 1.10 from two sources and binds it; attributes: 0 `position`, 1 `color`, 2 `coord`. */
GLuint use_program(const char *vertex, const char *fragment);

/* Draws vertices of 2 (position) + 4 (colour) + 2 (coordinate) floats with the program in use. */
void draw_vertices(GLenum mode, const float *vertices, int count);

/* Draws one rectangle in the same way, with a colour and coordinates from 0 to 1. */
void draw_rectangle(float x0, float y0, float x1, float y1, const float color[4]);

/* Three vertices for `draw_vertices`, counter-clockwise. */
extern const float triangle[3][8];
extern const float white[4], red[4], green[4], half_blue[4], amber[4];

void draw_random_triangles(int count);

/* Draws a rectangle from corner to corner, with depth from z0 at the left to z1 at the right. */
void draw_at_depth(float x0, float y0, float x1, float y1, float z0, float z1, const float color[4]);

/* Binds the program that draws vertex colours. */
void use_color(void);

/* Creates a texture of size x size texels (up to 64) in RGBA8, bound to its target. */
GLuint new_texture(GLenum target, int size, GLenum filter);

/* Returns the next number of a fixed pseudo-random sequence, from 0 to 1. */
float next_random(void);

extern const char vertex_plain[], fragment_color[], fragment_texture[];

#endif
