/* communicators.h -- Communicators: ids, names and members.
 *
 * A communicator's name is equal on all its members and found without asking them: a hash of its
 * members and of how many communicators of just these members there were before. As creation is
 * collective over the members, all count alike; nobody waits for a process that is not recorded.
 */
#ifndef BURSTLINE_COMMUNICATORS_H
#define BURSTLINE_COMMUNICATORS_H

#include "wrap.h"

/* A number whose every bit depends on all bits of another. */
static inline uint64_t burst_mixed(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* Processes in an order, as world ranks; shared by communicators. */
struct burst_group {
    struct burst_group* next;
    uint64_t hash;
    uint32_t uses;
    int size;
    int32_t ranks[];
};

/* There may be requests longer than the communicator: it stays as long as somebody holds it. */
struct burst_comm {
    struct burst_comm* next;
    uint32_t uses; /* by requests, windows and files */
    MPI_Comm handle;
    uint64_t name;
    uint32_t id;
    uint16_t kind;
    int rank;
    struct burst_group *local,
        *remote; /* remote: NULL unless an intercommunicator; both NULL: unknown */
};

/* All processes, in the order of their ranks: world ranks are those of this group. Without it, they
 * are those of MPI_COMM_WORLD, if that exists. */
void burst_set_world(MPI_Group group);

struct burst_comm* burst_comm(MPI_Comm handle);
/* One use more, or with -1 one less, of what is not NULL. */
static inline void burst_comm_hold(struct burst_comm* comm, int uses) {
    if (comm != NULL) __atomic_add_fetch(&comm->uses, (uint32_t)uses, __ATOMIC_RELAXED);
}
/* The id, defined on this thread. */
uint32_t burst_comm_id(struct burst_thread* thread, struct burst_comm* comm);
int32_t burst_world_rank(const struct burst_comm* comm, int rank);

/* `tag` tells apart what different threads may create at the same time. */
void burst_comm_created(MPI_Comm handle, int tag);
void burst_comm_freed(MPI_Comm handle);
/* Name of the communicator that will be there when the request is complete. */
uint64_t burst_comm_reserved(MPI_Comm parent);
void burst_comm_named(MPI_Comm handle, uint64_t name);

#endif
