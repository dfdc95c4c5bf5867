/* followed.c -- see followed.h. */
#include "followed.h"

#include <stdlib.h>

#define STRIPES 64
#define FIRST_SIZE 16
#define UNLOCKED {.lock = PTHREAD_MUTEX_INITIALIZER}
#define FOUR(what) what, what, what, what

static struct burst_stripe stripes[STRIPES] = {FOUR(FOUR(FOUR(UNLOCKED)))};

static uint64_t spread(uintptr_t handle) { return (uint64_t)handle * 0x9e3779b97f4a7c15u; }

struct burst_stripe* burst_followed_locked(uintptr_t handle) {
    struct burst_stripe* stripe = &stripes[spread(handle) >> 58];
    pthread_mutex_lock(&stripe->lock);
    return stripe;
}

static struct burst_followed** slot(const struct burst_stripe* stripe, uintptr_t handle) {
    return &stripe->slots[(spread(handle) >> 20) & (stripe->size - 1)];
}

static int grow(struct burst_stripe* stripe) {
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

void burst_followed_insert(struct burst_followed entry) {
    struct burst_stripe* stripe = burst_followed_locked(entry.handle);
    struct burst_followed* fresh = stripe->unused;
    if (stripe->used >= stripe->size && !grow(stripe)) goto out;
    if (fresh != NULL)
        stripe->unused = fresh->next;
    else if ((fresh = malloc(sizeof *fresh)) == NULL)
        goto out;
    struct burst_followed** place = slot(stripe, entry.handle);
    while (*place != NULL) place = &(*place)->next;
    *fresh = entry;
    fresh->owner = &burst_depth;
    fresh->next = NULL;
    *place = fresh;
    ++stripe->used;
out:
    pthread_mutex_unlock(&stripe->lock);
}

struct burst_followed** burst_followed_sought(struct burst_stripe* stripe, uintptr_t handle,
                                              const void* where, int is_message) {
    static struct burst_followed* nothing;
    if (stripe->size == 0) return &nothing;
    struct burst_followed **place = slot(stripe, handle), **own = NULL, **others = NULL;
    for (; *place != NULL; place = &(*place)->next) {
        if ((*place)->handle != handle || ((*place)->kind == BURST_IS_MESSAGE) != is_message)
            continue;
        const int is_own = (*place)->owner == &burst_depth;
        if (is_own && (where == NULL || (*place)->where == where)) return place;
        if (is_own && own == NULL) own = place;
        if (others == NULL) others = place;
    }
    if (own != NULL) return own;
    return others != NULL ? others : place;
}

void burst_followed_drop(struct burst_stripe* stripe, struct burst_followed** place) {
    struct burst_followed* gone = *place;
    *place = gone->next;
    gone->next = stripe->unused;
    stripe->unused = gone;
    --stripe->used;
}
