/* loop.c -- Messages to oneself, through the recorder and around it, in turns.
 *
 * loop TURNS CALLS DEPTH [wait]: three lines a turn, `plain`, `recorded` and `clocks`, each with the CPU
 * time and the wall time of a call in ns; a call of `clocks` is two readings of the clock. Plain are the library's own PMPI functions, also where a recorder stands before them. CPU
 * time is that of the thread, in the kernel too: what others do on the machine is not in it. With
 * `wait` requests are not polled for, so that all calls are of those that a signature counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP 4000

struct functions {
    __typeof__(MPI_Irecv) *irecv;
    __typeof__(MPI_Isend) *isend;
    __typeof__(MPI_Test) *test;
    __typeof__(MPI_Wait) *wait;
};

static int waits;

struct times {
    double cpu, wall;
};

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *of_library(const char *name) {
    struct link_map *map = dlopen(NULL, RTLD_LAZY);
    for (; map != NULL; map = map->l_next) {
        if (strstr(map->l_name, "/libmpi.so") == NULL && strstr(map->l_name, "/libmpich.so") == NULL)
            continue;
        void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) return dlsym(library, name);
    }
    return NULL;
}

static int finish(const struct functions *mpi, MPI_Request *request) {
    int done = 0, calls = 0;
    if (waits) return mpi->wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    for (; !done; ++calls) mpi->test(request, &done, MPI_STATUS_IGNORE);
    return calls;
}

static struct times since(double wall, double cpu, int calls) {
    return (struct times){(now(CLOCK_THREAD_CPUTIME_ID) - cpu) / calls,
                          (now(CLOCK_MONOTONIC) - wall) / calls};
}

static struct times clocks(int calls) {
    const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    double last = wall;
    for (int i = 0; i < 2 * calls; ++i) last = now(CLOCK_MONOTONIC);
    if (last < wall) exit(5);
    return since(wall, cpu, calls);
}

static struct times __attribute__((noinline)) turn(const struct functions *mpi, int calls) {
    int sent = 0, received = -1, made = 0;
    const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    while (made < calls) {
        MPI_Request receive, send;
        mpi->irecv(&received, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &receive);
        mpi->isend(&sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send);
        made += 2 + finish(mpi, &receive) + finish(mpi, &send);
        if (received != sent++) exit(4);
    }
    return since(wall, cpu, made);
}

/* Frames above the calls; what follows the call keeps the frame. */
static struct times __attribute__((noinline)) below(int depth, const struct functions *mpi,
                                                    int calls) {
    const struct times ns = depth > 0 ? below(depth - 1, mpi, calls) : turn(mpi, calls);
    __asm__ volatile("" ::: "memory");
    return ns;
}

static void tell(const char *name, struct times ns) {
    printf("%s %.3f %.3f\n", name, ns.cpu, ns.wall);
}

int main(int count, char **words) {
    if (count < 4) return 2;
    const int turns = atoi(words[1]), calls = atoi(words[2]), depth = atoi(words[3]);
    struct functions plain, recorded = {MPI_Irecv, MPI_Isend, MPI_Test, MPI_Wait};
    waits = count > 4;
    MPI_Init(NULL, NULL);
    *(void **)&plain.irecv = of_library("PMPI_Irecv");
    *(void **)&plain.isend = of_library("PMPI_Isend");
    *(void **)&plain.test = of_library("PMPI_Test");
    *(void **)&plain.wait = of_library("PMPI_Wait");
    if (!plain.irecv || !plain.isend || !plain.test || !plain.wait) return 3;
    below(depth, &plain, WARM_UP);
    below(depth, &recorded, WARM_UP);
    for (int i = 0; i < turns; ++i) {
        tell("plain", below(depth, &plain, calls));
        tell("recorded", below(depth, &recorded, calls));
        tell("clocks", clocks(calls));
    }
    MPI_Finalize();
    return 0;
}
