/* native.c -- What a program in Python calls that calls MPI, or Python again. */
#include <mpi.h>

void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

void call_back(void (*function)(void)) {
    function();
    function();
}
