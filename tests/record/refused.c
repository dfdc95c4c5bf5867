/* The n-th thing that some objects ask the system for is refused: room on the disk, or memory.
 *
 * REFUSE_FOR: objects whose calls count, by the ends of their paths, with colons between them.
 * REFUSE_AT: which of the calls is refused, from 1; 0: none. REFUSE_ON: all later ones, too.
 * REFUSE_COUNT: the file that gets the number of calls when the process ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count, refused_at = -1;
static const char *objects, *goes_on;

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static int is_counted(void *caller) {
    Dl_info info;
    if (refused_at < 0) {
        const char *text = getenv("REFUSE_AT");
        objects = getenv("REFUSE_FOR");
        goes_on = getenv("REFUSE_ON");
        refused_at = text == NULL ? 0 : atol(text);
    }
    if (objects == NULL || dladdr(caller, &info) == 0 || info.dli_fname == NULL) return 0;
    const size_t length = strlen(info.dli_fname);
    for (const char *at = objects; *at != '\0'; at += strcspn(at, ":"), at += *at == ':') {
        const size_t bytes = strcspn(at, ":");
        if (bytes <= length && memcmp(info.dli_fname + length - bytes, at, bytes) == 0) return 1;
    }
    return 0;
}

static int refuses(void *caller, int error) {
    if (!is_counted(caller)) return 0;
    const long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (refused_at == 0 || number < refused_at || (number > refused_at && !goes_on)) return 0;
    errno = error;
    return 1;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("REFUSE_COUNT");
    char text[32];
    const int file = path == NULL ? -1 : (int)syscall(SYS_open, path, O_CREAT | O_WRONLY, 0666);
    if (file >= 0 && write(file, text, (size_t)sprintf(text, "%ld", count)) > 0) close(file);
}

#define CALLER __builtin_return_address(0)
#define NO_ROOM(failed) if (refuses(CALLER, ENOSPC)) return failed
#define NO_MEMORY if (refuses(CALLER, ENOMEM)) return NULL

ssize_t write(int file, const void *from, size_t bytes) {
    if (file > 2) NO_ROOM(-1);
    return syscall(SYS_write, file, from, bytes);
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) {
    NO_ROOM(-1);
    return syscall(SYS_pwrite64, file, from, bytes, at);
}

int ftruncate(int file, off_t bytes) {
    NO_ROOM(-1);
    return (int)syscall(SYS_ftruncate, file, bytes);
}

int posix_fallocate(int file, off_t from, off_t bytes) {
    if (refuses(CALLER, ENOSPC)) return ENOSPC;
    return syscall(SYS_fallocate, file, 0, from, bytes) == 0 ? 0 : errno;
}

int open(const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    const int mode = how & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if ((how & O_ACCMODE) != O_RDONLY) NO_ROOM(-1);
    return (int)syscall(SYS_open, path, how, mode);
}

void *mmap(void *place, size_t bytes, int may, int how, int file, off_t from) {
    if (refuses(CALLER, ENOMEM)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, place, bytes, may, how, file, from);
}

void *malloc(size_t bytes) {
    NO_MEMORY;
    return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
    NO_MEMORY;
    return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes) {
    NO_MEMORY;
    return __libc_realloc(old, bytes);
}

char *strdup(const char *text) {
    NO_MEMORY;
    const size_t bytes = strlen(text) + 1;
    char *copy = __libc_malloc(bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

char *realpath(const char *path, char *into) {
    static char *(*real)(const char *, char *);
    if (into == NULL) NO_MEMORY;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "realpath");
    return real(path, into);
}
