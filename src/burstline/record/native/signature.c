/* signature.c -- see signature.h. */
#include "thread.h"

#include "signature.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PLAN_WORDS 4
#define RANK_WORDS 3
#define BOUNDARY_WORDS 2
#define STAMP_WORDS 3
#define NEVER UINT64_MAX
#define NAP_NS 200000 /* waiting takes a twentieth of a core, serving a message a nap at most */
#define DEADLINE_S 30

struct burst_signature burst_signature;

static struct {
    uint64_t flags, boundaries, cut;
    const uint64_t* boundary; /* count and hash of each */
} plan;
static uint64_t* words; /* of this rank's file; burst_signature has them while calls count */
static MPI_Comm world, meeting; /* of all ranks */
static MPI_Session source; /* of a program with sessions only, and its group of all */
static MPI_Group everybody;
static int has_source;
static struct window {
    struct window* next;
    MPI_Win handle;
    int* locked; /* ranks, or BURST_EVERYBODY */
    size_t locks;
}* windows; /* that are there, in the order of their making */

/* Reads the plan of a rank; the state of whom it does not fit. */
static enum burst_signed_state read_plan(int rank, int size) {
    size_t bytes = 0;
    const char* path = burst_asked("BURSTLINE_PLAN");
    const uint64_t* all = path == NULL ? NULL : burst_map_file(path, &bytes);
    const size_t count = bytes / sizeof *all;
    plan.cut = NEVER;
    if (all == NULL || count < PLAN_WORDS || memcmp(all, BURST_PLAN_MAGIC, sizeof *all) != 0 ||
        all[1] != BURST_SIGNATURE_VERSION || all[2] > (count - PLAN_WORDS) / RANK_WORDS)
        return BURST_NO_PLAN;
    plan.flags = all[3];
    if (all[2] == 0) return BURST_COUNTING;
    if (all[2] != (uint64_t)size) return BURST_OTHER_WORLD;
    const uint64_t* of_rank = all + PLAN_WORDS + RANK_WORDS * (size_t)rank;
    const size_t first = PLAN_WORDS + RANK_WORDS * (size_t)size;
    const uint64_t there = (count - first) / BOUNDARY_WORDS;
    if (of_rank[0] > there || of_rank[1] > there - of_rank[0]) return BURST_NO_PLAN;
    plan.boundary = all + first + BOUNDARY_WORDS * of_rank[0];
    plan.boundaries = of_rank[1];
    plan.cut = of_rank[2];
    if (plan.cut != NEVER &&
        (plan.boundaries == 0 || plan.boundary[BOUNDARY_WORDS * (plan.boundaries - 1)] != plan.cut))
        return BURST_NO_PLAN;
    return BURST_COUNTING;
}

/* The file of this rank. Its room is taken at once: on a disk that fills up, a store into a mapped
 * page would end the program. A file that is there is that of another MPI_COMM_WORLD. */
static enum burst_signed_state open_file(int rank, int size) {
    char path[PATH_MAX + 32], version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    const size_t bytes =
        sizeof *words * (BURST_SIGNED_WORDS + STAMP_WORDS * plan.boundaries) + BURST_LIBRARY_BYTES;
    snprintf(path, sizeof path, "%s/signature.%d", burst_folder, rank);
    const int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    void* map = MAP_FAILED;
    if (file >= 0 && (errno = posix_fallocate(file, 0, (off_t)bytes)) == 0)
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) burst_say("%s: %s", path, strerror(errno));
    if (file >= 0) close(file);
    if (map == MAP_FAILED) return BURST_NO_PLAN;
    words = map;
    words[BURST_SIGNED_VERSION] = BURST_SIGNATURE_VERSION;
    words[BURST_SIGNED_RANK] = (uint64_t)rank;
    words[BURST_SIGNED_SIZE] = (uint64_t)size;
    REAL(Get_library_version)(version, &length);
    version[strcspn(version, "\n")] = '\0';
    snprintf((char*)map + bytes - BURST_LIBRARY_BYTES, BURST_LIBRARY_BYTES, "%s", version);
    memcpy(words, BURST_SIGNED_MAGIC, sizeof *words);
    return BURST_COUNTING;
}

/* The counts of a plan hold for one program, one thread at a time, and nobody from outside. */
static enum burst_signed_state state_of_world(void) {
    int level = MPI_THREAD_SINGLE, has_number = 0, *number = NULL;
    MPI_Comm parent = burst_known.no_comm;
    REAL(Query_thread)(&level);
    if (level == MPI_THREAD_MULTIPLE) return BURST_THREADED;
    REAL(Comm_get_parent)(&parent);
    REAL(Comm_get_attr)(burst_known.world, MPI_APPNUM, &number, &has_number);
    const int is_other = parent != burst_known.no_comm || (has_number && *number != 0);
    return is_other ? BURST_OTHER_WORLD : BURST_COUNTING;
}

