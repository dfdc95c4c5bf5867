/* runtime.c -- The hot path: one record per put, calls entered and left.
 *
 * The clock is read first in `burst_enter` and last in `burst_leave`: what recording costs lies
 * inside the calls, and the computation between two calls stays clean.
 *
 * Profile mode writes no call. Per operation it counts calls and sums up the nanoseconds spent
 * in them; when the thread ends they are written as two events: type 1000 + operation with the
 * count, type 2000 + operation with the nanoseconds.
 */
#include "thread.h"

#include <string.h>
#include <time.h>

#define CALIBRATION_BATCHES 10
#define CALIBRATION_CALLS 20

static uint64_t overhead_ns;

uint64_t burst_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct burst_thread *burst_self(void) {
    struct burst_thread *thread = burst_current;
    const uint32_t gate = __atomic_load_n(&burst_gate, __ATOMIC_RELAXED);
    if (BURST_LIKELY(thread != NULL && thread->gate == gate && !thread->inside)) return thread;
    return gate == BURST_SHUT || gate == BURST_PAUSED ? NULL : burst_find_thread();
}

int burst_begin(struct burst_thread *thread) { return thread->nesting++ == 0; }

void burst_end(struct burst_thread *thread) { --thread->nesting; }

/* The word with the kind is stored last: a process killed in between leaves no half record. */
static inline void put(struct burst_thread *thread, uint16_t kind, uint16_t op, uint64_t time,
                       uint32_t a, uint64_t b, uint64_t c) {
    uint64_t *at = thread->at;
    if (!BURST_LIKELY(at != thread->end)) {
        at = burst_room(thread, kind);
        if (at == NULL) return;
    }
    at[0] = time;
    at[2] = b;
    at[3] = c;
    const uint64_t head = (uint64_t)a << 32 | (uint64_t)op << 16 | kind;
    __atomic_store_n(&at[1], head, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->at, at + BURST_WORDS, __ATOMIC_RELEASE);
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

int burst_is_defined(struct burst_thread *thread, uint16_t space, uint32_t id) {
    return burst_set_add(&thread->defined, (uint64_t)(space + 1) << 32 | id);
}

void burst_enter(struct burst_thread *thread, uint16_t op, void *return_address) {
    burst_enter_at(thread, op, return_address, burst_now());
}

void burst_enter_at(struct burst_thread *thread, uint16_t op, void *return_address,
                    uint64_t now) {
    __atomic_store_n(&thread->calls, thread->calls + 1, __ATOMIC_RELAXED);
    if (burst_settings.profile) {
        thread->entered_ns = now;
        return;
    }
    if (!BURST_LIKELY(thread->at != thread->end)) burst_recover(thread);
    const unsigned counters = burst_counter_count();
    uint64_t values[BURST_MAX_COUNTERS + 1];
    if (counters > 0) burst_read_counters(thread, values);
    if (counters > 0 && !thread->counters_defined) burst_define_counters(thread);
    uint32_t stack = 0;
    if (burst_settings.stack_depth > 0) stack = burst_stack_id(thread, (uintptr_t)return_address);
    put(thread, BURST_ENTER, op, now, stack, 0, 0);
    if (counters > 0) burst_put_counters(thread, values);
    if (burst_compiled & BURST_LABELS) put(thread, BURST_LABEL, 0, 0, burst_label, 0, 0);
}

static void tally(struct burst_thread *thread, uint16_t op) {
    if (thread->tally == NULL || op >= BURST_OPERATIONS) return;
    ++thread->tally[op].count;
    thread->tally[op].ns += burst_now() - thread->entered_ns;
}

void burst_leave(struct burst_thread *thread, uint16_t op, int error) {
    if (burst_settings.profile) {
        tally(thread, op);
        return;
    }
    const unsigned counters = burst_counter_count();
    uint64_t values[BURST_MAX_COUNTERS + 1];
    if (counters > 0) burst_read_counters(thread, values);
    const uint64_t now = burst_now();
    thread->last_ns = now;
    put(thread, BURST_LEAVE, op, now, (uint32_t)error, 0, 0);
    if (counters > 0) burst_put_counters(thread, values);
}

uint64_t burst_overhead_ns(void) { return __atomic_load_n(&overhead_ns, __ATOMIC_RELAXED); }

static __attribute__((noinline)) void empty_call(struct burst_thread *thread) {
    burst_enter(thread, 0, __builtin_return_address(0));
    burst_leave(thread, 0, 0);
}

/* Once per process: empty calls into nowhere, with this thread's counters and stack. */
void burst_calibrate(struct burst_thread *thread) {
    static int done;
    const size_t bytes = 1u << 18; /* 240 calls with 32 counters each fit */
    if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED)) return;
    uint64_t *nowhere = burst_map(bytes);
    if (nowhere == NULL) return;
    uint64_t *at = thread->at, *end = thread->end;
    uint64_t lowest = UINT64_MAX;
    for (int batch = 0; batch < CALIBRATION_BATCHES; ++batch) {
        thread->at = nowhere;
        thread->end = nowhere + bytes / sizeof *nowhere;
        const uint64_t before = burst_now();
        for (int call = 0; call < CALIBRATION_CALLS; ++call) empty_call(thread);
        const uint64_t ns = (burst_now() - before) / CALIBRATION_CALLS;
        if (ns < lowest) lowest = ns;
    }
    burst_unmap(nowhere, bytes);
    thread->at = at;
    thread->end = end;
    thread->calls = 0;
    thread->last_ns = 0;
    thread->counters_defined = 0;
    ++thread->generation;
    burst_set_clear(&thread->defined);
    if (thread->tally != NULL) memset(thread->tally, 0, BURST_OPERATIONS * sizeof *thread->tally);
    __atomic_store_n(&overhead_ns, lowest, __ATOMIC_RELAXED);
}
