/* memory.c -- Memory of the runtime itself, and sets of 64-bit keys in it. */
#include "thread.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_MAPPED 512u

void *burst_map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void burst_touch(void *memory, size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
    madvise(memory, bytes, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

void burst_unmap(void *memory, size_t bytes) {
    if (memory != NULL) munmap(memory, bytes);
}

const void *burst_map_file(const char *path, size_t *bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *memory = MAP_FAILED;
    if (file < 0) return NULL;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        *bytes = (size_t)about.st_size;
        memory = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t *slot_of(uint64_t *slots, uint32_t size, uint64_t key) {
    uint32_t place = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32);
    for (;; ++place) {
        uint64_t *slot = &slots[place & (size - 1)];
        if (*slot == key || *slot == 0) return slot;
    }
}

/* Smaller ones stand in memory that came with the set. */
static void unmap(const struct burst_set *set) {
    if (set->size >= LEAST_MAPPED) burst_unmap(set->slots, set->size * sizeof *set->slots);
}

static int grow(struct burst_set *set) {
    const uint32_t size = set->size < LEAST_MAPPED ? LEAST_MAPPED : set->size * 2;
    uint64_t *slots = burst_map(size * sizeof *slots);
    if (slots == NULL) return 0;
    for (uint32_t i = 0; i < set->size; ++i) {
        if (set->slots[i] != 0) *slot_of(slots, size, set->slots[i]) = set->slots[i];
    }
    unmap(set);
    set->slots = slots;
    set->size = size;
    return 1;
}

int burst_set_add(struct burst_set *set, uint64_t key) {
    /* Without memory nothing is marked: a definition is then written more than once. */
    if (set->used * 2 >= set->size && !grow(set)) return 0;
    uint64_t *slot = slot_of(set->slots, set->size, key);
    if (*slot == key) return 1;
    *slot = key;
    ++set->used;
    return 0;
}

void burst_set_clear(struct burst_set *set) {
    if (set->slots != NULL) memset(set->slots, 0, set->size * sizeof *set->slots);
    set->used = 0;
}

void burst_set_free(struct burst_set *set) {
    unmap(set);
    *set = (struct burst_set){0};
}
