/* Primitives, vertices and clears. */

#include <math.h>
#include <string.h>

#include "scenes.h"

static void scene_clear(void)
{
    glClearColor(0.25f, 0.5f, 0.75f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

static void scene_clear_masked(void)
{
    glColorMask(1, 0, 1, 0);
    glClearColor(1, 1, 0.5f, 0);
    glClear(GL_COLOR_BUFFER_BIT);
}

void scene_triangle(void)
{
    use_color();
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
}

void scene_triangles(void)
{
    use_color();
    draw_random_triangles(100);
}

/* Each pixel of a mesh must be drawn exactly once: with additive blending, errors at seams show as brighter or
 * darker pixels. */
static void scene_mesh(void)
{
    enum { CELLS = 9 };
    float points[CELLS + 1][CELLS + 1][2];
    const float step[4] = {0.25f, 0.5f, 0.125f, 1};
    use_color();
    for (int y = 0; y <= CELLS; y++)
        for (int x = 0; x <= CELLS; x++) {
            int inside = x && y && x < CELLS && y < CELLS;
            points[y][x][0] = (x + (inside ? 0.6f * next_random() - 0.3f : 0)) * 1.8f / CELLS - 0.9f;
            points[y][x][1] = (y + (inside ? 0.6f * next_random() - 0.3f : 0)) * 1.8f / CELLS - 0.9f;
        }
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            const float *p[6] = {points[y][x], points[y][x + 1], points[y + 1][x],
                                 points[y + 1][x], points[y][x + 1], points[y + 1][x + 1]};
            float vertices[6][8] = {{0}};
            for (int i = 0; i < 6; i++) {
                memcpy(vertices[i], p[i], 2 * sizeof(float));
                memcpy(vertices[i] + 2, step, sizeof step);
            }
            draw_vertices(GL_TRIANGLES, vertices[0], 6);
        }
}

static void draw_circle(GLenum mode, int count)
{
    float vertices[64][8];
    use_color();
    for (int i = 0; i < count; i++) {
        float angle = (float)i * 2.399963f, radius = 0.15f + 0.7f * i / count;
        const float v[8] = {radius * cosf(angle), radius * sinf(angle), i % 3 == 0, i % 3 == 1, i % 3 == 2, 1, 0, 0};
        memcpy(vertices[i], v, sizeof v);
    }
    draw_vertices(mode, vertices[0], count);
}

static void scene_strip(void) { draw_circle(GL_TRIANGLE_STRIP, 12); }
static void scene_fan(void) { draw_circle(GL_TRIANGLE_FAN, 12); }
static void scene_quads(void) { draw_circle(GL_QUADS, 16); }
static void scene_quad_strip(void) { draw_circle(GL_QUAD_STRIP, 12); }
static void scene_polygon(void) { draw_circle(GL_POLYGON, 7); }
static void scene_lines(void) { draw_circle(GL_LINES, 60); }
static void scene_line_strip(void) { draw_circle(GL_LINE_STRIP, 40); }
static void scene_points(void) { draw_circle(GL_POINTS, 40); }

static void scene_wide_lines(void)
{
    glLineWidth(5);
    draw_circle(GL_LINES, 30);
}

static void scene_wide_points(void)
{
    glPointSize(7);
    draw_circle(GL_POINTS, 40);
}

static void scene_point_sizes(void)
{
    glEnable(GL_VERTEX_PROGRAM_POINT_SIZE);
    draw_circle(GL_POINTS, 40);
}

static void scene_flat(void)
{
    glShadeModel(GL_FLAT);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        glColor4fv(triangle[i] + 2);
        glVertex2fv(triangle[i]);
    }
    glEnd();
}

static void scene_polygon_mode(void)
{
    use_color();
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    draw_random_triangles(10);
}

