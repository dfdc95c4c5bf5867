/* runtime_program.c -- Stands in for wrappers and program; the first argument says what happens. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"
#include "runtime.h"

#define THREADS 8
#define CALLS 3000

__thread uint64_t burst_work[BURST_WORK_COUNTERS];
int burst_compiled = BURST_COUNTS;

__attribute__((noinline)) static void call(uint16_t op) {
    struct burst_thread *thread = burst_self();
    if (thread == NULL) return;
    if (burst_begin(thread)) {
        burst_enter(thread, op, __builtin_return_address(0));
        burst_put(thread, BURST_SEND, 0, 0, 1, 2, 3);
        burst_leave(thread, op, 0);
    }
    burst_end(thread);
}

__attribute__((noinline)) static void calls(int count) {
    for (int i = 0; i < count; ++i) call((uint16_t)(1 + i % 7));
}

static void *many(void *unused) {
    calls(CALLS);
    return unused;
}

static int threads(void) {
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        if (pthread_create(&ids[i], NULL, many, NULL) != 0) return 1;
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(ids[i], NULL);
    return 0;
}

static volatile int go_on = 1;
static int started;

static void *endless(void *unused) {
    while (go_on) {
        call(3);
        __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    return unused;
}

/* The process ends while another thread is at work. */
static int busy(void) {
    pthread_t id;
    if (pthread_create(&id, NULL, endless, NULL) != 0) return 1;
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) usleep(100);
    calls(CALLS);
    burst_close(1, 0);
    calls(CALLS);
    usleep(20000);
    return 0;
}

static int threads_die(void) {
    call(1);
    return threads() || kill(getpid(), SIGKILL);
}

#define SHORT_THREADS 600

static pthread_barrier_t all_called;

static void *one_call(void *unused) {
    call(2);
    pthread_barrier_wait(&all_called);
    return unused;
}

/* Threads of a call each, of which `together` have their windows at the same time. */
static int short_threads(int together) {
    static pthread_t ids[SHORT_THREADS];
    if (pthread_barrier_init(&all_called, NULL, (unsigned)together) != 0) return 1;
    for (int first = 0; first < SHORT_THREADS; first += together) {
        for (int i = first; i < first + together; ++i) {
            if (pthread_create(&ids[i], NULL, one_call, NULL) != 0) return 1;
        }
        for (int i = first; i < first + together; ++i) pthread_join(ids[i], NULL);
    }
    return 0;
}

/* All descriptors are taken once the first call was recorded. */
static int no_descriptors(void) {
    const struct rlimit limit = {64, 64};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    call(1);
    while (dup(0) >= 0) continue;
    calls(CALLS);
    return threads();
}

/* Every descriptor but the first three is closed, and a file of the program has their numbers. */
static int closed_descriptors(const char *own) {
    calls(CALLS);
    for (int i = 3; i < 1024; ++i) close(i);
    FILE *file = fopen(own, "w");
    if (file == NULL) return 1;
    for (int i = 3; i < 1024; ++i) dup2(fileno(file), i);
    for (int i = 3 + 512; i < 3 + 512 + 8; ++i) close(i); /* some are left to the recorder */
    calls(CALLS);
    fputs("own", file);
    fflush(file);
    return 0;
}

/* None is left to the recorder, whose own are gone. */
static int all_descriptors(void) {
    const struct rlimit limit = {64, 64};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    calls(CALLS);
    for (int i = 3; i < 64; ++i) close(i);
    while (dup(0) >= 0) continue;
    calls(CALLS);
    return 0;
}

static int removed_file(const char *path) {
    calls(CALLS);
    if (unlink(path) != 0) return 1;
    calls(CALLS);
    return 0;
}

static int count_descriptors(void) {
    struct stat file;
    int count = 0;
    for (int i = 0; i < 1024; ++i) count += fstat(i, &file) == 0;
    return count;
}

/* The recorder's descriptors are closed, and at the place of its file is another's. */
static int other_file(const char *path, const char *moved) {
    calls(CALLS);
    for (int i = 3; i < 1024; ++i) close(i);
    if (rename(path, moved) != 0) return 1;
    FILE *file = fopen(path, "w");
    if (file == NULL) return 1;
    fputs("own", file);
    fclose(file);
    const int before = count_descriptors();
    calls(CALLS);
    return count_descriptors() == before ? 0 : 3;
}

static int nested(void) {
    struct burst_thread *thread = burst_self();
    if (thread == NULL) return 1;
    if (!burst_begin(thread)) return 1;
    burst_enter(thread, 5, __builtin_return_address(0));
    call(6);
    burst_leave(thread, 5, 0);
    burst_end(thread);
    return 0;
}

