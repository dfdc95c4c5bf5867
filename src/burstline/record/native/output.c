/* output.c -- The file of a thread, and the window of memory before it.
 *
 * A window is a file of its own, the tail, allocated on disk before it is mapped, so that storing
 * into it cannot fail and a process that is killed leaves what it stored. A full window is written
 * behind the thread's file and used again: pages that stay mapped cost no faults. If there is no
 * room for it, it stays as it is; BURST_RESERVE records are kept free in it for the gap and the
 * end. Files are opened anew every time, because a descriptor kept open might be closed, and its
 * number reused, by the program.
 *
 * Without room records are dropped and counted; now and then a record that begins something
 * (not a definition, nor part of a call) tries again.
 */
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS 200000000u
#define FIRST (sizeof(struct burst_tail) / sizeof(uint64_t)) /* word of a window with records */
static const size_t record_bytes = BURST_WORDS * sizeof(uint64_t);
static uint32_t next_number;
static uint64_t dropped_in_all;
static uint64_t missed, missed_since_ns; /* by threads that may never get memory */

_Static_assert(sizeof(struct burst_record) == BURST_WORDS * sizeof(uint64_t), "see raw.h");
_Static_assert(sizeof(struct burst_raw_header) <= BURST_RAW_HEADER_BYTES, "see raw.h");
_Static_assert(sizeof(struct burst_tail) == sizeof(struct burst_record), "see raw.h");

static uint64_t *soft_end(uint64_t *window) {
    return window + burst_settings.block_bytes / sizeof *window - BURST_RESERVE * BURST_WORDS;
}

/* Writing past the limit of file sizes would send a signal to the program. */
static int may_reach(uint64_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1;
    if (bytes <= limit.rlim_cur) return 1;
    errno = EFBIG;
    return 0;
}

/* A run must not fill a disk that others use: 1 GiB stays free, or 1 % of a small one. Asked before
 * anything is taken, and again behind it: many processes may have asked at the same moment. */
static int leaves_room(int file, uint64_t bytes) {
    struct statvfs disk;
    if (burst_settings.leave_free_mib == 0 || fstatvfs(file, &disk) != 0) return 1;
    const uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    uint64_t kept = (uint64_t)burst_settings.leave_free_mib << 20;
    if (burst_settings.leave_free_mib == BURST_AUTOMATIC) {
        const uint64_t share = (uint64_t)disk.f_blocks * disk.f_frsize / 100;
        kept = share < 1u << 30 ? share : 1u << 30;
    }
    if (free_bytes >= kept + bytes) return 1;
    errno = ENOSPC;
    return 0;
}

