/* A million calls of MPI in a second, with a little work between them.
 *
 *     calls COUNT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double sum = 1;

__attribute__((noinline)) static void work(int turn) {
    for (int i = 0; i < 150; ++i) sum = sum * 0.999 + 1.0 / (turn + i + 1);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    const int calls = count > 1 ? atoi(words[1]) : 1000000;
    int rank;
    const double begin = MPI_Wtime();
    for (int turn = 0; turn < calls; ++turn) {
        work(turn);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    printf("%.0f calls a second, %g\n", calls / (MPI_Wtime() - begin), sum);
    MPI_Finalize();
    return 0;
}
