/* user.c -- Events and regions of the program itself. */
#include "thread.h"

#include <string.h>

#define MOST_NAMES BURST_MOST_REGIONS
#define LONGEST_NAME 255u
#define FOR_PROGRAMS __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name {
    uint8_t bytes;
    char text[LONGEST_NAME];
} names[MOST_NAMES];

static uint32_t hash_of(const char *name, size_t bytes) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    return hash;
}

/* The name's place in the table from 1; 0: no room. */
static uint32_t place_of(const char *text, size_t bytes) {
    const uint32_t hash = hash_of(text, bytes);
    for (uint32_t i = 0; i < MOST_NAMES; ++i) {
        const uint32_t place = (hash + i) & (MOST_NAMES - 1);
        struct name *name = &names[place];
        if (name->bytes == 0) {
            memcpy(name->text, text, bytes);
            name->bytes = (uint8_t)bytes;
            return place + 1;
        }
        if (name->bytes == bytes && memcmp(name->text, text, bytes) == 0) return place + 1;
    }
    return 0;
}

static uint32_t region_id(struct burst_thread *thread, const char *name) {
    size_t bytes = name == NULL ? 0 : strnlen(name, LONGEST_NAME);
    if (bytes == 0) return 0;
    thread->inside = 1;
    pthread_mutex_lock(&lock);
    const uint32_t id = place_of(name, bytes);
    pthread_mutex_unlock(&lock);
    thread->inside = 0;
    if (id != 0 && !burst_is_defined(thread, BURST_NAME, id)) {
        burst_put(thread, BURST_NAME, BURST_NAME_REGION, 0, id, 0, bytes);
        burst_put_text(thread, name, bytes);
    }
    return id;
}

FOR_PROGRAMS void burstline_event(uint32_t type, uint64_t value) {
    struct burst_thread *thread = burst_self();
    if (thread == NULL) return;
    thread->last_ns = burst_now();
    burst_put(thread, BURST_EVENT, 0, thread->last_ns, type, value, 0);
}

static void put_region(uint16_t kind, const char *name) {
    struct burst_thread *thread = burst_self();
    if (thread == NULL || burst_settings.profile) return;
    burst_recover(thread);
    const uint32_t id = region_id(thread, name);
    if (id != 0) burst_put_moment(thread, BURST_WORK_ONLY, kind, 0, id, 0, 0);
}

FOR_PROGRAMS void burstline_region_begin(const char *name) { put_region(BURST_REGION_ENTER, name); }

FOR_PROGRAMS void burstline_region_end(const char *name) { put_region(BURST_REGION_LEAVE, name); }

FOR_PROGRAMS void burstline_pause(void) { burst_pause_all(); }

FOR_PROGRAMS void burstline_resume(void) { burst_resume_all(); }