/* The worst state of all ranks, so that all go on or none. */
static enum burst_signed_state worst(enum burst_signed_state state, int size) {
    unsigned char own = (unsigned char)state, *all = calloc((size_t)size, 1);
    if (all == NULL) abort(); /* the others wait for an answer */
    REAL(Allgather)(&own, 1, burst_known.byte, all, 1, burst_known.byte, world);
    for (int i = 0; i < size; ++i)
        if (all[i] > own) own = all[i];
    free(all);
    return own;
}

static void set_state(enum burst_signed_state state) {
    if (words != NULL) __atomic_store_n(&words[BURST_SIGNED_STATE], state, __ATOMIC_RELEASE);
}

static void abandon(enum burst_signed_state state) {
    set_state(state);
    burst_signature.words = NULL;
    REAL(Abort)(world, 1);
    _exit(1);
}

static struct window** place_of(MPI_Win handle) {
    struct window** place = &windows;
    while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
    return place;
}

void burst_signature_window(MPI_Win handle) {
    struct window* fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) return;
    fresh->handle = handle;
    *place_of(burst_known.no_window) = fresh; /* behind all */
}

void burst_signature_window_freed(MPI_Win handle) {
    struct window** place = place_of(handle);
    struct window* gone = *place;
    if (gone == NULL) return;
    *place = gone->next;
    free(gone->locked);
    free(gone);
}

void burst_signature_locked(MPI_Win handle, int target) {
    struct window* window = *place_of(handle);
    if (window == NULL) return;
    int* more = realloc(window->locked, (window->locks + 1) * sizeof *more);
    if (more == NULL) return;
    window->locked = more;
    window->locked[window->locks++] = target;
}

void burst_signature_unlocked(MPI_Win handle, int target) {
    struct window* window = *place_of(handle);
    if (window == NULL) return;
    size_t lock = 0;
    while (lock < window->locks && window->locked[lock] != target) ++lock;
    if (lock < window->locks) window->locked[lock] = window->locked[--window->locks];
}

/* MPICH over UCX aborts in MPI_Finalize if a window is left, and cannot free one that is locked, or
 * unlock one that is not. They are freed in the order of their making, in which all members met. */
static void free_windows(void) {
    for (struct window* window = windows; window != NULL; window = window->next) {
        REAL(Win_set_errhandler)(window->handle, burst_known.errors_return);
        for (size_t lock = 0; lock < window->locks; ++lock)
            if (window->locked[lock] == BURST_EVERYBODY)
                REAL(Win_unlock_all)(window->handle);
            else
                REAL(Win_unlock)(window->locked[lock], window->handle);
        REAL(Win_free)(&window->handle);
    }
}

static void* of_program(const char* name) { return dlsym(RTLD_DEFAULT, name); }

/* What languages keep of the program's output; `_exit` would lose it. */
static void flush(void) {
    void (*units)(const int*) = NULL; /* of gfortran; no unit: all */
    void* (*stream)(void*) = NULL;    /* std::ostream::flush */
    void* output = of_program("_ZSt4cout");
    int (*is_python)(void) = NULL, (*lock)(void) = NULL, (*execute)(const char*) = NULL;
    void (*unlock)(int) = NULL;
    *(void**)&units = of_program("_gfortran_flush_i4");
    *(void**)&stream = of_program("_ZNSo5flushEv");
    *(void**)&is_python = of_program("Py_IsInitialized");
    *(void**)&lock = of_program("PyGILState_Ensure");
    *(void**)&execute = of_program("PyRun_SimpleString");
    *(void**)&unlock = of_program("PyGILState_Release");
    if (units != NULL) units(NULL);
    /* Without <iostream>, older libraries never make it: all is zero, the table of functions too. */
    if (stream != NULL && output != NULL && *(void**)output != NULL) stream(output);
    if (is_python != NULL && lock != NULL && execute != NULL && unlock != NULL && is_python()) {
        const int state = lock();
        execute("import sys; sys.stdout.flush(); sys.stderr.flush()");
        unlock(state);
    }
    fflush(NULL);
}

static void give_up(int signal) {
    (void)signal;
    _exit(0);
}

/* All is on disk. What MPI says of requests and windows that were never completed, and if it fails
 * over them or takes too long, is of no interest. */
