/* A program with sessions only, of 40 barriers of all; asked to, it leaves its session half-way. */
#include <mpi.h>
#include <stdio.h>

int main(int count, char **words) {
    int rank;
    MPI_Session session;
    MPI_Group everybody;
    MPI_Comm comm;
    (void)words;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);
    MPI_Comm_create_from_group(everybody, "tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&everybody);
    MPI_Comm_rank(comm, &rank);
    printf("rank %d begins\n", rank);
    for (int i = 0; i < (count > 1 ? 10 : 40); ++i) MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    printf("rank %d ends\n", rank);
    return 0;
}
