/* stack.c -- Distinct call stacks: a number for each, and its definition on every thread.
 *
 * A slot holds a hash, then id, frames and the generation of definitions it was written in,
 * then the return addresses. Stacks are told apart by all of their addresses.
 */
#include "thread.h"

#include "python.h"

#include <string.h>

#define LEAST_MAPPED 256u
#define LAST_SIZE (1u << 18) /* beyond that calls have no stack */

static uint32_t last_id;

static size_t table_bytes(const struct burst_stacks *stacks) {
    return (size_t)stacks->size * stacks->words * sizeof(uint64_t);
}

static void unmap(const struct burst_stacks *stacks) {
    if (stacks->size >= LEAST_MAPPED) burst_unmap(stacks->slots, table_bytes(stacks));
}

void burst_stacks_free(struct burst_stacks *stacks) {
    unmap(stacks);
    *stacks = (struct burst_stacks){0};
}

static uint64_t hash_of(const uintptr_t *frames, unsigned count) {
    uint64_t hash = count;
    for (unsigned i = 0; i < count; ++i) hash = (hash ^ frames[i]) * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 29) | 1; /* 0 is an empty slot */
}

static uint64_t *slot_at(const struct burst_stacks *stacks, uint32_t place) {
    return &stacks->slots[(size_t)(place & (stacks->size - 1)) * stacks->words];
}

static uint64_t *free_slot(const struct burst_stacks *stacks, uint64_t hash) {
    uint32_t place = (uint32_t)(hash >> 8);
    while (*slot_at(stacks, place) != 0) ++place;
    return slot_at(stacks, place);
}

/* In the memory of the thread itself: as many as there is room for. */
static void begin(struct burst_thread *thread) {
    struct burst_stacks first = {.slots = thread->first_stacks, .size = LEAST_MAPPED / 2};
    first.words = 2 + burst_settings.stack_depth;
    while (table_bytes(&first) > sizeof thread->first_stacks) first.size /= 2;
    memset(thread->first_stacks, 0, sizeof thread->first_stacks);
    thread->stacks = first;
}

static int grow(struct burst_thread *thread, struct burst_stacks *stacks) {
    struct burst_stacks larger = *stacks;
    larger.size = stacks->size < LEAST_MAPPED ? LEAST_MAPPED : stacks->size * 2;
    if (larger.size > LAST_SIZE) return 0;
    larger.slots = burst_map(table_bytes(&larger));
    if (larger.slots == NULL) {
        burst_miss(thread);
        return 0;
    }
    for (uint32_t i = 0; i < stacks->size; ++i) {
        const uint64_t *old = slot_at(stacks, i);
        if (*old != 0) memcpy(free_slot(&larger, *old), old, stacks->words * sizeof *old);
    }
    unmap(stacks);
    *stacks = larger;
    return 1;
}

static uint64_t *find(const struct burst_stacks *stacks, uint64_t hash, const uintptr_t *frames,
                      unsigned count) {
    if (stacks->size == 0) return NULL;
    for (uint32_t place = (uint32_t)(hash >> 8);; ++place) {
        uint64_t *slot = slot_at(stacks, place);
        if (*slot == 0) return NULL;
        if (*slot == hash && (slot[1] >> 32 & 0xff) == count &&
            memcmp(slot + 2, frames, count * sizeof *frames) == 0) {
            return slot;
        }
    }
}

static uint64_t *add(struct burst_thread *thread, struct burst_stacks *stacks, uint64_t hash,
                     const uintptr_t *frames, unsigned count) {
    if (stacks->words == 0) begin(thread);
    if (stacks->used * 2 >= stacks->size && !grow(thread, stacks)) return NULL;
    uint64_t *slot = free_slot(stacks, hash);
    const uint32_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    slot[0] = hash;
    slot[1] = (uint64_t)count << 32 | id | (uint64_t)0xffffff << 40;
    memcpy(slot + 2, frames, count * sizeof *frames);
    ++stacks->used;
    return slot;
}

static void define(struct burst_thread *thread, const uint64_t *slot, int is_sampled) {
    const unsigned count = slot[1] >> 32 & 0xff;
    uint64_t places[BURST_MAX_DEPTH + 1] = {0};
    for (unsigned i = 0; i < count; ++i)
        places[i] = slot[2 + i] & BURST_MARK_PYTHON ? burst_python_place(thread, slot[2 + i])
                                                    : burst_place(thread, slot[2 + i]);
    burst_put(thread, BURST_STACK, (uint16_t)is_sampled, 0, (uint32_t)slot[1], 0, count);
    for (unsigned i = 0; i < count; i += 2) {
        burst_put(thread, BURST_FRAMES, 0, 0, 0, places[i], places[i + 1]);
    }
}

uint32_t burst_stack_of(struct burst_thread *thread, struct burst_stacks *stacks,
                        const uintptr_t *frames, unsigned count) {
    const uint64_t hash = hash_of(frames, count);
    uint64_t *slot = find(stacks, hash, frames, count);
    if (slot == NULL) slot = add(thread, stacks, hash, frames, count);
    if (slot == NULL) return 0;
    const uint64_t generation = thread->generation & 0x7fffff;
    if (slot[1] >> 40 != generation) {
        slot[1] = (slot[1] & 0xffffffffffu) | generation << 40;
        define(thread, slot, stacks != &thread->stacks);
    }
    return (uint32_t)slot[1];
}

uint32_t burst_stack_id(struct burst_thread *thread, uintptr_t from) {
    uintptr_t frames[BURST_MAX_DEPTH];
    const unsigned count = burst_walk(thread, from, frames, burst_settings.stack_depth);
    return burst_stack_of(thread, &thread->stacks, frames, count);
}
