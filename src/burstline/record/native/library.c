/* library.c -- Where the code of MPI's libraries lies, which may stand between program and wrapper.
 *
 * Open MPI's Fortran bindings call C functions that are recorded; such frames are no callers.
 * And which library makes threads of which nothing is told.
 */
#include "thread.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define MOST_RANGES 16

static struct {
    uintptr_t low, high;
} ranges[MOST_RANGES];
static uint32_t count;

/* The reader leaves out what is missed here. */
static int is_library(const char *path) {
    static const char *const names[] = {
        "libmpi",    "libpmpi",      "libpmpi_abi", "libmpich",   "libmpifort",
        "libmpicxx", "libmpichfort", "libmpichf90", "libmpichcxx"};
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    const size_t bytes = strcspn(name, ".-");
    if (strncmp(name, "libmpi_", 7) == 0) return 1; /* Cray's have the compiler in their name */
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
        if (strlen(names[i]) == bytes && memcmp(names[i], name, bytes) == 0) return 1;
    return 0;
}

static int add(struct dl_phdr_info *info, size_t size, void *with) {
    uint32_t *found = with;
    (void)size;
    if (info->dlpi_name == NULL || !is_library(info->dlpi_name)) return 0;
    for (unsigned i = 0; i < info->dlpi_phnum && *found < MOST_RANGES; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        ranges[*found].low = info->dlpi_addr + part->p_vaddr;
        ranges[(*found)++].high = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

void burst_find_library(void) {
    uint32_t found = 0;
    dl_iterate_phdr(add, &found);
    __atomic_store_n(&count, found, __ATOMIC_RELEASE);
}

int burst_is_of_library(uintptr_t address) {
    const uint32_t known = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < known; ++i)
        if (address >= ranges[i].low && address < ranges[i].high) return 1;
    return 0;
}

const char *burst_silent_openmp(void) {
    /* Another runtime that was preloaded has this function, too, and is found first. */
    const void *fork = dlsym(RTLD_DEFAULT, "GOMP_parallel");
    Dl_info found;
    if (fork == NULL || dladdr(fork, &found) == 0 || found.dli_fname == NULL) return NULL;
    const char *slash = strrchr(found.dli_fname, '/');
    const char *name = slash == NULL ? found.dli_fname : slash + 1;
    return strncmp(name, "libgomp", strlen("libgomp")) == 0 ? name : NULL;
}
