/* Work of a planned time on the processor, and what programs do with signals and processes. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEPS 4

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

static void step(int rank, int late) {
    assemble(rank == late ? 0.3 : 0.02);
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
    for (int number = SIGRTMIN; number < SIGRTMIN + 8; ++number) {
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
        if (wrong == NULL) wrong = use_processes();
        printf("%s\n", wrong == NULL ? "fine" : wrong);
    }
    const int late = strcmp(words[1], "late") == 0 ? 1 : -1;
    for (int k = 0; k < STEPS; ++k) {
        step(rank, late);
        MPI_Barrier(MPI_COMM_WORLD); /* of a step */
    }
    MPI_Finalize();
    return 0;
}
