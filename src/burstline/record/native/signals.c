/* signals.c -- One signal that the recorder and the program share: it stays the program's, too.
 *
 * Timers of samples need a real-time signal. A program that has a handler for all signals, or
 * waits for all of them, must not get to know: what it says and asks of that one signal is kept
 * here, and signals that no timer of ours sent go to whatever it wants.
 */
#include "runtime.h"

#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <time.h>

typedef void (*handler_t)(int);

/* The C library's, under names that nobody else has. */
extern int __sigaction(int number, const struct sigaction *action, struct sigaction *before);
extern handler_t bsd_signal(int number, handler_t handler);

BURST_FOR_PROGRAMS int sigaction(int number, const struct sigaction *action,
                                 struct sigaction *before);
BURST_FOR_PROGRAMS handler_t signal(int number, handler_t handler);
BURST_FOR_PROGRAMS int sigtimedwait(const sigset_t *set, siginfo_t *info,
                                    const struct timespec *timeout);
BURST_FOR_PROGRAMS int sigwaitinfo(const sigset_t *set, siginfo_t *info);
BURST_FOR_PROGRAMS int sigwait(const sigset_t *set, int *number);

static int claimed;             /* 0: none */
static struct sigaction shared; /* what the program does with it */
static void (*own)(int, siginfo_t *, void *);

static int install(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    /* Nothing else is blocked: another thread, which the program may not know, would take it. */
    sigemptyset(&action.sa_mask);
    if ((shared.sa_flags & SA_SIGINFO) ||
        (shared.sa_handler != SIG_DFL && shared.sa_handler != SIG_IGN)) {
        action = shared;
        action.sa_flags = (shared.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
    }
    action.sa_sigaction = own;
    return __sigaction(claimed, &action, NULL);
}

/* From above, as programs count from below. */
int burst_claim_signal(void (*handler)(int, siginfo_t *, void *)) {
    own = handler;
    for (int number = SIGRTMAX; number > SIGRTMIN; --number) {
        if (__sigaction(number, NULL, &shared) != 0 || (shared.sa_flags & SA_SIGINFO) ||
            shared.sa_handler != SIG_DFL)
            continue;
        claimed = number;
        if (install() == 0) return number;
        claimed = 0;
    }
    return 0;
}

int burst_is_own_signal(const siginfo_t *info) {
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &claimed;
}

void *burst_signal_mark(void) { return &claimed; }

void burst_pass_signal(int number, siginfo_t *info, void *context) {
    const struct sigaction action = shared;
    if (action.sa_flags & SA_RESETHAND) shared.sa_handler = SIG_DFL, shared.sa_flags = 0;
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(number, info, context);
    } else if (action.sa_handler == SIG_DFL) {
        __sigaction(number, &action, NULL);
        raise(number); /* it ends the process as soon as the handler returns */
    } else if (action.sa_handler != SIG_IGN) {
        action.sa_handler(number);
    }
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (claimed == 0 || number != claimed) return __sigaction(number, action, before);
    const struct sigaction was = shared;
    if (action != NULL) {
        shared = *action;
        if (install() != 0) return -1;
    }
    if (before != NULL) *before = was;
    return 0;
}

handler_t signal(int number, handler_t handler) {
    if (claimed == 0 || number != claimed) return bsd_signal(number, handler);
    struct sigaction action = {.sa_flags = SA_RESTART}, before;
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Where the program blocks the signal and waits for it: not for those of ours. */
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout) {
    static int (*real)(const sigset_t *, siginfo_t *, const struct timespec *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "sigtimedwait");
    if (real == NULL) return errno = ENOSYS, -1;
    if (claimed == 0 || sigismember(set, claimed) != 1) return real(set, info, timeout);
    struct timespec left = {0};
    const int64_t begin = timeout == NULL ? 0 : now_ns();
    if (timeout != NULL) left = *timeout;
    for (;;) {
        siginfo_t found;
        const int number = real(set, &found, timeout == NULL ? NULL : &left);
        if (number != claimed || !burst_is_own_signal(&found)) {
            if (number > 0 && info != NULL) *info = found;
            return number;
        }
        if (timeout == NULL) continue;
        int64_t rest = begin + timeout->tv_sec * INT64_C(1000000000) + timeout->tv_nsec - now_ns();
        if (rest < 0) rest = 0;
        left = (struct timespec){rest / 1000000000, rest % 1000000000};
    }
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info) { return sigtimedwait(set, info, NULL); }

int sigwait(const sigset_t *set, int *number) {
    for (;;) {
        const int error = errno, found = sigtimedwait(set, NULL, NULL);
        const int why = errno;
        errno = error;
        if (found < 0 && why == EINTR) continue;
        if (found < 0) return why;
        *number = found;
        return 0;
    }
}
