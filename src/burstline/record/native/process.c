/* process.c -- What the threads of a process share: whether they record, the clock, the rank. */
#include "thread.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

uint32_t burst_gate = BURST_UNREAD;
__thread struct burst_thread *burst_current __attribute__((tls_model("initial-exec")));
char burst_library[256];

static struct {
    int known, rank, size, level;
} world;

uint64_t burst_clock(int clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t burst_now(void) { return burst_clock(CLOCK_MONOTONIC); }

void burst_read_program(char *path, size_t bytes) {
    const ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
    path[length < 0 ? 0 : length] = '\0';
}

void burst_know_rank(int rank, int size, int thread_level, const char *library_version) {
    const size_t bytes = library_version == NULL ? 0 : strcspn(library_version, "\n");
    memset(burst_library, 0, sizeof burst_library);
    if (bytes > 0) memcpy(burst_library, library_version, bytes < 256 ? bytes : 255);
    world.rank = rank;
    world.size = size;
    world.level = thread_level;
    __atomic_store_n(&world.known, 1, __ATOMIC_RELEASE);
}

int burst_known_rank(int *rank, int *size, int *thread_level) {
    if (!__atomic_load_n(&world.known, __ATOMIC_ACQUIRE)) return 0;
    *rank = world.rank;
    *size = world.size;
    *thread_level = world.level;
    return 1;
}
