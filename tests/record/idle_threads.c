/* Threads that idle for a reason that is given: `serial`, `late` or `mpi`. C and C++. Work is a
 * timed sleep, so that it takes as long on a busy machine. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 5, BYTES = 1 << 24 };
static char out[BYTES], in[BYTES];

static void work(int ms) { usleep((unsigned)ms * 1000); }

static void shared_part(int ms) {
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 4; ++i) work(ms);
    }
    work(0);
}

static void serial_part(void) { work(40); }

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int is_late = strcmp(argv[1], "late") == 0, is_serial = strcmp(argv[1], "serial") == 0;
    const int bytes = strcmp(argv[1], "mpi") == 0 ? BYTES : 8;
    for (int turn = 0; turn < TURNS; ++turn) {
        shared_part(is_late && rank == 1 ? 30 : 1);
        if (is_serial) serial_part();
        for (int times = bytes == BYTES ? 20 : 1; times > 0; --times)
            MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
