/* modules.c -- The programs and libraries whose code is on call stacks. */
#include "thread.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_MODULES 4096

struct module {
    uintptr_t base, low, high;
    char *path;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module modules[MOST_MODULES]; /* ids are places in it, from 1 */
static uint32_t count;

static uint32_t module_at(uintptr_t address) {
    /* The last one: memory of a library that was closed may hold another. */
    for (uint32_t i = count; i > 0; --i) {
        if (address >= modules[i - 1].low && address < modules[i - 1].high) return i;
    }
    return 0;
}

static char *path_of(const char *name) {
    if (*name == '\0') return realpath("/proc/self/exe", NULL);
    char *path = realpath(name, NULL);
    return path != NULL ? path : strdup(name); /* linux-vdso.so.1 */
}

struct wanted {
    uintptr_t address;
    int is_missed; /* no memory for its path */
};

static int add_if_wanted(struct dl_phdr_info *info, size_t size, void *with) {
    struct wanted *wanted = with;
    (void)size;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (start < low) low = start;
        if (start + part->p_memsz > high) high = start + part->p_memsz;
    }
    if (wanted->address < low || wanted->address >= high) return 0;
    char *path = path_of(info->dlpi_name);
    wanted->is_missed = path == NULL;
    if (path == NULL) return 1;
    modules[count++] = (struct module){info->dlpi_addr, low, high, path};
    return 1;
}

static uint32_t find(uintptr_t address, struct module *module, int *is_missed) {
    struct wanted wanted = {address, 0};
    pthread_mutex_lock(&lock);
    uint32_t id = module_at(address);
    if (id == 0 && count < MOST_MODULES) {
        dl_iterate_phdr(add_if_wanted, &wanted);
        id = module_at(address);
    }
    if (id != 0) *module = modules[id - 1];
    pthread_mutex_unlock(&lock);
    *is_missed = wanted.is_missed;
    return id;
}

uint64_t burst_place(struct burst_thread *thread, uintptr_t address) {
    const uint64_t executed = address & BURST_MARK_EXECUTED ? BURST_EXECUTED : 0;
    struct module module;
    const int error = errno, inside = thread->inside;
    const uint64_t low_bits = BURST_EXECUTED - 1;
    address &= ~BURST_MARK_EXECUTED;
    thread->inside = 1; /* realpath and dl_iterate_phdr may be the program's */
    int is_missed;
    const uint32_t id = find(address, &module, &is_missed);
    thread->inside = (uint8_t)inside;
    errno = error;
    if (is_missed) burst_miss(thread);
    if (id == 0) return (address & low_bits) | executed;
    if (!burst_is_defined(thread, BURST_MODULE, id)) {
        const size_t bytes = strlen(module.path);
        burst_put(thread, BURST_MODULE, 0, 0, id, 0, bytes);
        burst_put_text(thread, module.path, bytes);
    }
    return (uint64_t)id << 48 | ((address - module.base) & low_bits) | executed;
}

const char *burst_module_path(uint64_t place) {
    const uint64_t id = place >> 48;
    return id == 0 ? NULL : modules[id - 1].path; /* as it was when the place was told */
}
