// Shows a colour ramp on the screen of a graphics device through direct requests: screen FLIPS STATUS. It waits for each flip; the last
// picture is shown for two seconds. Exits with STATUS.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

// Structures and numbers of requests, as in the Linux header drm_mode.h.
struct connector {
    uint64_t encoders, modes, props, prop_values;
    uint32_t count_modes, count_props, count_encoders, encoder, id, kind, kind_index, connection, mm_width, mm_height, subpixel, padding;
};
struct mode {
    uint32_t clock;
    uint16_t hdisplay, hsync_start, hsync_end, htotal, hskew, vdisplay, vsync_start, vsync_end, vtotal, vscan;
    uint32_t vrefresh, flags, type;
    char name[32];
};
struct crtc {
    uint64_t connectors;
    uint32_t count_connectors, id, fb, x, y, gamma_size, mode_valid;
    struct mode mode;
};
struct resources {
    uint64_t fbs, crtcs, connectors, encoders;
    uint32_t count_fbs, count_crtcs, count_connectors, count_encoders, min_width, max_width, min_height, max_height;
};
struct dumb {
    uint32_t height, width, bpp, flags, handle, pitch;
    uint64_t size;
};
struct map {
    uint32_t handle, padding;
    uint64_t offset;
};
struct fb {
    uint32_t id, width, height, pitch, bpp, depth, handle;
};
struct flip {
    uint32_t crtc, fb, flags, reserved;
    uint64_t user_data;
};
#define GETRESOURCES _IOWR('d', 0xa0, struct resources)
#define SETCRTC _IOWR('d', 0xa2, struct crtc)
#define GETCONNECTOR _IOWR('d', 0xa7, struct connector)
#define ADDFB _IOWR('d', 0xae, struct fb)
#define PAGE_FLIP _IOWR('d', 0xb0, struct flip)
#define CREATE_DUMB _IOWR('d', 0xb2, struct dumb)
#define MAP_DUMB _IOWR('d', 0xb3, struct map)

static void request(int card, unsigned long number, void *structure, const char *name) {
    if (ioctl(card, number, structure)) {
        perror(name);
        exit(1);
    }
}

int main(int count, char **arguments) {
    int flips = count > 1 ? atoi(arguments[1]) : 1, status = count > 2 ? atoi(arguments[2]) : 0;
    int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    if (card < 0) {
        perror("/dev/dri/card0");
        return 1;
    }
    uint32_t crtc, connector;
    struct resources resources = {.crtcs = (uintptr_t)&crtc, .connectors = (uintptr_t)&connector, .count_crtcs = 1, .count_connectors = 1};
    request(card, GETRESOURCES, &resources, "GETRESOURCES");
    struct mode mode;
    struct connector screen = {.modes = (uintptr_t)&mode, .count_modes = 1, .id = connector};
    request(card, GETCONNECTOR, &screen, "GETCONNECTOR");
    struct dumb dumb = {.width = mode.hdisplay, .height = mode.vdisplay, .bpp = 32};
    request(card, CREATE_DUMB, &dumb, "CREATE_DUMB");
    struct fb fb = {.width = dumb.width, .height = dumb.height, .pitch = dumb.pitch, .bpp = 32, .depth = 24, .handle = dumb.handle};
    request(card, ADDFB, &fb, "ADDFB");
    struct map map = {.handle = dumb.handle};
    request(card, MAP_DUMB, &map, "MAP_DUMB");
    uint8_t *pixels = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, card, (off_t)map.offset);
    if (pixels == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (uint32_t y = 0; y < dumb.height; y++)
        for (uint32_t x = 0; x < dumb.width; x++)
            ((uint32_t *)(pixels + y * dumb.pitch))[x] = (x * 255 / dumb.width) << 16 | (y * 255 / dumb.height) << 8 | (x ^ y) % 256;
    struct crtc set = {.connectors = (uintptr_t)&connector, .count_connectors = 1, .id = crtc, .fb = fb.id, .mode_valid = 1, .mode = mode};
    request(card, SETCRTC, &set, "SETCRTC");
    for (int n = 0; n < flips; n++) {
        const uint32_t with_event = 1;
        struct flip flip = {.crtc = crtc, .fb = fb.id, .flags = with_event};
        request(card, PAGE_FLIP, &flip, "PAGE_FLIP");
        struct pollfd wait = {.fd = card, .events = POLLIN};
        char event[32];
        if (poll(&wait, 1, 5000) != 1 || read(card, event, sizeof event) != (ssize_t)sizeof event) {
            perror("no event of the flip");
            return 1;
        }
    }
    sleep(2);
    return status;
}
