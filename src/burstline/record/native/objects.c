/* objects.c -- see objects.h. */
#include "objects.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct burst_object* objects[2];
static uint32_t last_id[2];

void burst_object_created(int kind, uintptr_t handle, MPI_Comm comm) {
    struct burst_object* fresh = malloc(sizeof *fresh);
    if (fresh == NULL) {
        burst_miss(burst_self());
        return;
    }
    struct burst_comm* of = burst_comm(comm);
    burst_comm_hold(of, 1);
    pthread_mutex_lock(&lock);
    *fresh = (struct burst_object){objects[kind], handle, ++last_id[kind], of, 0};
    objects[kind] = fresh;
    pthread_mutex_unlock(&lock);
}

static struct burst_object** place_of(int kind, uintptr_t handle) {
    struct burst_object** place = &objects[kind];
    while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
    return place;
}

void burst_object_freed(int kind, uintptr_t handle) {
    pthread_mutex_lock(&lock);
    struct burst_object** place = place_of(kind, handle);
    struct burst_object* gone = *place;
    if (gone != NULL) *place = gone->next;
    pthread_mutex_unlock(&lock);
    if (gone != NULL) burst_comm_hold(gone->comm, -1);
    free(gone);
}

struct burst_object burst_object(int kind, uintptr_t handle) {
    struct burst_object found = {NULL, handle, 0, NULL, 0};
    pthread_mutex_lock(&lock);
    const struct burst_object* known = *place_of(kind, handle);
    if (known != NULL) found = *known;
    pthread_mutex_unlock(&lock);
    return found;
}

uint64_t burst_object_pending(int kind, uintptr_t handle, uint64_t id) {
    uint64_t before = 0;
    pthread_mutex_lock(&lock);
    struct burst_object* known = *place_of(kind, handle);
    if (known != NULL) {
        before = known->pending;
        known->pending = id;
    }
    pthread_mutex_unlock(&lock);
    return before;
}

void burst_one_sided(struct burst_thread* thread, MPI_Win window, int target, uint64_t bytes,
                     int transfer) {
    const struct burst_object found = burst_object(BURST_WINDOW, (uintptr_t)window);
    const int32_t rank =
        found.comm != NULL ? burst_world_rank(found.comm, target) : BURST_UNKNOWN_RANK;
    const uint64_t comm = found.comm != NULL ? burst_comm_id(thread, found.comm) : 0;
    burst_put(thread, BURST_RMA, (uint16_t)transfer, 0, (uint32_t)rank, comm << 32 | found.id,
              bytes);
}

void burst_io(struct burst_thread* thread, MPI_File file, int transfer, uint64_t bytes) {
    const uint32_t id = burst_object(BURST_FILE, (uintptr_t)file).id;
    const int is_written = transfer == BURST_RMA_PUT;
    burst_put(thread, BURST_IO, 0, 0, id, is_written ? bytes : 0, is_written ? 0 : bytes);
}
