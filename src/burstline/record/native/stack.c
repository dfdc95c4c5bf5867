/* stack.c -- Distinct call stacks: a number for each, and its definition on every thread.
 *
 * A slot holds a hash, then id, frames and the generation of definitions it was written in,
 * then the return addresses. Stacks are told apart by all of their addresses.
 */
#include "thread.h"

#include <string.h>

#define LEAST_MAPPED 256u
#define LAST_SIZE (1u << 18) /* beyond that calls have no stack */

static uint32_t last_id;

static size_t slot_words(void) { return 2 + (size_t)burst_settings.stack_depth; }

static size_t table_bytes(uint32_t size) { return size * slot_words() * sizeof(uint64_t); }

static void unmap(const struct burst_stacks *stacks) {
    if (stacks->size >= LEAST_MAPPED) burst_unmap(stacks->slots, table_bytes(stacks->size));
}

void burst_stacks_free(struct burst_thread *thread) {
    unmap(&thread->stacks);
    thread->stacks = (struct burst_stacks){0};
}

static uint64_t hash_of(const uintptr_t *frames, unsigned count) {
    uint64_t hash = count;
    for (unsigned i = 0; i < count; ++i) hash = (hash ^ frames[i]) * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 29) | 1; /* 0 is an empty slot */
}

static uint64_t *free_slot(uint64_t *slots, uint32_t size, uint64_t hash) {
    uint32_t place = (uint32_t)(hash >> 8);
    while (slots[(place & (size - 1)) * slot_words()] != 0) ++place;
    return &slots[(place & (size - 1)) * slot_words()];
}

/* In the memory of the thread itself: as many as there is room for. */
static void begin(struct burst_thread *thread) {
    uint32_t size = LEAST_MAPPED / 2;
    while (table_bytes(size) > sizeof thread->first_stacks) size /= 2;
    memset(thread->first_stacks, 0, sizeof thread->first_stacks);
    thread->stacks = (struct burst_stacks){thread->first_stacks, 0, size};
}

static int grow(struct burst_thread *thread) {
    struct burst_stacks *stacks = &thread->stacks;
    const uint32_t size = stacks->size < LEAST_MAPPED ? LEAST_MAPPED : stacks->size * 2;
    if (size > LAST_SIZE) return 0;
    uint64_t *slots = burst_map(table_bytes(size));
    if (slots == NULL) {
        burst_miss(thread);
        return 0;
    }
    for (uint32_t i = 0; i < stacks->size; ++i) {
        const uint64_t *old = &stacks->slots[i * slot_words()];
        if (*old != 0) memcpy(free_slot(slots, size, *old), old, slot_words() * sizeof *old);
    }
    unmap(stacks);
    stacks->slots = slots;
    stacks->size = size;
    return 1;
}

static uint64_t *find(const struct burst_stacks *stacks, uint64_t hash, const uintptr_t *frames,
                      unsigned count) {
    if (stacks->size == 0) return NULL;
    for (uint32_t place = (uint32_t)(hash >> 8);; ++place) {
        uint64_t *slot = &stacks->slots[(place & (stacks->size - 1)) * slot_words()];
        if (*slot == 0) return NULL;
        if (*slot == hash && (slot[1] >> 32 & 0xff) == count &&
            memcmp(slot + 2, frames, count * sizeof *frames) == 0) {
            return slot;
        }
    }
}

static uint64_t *add(struct burst_thread *thread, uint64_t hash, const uintptr_t *frames,
                     unsigned count) {
    struct burst_stacks *stacks = &thread->stacks;
    if (stacks->size == 0) begin(thread);
    if (stacks->used * 2 >= stacks->size && !grow(thread)) return NULL;
    uint64_t *slot = free_slot(stacks->slots, stacks->size, hash);
    const uint32_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    slot[0] = hash;
    slot[1] = (uint64_t)count << 32 | id | (uint64_t)0xffffff << 40;
    memcpy(slot + 2, frames, count * sizeof *frames);
    ++stacks->used;
    return slot;
}

static void define(struct burst_thread *thread, const uint64_t *slot) {
    const unsigned count = slot[1] >> 32 & 0xff;
    uint64_t places[BURST_MAX_DEPTH + 1] = {0};
    for (unsigned i = 0; i < count; ++i) places[i] = burst_place(thread, slot[2 + i]);
    burst_put(thread, BURST_STACK, 0, 0, (uint32_t)slot[1], 0, count);
    for (unsigned i = 0; i < count; i += 2) {
        burst_put(thread, BURST_FRAMES, 0, 0, 0, places[i], places[i + 1]);
    }
}

uint32_t burst_stack_of(struct burst_thread *thread, const uintptr_t *frames, unsigned count) {
    const uint64_t hash = hash_of(frames, count);
    uint64_t *slot = find(&thread->stacks, hash, frames, count);
    if (slot == NULL) slot = add(thread, hash, frames, count);
    if (slot == NULL) return 0;
    const uint64_t generation = thread->generation & 0x7fffff;
    if (slot[1] >> 40 != generation) {
        slot[1] = (slot[1] & 0xffffffffffu) | generation << 40;
        define(thread, slot);
    }
    return (uint32_t)slot[1];
}

uint32_t burst_stack_id(struct burst_thread *thread, uintptr_t from) {
    uintptr_t frames[BURST_MAX_DEPTH];
    const unsigned count = burst_walk(thread, from, frames, burst_settings.stack_depth);
    return burst_stack_of(thread, frames, count);
}
