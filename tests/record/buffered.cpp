// buffered.cpp -- A line in a buffer of C++ alone, then barriers for ever.
#include <mpi.h>

#include <iostream>

int main(int count, char **words) {
    std::ios::sync_with_stdio(false);
    MPI_Init(&count, &words);
    std::cout << "kept\n";
    for (;;) MPI_Barrier(MPI_COMM_WORLD);
}
