/* Counts the bytes that a process asks of malloc, whoever asks: Python, NumPy or a kernel. */
#include <stddef.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static unsigned long long asked;

unsigned long long bytes_asked(void) { return __atomic_load_n(&asked, __ATOMIC_RELAXED); }

static void add(size_t size) { __atomic_fetch_add(&asked, size, __ATOMIC_RELAXED); }

void* malloc(size_t size) {
    add(size);
    return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
    add(count * size);
    return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
    add(size);
    return __libc_realloc(old, size);
}

int posix_memalign(void** place, size_t alignment, size_t size) {
    add(size);
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : 12;
}