static int write_all(int file, const void *from, size_t bytes, uint64_t offset) {
    if (!may_reach(offset + bytes)) return 0;
    const char *at = from;
    while (bytes > 0) {
        const ssize_t written = pwrite(file, at, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = ENOSPC;
        if (written <= 0) return 0;
        at += written;
        offset += (uint64_t)written;
        bytes -= (size_t)written;
    }
    return 1;
}

static int allocate(int file, uint64_t bytes) {
    int error;
    if (!may_reach(bytes)) return EFBIG;
    do {
        error = posix_fallocate(file, 0, (off_t)bytes);
    } while (error == EINTR);
    return error;
}

static void name_tail(const struct burst_thread *thread, char *path) {
    const size_t stem = strlen(thread->path) - strlen(BURST_RAW_SUFFIX);
    memcpy(path, thread->path, stem);
    memcpy(path + stem, BURST_TAIL_SUFFIX, sizeof BURST_TAIL_SUFFIX);
}

static uint64_t *map_window(int file) {
    const size_t bytes = burst_settings.block_bytes;
    const int error = allocate(file, bytes);
    errno = error;
    if (error != 0 || !leaves_room(file, 0)) return NULL;
    void *window = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (window == MAP_FAILED) return NULL;
#if defined(MADV_POPULATE_WRITE)
    madvise(window, bytes, MADV_POPULATE_WRITE);
#endif
    return window;
}

static uint64_t *open_window(const struct burst_thread *thread) {
    char path[PATH_MAX + sizeof BURST_TAIL_SUFFIX];
    name_tail(thread, path);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return NULL;
    uint64_t *window = map_window(file);
    const int error = errno;
    close(file);
    if (window == NULL) unlink(path);
    errno = error;
    return window;
}

static void read_program(char *program, size_t bytes) {
    const ssize_t length = readlink("/proc/self/exe", program, bytes - 1);
    program[length < 0 ? 0 : length] = '\0';
}

static int write_header(struct burst_thread *thread, int file) {
    struct burst_raw_header header = {.version = BURST_RAW_VERSION, .thread = thread->number};
    struct timespec wall;
    memcpy(header.magic, BURST_RAW_MAGIC, sizeof header.magic);
    header.header_bytes = BURST_RAW_HEADER_BYTES;
    header.record_bytes = (uint32_t)record_bytes;
    header.pid = (uint32_t)getpid();
    header.start_ns = burst_now();
    clock_gettime(CLOCK_REALTIME, &wall);
    header.start_realtime_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    gethostname(header.host, sizeof header.host - 1);
    read_program(header.program, sizeof header.program);
    memcpy(header.mpi, burst_library, sizeof header.mpi);
    return write_all(file, &header, sizeof header, 0) && may_reach(BURST_RAW_HEADER_BYTES) &&
           ftruncate(file, BURST_RAW_HEADER_BYTES) == 0;
}

/* The node's name as part of a file's: processes of two nodes may have the same pid. */
static void name_host(char *host, size_t bytes) {
    host[bytes - 1] = '\0';
    if (gethostname(host, bytes - 1) != 0 && errno != ENAMETOOLONG) *host = '\0';
    for (char *at = host; *at != '\0'; ++at) {
        const char low = (char)(*at | 0x20);
        if (!(low >= 'a' && low <= 'z') && !(*at >= '0' && *at <= '9')) *at = '_';
    }
    if (*host == '\0') snprintf(host, bytes, "node");
}

/* A process that was exec'd over a recorded one has its pid: numbers go on where they are free. */
static int create_file(struct burst_thread *thread) {
    char host[65];
    name_host(host, sizeof host);
    for (;;) {
        thread->number = __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
        const int length = snprintf(thread->path, sizeof thread->path, "%s/p-%s-%ld.t-%u.raw",
                                    burst_folder, host, (long)getpid(), thread->number);
        if (length < 0 || (size_t)length >= sizeof thread->path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int file = open(thread->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
}

/* Which library it is may be known only now; files of later threads have it from the start. */
void burst_put_library(struct burst_thread *thread) {
    if (thread->window == NULL) return;
    const int error = errno, file = open(thread->path, O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        write_all(file, burst_library, sizeof burst_library,
                  offsetof(struct burst_raw_header, mpi));
        close(file);
    }
    errno = error;
}

static void begin_window(struct burst_thread *thread, uint64_t *window) {
    struct burst_tail *tail = (struct burst_tail *)window;
    memcpy(tail->magic, BURST_TAIL_MAGIC, sizeof tail->magic);
    thread->offset = BURST_RAW_HEADER_BYTES;
    thread->buffer.at = window + FIRST;
    thread->buffer.end = soft_end(window);
    __atomic_store_n(&tail->belongs, thread->offset, __ATOMIC_RELEASE);
    thread->window = window;
}

static int start_files(struct burst_thread *thread) {
    const int file = create_file(thread);
    if (file < 0) return 0;
    const int has_room = leaves_room(file, BURST_RAW_HEADER_BYTES + burst_settings.block_bytes);
    uint64_t *window = has_room && write_header(thread, file) ? open_window(thread) : NULL;
    const int error = errno;
    close(file);
    if (window != NULL) begin_window(thread, window);
    if (window == NULL) unlink(thread->path);
    errno = error;
    return window != NULL;
}

int burst_open_output(struct burst_thread *thread) {
    static int said;
    if (start_files(thread)) return 1;
    __atomic_fetch_sub(&next_number, 1, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        burst_say("cannot write %s: %s; calls are counted as dropped", thread->path,
                  strerror(errno));
    }
    return 0;
}

static size_t used_bytes(const struct burst_thread *thread, const uint64_t *at) {
    return (size_t)(at - thread->window - FIRST) * sizeof *at;
}

/* Appends the window's records, and a few more. What was written of them by half goes again. */
static int append(struct burst_thread *thread, const uint64_t *at, const uint64_t *last,
                  unsigned records) {
    const size_t bytes = used_bytes(thread, at);
    const int file = open(thread->path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const int done =
        leaves_room(file, bytes + records * record_bytes) &&
        write_all(file, thread->window + FIRST, bytes, thread->offset) &&
        write_all(file, last, records * record_bytes, thread->offset + bytes) &&
        leaves_room(file, 0);
    const int error = errno;
    if (!done && ftruncate(file, (off_t)thread->offset) != 0) errno = error;
    close(file);
    errno = error;
    return done;
}

/* At every moment the tail says whether its records are in the file already: see raw.h. */
static int empty_window(struct burst_thread *thread) {
    struct burst_tail *tail = (struct burst_tail *)thread->window;
    const size_t bytes = used_bytes(thread, thread->buffer.at);
    if (!append(thread, thread->buffer.at, NULL, 0)) return 0;
    __atomic_store_n(&tail->belongs, thread->offset | BURST_TAIL_WRITTEN, __ATOMIC_RELEASE);
    memset(thread->window + FIRST, 0, bytes);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->offset += bytes;
    __atomic_store_n(&tail->belongs, thread->offset, __ATOMIC_RELEASE);
    thread->buffer.at = thread->window + FIRST;
    return 1;
}

static void drop(struct burst_thread *thread) {
    const uint64_t now = burst_now();
    if (thread->dropped == 0) {
        thread->dropped_since_ns = now;
        thread->retry_ns = now + RETRY_NS;
    }
    __atomic_store_n(&thread->dropped, thread->dropped + 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&dropped_in_all, 1, __ATOMIC_RELAXED);
}

uint64_t burst_dropped_in_all(void) { return __atomic_load_n(&dropped_in_all, __ATOMIC_RELAXED); }

void burst_put_missed(struct burst_thread *thread) {
    if (burst_settings.profile || __atomic_load_n(&missed, __ATOMIC_RELAXED) == 0) return;
    const uint64_t since = __atomic_load_n(&missed_since_ns, __ATOMIC_RELAXED);
    const uint64_t count = __atomic_exchange_n(&missed, 0, __ATOMIC_ACQ_REL);
    if (count > 0) burst_put(thread, BURST_GAP, 0, burst_now(), 0, since, count);
}

static void add_missed(uint64_t count, uint64_t since_ns) {
    if (__atomic_load_n(&missed, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&missed_since_ns, since_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&missed, count, __ATOMIC_RELEASE);
}

/* What a thread dropped that never got a file stands in that of a thread that ends later. */
uint64_t burst_all_dropped(const struct burst_thread *thread, uint64_t *since) {
    const uint64_t dropped = __atomic_load_n(&thread->dropped, __ATOMIC_RELAXED);
    if (dropped > 0) add_missed(dropped, thread->dropped_since_ns);
    if (thread->window == NULL && !burst_settings.profile) return 0;
    *since = __atomic_load_n(&missed_since_ns, __ATOMIC_RELAXED);
    return __atomic_exchange_n(&missed, 0, __ATOMIC_ACQ_REL);
}

void burst_miss(struct burst_thread *thread) {
    static int said;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) == BURST_SHUT) return;
    if (thread != NULL && thread->inside) return; /* calls of our own */
    add_missed(1, burst_now());
    __atomic_fetch_add(&dropped_in_all, 1, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        burst_say("no memory: calls, or what belongs to them, are dropped");
    if (thread != NULL) burst_put_missed(thread);
}

/* Room after a time without: what was defined meanwhile is to be defined again. */
static void mark_gap(struct burst_thread *thread) {
    const uint64_t dropped = thread->dropped, since = thread->dropped_since_ns;
    thread->dropped = 0;
    burst_set_clear(&thread->defined);
    ++thread->generation;
    thread->counters_defined = 0;
    burst_store(&thread->buffer, BURST_GAP, 0, burst_now(), 0, since, dropped);
    burst_put_rank(thread);
}

static int find_room(struct burst_thread *thread) {
    static int said;
    if (thread->closed) return 0;
    if (thread->window == NULL) return burst_open_output(thread);
    if (empty_window(thread)) return 1;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        burst_say("no room in %s: %s; records are dropped", thread->path, strerror(errno));
    }
    return 0;
}

static int locked_find_room(struct burst_thread *thread) {
    const int error = errno;
    thread->inside = 1;
    pthread_mutex_lock(&thread->lock);
    const int found = find_room(thread);
    pthread_mutex_unlock(&thread->lock);
    thread->inside = 0;
    errno = error;
    return found;
}

void burst_recover(struct burst_thread *thread) {
    if (thread->buffer.at != thread->buffer.end || thread->dropped == 0 || thread->inside) return;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) == BURST_SHUT) return;
    const uint64_t now = burst_now();
    if (now < thread->retry_ns) return;
    thread->retry_ns = now + RETRY_NS;
    if (locked_find_room(thread)) mark_gap(thread);
}

/* Makes room for a record, or counts it as dropped and returns 0. */
static int room_for(struct burst_thread *thread, uint16_t kind) {
    if (thread->inside || burst_settings.profile) return 0;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) == BURST_SHUT) return 0;
    if (thread->dropped > 0) {
        if (kind >= BURST_EVENT) burst_recover(thread);
        if (thread->dropped == 0 && thread->buffer.at != thread->buffer.end) return 1;
    } else if (locked_find_room(thread)) {
        return 1;
    }
    drop(thread);
    return 0;
}

