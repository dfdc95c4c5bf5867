/* output.c -- The file of a thread, written through windows of memory.
 *
 * A window is allocated on disk before it is mapped, so that storing into it cannot fail. The
 * next window is prepared when BURST_RESERVE records of the old one are left: if there is no
 * room, what is left takes the gap and the end. The file is opened anew for every window,
 * because a descriptor kept open might be closed, and its number reused, by the program.
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
#include <time.h>
#include <unistd.h>

#define RETRY_NS 200000000u
static const size_t record_bytes = BURST_WORDS * sizeof(uint64_t);
static uint32_t next_number;
static uint64_t dropped_in_all;

_Static_assert(sizeof(struct burst_record) == BURST_WORDS * sizeof(uint64_t), "see raw.h");
_Static_assert(sizeof(struct burst_raw_header) <= BURST_RAW_HEADER_BYTES, "see raw.h");

static uint64_t *soft_end(uint64_t *window) {
    return window + burst_settings.block_bytes / sizeof *window - BURST_RESERVE * BURST_WORDS;
}

/* Writing past the limit of file sizes would send a signal to the program. */
static int allocate(int file, uint64_t offset, uint64_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        offset + bytes > limit.rlim_cur) {
        return EFBIG;
    }
    int error;
    do {
        error = posix_fallocate(file, (off_t)offset, (off_t)bytes);
    } while (error == EINTR);
    return error;
}

/* Maps the window at `offset`, or gives back what of it was allocated and sets errno. */
static uint64_t *map_window(int file, uint64_t offset) {
    const size_t bytes = burst_settings.block_bytes;
    int error = allocate(file, offset, bytes);
    if (error == 0) {
        void *window = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file,
                            (off_t)offset);
        if (window != MAP_FAILED) return window;
        error = errno;
    }
    if (ftruncate(file, (off_t)offset) != 0) error = error ? error : errno;
    errno = error;
    return NULL;
}

static void read_program(char *program, size_t bytes) {
    const ssize_t length = readlink("/proc/self/exe", program, bytes - 1);
    program[length < 0 ? 0 : length] = '\0';
}

static void write_header(struct burst_thread *thread) {
    struct burst_raw_header *header = (struct burst_raw_header *)thread->window;
    struct timespec wall;
    memcpy(header->magic, BURST_RAW_MAGIC, sizeof header->magic);
    header->version = BURST_RAW_VERSION;
    header->header_bytes = BURST_RAW_HEADER_BYTES;
    header->record_bytes = (uint32_t)record_bytes;
    header->pid = (uint32_t)getpid();
    header->thread = thread->number;
    header->start_ns = burst_now();
    clock_gettime(CLOCK_REALTIME, &wall);
    header->start_realtime_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    gethostname(header->host, sizeof header->host - 1);
    read_program(header->program, sizeof header->program);
    memcpy(header->mpi, burst_library, sizeof header->mpi);
}

