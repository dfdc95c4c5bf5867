/* resolve.c -- Finds the MPI library, which may have been loaded long after the recorder. */
#include "runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "wrap.h"

struct burst_known burst_known;
int burst_following;
__thread int burst_depth;
__thread struct burst_polls burst_polls;

int burst_was_kept_off(uint64_t now, uint64_t stretch) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    const struct burst_polls before = burst_polls;
    burst_polls.wall = now;
    burst_polls.off_cpu = now - burst_clock(CLOCK_THREAD_CPUTIME_ID);
    burst_polls.sleeps = usage.ru_nvcsw;
    return before.wall != 0 && before.sleeps == usage.ru_nvcsw &&
           stretch - stretch / 8 < burst_polls.off_cpu - before.off_cpu + burst_settings.poll_gap;
}

#define MOST_LIBRARIES 16

/* Libraries of MPI by whatever name: those that are loaded and have it in their name. */
struct libraries {
    unsigned count;
    char path[MOST_LIBRARIES][PATH_MAX];
};

static int add_library(struct dl_phdr_info* info, size_t size, void* with) {
    struct libraries* found = with;
    const char* path = info->dlpi_name == NULL ? "" : info->dlpi_name;
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    (void)size;
    if (strncmp(name, "lib", 3) != 0 || strstr(name, "mpi") == NULL ||
        strncmp(name, "libburst-", 9) == 0 || strlen(path) >= PATH_MAX)
        return 0;
    strcpy(found->path[found->count++], path);
    return found->count == MOST_LIBRARIES;
}

/* Modules opened with RTLD_LOCAL hide their MPI from RTLD_NEXT. */
static void* find(const char* name, void* where_first) {
    void* found = dlsym(where_first, name);
    if (found != NULL) return found;
    static struct libraries libraries; /* under the lock */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    libraries.count = 0;
    dl_iterate_phdr(add_library, &libraries);
    for (unsigned i = 0; found == NULL && i < libraries.count; ++i) {
        void* library = dlopen(libraries.path[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL) continue;
        found = dlsym(library, name);
        dlclose(library);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

#if defined(OPEN_MPI)
/* Programs that are not PIE hold copies of the library's objects, which the default scope finds. */
#define HANDLE(type, name) ((type)find(name, RTLD_DEFAULT))

static void find_handles(void) {
    burst_known.world = HANDLE(MPI_Comm, "ompi_mpi_comm_world");
    burst_known.self = HANDLE(MPI_Comm, "ompi_mpi_comm_self");
    burst_known.no_comm = HANDLE(MPI_Comm, "ompi_mpi_comm_null");
    burst_known.no_request = HANDLE(MPI_Request, "ompi_request_null");
    burst_known.no_group = HANDLE(MPI_Group, "ompi_mpi_group_null");
    burst_known.byte = HANDLE(MPI_Datatype, "ompi_mpi_byte");
    burst_known.no_message = HANDLE(MPI_Message, "ompi_message_null");
    burst_known.nobody = HANDLE(MPI_Message, "ompi_message_no_proc");
    burst_known.no_window = HANDLE(MPI_Win, "ompi_mpi_win_null");
    burst_known.no_file = HANDLE(MPI_File, "ompi_mpi_file_null");
    burst_known.no_info = HANDLE(MPI_Info, "ompi_mpi_info_null");
    burst_known.errors_return = HANDLE(MPI_Errhandler, "ompi_mpi_errors_return");
}
#else
static void find_handles(void) {
    burst_known = (struct burst_known){
        MPI_COMM_WORLD, MPI_COMM_SELF,    MPI_COMM_NULL,       MPI_REQUEST_NULL, MPI_GROUP_NULL,
        MPI_BYTE,       MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC, MPI_WIN_NULL,     MPI_FILE_NULL,
        MPI_INFO_NULL,  MPI_ERRORS_RETURN};
}
#endif

/* Stands in for what the library does not have. */
static int missing(void) { return MPI_ERR_OTHER; }

static int records_completions(void) {
    for (uint16_t op = 0; op < BURST_OPERATIONS; ++op)
        if (burst_completes(op) && burst_wants(op)) return 1;
    return 0;
}

static void begin(void) {
    find_handles();
    burst_find_library();
    burst_following = records_completions();
}

void* burst_resolve(const char* name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    void* found = find(name, RTLD_NEXT);
    if (found == NULL) found = find(name + 1, RTLD_NEXT); /* a library without PMPI_* */
    return found != NULL ? found : __extension__(void*) missing;
}
