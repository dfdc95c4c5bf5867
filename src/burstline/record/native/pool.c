/* pool.c -- The two files of a process, and the windows of memory before them.
 *
 *     thread ──records──► window ──full──► p-HOST-PID.raw      all threads, one piece behind another
 *                         p-HOST-PID.tail, mapped: all windows
 *
 * Records are stored in a window, a part of the tail, which is allocated on disk before it is
 * mapped: storing cannot fail, and a process that is killed leaves what it stored. A full window is
 * written behind the raw file and used again: pages that stay mapped cost no faults. A thread
 * begins in a small window, of which many are mapped at once, and gets a large one when that was
 * full. A thread that ends hands its window on as it is, and the next one goes on behind its
 * records: most threads cost no system call.
 *
 * Both descriptors are kept, far above those that programs are given, so that a program that has
 * none left is recorded as any other. Their numbers may be closed and used again by the program:
 * each time the files are compared, and opened anew if need be.
 *
 * What happens under the lock is neither cancelled nor left by a signal handler that jumps.
 */
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"

#define SMALL_WINDOW (1u << 13)
#define LEAST_ROOM 64u /* records that a window has room for when it is handed on */
#define HIGH_NUMBER 512
static const size_t record_bytes = BURST_WORDS * sizeof(uint64_t);

struct file {
    char path[PATH_MAX];
    int kept; /* descriptor, -1: none */
    dev_t device;
    ino_t inode;
    uint64_t bytes; /* 0: there is no file */
};

struct guard {
    sigset_t signals;
    int cancelling;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file raw = {.kept = -1}, tail = {.kept = -1};
static uint32_t next_number;
static int closed;
static unsigned taken; /* windows with records that are not in the raw file, or may get some */
static struct burst_window *unused[2]; /* small and large ones */
static struct burst_window *descriptions, *last_description;
static char *carved, *carved_end;
static struct { /* whose records the raw file ends with, and how many of them there are */
    uint32_t number;
    uint64_t records;
} writer = {0, UINT64_MAX};

_Static_assert(sizeof(struct burst_record) == BURST_WORDS * sizeof(uint64_t), "see raw.h");
_Static_assert(sizeof(struct burst_raw_header) <= BURST_RAW_HEADER_BYTES, "see raw.h");

static struct guard begin(void) {
    struct guard guard;
    sigset_t all;
    sigfillset(&all);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; ++i) sigdelset(&all, faults[i]);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancelling);
    pthread_sigmask(SIG_BLOCK, &all, &guard.signals);
    pthread_mutex_lock(&lock);
    return guard;
}

static void end(struct guard guard) {
    const int error = errno;
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &guard.signals, NULL);
    pthread_setcancelstate(guard.cancelling, NULL);
    errno = error;
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

static int allocate(int file, uint64_t offset, uint64_t bytes) {
    int error;
    if (!may_reach(offset + bytes)) return 0;
    do {
        error = posix_fallocate(file, (off_t)offset, (off_t)bytes);
    } while (error == EINTR);
    errno = error;
    return error == 0;
}

/* Puts a descriptor where the program does not come by, unless there is no such place. */
static int move_up(int file) {
    struct rlimit limit;
    int lowest = HIGH_NUMBER;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * HIGH_NUMBER)
        lowest = (int)(limit.rlim_cur / 2);
    const int high = fcntl(file, F_DUPFD_CLOEXEC, lowest);
    if (high < 0) return file;
    close(file);
    return high;
}

static int is_kept(const struct file *file, struct stat *now) {
    return file->kept >= 0 && fstat(file->kept, now) == 0 && now->st_dev == file->device &&
           now->st_ino == file->inode;
}

static int keep(struct file *file, int descriptor) {
    struct stat now;
    if (descriptor < 0 || fstat(descriptor, &now) != 0) return -1;
    file->kept = move_up(descriptor);
    file->device = now.st_dev;
    file->inode = now.st_ino;
    return file->kept;
}

/* The descriptor of a file that is there. */
static int descriptor_of(struct file *file) {
    struct stat now;
    if (is_kept(file, &now)) {
        if (now.st_nlink > 0) return file->kept;
        errno = ENOENT;
        return -1;
    }
    file->kept = -1;
    const int anew = open(file->path, O_RDWR | O_CLOEXEC);
    if (anew < 0) return -1;
    if (fstat(anew, &now) == 0 && now.st_dev == file->device && now.st_ino == file->inode)
        return keep(file, anew);
    close(anew);
    errno = ENOENT;
    return -1;
}

static void remove_file(struct file *file) {
    const int error = errno;
    struct stat now;
    unlink(file->path);
    if (is_kept(file, &now)) close(file->kept);
    file->kept = -1;
    file->bytes = 0;
    errno = error;
}

