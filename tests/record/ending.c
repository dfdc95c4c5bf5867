/* ending.c -- A ring that goes on for long, with something pending that is never completed.
 *
 * ending PENDING FILE: what is pending is made before the ring; each step is MPI_Irecv, MPI_Isend,
 * MPI_Waitall and MPI_Allreduce. Lines go to standard output and to FILE.RANK, which nobody
 * flushes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 100000000
#define LARGE (1 << 21)

static int rank, size;
static double small[4], other[4];
static double *large;
static MPI_Request requests[4];

static int wants(const char *asked, const char *name) {
    return strcmp(asked, name) == 0 || strcmp(asked, "all") == 0;
}

static void begin(const char *pending, const char *name) {
    const int next = (rank + 1) % size;
    if (wants(pending, "receive"))
        MPI_Irecv(small, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &requests[0]);
    if (wants(pending, "persistent")) { /* one is active, one is not */
        MPI_Recv_init(other, 4, MPI_DOUBLE, next, 98, MPI_COMM_WORLD, &requests[1]);
        MPI_Send_init(other, 4, MPI_DOUBLE, next, 97, MPI_COMM_WORLD, &requests[2]);
        MPI_Start(&requests[1]);
    }
    if (wants(pending, "eager"))
        MPI_Isend(small, 4, MPI_DOUBLE, next, 96, MPI_COMM_WORLD, &requests[0]);
    if (wants(pending, "rendezvous"))
        MPI_Isend(large, LARGE, MPI_DOUBLE, next, 95, MPI_COMM_WORLD, &requests[0]);
    if (wants(pending, "synchronous"))
        MPI_Issend(small, 4, MPI_DOUBLE, next, 94, MPI_COMM_WORLD, &requests[0]);
    if (wants(pending, "collective"))
        MPI_Iallreduce(small, other, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
    if (wants(pending, "file")) {
        MPI_File file;
        char path[4096];
        snprintf(path, sizeof path, "%s.shared", name);
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_write_at(file, rank * 8, small, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    if (wants(pending, "window")) {
        MPI_Win window;
        double *shared;
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
        MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
        MPI_Put(small, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, window);
    }
}

int main(int count, char **words) {
    if (count < 3) return 2;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", words[2], rank);
    FILE *file = fopen(path, "w");
    large = calloc(LARGE, sizeof *large);
    if (file == NULL || large == NULL) return 3;
    printf("rank %d begins\n", rank);
    fprintf(file, "rank %d begins\n", rank);
    begin(words[1], words[2]);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    double sent = rank, received, sum = 0;
    for (int step = 0; step < STEPS; ++step) {
        MPI_Request pair[2];
        MPI_Irecv(&received, 1, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &pair[0]);
        MPI_Isend(&sent, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &pair[1]);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&received, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d ends\n", rank);
    MPI_Finalize();
    return 0;
}
