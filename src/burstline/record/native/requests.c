/* requests.c -- see requests.h. */
#include "requests.h"

#include <pthread.h>
#include <stdlib.h>

#define STRIPES 64
#define FIRST_SIZE 16

/* A part of the table of handles, with its own lock and a store of entries to use again. */
struct stripe {
    pthread_mutex_t lock;
    struct burst_followed** slots;
    struct burst_followed* unused;
    unsigned size, used;
};

static struct stripe stripes[STRIPES] = {[0 ... STRIPES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static uint64_t spread(uintptr_t handle) { return (uint64_t)handle * 0x9e3779b97f4a7c15u; }

static struct stripe* locked(uintptr_t handle) {
    struct stripe* stripe = &stripes[spread(handle) >> 58];
    pthread_mutex_lock(&stripe->lock);
    return stripe;
}

static struct burst_followed** slot(const struct stripe* stripe, uintptr_t handle) {
    return &stripe->slots[(spread(handle) >> 20) & (stripe->size - 1)];
}

static int grow(struct stripe* stripe) {
    const unsigned size = stripe->size == 0 ? FIRST_SIZE : 2 * stripe->size;
    struct burst_followed **old = stripe->slots, **slots = calloc(size, sizeof(*slots));
    if (slots == NULL) return stripe->size > 0;
    const unsigned old_size = stripe->size;
    stripe->slots = slots;
    stripe->size = size;
    for (unsigned i = 0; i < old_size; ++i) {
        struct burst_followed *entry = old[i], *next;
        for (; entry != NULL; entry = next) { /* in order, behind those of the same slot */
            next = entry->next;
            struct burst_followed** place = slot(stripe, entry->handle);
            while (*place != NULL) place = &(*place)->next;
            entry->next = NULL;
            *place = entry;
        }
    }
    free(old);
    return 1;
}

static void insert(struct burst_followed entry) {
    struct stripe* stripe = locked(entry.handle);
    struct burst_followed* fresh = stripe->unused;
    if (stripe->used >= stripe->size && !grow(stripe)) goto out;
    if (fresh != NULL)
        stripe->unused = fresh->next;
    else if ((fresh = malloc(sizeof *fresh)) == NULL)
        goto out;
    struct burst_followed** place = slot(stripe, entry.handle);
    while (*place != NULL) place = &(*place)->next;
    *fresh = entry;
    fresh->next = NULL;
    *place = fresh;
    ++stripe->used;
out:
    pthread_mutex_unlock(&stripe->lock);
}

static struct burst_followed** sought(struct stripe* stripe, uintptr_t handle, int is_message) {
    static struct burst_followed* nothing;
    if (stripe->size == 0) return &nothing;
    struct burst_followed** place = slot(stripe, handle);
    while (*place != NULL &&
           ((*place)->handle != handle || ((*place)->kind == BURST_IS_MESSAGE) != is_message))
        place = &(*place)->next;
    return place;
}

static void drop(struct stripe* stripe, struct burst_followed** place) {
    struct burst_followed* gone = *place;
    *place = gone->next;
    gone->next = stripe->unused;
    stripe->unused = gone;
    --stripe->used;
}

static uint64_t tagged(struct burst_thread* thread, struct burst_comm* comm, int tag) {
    return (uint64_t)burst_comm_id(thread, comm) << 32 | (uint32_t)tag;
}

static uint64_t status_bytes(const MPI_Status* status) {
    MPI_Count bytes = 0;
    const int error = REAL(Get_elements_x)(status, burst_known.byte, &bytes);
    return error == MPI_SUCCESS && bytes > 0 ? (uint64_t)bytes : 0;
}

static int32_t any_tag(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }

uint64_t burst_bytes(MPI_Count count, MPI_Datatype type) {
    MPI_Count size = 0;
    if (count <= 0 || REAL(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return (uint64_t)count * (uint64_t)size;
}

static void put_send(struct burst_thread* thread, struct burst_comm* comm, int peer, int tag,
                     uint64_t bytes, uint64_t id) {
    const uint64_t where = tagged(thread, comm, tag);
    burst_put(thread, BURST_SEND, 0, id, (uint32_t)burst_world_rank(comm, peer), where, bytes);
}

static void put_post(struct burst_thread* thread, struct burst_comm* comm, int peer, int tag,
                     uint64_t bytes, uint64_t id) {
    const uint64_t where = tagged(thread, comm, any_tag(tag));
    burst_put(thread, BURST_POST, 0, id, (uint32_t)burst_world_rank(comm, peer), where, bytes);
}

static void put_status(struct burst_thread* thread, uint16_t kind, struct burst_comm* comm,
                       const MPI_Status* status, uint64_t id, int from_nobody) {
    const int source = from_nobody ? MPI_PROC_NULL : status->MPI_SOURCE;
    const int empty = source == MPI_PROC_NULL;
    const uint64_t where = tagged(thread, comm, empty ? -1 : any_tag(status->MPI_TAG));
    burst_put(thread, kind, 0, id, (uint32_t)burst_world_rank(comm, source), where,
              empty ? 0 : status_bytes(status));
}

void burst_send(struct burst_thread* thread, MPI_Comm comm, int peer, int tag, uint64_t bytes,
                uint64_t id) {
    put_send(thread, burst_comm(comm), peer, tag, bytes, id);
}

void burst_post(struct burst_thread* thread, MPI_Comm comm, int peer, int tag, uint64_t bytes,
                uint64_t id) {
    put_post(thread, burst_comm(comm), peer, tag, bytes, id);
}

void burst_received(struct burst_thread* thread, MPI_Comm comm, const MPI_Status* status) {
    put_status(thread, BURST_RECEIVE, burst_comm(comm), status, 0, 0);
}

void burst_probed(struct burst_thread* thread, MPI_Comm comm, const MPI_Status* status) {
    put_status(thread, BURST_PROBE, burst_comm(comm), status, 0, 0);
}

uint64_t burst_new_id(void) {
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static int is_nothing(MPI_Request request) { return request == burst_known.no_request; }

void burst_follow(enum burst_work_kind kind, MPI_Request request, uint64_t id, MPI_Comm comm,
                  int peer) {
    if (is_nothing(request)) return;
    insert((struct burst_followed){.handle = (uintptr_t)request,
                                   .id = id,
                                   .peer = peer,
                                   .comm = burst_comm(comm),
                                   .kind = (uint8_t)kind,
                                   .active = 1});
}

void burst_follow_dup(MPI_Request request, MPI_Comm* created, uint64_t name) {
    insert((struct burst_followed){.handle = (uintptr_t)request,
                                   .bytes = name,
                                   .created = created,
                                   .kind = BURST_IS_DUP,
                                   .active = 1});
}

void burst_keep(enum burst_work_kind kind, MPI_Request request, MPI_Comm comm, int peer, int tag,
                uint64_t bytes) {
    if (is_nothing(request)) return;
    insert((struct burst_followed){.handle = (uintptr_t)request,
                                   .bytes = bytes,
                                   .peer = peer,
                                   .tag = tag,
                                   .comm = burst_comm(comm),
                                   .kind = (uint8_t)kind,
                                   .persistent = 1});
}

void burst_start(struct burst_thread* thread, MPI_Request request) {
    struct stripe* stripe = locked((uintptr_t)request);
    struct burst_followed *entry = *sought(stripe, (uintptr_t)request, 0), found = {0};
    if (entry != NULL && entry->persistent) {
        entry->id = burst_new_id();
        entry->active = 1;
        entry->cancelling = entry->reported = 0;
        found = *entry;
    }
    pthread_mutex_unlock(&stripe->lock);
    if (thread == NULL || !found.active) return;
    if (found.kind == BURST_IS_SEND)
        put_send(thread, found.comm, found.peer, found.tag, found.bytes, found.id);
    else
        put_post(thread, found.comm, found.peer, found.tag, found.bytes, found.id);
}

static int was_cancelled(const struct burst_followed* entry, const MPI_Status* status) {
    int cancelled = 0;
    return entry->cancelling && REAL(Test_cancelled)(status, &cancelled) == MPI_SUCCESS &&
           cancelled;
}

static void put_completion(struct burst_thread* thread, const struct burst_followed* entry,
                           const MPI_Status* status) {
    if (was_cancelled(entry, status))
        burst_put(thread, BURST_CANCELLED, 0, entry->id, 0, 0, 0);
    else if (entry->kind == BURST_IS_SEND)
        burst_put(thread, BURST_SEND_DONE, 0, entry->id, 0, 0, 0);
    else if (entry->kind == BURST_IS_RECEIVE)
        put_status(thread, BURST_RECEIVE, entry->comm, status, entry->id,
                   entry->peer == MPI_PROC_NULL);
    else if (entry->kind == BURST_IS_COLLECTIVE)
        burst_put(thread, BURST_COLLECTIVE_DONE, 0, entry->id, 0, 0, 0);
}

/* What of a handle just completed; inactive if there is none or it has been told before. */
static struct burst_followed finished(MPI_Request request, int for_good) {
    struct burst_followed found = {0};
    if (is_nothing(request)) return found;
    struct stripe* stripe = locked((uintptr_t)request);
    struct burst_followed **place = sought(stripe, (uintptr_t)request, 0), *entry = *place;
    if (entry != NULL && entry->active) {
        found = *entry;
        found.active = !entry->reported;
        if (!for_good)
            entry->reported = 1;
        else if (entry->persistent)
            entry->active = 0;
        else
            drop(stripe, place);
    }
    pthread_mutex_unlock(&stripe->lock);
    return found;
}

static void finish(struct burst_thread* thread, MPI_Request request, const MPI_Status* status,
                   int for_good) {
    const struct burst_followed found = finished(request, for_good);
    if (!found.active) return;
    if (found.kind == BURST_IS_DUP) burst_comm_named(*found.created, found.bytes);
    if (thread != NULL) put_completion(thread, &found, status);
}

void burst_completed(struct burst_thread* thread, MPI_Request request, const MPI_Status* status) {
    finish(thread, request, status, 1);
}

void burst_reported(struct burst_thread* thread, MPI_Request request, const MPI_Status* status) {
    finish(thread, request, status, 0);
}

void burst_released(struct burst_thread* thread, MPI_Request request) {
    struct stripe* stripe = locked((uintptr_t)request);
    struct burst_followed **place = sought(stripe, (uintptr_t)request, 0), found = {0};
    if (*place != NULL) {
        found = **place;
        drop(stripe, place);
    }
    pthread_mutex_unlock(&stripe->lock);
    if (thread != NULL && found.active && !found.reported && found.id != 0)
        burst_put(thread, BURST_FREED, 0, found.id, 0, 0, 0);
}

void burst_cancelling(MPI_Request request) {
    struct stripe* stripe = locked((uintptr_t)request);
    struct burst_followed* entry = *sought(stripe, (uintptr_t)request, 0);
    if (entry != NULL) entry->cancelling = 1;
    pthread_mutex_unlock(&stripe->lock);
}

static int is_real_message(MPI_Message message) {
    return message != burst_known.no_message && message != burst_known.nobody;
}

void burst_matched(struct burst_thread* thread, MPI_Message message, MPI_Comm comm,
                   const MPI_Status* status) {
    if (thread != NULL) burst_probed(thread, comm, status);
    if (!is_real_message(message)) return;
    insert((struct burst_followed){.handle = (uintptr_t)message,
                                   .peer = status->MPI_SOURCE,
                                   .tag = status->MPI_TAG,
                                   .comm = burst_comm(comm),
                                   .kind = BURST_IS_MESSAGE});
}

struct burst_comm* burst_unmatched(struct burst_thread* thread, MPI_Message message, uint64_t bytes,
                                   uint64_t id) {
    if (!is_real_message(message)) return NULL;
    struct stripe* stripe = locked((uintptr_t)message);
    struct burst_followed **place = sought(stripe, (uintptr_t)message, 1), found = {0};
    if (*place != NULL) {
        found = **place;
        drop(stripe, place);
    }
    pthread_mutex_unlock(&stripe->lock);
    if (thread != NULL && found.comm != NULL)
        put_post(thread, found.comm, found.peer, found.tag, bytes, id);
    return found.comm;
}

void burst_received_matched(struct burst_thread* thread, struct burst_comm* comm,
                            const MPI_Status* status) {
    if (comm != NULL) put_status(thread, BURST_RECEIVE, comm, status, 0, 0);
}

void burst_follow_matched(MPI_Request request, uint64_t id, struct burst_comm* comm) {
    if (comm == NULL || is_nothing(request)) return;
    insert((struct burst_followed){.handle = (uintptr_t)request,
                                   .id = id,
                                   .comm = comm,
                                   .peer = MPI_ANY_SOURCE,
                                   .kind = BURST_IS_RECEIVE,
                                   .active = 1});
}
