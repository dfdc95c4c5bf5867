/* runtime.h -- What wrappers, OpenMP tool and user code ask of the recorder's runtime.
 *
 * The runtime knows files, clocks, stacks, counters and threads, and no MPI. Everything here may
 * be called from any thread; nothing ever makes the program fail: what cannot be recorded is
 * dropped and counted.
 *
 * The layers of the recorder, which a test reads here: a file calls files in lines below its own,
 * and none beside or above it. (Variables are no calls: what work.c counts is read from below.)
 *
 *     wrappers burstline         what programs call: MPI (generated from calls.toml), and marks
 *     batches init               completion of many requests; the beginning and the end of MPI
 *     requests                   from the call that makes a request to the one that completes it
 *     signature                  calls counted for a signature, and where they end the program
 *     collectives                who takes part in a collective, and what it moves
 *     messages objects followed  messages; windows and files; the table of requests
 *     communicators              ids, names and members
 *     wrap                       what is done around every call
 *     resolve                    the functions of the MPI library
 *     omp user work functions    what OpenMP, the program's marks and its compiled code report
 *     threads                    this thread; all threads, paused or closed
 *     leaving                    the last records of a thread; signals
 *     runtime profile            a call entered and left; counts instead of calls
 *     samples                    where a thread computes between two records
 *     stack                      call stacks by numbers
 *     counters modules walk processors   readings; programs and libraries; return addresses; where
 *                                threads run
 *     python                     frames of CPython, and its code objects
 *     output papi perf           records on their way into the window of a thread; two sources
 *     pool                       windows, handed on from thread to thread; the files behind them
 *     process settings symbols   the gate, the clock, the rank; what the environment asks for
 *     memory library rules operations sanitizers signals
 *     put                        the hot path: a record is stored in a buffer, and nobody called
 */
#ifndef BURSTLINE_RUNTIME_H
#define BURSTLINE_RUNTIME_H

/* Before any other header: what of the C library only Linux has. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>

#include "raw.h"

/* What instrumented programs call (work.c). Visible are also MPI's functions, the program's marks
 * and the start of the OpenMP tool; all else is hidden. */
#define BURST_FOR_PROGRAMS __attribute__((visibility("default")))

struct burst_thread; /* one per thread, found by burst_self() */

/* Settings, read from the environment once:
 *   BURSTLINE_DIR          folder of the raw files; unset: nothing is recorded at all
 *   BURSTLINE_BLOCK        bytes of a window of a thread that fills a small one (1 MiB)
 *   BURSTLINE_STACK_DEPTH  frames per call (8; 0: none)
 *   BURSTLINE_COUNTERS     comma-separated: cpu (default), perf:NAME, PAPI_NAME, papi:NAME, work,
 *                          clocks (what logical clocks need of it), IR_NAME, none
 *   BURSTLINE_CALLS        only these operations, comma-separated; -NAME: all but
 *   BURSTLINE_FUNCTIONS    of functions that report themselves only these, patterns with ; between
 *                          them; -PATTERN: not these; the last one that fits decides
 *   BURSTLINE_MODE         trace | profile (counts per operation only) | signature (as
 *                          BURSTLINE_PLAN says, see signature.h) | off
 *   BURSTLINE_MISSES       0: record every unsuccessful Test and Iprobe; 1 (default): sum them up
 *   BURSTLINE_RANKS        only these ranks: 0,4-7; unset: all
 *   BURSTLINE_POLL_GAP     ns from an unsuccessful poll to the next poll that still are waiting, if
 *                          it is less (5000)
 *   BURSTLINE_SAMPLE       samples a second of CPU time of each thread (250; 0: none)
 *   BURSTLINE_LEAVE_FREE   MiB of the file system that stay free (1 % of it, at most 1 GiB)
 * BURSTLINE_CLOCKS (init.c) and BURSTLINE_LOOP_SAMPLING (work.c) are read where they are used.
 */
#define BURST_AUTOMATIC UINT32_MAX

struct burst_settings {
    uint32_t stack_depth;
    uint32_t block_bytes;
    uint32_t poll_gap; /* ns, at least 1 */
    uint32_t sampling_hz;
    uint32_t leave_free_mib; /* of the file system; BURST_AUTOMATIC: a share of it */
    uint8_t active;          /* whether anything is to be recorded */
    uint8_t profile;
    uint8_t signature; /* calls are to be counted; then nothing is active */
    uint8_t sum_misses;
};
extern struct burst_settings burst_settings;

/* This thread; gets its window on first use. NULL if nothing is recorded, recording is paused, or
 * the runtime itself is running on this thread (so that it is never recorded). */
BURST_FOR_PROGRAMS struct burst_thread *burst_self(void);

/* Around a call. Returns 1 if it is the outermost: MPI called by MPI is not recorded. */
int burst_begin(struct burst_thread *thread);
void burst_end(struct burst_thread *thread);

BURST_FOR_PROGRAMS uint64_t burst_now(void);
uint64_t burst_clock(int clock); /* of the kernel, in ns */

