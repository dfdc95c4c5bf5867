/* output.c -- The window of a thread, and what becomes of records that have no room.
 *
 * BURST_RESERVE records are kept free in a window for the gap and the end. Without room records are
 * dropped and counted; now and then a record that begins something (not a definition, nor part of a
 * call) tries again.
 */
#include "thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "pool.h"

#define RETRY_NS 200000000u
static uint64_t dropped_in_all;
static uint64_t missed, missed_since_ns; /* by threads that may never get memory */

/* At the beginning, and wherever the thread goes on in another place. */
static void begin_piece(struct burst_thread *thread, uint64_t *at) {
    struct burst_window *window = thread->window;
    window->piece = at + BURST_WORDS;
    window->before = thread->stored;
    window->number = thread->number;
    burst_fill(at, BURST_THREAD, 0, thread->start_ns, thread->number, thread->stored, 0);
    thread->buffer.at = window->piece;
    thread->buffer.end = window->end - BURST_RESERVE * BURST_WORDS;
}

static void say_why(const char *what, const char *dropped) {
    const char *way_out = "";
    if (errno == EMFILE || errno == ENFILE)
        way_out = " (the program leaves none to the recorder: raise ulimit -n)";
    if (errno == ENOENT) way_out = " (it was removed during the run: keep its folder)";
    burst_say("%s %s: %s%s; %s", what, burst_raw_path(), strerror(errno), way_out, dropped);
}

int burst_open_output(struct burst_thread *thread) {
    static int said;
    struct burst_window *window = burst_take_window(0);
    if (window != NULL) {
        thread->number = burst_number_thread();
        thread->window = window;
        begin_piece(thread, window->at);
        return 1;
    }
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        say_why("cannot write", "calls are counted as dropped");
    return 0;
}

void burst_put_library(struct burst_thread *thread) {
    const int error = errno;
    if (thread->window != NULL) burst_write_library();
    errno = error;
}

/* Who fills a small window gets a large one, if there is any. */
static int empty_window(struct burst_thread *thread) {
    struct burst_window *window = thread->window;
    if (!burst_append(window, thread->buffer.at, NULL, 0)) return 0;
    thread->stored = window->before + (uint64_t)(thread->buffer.at - window->piece) / BURST_WORDS;
    burst_clear_window(window, thread->buffer.at);
    if (!window->is_large) {
        struct burst_window *large = burst_take_window(1);
        if (large != NULL) {
            burst_hand_on(window, window->at);
            thread->window = large;
        }
    }
    begin_piece(thread, thread->window->at);
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

/* There is room again: what was defined or told while there was none is put once more. */
static void mark_gap(struct burst_thread *thread) {
    const uint64_t dropped = thread->dropped, since = thread->dropped_since_ns;
    thread->dropped = 0;
    burst_set_clear(&thread->defined);
    ++thread->generation;
    thread->counters_defined = 0;
    memset(thread->told, 0, sizeof thread->told);
    burst_store(&thread->buffer, BURST_GAP, 0, burst_now(), 0, since, dropped);
    burst_put_rank(thread);
}

static int find_room(struct burst_thread *thread) {
    static int said;
    if (thread->closed) return 0;
    if (thread->window == NULL) return burst_open_output(thread);
    if (empty_window(thread)) return 1;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        say_why("cannot write", "records are dropped");
    }
    return 0;
}

static int locked_find_room(struct burst_thread *thread) {
    const int error = errno;
    thread->inside = 1;
    pthread_mutex_lock(&thread->lock);
    const int found = find_room(thread);
    thread->has_news = 1; /* a moment to look at the processor */
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
static void take_away(struct burst_window *window) {
    mmap(window->begin, (size_t)((char *)window->end - (char *)window->begin),
         PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* What has no room in the file stays in the window, whose reserve takes the last records. */
void burst_close_output(struct burst_thread *thread, const uint64_t *last, unsigned records,
                        int own) {
    struct burst_window *window = thread->window;
    if (thread->closed) return;
    thread->closed = 1;
    if (window == NULL) return;
    uint64_t *at = __atomic_load_n(&thread->buffer.at, __ATOMIC_ACQUIRE);
    const size_t words = (size_t)records * BURST_WORDS;
    const int goes_on = own && __atomic_load_n(&burst_gate, __ATOMIC_RELAXED) != BURST_SHUT;
    const int done = !goes_on && burst_append(window, at, last, records);
    if (!done) memcpy(at, last, words * sizeof *at);
    if (!own) take_away(window);
    if (own) {
        thread->buffer = (struct burst_buffer){NULL, NULL};
        thread->window = NULL;
    }
    if (goes_on) burst_hand_on(window, at + words);
    if (done) burst_retire_window();
}

void burst_write_whole(struct burst_thread *thread, uint64_t *records, unsigned count) {
    thread->number = burst_number_thread();
    burst_fill(records, BURST_THREAD, 0, thread->start_ns, thread->number, 0, 0);
    if (!burst_append_whole(records, count))
        say_why("cannot write", "calls are counted as dropped");
}
