"""Errors that MPI returns: what was refused is no message, and all others find their pairs."""

from __future__ import annotations

ERRING = """
#include <mpi.h>
#include <stddef.h>
static int data[8], rank, size, error;
static MPI_Request request;
static MPI_Status status;
static MPI_Comm all(void) { return MPI_COMM_WORLD; }
static void send(int count, int to) { MPI_Send(data, count, MPI_INT, to, 1, all()); }
static void take(int room) {
    MPI_Recv(data, room, MPI_INT, MPI_ANY_SOURCE, 1, all(), MPI_STATUS_IGNORE);
}
static void take_later(int room, int how) {
    int index, flag = 0;
    MPI_Irecv(data, room, MPI_INT, 0, 1, all(), &request);
    if (how == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (how == 1) MPI_Waitall(1, &request, &status);
    if (how == 2) MPI_Waitany(1, &request, &index, &status);
    while (how == 3 && !flag) MPI_Test(&request, &flag, &status);
}
int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(all(), &rank);
    MPI_Comm_set_errhandler(all(), MPI_ERRORS_RETURN);
    if (rank == 0) {
        send(-1, 1); /* refused */
        send(2, 7);  /* refused */
        for (int i = 0; i < 6; ++i) send(8, 1), send(i, 1);
    } else {
        take(-1); /* refused */
        take(2), take(0);
        for (int i = 1; i < 5; ++i) take_later(2, i - 1), take(i);
        MPI_Sendrecv(data, 1, MPI_INT, 0, 2, data, 2, MPI_INT, 0, 1, all(), &status);
        take(5);
    }
    if (rank == 0) MPI_Recv(data, 1, MPI_INT, 1, 2, all(), &status);
    MPI_Finalize();
    return 0;
}
"""


def test_what_mpi_refuses_is_said_and_shifts_no_message(site):
    code, _, said = site.record("-o", "app.store", "--", *site.ranks(2), site.build(ERRING))

    assert code == 0, said
    assert "9 calls of MPI returned an error (MPI_Send 2, MPI_Recv 2, " in said
    assert "another job" not in said
    trace = site.trace("app.store")
    rows = trace.messages.to_pylist()
    assert [row["sent_bytes"] // 4 for row in rows if row["tag"] == 1] == [
        *(8, 0, 8, 1, 8, 2, 8, 3, 8, 4, 8, 5)
    ]
    received = [row["received_bytes"] // 4 for row in rows if row["tag"] == 1]
    assert received[1::2] == list(range(6))
    assert trace.half_messages.num_rows == 0
    assert {row["tag"] for row in rows} == {1, 2}
