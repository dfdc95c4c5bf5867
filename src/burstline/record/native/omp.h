/* omp.h -- What the OpenMP tool records: records of kind BURST_OMP, each with a time.
 *
 * `a` is the team: its number in this process from 1, 0 where no team is known. Stacks are ids of
 * BURST_STACK, 0 unknown; the innermost frame is the construct in the user's code. Each op that
 * begins something is followed by its counterpart on the same thread and with the same team, but
 * not always: recording may have been paused, or the process ended.
 *
 *   op            b                                     c
 *   FORK          threads asked for, 0 unknown          team around it << 32 | stack
 *   JOIN          0                                     0
 *   TEAM_BEGIN    number of the thread in the team      threads in the team
 *   TEAM_END      number of the thread in the team      0
 *   WORK_BEGIN    iterations or sections of the team    kind << 32 | stack
 *   WORK_END      those of this thread, -1 unknown      kind << 32 | chunks of this thread
 *   SYNC_BEGIN    kind                                  stack
 *   SYNC_END      kind                                  0
 *   LOCK_REQUEST  address of the lock                   kind << 32 | stack
 *   LOCK_ACQUIRED address of the lock                   kind << 32
 *   LOCK_RELEASED address of the lock                   kind << 32
 *   TASK_BEGIN    number of the task in this process    where it was created
 *   TASK_END      number of the task in this process    0
 *
 * How the reader makes rows of them:
 *
 *   FORK … JOIN              `teams` (fork, join), and a region `parallel` of the forking thread
 *   TEAM_BEGIN … TEAM_END    region `team` of each thread, TEAM_END no later than JOIN: LLVM's
 *                            workers report the end when they are woken for the next team
 *   WORK_BEGIN … WORK_END    regions `loop`, `sections`, `single`, `master` with `iterations`
 *   SYNC_BEGIN … SYNC_END    regions `barrier`, `implicit_barrier`, `taskwait`, `taskgroup`, cut
 *                            at JOIN like teams; barriers count within their team and thread
 *   REQUEST … RELEASED       regions `critical`, `lock`, `atomic`, `ordered`, with the wait. A
 *                            request without an acquisition was a test that failed, or of a lock
 *                            that the thread has already, and is dropped
 *   ACQUIRED … RELEASED      `locks`
 *   TASK_BEGIN … TASK_END    regions `task`: explicit tasks, with others that ran while they
 *                            waited inside. An untied task has one for each part of it
 *
 * LLVM's runtime tells of chunks since version 16; before, iterations of a thread are unknown. Of a
 * loop with schedule(static, n) it tells each thread's first chunk only: if each thread had one
 * chunk of the same size and they are not all iterations, the reader gives them out in turns, as
 * the standard does.
 *
 * A record of an explicit task has the team of its thread. Serialised parallel regions are teams
 * of one thread. Every record is followed by the thread's counters.
 *
 * LLVM's runtime can stand in for that of gcc. Loops with static schedules are then missing, as
 * gcc compiles them without a call, and explicit barriers count as implicit ones.
 */
#ifndef BURSTLINE_OMP_H
#define BURSTLINE_OMP_H

enum burst_omp {
    BURST_OMP_FORK = 1,
    BURST_OMP_JOIN = 2,
    BURST_OMP_TEAM_BEGIN = 3,
    BURST_OMP_TEAM_END = 4,
    BURST_OMP_WORK_BEGIN = 5,
    BURST_OMP_WORK_END = 6,
    BURST_OMP_SYNC_BEGIN = 7,
    BURST_OMP_SYNC_END = 8,
    BURST_OMP_LOCK_REQUEST = 9,
    BURST_OMP_LOCK_ACQUIRED = 10,
    BURST_OMP_LOCK_RELEASED = 11,
    BURST_OMP_TASK_BEGIN = 12,
    BURST_OMP_TASK_END = 13
};

enum burst_omp_work {
    BURST_OMP_LOOP = 1,
    BURST_OMP_SECTIONS = 2,
    BURST_OMP_SINGLE = 3,       /* by the thread that executes it: one iteration */
    BURST_OMP_SINGLE_OTHER = 4, /* by the others: none */
    BURST_OMP_MASTER = 5,
    BURST_OMP_OTHER_WORK = 6,   /* workshare, distribute, scope */
    BURST_OMP_TASKLOOP = 7      /* by the thread that makes its tasks */
};

enum burst_omp_sync {
    BURST_OMP_BARRIER = 1,
    BURST_OMP_IMPLICIT_BARRIER = 2,
    BURST_OMP_TASKWAIT = 3,
    BURST_OMP_TASKGROUP = 4
};

enum burst_omp_lock {
    BURST_OMP_LOCK = 1,
    BURST_OMP_CRITICAL = 2,
    BURST_OMP_ATOMIC = 3,
    BURST_OMP_ORDERED = 4
};

#endif
