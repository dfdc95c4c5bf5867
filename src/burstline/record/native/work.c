/* work.c -- What compile-time instrumentation adds to a program: its counters, its loops.
 *
 * Linked into every program and shared library that `burstline cc` and `burstline c++` link, and
 * into the recorder. The dynamic linker lets all use the first definition: the program's, else the
 * recorder's, which even libraries find that were loaded for themselves alone. Without a recorder
 * the weak functions are absent, and loops are only kept track of.
 */
#include "runtime.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WEAK __attribute__((weak))
#define SHARED __attribute__((weak, visibility("default")))
#define MOST_LOOPS 64u /* nested; those inside are not labelled */

extern WEAK struct burst_thread *burst_self(void);
extern WEAK uint64_t burst_now(void);
extern WEAK void burst_put(struct burst_thread *, uint16_t, uint16_t, uint64_t, uint32_t, uint64_t,
                           uint64_t);
extern WEAK void burst_put_moment(struct burst_thread *, enum burst_readings, uint16_t, uint16_t,
                                  uint32_t, uint64_t, uint64_t);
extern WEAK void burst_put_text(struct burst_thread *, const char *, size_t);
extern WEAK void burst_miss(struct burst_thread *);
extern WEAK int burst_is_defined(struct burst_thread *, uint16_t, uint32_t);
extern WEAK int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle __attribute__((visibility("hidden")));

SHARED __thread uint64_t burst_work[BURST_WORK_COUNTERS];
SHARED __thread uint32_t burst_label;
SHARED uint32_t burst_uncounted;
SHARED char burst_made_by[BURST_MADE_BY_BYTES];
#ifdef BURST_OF_PROGRAM
SHARED int burst_compiled = BURST_COUNTS;
SHARED const char link_with_burstline_cc = 0; /* what linkers miss tells users what to do */

/* One of each object file that counts: the counters it keeps, a bit each, and who made it. */
struct made {
    uint32_t counted;
    char by[124];
};
extern const struct made __start_burst_made[] WEAK __attribute__((visibility("hidden")));
extern const struct made __stop_burst_made[] WEAK __attribute__((visibility("hidden")));

static void add_compiler(const char *by) {
    const size_t used = strnlen(burst_made_by, sizeof burst_made_by), bytes = strlen(by);
    for (const char *line = burst_made_by; *line != '\0'; line += strcspn(line, "\n") + 1)
        if (strncmp(line, by, bytes) == 0 && line[bytes] == '\n') return;
    if (bytes == 0 || used + bytes + 2 > sizeof burst_made_by) return;
    memcpy(burst_made_by + used, by, bytes);
    burst_made_by[used + bytes] = '\n';
}

/* Before constructors of the program, which might call MPI. In a library that is loaded later,
 * what is shared is somebody else's. */
__attribute__((constructor(101))) static void count_too(void) {
    __atomic_fetch_or(&burst_compiled, BURST_COUNTS, __ATOMIC_RELAXED);
    for (const struct made *one = __start_burst_made; one != __stop_burst_made; ++one) {
        __atomic_fetch_or(&burst_uncounted, ~one->counted, __ATOMIC_RELAXED);
        add_compiler(one->by);
    }
}
#else
SHARED int burst_compiled;
#endif

struct loop {
    uint64_t iterations;
    uint32_t id;
    uint8_t recorded; /* the iteration around it is, so its own events are */
    uint8_t inside;   /* this iteration is recorded, so what is inside may be */
};

/* Allocated: a library that is loaded later has little room for what is thread-local. */
static __thread struct loop *loops;
static __thread uint32_t depth;
static __thread uint64_t random_state;

/* Iterations that OpenMP's static schedule gave this thread: chunks of upper - lower + 1, one each
 * `stride`, none beyond `last`. */
SHARED void burst_loop_static(int32_t schedule, int64_t lower, int64_t upper, int64_t stride,
                            int64_t last) {
    enum { DISTRIBUTE_CHUNKED = 91, DISTRIBUTE = 92, KIND = 0xffff };
    int32_t kind = schedule & KIND;
    if (kind == DISTRIBUTE || kind == DISTRIBUTE_CHUNKED || lower > last || upper < lower) return;
    uint64_t chunk = (uint64_t)upper - (uint64_t)lower + 1;
    uint64_t span = (uint64_t)last - (uint64_t)lower;
    uint64_t whole = stride > 0 ? span / (uint64_t)stride : 0;
    uint64_t rest = span - whole * (uint64_t)stride + 1;
    burst_work[BURST_WORK_LOOP_ITER] += whole * chunk + (rest < chunk ? rest : chunk);
}