static void scene_elements(void)
{
    static const unsigned short indices[] = {0, 1, 2, 2, 1, 3, 4, 5, 6};
    float vertices[7][8];
    use_color();
    for (int i = 0; i < 7; i++)
        for (int c = 0; c < 8; c++)
            vertices[i][c] = c < 2 ? next_random() * 1.8f - 0.9f : c == 5 ? 1 : next_random();
    GLuint buffers[2];
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, 0, 32, (char *)0);
    glVertexAttribPointer(1, 4, GL_FLOAT, 0, 32, (char *)0 + 8);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawElements(GL_TRIANGLES, 9, GL_UNSIGNED_SHORT, 0);
    glDisableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDeleteBuffers(2, buffers);
}

/* Vertices of small integers, scaled to 0 to 1. */
static void scene_byte_vertices(void)
{
    static const struct { signed char p[2]; unsigned char c[4]; } v[3] = {
        {{-100, -90}, {255, 0, 0, 255}}, {{110, -60}, {0, 255, 64, 255}}, {{0, 120}, {30, 60, 255, 255}}};
    use_color();
    glVertexAttribPointer(0, 2, GL_BYTE, 1, sizeof v[0], v[0].p);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, 1, sizeof v[0], v[0].c);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
}

static void scene_line_stipple(void)
{
    use_color();
    glEnable(GL_LINE_STIPPLE);
    glLineStipple(1, 0x5f0b);
    draw_vertices(GL_LINES, (const float[4][8]){{-0.93f, -0.71f, 1, 1, 0, 1}, {0.93f, -0.71f, 0, 1, 1, 1},
                                                {-0.61f, -0.9f, 1, 0, 0, 1}, {-0.61f, 0.9f, 0, 1, 0, 1}}[0], 4);
    glLineWidth(4);
    draw_vertices(GL_LINES, (const float[4][8]){{-0.4f, -0.5f, 1, 0, 0, 1}, {0.4f, -0.5f, 0, 1, 0, 1},
                                                     {0.4f, 0.5f, 0, 0, 1, 1}, {-0.4f, 0.5f, 1, 1, 1, 1}}[0], 4);
}

/* Front faces as points, back faces as lines. */
static void scene_polygon_mode_faces(void)
{
    use_color();
    glPointSize(5);
    glPolygonMode(GL_FRONT, GL_POINT);
    glPolygonMode(GL_BACK, GL_LINE);
    draw_random_triangles(20);
}

/* Indices of one and of four bytes, from an offset, with and without a base vertex. */
static void scene_elements_sizes(void)
{
    static const unsigned char bytes[] = {9, 9, 0, 1, 2, 2, 1, 3};
    static const unsigned int ints[] = {7, 0, 1, 2, 2, 1, 3};
    float vertices[8][8];
    use_color();
    for (int i = 0; i < 8; i++)
        for (int c = 0; c < 8; c++)
            vertices[i][c] = c < 2 ? next_random() * 1.8f - 0.9f : c == 5 ? 1 : next_random();
    glVertexAttribPointer(0, 2, GL_FLOAT, 0, 32, vertices[0]);
    glVertexAttribPointer(1, 4, GL_FLOAT, 0, 32, vertices[0] + 2);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, bytes + 2);
    glDrawElementsBaseVertex(GL_TRIANGLES, 6, GL_UNSIGNED_INT, (void *)(ints + 1), 4);
    glDisableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
}

