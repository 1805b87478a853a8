/* Scenes for the virtual card: small pictures, each of which tests one feature.
 *
 *   scenes list                       names
 *   scenes draw DIRECTORY [NAME…]     draws scenes (default: all) into DIRECTORY/NAME.pam
 *   scenes compare A B DEVIATIONS [NAME…]  compares the pictures of two directories; the file lists how many pixels may differ
 *
 * It draws with desktop OpenGL through EGL, without a window system: by default on the surfaceless platform; with
 * SCENES_PLATFORM=gbm on /dev/dri/card0. With SCENES_CONTEXTS=2, two contexts draw scenes alternately, without
 * waiting for each other. The caller selects the driver (`r500 card`, LIBGL_ALWAYS_SOFTWARE=1). Pictures are PAM
 * files (RGBA, 8 bits, top row first). */

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <fcntl.h>
#include <gbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"

static void fail(const char *what)
{
    fprintf(stderr, "scenes: %s (EGL error %#x)\n", what, eglGetError());
    exit(3);
}

static EGLDisplay open_display(void)
{
    const char *platform = getenv("SCENES_PLATFORM");
    if (platform && !strcmp(platform, "gbm")) {
        int fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
        struct gbm_device *gbm = fd < 0 ? NULL : gbm_create_device(fd);
        if (!gbm)
            fail("no GBM device");
        return eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, gbm, NULL);
    }
    return eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
}

enum { MOST_CONTEXTS = 4 };
static EGLDisplay display;
static EGLContext contexts[MOST_CONTEXTS];
static int context_count = 1;

static void make_contexts(void)
{
    const char *count = getenv("SCENES_CONTEXTS");
    if (count)
        context_count = atoi(count);
    if (context_count < 1 || context_count > MOST_CONTEXTS)
        fail("SCENES_CONTEXTS is not from 1 to 4");
    display = open_display();
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
        fail("no display");
    if (!eglBindAPI(EGL_OPENGL_API))
        fail("no desktop OpenGL");
    /* Scenes draw into frame buffer objects, so no surface is needed. */
    for (int i = 0; i < context_count; i++) {
        contexts[i] = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
        if (contexts[i] == EGL_NO_CONTEXT)
            fail("no context");
    }
}

/* Returns scene number n, or NULL. */
static const struct scene *scene_at(int n)
{
    const struct scene *subjects[] = {shapes_scenes, tests_scenes, blending_scenes,
                                      textures_scenes, targets_scenes, functions_scenes};
    for (unsigned i = 0; i < sizeof subjects / sizeof *subjects; i++)
        for (const struct scene *scene = subjects[i]; scene->name; scene++)
            if (n-- == 0)
                return scene;
    return NULL;
}

static void use_context(int scene)
{
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, contexts[scene % context_count]))
        fail("the context needs a surface");
}

static void write_pam(const char *directory, const char *name, const unsigned char *rgba)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.pam", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(3);
    }
    fprintf(file, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", SIZE, SIZE);
    for (int y = SIZE - 1; y >= 0; y--)
        fwrite(rgba + y * SIZE * 4, SIZE, 4, file);
    if (fclose(file)) {
        perror(path);
        exit(3);
    }
}

static int read_pam(const char *directory, const char *name, unsigned char *rgba)
{
    char path[4096], line[256];
    snprintf(path, sizeof path, "%s/%s.pam", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file) && strcmp(line, "ENDHDR\n"))
        ;
    size_t count = fread(rgba, SIZE * 4, SIZE, file);
    fclose(file);
    return count == SIZE;
}

static int is_chosen(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return 1;
    return count == 0;
}

static int draw_all(const char *directory, int count, char **names)
{
    static unsigned char rgba[SIZE * SIZE * 4];
    int failed = 0, number = 0;
    make_contexts();
    use_context(0);
    printf("%s, OpenGL %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
    const struct scene *scene;
    for (int i = 0; (scene = scene_at(i)); i++) {
        if (!is_chosen(scene->name, count, names))
            continue;
        use_context(number++);
        if (!can_draw(scene)) {
            printf("%-24s left out: no %s\n", scene->name, scene->needs);
            continue;
        }
        const char *problem = draw_scene(scene, rgba);
        if (problem) {
            printf("%-24s %s\n", scene->name, problem);
            failed = 1;
            continue;
        }
        write_pam(directory, scene->name, rgba);
    }
    return failed;
}

/* Returns how many pixels of a scene may differ by more than 1, and stores the reason, from a line `NAME PIXELS
 * REASON` of the file. */
static int allowed_deviation(const char *path, const char *name, char reason[256])
{
    char line[512], found[64];
    int pixels = 0, allowed = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(3);
    }
    reason[0] = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %d %255[^\n]", found, &pixels, reason) == 3 && !strcmp(found, name)) {
            allowed = pixels;
            break;
        }
    if (!allowed)
        reason[0] = 0;
    fclose(file);
    return allowed;
}

/* Prints a line per scene: how many pixels differ, by how much, and how many differ by more than 1, 2 and 8. */
static int compare_all(const char *a, const char *b, const char *deviations, int count, char **names)
{
    static unsigned char one[SIZE * SIZE * 4], two[SIZE * SIZE * 4];
    int different = 0;
    printf("%-24s %8s %8s %8s %8s %8s\n", "scene", "largest", "differ", "over 1", "over 2", "over 8");
    const struct scene *scene;
    for (int n = 0; (scene = scene_at(n)); n++) {
        if (!is_chosen(scene->name, count, names))
            continue;
        if (!read_pam(a, scene->name, one) || !read_pam(b, scene->name, two)) {
            printf("%-24s missing%s%s\n", scene->name, scene->needs ? ": needs " : "", scene->needs ? scene->needs : "");
            different |= !scene->needs;
            continue;
        }
        int largest = 0, over[4] = {0};
        for (int i = 0; i < SIZE * SIZE; i++) {
            int most = 0;
            for (int c = 0; c < 4; c++) {
                int d = abs(one[i * 4 + c] - two[i * 4 + c]);
                most = d > most ? d : most;
            }
            largest = most > largest ? most : largest;
            over[0] += most > 0, over[1] += most > 1, over[2] += most > 2, over[3] += most > 8;
        }
        char reason[256];
        int differs = over[1] > allowed_deviation(deviations, scene->name, reason);
        different |= differs;
        printf("%-24s %8d %8d %8d %8d %8d  %s\n", scene->name, largest, over[0], over[1], over[2], over[3],
               differs ? "differs" : over[1] ? reason : "");
    }
    return different;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "list")) {
        const struct scene *scene;
        for (int i = 0; (scene = scene_at(i)); i++)
            printf("%s\n", scene->name);
        return 0;
    }
    if (argc >= 3 && !strcmp(argv[1], "draw"))
        return draw_all(argv[2], argc - 3, argv + 3);
    if (argc >= 5 && !strcmp(argv[1], "compare"))
        return compare_all(argv[2], argv[3], argv[4], argc - 5, argv + 5);
    fprintf(stderr, "usage: scenes list | draw DIRECTORY [NAME…] | compare A B DEVIATIONS [NAME…]\n");
    return 2;
}
