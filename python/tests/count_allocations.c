/* Counts calls of the allocator in a process: cc -shared -fPIC -o libcount.so count_allocations.c, LD_PRELOAD=libcount.so. */

#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong calls;

unsigned long r500_test_allocations(void)
{
    return calls;
}

void *malloc(size_t size)
{
    calls++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    calls++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
    calls++;
    return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size)
{
    calls++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    *pointer = memalign(alignment, size);
    return *pointer ? 0 : 12;
}
