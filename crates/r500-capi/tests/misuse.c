/* What hosts do to objects: a child process draws, threads share a drawing or a card, objects are freed twice. Arguments: the
   scenario, a program. Prints what happened, a line for each step. */

#include <pthread.h>
#include <r500.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Enough pixels for several threads. */
enum { SIDE = 256 };

static r500_program *program;

static void must(bool fine, const char *what)
{
    if (!fine) {
        printf("%s failed: %s\n", what, r500_last_error());
        fflush(stdout);
        _exit(1);
    }
}

/* The sum of the bytes of a picture; of failures, 0. */
static unsigned long long draw(r500_drawing *drawing)
{
    size_t size = (size_t)SIDE * SIDE * 4;
    uint8_t *bytes = calloc(size, 1);
    r500_surfaces surfaces;
    memset(&surfaces, 0, sizeof surfaces);
    surfaces.width = surfaces.height = SIDE;
    surfaces.colors[0] = (r500_surface){bytes, size, SIDE * 4, R500_RGBA8};
    unsigned long long sum = 0;
    if (r500_draw(drawing, &surfaces))
        for (size_t n = 0; n < size; n++)
            sum = sum * 31 + bytes[n];
    free(bytes);
    return sum;
}

/* Prints a result and the error of the call that gave it. */
static void report(bool result)
{
    printf("%d %s\n", result, r500_last_error());
}

static r500_drawing *prepare(const char *engine)
{
    r500_drawing *drawing = r500_prepare(program, SIDE, SIDE, engine);
    must(drawing != NULL, "prepare");
    must(r500_set_threads(drawing, 4), "threads");
    return drawing;
}

static int in_child(const char *engine, r500_drawing *drawing, unsigned long long expected)
{
    /* The parent's drawing; one of its own; a program of its own thread count; a child of the child. */
    int times = strcmp(engine, "reference") ? 40 : 1;
    for (int n = 0; n < times; n++)
        if (draw(drawing) != expected)
            return 2;
    if (draw(prepare(engine)) != expected)
        return 3;
    must(r500_set_threads(drawing, 0), "threads");
    if (draw(drawing) != expected)
        return 4;
    pid_t grandchild = fork();
    if (grandchild == 0) {
        alarm(60);
        _exit(draw(drawing) == expected ? 0 : 5);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    return status == 0 ? 0 : 6;
}

static int forks(void)
{
    const char *engines[] = {"jit", "fast", "reference"};
    for (int n = 0; n < 3; n++) {
        r500_drawing *drawing = prepare(engines[n]);
        unsigned long long expected = 0;
        /* Many pictures, so that the jit engine's thread compiles. */
        for (int times = 0; times < (n == 2 ? 1 : 20); times++)
            expected = draw(drawing);
        must(expected != 0, "draw");
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(in_child(engines[n], drawing, expected));
        }
        int status = 0;
        waitpid(child, &status, 0);
        must(draw(drawing) == expected, "draw of the parent");
        must(r500_drawing_free(drawing), "free");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            printf("%s: child %s %d\n", engines[n], WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            return 1;
        }
        printf("%s: the child drew\n", engines[n]);
    }
    return 0;
}

static r500_drawing *shared;
static atomic_int drawn, refused, other;

static void *use_it(void *unused)
{
    for (int n = 0; n < 40; n++) {
        float value[4] = {(float)n, 0, 0, 1};
        r500_set_constant(shared, (size_t)n % 256, value);
        if (draw(shared))
            drawn++;
        else if (strstr(r500_last_error(), "in use by another call"))
            refused++;
        else
            other++;
    }
    return unused;
}

static int threads(void)
{
    shared = prepare("jit");
    pthread_t all[4];
    for (int n = 0; n < 4; n++)
        pthread_create(all + n, NULL, use_it, NULL);
    for (int n = 0; n < 4; n++)
        pthread_join(all[n], NULL);
    printf("%d calls, other errors %d, %s\n", drawn + refused + other, other, drawn ? "some drawn" : "none drawn");
    must(draw(shared) != 0, "draw after that");
    must(r500_drawing_free(shared), "free");
    return 0;
}

static int frees(void)
{
    r500_drawing *drawing = prepare("fast");
    char *text = r500_disassemble(program);
    printf("%d %d\n", r500_drawing_free(drawing), r500_drawing_free(NULL));
    printf("%d %d\n", r500_text_free(text), r500_text_free(NULL));
    printf("%d %d\n", r500_program_free(program), r500_program_free(NULL));
#ifdef DEBUG_ASSERTIONS
    report(r500_drawing_free(drawing));
    report(draw(drawing) != 0);
    report(r500_text_free(text));
    report(r500_program_free(program));
    report(r500_prepare(program, 1, 1, NULL) != NULL);
#endif
    return 0;
}

static r500_card *shared_card;
static atomic_int written, busy, unexpected;

static void *use_card(void *unused)
{
    uint8_t bytes[4096] = {1};
    for (int n = 0; n < 400; n++) {
        if (r500_card_write_buffer(shared_card, 1, 0, bytes, sizeof bytes))
            written++;
        else if (r500_last_error_code() == R500_ERROR_OBJECT)
            busy++;
        else
            unexpected++;
    }
    return unused;
}

static int cards(void)
{
    shared_card = r500_card_new(NULL, NULL);
    must(shared_card && r500_card_create_buffer(shared_card, 4096) == 1, "card");
    pthread_t all[4];
    for (int n = 0; n < 4; n++)
        pthread_create(all + n, NULL, use_card, NULL);
    for (int n = 0; n < 4; n++)
        pthread_join(all[n], NULL);
    printf("%d calls, other errors %d, %s\n", written + busy + unexpected, unexpected, written ? "some written" : "none");
    r500_capture *capture = r500_capture_read((const uint8_t *)"\x89R5CS\r\n\x1a\1\0\0\0", 12);
    must(capture != NULL, "capture");
    r500_event event;
    must(r500_capture_next(capture, shared_card, &event) && event.kind == R500_EVENT_END, "end");
    printf("%d %d\n", r500_card_free(shared_card), r500_card_free(NULL));
    printf("%d %d\n", r500_capture_free(capture), r500_capture_free(NULL));
#ifdef DEBUG_ASSERTIONS
    report(r500_card_free(shared_card));
    report(r500_card_create_buffer(shared_card, 1) != 0);
    report(r500_capture_free(capture));
    report(r500_capture_next(capture, shared_card, &event));
#endif
    return 0;
}

static int empty(void)
{
    uint32_t sizes[3][2] = {{0, 0}, {0, 8}, {8, 0}};
    for (int n = 0; n < 3; n++)
        report(r500_prepare(program, sizes[n][0], sizes[n][1], NULL) != NULL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    FILE *file = fopen(argv[2], "rb");
    if (!file)
        return 3;
    uint8_t *bytes = malloc(1 << 20);
    size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    program = r500_read(bytes, size, argv[2], 0);
    must(program != NULL, "read");
    if (!strcmp(argv[1], "forks"))
        return forks();
    if (!strcmp(argv[1], "threads"))
        return threads();
    if (!strcmp(argv[1], "frees"))
        return frees();
    if (!strcmp(argv[1], "cards"))
        return cards();
    if (!strcmp(argv[1], "empty"))
        return empty();
    return 2;
}
