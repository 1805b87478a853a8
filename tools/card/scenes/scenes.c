/* The scenes. */

#include <math.h>
#include <string.h>

#include "scenes.h"

static const float white[4] = {1, 1, 1, 1}, red[4] = {1, 0, 0, 1}, green[4] = {0, 1, 0, 1};
static const float half_blue[4] = {0, 0.25f, 1, 0.5f}, amber[4] = {1, 0.7f, 0.1f, 0.75f};

/* --- Shapes --- */

static const float triangle[3][8] = {
    {-0.8f, -0.7f, 1, 0, 0, 1, 0, 0},
    {0.9f, -0.5f, 0, 1, 0, 1, 1, 0},
    {-0.1f, 0.85f, 0, 0, 1, 1, 0, 1},
};

static void draw_random_triangles(int count)
{
    for (int i = 0; i < count; i++) {
        float vertices[3][8];
        for (int v = 0; v < 3; v++)
            for (int c = 0; c < 8; c++)
                vertices[v][c] = c < 2 ? next_random() * 2 - 1 : c == 5 ? 1 : next_random();
        draw_vertices(GL_TRIANGLES, vertices[0], 3);
    }
}

/* A rectangle from corner to corner at a depth, through the program's matrix. */
static void draw_at_depth(float x0, float y0, float x1, float y1, float z0, float z1, const float color[4])
{
    const float p[4][3] = {{x0, y0, z0}, {x1, y0, z1}, {x1, y1, z1}, {x0, y1, z0}};
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i < 4; i++) {
        glVertexAttrib4fv(1, color);
        glVertexAttrib4f(0, p[i][0], p[i][1], p[i][2], 1);
    }
    glEnd();
}

static void use_color(void) { use_program(vertex_plain, fragment_color); }

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

static void scene_triangle(void)
{
    use_color();
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
}

static void scene_triangles(void)
{
    use_color();
    draw_random_triangles(100);
}

/* Each pixel of a mesh is drawn once: with additive blending, seams would be brighter or darker. */
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

/* --- Depth, stencil, tests --- */

static void scene_depth(void)
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

/* How many pixels were drawn, as a bar. */
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

/* --- Blending --- */

static void draw_blended(GLenum equation, GLenum source, GLenum destination)
{
    use_color();
    draw_random_triangles(10);
    glEnable(GL_BLEND);
    glBlendEquation(equation);
    glBlendFunc(source, destination);
    draw_rectangle(-0.9f, -0.9f, 0.3f, 0.5f, half_blue);
    draw_rectangle(-0.4f, -0.5f, 0.9f, 0.9f, amber);
}

static void scene_blend(void) { draw_blended(GL_FUNC_ADD, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA); }
static void scene_blend_subtract(void) { draw_blended(GL_FUNC_REVERSE_SUBTRACT, GL_ONE, GL_ONE); }
static void scene_blend_max(void) { draw_blended(GL_MAX, GL_ONE, GL_ONE); }

static void scene_blend_constant(void)
{
    glBlendColor(0.3f, 0.6f, 0.9f, 0.5f);
    draw_blended(GL_FUNC_ADD, GL_CONSTANT_COLOR, GL_ONE_MINUS_CONSTANT_ALPHA);
}

static void scene_logic_op(void)
{
    use_color();
    draw_random_triangles(10);
    glEnable(GL_COLOR_LOGIC_OP);
    glLogicOp(GL_XOR);
    draw_rectangle(-0.7f, -0.7f, 0.7f, 0.7f, amber);
}

/* --- Textures --- */

