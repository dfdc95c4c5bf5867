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
int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                               MPI_Errhandler errhandler, MPI_Comm* newcomm);
int MPI_Session_finalize(MPI_Session* session);
#endif
#if MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION < 1)
#define BURST_DECLARES_MPI_4_1 1
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
    MPI_Info no_info;
    MPI_Errhandler errors_return;
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

/* Unsuccessful polls of a thread, summed up until its next recorded call. The stretch from such a
 * poll to the next poll is waiting, too, where it is shorter than BURSTLINE_POLL_GAP. */
struct burst_polls {
    uint64_t missed, ns, waiting, last; /* last: when the latest one returned */
    uint64_t wall, off_cpu; /* when the processor was watched, and ns without it up to then */
    long sleeps;
    uint32_t shorts; /* such stretches in a row */
};

#define BURST_SPINS 16 /* short stretches from which on the thread is taken to wait */

/* Calls are counted in place of recorded, see signature.h. */
enum burst_signed { /* words of a rank's file */
    BURST_SIGNED_MAGIC_WORD = 0,
    BURST_SIGNED_VERSION = 1,
    BURST_SIGNED_RANK = 2,
    BURST_SIGNED_SIZE = 3,
    BURST_SIGNED_STATE = 4,     /* enum burst_signed_state */
    BURST_SIGNED_COUNT = 5,     /* counted calls that were left */
    BURST_SIGNED_HASH = 6,      /* of these */
    BURST_SIGNED_OPERATION = 7, /* code of the call it is in, and 1; 0: in none */
    BURST_SIGNED_INIT = 8,      /* ns of CLOCK_MONOTONIC: MPI_Init was left */
    BURST_SIGNED_FINALIZE = 9,  /* MPI_Finalize was entered; 0: not yet */
    BURST_SIGNED_ARRIVED = 10,  /* it came to its cut; 0: not yet */
    BURST_SIGNED_STAMPS = 11,   /* boundaries it reached; of each count, hash and ns follow */
    BURST_SIGNED_WORDS = 12
};
extern struct burst_signature {
    uint64_t* words; /* NULL: calls are not counted */
    uint64_t next;   /* count at which something is to be done */
    int is_full;     /* partners and communicators are hashed */
} burst_signature;
extern const uint16_t burst_codes[]; /* generated: stored code of each operation, and 1 */

extern __thread int burst_depth;
extern __thread struct burst_polls burst_polls;

/* Whether a thread that waits was kept from the processor in a long stretch up to now: it ran for
 * less than an eighth of it (switching is charged to it, too), and did not sleep by itself. */
int burst_was_kept_off(uint64_t now, uint64_t stretch);

static inline struct burst_thread* burst_outermost(uint16_t op) {
    struct burst_thread* thread = burst_self();
    return thread != NULL && burst_wants(op) && burst_begin(thread) ? thread : NULL;
}

/* Behind the ENTER of the call that they came before, which tells of them. */
static inline void burst_put_polls(struct burst_thread* thread) {
    if (__builtin_expect(burst_polls.missed == 0, 1)) return;
    burst_put(thread, BURST_MISSES, 0, burst_polls.waiting, burst_settings.poll_gap,
              burst_polls.missed, burst_polls.ns);
    burst_polls = (struct burst_polls){0};
}

static inline struct burst_call burst_open(uint16_t op, void* caller) {
    struct burst_call call = {NULL, 0, 0};
    if (burst_depth++ > 0) return call;
    if (__builtin_expect(burst_signature.words != NULL, 0)) {
        burst_signature.words[BURST_SIGNED_OPERATION] = burst_codes[op];
        return call;
    }
    call.thread = burst_outermost(op);
    call.follow = burst_settings.active;
    if (call.thread == NULL) return call;
    burst_enter(call.thread, op, caller);
    burst_put_polls(call.thread);
    return call;
}

static inline void burst_shut(struct burst_call call, uint16_t op, int error) {
    --burst_depth;
    if (call.thread == NULL) {
        if (burst_signature.words != NULL && burst_depth == 0)
            burst_signature.words[BURST_SIGNED_OPERATION] = 0;
        return;
    }
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
    const uint64_t gap = burst_polls.missed > 0 ? call->since - burst_polls.last : 0;
    if (gap < burst_settings.poll_gap) {
        burst_polls.waiting += gap;
        ++burst_polls.shorts;
    } else if (burst_polls.shorts >= BURST_SPINS && burst_was_kept_off(call->since, gap)) {
        burst_polls.waiting += gap;
    } else {
        burst_polls.shorts = 0;
    }
    if (success) {
        burst_enter_at(call->thread, op, caller, call->since);
        burst_put_polls(call->thread);
        return 1;
    }
    const uint64_t ns = (burst_polls.last = burst_now()) - call->since;
    burst_polls.ns += ns;
    burst_polls.waiting += ns;
    ++burst_polls.missed;
    const int is_long = ns >= burst_settings.poll_gap && burst_polls.shorts > BURST_SPINS;
    if (__builtin_expect(is_long || burst_polls.shorts == BURST_SPINS, 0))
        (void)burst_was_kept_off(burst_polls.last, 0); /* the processor is watched from here on */
    burst_end(call->thread);
    call->thread = NULL;
    return 0;
}

#endif
