/* requests.c -- see requests.h. */
#include "requests.h"

#include "collectives.h"
#include "messages.h"

static int is_nothing(MPI_Request request) { return request == burst_known.no_request; }

void burst_follow(MPI_Request request, MPI_Comm comm, struct burst_followed what) {
    if (is_nothing(request)) return;
    what.handle = (uintptr_t)request;
    what.comm = burst_comm(comm);
    what.active = !what.persistent;
    burst_followed_insert(what);
}

#if defined(OPEN_MPI)
#define TELLS_BOTH 1
#else /* MPICH leaves the status of Isendrecv as it was, or puts in that of some part of it */
#define TELLS_BOTH 0
#endif

void burst_follow_both(MPI_Request request, const uint64_t ids[2], MPI_Comm comm, int source,
                       int tag, uint64_t bytes) {
    const int is_known = source != MPI_ANY_SOURCE && tag != MPI_ANY_TAG;
    burst_follow(request, comm,
                 (struct burst_followed){.id = ids[0],
                                         .second = ids[1],
                                         .bytes = bytes,
                                         .peer = source,
                                         .tag = tag,
                                         .kind = BURST_IS_BOTH,
                                         .by_arguments = is_known && !TELLS_BOTH});
}

void burst_follow_dup(MPI_Request request, uint64_t id, MPI_Comm* created, uint64_t name) {
    __atomic_store_n(&burst_following, 1, __ATOMIC_RELAXED);
    burst_follow(request, burst_known.no_comm,
                 (struct burst_followed){
                     .id = id, .bytes = name, .created = created, .kind = BURST_IS_DUP});
}

static void put_start(struct burst_thread* thread, const struct burst_followed* entry) {
    if (entry->kind == BURST_IS_COLLECTIVE) {
        burst_collective(thread, entry->comm, entry->id, entry->tag, entry->bytes, entry->received);
        if (entry->rooted) burst_root(thread, entry->comm, entry->peer);
    } else {
        burst_message(thread, entry->kind == BURST_IS_SEND ? BURST_SEND : BURST_POST, entry->comm,
                      entry->peer, entry->tag, entry->bytes, entry->id);
    }
}

void burst_start(struct burst_thread* thread, MPI_Request request) {
    struct burst_stripe* stripe = burst_followed_locked((uintptr_t)request);
    struct burst_followed *entry = burst_followed_sought(stripe, (uintptr_t)request, NULL, 0),
                          found = {0};
    if (entry != NULL && entry->persistent) {
        const int wanted = thread != NULL || entry->kind == BURST_IS_RECEIVE;
        entry->id = wanted ? burst_new_id() : 0;
        entry->active = 1;
        entry->cancelling = entry->reported = 0;
        found = *entry;
    }
    pthread_mutex_unlock(&stripe->lock);
    if (thread != NULL && found.active) put_start(thread, &found);
}

static int was_cancelled(const struct burst_followed* entry, const MPI_Status* status) {
    int cancelled = 0;
    return entry->cancelling && REAL(Test_cancelled)(status, &cancelled) == MPI_SUCCESS &&
           cancelled;
}

static void put_received(struct burst_thread* thread, const struct burst_followed* entry,
                         const MPI_Status* status, uint64_t id) {
    const int from_nobody = entry->peer == MPI_PROC_NULL;
    if (entry->by_arguments)
        burst_message(thread, BURST_RECEIVE, entry->comm, entry->peer, entry->tag,
                      from_nobody ? 0 : entry->bytes, id);
    else
        burst_status(thread, BURST_RECEIVE, entry->comm, status, id, from_nobody);
}

static void put_done(struct burst_thread* thread, uint16_t kind, uint64_t id) {
    if (id != 0) burst_put(thread, kind, 0, id, 0, 0, 0);
}

static void put_completion(struct burst_thread* thread, const struct burst_followed* entry,
                           const MPI_Status* status) {
    const int cancelled = was_cancelled(entry, status);
    const uint64_t received = entry->kind == BURST_IS_RECEIVE ? entry->id : entry->second;
    if (cancelled)
        put_done(thread, BURST_CANCELLED, entry->id);
    else if (entry->kind == BURST_IS_SEND || entry->kind == BURST_IS_BOTH)
        put_done(thread, BURST_SEND_DONE, entry->id);
    else if (entry->kind == BURST_IS_COLLECTIVE || entry->kind == BURST_IS_DUP)
        put_done(thread, BURST_COLLECTIVE_DONE, entry->id);
    if (cancelled)
        put_done(thread, BURST_CANCELLED, entry->second);
    else if (received != 0)
        put_received(thread, entry, status, received);
}