/* A process that was exec'd over a recorded one has its pid: numbers go on where they are free. */
static int create_file(struct burst_thread *thread) {
    for (;;) {
        thread->number = __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
        const int length = snprintf(thread->path, sizeof thread->path, "%s/p-%ld.t-%u.raw",
                                    burst_folder, (long)getpid(), thread->number);
        if (length < 0 || (size_t)length >= sizeof thread->path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int file = open(thread->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
}

int burst_open_output(struct burst_thread *thread) {
    static int told;
    const int file = create_file(thread);
    if (file >= 0) {
        thread->window = map_window(file, 0);
        const int error = errno;
        close(file);
        if (thread->window == NULL) unlink(thread->path);
        errno = error;
    }
    if (thread->window == NULL) {
        __atomic_fetch_sub(&next_number, 1, __ATOMIC_RELAXED);
        if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) {
            burst_say("cannot write %s: %s; calls are counted as dropped", thread->path,
                      strerror(errno));
        }
        return 0;
    }
    write_header(thread);
    thread->offset = 0;
    thread->at = thread->window + BURST_RAW_HEADER_BYTES / sizeof *thread->at;
    thread->end = soft_end(thread->window);
    return 1;
}

static int prepare_next(struct burst_thread *thread) {
    if (thread->window == NULL) return burst_open_output(thread);
    const int file = open(thread->path, O_RDWR | O_CLOEXEC);
    if (file < 0) return 0;
    thread->spare = map_window(file, thread->offset + burst_settings.block_bytes);
    const int error = errno;
    close(file);
    errno = error;
    if (thread->spare == NULL) return 0;
    thread->end += BURST_RESERVE * BURST_WORDS;
    return 1;
}

static void take_spare(struct burst_thread *thread) {
    munmap(thread->window, burst_settings.block_bytes);
    thread->window = thread->spare;
    thread->spare = NULL;
    thread->offset += burst_settings.block_bytes;
    thread->at = thread->window;
    thread->end = soft_end(thread->window);
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

/* Room after a time without: what was defined meanwhile is to be defined again. */
static void mark_gap(struct burst_thread *thread) {
    const uint64_t dropped = thread->dropped, since = thread->dropped_since_ns;
    thread->dropped = 0;
    burst_set_clear(&thread->defined);
    ++thread->generation;
    thread->counters_defined = 0;
    burst_put(thread, BURST_GAP, 0, burst_now(), 0, since, dropped);
    burst_put_rank(thread);
}

static int find_room(struct burst_thread *thread) {
    if (thread->closed) return 0;
    if (thread->spare != NULL) {
        take_spare(thread);
        return 1;
    }
    if (prepare_next(thread)) return 1;
    static int told;
    if (thread->window != NULL && !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) {
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
    if (thread->at != thread->end || thread->dropped == 0 || thread->inside) return;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) == BURST_SHUT) return;
    const uint64_t now = burst_now();
    if (now < thread->retry_ns) return;
    thread->retry_ns = now + RETRY_NS;
    if (locked_find_room(thread)) mark_gap(thread);
}

uint64_t *burst_room(struct burst_thread *thread, uint16_t kind) {
    if (thread->inside || burst_settings.profile) return NULL;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) == BURST_SHUT) return NULL;
    if (thread->dropped > 0) {
        if (kind >= BURST_EVENT) burst_recover(thread);
        if (thread->dropped == 0 && thread->at != thread->end) return thread->at;
    } else if (locked_find_room(thread)) {
        return thread->at;
    }
    drop(thread);
    return NULL;
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

static void trim(struct burst_thread *thread, uint64_t used, const uint64_t *last,
                 unsigned records) {
    const int file = open(thread->path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    struct rlimit limit;
    const size_t bytes = records * record_bytes;
    const int may = getrlimit(RLIMIT_FSIZE, &limit) != 0 || used + bytes <= limit.rlim_cur;
    const ssize_t written = may ? pwrite(file, last, bytes, (off_t)used) : 0;
    if (written > 0) used += (uint64_t)written / record_bytes * record_bytes;
    if (ftruncate(file, (off_t)used) != 0) burst_say("cannot trim %s", thread->path);
    close(file);
}

void burst_close_output(struct burst_thread *thread, const uint64_t *last, unsigned records,
                        int own) {
    if (thread->closed) return;
    thread->closed = 1;
    if (thread->window == NULL) return;
    const uint64_t *at = __atomic_load_n(&thread->at, __ATOMIC_ACQUIRE);
    const uint64_t used = thread->offset + (uint64_t)(at - thread->window) * sizeof *at;
    release_window(thread->window, own);
    release_window(thread->spare, own);
    if (own) thread->window = thread->spare = thread->at = thread->end = NULL;
    trim(thread, used, last, records);
}

void burst_write_whole(struct burst_thread *thread, const uint64_t *records, unsigned count) {
    static uint64_t header[BURST_RAW_HEADER_BYTES / sizeof(uint64_t)];
    const int file = create_file(thread);
    if (file < 0) {
        burst_say("cannot write %s: %s", thread->path, strerror(errno));
        return;
    }
    thread->window = header;
    write_header(thread);
    thread->window = NULL;
    close(file);
    trim(thread, 0, header, BURST_RAW_HEADER_BYTES / record_bytes);
    trim(thread, BURST_RAW_HEADER_BYTES, records, count);
}