static void silence(void) {
    static const int signals[] = {SIGALRM, SIGABRT, SIGSEGV, SIGBUS};
    const struct sigaction last = {.sa_handler = give_up};
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    sigset_t all;
    if (nowhere >= 0) (void)(dup2(nowhere, STDOUT_FILENO) + dup2(nowhere, STDERR_FILENO));
    sigemptyset(&all);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; ++i) {
        sigaction(signals[i], &last, NULL);
        sigaddset(&all, signals[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    alarm(DEADLINE_S);
}

/* Gives back what was made of the session: nothing of it may outlive it. */
static void leave_session(void) {
    has_source = 0;
    REAL(Comm_free)(&meeting);
    REAL(Comm_free)(&world);
    burst_set_world(burst_known.no_group);
    REAL(Group_free)(&everybody);
}

/* The launcher takes it for a success if MPI is finalized: Open MPI's ends with status 1 otherwise,
 * MPICH's with 9. Neither cares for what is pending but windows: requests of every kind, with
 * which MPI_Finalize may not be called, are left as they are. */
static __attribute__((noreturn)) void end(enum burst_signed_state state, int status) {
    ++burst_depth;
    burst_signature.words = NULL;
    flush();
    set_state(state);
    silence();
    free_windows();
    if (has_source) {
        leave_session();
        REAL(Session_finalize)(&source);
    } else {
        REAL(Finalize)();
    }
    _exit(status);
}

static uint64_t next_boundary(void) {
    const uint64_t number = words[BURST_SIGNED_STAMPS];
    return number < plan.boundaries ? plan.boundary[BOUNDARY_WORDS * number] : NEVER;
}

static void begin(enum burst_signed_state of_world) {
    int rank = 0, size = 1;
    REAL(Comm_rank)(world, &rank);
    REAL(Comm_size)(world, &size);
    enum burst_signed_state state = read_plan(rank, size);
    if (state == BURST_NO_PLAN) burst_say("BURSTLINE_PLAN names no plan of this version");
    const enum burst_signed_state file = open_file(rank, size);
    if (state == BURST_COUNTING) state = of_world != BURST_COUNTING ? of_world : file;
    state = worst(state, size);
    REAL(Comm_dup)(world, &meeting);
    if (state != BURST_COUNTING) end(state, 1);
    burst_signature.is_full = plan.flags & 1;
    burst_signature.next = next_boundary();
    words[BURST_SIGNED_INIT] = burst_now();
    burst_signature.words = words;
    if (burst_signature.next == 0) burst_signature_boundary();
}

void burst_signature_begin(void) {
    world = burst_known.world;
    begin(state_of_world());
}

void burst_signature_session(MPI_Session session) {
    int begun = 0;
    if (words != NULL || REAL(Initialized)(&begun) != MPI_SUCCESS || begun) return;
    ++burst_depth;
    everybody = burst_known.no_group;
    if (REAL(Group_from_session_pset)(session, "mpi://WORLD", &everybody) == MPI_SUCCESS) {
        burst_set_world(everybody);
        has_source = REAL(Comm_create_from_group)(everybody, "burstline", burst_known.no_info,
                                                  burst_known.errors_return, &world) == MPI_SUCCESS;
    }
    source = session;
    if (has_source) begin(BURST_COUNTING);
    --burst_depth;
}

void burst_signature_session_ending(MPI_Session session) {
    if (!has_source || session != source) return;
    burst_signature_finalizing();
    leave_session();
}

/* The others may still compute: who waits sleeps most of the time, but goes on serving messages
 * that it has begun to send. */
static void meet(void) {
    const struct timespec nap = {0, NAP_NS};
    MPI_Request request;
    int done = 0;
    ++burst_depth;
    REAL(Ibarrier)(meeting, &request);
    while (REAL(Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&nap, NULL);
    --burst_depth;
}

void burst_signature_boundary(void) {
    const uint64_t now = burst_now(), number = words[BURST_SIGNED_STAMPS];
    const uint64_t count = words[BURST_SIGNED_COUNT], hash = words[BURST_SIGNED_HASH];
    if (hash != plan.boundary[BOUNDARY_WORDS * number + 1]) abandon(BURST_DISAGREES);
    uint64_t* stamp = words + BURST_SIGNED_WORDS + STAMP_WORDS * number;
    stamp[0] = count;
    stamp[1] = hash;
    stamp[2] = now;
    __atomic_store_n(&words[BURST_SIGNED_STAMPS], number + 1, __ATOMIC_RELEASE);
    burst_signature.next = next_boundary();
    if (count != plan.cut) return;
    words[BURST_SIGNED_ARRIVED] = now;
    set_state(BURST_WAITING);
    meet();
    end(BURST_CUT, 0);
}

void burst_signature_finalizing(void) {
    words[BURST_SIGNED_FINALIZE] = burst_now();
    set_state(BURST_FINALIZING);
    burst_signature.words = NULL;
}

void burst_signature_refuse(void) {
    burst_say("a signature run ends where processes are spawned or joined");
    abandon(BURST_OTHER_WORLD);
}

uint64_t burst_sent_to(MPI_Comm comm, int dest) {
    if (dest == MPI_PROC_NULL) return BURST_PARTNER(BURST_TO_NOBODY, 0);
    const struct burst_comm* known = burst_comm(comm);
    if (known->local == NULL || known->remote != NULL) return BURST_PARTNER(BURST_TO_OTHERS, 0);
    const int offset = dest - known->rank, size = known->local->size;
    return BURST_PARTNER(offset < 0 ? offset + size : offset, size);
}

uint64_t burst_among(MPI_Comm comm) {
    const struct burst_comm* known = burst_comm(comm);
    const int is_plain = known->local != NULL && known->remote == NULL;
    return BURST_PARTNER(BURST_NO_PARTNER, is_plain ? known->local->size : 0);
}
