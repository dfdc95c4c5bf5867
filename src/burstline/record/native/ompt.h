/* ompt.h -- The part of OpenMP's tool interface (OMPT, since OpenMP 5.0) that the tool uses.
 *
 * The standard fixes names, numbers and types. They are written down here, so that the recorder
 * supports OpenMP whichever compiler it is built with: gcc has no <omp-tools.h>.
 */
#ifndef BURSTLINE_OMPT_H
#define BURSTLINE_OMPT_H

#include <stdint.h>

union ompt_value {
    uint64_t value;
    void *pointer;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int event, ompt_function callback);

struct ompt_tool {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_value *data);
    void (*finalize)(union ompt_value *data);
    union ompt_value data;
};

struct ompt_chunk {
    uint64_t start, iterations;
};

enum { OMPT_BEGIN = 1, OMPT_END = 2, OMPT_BOTH = 3 };
enum { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4, OMPT_TASK_UNTIED = 0x10000000 };

enum ompt_event {
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_MUTEX_RELEASED = 17,
    OMPT_WORK = 20,
    OMPT_MASTER = 21,
    OMPT_SYNC_REGION = 23,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
    OMPT_DISPATCH = 32
};

enum ompt_work {
    OMPT_LOOP = 1,
    OMPT_SECTIONS = 2,
    OMPT_SINGLE_EXECUTOR = 3,
    OMPT_SINGLE_OTHER = 4,
    OMPT_TASKLOOP = 7,
    OMPT_LOOP_STATIC = 10,
    OMPT_LOOP_OTHER = 13
};

enum ompt_status { /* how a task was left */
    OMPT_TASK_COMPLETE = 1,
    OMPT_TASK_CANCEL = 3,
    OMPT_TASK_DETACH = 4,
    OMPT_TASK_EARLY_FULFILL = 5, /* these two: not at all, only its event came */
    OMPT_TASK_LATE_FULFILL = 6
};

enum ompt_dispatch { OMPT_ITERATION = 1, OMPT_SECTION = 2, OMPT_LOOP_CHUNK = 3 };

enum ompt_sync {
    OMPT_BARRIER_EXPLICIT = 3,
    OMPT_TASKWAIT = 5,
    OMPT_TASKGROUP = 6,
    OMPT_REDUCTION = 7
};

enum ompt_mutex { OMPT_MUTEX_CRITICAL = 5, OMPT_MUTEX_ATOMIC = 6, OMPT_MUTEX_ORDERED = 7 };

#endif
