/* leaving.c -- How a process ends: in order, by MPI_Abort, or by a signal.
 *
 * A signal handler stores one record, if it can do so without asking anybody, and hands over to
 * whoever was there before: files are complete as they are, the kernel owns their pages.
 */
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const int watched[] = {SIGTERM, SIGINT, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
static struct sigaction former[sizeof watched / sizeof *watched];

static unsigned fill(uint64_t *record, uint16_t kind, uint16_t op, uint64_t time, uint32_t a,
                     uint64_t b, uint64_t c) {
    record[0] = time;
    record[1] = (uint64_t)a << 32 | (uint64_t)op << 16 | kind;
    record[2] = b;
    record[3] = c;
    return 1;
}

/* The last records of a thread; its lock is held. */
void burst_finish(struct burst_thread *thread, int how, int detail, int own) {
    uint64_t last[3][BURST_WORDS];
    unsigned records = 0;
    if (thread->closed) return;
    const uint64_t now = burst_now();
    const uint64_t calls = __atomic_load_n(&thread->calls, __ATOMIC_RELAXED);
    const uint64_t dropped = __atomic_load_n(&thread->dropped, __ATOMIC_RELAXED);
    if (dropped > 0) {
        records += fill(last[records], BURST_GAP, 0, now, 0, thread->dropped_since_ns, dropped);
    }
    records += fill(last[records], BURST_OVERHEAD, 0, now, 0, burst_overhead_ns(), calls);
    records += fill(last[records], BURST_LEFT, (uint16_t)how, now, (uint32_t)detail, 0, 0);
    if (burst_settings.profile) {
        burst_write_profile(thread, last[0], records);
    } else {
        burst_close_output(thread, last[0], records, own);
    }
}

struct ending {
    int how, detail;
    struct burst_thread *own;
};

static void finish_one(struct burst_thread *thread, void *with) {
    const struct ending *ending = with;
    pthread_mutex_lock(&thread->lock);
    burst_finish(thread, ending->how, ending->detail, thread == ending->own);
    pthread_mutex_unlock(&thread->lock);
}

void burst_close(int how, int detail) {
    struct ending ending = {how, detail, burst_current};
    /* Called out of a handler that interrupted us: locks may be held, leave all as it is. */
    if (ending.own != NULL && ending.own->inside) return;
    const uint32_t gate = __atomic_exchange_n(&burst_gate, BURST_SHUT, __ATOMIC_ACQ_REL);
    if (gate == BURST_SHUT || gate == BURST_UNREAD) return;
    const int error = errno;
    if (ending.own != NULL) ending.own->inside = 1;
    burst_each_thread(finish_one, &ending);
    const unsigned long long dropped = burst_dropped_in_all();
    if (dropped > 0) burst_say("%llu records were dropped", dropped);
    burst_check_work();
    if (ending.own != NULL) ending.own->inside = 0;
    errno = error;
}

/* Later than all atexit handlers of the program. */
__attribute__((destructor)) static void close_at_exit(void) { burst_close(2, 0); }

static void note_signal(int signal) {
    struct burst_thread *thread = burst_current;
    if (thread == NULL || thread->inside || thread->at == thread->end) return;
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) < BURST_RUNNING) return;
    burst_put(thread, BURST_LEFT, 4, burst_now(), (uint32_t)signal, 0, 0);
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
