/* objects.c -- Windows and files by their handles. */
#include <pthread.h>
#include <stdlib.h>

#include "communicators.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct burst_object* objects[2];
static uint32_t last_id[2];

void burst_object_created(int kind, uintptr_t handle, MPI_Comm comm) {
    struct burst_object* fresh = malloc(sizeof *fresh);
    if (fresh == NULL) return;
    struct burst_comm* of = burst_comm(comm);
    pthread_mutex_lock(&lock);
    *fresh = (struct burst_object){objects[kind], handle, ++last_id[kind], of, 0};
    objects[kind] = fresh;
    pthread_mutex_unlock(&lock);
}

void burst_object_freed(int kind, uintptr_t handle) {
    pthread_mutex_lock(&lock);
    struct burst_object** place = &objects[kind];
    while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
    struct burst_object* gone = *place;
    if (gone != NULL) *place = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
}

struct burst_object burst_object(int kind, uintptr_t handle) {
    struct burst_object found = {NULL, handle, 0, NULL, 0};
    pthread_mutex_lock(&lock);
    for (struct burst_object* known = objects[kind]; known != NULL; known = known->next) {
        if (known->handle != handle) continue;
        found = *known;
        break;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

uint64_t burst_object_pending(int kind, uintptr_t handle, uint64_t id) {
    uint64_t before = 0;
    pthread_mutex_lock(&lock);
    struct burst_object* known = objects[kind];
    while (known != NULL && known->handle != handle) known = known->next;
    if (known != NULL) {
        before = known->pending;
        known->pending = id;
    }
    pthread_mutex_unlock(&lock);
    return before;
}