static __attribute__((noinline)) void put_when_full(struct burst_thread *thread, uint16_t kind,
                                                   uint16_t op, uint64_t time, uint32_t a,
                                                   uint64_t b, uint64_t c) {
    if (room_for(thread, kind)) burst_store(&thread->buffer, kind, op, time, a, b, c);
}

static inline void put(struct burst_thread *thread, uint16_t kind, uint16_t op, uint64_t time,
                       uint32_t a, uint64_t b, uint64_t c) {
    if (BURST_LIKELY(burst_store(&thread->buffer, kind, op, time, a, b, c))) return;
    put_when_full(thread, kind, op, time, a, b, c);
}

void burst_put(struct burst_thread *thread, uint16_t kind, uint16_t op, uint64_t time, uint32_t a,
               uint64_t b, uint64_t c) {
    put(thread, kind, op, time, a, b, c);
}

void burst_put_text(struct burst_thread *thread, const char *text, size_t bytes) {
    while (bytes > 0) {
        const size_t used = bytes < 28 ? bytes : 28;
        unsigned char piece[28] = {0};
        uint64_t time, b, c;
        uint32_t a;
        memcpy(piece, text, used);
        memcpy(&time, piece, 8);
        memcpy(&a, piece + 8, 4);
        memcpy(&b, piece + 12, 8);
        memcpy(&c, piece + 20, 8);
        put(thread, BURST_TEXT, (uint16_t)used, time, a, b, c);
        text += used;
        bytes -= used;
    }
}

