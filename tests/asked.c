/* Counts the bytes that a process asks of malloc, whoever asks: Python, NumPy or a kernel.
   And the lines of Python that threads execute whose trace function is `count_line`. */
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

static unsigned long long lines;

unsigned long long lines_executed(void) { return __atomic_load_n(&lines, __ATOMIC_RELAXED); }

int count_line(void* object, void* frame, int event, void* argument) {
    (void)object, (void)frame, (void)argument;
    if (event == 2) __atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED); /* PyTrace_LINE */
    return 0;
}