/* Stores a record; drops and counts it if there is no room on disk. */
BURST_FOR_PROGRAMS void burst_put(struct burst_thread *thread, uint16_t kind, uint16_t op,
                                  uint64_t time, uint32_t a, uint64_t b, uint64_t c);

/* Something is not recorded for want of memory: said once, counted, and marked by a gap, which may
 * have to wait until this thread is there (NULL: it is not). */
BURST_FOR_PROGRAMS void burst_miss(struct burst_thread *thread);

/* ENTER with stack and counters, LEAVE with counters. `return_address` of the wrapper: the stack
 * begins with this frame. */
void burst_enter(struct burst_thread *thread, uint16_t op, void *return_address);
void burst_leave(struct burst_thread *thread, uint16_t op, int error);

/* A record of this moment with readings: of all counters, or only of those of work, which cost next
 * to nothing. */
enum burst_readings { BURST_ALL_COUNTERS, BURST_WORK_ONLY };
BURST_FOR_PROGRAMS void burst_put_moment(struct burst_thread *thread, enum burst_readings readings,
                                         uint16_t kind, uint16_t op, uint32_t a, uint64_t b,
                                         uint64_t c);

/* ENTER of a call that began at `time`, after the last record: a poll that is recorded only
 * because it succeeded. */
void burst_enter_at(struct burst_thread *thread, uint16_t op, void *return_address, uint64_t time);

/* Text that belongs to a definition record just put. */
BURST_FOR_PROGRAMS void burst_put_text(struct burst_thread *thread, const char *text,
                                       size_t bytes);

/* Whether a definition (communicator, stack, module, name) has been put on this thread already;
 * marks it as put. `space` keeps kinds of ids apart: the record's kind. */
BURST_FOR_PROGRAMS int burst_is_defined(struct burst_thread *thread, uint16_t space, uint32_t id);

/* Whether this operation is to be recorded (filters). */
#define BURST_OPERATIONS 1024 /* numbers that filter and profile mode tell apart */
int burst_wants(uint16_t op);
int burst_wants_rank(int rank);
const char *burst_wanted_ranks(void); /* NULL: all */

/* MPI is loaded: its own frames are no callers from now on. */
void burst_find_library(void);
/* The library that makes the program's threads of OpenMP, if it is one that tells no tool of
 * them; else NULL. */
const char *burst_silent_openmp(void);

/* The process's rank is known, the process ends. Called by the wrappers. */
/* 0: the rank is not to be recorded, and what was recorded of it is gone. */
int burst_set_rank(int rank, int size, int thread_level, const char *library_version);
void burst_close(int how, int detail); /* BURST_LEFT's op and a; flushes and trims all files */

/* Marks of the program: burstline.h looks for these when it runs. */
void burstline_event(uint32_t type, uint64_t value);
void burstline_region_begin(const char *name);
void burstline_region_end(const char *name);
void burstline_pause(void);
void burstline_resume(void);

/* What code calls that was compiled with -finstrument-functions. */
void __cyg_profile_func_enter(void *function, void *call);
void __cyg_profile_func_exit(void *function, void *call);

/* What instrumented code keeps (work.c), per thread: its counts, and the innermost loop around
 * what it executes, 0 for none. Whether there is such code in the process. */
enum burst_work_counter { /* the pass has the same numbers in tally.h */
    BURST_WORK_BB = 0,
    BURST_WORK_TOT_INS = 1,
    BURST_WORK_LD_INS = 2,
    BURST_WORK_SR_INS = 3,
    BURST_WORK_BR_INS = 4,
    BURST_WORK_FP_INS = 5, /* scalar */
    BURST_WORK_FP_SP = 6,
    BURST_WORK_FP_DP = 7,
    BURST_WORK_VEC_INS = 8,
    BURST_WORK_VEC_SP = 9,
    BURST_WORK_VEC_DP = 10,
    BURST_WORK_CALLS = 11, /* the sum of the last three; code of older passes counts here */
    BURST_WORK_LOOP_ITER = 12,
    BURST_WORK_CALLS_MATH = 13,
    BURST_WORK_CALLS_MEM = 14,
    BURST_WORK_CALLS_OTHER = 15,
    BURST_WORK_COUNTERS = 16
};
#define BURST_COUNTS 1 /* in burst_compiled: something counts its work */
#define BURST_LABELS 2 /* something labels its loops */
BURST_FOR_PROGRAMS extern __thread uint64_t burst_work[BURST_WORK_COUNTERS];
BURST_FOR_PROGRAMS extern __thread uint32_t burst_label;
BURST_FOR_PROGRAMS extern int burst_compiled;

/* Bit k: some of what counts does not keep counter k, so that its sum is unknown. And the
 * compilers that made it, a line each. Both grow when something is loaded, by one thread. */
#define BURST_MADE_BY_BYTES 1024
BURST_FOR_PROGRAMS extern uint32_t burst_uncounted;
BURST_FOR_PROGRAMS extern char burst_made_by[BURST_MADE_BY_BYTES];

#endif
