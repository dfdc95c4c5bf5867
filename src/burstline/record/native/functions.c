/* functions.c -- Functions that report themselves, compiled with -finstrument-functions.
 *
 * At the first call of each its number is decided, which is 0 for those that the filter leaves out,
 * and kept by its address. Names are told after the run; the filter alone wants them here.
 */
#include "thread.h"

#include <errno.h>

#define SLOTS (1u << 17)
#define MOST_FUNCTIONS (SLOTS / 2) /* more are not recorded */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct function {
    uintptr_t address; /* 0: free. Set last. */
    uint32_t number;
} functions[SLOTS];
static uint32_t used;

/* Its slot, or the free one where it belongs. */
static inline struct function *slot_of(uintptr_t address) {
    uint32_t place = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    for (;; ++place) {
        struct function *slot = &functions[place & (SLOTS - 1)];
        const uintptr_t there = __atomic_load_n(&slot->address, __ATOMIC_ACQUIRE);
        if (BURST_LIKELY(there == address) || there == 0) return slot;
    }
}

/* What has no name is recorded, unless it would have to be named in the filter. */
static int is_wanted(uint64_t place) {
    static char linked[BURST_LONGEST_SYMBOL], readable[BURST_LONGEST_SYMBOL];
    const char *path = burst_module_path(place);
    linked[0] = readable[0] = '\0';
    if (path != NULL) burst_symbol(path, place & ((UINT64_C(1) << 48) - 1), linked, readable);
    return burst_wants_function(linked, readable);
}

static uint32_t decide(struct burst_thread *thread, uintptr_t address) {
    const uint64_t place = burst_filters_functions() ? burst_place(thread, address) : 0;
    const int error = errno;
    thread->inside = 1;
    pthread_mutex_lock(&lock);
    struct function *slot = slot_of(address);
    const int is_lost = slot->address == 0 && used == MOST_FUNCTIONS;
    if (slot->address == 0 && !is_lost) {
        const int wanted = !burst_filters_functions() || is_wanted(place);
        slot->number = wanted ? BURST_MOST_REGIONS + 1 + used : 0;
        ++used;
        __atomic_store_n(&slot->address, address, __ATOMIC_RELEASE);
    }
    const uint32_t number = is_lost ? 0 : slot->number;
    pthread_mutex_unlock(&lock);
    thread->inside = 0;
    errno = error;
    if (is_lost) burst_miss(thread);
    return number;
}

static void define(struct burst_thread *thread, uint32_t number, uintptr_t address) {
    burst_put(thread, BURST_NAME, BURST_NAME_FUNCTION, 0, number, burst_place(thread, address), 0);
}

static inline void put_border(uint16_t kind, uintptr_t address) {
    const struct function *slot = slot_of(address);
    if (slot->address != 0 && slot->number == 0) return;
    struct burst_thread *thread = burst_self();
    if (thread == NULL || burst_settings.profile) return;
    if (!BURST_LIKELY(thread->buffer.at != thread->buffer.end)) burst_recover(thread);
    const uint32_t number = slot->address != 0 ? slot->number : decide(thread, address);
    if (number == 0) return;
    if (kind == BURST_REGION_ENTER && !burst_is_defined(thread, BURST_NAME, number))
        define(thread, number, address);
    __atomic_store_n(&thread->functions, thread->functions + 1, __ATOMIC_RELAXED);
    burst_put_moment(thread, BURST_WORK_ONLY, kind, 0, number, 0, 0);
}

BURST_FOR_PROGRAMS void __cyg_profile_func_enter(void *function, void *call) {
    (void)call;
    put_border(BURST_REGION_ENTER, (uintptr_t)function);
}

BURST_FOR_PROGRAMS void __cyg_profile_func_exit(void *function, void *call) {
    (void)call;
    put_border(BURST_REGION_LEAVE, (uintptr_t)function);
}
