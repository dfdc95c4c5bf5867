/* counters.c -- Which counters there are, their numbers, and their readings.
 *
 * Numbers go by source: thread CPU time, perf events, PAPI events, work counters; within a
 * source in the order asked for. What is not to be had is said once and left out.
 */
#include "thread.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum source { CPU, PERF, PAPI, WORK, SOURCES };

struct counter {
    char name[64];
    uint8_t place; /* work: in burst_work */
    uint8_t is_time;
};

static const char *const work_names[] = {
    [BURST_WORK_BB] = "IR_BB",           [BURST_WORK_TOT_INS] = "IR_TOT_INS",
    [BURST_WORK_LD_INS] = "IR_LD_INS",   [BURST_WORK_SR_INS] = "IR_SR_INS",
    [BURST_WORK_BR_INS] = "IR_BR_INS",   [BURST_WORK_FP_INS] = "IR_FP_INS",
    [BURST_WORK_FP_SP] = "IR_SP_OPS",    [BURST_WORK_FP_DP] = "IR_DP_OPS",
    [BURST_WORK_VEC_INS] = "IR_VEC_INS", [BURST_WORK_VEC_SP] = "IR_VEC_SP",
    [BURST_WORK_VEC_DP] = "IR_VEC_DP",   [BURST_WORK_CALLS] = "IR_CALLS",
    [BURST_WORK_LOOP_ITER] = "IR_LOOP_ITER",
    [BURST_WORK_CALLS_MATH] = "IR_CALLS_MATH",
    [BURST_WORK_CALLS_MEM] = "IR_CALLS_MEM",
    [BURST_WORK_CALLS_OTHER] = "IR_CALLS_OTHER"};
#define WORK_NAMES (sizeof work_names / sizeof *work_names)

static struct counter counters[SOURCES][BURST_MAX_COUNTERS];
static unsigned counts[SOURCES], total;

unsigned burst_counter_count(void) { return total; }

static void add(enum source source, const char *name, unsigned place, int is_time) {
    for (unsigned i = 0; i < counts[source]; ++i) {
        if (strcmp(counters[source][i].name, name) == 0) return;
    }
    if (total == BURST_MAX_COUNTERS) {
        burst_say("more than %d counters; %.60s is left out", BURST_MAX_COUNTERS, name);
        return;
    }
    struct counter *counter = &counters[source][counts[source]++];
    snprintf(counter->name, sizeof counter->name, "%s", name);
    counter->place = (uint8_t)place;
    counter->is_time = (uint8_t)is_time;
    ++total;
}

static int is_uncounted(unsigned place) {
    const uint32_t uncounted = __atomic_load_n(&burst_uncounted, __ATOMIC_RELAXED);
    const uint32_t calls = 7u << BURST_WORK_CALLS_MATH;
    return (uncounted & (place == BURST_WORK_CALLS ? calls : 1u << place)) != 0;
}

static int is_of_clocks(unsigned place) {
    return place == BURST_WORK_BB || place == BURST_WORK_TOT_INS || place == BURST_WORK_LOOP_ITER;
}

/* Only what everything that counts keeps: of the rest the missing part is unknown. */
static void add_work(const char *name) {
    const int all = strcmp(name, "work") == 0, clocks = strcmp(name, "clocks") == 0;
    const char *missing = NULL;
    int known = 0, kept = 0;
    for (unsigned i = 0; i < WORK_NAMES; ++i) {
        if (!all && !(clocks && is_of_clocks(i)) && strcmp(name, work_names[i]) != 0) continue;
        known = 1;
        if (is_uncounted(i)) {
            missing = work_names[i];
            continue;
        }
        add(WORK, work_names[i], i, 0);
        kept = 1;
    }
    if (!known) burst_say("no work counter is called %.60s", name);
    if (missing != NULL && (!kept || clocks)) {
        burst_say("no %.60s: not everything was built to count it (burstline cc --count)",
                  kept ? missing : name);
    }
}

/* A library that came when all was chosen already. */
void burst_check_work(void) {
    for (unsigned i = 0; i < counts[WORK]; ++i) {
        const struct counter *counter = &counters[WORK][i];
        if (is_uncounted(counter->place)) {
            burst_say("%s is too low: a library that was loaded late does not count it",
                      counter->name);
        }
    }
}

