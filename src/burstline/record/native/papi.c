/* papi.c -- PAPI, if the machine has it: loaded when asked for, never linked. */
#include "thread.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define PAPI_OK 0

static int (*library_init)(int version);
static int (*thread_init)(unsigned long (*self)(void));
static int (*create_eventset)(int *set);
static int (*add_named_event)(int set, const char *name);
static int (*start)(int set);
static int (*read_set)(int set, long long *values);
static int (*stop)(int set, long long *values);
static int (*unregister_thread)(void);

static char names[BURST_MAX_COUNTERS][64];
static unsigned count;
static int probe = -1; /* the set in which events are tried when they are chosen */

static unsigned long self(void) { return (unsigned long)pthread_self(); }

static int find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static int find_all(void *library) {
    return find(library, "PAPI_library_init", &library_init) &&
           find(library, "PAPI_thread_init", &thread_init) &&
           find(library, "PAPI_create_eventset", &create_eventset) &&
           find(library, "PAPI_add_named_event", &add_named_event) &&
           find(library, "PAPI_start", &start) && find(library, "PAPI_read", &read_set) &&
           find(library, "PAPI_stop", &stop) &&
           find(library, "PAPI_unregister_thread", &unregister_thread);
}

/* PAPI starts only for a caller who knows its version, and has no function that returns it. */
static int initialise(void) {
    for (int major = 9; major >= 5; --major) {
        for (int minor = 0; minor < 10; ++minor) {
            const int version = major << 24 | minor << 16;
            if (library_init(version) == version) return 1;
        }
    }
    return 0;
}

static const char *load(void) {
    static const char *const files[] = {"libpapi.so",     "libpapi.so.7.2", "libpapi.so.7.1",
                                        "libpapi.so.7.0", "libpapi.so.7",   "libpapi.so.6.0",
                                        "libpapi.so.6",   "libpapi.so.5.7", "libpapi.so.5"};
    void *library = NULL;
    for (unsigned i = 0; i < sizeof files / sizeof *files && library == NULL; ++i) {
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) return "libpapi is not there";
    if (!find_all(library)) return "libpapi lacks a function";
    if (!initialise()) return "libpapi does not start";
    if (thread_init(self) != PAPI_OK) return "libpapi knows no threads";
    if (create_eventset(&probe) != PAPI_OK) return "libpapi makes no event set";
    return NULL;
}

int burst_papi_choose(const char *name) {
    static int loaded;
    static const char *trouble;
    if (!loaded) {
        loaded = 1;
        trouble = load();
        if (trouble != NULL) burst_say("no PAPI counters: %s", trouble);
    }
    if (trouble != NULL) return 0;
    const int error = add_named_event(probe, name);
    if (error != PAPI_OK) {
        burst_say("no counter %.60s: PAPI says %d (not on this machine, or not with the others)",
                  name, error);
        return 0;
    }
    snprintf(names[count++], sizeof names[0], "%s", name);
    return 1;
}

void burst_papi_open(struct burst_thread *thread) {
    int set = -1;
    int error = create_eventset(&set);
    for (unsigned i = 0; i < count && error == PAPI_OK; ++i) error = add_named_event(set, names[i]);
    if (error == PAPI_OK) error = start(set);
    if (error == PAPI_OK) thread->papi_set = set;
    if (error != PAPI_OK) burst_say("PAPI does not count on a thread: it says %d", error);
}

void burst_papi_close(struct burst_thread *thread) {
    long long values[BURST_MAX_COUNTERS];
    if (thread->papi_set < 0) return;
    stop(thread->papi_set, values);
    unregister_thread();
    thread->papi_set = -1;
}

unsigned burst_papi_read(struct burst_thread *thread, uint64_t *values) {
    long long read_values[BURST_MAX_COUNTERS] = {0};
    if (thread->papi_set < 0 || read_set(thread->papi_set, read_values) != PAPI_OK) {
        memset(read_values, 0, sizeof read_values);
    }
    for (unsigned i = 0; i < count; ++i) values[i] = (uint64_t)read_values[i];
    return count;
}
