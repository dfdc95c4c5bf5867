/* Says at the end how often files were opened for writing, and given room. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

static int opened, allocated;

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const int mode = va_arg(more, int);
    va_end(more);
    static int (*next)(const char *, int, ...);
    if (next == NULL) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if ((flags & O_ACCMODE) != O_RDONLY) __atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
    return next(path, flags, mode);
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
    static int (*next)(int, off_t, off_t);
    if (next == NULL) next = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
    __atomic_fetch_add(&allocated, 1, __ATOMIC_RELAXED);
    return next(file, offset, bytes);
}

__attribute__((destructor)) static void say(void) { printf("%d %d\n", opened, allocated); }
