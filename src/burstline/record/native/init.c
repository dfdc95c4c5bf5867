/* init.c -- The beginning and the end of MPI: who this is, and what time it is elsewhere.
 *
 * Processes on one machine share a clock and need no measurement; the others exchange messages
 * with rank 0 and keep the exchange that took least time. BURSTLINE_CLOCKS=0: measure nothing;
 * BURSTLINE_CLOCKS=all: also between processes of a machine.
 */
#include "runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicators.h"
#include "init.h"

#define ROUNDS 20
#define MACHINE_BYTES 64

static MPI_Comm clocks;
static int measures, left_out;

/* Equal for all who share CLOCK_MONOTONIC: those of one boot and one time namespace. */
static void name_machine(char* name) {
    memset(name, 0, MACHINE_BYTES);
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = -1;
    if (file >= 0) {
        bytes = read(file, name, MACHINE_BYTES / 2 + 8);
        close(file);
    }
    if (bytes <= 0) gethostname(name, MACHINE_BYTES / 2 + 8);
    const size_t used = strnlen(name, MACHINE_BYTES / 2 + 8);
    if (readlink("/proc/self/ns/time", name + used, MACHINE_BYTES - 1 - used) < 0) return;
}

/* Rank 0's part: says what time it is until the other knows enough. */
static void answer(int other) {
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t time = 0;
        if (REAL(Recv)(&time, sizeof time, burst_known.byte, other, 0, clocks, MPI_STATUS_IGNORE))
            return;
        time = burst_now();
        if (REAL(Send)(&time, sizeof time, burst_known.byte, other, 0, clocks)) return;
    }
}

static void ask(struct burst_thread* thread, uint16_t when) {
    uint64_t least = UINT64_MAX, local = 0, remote = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t time = 0;
        const uint64_t before = burst_now();
        if (REAL(Send)(&time, sizeof time, burst_known.byte, 0, 0, clocks)) return;
        if (REAL(Recv)(&time, sizeof time, burst_known.byte, 0, 0, clocks, MPI_STATUS_IGNORE))
            return;
        const uint64_t after = burst_now();
        if (after - before >= least) continue;
        least = after - before;
        local = before + least / 2;
        remote = time;
    }
    if (thread != NULL) burst_put(thread, BURST_CLOCK, when, local, 0, remote, least);
}

static void answer_all(int size, const char* far) {
    for (int other = 1; other < size; ++other)
        if (far[other]) answer(other);
}

static void measure(struct burst_thread* thread, uint16_t when, int rank, int size) {
    char machine[MACHINE_BYTES], zero[MACHINE_BYTES];
    name_machine(machine);
    memcpy(zero, machine, sizeof zero);
    if (REAL(Bcast)(zero, MACHINE_BYTES, burst_known.byte, 0, clocks)) return;
    const int is_elsewhere = measures > 1 || memcmp(zero, machine, sizeof zero) != 0;
    char is_far = rank != 0 && is_elsewhere && !left_out;
    char* far = rank == 0 ? calloc((size_t)size, 1) : NULL;
    char hopeless = rank == 0 && far == NULL; /* who gets no answer must not ask */
    if (hopeless) burst_miss(thread);
    if (REAL(Bcast)(&hopeless, 1, burst_known.byte, 0, clocks) || hopeless) goto out;
    if (REAL(Gather)(&is_far, 1, burst_known.byte, far, 1, burst_known.byte, 0, clocks)) goto out;
    if (rank == 0)
        answer_all(size, far);
    else if (is_far)
        ask(thread, when);
    if (!is_far && thread != NULL) {
        const uint64_t now = burst_now();
        burst_put(thread, BURST_CLOCK, when, now, 0, now, 0);
    }
out:
    free(far);
}

static void rank_and_size(int* rank, int* size) {
    *rank = 0;
    *size = 1;
    REAL(Comm_rank)(burst_known.world, rank);
    REAL(Comm_size)(burst_known.world, size);
}

/* Only between processes that are all recorded: who starts them says so by this variable. */
static int wanted(void) {
    const char* text = getenv("BURSTLINE_CLOCKS");
    if (text == NULL || strcmp(text, "1") == 0) return 1;
    return strcmp(text, "all") == 0 ? 2 : 0;
}

static int is_recorded(int rank, int size, int level) {
    int length = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    REAL(Get_library_version)(version, &length);
    return burst_set_rank(rank, size, level, version);
}

void burst_initialized(struct burst_thread* thread) {
    int rank, size, level = MPI_THREAD_SINGLE;
    rank_and_size(&rank, &size);
    REAL(Query_thread)(&level);
    left_out = !is_recorded(rank, size, level);
    if (left_out) thread = NULL; /* it measures with the others all the same */
    /* Before the program can make others of the same members: names count them. */
    burst_comm(burst_known.world);
    burst_comm(burst_known.self);
    measures = wanted();
    if (measures == 0) return;
    if (size == 1)
        clocks = burst_known.no_comm;
    else if (REAL(Comm_dup)(burst_known.world, &clocks) != MPI_SUCCESS)
        measures = 0;
    else
        measure(thread, 0, rank, size);
}

/* A program with sessions only has no MPI_COMM_WORLD: who this is says the group of all. The group
 * is given back with the session, which must not outlive it. */
static MPI_Session source;
static MPI_Group everybody;
static int has_source;

void burst_session_begun(MPI_Session session) {
    int begun = 0, rank = 0, size = 1;
    if (has_source || REAL(Initialized)(&begun) != MPI_SUCCESS || begun) return;
    everybody = burst_known.no_group;
    if (REAL(Group_from_session_pset)(session, "mpi://WORLD", &everybody) != MPI_SUCCESS) return;
    source = session;
    has_source = 1;
    REAL(Group_rank)(everybody, &rank);
    REAL(Group_size)(everybody, &size);
    burst_set_world(everybody);
    if (!is_recorded(rank, size, MPI_THREAD_SINGLE)) burst_session_ending(session);
}

void burst_session_ending(MPI_Session session) {
    if (!has_source || session != source) return;
    has_source = 0;
    burst_set_world(burst_known.no_group);
    REAL(Group_free)(&everybody);
}

void burst_finalizing(struct burst_thread* thread) {
    int rank, size;
    if (measures == 0 || clocks == burst_known.no_comm) return;
    rank_and_size(&rank, &size);
    measure(thread, 1, rank, size);
    REAL(Comm_free)(&clocks);
}