static int write_header(int file) {
    struct burst_raw_header header = {.version = BURST_RAW_VERSION, .thread = next_number};
    memcpy(header.magic, BURST_RAW_MAGIC, sizeof header.magic);
    header.header_bytes = BURST_RAW_HEADER_BYTES;
    header.record_bytes = (uint32_t)record_bytes;
    header.pid = (uint32_t)getpid();
    header.start_ns = burst_now();
    header.start_realtime_ns = burst_clock(CLOCK_REALTIME);
    gethostname(header.host, sizeof header.host - 1);
    burst_read_program(header.program, sizeof header.program);
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

static int name_files(uint32_t number) {
    char host[65], more[16] = "";
    name_host(host, sizeof host);
    if (number > 0) snprintf(more, sizeof more, ".%u", number);
    const int length = snprintf(tail.path, sizeof tail.path, "%s/p-%s-%ld%s%s", burst_folder, host,
                                (long)getpid(), more, BURST_TAIL_SUFFIX);
    if (length < 0 || (size_t)length >= sizeof tail.path) {
        errno = ENAMETOOLONG;
        return 0;
    }
    const size_t stem = (size_t)length - strlen(BURST_TAIL_SUFFIX);
    memcpy(raw.path, tail.path, stem);
    memcpy(raw.path + stem, BURST_RAW_SUFFIX, sizeof BURST_RAW_SUFFIX);
    return 1;
}

/* A process that was exec'd over a recorded one has its pid: numbers go on where they are free. */
static int create_raw(void) {
    for (;; ++next_number) {
        if (!name_files(next_number)) return -1;
        const int file = open(raw.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return keep(&raw, file);
    }
}

/* The raw file, with room for so many bytes behind its header. */
static int stand_raw(uint64_t bytes) {
    if (raw.bytes > 0) return 1;
    const int file = create_raw();
    if (file < 0) return 0;
    if (leaves_room(file, BURST_RAW_HEADER_BYTES + bytes) && write_header(file)) {
        raw.bytes = BURST_RAW_HEADER_BYTES;
        return 1;
    }
    remove_file(&raw);
    return 0;
}

static int stand_tail(void) {
    if (tail.kept >= 0 || tail.bytes > 0) return 1;
    return keep(&tail, open(tail.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) >= 0;
}

static void *extend(int file, size_t bytes) {
    if (!leaves_room(file, bytes) || !allocate(file, tail.bytes, bytes) || !leaves_room(file, 0))
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)tail.bytes);
    if (memory == MAP_FAILED) return NULL;
    burst_touch(memory, bytes);
    return memory;
}

static void *map_more(size_t bytes) {
    const int is_first = raw.bytes == 0;
    void *memory = NULL;
    if (stand_raw(bytes) && stand_tail()) {
        const int file = descriptor_of(&tail);
        if (file >= 0) memory = extend(file, bytes);
        const int error = errno;
        if (file >= 0 && memory == NULL && ftruncate(file, (off_t)tail.bytes) != 0) errno = error;
        errno = error;
    }
    if (memory != NULL) tail.bytes += bytes;
    if (memory == NULL && tail.bytes == 0) remove_file(&tail);
    if (memory == NULL && is_first && raw.bytes > 0) remove_file(&raw);
    return memory;
}

static size_t small_bytes(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t small = page > SMALL_WINDOW ? page : SMALL_WINDOW;
    return small < burst_settings.block_bytes ? small : burst_settings.block_bytes;
}

static char *carve(size_t bytes, int is_large) {
    if (is_large) return map_more(bytes);
    if (carved == carved_end) {
        const size_t slab = burst_settings.block_bytes / bytes * bytes;
        carved = map_more(slab);
        carved_end = carved == NULL ? NULL : carved + slab;
    }
    char *memory = carved;
    if (memory != NULL) carved += bytes;
    return memory;
}

static struct burst_window *describe(void) {
    const size_t bytes = 64 * sizeof *descriptions;
    if (descriptions == last_description) {
        descriptions = burst_map(bytes);
        last_description = descriptions == NULL ? NULL : descriptions + 64;
        if (descriptions == NULL) errno = ENOMEM;
    }
    return descriptions;
}

static struct burst_window *take_unused(int is_large) {
    struct burst_window *window = unused[is_large];
    if (window != NULL) unused[is_large] = window->next;
    return window;
}

static struct burst_window *make_window(int is_large) {
    const size_t bytes = is_large ? burst_settings.block_bytes : small_bytes();
    struct burst_window *window = describe();
    char *memory = window == NULL ? NULL : carve(bytes, is_large);
    if (memory == NULL) return NULL;
    ++descriptions;
    window->begin = window->at = (uint64_t *)memory;
    window->end = (uint64_t *)(memory + bytes);
    window->is_large = (uint8_t)is_large;
    return window;
}

/* A large one is no other than the small one where blocks are small. */
struct burst_window *burst_take_window(int is_large) {
    if (is_large && small_bytes() == burst_settings.block_bytes) return NULL;
    const struct guard guard = begin();
    struct burst_window *window = take_unused(is_large);
    if (window == NULL && !is_large) window = take_unused(1);
    if (window == NULL) window = make_window(is_large);
    if (window != NULL) ++taken;
    end(guard);
    return window;
}

uint32_t burst_number_thread(void) {
    return __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
}

/* Records behind the raw file, and a few more. What was written of them by half goes again. */
static int append(const uint64_t *from, const uint64_t *to, const uint64_t *last,
                  unsigned records) {
    const size_t bytes = (size_t)(to - from) * sizeof *from, more = records * record_bytes;
    const int file = descriptor_of(&raw);
    if (file < 0) return 0;
    const int done = leaves_room(file, bytes + more) && write_all(file, from, bytes, raw.bytes) &&
                     write_all(file, last, more, raw.bytes + bytes) && leaves_room(file, 0);
    const int error = errno;
    if (!done && ftruncate(file, (off_t)raw.bytes) != 0) errno = error;
    errno = error;
    if (done) raw.bytes += bytes + more;
    return done;
}

/* Where the raw file ends with the same thread its records simply go on. */
static int append_window(const struct burst_window *window, const uint64_t *at,
                         const uint64_t *last, unsigned records) {
    const uint64_t *from = window->begin;
    const struct burst_record *first = (const struct burst_record *)from;
    if (from != at && first->a == writer.number && first->b == writer.records) from += BURST_WORDS;
    if (from < at || records > 0) {
        if (!append(from, at, last, records)) return 0;
    }
    writer.number = window->number;
    writer.records = window->before + (uint64_t)(at - window->piece) / BURST_WORDS + records;
    return 1;
}

int burst_append(const struct burst_window *window, const uint64_t *at, const uint64_t *last,
                 unsigned records) {
    const struct guard guard = begin();
    const int done = append_window(window, at, last, records);
    end(guard);
    return done;
}

/* Those of a thread that has no window: its BURST_THREAD is the first of them. */
int burst_append_whole(const uint64_t *records, unsigned count) {
    const struct guard guard = begin();
    const int done = stand_raw(0) && append(records, records + count * BURST_WORDS, NULL, 0);
    if (done) writer.records = UINT64_MAX;
    end(guard);
    return done;
}

/* Whoever reads the tail in between finds records of which the raw file tells, or none. */
void burst_clear_window(struct burst_window *window, const uint64_t *at) {
    window->at = window->begin;
    if (at == window->begin) return;
    __atomic_store_n(&window->begin[1], 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memset(window->begin, 0, (size_t)(at - window->begin) * sizeof *at);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void give_up(void) {
    if (--taken == 0 && closed) unlink(tail.path);
}

/* A window whose records cannot be written stays as it is, and the tail with it. */
void burst_hand_on(struct burst_window *window, uint64_t *at) {
    const struct guard guard = begin();
    const size_t room = (size_t)(window->end - at) / BURST_WORDS;
    int done = 1;
    if (closed || (at != window->begin && room < LEAST_ROOM + BURST_RESERVE)) {
        done = append_window(window, at, NULL, 0);
        if (done) burst_clear_window(window, at);
        at = window->begin;
    }
    window->at = at;
    if (done) {
        window->next = unused[window->is_large];
        unused[window->is_large] = window;
        give_up();
    }
    end(guard);
}

/* Nobody stores into it any more, and all its records are written. */
void burst_retire_window(void) {
    const struct guard guard = begin();
    give_up();
    end(guard);
}

static void write_unused(struct burst_window *window) {
    for (; window != NULL; window = window->next) {
        if (window->at != window->begin && !append_window(window, window->at, NULL, 0)) ++taken;
    }
}

void burst_close_pool(void) {
    const struct guard guard = begin();
    closed = 1;
    write_unused(unused[0]);
    write_unused(unused[1]);
    unused[0] = unused[1] = NULL;
    if (taken == 0 && tail.bytes > 0) unlink(tail.path);
    end(guard);
}

/* Threads keep their windows mapped; what they write there is lost with the files. */
void burst_remove_files(void) {
    const struct guard guard = begin();
    closed = 1;
    if (raw.bytes > 0) remove_file(&raw);
    if (tail.bytes > 0) remove_file(&tail);
    end(guard);
}

/* Which library it is may be known only after the header was written. */
void burst_write_library(void) {
    const struct guard guard = begin();
    const int file = raw.bytes == 0 ? -1 : descriptor_of(&raw);
    if (file >= 0) {
        write_all(file, burst_library, sizeof burst_library,
                  offsetof(struct burst_raw_header, mpi));
    }
    end(guard);
}

void burst_leave_pool(void) {
    struct stat now;
    if (is_kept(&raw, &now)) close(raw.kept);
    if (is_kept(&tail, &now)) close(tail.kept);
    raw.kept = tail.kept = -1;
}

const char *burst_raw_path(void) { return raw.path; }
