/* wrap.h -- What a wrapper does around an MPI function, and how the real one is found.
 *
 * Wrappers exist as MPI_X and as PMPI_X, because Fortran bindings call the latter. MPI calls MPI:
 * a depth per thread tells the program's calls from the library's own. Nothing here is linked to an
 * MPI library: functions and handles are looked up when the first call needs them.
 */
#ifndef BURSTLINE_WRAP_H
#define BURSTLINE_WRAP_H

#include <mpi.h>

#include "runtime.h"

/* Headers older than the library: what MPI-4 brought is declared by the wrappers then. */
#if MPI_VERSION < 4 && !(defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define BURST_DECLARES_MPI_4 1
#if defined(OPEN_MPI)
typedef struct ompi_instance_t* MPI_Session;
#else
typedef int MPI_Session;
#endif
int MPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup);
#endif
#if (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5) || (MPI_VERSION == 4 && MPI_SUBVERSION == 0)
#define BURST_PARTITIONS int
#else
#define BURST_PARTITIONS const int
#endif

/* Handles that are addresses in the library of some MPIs, hence no constants. */
struct burst_known {
    MPI_Comm world, self, no_comm;
    MPI_Request no_request;
    MPI_Group no_group;
    MPI_Datatype byte;
    MPI_Message no_message, nobody;
    MPI_Win no_window;
    MPI_File no_file;
};
extern struct burst_known burst_known;

/* The library's own function. */
void* burst_resolve(const char* name);
#define REAL(function)                                          \
    (__extension__({                                            \
        static void* found;                                     \
        void* real = __atomic_load_n(&found, __ATOMIC_RELAXED); \
        if (__builtin_expect(real == NULL, 0)) {                \
            real = burst_resolve("PMPI_" #function);            \
            __atomic_store_n(&found, real, __ATOMIC_RELAXED);   \
        }                                                       \
        (__typeof__(MPI_##function)*)real;                      \
    }))

/* A call on its way. `thread` is NULL if it is not recorded; `follow`: requests and communicators
 * are followed all the same, so that what is recorded later is understood. */
struct burst_call {
    struct burst_thread* thread;
    uint64_t since; /* polls: when it was called */
    int follow;
};

/* Whether requests are followed: not while the filter leaves no call that completes them and none
 * of them brings a communicator. */
extern int burst_following;
int burst_completes(uint16_t op); /* generated: whether it says that requests are complete */
static inline int burst_follows(struct burst_call call) {
    return call.follow && __atomic_load_n(&burst_following, __ATOMIC_RELAXED);
}

/* Unsuccessful polls of a thread, summed up until its next recorded call. */
struct burst_polls {
    uint64_t missed, ns;
};

extern __thread int burst_depth;
extern __thread struct burst_polls burst_polls;

static inline struct burst_thread* burst_outermost(uint16_t op) {
    struct burst_thread* thread = burst_self();
    return thread != NULL && burst_wants(op) && burst_begin(thread) ? thread : NULL;
}

static inline void burst_put_polls(struct burst_thread* thread) {
    if (__builtin_expect(burst_polls.missed == 0, 1)) return;
    burst_put(thread, BURST_MISSES, 0, 0, 0, burst_polls.missed, burst_polls.ns);
    burst_polls = (struct burst_polls){0, 0};
}

static inline struct burst_call burst_open(uint16_t op, void* caller) {
    struct burst_call call = {NULL, 0, 0};
    if (burst_depth++ > 0) return call;
    call.thread = burst_outermost(op);
    call.follow = burst_settings.active;
    if (call.thread == NULL) return call;
    burst_put_polls(call.thread);
    burst_enter(call.thread, op, caller);
    return call;
}

static inline void burst_shut(struct burst_call call, uint16_t op, int error) {
    --burst_depth;
    if (call.thread == NULL) return;
    burst_leave(call.thread, op, error);
    burst_end(call.thread);
}

/* A poll: whether it is a call of its own is known when it has returned. */
static inline struct burst_call burst_open_poll(uint16_t op, void* caller) {
    if (!burst_settings.sum_misses) return burst_open(op, caller);
    struct burst_call call = {NULL, 0, 0};
    if (burst_depth++ > 0) return call;
    call.thread = burst_outermost(op);
    call.follow = burst_settings.active;
    if (call.thread != NULL) call.since = burst_now();
    return call;
}

/* Whether the poll is recorded as a call. */
static inline int burst_polled(struct burst_call* call, uint16_t op, void* caller, int success) {
    if (call->thread == NULL || call->since == 0) return call->thread != NULL;
    if (success) {
        burst_put_polls(call->thread);
        burst_enter_at(call->thread, op, caller, call->since);
        return 1;
    }
    ++burst_polls.missed;
    burst_polls.ns += burst_now() - call->since;
    burst_end(call->thread);
    call->thread = NULL;
    return 0;
}

#endif
