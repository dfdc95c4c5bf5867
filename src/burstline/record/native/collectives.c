/* collectives.c -- see collectives.h. */
#include "collectives.h"

#include "messages.h"
#include "objects.h"

struct burst_part burst_part_unrooted(MPI_Comm comm) {
    const struct burst_comm* known = burst_comm(comm);
    const int members = known->local != NULL ? known->local->size : 0;
    return (struct burst_part){.all = known->remote != NULL ? known->remote->size : members,
                               .rank = known->rank,
                               .members = members,
                               .leaf = 1};
}

struct burst_part burst_part(MPI_Comm comm, int root) {
    struct burst_part part = burst_part_unrooted(comm);
    const int is_inter = burst_comm(comm)->remote != NULL;
    part.root = is_inter ? root == MPI_ROOT : root == part.rank;
    if (is_inter) part.leaf = root != MPI_ROOT && root != MPI_PROC_NULL;
    return part;
}

int burst_neighbours(MPI_Comm comm, int outgoing) {
    int topology = MPI_UNDEFINED, weighted = 0, in = 0, out = 0;
    if (REAL(Topo_test)(comm, &topology) != MPI_SUCCESS) return 0;
    if (topology == MPI_CART) {
        int dimensions = 0;
        REAL(Cartdim_get)(comm, &dimensions);
        in = out = 2 * dimensions;
    } else if (topology == MPI_GRAPH) {
        REAL(Graph_neighbors_count)(comm, burst_comm(comm)->rank, &in);
        out = in;
    } else if (topology == MPI_DIST_GRAPH) {
        REAL(Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
    }
    return outgoing ? out : in;
}

uint64_t burst_sum(int count, const int* counts, MPI_Datatype type) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += counts[i];
    return burst_bytes((MPI_Count)sum, type);
}

uint64_t burst_sums(int count, const int* counts, const MPI_Datatype* types) {
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += burst_bytes(counts[i], types[i]);
    return sum;
}

uint64_t burst_sum_large(int count, const MPI_Count* counts, MPI_Datatype type) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += (int64_t)counts[i];
    return burst_bytes((MPI_Count)sum, type);
}

uint64_t burst_sums_large(int count, const MPI_Count* counts, const MPI_Datatype* types) {
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += burst_bytes(counts[i], types[i]);
    return sum;
}

void burst_collective(struct burst_thread* thread, struct burst_comm* comm, uint64_t id, int op,
                      uint64_t sent, uint64_t received) {
    const uint32_t where = burst_comm_id(thread, comm);
    burst_put(thread, BURST_COLLECTIVE, (uint16_t)op, id, where, sent, received);
}

void burst_together(struct burst_thread* thread, MPI_Comm comm, uint64_t id) {
    if (comm != burst_known.no_comm) burst_collective(thread, burst_comm(comm), id, 0, 0, 0);
}

void burst_together_on(struct burst_thread* thread, int kind, uintptr_t object, uint64_t id) {
    struct burst_comm* comm = burst_object(kind, object).comm;
    if (comm != NULL) burst_collective(thread, comm, id, 0, 0, 0);
}

void burst_split_begin(struct burst_thread* thread, MPI_File file) {
    const uint64_t id = burst_new_id();
    burst_object_pending(BURST_FILE, (uintptr_t)file, id);
    burst_together_on(thread, BURST_FILE, (uintptr_t)file, id);
}

void burst_split_end(struct burst_thread* thread, MPI_File file) {
    const uint64_t id = burst_object_pending(BURST_FILE, (uintptr_t)file, 0);
    if (thread != NULL && id != 0) burst_put(thread, BURST_COLLECTIVE_DONE, 0, id, 0, 0, 0);
}

void burst_root(struct burst_thread* thread, struct burst_comm* known, int root) {
    if (root == MPI_PROC_NULL) return; /* of an intercommunicator: the root is in the own group */
    int32_t rank = BURST_UNKNOWN_RANK;
    if (root != MPI_ROOT)
        rank = burst_world_rank(known, root);
    else if (known->local != NULL && known->rank < known->local->size)
        rank = known->local->ranks[known->rank];
    burst_put(thread, BURST_ROOT, 0, 0, burst_comm_id(thread, known), (uint64_t)(int64_t)rank, 0);
}