/* A chunk that OpenMP's dynamic schedules gave this thread. */
SHARED void burst_loop_chunk(int32_t given, int64_t lower, int64_t upper) {
    if (given && upper >= lower)
        burst_work[BURST_WORK_LOOP_ITER] += (uint64_t)upper - (uint64_t)lower + 1;
}

/* A share of 2^32 of all iterations; everything unless BURSTLINE_LOOP_SAMPLING says less. */
static uint64_t share(void) {
    static const double all = 4294967296.0;
    static uint64_t kept;
    uint64_t known = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    if (known != 0) return known - 1;
    const char *said = getenv("BURSTLINE_LOOP_SAMPLING");
    char *end = NULL;
    double part = said == NULL ? 1.0 : strtod(said, &end);
    if (end == said || !(part >= 0.0 && part <= 1.0)) part = 1.0;
    known = (uint64_t)(part * all);
    __atomic_store_n(&kept, known + 1, __ATOMIC_RELAXED);
    return known;
}

/* The same choices in every run: each thread's generator starts at the same place. */
static int chosen(void) {
    uint64_t mixed = random_state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((mixed ^ (mixed >> 31)) >> 32) < share();
}

static void put(uint16_t kind, uint32_t id, uint64_t value) {
    struct burst_thread *thread = burst_self == NULL ? NULL : burst_self();
    if (thread != NULL) burst_put(thread, kind, 0, burst_now(), id, value, 0);
}

/* With what was counted up to there; not at iterations, of which there are many. */
static void put_border(uint16_t kind, uint32_t id, uint64_t value) {
    struct burst_thread *thread = burst_self == NULL ? NULL : burst_self();
    if (burst_put_moment == NULL) {
        put(kind, id, value); /* a recorder of before */
    } else if (thread != NULL) {
        burst_put_moment(thread, BURST_WORK_ONLY, kind, 0, id, value, 0);
    }
}

static void define(uint32_t id, const char *file, uint32_t line) {
    struct burst_thread *thread = burst_self == NULL ? NULL : burst_self();
    /* Regions have small numbers, loops a hash: one space serves both. */
    if (thread == NULL || burst_is_defined(thread, BURST_NAME, id)) return;
    size_t bytes = strnlen(file, 255);
    burst_put(thread, BURST_NAME, BURST_NAME_LOOP, 0, id, line, bytes);
    burst_put_text(thread, file, bytes);
}

/* Ends loops that were left without a word, by an exception or a jump. */
static void cut(uint32_t to) {
    depth = to;
    burst_label = to == 0 || to > MOST_LOOPS || loops == NULL ? 0 : loops[to - 1].id;
}

static void forget_loops(void *memory) {
    loops = NULL;
    munmap(memory, MOST_LOOPS * sizeof *loops);
}

/* Straight from the kernel, because malloc may be the program's own and hold labelled loops. */
static int has_room(void) {
    if (loops != NULL) return 1;
    void *room = mmap(NULL, MOST_LOOPS * sizeof *loops, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return 0;
    loops = room;
    if (__cxa_thread_atexit_impl) __cxa_thread_atexit_impl(forget_loops, room, &__dso_handle);
    return 1;
}

/* Called when a program or library is loaded in which loops are labelled. */
SHARED void burst_loop_labels(void) {
    __atomic_fetch_or(&burst_compiled, BURST_LABELS, __ATOMIC_RELAXED);
}

/* Returns the loop's place, which the other two take. */
SHARED uint32_t burst_loop_enter(uint32_t id, const char *file, uint32_t line) {
    uint32_t place = depth++;
    if (place >= MOST_LOOPS) return place;
    if (!has_room()) {
        if (burst_self != NULL && burst_miss != NULL) burst_miss(burst_self());
        return place;
    }
    uint8_t recorded = place == 0 || loops[place - 1].inside;
    loops[place] = (struct loop){.id = id, .recorded = recorded};
    burst_label = id;
    define(id, file, line);
    if (recorded) put_border(BURST_LOOP_ENTER, id, 0);
    return place;
}

SHARED void burst_loop_iteration(uint32_t place) {
    if (place >= MOST_LOOPS || loops == NULL) return;
    if (depth != place + 1) cut(place + 1);
    struct loop *loop = &loops[place];
    loop->inside = (uint8_t)(loop->recorded && chosen());
    if (loop->inside) put(BURST_LOOP_ITERATION, loop->id, loop->iterations);
    ++loop->iterations;
}

SHARED void burst_loop_leave(uint32_t place) {
    if (place < MOST_LOOPS && loops != NULL && loops[place].recorded)
        put_border(BURST_LOOP_LEAVE, loops[place].id, loops[place].iterations);
    cut(place);
}
