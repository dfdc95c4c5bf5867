/* omp.c -- The OpenMP tool: what LLVM's runtime, and any other with OMPT, says about threads.
 *
 * The runtime looks for `ompt_start_tool` when it starts. Teams are numbered here; the number
 * travels in the data the runtime keeps for a parallel region. What a thread is in is kept by the
 * thread: the runtime does not say it where a region ends.
 */
#include "thread.h"

#include "omp.h"
#include "ompt.h"

#define UNKNOWN_ITERATIONS UINT64_MAX
#define MOST_NESTED 16 /* levels of parallel regions; deeper ones count for the last */

/* What the runtime keeps for an explicit task: its number, and above it flags and the stack that
 * created it. Other tasks have 0. */
#define TASK_NUMBERS ((1u << 30) - 1)
#define TASK_BEGUN (1u << 30)
#define TASK_UNTIED (1u << 31)

struct level {
    uint32_t team, number;
    uint32_t chunks;     /* of the worksharing construct, so far */
    uint64_t iterations; /* in them */
};

static __thread struct level levels[MOST_NESTED];
static __thread unsigned depth;
static uint32_t last_team, last_task;
static int counts_chunks;

static struct level *level_of_thread(void) {
    return &levels[depth < MOST_NESTED ? depth : MOST_NESTED - 1];
}

static uint32_t team_of_thread(void) { return level_of_thread()->team; }

static struct burst_thread *recording(void) {
    struct burst_thread *thread = burst_self();
    return thread == NULL || burst_settings.profile ? NULL : thread;
}

static uint64_t stack_of(struct burst_thread *thread, const void *code) {
    if (code == NULL || burst_settings.stack_depth == 0) return 0;
    burst_recover(thread);
    return burst_stack_id(thread, (uintptr_t)code);
}

/* `code`: the construct, whose stack is the lower half of c. NULL: it has none. */
static void put(uint16_t op, uint32_t team, uint64_t b, uint64_t c, const void *code) {
    struct burst_thread *thread = recording();
    if (thread == NULL) return;
    const uint64_t stack = stack_of(thread, code);
    burst_put_moment(thread, BURST_ALL_COUNTERS, BURST_OMP, op, team, b, c | stack);
}

static void parallel_begin(union ompt_value *task, const void *frame, union ompt_value *parallel,
                           unsigned requested, int flags, const void *code) {
    (void)task, (void)frame, (void)flags;
    parallel->value = __atomic_add_fetch(&last_team, 1, __ATOMIC_RELAXED);
    put(BURST_OMP_FORK, (uint32_t)parallel->value, requested, (uint64_t)team_of_thread() << 32,
        code);
}

static void parallel_end(union ompt_value *parallel, union ompt_value *task, int flags,
                         const void *code) {
    (void)task, (void)flags, (void)code;
    put(BURST_OMP_JOIN, (uint32_t)parallel->value, 0, 0, NULL);
}

static void begin_team(uint32_t team, unsigned number, unsigned threads) {
    ++depth;
    *level_of_thread() = (struct level){.team = team, .number = number};
    put(BURST_OMP_TEAM_BEGIN, team, number, threads, NULL);
}

static void end_team(void) {
    const struct level *level = level_of_thread();
    if (depth == 0) return;
    put(BURST_OMP_TEAM_END, level->team, level->number, 0, NULL);
    --depth;
}

static void implicit_task(int endpoint, union ompt_value *parallel, union ompt_value *task,
                          unsigned threads, unsigned number, int flags) {
    (void)task;
    if (flags & OMPT_TASK_INITIAL) return;
    if (endpoint == OMPT_BEGIN) {
        begin_team(parallel == NULL ? 0 : (uint32_t)parallel->value, number, threads);
    } else if (endpoint == OMPT_END) {
        end_team();
    }
}

static enum burst_omp_work work_kind(int kind) {
    if (kind == OMPT_LOOP || (kind >= OMPT_LOOP_STATIC && kind <= OMPT_LOOP_OTHER)) {
        return BURST_OMP_LOOP;
    }
    if (kind == OMPT_SECTIONS) return BURST_OMP_SECTIONS;
    if (kind == OMPT_SINGLE_EXECUTOR) return BURST_OMP_SINGLE;
    if (kind == OMPT_SINGLE_OTHER) return BURST_OMP_SINGLE_OTHER;
    if (kind == OMPT_TASKLOOP) return BURST_OMP_TASKLOOP;
    return BURST_OMP_OTHER_WORK;
}

static uint64_t own_iterations(enum burst_omp_work kind) {
    if (kind == BURST_OMP_SINGLE || kind == BURST_OMP_MASTER) return 1;
    if (kind == BURST_OMP_SINGLE_OTHER) return 0;
    if (kind >= BURST_OMP_OTHER_WORK || !counts_chunks) return UNKNOWN_ITERATIONS;
    return level_of_thread()->iterations;
}

static void put_work(enum burst_omp_work kind, int endpoint, uint64_t count, const void *code) {
    struct level *level = level_of_thread();
    const uint64_t high = (uint64_t)kind << 32;
    if (endpoint & OMPT_BEGIN) {
        level->iterations = 0;
        level->chunks = 0;
        put(BURST_OMP_WORK_BEGIN, level->team, count, high, code);
    }
    if (endpoint & OMPT_END)
        put(BURST_OMP_WORK_END, level->team, own_iterations(kind), high | level->chunks, NULL);
}

static void work(int kind, int endpoint, union ompt_value *parallel, union ompt_value *task,
                 uint64_t count, const void *code) {
    (void)parallel, (void)task;
    put_work(work_kind(kind), endpoint, count, code);
}

static void master(int endpoint, union ompt_value *parallel, union ompt_value *task,
                   const void *code) {
    (void)parallel, (void)task;
    put_work(BURST_OMP_MASTER, endpoint, 1, code);
}

