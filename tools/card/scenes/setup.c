/* Frame buffers, programs and shapes for scenes. */

#include <stdio.h>
#include <string.h>

#include "scenes.h"

const char vertex_plain[] =
    "attribute vec4 position; attribute vec4 color; attribute vec2 coord;\n"
    "varying vec4 v_color; varying vec2 v_coord;\n"
    "void main() { gl_Position = position; v_color = color; v_coord = coord; gl_PointSize = 9.0; }\n";

const char fragment_color[] = "varying vec4 v_color; void main() { gl_FragColor = v_color; }\n";

const char fragment_texture[] =
    "uniform sampler2D image; varying vec4 v_color; varying vec2 v_coord;\n"
    "void main() { gl_FragColor = texture2D(image, v_coord) * v_color; }\n";

static const char *problem;
static unsigned sequence;

float next_random(void)
{
    sequence = sequence * 1664525u + 1013904223u;
    return (float)(sequence >> 8) / 16777216.0f;
}

static GLuint compiled(GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    GLint fine = 0;
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &fine);
    if (!fine)
        problem = "a shader does not compile";
    return shader;
}

GLuint use_program(const char *vertex, const char *fragment)
{
    GLuint program = glCreateProgram();
    GLint fine = 0;
    glAttachShader(program, compiled(GL_VERTEX_SHADER, vertex));
    glAttachShader(program, compiled(GL_FRAGMENT_SHADER, fragment));
    glBindAttribLocation(program, 0, "position");
    glBindAttribLocation(program, 1, "color");
    glBindAttribLocation(program, 2, "coord");
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &fine);
    if (!fine)
        problem = "a program does not link";
    glUseProgram(program);
    return program;
}

void draw_vertices(GLenum mode, const float *vertices, int count)
{
    const int sizes[] = {2, 4, 2}, offsets[] = {0, 2, 6};
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, count * 8 * sizeof(float), vertices, GL_STATIC_DRAW);
    for (int i = 0; i < 3; i++) {
        glEnableVertexAttribArray(i);
        glVertexAttribPointer(i, sizes[i], GL_FLOAT, 0, 8 * sizeof(float), (char *)0 + offsets[i] * sizeof(float));
    }
    glDrawArrays(mode, 0, count);
    for (int i = 0; i < 3; i++)
        glDisableVertexAttribArray(i);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
}

void draw_rectangle(float x0, float y0, float x1, float y1, const float color[4])
{
    const float corners[4][4] = {{x0, y0, 0, 0}, {x1, y0, 1, 0}, {x1, y1, 1, 1}, {x0, y1, 0, 1}};
    float vertices[4][8];
    for (int i = 0; i < 4; i++) {
        memcpy(vertices[i], corners[i], 2 * sizeof(float));
        memcpy(vertices[i] + 2, color, 4 * sizeof(float));
        memcpy(vertices[i] + 6, corners[i] + 2, 2 * sizeof(float));
    }
    draw_vertices(GL_TRIANGLE_FAN, vertices[0], 4);
}

const float white[4] = {1, 1, 1, 1}, red[4] = {1, 0, 0, 1}, green[4] = {0, 1, 0, 1};
const float half_blue[4] = {0, 0.25f, 1, 0.5f}, amber[4] = {1, 0.7f, 0.1f, 0.75f};

const float triangle[3][8] = {
    {-0.8f, -0.7f, 1, 0, 0, 1, 0, 0},
    {0.9f, -0.5f, 0, 1, 0, 1, 1, 0},
    {-0.1f, 0.85f, 0, 0, 1, 1, 0, 1},
};

void draw_random_triangles(int count)
{
    for (int i = 0; i < count; i++) {
        float vertices[3][8];
        for (int v = 0; v < 3; v++)
            for (int c = 0; c < 8; c++)
                vertices[v][c] = c < 2 ? next_random() * 2 - 1 : c == 5 ? 1 : next_random();
        draw_vertices(GL_TRIANGLES, vertices[0], 3);
    }
}

void draw_at_depth(float x0, float y0, float x1, float y1, float z0, float z1, const float color[4])
{
    const float p[4][3] = {{x0, y0, z0}, {x1, y0, z1}, {x1, y1, z1}, {x0, y1, z0}};
    glBegin(GL_TRIANGLE_FAN);
    for (int i = 0; i < 4; i++) {
        glVertexAttrib4fv(1, color);
        glVertexAttrib4f(0, p[i][0], p[i][1], p[i][2], 1);
    }
    glEnd();
}

void use_color(void) { use_program(vertex_plain, fragment_color); }

GLuint new_texture(GLenum target, int size, GLenum filter)
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

static GLuint new_target(GLenum format, GLenum attachment, int samples)
{
    GLuint buffer;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    if (samples)
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, SIZE, SIZE);
    else
        glRenderbufferStorage(GL_RENDERBUFFER, format, SIZE, SIZE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, buffer);
    return buffer;
}

int can_draw(const struct scene *scene)
{
    const char *extensions = (const char *)glGetString(GL_EXTENSIONS);
    return !scene->needs || strstr(extensions, scene->needs);
}

const char *draw_scene(const struct scene *scene, unsigned char *rgba)
{
    GLuint frames[2], buffers[3];
    GLenum depth = scene->depth ? scene->depth : GL_DEPTH24_STENCIL8;
    problem = NULL;
    sequence = 1;
    glGenFramebuffers(2, frames);
    glBindFramebuffer(GL_FRAMEBUFFER, frames[0]);
    buffers[0] = new_target(scene->color ? scene->color : GL_RGBA8, GL_COLOR_ATTACHMENT0, scene->samples);
    buffers[1] = new_target(
        depth, depth == GL_DEPTH24_STENCIL8 ? GL_DEPTH_STENCIL_ATTACHMENT : GL_DEPTH_ATTACHMENT, scene->samples);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        problem = "the driver does not draw to such a frame buffer";
    } else {
        glPushAttrib(GL_ALL_ATTRIB_BITS);
        glViewport(0, 0, SIZE, SIZE);
        glClearColor(0.1f, 0.2f, 0.3f, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        scene->draw();
        glUseProgram(0);
        glPopAttrib();
        glBindFramebuffer(GL_READ_FRAMEBUFFER, frames[0]);
        if (scene->samples) {
            glBindFramebuffer(GL_DRAW_FRAMEBUFFER, frames[1]);
            glGenRenderbuffers(1, &buffers[2]);
            glBindRenderbuffer(GL_RENDERBUFFER, buffers[2]);
            glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIZE, SIZE);
            glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffers[2]);
            glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
            glBindFramebuffer(GL_READ_FRAMEBUFFER, frames[1]);
        }
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
        if (scene->samples)
            glDeleteRenderbuffers(1, &buffers[2]);
        if (glGetError() && !problem)
            problem = "an OpenGL error";
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(2, frames);
    glDeleteRenderbuffers(2, buffers);
    return problem;
}
