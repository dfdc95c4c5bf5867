/* timing.c -- Times a kernel, and prints its least time in ns and what it counted; counts nothing.
 *
 *     timing         names of all kernels
 *     timing NAME    NS COUNT ...
 *
 * The least of many short runs, as what else the machine does only ever adds.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

enum { COUNTERS = 16, LENGTH = 1 << 17, RUNS = 60, MOST_NS = 400000000 };

extern __thread uint64_t burst_work[COUNTERS];

uint64_t other(uint64_t x) { return x * 3 + 1; }

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void measure(const struct kernel* kernel) {
    uint64_t before[COUNTERS], counted[COUNTERS], least = UINT64_MAX, begun = now_ns();
    kernel->run(LENGTH); /* pages and caches are warm */
    memcpy(before, burst_work, sizeof before);
    kernel->run(LENGTH);
    for (int k = 0; k < COUNTERS; ++k) counted[k] = burst_work[k] - before[k];
    for (int run = 0; run < RUNS && now_ns() - begun < MOST_NS; ++run) {
        uint64_t start = now_ns();
        kernel->run(LENGTH);
        uint64_t ns = now_ns() - start;
        if (ns < least) least = ns;
    }
    printf("%" PRIu64, least);
    for (int k = 0; k < COUNTERS; ++k) printf(" %" PRIu64, counted[k]);
    printf("\n");
}

int main(int count, char** words) {
    if (count > 1) set_up();
    for (unsigned long k = 0; k < kernel_count; ++k)
        if (count < 2)
            puts(kernels[k].name);
        else if (strcmp(words[1], kernels[k].name) == 0)
            measure(&kernels[k]);
    return 0;
}