static GLuint new_texture(GLenum target, int size, GLenum filter)
{
    static unsigned char texels[64 * 64 * 4];
    GLuint texture;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            unsigned char *texel = texels + (y * size + x) * 4;
            texel[0] = x * 255 / size, texel[1] = y * 255 / size;
            texel[2] = (x ^ y) & 8 ? 255 : 40, texel[3] = 255;
        }
    glGenTextures(1, &texture);
    glBindTexture(target, texture);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, filter == GL_NEAREST ? GL_NEAREST : GL_LINEAR);
    for (int face = 0; face < (target == GL_TEXTURE_CUBE_MAP ? 6 : 1); face++) {
        GLenum image = target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face : target;
        texels[2] = face * 50;
        glTexImage2D(image, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    return texture;
}

static void draw_textured(GLenum filter, int mipmaps)
{
    GLuint texture;
    use_program(vertex_plain, fragment_texture);
    texture = new_texture(GL_TEXTURE_2D, 64, filter);
    if (mipmaps)
        glGenerateMipmap(GL_TEXTURE_2D);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    draw_rectangle(0.5f, 0.5f, 0.75f, 0.75f, amber);
    glDeleteTextures(1, &texture);
}

static void scene_texture(void) { draw_textured(GL_NEAREST, 0); }
static void scene_texture_linear(void) { draw_textured(GL_LINEAR, 0); }
static void scene_mipmaps(void) { draw_textured(GL_NEAREST_MIPMAP_NEAREST, 1); }
static void scene_trilinear(void) { draw_textured(GL_LINEAR_MIPMAP_LINEAR, 1); }

static void scene_texture_perspective(void)
{
    use_program("attribute vec4 position; attribute vec4 color; attribute vec2 coord;\n"
                "varying vec4 v_color; varying vec2 v_coord;\n"
                "void main() { gl_Position = vec4(position.xy, 0.0, 1.5 + position.y); v_color = color;\n"
                "  v_coord = coord * 3.0; }\n",
                fragment_texture);
    GLuint texture = new_texture(GL_TEXTURE_2D, 64, GL_LINEAR);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    glDeleteTextures(1, &texture);
}

static void scene_cube_map(void)
{
    use_program(vertex_plain, "uniform samplerCube image; varying vec2 v_coord; void main() {\n"
                              "  vec2 a = v_coord * vec2(6.28, 3.14);\n"
                              "  gl_FragColor = textureCube(image, vec3(sin(a.y) * cos(a.x), cos(a.y), sin(a.y) * sin(a.x))); }\n");
    GLuint texture = new_texture(GL_TEXTURE_CUBE_MAP, 32, GL_NEAREST);
    draw_rectangle(-1, -1, 1, 1, white);
    glDeleteTextures(1, &texture);
}

static void scene_sprites(void)
{
    glEnable(GL_POINT_SPRITE);
    glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, 1);
    glPointSize(24);
    use_program(vertex_plain, "#version 120\nvoid main() { gl_FragColor = vec4(gl_PointCoord, 0.5, 1.0); }\n");
    float vertices[9][8] = {{0}};
    for (int i = 0; i < 9; i++)
        vertices[i][0] = (i % 3) * 0.5f - 0.5f, vertices[i][1] = (i / 3) * 0.5f - 0.45f;
    draw_vertices(GL_POINTS, vertices[0], 9);
}

static void scene_copy_image(void)
{
    GLuint texture;
    use_color();
    draw_random_triangles(10);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIZE / 4, SIZE / 4, SIZE / 2, SIZE / 2, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    use_program(vertex_plain, fragment_texture);
    draw_rectangle(0, 0, 1, 1, white);
    glDeleteTextures(1, &texture);
}

/* --- Targets --- */

static GLint bound_frame(void)
{
    GLint frame;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &frame);
    return frame;
}

/* Draws into textures with `draw`, then shows them side by side. */
static void draw_through_textures(int count, void (*draw)(void))
{
    static const GLenum attachments[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    GLint outside = bound_frame();
    GLuint frame, textures[2];
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    for (int i = 0; i < count; i++) {
        textures[i] = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
        glFramebufferTexture2D(GL_FRAMEBUFFER, attachments[i], GL_TEXTURE_2D, textures[i], 0);
    }
    glDrawBuffers(count, attachments);
    glViewport(0, 0, 64, 64);
    glClear(GL_COLOR_BUFFER_BIT);
    draw();
    glBindFramebuffer(GL_FRAMEBUFFER, outside);
    glViewport(0, 0, SIZE, SIZE);
    use_program(vertex_plain, fragment_texture);
    for (int i = 0; i < count; i++) {
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        draw_rectangle(-0.9f + i, -0.9f, -0.1f + i + (count == 1), 0.9f, white);
    }
    glDeleteTextures(count, textures);
    glDeleteFramebuffers(1, &frame);
}

static void scene_render_to_texture(void) { draw_through_textures(1, scene_triangle); }

static void draw_two_outputs(void)
{
    use_program(vertex_plain, "varying vec4 v_color; void main() {\n"
                              "  gl_FragData[0] = v_color; gl_FragData[1] = vec4(1.0) - v_color * 0.5; }\n");
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
}

static void scene_two_targets(void) { draw_through_textures(2, draw_two_outputs); }

static void scene_blit(void)
{
    GLint frame = bound_frame();
    GLuint other, texture;
    use_color();
    draw_random_triangles(10);
    texture = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
    glGenFramebuffers(1, &other);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, other);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glBlitFramebuffer(0, 0, 64, 64, 16, 16, 144, 144, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitFramebuffer(0, 0, 64, 64, 240, 240, 176, 176, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glDeleteFramebuffers(1, &other);
    glDeleteTextures(1, &texture);
}

/* --- Fixed functions and loops --- */

static void scene_light(void)
{
    const float position[4] = {0.5f, 0.5f, 1, 0};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glLightfv(GL_LIGHT0, GL_POSITION, position);
    glMaterialfv(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE, amber);
    glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, white);
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 20);
    for (int row = 0; row < 8; row++) {
        glBegin(GL_TRIANGLE_STRIP);
        for (int i = 0; i <= 16; i++)
            for (int k = 0; k < 2; k++) {
                float a = (row + k) * 3.14159f / 8, b = i * 6.28318f / 16;
                float n[3] = {sinf(a) * cosf(b), cosf(a), sinf(a) * sinf(b)};
                glNormal3fv(n);
                glVertex3f(n[0] * 0.8f, n[1] * 0.8f, n[2] * 0.8f);
            }
        glEnd();
    }
}

