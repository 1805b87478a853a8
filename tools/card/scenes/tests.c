/* Depth, stencil, scissors, other tests and clipping. */

#include <math.h>
#include <string.h>

#include "scenes.h"

void scene_depth(void)
{
    use_color();
    glEnable(GL_DEPTH_TEST);
    draw_at_depth(-0.8f, -0.8f, 0.6f, 0.6f, -0.5f, 0.5f, red);
    draw_at_depth(-0.6f, -0.6f, 0.8f, 0.8f, 0.5f, -0.5f, green);
    glDepthFunc(GL_GREATER);
    draw_at_depth(-0.9f, -0.3f, 0.9f, 0.3f, 0.1f, 0.1f, half_blue);
}

static void scene_depth_offset(void)
{
    use_color();
    glEnable(GL_DEPTH_TEST);
    draw_at_depth(-0.8f, -0.8f, 0.8f, 0.8f, -0.5f, 0.5f, red);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(-1, -4);
    draw_at_depth(-0.5f, -0.5f, 0.5f, 0.5f, -0.3125f, 0.3125f, green);
}

static void scene_stencil(void)
{
    use_color();
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 0, 255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    draw_random_triangles(8);
    for (int level = 0; level < 6; level++) {
        const float color[4] = {level / 5.0f, 1 - level / 5.0f, level & 1, 1};
        glStencilFunc(GL_EQUAL, level, 255);
        glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
        draw_rectangle(-1, -1, 1, 1, color);
    }
}

static void scene_stencil_faces(void)
{
    use_color();
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 0, 255);
    glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_KEEP, GL_INCR_WRAP);
    glStencilOpSeparate(GL_BACK, GL_KEEP, GL_KEEP, GL_DECR_WRAP);
    draw_random_triangles(12);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glStencilFunc(GL_LESS, 127, 255);
    draw_rectangle(-1, -1, 1, 1, amber);
}

static void scene_scissor(void)
{
    use_color();
    glEnable(GL_SCISSOR_TEST);
    glScissor(31, 17, 101, 153);
    draw_random_triangles(20);
}

static void scene_alpha_test(void)
{
    glEnable(GL_ALPHA_TEST);
    glAlphaFunc(GL_GREATER, 0.4f);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        glColor4f(triangle[i][2], triangle[i][3], triangle[i][4], i / 2.0f);
        glVertex2fv(triangle[i]);
    }
    glEnd();
}

static void scene_cull(void)
{
    use_color();
    glEnable(GL_CULL_FACE);
    draw_random_triangles(40);
}

static void scene_facing(void)
{
    use_program(vertex_plain, "varying vec4 v_color; void main() {\n"
                              "  gl_FragColor = gl_FrontFacing ? v_color : vec4(0.2, 0.2, 0.2, 1.0); }\n");
    draw_random_triangles(30);
}

static void scene_clip(void)
{
    float vertices[3][8];
    use_color();
    memcpy(vertices, triangle, sizeof vertices);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 2; c++)
            vertices[i][c] *= 40;
    draw_vertices(GL_TRIANGLES, vertices[0], 3);
    draw_at_depth(-0.9f, -0.2f, 0.9f, 0.2f, -2, 2, white);
}

static void scene_clip_planes(void)
{
    const double planes[2][4] = {{1, 0.5, 0, 0.3}, {-0.2, -1, 0, 0.4}};
    for (int i = 0; i < 2; i++) {
        glClipPlane(GL_CLIP_PLANE0 + i, planes[i]);
        glEnable(GL_CLIP_PLANE0 + i);
    }
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        glColor4fv(triangle[i] + 2);
        glVertex2fv(triangle[i]);
    }
    glEnd();
}

/* An occlusion query: the number of drawn pixels, as a bar. */
static void scene_occlusion(void)
{
    GLuint query, count = 0;
    use_color();
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
    glEndQuery(GL_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &count);
    glDeleteQueries(1, &query);
    draw_rectangle(-1, -1, -1 + 2 * (float)count / (SIZE * SIZE), -0.9f, white);
}

