/* The n-th thing that some objects ask the system for is refused: room on the disk, or memory.
 *
 * REFUSE_FOR: objects whose calls count, by the ends of their paths, with colons between them.
 * REFUSE_BYTES: how much memory an object asks for, at least, to count.
 * REFUSE_UNDER: instead of them the folder in which what is made, written and synced counts.
 * REFUSE_AT: which of the calls is refused, from 1; 0: none. REFUSE_ON: all later ones, too.
 * REFUSE_COUNT: the file that gets the number of calls when the process ends.
 *
 * A process may set anew which one is refused, by refuse_at, which returns the number so far.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count, refused_at = -1;
static size_t least;
static const char *objects, *folder, *goes_on;

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void read_settings(void) {
    const char *text = getenv("REFUSE_AT");
    objects = getenv("REFUSE_FOR");
    folder = getenv("REFUSE_UNDER");
    goes_on = getenv("REFUSE_ON");
    refused_at = text == NULL ? 0 : atol(text);
    text = getenv("REFUSE_BYTES");
    least = text == NULL ? 0 : (size_t)atol(text);
}

long refuse_at(long number, int on) {
    const long before = count;
    read_settings();
    goes_on = on ? "1" : NULL;
    refused_at = number;
    count = 0;
    return before;
}

static int looked_up(void *caller) {
    Dl_info info;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) return 0;
    const size_t length = strlen(info.dli_fname);
    for (const char *at = objects; *at != '\0'; at += strcspn(at, ":"), at += *at == ':') {
        const size_t bytes = strcspn(at, ":");
        if (bytes <= length && memcmp(info.dli_fname + length - bytes, at, bytes) == 0) return 1;
    }
    return 0;
}

/* Few places ask again and again, and to look one up takes long: its address, and the answer. */
static int is_of_objects(void *caller) {
    static unsigned long known[1 << 14];
    if (objects == NULL) return 0;
    unsigned long *at = &known[(unsigned long)caller % (1 << 14)];
    unsigned long one = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (one >> 1 != (unsigned long)caller) {
        one = (unsigned long)caller << 1 | (unsigned long)looked_up(caller);
        __atomic_store_n(at, one, __ATOMIC_RELAXED);
    }
    return (int)(one & 1);
}

static int refuses(int is_counted, int error) {
    if (!is_counted) return 0;
    const long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (refused_at == 0 || number < refused_at || (number > refused_at && !goes_on)) return 0;
    errno = error;
    return 1;
}

static int is_asked_by(void *caller) {
    if (refused_at < 0) read_settings();
    return is_of_objects(caller);
}

static int is_path(void *caller, const char *path) {
    if (refused_at < 0) read_settings();
    if (folder == NULL) return is_of_objects(caller);
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int is_file(void *caller, int file) {
    char link[64], path[PATH_MAX];
    if (refused_at < 0) read_settings();
    if (folder == NULL) return file > 2 && is_of_objects(caller);
    sprintf(link, "/proc/self/fd/%d", file);
    const ssize_t bytes = readlink(link, path, sizeof path - 1);
    path[bytes < 0 ? 0 : bytes] = '\0';
    return is_path(caller, path);
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("REFUSE_COUNT");
    char text[32];
    const int file = path == NULL ? -1 : (int)syscall(SYS_open, path, O_CREAT | O_WRONLY, 0666);
    if (file >= 0 && write(file, text, (size_t)sprintf(text, "%ld", count)) > 0) close(file);
}

#define CALLER __builtin_return_address(0)
#define NO_ROOM(file) if (refuses(is_file(CALLER, file), ENOSPC)) return -1
#define NO_NAME(path) if (refuses(is_path(CALLER, path), ENOSPC)) return -1
#define NO_MEMORY(bytes) \
    if (refuses((bytes) >= least && is_asked_by(CALLER), ENOMEM)) return NULL
#define REAL(name) (*(__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *from, size_t bytes) {
    NO_ROOM(file);
    return syscall(SYS_write, file, from, bytes);
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) {
    NO_ROOM(file);
    return syscall(SYS_pwrite64, file, from, bytes, at);
}

int ftruncate(int file, off_t bytes) {
    NO_ROOM(file);
    return (int)syscall(SYS_ftruncate, file, bytes);
}

int fsync(int file) {
    NO_ROOM(file);
    return 0; /* no power fails here, and it takes long */
}

int posix_fallocate(int file, off_t from, off_t bytes) {
    if (refuses(is_file(CALLER, file), ENOSPC)) return ENOSPC;
    return syscall(SYS_fallocate, file, 0, from, bytes) == 0 ? 0 : errno;
}

int open(const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    const int mode = how & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if ((how & O_ACCMODE) != O_RDONLY) NO_NAME(path);
    return (int)syscall(SYS_open, path, how, mode);
}

int mkdir(const char *path, mode_t mode) {
    NO_NAME(path);
    return (int)syscall(SYS_mkdir, path, mode);
}

int rename(const char *path, const char *to) {
    NO_NAME(to);
    return (int)syscall(SYS_rename, path, to);
}

size_t fwrite(const void *from, size_t bytes, size_t number, FILE *file) {
    if (refuses(is_file(CALLER, fileno(file)), ENOSPC)) return 0;
    return REAL(fwrite)(from, bytes, number, file);
}

int fflush(FILE *file) {
    if (file != NULL) NO_ROOM(fileno(file));
    return REAL(fflush)(file);
}

int fclose(FILE *file) {
    const int refused = refuses(is_file(CALLER, fileno(file)), ENOSPC);
    const int failed = REAL(fclose)(file);
    if (refused) errno = ENOSPC;
    return refused ? EOF : failed;
}

int open64(const char *, int, ...) __attribute__((alias("open")));
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));

void *mmap(void *place, size_t bytes, int may, int how, int file, off_t from) {
    if (refuses(bytes >= least && is_asked_by(CALLER), ENOMEM)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, place, bytes, may, how, file, from);
}

void *malloc(size_t bytes) {
    NO_MEMORY(bytes);
    return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
    NO_MEMORY(number * bytes);
    return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes) {
    NO_MEMORY(bytes);
    return __libc_realloc(old, bytes);
}

int posix_memalign(void **into, size_t aligned, size_t bytes) {
    if (refuses(bytes >= least && is_asked_by(CALLER), ENOMEM)) return ENOMEM;
    *into = __libc_memalign(aligned, bytes);
    return *into == NULL ? ENOMEM : 0;
}

char *strdup(const char *text) {
    NO_MEMORY(strlen(text));
    const size_t bytes = strlen(text) + 1;
    char *copy = __libc_malloc(bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

char *realpath(const char *path, char *into) {
    if (into == NULL) NO_MEMORY(PATH_MAX);
    return REAL(realpath)(path, into);
}
