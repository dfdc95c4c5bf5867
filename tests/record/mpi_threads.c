/* Four threads of each of two processes call MPI at once, on one communicator, told apart by tags
 * alone, with requests of all ages; test_record_mpi.py knows how many messages there are. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define TURNS 200

static int rank;
static MPI_Comm own[THREADS];

static void turn(int tag, int length) {
    int other = 1 - rank, left = 2, count, at[2], index;
    double a[8], b[8];
    MPI_Request pair[2];
    MPI_Irecv(b, 8, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &pair[0]);
    MPI_Isend(a, length, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &pair[1]);
    if (length & 1)
        while (left > 0) {
            MPI_Testsome(2, pair, &count, at, MPI_STATUSES_IGNORE);
            left -= count;
        }
    else
        while (left-- > 0) MPI_Waitany(2, pair, &index, MPI_STATUS_IGNORE);
}

static void *talk(void *number) {
    const int mine = *(int *)number;
    for (int i = 0; i < TURNS; ++i) {
        turn(mine, 1 + i % 4);
        if (i % 20 == 0) MPI_Barrier(own[mine]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; ++i) {
        numbers[i] = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    }
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, talk, &numbers[i]);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    MPI_Finalize();
    puts(provided == MPI_THREAD_MULTIPLE ? "done" : "no threads");
    return 0;
}