/* Separate functions, masks and operations for both faces; the last draws show bits of the values. */
static void scene_stencil_operations(void)
{
    static const GLenum operations[] = {GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT, GL_INCR_WRAP, GL_DECR_WRAP, GL_KEEP};
    use_color();
    glEnable(GL_STENCIL_TEST);
    glEnable(GL_DEPTH_TEST);
    glStencilFunc(GL_ALWAYS, 0x5a, 255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    draw_at_depth(-0.95f, -0.95f, 0.95f, 0.95f, -0.4f, 0.4f, red);
    for (int i = 0; i < 8; i++) {
        float x = i % 4 * 0.45f - 0.9f, y = i / 4 * 0.9f - 0.85f;
        glStencilFuncSeparate(GL_FRONT, GL_NOTEQUAL, 0xf3, 0x0f);
        glStencilFuncSeparate(GL_BACK, GL_GEQUAL, 0x5a, 0xff);
        glStencilOpSeparate(GL_FRONT, GL_KEEP, operations[i], operations[7 - i]);
        glStencilOpSeparate(GL_BACK, operations[i], operations[(i + 3) % 8], operations[(i + 1) % 8]);
        glStencilMaskSeparate(GL_FRONT, 0xff);
        glStencilMaskSeparate(GL_BACK, 0x3c);
        draw_at_depth(x, y, x + 0.4f, y + 0.4f, 0.3f, -0.3f, green);
        draw_at_depth(x + 0.4f, y + 0.4f, x, y + 0.8f, 0.3f, -0.3f, amber);
    }
    glDisable(GL_DEPTH_TEST);
    glStencilMask(255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    for (int bit = 0; bit < 8; bit++) {
        const float color[4] = {bit % 3 == 0 ? 0.2f : 0, bit % 3 == 1 ? 0.2f : 0, bit % 3 == 2 ? 0.2f : 0, 0};
        glStencilFunc(GL_EQUAL, 1 << bit, 1 << bit);
        draw_rectangle(-1, -1, 1, 1, color);
    }
}

/* Clears of a rectangle: colour, depth and some bits of stencil; rectangles then show the contents. */
static void scene_clear_scissored(void)
{
    use_color();
    glEnable(GL_SCISSOR_TEST);
    glScissor(13, 21, 90, 121);
    glClearColor(1, 0.5f, 0.25f, 0.5f);
    glClear(GL_COLOR_BUFFER_BIT);
    glScissor(51, 61, 117, 101);
    glClearDepth(0.25);
    glClear(GL_DEPTH_BUFFER_BIT);
    glScissor(81, 5, 91, 241);
    glStencilMask(0x0f);
    glClearStencil(0xff);
    glClear(GL_STENCIL_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    glEnable(GL_DEPTH_TEST);
    draw_at_depth(-0.9f, -0.9f, 0.7f, 0.9f, 0, 0, half_blue);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_EQUAL, 0x0f, 0xff);
    glDisable(GL_DEPTH_TEST);
    draw_rectangle(-0.5f, -0.8f, 0.9f, 0.2f, green);
    glClearDepth(1);
    glClearStencil(0);
    glStencilMask(0xff);
}

/* All depth functions: a plane that crosses the first one, and the first plane again. */
static void scene_depth_functions(void)
{
    static const GLenum functions[] = {GL_NEVER, GL_LESS, GL_EQUAL, GL_LEQUAL, GL_GREATER, GL_NOTEQUAL, GL_GEQUAL, GL_ALWAYS};
    use_color();
    glEnable(GL_DEPTH_TEST);
    draw_at_depth(-1, -1, 1, 1, -0.5f, 0.5f, red);
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < 8; i++) {
        glDepthFunc(functions[i]);
        glDepthMask(i & 1);
        glScissor(0, i * SIZE / 8 + 2, SIZE / 2, SIZE / 8 - 4);
        draw_at_depth(-1, -1, 1, 1, 0.4f, -0.9f, green);
        glScissor(SIZE / 2, i * SIZE / 8 + 2, SIZE / 2, SIZE / 8 - 4);
        draw_at_depth(-1, -1, 1, 1, -0.5f, 0.5f, half_blue);
    }
    glDisable(GL_SCISSOR_TEST);
}

/* Polygon offsets in line and point modes. */
static void scene_offset_modes(void)
{
    use_color();
    glEnable(GL_DEPTH_TEST);
    draw_at_depth(-0.9f, -0.9f, 0.9f, 0.9f, -0.5f, 0.5f, red);
    glEnable(GL_POLYGON_OFFSET_LINE);
    glEnable(GL_POLYGON_OFFSET_POINT);
    glPolygonOffset(0, -200000);
    glLineWidth(3);
    glPointSize(9);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    draw_at_depth(-0.507f, -0.507f, 0.507f, 0.507f, -0.2817f, 0.2817f, green);
    glPolygonMode(GL_FRONT_AND_BACK, GL_POINT);
    draw_at_depth(-0.707f, -0.707f, 0.707f, 0.707f, -0.3928f, 0.3928f, white);
}

static void scene_depth_from_program(void)
{
    use_color();
    glEnable(GL_DEPTH_TEST);
    draw_at_depth(-0.9f, -0.9f, 0.9f, 0.9f, -0.5f, 0.5f, red);
    use_program(vertex_plain, "varying vec4 v_color; varying vec2 v_coord; void main() {\n"
                              "  gl_FragColor = v_color; gl_FragDepth = v_coord.y * 1.2 - 0.1; }\n");
    draw_rectangle(-0.7f, -0.8f, 0.8f, 0.8f, green);
}

/* Conditional draws that depend on two query results, one of which is zero. */
static void scene_conditional(void)
{
    GLuint queries[2];
    use_color();
    glGenQueries(2, queries);
    glBeginQuery(GL_SAMPLES_PASSED, queries[0]);
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
    glEndQuery(GL_SAMPLES_PASSED);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_NEVER);
    glBeginQuery(GL_SAMPLES_PASSED, queries[1]);
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
    glEndQuery(GL_SAMPLES_PASSED);
    glDisable(GL_DEPTH_TEST);
    for (int i = 0; i < 2; i++) {
        glBeginConditionalRenderNV(queries[i], GL_QUERY_WAIT_NV);
        draw_rectangle(i - 0.8f, 0.5f, i - 0.2f, 0.9f, i ? red : green);
        glEndConditionalRenderNV();
    }
    glDeleteQueries(2, queries);
}

const struct scene tests_scenes[] = {
    {"depth-24", scene_depth},
    {"depth-16", scene_depth, .depth = GL_DEPTH_COMPONENT16},
    {"depth-offset", scene_depth_offset},
    {"stencil", scene_stencil},
    {"stencil-faces", scene_stencil_faces},
    {"scissor", scene_scissor},
    {"alpha-test", scene_alpha_test},
    {"cull", scene_cull},
    {"facing", scene_facing},
    {"clip", scene_clip},
    {"clip-planes", scene_clip_planes},
    {"occlusion", scene_occlusion},
    {"stencil-operations", scene_stencil_operations},
    {"clear-scissored", scene_clear_scissored},
    {"depth-functions", scene_depth_functions},
    {"offset-modes", scene_offset_modes},
    {"depth-from-program", scene_depth_from_program},
    {"conditional", scene_conditional, .needs = "GL_NV_conditional_render"},
    {0},
};
