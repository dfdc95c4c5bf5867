/* work.c -- What compile-time instrumentation adds to a program: its counters.
 *
 * Linked into every program and shared library that `burstline cc` and `burstline c++` link. Where
 * several define burst_work, the dynamic linker lets all use the first one.
 */
#include <stdint.h>

#include "runtime.h"

#define BURST_WORK_LOOP_ITER 12

__thread uint64_t burst_work[BURST_WORK_COUNTERS];

/* Iterations that OpenMP's static schedule gave this thread: chunks of upper - lower + 1, one each
 * `stride`, none beyond `last`. */
void burst_loop_static(int32_t schedule, int64_t lower, int64_t upper, int64_t stride,
                       int64_t last) {
    enum { DISTRIBUTE_CHUNKED = 91, DISTRIBUTE = 92, KIND = 0xffff };
    int32_t kind = schedule & KIND;
    if (kind == DISTRIBUTE || kind == DISTRIBUTE_CHUNKED || lower > last || upper < lower) return;
    uint64_t chunk = (uint64_t)upper - (uint64_t)lower + 1;
    uint64_t span = (uint64_t)last - (uint64_t)lower;
    uint64_t whole = stride > 0 ? span / (uint64_t)stride : 0;
    uint64_t rest = span - whole * (uint64_t)stride + 1;
    burst_work[BURST_WORK_LOOP_ITER] += whole * chunk + (rest < chunk ? rest : chunk);
}

/* A chunk that OpenMP's dynamic schedules gave this thread. */
void burst_loop_chunk(int32_t given, int64_t lower, int64_t upper) {
    if (given && upper >= lower)
        burst_work[BURST_WORK_LOOP_ITER] += (uint64_t)upper - (uint64_t)lower + 1;
}
