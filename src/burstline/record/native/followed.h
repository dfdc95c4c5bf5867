/* followed.h -- The table of requests and matched messages that are followed, by handle. */
#ifndef BURSTLINE_FOLLOWED_H
#define BURSTLINE_FOLLOWED_H

#include <pthread.h>

#include "requests.h"

/* A part of the table of handles, with its own lock and a store of entries to use again. */
struct burst_stripe {
    pthread_mutex_t lock;
    struct burst_followed** slots;
    struct burst_followed* unused;
    unsigned size, used;
};

void burst_followed_insert(struct burst_followed entry);
/* The part of a handle; its lock is the caller's to release. */
struct burst_stripe* burst_followed_locked(uintptr_t handle);
/* Where the one of a handle stands that completes next; points at NULL if there is none. A library
 * may give one handle to several that are complete at once: then it is the one whose handle was put
 * where it is now, else the oldest. `where` NULL: nobody knows. */
struct burst_followed** burst_followed_sought(struct burst_stripe* stripe, uintptr_t handle,
                                              const void* where, int is_message);
void burst_followed_drop(struct burst_stripe* stripe, struct burst_followed** place);

#endif
