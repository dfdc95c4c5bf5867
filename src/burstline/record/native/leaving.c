/* leaving.c -- How the records of a thread end: in order, by MPI_Abort, or by a signal.
 *
 * A signal handler stores one record, for which a window has room, and hands over to the handler
 * that was there before: the window needs no writing, the kernel owns its pages.
 */
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const int watched[] = {SIGTERM, SIGINT, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
static struct sigaction former[sizeof watched / sizeof *watched];

/* The last records of a thread; its lock is held. */
void burst_finish(struct burst_thread *thread, int how, int detail, int own) {
    uint64_t last[BURST_RESERVE][BURST_WORDS];
    unsigned records = 0;
    if (thread->closed) return;
    const uint64_t now = burst_now();
    const uint64_t calls = __atomic_load_n(&thread->calls, __ATOMIC_RELAXED);
    uint64_t since = 0;
    const uint64_t dropped = burst_all_dropped(thread, &since);
    if (dropped > 0) burst_fill(last[records++], BURST_GAP, 0, now, 0, since, dropped);
    burst_fill(last[records++], BURST_OVERHEAD, 0, now, burst_reading_ns(),
               burst_overhead_ns(), calls);
    const uint64_t functions = __atomic_load_n(&thread->functions, __ATOMIC_RELAXED);
    if (functions > 0)
        burst_fill(last[records++], BURST_OVERHEAD, 1, now, 0, burst_border_ns(), functions);
    burst_fill(last[records++], BURST_OVERHEAD, 2, now, 0, thread->own_ns, 1);
    if (thread->samples != NULL) burst_tell_sampling(thread, now, last[records++]);
    burst_fill(last[records++], BURST_LEFT, (uint16_t)how, now, (uint32_t)detail, 0, 0);
    if (burst_settings.profile) {
        burst_write_profile(thread, last[0], records);
    } else {
        burst_close_output(thread, last[0], records, own);
    }
}

static void note_signal(int signal) {
    struct burst_thread *thread = burst_current;
    if (thread == NULL || thread->inside) return;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) < BURST_RUNNING) return;
    const uint64_t now = burst_now();
    const uint16_t how = BURST_BY_SIGNAL;
    if (burst_store(&thread->buffer, BURST_LEFT, how, now, (uint32_t)signal, 0, 0)) return;
    /* The reserve; who goes on stores over it. */
    if (thread->window != NULL)
        burst_fill(thread->buffer.at, BURST_LEFT, how, now, (uint32_t)signal, 0, 0);
}

/* Nobody was there before: die as if we had not been here either. */
static void die(int signal, const siginfo_t *info) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, &standard, NULL);
    /* The fault of an instruction comes again when it is executed again. */
    const int again = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
    if (!again || info == NULL || info->si_code <= 0) raise(signal);
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    const int error = errno;
    note_signal(signal);
    for (unsigned i = 0; i < sizeof watched / sizeof *watched; ++i) {
        if (watched[i] != signal) continue;
        if (former[i].sa_flags & SA_SIGINFO) {
            former[i].sa_sigaction(signal, info, context);
        } else if (former[i].sa_handler == SIG_DFL) {
            die(signal, info);
        } else if (former[i].sa_handler != SIG_IGN) {
            former[i].sa_handler(signal);
        }
    }
    errno = error;
}

void burst_watch_signals(void) {
    for (unsigned i = 0; i < sizeof watched / sizeof *watched; ++i) {
        if (sigaction(watched[i], NULL, &former[i]) != 0) continue;
        if (!(former[i].sa_flags & SA_SIGINFO) && former[i].sa_handler == SIG_IGN) continue;
        struct sigaction ours = former[i];
        ours.sa_flags = (former[i].sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
        ours.sa_sigaction = on_signal;
        sigaction(watched[i], &ours, NULL);
    }
}
