/* samples.c -- Where a thread computes between two records: its call stack, so many times a second.
 *
 * A timer of each thread on its CPU clock sends it a signal. The handler takes no lock and no
 * memory, and stores nothing into a window, where a record may be half written: it walks from the
 * place that was interrupted into a ring of raw addresses, which the thread turns into records
 * before its next one. In MPI, or in the recorder, it only counts. A full ring is thinned out:
 * every second sample goes, and what is left stands for twice the time.
 */
#include "thread.h"

#include "python.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Who finds frame descriptions without a lock: glibc from 2.35 on. */
#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)

#include <ucontext.h>

#include "signals.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define RING 256u     /* samples; even */
#define DEPTH 24u     /* frames of one */
#define RULES 512u    /* a power of two */

struct sample {
    uint64_t time;
    uint32_t periods;
    uint16_t frames, is_cut;
    uintptr_t frame[DEPTH]; /* innermost first; that one is marked as executed */
};

struct burst_samples {
    struct burst_rule rules[RULES]; /* those of walk.c may be half written */
    struct sample ring[RING];
    struct burst_stacks stacks; /* deeper than those of calls, as leaves are in libraries */
    struct burst_python_copies copies;
    uint32_t count;
    uint32_t stride, passed; /* every so many signals are a sample; those since the last one */
    uint64_t periods;        /* of these */
    uint64_t in_mpi, elsewhere, own_ns;
    uint32_t signals;
    int timer;
    volatile uint8_t busy; /* the ring is being emptied */
};

static int signal_number; /* 0: none is sent */
static uintptr_t own_low, own_high;

/* As offsets from the header of the table: sorted by function, for a binary search. */
struct entry {
    int32_t function, description;
};
struct header {
    uint8_t version, pointer_encoding, count_encoding, table_encoding;
    int32_t frames;
    uint32_t count;
    struct entry entries[];
};

