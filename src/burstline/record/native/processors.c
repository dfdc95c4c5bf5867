/* processors.c -- Which processors a thread may use and was seen on, what they are part of, and
 * what the process was started with.
 *
 * A processor that is new to a thread is marked, by a signal handler too, and put into the window
 * before the thread's next record. What threads may use is asked for again now and then: OpenMP's
 * runtimes bind threads when they are at work already.
 */
#include "thread.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORDS 64 /* of 64 processors */
#define MOST_NODES 64
#define ASK_AGAIN_NS 100000000u

typedef uint64_t processor_set[WORDS];

/* What launchers and users say of places. Values are short; nothing else is looked at. */
static const char *const told[] = {
    "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_hwloc_base_binding_policy",
    "OMPI_MCA_rmaps_base_mapping_policy", "OMPI_MCA_orte_bound_at_launch",
    "PRTE_MCA_hwloc_default_binding_policy", "PRTE_MCA_rmaps_default_mapping_policy",
    "HYDI_CONTROL_FD", "HYDRA_USER_PROVIDED_BINDING", "MPI_LOCALNRANKS", "I_MPI_PIN",
    "I_MPI_PIN_DOMAIN", "I_MPI_PIN_PROCESSOR_LIST", "MV2_CPU_BINDING_POLICY", "PALS_LOCAL_SIZE",
    "SLURM_STEP_ID", "SLURM_CPU_BIND_TYPE", "SLURM_CPU_BIND", "SLURM_DISTRIBUTION",
    "SLURM_NTASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS", "OMP_PROC_BIND",
    "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"};

int burst_see_processor(struct burst_thread *thread) {
    const int processor = sched_getcpu();
    if (processor < 0 || processor >= BURST_MOST_PROCESSORS) return 0;
    uint64_t *seen = &thread->seen[processor / 64];
    const uint64_t bit = UINT64_C(1) << (processor % 64);
    if (*seen & bit) return 0;
    *seen |= bit;
    return 1;
}

static void put_set(struct burst_thread *thread, uint16_t what, uint64_t time, uint64_t number,
                    const uint64_t *set, unsigned words) {
    for (unsigned i = 0; i < words; ++i)
        if (set[i] != 0) burst_put(thread, BURST_PROCESSORS, what, time, i * 64, set[i], number);
}

static void put_allowed(struct burst_thread *thread, uint64_t now) {
    processor_set set = {0};
    thread->asked_ns = now;
    if (syscall(SYS_sched_getaffinity, 0, sizeof set, set) < 0) return;
    uint64_t sum = 0;
    for (unsigned i = 0; i < WORDS; ++i) sum = (sum + set[i]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (sum == thread->allowed_sum) return;
    thread->allowed_sum = sum;
    put_set(thread, BURST_MAY_USE, now, 0, set, WORDS);
}

void burst_put_processors(struct burst_thread *thread) {
    if (thread->window == NULL) return;
    const uint64_t now = burst_now();
    burst_see_processor(thread);
    if (now - thread->asked_ns > ASK_AGAIN_NS) put_allowed(thread, now);
    for (unsigned i = 0; i < BURST_MOST_PROCESSORS / 64; ++i) {
        const uint64_t fresh = thread->seen[i] & ~thread->told[i];
        if (fresh == 0) continue;
        thread->told[i] |= fresh;
        burst_put(thread, BURST_PROCESSORS, BURST_USED, now, i * 64, fresh, 0);
    }
}

/* A list like 0-3,8 as the kernel writes it; returns whether there is one. */
static int read_list(const char *path, processor_set set) {
    char text[4096];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes <= 0) return 0;
    text[bytes] = '\0';
    memset(set, 0, sizeof(processor_set));
    for (char *at = text; *at >= '0' && *at <= '9';) {
        unsigned long first = strtoul(at, &at, 10), last = first;
        if (*at == '-') last = strtoul(at + 1, &at, 10);
        for (; first <= last && first < WORDS * 64; ++first)
            set[first / 64] |= UINT64_C(1) << (first % 64);
        at += *at == ',';
    }
    return 1;
}

static int has(const processor_set set, unsigned processor) {
    return (int)(set[processor / 64] >> (processor % 64) & 1);
}

static int first_of(const processor_set set) {
    for (unsigned i = 0; i < WORDS * 64; ++i)
        if (has(set, i)) return (int)i;
    return -1;
}

/* Sockets by the processors that share one, from the first that is in none yet. */
static void put_sockets(struct burst_thread *thread, processor_set rest) {
    char path[96];
    processor_set set;
    for (unsigned number = 0; number < MOST_NODES; ++number) {
        const int first = first_of(rest);
        if (first < 0) return;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list",
                 first);
        if (!read_list(path, set) || !has(set, (unsigned)first)) return;
        put_set(thread, BURST_SOCKET, 0, number, set, WORDS);
        for (unsigned i = 0; i < WORDS; ++i) rest[i] &= ~set[i];
    }
}

/* Once per process: what the node has, and what the process was started with. */
static void put_machine(struct burst_thread *thread) {
    char path[96];
    processor_set set, allowed = {0};
    if (read_list("/sys/devices/system/cpu/online", set)) {
        put_set(thread, BURST_ONLINE, 0, 0, set, WORDS);
        put_sockets(thread, set);
    }
    processor_set nodes = {0};
    read_list("/sys/devices/system/node/online", nodes);
    for (unsigned number = 0; number < MOST_NODES; ++number) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", number);
        if (has(nodes, number) && read_list(path, set))
            put_set(thread, BURST_NUMA, 0, number, set, WORDS);
    }
    if (syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed) > 0) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 first_of(allowed));
        if (read_list(path, set)) put_set(thread, BURST_CORE, 0, 0, set, WORDS);
    }
    for (unsigned i = 0; i < sizeof told / sizeof *told; ++i) {
        const char *value = getenv(told[i]);
        if (value == NULL) continue;
        const int bytes = snprintf(path, sizeof path, "%s=%s", told[i], value);
        const size_t used = bytes < (int)sizeof path ? (size_t)bytes : sizeof path - 1;
        burst_put(thread, BURST_NAME, BURST_NAME_STARTED, 0, i, 0, used);
        burst_put_text(thread, path, used);
    }
}

void burst_begin_processors(struct burst_thread *thread) {
    static int done;
    if (thread->window == NULL) return;
    if (!__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED)) put_machine(thread);
    burst_put_processors(thread);
}
