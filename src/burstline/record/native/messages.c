/* messages.c -- see messages.h. */
#include "messages.h"

uint64_t burst_bytes(MPI_Count count, MPI_Datatype type) {
    MPI_Count size = 0;
    if (count <= 0 || REAL(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return (uint64_t)count * (uint64_t)size;
}

uint64_t burst_done_bytes(const MPI_Status* status) {
    MPI_Count bytes = 0;
    const int error = REAL(Get_elements_x)(status, burst_known.byte, &bytes);
    return error == MPI_SUCCESS && bytes > 0 ? (uint64_t)bytes : 0;
}

int burst_has_come(int error) {
    int kind = MPI_SUCCESS;
    if (error == MPI_SUCCESS) return 1;
    return REAL(Error_class)(error, &kind) == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE;
}

uint64_t burst_new_id(void) {
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* Defines the communicator, so it stands before the record that it is of. */
static uint64_t tagged(struct burst_thread* thread, struct burst_comm* comm, int tag) {
    return (uint64_t)burst_comm_id(thread, comm) << 32 | (uint32_t)tag;
}

static int32_t any_tag(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }

void burst_message(struct burst_thread* thread, uint16_t kind, struct burst_comm* comm, int peer,
                   int tag, uint64_t bytes, uint64_t id) {
    const uint64_t where = tagged(thread, comm, kind == BURST_POST ? any_tag(tag) : tag);
    burst_put(thread, kind, 0, id, (uint32_t)burst_world_rank(comm, peer), where, bytes);
}

void burst_status(struct burst_thread* thread, uint16_t kind, struct burst_comm* comm,
                  const MPI_Status* status, uint64_t id, int from_nobody) {
    const int source = from_nobody ? MPI_PROC_NULL : status->MPI_SOURCE;
    const int empty = source == MPI_PROC_NULL;
    const uint64_t where = tagged(thread, comm, empty ? -1 : any_tag(status->MPI_TAG));
    burst_put(thread, kind, 0, id, (uint32_t)burst_world_rank(comm, source), where,
              empty ? 0 : burst_done_bytes(status));
}