static int forked(void) {
    calls(2);
    const pid_t child = fork();
    if (child == 0) {
        calls(50);
        burstline_event(9, 9);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    calls(3);
    return status;
}

/* A fork inside a call, whose thread the child still holds. */
static int forked_inside(void) {
    struct burst_thread *thread = burst_self();
    if (thread == NULL || !burst_begin(thread)) return 1;
    burst_enter(thread, 5, __builtin_return_address(0));
    const pid_t child = fork();
    if (child == 0) burst_put(thread, BURST_SEND, 0, 0, 77, 77, 77);
    burst_leave(thread, 5, 0);
    burst_end(thread);
    if (child == 0) exit(0);
    int status;
    waitpid(child, &status, 0);
    return status;
}

static int replaced(char *program) {
    calls(2);
    execl(program, program, "calls", (char *)NULL);
    return 1;
}

__attribute__((noinline)) static int by_depth(int depth) {
    volatile int kept = depth;
    if (depth == 0) call(2);
    else by_depth(depth - 1);
    return kept;
}

__attribute__((noinline)) static void from_afar(int phase) {
    if (phase > 0) by_depth(1);
}

/* A stack that is new while records are dropped is needed again after the gap. */
static int limited(void) {
    const int counts[] = {10, 10000, 5};
    const rlim_t limits[] = {RLIM_INFINITY, 200000, RLIM_INFINITY};
    const int phases = getenv("AGAIN") == NULL ? 2 : 3;
    for (int phase = 0; phase < phases; ++phase) {
        const struct rlimit limit = {limits[phase], RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        if (phase == 2) usleep(300000);
        calls(counts[phase]);
        from_afar(phase);
    }
    return 0;
}

static int regions(void) {
    burstline_event(7, 42);
    burstline_region_begin("solve");
    burstline_region_begin("a name of more than twenty-eight bytes");
    burstline_region_end("a name of more than twenty-eight bytes");
    burstline_region_end("solve");
    burstline_region_begin("solve");
    burstline_region_end("solve");
    burstline_region_begin(NULL);
    return 0;
}

uint32_t burst_loop_enter(uint32_t id, const char *file, uint32_t line);
void burst_loop_iteration(uint32_t place), burst_loop_leave(uint32_t place);

static int loops(void) {
    const uint32_t place = burst_loop_enter(77, "loops.c", 5);
    for (int i = 0; i < 3; ++i) {
        burst_loop_iteration(place);
        calls(1);
    }
    burst_loop_leave(place);
    return 0;
}

static int paused(void) {
    calls(2);
    burstline_pause();
    calls(100);
    burstline_resume();
    calls(3);
    return 0;
}

static int counted(void) {
    for (int i = 0; i < 5; ++i) {
        burst_work[1] += 100;
        burst_work[12] += 3;
        call(1);
    }
    return 0;
}

static void *deep_thread(void *unused) {
    by_depth(2);
    return unused;
}

static int stacks(void) {
    pthread_t id;
    for (int i = 0; i < 10; ++i) by_depth(i % 2);
    if (pthread_create(&id, NULL, deep_thread, NULL) != 0) return 1;
    pthread_join(id, NULL);
    return 0;
}

static void own_handler(int number) {
    const char text[] = "handled\n";
    if (write(1, text, sizeof text - 1) < 0 || number == 0) _exit(9);
}

static int handled(void) {
    signal(SIGTERM, own_handler);
    calls(2);
    raise(SIGTERM);
    calls(1);
    return 0;
}

static int die(int number) {
    calls(CALLS);
    kill(getpid(), number);
    pause();
    return 1;
}

static int keeps_errno(void) {
    errno = 77;
    calls(5000);
    return errno == 77 ? 0 : 1;
}

static int ranked(void) {
    burst_set_rank(3, 4, 2, "Fake MPI 1.0\nsecond line");
    calls(2);
    burst_close(3, 5);
    return 0;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "calls";
    if (strcmp(what, "calls") == 0) calls(4);
    else if (strcmp(what, "many") == 0) calls(CALLS);
    else if (strcmp(what, "threads") == 0) return threads();
    else if (strcmp(what, "short") == 0) return short_threads(atoi(arguments[2]));
    else if (strcmp(what, "none_left") == 0) return no_descriptors();
    else if (strcmp(what, "all_taken") == 0) return all_descriptors();
    else if (strcmp(what, "removed") == 0) return removed_file(burst_raw_path());
    else if (strcmp(what, "other_file") == 0) return other_file(burst_raw_path(), arguments[2]);
    else if (strcmp(what, "closed") == 0) return closed_descriptors(arguments[2]);
    else if (strcmp(what, "threads_die") == 0) return threads_die();
    else if (strcmp(what, "busy") == 0) return busy();
    else if (strcmp(what, "nested") == 0) return nested();
    else if (strcmp(what, "forked") == 0) return forked();
    else if (strcmp(what, "forked_inside") == 0) return forked_inside();
    else if (strcmp(what, "replaced") == 0) return replaced(arguments[0]);
    else if (strcmp(what, "limited") == 0) return limited();
    else if (strcmp(what, "regions") == 0) return regions();
    else if (strcmp(what, "loops") == 0) return loops();
    else if (strcmp(what, "paused") == 0) return paused();
    else if (strcmp(what, "counted") == 0) return counted();
    else if (strcmp(what, "stacks") == 0) return stacks();
    else if (strcmp(what, "handled") == 0) return handled();
    else if (strcmp(what, "ranked") == 0) return ranked();
    else if (strcmp(what, "errno") == 0) return keeps_errno();
    else if (strcmp(what, "die") == 0) return die(atoi(arguments[2]));
    else return 2;
    return 0;
}
