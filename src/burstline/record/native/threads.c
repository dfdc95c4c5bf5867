/* threads.c -- The threads of the process: found, paused, closed, and what a fork leaves. */
#include "thread.h"

#include <errno.h>
#include <string.h>

#include "pool.h"
#include "python.h"

#define REMEMBERED_PAUSES 64
#define MOST_SPARES 64u
#define MOST_AT_ONCE 64u
#define MOST_KEPT 4096u /* definitions */

/* Set while a thread opens, and for good when it has ended. */
static __thread int unavailable __attribute__((tls_model("initial-exec")));

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_key_t end_of_thread;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct burst_thread *threads, *spares, *unused, *last_unused;
static unsigned at_once;
static unsigned spare_count;

static pthread_mutex_t pause_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t pause_begin[REMEMBERED_PAUSES], pause_end[REMEMBERED_PAUSES];
static uint32_t pauses; /* that are over */

static void list_add(struct burst_thread *thread) {
    pthread_mutex_lock(&list_lock);
    thread->next = threads;
    if (threads != NULL) threads->previous = thread;
    threads = thread;
    pthread_mutex_unlock(&list_lock);
}

static void list_remove(struct burst_thread *thread) {
    pthread_mutex_lock(&list_lock);
    if (thread->previous != NULL) thread->previous->next = thread->next;
    if (thread->previous == NULL) threads = thread->next;
    if (thread->next != NULL) thread->next->previous = thread->previous;
    pthread_mutex_unlock(&list_lock);
}

/* Memory for more threads each time: mapping and faults cost more than all else. */
static struct burst_thread *make_thread(void) {
    if (unused == last_unused) {
        const unsigned count = at_once == 0 ? 1 : at_once < MOST_AT_ONCE ? at_once * 2 : at_once;
        unused = burst_map(count * sizeof *unused);
        last_unused = unused == NULL ? NULL : unused + count;
        if (unused == NULL) return NULL;
        if (count > 1) burst_touch(unused, count * sizeof *unused);
        at_once = count;
    }
    return unused++;
}

static void free_more(struct burst_thread *thread) {
    burst_set_free(&thread->defined);
    burst_stacks_free(&thread->stacks);
    burst_walk_free(thread);
    burst_unmap(thread->tally, BURST_OPERATIONS * sizeof *thread->tally);
    thread->tally = NULL;
}

static void give_back(struct burst_thread *thread) {
    pthread_mutex_lock(&list_lock);
    if (spare_count >= MOST_SPARES) free_more(thread);
    thread->next = spares;
    spares = thread;
    ++spare_count;
    pthread_mutex_unlock(&list_lock);
}

/* Memory of a thread that ended, for one that comes. What it knows of stacks and frames holds;
 * what it defined is to be defined again. */
static void put_aside(struct burst_thread *thread) {
    pthread_mutex_destroy(&thread->lock);
    burst_free_samples(thread);
    if (thread->defined.size > MOST_KEPT) burst_set_free(&thread->defined);
    burst_set_clear(&thread->defined);
    if (thread->tally != NULL) memset(thread->tally, 0, BURST_OPERATIONS * sizeof *thread->tally);
    const struct burst_thread kept = {.generation = thread->generation + 1,
                                      .defined = thread->defined,
                                      .stacks = thread->stacks,
                                      .rules = thread->rules,
                                      .rule_count = thread->rule_count,
                                      .tally = thread->tally};
    memcpy(thread, &kept, offsetof(struct burst_thread, first_defined));
    give_back(thread);
}

static struct burst_thread *take_memory(void) {
    pthread_mutex_lock(&list_lock);
    struct burst_thread *thread = spares;
    if (thread == NULL) {
        thread = make_thread();
    } else {
        spares = thread->next;
        thread->next = NULL;
        --spare_count;
    }
    pthread_mutex_unlock(&list_lock);
    if (thread != NULL && thread->defined.size == 0) {
        memset(thread->first_defined, 0, sizeof thread->first_defined);
        thread->defined = (struct burst_set){thread->first_defined, 0, BURST_FIRST_DEFINED};
    }
    return thread;
}

static void finish(struct burst_thread *thread, int how, int detail, int own) {
    pthread_mutex_lock(&thread->lock);
    burst_finish(thread, how, detail, own);
    pthread_mutex_unlock(&thread->lock);
}

