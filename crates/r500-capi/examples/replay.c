/* Draws the frames of a capture on the virtual card: replay CAPTURE.r5cs FOLDER writes frame-00000.ppm and so on.

   cargo build --release -p r500-capi
   cc -Icrates/r500-capi/include crates/r500-capi/examples/replay.c -Ltarget/release -lr500_c -o replay
   cargo run --release -- asm examples/scenes/cube.r5 -o cube.r5cs
   LD_LIBRARY_PATH=target/release ./replay cube.r5cs . */

#include <r500.h>
#include <stdio.h>
#include <stdlib.h>

static void frame(r500_capture *capture, const r500_event *event, const char *folder)
{
    size_t pitch = (size_t)event->width * 3, size = pitch * event->height;
    unsigned char *rgb = malloc(size ? size : 1);
    char path[4096];
    snprintf(path, sizeof path, "%s/frame-%05u.ppm", folder, (unsigned)event->frames - 1);
    FILE *file = rgb && r500_capture_frame(capture, rgb, size, pitch) ? fopen(path, "wb") : NULL;
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, r500_last_error());
        exit(1);
    }
    fprintf(file, "P6\n%u %u\n255\n", (unsigned)event->width, (unsigned)event->height);
    fwrite(rgb, 1, size, file);
    free(rgb);
    if (fclose(file))
        perror(path);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: replay CAPTURE.r5cs FOLDER\n");
        return 2;
    }
    r500_capture *capture = r500_capture_open(argv[1]);
    r500_card *card = r500_card_new(NULL, NULL);
    r500_event event;
    do {
        if (!r500_capture_next(capture, card, &event)) {
            fprintf(stderr, "%s: %s\n", argv[1], r500_last_error());
            return 1;
        }
        if (event.kind == R500_EVENT_FRAME)
            frame(capture, &event, argv[2]);
        if (event.kind == R500_EVENT_COMPARISON && event.different)
            fprintf(stderr, "submission %u: other bytes\n", (unsigned)event.submissions - 1);
    } while (event.kind != R500_EVENT_END);
    if (event.frames == 0)
        fprintf(stderr, "%s: nothing was shown on a screen: there are no frames\n", argv[1]);

    char *notes = r500_card_notes(card);
    fputs(notes ? notes : r500_last_error(), stderr);
    r500_text_free(notes);
    r500_card_free(card);
    r500_capture_free(capture);
    return 0;
}
