/* thread.h -- What the files of the runtime share: the state of a thread, and which file does what.
 *
 * Only the owner writes what stands before `lock`, `closed` apart. `lock` guards the output
 * (window, closed) against the thread that closes all files at the end of the process.
 * Files stand here from the lowest layer to the highest, see runtime.h.
 */
#ifndef BURSTLINE_THREAD_H
#define BURSTLINE_THREAD_H

#include "runtime.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "put.h"
#include "rules.h"

#define BURST_RESERVE 6 /* records kept free in a window for the gap and the end */
#define BURST_MAX_DEPTH 64
#define BURST_MOST_REGIONS 4096u /* a power of two; more names are not recorded */
#define BURST_MAX_COUNTERS 32
#define BURST_MOST_PROCESSORS 1024 /* on which a thread is seen */
#define BURST_FIRST_DEFINED 64u
#define BURST_FIRST_RULES 128u

/* What burst_gate says: one comparison tells a thread whether it may record. */
enum { BURST_SHUT = 0, BURST_UNREAD = 1, BURST_PAUSED = 2, BURST_RUNNING = 4 /* and more */ };

struct burst_set { /* of 64-bit keys other than 0 */
    uint64_t *slots;
    uint32_t used, size;
};

struct burst_stacks { /* open addressing; see stack.c */
    uint64_t *slots;
    uint32_t used, size, words; /* of a slot */
};

struct burst_tally {
    uint64_t count, ns;
};

struct burst_window;  /* see pool.h */
struct burst_samples; /* see samples.c */

struct burst_thread {
    struct burst_buffer buffer; /* in the window; full as long as there is no window */
    uint32_t gate; /* equals burst_gate: nothing happened since this thread looked */
    uint32_t nesting;
    volatile uint8_t inside; /* the runtime is at work here; signal handlers keep out */
    uint8_t closed, counters_defined, pause_open;
    volatile uint8_t has_news; /* samples or processors are to be put before the next record */
    uint32_t generation; /* of definitions: grows when some may have been dropped */
    uint64_t calls, functions, last_ns; /* functions: their borders */

    pthread_mutex_t lock;
    struct burst_window *window;
    uint64_t stored; /* records in windows before */
    uint64_t start_ns, own_ns; /* seen first; what its beginning and end took */
    uint32_t number;
    uint64_t dropped, dropped_since_ns, retry_ns;

    struct burst_set defined;
    struct burst_stacks stacks;
    struct burst_rule *rules;
    uint32_t rule_count, rules_replaced;
    uintptr_t stack_low, stack_high;
    struct burst_samples *samples; /* NULL: none are taken */
    uint64_t seen[BURST_MOST_PROCESSORS / 64], told[BURST_MOST_PROCESSORS / 64]; /* bits */
    uint64_t allowed_sum, asked_ns; /* of the processors that it may use */

    int perf_group, papi_set; /* -1: none */
    int perf_files[BURST_MAX_COUNTERS];
    struct burst_tally *tally; /* profile mode only */
    uint64_t entered_ns;

    struct burst_thread *next, *previous;

    /* What most threads do with. */
    _Alignas(64) uint64_t first_defined[BURST_FIRST_DEFINED];
    uint64_t first_stacks[320]; /* 32 of 8 frames */
    struct burst_rule first_rules[BURST_FIRST_RULES];
};

/* settings.c */
extern char burst_folder[PATH_MAX];
extern char burst_counter_names[1024];
void burst_read_settings(void);
const char *burst_asked(const char *name); /* a variable of the environment; NULL: it is empty */
void burst_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Generated from the table of calls, and not there without the wrappers. NULL for numbers that are
 * none. */
const char *burst_operation_name(uint16_t op) __attribute__((weak));

int burst_wants_function(const char *linked, const char *readable);
int burst_filters_functions(void);

/* symbols.c: not for two threads at a time. 1: it has a name, as the linker and as people know it */
#define BURST_LONGEST_SYMBOL 1024
int burst_symbol(const char *path, uintptr_t offset, char *linked, char *readable);

/* process.c */
extern uint32_t burst_gate;
extern __thread struct burst_thread *burst_current __attribute__((tls_model("initial-exec")));
extern char burst_library[256]; /* first line of MPI's version */
void burst_know_rank(int rank, int size, int thread_level, const char *library_version);
int burst_known_rank(int *rank, int *size, int *thread_level); /* 0: not yet */
void burst_read_program(char *path, size_t bytes);