static void end_thread(void *value) {
    struct burst_thread *thread = value;
    burst_stop_sampling(thread);
    unavailable = 1;
    burst_current = NULL;
    thread->inside = 1;
    const uint64_t before = burst_now();
    burst_close_counters(thread);
    list_remove(thread);
    thread->own_ns += burst_now() - before;
    finish(thread, BURST_BY_EXIT, 0, 1);
    put_aside(thread);
}

/* The child shares the parent's window: it must never store into it. */
static void leave_to_parent(void) {
    struct burst_thread *thread = burst_current;
    burst_gate = BURST_SHUT;
    burst_settings.active = 0;
    burst_current = NULL;
    burst_leave_pool();
    if (thread == NULL) return;
    thread->closed = 1;
    thread->buffer = (struct burst_buffer){NULL, NULL};
    thread->perf_group = thread->papi_set = -1;
    pthread_setspecific(end_of_thread, NULL);
}

static void start(void) {
    burst_read_settings();
    if (burst_settings.active && (pthread_key_create(&end_of_thread, end_thread) != 0 ||
                                  pthread_atfork(NULL, NULL, leave_to_parent) != 0)) {
        burst_say("nothing is recorded: %s", strerror(errno));
        burst_settings.active = 0;
    }
    if (burst_settings.active) {
        burst_choose_counters();
        burst_find_python();
        burst_watch_signals();
        burst_choose_sampling();
    }
    __atomic_store_n(&burst_gate, burst_settings.active ? BURST_RUNNING : BURST_SHUT,
                     __ATOMIC_RELEASE);
}

static void find_stack(struct burst_thread *thread) {
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        thread->stack_low = (uintptr_t)low;
        thread->stack_high = (uintptr_t)low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

static struct burst_thread *open_thread(void) {
    const uint64_t start_ns = burst_now();
    struct burst_thread *thread = take_memory();
    if (thread != NULL && burst_settings.profile && thread->tally == NULL)
        thread->tally = burst_map(BURST_OPERATIONS * sizeof *thread->tally);
    if (thread == NULL || (burst_settings.profile && thread->tally == NULL)) {
        if (thread != NULL) give_back(thread);
        burst_miss(NULL);
        return NULL;
    }
    pthread_mutex_init(&thread->lock, NULL);
    thread->perf_group = thread->papi_set = -1;
    thread->start_ns = start_ns;
    thread->gate = __atomic_load_n(&burst_gate, __ATOMIC_ACQUIRE);
    if (!burst_settings.profile) burst_open_output(thread);
    if (burst_settings.stack_depth > 0) find_stack(thread);
    burst_open_counters(thread);
    burst_calibrate(thread);
    if (thread->window != NULL) burst_put_rank(thread);
    burst_begin_processors(thread);
    burst_put_missed(thread);
    list_add(thread);
    pthread_setspecific(end_of_thread, thread);
    burst_start_sampling(thread);
    thread->own_ns = burst_now() - start_ns;
    return thread;
}

/* Records the pauses since this thread looked last. */
static void catch_up(struct burst_thread *thread) {
    pthread_mutex_lock(&pause_lock);
    uint32_t seen = (thread->gate - BURST_RUNNING) / 2;
    if (pauses - seen > REMEMBERED_PAUSES) seen = pauses - REMEMBERED_PAUSES;
    for (; seen != pauses; ++seen) {
        const uint64_t begin = pause_begin[seen % REMEMBERED_PAUSES];
        const uint64_t last = thread->last_ns > begin ? thread->last_ns : begin;
        const uint64_t end = pause_end[seen % REMEMBERED_PAUSES];
        if (!thread->pause_open) burst_put(thread, BURST_PAUSE, 0, last, 1, 0, 0);
        thread->pause_open = 0;
        burst_put(thread, BURST_PAUSE, 0, last > end ? last : end, 0, 0, 0);
    }
    thread->gate = BURST_RUNNING + 2 * pauses;
    pthread_mutex_unlock(&pause_lock);
    burst_put_missed(thread);
}

/* All of burst_self that is not its fast path. */
static __attribute__((noinline)) struct burst_thread *find_thread(void) {
    if (unavailable) return NULL;
    const int error = errno;
    uint32_t gate = __atomic_load_n(&burst_gate, __ATOMIC_ACQUIRE);
    if (gate == BURST_UNREAD) {
        unavailable = 1;
        pthread_once(&started, start);
        unavailable = 0;
        gate = __atomic_load_n(&burst_gate, __ATOMIC_ACQUIRE);
    }
    struct burst_thread *thread = NULL;
    if (gate >= BURST_RUNNING) {
        unavailable = 1;
        if (burst_current == NULL) burst_current = open_thread();
        thread = burst_current;
        if (thread != NULL && !thread->inside && thread->gate != gate) catch_up(thread);
        if (thread != NULL && thread->inside) thread = NULL;
        unavailable = 0;
    }
    errno = error;
    return thread;
}

struct burst_thread *burst_self(void) {
    struct burst_thread *thread = burst_current;
    const uint32_t gate = __atomic_load_n(&burst_gate, __ATOMIC_RELAXED);
    if (BURST_LIKELY(thread != NULL && thread->gate == gate && !thread->inside)) return thread;
    return gate == BURST_SHUT || gate == BURST_PAUSED ? NULL : find_thread();
}

void burst_pause_all(void) {
    struct burst_thread *thread = burst_self();
    pthread_mutex_lock(&pause_lock);
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) >= BURST_RUNNING) {
        pause_begin[pauses % REMEMBERED_PAUSES] = burst_now();
        __atomic_store_n(&burst_gate, BURST_PAUSED, __ATOMIC_RELEASE);
        if (thread != NULL) {
            thread->pause_open = 1;
            burst_put(thread, BURST_PAUSE, 0, pause_begin[pauses % REMEMBERED_PAUSES], 1, 0, 0);
        }
    }
    pthread_mutex_unlock(&pause_lock);
}

