/* threads.c -- The threads of the process: found, listed, paused, ended, and what a fork leaves. */
#include "thread.h"

#include <errno.h>
#include <string.h>

#define REMEMBERED_PAUSES 64

uint32_t burst_gate = BURST_UNREAD;
__thread struct burst_thread *burst_current __attribute__((tls_model("initial-exec")));
/* Set while a thread opens, and for good when it has ended. */
static __thread int unavailable __attribute__((tls_model("initial-exec")));

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_key_t end_of_thread;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct burst_thread *threads;

static struct {
    int known, rank, size, level;
} world;
char burst_library[256];

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

void burst_each_thread(void (*what)(struct burst_thread *, void *), void *with) {
    pthread_mutex_lock(&list_lock);
    for (struct burst_thread *thread = threads; thread; thread = thread->next) what(thread, with);
    pthread_mutex_unlock(&list_lock);
}

static void free_thread(struct burst_thread *thread) {
    burst_set_free(&thread->defined);
    burst_stacks_free(thread);
    burst_walk_free(thread);
    burst_unmap(thread->tally, BURST_OPERATIONS * sizeof *thread->tally);
    pthread_mutex_destroy(&thread->lock);
    burst_unmap(thread, sizeof *thread);
}

static void end_thread(void *value) {
    struct burst_thread *thread = value;
    unavailable = 1;
    burst_current = NULL;
    thread->inside = 1;
    burst_close_counters(thread);
    list_remove(thread);
    if (__atomic_load_n(&burst_gate, __ATOMIC_RELAXED) != BURST_SHUT) {
        pthread_mutex_lock(&thread->lock);
        burst_finish(thread, 2, 0, 1);
        pthread_mutex_unlock(&thread->lock);
    }
    free_thread(thread);
}

/* The child shares the parent's window: it must never store into them. */
static void leave_to_parent(void) {
    struct burst_thread *thread = burst_current;
    burst_gate = BURST_SHUT;
    burst_settings.active = 0;
    burst_current = NULL;
    if (thread == NULL) return;
    thread->closed = 1;
    thread->at = thread->end = NULL;
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
        burst_watch_signals();
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

int burst_known_rank(int *rank, int *size, int *thread_level) {
    if (!__atomic_load_n(&world.known, __ATOMIC_ACQUIRE)) return 0;
    *rank = world.rank;
    *size = world.size;
    *thread_level = world.level;
    return 1;
}

void burst_put_rank(struct burst_thread *thread) {
    int rank, size, level;
    if (!burst_known_rank(&rank, &size, &level)) return;
    burst_put(thread, BURST_RANK, 0, 0, (uint32_t)rank, (uint64_t)size, (uint64_t)level);
}

static struct burst_thread *open_thread(void) {
    struct burst_thread *thread = burst_map(sizeof *thread);
    if (thread == NULL) return NULL;
    pthread_mutex_init(&thread->lock, NULL);
    thread->perf_group = thread->papi_set = -1;
    thread->gate = __atomic_load_n(&burst_gate, __ATOMIC_ACQUIRE);
    if (burst_settings.profile) {
        thread->tally = burst_map(BURST_OPERATIONS * sizeof *thread->tally);
    } else {
        burst_open_output(thread);
    }
    if (burst_settings.stack_depth > 0) find_stack(thread);
    burst_open_counters(thread);
    burst_calibrate(thread);
    if (thread->window != NULL) burst_put_rank(thread);
    list_add(thread);
    pthread_setspecific(end_of_thread, thread);
    return thread;
}

/* Writes the pauses this thread has slept through. */
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
}

/* All of burst_self that is not its fast path. */
struct burst_thread *burst_find_thread(void) {
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

void burst_set_rank(int rank, int size, int thread_level, const char *library_version) {
    struct burst_thread *thread = burst_self();
    const size_t bytes = library_version == NULL ? 0 : strcspn(library_version, "\n");
    memset(burst_library, 0, sizeof burst_library);
    if (bytes > 0) memcpy(burst_library, library_version, bytes < 256 ? bytes : 255);
    world.rank = rank;
    world.size = size;
    world.level = thread_level;
    __atomic_store_n(&world.known, 1, __ATOMIC_RELEASE);
    if (thread == NULL) return;
    burst_put_library(thread);
    burst_put_rank(thread);
}