/* memory.c: straight from the kernel, because malloc may be the program's own. */
void *burst_map(size_t bytes);
void burst_unmap(void *memory, size_t bytes);
void burst_touch(void *memory, size_t bytes); /* before use: fewer faults */
const void *burst_map_file(const char *path, size_t *bytes); /* NULL: it is not there, or empty */
int burst_set_add(struct burst_set *set, uint64_t key); /* 1: was there already */
void burst_set_clear(struct burst_set *set);
void burst_set_free(struct burst_set *set);

/* library.c */
int burst_is_of_library(uintptr_t address); /* nothing is, before it was found */

/* output.c, with burst_put, burst_put_text, burst_is_defined and burst_miss */
int burst_open_output(struct burst_thread *thread);
void burst_put_library(struct burst_thread *thread);
void burst_put_rank(struct burst_thread *thread);
void burst_put_missed(struct burst_thread *thread); /* a gap, if anything was missed */
uint64_t burst_all_dropped(const struct burst_thread *thread, uint64_t *since); /* at its end */
uint64_t burst_dropped_in_all(void);
void burst_recover(struct burst_thread *thread); /* before anything that needs definitions */
void burst_close_output(struct burst_thread *thread, const uint64_t *last, unsigned records,
                        int own);
/* The first of the records is left to it. */
void burst_write_whole(struct burst_thread *thread, uint64_t *records, unsigned count);

/* profile.c */
void burst_write_profile(struct burst_thread *thread, const uint64_t *last, unsigned records);

/* perf.c, papi.c, counters.c */
int burst_perf_choose(const char *name);
void burst_perf_open(struct burst_thread *thread);
void burst_perf_close(struct burst_thread *thread);
unsigned burst_perf_read(struct burst_thread *thread, uint64_t *values);
int burst_papi_choose(const char *name);
void burst_papi_open(struct burst_thread *thread);
void burst_papi_close(struct burst_thread *thread);
unsigned burst_papi_read(struct burst_thread *thread, uint64_t *values);
unsigned burst_counter_count(void);
void burst_choose_counters(void);
void burst_check_work(void);
void burst_open_counters(struct burst_thread *thread);
void burst_close_counters(struct burst_thread *thread);
void burst_read_counters(struct burst_thread *thread, uint64_t *values);
void burst_define_counters(struct burst_thread *thread);
unsigned burst_read_work(uint64_t *values); /* the number of the first of these, the last counters */
void burst_put_counters(struct burst_thread *thread, unsigned first, const uint64_t *values);

/* walk.c, modules.c, stack.c. Marked is what was executed, all else are return addresses. */
#define BURST_MARK_EXECUTED (UINT64_C(1) << 63)
unsigned burst_walk(struct burst_thread *thread, uintptr_t from, uintptr_t *frames, unsigned depth);
void burst_walk_free(struct burst_thread *thread);
uint64_t burst_place(struct burst_thread *thread, uintptr_t address); /* module << 48 | offset */
const char *burst_module_path(uint64_t place); /* NULL: none is known */
uint32_t burst_stack_id(struct burst_thread *thread, uintptr_t from);
uint32_t burst_stack_of(struct burst_thread *thread, struct burst_stacks *stacks,
                        const uintptr_t *frames, unsigned count);
void burst_stacks_free(struct burst_stacks *stacks);

/* processors.c */
void burst_begin_processors(struct burst_thread *thread);
int burst_see_processor(struct burst_thread *thread); /* in a handler, too; 1: it is new */
void burst_put_processors(struct burst_thread *thread);

/* samples.c */
void burst_choose_sampling(void);
void burst_start_sampling(struct burst_thread *thread);
void burst_put_news(struct burst_thread *thread); /* samples and processors since the last record */
/* By the thread itself, before its last records. */
void burst_stop_sampling(struct burst_thread *thread);
void burst_tell_sampling(const struct burst_thread *thread, uint64_t now, uint64_t *record);
void burst_free_samples(struct burst_thread *thread);

/* runtime.c, with burst_enter, burst_leave and burst_put_moment */
void burst_calibrate(struct burst_thread *thread);
uint64_t burst_overhead_ns(void); /* of recording a call */
uint32_t burst_reading_ns(void);  /* of it, to read counters */
uint64_t burst_border_ns(void);   /* of recording the border of a function */

/* leaving.c */
void burst_finish(struct burst_thread *thread, int how, int detail, int own);
void burst_watch_signals(void);

/* threads.c, with burst_self, burst_set_rank and burst_close */
void burst_pause_all(void);
void burst_resume_all(void);

#endif