static void dispatch(union ompt_value *parallel, union ompt_value *task, int kind,
                     union ompt_value instance) {
    (void)parallel, (void)task;
    struct level *level = level_of_thread();
    if (kind == OMPT_LOOP_CHUNK && instance.pointer != NULL) {
        level->iterations += ((const struct ompt_chunk *)instance.pointer)->iterations;
        ++level->chunks;
    } else if (kind == OMPT_ITERATION || kind == OMPT_SECTION) {
        ++level->iterations;
    }
}

static enum burst_omp_sync sync_kind(int kind) {
    if (kind == OMPT_BARRIER_EXPLICIT) return BURST_OMP_BARRIER;
    if (kind == OMPT_TASKWAIT) return BURST_OMP_TASKWAIT;
    if (kind == OMPT_TASKGROUP) return BURST_OMP_TASKGROUP;
    return BURST_OMP_IMPLICIT_BARRIER;
}

static void sync_region(int kind, int endpoint, union ompt_value *parallel,
                        union ompt_value *task, const void *code) {
    (void)parallel, (void)task;
    if (kind == OMPT_REDUCTION) return;
    const uint64_t what = sync_kind(kind);
    if (endpoint & OMPT_BEGIN) put(BURST_OMP_SYNC_BEGIN, team_of_thread(), what, 0, code);
    if (endpoint & OMPT_END) put(BURST_OMP_SYNC_END, team_of_thread(), what, 0, NULL);
}

static uint64_t lock_kind(int kind) {
    enum burst_omp_lock what = BURST_OMP_LOCK;
    if (kind == OMPT_MUTEX_CRITICAL) what = BURST_OMP_CRITICAL;
    if (kind == OMPT_MUTEX_ATOMIC) what = BURST_OMP_ATOMIC;
    if (kind == OMPT_MUTEX_ORDERED) what = BURST_OMP_ORDERED;
    return (uint64_t)what << 32;
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t lock,
                          const void *code) {
    (void)hint, (void)implementation;
    put(BURST_OMP_LOCK_REQUEST, team_of_thread(), lock, lock_kind(kind), code);
}

static void mutex_acquired(int kind, uint64_t lock, const void *code) {
    (void)code;
    put(BURST_OMP_LOCK_ACQUIRED, team_of_thread(), lock, lock_kind(kind), NULL);
}

static void mutex_released(int kind, uint64_t lock, const void *code) {
    (void)code;
    put(BURST_OMP_LOCK_RELEASED, team_of_thread(), lock, lock_kind(kind), NULL);
}

static void task_create(union ompt_value *creator, const void *frame, union ompt_value *task,
                        int flags, int dependences, const void *code) {
    (void)creator, (void)frame, (void)dependences;
    if (!(flags & OMPT_TASK_EXPLICIT)) return;
    uint32_t number = __atomic_add_fetch(&last_task, 1, __ATOMIC_RELAXED) & TASK_NUMBERS;
    if (number == 0) number = TASK_NUMBERS;
    if (flags & OMPT_TASK_UNTIED) number |= TASK_UNTIED;
    struct burst_thread *thread = recording();
    const uint64_t stack = thread == NULL ? 0 : stack_of(thread, code);
    task->value = stack << 32 | number;
}

/* A tied task goes on where it was left, so all that ran in between lies inside it. */
static void task_schedule(union ompt_value *before, int status, union ompt_value *after) {
    if (status == OMPT_TASK_EARLY_FULFILL || status == OMPT_TASK_LATE_FULFILL) return;
    const uint64_t left = before == NULL ? 0 : before->value;
    const uint64_t taken = after == NULL ? 0 : after->value;
    const int ended = status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL ||
                      status == OMPT_TASK_DETACH;
    if (left != 0 && (ended || left & TASK_UNTIED))
        put(BURST_OMP_TASK_END, team_of_thread(), left & TASK_NUMBERS, 0, NULL);
    if (taken == 0 || (taken & TASK_BEGUN && !(taken & TASK_UNTIED))) return;
    after->value |= TASK_BEGUN;
    put(BURST_OMP_TASK_BEGIN, team_of_thread(), taken & TASK_NUMBERS, taken >> 32, NULL);
}

static int initialize(ompt_lookup lookup, int device, union ompt_value *data) {
    (void)device, (void)data;
    const ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");
    if (set == NULL) return 0;
    set(OMPT_PARALLEL_BEGIN, (ompt_function)parallel_begin);
    set(OMPT_PARALLEL_END, (ompt_function)parallel_end);
    set(OMPT_IMPLICIT_TASK, (ompt_function)implicit_task);
    set(OMPT_WORK, (ompt_function)work);
    set(OMPT_MASTER, (ompt_function)master);
    set(OMPT_SYNC_REGION, (ompt_function)sync_region);
    set(OMPT_TASK_CREATE, (ompt_function)task_create);
    set(OMPT_TASK_SCHEDULE, (ompt_function)task_schedule);
    set(OMPT_MUTEX_ACQUIRE, (ompt_function)mutex_acquire);
    set(OMPT_MUTEX_ACQUIRED, (ompt_function)mutex_acquired);
    set(OMPT_MUTEX_RELEASED, (ompt_function)mutex_released);
    counts_chunks = set(OMPT_DISPATCH, (ompt_function)dispatch) > 2; /* sometimes or always */
    return 1;
}

static void finalize(union ompt_value *data) { (void)data; }

__attribute__((visibility("default"))) struct ompt_tool *ompt_start_tool(unsigned version,
                                                                         const char *runtime) {
    static struct ompt_tool tool = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    burst_self();
    return burst_settings.active && !burst_settings.profile ? &tool : NULL;
}
