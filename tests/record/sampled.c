/* Work of a planned time on the processor, and what programs do with signals and processes:
 * sampled MODE STEPS */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A macro: what it computes is the function's own. */
#define COMPUTE(s)                                                            \
    for (double until = seconds(CLOCK_THREAD_CPUTIME_ID) + (s);               \
         seconds(CLOCK_THREAD_CPUTIME_ID) < until;)                           \
        for (int i = 0; i < 20000; ++i) sum = sum * 0.999 + 1.0 / (i + 1)

static volatile double result;

__attribute__((noinline)) static void assemble(double s) {
    double sum = 0;
    COMPUTE(s); /* in assemble */
    result = sum;
}

__attribute__((noinline)) static void solve(double s) {
    double sum = 1;
    COMPUTE(s); /* in solve */
    result = sum;
}

/* As deep as libraries are below the function that calls them. */
__attribute__((noinline)) static void descend(int levels) {
    if (levels > 0) descend(levels - 1);
    else solve(0.02);
    result += 1;
}

__attribute__((noinline)) static void call_library(void) {
    descend(12);
    result += 1;
}

static void step(int rank, int late) {
    assemble(rank == late ? 0.15 : 0.02);
    solve(0.06);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal) {
    (void)signal;
    ++alarms;
}

/* Everything that could go otherwise with a timer of somebody else; returns what did. */
static const char *use_signals(void) {
    struct sigaction action = {.sa_handler = on_alarm}, before;
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
        if (sigaction(number, &action, &before) != 0) return "sigaction";
        if (before.sa_handler != SIG_DFL) return "a handler from somewhere";
    }
    sigaction(SIGPROF, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_PROF, &soon, NULL);
    for (int k = 0; k < 40 && alarms == 0; ++k) solve(0.05);
    if (alarms != 1) return "its own timer";
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    solve(0.05);
    raise(SIGRTMIN);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    if (alarms != 2) return "a signal that was blocked";
    const double begin = seconds(CLOCK_MONOTONIC);
    for (int k = 0; k < 20; ++k) {
        const struct timespec some = {0, 2000000};
        solve(0.003);
        if (nanosleep(&some, NULL) != 0) return "a sleep that was interrupted";
    }
    if (seconds(CLOCK_MONOTONIC) - begin < 0.04) return "sleeps";
    return NULL;
}

/* The same of the signal that samples have, whichever it is. */
static const char *use_every_signal(void) {
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
        const int before = alarms;
        raise(number);
        if (alarms != before + 1) return "a signal that was raised";
    }
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    solve(0.05);
    raise(SIGRTMIN + 1);
    int number = 0;
    if (sigwait(&all, &number) != 0 || number != SIGRTMIN + 1) return "a signal that was awaited";
    solve(0.05);
    const struct timespec soon = {0, 10000000};
    if (sigtimedwait(&all, NULL, &soon) != -1 || errno != EAGAIN) return "a signal from somewhere";
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (number = SIGRTMIN; number <= SIGRTMAX; ++number)
        if (signal(number, SIG_DFL) != on_alarm) return "a handler that was there";
    solve(0.05);
    return NULL;
}

/* By a signal's handler out of the middle of work, by a timer of this thread. */
static sigjmp_buf place;

static void on_jump(int signal) {
    (void)signal;
    siglongjmp(place, 1);
}

static const char *jump(void) {
    static volatile int jumps;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return "a timer of a thread";
    signal(SIGALRM, on_jump);
    while (jumps < 60) {
        if (sigsetjmp(place, 1) == 0) {
            const struct itimerspec soon = {{0, 0}, {0, 1500000}};
            timer_settime(timer, 0, &soon, NULL);
            for (;;) solve(0.001);
        }
        ++jumps;
    }
    return NULL;
}

static const char *use_processes(void) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        solve(0.05);
        _exit(result > 0 ? 7 : 8);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        return "a child";
    const pid_t other = fork();
    if (other == 0) {
        execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 9",
              (char *)NULL);
        _exit(1);
    }
    if (waitpid(other, &status, 0) != other || !WIFEXITED(status) || WEXITSTATUS(status) != 9)
        return "a program in its place";
    return NULL;
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(words[1], "signals") == 0) {
        const char *wrong = use_signals();
        if (wrong == NULL) wrong = use_every_signal();
        if (wrong == NULL) wrong = jump();
        if (wrong == NULL) wrong = use_processes();
        printf("%s\n", wrong == NULL ? "fine" : wrong);
    }
    const int late = strcmp(words[1], "late") == 0 ? 1 : -1;
    for (int k = atoi(words[2]); k > 0; --k) {
        step(rank, late);
        if (strcmp(words[1], "deep") == 0) call_library();
        MPI_Barrier(MPI_COMM_WORLD); /* of a step */
    }
    MPI_Finalize();
    return 0;
}