static const uint8_t *description_of(uintptr_t place, uintptr_t *function) {
    struct dl_find_object object;
    if (_dl_find_object((void *)place, &object) != 0) return NULL;
    const struct header *header = object.dlfo_eh_frame;
    /* version 1; 4 bytes from here; 4 bytes; 4 bytes from the header */
    if (header == NULL || header->version != 1 || header->pointer_encoding != 0x1b ||
        header->count_encoding != 0x03 || header->table_encoding != 0x3b)
        return NULL;
    const intptr_t offset = (intptr_t)(place - (uintptr_t)header);
    uint32_t low = 0, high = header->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (header->entries[middle].function <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const struct entry *entry = &header->entries[low - 1];
    *function = (uintptr_t)header + (uintptr_t)(intptr_t)entry->function;
    return (const uint8_t *)header + entry->description;
}

static const struct burst_rule *rule_of(struct burst_samples *samples, uintptr_t place) {
    struct burst_rule *rule = &samples->rules[(place ^ place >> 9) & (RULES - 1)];
    if (rule->pc == place) return rule;
    uintptr_t function = 0;
    const uint8_t *description = description_of(place, &function);
    struct burst_rule found = burst_rule_of(description, function, place);
    found.is_folded = burst_has_python() && burst_is_of_python(place);
    found.pc = 0; /* a handler of the program may jump out of ours */
    *rule = found;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    rule->pc = place;
    return rule;
}

static int take_python(struct sample *sample, struct burst_python *python, uintptr_t sp) {
    const unsigned before = sample->frames;
    while (sp > python->anchor && sample->frames < DEPTH)
        sample->frames += (uint16_t)burst_python_take(python, sample->frame + sample->frames,
                                                      DEPTH - sample->frames);
    return sample->frames > before;
}

/* The stack above a place; returns whether it ends where a thread begins. */
static int walk(const struct burst_thread *thread, const ucontext_t *context,
                struct sample *sample) {
    const greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t place = (uintptr_t)registers[REG_RIP], pc = place | BURST_MARK_EXECUTED;
    uintptr_t sp = (uintptr_t)registers[REG_RSP], bp = (uintptr_t)registers[REG_RBP];
    struct burst_python python;
    struct burst_python_copies *copies = &thread->samples->copies;
    const int is_usual = sp >= thread->stack_low && sp < thread->stack_high;
    copies->low = is_usual ? sp : UINTPTR_MAX;
    copies->high = thread->stack_high;
    copies->begin = 0;
    burst_python_begin(&python, copies);
    sample->frames = 0;
    unsigned of_c = 0;
    int is_whole = pc == 0;
    while (!is_whole) {
        if (take_python(sample, &python, sp)) of_c = 0;
        if (sample->frames == DEPTH) return 0;
        const int is_inside = sp >= thread->stack_low && sp < thread->stack_high;
        const struct burst_rule *rule = is_inside ? rule_of(thread->samples, place) : NULL;
        const int has_room = python.frame == 0 || of_c < DEPTH / 2; /* half is of Python */
        if (has_room && (rule == NULL || !rule->is_folded)) {
            sample->frame[sample->frames++] = pc;
            ++of_c;
        }
        if (rule == NULL) break; /* of a coroutine */
        is_whole = rule->cfa_from == CFA_NONE;
        if (is_whole || !burst_leave_frame(rule, thread->stack_high, &pc, &sp, &bp)) break;
        is_whole = pc == 0;
        place = pc - 1;
    }
    take_python(sample, &python, UINTPTR_MAX);
    return is_whole && python.frame == 0;
}

static void thin_out(struct burst_samples *samples) {
    for (uint32_t i = 0; i < RING / 2; ++i) {
        const uint32_t periods = samples->ring[2 * i].periods;
        samples->ring[i] = samples->ring[2 * i + 1];
        samples->ring[i].periods += periods;
    }
    samples->count = RING / 2;
    samples->stride *= 2;
}

static void take(struct burst_thread *thread, const ucontext_t *context, uint64_t now) {
    struct burst_samples *samples = thread->samples;
    if (++samples->passed < samples->stride) return;
    if (samples->count == RING) thin_out(samples);
    struct sample *sample = &samples->ring[samples->count];
    sample->time = now;
    sample->periods = samples->periods > UINT32_MAX ? UINT32_MAX : (uint32_t)samples->periods;
    sample->is_cut = !walk(thread, context, sample);
    samples->passed = 0;
    samples->periods = 0;
    ++samples->count;
    thread->has_news = 1;
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    if (!burst_is_own_signal(info)) {
        burst_pass_signal(signal, info, context);
        return;
    }
    const int error = errno;
    struct burst_thread *thread = burst_current;
    if (thread == NULL || thread->samples == NULL) return;
    struct burst_samples *samples = thread->samples;
    const uint64_t now = burst_now();
    const uint64_t periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
    const uint32_t gate = __atomic_load_n(&burst_gate, __ATOMIC_RELAXED);
    ++samples->signals;
    /* In MPI_Init, libraries that look at the machine run on each of its processors. */
    if (thread->nesting == 0 && burst_see_processor(thread)) thread->has_news = 1;
    if (thread->nesting > 0) {
        samples->in_mpi += periods;
    } else if (thread->inside || samples->busy || gate < BURST_RUNNING) {
        samples->elsewhere += periods;
    } else {
        samples->periods += periods;
        take(thread, context, now);
    }
    samples->own_ns += burst_now() - now;
    errno = error;
}

void burst_choose_sampling(void) {
    struct dl_find_object own;
    if (burst_settings.sampling_hz == 0 || burst_settings.stack_depth == 0) return;
    if (_dl_find_object((void *)(uintptr_t)on_signal, &own) != 0) return;
    own_low = (uintptr_t)own.dlfo_map_start;
    own_high = (uintptr_t)own.dlfo_map_end;
    signal_number = burst_claim_signal(on_signal);
}

void burst_start_sampling(struct burst_thread *thread) {
    if (signal_number == 0 || thread->window == NULL) return;
    struct burst_samples *samples = burst_map(sizeof *samples);
    if (samples == NULL) return;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    event.sigev_value.sival_ptr = burst_signal_mark();
    const long ns = 1000000000 / (long)burst_settings.sampling_hz;
    const struct itimerspec every = {{ns / 1000000000, ns % 1000000000},
                                     {ns / 1000000000, ns % 1000000000}};
    samples->stride = 1;
    samples->stacks.words = 2 + DEPTH;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &samples->timer) != 0) {
        static int said;
        if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
            burst_say("some threads are not sampled: %s", strerror(errno));
        burst_unmap(samples, sizeof *samples);
        return;
    }
    thread->samples = samples;
    syscall(SYS_timer_settime, samples->timer, 0, &every, NULL);
}