static void choose(const char *name) {
    if (strcmp(name, "cpu") == 0) {
        add(CPU, name, 0, 1);
    } else if (strncmp(name, "perf:", 5) == 0) {
        const int is_time = strstr(name, "-clock") != NULL;
        if (total < BURST_MAX_COUNTERS && burst_perf_choose(name + 5)) add(PERF, name, 0, is_time);
    } else if (strncmp(name, "PAPI_", 5) == 0 || strncmp(name, "papi:", 5) == 0) {
        name += *name == 'p' ? 5 : 0; /* papi: stands before PAPI's native events */
        if (total < BURST_MAX_COUNTERS && burst_papi_choose(name)) add(PAPI, name, 0, 0);
    } else if (strcmp(name, "work") == 0 || strcmp(name, "clocks") == 0 ||
               strncmp(name, "IR_", 3) == 0) {
        if ((__atomic_load_n(&burst_compiled, __ATOMIC_RELAXED) & BURST_COUNTS) == 0) {
            burst_say("no %.60s: the program was not built with work counters", name);
        } else {
            add_work(name);
        }
    } else if (strcmp(name, "none") != 0) {
        burst_say(
            "no counter %.60s: known are cpu, perf:NAME, PAPI_NAME, papi:NAME, work, clocks, "
            "IR_NAME, none",
            name);
    }
}

void burst_choose_counters(void) {
    char *state = NULL;
    for (char *name = strtok_r(burst_counter_names, ", ", &state); name != NULL;
         name = strtok_r(NULL, ", ", &state)) {
        choose(name);
    }
}

void burst_open_counters(struct burst_thread *thread) {
    if (counts[PERF] > 0) burst_perf_open(thread);
    if (counts[PAPI] > 0) burst_papi_open(thread);
}

/* One value more than there are counters is set: records hold pairs. */
void burst_read_counters(struct burst_thread *thread, uint64_t *values) {
    if (counts[CPU] > 0) *values++ = burst_clock(CLOCK_THREAD_CPUTIME_ID);
    if (counts[PERF] > 0) values += burst_perf_read(thread, values);
    if (counts[PAPI] > 0) values += burst_papi_read(thread, values);
    (void)burst_read_work(values);
}

static uint64_t work_at(unsigned place) {
    if (place != BURST_WORK_CALLS) return burst_work[place];
    return burst_work[BURST_WORK_CALLS_MATH] + burst_work[BURST_WORK_CALLS_MEM] +
           burst_work[BURST_WORK_CALLS_OTHER];
}

unsigned burst_read_work(uint64_t *values) {
    for (unsigned i = 0; i < counts[WORK]; ++i) values[i] = work_at(counters[WORK][i].place);
    values[counts[WORK]] = 0;
    return total - counts[WORK];
}

static void define_compilers(struct burst_thread *thread) {
    uint32_t number = 0;
    for (const char *line = burst_made_by; *line != '\0'; ++line) {
        const size_t bytes = strcspn(line, "\n");
        burst_put(thread, BURST_NAME, BURST_NAME_COMPILER, 0, number++, 0, bytes);
        burst_put_text(thread, line, bytes);
        line += bytes;
        if (*line == '\0') break;
    }
}

static void define(struct burst_thread *thread) {
    uint32_t number = 0;
    for (unsigned source = 0; source < SOURCES; ++source) {
        for (unsigned i = 0; i < counts[source]; ++i) {
            const struct counter *counter = &counters[source][i];
            const size_t bytes = strlen(counter->name);
            burst_put(thread, BURST_COUNTER, counter->is_time, 0, number++, 0, bytes);
            burst_put_text(thread, counter->name, bytes);
        }
    }
    if (counts[WORK] > 0) define_compilers(thread);
}

void burst_put_counters(struct burst_thread *thread, unsigned first, const uint64_t *values) {
    for (uint32_t i = first; i < total; i += 2, values += 2) {
        burst_put(thread, BURST_COUNTERS, 0, 0, i, values[0], values[1]);
    }
}

void burst_define_counters(struct burst_thread *thread) {
    if (thread->counters_defined || total == 0) return;
    thread->counters_defined = 1;
    define(thread);
}

void burst_close_counters(struct burst_thread *thread) {
    if (counts[PERF] > 0) burst_perf_close(thread);
    if (counts[PAPI] > 0) burst_papi_close(thread);
}
