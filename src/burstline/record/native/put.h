/* put.h -- The hot path: a record is stored in a buffer.
 *
 * It knows raw.h and a buffer, and calls nobody. If the buffer is full, the caller decides:
 * burst_put (output.c) makes room, a signal handler gives up. The functions are inline, because
 * every recorded call stores a few records.
 */
#ifndef BURSTLINE_PUT_H
#define BURSTLINE_PUT_H

#include "raw.h"

#define BURST_WORDS 4 /* of 64 bits in a record */
#define BURST_LIKELY(condition) __builtin_expect(!!(condition), 1)

struct burst_buffer {
    uint64_t *at, *end; /* where the next record goes; equal: the buffer is full */
};

/* The word with the kind is stored last: a process killed in between leaves no half record. */
static inline void burst_fill(uint64_t *record, uint16_t kind, uint16_t op, uint64_t time,
                              uint32_t a, uint64_t b, uint64_t c) {
    record[0] = time;
    record[2] = b;
    record[3] = c;
    const uint64_t head = (uint64_t)a << 32 | (uint64_t)op << 16 | kind;
    __atomic_store_n(&record[1], head, __ATOMIC_RELEASE);
}

/* Returns 0 and stores nothing if the buffer is full. */
static inline int burst_store(struct burst_buffer *buffer, uint16_t kind, uint16_t op,
                              uint64_t time, uint32_t a, uint64_t b, uint64_t c) {
    uint64_t *at = buffer->at;
    if (!BURST_LIKELY(at != buffer->end)) return 0;
    burst_fill(at, kind, op, time, a, b, c);
    __atomic_store_n(&buffer->at, at + BURST_WORDS, __ATOMIC_RELEASE);
    return 1;
}

#endif