static int is_own(const struct sample *sample) {
    for (unsigned i = 0; i < sample->frames; ++i) {
        const uintptr_t place = sample->frame[i] & ~BURST_MARK_EXECUTED;
        if (place >= own_low && place < own_high) return 1;
    }
    return 0;
}

static void put_samples(struct burst_thread *thread, struct burst_samples *samples) {
    samples->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < samples->count; ++i) {
        const struct sample *sample = &samples->ring[i];
        if (is_own(sample)) {
            samples->elsewhere += sample->periods;
            continue;
        }
        const uint32_t stack =
            burst_stack_of(thread, &samples->stacks, sample->frame, sample->frames);
        burst_put(thread, BURST_SAMPLE, sample->is_cut, sample->time, stack, sample->periods, 0);
    }
    samples->count = 0;
    samples->stride = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    samples->busy = 0;
}

void burst_put_news(struct burst_thread *thread) {
    if (thread->inside) return;
    thread->has_news = 0;
    burst_put_processors(thread);
    if (thread->samples != NULL) put_samples(thread, thread->samples);
}

void burst_stop_sampling(struct burst_thread *thread) {
    struct burst_samples *samples = thread->samples;
    if (samples != NULL && samples->timer >= 0) {
        syscall(SYS_timer_delete, samples->timer);
        samples->timer = -1; /* the number may be another's from now on */
    }
    burst_put_news(thread);
}

void burst_tell_sampling(const struct burst_thread *thread, uint64_t now, uint64_t *record) {
    const struct burst_samples *samples = thread->samples;
    uint64_t lost = samples->elsewhere + samples->periods;
    /* Of a thread that goes on while the process ends, those of its ring are lost, too. */
    for (uint32_t i = 0; i < samples->count; ++i) lost += samples->ring[i].periods;
    const uint64_t in_mpi = samples->in_mpi > UINT32_MAX ? UINT32_MAX : samples->in_mpi;
    burst_fill(record, BURST_SAMPLING, (uint16_t)burst_settings.sampling_hz, now,
               lost > UINT32_MAX ? UINT32_MAX : (uint32_t)lost,
               (uint64_t)samples->signals << 32 | in_mpi, samples->own_ns);
}

void burst_free_samples(struct burst_thread *thread) {
    if (thread->samples != NULL) burst_stacks_free(&thread->samples->stacks);
    burst_unmap(thread->samples, sizeof *thread->samples);
    thread->samples = NULL;
}

#else

void burst_choose_sampling(void) {
    if (burst_settings.sampling_hz > 0 && burst_asked("BURSTLINE_SAMPLE") != NULL)
        burst_say("functions are not sampled: that takes an x86-64 with glibc 2.35 or later");
}

void burst_start_sampling(struct burst_thread *thread) { (void)thread; }

void burst_put_news(struct burst_thread *thread) {
    if (thread->inside) return;
    thread->has_news = 0;
    burst_put_processors(thread);
}

void burst_stop_sampling(struct burst_thread *thread) { burst_put_news(thread); }

void burst_tell_sampling(const struct burst_thread *thread, uint64_t now, uint64_t *record) {
    (void)thread, (void)now, (void)record;
}

void burst_free_samples(struct burst_thread *thread) { (void)thread; }

#endif
