/* runtime.c -- Calls entered and left, and what recording one costs.
 *
 * The clock is read first in `burst_enter` and last in `burst_leave`: what recording costs lies
 * inside the calls, and the computation between two calls stays clean.
 *
 * Profile mode records no call: it counts the calls of each operation and sums up the nanoseconds
 * spent in them, for profile.c.
 */
#include "thread.h"

#include <string.h>

#define CALIBRATION_BATCHES 10
#define CALIBRATION_CALLS 20

static uint64_t overhead_ns;
static uint32_t reading_ns;
static uint64_t border_ns;

int burst_begin(struct burst_thread *thread) { return thread->nesting++ == 0; }

void burst_end(struct burst_thread *thread) { --thread->nesting; }

/* burst_put without a call, as long as there is room. */
static inline void put(struct burst_thread *thread, uint16_t kind, uint16_t op, uint64_t time,
                       uint32_t a) {
    if (!BURST_LIKELY(burst_store(&thread->buffer, kind, op, time, a, 0, 0)))
        burst_put(thread, kind, op, time, a, 0, 0);
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
    if (!BURST_LIKELY(thread->buffer.at != thread->buffer.end)) burst_recover(thread);
    if (!BURST_LIKELY(!thread->has_news)) burst_put_news(thread);
    const unsigned counters = burst_counter_count();
    uint64_t values[BURST_MAX_COUNTERS + 1];
    if (counters > 0) burst_read_counters(thread, values);
    if (counters > 0 && !thread->counters_defined) burst_define_counters(thread);
    uint32_t stack = 0;
    if (burst_settings.stack_depth > 0) stack = burst_stack_id(thread, (uintptr_t)return_address);
    put(thread, BURST_ENTER, op, now, stack);
    if (counters > 0) burst_put_counters(thread, 0, values);
    if (burst_compiled & BURST_LABELS) put(thread, BURST_LABEL, 0, 0, burst_label);
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
    burst_put_moment(thread, BURST_ALL_COUNTERS, BURST_LEAVE, op, (uint32_t)error, 0, 0);
}

void burst_put_moment(struct burst_thread *thread, enum burst_readings readings, uint16_t kind,
                      uint16_t op, uint32_t a, uint64_t b, uint64_t c) {
    if (!BURST_LIKELY(!thread->has_news)) burst_put_news(thread);
    const unsigned counters = burst_counter_count();
    uint64_t values[BURST_MAX_COUNTERS + 1];
    unsigned first = 0;
    if (counters > 0 && readings == BURST_WORK_ONLY) first = burst_read_work(values);
    if (counters > 0 && readings == BURST_ALL_COUNTERS) burst_read_counters(thread, values);
    if (first < counters && !thread->counters_defined) burst_define_counters(thread);
    const uint64_t now = thread->last_ns = burst_now();
    if (!BURST_LIKELY(burst_store(&thread->buffer, kind, op, now, a, b, c)))
        burst_put(thread, kind, op, now, a, b, c);
    if (first < counters) burst_put_counters(thread, first, values);
}

uint64_t burst_overhead_ns(void) { return __atomic_load_n(&overhead_ns, __ATOMIC_RELAXED); }

uint32_t burst_reading_ns(void) { return __atomic_load_n(&reading_ns, __ATOMIC_RELAXED); }

static __attribute__((noinline)) void empty_call(struct burst_thread *thread) {
    burst_enter(thread, 0, __builtin_return_address(0));
    burst_leave(thread, 0, 0);
}

/* The two readings of a call. */
static void empty_reading(struct burst_thread *thread) {
    uint64_t values[BURST_MAX_COUNTERS + 1];
    burst_read_counters(thread, values);
    burst_read_counters(thread, values);
}

uint64_t burst_border_ns(void) { return __atomic_load_n(&border_ns, __ATOMIC_RELAXED); }

static void empty_border(struct burst_thread *thread) {
    burst_put_moment(thread, BURST_WORK_ONLY, BURST_REGION_ENTER, 0, 0, 0, 0);
}

/* The ns that recording takes, into nowhere. */
static uint64_t calibrate(struct burst_thread *thread, void (*record)(struct burst_thread *)) {
    static uint64_t nowhere[1u << 15]; /* 240 calls with 32 counters each fit */
    uint64_t lowest = UINT64_MAX;
    for (int batch = 0; batch < CALIBRATION_BATCHES; ++batch) {
        thread->buffer = (struct burst_buffer){nowhere, nowhere + sizeof nowhere / sizeof *nowhere};
        const uint64_t before = burst_now();
        for (int call = 0; call < CALIBRATION_CALLS; ++call) record(thread);
        const uint64_t ns = (burst_now() - before) / CALIBRATION_CALLS;
        if (ns < lowest) lowest = ns;
    }
    return lowest;
}

/* Once per process: empty calls into nowhere, with this thread's counters and stack. */
void burst_calibrate(struct burst_thread *thread) {
    static int done;
    if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED)) return;
    const struct burst_buffer buffer = thread->buffer;
    thread->inside = 1; /* what is missed here is nobody's */
    __atomic_store_n(&overhead_ns, calibrate(thread, empty_call), __ATOMIC_RELAXED);
    if (!burst_settings.profile)
        __atomic_store_n(&border_ns, calibrate(thread, empty_border), __ATOMIC_RELAXED);
    if (!burst_settings.profile && burst_counter_count() > 0)
        __atomic_store_n(&reading_ns, (uint32_t)calibrate(thread, empty_reading), __ATOMIC_RELAXED);
    thread->inside = 0;
    thread->buffer = buffer;
    thread->calls = 0;
    thread->last_ns = 0;
    thread->counters_defined = 0;
    ++thread->generation;
    burst_set_clear(&thread->defined);
    if (thread->tally != NULL) memset(thread->tally, 0, BURST_OPERATIONS * sizeof *thread->tally);
}