static void scene_fog(void)
{
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogf(GL_FOG_START, -0.5f);
    glFogf(GL_FOG_END, 0.8f);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        glColor4fv(triangle[i] + 2);
        glVertex3f(triangle[i][0], triangle[i][1], 0.8f - 0.8f * i);
    }
    glEnd();
}

static void scene_vertex_loop(void)
{
    GLuint program = use_program(
        "attribute vec4 position; attribute vec4 color; varying vec4 v_color; uniform int count;\n"
        "void main() { vec2 p = position.xy; v_color = color;\n"
        "  for (int i = 0; i < count; i++) { p = vec2(p.x - p.y * 0.2, p.y + p.x * 0.2);\n"
        "    if (dot(p, p) > 0.8) v_color.r = 1.0 - v_color.r; }\n"
        "  gl_Position = vec4(p * 0.7, 0.0, 1.0); }\n",
        fragment_color);
    glUniform1i(glGetUniformLocation(program, "count"), 5);
    draw_random_triangles(8);
}

static void scene_fragment_loop(void)
{
    use_program(vertex_plain, "varying vec2 v_coord; void main() { vec2 z = vec2(0.0), c = v_coord * 3.0 - vec2(2.2, 1.5);\n"
                              "  float n = 0.0; for (int i = 0; i < 20; i++) {\n"
                              "    if (dot(z, z) > 4.0) break; z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c; n += 0.05; }\n"
                              "  gl_FragColor = vec4(n, n * n, 1.0 - n, 1.0); }\n");
    draw_rectangle(-1, -1, 1, 1, white);
}

static void scene_discard(void)
{
    use_program(vertex_plain, "varying vec2 v_coord; varying vec4 v_color; void main() {\n"
                              "  if (fract(v_coord.x * 8.0) < 0.5 && fract(v_coord.y * 8.0) < 0.5) discard;\n"
                              "  gl_FragColor = v_color; }\n");
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, amber);
}

const struct scene scenes[] = {
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
    {"sprites", scene_sprites},
    {"flat", scene_flat},
    {"polygon-mode", scene_polygon_mode},
    {"elements", scene_elements},
    {"byte-vertices", scene_byte_vertices},
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
    {"blend", scene_blend},
    {"blend-subtract", scene_blend_subtract},
    {"blend-max", scene_blend_max},
    {"blend-constant", scene_blend_constant},
    {"logic-op", scene_logic_op},
    {"texture", scene_texture},
    {"texture-linear", scene_texture_linear},
    {"mipmaps", scene_mipmaps},
    {"trilinear", scene_trilinear},
    {"texture-perspective", scene_texture_perspective},
    {"cube-map", scene_cube_map},
    {"copy-image", scene_copy_image},
    {"render-to-texture", scene_render_to_texture},
    {"two-targets", scene_two_targets},
    {"blit", scene_blit},
    {"target-565", scene_triangles, .color = GL_RGB565},
    {"target-float16", scene_triangles, .color = GL_RGBA16F},
    {"target-float32", scene_triangles, .color = GL_RGBA32F},
    {"blend-float16", scene_blend, .color = GL_RGBA16F},
    {"samples-2", scene_triangles, .samples = 2},
    {"samples-4", scene_triangles, .samples = 4},
    {"samples-4-depth", scene_depth, .samples = 4},
    {"light", scene_light},
    {"fog", scene_fog},
    {"vertex-loop", scene_vertex_loop},
    {"fragment-loop", scene_fragment_loop},
    {"discard", scene_discard},
    {0},
};
