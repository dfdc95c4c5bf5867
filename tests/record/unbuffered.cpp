// unbuffered.cpp -- A program of C++ that never makes std::cout, then barriers for ever.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

int main(int count, char **words) {
    MPI_Init(&count, &words);
    std::puts("kept");
    if (count > 99) throw std::runtime_error("too many words"); // of libstdc++
    for (;;) MPI_Barrier(MPI_COMM_WORLD);
}