void burst_put_rank(struct burst_thread *thread) {
    int rank, size, level;
    if (!burst_known_rank(&rank, &size, &level)) return;
    put(thread, BURST_RANK, 0, 0, (uint32_t)rank, (uint64_t)size, (uint64_t)level);
}

int burst_is_defined(struct burst_thread *thread, uint16_t space, uint32_t id) {
    return burst_set_add(&thread->defined, (uint64_t)(space + 1) << 32 | id);
}

/* The owner may still be storing: give it other memory at the same place. */
static void release_window(uint64_t *window, int own) {
    const size_t bytes = burst_settings.block_bytes;
    if (window == NULL) return;
    if (own) {
        munmap(window, bytes);
    } else {
        mmap(window, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    }
}

/* The last records have no room in the file, but in the tail. */
static void end_in_tail(const char *tail, size_t used, const uint64_t *last, unsigned records) {
    const size_t bytes = records * record_bytes;
    const uint64_t begin = sizeof(struct burst_tail) + used;
    const int file = open(tail, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write_all(file, last, bytes, begin) && ftruncate(file, (off_t)(begin + bytes)) != 0) {
        burst_say("cannot trim %s", tail);
    }
    close(file);
}

void burst_close_output(struct burst_thread *thread, const uint64_t *last, unsigned records,
                        int own) {
    char tail[PATH_MAX + sizeof BURST_TAIL_SUFFIX];
    if (thread->closed) return;
    thread->closed = 1;
    if (thread->window == NULL) return;
    const uint64_t *at = __atomic_load_n(&thread->buffer.at, __ATOMIC_ACQUIRE);
    const size_t used = used_bytes(thread, at);
    const int done = append(thread, at, last, records);
    name_tail(thread, tail);
    /* The reserve takes them, whatever comes of writing the same into the tail. */
    if (!done && own) memcpy((uint64_t *)at, last, records * record_bytes);
    release_window(thread->window, own);
    if (own) thread->window = thread->buffer.at = thread->buffer.end = NULL;
    if (done) {
        unlink(tail);
    } else {
        end_in_tail(tail, used, last, records);
    }
}

void burst_write_whole(struct burst_thread *thread, const uint64_t *records, unsigned count) {
    const int file = create_file(thread);
    if (file < 0 || !write_header(thread, file) ||
        !write_all(file, records, count * record_bytes, BURST_RAW_HEADER_BYTES)) {
        burst_say("cannot write %s: %s", thread->path, strerror(errno));
        if (file >= 0) unlink(thread->path); /* half of the sums would be taken for all */
    }
    if (file >= 0) close(file);
}