/* The operation of a handle that is complete now; inactive if there is none, or if its completion
 * was recorded before. */
static struct burst_followed finished(MPI_Request request, const MPI_Request* where, int for_good) {
    struct burst_followed found = {0};
    if (is_nothing(request)) return found;
    struct burst_stripe* stripe = burst_followed_locked((uintptr_t)request);
    struct burst_followed* entry = burst_followed_sought(stripe, (uintptr_t)request, where, 0);
    if (entry != NULL && entry->active) {
        found = *entry;
        found.active = !entry->reported;
        if (!for_good)
            entry->reported = 1;
        else if (entry->persistent)
            entry->active = 0;
        else
            burst_followed_drop(stripe, entry);
    }
    pthread_mutex_unlock(&stripe->lock);
    return found;
}

static void finish(struct burst_thread* thread, MPI_Request request, const MPI_Request* where,
                   const MPI_Status* status, int for_good) {
    const struct burst_followed found = finished(request, where, for_good);
    if (!found.active) return;
    if (found.kind == BURST_IS_DUP) burst_comm_named(*found.created, found.bytes);
    if (thread != NULL) put_completion(thread, &found, status);
}

void burst_completed(struct burst_thread* thread, MPI_Request request, const MPI_Request* where,
                     const MPI_Status* status) {
    finish(thread, request, where, status, 1);
}

void burst_reported(struct burst_thread* thread, MPI_Request request, const MPI_Status* status) {
    finish(thread, request, NULL, status, 0);
}

/* What is followed under a handle, which is forgotten; zeros if nothing is. */
static struct burst_followed taken(uintptr_t handle, int is_message) {
    struct burst_stripe* stripe = burst_followed_locked(handle);
    struct burst_followed *entry = burst_followed_sought(stripe, handle, NULL, is_message),
                          found = {0};
    if (entry != NULL) {
        found = *entry;
        burst_followed_drop(stripe, entry);
    }
    pthread_mutex_unlock(&stripe->lock);
    return found;
}

void burst_released(struct burst_thread* thread, MPI_Request request) {
    const struct burst_followed found = taken((uintptr_t)request, 0);
    if (thread == NULL || !found.active || found.reported) return;
    put_done(thread, BURST_FREED, found.id);
    put_done(thread, BURST_FREED, found.second);
}

void burst_cancelling(MPI_Request request) {
    struct burst_stripe* stripe = burst_followed_locked((uintptr_t)request);
    struct burst_followed* entry = burst_followed_sought(stripe, (uintptr_t)request, NULL, 0);
    if (entry != NULL) entry->cancelling = 1;
    pthread_mutex_unlock(&stripe->lock);
}

static int is_real_message(MPI_Message message) {
    return message != burst_known.no_message && message != burst_known.nobody;
}

void burst_matched(struct burst_thread* thread, MPI_Message message, MPI_Comm comm,
                   const MPI_Status* status) {
    const uint64_t id = is_real_message(message) ? burst_new_id() : 0;
    if (thread != NULL) burst_status(thread, BURST_PROBE, burst_comm(comm), status, id, 0);
    if (id == 0) return;
    burst_followed_insert((struct burst_followed){.handle = (uintptr_t)message,
                                                  .id = id,
                                                  .peer = status->MPI_SOURCE,
                                                  .tag = status->MPI_TAG,
                                                  .comm = burst_comm(comm),
                                                  .kind = BURST_IS_MESSAGE});
}

struct burst_match burst_unmatched(struct burst_thread* thread, MPI_Message message,
                                   uint64_t bytes) {
    if (!is_real_message(message)) return (struct burst_match){NULL, 0};
    const struct burst_followed found = taken((uintptr_t)message, 1);
    if (thread != NULL && found.comm != NULL)
        burst_message(thread, BURST_POST, found.comm, found.peer, found.tag, bytes, found.id);
    return (struct burst_match){found.comm, found.id};
}

void burst_received_matched(struct burst_thread* thread, struct burst_match match,
                            const MPI_Status* status) {
    if (match.comm == NULL) return;
    burst_status(thread, BURST_RECEIVE, match.comm, status, match.id, 0);
}

void burst_follow_matched(MPI_Request request, struct burst_match match) {
    if (match.comm == NULL || is_nothing(request)) return;
    burst_followed_insert((struct burst_followed){.handle = (uintptr_t)request,
                                                  .id = match.id,
                                                  .comm = match.comm,
                                                  .peer = MPI_ANY_SOURCE,
                                                  .kind = BURST_IS_RECEIVE,
                                                  .active = 1});
}
