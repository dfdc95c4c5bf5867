/* profile.c -- The file of a thread in profile mode: counts and times, written when it ends. */
#include "thread.h"

#include <string.h>

static void add(uint64_t **at, uint16_t kind, uint32_t a, uint64_t time, uint64_t b, uint64_t c) {
    burst_fill(*at, kind, 0, time, a, b, c);
    *at += BURST_WORDS;
}

void burst_write_profile(struct burst_thread *thread, const uint64_t *last, unsigned records) {
    static uint64_t all[(2 * BURST_OPERATIONS + 10) * BURST_WORDS];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    thread->closed = 1;
    pthread_mutex_lock(&lock);
    uint64_t *at = all + BURST_WORDS; /* behind the thread's number */
    int rank, size, level;
    if (burst_known_rank(&rank, &size, &level)) {
        add(&at, BURST_RANK, (uint32_t)rank, 0, (uint64_t)size, (uint64_t)level);
    }
    for (uint32_t op = 0; op < BURST_OPERATIONS; ++op) {
        const struct burst_tally tally = thread->tally[op];
        if (tally.count == 0) continue;
        add(&at, BURST_EVENT, BURST_COUNT_TYPE + op, last[0], tally.count, 0);
        add(&at, BURST_EVENT, BURST_TIME_TYPE + op, last[0], tally.ns, 0);
    }
    memcpy(at, last, records * sizeof(struct burst_record));
    at += records * BURST_WORDS;
    burst_write_whole(thread, all, (unsigned)((at - all) / BURST_WORDS));
    pthread_mutex_unlock(&lock);
}
