// Draws a million points of one pixel each with a vertex shader that transforms and lights them: vertices FRAMES. Prints the best time of a
// frame in milliseconds, presentation excluded (the target is a texture), then a checksum of the target.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <fcntl.h>
#include <gbm.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 1000, VERTICES = SIDE * SIDE };

static const char *vertex_shader =
    "#version 110\n"
    "attribute vec3 position, normal;\n"
    "uniform mat4 transform;\n"
    "uniform mat3 rotation;\n"
    "uniform vec3 light, ambient, diffuse;\n"
    "varying vec4 color;\n"
    "void main() {\n"
    "    gl_Position = transform * vec4(position, 1.0);\n"
    "    vec3 n = normalize(rotation * normal);\n"
    "    color = vec4(ambient + diffuse * max(dot(n, light), 0.0), 1.0);\n"
    "}\n";
static const char *fragment_shader =
    "#version 110\n"
    "varying vec4 color;\n"
    "void main() { gl_FragColor = color; }\n";

static void fail(const char *what) {
    fprintf(stderr, "vertices: %s (EGL error %#x)\n", what, eglGetError());
    exit(1);
}

static GLuint compile(GLenum kind, const char *text) {
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    GLint ok = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok)
        fail("a shader does not compile");
    return shader;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

int main(int count, char **arguments) {
    int frames = count > 1 ? atoi(arguments[1]) : 5;
    int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    struct gbm_device *gbm = card < 0 ? NULL : gbm_create_device(card);
    EGLDisplay display = gbm ? eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, gbm, NULL) : EGL_NO_DISPLAY;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        fail("no display on /dev/dri/card0");
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        fail("no context");
    fprintf(stderr, "%s\n", (const char *)glGetString(GL_RENDERER));

    GLuint texture, target;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &target);
    glBindFramebuffer(GL_FRAMEBUFFER, target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("the target is not complete");
    glViewport(0, 0, SIDE, SIDE);

    GLuint program = glCreateProgram();
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertex_shader));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragment_shader));
    glBindAttribLocation(program, 0, "position");
    glBindAttribLocation(program, 1, "normal");
    glLinkProgram(program);
    glUseProgram(program);
    const float unit[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, turned[9] = {0.8f, 0.6f, 0, -0.6f, 0.8f, 0, 0, 0, 1};
    glUniformMatrix4fv(glGetUniformLocation(program, "transform"), 1, GL_FALSE, unit);
    glUniformMatrix3fv(glGetUniformLocation(program, "rotation"), 1, GL_FALSE, turned);
    glUniform3f(glGetUniformLocation(program, "light"), 0.48f, 0.6f, 0.64f);
    glUniform3f(glGetUniformLocation(program, "ambient"), 0.1f, 0.1f, 0.2f);
    glUniform3f(glGetUniformLocation(program, "diffuse"), 0.9f, 0.8f, 0.6f);

    // Position and normal of each pixel's vertex.
    float(*data)[6] = malloc(VERTICES * sizeof *data);
    for (int i = 0; i < VERTICES; i++) {
        float x = (i % SIDE + 0.5f) * 2 / SIDE - 1, y = (i / SIDE + 0.5f) * 2 / SIDE - 1;
        float nx = sinf(9 * x), ny = cosf(7 * y);
        float vertex[6] = {x, y, 0, nx, ny, 1};
        for (int c = 0; c < 6; c++)
            data[i][c] = vertex[c];
    }
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, VERTICES * sizeof *data, data, GL_STATIC_DRAW);
    for (int i = 0; i < 2; i++) {
        glEnableVertexAttribArray(i);
        glVertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, sizeof *data, (void *)(i * 3 * sizeof(float)));
    }

    double best = 1e30;
    for (int frame = 0; frame < frames; frame++) {
        double begin = now();
        glDrawArrays(GL_POINTS, 0, VERTICES);
        glFinish();
        double time = now() - begin;
        best = time < best ? time : best;
    }
    uint8_t *pixels = malloc(4 * VERTICES);
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    uint64_t sum = 0, drawn = 0;
    for (int i = 0; i < VERTICES; i++) {
        sum += pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2];
        drawn += pixels[4 * i + 3] == 255;
    }
    printf("%.1f ms, %llu of %d points drawn, mean %.2f\n", best, (unsigned long long)drawn, VERTICES, sum / (3.0 * VERTICES));
    return 0;
}
