/* followed.c -- see followed.h.
 *
 * A slot of the hash table has lines, and entries by the place where their handle was put, those of
 * one place on top of each other. An entry that begins a line is in no such pile: it is found as
 * the first of its line, and most lines never have another.
 */
#include "followed.h"

#include <stdlib.h>

/* Those of one handle that one thread started, the oldest first; there is at least one. */
struct burst_line {
    struct burst_line* next; /* of the same slot */
    struct burst_entry *first, *last;
    uintptr_t handle;
    const void* owner; /* the thread */
    int is_message;
};

struct burst_entry {
    struct burst_followed what; /* first: a pointer to it is one to the entry */
    struct burst_line* line;
    struct burst_entry *next, *previous; /* in the line; `next` also of what is unused */
    struct burst_entry *under, **over;   /* in the pile; `over` NULL: in none */
    uint64_t order;                      /* in which all of the stripe came */
};

struct burst_slot {
    struct burst_line* lines;
    struct burst_entry* top; /* of the pile */
};

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

static struct burst_slot* slot(const struct burst_stripe* stripe, uintptr_t key) {
    return &stripe->slots[(spread(key) >> 20) & (stripe->size - 1)];
}

static struct burst_entry** pile(const struct burst_stripe* stripe, const struct burst_line* line,
                                 const void* where) {
    return &slot(stripe, (uintptr_t)line ^ (uintptr_t)where)->top;
}

static void put_on_top(struct burst_entry** top, struct burst_entry* entry) {
    entry->under = *top;
    entry->over = top;
    if (entry->under != NULL) entry->under->over = &entry->under;
    *top = entry;
}

static int grow(struct burst_stripe* stripe) {
    const unsigned old_size = stripe->size, size = old_size == 0 ? FIRST_SIZE : 2 * old_size;
    struct burst_slot *old = stripe->slots, *slots = calloc(size, sizeof(*slots));
    if (slots == NULL) return old_size > 0;
    stripe->slots = slots;
    stripe->size = size;
    for (unsigned i = 0; i < old_size; ++i) {
        struct burst_line *line = old[i].lines, *next;
        for (; line != NULL; line = next) {
            next = line->next;
            struct burst_slot* place = slot(stripe, line->handle);
            line->next = place->lines;
            place->lines = line;
            for (struct burst_entry* entry = line->first; entry != NULL; entry = entry->next)
                if (entry->over != NULL) put_on_top(pile(stripe, line, entry->what.where), entry);
        }
    }
    free(old);
    return 1;
}

static struct burst_line* line_of(struct burst_stripe* stripe, uintptr_t handle, int is_message) {
    struct burst_slot* place = slot(stripe, handle);
    for (struct burst_line* line = place->lines; line != NULL; line = line->next)
        if (line->handle == handle && line->owner == &burst_depth && line->is_message == is_message)
            return line;
    struct burst_line* fresh = stripe->unused_lines;
    if (fresh != NULL)
        stripe->unused_lines = fresh->next;
    else if ((fresh = malloc(sizeof *fresh)) == NULL)
        return NULL;
    *fresh = (struct burst_line){
        .next = place->lines, .handle = handle, .owner = &burst_depth, .is_message = is_message};
    place->lines = fresh;
    return fresh;
}

static void append(struct burst_stripe* stripe, struct burst_line* line,
                   struct burst_entry* entry) {
    entry->line = line;
    entry->next = entry->under = NULL;
    entry->over = NULL;
    entry->previous = line->last;
    if (line->last == NULL) {
        line->first = entry;
    } else {
        line->last->next = entry;
        put_on_top(pile(stripe, line, entry->what.where), entry);
    }
    line->last = entry;
}

static int is_inserted(struct burst_stripe* stripe, struct burst_followed what) {
    struct burst_entry* fresh = stripe->unused;
    if (stripe->used >= stripe->size && !grow(stripe)) return 0;
    if (fresh == NULL && (fresh = calloc(1, sizeof *fresh)) == NULL) return 0;
    stripe->unused = fresh->next;
    struct burst_line* line = line_of(stripe, what.handle, what.kind == BURST_IS_MESSAGE);
    if (line == NULL) {
        fresh->next = stripe->unused;
        stripe->unused = fresh;
        return 0;
    }
    fresh->what = what;
    fresh->order = stripe->order++;
    append(stripe, line, fresh);
    ++stripe->used;
    burst_comm_hold(what.comm, 1);
    return 1;
}

void burst_followed_insert(struct burst_followed what) {
    struct burst_stripe* stripe = burst_followed_locked(what.handle);
    const int done = is_inserted(stripe, what);
    pthread_mutex_unlock(&stripe->lock);
    if (!done) burst_miss(burst_self());
}

static struct burst_entry* of_line(const struct burst_stripe* stripe, const struct burst_line* line,
                                   const void* where) {
    if (where == NULL || line->first == line->last) return line->first;
    struct burst_entry* entry = *pile(stripe, line, where);
    while (entry != NULL && (entry->line != line || entry->what.where != where))
        entry = entry->under;
    return entry != NULL ? entry : line->first;
}

struct burst_followed* burst_followed_sought(const struct burst_stripe* stripe, uintptr_t handle,
                                             const void* where, int is_message) {
    struct burst_entry* oldest = NULL;
    if (stripe->size == 0) return NULL;
    for (struct burst_line* line = slot(stripe, handle)->lines; line != NULL; line = line->next) {
        if (line->handle != handle || line->is_message != is_message) continue;
        if (line->owner == &burst_depth) return &of_line(stripe, line, where)->what;
        if (oldest == NULL || line->first->order < oldest->order) oldest = line->first;
    }
    return oldest == NULL ? NULL : &oldest->what;
}

static void end_line(struct burst_stripe* stripe, struct burst_line* gone) {
    struct burst_line** place = &slot(stripe, gone->handle)->lines;
    while (*place != gone) place = &(*place)->next;
    *place = gone->next;
    gone->next = stripe->unused_lines;
    stripe->unused_lines = gone;
}

void burst_followed_drop(struct burst_stripe* stripe, struct burst_followed* what) {
    struct burst_entry* entry = (struct burst_entry*)what;
    struct burst_line* line = entry->line;
    *(entry->previous != NULL ? &entry->previous->next : &line->first) = entry->next;
    *(entry->next != NULL ? &entry->next->previous : &line->last) = entry->previous;
    if (entry->over != NULL) *entry->over = entry->under;
    if (entry->over != NULL && entry->under != NULL) entry->under->over = entry->over;
    if (line->first == NULL) end_line(stripe, line);
    burst_comm_hold(what->comm, -1);
    entry->next = stripe->unused;
    stripe->unused = entry;
    --stripe->used;
}
