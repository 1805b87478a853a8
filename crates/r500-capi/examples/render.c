/* Draws a program as raw floats, as `r500 render PROGRAM -o OUT.f32` does.

   cargo build --release -p r500-capi
   cc -Icrates/r500-capi/include crates/r500-capi/examples/render.c -Ltarget/release -lr500_c -o render
   LD_LIBRARY_PATH=target/release ./render tests/corpus/mesa/scene_plasma.json plasma.f32 */

#include <r500.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, r500_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: render PROGRAM OUT.f32\n");
        return 2;
    }

    /* The program's file, whatever its format. */
    FILE *file = fopen(argv[1], "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(argv[1]);
        return 1;
    }
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size);
    if (!bytes || fread(bytes, 1, size, file) != size) {
        perror(argv[1]);
        return 1;
    }
    fclose(file);

    r500_program *program = r500_read(bytes, size, argv[1], 0);
    free(bytes);
    if (!program)
        return fail(argv[1]);
    uint32_t width = 256, height = 256;
    r500_program_size(program, &width, &height);

    char *findings = r500_check(program);
    if (!findings)
        return fail("check");
    fputs(findings, stderr);
    r500_text_free(findings);

    /* Prepared once; constants, inputs and coverage may then change from picture to picture. */
    r500_drawing *drawing = r500_prepare(program, width, height, NULL);
    r500_program_free(program);
    if (!drawing)
        return fail("prepare");
    size_t pitch = (size_t)width * 16;
    r500_surfaces surfaces = {0};
    surfaces.colors[0].bytes = calloc(height, pitch);
    surfaces.colors[0].size = height * pitch;
    surfaces.colors[0].pitch = pitch;
    surfaces.colors[0].format = R500_RGBA32F;
    if (!surfaces.colors[0].bytes || !r500_draw(drawing, &surfaces))
        return fail("draw");

    file = fopen(argv[2], "wb");
    if (!file || fwrite(surfaces.colors[0].bytes, pitch, height, file) != height || fclose(file)) {
        perror(argv[2]);
        return 1;
    }
    free(surfaces.colors[0].bytes);
    r500_drawing_free(drawing);
    return 0;
}
