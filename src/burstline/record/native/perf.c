/* perf.c -- Events of the kernel's perf interface: one group per thread, one read per sample. */
#include "thread.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct event {
    const char *name;
    uint32_t type;
    uint64_t config;
};

static const struct event known[] = {
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

static struct event chosen[BURST_MAX_COUNTERS];
static unsigned count;

static int open_event(const struct event *event, int group) {
    struct perf_event_attr attributes = {.size = sizeof attributes};
    attributes.type = event->type;
    attributes.config = event->config;
    attributes.read_format = PERF_FORMAT_GROUP;
    attributes.exclude_hv = 1;
    const unsigned long flags = PERF_FLAG_FD_CLOEXEC;
    long file = syscall(SYS_perf_event_open, &attributes, 0, -1, group, flags);
    if (file < 0 && (errno == EACCES || errno == EPERM)) {
        attributes.exclude_kernel = 1; /* all that others than root may see, often */
        file = syscall(SYS_perf_event_open, &attributes, 0, -1, group, flags);
    }
    return (int)file;
}

int burst_perf_choose(const char *name) {
    for (unsigned i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(known[i].name, name) != 0) continue;
        for (unsigned k = 0; k < count; ++k) {
            if (chosen[k].config == known[i].config && chosen[k].type == known[i].type) return 0;
        }
        const int file = open_event(&known[i], -1);
        if (file < 0) {
            burst_say("no counter perf:%.60s: %s", name, strerror(errno));
            return 0;
        }
        close(file);
        chosen[count++] = known[i];
        return 1;
    }
    burst_say("no counter perf:%.60s: no such event", name);
    return 0;
}

void burst_perf_open(struct burst_thread *thread) {
    for (unsigned i = 0; i < count; ++i) {
        const int file = open_event(&chosen[i], thread->perf_group);
        if (file < 0) {
            burst_say("perf:%s does not count on a thread: %s", chosen[i].name, strerror(errno));
            burst_perf_close(thread);
            return;
        }
        thread->perf_files[i] = file;
        if (i == 0) thread->perf_group = file;
    }
}

void burst_perf_close(struct burst_thread *thread) {
    if (thread->perf_group < 0) return;
    for (unsigned i = 0; i < count; ++i) {
        if (thread->perf_files[i] > 0) close(thread->perf_files[i]);
        thread->perf_files[i] = 0;
    }
    thread->perf_group = -1;
}

unsigned burst_perf_read(struct burst_thread *thread, uint64_t *values) {
    uint64_t read_values[BURST_MAX_COUNTERS + 1] = {0};
    const size_t bytes = (count + 1) * sizeof *read_values;
    const int error = errno;
    if (thread->perf_group < 0 || read(thread->perf_group, read_values, bytes) != (ssize_t)bytes) {
        memset(read_values, 0, sizeof read_values);
    }
    errno = error;
    memcpy(values, read_values + 1, count * sizeof *values);
    return count;
}
