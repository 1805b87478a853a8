/* A clock for glmark2 that does not depend on how fast pictures are drawn: each time that the program itself asks, and no
 * library that it uses, 10 ms have passed. So its frames show the same moments on every driver. For LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <time.h>

enum { STEP_NANOSECONDS = 10000000 };

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static long long asked;
    Dl_info caller;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    if (!dladdr(__builtin_return_address(0), &caller) || !strstr(caller.dli_fname, "glmark2"))
        return real(clock, now);
    long long time = 1000000000000LL + asked++ * STEP_NANOSECONDS;
    now->tv_sec = time / 1000000000;
    now->tv_nsec = time % 1000000000;
    return 0;
}
