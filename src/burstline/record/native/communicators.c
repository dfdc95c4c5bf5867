/* communicators.c -- see communicators.h. */
#include "communicators.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256
#define CACHED 8

/* How many communicators there were of these members. Never freed: a name comes but once. */
struct seen {
    struct seen* next;
    uint64_t hash;
    uint32_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct burst_comm* comms[BUCKETS];
static struct burst_group* groups[BUCKETS];
static struct seen* counts[BUCKETS];

/* Communicators that were freed. Other threads may have just asked for one: it waits until so many
 * more were freed, and nobody holds it. */
#define WAITING 64
static struct burst_comm *first_waiting, *last_waiting;
static unsigned waiting;

static uint32_t last_id = BURST_SELF;
static MPI_Group world_group;
static int has_world;      /* whether the group is there */
static uint32_t epoch = 1; /* a new one forgets what threads have cached */

static __thread struct {
    MPI_Comm handle;
    uint32_t epoch;
    struct burst_comm* comm;
} cache[CACHED];

static uint64_t joined(uint64_t hash, uint64_t value) {
    return burst_mixed(hash + 0x9e3779b97f4a7c15u + value);
}

static unsigned bucket(uint64_t key, unsigned buckets) { return (unsigned)(burst_mixed(key) % buckets); }

static struct burst_group* interned(struct burst_group* fresh) {
    struct burst_group** list = &groups[bucket(fresh->hash, BUCKETS)];
    for (struct burst_group* known = *list; known != NULL; known = known->next) {
        if (known->hash != fresh->hash || known->size != fresh->size) continue;
        if (memcmp(known->ranks, fresh->ranks, (size_t)fresh->size * sizeof *fresh->ranks))
            continue;
        free(fresh);
        ++known->uses;
        return known;
    }
    fresh->uses = 1;
    fresh->next = *list;
    *list = fresh;
    return fresh;
}

static void release(struct burst_group* group) {
    if (group == NULL || --group->uses > 0) return;
    struct burst_group** place = &groups[bucket(group->hash, BUCKETS)];
    while (*place != group) place = &(*place)->next;
    *place = group->next;
    free(group);
}

static void translate(struct burst_group* members, MPI_Group group, int* numbers) {
    for (int i = 0; i < members->size; ++i) numbers[i] = i;
    if (!has_world ||
        REAL(Group_translate_ranks)(group, members->size, numbers, world_group, members->ranks))
        for (int i = 0; i < members->size; ++i) members->ranks[i] = MPI_UNDEFINED;
    members->hash = (uint64_t)members->size;
    for (int i = 0; i < members->size; ++i) {
        if (members->ranks[i] == MPI_UNDEFINED) members->ranks[i] = BURST_UNKNOWN_RANK;
        members->hash = joined(members->hash, (uint32_t)members->ranks[i]);
    }
}

/* The members of a group, which is freed. NULL: no memory, or no group. */
static struct burst_group* members_of(MPI_Group group, int error) {
    if (error != MPI_SUCCESS) return NULL;
    int size = 0;
    struct burst_group* members = NULL;
    int* numbers = NULL;
    if (REAL(Group_size)(group, &size) == MPI_SUCCESS && size > 0) {
        members = malloc(sizeof *members + (size_t)size * sizeof *members->ranks);
        numbers = malloc((size_t)size * sizeof *numbers);
    }
    if (members != NULL && numbers != NULL) {
        members->size = size;
        translate(members, group, numbers);
        members = interned(members);
    } else {
        free(members);
        members = NULL;
        if (size > 0) burst_miss(burst_self());
    }
    free(numbers);
    REAL(Group_free)(&group);
    return members;
}

static uint32_t occurrence(uint64_t hash) {
    struct seen** list = &counts[bucket(hash, BUCKETS)];
    for (struct seen* known = *list; known != NULL; known = known->next)
        if (known->hash == hash) return ++known->count;
    struct seen* fresh = malloc(sizeof *fresh);
    if (fresh == NULL) {
        burst_miss(burst_self());
        return 0;
    }
    *fresh = (struct seen){*list, hash, 1};
    *list = fresh;
    return 1;
}

/* Both sides of an intercommunicator must see the same order. */
static void sort_sides(const struct burst_comm* comm, const struct burst_group* sides[2]) {
    const int swapped = comm->remote != NULL && comm->remote->ranks[0] < comm->local->ranks[0];
    sides[swapped] = comm->local;
    sides[!swapped] = comm->remote;
}

static uint64_t next_name(const struct burst_comm* comm, int tag) {
    if (comm->local == NULL) return 0;
    const struct burst_group* sides[2];
    sort_sides(comm, sides);
    uint64_t hash = sides[0]->hash;
    if (sides[1] != NULL) hash = joined(hash, sides[1]->hash);
    hash = joined(hash, (uint32_t)tag);
    return joined(hash, occurrence(hash));
}

/* Asking about MPI_COMM_WORLD ends a program that has none: one with sessions only. */
static void find_world(void) {
    int begun = 0;
    if (has_world || REAL(Initialized)(&begun) != MPI_SUCCESS || !begun) return;
    has_world = REAL(Comm_group)(burst_known.world, &world_group) == MPI_SUCCESS;
}

void burst_set_world(MPI_Group group) {
    pthread_mutex_lock(&lock);
    has_world = group != burst_known.no_group;
    world_group = group;
    pthread_mutex_unlock(&lock);
}

static void describe(struct burst_comm* comm) {
    int inter = 0;
    MPI_Group group = burst_known.no_group;
    find_world();
    REAL(Comm_rank)(comm->handle, &comm->rank);
    REAL(Comm_test_inter)(comm->handle, &inter);
    int error = REAL(Comm_group)(comm->handle, &group);
    comm->local = members_of(group, error);
    comm->kind = inter ? BURST_INTER : BURST_INTRA;
    if (!inter) return;
    error = REAL(Comm_remote_group)(comm->handle, &group);
    comm->remote = members_of(group, error);
    if (comm->remote != NULL) return;
    release(comm->local);
    comm->local = NULL;
}

/* An error handler of the program's must not hear of our questions: they are asked of valid
 * communicators only. */
static struct burst_comm* added(MPI_Comm handle) {
    struct burst_comm* comm = calloc(1, sizeof *comm);
    if (comm == NULL) {
        burst_miss(burst_self());
        return NULL;
    }
    comm->handle = handle;
    describe(comm);
    if (handle == burst_known.world)
        comm->kind = BURST_WORLD, comm->id = BURST_WORLD;
    else if (handle == burst_known.self)
        comm->kind = BURST_SELF, comm->id = BURST_SELF;
    else
        comm->id = ++last_id;
    struct burst_comm** list = &comms[bucket((uintptr_t)handle, BUCKETS)];
    comm->next = *list;
    *list = comm;
    return comm;
}

static struct burst_comm** place_of(MPI_Comm handle) {
    struct burst_comm** place = &comms[bucket((uintptr_t)handle, BUCKETS)];
    while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
    return place;
}

static struct burst_comm nobody = {.kind = BURST_INTRA};

static struct burst_comm* searched(MPI_Comm handle) {
    if (handle == burst_known.no_comm) return &nobody;
    pthread_mutex_lock(&lock);
    struct burst_comm* comm = *place_of(handle);
    if (comm == NULL && (comm = added(handle)) != NULL) comm->name = next_name(comm, 0);
    pthread_mutex_unlock(&lock);
    return comm != NULL ? comm : &nobody;
}

struct burst_comm* burst_comm(MPI_Comm handle) {
    const unsigned slot = bucket((uintptr_t)handle, CACHED);
    const uint32_t now = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
    if (cache[slot].handle == handle && cache[slot].epoch == now) return cache[slot].comm;
    struct burst_comm* comm = searched(handle);
    cache[slot].handle = handle;
    cache[slot].epoch = now;
    cache[slot].comm = comm;
    return comm;
}

static void put_members(struct burst_thread* thread, const struct burst_comm* comm, int all) {
    const struct burst_group* sides[2];
    sort_sides(comm, sides);
    const int split = sides[0]->size;
    for (int start = 0; start < all; start += 7) {
        uint32_t seven[7];
        for (int i = 0; i < 7; ++i) {
            const int at = start + i;
            const int32_t rank = at < split ? sides[0]->ranks[at]
                                 : at < all ? sides[1]->ranks[at - split]
                                            : BURST_UNKNOWN_RANK;
            seven[i] = (uint32_t)rank;
        }
        burst_put(thread, BURST_MEMBERS, 0, seven[1] | (uint64_t)seven[2] << 32, seven[0],
                  seven[3] | (uint64_t)seven[4] << 32, seven[5] | (uint64_t)seven[6] << 32);
    }
}

uint32_t burst_comm_id(struct burst_thread* thread, struct burst_comm* comm) {
    if (comm->local == NULL || burst_is_defined(thread, BURST_COMMUNICATOR, comm->id))
        return comm->id;
    const int all = comm->local->size + (comm->remote != NULL ? comm->remote->size : 0);
    burst_put(thread, BURST_COMMUNICATOR, comm->kind, 0, comm->id, comm->name, (uint64_t)all);
    put_members(thread, comm, all);
    return comm->id;
}

int32_t burst_world_rank(const struct burst_comm* comm, int rank) {
    if (rank == MPI_PROC_NULL) return BURST_PROC_NULL;
    if (rank == MPI_ANY_SOURCE) return BURST_ANY_SOURCE;
    const struct burst_group* group = comm->remote != NULL ? comm->remote : comm->local;
    if (group == NULL || rank < 0 || rank >= group->size) return BURST_UNKNOWN_RANK;
    return group->ranks[rank];
}

static void wait_behind_others(struct burst_comm* comm) {
    comm->next = NULL;
    *(last_waiting != NULL ? &last_waiting->next : &first_waiting) = comm;
    last_waiting = comm;
    ++waiting;
}

/* Two for each that comes: the wait is short even if some have long uses. */
static void free_longest_waiting(void) {
    for (int i = 0; i < 2 && waiting > WAITING; ++i) {
        struct burst_comm* comm = first_waiting;
        first_waiting = comm->next;
        if (first_waiting == NULL) last_waiting = NULL;
        --waiting;
        if (__atomic_load_n(&comm->uses, __ATOMIC_ACQUIRE) > 0) {
            wait_behind_others(comm);
            continue;
        }
        release(comm->local);
        release(comm->remote);
        free(comm);
    }
}

static void forget(MPI_Comm handle) {
    struct burst_comm **place = place_of(handle), *gone = *place;
    if (gone != NULL) *place = gone->next;
    __atomic_add_fetch(&epoch, 1, __ATOMIC_RELEASE);
    if (gone == NULL) return;
    wait_behind_others(gone);
    free_longest_waiting();
}

static void create(MPI_Comm handle, int tag, uint64_t name) {
    if (handle == burst_known.no_comm || handle == burst_known.world) return;
    pthread_mutex_lock(&lock);
    forget(handle); /* freed by a call that is not recorded, perhaps */
    struct burst_comm* comm = added(handle);
    if (comm != NULL) comm->name = name != 0 ? name : next_name(comm, tag);
    pthread_mutex_unlock(&lock);
}

void burst_comm_created(MPI_Comm handle, int tag) { create(handle, tag, 0); }
void burst_comm_named(MPI_Comm handle, uint64_t name) { create(handle, 0, name); }

void burst_comm_freed(MPI_Comm handle) {
    if (handle == burst_known.no_comm) return;
    pthread_mutex_lock(&lock);
    forget(handle);
    pthread_mutex_unlock(&lock);
}

uint64_t burst_comm_reserved(MPI_Comm parent) {
    struct burst_comm* comm = burst_comm(parent);
    pthread_mutex_lock(&lock);
    const uint64_t name = next_name(comm, 0);
    pthread_mutex_unlock(&lock);
    return name;
}
