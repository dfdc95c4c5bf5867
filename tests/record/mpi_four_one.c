/* What MPI-4.1 brought, on two processes whose communicators come from a session: statuses of many
 * requests, which stay as they are, and buffers of a communicator and of a session; what the
 * recorder must say of it is in test_record_pypi.py. */
#include <mpi.h>
#include <stdio.h>

static int rank, other, wrong;
static double a[64], b[64];

static void begin(MPI_Comm comm, int tag, MPI_Request pair[2]) {
    MPI_Irecv(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, tag, comm, &pair[0]);
    MPI_Isend(a, tag, MPI_DOUBLE, other, tag, comm, &pair[1]);
}

static void statuses(MPI_Comm comm) {
    int flag = 0, index, count = 0, indices[2];
    MPI_Request pair[2];
    MPI_Status two[2];
    begin(comm, 1, pair);
    while (!flag) MPI_Request_get_status_all(2, pair, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    begin(comm, 2, pair);
    MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
    while (count < 1) MPI_Request_get_status_some(2, pair, &count, indices, two);
    wrong |= count != 1 || indices[0] != 0;
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    begin(comm, 3, pair);
    MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) MPI_Request_get_status_any(2, pair, &index, &flag, MPI_STATUS_IGNORE);
    wrong |= index != 0;
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    MPI_Request_get_status_any(2, pair, &index, &flag, MPI_STATUS_IGNORE); /* nothing is left */
    wrong |= index != MPI_UNDEFINED;
}

static void buffers(MPI_Session session, MPI_Comm comm) {
    static char of_comm[4096], of_session[4096];
    void *gone;
    int bytes;
    MPI_Request request;
    MPI_Comm_attach_buffer(comm, of_comm, sizeof of_comm);
    MPI_Session_attach_buffer(session, of_session, sizeof of_session);
    MPI_Bsend(a, 4, MPI_DOUBLE, other, 4, comm);
    MPI_Recv(b, 64, MPI_DOUBLE, other, 4, comm, MPI_STATUS_IGNORE);
    MPI_Comm_flush_buffer(comm);
    MPI_Comm_iflush_buffer(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(session);
    MPI_Session_iflush_buffer(session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &gone, &bytes);
    MPI_Comm_detach_buffer(comm, &gone, &bytes);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(void) {
    MPI_Session session;
    MPI_Group everybody;
    MPI_Comm comm, again;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);
    MPI_Comm_create_from_group(everybody, "tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&everybody);
    MPI_Comm_rank(comm, &rank);
    other = 1 - rank;
    statuses(comm);
    MPI_Comm_dup(comm, &again);
    buffers(session, again);
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    puts(wrong ? "wrong" : "done");
    return 0;
}
