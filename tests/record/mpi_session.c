/* A program with sessions only: there is no MPI_COMM_WORLD. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int rank, size, left;
    MPI_Session session;
    MPI_Group everybody;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);
    MPI_Comm_create_from_group(everybody, "tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&everybody);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &left, 1, MPI_INT,
                 (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    puts(left == (rank + size - 1) % size ? "done" : "wrong");
    return 0;
}