void burst_resume_all(void) {
    pthread_mutex_lock(&pause_lock);
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) == BURST_PAUSED) {
        pause_end[pauses++ % REMEMBERED_PAUSES] = burst_now();
        __atomic_store_n(&burst_gate, BURST_RUNNING + 2 * pauses, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&pause_lock);
    burst_self();
}

static void put_name(struct burst_thread *thread, uint16_t of, const char *name) {
    if (name == NULL) return;
    burst_put(thread, BURST_NAME, of, 0, 0, 0, strlen(name));
    burst_put_text(thread, name, strlen(name));
}

/* For good: it records no more, and its files go. */
static void leave_out(void) {
    if (burst_current != NULL) burst_stop_sampling(burst_current);
    __atomic_store_n(&burst_gate, BURST_SHUT, __ATOMIC_RELEASE);
    burst_settings.active = 0;
    burst_remove_files();
}

int burst_set_rank(int rank, int size, int thread_level, const char *library_version) {
    struct burst_thread *thread = burst_self();
    if (!burst_wants_rank(rank)) {
        leave_out();
        return 0;
    }
    burst_know_rank(rank, size, thread_level, library_version);
    if (thread == NULL) return 1;
    burst_put_library(thread);
    burst_put_rank(thread);
    if (thread->window == NULL) return 1;
    put_name(thread, BURST_NAME_SILENT, burst_silent_openmp());
    put_name(thread, BURST_NAME_UNREAD, burst_unread_python());
    put_name(thread, BURST_NAME_RANKS, burst_wanted_ranks());
    return 1;
}

static void finish_all(int how, int detail) {
    pthread_mutex_lock(&list_lock);
    for (struct burst_thread *thread = threads; thread != NULL; thread = thread->next)
        finish(thread, how, detail, thread == burst_current);
    pthread_mutex_unlock(&list_lock);
    burst_close_pool();
}

void burst_close(int how, int detail) {
    struct burst_thread *own = burst_current;
    /* Called out of a handler that interrupted us: locks may be held, leave all as it is. */
    if (own != NULL && own->inside) return;
    if (own != NULL) burst_stop_sampling(own);
    const uint32_t gate = __atomic_exchange_n(&burst_gate, BURST_SHUT, __ATOMIC_ACQ_REL);
    if (gate == BURST_SHUT || gate == BURST_UNREAD) return;
    const int error = errno;
    if (own != NULL) own->inside = 1;
    finish_all(how, detail);
    const unsigned long long dropped = burst_dropped_in_all();
    if (dropped > 0) burst_say("%llu %s dropped", dropped, dropped == 1 ? "record was" : "records were");
    burst_check_work();
    if (own != NULL) own->inside = 0;
    errno = error;
}

/* Later than all atexit handlers of the program. */
__attribute__((destructor)) static void close_at_exit(void) { burst_close(BURST_BY_EXIT, 0); }