/* A triangle in each cell, with a different format of position and colour. */
static void scene_vertex_formats(void)
{
    static const struct { GLenum type; int normalized, size; } formats[] = {
        {GL_SHORT, 1, 2}, {GL_UNSIGNED_SHORT, 1, 2}, {GL_UNSIGNED_BYTE, 1, 1}, {GL_HALF_FLOAT, 0, 2},
        {GL_SHORT, 0, 2}, {GL_UNSIGNED_BYTE, 0, 1}, {GL_INT, 0, 4}, {GL_DOUBLE, 0, 8}, {GL_UNSIGNED_INT, 1, 4}};
    static const unsigned char corners[3][4] = {{0, 0, 1, 1}, {1, 0, 0, 1}, {0, 1, 1, 1}};
    use_color();
    for (int i = 0; i < 9; i++) {
        unsigned char data[3][64] = {{0}};
        for (int v = 0; v < 3; v++)
            for (int c = 0; c < 4; c++) {
                int one = corners[v][c], size = formats[i].size;
                void *at = data[v] + c * size;
                switch (formats[i].type) {
                case GL_SHORT: *(short *)at = one * (formats[i].normalized ? 0x7fff : 1); break;
                case GL_UNSIGNED_SHORT: *(unsigned short *)at = one * 0xffff; break;
                case GL_UNSIGNED_BYTE: *(unsigned char *)at = one * (formats[i].normalized ? 255 : 1); break;
                case GL_HALF_FLOAT: *(unsigned short *)at = one * 0x3c00; break;
                case GL_INT: *(int *)at = one; break;
                case GL_DOUBLE: *(double *)at = one; break;
                case GL_UNSIGNED_INT: *(unsigned *)at = one * 0xffffffffu; break;
                }
            }
        glViewport(i % 3 * SIZE / 3, i / 3 * SIZE / 3, SIZE / 3, SIZE / 3);
        glVertexAttribPointer(0, 2, formats[i].type, formats[i].normalized, 64, data);
        glVertexAttribPointer(1, 4, formats[i].type, formats[i].normalized, 64, data);
        glEnableVertexAttribArray(0);
        glEnableVertexAttribArray(1);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
    glDisableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
}

/* Nine instances of a triangle, with a colour per two instances. */
static void scene_instances(void)
{
    float offsets[9][2], colors[5][4];
    use_program("attribute vec4 position; attribute vec4 color; attribute vec2 coord; varying vec4 v_color;\n"
                "void main() { gl_Position = vec4(position.xy * 0.3 + coord, 0.0, 1.0); v_color = color; }\n",
                fragment_color);
    for (int i = 0; i < 9; i++)
        offsets[i][0] = i % 3 * 0.6f - 0.6f, offsets[i][1] = i / 3 * 0.6f - 0.6f;
    for (int i = 0; i < 20; i++)
        colors[i / 4][i % 4] = i % 4 == 3 ? 1 : next_random();
    glVertexAttribPointer(0, 2, GL_FLOAT, 0, sizeof triangle[0], triangle[0]);
    glVertexAttribPointer(1, 4, GL_FLOAT, 0, 0, colors);
    glVertexAttribPointer(2, 2, GL_FLOAT, 0, 0, offsets);
    glVertexAttribDivisorARB(1, 2);
    glVertexAttribDivisorARB(2, 1);
    for (int i = 0; i < 3; i++)
        glEnableVertexAttribArray(i);
    glDrawArraysInstancedARB(GL_TRIANGLES, 0, 3, 9);
    for (int i = 0; i < 3; i++) {
        glDisableVertexAttribArray(i);
        glVertexAttribDivisorARB(i, 0);
    }
}

/* Points whose size decreases with the distance to the eye, between bounds. */
static void scene_point_attenuation(void)
{
    const float attenuation[3] = {0.2f, 0, 0.8f};
    glPointSize(20);
    glPointParameterf(GL_POINT_SIZE_MIN, 3);
    glPointParameterf(GL_POINT_SIZE_MAX, 25);
    glPointParameterfv(GL_POINT_DISTANCE_ATTENUATION, attenuation);
    glMatrixMode(GL_PROJECTION);
    glPushMatrix();
    glFrustum(-1, 1, -1, 1, 1, 10);
    glBegin(GL_POINTS);
    for (int i = 0; i < 25; i++) {
        float z = -1.01f - i * 0.2f;
        glColor3f(i / 24.0f, 1 - i / 24.0f, 0.5f);
        glVertex3f((i % 5 * 0.4f - 0.79f) * -z, (i / 5 * 0.4f - 0.79f) * -z, z);
    }
    glEnd();
    glPopMatrix();
    glMatrixMode(GL_MODELVIEW);
}

/* Points and lines whose centres or ends are outside the window. */
static void scene_partly_outside(void)
{
    float vertices[24][8] = {{0}};
    use_color();
    for (int i = 0; i < 24; i++) {
        float angle = i * 0.2618f;
        const float v[8] = {1.03f * cosf(angle) * 1.2f, 1.03f * sinf(angle) * 1.2f, i & 1, (i >> 1) & 1, 1, 1, 0, 0};
        memcpy(vertices[i], v, sizeof v);
    }
    glPointSize(31);
    draw_vertices(GL_POINTS, vertices[0], 24);
    glLineWidth(3);
    draw_vertices(GL_LINE_LOOP, vertices[0], 24);
}

/* Flat shading with the colour of the first vertex of a primitive, and with that of the last (both provoking-vertex
 * conventions). */
static void scene_provoking_vertex(void)
{
    static const GLenum modes[] = {GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_LINE_STRIP};
    glShadeModel(GL_FLAT);
    glLineWidth(5);
    for (int i = 0; i < 8; i++) {
        glViewport(i % 4 * SIZE / 4, i / 4 * SIZE / 2, SIZE / 4, SIZE / 2);
        glProvokingVertex(i < 4 ? GL_FIRST_VERTEX_CONVENTION : GL_LAST_VERTEX_CONVENTION);
        glBegin(modes[i % 4]);
        for (int v = 0; v < 6; v++) {
            glColor3f(v & 1, (v >> 1) & 1, v >> 2);
            glVertex2f(v % 2 * 1.2f - 0.7f + v * 0.05f, v / 2 * 0.7f - 0.8f);
        }
        glEnd();
    }
    glProvokingVertex(GL_LAST_VERTEX_CONVENTION);
}

/* Viewports that are larger than the picture or partly outside of it, and a reversed depth range. */
static void scene_viewports(void)
{
    use_color();
    glEnable(GL_DEPTH_TEST);
    glViewport(-SIZE / 2, -SIZE / 4, 2 * SIZE, SIZE);
    draw_at_depth(-0.9f, -0.9f, 0.9f, 0.9f, -0.9f, 0.9f, red);
    glViewport(SIZE / 3, SIZE / 3, SIZE, SIZE / 2);
    glDepthRange(0.9, 0.1);
    draw_at_depth(-0.9f, -0.9f, 0.9f, 0.9f, -0.9f, 0.9f, green);
    glDepthRange(0, 1);
}

const struct scene shapes_scenes[] = {
    {"clear", scene_clear},
    {"clear-masked", scene_clear_masked},
    {"triangle", scene_triangle},
    {"triangles", scene_triangles},
    {"mesh", scene_mesh},
    {"strip", scene_strip},
    {"fan", scene_fan},
    {"quads", scene_quads},
    {"quad-strip", scene_quad_strip},
    {"polygon", scene_polygon},
    {"lines", scene_lines},
    {"line-strip", scene_line_strip},
    {"wide-lines", scene_wide_lines},
    {"points", scene_points},
    {"wide-points", scene_wide_points},
    {"point-sizes", scene_point_sizes},
    {"flat", scene_flat},
    {"polygon-mode", scene_polygon_mode},
    {"elements", scene_elements},
    {"byte-vertices", scene_byte_vertices},
    {"line-stipple", scene_line_stipple},
    {"polygon-mode-faces", scene_polygon_mode_faces},
    {"elements-sizes", scene_elements_sizes},
    {"vertex-formats", scene_vertex_formats},
    {"instances", scene_instances, .needs = "GL_ARB_instanced_arrays"},
    {"point-attenuation", scene_point_attenuation},
    {"partly-outside", scene_partly_outside},
    {"provoking-vertex", scene_provoking_vertex, .needs = "GL_EXT_provoking_vertex"},
    {"viewports", scene_viewports},
    {0},
};
