/* followed.h -- The table of requests and matched messages that are followed, by handle. */
#ifndef BURSTLINE_FOLLOWED_H
#define BURSTLINE_FOLLOWED_H

#include <pthread.h>

#include "communicators.h"

enum burst_request_kind {
    BURST_IS_SEND,
    BURST_IS_RECEIVE,
    BURST_IS_COLLECTIVE,
    BURST_IS_DUP,
    BURST_IS_BOTH,    /* a send, and a receive under the second id */
    BURST_IS_MESSAGE, /* found by Mprobe; the handle is one of MPI_Message */
    BURST_IS_OTHER
};

struct burst_followed {
    uintptr_t handle;
    uint64_t id, second; /* id 0: what started it was not recorded */
    uint64_t bytes;      /* persistent only; of MPI_Comm_idup: the name */
    uint64_t received;   /* persistent collectives only */
    struct burst_comm* comm;
    MPI_Comm* created;
    int peer, tag;     /* of persistent collectives: the root, and what the record says, which is
                          the number of the operation, and in the lowest bit whether it is here */
    const void* where; /* the handle was put; NULL: unknown */
    uint8_t kind, persistent, active, cancelling, reported;
    uint8_t rooted;
    uint8_t by_arguments; /* the status of this receive is not to be trusted */
};

/* A part of the table of handles, with its own lock and a store of entries to use again. */
struct burst_stripe {
    pthread_mutex_t lock;
    struct burst_slot* slots;
    struct burst_entry* unused;
    struct burst_line* unused_lines;
    uint64_t order;
    unsigned size, used;
};

void burst_followed_insert(struct burst_followed entry);
/* The part of a handle; its lock is the caller's to release. */
struct burst_stripe* burst_followed_locked(uintptr_t handle);
/* The one of a handle that completes next, NULL if there is none. A library may give one handle to
 * several that are complete at once: then it is the one whose handle was put last where it is now,
 * else the oldest; in either case one of this thread, if it has any. `where` NULL: unknown. */
struct burst_followed* burst_followed_sought(const struct burst_stripe* stripe, uintptr_t handle,
                                             const void* where, int is_message);
void burst_followed_drop(struct burst_stripe* stripe, struct burst_followed* entry);

#endif
