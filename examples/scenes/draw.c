/* Draws a scene on a graphics card, through the kernel alone: no Mesa, no library.
 *
 *     r500 asm cube.r5 --time 0.7 -o scene.h
 *     cc -O2 -I. -o draw draw.c
 *     r500 card ./draw cube.ppm        # the virtual card
 *     ./draw cube.ppm                  # a Radeon X1300 to X1950 whose render node you may open
 *
 * Requests and structures are those of the kernel's drm.h and radeon_drm.h, written down here so that no header is needed.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scene.h"

#define COUNT (sizeof scene_buffers / sizeof scene_buffers[0])
#define VRAM 4

struct gem_create { uint64_t size, alignment; uint32_t handle, domain, flags, pad; };
struct gem_mmap { uint32_t handle, pad; uint64_t offset, size, address; };
struct gem_wait_idle { uint32_t handle, pad; };
struct cs_chunk { uint32_t id, length_dw; uint64_t data; };
struct cs { uint32_t count, id; uint64_t chunks, gart_limit, vram_limit; };
struct relocation { uint32_t handle, read_domains, write_domain, flags; };

#define GEM_CREATE _IOWR('d', 0x5d, struct gem_create)
#define GEM_MMAP _IOWR('d', 0x5e, struct gem_mmap)
#define GEM_WAIT_IDLE _IOW('d', 0x64, struct gem_wait_idle)
#define CS _IOWR('d', 0x66, struct cs)

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *path = getenv("R500_NODE") ? getenv("R500_NODE") : "/dev/dri/renderD128";
    struct relocation relocations[COUNT];
    uint32_t *memory[COUNT];
    int device = open(path, O_RDWR | O_CLOEXEC);
    check(device < 0, path);

    /* Buffers with their contents before the draws. */
    for (unsigned n = 0; n < COUNT; n++) {
        const struct scene_buffer *buffer = &scene_buffers[n];
        struct gem_create create = { (buffer->bytes + 4095ull) & ~4095ull, 4096, 0, VRAM, 0, 0 };
        check(ioctl(device, GEM_CREATE, &create), "creating a buffer");
        struct gem_mmap map = { create.handle, 0, 0, create.size, 0 };
        check(ioctl(device, GEM_MMAP, &map), "mapping a buffer");
        memory[n] = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, device, map.address);
        check(memory[n] == MAP_FAILED, "mapping a buffer");
        for (uint32_t i = 0; i < buffer->bytes / 4; i++)
            memory[n][i] = buffer->data ? buffer->data[i] : buffer->fill;
        relocations[n] = (struct relocation){
            create.handle, buffer->written ? 0 : VRAM, buffer->written ? VRAM : 0, 0,
        };
    }

    /* The stream, the buffers that its NOP packets name, and a flag: tiles are as the stream says. */
    uint32_t flags[2] = { 1, 0 };
    struct cs_chunk chunks[3] = {
        { 2, sizeof scene_stream / 4, (uintptr_t)scene_stream },
        { 1, sizeof relocations / 4, (uintptr_t)relocations },
        { 3, 2, (uintptr_t)flags },
    };
    uint64_t pointers[3] = { (uintptr_t)&chunks[0], (uintptr_t)&chunks[1], (uintptr_t)&chunks[2] };
    struct cs cs = { 3, 0, (uintptr_t)pointers, 0, 0 };
    check(ioctl(device, CS, &cs), "submitting");
    struct gem_wait_idle idle = { relocations[SCENE_PICTURE].handle, 0 };
    check(ioctl(device, GEM_WAIT_IDLE, &idle), "waiting");

    FILE *out = argc > 1 ? fopen(argv[1], "wb") : stdout;
    check(!out, argc > 1 ? argv[1] : "stdout");
    fprintf(out, "P6 %d %d 255\n", SCENE_WIDTH, SCENE_HEIGHT);
    for (int y = 0; y < SCENE_HEIGHT; y++)
        for (int x = 0; x < SCENE_WIDTH; x++) {
            uint32_t pixel = memory[SCENE_PICTURE][y * SCENE_PITCH + x];
            fputc(pixel >> 16 & 255, out);
            fputc(pixel >> 8 & 255, out);
            fputc(pixel & 255, out);
        }
    check(fclose(out), "writing the picture");
    return 0;
}
